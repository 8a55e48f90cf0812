"""Plots by matplotlib as panels of a figure, in the page's colours and fonts.

The `gid` of an artist has its class of ``figures.css`` and, after blanks, a head's colour and
hatch. The style sheet gives colours and fonts, in either theme; matplotlib gives positions alone.
A shape without a class is omitted.
"""

from __future__ import annotations

import io
import logging
import re
import warnings
from collections.abc import Callable, Iterator
from html import escape
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

from mha.views.drawing.canvas import Panel
from mha.views.drawing.svg import mathematical, number, paint

if TYPE_CHECKING:  # matplotlib is optional
    from matplotlib.figure import Figure as Plot

_SVG = "{http://www.w3.org/2000/svg}"
_LINK = "{http://www.w3.org/1999/xlink}href"
_STYLE = {
    "svg.fonttype": "none",  # text stays text
    "svg.hashsalt": "mha",  # the same identifiers in each build
    "figure.dpi": 72,  # a point is a pixel of the page
    "font.size": 12,  # at which DejaVu Sans is as wide as the page's font at 14 pixels
    "figure.facecolor": "none",
    "axes.facecolor": "none",
    "axes.unicode_minus": True,
    "text.parse_math": False,
}


def plot_panel(
    draw: Callable[[Plot], None], width: float, height: float, prefix: str = ""
) -> Panel:
    """Return the drawing of a function on a matplotlib figure as a panel.

    Parameters
    ----------
    draw : callable
        A function that takes the empty ``matplotlib.figure.Figure`` and draws on it.
    width, height : float
        In pixels.
    prefix : str, optional
        Prefix of the identifiers in the drawing, different for each plot of one figure.

    Raises
    ------
    ModuleNotFoundError
        If matplotlib is not installed.
    """
    style = _matplotlib()
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure as Plot

    with style.context(["default", _STYLE]), warnings.catch_warnings():
        # Matplotlib's font may lack a token's letters; the page shows them in its own font.
        warnings.filterwarnings("ignore", r"Glyph .* missing from font")
        plot = Plot(figsize=(width / 72, height / 72))
        draw(plot)
        file = io.StringIO()
        FigureCanvasSVG(plot)
        plot.savefig(file, format="svg", metadata={"Date": None})
    root = ElementTree.fromstring(file.getvalue())
    body = (
        ElementTree.tostring(child, encoding="unicode") for child in _styled_elements(root, prefix)
    )
    return Panel(width, height, "".join(body))


def _matplotlib() -> Any:
    """Import and return ``matplotlib.style``."""
    # Matplotlib logs a warning while it lists fonts, which would be an output of the cell.
    logging.getLogger("matplotlib.font_manager").setLevel(logging.ERROR)
    try:
        from matplotlib import style
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            "plots need matplotlib, which is not installed; pip install mha[plots]"
        ) from error
    return style


def _styled_elements(around: Element, prefix: str, cls: str = "") -> Iterator[Element]:
    """Yield the children of an element with the page's classes, without those that have none."""
    for element in around:
        name = element.tag.removeprefix(_SVG)
        if name == "g":
            named, *colour = element.get("id", "-").split()
            own = named if named.startswith("f-") else cls
            inside = _styled_elements(element, prefix, own)
            if colour:
                group = Element("g", {"style": f"--head: {paint(colour[0])}"})
                group.extend(inside)
                group.extend(
                    _hatch_overlay(shape, *colour[1:]) for shape in list(group) if colour[1:]
                )
                yield group
            else:
                yield from inside
        elif name == "text":
            yield _text_element(element, cls)
        elif name in ("path", "use", "defs") and cls:
            shape = Element(name, _shape_attributes(element, prefix, cls))
            shape.extend(_styled_elements(element, prefix, cls))
            yield shape


def _hatch_overlay(shape: Element, hatch: str) -> Element:
    """Return a copy of a shape, filled with a hatch pattern."""
    return Element("path", {"d": shape.get("d", ""), "fill": f"url(#{hatch})"})


def _shape_attributes(element: Element, prefix: str, cls: str) -> dict[str, str]:
    """Return the attributes of a shape: its position, its dashes and its class."""
    kept = {
        key: " ".join(re.sub(r"-?\d+\.\d+", lambda m: number(float(m[0])), text).split())
        for key, text in element.items()
        if key in ("d", "x", "y")
    }
    if "id" in element.attrib:
        kept["id"] = prefix + element.attrib["id"]
    if _LINK in element.attrib:
        return {"href": f"#{prefix}{element.attrib[_LINK][1:]}", **kept}
    if "d" not in kept:
        return kept
    dashes = re.search(r"stroke-dasharray: ([\d., ]+)", element.get("style", ""))
    if dashes:
        kept["stroke-dasharray"] = " ".join(number(float(x)) for x in dashes[1].split(","))
    return {**kept, "class": cls}


def _text_element(element: Element, cls: str) -> Element:
    """Return a text in the page's font, with its symbols as mathematics."""
    words = "".join(element.itertext())
    looks = {"class": cls} if cls else {}
    x, y = (number(float(element.get(key, "0"))) for key in ("x", "y"))
    anchor = re.search(r"text-anchor: (middle|end)", element.get("style", ""))
    turned = re.search(r"rotate\((-?[\d.]+)", element.get("transform", ""))
    if anchor:
        looks["text-anchor"] = anchor[1]
    if turned and float(turned[1]):
        looks["transform"] = f"rotate({turned[1]} {x} {y})"
    inside = escape(words, quote=False) if cls == "f-token" else mathematical(words)
    found = ElementTree.fromstring(f"<text>{inside}</text>")
    found.attrib |= {"x": x, "y": y, **looks}
    return found
