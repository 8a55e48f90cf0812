"""Tagged PDFs (PDF/UA-1) from Typst source, the same bytes from the same source.

All printing goes through `press`. A source begins with a line that imports a template of this
folder, such as ``#import "/style.typ": *``. A line ``// at FILE:LINE`` before the content of a
chapter gives errors their place.
"""

import re
from collections.abc import Mapping
from pathlib import Path

import typst

from byhand.edition import edition
from byhand.press import markup, typefaces

TEMPLATES = Path(__file__).parent
PLACE = re.compile(r"^// at (.*:\d+)$")
WHERE = re.compile(r"__typst_py_bytes__\.typ:(\d+)")
NO_GLYPH = re.compile(r"the text `\"(.*?)\"` could not be displayed")


class PressError(Exception):
    """Raised if something cannot be printed; the message has file and line if known."""


def press(source: str) -> bytes:
    """Return the PDF of a source.

    Raises
    ------
    PressError
        If Typst refuses the source or warns: of a character without a font, a figure without
        alternative text, or a reference without a target.
    """
    try:
        pdf, warnings = compiler(source).compile_with_warnings(
            pdf_standards="ua-1", timestamp=int(edition().begins.timestamp())
        )
    except typst.TypstError as error:
        raise PressError(_error_message(error, source)) from None
    if warnings:
        raise PressError(_error_message(warnings[0], source))
    assert isinstance(pdf, bytes)
    return pdf


def compiler(source: str) -> typst.Compiler:
    """Return a Typst compiler of a source, for queries besides the PDF.

    It has the book's fonts, and the system's fonts for characters that the book's lack.
    """
    fonts = typst.Fonts(
        include_system_fonts=not typefaces.all_in_book(source),
        include_embedded_fonts=False,
        font_paths=[str(typefaces.folder())],
    )
    return typst.Compiler(source.encode(), root=str(TEMPLATES), font_paths=fonts)


def unprintable(texts: Mapping[str, str]) -> tuple[str, str] | None:
    """Return the name of the first text with a character that no font has, and the character.

    The system's fonts count, because names and titles may be in any script.
    """
    for name, text in texts.items():
        if not typefaces.all_in_book(text):
            try:
                press(markup.document("style", markup.text(text)))
            except PressError as error:
                found = NO_CHARACTER.search(str(error))
                if found is None:
                    raise
                # Typst names the first letter of a cluster; another of it may be the one without.
                letters = found[1] + text
                return name, next(c for c in letters if not typefaces.all_in_book(c))
    return None


NO_CHARACTER = re.compile(r"no font has the character (\S+)")


def _error_message(error: typst.TypstError | typst.TypstWarning, source: str) -> str:
    """Return an error of Typst as one sentence that begins with the place in a chapter."""
    message = error.message.removeprefix("PDF/UA-1 error: ").rstrip(".")
    if missing := NO_GLYPH.search(message):
        letter = missing[1]
        if letter.startswith("\\u{"):
            letter = chr(int(letter[3:-1], 16))
        code = "+".join(f"U+{ord(c):04X}" for c in letter)
        message = (
            f"no font has the character {letter} ({code}); install one, or write other letters"
        )
    lines = WHERE.findall("\n".join([error.diagnostic, *error.trace]))
    before = source.splitlines()[: int(lines[0])] if lines else []
    place = next((found[1] for line in reversed(before) if (found := PLACE.match(line))), "")
    sentence = message if missing else f"the press says: {message}"
    return f"{place}: {sentence}" if place else sentence
