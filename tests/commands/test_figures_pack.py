"""Figures and tables of the book are files of their own."""

import re
import xml.etree.ElementTree as ElementTree
from collections import Counter

import printed_book
import pytest
from book_site import SITE
from bs4 import BeautifulSoup
from packs import figures, pages
from packs.mathematics import as_tex
from pypdf import PdfReader

from byhand.mathematics.page import to_mathml

pytestmark = pytest.mark.book

PARTS = ("mechanism/", "transformer/small-model")
CHAPTERS = [page for page in pages.read(SITE) if page.name.startswith(PARTS)]


@pytest.fixture(params=CHAPTERS, ids=lambda page: page.name)
def page(request):
    return pages.Page(request.param.name, request.param.path)


def test_a_figure_is_drawn_as_the_page_has_it_and_needs_no_style(page):
    named = page.article.select("figure[id^=fig-]")
    drawn = list(figures.of_page(page))
    assert len(drawn) >= sum(figure.select_one("svg.f-drawing") is not None for figure in named) > 1
    for _, svg in drawn:
        root = ElementTree.fromstring(svg)
        assert root.tag == "{http://www.w3.org/2000/svg}svg"
        assert "var(--" not in svg


def test_every_named_figure_and_table_has_a_file_of_its_own_and_tables_are_tex():
    names = Counter()
    for page in pages.read(SITE):
        names.update((page.name, "figure", name) for name, _ in figures.of_page(page))
        for name, table in figures.tables(page):
            names[page.name, "table", name] += 1
            rows = re.findall(r"^(.*) \\\\$", figures.in_tex(table), re.MULTILINE)
            assert len({len(re.findall(r"(?<!\\)&", row)) for row in rows}) == 1, name
            for formula in re.findall(r"(?<!\\)\$(.*?)(?<!\\)\$", "\n".join(rows)):
                to_mathml(formula, display=False)
    assert len(names) > 300
    assert [name for name, count in names.items() if count > 1] == []
    assert all(re.fullmatch(r"[a-z0-9-]+", name) for _, _, name in names)


def test_the_files_are_written_under_speaking_names(tmp_path):
    page = pages.Page(CHAPTERS[0].name, CHAPTERS[0].path)
    made = {path.relative_to(tmp_path).as_posix() for path in figures.write([page], tmp_path)}
    folder = "what-attention-does/"
    assert {f"{folder}river-bank-moved.{kind}" for kind in ("svg", "pdf")} < made
    assert f"{folder}river-bank-words.tex" in made
    pdf = tmp_path / f"{folder}river-bank-moved.pdf"
    assert len(PdfReader(pdf).pages) == 1
    assert "river" in printed_book.text_of(pdf)[0]


def test_signs_of_tex_are_text_in_a_cell():
    cell = BeautifulSoup("<td>[50 % &amp; x_1 ≈ −2<sub>k</sub> q₁</td>", "html.parser").td
    assert as_tex(cell) == r"{[}50 \% \& x\_1 $\approx$ $-$2$_{k}$ q$_{1}$"
