"""Marking schemes of the exercises in words, from ``book/marking.toml``.

An exercise is in words if it has neither a number that a machine can mark (``{asked}``) nor a box
that asks for a number. The question bank exports it as an essay.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from byhand.checking.blocks import EXERCISES
from byhand.checking.box_calls import NUMBER_BOX_CALL
from byhand.checking.shapes import Shape, read_tables
from byhand.checking.sources import Block, Finding, Page, Project

FILE = "book/marking.toml"
BANK = "scripts/packs/bank.toml"
SCHEMES: dict[str, Shape] = {"*": {"marks?": [(int, str)], "alone?": bool}}
LISTS: dict[str, Shape] = {
    "left-out": [str],
    "complete": [str],
    "unexplained": [str],
    "needs": {"*": [str]},
}
"""The shapes of the two files."""

POINTS = {1: 2, 2: 4, 3: 6}
"""The points of an exercise of each difficulty."""

DIFFICULTY = re.compile(r"difficulty-([1-3])")
GIVEN = re.compile(r"\{given\}`([^`]*)`")
ROLE = re.compile(r"\{[\w:-]+\}`")

CODE = re.compile(r"(`+).+?\1")
TEX = re.compile(r"\$|\\[A-Za-z]*")
"""A sign of TeX, which no part of a scheme has: it is plain text on paper and in question banks."""


@dataclass(frozen=True)
class Scheme:
    """The marking scheme of an exercise.

    Parameters
    ----------
    label : str
    marks : tuple of (int, str)
        The points of each part of a full answer, and the part.
    stands_alone : bool
        Whether the exercise needs no table, figure or page.
    """

    label: str
    marks: tuple[tuple[int, str], ...]
    stands_alone: bool = False

    @property
    def points(self) -> int:
        """The points of a full answer."""
        return sum(points for points, _ in self.marks)


@cache
def read_schemes(text: str) -> dict[str, Scheme]:
    """Return the schemes of a ``marking.toml`` by label, in their order."""
    return {
        label: Scheme(
            label,
            tuple((int(points), str(says)) for points, says in entry.get("marks", ())),
            bool(entry.get("alone", False)),
        )
        for label, entry in read_tables(text, SCHEMES).items()
    }


def schemes_of(project: Project) -> dict[str, Scheme]:
    """Return the schemes of a project by label; none if it has no file of them."""
    return {
        label: scheme
        for _, text in project.files(FILE)
        for label, scheme in read_schemes(text).items()
    }


def exercises(page: Page) -> Iterator[tuple[str, int, Block, str]]:
    """Yield the label, the difficulty, the first block and the text of each exercise of a page."""
    for block in page.blocks:
        if block.name not in EXERCISES:
            continue
        label = block.options.get("label", (0, ""))[1]
        found = DIFFICULTY.search(block.options.get("class", (0, ""))[1])
        text = block.code
        if block.name == "exercise-start":
            below = "\n".join(page.lines[block.line + len(block.body) + 1 :])
            text = below.partition("{exercise-end}")[0].rstrip().rstrip("`")
        yield label, int(found[1]) if found else 0, block, text.strip()


def exercises_in_words(page: Page) -> Iterator[tuple[str, int, Block, str]]:
    """Yield the exercises of a page that a person has to mark."""
    asked = {block.argument.strip() for block in page.blocks if block.name == "asked"}
    for label, difficulty, block, text in exercises(page):
        if label not in asked and not NUMBER_BOX_CALL.search(text):
            yield label, difficulty, block, text


def plain_text(text: str) -> str:
    """Return the text of an exercise without the marks of given numbers.

    Examples
    --------
    >>> plain_text("The width is {given}`64`.")
    'The width is 64.'
    """
    return GIVEN.sub(r"\1", text)


def check(project: Project) -> Iterator[Finding]:
    """Find exercises in words without a scheme, and faulty or superfluous schemes."""
    for _, text in project.files(FILE):
        schemes = read_schemes(text)
        left_out = {
            label
            for _, bank in project.files(BANK)
            for label in read_tables(bank, LISTS)["left-out"]
        }
        known = {}
        for page in project.pages:
            for label, difficulty, block, words in exercises_in_words(page):
                known[label] = difficulty, words
                if label not in schemes and label not in left_out:
                    message = f"{label} has no marking scheme; an entry in {FILE} is wanted"
                    yield Finding(page.file, block.line, message)
        for label, scheme in schemes.items():
            line = line_of(label, text)
            for message in _faults(scheme, *known.get(label, (0, ""))):
                yield Finding(FILE, line, message)


def line_of(label: str, text: str) -> int:
    """Return the line of a label in the text of a ``marking.toml``, counted from 1."""
    return text[: text.index(f"[{label}]")].count("\n") + 1


def tex_faults(scheme: Scheme) -> Iterator[str]:
    """Find TeX in the marks of a scheme, outside code."""
    for _, says in scheme.marks:
        if found := TEX.search(CODE.sub("", says)):
            yield (
                f"a mark of {scheme.label} has {found[0]}, and schemes have no TeX; signs such as"
                " √, · and W^O are wanted"
            )


def _faults(scheme: Scheme, difficulty: int, text: str) -> Iterator[str]:
    if not text:
        yield f"{scheme.label} is no exercise in words; the label of one is wanted"
        return
    wanted = POINTS.get(difficulty, scheme.points)
    if scheme.points != wanted:
        yield f"{scheme.label} has {scheme.points} points; difficulty {difficulty} has {wanted}"
    if any(points < 1 or not says for points, says in scheme.marks):
        yield f"a mark of {scheme.label} has no points or no words; both are wanted"
    yield from tex_faults(scheme)
    if scheme.stands_alone and (found := ROLE.search(plain_text(text))):
        yield f"{scheme.label} has {found[0]}…`, so it does not stand alone; alone = false"
