"""The options of the worksheet commands.

Only the standard library is imported here, so that help needs no NumPy.
"""

import argparse
from pathlib import Path

DIFFICULTIES = ("easy", "medium", "hard")
"""The names of `mha.practice.random_inputs.LEVELS`."""

TASK_NAMES = (
    *("query", "key", "value", "scores", "scaled_scores", "mask"),
    *("exponentials", "weights", "head_outputs", "output"),
)
"""The names of the tasks of a worksheet, in their order: the keys of `sheet.TASKS`."""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options that choose the worksheets.

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
    source = parser.add_mutually_exclusive_group(required=True)
    source.add_argument(
        "--seed",
        type=int,
        help="a number of your choice, printed on each sheet. Anyone who knows it can draw the"
        " sheets and their keys; --secret prevents that",
    )
    source.add_argument(
        "--secret",
        type=Path,
        metavar="FILE",
        help="a file that only you have, used instead of a seed. The sheets show a check number"
        " from which neither it nor the keys can be computed",
    )
    add(
        "--lesson",
        type=int,
        help="1 to 12: appears in the files' names, and changes the numbers. For 2, 4, 5, 8 and 11"
        " the default tasks are those of these lessons on the page for teachers",
    )
    who = parser.add_mutually_exclusive_group(required=True)
    who.add_argument("--students", type=int, help="number of sheets")
    who.add_argument(
        "--class",
        type=Path,
        dest="list",
        metavar="FILE",
        help="a sheet for each student of a list: CSV with the columns name and id, or as Moodle or"
        " Canvas export it",
    )
    add(
        "--difficulty",
        choices=DIFFICULTIES,
        default="easy",
        help="default: easy, with which the default tasks take about 20 minutes",
    )
    add(
        "--stages",
        type=lambda text: text.split(","),
        metavar="A,B",
        help=f"tasks of a sheet, of {', '.join(TASK_NAMES)}; default: scores to head_outputs, and"
        " output with several heads",
    )
    add(
        "--causal",
        action=argparse.BooleanOptionalAction,
        help="with the stage mask: no token attends to later ones",
    )
    add("--tokens", type=int, help="words per sheet; default: 3, or those of the sentence")
    add("--heads", type=int, help="heads per sheet; default: 1")
    add(
        "--sentence",
        action="append",
        metavar="TEXT",
        help="the sentence of a sheet; if given several times, the sheets take turns; default: six"
        " sentences of the book",
    )
    add(
        "--model",
        action=argparse.BooleanOptionalAction,
        help="add two tasks from the trained model to each sheet",
    )
    add("--force", action="store_true", help="replace files that have other contents")
