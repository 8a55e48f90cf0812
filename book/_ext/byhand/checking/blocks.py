"""Blocks of a page: the syntax and length of cells, and exercises with their solutions.

Sphinx itself reports labels that are missing or defined twice. Unpaired exercises and solutions it
reports without a line, or it stops; therefore they are checked here.
"""

import ast
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

from byhand.checking.sources import Block, Finding, Line, Page, Project

LONGEST = 15  # lines of code in a cell
EXCEPTIONS = tomllib.loads(Path(__file__).with_name("exceptions.toml").read_text("utf-8"))

EXERCISES = ("exercise", "exercise-start")
"""The blocks that hold an exercise, or begin one."""

PAIRS = {"exercise-start": "exercise-end", "solution-start": "solution-end"}

ANSWERS = re.compile(r"^assert check\(", re.MULTILINE)
"""A line of a cell that holds what an exercise asks to write: its ``check`` is satisfied."""


def syntax_errors(page: Page) -> Iterator[Line]:
    """Find cells and expressions that are not Python."""
    for before, source in page.sources():
        try:
            ast.parse(source)
        except SyntaxError as error:
            yield before + (error.lineno or 1), f"this is not Python: {error.msg}"
        except ValueError as error:  # a NUL byte
            yield before + 1, f"this is not Python: {error}"


def long_cells(page: Page) -> Iterator[Line]:
    """Find cells of more than `LONGEST` lines, except those in ``exceptions.toml``."""
    counts = {cell.line: len(cell.code.strip().splitlines()) for cell in page.cells}
    long = {line: count for line, count in counts.items() if count > LONGEST}
    if len(long) > EXCEPTIONS["long-cells"].get(page.name, 0):
        for line, count in long.items():
            yield line, f"this cell has {count} lines; at most {LONGEST} are wanted"


def check(project: Project) -> Iterator[Finding]:
    """Find solutions to exercises that do not exist."""
    blocks = [(page.file, block) for page in project.pages for block in page.blocks]
    exercises = {b.options.get("label", (0, ""))[1] for _, b in blocks if b.name in EXERCISES}
    for file, block in blocks:
        label = block.argument.strip()
        if block.name in ("solution", "solution-start") and label not in exercises - {""}:
            what = f"a solution to an unknown exercise, {label!r}" if label else "a solution"
            yield Finding(file, block.line, f"{what}; the label of an exercise is wanted")


def unpaired_ends(page: Page) -> Iterator[Line]:
    """Find exercises and solutions whose start has no end, or whose end has no start."""
    opened: Block | None = None
    for block in page.blocks:
        if opened and block.name == PAIRS[opened.name]:
            opened = None
        elif block.name in PAIRS.values():
            start = block.name.replace("end", "start")
            yield block.line, f"nothing begins here; {{{start}}} is wanted before"
        elif block.name in PAIRS:
            yield from _not_ended(opened)
            opened = block
    yield from _not_ended(opened)


def folded_answers(page: Page) -> Iterator[Line]:
    """Find cells in solutions to programming exercises that would be folded away."""
    cells: list[Block] | None = None
    for block in page.blocks:
        if block.name in ("solution-start", "solution-end"):
            cells = [] if block.name == "solution-start" else None
        elif block.name == "code-cell" and cells is not None:
            cells.append(block)
            if ANSWERS.search(block.code):
                for cell in cells:
                    if "teaches" not in cell.options.get("tags", (0, ""))[1]:
                        yield cell.line, "print omits this answer; the tag teaches is wanted"
                cells = []


def _not_ended(block: Block | None) -> Iterator[Line]:
    if block:
        what, end = block.name.partition("-")[0], PAIRS[block.name]
        yield block.line, f"this {what} does not end; {{{end}}} is wanted"
