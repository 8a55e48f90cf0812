"""Figures, and the arrangement of their panels in a wide and in a narrow layout."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from pathlib import Path

from mha.views.colours import in_notebook
from mha.views.drawing.svg import hatches, inline_svg, number

WIDE = 648
"""Largest width of the wide layout in pixels: the width of a cell's output on a page."""

GAP = (32.0, 24.0)
"""Pixels between panels in a row, and between rows."""

NARROW = 330
"""Largest width of the narrow layout in pixels: the width of a phone."""

# Widths of the page in pixels from which on the style sheet shows the wide layout.
_STEPS = (384, 448, 512, 576, 650)
STYLE = Path(__file__).with_name("figures.css")
"""The style sheet of figures."""


@dataclass(frozen=True)
class Figure:
    """A drawing as SVG, with alternative text.

    On a page it has the page's fonts and colours; the printed book converts it.

    Parameters
    ----------
    svg : str
    alt : str
        Alternative text, in a sentence or two.
    """

    svg: str
    alt: str

    def _repr_mimebundle_(self, **_: object) -> tuple[dict[str, str], dict[str, dict[str, str]]]:
        data = {"image/svg+xml": self.svg, "text/plain": f"Figure: {self.alt}"}
        return data, {"image/svg+xml": {"alt": self.alt}}

    def _repr_html_(self) -> str:
        """Return the drawing as HTML for a notebook, in its theme; pages of the book use the SVG.

        The rules are nested in ``.mha`` to have precedence over a notebook's rules for drawings.
        """
        style = f".mha{{{_style()}.drawing>svg{{max-width:none}}}}"
        return in_notebook(inline_svg(self.svg, self.alt), style)


@dataclass(frozen=True)
class Panel:
    """A part of a figure that is not divided when the figure is arranged in rows.

    Parameters
    ----------
    width, height : float
    body : str
        Elements of SVG, with the origin at the panel's upper left corner.
    breaks : bool, default False
        Whether the panel begins a row.
    """

    width: float
    height: float
    body: str
    breaks: bool = False


def figure(
    panels: Sequence[Panel],
    alt: str,
    *,
    narrow: Sequence[Panel] | None = None,
    gap: tuple[float, float] = GAP,
) -> Figure:
    """Return a figure of panels in rows, with a wide layout and a narrow one for phones.

    Parameters
    ----------
    panels : sequence of Panel
    alt : str
    narrow : sequence of Panel, optional
        Other panels for the narrow layout, by default the same.
    gap : (float, float)
        Pixels between panels in a row, and between rows.

    Examples
    --------
    >>> figure([Panel(9, 9, "<path/>")], "A dot").alt
    'A dot'
    """
    places, width, height = _arrange(panels, WIDE, gap)
    small, small_width, small_height = _arrange(narrow or panels, NARROW, gap)
    if narrow is not None:
        body = _group(panels, places, "f-wide") + _group(narrow, small, "f-narrow")
    else:
        body = "".join(
            f'<g class="f-panel" transform="translate({_translation(place)})"'
            f' style="--narrow: translate({_translation(other, "px")})">{panel.body}</g>'
            for panel, place, other in zip(panels, places, small, strict=True)
        )
    style, cls = "", "f-drawing"
    if narrow is not None or places != small:
        style = f' style="--narrow-width: {number(small_width)}px;'
        style += f' --narrow-height: {number(small_height)}px"'
        cls += f" until-{next((s for s in _STEPS if s >= width), _STEPS[-1])}"
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="{cls}" width="{number(width)}"'
        f' height="{number(height)}"{style}>'
    )
    return Figure(f"{head}<style>{_style()}</style>{hatches(body)}{body}</svg>", alt)


def _group(panels: Sequence[Panel], places: Sequence[tuple[float, float]], cls: str) -> str:
    inside = "".join(
        f'<g transform="translate({_translation(place)})">{panel.body}</g>'
        for panel, place in zip(panels, places, strict=True)
    )
    return f'<g class="{cls}">{inside}</g>'


def _translation(place: tuple[float, float], unit: str = "") -> str:
    return ", ".join(number(x) + unit for x in place)


def _arrange(
    panels: Sequence[Panel], room: float, gap: tuple[float, float]
) -> tuple[list[tuple[float, float]], float, float]:
    """Return the position of each panel, and the width and the height of all together."""
    places: list[tuple[float, float]] = []
    x = y = 1.0  # because half of a line at a panel's edge is outside of the panel
    low = width = 0.0
    begins = _row_starts(panels, room, gap[0])
    for i, panel in enumerate(panels):
        if i in begins:
            x, y = 1.0, low + gap[1]
        places.append((x, y))
        width, low = max(width, x + panel.width), max(low, y + panel.height)
        x += panel.width + gap[0]
    return places, width + 1, low + 1


def _row_starts(panels: Sequence[Panel], room: float, gap: float) -> set[int]:
    """Return the indices of the panels that begin a row, except the first.

    Panels that need several rows get rows of equal length: two and two, not three and one.
    """
    begins: set[int] = set()
    starts = [i for i, panel in enumerate(panels) if panel.breaks or i == 0]
    for start, end in pairwise([*starts, len(panels)]):
        part = panels[start:end]
        rows = _greedy_row_starts(part, room, gap, len(part))
        even = -(-len(part) // len(rows))
        begins |= {start + i for i in _greedy_row_starts(part, room, gap, even)}
    return begins - {0}


def _greedy_row_starts(panels: Sequence[Panel], room: float, gap: float, most: int) -> list[int]:
    """Return the indices of the panels that begin a row if each row has as many as fit.

    A row has at most `most` panels.
    """
    begins, x = [0], 0.0
    for i, panel in enumerate(panels):
        if i > begins[-1] and (x + panel.width > room + 0.5 or i - begins[-1] >= most):
            begins.append(i)
            x = 0.0
        x += panel.width + gap
    return begins


@cache
def _style() -> str:
    """Return the style sheet without comments and line breaks, for use inside a drawing."""
    css = re.sub(r"/\*.*?\*/", "", STYLE.read_text(encoding="utf-8"), flags=re.DOTALL)
    return re.sub(r"\s*([{};:,>])\s*", r"\1", " ".join(css.split()))
