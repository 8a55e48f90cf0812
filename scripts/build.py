"""Build the book."""

import sys

if sys.version_info < (3, 11):  # noqa: UP036 (this is where an older Python is told so)
    version = ".".join(map(str, sys.version_info[:2]))
    sys.exit("error: Python 3.11 or newer is wanted, but this is " + version)

import argparse
import re
import shutil
import subprocess
from pathlib import Path

import environment
from environment import ROOT, fail, step

BUILD = ROOT / "_build"
STATE = BUILD / "state"  # what the last good build left: pages read, pages written
NEXT = BUILD / "next"  # the build under way, begun as a copy of STATE
HTML = BUILD / "html"


def main() -> None:
    """Read the arguments, build, and print where the book is."""
    parser = argparse.ArgumentParser(
        prog="build.py",
        description="Build the HTML book into _build/html. Only pages that changed, or whose"
        " numbers may have changed, are computed again. A failed build leaves the last good"
        " book where it is.",
    )
    parser.add_argument("what", nargs="?", choices=["html"], default="html", help="what to build")
    parser.add_argument("--all", action="store_true", help="compute every page again")
    arguments = parser.parse_args()
    python = environment.python()
    with step("Building the HTML book"):
        try:
            build_html(python, fresh=arguments.all)
        except OSError as error:
            fail(f"{error.filename} cannot be written: {error.strerror}")
    print(f"The book is in {HTML / 'index.html'}")


def build_html(python: str, *, fresh: bool = False) -> None:
    """Build into NEXT; only if that succeeds, make it the new STATE and publish its pages."""
    _restore(STATE)
    _restore(HTML)
    shutil.rmtree(NEXT, ignore_errors=True)
    if STATE.is_dir() and not fresh:
        shutil.copytree(STATE, NEXT)
    command = [str(Path(python).with_name("jupyter-book")), "build", str(ROOT / "book")]
    command += ["--config", str(ROOT / "_config.yml"), "--toc", str(ROOT / "_toc.yml")]
    command += ["--path-output", str(NEXT), "--warningiserror", "--nitpick", "--keep-going"]
    NEXT.mkdir(parents=True, exist_ok=True)
    log = BUILD / "build.log"
    with log.open("w", encoding="utf-8") as file:
        done = subprocess.run(command, cwd=ROOT, stdout=file, stderr=subprocess.STDOUT, check=False)
    if done.returncode != 0:
        report(log)
        fail(f"the book was not built; the whole log is in {log.relative_to(ROOT)}")
    _replace(STATE, NEXT)
    pages = BUILD / "html.new"
    shutil.rmtree(pages, ignore_errors=True)
    shutil.copytree(
        STATE / "_build" / "html", pages, ignore=shutil.ignore_patterns(".buildinfo", "reports")
    )
    _replace(HTML, pages)


def _old(target: Path) -> Path:
    return target.with_name(target.name + ".old")


def _replace(target: Path, new: Path) -> None:
    """Put folder `new` in the place of `target`."""
    shutil.rmtree(_old(target), ignore_errors=True)
    if target.is_dir():
        target.rename(_old(target))
    new.rename(target)
    shutil.rmtree(_old(target), ignore_errors=True)


def _restore(target: Path) -> None:
    """Undo a replacement that was interrupted half-way."""
    if _old(target).is_dir() and not target.is_dir():
        _old(target).rename(target)


def report(log: Path) -> None:
    """Print what went wrong: each warning and error with its file and line.

    Where cells failed, these come alone: what else is wrong on their pages follows from them.
    """
    text = re.sub(r"\x1b\[[0-9;]*m", "", log.read_text(encoding="utf-8"))
    text = text.replace(f"{ROOT}/", "")
    lines = text.splitlines()
    problems = [line for line in lines if re.search(r"\b(WARNING|ERROR|CRITICAL):", line)]
    cells = [line for line in problems if "this cell failed" in line]
    crashes = re.findall(r"^\w+ error.*:\n.*", text, re.MULTILINE)  # Sphinx's own, two lines each
    print("\n".join(cells or problems or crashes or lines[-25:]), file=sys.stderr)


if __name__ == "__main__":
    main()
