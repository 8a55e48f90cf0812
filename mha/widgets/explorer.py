"""The explorer: a worked example whose numbers can be changed and traced back to the inputs.

Python writes a table of one query, which the strip replaces if JavaScript runs; tables of all
numbers inside `noscript`, so that the browser builds their elements only when they are opened; and
the inputs as JSON. The browser computes all other numbers from the inputs.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from html import escape
from typing import Any, Literal

import numpy as np

from mha.core.checks import Array
from mha.core.option_checks import check_type
from mha.runs.origins import is_given, origin
from mha.runs.places import Place, PrintedNumbers, stage_places
from mha.runs.record import Trace
from mha.runs.rounding import short, shown
from mha.runs.stages import STAGES
from mha.views.signs import total
from mha.widgets.explorer_tables import MAX_LABEL_LENGTH, sections
from mha.widgets.explorer_tasks import Task, check_tasks
from mha.widgets.instrument import Drawing, Explorer, as_json, checked_name
from mha.widgets.layer import is_large, layer_view

View = Literal["strip", "plane", "temperature", "dial"]

WIDE_LINE_LENGTH = 8
"""The number of components of an embedding and its key that no longer fit one line of a phone."""

LONG_VECTOR_LENGTH = 4
"""The width of an embedding from which the query is above the strip, not beside it."""

_BUNDLES_OF_FOLDS = ("explorer-all", "explorer-settings", "explorer-steps")

_STYLE_SHEETS = ("explorer.css", "time-bar.css", "steps.css")

_STAGES_OF_SOURCES = tuple(
    name
    for name, stage in STAGES.items()
    if not stage.is_parameter
    and not stage.is_extension
    and name not in ("embeddings", "head_contributions")
)


def explorer(
    run: Trace,
    *,
    figure: Drawing | None = None,
    name: str | None = None,
    prints: PrintedNumbers | None = None,
    tasks: Sequence[Task] = (),
    view: View = "strip",
    axes: Sequence[str] | None = None,
    asks: Sequence[str] | None = None,
    folded: str = "",
) -> Explorer:
    """Return a run as an explorer, whose numbers can be changed and traced to the inputs.

    Parameters
    ----------
    run : Trace
        If it is of a block, the other stages of the block are shown and computed too.
    figure : Drawing, optional
        Replaces the explorer in print.
    name : str, optional
        The explorer's name in the page's address, by default the example's.
    prints : callable, optional
        Returns the numbers that the example's source prints, which are shown on request.
    tasks : sequence of Task
        Goals for the reader, which are checked while numbers change.
    view : str, default "strip"
        The figure above the strip. "plane" draws queries, keys and values of two components as
        arrows to drag, with embeddings of two components and their projections; for two heads it
        is folded, with one plane per head beside the embeddings, which have up to four components.
        "temperature" has bars of the weights with and without temperature and masks, and for
        queries of width 2 lines of equal weight among the keys. "dial" rotates each pair of
        components of queries and keys by their positions.
    axes : sequence of str, optional
        The meanings of the components of an embedding, and of a value if it has the same width.
    asks : sequence of str, optional
        The question that each hidden unit of a block answers.
    folded : str, optional
        The title of a fold around the explorer, if it is folded.

    Returns
    -------
    Explorer

    Raises
    ------
    TypeError, ValueError
        If `run` is not a Trace, or has norms of queries or keys, a cap or sinks; `name` has other
        characters than lower-case letters, digits and hyphens; a task does not fit the run, or is
        reached already; the view is "plane" and queries and values do not have width 2 or are
        rotated; the view is "dial" and they are not rotated; or the run is of a block and the view
        is not the strip.

    Examples
    --------
    >>> from mha import load_example, trace
    >>> explorer(trace(load_example("cat-sat"))).html[:34]
    '<mha-explorer id="explore-cat-sat"'
    """
    check_type("run", run, Trace)
    if run.example.refinements is not None:
        raise ValueError(
            "run has norms of queries or keys, a cap or sinks, which no explorer computes; tables,"
            " figures and lines of arithmetic show it"
        )
    name = checked_name(run.example.name if name is None else name)
    if is_large(run):
        return _explore_large_run(run, name, figure, tasks, view)
    if view == "plane" and not _fits_plane(run):
        raise ValueError("a plane wants queries and values of width 2, without angles")
    if view == "dial" and (run.angles is None or len(run.tokens) < 2):
        raise ValueError("a dial wants two tokens or more with angles")
    if run.example.block is not None and view != "strip":
        raise ValueError(f'view is {view!r}; of a block "strip" is wanted')
    data = run_data(run, name, prints) | {"tasks": check_tasks(run, tasks), "view": view}
    if axes is not None:
        data["axes"] = list(axes)
    if asks is not None:
        data["asks"] = list(asks)
    html = _element(run, name, data)
    if folded:
        summary = f"<summary>{escape(folded)}</summary>"
        html = f'<details class="strip-fold">{summary}{html}</details>'
    needed = {"explorer-block": run.example.block is not None, "views": view != "strip"}
    bundles = (*(name for name, is_needed in needed.items() if is_needed), *_BUNDLES_OF_FOLDS)
    styles = _STYLE_SHEETS if view == "strip" else (*_STYLE_SHEETS, "plane.css")
    title = run.example.title
    runs = {name: run}
    return Explorer(html, title, figure, bundles=bundles, styles=styles, runs=runs)


def _explore_large_run(
    run: Trace, name: str, figure: Drawing | None, tasks: Sequence[Task], view: View
) -> Explorer:
    """Return the view of a run that is too large for the strip; refuse tasks and other views."""
    if tasks or view != "strip":
        raise ValueError("the run is too large for tasks or another view; neither is wanted")
    return layer_view(run, name, _masks(run), figure)


def _fits_plane(run: Trace) -> bool:
    return run.angles is None and run.query.shape[-1] == run.value.shape[-1] == 2


def _element(run: Trace, name: str, data: dict[str, Any]) -> str:
    """Return the element: a table of one query, the folded tables, and the data of the script.

    The style sheet reserves the strip's height from the counts, so that the page does not move.
    """
    stages = "".join(sections(run))
    digits = max(map(len, re.findall("<td>([^<]*)", stages)))
    label = min(max(map(len, ("Token", *run.tokens))), MAX_LABEL_LENGTH)
    components = 0 if run.embeddings is None else run.embeddings.shape[1]
    wide = components > 0 and components + run.key.shape[2] >= WIDE_LINE_LENGTH
    start = "outright" if run.embeddings is None and run.angles is None else "computed"
    # Two planes are in a fold, whose title needs height; "flat" queries can be shown in a plane.
    above = "fold" if data["view"] == "plane" and run.num_heads == 2 else data["view"]
    marks = f"with-{above} {_combination(run)} {start}" + " flat" * _fits_plane(run)
    marks += " long" * (components >= LONG_VECTOR_LENGTH)
    return (
        f'<mha-explorer id="explore-{name}" class="{marks}" style="--keys: {len(run.tokens)};'
        f" --heads: {run.num_heads}; --card: {8.25 if wide else 6.9}rem;"
        f' --tasks: {len(data["tasks"])}"><div class="face"{_height_of_block(run, data)}>'
        '<div class="before" tabindex="0" role="group" aria-label="One query">'
        f"{query_table(run)}</div></div>"
        '<details class="fold all"><summary>All numbers</summary>'
        f'<div class="body" style="--digits: {digits}; --label: {label}">'
        f"<noscript>{stages}</noscript></div></details>"
        f'<script type="application/json">{as_json(data)}</script>'
        "</mha-explorer>"
    )


def _height_of_block(run: Trace, data: dict[str, Any]) -> str:
    """Return the style that reserves the height of a block's lines around the strip, if any.

    `explorer-block.ts` writes the lines: a label, and numbers, which are below it on a phone.
    """
    if run.example.block is None:
        return ""
    names = ("stream", "stream_normed", "hidden", "active", "fed", "total", "total_normed")
    found = [run.start_normed, run.start_normed, *(getattr(run, name) for name in names)]
    counts = [array.shape[1] for array in found if array is not None]
    moments = sum(name.endswith("_means") for name in vars(run) if getattr(run, name) is not None)
    counts += [2] * moments
    titles = 1 if run.start_normed is None else 2
    # Names are above the inputs and the outputs of the block; on a phone a question takes a line.
    named = titles + 1 if "axes" in data else 0
    asked = 2 * (len(data["asks"]) - 1) if "asks" in data else 0
    wide, narrow = (
        1.9 * (titles + named + sum(label + -(-count // in_line) for count in counts))
        for label, in_line in ((0, 11), (1, 5))
    )
    # The attention's output is as wide as the stream, and takes more lines there than a head's.
    narrow += 1.9 * (counts[0] // 4 + asked)
    apart = 2 * titles  # the margins of the lines before and after the strip
    wide, narrow = wide + apart, narrow + apart + 0.25 * len(counts)  # gaps below labels
    height = f"clamp({wide:.2f}rem, (32rem - 100cqi) * 999, {narrow:.2f}rem)"
    return f' style="--extra: {height}"'


def _combination(run: Trace) -> str:
    """Return how the heads are combined: a single head, concatenated, or projected."""
    if run.output is not None:
        return "projected"
    return "joined" if run.num_heads > 1 else "single"


# ---- The data of the script ----


def run_data(run: Trace, name: str, prints: PrintedNumbers | None = None) -> dict[str, Any]:
    """Return the inputs of a run, and the numbers that its source prints."""
    example = run.example
    return {
        "name": name,
        "tokens": run.tokens,
        "heads": run.head_names,
        "focus": example.focus,
        "inputs": {stage: array.tolist() for stage, array in _inputs(run)},
        "block": _block_data(run),
        "end": run.end,
        "masks": _masks(run),
        "isCausal": bool(example.is_causal),
        "scale": None if example.scale is None else float(example.scale),
        "prints": {} if prints is None else _printed_numbers(run, prints),
    }


def _inputs(run: Trace) -> Iterator[tuple[str, Array]]:
    """Yield the name and the array of each input of the run."""
    for name, stage in STAGES.items():
        array = stage.array(run)
        if array is not None and is_given(run, name):
            yield name, array


def _block_data(run: Trace) -> dict[str, Any] | None:
    """Return the settings of a block: its norm, its activation and each eps."""
    block = run.example.block
    if block is None:
        return None
    feed = block.feed_forward
    return {
        "norm": block.norm,
        "activation": "relu" if feed is None else feed.activation,
        "eps": {"first": float(block.first.eps), "second": float(block.second.eps)},
    }


def _masks(run: Trace) -> list[Any] | None:
    """Return one mask per head: booleans, or numbers with None for minus infinity."""
    if run.example.mask is None:
        return None
    mask = np.broadcast_to(run.example.mask, run.scores.shape)
    if mask.dtype == np.bool_:
        return list(mask.tolist())
    numbers = mask.astype(object)
    numbers[np.isneginf(mask)] = None
    return list(numbers.tolist())


def _printed_numbers(run: Trace, prints: PrintedNumbers) -> dict[str, list[tuple[str, bool]]]:
    """Return the printed numbers of the source, by the address of a number or of a term."""
    found: dict[str, list[tuple[str, bool]]] = {}
    for stage in _STAGES_OF_SOURCES:
        if STAGES[stage].array(run) is None:
            continue
        for place in stage_places(run, stage):
            found[str(place)] = list(prints(place))
            for at in _term_places(run, place):
                found[str(at)] = list(prints(at))
            if stage == "weights":
                percentages = prints(replace(place, stage="percentages"))
                found[str(place)] += [(f"{text} %", agrees) for text, agrees in percentages]
    return {address: texts for address, texts in found.items() if texts}


def _term_places(run: Trace, place: Place) -> Iterator[Place]:
    """Yield the places of the terms of a sum of products."""
    found = origin(run, place)
    if found.operation in ("products", "mixed"):
        yield from (replace(place, term=term) for term in range(len(found.terms)))


# ---- One query, as a table ----


def query_table(run: Trace, row: int | None = None, head: int = 0, component: int = 0) -> str:
    """Return a table of the steps from one query to its output, with one row per key.

    Examples
    --------
    >>> from mha import load_example, trace
    >>> table = query_table(trace(load_example("cat-sat")))
    >>> "<td>2.7183</td><td>0.7311</td>" in table
    True
    """
    row = (run.example.focus or 0) if row is None else row
    query, key = run.score_factors
    parts = run.weights[head, row] * run.value[head, :, component]
    stages = (run.scores, run.scaled_scores, run.exponentials, run.weights)
    columns = np.column_stack([*(stage[head, row] for stage in stages), parts])
    heads = ("Key", "Its numbers", "Score", "Scaled", "exp", "Weight", "Value", "Weight × value")
    lines = "".join(
        f'<tr><th scope="row">{escape(token)}</th><td>{_vector(key[head, i])}</td>'
        + "".join(f"<td>{shown(float(x))}</td>" for x in columns[i, :-1])
        + f"<td>{_vector(run.value[head, i])}</td><td>{shown(float(columns[i, -1]))}</td></tr>"
        for i, token in enumerate(run.tokens)
    )
    output = shown(float(run.head_outputs[head, row, component]))
    added = [shown(float(part)) for part in parts]
    return (
        f"<table><caption>One query: {escape(run.tokens[row])}, {_vector(query[head, row])},"
        f" {escape(run.head_names[head])}. The last column adds up to component {component + 1} of"
        f" its output, {total(added, output)}.</caption><thead><tr>"
        + "".join(f'<th scope="col">{text}</th>' for text in heads)
        + f"</tr></thead><tbody>{lines}</tbody></table>"
    )


def _vector(numbers: Array) -> str:
    return "(" + ", ".join(short(float(x)) for x in numbers) + ")"
