"""Measure how long a saved edit takes until it is on the page, in the preview and a real browser.

Works on a copy of the committed project, which it builds first, with this environment. On each
chapter it saves a sentence, a cell whose value the page shows, and a module of `mha` whose value
the page shows, several times each, and notes in Chromium when the new text is first drawn. The
first save after the page was opened has a column of its own. Needs the project's environment and a
Chromium; see README.md.
"""

import argparse
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import environment
from bench_build import build_copy, copy_of, variables_for
from playwright.sync_api import Page, sync_playwright

from mha.command_line import Parser

# Of the chapters, short and long ones, and those whose cells compute most.
CHAPTERS = (
    "mechanism/self-attention",
    "mechanism/softmax",
    "mechanism/scaling",
    "transformer/learning",
    "examples/apple",
)
MODULE = "mha/runs/rounding.py"
ROW = "{:<28}{:<14}{:>9}{:>9}{:>9}"
PATIENCE = 300_000  # milliseconds
WATCH = """
import sys
sys.argv = ["build.py", "--watch", "--port", "0"]
import building
building.main()
"""
# Run in each page as it begins: looks in each frame for what is awaited. What is there is drawn in
# this frame, and the next frame begins when it has been.
LOOK = """
(() => {
  const look = () => {
    const awaited = localStorage.getItem("bench.awaited");
    if (awaited && document.body?.textContent.includes(awaited)) {
      localStorage.removeItem("bench.awaited");
      requestAnimationFrame(() => localStorage.setItem("bench.drawn", String(Date.now())));
    }
    requestAnimationFrame(look);
  };
  look();
})();
"""
# What a chapter is given before anything is measured, and edited below.
GIVEN = """

```{code-cell}
import mha.runs.rounding as bench_module
bench_cell = 0
```

The turn is {eval}`bench_cell` of the cell, {eval}`getattr(bench_module, "TURN", 0)` of the module.
"""

Edit = Callable[[Path, str, int], str]


def main(arguments: Sequence[str] | None = None) -> None:
    """Print a line for each chapter and each kind of edit."""
    options = _parsed(arguments)
    with tempfile.TemporaryDirectory() as name, sync_playwright() as playwright:
        folder = copy_of("HEAD", Path(name) / "here")
        for chapter in options.chapters:
            with (folder / "book" / f"{chapter}.md").open("a", encoding="utf-8") as file:
                file.write(GIVEN)
        build_copy(folder)
        chromium = environment.chromium("chromium")
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        with preview_of(folder) as address:
            print(ROW.format("chapter", "edit", "first", "median", "most"))
            for chapter in options.chapters:
                page = browser.new_page()
                page.set_default_timeout(PATIENCE)
                page.add_init_script(LOOK)
                page.goto(f"{address}{chapter}.html")
                page.wait_for_timeout(1000 * options.pause)
                for edit in (sentence, cell, module):
                    turns = range(1, options.repeat + 1)
                    times = [_timed(page, folder, chapter, edit, n, options.pause) for n in turns]
                    print(_row(chapter, edit.__name__, times), flush=True)
                page.close()


def _parsed(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = Parser(description=(__doc__ or "").partition("\n\n")[0])
    add = parser.add_argument
    add("--repeat", type=int, default=4, metavar="R", help="saves of each kind (default: 4)")
    add("--pause", type=int, default=5, metavar="S",
        help="seconds between them, in which nobody types (default: 5)")  # fmt: skip
    add("--chapters", nargs="+", default=CHAPTERS, metavar="PAGE", help="such as examples/apple")
    return parser.parse_args(arguments)


@contextmanager
def preview_of(folder: Path) -> Iterator[str]:
    """Serve a preview of a copy meanwhile; give its address."""
    command, variables = [sys.executable, "-u", "-c", WATCH], variables_for(folder)
    with subprocess.Popen(
        command, cwd=folder, env=variables, stdout=subprocess.PIPE, text=True
    ) as preview:
        assert preview.stdout is not None
        said = (re.search(r"http://127\.0\.0\.1:\d+/", line) for line in preview.stdout)
        address = next(filter(None, said), None)
        try:
            yield address[0] if address else sys.exit("the preview has ended")
        finally:
            preview.terminate()
            preview.communicate()  # it still has something to say


def _timed(page: Page, folder: Path, chapter: str, edit: Edit, turn: int, pause: int) -> float:
    """Return the seconds from an edit until what it says is drawn."""
    start = time.time()
    sign = edit(folder, chapter, turn)
    page.evaluate("sign => localStorage.setItem('bench.awaited', sign)", sign)
    page.get_by_text(sign).wait_for(state="attached")
    drawn = page.wait_for_function("() => localStorage.getItem('bench.drawn')").json_value()
    page.evaluate("() => localStorage.removeItem('bench.drawn')")
    page.wait_for_timeout(1000 * pause)
    return int(drawn) / 1000 - start


def _row(chapter: str, edit: str, times: list[float]) -> str:
    """Return a line: the first, and the median and the most of the others.

    Examples
    --------
    >>> _row("a", "cell", [3.0, 1.0, 2.0, 1.5]).split()
    ['a', 'cell', '3.0', '1.5', '2.0']
    """
    first, others = times[0], times[1:] or times
    numbers = (first, statistics.median(others), max(others))
    return ROW.format(chapter, edit, *(f"{seconds:.1f}" for seconds in numbers))


# ---- The edits; each returns the text to wait for ----


def sentence(folder: Path, chapter: str, turn: int) -> str:
    """Save a sentence below the chapter's opening."""
    text = f"This is sentence {turn} of the bench."
    _replace(folder / "book" / f"{chapter}.md", r"(?m)^(?=```\{aims\})", f"{text}\n\n")
    return text


def cell(folder: Path, chapter: str, turn: int) -> str:
    """Save a cell with another value."""
    _replace(folder / "book" / f"{chapter}.md", r"bench_cell = \d+", f"bench_cell = {turn}")
    return f"The turn is {turn} of the cell"


def module(folder: Path, chapter: str, turn: int) -> str:
    """Save a module of the package with another value."""
    value = int(1000 * time.time()) % 10**6
    with (folder / MODULE).open("a", encoding="utf-8") as file:
        file.write(f"\nTURN = {value}\n")
    return f"{value} of the module."


def _replace(file: Path, old: str, new: str) -> None:
    """Replace the first piece that matches."""
    text, times = re.subn(old, new, file.read_text(encoding="utf-8"), count=1)
    assert times == 1, f"{file} has no {old}"
    file.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
