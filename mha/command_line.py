"""The argument parser of the project's commands, with errors of one line."""

import argparse
import itertools
import sys
from collections.abc import Mapping, Sequence
from typing import Any, NoReturn


class Parser(argparse.ArgumentParser):
    r"""A parser that prints a wrong argument as one line and exits with code 2.

    Examples
    --------
    >>> Parser(prog="audit").parse_args(["apple\n"])
    Traceback (most recent call last):
    SystemExit: 2
    """

    def error(self, message: str) -> NoReturn:
        """Print the command's name and a message on stderr, and exit with code 2.

        Parameters
        ----------
        message : str

        Raises
        ------
        SystemExit
            Always.
        """
        self.exit(2, f"{self.prog}: {in_one_line(message)}\n")

    def parse_known_args(  # type: ignore[override]  # argparse overloads it by the namespace
        self, args: Sequence[str] | None = None, namespace: Any = None
    ) -> tuple[Any, list[str]]:
        """Parse the known arguments of a command line.

        Parameters
        ----------
        args : sequence of str, default those of the command line
        namespace : object, default a new argparse.Namespace

        Returns
        -------
        tuple of namespace and list of str
            The parsed arguments, and the unknown ones.

        Raises
        ------
        SystemExit
            If an argument is not valid.
        """
        words = sys.argv[1:] if args is None else list(args)
        for word in itertools.takewhile("--".__ne__, words):
            if word.startswith("-") and word.endswith("=--"):  # before Python 3.12 an empty list
                self.error(f"argument {word.removesuffix('=--')}: -- is no value")
        return super().parse_known_args(words, namespace)


def check_ranges(options: argparse.Namespace, ranges: Mapping[str, tuple[int, int]]) -> None:
    """Raise ValueError if an option is outside its range.

    Parameters
    ----------
    options : argparse.Namespace
    ranges : mapping of str to pairs of int
        The smallest and the largest value by the option's name; an option may be None.

    Raises
    ------
    ValueError
        With the option's name and the range.

    Examples
    --------
    >>> check_ranges(argparse.Namespace(at_once=0), {"at_once": (1, 256)})
    Traceback (most recent call last):
    ValueError: --at-once is 0; 1 to 256 is wanted
    """
    for name, (low, high) in ranges.items():
        value = getattr(options, name)
        if value is not None and not low <= value <= high:
            option = name.replace("_", "-")
            raise ValueError(f"--{option} is {value}; {low} to {high:,} is wanted")


def in_one_line(text: str) -> str:
    r"""Return a text with line breaks and other unprintable characters escaped.

    Parameters
    ----------
    text : str

    Returns
    -------
    str
        Unprintable characters are written as in a Python string.

    Examples
    --------
    >>> in_one_line("two\nlines, café")
    'two\\nlines, café'
    """
    return "".join(letter if letter.isprintable() else repr(letter)[1:-1] for letter in text)
