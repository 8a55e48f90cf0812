"""Measure what a contributor waits for: the first build, and builds after one edit.

Works on a copy of the committed project, with this environment, and takes each step several times:
from nothing, nothing changed, a word of prose, a cell, a module of `mha`. With ``--against REV`` a
copy of another commit takes the same steps in turn, and each pair gives a ratio. Needs the
project's environment; see README.md.
"""

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from bench_options import Parser, count

ROOT = Path(__file__).resolve().parent.parent
CHAPTER = "book/examples/apple.md"
MODULE = "mha/runs/rounding.py"
ROW = "{:<16}{:>12}{:>12}{:>9}"

# Copies share an environment, so each is told where its own packages are.
BUILD = "import environment, html_book; html_book.build_html()"
OLD_BUILD = "import build, sys; build.build_html(sys.executable)"


def main() -> None:
    """Print a line for each step."""
    options = _parser().parse_args()
    with tempfile.TemporaryDirectory() as folder:
        copies = [_copy("HEAD", Path(folder) / "here")]
        if options.against:
            copies.append(_copy(options.against, Path(folder) / "there"))
        print(ROW.format("step", "seconds", "other", "ratio"))
        for name, edit in STEPS.items():
            times = [_timed(copies, edit, turn) for turn in range(options.repeat)]
            print(_row(name, times), flush=True)


def _parser() -> argparse.ArgumentParser:
    parser = Parser(description=(__doc__ or "").partition("\n\n")[0])
    parser.add_argument("--repeat", type=count, default=3, metavar="R", help="default: 3")
    parser.add_argument("--against", metavar="REV", help="another commit, such as HEAD~20")
    return parser


def _copy(revision: str, folder: Path) -> Path:
    """Return a folder with the files of a commit."""
    folder.mkdir()
    archive = subprocess.run(
        ["git", "archive", revision], cwd=ROOT, stdout=subprocess.PIPE, check=True
    )
    subprocess.run(["tar", "-x"], cwd=folder, input=archive.stdout, check=True)
    return folder


def _timed(copies: list[Path], edit: Callable[[Path, int], None], turn: int) -> list[float]:
    """Return the seconds that each copy takes for a build after the same edit."""
    times = []
    for copy in copies:
        edit(copy, turn)
        start = time.perf_counter()
        _build(copy)
        times.append(time.perf_counter() - start)
    return times


def _build(copy: Path) -> None:
    folders = (copy, copy / "scripts", copy / "book" / "_ext")
    variables = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, folders))}
    code = BUILD if (copy / "scripts" / "html_book.py").is_file() else OLD_BUILD
    subprocess.run([sys.executable, "-c", code], cwd=copy, env=variables, check=True)


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
