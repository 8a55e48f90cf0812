"""The command `test.py`: build what the chosen tests need, and run them."""

import argparse
import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import environment
import printing
from checking import refuse
from command_lines import FOLDERS, make_parser
from environment import AUTOGRADERS, BUILD, FRAMEWORKS, ROOT, Environment, fail, step
from html_book import build_html

from byhand.checking import check_sources
from byhand.document import Document

PYTEST = [sys.executable, "-m", "pytest"]
NO_TEST = 5  # the exit code of pytest when it collects no test
SLOWEST = 20  # tests whose time is printed at the end
WITHOUT_BROWSER = "not browser and not engines and not pdf"
WITHOUT_BOOK = f"not book and {WITHOUT_BROWSER}"
QUICK = (
    "tests/core",
    "tests/runs",
    "tests/views",
    "tests/audit",
    "tests/test_architecture.py",
    "tests/commands/test_code_quality.py",
)
LEFT_OUT = """
This was the quick group: the sources' checks, the mathematics, runs, views, audit, style of code.
Left out: types of Python, doctests, exercises, widgets, the Sphinx package, builds, what looks at
every number of many runs, and all that needs the built book or a browser.
All of it runs with: python3 scripts/test.py"""
AGAINST_TORCH, AGAINST_FRAMEWORKS = "tests/against_torch", "tests/against_frameworks"
AGAINST_AUTOGRADERS = "tests/against_autograders"


def main() -> None:
    """Build what the chosen tests need, and run pytest."""
    arguments, for_pytest = make_parser("testing").parse_known_args()
    if arguments.torch or arguments.frameworks:
        folder = AGAINST_TORCH if arguments.torch else AGAINST_FRAMEWORKS
        sys.exit(against(folder, FRAMEWORKS, for_pytest))
    if arguments.autograders:
        need_bubblewrap()
        write_assignment()
        sys.exit(against(AGAINST_AUTOGRADERS, AUTOGRADERS, for_pytest))
    variables = dict(os.environ)
    chosen = choose_tests(arguments)
    if arguments.quick:
        with step("Checking the sources"):
            refuse(check_sources(ROOT), "no test was run")
    else:
        make_inputs(collect_marks([*chosen, *for_pytest], variables))
        need_bubblewrap()
    with step("Running the tests"):
        # One process per processor; tests of a file share fixtures; the longest files start first.
        spread = ["-n", "auto", "--dist", "loadfile", "--no-loadscope-reorder"]
        spread += ["--max-worker-restart", "1"]  # for a test that waited for ever
        command = [*PYTEST, *spread, *chosen, f"--durations={SLOWEST}", *for_pytest]
        done = subprocess.run(command, cwd=ROOT, env=variables, check=False)
    if arguments.quick:
        print(LEFT_OUT)
    sys.exit(done.returncode)


def choose_tests(arguments: argparse.Namespace) -> list[str]:
    """Return pytest's arguments for the tests of an option; those of the user follow them."""
    if arguments.quick:
        return [*QUICK, "-m", f"{WITHOUT_BOOK} and not slow and not exhaustive"]
    if arguments.no_book:
        return ["-m", WITHOUT_BOOK]
    if arguments.no_browser:
        return ["-m", WITHOUT_BROWSER]
    if sys.platform != "linux":  # WebKitGTK is for Linux
        print("Left out: the tests in Firefox and WebKit, which run only on Linux.")
        return ["-m", "not engines"]
    return []


def collect_marks(for_pytest: list[str], variables: dict[str, str]) -> list[set[str]]:
    """Return the sets of markers that the chosen tests have; end if no test is chosen."""
    with step("Collecting the tests"), TemporaryDirectory() as folder:
        marks = Path(folder) / "marks"
        command = [*PYTEST, "--collect-only", "-q", f"--marks-to={marks}", *for_pytest]
        done = subprocess.run(
            command, cwd=ROOT, env=variables, check=False, capture_output=True, text=True
        )
        if done.returncode == NO_TEST:
            fail(f"no test is chosen by: {shlex.join(for_pytest)}")
        if done.returncode:
            print(done.stdout, done.stderr, sep="", end="", file=sys.stderr)
            sys.exit(done.returncode)
        return [set(line.split()) for line in marks.read_text(encoding="utf-8").split("\n")]


def make_inputs(marks: list[set[str]]) -> None:
    """Install the programs and make the books that tests with these markers need."""
    needed = set().union(*marks)
    if needed & {"browser", "engines"}:
        environment.chromium()
    if "engines" in needed:
        environment.engines()
    if needed & {"pdf", "engines"} and shutil.which("pdftotext") is None:
        environment.system_package("poppler's programs, which look into PDFs,", "poppler-utils")
    if "epub" in needed and shutil.which("epubcheck") is None:
        environment.system_package("epubcheck, which checks EPUBs,", "epubcheck")
    if "book" in needed:
        with step("Building the HTML book"):
            build_html()
    if any({"book", "pdf"} <= one for one in marks):
        printing.print_all([Document()], FOLDERS["pdf"])


def need_bubblewrap() -> None:
    """Install bubblewrap on Linux if it is missing."""
    if sys.platform == "linux" and shutil.which("bwrap") is None:
        environment.system_package("bubblewrap, in which notebooks are graded,", "bubblewrap")


def write_assignment() -> None:
    """Write the assignment for Otter-Grader where its tests look for it."""
    from packs import autograders

    target = BUILD / "packs" / "autograders" / autograders.OTTER
    printing.write_file(target, autograders.files()[autograders.OTTER])


def against(folder: str, where: Environment, for_pytest: list[str]) -> int:
    """Run the comparisons of a folder with other programs, in their environment."""
    where.update()
    # The other tests' conftest.py asks for packages that this environment does not have.
    # And none of its tests is stuck while it trains layers for some minutes.
    own = [folder, f"--confcutdir={folder}", "-o", "faulthandler_timeout=0"]
    if folder == AGAINST_TORCH:
        with step("Building the HTML book"):
            build_html()
    else:
        own += ["-o", "filterwarnings=ignore"]  # each program warns of itself
    with step(f"Running {folder}"):
        command = [str(where.python), "-m", "pytest", *own, *for_pytest]
        return subprocess.run(command, cwd=ROOT, check=False).returncode
