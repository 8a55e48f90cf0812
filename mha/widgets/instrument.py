"""An instrument: what a reader works with beside the explorer, on a page or in a notebook.

Python writes the figure or table that a page shows at first, and the instrument's data as JSON.
Near the screen the browser loads its style sheet and its module, which instrument.ts knows by the
instrument's kind; the function `open` of the module makes the instrument.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from html import escape
from typing import Any, Protocol

from mha.runs.record import Trace
from mha.widgets.frame import framed

WIDTHS = (1280, 1100, 1000, 820, 704, 600, 390)
"""Screens in pixels for which the room of an instrument is measured; explorer.css uses them."""

Heights = tuple[float, float, float, float, float, float, float]
"""What is kept free for an instrument until it comes, in rem, at each of `WIDTHS`."""

Forms = tuple[dict[str, str], dict[str, dict[str, str]]]
"""What is shown, by its kind, and what is said about it."""


class Drawing(Protocol):
    """What the print form of an explorer has to offer; `mha.views.figures.Figure` does."""

    @property
    def svg(self) -> str:
        """The drawing, of which print makes its own form."""

    @property
    def alt(self) -> str:
        """What is to be seen."""


@dataclass(frozen=True)
class Explorer:
    """An explorer or an instrument as an element of a page, with a figure in its place in print.

    Parameters
    ----------
    html : str
    title : str
    figure : Drawing, optional
    late : tuple of str
        The bundles that a notebook brings along.
    styles : tuple of str
    runs : dict of str to Trace
        Those that it shows, each number of which has a place, by their names on the page.
    """

    html: str
    title: str
    figure: Drawing | None = None
    late: tuple[str, ...] = ()
    styles: tuple[str, ...] = ("explorer.css",)
    runs: Mapping[str, Trace] = field(default_factory=dict)

    def _repr_mimebundle_(self, **_: object) -> Forms:
        """Return what a notebook shows: the element in a frame, with its scripts and styles."""
        data, metadata = self.on_page()
        html = framed(self.html, self.title, late=self.late, styles=self.styles)
        return data | {"text/html": html}, metadata

    def on_page(self) -> Forms:
        """Return what a page of the book shows, which has the scripts and styles."""
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
    before: str,
    late: tuple[str, ...],
    dress: tuple[str, ...] = (),
    heights: Heights | None = None,
    figure: Drawing | None = None,
) -> Explorer:
    """Return an instrument as an element of a page, with a figure in its place in print.

    Parameters
    ----------
    kind : str
        Names its module in instrument.ts. The module's `open` is a function
        ``(data, element) => ({ node, placed, readAddress })``. `node` replaces `before`; `placed`,
        if there is one, is called then; `readAddress` reads a state from an address such as
        ``#kind=name&…``.
    name : str
        Its name in the page's address.
    data : mapping
        What it starts from, as JSON can hold it.
    title : str
        What it is called for who does not see it.
    before : str
        HTML that stands there until it comes, and for good where no script runs.
    late : tuple of str
        The bundles of its module and of the modules that it may import later; a notebook's frame
        holds them.
    dress : tuple of str
        Its style sheets, beside that of the explorer.
    heights : tuple of float, optional
        The room that it takes.
    figure : Drawing, optional
        What stands in its place in print.

    Raises
    ------
    ValueError
        If `name` is not made of lower-case letters, digits and hyphens.

    Examples
    --------
    >>> made = instrument("clock", "noon", {}, title="A clock", before="12", late=("clock",))
    >>> made.html[:42]
    '<mha-instrument id="clock-noon" class="of-'
    """
    room = ""
    if heights is not None:
        rooms = zip(WIDTHS, heights, strict=True)
        room = f' style="{"; ".join(f"--at-{width}: {height}rem" for width, height in rooms)}"'
    html = (
        f'<mha-instrument id="{kind}-{checked_name(name)}" class="of-{kind}" data-kind="{kind}"'
        f' data-dress="{" ".join(dress)}"{room}>'
        f'<div class="before" tabindex="0" role="group" aria-label="{escape(title)}">{before}</div>'
        f'<script type="application/json">{as_json(dict(data))}</script></mha-instrument>'
    )
    return Explorer(html, title, figure, late=late, styles=("explorer.css", *dress))


def checked_name(name: str) -> str:
    """Return a name that fits into a page's address, or raise."""
    if not re.fullmatch(r"[a-z0-9-]+", name):
        raise ValueError(f"name is {name!r}; lower-case letters, digits and hyphens are wanted")
    return name


def as_json(data: dict[str, Any]) -> str:
    """Return data as JSON that no text in it can end before its script element does."""
    text = json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c")
