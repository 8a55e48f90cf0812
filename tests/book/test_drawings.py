"""A drawing outside the pages: styles as attributes, the book's fonts."""

import io
import re

import pytest
from all_figures import FIGURES
from pypdf import PdfReader

from byhand.press import markup
from byhand.press.drawings import PAPER, in_attributes
from byhand.press.pdf import press
from mha.views.colours import HEAD_COLOURS


@pytest.fixture(scope="module")
def drawn():
    """Draw every figure."""
    return {name: draw().svg for name, draw in FIGURES.items()}


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


def test_the_texts_are_texts_in_the_book_s_fonts(drawn):
    source = "".join(f"#{markup.drawing(svg, name)}\n\n" for name, svg in drawn.items())
    pdf = PdfReader(io.BytesIO(press(f'#import "/style.typ": *\n#show: sheet\n{source}')))
    fonts = {
        str(font.get_object()["/BaseFont"]).partition("+")[2]
        for page in pdf.pages
        for font in page["/Resources"].get("/Font", {}).values()
    }
    assert {"SourceSans3-Regular", "STIXTwoText-Italic"} <= fonts
    assert all(re.match("(SourceSans3|STIXTwoText|STIXTwoMath(Rare)?)-", f) for f in fonts), fonts
    said = "".join(page.extract_text() for page in pdf.pages)
    assert "0.42" in said
    assert "−∞" in said


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
