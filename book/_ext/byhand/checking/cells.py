"""Cells, before any of them runs: each can be read, and gives the same each time."""

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

from byhand.checking.finding import Finding
from byhand.checking.sources import Page, Project, parsed

LONGEST = 15  # lines of code in a cell
EXCEPTIONS = Path(__file__).with_name("exceptions.toml")

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


def check(project: Project) -> Iterator[Finding]:
    """Look at the cells and expressions of every page."""
    allowed = tomllib.loads(EXCEPTIONS.read_text(encoding="utf-8"))["long-cells"]
    for page in project.texts:
        yield from unreadable(page)
        yield from long_cells(page, allowed.get(page.name, 0))
        yield from unsteady(page)


def unreadable(page: Page) -> Iterator[Finding]:
    """Find cells and expressions that are not Python."""
    for before, source in page.sources():
        error = parsed(source)
        if isinstance(error, SyntaxError):
            line = before + (error.lineno or 1)
            yield Finding(page.file, line, f"this is not Python: {error.msg}")


def long_cells(page: Page, allowed: int = 0) -> Iterator[Finding]:
    """Find cells of more lines than a reader takes in at once, but for some allowed ones."""
    found = []
    for cell in page.cells:
        if (count := len(cell.code.strip().splitlines())) > LONGEST:
            message = f"this cell has {count} lines; at most {LONGEST} are wanted"
            found.append(Finding(page.file, cell.line, message))
    if len(found) > allowed:
        yield from found


def unsteady(page: Page) -> Iterator[Finding]:
    """Find what gives another result each time."""
    for before, source in page.sources():
        for number, line in enumerate(source.splitlines(), before + 1):
            for pattern, message in UNSTEADY.items():
                if found := re.search(pattern, line):
                    yield Finding(page.file, number, f"{found[0]} {message}")
