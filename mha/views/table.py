"""Tables of text for HTML, print and notebooks, and matrices as such tables.

A table has a caption and a label, by which the book numbers and cites it. The numbers that a source
prints may be below its numbers, hidden until a reader shows them.
"""

from __future__ import annotations

import json
import re
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from html import escape

import numpy as np
from numpy.typing import ArrayLike

from mha.runs.rounding import PLACES, short, shown

MAX_LABEL_LENGTH = 18
"""The most characters of a row's label that fit on one line on a phone."""


class Word(str):
    """A cell's text without markup, such as a token, whose characters may look like Markdown."""


@dataclass(frozen=True)
class Table:
    """A table of text with its representations in notebooks and in the book.

    Parameters
    ----------
    caption : str
        One line; Markdown's inline marks are allowed.
    header : tuple of str
        One entry per column; the first is above the row labels.
    rows : tuple of tuple of str
        Rows of text, each with its label first.
    marked : frozenset of (int, int), default empty
        Cells in bold and underlined, as (row, column) without labels and header.
    name : str, optional
        Label by which the table is cited.
    words : bool, default False
        Whether the cells are words, which are aligned left and may wrap.
    printed : mapping of (int, int) to sequence of str, default empty
        The numbers that a source prints for a cell, such as "≠ 0.73", by (row, column) without
        labels and header. They are below the cell's number and shown on demand.
    at : str, default ""
        The address of the numbers in the cells: their run, stage and head, such as
        "it-tired w_q.0", by which a page updates them after a reader's changes. Empty if the
        numbers are not of one stage.
    """

    caption: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    marked: frozenset[tuple[int, int]] = frozenset()
    name: str | None = None
    words: bool = False
    printed: Mapping[tuple[int, int], Sequence[str]] = field(default_factory=dict)
    at: str = ""

    @property
    def beside(self) -> Mapping[tuple[int, int], Sequence[str]]:
        """The former name of `printed`, which warns."""
        message = (
            "Table.beside is now Table.printed. The next version of mha has only the new name."
        )
        warnings.warn(message, DeprecationWarning, stacklevel=2)
        return self.printed

    def _repr_html_(self) -> str:
        head = "".join(f'<th scope="col">{escape(text)}</th>' for text in self.header)
        body = "".join(self._html_row(i, row) for i, row in enumerate(self.rows))
        return (
            f"<table><caption>{escape(_unescaped(self.caption))}</caption>"
            f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
        )

    def _html_row(self, i: int, row: tuple[str, ...]) -> str:
        cells = [escape(text) for text in row[1:]]
        marked = [
            f"<strong><u>{text}</u></strong>" if (i, j) in self.marked else text
            for j, text in enumerate(cells)
        ]
        return (
            f'<tr><th scope="row">{escape(row[0])}</th>'
            + "".join(f"<td>{text}{self._printed_html(i, j)}</td>" for j, text in enumerate(marked))
            + "</tr>"
        )

    def _classes(self) -> list[str]:
        """Return the table's CSS classes."""
        has_long_label = any(
            len(re.sub(r"\$[^$]*\$", "xx", row[0])) > MAX_LABEL_LENGTH for row in self.rows
        )
        chosen = {"numbers": True, "words": self.words, "long-labels": has_long_label}
        return [name for name, is_chosen in chosen.items() if is_chosen]

    def _printed_html(self, i: int, j: int) -> str:
        texts = self.printed.get((i, j), ())
        return "".join(
            f' <span class="{" ".join(_print_classes(text))}">{escape(text)}</span>'
            for text in texts
        )

    def _repr_markdown_(self) -> str:
        """Return the directive ``{numbers}``, or a list-table if a cell has a link."""
        texts = [text for row in self.rows for text in row if not isinstance(text, Word)]
        if any("](" in text for text in texts):
            return self._list_table()
        return directive(self.caption, self.name, {}, [self.as_part()])

    def as_part(self, **entries: object) -> dict[str, object]:
        """Return the table's data for the directive ``{numbers}``.

        Parameters
        ----------
        **entries : object
            Further entries.
        """
        printed = [[i, j, list(texts)] for (i, j), texts in self.printed.items() if texts]
        return {
            "classes": self._classes(),
            "header": [_as_markdown(text) for text in self.header],
            "rows": [[_as_markdown(text) for text in row] for row in self.rows],
            "marked": [list(cell) for cell in sorted(self.marked)],
            "printed": printed,
            "at": self.at,
        } | entries

    def _list_table(self) -> str:
        """Return a MyST list-table, whose links Sphinx resolves."""
        # Tildes, because a caption may hold backticks.
        lines = [f"~~~{{list-table}} {escape_tags(self.caption)}"]
        lines += [":header-rows: 1", ":stub-columns: 1"]
        if self.name:
            lines.append(f":name: {self.name}")
        lines += [f":class: {' '.join(self._classes())}", ""]
        for row in (self.header, *self.rows):
            lines += _list_row(row)
        return "\n".join([*lines, "~~~"])


def directive(
    caption: str, name: str | None, options: Mapping[str, object], parts: Sequence[object]
) -> str:
    """Return the directive ``{numbers}``: a caption in Markdown, and one line of data per table.

    Parameters
    ----------
    caption : str
    name : str, optional
        The label.
    options : mapping of str
    parts : sequence
        Results of `Table.as_part`.
    """
    lines = [f"~~~{{numbers}} {escape_tags(caption)}"]
    named = {"name": name} | dict(options)
    lines += [f":{key}: {value}" for key, value in named.items() if value is not None]
    data = [json.dumps(part, ensure_ascii=False) for part in parts]
    return "\n".join([*lines, "", *data, "~~~"])


def _print_classes(number: str) -> list[str]:
    """Return the CSS classes of a source's number; a wrong one is a slip."""
    return ["printed", "slip"] if number.startswith("≠") else ["printed"]


def _list_row(cells: Sequence[str]) -> list[str]:
    texts = [escape_tags(_as_markdown(text)) for text in cells]
    return [f"{'* -' if i == 0 else '  -'} {text}" for i, text in enumerate(texts)]


def _as_markdown(text: str) -> str:
    return escape_markdown(text) if isinstance(text, Word) else text


def escape_tags(text: str) -> str:
    r"""Return Markdown with HTML tags and roles escaped, so that <end> is text.

    Code, formulas and escaped characters are unchanged.

    Examples
    --------
    >>> print(escape_tags("<end> of `<b>`, {eval}`1`"))
    \<end> of `<b>`, \{eval}`1`
    """
    kept = r"(\\.|(`+).*?\2|\$[^$]*\$)"
    return re.sub(kept + r"|<|\{(?=[\w:+-]+\}`)", lambda m: m[1] or f"\\{m[0]}", text)


def escape_markdown(token: str) -> str:
    r"""Return a token with its Markdown characters escaped; `escape_tags` escapes the others.

    Examples
    --------
    >>> print(*map(escape_markdown, ("*a*", "$c$", "1.", "U.S.")))
    \*a\* \$c\$ 1\. U.S.
    """
    text = re.sub(r"[\\`*_{}\[\]$~^#|]|&(?=#?\w+;)", r"\\\g<0>", token)
    return re.sub(r"^(\d*)([-+=:.)>])", r"\1\\\2", text)


def _unescaped(text: str) -> str:
    """Return text without the backslashes of `escape_markdown`."""
    return re.sub(r"\\([!-/:-@\[-`{-~])", r"\1", text)


def array_table(
    array: ArrayLike,
    *,
    rows: Sequence[str],
    columns: Sequence[str],
    caption: str,
    corner: str = "Token",
    places: int = PLACES,
    mark_max: bool = False,
    name: str | None = None,
    at: str = "",
) -> Table:
    """Return a matrix as a table with labelled rows and columns.

    Parameters
    ----------
    array : array_like, shape (len(rows), len(columns))
    rows, columns : sequence of str
    caption, corner : str
        The caption, and the header of the row labels.
    places : int, default 4
        The most decimals; fewer are shown if they show every number as well.
    mark_max : bool, default False
        Whether to mark the largest number of each row, or all of them if several are equal.
    name : str, optional
        Label by which the table is cited.
    at : str, optional
        The example, stage and head of all numbers, if they are of one stage, such as
        ``"it-tired w_q.0"``. On a page they are updated after a reader's changes.

    Raises
    ------
    ValueError
        If the labels do not fit the array.

    Examples
    --------
    >>> array_table([[1, 2]], rows=["cat"], columns=["a", "b"], caption="Two numbers").rows
    (('cat', '1', '2'),)
    """
    array = _labelled(array, rows, columns)
    body = _texts(array, rows, places_needed(array, places))
    marked = _row_maxima(array) if mark_max else frozenset()
    return Table(caption, (corner, *columns), body, marked=marked, name=name, at=at)


def _labelled(array: ArrayLike, rows: Sequence[str], columns: Sequence[str]) -> np.ndarray:
    """Return a matrix as floats; raise unless each row and column has a label."""
    array = np.asarray(array, dtype=np.float64)
    if array.shape != (len(rows), len(columns)):
        raise ValueError(
            f"array has shape {array.shape} for {len(rows)} rows and {len(columns)} columns;"
            " one label each is wanted"
        )
    return array


def _texts(array: np.ndarray, rows: Sequence[str], decimals: int) -> tuple[tuple[str, ...], ...]:
    return tuple(
        (label, *(shown(float(x), decimals) for x in row))
        for label, row in zip(rows, array, strict=True)
    )


def places_needed(array: np.ndarray, places: int = PLACES) -> int:
    """Return the fewest decimals with which no number loses a digit that `places` decimals show.

    Examples
    --------
    >>> places_needed(np.array([0.5, 2.0])), places_needed(np.array([1 / 3]))
    (1, 4)
    """
    texts = [short(float(x), places) for x in array.flat if np.isfinite(x)]
    return max((len(text.partition(".")[2]) for text in texts), default=0)


def _row_maxima(array: np.ndarray) -> frozenset[tuple[int, int]]:
    """Return the cells of each row's largest numbers; a row of minus infinity has none."""
    largest = array.max(axis=1, keepdims=True)
    top = np.isfinite(largest) & np.isclose(array, largest, rtol=0, atol=1e-12)
    return frozenset((int(i), int(j)) for i, j in np.argwhere(top))
