"""Every number of a run as tables: the sections that an explorer has under "All numbers".

The browser finds the tables by their stage and head, and makes buttons of their cells.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from html import escape

import numpy as np

from mha.core.checks import Array
from mha.runs.origins import is_given
from mha.runs.record import Trace
from mha.runs.rounding import dimensions, short, shown
from mha.runs.stages import STAGES, Stage, stage_array

HEAD_STYLES = 6
"""How many colours and patterns of heads the style sheet has."""

LONGEST_LABEL = 9
"""How many characters of a token fit beside a table; a longer one is cut where it stands."""

_DIGITS = "₀₁₂₃₄₅₆₇₈₉"
_LOWERED = re.compile(f"[{_DIGITS}]+")

_MATRICES = tuple(name for name, stage in STAGES.items() if stage.is_matrix and stage.per_head)
_FEED_FORWARD = ("w_in", "b_in", "w_out", "b_out")
_VECTORS = ("query", "key", "turned_query", "turned_key", "value")
_MAPS = tuple(name for name, stage in STAGES.items() if stage.has_map)


def sections(run: Trace) -> Iterator[str]:
    """Yield the sections of the page's element, in order of the computation.

    Examples
    --------
    >>> from mha import load_example, trace
    >>> next(sections(trace(load_example("cat-sat"))))[:27]
    '<section class="stage "><h3'
    """
    widest = max(run.query.shape[-1], run.value.shape[-1])
    if run.embeddings is not None:
        matrices = _lanes(run, partial(_tables, _MATRICES), widest)
        embeddings = _of_places(run, "embeddings", "positions", "placed")
        yield _section("Inputs", embeddings + _folded("Projection matrices", matrices))
    if run.start_normed is not None:
        yield _section("Normalised for the attention", _normalisation(run, "start", "first"))
    angles = _of_places(run, "angles")
    vectors = _lanes(run, partial(_tables, _VECTORS), widest)
    yield _section("Queries, keys and values: one lane a head", angles + vectors)
    maps = "".join(_maps(run, stage) for stage in _MAPS)
    yield _section("Weight maps: a row a query, a column a key", maps, "maps")
    outputs = _lanes(run, partial(_tables, ("head_outputs",)), run.value.shape[-1])
    yield _section("Output of each head: values mixed by its weights", outputs)
    concat = _table(run, "concat", groups=run.head_names)
    yield _section("Concatenation: the heads side by side", concat, "end")
    if run.output is not None:
        matrix = _folded("Output projection", _table(run, "w_o"))
        output = _table(run, "output", look="shares")
        shares = _lanes(run, partial(_tables, ("head_contributions",)), run.output.shape[1])
        title = "Output, and each head's share of it"
        yield _section(title, matrix + output + shares, "end")
    if run.stream is not None:
        yield from _behind(run)


def _behind(run: Trace) -> Iterator[str]:
    """Yield the sections of what a block adds after its attention."""
    of_stream = "first" if run.start_normed is None else "second"
    normed = _normalisation(run, "stream", of_stream)
    yield _section("The stream after attention", _of_places(run, "stream") + normed)
    if run.total is None:
        return
    matrices = _folded("Matrices and biases", _of_places(run, *_FEED_FORWARD))
    steps = _of_places(run, "hidden", "active", "fed")
    yield _section("Feed-forward layer: each token alone", matrices + steps)
    normed = _normalisation(run, "total", "second")
    yield _section("The stream after the block", _of_places(run, "total") + normed)


def _normalisation(run: Trace, start: str, which: str) -> str:
    """Return the tables of one normalisation, nothing where the block has none there."""
    if STAGES[f"{start}_normed"].array(run) is None:
        return ""
    learned = _of_places(run, f"{which}_gain", f"{which}_bias")
    moments = _of_places(run, f"{start}_means", f"{start}_spreads")
    normed = _of_places(run, f"{start}_normed")
    folded = _folded("Gain and bias", learned) if learned else ""
    return f'{folded}<div class="line">{moments}{normed}</div>'


def _of_places(run: Trace, *stages: str) -> str:
    """Return the tables of stages that belong to no head, of those that the run has."""
    return "".join(_table(run, name) for name in stages if STAGES[name].array(run) is not None)


def _section(title: str, body: str, mark: str = "") -> str:
    return f'<section class="stage {mark}"><h3>{title}</h3>{body}</section>'


def _lanes(run: Trace, tables: Callable[[Trace, int], str], widest: int) -> str:
    """Return a lane a head, each with its name and its tables, `widest` the most columns."""
    lanes = (
        f'<div class="lane {_style(head)}" data-head="{head}" role="group"'
        f' aria-label="{escape(name)}"><p class="lane-name">{escape(name)}</p>'
        f"{tables(run, head)}</div>"
        for head, name in enumerate(run.head_names)
    )
    return f'<div class="lanes" style="--columns: {widest}">{"".join(lanes)}</div>'


def _tables(stages: Sequence[str], run: Trace, head: int) -> str:
    found = (stage for stage in stages if STAGES[stage].array(run) is not None)
    return "".join(_table(run, stage, head) for stage in found)


def _maps(run: Trace, stage: str) -> str:
    """Return one stage of all heads as maps, columns wide enough for the tokens above them."""
    heading = min(max(map(len, run.tokens)), LONGEST_LABEL)
    lanes = _lanes(run, partial(_map, stage), len(run.tokens) + (stage == "exponentials"))
    return (
        f'<div class="map" data-map="{stage}" style="--heading: {heading}">'
        f'<p class="map-name">{_title(stage)}</p>{lanes}</div>'
    )


def _map(stage: str, run: Trace, head: int) -> str:
    sums = run.row_sums[head] if stage == "exponentials" else None
    return _table(run, stage, head, look="heat", sums=sums)


def _title(stage: str) -> str:
    """Return what a table is called; among maps it goes without saying whose weights they are."""
    return STAGES[stage].title.removeprefix("Attention ").capitalize()


def _style(head: int) -> str:
    return f"head-{head % HEAD_STYLES}"


def _folded(title: str, body: str) -> str:
    return f'<details class="fold"><summary>{title}</summary>{body}</details>'


def _table(
    run: Trace,
    name: str,
    head: int | None = None,
    *,
    look: str = "bars",
    sums: Array | None = None,
    groups: Sequence[str] = (),
) -> str:
    """Return one stage, of one head where each has its own, as a table that the browser finds.

    `look` is how numbers are drawn behind their cells: "bars", "heat" or "shares"; `sums` are a
    last column; `groups` are headings above equal runs of columns.
    """
    stage = STAGES[name]
    array = stage_array(run, name) if head is None else stage_array(run, name)[head]
    if array.ndim == 1:  # a number a token, or a row for all of them
        array = array[:, None] if stage.columns == "" else array[None]
    rows = dimensions(stage.rows, len(array)) if stage.is_matrix else run.tokens
    rows = ("each",) if stage.rows == "once" else rows
    columns = run.tokens if stage.by_key else dimensions(stage.symbol, array.shape[1])
    columns = columns if stage.columns else (stage.symbol,)
    if sums is not None:
        array, columns = np.column_stack([array, sums]), (*columns, "Row sum")
    tokens = "" if stage.is_matrix else "rows columns" if stage.by_key else "rows"
    of_head = "" if head is None else f'<span class="aside">, head {head + 1}</span>'
    at_head = "" if head is None else f' data-head="{head}"'
    return (
        f'<div class="wide" style="--columns: {len(columns)}">'
        f'<table class="{look}" data-stage="{name}"{at_head} data-tokens="{tokens}">'
        f"<caption>{_title(name)}{of_head}</caption>"
        f"<thead>{_header(stage, columns, groups)}</thead>"
        f"<tbody>{_body(rows, array, short if is_given(run, name) else shown)}</tbody>"
        "</table></div>"
    )


def _body(rows: Sequence[str], array: Array, text: Callable[[float], str]) -> str:
    """Return a table's rows, each after its label."""
    return "".join(
        f'<tr><th scope="row">{_set(label)}</th>'
        + "".join(f"<td>{text(float(x))}</td>" for x in row)
        + "</tr>"
        for label, row in zip(rows, array, strict=True)
    )


def _set(label: str) -> str:
    """Return a label with its index set low: the book's fonts have no lowered digits."""
    return _LOWERED.sub(
        lambda found: f"<sub>{''.join(str(_DIGITS.index(digit)) for digit in found[0])}</sub>",
        escape(label),
    )


def _header(stage: Stage, columns: Sequence[str], groups: Sequence[str]) -> str:
    """Return the row of labels above a table, below one of headings where it has groups."""
    is_matrix = stage.is_matrix and stage.rows != "once"
    corner = "From \\ to" if is_matrix else "Query \\ key" if stage.by_key else "Token"
    span = ' rowspan="2"' if groups else ""
    first = f'<th scope="col"{span}>{corner}</th>'
    labels = "".join(f'<th scope="col">{_set(label)}</th>' for label in columns)
    if not groups:
        return f"<tr>{first}{labels}</tr>"
    width = len(columns) // len(groups)
    names = "".join(
        f'<th scope="colgroup" colspan="{width}" class="group {_style(head)}"'
        f' data-head="{head}">{escape(name)}</th>'
        for head, name in enumerate(groups)
    )
    return f"<tr>{first}{names}</tr><tr>{labels}</tr>"
