"""The deck of cards, read back as Anki keeps it: a SQLite file and pictures in an archive."""

import json
import re
import sqlite3
import zipfile

import pytest
from bs4 import BeautifulSoup
from packs import cards
from question_bank import bank, book

from byhand.mathematics.page import to_mathml

pytestmark = pytest.mark.book


@pytest.fixture(scope="module")
def package(tmp_path_factory):
    (made,) = cards.write(bank(), book(), tmp_path_factory.mktemp("cards"))
    return made


@pytest.fixture(scope="module")
def collection(package, tmp_path_factory):
    folder = tmp_path_factory.mktemp("collection")
    with zipfile.ZipFile(package) as archive:
        path = archive.extract("collection.anki2", folder)
    return sqlite3.connect(path)


@pytest.fixture(scope="module")
def notes(collection):
    """Return front, back, tags and deck of each note by its guid."""
    decks = {int(i): d["name"] for i, d in json.loads(one(collection, "decks")).items()}
    rows = collection.execute(
        "SELECT guid, flds, tags, did FROM notes JOIN cards ON nid = notes.id ORDER BY notes.id"
    )
    return {g: (*f.split("\x1f"), tags.split(), decks[did]) for g, f, tags, did in rows}


def one(collection, column):
    return collection.execute(f"SELECT {column} FROM col").fetchone()[0]


def test_each_chapter_is_a_deck_and_each_card_is_in_that_of_its_chapter(notes):
    chapters = {page.title for page in book()}
    for _, _, tags, deck in notes.values():
        top, _, chapter = deck.partition("::")
        assert top == "Attention by Hand"
        assert chapter in chapters
        assert chapter.replace(" ", "-") in tags
    assert len({deck for *_, deck in notes.values()}) >= 20


def test_questions_of_one_answer_and_small_sums_are_cards_and_no_others(notes):
    asked = [q for q in bank() if cards.fits(q) and q.page]
    fronts = {name: front for name, (front, *_) in notes.items()}
    for question in asked:
        said = plain(fronts[cards.genanki.guid_for(question.name)])
        assert said.startswith(plain(cards.in_tex(question.text)))
    terms = [tags for _, _, tags, _ in notes.values() if "term" in tags]
    assert len(notes) == len(asked) + len(terms)
    assert len(terms) >= 30
    assert len(asked) >= 140


def test_a_term_is_explained_by_a_paragraph_that_has_it(notes):
    for front, back, tags, _ in notes.values():
        if "term" in tags:
            (term,) = re.findall("<em>(.*)</em>", front)
            assert f"<strong>{term}</strong>" in back
            assert len(plain(back).split()) >= 6
            assert not re.search(r"\b(?:above|below|here)\b|this page", plain(back))


def plain(html):
    return " ".join(BeautifulSoup(html, "html.parser").get_text(" ").split())


def test_formulas_are_tex_that_can_be_read(notes):
    formulas = 0
    for front, back, *_ in notes.values():
        assert "<math" not in front + back
        for tex in re.findall(r"\\\((.*?)\\\)", front + back, re.DOTALL):
            to_mathml(BeautifulSoup(tex, "html.parser").get_text(), display=False)
            formulas += 1
    assert formulas > 100


def test_pictures_are_in_the_package(package, notes):
    with zipfile.ZipFile(package) as archive:
        media = json.loads(archive.read("media"))
        found = {name: archive.read(number) for number, name in media.items()}
    shown = {src for front, *_ in notes.values() for src in re.findall(' src="([^"]+)"', front)}
    assert shown <= {*found}
    assert shown
    assert all(svg.startswith(b"<svg") for svg in found.values())


def test_cards_are_the_same_bytes_and_keep_their_ids_in_another_order(
    package, collection, notes, tmp_path
):
    (again,) = cards.write(bank(), book(), tmp_path)
    assert again.read_bytes() == package.read_bytes()
    (turned,) = cards.write(bank()[::-1], book()[::-1], tmp_path)
    with zipfile.ZipFile(turned) as archive:
        other = sqlite3.connect(archive.extract("collection.anki2", tmp_path))
    asked = {guid for guid, (*_, tags, _) in notes.items() if "term" not in tags}
    assert asked < {guid for (guid,) in other.execute("SELECT guid FROM notes")}
    for column in ("decks", "models"):
        assert {*json.loads(one(collection, column))} == {*json.loads(one(other, column))}
