"""The terms of the book: the entries of its printed index, and their spellings in the text."""

import re
import tomllib
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

LIST = Path(__file__).with_suffix(".toml")


@dataclass(frozen=True)
class Term:
    """An entry of the index and its spellings in the text."""

    entry: str
    spellings: tuple[str, ...]

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        """Return a pattern that finds the term in a lower-case text."""
        words = "|".join(map(re.escape, self.spellings))
        return re.compile(rf"(?<![\w-])(?:{words})(?![\w-])")

    def is_in(self, text: str) -> bool:
        """Tell whether a lower-case text contains the term."""
        return any(s in text for s in self.spellings) and bool(self.pattern.search(text))


def load() -> tuple[list[Term], dict[str, str]]:
    """Return the terms, and a mapping from each "see" entry to the entry that it refers to."""
    data = tomllib.loads(LIST.read_text(encoding="utf-8"))
    return [Term(entry, tuple(found)) for entry, found in data["terms"].items()], data["see"]
