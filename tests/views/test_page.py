"""On a page a figure is an image with a label, which the page's style sheet draws."""

import re
from types import SimpleNamespace
from xml.etree import ElementTree

import pytest
from all_figures import FIGURES
from docutils import nodes

from mha.views.figures import AltTextRenderer, inline_svg


@pytest.fixture(scope="module")
def drawn():
    """Draw every figure."""
    return {name: draw() for name, draw in FIGURES.items()}


def test_identifiers_on_a_page_are_unique_and_found(drawn):
    ids = []
    for place in "ab":
        for figure in drawn.values():
            page = inline_svg(figure.svg, figure.alt, place)
            assert "<style" not in page
            own = [e.get("id") for e in ElementTree.fromstring(page).iter() if e.get("id")]
            assert set(re.findall(r"""(?:url\(|href=")#([^)"]+)""", page)) == set(own)
            ids += own
    assert len(ids) == len(set(ids)) > 5


def test_a_page_s_drawing_is_an_image_with_a_label(drawn):
    alt = 'Weights of "cat" <end> & more'
    root = ElementTree.fromstring(inline_svg(drawn["lanes"].svg, alt))
    (drawing,) = root
    assert root.get("class") == "drawing"
    assert root.get("tabindex") == "0"
    assert (drawing.get("role"), drawing.get("aria-label")) == ("img", alt)


def rendered(mime, metadata, content="<svg/>"):
    """Let the plugin render one output; return its nodes and the warnings."""
    warnings = []
    logger = SimpleNamespace(warning=lambda text, line: warnings.append((text, line)))
    data = SimpleNamespace(
        mime_type=mime, output_metadata=metadata, line=7, output_index=1, content=content
    )
    return AltTextRenderer.handle_mime(SimpleNamespace(logger=logger), data, inline=False), warnings


def test_the_plugin_puts_svg_on_a_page_and_keeps_the_drawing_for_print(drawn):
    figure = drawn["lanes"]
    _, metadata = figure._repr_mimebundle_()
    (node,), warnings = rendered("image/svg+xml", metadata, figure.svg)
    assert isinstance(node, nodes.raw)
    assert node["format"] == "html"
    assert node.astext() == inline_svg(figure.svg, figure.alt, "7 1")
    assert (node["drawing"], node["alt"]) == (figure.svg, figure.alt)
    assert warnings == []


def test_the_plugin_refuses_a_figure_without_alternative_text_and_leaves_other_outputs_alone():
    for metadata in ({}, {"image/svg+xml": {"alt": ""}}):
        told = ("a figure has no alternative text", 7)
        assert rendered("image/svg+xml", metadata) == ([], [told])
    assert rendered("image/png", {"image/png": {"alt": "a"}}) == (None, [])
