"""What a teacher prints: pages of HTML become a PDF, if some font has every character of theirs."""

import os
import shutil
import subprocess
import unicodedata
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from byhand.print_book import drawings
from byhand.print_book.press import NO_DATE

FAMILIES = """
html { font-family: "Source Sans 3 Book", "DejaVu Sans", sans-serif }
em, i, tbody th { font-family: "STIX Two Text Book", "DejaVu Sans", serif; font-style: italic }
"""
"""The book's font holds the letters of the book; another has those of names."""


def print_pages(pages: Sequence[str], style: Path, pdf: Path) -> None:
    """Print pages of HTML one after another as one PDF; each counts its own sheets of paper."""
    import weasyprint
    from weasyprint.text.fonts import FontConfiguration

    os.environ.setdefault("SOURCE_DATE_EPOCH", str(NO_DATE))  # so that fonts are cut out alike
    configuration = FontConfiguration()
    styles = [drawings.faces(configuration), weasyprint.CSS(string=FAMILIES)]
    styles.append(weasyprint.CSS(filename=style, font_config=configuration))
    printed = [
        weasyprint.HTML(string=page).render(stylesheets=styles, font_config=configuration)
        for page in pages
    ]
    paper = [sheet for document in printed for sheet in document.pages]
    printed[0].copy(paper).write_pdf(pdf, pdf_identifier=b"attention-by-hand")


def check(option: str, text: str) -> None:
    """Raise unless some font of this machine has every character of a text.

    Raises
    ------
    ValueError
        Naming the option and the character.
    """
    for character in sorted(set(text)):
        if character.isascii() or _is_known(character):
            continue
        name = unicodedata.name(character, "a character without a name").lower()
        raise ValueError(
            f"{option} has {character} (U+{ord(character):04X}, {name}), and no font here has that"
            " character; install one that has, such as Debian's fonts-noto-core or fonts-noto-cjk"
        )


@cache
def _is_known(character: str) -> bool:
    """Tell whether a font has a character; without fontconfig's program nothing is known of it."""
    if unicodedata.category(character) in ("Mn", "Cf", "Zs") or not shutil.which("fc-list"):
        return True
    done = subprocess.run(
        ["fc-list", f":charset={ord(character):x}", "family"],
        capture_output=True,
        text=True,
        check=False,
    )
    return bool(done.stdout.strip())
