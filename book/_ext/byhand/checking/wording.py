"""Words that the book does not use, from ``wording.toml``."""

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

from byhand.checking.sources import Line, Page, without_code

PHRASES = tomllib.loads(Path(__file__).with_name("wording.toml").read_text("utf-8"))["phrase"]


def unwanted(page: Page) -> Iterator[Line]:
    """Find words that the book does not use; a phrase may go on in the next line."""
    lines = [
        (number, "" if text.lstrip().startswith(">") else without_code(text))
        for number, text in page.prose
    ]
    text = "\n".join(line for _, line in lines)
    for phrase in PHRASES:
        for found in re.finditer(phrase["pattern"], text, re.IGNORECASE):
            number = lines[text[: found.start()].count("\n")][0]
            words = " ".join(found[0].split())
            yield number, f'"{words}" is not the book\'s; write {phrase["wanted"]}'
