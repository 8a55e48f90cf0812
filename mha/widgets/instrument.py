"""Instruments: the interactive figures beside the explorer, on pages and in notebooks.

Python writes a placeholder, which is a figure or a table, and the instrument's data as JSON. When
the element comes near the screen, the browser loads its style sheets and its module, which
`instrument.ts` finds by the kind of instrument. The module's function `open` makes the instrument.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from html import escape
from typing import Any, Protocol

from mha.runs.record import Trace
from mha.widgets.frame import notebook_frame

WIDTHS = (1280, 1100, 1000, 820, 704, 600, 390)
"""Screen widths in pixels at which heights of instruments are measured, as in `explorer.css`."""

Heights = tuple[float, float, float, float, float, float, float]
"""The height reserved for an instrument before it loads, in rem, at each of `WIDTHS`."""

Forms = tuple[dict[str, str], dict[str, dict[str, str]]]
"""Data of a notebook's output by MIME type, and its metadata."""


class Drawing(Protocol):
    """A figure for print, such as `mha.views.figures.Figure`."""

    @property
    def svg(self) -> str:
        """The figure as SVG."""

    @property
    def alt(self) -> str:
        """The alternative text."""


@dataclass(frozen=True)
class Explorer:
    """An explorer or an instrument as an element of a page, with a figure for print.

    Parameters
    ----------
    html : str
    title : str
    figure : Drawing, optional
    bundles : tuple of str
        The bundles that a notebook's frame includes.
    styles : tuple of str
    runs : dict of str to Trace
        The runs that it shows, by their names on the page.
    """

    html: str
    title: str
    figure: Drawing | None = None
    bundles: tuple[str, ...] = ()
    styles: tuple[str, ...] = ("explorer.css",)
    runs: Mapping[str, Trace] = field(default_factory=dict)

    def _repr_mimebundle_(self, **_: object) -> Forms:
        """Return the output for a notebook: the element in a frame, with its scripts and styles."""
        data, metadata = self.on_page()
        html = notebook_frame(self.html, self.title, bundles=self.bundles, styles=self.styles)
        return data | {"text/html": html}, metadata

    def on_page(self) -> Forms:
        """Return the output for a page of the book, which loads scripts and styles itself."""
        data = {"text/html": self.html, "text/plain": f"Explorer: {self.title}"}
        if self.figure is None:
            return data, {}
        data["image/svg+xml"] = self.figure.svg
        return data, {"image/svg+xml": {"alt": self.figure.alt}}


def instrument(
    kind: str,
    name: str,
    data: Mapping[str, Any],
    *,
    title: str,
    placeholder: str,
    bundles: tuple[str, ...],
    style_sheets: tuple[str, ...] = (),
    heights: Heights | None = None,
    figure: Drawing | None = None,
) -> Explorer:
    """Return an instrument as an element of a page, with a figure for print.

    Parameters
    ----------
    kind : str
        The key of its module in `instrument.ts`. The module's `open` is a function
        ``(data, element) => ({ node, placed, readAddress })``. `node` replaces the placeholder;
        then `placed` is called, if there is one; `readAddress` reads a state from an address such
        as ``#kind=name&…``.
    name : str
        The instrument's name in the page's address.
    data : mapping
        The data of the module, which are written as JSON.
    title : str
        The accessible name.
    placeholder : str
        HTML that is shown until the instrument loads, and always without scripts.
    bundles : tuple of str
        The bundles of its module and of the modules that it may import later, for notebooks.
    style_sheets : tuple of str
        Its style sheets, in addition to that of the explorer.
    heights : tuple of float, optional
        Its height at each of `WIDTHS`.
    figure : Drawing, optional
        Replaces the instrument in print.

    Raises
    ------
    ValueError
        If `name` is not made of lower-case letters, digits and hyphens.

    Examples
    --------
    >>> clock = instrument("clock", "noon", {}, title="A clock", placeholder="12", bundles=())
    >>> clock.html[:42]
    '<mha-instrument id="clock-noon" class="of-'
    """
    room = ""
    if heights is not None:
        rooms = zip(WIDTHS, heights, strict=True)
        room = f' style="{"; ".join(f"--at-{width}: {height}rem" for width, height in rooms)}"'
    html = (
        f'<mha-instrument id="{kind}-{checked_name(name)}" class="of-{kind}" data-kind="{kind}"'
        f' data-dress="{" ".join(style_sheets)}"{room}>'
        f'<div class="before" tabindex="0" role="group" aria-label="{escape(title)}">'
        f"{placeholder}</div>"
        f'<script type="application/json">{as_json(dict(data))}</script></mha-instrument>'
    )
    return Explorer(html, title, figure, bundles=bundles, styles=("explorer.css", *style_sheets))


def checked_name(name: str) -> str:
    """Return a name; refuse one that does not fit into a page's address."""
    if not re.fullmatch(r"[a-z0-9-]+", name):
        raise ValueError(f"name is {name!r}; lower-case letters, digits and hyphens are wanted")
    return name


def as_json(data: dict[str, Any]) -> str:
    """Return JSON in which no text can end the script element around it."""
    text = json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c")
