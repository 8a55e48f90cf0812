"""Rename the interface font: the licence reserves the name "Source" for the unmodified font.

The command is: python3 rename.py FILE
"""

import sys

from fontTools.ttLib import TTFont

FAMILY = "Attention Interface"


def rename(path: str) -> None:
    """Give a font file the family name `FAMILY`; the copyright notice and the version stay."""
    font = TTFont(path, recalcTimestamp=False)
    names = font["name"]
    version = names.getDebugName(5).split(";")[0]
    for number, words in {
        1: FAMILY,
        3: f"{version}; {FAMILY}",
        4: FAMILY,
        6: FAMILY.replace(" ", ""),
    }.items():
        names.setName(words, number, 3, 1, 0x409)
    font.save(path)


if __name__ == "__main__":
    rename(sys.argv[1])
