"""The command that makes packs of course materials."""

import argparse
import re
from collections.abc import Callable, Sequence
from functools import cache

import yaml
from command_lines import HTML
from environment import ROOT, fail, step
from printing import typeset, write_file

from byhand.document import Document
from mha.widgets.own import WHEEL
from packs import (
    autograders,
    cards,
    cartridge,
    figures,
    notebooks,
    pages,
    questions,
    slides,
    standalone_questions,
)
from packs.pages import Page, Question

MAX_SEED, MAX_VARIANTS = 10**9, 50
"""The largest seed, and the most fresh questions of each kind."""

Pack = Callable[[argparse.Namespace, list[Page]], dict[str, bytes]]
"""A function of the arguments and the built pages that returns files by name."""


def prepare(arguments: argparse.Namespace) -> Callable[[], None]:
    """Return the function that makes the packs; end with an error if they cannot be made."""
    for name in arguments.only:
        if name not in PACKS:
            fail(f"--only has {name!r}; one of {', '.join(PACKS)} is wanted")
    for option, most in (("seed", MAX_SEED), ("variants", MAX_VARIANTS)):
        if not 0 <= getattr(arguments, option) <= most:
            fail(f"--{option} is {getattr(arguments, option)}; 0 to {most:,} is wanted")
    site = arguments.site
    if site and not re.fullmatch("https://[!-~]+/", site):
        fail(f"--site is {site!r}; https://, a host and a last / are wanted")
    return lambda: make(arguments)


def make(arguments: argparse.Namespace) -> None:
    """Make the packs from the built pages, and publish each when it is whole."""
    built_pages = pages.read(HTML) if arguments.needs_pages(arguments) else []
    for name in arguments.only:
        with step(f"Making the {name}"):
            made = PACKS[name](arguments, built_pages)
        for file, data in made.items():
            write_file(arguments.to / name / file, data)
        files = "1 file" if len(made) == 1 else f"{len(made)} files"
        print(f"Made {files} of {name} in {arguments.to}")


def _bank(arguments: argparse.Namespace, built_pages: Sequence[Page]) -> list[Question]:
    return questions.bank(built_pages, arguments.seed, arguments.variants, _address(arguments))


@cache  # two packs have the same decks
def _decks(names: tuple[str, ...]) -> dict[str, bytes]:
    return slides.files(slides.chosen([*names]))


def _cartridge(arguments: argparse.Namespace, built_pages: list[Page]) -> dict[str, bytes]:
    """Return the cartridge of the chosen chapters, or of all, with the decks that they have."""
    names = tuple(arguments.chapters)
    by_name = {page.name.rpartition("/")[2]: page for page in built_pages}
    for name in names:
        if name not in by_name:
            fail(f"--chapters has {name!r}, which is no chapter; there are {', '.join(by_name)}")
    chosen = [page for name, page in by_name.items() if not names or name in names]
    with_deck = tuple(name for name in names if name in slides.decks())
    decks = {} if names and not with_deck else _decks(with_deck)
    titles = {page.name for page in chosen}
    bank = [each for each in _bank(arguments, built_pages) if not each.page or each.page in titles]
    chapters = tuple(page.name for page in chosen) if names else None
    reader = Document(name="reader", chapters=chapters, solutions="none")
    (pdf,) = typeset([reader]).values()
    return cartridge.files(chosen, bank, decks, pdf, arguments.cartridge, _address(arguments))


def _address(arguments: argparse.Namespace) -> str:
    """Return the address of the published book: --site, else that in `_config.yml`, or none."""
    if arguments.site is not None:
        return str(arguments.site)
    config = yaml.safe_load((ROOT / "_config.yml").read_text(encoding="utf-8"))
    return str(config["html"]["baseurl"] or "")


PACKS: dict[str, Pack] = {
    "questions": lambda arguments, built_pages: questions.files(_bank(arguments, built_pages)),
    "cards": lambda arguments, built_pages: cards.files(
        standalone_questions.questions(built_pages, _address(arguments)), built_pages
    ),
    "slides": lambda arguments, built_pages: _decks(tuple(arguments.chapters)),
    "figures": lambda arguments, built_pages: figures.files(built_pages),
    "notebooks": lambda arguments, built_pages: (
        notebooks.files(arguments.seed, _address(arguments))
        | notebooks.model_files(_address(arguments))
        | {WHEEL: notebooks.wheel()}
    ),
    "cartridge": _cartridge,
    "autograders": lambda arguments, built_pages: autograders.files(),
}
"""What can be made, by the name that it is asked for with."""
