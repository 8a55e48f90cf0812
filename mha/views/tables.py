"""Tables of a trace: every stage as numbers, for HTML, print and notebooks.

A table carries its caption and label, so that the book can number and cite it. In each row of
scores or weights the largest entry is bold and underlined. What a source prints can stand below the
numbers, hidden until a reader asks for it.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from html import escape

import numpy as np
from numpy.typing import ArrayLike

from mha.core.checks import as_index
from mha.core.measures import entropy, total_variation
from mha.runs.rounding import PLACES, dimensions, short, shown
from mha.runs.stages import STAGES, stage_array
from mha.runs.places import Place, PrintsAt
from mha.runs.record import Trace


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
    """

    caption: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    marked: frozenset[tuple[int, int]] = frozenset()
    name: str | None = None
    words: bool = False
    beside: Mapping[tuple[int, int], Sequence[str]] = field(default_factory=dict)

    def _repr_html_(self) -> str:
        head = "".join(f'<th scope="col">{escape(text)}</th>' for text in self.header)
        body = "".join(self._html_row(i, row) for i, row in enumerate(self.rows))
        return (
            f"<table><caption>{escape(self.caption)}</caption>"
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

    def _printed_html(self, i: int, j: int) -> str:
        texts = self.beside.get((i, j), ())
        return "".join(f' <span class="printed">{escape(text)}</span>' for text in texts)

    def _printed_markdown(self, i: int, j: int) -> str:
        return "".join(f" [{text}]{{.printed}}" for text in self.beside.get((i, j), ()))

    def _repr_markdown_(self) -> str:
        """Return a MyST list-table, which Sphinx numbers, labels and prints in every format."""
        # Tildes, because a caption may hold backticks.
        lines = [
            f"~~~{{list-table}} {_no_tags(self.caption)}",
            ":header-rows: 1",
            ":stub-columns: 1",
        ]
        if self.name:
            lines.append(f":name: {self.name}")
        lines += [":class: numbers words" if self.words else ":class: numbers", ""]
        lines += _list_row(self.header)
        for i, row in enumerate(self.rows):
            marked = [
                (f"[**{text}**]{{.max}}" if (i, j) in self.marked else text)
                + self._printed_markdown(i, j)
                for j, text in enumerate(row[1:])
            ]
            lines += _list_row((row[0], *marked))
        return "\n".join([*lines, "~~~"])


def _list_row(cells: Sequence[str]) -> list[str]:
    return [f"{'* -' if i == 0 else '  -'} {_no_tags(text)}" for i, text in enumerate(cells)]


def _no_tags(text: str) -> str:
    """Return Markdown in which a token such as <end> is text, not HTML; code and formulas stay."""
    return re.sub(r"((`+).*?\2|\$[^$]*\$)|<", lambda m: m[1] or r"\<", text)


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
) -> Table:
    """Return a matrix as a table with labelled rows and columns.

    Parameters
    ----------
    array : array_like, shape (len(rows), len(columns))
    rows, columns : sequence of str
    caption : str
    corner : str, default "Token"
        What the row labels are.
    places : int, default 4
        The most decimals shown; fewer where all entries need fewer.
    mark_max : bool, default False
        Mark the largest entry of each row, all of them where several are equal.
    name : str, optional
        Label to cite the table by.

    Returns
    -------
    Table

    Raises
    ------
    ValueError
        If the labels do not fit the array.

    Examples
    --------
    >>> table = array_table([[1, 2]], rows=["cat"], columns=["a", "b"], caption="Two numbers")
    >>> table.rows
    (('cat', '1', '2'),)
    """
    array = np.asarray(array, dtype=np.float64)
    if array.shape != (len(rows), len(columns)):
        raise ValueError(
            f"array has shape {array.shape} for {len(rows)} rows and {len(columns)} columns;"
            " one label each is wanted"
        )
    decimals = places_needed(array, places)
    return Table(
        caption=caption,
        header=(corner, *columns),
        rows=tuple(
            (label, *(shown(float(x), decimals) for x in row))
            for label, row in zip(rows, array, strict=True)
        ),
        marked=_row_maxima(array) if mark_max else frozenset(),
        name=name,
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


_WITH_MAXIMA = ("scores", "scaled_scores", "weights")
_IN_SHAPE_TABLE = (
    "embeddings", "query", "key", "value", "scores", "scaled_scores", "weights",
    "head_outputs", "concat", "output",
)  # fmt: skip


def _beside(found: Sequence[tuple[str, bool]]) -> list[str]:
    """Return what a source prints, marked as agreeing or not."""
    return [("\N{ALMOST EQUAL TO} " if agrees else "≠ ") + text for text, agrees in found]


def stage_table(
    run: Trace,
    stage: str,
    *,
    head: int = 0,
    places: int = PLACES,
    name: str | None = None,
    prints: PrintsAt | None = None,
) -> Table:
    """Return one stage of a run as a table: a row a token, or a matrix.

    Parameters
    ----------
    run : Trace
    stage : str
        One of `mha.runs.stages.STAGES` with two axes a head, or one of the whole layer.
        Exponentials have their row sums beside them, weights their sum.
    head : int, default 0
        Counted from 0; ignored by the stages that belong to no one head.
    places : int, default 4
    name : str, optional
        Label to cite the table by.
    prints : callable, optional
        What a source prints, shown beside each number on demand.

    Returns
    -------
    Table

    Raises
    ------
    ValueError
        If the stage is unknown, the run does not have it, or there is no such head.

    Examples
    --------
    >>> from mha import load_example, trace
    >>> stage_table(trace(load_example("cat-sat")), "weights").rows
    (('cat', '0.7311', '0.2689', '1.0000'), ('sat', '0.2689', '0.7311', '1.0000'))
    >>> stage_table(trace(load_example("the-cat-sat")), "w_q").rows[0]
    ('x₁', '0.1', '0.2')
    """
    array = stage_array(run, stage)
    kind = STAGES[stage]
    caption, where = kind.caption, ()
    if kind.per_head:
        head = as_index("head", head, run.num_heads)
        array, where = array[head], (head,)
        caption += _of_head(run, head)
    if array.ndim != 2:
        raise ValueError(f"{stage} has one number a row; a stage with columns is wanted")
    by_token = kind.rows == "tokens"
    table = array_table(
        array,
        rows=run.tokens if by_token else dimensions(kind.rows, array.shape[0]),
        columns=run.tokens if kind.by_key else dimensions(kind.symbol, array.shape[1]),
        caption=caption,
        corner="Query \\ key" if kind.by_key else "Token" if by_token else "From \\ to",
        places=places,
        mark_max=stage in _WITH_MAXIMA,
        name=name,
    )
    if stage == "exponentials":
        table = _with_column(table, "Row sum", run.row_sums[head], places)
    if stage == "weights":
        table = _with_column(table, "Sum", array.sum(axis=1), places)
    if prints is None:
        return table
    cells = {cell: Place.at(stage, *where, *cell) for cell in np.ndindex(array.shape)}
    if stage == "exponentials":
        sums = range(len(run.tokens))
        cells |= {(i, array.shape[1]): Place.at("row_sums", head, i) for i in sums}
    return _printed(table, cells, prints)


def _printed(table: Table, cells: Mapping[tuple[int, int], Place], prints: PrintsAt) -> Table:
    """Return a table with what a source prints beside the numbers of its cells."""
    return replace(table, beside={cell: _beside(prints(at)) for cell, at in cells.items()})


def mixing_table(
    run: Trace,
    token: int,
    *,
    head: int = 0,
    places: int = PLACES,
    name: str | None = None,
    prints: PrintsAt | None = None,
) -> Table:
    """Return how one token's head output comes about: each value times its weight, and the sum.

    Parameters
    ----------
    run : Trace
    token : int
        Index of the query's token.
    head : int, default 0
    places : int, default 4
    name : str, optional
    prints : callable, optional
        As for `stage_table`.

    Returns
    -------
    Table

    Examples
    --------
    >>> from mha import load_example, trace
    >>> mixing_table(trace(load_example("cat-sat")), 0).rows[-1]
    ('Sum', '1.0000', '2.8068', '4.0758')
    """
    head = as_index("head", head, run.num_heads)
    token = as_index("token", token, len(run.tokens))
    weights, value = run.weights[head, token], run.value[head]
    weighted = np.column_stack([weights, weights[:, None] * value])
    total = np.append(weights.sum(), run.head_outputs[head, token])
    table = array_table(
        np.vstack([weighted, total]),
        rows=(*run.tokens, "Sum"),
        columns=("weight", *(f"weight × {v}" for v in dimensions("v", value.shape[1]))),
        caption=f"Weighted values for the query *{run.tokens[token]}*{_of_head(run, head)}",
        corner="Key",
        places=places,
        name=name,
    )
    if prints is None:
        return table
    keys = range(len(run.tokens))
    cells = {(key, 0): Place.at("weights", head, token, key) for key in keys}
    for j in range(value.shape[1]):
        cells[len(keys), j + 1] = Place.at("head_outputs", head, token, j)
        cells |= {(k, j + 1): Place.at("head_outputs", head, token, j, term=k) for k in keys}
    return _printed(table, cells, prints)


def weighted_values_table(
    run: Trace,
    *,
    head: int = 0,
    places: int = PLACES,
    name: str | None = None,
    prints: PrintsAt | None = None,
) -> Table:
    """Return every value times its weight, for all queries of one head, with each query's sum.

    Parameters
    ----------
    run : Trace
    head : int, default 0
    places : int, default 4
    name : str, optional
    prints : callable, optional
        As for `stage_table`.

    Returns
    -------
    Table

    Raises
    ------
    TypeError, ValueError
        If there is no such head.

    Examples
    --------
    >>> from mha import load_example, trace
    >>> weighted_values_table(trace(load_example("cat-sat"))).rows[:2]
    (('cat ← cat', '1.4621', '2.1932'), ('cat ← sat', '1.3447', '1.8826'))
    """
    head = as_index("head", head, run.num_heads)
    weighted = run.weights[head][..., None] * run.value[head]
    rows, blocks = [], []
    for token, products, output in zip(run.tokens, weighted, run.head_outputs[head], strict=True):
        rows += [*(f"{token} ← {key}" for key in run.tokens), token]
        blocks += [products, output[None]]
    table = array_table(
        np.concatenate(blocks),
        rows=rows,
        columns=dimensions("v", run.value.shape[-1]),
        caption=f"Weighted values, and each query's sum{_of_head(run, head)}",
        corner="Query ← key",
        places=places,
        name=name,
    )
    if prints is None:
        return table
    terms: list[int | None] = [*range(len(run.tokens)), None]
    cells = {
        (len(terms) * i + k, j): Place.at("head_outputs", head, i, j, term=term)
        for i in range(len(run.tokens))
        for k, term in enumerate(terms)
        for j in range(run.value.shape[-1])
    }
    return _printed(table, cells, prints)


def entropy_table(run: Trace, *, places: int = PLACES, name: str | None = None) -> Table:
    """Return how spread out each query's weights are in each head, in nats, with the limit.

    Parameters
    ----------
    run : Trace
    places : int, default 4
    name : str, optional

    Returns
    -------
    Table

    Examples
    --------
    >>> from mha import load_example, trace
    >>> entropy_table(trace(load_example("cat-sat"))).rows[-1]
    ('equal weights', '0.6931')
    """
    limit = np.full((1, run.num_heads), np.log(len(run.tokens)))
    return array_table(
        np.vstack([entropy(run.weights).T, limit]),
        rows=(*run.tokens, "equal weights"),
        columns=run.head_names,
        caption="Entropy of each query's weights",
        corner="Query",
        places=places,
        name=name,
    )


def strongest_table(run: Trace, *, name: str | None = None) -> Table:
    """Return which key each query attends to most in each head, and how much.

    Parameters
    ----------
    run : Trace
    name : str, optional

    Returns
    -------
    Table

    Examples
    --------
    >>> from mha import load_example, trace
    >>> strongest_table(trace(load_example("cat-sat"))).rows[0]
    ('cat', 'cat (0.7311)')
    """
    return Table(
        caption="The key that each query attends to most, and its weight",
        header=("Query", *run.head_names),
        rows=tuple(
            (
                token,
                *(
                    f"{run.tokens[int(row.argmax())]} ({shown(float(row.max()))})"
                    if row.any()
                    else "none"
                    for row in run.weights[:, i]
                ),
            )
            for i, token in enumerate(run.tokens)
        ),
        name=name,
        words=True,
    )


def disagreement_table(run: Trace, *, places: int = PLACES, name: str | None = None) -> Table:
    """Return how far apart the heads are: total variation, averaged over the queries.

    Parameters
    ----------
    run : Trace
    places : int, default 4
    name : str, optional

    Returns
    -------
    Table
        0 for heads with the same weights, 1 for heads that share no key.

    Examples
    --------
    >>> from mha import load_example, trace
    >>> disagreement_table(trace(load_example("the-cat-sat"))).rows[0]
    ('Head 1', '0.0000', '0.3148')
    """
    apart = [[total_variation(a, b).mean() for b in run.weights] for a in run.weights]
    return array_table(
        apart,
        rows=run.head_names,
        columns=run.head_names,
        caption="How far apart the heads are: the share of the weight that would have to move",
        corner="Head",
        places=places,
        name=name,
    )


def contribution_table(
    run: Trace, token: int, *, places: int = PLACES, name: str | None = None
) -> Table:
    """Return each head's share of one token's output, and their sum, which is the output.

    Parameters
    ----------
    run : Trace
        Of an example with an output projection.
    token : int
    places : int, default 4
    name : str, optional

    Returns
    -------
    Table

    Raises
    ------
    ValueError
        If the example has no output projection.

    Examples
    --------
    >>> from mha import load_example, trace
    >>> contribution_table(trace(load_example("the-cat-sat")), 0).rows[-1][:2]
    ('Output', '3.0853')
    """
    if run.output is None or run.head_contributions is None:
        raise ValueError(f"{run.example.name} has no w_o; an output projection is wanted")
    token = as_index("token", token, len(run.tokens))
    return array_table(
        np.vstack([run.head_contributions[:, token], run.output[token]]),
        rows=(*run.head_names, "Output"),
        columns=dimensions("y", run.output.shape[1]),
        caption=f"Each head's share of the output for *{run.tokens[token]}*",
        corner="Head",
        places=places,
        name=name,
    )


def shape_table(run: Trace, *, name: str | None = None) -> Table:
    """Return the shape of every array of a run, from input to output.

    Parameters
    ----------
    run : Trace
    name : str, optional

    Returns
    -------
    Table

    Examples
    --------
    >>> from mha import load_example, trace
    >>> shape_table(trace(load_example("the-cat-sat"))).rows[-1]
    ('output', '(3, 4)', '(n, d_out)')
    """
    rows = tuple(
        (stage, str(array.shape), f"({', '.join(STAGES[stage].sizes)})")
        for stage in _IN_SHAPE_TABLE
        if (array := STAGES[stage].array(run)) is not None
    )
    return Table(
        caption=f"The shapes from input to output, for *{run.example.title}*",
        header=("Array", "Shape", "Axes"),
        rows=rows,
        name=name,
        words=True,
    )


def _of_head(run: Trace, head: int) -> str:
    """Return the end of a caption: which head, in words that stay on one line."""
    name = run.head_names[head].replace(" ", "\N{NO-BREAK SPACE}")
    return f", {name}" if run.num_heads > 1 else ""


def _with_column(table: Table, title: str, values: np.ndarray, places: int) -> Table:
    rows = tuple((*row, shown(float(x), places)) for row, x in zip(table.rows, values, strict=True))
    return replace(table, header=(*table.header, title), rows=rows)
