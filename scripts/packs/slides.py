"""A lesson in slides for each chapter that has a deck: as PDF, as notes, and to be changed."""

import os
from pathlib import Path

from checking import refuse
from environment import ROOT, fail
from sphinx_runs import prepare

from byhand.checking import check_sources
from byhand.checking.decks import Deck, decks
from byhand.checking.sources import Project
from byhand.press.pdf import PressError
from byhand.slides import content, paper, powerpoint, running


def chosen(names: list[str]) -> list[Deck]:
    """Return the decks of some chapters, or all of them."""
    found = {deck.chapter.rpartition("/")[2]: deck for deck in decks(Project(ROOT))}
    for name in names:
        if name not in found:
            fail(f"--chapters has {name!r}, which has no deck; there are {', '.join(found)}")
    return [found[name] for name in names or found]


def write(wanted: list[Deck], folder: Path) -> list[Path]:
    """Write three files a deck, and return them."""
    refuse(check_sources(ROOT, [deck.page.name for deck in wanted]), "no slides were made")
    prepare(os.environ)
    try:
        return [
            path
            for deck, given in zip(wanted, running.run(wanted), strict=True)
            for path in _written(deck, given, folder)
        ]
    except PressError as error:
        fail(str(error))


def _written(deck: Deck, given: running.Given, folder: Path) -> list[Path]:
    name = deck.chapter.rpartition("/")[2]
    slides = content.shown(deck, given)
    pdf, placed = paper.slides_pdf(deck.title, slides)
    files = {
        f"{name}.pdf": pdf,
        f"{name}-notes.pdf": paper.notes_pdf(deck.title, slides),
        f"{name}.pptx": powerpoint.file(deck.title, slides, placed),
    }
    for file, data in files.items():
        (folder / file).write_bytes(data)
    return [folder / file for file in files]
