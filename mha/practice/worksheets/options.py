"""The options of a worksheet command; the standard library alone, so that help needs no NumPy."""

import argparse
from pathlib import Path

DIFFICULTIES = ("easy", "medium", "hard")
"""The names of `mha.practice.drawing.LEVELS`."""

STAGES = (
    *("query", "key", "value", "scores", "scaled_scores", "mask"),
    *("exponentials", "weights", "head_outputs", "output"),
)
"""The names of the tasks of a worksheet, in their order."""


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
    source = parser.add_mutually_exclusive_group(required=True)
    source.add_argument(
        "--seed",
        type=int,
        help="a number of your choice. It stands on each sheet, and who knows it can draw the sheet"
        " and its key; --secret gives nothing away",
    )
    source.add_argument(
        "--secret",
        type=Path,
        metavar="FILE",
        help="what the numbers follow from in the place of a seed: a file that you keep. A check"
        " number stands on the sheets",
    )
    add(
        "--lesson",
        type=int,
        help="1 to 12: names the files, and draws other numbers than for other lessons; 2, 4 and 5"
        " ask what these lessons of the page for teachers ask, unless you say otherwise",
    )
    who = parser.add_mutually_exclusive_group(required=True)
    who.add_argument("--students", type=int, help="how many sheets")
    who.add_argument(
        "--class",
        type=Path,
        dest="list",
        metavar="FILE",
        help="a sheet for each student of a list: CSV with the columns name and id, or as Moodle or"
        " Canvas export it",
    )
    add("--difficulty", choices=DIFFICULTIES, default="medium", help="default: medium")
    add(
        "--stages",
        type=lambda text: text.split(","),
        metavar="A,B",
        help=f"what is asked, of {', '.join(STAGES)}; default: all but the mask",
    )
    add(
        "--causal",
        action=argparse.BooleanOptionalAction,
        help="with the stage mask: no token attends to later ones",
    )
    add("--tokens", type=int, help="words in a sheet; default: 3, or those of the sentence")
    add("--heads", type=int, help="heads in a sheet; default: 1")
    add(
        "--sentence",
        action="append",
        metavar="TEXT",
        help="what a sheet is about; several take turns; default: six of ours",
    )
    add(
        "--model",
        action=argparse.BooleanOptionalAction,
        help="two tasks from the trained model with each sheet",
    )
    add("--force", action="store_true", help="replace files that have other contents")
