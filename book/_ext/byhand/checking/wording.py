"""Words that the book does not use, from ``wording.toml``."""

import re
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from byhand.checking.finding import Finding
from byhand.checking.sources import Page, Project, without_code

FILE = Path(__file__).with_name("wording.toml")


@cache
def phrases() -> tuple[tuple[re.Pattern[str], str], ...]:
    """Return each expression with what is wanted in its place."""
    table = tomllib.loads(FILE.read_text(encoding="utf-8"))["phrase"]
    return tuple((re.compile(p["pattern"], re.IGNORECASE), p["wanted"]) for p in table)


def check(project: Project) -> Iterator[Finding]:
    """Look at every page."""
    for page in project.texts:
        yield from unwanted(page)


def unwanted(page: Page) -> Iterator[Finding]:
    """Find words that the book does not use; a phrase may go on in the next line."""
    lines = [
        (number, "" if text.lstrip().startswith(">") else without_code(text))
        for number, text in page.prose
    ]
    text = "\n".join(line for _, line in lines)
    for pattern, wanted in phrases():
        for found in pattern.finditer(text):
            number = lines[text[: found.start()].count("\n")][0]
            words = " ".join(found[0].split())
            yield Finding(page.file, number, f'"{words}" is not the book\'s; write {wanted}')
