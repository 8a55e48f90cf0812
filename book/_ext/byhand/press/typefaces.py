"""Fonts for print, cut from the fonts of the pages.

The pages have variable fonts, compressed for the web, and Typst reads neither. Each weight used in
print is cut from them once. The names of the new fonts end in "Book", so that no font of the system
replaces them.
"""

import os
from functools import cache
from pathlib import Path

from byhand.digests import ROOT, digest_of

STATIC = Path("book/_static")
CUTS: dict[str, tuple[str, str, int | None]] = {
    "STIXTwoText-Regular": ("STIX Two Text Book", "fonts/stix-two-text.woff2", 400),
    "STIXTwoText-Bold": ("STIX Two Text Book", "fonts/stix-two-text.woff2", 700),
    "STIXTwoText-Italic": ("STIX Two Text Book", "fonts/stix-two-text-italic.woff2", 400),
    "STIXTwoText-BoldItalic": ("STIX Two Text Book", "fonts/stix-two-text-italic.woff2", 700),
    "AttentionInterface-Regular": ("Attention Interface Book", "fonts/interface.woff2", 400),
    "AttentionInterface-Bold": ("Attention Interface Book", "fonts/interface.woff2", 600),
    "JetBrainsMono-Regular": ("JetBrains Mono Book", "fonts/jetbrains-mono.woff2", None),
    "STIXTwoMath-Regular": ("STIX Two Math Book", "math/STIXTwoMath-book.woff2", None),
    "STIXTwoMathRare-Regular": ("STIX Two Math Rare Book", "math/STIXTwoMath-rare.woff2", None),
}
"""Family, the pages' file, and the weight where that file has several."""


@cache
def folder() -> Path:
    """Return the folder with the fonts for print; make missing fonts."""
    files = [str(STATIC / file) for _, file, _ in CUTS.values()]
    made_from = digest_of(sorted({*files, "book/_ext/byhand/press/typefaces.py"}))
    fonts = ROOT / "_build" / "fonts" / made_from[:16]
    for name in CUTS:
        if not (fonts / f"{name}.ttf").is_file():
            _cut(name, fonts)
    return fonts


def _cut(name: str, fonts: Path) -> None:
    from fontTools.ttLib import TTFont
    from fontTools.varLib.instancer import instantiateVariableFont

    family, file, weight = CUTS[name]
    font = TTFont(ROOT / STATIC / file, recalcTimestamp=False)
    font.flavor = None
    if weight is not None:
        font = instantiateVariableFont(font, {"wght": weight})
    style = name.partition("-")[2]
    for number, words in {1: family, 2: style, 4: name, 6: name, 16: family, 17: style}.items():
        font["name"].setName(words, number, 3, 1, 0x409)
    fonts.mkdir(parents=True, exist_ok=True)
    waiting = fonts / f".{name}.{os.getpid()}"  # two commands may print at once
    font.save(waiting)
    waiting.replace(fonts / f"{name}.ttf")


@cache
def characters() -> frozenset[int]:
    """Return every character of the book's fonts."""
    from fontTools.ttLib import TTFont

    found = (TTFont(folder() / f"{name}.ttf").getBestCmap() for name in CUTS)
    return frozenset(code for cmap in found for code in cmap)


def all_in_book(text: str) -> bool:
    """Return whether the book's fonts have every character of a text, except line breaks."""
    return {ord(character) for character in text} - {10, 9, 13} <= characters()
