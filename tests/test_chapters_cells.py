"""The cells of the example chapters: no line of code stands in two of them, beyond the opening."""

import ast
import re
from collections import defaultdict

import pytest
from book_site import ROOT

CHAPTERS = sorted((ROOT / "book" / "examples").glob("*.md"))
CELL = re.compile(r"^(`{3,})\{code-cell\}[^\n]*\n(.*?)^\1$", re.DOTALL | re.MULTILINE)
OPTIONS = re.compile(r"\A(?:---\n.*?^---\n|(?::[\w-]+:[^\n]*\n)+)", re.DOTALL | re.MULTILINE)
IMPORT = "from mha.chapters import *"
OPENING = re.compile(r"run, show = open_example\(\"([\w-]+)\"\)")


def cells(text):
    """Return the options and the code of each cell of a page."""
    for cell in CELL.finditer(text):
        options = OPTIONS.match(cell[2])
        start = options.end() if options else 0
        yield cell[2][:start], cell[2][start:]


def code_lines(text):
    """Return a page's lines of code that hold more than brackets."""
    lines = (line.strip() for _, code in cells(text) for line in code.splitlines())
    return [line for line in lines if re.search(r"\w", line)]


def repeated(pages):
    """Return the lines of code that stand on several pages, each with the pages' names."""
    found = defaultdict(set)
    for name, text in pages.items():
        for line in code_lines(text):
            found[line].add(name)
    return {line: names for line, names in found.items() if len(names) > 1}


def test_no_line_of_code_stands_in_two_example_chapters_but_the_import_at_the_top():
    assert len(CHAPTERS) >= 8
    pages = {path.stem: path.read_text(encoding="utf-8") for path in CHAPTERS}
    assert all(code_lines(text) for text in pages.values())
    assert set(repeated(pages)) <= {IMPORT}


@pytest.mark.parametrize(
    "path",
    [path for path in CHAPTERS if path.stem not in ("overview", "work-your-own")],
    ids=lambda path: path.stem,
)
def test_an_example_chapter_opens_with_two_lines(path):
    lines = code_lines(path.read_text(encoding="utf-8"))
    assert lines[0] == IMPORT
    assert OPENING.fullmatch(lines[1])[1] == path.stem
    assert not [line for line in lines[1:] if re.match(r"(from|import) ", line)]


@pytest.mark.parametrize("path", sorted((ROOT / "book").rglob("*.md")), ids=lambda path: path.stem)
def test_a_figure_has_one_label_in_its_cell_s_header_and_in_its_code(path):
    for options, code in cells(path.read_text(encoding="utf-8")):
        shown = [
            keyword.value.value
            for call in ast.walk(ast.parse(code))
            if isinstance(call, ast.Call)
            for keyword in call.keywords
            if keyword.arg == "name"
            and isinstance(keyword.value, ast.Constant)
            and keyword.value.value.startswith("fig-")
        ]
        assert shown in ([], re.findall(r"^    name: (\S+)$", options, re.MULTILINE))
