"""The command `test.py`: build what the tests look at, and run them all."""

import argparse
import os
import subprocess
import sys

import environment
import printing
from environment import ROOT, step
from html_book import build_html

from byhand.document import Document


def main() -> None:
    """Build the book, and run pytest on everything."""
    arguments, for_pytest = _parser().parse_known_args()
    variables = dict(os.environ)
    if arguments.no_book:
        for_pytest = ["-m", "not book and not browser and not pdf", *for_pytest]
    else:
        variables["CHROMIUM"] = environment.chromium()
        with step("Building the HTML book"):
            build_html()
        environment.poppler()
        printing.print_all([Document()], printing.FOLDER)
    with step("Running the tests"):
        # A process a processor; tests of one file share what they build.
        command = [sys.executable, "-m", "pytest", "-n", "auto", "--dist", "loadfile", *for_pytest]
        done = subprocess.run(command, cwd=ROOT, env=variables, check=False)
    sys.exit(done.returncode)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="test.py",
        description="Run everything: unit tests, doctests, properties, linters, the chapters'"
        " assertions and the built book in a real Chromium.",
        epilog="Any other argument goes to pytest, such as -k softmax or --last-failed.",
    )
    parser.add_argument(
        "--no-book",
        action="store_true",
        help="leave out what needs the built book, a browser or LaTeX",
    )
    return parser
