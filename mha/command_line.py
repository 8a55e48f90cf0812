"""What every command line of the project has in common: how it says that it was not understood."""

import argparse
import itertools
import sys
from collections.abc import Sequence
from typing import Any, NoReturn


class Parser(argparse.ArgumentParser):
    r"""A parser of a command line whose errors are one sentence, and exit code 2.

    Examples
    --------
    >>> Parser(prog="audit").parse_args(["apple\n"])
    Traceback (most recent call last):
    SystemExit: 2
    """

    def error(self, message: str) -> NoReturn:
        """Stop with the sentence.

        Parameters
        ----------
        message : str

        Raises
        ------
        SystemExit
            Always, with code 2, after the command's name and the message went to stderr.
        """
        self.exit(2, f"{self.prog}: {in_one_line(message)}\n")

    def parse_known_args(  # type: ignore[override]  # argparse overloads it by the namespace
        self, args: Sequence[str] | None = None, namespace: Any = None
    ) -> tuple[Any, list[str]]:
        """Read what is known of a command line.

        Parameters
        ----------
        args : sequence of str, default those of the command line
        namespace : object, default a new argparse.Namespace

        Returns
        -------
        tuple of namespace and list of str
            What was read, and the arguments that are unknown.

        Raises
        ------
        SystemExit
            If the command line is not as it should be.
        """
        words = sys.argv[1:] if args is None else list(args)
        for word in itertools.takewhile("--".__ne__, words):
            if word.startswith("-") and word.endswith("=--"):  # before Python 3.12 an empty list
                self.error(f"argument {word.removesuffix('=--')}: -- is no value")
        return super().parse_known_args(words, namespace)


def in_one_line(text: str) -> str:
    r"""Return a text without line breaks, and with nothing that cannot be seen.

    Parameters
    ----------
    text : str

    Returns
    -------
    str
        With each character that is not printable as Python writes it.

    Examples
    --------
    >>> in_one_line("two\nlines, café")
    'two\\nlines, café'
    """
    return "".join(letter if letter.isprintable() else repr(letter)[1:-1] for letter in text)
