"""The argument parser of the project's commands, with errors of one line."""

import argparse
import itertools
import sys
from collections.abc import Sequence
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
