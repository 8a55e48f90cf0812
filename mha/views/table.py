"""A table of text that shows itself in HTML, print and notebooks, and matrices as such tables.

A table carries its caption and label, so that the book can number and cite it. What a source
prints can stand below the numbers, hidden until a reader asks for it.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from html import escape

import numpy as np
from numpy.typing import ArrayLike

from mha.runs.rounding import PLACES, short, shown

LABEL = 18  # characters of a row's label that stand on one line, on a phone too


class Word(str):
    """A cell's text that is shown as it is written: a token may look like Markdown."""


@dataclass(frozen=True)
class Table:
    """A table of text that knows how to show itself.

    Parameters
    ----------
    caption : str
        One line; Markdown's inline marks are allowed.
    header : tuple of str
        One entry a column; the first stands above the row labels.
    rows : tuple of tuple of str
        Each starts with its label.
    marked : frozenset of (int, int), default empty
        Cells to set in bold and underline: (row, column), labels and header not counted.
    name : str, optional
        Label to cite the table by.
    words : bool, default False
        The cells hold words: set them from the left and let them wrap.
    beside : mapping of (int, int) to sequence of str, default empty
        What a source prints for a cell, shown below it on demand: (row, column), labels and header
        not counted.
    at : str, default ""
        The example's name, and the stage and head whose numbers the cells are.
    """

    caption: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    marked: frozenset[tuple[int, int]] = frozenset()
    name: str | None = None
    words: bool = False
    beside: Mapping[tuple[int, int], Sequence[str]] = field(default_factory=dict)
    at: str = ""

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
        """Return what the book's style knows the table by."""
        long = any(len(re.sub(r"\$[^$]*\$", "xx", row[0])) > LABEL for row in self.rows)
        chosen = {"numbers": True, "words": self.words, "long-labels": long}
        return [name for name, holds in chosen.items() if holds]

    def _printed_html(self, i: int, j: int) -> str:
        texts = self.beside.get((i, j), ())
        return "".join(
            f' <span class="{" ".join(_marks(text))}">{escape(text)}</span>' for text in texts
        )

    def _repr_markdown_(self) -> str:
        """Return what the book numbers, labels and prints: ``{numbers}``, or a list with links."""
        texts = [text for row in self.rows for text in row if not isinstance(text, Word)]
        if any("](" in text for text in texts):
            return self._list_table()
        return directive(self.caption, self.name, {}, [self.as_part()])

    def as_part(self, **more: object) -> dict[str, object]:
        """Return what the book's ``{numbers}`` is given of a table.

        Parameters
        ----------
        **more : object
            What else it is told of the table.
        """
        beside = [[i, j, list(texts)] for (i, j), texts in self.beside.items() if texts]
        return {
            "classes": self._classes(),
            "header": [_as_markdown(text) for text in self.header],
            "rows": [[_as_markdown(text) for text in row] for row in self.rows],
            "marked": [list(cell) for cell in sorted(self.marked)],
            "beside": beside,
            "at": self.at,
        } | more

    def _list_table(self) -> str:
        """Return a MyST list-table: Sphinx looks up where its links lead."""
        # Tildes, because a caption may hold backticks.
        lines = [f"~~~{{list-table}} {no_tags(self.caption)}"]
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
    """Return the book's ``{numbers}``: a caption in Markdown, and the tables' data, a line each.

    Parameters
    ----------
    caption : str
    name : str, optional
        The label.
    options : mapping of str
    parts : sequence
        As `Table.as_part` gives them.
    """
    lines = [f"~~~{{numbers}} {no_tags(caption)}"]
    named = {"name": name} | dict(options)
    lines += [f":{key}: {value}" for key, value in named.items() if value is not None]
    data = [json.dumps(part, ensure_ascii=False) for part in parts]
    return "\n".join([*lines, "", *data, "~~~"])


def _marks(beside: str) -> list[str]:
    """Return the classes of what is printed beside a number: a wrong one is a slip."""
    return ["printed", "slip"] if beside.startswith("≠") else ["printed"]


def _list_row(cells: Sequence[str]) -> list[str]:
    texts = [no_tags(_as_markdown(text)) for text in cells]
    return [f"{'* -' if i == 0 else '  -'} {text}" for i, text in enumerate(texts)]


def _as_markdown(text: str) -> str:
    return as_written(text) if isinstance(text, Word) else text


def no_tags(text: str) -> str:
    r"""Return Markdown in which a token such as <end> is text, not HTML, and a role does nothing.

    Code and formulas stay, and so does what is escaped already.

    Examples
    --------
    >>> print(no_tags("<end> of `<b>`, {eval}`1`"))
    \<end> of `<b>`, \{eval}`1`
    """
    kept = r"(\\.|(`+).*?\2|\$[^$]*\$)"
    return re.sub(kept + r"|<|\{(?=[\w:+-]+\}`)", lambda m: m[1] or f"\\{m[0]}", text)


def as_written(token: str) -> str:
    r"""Return Markdown that shows a token as it is written, once `no_tags` has looked at it.

    Examples
    --------
    >>> print(as_written("*a*"), as_written("$c$"), as_written("1."), as_written("U.S."))
    \*a\* \$c\$ 1\. U.S.
    """
    text = re.sub(r"[\\`*_{}\[\]$~^#|]|&(?=#?\w+;)", r"\\\g<0>", token)
    return re.sub(r"^(\d*)([-+=:.)>])", r"\1\\\2", text)


def _unescaped(text: str) -> str:
    """Return text without the backslashes by which `as_written` keeps Markdown off."""
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
        What the table is called, and what its row labels are.
    places : int, default 4
        The most decimals shown; fewer where all entries need fewer.
    mark_max : bool, default False
        Mark the largest entry of each row, all of them where several are equal.
    name : str, optional
        Label to cite the table by.
    at : str, optional
        Whose numbers these are, where they are all of one stage: an example's name, the stage and
        its head, such as ``"it-tired w_q.0"``. On a page they follow a reader's changes.

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
    """Return a matrix as floats, or raise unless each row and column has its label."""
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
    """Return the fewest decimals, up to `places`, that show every entry as `places` would.

    Examples
    --------
    >>> places_needed(np.array([0.5, 2.0])), places_needed(np.array([1 / 3]))
    (1, 4)
    """
    texts = [short(float(x), places) for x in array.flat if np.isfinite(x)]
    return max((len(text.partition(".")[2]) for text in texts), default=0)


def _row_maxima(array: np.ndarray) -> frozenset[tuple[int, int]]:
    """Return the places of each row's largest entries; a row of minus infinity has none."""
    largest = array.max(axis=1, keepdims=True)
    top = np.isfinite(largest) & np.isclose(array, largest, rtol=0, atol=1e-12)
    return frozenset((int(i), int(j)) for i, j in np.argwhere(top))
