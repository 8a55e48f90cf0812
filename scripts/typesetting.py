"""Turn the book that the HTML build left into PDFs.

No page is read or computed again: one Sphinx loads what that build left, and the press prints it.
"""

import gc
import io
import sys
from collections.abc import Mapping

from environment import BUILD, fail
from sphinx_runs import DOCTREES, STATE, application, plain

from byhand.document import Document
from byhand.press.pdf import PressError, press, unprintable

PRINT = BUILD / "print"  # what the press reads


def typeset(documents: list[Document]) -> dict[str, bytes]:
    """Return the PDFs of documents by their names; the source of each stays in PRINT."""
    made = {}
    try:
        for document, source in zip(documents, sources(documents), strict=True):
            (PRINT / f"{document.name}.typ").write_text(source, encoding="utf-8")
            made[f"{document.name}.pdf"] = press(source)
    except PressError as error:
        fail(str(error))
    return made


def sources(documents: list[Document]) -> list[str]:
    """Return what the press reads for each document; end with what Sphinx warns of."""
    from byhand.print_book import book

    gc.disable()  # a fifth of the time goes into looking for garbage among nodes that are needed
    said = io.StringIO()
    app = application("typst", PRINT, STATE / DOCTREES, status=None, warning=said)
    written = [book.source(app, document) for document in documents]
    gc.freeze()  # nor does Python look through all of them when it ends
    if told := plain(said.getvalue()).strip():
        print(told, file=sys.stderr)
        fail(f"{documents[0].name}.pdf was not printed")
    return written


def refuse_unprintable(said: Mapping[str, str]) -> None:
    """End with the name of the first text that has a character which no font has, if one has."""
    if found := unprintable(list(said.values())):
        name, character = list(said)[found[0]], found[1]
        fail(
            f"{name} has {character} (U+{ord(character):04X}), and no font here has that"
            " character; install one that has, or write other letters"
        )
