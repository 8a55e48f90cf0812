"""Measure what a contributor waits for: the first build, and builds after one edit.

Works on a copy of the committed project, with this environment, and takes each step several times:
from nothing, nothing changed, a word of prose, a cell, a module of `mha`; with ``--pdf`` also what
is printed from the pages. With ``--against REV`` a copy of another commit takes the same steps in
turn, with the packages of its own lock, and each pair gives a ratio. Needs the project's
environment.
"""

import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from mha.command_line import Parser

ROOT = Path(__file__).resolve().parent.parent
CHAPTER = "book/examples/apple.md"
MODULE = "mha/runs/rounding.py"
ROW = "{:<16}{:>12}{:>12}{:>9}"

# Copies with one lock share an environment, so each is told where its own packages are.
BUILD = "import environment, html_book; html_book.build_html()"
RUN = "import building, sys; sys.argv = ['build.py', *{}.split()]; building.main()"
PRINTS = {
    "the book": "pdf",
    "a reader": "course --chapters self-attention,scaling,softmax",
    "the EPUB": "epub",
    "24 worksheets": "worksheet --seed 7 --students 24",
    "all slides": "packs --only slides",
}
"""What is printed from built pages, and the words of the command that does."""


def main() -> None:
    """Print a line for each step."""
    options = _parser().parse_args()
    with tempfile.TemporaryDirectory() as folder:
        copies = [copy_of("HEAD", Path(folder) / "here")]
        if options.against:
            copies.append(copy_of(options.against, Path(folder) / "there"))
            _set_up(copies[1])
        print(ROW.format("step", "seconds", "other", "ratio"))
        for name, edit in STEPS.items():
            times = [_timed(copies, edit, BUILD, turn) for turn in range(options.repeat)]
            print(_row(name, times), flush=True)
        if options.pdf:
            for name, words in PRINTS.items():
                code = RUN.format(repr(words))
                times = [_timed(copies, _not_printed, code, turn) for turn in range(options.repeat)]
                print(_row(name, times), flush=True)


def _parser() -> Parser:
    parser = Parser(description=(__doc__ or "").partition("\n\n")[0])
    parser.add_argument("--repeat", type=int, default=3, metavar="R", help="default: 3")
    parser.add_argument("--pdf", action="store_true", help="print everything too")
    parser.add_argument("--against", metavar="REV", help="another commit, such as HEAD~20")
    return parser


def copy_of(revision: str, folder: Path) -> Path:
    """Return a folder with the files of a commit."""
    folder.mkdir()
    archive = subprocess.run(
        ["git", "archive", revision], cwd=ROOT, stdout=subprocess.PIPE, check=True
    )
    subprocess.run(["tar", "-x"], cwd=folder, input=archive.stdout, check=True)
    return folder


def _set_up(copy: Path) -> None:
    """Let a copy whose lock is another make its own environment, as its command does."""
    locks = [(folder / "requirements.lock").read_bytes() for folder in (ROOT, copy)]
    if locks[0] != locks[1]:
        python = getattr(sys, "_base_executable", sys.executable)
        subprocess.run([python, "scripts/build.py"], cwd=copy, check=True)


def _timed(
    copies: list[Path], edit: Callable[[Path, int], None], code: str, turn: int
) -> list[float]:
    """Return the seconds that each copy takes for a build after the same edit."""
    times = []
    for copy in copies:
        edit(copy, turn)
        start = time.perf_counter()
        build_copy(copy, code)
        times.append(time.perf_counter() - start)
    return times


def variables_for(copy: Path) -> dict[str, str]:
    """Return the environment in which a copy's commands find its own packages."""
    folders = (copy, copy / "scripts", copy / "book" / "_ext")
    return {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, folders))}


def build_copy(copy: Path, code: str = BUILD) -> None:
    """Build a copy with its own code."""
    own = copy / ".venv" / "bin" / "python"
    python = own if own.is_file() else sys.executable
    subprocess.run([python, "-c", code], cwd=copy, env=variables_for(copy), check=True)


def _row(name: str, times: list[list[float]]) -> str:
    """Return one step's line: medians, and the median of the pairs' ratios."""
    here, *others = (statistics.median(column) for column in zip(*times, strict=True))
    if not others:
        return ROW.format(name, f"{here:.1f}", "", "")
    ratio = statistics.median(first / second for first, second in times)
    return ROW.format(name, f"{here:.1f}", f"{others[0]:.1f}", f"{ratio:.2f}")


# ---- The edits ----


def _from_nothing(copy: Path, turn: int) -> None:
    subprocess.run(["rm", "-rf", str(copy / "_build")], check=True)


def _not_printed(copy: Path, turn: int) -> None:
    subprocess.run(["rm", "-rf", str(copy / "_build" / "print")], check=True)


def _nothing(copy: Path, turn: int) -> None:
    return


def _prose(copy: Path, turn: int) -> None:
    with (copy / CHAPTER).open("a", encoding="utf-8") as file:
        file.write(f"\nA sentence more, of turn {turn}.\n")


def _cell(copy: Path, turn: int) -> None:
    with (copy / CHAPTER).open("a", encoding="utf-8") as file:
        file.write(f"\n```{{code-cell}}\nturn = {turn}\n```\n")


def _module(copy: Path, turn: int) -> None:
    with (copy / MODULE).open("a", encoding="utf-8") as file:
        file.write(f"\n# turn {turn}\n")


STEPS: dict[str, Callable[[Path, int], None]] = {
    "from nothing": _from_nothing,
    "nothing changed": _nothing,
    "a word of prose": _prose,
    "a cell": _cell,
    "a module of mha": _module,
}


if __name__ == "__main__":
    main()
