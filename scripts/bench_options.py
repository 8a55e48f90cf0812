"""What the benchmarks' command lines have in common."""

import argparse
from typing import NoReturn


class Parser(argparse.ArgumentParser):
    """A parser that answers bad input with one sentence and exit code 2."""

    def error(self, message: str) -> NoReturn:
        """Print the sentence and leave."""
        self.exit(2, f"{self.prog}: {message}; see --help\n")


def count(text: str) -> int:
    """Return a whole number of at least 1, or tell argparse what is wrong."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number of at least 1")
    return int(text)
