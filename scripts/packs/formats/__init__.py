"""The question bank in the formats that systems of learning import.

Each is a template of this folder, but for QTI, which has one for its manifest and one for an item.

Canvas's reader (gems/plugins/qti_exporter of instructure/canvas-lms) takes a number for words in a
gap, which it compares letter by letter, unless the manifest says otherwise in elements of its own
that QTI has not. So Canvas has a package to itself: its items are the same.
"""

import re
import textwrap
from base64 import b64encode
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from templates import templates

from byhand.document import BOOK
from packs.alone import PICTURE
from packs.pages import Question

MOST = 256
"""Characters that QTI allows to stand in the place of a picture."""

LONG = re.compile(rf'(?<= alt=")[^"]{{{MOST + 1},}}')


def written(template: str, **given: Any) -> str:
    """Return what a template makes."""
    return TEMPLATES.get_template(template).render(given)


def package(questions: Sequence[Question], *, for_canvas: bool = False) -> dict[str, bytes]:
    """Return the files of a QTI 2.1 package by their names: a manifest, items, pictures."""
    manifest = written("qti-manifest.xml", questions=questions, for_canvas=for_canvas)
    items = {f"{q.name}.xml": written("qti-item.xml", question=q) for q in questions}
    pictures = {f"images/{name}": svg for q in questions for name, svg in q.files.items()}
    files = {"imsmanifest.xml": manifest, **items, **pictures}
    return {name: text.encode() for name, text in files.items()}


def _linked(html: str, folder: str) -> str:
    """Return HTML whose pictures are in a folder."""
    return PICTURE.sub(lambda name: folder + name[0], html)


def _drawn(html: str, question: Question) -> str:
    """Return HTML with its pictures in the places of their names."""
    encoded = {name: b64encode(svg.encode()).decode() for name, svg in question.files.items()}
    return PICTURE.sub(lambda name: f"data:image/svg+xml;base64,{encoded[name[0]]}", html)


def _flow(html: str) -> str:
    """Return HTML as a block of QTI: bare text becomes a paragraph, and pictures have a folder."""
    linked = LONG.sub(
        lambda words: textwrap.shorten(words[0], MOST, placeholder=" …"), _linked(html, "images/")
    )
    return linked if linked.startswith(("<p", "<ul", "<ol", "<table")) else f"<p>{linked}</p>"


TEMPLATES = templates(Path(__file__).parent)
TEMPLATES.globals["title"] = BOOK
TEMPLATES.filters |= {
    "base64": lambda text: b64encode(text.encode()).decode(),
    "pictures": lambda html: sorted({*PICTURE.findall(html)}),
    "linked": _linked,
    "drawn": _drawn,
    "flow": _flow,
    "gift": lambda text: re.sub(r"([\\~=#{}:])", r"\\\1", text),
}
