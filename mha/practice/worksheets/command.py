"""The options by which the worksheets of a class are drawn, and what is written of them."""

import argparse
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

from mha.command_line import Parser
from mha.practice.drawing import LEVELS, MOST_TOKENS
from mha.practice.worksheets.answers import as_csv, as_json
from mha.practice.worksheets.of_model import model_texts
from mha.practice.worksheets.sheet import TASKS, Worksheet, possible_stages, worksheet
from mha.practice.worksheets.students import MOST, Student, read_class
from mha.practice.worksheets.text import key, sheet

CAPS = {"seed": (0, 10**9), "students": (1, MOST), "tokens": (2, MOST_TOKENS), "heads": (1, 4)}
"""From where to where each option goes that is a number."""

LONGEST_WORD = 16
"""Letters that a word of a sentence may have."""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options that say which worksheets are drawn.

    Parameters
    ----------
    parser : argparse.ArgumentParser

    Examples
    --------
    >>> parser = argparse.ArgumentParser()
    >>> add_options(parser)
    >>> parser.parse_args(["--seed=7", "--students=2", "--stages=key,scores"]).stages
    ['key', 'scores']
    """
    add = parser.add_argument
    add("--seed", type=int, required=True, help="a number of your choice")
    who = parser.add_mutually_exclusive_group(required=True)
    who.add_argument("--students", type=int, help="how many sheets")
    who.add_argument(
        "--class",
        type=Path,
        dest="list",
        metavar="FILE",
        help="a sheet for each student of a list: CSV with the columns name and id",
    )
    add("--difficulty", choices=list(LEVELS), default="medium", help="default: medium")
    add(
        "--stages",
        type=lambda text: text.split(","),
        metavar="A,B",
        help=f"what is asked, of {', '.join(TASKS)}; default: all but the mask",
    )
    add("--causal", action="store_true", help="with the stage mask: no token attends to later ones")
    add("--tokens", type=int, help="words in a sheet; default: 3, or those of the sentence")
    add("--heads", type=int, default=1, help="heads in a sheet; default: 1")
    add(
        "--sentence",
        action="append",
        metavar="TEXT",
        help="what a sheet is about; several take turns; default: six of ours",
    )
    add("--model", action="store_true", help="two tasks from the trained model with each sheet")


def drawn(options: argparse.Namespace) -> tuple[Worksheet, ...]:
    """Return the worksheets of a whole class.

    Parameters
    ----------
    options : argparse.Namespace
        As `add_options` has them parsed.

    Returns
    -------
    tuple of Worksheet

    Raises
    ------
    ValueError
        If there are no such sheets, naming the option.
    """
    _check(options)
    stages = _stages(options)
    students = (
        [Student(number) for number in range(1, options.students + 1)]
        if options.list is None
        else read_class(options.list)
    )
    sentences = [_words(text, options.tokens) for text in options.sentence or ()]
    return tuple(
        _drawn(options, student, stages, sentences[i % len(sentences)] if sentences else None)
        for i, student in enumerate(students)
    )


def _drawn(
    options: argparse.Namespace,
    student: Student,
    stages: Sequence[str] | None,
    sentence: Sequence[str] | None,
) -> Worksheet:
    num_tokens = options.tokens or (3 if sentence is None else len(sentence))
    try:
        return worksheet(
            options.seed,
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


def _check(options: argparse.Namespace) -> None:
    """Raise unless every number is within its caps."""
    for name, (low, high) in CAPS.items():
        value = getattr(options, name)
        if value is not None and not low <= value <= high:
            raise ValueError(f"--{name} is {value}; {low} to {high:,} is wanted")


def _stages(options: argparse.Namespace) -> list[str] | None:
    """Return the stages that are asked for, None for the rule."""
    possible = possible_stages(options.heads)
    for stage in options.stages or ():
        if stage == "output" and stage not in possible:
            raise ValueError(
                "--stages has 'output', which one head has not; --heads 2 or more is wanted"
            )
        if stage not in possible:
            raise ValueError(f"--stages has {stage!r}; one of {', '.join(possible)} is wanted")
    if options.causal:
        return [*(options.stages or possible), "mask"]
    return options.stages or None


def _words(text: str, tokens: int | None) -> tuple[str, ...]:
    """Return the words of a sentence, as many as are wanted."""
    words = tuple(text.split())[:tokens]
    low, high = CAPS["tokens"]
    if not (tokens or low) <= len(words) <= high:
        wanted = f"at least {tokens} are" if tokens else f"{low} to {high} are"
        raise ValueError(f"--sentence {text!r} has {_counted(words)}; {wanted} wanted")
    long = [word for word in words if len(word) > LONGEST_WORD or not word.isprintable()]
    twice = [word for i, word in enumerate(words) if word in words[:i]]
    if long:
        raise ValueError(f"--sentence has {long[0]!r}; words of {LONGEST_WORD} letters are wanted")
    if twice:
        raise ValueError(f"--sentence has {twice[0]!r} twice; words that differ are wanted")
    return words


def _counted(words: Sequence[str]) -> str:
    return f"{len(words)} word{'s' * (len(words) != 1)}"


def texts(sheets: Iterable[Worksheet], seed: int, *, model: bool = False) -> dict[str, str]:
    """Return what is written of the sheets of a class, by the files' names.

    Parameters
    ----------
    sheets : iterable of Worksheet
    seed : int
    model : bool, default False
        Whether each student has the two tasks from the trained model too.

    Returns
    -------
    dict of str to str
        Sheets and key as Markdown, answers as CSV and as JSON.
    """
    sheets = tuple(sheets)
    of_model = model_texts([sheet.student for sheet in sheets], seed) if model else {}
    return of_model | {
        f"worksheets-{seed}.md": "\n".join(
            [f"# Worksheets, seed {seed}\n", *(sheet(made) for made in sheets)]
        ),
        f"key-{seed}.md": "\n".join(
            [f"# Key to the worksheets, seed {seed}\n", *(key(made) for made in sheets)]
        ),
        f"answers-{seed}.csv": as_csv(sheets),
        f"answers-{seed}.json": as_json(sheets),
    }


def main(arguments: Sequence[str] | None = None) -> None:
    """Write the sheets and the answers of a whole class; nothing where a sheet cannot be drawn.

    Parameters
    ----------
    arguments : sequence of str, default those of the command line
    """
    parser = Parser(prog="python -m mha.practice.worksheets")
    add_options(parser)
    parser.add_argument("folder", type=Path, help="where the files go")
    options = parser.parse_args(arguments)
    try:
        sheets = drawn(options)
        made = texts(sheets, options.seed, model=options.model)
    except ValueError as error:
        sys.exit(f"error: {error}")
    for name, text in made.items():
        try:
            (options.folder / name).write_text(text, encoding="utf-8")
        except OSError as error:
            sys.exit(f"error: {options.folder / name} cannot be written: {error.strerror}")
