"""Tables of the stages of a trace, for HTML, print and notebooks.

The largest number of each row of scores or weights is bold and underlined.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from mha.core.checks import Array, as_index
from mha.core.distributions import entropy, total_variation
from mha.core.seeds import SeedRuns
from mha.runs.origins import origin
from mha.runs.places import Place, PrintedNumbers, cached_place
from mha.runs.record import Trace
from mha.runs.rounding import PLACES, dimensions, shown
from mha.runs.stages import STAGES, Stage, stage_array
from mha.views.table import Table, Word, array_table, escape_markdown, places_needed

__all__ = [
    "Table",
    "array_table",
    "contribution_table",
    "disagreement_table",
    "entropy_table",
    "mixing_table",
    "places_needed",
    "seeds_table",
    "shape_table",
    "stage_table",
    "strongest_table",
    "weighted_values_table",
]

_IN_SHAPE_TABLE = (
    "embeddings", "query", "key", "value", "scores", "scaled_scores", "weights",
    "head_outputs", "concat", "output",
)  # fmt: skip

Grid = Sequence[Sequence[Place | None]]
"""The places of a table's cells; None for a cell with the sum of the numbers above it."""


def token_labels(run: Trace) -> tuple[Word, ...]:
    """Return a run's tokens as labels, in which no character is markup."""
    return tuple(map(Word, run.tokens))


def stage_table(
    run: Trace,
    stage: str,
    *,
    head: int = 0,
    places: int = PLACES,
    name: str | None = None,
    prints: PrintedNumbers | None = None,
) -> Table:
    """Return one stage of a run as a table, with one row per token or per row of a matrix.

    Parameters
    ----------
    run : Trace
    stage : str
        Name of a stage with columns. Exponentials have a column with the row sums, weights one with
        their sum.
    head : int, default 0
        Index of the head; ignored for stages without heads.
    places : int, default 4
    name : str, optional
        Label by which the table is cited.
    prints : callable, optional
        A function from a place to the numbers that a source prints for it. They are shown below
        each number on demand.

    Raises
    ------
    ValueError
        If there is no such stage or head.

    Examples
    --------
    >>> from mha import load_example, trace
    >>> stage_table(trace(load_example("cat-sat")), "weights").rows[0]
    ('cat', '0.7311', '0.2689', '1.0000')
    """
    grid: Grid = _stage_places(run, stage, head)
    table = _table_of_places(run, STAGES[stage], head, grid, places, name)
    table, grid = _with_sums(run, stage, head, table, grid, places)
    at = f"{run.example.name} {stage}" + f".{head}" * STAGES[stage].per_head
    return replace(_with_prints(table, grid, prints), at=at)


def _stage_places(run: Trace, stage: str, head: int) -> list[list[Place]]:
    """Return the places of the numbers of one stage and, if it has heads, one head."""
    shape = stage_array(run, stage).shape
    head_index: tuple[int, ...] = ()
    if STAGES[stage].rows == "once":
        own = (as_index("head", head, run.num_heads),) if STAGES[stage].per_head else ()
        return [[cached_place(stage, *own, j) for j in range(shape[-1])]]
    if STAGES[stage].per_head:
        head_index = (as_index("head", head, run.num_heads),)
    if len(shape) != len(head_index) + 2:
        raise ValueError(f"{stage} has one number per row; a stage with columns is wanted")
    rows, columns = map(range, shape[-2:])
    return [[cached_place(stage, *head_index, i, j) for j in columns] for i in rows]


def _table_of_places(
    run: Trace, entry: Stage, head: int, grid: Grid, places: int, name: str | None
) -> Table:
    """Return the numbers of a stage as a table, with labels and caption from the registry."""
    is_once = entry.rows == "once"
    by_token = is_once or not entry.is_parameter
    rows = token_labels(run) if by_token else dimensions(entry.rows, len(grid))
    return array_table(
        _numbers_at(run, grid),
        rows=("each",) if is_once else rows,
        columns=_column_labels(run, entry, len(grid[0])),
        caption=entry.caption + (_of_head(run, head) if entry.per_head else ""),
        corner="Query \\ key" if entry.by_key else "Token" if by_token else "From \\ to",
        places=places,
        mark_max=entry.marked,
        name=name,
    )


def _column_labels(run: Trace, entry: Stage, count: int) -> tuple[str, ...]:
    """Return the labels of the columns of a stage."""
    vocabulary = run.example.vocabulary
    if entry.columns == "words" and vocabulary is not None:
        return tuple(map(Word, vocabulary))
    return token_labels(run) if entry.by_key else dimensions(entry.symbol, count)


def _with_sums(
    run: Trace, stage: str, head: int, table: Table, grid: Grid, places: int
) -> tuple[Table, Grid]:
    """Add a column with the sum of each row to a table of weights or exponentials."""
    if stage == "weights":
        return _with_column(table, "Sum", run.weights[head].sum(axis=1), places), grid
    if stage == "exponentials":
        places_of_sums = [[*row, Place("row_sums", head, i)] for i, row in enumerate(grid)]
        return _with_column(table, "Row sum", run.row_sums[head], places), places_of_sums
    return table, grid


def _numbers_at(run: Trace, grid: Grid) -> Array:
    """Return the numbers at a grid of places."""
    numbers = np.zeros((len(grid), len(grid[0])))
    for (i, j), _ in np.ndenumerate(numbers):
        place = grid[i][j]
        if place is None:
            numbers[i, j] = numbers[:i, j].sum()
        else:
            numbers[i, j] = _number_at(run, place)
    return numbers


def _number_at(run: Trace, place: Place) -> float:
    """Return the number at a place, be it of an array or a term of a sum."""
    return place.value(run) if place.term is None else origin(run, place).evaluate()


def _with_prints(table: Table, grid: Grid, prints: PrintedNumbers | None) -> Table:
    """Return a table with the numbers that a source prints for its cells."""
    if prints is None:
        return table
    printed = {
        (i, j): [("\N{ALMOST EQUAL TO} " if agrees else "≠ ") + text for text, agrees in prints(at)]
        for i, row in enumerate(grid)
        for j, at in enumerate(row)
        if at is not None
    }
    return replace(table, printed=printed)


def mixing_table(
    run: Trace,
    token: int,
    *,
    head: int = 0,
    places: int = PLACES,
    name: str | None = None,
    prints: PrintedNumbers | None = None,
) -> Table:
    """Return one token's weighted values in one head, and their sum, the head's output.

    Parameters
    ----------
    run : Trace
    token : int
        Index of the query's token.
    head, places, name, prints : optional
        As for `stage_table`.

    Examples
    --------
    >>> from mha import load_example, trace
    >>> mixing_table(trace(load_example("cat-sat")), 0).rows[-1]
    ('Sum', '1.0000', '2.8068', '4.0758')
    """
    head = as_index("head", head, run.num_heads)
    token = as_index("token", token, len(run.tokens))
    weights = [Place("weights", head, token, key) for key in range(len(run.tokens))]
    firsts = zip([*weights, None], _weighted_value_places(run, head, token), strict=True)
    grid = [[first, *terms] for first, terms in firsts]
    table = array_table(
        _numbers_at(run, grid),
        rows=(*token_labels(run), "Sum"),
        columns=("weight", *(f"weight × {v}" for v in _component_labels(run, "value"))),
        caption=f"Weighted values for the query *{escape_markdown(run.tokens[token])}*"
        + _of_head(run, head),
        corner="Key",
        places=places,
        name=name,
    )
    return _with_prints(table, grid, prints)


def _weighted_value_places(run: Trace, head: int, token: int) -> list[list[Place]]:
    """Return the places of one token's weighted values, one row per key, and of their sums."""
    terms: list[int | None] = [*range(len(run.tokens)), None]
    components = range(run.value.shape[-1])
    return [[Place("head_outputs", head, token, j, term) for j in components] for term in terms]


def _component_labels(run: Trace, stage: str) -> tuple[str, ...]:
    """Return the labels of a stage whose columns are components."""
    return dimensions(STAGES[stage].symbol, stage_array(run, stage).shape[-1])


def weighted_values_table(
    run: Trace,
    *,
    head: int = 0,
    places: int = PLACES,
    name: str | None = None,
    prints: PrintedNumbers | None = None,
) -> Table:
    """Return the weighted values of all queries in one head, with each query's sum.

    Parameters
    ----------
    run : Trace
    head, places, name, prints : optional
        As for `stage_table`.

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
    grid = [
        row for token in range(len(run.tokens)) for row in _weighted_value_places(run, head, token)
    ]
    blocks = (
        [*(Word(f"{query} ← {key}") for key in token_labels(run)), query]
        for query in token_labels(run)
    )
    table = array_table(
        _numbers_at(run, grid),
        rows=[label for block in blocks for label in block],
        columns=_component_labels(run, "value"),
        caption=f"Weighted values, and each query's sum{_of_head(run, head)}",
        corner="Query ← key",
        places=places,
        name=name,
    )
    return _with_prints(table, grid, prints)


def entropy_table(run: Trace, *, places: int = PLACES, name: str | None = None) -> Table:
    """Return the entropy of each query's weights in each head, in nats, and its maximum.

    Parameters
    ----------
    run : Trace
    places : int, default 4
    name : str, optional

    Examples
    --------
    >>> from mha import load_example, trace
    >>> entropy_table(trace(load_example("cat-sat"))).rows[-1]
    ('equal weights', '0.6931')
    """
    limit = np.full((1, run.num_heads), np.log(len(run.tokens)))
    return array_table(
        np.vstack([entropy(run.weights).T, limit]),
        rows=(*token_labels(run), "equal weights"),
        columns=run.head_names,
        caption="Entropy of each query's weights",
        corner="Query",
        places=places,
        name=name,
    )


def seeds_table(
    runs: Mapping[str, SeedRuns],
    *,
    caption: str,
    corner: str,
    places: int = PLACES,
    name: str | None = None,
) -> Table:
    """Return median, interval, minimum and maximum of quantities measured over seeds.

    Parameters
    ----------
    runs : mapping of str to SeedRuns
        The runs by the name of the quantity, with one number per seed.
    caption, corner : str
    places : int, default 4
    name : str, optional

    Raises
    ------
    ValueError
        If a run has several numbers per seed.

    Examples
    --------
    >>> from mha.core.seeds import over_seeds
    >>> runs = {"one draw": over_seeds(lambda rng: rng.integers(10), range(6))}
    >>> seeds_table(runs, caption="Draws", corner="Of", places=1).rows
    (('one draw', '7.5', '4.0', '8.0', '4.0', '8.0'),)
    """
    for label, measured in runs.items():
        if measured.values.ndim != 1:
            shape = measured.values.shape
            raise ValueError(f"{label!r} has values of shape {shape}; one for each seed is wanted")
    rows = [(m.median, *m.interval, m.values.min(), m.values.max()) for m in runs.values()]
    return array_table(
        np.array(rows), rows=list(runs), corner=corner, caption=caption, places=places, name=name,
        columns=["median", "from", "to", "lowest", "highest"],
    )  # fmt: skip


def strongest_table(run: Trace, *, name: str | None = None) -> Table:
    """Return the key with the largest weight for each query in each head, and that weight.

    Parameters
    ----------
    run : Trace
    name : str, optional

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
                    Word(f"{run.tokens[int(row.argmax())]} ({shown(float(row.max()))})")
                    if row.any()
                    else "none"
                    for row in run.weights[:, i]
                ),
            )
            for i, token in enumerate(token_labels(run))
        ),
        name=name,
        words=True,
    )


def disagreement_table(run: Trace, *, places: int = PLACES, name: str | None = None) -> Table:
    """Return the total variation between each two heads' weights, averaged over the queries.

    Parameters
    ----------
    run : Trace
    places : int, default 4
    name : str, optional

    Returns
    -------
    Table
        Numbers from 0, for equal weights, to 1, for weights on different keys.

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
    """Return each head's share of one token's output, and their sum, the output.

    Parameters
    ----------
    run : Trace
        Run with an output projection.
    token : int
    places : int, default 4
    name : str, optional

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
    if run.output is None:
        raise ValueError(f"{run.example.name} has no w_o; an output projection is wanted")
    token = as_index("token", token, len(run.tokens))
    names, parts = zip(*run.output_parts, strict=True)
    return array_table(
        np.vstack([*(part[token] for part in parts), run.output[token]]),
        rows=(*names, STAGES["output"].title),
        columns=_component_labels(run, "output"),
        caption=f"Each head's share of the output for *{escape_markdown(run.tokens[token])}*",
        corner="Head",
        places=places,
        name=name,
    )


def shape_table(run: Trace, *, name: str | None = None) -> Table:
    """Return the shapes of a run's arrays, from input to output.

    Parameters
    ----------
    run : Trace
    name : str, optional

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
    """Return the end of a caption with the head's name, unbreakable; empty for a single head."""
    name = run.head_names[head].replace(" ", "\N{NO-BREAK SPACE}")
    return f", {name}" if run.num_heads > 1 else ""


def _with_column(table: Table, title: str, values: Array, places: int) -> Table:
    rows = tuple((*row, shown(float(x), places)) for row, x in zip(table.rows, values, strict=True))
    return replace(table, header=(*table.header, title), rows=rows)
