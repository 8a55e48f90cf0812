"""The commands that print, on a small book: one execution, readers, bad input, strange words."""

import json
import re
import sys
from pathlib import Path

import building
import printed_book
import pytest
from bs4 import BeautifulSoup
from printed_book import build, squeezed, text_of
from pypdf import PdfReader

from mha import load_example, tables, trace
from mha.views.table import as_written, no_tags

pytestmark = pytest.mark.pdf
READER = ("course", "--title", "Week 1", "--chapters")
CODE = "\n```{code-cell}\n:tags: [teaches]\n\nfortytwo = 42\nprint(fortytwo)\n```\n"
REMARK = "\nWith [a printed remark]{.printed} left out.\n"
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
small, large = trace(load_example("the-cat-sat")), trace(load_example("apple"))
```

See {numref}`tbl-small-2` and {numref}`tbl-large`.

```{code-cell}
blocks.stage_block(small, "weights", name="tbl-small", labels=["tbl-small-1", "tbl-small-2"])
```

```{code-cell}
blocks.stage_block(large, "weights", name="tbl-large")
```

```{code-cell}
blocks.stage_block(small, "query", "key", "value", name="tbl-qkv")
```

```{code-cell}
blocks.weighted_block(large, name="tbl-weighted")
```
"""


# Markup of HTML and of Markdown, quotes, a role that would run, TeX's own signs, and a letter whose
# accent is a character of its own. Characters that turn the text around are no tokens at all.
STRANGE = (
    "</script><b>hm</b>",
    "\"a' & &lt;",
    "{eval}`open(1)`",
    "*a* $c$ \\d_e^f",
    "e\u0301#%~{",
)
TITLE = "<b>A</b> {eval}`1` & \\x"
VIEWS = [
    'show.stage("weights", name="tbl-strange-weights-{head}", head=0)',
    'show.stage("scores", name="tbl-strange-scores")',
    'show.strongest(name="tbl-strange-strongest")',
    "show.maps()",
    "show.lanes()",
    "show.query(2)",
    "show.strips()",
    "show.explorer()",
    'show.turn("scores", 0, 1, head=0)',
    'show.row("weights", 2, head=1)',
]
HEADING = 'Strange "all" & </script> {x}=~#:%'


def strange_page(project):
    """Add an example of strange words, and return a page about it."""
    examples = project / "mha" / "examples"
    text = (examples / "apple.toml").read_text(encoding="utf-8")
    tokens, title = (next(x for x in text.splitlines() if x.startswith(n)) for n in ("tok", "tit"))
    text = text.replace(tokens, f"tokens = {json.dumps(STRANGE)}")
    text = text.replace(title, f"title = {json.dumps(TITLE)}")
    (examples / "strange.toml").write_text(text, encoding="utf-8")
    start = 'from mha.chapters import *\nrun, show = open_example("strange")'
    cells = [f"```{{code-cell}}\n{code}\n```" for code in (start, *VIEWS)]
    return "\n\n".join([f"# {no_tags(as_written(HEADING))}", "## A section", *cells])


@pytest.fixture(scope="module")
def printed(tmp_path_factory):
    """Return a small book, built and printed."""
    project = printed_book.small_book(tmp_path_factory.mktemp("book"))
    printed_book.write(project, "beta", printed_book.PAGES["beta"] + CODE + REMARK + WIDEST)
    printed_book.write(project, "notation", "\n# Notation\n\nThere is $x$.\n")
    printed_book.write(project, "blocks", BLOCKS)
    printed_book.write(project, "strange", strange_page(project))
    toc, indent = project / "_toc.yml", "\n      - file: "
    more = indent.join(["- file: beta", "notation", "blocks", "strange"])
    toc.write_text(toc.read_text("utf-8").replace("- file: beta", more), "utf-8")
    done = build(project, "pdf")
    assert done.returncode == 0, done.stderr
    return project


def made_when(project):
    """Return when each file of the pages, and of what their cells gave, was made."""
    folders = (project / "_build" / "results", project / "_build" / "html")
    files = [p for folder in folders for p in sorted(folder.rglob("*")) if p.is_file()]
    return [p.stat().st_mtime_ns for p in files]


def pdfs(project):
    """Return what stands in the folder of PDFs, hidden files too."""
    return {p.name: p.read_bytes() for p in (project / "_build" / "pdf").iterdir()}


def pdf_of(project, name="attention-by-hand"):
    return project / "_build" / "pdf" / f"{name}.pdf"


def text(project, name="attention-by-hand"):
    return squeezed("".join(text_of(pdf_of(project, name))))


def test_openings_and_folds_have_their_print_form(printed):
    said = text(printed)
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
    assert "(1.1)" in said  # an aligned equation has one number
    assert "(1.2)" not in said
    assert "Withleftout." in said
    assert "capybara" not in said
    assert squeezed("None of it") not in said


def test_a_reader_keeps_the_numbers_and_names_what_it_leaves_out(printed):
    done = build(
        printed,
        *READER,
        "beta",
        *("--course", "Maths & more", "--instructor", "A. Noether", "--date", "May"),
        *("--solutions", "appendix"),
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr.startswith("note: this reader leaves out notation, which says what")
    said = text(printed, "week-1")
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
        assert squeezed(line) in said, line
    assert "Twonumbers" not in said
    reader = PdfReader(pdf_of(printed, "week-1"))
    assert reader.metadata.title == "Week 1"


def test_a_reader_without_solutions_has_its_chapters_in_the_order_asked_for(printed, tmp_path):
    asked = (*READER, "beta,alpha,notation", "--solutions", "none", "--to", str(tmp_path))
    done = build(printed, *asked)
    assert (done.returncode, done.stderr) == (0, "")
    reader = PdfReader(tmp_path / "week-1.pdf")
    titles = [title for _, title in printed_book.outline(reader)]
    chapters = [title.split()[-1] for title in titles if title.split()[0].isdigit()]
    assert chapters == ["Beta", "Alpha", "Notation"]
    said = squeezed("".join(text_of(tmp_path / "week-1.pdf")))
    assert "PartI" not in said
    assert "Exercise2.1" in said
    assert "Solution" not in said
    assert "Aquarterisleft" not in said
    assert "fortytwo=42" in said


def test_a_reader_with_separate_solutions_makes_two_files_and_computes_nothing(printed):
    before = made_when(printed)
    asked = (*READER, "alpha,beta", "--solutions", "separate", "--paper", "letter")
    assert build(printed, *asked).returncode == 0
    assert build(printed).returncode == 0
    assert made_when(printed) == before
    sheets = PdfReader(pdf_of(printed, "week-1")).pages
    assert {tuple(map(float, page.mediabox[2:])) for page in sheets} == {(612.0, 792.0)}
    assert "Aquarterisleft" not in text(printed, "week-1")
    solutions = text(printed, "week-1-solutions")
    assert "SolutiontoExercise1.1" in solutions
    assert "SolutiontoExercise2.1" in solutions
    assert "Aquarterisleft,seeTable1.1." in solutions
    assert "Whatisleft" not in solutions


def test_a_short_edition_with_names_in_any_script_says_where_the_code_is(printed, tmp_path):
    title = "Ελληνικά: " + "μακρύς τίτλος " * 30
    asked = ("--chapters", "beta", "--no-code", "--instructor", "Ирина Й.", "--course", "Été")
    done = build(printed, "course", "--title", title, *asked, "--to", str(tmp_path))
    assert done.returncode == 0, done.stderr
    (made,) = tmp_path.iterdir()
    assert made.name.startswith("ελληνικά-μακρύς-τίτλος-")
    assert len(made.name) < 70
    cover, *others = map(squeezed, text_of(made))
    assert squeezed(title) in cover
    assert "ИринаЙ." in cover
    assert PdfReader(made).metadata.title.split() == title.split()
    said = "".join(others)
    assert "fortytwo" not in said
    assert squeezed("Code: on the page “Beta” of Attention by Hand.") in said


def test_a_table_too_wide_for_the_page_gets_smaller_letters_and_nothing_is_cut(printed):
    widest = next(page for page in text_of(pdf_of(printed)) if "Widest" in page)
    assert widest.count("0.1234") >= 23
    edges = printed_book.poppler("pdftotext", "-bbox", str(pdf_of(printed)), "-")
    assert max(map(float, re.findall(r'xMax="([\d.]+)"', edges))) < 595 - 50


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ([*READER, "gamma"], "error: there is no chapter gamma; the chapters are: "),
        ([*READER, "softmax", "--instructor", "\U000f0001"],
         "error: --instructor has \U000f0001 (U+F0001), and no font"),
        (["pdf", "--to", "file"], "error: file cannot be written: "),
    ],
)  # fmt: skip
def test_bad_arguments_get_a_sentence_before_anything_is_built(
    arguments, sentence, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    Path("file").write_text("not a folder", encoding="utf-8")
    monkeypatch.setattr(building, "build_html", None)
    monkeypatch.setattr(sys, "argv", ["build.py", *arguments])
    with pytest.raises(SystemExit) as stopped:
        building.main()
    assert str(stopped.value).startswith(sentence)
    assert "\n" not in str(stopped.value)


# ---- Blocks: every number of every head, under the number that the page gives the block ----


@pytest.fixture(scope="module")
def lines(printed):
    """Return the lines of the book, their words one space apart."""
    pages = text_of(pdf_of(printed), "-layout")
    return [" ".join(line.split()) for page in pages for line in page.splitlines()]


def test_every_number_of_the_blocks_is_printed_heads_beside_each_other(lines):
    run = trace(load_example("the-cat-sat"))
    both = zip(*(tables.stage_table(run, "weights", head=h).rows for h in range(2)), strict=True)
    for first, second in both:
        assert " ".join([*first, *second[1:]]) in lines
    assert any(line.endswith("Head 1 Head 2") for line in lines)
    text = squeezed("".join(lines))
    run = trace(load_example("apple"))
    for head in range(run.num_heads):
        for table in (
            tables.stage_table(run, "weights", head=head),
            tables.weighted_values_table(run, head=head),
        ):
            for _, *numbers in table.rows:
                assert squeezed("".join(numbers)) in text


def test_a_block_is_tinted_and_has_one_number_by_which_its_parts_are_cited(printed, lines):
    text = " ".join(lines)
    assert re.search(r"See Table 4\.1.{0,12} and Table 4\.2", text)
    captions = re.findall(r"Table 4\.(\d): ([A-Z]\w+)", text)
    assert captions == [("1", "Attention"), ("2", "Attention"), ("3", "Queries"), ("4", "Weighted")]
    source = printed / "_build" / "print" / "attention-by-hand.typ"
    chapter = source.read_text(encoding="utf-8").partition("Strange")[0]
    assert chapter.count("fill: rgb(") == 2 * 9 + 3 * 25


def test_a_formula_is_said_aloud(printed):
    tags = PdfReader(pdf_of(printed)).trailer["/Root"]["/StructTreeRoot"]["/K"]
    said = [tag.get("/Alt") for tag in printed_book.structure(tags)]
    assert "a equals b plus u; d equals e" in said


# ---- Faults ----

BROKEN = {
    "phase": (
        "Here is $\\phase{x}$, and more.",  # Temml knows it
        "the press says: unknown variable: phase",
    ),
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
    first, _, others = printed_book.TOC.partition("  - caption: Second part")
    back = others[others.index("  - caption: Back matter") :]
    pages = "".join(f"      - file: {name}\n" for name in BROKEN)
    (project / "_toc.yml").write_text(first + pages + back, encoding="utf-8")
    (project / "book" / "beta.md").unlink()
    text = "# A page\n\nAll is well.\n\n"
    for name, (fault, _) in BROKEN.items():
        printed_book.write(project, name, text + fault + "\n")
    for name, (fault, said) in BROKEN.items():
        done = build(project, *READER, name)
        assert done.returncode == 1
        line = (printed_book.FRONT + text).count("\n") + 1
        place = r"\d+" if fault.startswith("```") else line  # a cell's output has the cell's place
        assert re.search(rf"book/{name}\.md:{place}: {re.escape(said)}", done.stderr), done.stderr
        assert not (project / "_build" / "pdf").exists() or pdfs(project) == {}


# ---- Strange words are text wherever they come out: page, explorer, paper ----


@pytest.fixture(scope="module")
def strange(printed):
    return printed / "_build" / "html" / "strange.html"


def test_a_page_shows_every_token_as_it_is_written(strange):
    page = BeautifulSoup(strange.read_text(encoding="utf-8"), "html.parser")
    headers = [found.get_text(strip=True) for found in page.select("article th")]
    drawn = " ".join(found.get_text("") for found in page.select("article svg text"))
    for token in STRANGE:
        assert headers.count(token) >= 2, token
        assert token in drawn, token
    assert not page.select("article th :is(em, b, .math), article svg :is(b, script)")
    assert page.find("b", string="hm") is None


@pytest.mark.browser
def test_no_word_runs_and_the_explorer_shows_them(strange, browser):
    context = browser.new_context()
    errors = []
    page = context.new_page()
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.on("console", lambda m: errors.append(m.text) if m.type in ("error", "warning") else None)
    page.goto(strange.as_uri())
    explorer = page.locator("mha-explorer")
    explorer.scroll_into_view_if_needed()
    page.locator("mha-explorer.live").wait_for()
    assert explorer.locator("b", has_text="hm").count() == 0
    shown = explorer.text_content() + explorer.evaluate(
        "e => [...e.querySelectorAll('[aria-label]')].map((x) => x.ariaLabel).join(' ')"
    )
    assert all(token in shown for token in STRANGE)
    assert errors == []
    context.close()


def test_the_printed_book_has_them_letter_by_letter(printed):
    said = text(printed)
    # A PDF may join the letter and its accent, and has typographer's quotes of TeX.
    for token in STRANGE[:1] + STRANGE[2:4]:
        assert squeezed(token) in said, token
    assert said.count(squeezed("#%~{")) >= 2
    assert squeezed("& &lt;") in said
    assert squeezed("& </script> {x}=~#:%") in said
