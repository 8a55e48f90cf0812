"""On a page a figure is an image with a label, in the colour of the text around it."""

import re
from types import SimpleNamespace
from xml.etree import ElementTree

import pytest
from all_figures import FIGURES
from docutils import nodes

from mha.views.figures import INK, AltTextRenderer, inline_svg


@pytest.fixture(scope="module")
def drawn():
    """Draw every figure."""
    return {name: draw() for name, draw in FIGURES.items()}


def test_on_a_page_ink_takes_the_text_s_colour(drawn):
    for name, figure in drawn.items():
        assert INK in figure.svg, name
        page = inline_svg(figure.svg, figure.alt)
        assert INK not in page
        assert page.count("currentColor") == figure.svg.count(INK)


def test_identifiers_on_a_page_are_unique_and_found(drawn):
    ids = []
    for figure in drawn.values():
        root = ElementTree.fromstring(inline_svg(figure.svg, figure.alt))
        own = [element.get("id") for element in root.iter() if element.get("id")]
        page = inline_svg(figure.svg, figure.alt)
        targets = re.findall(r'href="#([^"]+)"|url\(#([^)]+)\)', page)
        assert len(own) > 5
        assert len(targets) > 5
        assert {a or b for a, b in targets} <= set(own)
        ids += own
    assert len(ids) == len(set(ids))


def test_a_page_s_drawing_refers_to_nothing_outside_itself(drawn):
    for figure in drawn.values():
        page = inline_svg(figure.svg, figure.alt)
        assert set(re.findall(r'href="(.)', page)) == {"#"}
        assert set(re.findall(r"url\((.)", page)) <= {"#"}
        assert "<metadata" not in page
        assert "<!DOCTYPE" not in page
        names = re.sub(r' xmlns(?::\w+)?="[^"]+"', "", page)
        assert "http" not in names


def test_a_page_s_drawing_is_an_image_with_a_label(drawn):
    alt = 'Weights of "cat" <end> & more'
    svg = drawn["lanes"].svg
    root = ElementTree.fromstring(inline_svg(svg, alt))
    (drawing,) = root
    assert root.get("class") == "drawing"
    assert root.get("tabindex") == "0"
    assert (drawing.get("role"), drawing.get("aria-label")) == ("img", alt)
    width = re.search(r'<svg[^>]*\bwidth="([^"]+)"', svg)[1]
    assert root.get("style") == f"--natural-width: {width}"


def rendered(mime, metadata, content="<svg/>"):
    """Let the plugin render one output; return its nodes, the image node and the warnings."""
    warnings, image = [], {}
    renderer = SimpleNamespace(
        logger=SimpleNamespace(warning=lambda text, line: warnings.append((text, line))),
        render_image=lambda data: [image],
    )
    data = SimpleNamespace(
        mime_type=mime, output_metadata=metadata, line=7, output_index=1, content=content
    )
    return AltTextRenderer.handle_mime(renderer, data, inline=False), image, warnings


def test_the_plugin_puts_svg_on_a_page(drawn):
    figure = drawn["lanes"]
    _, metadata = figure._repr_mimebundle_()
    (node,), _, warnings = rendered("image/svg+xml", metadata, figure.svg)
    assert isinstance(node, nodes.raw)
    assert node["format"] == "html"
    assert node.astext() == inline_svg(figure.svg, figure.alt, "7 1")
    assert node.astext() != inline_svg(figure.svg, figure.alt, "8 1")  # ids differ by place
    assert warnings == []


def test_the_plugin_gives_a_printed_image_its_alternative_text(drawn):
    figure = drawn["lanes"]
    _, metadata = figure._repr_mimebundle_()
    found, image, warnings = rendered("application/pdf", metadata)
    assert found == [image] == [{"alt": figure.alt}]
    assert warnings == []


@pytest.mark.parametrize("mime", ["image/svg+xml", "application/pdf"])
@pytest.mark.parametrize("metadata", [{}, {"alt": "in the wrong place"}, "empty"])
def test_the_plugin_refuses_a_figure_without_alternative_text(mime, metadata):
    metadata = {mime: {"alt": ""}} if metadata == "empty" else metadata
    found, image, warnings = rendered(mime, metadata)
    assert (found, image) == ([], {})
    assert warnings == [("a figure has no alternative text", 7)]


@pytest.mark.parametrize("mime", ["text/plain", "image/png", "text/html"])
def test_the_plugin_leaves_other_outputs_alone(mime):
    assert rendered(mime, {mime: {"alt": "a"}}) == (None, {}, [])
