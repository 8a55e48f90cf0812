"""The fonts that are embedded in exported drawings."""

import re
from base64 import b64decode
from html import unescape
from io import BytesIO

import pytest
from all_figures import FIGURES
from fontTools.ttLib import TTFont

from byhand.press.drawings import in_attributes
from byhand.press.embedding import with_fonts

RULE = re.compile(
    r"@font-face{font-family:'([^']*)';font-weight:(400|600);font-style:(normal|italic);"
    r"src:url\(data:font/woff2;base64,([^)]*)\)}"
)


def fonts_of(drawing):
    """Return the characters of each embedded font of a drawing."""
    return {
        (family, int(weight), style): set(map(chr, TTFont(BytesIO(b64decode(data))).getBestCmap()))
        for family, weight, style, data in RULE.findall(drawing)
    }


@pytest.mark.parametrize("name", FIGURES)
def test_a_drawing_has_fonts_for_its_characters_and_few_others(name):
    drawing = in_attributes(FIGURES[name]().svg)
    carried = with_fonts(drawing)
    fonts = fonts_of(carried)
    shown = set(unescape(re.sub("<[^>]*>", "", drawing)))
    assert shown <= set().union(*fonts.values()) | {"\n"}
    assert all(len(characters - shown) <= 1 for characters in fonts.values())
    assert carried == with_fonts(drawing)
    assert len(carried) - len(drawing) < 20_000


def test_fonts_have_the_weights_and_styles_of_the_text():
    fonts = fonts_of(with_fonts(in_attributes(FIGURES["concat_strips"]().svg)))
    assert set("cat") <= fonts["STIX Two Text Book", 400, "italic"]
    assert set("Head") <= fonts["Attention Interface Book", 600, "normal"]


def test_a_letter_that_the_first_family_lacks_comes_from_the_next():
    families = "'Attention Interface Book','STIX Two Math Book'"
    fonts = fonts_of(with_fonts(f'<svg font-family="{families}"><text>a\u2211</text></svg>'))
    assert fonts == {
        ("Attention Interface Book", 400, "normal"): {"a"},
        ("STIX Two Math Book", 400, "normal"): {"\u2211"},
    }
