"""The sections of tables that an explorer has under "All numbers".

The browser finds the tables by their stage and head, and makes buttons of their cells.
"""

from __future__ import annotations

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
"""The number of colours and patterns of heads in the style sheet."""

MAX_LABEL_LENGTH = 9
"""The most characters of a token beside a table; the style sheet cuts longer ones."""

_DIGITS = "₀₁₂₃₄₅₆₇₈₉"
_SUBSCRIPT = re.compile(f"[{_DIGITS}]+")

_MATRICES = tuple(name for name, stage in STAGES.items() if stage.is_parameter and stage.per_head)
_FEED_FORWARD = ("w_in", "b_in", "w_out", "b_out")
_VECTORS = ("query", "key", "turned_query", "turned_key", "value")
_MAPS = tuple(name for name, stage in STAGES.items() if stage.has_map)


def sections(run: Trace) -> Iterator[str]:
    """Yield the sections of tables of a run, in the order of the computation.

    Examples
    --------
    >>> from mha import load_example, trace
    >>> next(sections(trace(load_example("cat-sat"))))[:27]
    '<section class="stage "><h3'
    """
    widest = max(run.query.shape[-1], run.value.shape[-1])
    if run.embeddings is not None:
        matrices = _lanes(run, partial(_tables, _MATRICES), widest)
        embeddings = _stage_tables(run, "embeddings", "positions", "placed")
        yield _section("Inputs", embeddings + _folded("Projection matrices", matrices))
    if run.start_normed is not None:
        yield _section("Normalised for the attention", _normalisation(run, "start", "first"))
    angles = _stage_tables(run, "angles")
    vectors = _lanes(run, partial(_tables, _VECTORS), widest)
    yield _section("Queries, keys and values, per head", angles + vectors)
    maps = "".join(_maps(run, stage) for stage in _MAPS)
    yield _section("Weight maps: one row per query, one column per key", maps, "maps")
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
        yield from _block_sections(run)


def _block_sections(run: Trace) -> Iterator[str]:
    """Yield the sections of a block's stages after its attention."""
    norm = "first" if run.start_normed is None else "second"
    normed = _normalisation(run, "stream", norm)
    yield _section("The stream after attention", _stage_tables(run, "stream") + normed)
    if run.total is None:
        return
    matrices = _folded("Matrices and biases", _stage_tables(run, *_FEED_FORWARD))
    steps = _stage_tables(run, "hidden", "active", "fed")
    yield _section("Feed-forward layer, per token", matrices + steps)
    normed = _normalisation(run, "total", "second")
    yield _section("The stream after the block", _stage_tables(run, "total") + normed)


def _normalisation(run: Trace, start: str, which: str) -> str:
    """Return the tables of one normalisation, or an empty text if the block does not have it."""
    if STAGES[f"{start}_normed"].array(run) is None:
        return ""
    learned = _stage_tables(run, f"{which}_gain", f"{which}_bias")
    moments = _stage_tables(run, f"{start}_means", f"{start}_spreads")
    normed = _stage_tables(run, f"{start}_normed")
    folded = _folded("Gain and bias", learned) if learned else ""
    return f'{folded}<div class="line">{moments}{normed}</div>'


def _stage_tables(run: Trace, *stages: str) -> str:
    """Return the tables of the stages without heads that the run has, among the given ones."""
    return "".join(_table(run, name) for name in stages if STAGES[name].array(run) is not None)


def _section(title: str, body: str, mark: str = "") -> str:
    return f'<section class="stage {mark}"><h3>{title}</h3>{body}</section>'


def _lanes(run: Trace, tables: Callable[[Trace, int], str], widest: int) -> str:
    """Return one lane of tables per head; `widest` is the largest number of columns."""
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
    """Return one stage of all heads as maps, with columns wide enough for the tokens."""
    heading = min(max(map(len, run.tokens)), MAX_LABEL_LENGTH)
    lanes = _lanes(run, partial(_map, stage), len(run.tokens) + (stage == "exponentials"))
    return (
        f'<div class="map" data-map="{stage}" style="--heading: {heading}">'
        f'<p class="map-name">{_title(stage)}</p>{lanes}</div>'
    )


def _map(stage: str, run: Trace, head: int) -> str:
    sums = run.row_sums[head] if stage == "exponentials" else None
    return _table(run, stage, head, look="heat", sums=sums)


def _title(stage: str) -> str:
    """Return the title of a table; a map of attention weights has the short title "Weights"."""
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
    """Return the table of one stage, or of one head if the stage has one array per head.

    `look` is the drawing behind the numbers: "bars", "heat" or "shares". `sums` is a last column.
    `groups` are headings, each above the same number of columns.
    """
    stage = STAGES[name]
    array = stage_array(run, name) if head is None else stage_array(run, name)[head]
    if array.ndim == 1:  # one number per token, or one row for all tokens
        array = array[:, None] if stage.columns == "" else array[None]
    rows = dimensions(stage.rows, len(array)) if stage.is_parameter else run.tokens
    rows = ("each",) if stage.rows == "once" else rows
    columns = run.tokens if stage.by_key else dimensions(stage.symbol, array.shape[1])
    columns = columns if stage.columns else (stage.symbol,)
    if sums is not None:
        array, columns = np.column_stack([array, sums]), (*columns, "Row sum")
    tokens = "" if stage.is_parameter else "rows columns" if stage.by_key else "rows"
    head_suffix = "" if head is None else f'<span class="aside">, head {head + 1}</span>'
    head_attribute = "" if head is None else f' data-head="{head}"'
    return (
        f'<div class="wide" style="--columns: {len(columns)}">'
        f'<table class="{look}" data-stage="{name}"{head_attribute} data-tokens="{tokens}">'
        f"<caption>{_title(name)}{head_suffix}</caption>"
        f"<thead>{_header(stage, columns, groups)}</thead>"
        f"<tbody>{_body(rows, array, short if is_given(run, name) else shown)}</tbody>"
        "</table></div>"
    )


def _body(rows: Sequence[str], array: Array, text: Callable[[float], str]) -> str:
    """Return the rows of a table, with their labels."""
    return "".join(
        f'<tr><th scope="row">{_label_html(label)}</th>'
        + "".join(f"<td>{text(float(x))}</td>" for x in row)
        + "</tr>"
        for label, row in zip(rows, array, strict=True)
    )


def _label_html(label: str) -> str:
    """Return a label with its index in `sub`: the book's fonts have no subscript digits."""
    return _SUBSCRIPT.sub(
        lambda found: f"<sub>{''.join(str(_DIGITS.index(digit)) for digit in found[0])}</sub>",
        escape(label),
    )


def _header(stage: Stage, columns: Sequence[str], groups: Sequence[str]) -> str:
    """Return the header: a row of labels, below a row of headings if there are groups."""
    is_matrix = stage.is_parameter and stage.rows != "once"
    corner = "From \\ to" if is_matrix else "Query \\ key" if stage.by_key else "Token"
    span = ' rowspan="2"' if groups else ""
    first = f'<th scope="col"{span}>{corner}</th>'
    labels = "".join(f'<th scope="col">{_label_html(label)}</th>' for label in columns)
    if not groups:
        return f"<tr>{first}{labels}</tr>"
    width = len(columns) // len(groups)
    names = "".join(
        f'<th scope="colgroup" colspan="{width}" class="group {_style(head)}"'
        f' data-head="{head}">{escape(name)}</th>'
        for head, name in enumerate(groups)
    )
    return f"<tr>{first}{names}</tr><tr>{labels}</tr>"
