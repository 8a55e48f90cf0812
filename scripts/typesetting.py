"""Turn the book that the HTML build left into PDFs.

No page is read or computed again: one Sphinx loads what that build left, and the press prints it.
"""

import gc
import hashlib
import io
import re
import shutil
import sys
import warnings
from dataclasses import asdict
from pathlib import Path

from environment import BUILD, ROOT, fail
from html_book import RECORD
from sphinx_runs import STATE, application

from byhand.digests import digest_of
from byhand.document import Document
from byhand.press.pdf import PressError, date, press

PRINT = BUILD / "print"  # the PDFs before they are published, each with what it was made from


def typeset(documents: list[Document]) -> list[Path]:
    """Return the PDFs of documents; one whose book and wishes are as they were is there already."""
    PRINT.mkdir(parents=True, exist_ok=True)
    waiting = [document for document in documents if not _is_made(document)]
    for document, source in zip(waiting, sources(waiting), strict=True):
        pdf, record = _files(document)
        record.unlink(missing_ok=True)
        pdf.with_suffix(".typ").write_text(source, encoding="utf-8")
        try:
            pdf.write_bytes(press(source))
        except PressError as error:
            fail(str(error))
        record.write_text(_made_from(document), encoding="utf-8")
    return [_files(document)[0] for document in documents]


def _files(document: Document) -> tuple[Path, Path]:
    return PRINT / f"{document.name}.pdf", PRINT / f"{document.name}.made-from"


def _is_made(document: Document) -> bool:
    pdf, record = _files(document)
    is_there = pdf.is_file() and record.is_file()
    return is_there and record.read_text(encoding="utf-8") == _made_from(document)


def _made_from(document: Document) -> str:
    """Return a digest of all that a PDF depends on."""
    wishes = map(str, asdict(document).items())
    book = RECORD.read_text(encoding="utf-8") + digest_of(["CITATION.cff"])
    return hashlib.sha256("\n".join([book, str(date()), *wishes]).encode()).hexdigest()


def sources(documents: list[Document]) -> list[str]:
    """Return what the press reads for each document; end with what Sphinx warns of."""
    if not documents:
        return []
    from byhand.print_book import book

    gc.disable()  # a fifth of the time goes into looking for garbage among nodes that are needed
    said = io.StringIO()
    memory = STATE / "_build" / ".doctrees"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Sphinx's own, of the packages that it loads
        app = application("typst", PRINT, memory, status=None, warning=said)
        try:
            written = [book.source(app, document) for document in documents]
        except PressError as error:
            fail(str(error))
    gc.freeze()  # nor does Python look through all of them when it ends
    told = re.sub(r"\x1b\[[0-9;]*m", "", said.getvalue()).replace(f"{ROOT}/", "").strip()
    if told:
        print(told, file=sys.stderr)
        fail(f"{documents[0].name}.pdf was not printed")
    return written


def publish(pdf: Path, folder: Path, name: str = "") -> Path:
    """Put a finished PDF into a folder, in one step: no reader ever opens half a file.

    It keeps its name, unless another one is given.
    """
    target = folder / f"{name or pdf.stem}{pdf.suffix}"
    waiting = folder / f".{target.name}.new"
    shutil.copy(pdf, waiting)
    waiting.replace(target)
    return target
