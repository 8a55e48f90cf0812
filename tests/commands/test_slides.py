"""Slides: each chapter has a readable deck, the same as PDF and as PowerPoint file."""

import io
import os
import re
from itertools import pairwise

import chains
import pytest
from book_site import ROOT
from deck_widths import faults
from pptx import Presentation
from pypdf import PdfReader
from sphinx_runs import prepare

from byhand.checking import decks
from byhand.checking.sources import Project
from byhand.contents import read_contents
from byhand.press.pdf import PressError
from byhand.reading import results
from byhand.slides import content, paper, powerpoint, words
from mha import arithmetic, load_example, trace

DECKS = decks.read_decks(Project(ROOT))


@pytest.fixture(scope="module")
def runs():
    """Return the results of the cells of every deck."""
    with pytest.MonkeyPatch.context() as patch:
        variables = dict(os.environ)
        prepare(variables)
        for name, value in variables.items():
            patch.setenv(name, value)
        return dict(
            zip((deck.chapter for deck in DECKS), content.compute_decks(DECKS), strict=True)
        )


@pytest.fixture(scope="module", params=DECKS, ids=lambda deck: deck.chapter)
def deck_made(request, runs):
    """Return a deck, its slides with numbers, its PDF, and the positions of all parts."""
    slides = content.render_slides(request.param, runs[request.param.chapter])
    return request.param, slides, *paper.slides_pdf(request.param.title, slides)


def test_a_deck_is_a_lesson_that_is_read_from_the_last_row(deck_made):
    deck, slides, pdf, placed = deck_made
    assert len(PdfReader(io.BytesIO(pdf)).pages) == len(slides)
    assert 30 <= sum(shown.slide.minutes for shown in slides) <= 60
    kinds = [shown.slide.kind for shown in slides]
    assert kinds.count("question") >= 2
    assert all((a == "question") == (b == "answer") for a, b in pairwise(kinds))
    chapter = (ROOT / "book" / f"{deck.chapter}.md").read_text(encoding="utf-8")
    assert f"\n# {deck.title}\n" in chapter
    things = {at.n for at in placed if at.part == "thing"}
    assert things == {n for n, shown in enumerate(slides, 1) if shown.thing is not None}
    for at in (at for at in placed if at.part != "title"):
        assert at.x >= 55.9
        assert at.y >= 101
        assert at.x + at.width <= 904.5
        assert at.y + at.height <= 513
        if not isinstance(slides[at.n - 1].thing, content.Drawing) or at.part != "thing":
            assert at.size >= 20


def test_the_powerpoint_file_has_the_same_and_can_be_changed(deck_made):
    deck, slides, _, placed = deck_made
    found = Presentation(io.BytesIO(powerpoint.file(deck.title, slides, placed)))
    assert len(found.slides) == len(slides)
    for shown, slide in zip(slides, found.slides, strict=True):
        assert slide.shapes.title.text_frame.text == words.plain(shown.slide.title)
        text = "".join(s.text_frame.text for s in slide.shapes if s.has_text_frame)
        assert not re.search(r"\\\S", text), "a mark of the source is on the slide"
        for piece in (*shown.before, *shown.after):
            assert all(words.plain(item) in text for _, item in piece.items)
        is_drawn = isinstance(shown.thing, content.Formula | content.Drawing)
        pictures = [s for s in slide.shapes if s.shape_type == 13]
        assert len(pictures) == is_drawn
        assert all(len(p._element.nvPicPr.cNvPr.get("descr")) > 2 for p in pictures)
        assert isinstance(shown.thing, content.Numbers) == any(s.has_table for s in slide.shapes)
        noted = slide.notes_slide.notes_text_frame.text
        assert noted.startswith(f"{shown.slide.minutes} minutes.") == bool(shown.slide.minutes)


def test_every_slide_is_whole_where_the_fonts_are_the_widest(deck_made):
    deck, slides, _, placed = deck_made
    found = Presentation(io.BytesIO(powerpoint.file(deck.title, slides, placed)))
    wrong = [f"{n}: {said}" for n, slide in enumerate(found.slides, 1) for said in faults(slide)]
    assert wrong == []


def test_each_chapter_has_a_deck_and_the_notes_have_every_slide_and_the_minutes(runs):
    wanted = {p for p in read_contents().pages if p.startswith(("mechanism/", "transformer/"))}
    assert {deck.chapter for deck in DECKS} == wanted
    slides = [slide for deck in DECKS for slide in content.render_slides(deck, runs[deck.chapter])]
    pages = PdfReader(io.BytesIO(paper.notes_pdf("All lessons", slides))).pages
    assert f"{sum(s.slide.minutes for s in slides)} minutes in all" in pages[0].extract_text()
    assert len(pages) < len(slides) / 2


def test_the_numbers_are_those_of_the_run(runs):
    deck = next(deck for deck in DECKS if deck.chapter == "mechanism/self-attention")
    slides = content.render_slides(deck, runs[deck.chapter])
    lines = [b for s in slides if isinstance(s.thing, content.Lines) for _, b in s.thing.rows]
    assert str(arithmetic(trace(load_example("cat-sat")), "weights", 0, 1)) in lines


def texts_of(shown):
    """Return all texts of a slide and its notes, with ^ before an exponent.

    Formulas with letters are omitted, because the text has no values for the letters.
    """
    pieces = (*shown.before, *shown.after, *shown.slide.notes)
    lines = shown.thing.rows if isinstance(shown.thing, content.Lines) else ()
    texts = [item for piece in pieces for _, item in piece.items] + [line for _, line in lines]
    texts = [re.sub(r"\$[^$]*[A-Za-z][^$]*\$", " ; ", text) for text in texts]
    return [words.plain(re.sub(r"\{sup\}`", "{sup}`^", text)) for text in texts]


def test_every_line_of_every_deck_holds_as_it_is_printed(runs):
    read = [
        chain for deck in DECKS for shown in content.render_slides(deck, runs[deck.chapter])
        for text in texts_of(shown) for chain in chains.read(text)
    ]  # fmt: skip
    assert {fault for chain in read for fault in chain.faults()} == set()
    assert len(read) >= 60


# ---- What is wrong is told with file and line ----

SLIDE = "```{slide} A title\n:minutes: 2\n\nAn idea.\n---\nSay it.\n```\n"
SOUND = "# A chapter\n\nOne sentence.\n\n" + SLIDE * 12
FILE = "book/mechanism/small.slides.md"


@pytest.fixture
def deck_errors(tmp_path, monkeypatch):
    """Return a function that writes a deck for a small chapter and returns the error messages."""
    folder = tmp_path / "book" / "mechanism"
    folder.mkdir(parents=True)
    (folder / "small.md").write_text('# A chapter\n\n{eval}`arithmetic(run, "scores", 0)`\n')
    monkeypatch.setattr(results, "ROOT", tmp_path)
    monkeypatch.setattr(results, "KEPT", tmp_path / "results")
    monkeypatch.setattr(content, "ROOT", tmp_path)

    def tell(text, *, runs=False):
        (folder / "small.slides.md").write_text(text, encoding="utf-8")
        project = Project(tmp_path)
        if not runs:
            return [str(finding) for finding in decks.check(project)]
        (deck,) = decks.read_decks(project)
        with pytest.raises(PressError) as error:
            paper.slides_pdf(
                deck.title, content.render_slides(deck, content.compute_decks([deck])[0])
            )
        return str(error.value)

    return tell


STEP = '\n- so {eval}`arithmetic(run, "scores", 0)`\n'
FORMULAS = "An idea.\n\n$$a$$\n\n$$b$$\n"


@pytest.mark.parametrize(
    ("old", "new", "line", "said"),
    [
        (SLIDE * 12, SLIDE * 4 + STEP, 1, "the deck has 5 slides; 12 to 25 are wanted"),
        ("", "", 1, "the chapter computes scores by hand; a slide with each is wanted"),
        ("One sentence.", "", 1, "one sentence below the deck's title is wanted"),
        (":minutes: 2", ":minutes: x", 5, "the slide has no minutes"),
        ("---\nSay it.", "", 5, "the slide and the notes are wanted, with a line --- between"),
        ("Say it.", "", 5, "the slide has no notes; text after a line --- is wanted"),
        ("A title", "A title.", 5, "a title of at most 60 characters without full stop"),
        ("An idea.", FORMULAS, 5, "2 objects besides text; at most one is wanted"),
        ("An idea.", "", 5, "the slide is empty; a text or an object is wanted"),
        ("An idea.", "it is", 8, "“it is” has no full stop; a whole sentence is wanted"),
        ("{slide} A", "{question} A", 5, "the question, the answer and the notes are wanted"),
    ],
)
def test_a_faulty_deck_is_told_before_it_runs(deck_errors, old, new, line, said):
    assert deck_errors(SOUND + STEP) == []
    text = SOUND.replace(old, new, 1) if old else SOUND
    wanted = f"{FILE}:{line}: {said}"
    assert any(finding.startswith(wanted) for finding in deck_errors(text)), deck_errors(text)


@pytest.mark.parametrize(
    ("idea", "line", "said"),
    [
        ("It is {eval}`1 / 0`.", 8, "1 / 0: ZeroDivisionError"),
        ("An idea, and more of it. " * 40, 5, "the text does not fit"),
        (f"$${'a + ' * 60}b$$", 5, "the formula does not fit"),
        ("See {ref}`softmax`.", 5, "a slide has no {ref}; only {eval} and {given}"),
    ],
)
def test_failing_or_overflowing_slides_are_reported_when_made(deck_errors, idea, line, said):
    found = deck_errors(SOUND.replace("An idea.", idea.strip(), 1), runs=True)
    assert found.startswith(f"{FILE}:{line}: {said}"), found


def test_a_value_is_text_whatever_letters_it_has():
    assert content.as_text({"text/plain": "'*a* $b$'"}) == r"\*a\* \$b\$"
    assert words.plain(content.as_text({"text/plain": "'*a* $b$'"})) == "*a* $b$"
