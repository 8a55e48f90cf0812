"""Exercises and solutions: what Sphinx would tell without a line, or only by stopping.

Of every other label and reference Sphinx itself tells where it leads nowhere or stands twice.
"""

from collections.abc import Iterator

from byhand.checking.finding import Finding
from byhand.checking.sources import Page, Project

EXERCISES = ("exercise", "exercise-start")
"""The blocks that hold an exercise, or begin one."""

PAIRS = {"exercise-start": "exercise-end", "solution-start": "solution-end"}


def check(project: Project) -> Iterator[Finding]:
    """Look at every exercise and every solution."""
    exercises = {
        block.options["label"][1]
        for page in project.pages
        for block in page.blocks
        if block.name in EXERCISES and "label" in block.options
    }
    for page in project.pages:
        yield from unknown(page, exercises)
        yield from unpaired(page)


def unknown(page: Page, exercises: set[str]) -> Iterator[Finding]:
    """Find solutions to exercises that do not exist."""
    for block in page.blocks:
        label = block.argument.strip()
        if block.name in ("solution", "solution-start") and label not in exercises:
            what = f"a solution to an unknown exercise, {label!r}" if label else "a solution"
            message = f"{what}; the label of an exercise is wanted"
            yield Finding(page.file, block.line, message)


def unpaired(page: Page) -> Iterator[Finding]:
    """Find exercises and solutions that begin but do not end, or end without a beginning."""
    opened: tuple[str, int] | None = None
    for block in page.blocks:
        if opened and block.name == PAIRS[opened[0]]:
            opened = None
        elif block.name in PAIRS.values():
            start = block.name.replace("end", "start")
            message = f"nothing begins here; {{{start}}} is wanted before"
            yield Finding(page.file, block.line, message)
        elif block.name in PAIRS:
            if opened:
                yield Finding(page.file, opened[1], _not_ended(opened[0]))
            opened = (block.name, block.line)
    if opened:
        yield Finding(page.file, opened[1], _not_ended(opened[0]))


def _not_ended(start: str) -> str:
    return f"this {start.partition('-')[0]} does not end; {{{PAIRS[start]}}} is wanted"
