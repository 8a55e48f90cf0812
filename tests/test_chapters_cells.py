"""Cells of the example chapters: except for the opening, no two share a line of code."""

import ast
import re
from collections import Counter

import pytest
from book_site import ROOT, cells

CHAPTERS = sorted((ROOT / "book" / "examples").glob("*.md"))
IMPORT = "from mha.chapters import *"
OPENING = re.compile(r"run, show = open_example\(\"([\w-]+)\"\)")


def code_lines(text):
    """Return a page's lines of code, without lines of brackets alone."""
    lines = (line.strip() for _, code in cells(text) for line in code.splitlines())
    return [line for line in lines if re.search(r"\w", line)]


def test_an_example_chapter_opens_with_two_lines_and_shares_no_other_line():
    lines = {path.stem: code_lines(path.read_text(encoding="utf-8")) for path in CHAPTERS}
    counted = Counter(line for found in lines.values() for line in {*found})
    shared = [line for line, count in counted.items() if count > 1 and line != IMPORT]
    assert shared == [], "lines of code in two chapters of examples; give them other names"
    for name in lines.keys() - {"overview", "work-your-own"}:
        first, second, *others = lines[name]
        assert (first, OPENING.fullmatch(second)[1]) == (IMPORT, name)
        assert not [line for line in others if line.startswith(("from ", "import "))]
    assert len(lines) >= 8


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
