"""The theme's style sheet without its icon font."""

import pytest
from sphinx.errors import ExtensionError

from byhand import slim_theme


@pytest.mark.parametrize(
    "rule",
    [
        "@font-face{font-family:Font Awesome\\ 6 Free;src:url(fa-solid-900.woff2)}",
        '.fa-bars:before{content:"x"}',
        ".fa,.fa-solid,.fas{top:0}",
        "@keyframes fa-spin{0%{top:0}to{top:1px}}",
        "/*! banner */.fa-a::after{top:0}",
    ],
)
def test_rules_of_the_icon_font_go(rule):
    assert slim_theme.without_icons(f"p{{top:0}}{rule}b{{top:1px}}") == "p{top:0}b{top:1px}"


@pytest.mark.parametrize(
    "rule",
    [
        "@font-face{font-family:Text;src:url(text.woff2)}",
        ".fade{opacity:0}.btn .fa-bars{top:0}",
        "@media print{.fa-bars{top:0}}",
        ".b,.fa-a{top:0}",
    ],
)
def test_other_rules_stay(rule):
    assert slim_theme.without_icons(rule) == rule


def test_an_icon_font_that_is_still_loaded_stops_the_build():
    with pytest.raises(ExtensionError, match="icon font"):
        slim_theme.without_icons("@media screen{@font-face{src:url(fa-solid-900.woff2)}}")
