"""The worksheet command: it draws the worksheets of a class and writes their files."""

import argparse
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from mha.command_line import Parser, check_ranges, in_one_line
from mha.practice.random_inputs import MAX_TOKENS
from mha.practice.worksheets.answers import as_csv, as_json
from mha.practice.worksheets.class_list import MAX_STUDENTS, read_class
from mha.practice.worksheets.files import write_all
from mha.practice.worksheets.model_worksheet import model_texts
from mha.practice.worksheets.options import add_options
from mha.practice.worksheets.seeds import Seed, read_secret
from mha.practice.worksheets.sheet import Worksheet, draw_worksheet, possible_stages
from mha.practice.worksheets.students import Student
from mha.practice.worksheets.text import write_key, write_sheet

RANGES = {
    "seed": (0, 10**9),
    "lesson": (1, 12),
    "students": (1, MAX_STUDENTS),
    "tokens": (2, MAX_TOKENS),
    "heads": (1, 4),
}
"""The smallest and the largest value of each option that is a number."""

AFTER_PROJECTION = ("scores", "scaled_scores", "exponentials", "weights", "head_outputs")
"""The stages of attention on given queries, keys and values."""

DEFAULTS: dict[str, Any] = {
    "stages": [*AFTER_PROJECTION],
    "causal": False,
    "heads": 1,
    "model": False,
    "tokens": None,
}
"""The values of omitted options."""

LESSON_DEFAULTS: dict[int, dict[str, Any]] = {
    4: {"causal": True},
    5: {"heads": 2, "tokens": 2},
    8: {"causal": True},
    11: {"stages": ["exponentials", "weights"]},
}
"""The values of omitted options in a lesson, where they differ from `DEFAULTS`.

With difficulty "easy" a student needs about 20 minutes by the counts of `mha.practice.effort`, and
about 10 in lesson 11, where the tasks from the trained model come on top.
"""

BEFORE_MASK = ("query", "key", "value", "scores", "scaled_scores")
"""Stages that a mask does not change."""

MAX_WORD_LENGTH = 16
"""The most letters of a word of a sentence."""


def draw_worksheets(options: argparse.Namespace) -> tuple[Worksheet, ...]:
    """Return the worksheets of a class, as the command's options ask.

    Parameters
    ----------
    options : argparse.Namespace
        Parsed by a parser with `add_options`.

    Returns
    -------
    tuple of Worksheet

    Raises
    ------
    ValueError
        If the options have no sheets; the message names the option.
    """
    check_ranges(options, RANGES)
    _set_defaults(options)
    stages = _stages(options)
    seed = _seed(options)
    students = _students(options)
    sentences = [_split_sentence(text, options.tokens) for text in options.sentence or ()]
    return tuple(
        _draw_worksheet(
            options, seed, student, stages, sentences[i % len(sentences)] if sentences else None
        )
        for i, student in enumerate(students)
    )


def _set_defaults(options: argparse.Namespace) -> None:
    """Set omitted options to the values of the lesson, or else to the defaults."""
    of_lesson = LESSON_DEFAULTS.get(options.lesson, {})
    if options.stages and not _changed_by_mask(options.stages):
        of_lesson = of_lesson | {"causal": False}
    if options.sentence:
        of_lesson = of_lesson | {"tokens": None}
    for name, usual in DEFAULTS.items():
        if getattr(options, name) is None:
            setattr(options, name, of_lesson.get(name, usual))
    if options.heads > 1 and options.stages is DEFAULTS["stages"]:
        options.stages = [*options.stages, "output"]


def _seed(options: argparse.Namespace) -> Seed:
    secret = read_secret(options.secret) if options.secret else b""
    return Seed(options.seed or 0, options.lesson or 0, secret)


def _students(options: argparse.Namespace) -> Sequence[Student]:
    """Return the students; print how many a class list has, and which people get no sheet."""
    if options.list is None:
        return [Student(number) for number in range(1, options.students + 1)]
    found = read_class(options.list)
    print(found)
    return found.students


def _draw_worksheet(
    options: argparse.Namespace,
    seed: Seed,
    student: Student,
    stages: Sequence[str] | None,
    sentence: Sequence[str] | None,
) -> Worksheet:
    num_tokens = options.tokens or (3 if sentence is None else len(sentence))
    try:
        return draw_worksheet(
            seed,
            student,
            difficulty=options.difficulty,
            stages=stages,
            num_tokens=num_tokens,
            num_heads=options.heads,
            sentence=sentence,
        )
    except ValueError:
        raise ValueError(
            f"--difficulty {options.difficulty} has no short numbers for {num_tokens} words;"
            " fewer --tokens or a higher --difficulty are wanted"
        ) from None


def _stages(options: argparse.Namespace) -> list[str] | None:
    """Return the stages asked for, or None for the default ones."""
    possible = possible_stages(options.heads)
    for stage in options.stages or ():
        if stage == "output" and stage not in possible:
            raise ValueError(
                "--stages has 'output', which one head has not; --heads 2 or more is wanted"
            )
        if stage not in possible:
            raise ValueError(f"--stages has {stage!r}; one of {', '.join(possible)} is wanted")
    if not options.causal:
        return options.stages or None
    if options.stages and not _changed_by_mask(options.stages):
        raise ValueError(
            f"--causal changes nothing of {', '.join(options.stages)}, which come before the mask;"
            f" one of {', '.join(_changed_by_mask(possible))} is wanted among --stages, or no"
            " --causal"
        )
    return [*(options.stages or possible), "mask"]


def _changed_by_mask(stages: Sequence[str]) -> list[str]:
    """Return the stages that a mask changes."""
    return [stage for stage in stages if stage not in BEFORE_MASK]


def _split_sentence(text: str, tokens: int | None) -> tuple[str, ...]:
    """Return the words of a sentence, at most `tokens` of them."""
    words = tuple(text.split())[:tokens]
    low, high = RANGES["tokens"]
    if not (tokens or low) <= len(words) <= high:
        wanted = f"at least {tokens} are" if tokens else f"{low} to {high} are"
        raise ValueError(f"--sentence {text!r} has {_count_words(words)}; {wanted} wanted")
    long = [word for word in words if len(word) > MAX_WORD_LENGTH or not word.isprintable()]
    twice = [word for i, word in enumerate(words) if word in words[:i]]
    if long:
        raise ValueError(
            f"--sentence has {long[0]!r}; words of {MAX_WORD_LENGTH} letters are wanted"
        )
    if twice:
        raise ValueError(f"--sentence has {twice[0]!r} twice; words that differ are wanted")
    return words


def _count_words(words: Sequence[str]) -> str:
    return f"{len(words)} word{'s' * (len(words) != 1)}"


def write_texts(sheets: Iterable[Worksheet], *, model: bool = False) -> dict[str, str]:
    """Return the texts of the sheets of a class, by file name.

    Parameters
    ----------
    sheets : iterable of Worksheet
        At least one.
    model : bool, default False
        Whether each student also has the two tasks from the trained model.

    Returns
    -------
    dict of str to str
        Sheets and key as Markdown, answers as CSV and as JSON.
    """
    sheets = tuple(sheets)
    seed = sheets[0].seed
    of_model = model_texts([sheet.student for sheet in sheets], seed) if model else {}
    return of_model | {
        f"{seed.file_stem('worksheets')}.md": "\n".join(
            [f"# Worksheets, {seed}\n", *(write_sheet(made) for made in sheets)]
        ),
        f"{seed.file_stem('key')}.md": "\n".join(
            [f"# Key to the worksheets, {seed}\n", *(write_key(made) for made in sheets)]
        ),
        f"{seed.file_stem('answers')}.csv": as_csv(sheets),
        f"{seed.file_stem('answers')}.json": as_json(sheets),
    }


def main(arguments: Sequence[str] | None = None) -> None:
    """Write the sheets and the answers of a class, or nothing if a sheet cannot be drawn.

    Parameters
    ----------
    arguments : sequence of str, default those of the command line
    """
    parser = Parser(prog="python -m mha.practice.worksheets")
    add_options(parser)
    parser.add_argument("folder", type=Path, help="an existing folder for the files")
    options = parser.parse_args(arguments)
    try:
        made = write_texts(draw_worksheets(options), model=options.model)
        files = {name: text.encode() for name, text in made.items()}
        write_all(options.folder, files, force=options.force)
    except ValueError as error:
        sys.exit(f"error: {in_one_line(str(error))}")
    except OSError as error:
        sys.exit(f"error: {in_one_line(str(options.folder))} cannot be written: {error.strerror}")
