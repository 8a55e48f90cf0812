"""What the audit's commands share."""

import argparse
import sys
from typing import NoReturn


class Parser(argparse.ArgumentParser):
    """A parser of a command line whose errors are one sentence.

    Examples
    --------
    >>> Parser(prog="audit").parse_args(["apple"])
    Traceback (most recent call last):
    SystemExit: audit: unrecognized arguments: apple
    """

    def error(self, message: str) -> NoReturn:
        """Stop with the sentence.

        Parameters
        ----------
        message : str

        Raises
        ------
        SystemExit
            Always, with the command's name before the message.
        """
        sys.exit(f"{self.prog}: {message}")
