"""A figure, and the panels that it is put together from, for a wide place and for a narrow one."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from pathlib import Path

from mha.views.colours import in_notebook
from mha.views.drawing.svg import hatches, inline_svg, number

WIDE = 648
"""How many pixels wide a figure may be on a desk and on paper: what a cell in the text has."""

GAP = (32.0, 24.0)
"""How many pixels stand between panels in a row, and between rows."""

NARROW = 330
"""How many pixels wide it may be on a phone, before it has to scroll."""

# From how many pixels the style sheet shows the wide layout.
_STEPS = (384, 448, 512, 576, 650)
STYLE = Path(__file__).with_name("figures.css")
"""How figures look, for pages that hold some."""


@dataclass(frozen=True)
class Figure:
    """A drawing as SVG, with alternative text.

    On a page it takes the page's fonts and colours; print makes its own form of it.

    Parameters
    ----------
    svg : str
    alt : str
        What is to be seen, in a sentence or two.
    """

    svg: str
    alt: str

    def _repr_mimebundle_(self, **_: object) -> tuple[dict[str, str], dict[str, dict[str, str]]]:
        data = {"image/svg+xml": self.svg, "text/plain": f"Figure: {self.alt}"}
        return data, {"image/svg+xml": {"alt": self.alt}}

    def _repr_html_(self) -> str:
        """Return the drawing for a notebook, in its theme; pages of the book take the SVG.

        Nested, its style has precedence over what a notebook says of every drawing.
        """
        style = f".mha{{{_style()}.drawing>svg{{max-width:none}}}}"
        return in_notebook(inline_svg(self.svg, self.alt), style)


@dataclass(frozen=True)
class Panel:
    """A part of a figure that stays whole; panels stand in rows as far as there is room.

    Parameters
    ----------
    width, height : float
    body : str
        Elements of SVG, from the panel's left upper corner.
    breaks : bool, default False
        Whether it begins a row.
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
    """Return panels as a figure, in rows on a desk and in shorter ones on a phone.

    Parameters
    ----------
    panels : sequence of Panel
    alt : str
    narrow : sequence of Panel, optional
        Others for a narrow place; by default the same, in another order of rows.
    gap : (float, float)
        Between panels in a row, and between rows.

    Examples
    --------
    >>> figure([Panel(9, 9, "<path/>")], "A dot").alt
    'A dot'
    """
    places, width, height = _rows(panels, WIDE, gap)
    small, small_width, small_height = _rows(narrow or panels, NARROW, gap)
    if narrow is not None:
        drawn = _group(panels, places, "f-wide") + _group(narrow, small, "f-narrow")
    else:
        drawn = "".join(
            f'<g class="f-panel" transform="translate({_at(place)})"'
            f' style="--narrow: translate({_at(other, "px")})">{panel.body}</g>'
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
    return Figure(f"{head}<style>{_style()}</style>{hatches(drawn)}{drawn}</svg>", alt)


def _group(panels: Sequence[Panel], places: Sequence[tuple[float, float]], cls: str) -> str:
    inside = "".join(
        f'<g transform="translate({_at(place)})">{panel.body}</g>'
        for panel, place in zip(panels, places, strict=True)
    )
    return f'<g class="{cls}">{inside}</g>'


def _at(place: tuple[float, float], unit: str = "") -> str:
    return ", ".join(number(x) + unit for x in place)


def _rows(
    panels: Sequence[Panel], room: float, gap: tuple[float, float]
) -> tuple[list[tuple[float, float]], float, float]:
    """Return where each panel stands, and how wide and high all of them are."""
    places: list[tuple[float, float]] = []
    x = y = 1.0  # a line at a panel's edge is half outside of it
    low = width = 0.0
    begins = _begins(panels, room, gap[0])
    for i, panel in enumerate(panels):
        if i in begins:
            x, y = 1.0, low + gap[1]
        places.append((x, y))
        width, low = max(width, x + panel.width), max(low, y + panel.height)
        x += panel.width + gap[0]
    return places, width + 1, low + 1


def _begins(panels: Sequence[Panel], room: float, gap: float) -> set[int]:
    """Return which panels begin a row, besides the first.

    Panels that need several rows stand in rows of one length: two and two, not three and one.
    """
    begins: set[int] = set()
    starts = [i for i, panel in enumerate(panels) if panel.breaks or i == 0]
    for start, end in pairwise([*starts, len(panels)]):
        part = panels[start:end]
        rows = _greedy(part, room, gap, len(part))
        even = -(-len(part) // len(rows))
        begins |= {start + i for i in _greedy(part, room, gap, even)}
    return begins - {0}


def _greedy(panels: Sequence[Panel], room: float, gap: float, most: int) -> list[int]:
    """Return which panels begin a row if each row takes what fits, up to a number."""
    begins, x = [0], 0.0
    for i, panel in enumerate(panels):
        if i > begins[-1] and (x + panel.width > room + 0.5 or i - begins[-1] >= most):
            begins.append(i)
            x = 0.0
        x += panel.width + gap
    return begins


@cache
def _style() -> str:
    """Return the style sheet without its comments and line breaks, for a drawing on its own."""
    sheet = re.sub(r"/\*.*?\*/", "", STYLE.read_text(encoding="utf-8"), flags=re.DOTALL)
    return re.sub(r"\s*([{};:,>])\s*", r"\1", " ".join(sheet.split()))
