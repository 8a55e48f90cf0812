"""Run every test."""

import sys

if sys.version_info < (3, 11):  # noqa: UP036 (this is where an older Python is told so)
    version = ".".join(map(str, sys.version_info[:2]))
    sys.exit("error: Python 3.11 or newer is wanted, but this is " + version)

import argparse
import os
import subprocess

import build
import environment
import printing
from environment import ROOT, step


def main() -> None:
    """Set up, build the book, and run pytest on everything."""
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
    arguments, for_pytest = parser.parse_known_args()
    python = environment.python()
    variables = dict(os.environ)
    if arguments.no_book:
        for_pytest = ["-m", "not book and not browser and not pdf", *for_pytest]
    else:
        variables["CHROMIUM"] = environment.chromium()
        with step("Building the HTML book"):
            build.build_html(python)
        environment.poppler()
        printing.print_all(python, [printing.Document()], environment.BUILD / "pdf")
    with step("Running the tests"):
        # A process a processor; tests of one file share what they build.
        command = [python, "-m", "pytest", "-n", "auto", "--dist", "loadfile", *for_pytest]
        done = subprocess.run(command, cwd=ROOT, env=variables, check=False)
    sys.exit(done.returncode)


if __name__ == "__main__":
    main()
