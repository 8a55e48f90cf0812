"""Slides fit their pages and ask what chapters ask; figures and tables are files of their own."""

import re
import subprocess
import xml.etree.ElementTree as ElementTree
from collections import Counter

import pytest
from book_site import SITE
from bs4 import BeautifulSoup
from packs import figures, pages, slides
from packs.mathematics import as_html, as_tex
from pypdf import PdfReader

pytestmark = pytest.mark.book

CHAPTERS = [page for page in pages.read(SITE) if page.name.startswith(slides.PARTS)]
DOCUMENT = r"""\documentclass{article}\usepackage{booktabs,fontspec}\begin{document}\tiny
%s\end{document}
"""


def formula(text):
    return BeautifulSoup(f"<math>{text}</math>", "html.parser").math


@pytest.fixture(params=CHAPTERS, ids=lambda page: page.name)
def page(request):
    return pages.Page(request.param.name, request.param.path)


def test_there_is_a_deck_for_each_chapter_on_the_mechanism_and_the_trained_model():
    assert len(CHAPTERS) == 5 + 1


def test_each_slide_is_one_page_and_no_formula_is_left(page, tmp_path):
    html = slides.deck(page)
    assert "<math" not in html
    slides.decks([page], tmp_path)
    (pdf,) = tmp_path.iterdir()
    reader = PdfReader(pdf)
    assert len(reader.pages) == html.count('<section class="slide">') > 10
    assert reader.metadata.title == page.title


def test_every_question_outside_the_folds_is_a_slide_and_its_answer_the_next(page):
    found = [BeautifulSoup(slide, "html.parser") for slide in slides.of_page(page)]
    heads = [slide.find(["h1", "h2"]).get_text() for slide in found]
    asked = [i for i, head in enumerate(heads) if head == "Question"]
    assert [heads[i + 1] for i in asked] == ["Answer"] * len(asked)
    quizzes = [
        quiz
        for quiz in page.article.select("mha-quiz")
        if not any("Deeper:" in h.get_text() for h in quiz.find_parent("section").select("h2"))
        and not quiz.find_parent("details")
    ]
    assert len(asked) == len(quizzes)
    for i, quiz in zip(asked, quizzes, strict=True):
        right = quiz.select('li[data-right="yes"]')
        assert len(found[i + 1].select("li.right")) == len(right)
        assert not found[i].select("li.right, li.other")


def test_a_figure_is_drawn_as_the_page_has_it_and_needs_no_style(page):
    named = page.article.select("figure[id^=fig-]")
    drawn = list(figures.of_page(page))
    assert len(drawn) >= sum(figure.select_one("svg.f-drawing") is not None for figure in named) > 1
    for figure in drawn:
        root = ElementTree.fromstring(figures._as_file(figure.svg))
        assert root.tag == "{http://www.w3.org/2000/svg}svg"
        assert "var(--" not in figure.svg


def test_every_named_figure_and_table_has_a_file_of_its_own():
    names = Counter()
    for page in pages.read(SITE):
        names.update((page.name, "figure", figure.name) for figure in figures.of_page(page))
        names.update((page.name, "table", name) for name, _ in figures.tables(page))
    assert len(names) > 300
    assert [name for name, count in names.items() if count > 1] == []
    assert all(re.fullmatch(r"[a-z0-9-]+", name) for _, _, name in names)


@pytest.mark.pdf
def test_tables_are_tex_that_latex_sets(tmp_path):
    tables = [
        figures.in_tex(table) for page in pages.read(SITE) for _, table in figures.tables(page)
    ]
    (tmp_path / "all.tex").write_text(DOCUMENT % "\n\n".join(tables), encoding="utf-8")
    done = subprocess.run(
        ["xelatex", "-interaction=nonstopmode", "-halt-on-error", "all.tex"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-800:]
    assert "Missing character" not in done.stdout


def test_the_files_are_written_under_speaking_names(tmp_path):
    page = pages.Page(CHAPTERS[0].name, CHAPTERS[0].path)
    made = {path.relative_to(tmp_path).as_posix() for path in figures.write([page], tmp_path)}
    folder = "what-attention-does/"
    assert {f"{folder}river-bank-moved.{kind}" for kind in ("svg", "pdf")} < made
    assert f"{folder}river-bank-words.tex" in made
    assert len(PdfReader(tmp_path / f"{folder}river-bank-moved.pdf").pages) == 1


@pytest.mark.parametrize(
    ("mathml", "html", "tex"),
    [
        ("<msub><mi>d</mi><mi>k</mi></msub>", "<i>d</i><sub><i>k</i></sub>", "d_{k}"),
        (
            "<mfrac><mn>1</mn><msqrt><mi>n</mi></msqrt></mfrac>",
            '<span class="fraction"><span>1</span><span>√<span class="root"><i>n</i></span></span>'
            "</span>",
            r"\frac{1}{\sqrt{n}}",
        ),
        ("<mi>softmax</mi><mo>≈</mo><mn>2</mn>", "softmax ≈ 2", r"\mathrm{softmax}\approx 2"),
    ],
)
def test_formulas_are_said_in_html_and_in_tex(mathml, html, tex):
    assert as_html(formula(mathml)) == html
    assert as_tex(formula(mathml)) == f"${tex}$"


def test_signs_of_tex_are_text_in_a_cell():
    cell = BeautifulSoup("<td>[50 % &amp; x_1 ≈ −2<sub>k</sub> q₁</td>", "html.parser").td
    assert as_tex(cell) == r"{[}50 \% \& x\_1 $\approx$ $-$2$_{k}$ q$_{1}$"
