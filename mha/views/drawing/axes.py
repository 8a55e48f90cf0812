"""What matplotlib draws, as a panel of a figure: its lines and words in the page's own looks.

An artist's `gid` names its class of ``figures.css``, and behind blanks its head's colour and hatch.
Colours and fonts are then the page's, in either theme, and matplotlib says only where things stand;
a shape without a class is left out.
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

if TYPE_CHECKING:  # mha needs NumPy alone; who plots has matplotlib
    from matplotlib.figure import Figure as Plot

_SVG = "{http://www.w3.org/2000/svg}"
_LINK = "{http://www.w3.org/1999/xlink}href"
_STYLE = {
    "svg.fonttype": "none",  # text stays text
    "svg.hashsalt": "mha",  # the same names each time
    "figure.dpi": 72,  # a point is a pixel of the page
    "font.size": 12,  # DejaVu Sans is as wide then as the page's font at 14 pixels
    "figure.facecolor": "none",
    "axes.facecolor": "none",
    "axes.unicode_minus": True,
    "text.parse_math": False,
}


def plotted(draw: Callable[[Plot], None], width: float, height: float, mark: str = "") -> Panel:
    """Return what a function draws into a matplotlib figure.

    Parameters
    ----------
    draw : callable
        Takes the empty ``matplotlib.figure.Figure``.
    width, height : float
        In pixels.
    mark : str, optional
        Begins the names in the drawing; another for each plot that stands in one figure.

    Raises
    ------
    ModuleNotFoundError
        If matplotlib is not installed.
    """
    style = _matplotlib()
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure as Plot

    with style.context(["default", _STYLE]), warnings.catch_warnings():
        # Its own font may lack a token's letters; the page's is the one that shows them.
        warnings.filterwarnings("ignore", r"Glyph .* missing from font")
        plot = Plot(figsize=(width / 72, height / 72))
        draw(plot)
        file = io.StringIO()
        FigureCanvasSVG(plot)
        plot.savefig(file, format="svg", metadata={"Date": None})
    root = ElementTree.fromstring(file.getvalue())
    body = (ElementTree.tostring(child, encoding="unicode") for child in _dressed(root, mark))
    return Panel(width, height, "".join(body))


def _matplotlib() -> Any:
    """Return matplotlib's styles; the notice that it looks for fonts is of no use to a reader."""
    logging.getLogger("matplotlib.font_manager").setLevel(logging.ERROR)
    try:
        from matplotlib import style
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            "plots need matplotlib, which is not installed; pip install mha[plots]"
        ) from error
    return style


def _dressed(around: Element, mark: str, cls: str = "") -> Iterator[Element]:
    """Yield what an element holds in the page's looks; what has no class is not to be seen."""
    for element in around:
        name = element.tag.removeprefix(_SVG)
        if name == "g":
            named, *colour = element.get("id", "-").split()
            own = named if named.startswith("f-") else cls
            inside = _dressed(element, mark, own)
            if colour:
                group = Element("g", {"style": f"--head: {paint(colour[0])}"})
                group.extend(inside)
                group.extend(_hatched(shape, *colour[1:]) for shape in list(group) if colour[1:])
                yield group
            else:
                yield from inside
        elif name == "text":
            yield _words(element, cls)
        elif name in ("path", "use", "defs") and cls:
            shape = Element(name, _attributes(element, mark, cls))
            shape.extend(_dressed(element, mark, cls))
            yield shape


def _hatched(shape: Element, hatch: str) -> Element:
    """Return the pattern that lies over a shape."""
    return Element("path", {"d": shape.get("d", ""), "fill": f"url(#{hatch})"})


def _attributes(element: Element, mark: str, cls: str) -> dict[str, str]:
    """Return where a shape stands, and how it looks."""
    kept = {
        key: " ".join(re.sub(r"-?\d+\.\d+", lambda m: number(float(m[0])), text).split())
        for key, text in element.items()
        if key in ("d", "x", "y")
    }
    if "id" in element.attrib:
        kept["id"] = mark + element.attrib["id"]
    if _LINK in element.attrib:
        return {"href": f"#{mark}{element.attrib[_LINK][1:]}", **kept}
    if "d" not in kept:
        return kept
    dashes = re.search(r"stroke-dasharray: ([\d., ]+)", element.get("style", ""))
    if dashes:
        kept["stroke-dasharray"] = " ".join(number(float(x)) for x in dashes[1].split(","))
    return {**kept, "class": cls}


def _words(element: Element, cls: str) -> Element:
    """Return a text in the page's font, its symbols as mathematics."""
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
