"""References of a page: footnotes with their marks, labels of exercises, and included files."""

import re
from collections.abc import Iterator

from byhand.checking.blocks import EXERCISES
from byhand.checking.sources import Fault, Page, without_inline_code

REFERENCE_MARK = re.compile(r"(?<!\\)\[\^([^\]\s]+)\](?!:)")
NOTE = re.compile(r"^\s{0,3}\[\^([^\]\s]+)\]:")


def footnote_faults(page: Page) -> Iterator[Fault]:
    """Find footnote marks without a note, notes without a mark, and notes that are given twice."""
    notes: dict[str, int] = {}
    marks: dict[str, int] = {}
    for number, text in page.prose:
        line = without_inline_code(text)
        if note := NOTE.match(line):
            if note[1] in notes:
                yield number, f"the footnote {note[1]} is given twice; a name of its own is wanted"
            notes.setdefault(note[1], number)
        for mark in REFERENCE_MARK.findall(line):
            marks.setdefault(mark, number)
    for name in marks.keys() - notes.keys():
        yield marks[name], f"the footnote {name} has no note; a line `[^{name}]: ...` is wanted"
    for name in notes.keys() - marks.keys():
        yield notes[name], f"no text refers to the footnote {name}; a mark [^{name}] is wanted"


def unnamed_exercises(page: Page) -> Iterator[Fault]:
    """Find exercises without a label."""
    for block in page.blocks:
        if block.name in EXERCISES and not block.options.get("label", (0, ""))[1]:
            yield block.line, "the exercise has no label; a line `:label: ex-...` is wanted"


def included_files(page: Page) -> Iterator[Fault]:
    """Find `{include}`: no check sees the included text, and a file may include itself."""
    for block in page.blocks:
        if block.name == "include":
            message = "{include} is not used, because no check sees the included text"
            yield block.line, f"{message}; write the text on the page"
