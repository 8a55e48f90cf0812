"""The pack of slides: a PDF, notes and a PowerPoint file for each chapter with a deck."""

import os

from checking import refuse
from environment import ROOT, fail
from sphinx_runs import prepare

from byhand.checking import check_sources
from byhand.checking.decks import Deck, read_decks
from byhand.checking.sources import Project
from byhand.slides import content, paper, powerpoint


def decks() -> dict[str, Deck]:
    """Return the deck of each chapter that has one, by the last part of the chapter's name."""
    return {deck.chapter.rpartition("/")[2]: deck for deck in read_decks(Project(ROOT))}


def chosen(names: list[str]) -> list[Deck]:
    """Return the decks of the named chapters, or all decks."""
    found = decks()
    for name in names:
        if name not in found:
            fail(f"--chapters has {name!r}, which has no deck; there are {', '.join(found)}")
    return [found[name] for name in names or found]


def files(wanted: list[Deck]) -> dict[str, bytes]:
    """Return three files per deck, by name."""
    if not wanted:
        return {}
    refuse(check_sources(ROOT, [deck.page.name for deck in wanted]), "no slides were made")
    prepare(os.environ)
    return {
        file: data
        for deck, given in zip(wanted, content.compute_decks(wanted), strict=True)
        for file, data in _of_deck(deck, given).items()
    }


def _of_deck(deck: Deck, given: content.Values) -> dict[str, bytes]:
    name = deck.chapter.rpartition("/")[2]
    slides = content.render_slides(deck, given)
    pdf, placed = paper.slides_pdf(deck.title, slides)
    return {
        f"{name}.pdf": pdf,
        f"{name}-notes.pdf": paper.notes_pdf(deck.title, slides),
        f"{name}.pptx": powerpoint.file(deck.title, slides, placed),
    }
