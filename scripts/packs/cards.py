"""Anki decks: definitions of terms, questions with one right answer, and small computations.

Each chapter is a deck below the book's. Notes, decks and the note type have ids derived from their
names, so that a later deck updates a learner's cards and keeps the learning progress. Formulas are
TeX between the delimiters of Anki's MathJax, since not every Anki shows MathML.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from hashlib import sha256
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory

import genanki
from bs4 import BeautifulSoup, Tag

from byhand import terms
from byhand.document import BOOK
from byhand.edition import edition
from byhand.press.archives import without_dates
from packs import standalone_questions
from packs.mathematics import as_tex
from packs.pages import Page, Question, self_contained

UNSUPPORTED_MATHML = re.compile("<mtr|\N{BOTTOM CURLY BRACKET}")
"""MathML that `as_tex` cannot write: rows of a table, and a brace below a part of a formula."""

MAX_TEXT_LENGTH = 600
"""The most characters of a definition; a longer paragraph explains more than its term."""

STYLE = """
.card { font: 1.1em sans-serif; max-width: 40em; margin: 1em auto; }
table { border-collapse: collapse; } th, td { border: 1px solid #999; padding: .1em .5em; }
img { background: white; max-width: 100%; }
"""


def files(questions: Iterable[Question], pages: Sequence[Page]) -> dict[str, bytes]:
    """Return the decks of all chapters as one package, by file name."""
    questions = [question for question in questions if question.page and fits_card(question)]
    decks, spelt = [], spellings()
    for page in pages:
        deck = genanki.Deck(number(page.name), f"{BOOK}::{page.title.replace('::', ':')}")
        for name, front, back in definitions(page, spelt):
            deck.add_note(_note(name, front, back, (page.title, "term"), len(deck.notes)))
        for question in questions:
            if question.page == page.name:
                sides = _front(question), _back(question)
                deck.add_note(_note(question.name, *sides, question.tags, len(deck.notes)))
        decks.append(deck)
    pictures = {name: svg for question in questions for name, svg in question.files.items()}
    made, saved = genanki.Package([deck for deck in decks if deck.notes]), BytesIO()
    with TemporaryDirectory() as folder:
        for name, svg in sorted(pictures.items()):
            path = Path(folder, name)
            path.write_text(svg, encoding="utf-8")
            made.media_files.append(str(path))
        made.write_to_file(saved, timestamp=edition().begins.timestamp())
    return {"attention-by-hand.apkg": without_dates(saved.getvalue())}


def number(name: str) -> int:
    """Return an integer id that depends on a name only, as Anki needs."""
    return int.from_bytes(sha256(name.encode()).digest()[:6])


TURNED = '{{FrontSide}}<hr id="answer">{{Back}}'
MODEL = genanki.Model(
    number("model"),
    BOOK,
    fields=[{"name": "Front"}, {"name": "Back"}],
    templates=[{"name": "Card", "qfmt": "{{Front}}", "afmt": TURNED}],
    css=STYLE,
)


def _note(name: str, front: str, back: str, tags: Sequence[str], due: int) -> genanki.Note:
    sides = [in_tex(front), in_tex(back)]
    known = [tag.replace(" ", "-") for tag in tags]
    return genanki.Note(MODEL, sides, guid=genanki.guid_for(name), tags=known, due=due)


def in_tex(html: str) -> str:
    """Return HTML with its formulas as TeX for Anki's MathJax."""
    soup = BeautifulSoup(html, "html.parser")
    for math in soup.find_all("math"):
        math.replace_with(rf"\({as_tex(math).strip('$')}\)")
    return soup.decode(formatter="minimal")


# ---- Questions ----


def fits_card(question: Question) -> bool:
    """Return whether a question fits a card: a small computation, or one right answer."""
    text = question.text + _back(question) if question.kind != "essay" else ""
    return bool(text) and not question.is_multiple and not UNSUPPORTED_MATHML.search(text)


def _front(question: Question) -> str:
    options = "".join(f"<li>{option.text}</li>" for option in question.options)
    return question.text + (f'<ol type="a">{options}</ol>' if options else "")


def _back(question: Question) -> str:
    if question.kind == "number":
        return f"<p><strong>{question.key.replace('-', '−')}</strong></p>{question.feedback}"
    right = next(option for option in question.options if option.is_right)
    return f"<p><strong>{right.text}</strong></p>{right.feedback}{question.feedback}"


# ---- Terms ----


def spellings() -> dict[str, str]:
    """Return the terms of the index that cards explain, by their spellings."""
    spelt = {spelling: term.entry for term in terms.load()[0] for spelling in term.spellings}
    return {
        spelling: term
        for spelling, term in spelt.items()
        if spelling not in standalone_questions.UNEXPLAINED
    }


def definitions(page: Page, spelt: dict[str, str]) -> Iterator[tuple[str, str, str]]:
    """Yield a name, a term and its definition: the paragraph that sets the term in bold.

    The first paragraph of the book that defines a term removes the term from `spelt`.
    """
    for bold in page.article.select("p strong, dt strong"):
        term = " ".join(bold.get_text().split())
        block = bold.find_parent(["p", "dt"])
        if term.lower() not in spelt or block is None or block.find_parent(NO_TEXT):
            continue
        parts = [block, *block.find_next_siblings("dd", limit=block.name == "dt")]
        text = "".join(f"<p>{_words(part)}</p>" for part in parts if isinstance(part, Tag))
        if _is_whole(text):
            entry = spelt[term.lower()]
            for spelling in [s for s, term in spelt.items() if term == entry]:
                del spelt[spelling]
            yield f"term: {entry}", f"<p>What is meant by <em>{term}</em>?</p>", text


NO_TEXT = ["mha-quiz", "table", "figure"]
ELSEWHERE = re.compile(
    rf"{standalone_questions.PLACES.pattern}|\b(?:above|below|here)\b|(?:Table|Fig\.|\() ?\d+\.\d"
)


def _words(part: Tag) -> str:
    soup = BeautifulSoup(self_contained(part), "html.parser")
    for node in soup.select("a, p, dt, dd"):
        node.unwrap()
    return soup.decode(formatter="minimal")


def _is_whole(html: str) -> bool:
    """Return whether a paragraph is complete on its own: no table, no reference, not too long."""
    if UNSUPPORTED_MATHML.search(html):
        return False
    text = BeautifulSoup(html, "html.parser").get_text().strip()
    return (
        len(text) <= MAX_TEXT_LENGTH
        and text.endswith((".", ";", ")"))
        and not ELSEWHERE.search(text)
    )
