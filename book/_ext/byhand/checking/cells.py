"""Cells, before any of them runs: each can be read, and gives the same each time."""

import ast
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

from byhand.checking.sources import Line, Page

LONGEST = 15  # lines of code in a cell
EXCEPTIONS = tomllib.loads(Path(__file__).with_name("exceptions.toml").read_text("utf-8"))

NETWORK = "urllib|requests|socket|http|ftplib|httpx|aiohttp|smtplib"
SEED = "a generator with a seed, as in np.random.default_rng(2024), is wanted"
CLOCK = "it differs each time; a value that is written down is wanted"
UNSTEADY = {
    r"\b(default_rng|SeedSequence|RandomState|Random)(?=\((None)?\))": f"has no seed; {SEED}",
    r"\b(np|numpy)\.random\.(?!default_rng)[a-z]\w*": f"has no seed of its own; {SEED}",
    r"(?<!\.)\brandom\.[a-z]\w*": f"has no seed of its own; {SEED}",
    r"\b(os\.urandom|uuid\.uuid[14]|secrets\.\w+)": f"has no seed of its own; {SEED}",
    r"\btime\.(time|perf_counter|monotonic|localtime|gmtime|ctime)\b": f"reads the clock; {CLOCK}",
    r"\b(datetime|date)\.(now|today|utcnow)\b": f"reads the clock; {CLOCK}",
    r"(?<![.\w])id(?=\()": f"is an object's address; {CLOCK}",
    rf"\b(import|from) ({NETWORK})\b": "speaks to a network; a file of the project is wanted",
}  # fmt: skip
"""What gives another result each time, and what is said of it."""


def unreadable(page: Page) -> Iterator[Line]:
    """Find cells and expressions that are not Python."""
    for before, source in page.sources():
        try:
            ast.parse(source)
        except SyntaxError as error:
            yield before + (error.lineno or 1), f"this is not Python: {error.msg}"
        except ValueError as error:  # a NUL byte
            yield before + 1, f"this is not Python: {error}"


def long_cells(page: Page) -> Iterator[Line]:
    """Find cells of more lines than a reader takes in at once, but for some allowed ones."""
    counts = {cell.line: len(cell.code.strip().splitlines()) for cell in page.cells}
    long = {line: count for line, count in counts.items() if count > LONGEST}
    if len(long) > EXCEPTIONS["long-cells"].get(page.name, 0):
        for line, count in long.items():
            yield line, f"this cell has {count} lines; at most {LONGEST} are wanted"


def unsteady(page: Page) -> Iterator[Line]:
    """Find what gives another result each time."""
    for before, source in page.sources():
        for number, line in enumerate(source.splitlines(), before + 1):
            for pattern, message in UNSTEADY.items():
                if found := re.search(pattern, line):
                    yield number, f"{found[0]} {message}"
