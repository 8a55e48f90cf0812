"""Drawings outside the pages: styles as attributes, the wide layout, and legible in grey."""

import re

from all_figures import FIGURES

from byhand.press.drawings import PAPER, in_attributes
from mha.views.colours import HEAD_COLOURS


def test_print_has_the_wide_layout_and_no_classes_for_style_sheets():
    for name, draw in FIGURES.items():
        svg = draw().svg
        told = in_attributes(svg)
        for left in ("var(", "color-mix", "calc(", " class=", " style=", "<style", "--"):
            assert left not in told, (name, left)
        assert PAPER["--paper"] in told or PAPER["--ink"] in told
        assert 'display="none"' not in told
        assert 'f-narrow"' not in svg or told.count("<text") < svg.count("<text")


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
