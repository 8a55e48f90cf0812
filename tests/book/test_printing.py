"""The commands that print, on a small book: one execution, readers, bad input, same bytes."""

import re
import shutil

import printed_book
import pytest
from printed_book import build, squeezed, text_of
from pypdf import PdfReader

pytestmark = pytest.mark.pdf
READER = ("course", "--title", "Week 1", "--chapters")


@pytest.fixture(scope="module")
def printed(tmp_path_factory):
    """Return a small book, built and printed."""
    project = printed_book.small_book(tmp_path_factory.mktemp("book"))
    done = build(project, "pdf")
    assert done.returncode == 0, done.stderr
    return project


@pytest.fixture
def kept(printed):
    """Return the printed book for a test that fails to print, and check that nothing changed."""
    before = pdfs(printed)
    pages = {page: page.read_bytes() for page in (printed / "book").glob("*.md")}
    yield printed
    for page, text in pages.items():
        page.write_bytes(text)
    assert pdfs(printed) == before


def pdfs(project):
    """Return what stands in the folder of PDFs, hidden files too."""
    return {p.name: p.read_bytes() for p in (project / "_build" / "pdf").iterdir()}


def pdf_of(project, name):
    return project / "_build" / "pdf" / f"{name}.pdf"


def pages(project, name):
    return text_of(pdf_of(project, name))


def text(project, name):
    return squeezed("".join(pages(project, name)))


def test_printing_computes_nothing_and_neither_does_the_next_build(printed):
    assert build(printed).returncode == 0
    folders = (printed / "_build" / "results", printed / "_build" / "html")
    files = [p for folder in folders for p in sorted(folder.rglob("*")) if p.is_file()]
    before = [p.stat().st_mtime_ns for p in files]
    assert build(printed, "pdf", "--paper", "letter").returncode == 0
    assert build(printed).returncode == 0
    assert [p.stat().st_mtime_ns for p in files] == before
    reader = PdfReader(pdf_of(printed, "attention-by-hand-letter"))
    assert {tuple(map(float, page.mediabox[2:])) for page in reader.pages} == {(612.0, 792.0)}


def test_openings_and_folds_have_their_print_form(printed):
    said = text(printed, "attention-by-hand")
    for line in (
        "One sentence about beta.",
        "After this chapter you can",
        "say what beta is",
        "About 5 minutes",
        "•• Exercise 2.1",
        "2.2 Deeper: why beta",
        "Because of the aardvark: Table 2.3",
        "2.3 All numbers of beta",
        "Cited words.",
        "Table 2.3: All of it",
        "2.4 Afterwards",
    ):
        assert squeezed(line) in said, line
    assert "capybara" not in said
    assert squeezed("None of it") not in said


def test_the_same_inputs_give_the_same_bytes(printed):
    before = pdfs(printed)["attention-by-hand.pdf"]
    assert build(printed, "pdf").returncode == 0
    assert pdfs(printed)["attention-by-hand.pdf"] == before


def test_a_reader_keeps_the_numbers_and_names_what_it_leaves_out(printed):
    done = build(
        printed,
        *READER,
        "beta",
        "--course",
        "Maths & more",
        "--instructor",
        "A. Noether",
        "--date",
        "May",
        "--solutions",
        "appendix",
    )
    assert done.returncode == 0, done.stderr
    said = " ".join("".join(pages(printed, "week-1")).split())
    for line in (
        "As in Alpha (chapter 1 of the whole book),",
        "by (1.1) (in the whole book, chapter 1, Alpha),",
        "Table 1.1 (in the whole book, chapter 1, Alpha),",
        "Fig. 1.1 (in the whole book, chapter 1, Alpha) and Exercise 1.1 (in the whole book,",
        "Table 2.1: A wide table",
        "Solution to Exercise 2.1",
        "Chapter 2 Beta",
        "Part II",
        "Maths & more",
        "A. Noether",
        "May",
    ):
        assert squeezed(line) in squeezed(said), line
    assert "Two numbers" not in said
    reader = PdfReader(printed / "_build" / "pdf" / "week-1.pdf")
    assert reader.metadata.title == "Week 1"
    assert printed_book.dead_links(reader) == []


@pytest.fixture(scope="module")
def unsolved(printed, tmp_path_factory):
    """Return a reader without solutions, its chapters in an order of its own."""
    folder = tmp_path_factory.mktemp("unsolved")
    asked = (*READER, "beta,alpha", "--solutions", "none", "--to", str(folder))
    done = build(printed, *asked)
    assert (done.returncode, done.stderr) == (0, "")  # no note: this book has no notation
    return folder / "week-1.pdf"


def test_a_reader_has_its_chapters_in_the_order_asked_for_and_then_no_parts(unsolved):
    titles = [title for _, title in printed_book.outline(PdfReader(unsolved))]
    chapters = [title.split()[-1] for title in titles if title.split()[0].isdigit()]
    assert chapters == ["Beta", "Alpha"]
    said = squeezed("".join(text_of(unsolved)))
    assert "PartI" not in said
    assert printed_book.dead_links(PdfReader(unsolved)) == []
    assert "Table2.1:Awidetable" in said


def test_names_may_be_in_any_script_and_titles_as_long_as_one_likes(printed, tmp_path):
    title = "Ελληνικά: " + "μακρύς τίτλος " * 30
    people = ("--instructor", "Ирина Й.", "--course", "Été")
    done = build(
        printed, "course", "--title", title, "--chapters", "alpha", *people, "--to", str(tmp_path)
    )
    assert done.returncode == 0, done.stderr
    (made,) = tmp_path.iterdir()
    assert made.name.startswith("ελληνικα-μακρυς-τιτλος-")
    assert len(made.name) < 70
    cover = squeezed(text_of(made)[0])
    assert squeezed(title) in cover
    assert "ИринаЙ." in cover
    assert PdfReader(made).metadata.title.split() == title.split()


@pytest.fixture(scope="module")
def longer(printed, tmp_path_factory):
    """Return the small book with a page of notation, and more in its second chapter; its reader."""
    project = shutil.copytree(printed, tmp_path_factory.mktemp("longer") / "book")
    printed_book.write(project, "notation", "\n# Notation\n\nThere is $x$.\n")
    printed_book.write(project, "beta", printed_book.PAGES["beta"] + CODE + REMARK + WIDEST)
    toc = project / "_toc.yml"
    listed = toc.read_text("utf-8").replace("- file: beta", "- file: beta\n      - file: notation")
    toc.write_text(listed, "utf-8")
    done = build(project, *READER, "beta", "--solutions", "none")
    assert done.returncode == 0, done.stderr
    return project, done.stderr


CODE = "\n```{code-cell}\n:tags: [teaches]\n\nfortytwo = 42\nprint(fortytwo)\n```\n"
REMARK = "\nWith [a printed remark]{.printed} left out.\n"
WIDEST = """
```{code-cell}
tables.array_table([[0.1234] * 23], rows=['dog'], columns=[f'k{i}' for i in range(23)],
                   caption='Widest')
```
"""


def test_what_a_source_prints_is_left_out(longer):
    assert "With left out." in " ".join("".join(pages(longer[0], "week-1")).split())


def test_a_table_too_wide_for_the_page_gets_smaller_letters_and_is_not_cut(longer):
    widest = next(page for page in pages(longer[0], "week-1") if "Widest" in page)
    assert widest.count("0.1234") >= 23
    edges = printed_book.poppler("pdftotext", "-bbox", str(pdf_of(longer[0], "week-1")), "-")
    assert max(map(float, re.findall(r'xMax="([\d.]+)"', edges))) < 595 - 50


def test_a_reader_without_notation_says_so(longer):
    project, said = longer
    assert said.startswith("note: this reader leaves out notation, which says what"), said
    assert build(project, *READER, "alpha,notation", "--to", str(project)).stderr == ""


def test_a_short_edition_says_where_the_code_is(longer):
    project, _ = longer
    assert "fortytwo=42" in text(project, "week-1")
    short = ("--no-code", "--to", str(project / "short"))
    assert build(project, *READER, "beta", *short).returncode == 0
    said = squeezed("".join(text_of(project / "short" / "week-1.pdf")))
    assert "fortytwo" not in said
    assert squeezed("Code: on the page “Beta” of Attention by Hand.") in said


def test_a_reader_without_solutions(unsolved):
    said = squeezed("".join(text_of(unsolved)))
    assert "Exercise2.1" in said
    assert "Solution" not in said
    assert "Aquarterisleft" not in said


def test_a_reader_with_separate_solutions_makes_two_files(printed):
    assert build(printed, *READER, "alpha,beta", "--solutions", "separate").returncode == 0
    assert "Aquarterisleft" not in text(printed, "week-1")
    solutions = text(printed, "week-1-solutions")
    assert "SolutiontoExercise1.1" in solutions
    assert "SolutiontoExercise2.1" in solutions
    assert "Aquarterisleft,seeTable1.1." in solutions
    assert "Whatisleft" not in solutions
    for name in ("week-1", "week-1-solutions"):
        assert printed_book.dead_links(PdfReader(pdf_of(printed, name))) == []


def test_numbers_of_an_aligned_equation_are_the_pages_own(printed):
    assert squeezed("(1.1)") in text(printed, "attention-by-hand")
    assert "(1.2)" not in text(printed, "attention-by-hand")


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (
            [*READER, "gamma"],
            "error: there is no chapter gamma; the chapters are: alpha, beta\n",
        ),
        (
            [*READER, ","],
            "error: --chapters names no chapter; the chapters are: alpha, beta\n",
        ),
        (
            ["course", "--title", "!", "--chapters", "beta"],
            "error: --title is '!'; a title with a letter or a digit is wanted\n",
        ),
        (
            [*READER, "alpha,beta,alpha"],
            "error: --chapters names alpha twice\n",
        ),
        (
            [*READER, "alpha", "--instructor", "\U000f0001"],
            "error: no font has \U000f0001, which --instructor has; install one, or write other"
            " letters\n",
        ),
    ],
)
def test_bad_arguments_get_a_sentence_before_anything_is_built(kept, arguments, sentence):
    done = build(kept, *arguments)
    assert done.returncode == 1
    assert done.stderr == sentence
    assert done.stdout == ""


def test_a_folder_that_cannot_be_written_gets_a_sentence(kept, tmp_path):
    (tmp_path / "file").write_text("not a folder", encoding="utf-8")
    done = build(kept, "pdf", "--to", str(tmp_path / "file"))
    assert done.returncode == 1
    file = tmp_path / "file"
    assert done.stderr == f"error: {file} cannot be written: File exists\n"
    assert done.stdout == ""


BROKEN = {
    "Here is $\\phase{x}$, and more.": "the press says: unknown variable: phase",  # Temml knows it
    "Back to {ref}`gone <gone>`.\n\n:::{div} screen-only\n(gone)=\nGone.\n:::": (
        "gone is nowhere on paper"
    ),
}


@pytest.mark.parametrize("fault", BROKEN)
def test_what_cannot_be_printed_is_told_with_chapter_and_line(kept, fault):
    broken = printed_book.PAGES["beta"] + "\nAll is well.\n\n"
    line = len((printed_book.FRONT + broken).splitlines()) + 1
    printed_book.write(kept, "beta", broken + fault + "\n")
    done = build(kept, "pdf")
    assert done.returncode == 1
    assert done.stderr == f"error: book/beta.md:{line}: {BROKEN[fault]}\n"


def test_an_output_without_a_print_form_is_refused_with_its_line(kept):
    broken = (
        printed_book.PAGES["beta"]
        + "\n```{code-cell}\nfrom IPython.display import HTML\nHTML('<b>a</b>')\n```\n"
    )
    printed_book.write(kept, "beta", broken)
    done = build(kept, "pdf")
    assert done.returncode == 1
    assert re.search(
        r"book/beta\.md:\d+: WARNING: this cell's output has no print form", done.stderr
    )


def test_who_listens_misses_nothing(printed):
    reader = PdfReader(pdf_of(printed, "attention-by-hand"))
    assert printed_book.faults_of_tags(reader) == []
    said = [
        tag.get("/Alt")
        for tag in printed_book.structure(reader.trailer["/Root"]["/StructTreeRoot"]["/K"])
    ]
    assert "a equals b plus u; d equals e" in said
