"""Symbols: each letter of the table in Notation has one meaning, checked by ``symbols.toml``."""

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

from byhand.checking.sources import Fault, Page

PAGES_OF = tomllib.loads(Path(__file__).with_name("symbols.toml").read_text("utf-8"))
"""For each symbol, the pages on which it has its meaning."""

NOTATION = "notation"
ROW = re.compile(r"^\* - (\$.+\$)$")
FORMULA = re.compile(r"(?<![\\`$])\$([^$`]+?)\$")
WORDS = re.compile(r"\\(?:mathrm|text|begin|end|operatorname)\s*\{[^}]*\}|^:.*$", re.MULTILINE)


def repeated_symbols(page: Page) -> Iterator[Fault]:
    """Find symbols that are defined twice in the table, or that ``symbols.toml`` lacks."""
    if page.name != NOTATION:
        return
    seen: set[str] = set()
    for number, text in enumerate(page.lines, 1):
        for symbol in re.findall(r"\$([^$]+)\$", row[1]) if (row := ROW.match(text)) else ():
            if symbol in seen:
                yield number, f"${symbol}$ has two meanings; one is wanted"
            if symbol not in PAGES_OF:
                message = f"${symbol}$ is not in checking/symbols.toml; the pages that use it are"
                yield number, f"{message} wanted there"
            seen.add(symbol)


def conflicting_symbols(page: Page) -> Iterator[Fault]:
    """Find formulas with a letter of the table that its page does not use as defined there."""
    for symbol, pages in PAGES_OF.items():
        if {"*", page.name.removesuffix(".slides")} & {*pages} or page.name == NOTATION:
            continue
        # The letter alone: not as a subscript, and not in a word.
        alone = re.compile(rf"(?<![A-Za-z\\{{_^]){re.escape(symbol)}(?![A-Za-z}}])")
        for number, formula in formulas(page):
            if alone.search(WORDS.sub(" ", formula)):
                message = f"${symbol}$ means something else here than in Notation; take another"
                yield number, f"{message} letter, or name it as there"


def formulas(page: Page) -> Iterator[tuple[int, str]]:
    """Yield the formulas of a page, each with its line."""
    for number, text in page.prose:
        for found in FORMULA.finditer(text):
            yield number, found[1]
    for block in page.blocks:
        if block.name == "math":
            yield block.line, block.code
