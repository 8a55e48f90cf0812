r"""The book's typefaces for LaTeX: the pages' own, a file a weight, and what stands in for them.

The pages have variable fonts, compressed for the web; LaTeX takes neither. So each weight that
print uses is cut out of them into the folder in which LaTeX works. A character that the text's font
lacks is set in the formulas' font, else in DejaVu Sans; LaTeX is told so for the characters that a
book has, and for no others.
"""

from functools import cache
from pathlib import Path

from fontTools.ttLib import TTFont
from fontTools.varLib.instancer import instantiateVariableFont

STATIC = Path(__file__).resolve().parents[3] / "_static"
TEXT, FORMULAS = "STIXTwoText-Regular", "STIXTwoMath-Regular"
CUTS: dict[str, tuple[str, int | None]] = {
    TEXT: ("fonts/stix-two-text.woff2", 400),
    "STIXTwoText-Bold": ("fonts/stix-two-text.woff2", 700),
    "STIXTwoText-Italic": ("fonts/stix-two-text-italic.woff2", 400),
    "STIXTwoText-BoldItalic": ("fonts/stix-two-text-italic.woff2", 700),
    "SourceSans3-Regular": ("fonts/source-sans-3.woff2", 400),
    "SourceSans3-Bold": ("fonts/source-sans-3.woff2", 600),
    "JetBrainsMono-Regular": ("fonts/jetbrains-mono.woff2", None),
    FORMULAS: ("math/STIXTwoMath-book.woff2", None),
}
"""The files for LaTeX: which of the pages' each is cut out of, and its weight where it has several.
"""

CHARACTERS = "characters.tex"
FALLBACKS = ((FORMULAS, r"\bookformulafont", 201), (None, r"\bookfallback", 202))
"""Where a missing character is looked for: the file (None: any other), LaTeX's name, a class."""


def write(folder: Path, text: str) -> None:
    """Put the fonts into a folder, and a file that says which characters of a text they lack."""
    for name, (source, weight) in CUTS.items():
        font = TTFont(STATIC / source, recalcTimestamp=False)
        font.flavor = None
        if weight is not None:
            font = instantiateVariableFont(font, {"wght": weight})
        rename(font, name)
        font.save(folder / f"{name}.ttf")
    (folder / CHARACTERS).write_text(classes(text), encoding="utf-8")


def rename(font: TTFont, name: str) -> None:
    """Give a font the name by which a PDF's reader finds what is embedded."""
    family, _, style = name.partition("-")
    names = {1: family, 2: style, 4: f"{family} {style}", 6: name, 16: family, 17: style}
    for number, words in names.items():
        font["name"].setName(words, number, 3, 1, 0x409)


def classes(text: str) -> str:
    r"""Return LaTeX that puts each character of a text that the text's font lacks into a class.

    Examples
    --------
    >>> print(classes("a → b ✗"))
    \XeTeXcharclass"2192=201
    \XeTeXcharclass"2717=202
    """
    found = ((character, fallback_of(character)) for character in sorted(set(text)))
    return "\n".join(rf'\XeTeXcharclass"{ord(c):04X}={number}' for c, number in found if number)


def fallback_of(character: str) -> int | None:
    """Return the class of a character by where it is found; None where the text's font has it."""
    code = ord(character)
    if code < ord(" ") or code in has(TEXT):
        return None
    return next(number for name, _, number in FALLBACKS if name is None or code in has(name))


@cache
def has(name: str) -> frozenset[int]:
    """Return the characters of a font."""
    return frozenset(TTFont(STATIC / CUTS[name][0]).getBestCmap())
