"""Printing of a small book with an address: its pages, its commands' output, and bad input."""

import re
import shutil
from types import SimpleNamespace
from xml.etree import ElementTree

import printed_book
import pytest
from book_site import FRONT, ROOT
from bs4 import BeautifulSoup
from printed_book import bookmarks, squeezed, text_of
from pypdf import PdfReader
from small_project import build, write_pages
from sphinx.errors import ExtensionError

from byhand.press.drawings import tint
from byhand.site.address import check_address
from mha import load_example, tables, trace

pytestmark = pytest.mark.pdf
ADDRESS = "https://example.org/books/attention/"
READER = ("course", "--title", "Week 1", "--chapters")
CODE = "\n```{code-cell}\n:tags: [teaches]\n\nfortytwo = 42\nprint(fortytwo)\n```\n"
SITEMAP = "{http://www.sitemaps.org/schemas/sitemap/0.9}"
WIDEST = """
```{code-cell}
tables.array_table([[0.1234] * 23], rows=['dog'], columns=[f'k{i}' for i in range(23)],
                   caption='Widest')
```
"""
BLOCKS = """
(blocks)=
# Blocks

```{code-cell}
from mha import load_example, trace
from mha.views import blocks
small = trace(load_example("the-cat-sat"))
```

See {numref}`tbl-small-2`.

```{code-cell}
blocks.stage_block(small, "weights", name="tbl-small", labels=["tbl-small-1", "tbl-small-2"])
```
"""


def add_pages(project, pages):
    """Write pages into a small book, and append them to the last part of its contents."""
    write_pages(project, pages)
    lines = "\n".join(f"      - file: {name}" for name in ["beta", *pages])
    contents = printed_book.TOC.replace("      - file: beta", lines)
    (project / "_toc.yml").write_text(contents, encoding="utf-8")


@pytest.fixture(scope="module")
def printed(tmp_path_factory):
    """Return a small book with an address, built and printed."""
    project = printed_book.small_book(tmp_path_factory.mktemp("book"))
    add_pages(project, {"notation": "\n# Notation\n\nThere is $x$.\n", "blocks": BLOCKS})
    write_pages(project, {"beta": printed_book.PAGES["beta"] + CODE + WIDEST})
    config = project / "_config.yml"
    line = re.compile(r'^  baseurl: ".*"$', re.MULTILINE)
    config.write_text(line.sub(f'  baseurl: "{ADDRESS}"', config.read_text("utf-8")), "utf-8")
    shutil.copy(ROOT / "book" / "screenshot.png", project / "book")
    done = build(project, "pdf")
    assert done.returncode == 0, done.stderr
    return project


def structure(node):
    """Yield every element of a PDF's structure tree, in reading order."""
    node = node.get_object() if hasattr(node, "get_object") else node
    if isinstance(node, list):
        for child in node:
            yield from structure(child)
    elif isinstance(node, dict):
        if "/S" in node:
            yield node
        yield from structure(node.get("/K", []))


def pdf_of(project, name="attention-by-hand"):
    return project / "_build" / "pdf" / f"{name}.pdf"


def text(project, name="attention-by-hand"):
    return squeezed("".join(text_of(pdf_of(project, name))))


def lines_in(text, *lines):
    """Return the lines that occur in a text without whitespace."""
    return [line for line in lines if squeezed(line) in text]


def test_openings_and_folds_have_their_print_form_and_the_cover_the_address(printed):
    said = text(printed)
    wanted = (
        ADDRESS,
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
        "(1.1)",  # an aligned equation has one number
    )
    assert lines_in(said, *wanted) == [*wanted]
    assert lines_in(said, "(1.2)", "capybara", "None of it") == []
    tags = PdfReader(pdf_of(printed)).trailer["/Root"]["/StructTreeRoot"]["/K"]
    aloud = [tag.get("/Alt") for tag in structure(tags)]
    assert "a equals b plus u; d equals e" in aloud
    # A table too wide for the page gets smaller letters, and nothing is cut.
    widest = next(page for page in text_of(pdf_of(printed)) if "Widest" in page)
    assert widest.count("0.1234") >= 23
    edges = printed_book.poppler("pdftotext", "-bbox", str(pdf_of(printed)), "-")
    assert max(map(float, re.findall(r'xMax="([\d.]+)"', edges))) < 595 - 50


def test_a_reader_keeps_the_numbers_and_names_what_it_leaves_out(printed):
    of_class = ("--course", "Maths & more", "--instructor", "A. Noether", "--date", "May")
    done = build(printed, *READER, "beta", *of_class, "--solutions", "appendix")
    assert done.returncode == 0, done.stderr
    assert done.stderr.startswith("note: this reader omits notation, which explains the")
    said = text(printed, "week-1")
    wanted = (
        "As in Alpha (chapter 1 of the whole book),",
        "by (1.1) (in the whole book, chapter 1, Alpha),",
        "Table 1.1 (in the whole book, chapter 1, Alpha),",
        "Fig. 1.1 (in the whole book, chapter 1, Alpha) and Exercise 1.1 (in the whole book,",
        "Table 2.1: A wide table",
        "Solution to Exercise 2.1",
        "Chapter 2 Beta",
        "Part II",
        "fortytwo = 42",
        *("Maths & more", "A. Noether", "May"),
    )
    assert lines_in(said, *wanted) == [*wanted]
    assert "Twonumbers" not in said
    assert PdfReader(pdf_of(printed, "week-1")).metadata.title == "Week 1"


def test_a_reader_without_code_or_solutions_has_the_order_asked_for_and_names_in_any_script(
    printed, tmp_path
):
    title = "Ελληνικά: " + "μακρύς τίτλος " * 30
    asked = ("--chapters", "beta,alpha,notation", "--solutions", "none", "--no-code")
    of_class = ("--title", title, "--instructor", "Ирина Й.", "--course", "Été")
    done = build(printed, "course", *asked, *of_class, "--to", str(tmp_path))
    assert (done.returncode, done.stderr) == (0, "")
    (made,) = tmp_path.iterdir()
    assert made.name.startswith("ελληνικά-μακρύς-τίτλος-")
    assert len(made.name) < 70
    reader = PdfReader(made)
    assert reader.metadata.title.split() == title.split()
    titles = [entry["/Title"].split() for entry in bookmarks(reader.outline)]
    assert [words[-1] for words in titles if words[0].isdigit()] == ["Beta", "Alpha", "Notation"]
    cover, *others = map(squeezed, text_of(made))
    assert squeezed(title) in cover
    assert "ИринаЙ." in cover
    said = "".join(others)
    assert squeezed("Code: on the page “Beta” of Attention by Hand.") in said
    assert "Exercise2.1" in said
    assert lines_in(said, "Part I", "Solution", "A quarter is left", "fortytwo") == []


def test_a_reader_with_separate_solutions_makes_two_files_and_computes_nothing(printed):
    folders = ("_build/results", "_build/html")
    files = [file for name in folders for file in (printed / name).rglob("*.*")]
    before = [file.stat().st_mtime_ns for file in files]
    asked = (*READER, "alpha,beta", "--solutions", "separate", "--paper", "letter")
    assert build(printed, *asked).returncode == 0
    assert build(printed).returncode == 0
    assert [file.stat().st_mtime_ns for file in files] == before
    sheets = PdfReader(pdf_of(printed, "week-1")).pages
    assert {tuple(map(float, page.mediabox[2:])) for page in sheets} == {(612.0, 792.0)}
    assert "Aquarterisleft" not in text(printed, "week-1")
    solutions = text(printed, "week-1-solutions")
    assert "SolutiontoExercise2.1" in solutions
    assert "Aquarterisleft,seeTable1.1." in solutions
    assert "Whatisleft" not in solutions


def test_every_number_of_the_blocks_is_printed_under_the_number_that_is_cited(printed):
    """Heads are side by side, and cells are tinted."""
    pages = text_of(pdf_of(printed), "-layout")
    lines = [" ".join(line.split()) for page in pages for line in page.splitlines()]
    assert any(line.endswith("Head 1 Head 2") for line in lines)
    run = trace(load_example("the-cat-sat"))
    both = [tables.stage_table(run, "weights", head=head).rows for head in range(2)]
    for first, second in zip(*both, strict=True):
        assert " ".join([*first, *second[1:]]) in lines
    assert "See Table 4.1" in " ".join(lines)
    assert re.findall(r"Table 4\.(\d): Attention", " ".join(lines)) == ["1"]
    source = (printed / "_build" / "print" / "attention-by-hand.typ").read_text(encoding="utf-8")
    rows = [(head, row[1:4]) for pair in zip(*both, strict=True) for head, row in enumerate(pair)]
    wanted = [tint(float(text), head) for head, texts in rows for text in texts]
    assert re.findall(r'fill: rgb\("(#\w+)"\)', source) == wanted


# ---- Faults ----

BROKEN = {  # what is wrong, and what is said of it
    "phase": ("Here is $\\phase{x}$, and more.", "the press says: unknown variable: phase"),
    "gone": (
        "Back to {ref}`gone <gone>`.\n\n:::{div} screen-only\n(gone)=\nGone.\n:::",
        "gone is nowhere on paper",
    ),
    "output": (
        "```{code-cell}\nfrom IPython.display import HTML\nHTML('<b>a</b>')\n```",
        "WARNING: this cell's output has no print form",
    ),
}


def test_what_cannot_be_printed_is_told_with_chapter_and_line(tmp_path):
    project = printed_book.small_book(tmp_path)
    sound = "# A page\n\nAll is well.\n\n"
    add_pages(project, {name: f"{sound}{fault}\n" for name, (fault, _) in BROKEN.items()})
    for name, (fault, said) in BROKEN.items():
        done = build(project, *READER, name)
        assert done.returncode == 1
        line = (FRONT + sound).count("\n") + 1
        place = r"\d+" if fault.startswith("```") else line  # a cell's output has the cell's place
        assert re.search(rf"book/{name}\.md:{place}: {re.escape(said)}", done.stderr), done.stderr
        assert not list((project / "_build").glob("pdf/*"))


# ---- Pages ----


@pytest.mark.parametrize(
    ("name", "title", "sentence"),
    [("beta", "Beta", "One sentence about beta."), ("index", "A small book", "")],
)
def test_with_an_address_every_page_names_its_own_and_a_picture(printed, name, title, sentence):
    html, address = printed / "_build" / "html", f"{ADDRESS}{name}.html"
    page = BeautifulSoup((html / f"{name}.html").read_text(encoding="utf-8"), "html.parser")
    assert [link["href"] for link in page.select("link[rel=canonical]")] == [address]
    card = {meta["property"]: meta["content"] for meta in page.select("meta[property]")}
    assert card["og:url"] == address
    assert title in card["og:title"]
    assert sentence in card["og:description"]
    assert (html / card["og:image"].removeprefix(ADDRESS)).read_bytes().startswith(b"\x89PNG")
    sitemap = ElementTree.parse(html / "sitemap.xml")
    assert address in [place.text for place in sitemap.iter(f"{SITEMAP}loc")]


@pytest.mark.parametrize("address", ["http://example.org/", "https://example.org/book", "book"])
def test_an_address_that_is_none_is_refused(address):
    with pytest.raises(ExtensionError, match=f"is '{address}'; https://, a host and a last / are"):
        check_address(None, SimpleNamespace(html_baseurl=address))
