"""Objectives of the lessons, from ``book/objectives.toml`` and the aims of the chapters.

Each aim of a chapter has an entry with the section, exercise, question, exam item and slide that
belong to it.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from functools import cache

from byhand.checking.blocks import EXERCISES
from byhand.checking.marking_schemes import schemes_of
from byhand.checking.shapes import Shape, read_tables
from byhand.checking.sources import DECK, Finding, Page, Project
from mha.practice.exams.problems import KINDS_BY_CHAPTER

FILE = "book/objectives.toml"

NONE = "none"
"""The word for an objective without an exercise, a question, an exam item or a slide."""

ANY_CHAPTER = ("mistake", "card")
"""Exam items of every chapter: a solution with a mistake, and the card of a model."""

QUIZZES = ("quiz", "predict")
LABEL = re.compile(r"^\(([\w-]+)\)=$", re.MULTILINE)


@dataclass(frozen=True)
class Objective:
    """One entry of ``objectives.toml``."""

    section: str
    exercise: str = NONE
    question: str = NONE
    exam: str = NONE
    slide: str = NONE


COLUMNS = tuple(field.name for field in fields(Objective))
SHAPE: dict[str, Shape] = {"*": [{f"{name}?": str for name in COLUMNS}]}


@cache
def read_objectives(text: str) -> Mapping[str, tuple[Objective, ...]]:
    """Return the entries of an ``objectives.toml`` by the name of the chapter."""
    return {
        name: tuple(
            Objective(**{key: str(entry.get(key, "")) for key in COLUMNS}) for entry in entries
        )
        for name, entries in read_tables(text, SHAPE).items()
    }


def aims_of(page: Page) -> list[str]:
    r"""Return the aims of a chapter, each in one line.

    Examples
    --------
    >>> aims_of(Page("book/a.md", "```{aims}\n- read\n  a row\n- write\n```"))
    ['read a row', 'write']
    """
    return [
        " ".join(aim.split())
        for block in page.blocks
        if block.name == "aims"
        for aim in re.split(r"^- ", block.code, flags=re.MULTILINE)[1:]
    ]


def questions_of(page: Page) -> list[str]:
    """Return the labels of a chapter's quizzes and predictions, in their order."""
    return [block.argument.strip() for block in page.blocks if block.name in QUIZZES]


def check(project: Project) -> Iterator[Finding]:
    """Find aims without an entry, and entries that name what their chapter does not have."""
    pages = {page.name: page for page in project.pages}
    decks = {deck.file.removeprefix("book/").removesuffix(DECK): deck for deck in project.decks}
    schemes = schemes_of(project)
    alone = {label for label, scheme in schemes.items() if scheme.stands_alone}
    for _, text in project.files(FILE):
        for name, objectives in read_objectives(text).items():
            line = text[: text.index(f'"{name}"')].count("\n") + 1
            if name not in pages:
                yield Finding(FILE, line, f"there is no page {name}; a chapter is wanted")
                continue
            count = len(aims_of(pages[name]))
            if len(objectives) != count:
                message = (
                    f"{name} has {len(objectives)} entries for {count} aims; one each is wanted"
                )
                yield Finding(FILE, line, message)
            known = _known(pages[name], decks.get(name), alone)
            for number, objective in enumerate(objectives, 1):
                for message in _faults(name, objective, known):
                    yield Finding(FILE, line + number, message)


def _known(page: Page, deck: Page | None, alone: set[str]) -> dict[str, set[str]]:
    """Return the possible words of each column in a chapter."""
    exercises = {
        block.options.get("label", (0, ""))[1] for block in page.blocks if block.name in EXERCISES
    }
    slides = {
        block.argument.strip()
        for block in (deck.blocks if deck else ())
        if block.name in ("slide", "question")
    }
    return {
        "section": {*LABEL.findall(page.text)},
        "exercise": exercises | {NONE},
        "question": {*questions_of(page), NONE},
        "exam": {*KINDS_BY_CHAPTER.get(page.name, ()), *ANY_CHAPTER, *(exercises & alone), NONE},
        "slide": slides | {NONE},
    }


def _faults(name: str, objective: Objective, known: Mapping[str, set[str]]) -> Iterator[str]:
    for column in COLUMNS:
        word = getattr(objective, column)
        if word not in known[column]:
            fault = f"{column} is {word!r}" if word else f"an objective has no {column}"
            yield f"{fault}; one that {name} has is wanted, or {NONE}"
