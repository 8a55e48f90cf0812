"""A drawing's print form: styles as attributes, a page a drawing, the book's fonts."""

import io
import re

import pytest
from all_figures import FIGURES
from docutils import nodes
from docutils.utils import new_document
from pypdf import PdfReader

from byhand.print_book.drawings import FILE, PAPER, as_pdf, in_attributes, place
from mha.views.colours import HEAD_COLOURS


@pytest.fixture(scope="module")
def drawn():
    """Draw every figure."""
    return {name: draw().svg for name, draw in FIGURES.items()}


@pytest.fixture(scope="module")
def pdf(drawn):
    return as_pdf(list(drawn.values()))


def test_on_paper_nothing_is_left_that_a_style_sheet_would_say(drawn):
    for name, svg in drawn.items():
        told = in_attributes(svg)
        for left in ("var(", "color-mix", "calc(", " class=", " style=", "<style", "--"):
            assert left not in told, (name, left)
        assert PAPER["--paper"] in told or PAPER["--ink"] in told


def test_on_paper_stands_the_wide_layout_alone(drawn):
    for svg in drawn.values():
        assert 'display="none"' not in in_attributes(svg)
        if 'f-narrow"' in svg:
            assert in_attributes(svg).count("<text") < svg.count("<text")


def test_a_page_a_drawing_as_large_as_it_is(drawn, pdf):
    pages = PdfReader(io.BytesIO(pdf)).pages
    assert len(pages) == len(drawn)
    for page, svg in zip(pages, drawn.values(), strict=True):
        width, height = (float(re.search(rf'{s}="([\d.]+)"', svg)[1]) for s in ("width", "height"))
        assert float(page.mediabox.width) == pytest.approx(0.75 * width, abs=0.1)
        assert float(page.mediabox.height) == pytest.approx(0.75 * height, abs=0.1)


def test_the_texts_are_texts_in_the_book_s_fonts(pdf):
    reader = PdfReader(io.BytesIO(pdf))
    fonts = {
        str(font.get_object()["/BaseFont"]).partition("+")[2]
        for page in reader.pages
        for font in page["/Resources"].get("/Font", {}).values()
    }
    assert fonts
    assert all(re.match("(Source-Sans-3|STIX-Two-Text|STIX-Two-Math)-Book", f) for f in fonts), (
        fonts
    )
    assert "0.42" in reader.pages[0].extract_text()
    assert "−∞" in reader.pages[1].extract_text()


def test_the_same_drawings_give_the_same_bytes(drawn, monkeypatch):
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1767225600")
    one = [drawn["lanes"], drawn["curves"]]
    assert as_pdf(one) == as_pdf(one)


def test_each_drawing_of_a_book_becomes_latex_s_word_for_its_page(drawn, tmp_path):
    book = new_document("book")
    for svg in (drawn["lanes"], drawn["curves"]):
        book += nodes.raw("", "<div></div>", format="html", drawing=svg, alt="Two")
    book += nodes.raw("", "<p></p>", format="html")
    place(book, tmp_path)
    first, second, other = book.children
    assert (first.astext(), second.astext()) == (r"\bookdrawing{1}", r"\bookdrawing{2}")
    assert first["format"] == second["format"] == "latex"
    assert other["format"] == "html"
    assert len(PdfReader(tmp_path / FILE).pages) == 2


def test_equal_weights_are_equally_dark_in_print_without_colours():
    drawing = '<svg><path class="f-heat" style="--head: {}; --weight: {}"/></svg>'

    def grey(colour, weight):
        fill = re.search('fill="#(..)(..)(..)"', in_attributes(drawing.format(colour, weight)))
        red, green, blue = (int(channel, 16) for channel in fill.groups())
        return 0.299 * red + 0.587 * green + 0.114 * blue

    for weight in (0.2, 0.8, 0.9, 1):
        greys = [grey(colour, weight) for colour in HEAD_COLOURS]
        assert max(greys) - min(greys) < 1.5
    darkest_of_less = min(grey(colour, 0.8) for colour in HEAD_COLOURS)
    assert max(grey(colour, 0.9) for colour in HEAD_COLOURS) < darkest_of_less
