"""The explorer: a worked example whose numbers can be changed and traced back, on its page.

Python writes one query as a table, which the strip replaces where JavaScript runs; every number of
the example as tables inside `noscript`, whose elements are made when they are asked for; and the
inputs as JSON. The browser computes the rest itself, from the inputs alone.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from html import escape
from typing import Any, Literal

import numpy as np

from mha.core.checks import Array
from mha.core.option_checks import check_type
from mha.runs.origins import is_given, origin
from mha.runs.places import Place, PrintsAt, places
from mha.runs.record import Trace
from mha.runs.rounding import short, shown
from mha.runs.stages import STAGES
from mha.views.signs import total
from mha.widgets.explorer_tables import LONGEST_LABEL, sections
from mha.widgets.explorer_tasks import Task, checked_tasks
from mha.widgets.instrument import Drawing, Explorer, as_json, checked_name
from mha.widgets.layer import is_large, layer_view

View = Literal["strip", "plane", "temperature", "dial"]

LONGEST_LINE = 8
"""From so many numbers of an embedding and its key on, a phone has no room for them on one line."""

LONG_VECTOR = 4
"""From so many components of an embedding on, the query is above the strip on a desk, not beside
it."""

_OPENED = ("explorer-all", "explorer-settings", "explorer-steps")

_DRESS = ("explorer.css", "time-bar.css", "steps.css")

_PRINTED = tuple(
    name
    for name, stage in STAGES.items()
    if not stage.is_matrix and not stage.seldom and name not in ("embeddings", "head_contributions")
)


def explorer(
    run: Trace,
    *,
    figure: Drawing | None = None,
    name: str | None = None,
    prints: PrintsAt | None = None,
    tasks: Sequence[Task] = (),
    view: View = "strip",
    axes: Sequence[str] | None = None,
    asks: Sequence[str] | None = None,
    folded: str = "",
) -> Explorer:
    """Return a run as an explorer: its numbers can be changed, and each traced to the inputs.

    Parameters
    ----------
    run : Trace
        Of a block, what stands around its attention is shown and computed too.
    figure : Drawing, optional
        What stands in the explorer's place in print.
    name : str, optional
        The explorer's name in the page's address, by default the example's.
    prints : callable, optional
        What the example's source prints, shown on demand.
    tasks : sequence of Task
        What a reader is asked to bring about, checked while numbers change.
    view : str, default "strip"
        What stands above the strip: "plane" draws queries, keys and values of two components, and
        what a matrix makes of embeddings of two, all to be dragged; of two heads, folded away, a
        plane for each beside one cloud of embeddings, of up to four components; "temperature" has
        the weights as bars without and under temperature and masks, and where queries are two wide,
        lines of equal weight among the keys; "dial" turns each pair of queries and keys by their
        positions.
    axes : sequence of str, optional
        What the components of an embedding mean, and of a value where these are as wide.
    asks : sequence of str, optional
        What each hidden number of a block asks.
    folded : str, optional
        The words below which it is folded away: a page's text may follow a run that has no room.

    Returns
    -------
    Explorer

    Raises
    ------
    TypeError, ValueError
        If `run` is not a Trace, or has norms of queries or keys, a cap or sinks; `name` not made of
        lower-case letters, digits and hyphens, a task names what the run has not or is reached
        before anything is changed, a plane is wanted of a run whose queries and values are not two
        wide or are turned by their positions, a dial of one where they are not, or any view but the
        strip of a block.

    Examples
    --------
    >>> from mha import load_example, trace
    >>> explorer(trace(load_example("cat-sat"))).html[:34]
    '<mha-explorer id="explore-cat-sat"'
    """
    check_type("run", run, Trace)
    if run.example.refined is not None:
        raise ValueError(
            "run has norms of queries or keys, a cap or sinks, which no explorer computes; tables,"
            " figures and lines of arithmetic show it"
        )
    name = checked_name(run.example.name if name is None else name)
    if is_large(run):
        return _of_large(run, name, figure, tasks, view)
    if view == "plane" and not _is_plane(run):
        raise ValueError("a plane wants queries and values of width 2, without angles")
    if view == "dial" and (run.angles is None or len(run.tokens) < 2):
        raise ValueError("a dial wants two tokens or more with angles")
    if run.example.block is not None and view != "strip":
        raise ValueError(f'view is {view!r}; of a block "strip" is wanted')
    data = run_data(run, name, prints) | {"tasks": checked_tasks(run, tasks), "view": view}
    if axes is not None:
        data["axes"] = list(axes)
    if asks is not None:
        data["asks"] = list(asks)
    html = _element(run, name, data)
    if folded:
        summary = f"<summary>{escape(folded)}</summary>"
        html = f'<details class="strip-fold">{summary}{html}</details>'
    asked = {"explorer-block": run.example.block, "views": view != "strip"}
    late = (*(script for script, is_asked in asked.items() if is_asked), *_OPENED)
    styles = _DRESS if view == "strip" else (*_DRESS, "plane.css")
    title = run.example.title
    runs = {name: run}
    return Explorer(html, title, figure, late=late, styles=styles, runs=runs)


def _of_large(
    run: Trace, name: str, figure: Drawing | None, tasks: Sequence[Task], view: View
) -> Explorer:
    """Return a run that the strip has no room for, as maps and one query key by key."""
    if tasks or view != "strip":
        raise ValueError("the run is too large for tasks or another view; neither is wanted")
    return layer_view(run, name, _masks(run), figure)


def _is_plane(run: Trace) -> bool:
    return run.angles is None and run.query.shape[-1] == run.value.shape[-1] == 2


def _element(run: Trace, name: str, data: dict[str, Any]) -> str:
    """Return the element: one query as a table, all numbers folded away, the browser's start.

    The style sheet reserves the strip's height from the counts, so that nothing moves.
    """
    stages = "".join(sections(run))
    digits = max(map(len, re.findall("<td>([^<]*)", stages)))
    label = min(max(map(len, ("Token", *run.tokens))), LONGEST_LABEL)
    components = 0 if run.embeddings is None else run.embeddings.shape[1]
    wide = components > 0 and components + run.key.shape[2] >= LONGEST_LINE
    start = "outright" if run.embeddings is None and run.angles is None else "computed"
    # Of a fold with two planes its line takes room; "flat" are queries that a plane can show.
    above = "fold" if data["view"] == "plane" and run.num_heads == 2 else data["view"]
    marks = f"with-{above} {_joined(run)} {start}" + " flat" * _is_plane(run)
    marks += " long" * (components >= LONG_VECTOR)
    return (
        f'<mha-explorer id="explore-{name}" class="{marks}" style="--keys: {len(run.tokens)};'
        f" --heads: {run.num_heads}; --card: {8.25 if wide else 6.9}rem;"
        f' --tasks: {len(data["tasks"])}"><div class="face"{_height_of_block(run, data)}>'
        '<div class="before" tabindex="0" role="group" aria-label="One query">'
        f"{one_query(run)}</div></div>"
        '<details class="fold all"><summary>All numbers</summary>'
        f'<div class="body" style="--digits: {digits}; --label: {label}">'
        f"<noscript>{stages}</noscript></div></details>"
        f'<script type="application/json">{as_json(data)}</script>'
        "</mha-explorer>"
    )


def _height_of_block(run: Trace, data: dict[str, Any]) -> str:
    """Return the style that keeps the height of what a block adds around the strip, if any.

    `explorer-block.ts` has the lines: a label, and numbers, which stand below it on a phone.
    """
    if run.example.block is None:
        return ""
    names = ("stream", "stream_normed", "hidden", "active", "fed", "total", "total_normed")
    found = [run.start_normed, run.start_normed, *(getattr(run, name) for name in names)]
    counts = [array.shape[1] for array in found if array is not None]
    moments = sum(name.endswith("_means") for name in vars(run) if getattr(run, name) is not None)
    counts += [2] * moments
    titles = 1 if run.start_normed is None else 2
    # Names stand above what the block takes and what it gives; on a phone a question takes a line.
    named = titles + 1 if "axes" in data else 0
    asked = 2 * (len(data["asks"]) - 1) if "asks" in data else 0
    wide, narrow = (
        1.9 * (titles + named + sum(label + -(-count // in_line) for count in counts))
        for label, in_line in ((0, 11), (1, 5))
    )
    # As wide as the stream, the attention's output takes more lines there than usual.
    narrow += 1.9 * (counts[0] // 4 + asked)
    apart = 2 * titles  # the margins of the lines before and behind the strip
    wide, narrow = wide + apart, narrow + apart + 0.25 * len(counts)  # gaps below labels
    height = f"clamp({wide:.2f}rem, (32rem - 100cqi) * 999, {narrow:.2f}rem)"
    return f' style="--extra: {height}"'


def _joined(run: Trace) -> str:
    """Return how the heads come together: not at all, side by side, or through a projection."""
    if run.output is not None:
        return "projected"
    return "joined" if run.num_heads > 1 else "single"


# ---- What the browser starts from ----


def run_data(run: Trace, name: str, prints: PrintsAt | None = None) -> dict[str, Any]:
    """Return the inputs of a run, and what its source prints."""
    example = run.example
    return {
        "name": name,
        "tokens": run.tokens,
        "heads": run.head_names,
        "focus": example.focus,
        "inputs": {stage: array.tolist() for stage, array in _inputs(run)},
        "block": _kind_of_block(run),
        "end": run.end,
        "masks": _masks(run),
        "isCausal": bool(example.is_causal),
        "scale": None if example.scale is None else float(example.scale),
        "prints": {} if prints is None else _printed(run, prints),
    }


def _inputs(run: Trace) -> Iterator[tuple[str, Array]]:
    """Yield the arrays that the run starts from, by their names."""
    for name, stage in STAGES.items():
        array = stage.array(run)
        if array is not None and is_given(run, name):
            yield name, array


def _kind_of_block(run: Trace) -> dict[str, Any] | None:
    """Return what a block is beside its arrays."""
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
    """Return one mask a head: booleans, or numbers with None for minus infinity."""
    if run.example.mask is None:
        return None
    mask = np.broadcast_to(run.example.mask, run.scores.shape)
    if mask.dtype == np.bool_:
        return list(mask.tolist())
    numbers = mask.astype(object)
    numbers[np.isneginf(mask)] = None
    return list(numbers.tolist())


def _printed(run: Trace, prints: PrintsAt) -> dict[str, list[tuple[str, bool]]]:
    """Return what the source prints, by the number's address; a term of a sum has its own."""
    found: dict[str, list[tuple[str, bool]]] = {}
    for stage in _PRINTED:
        if STAGES[stage].array(run) is None:
            continue
        for place in places(run, stage):
            found[str(place)] = list(prints(place))
            for at in _terms(run, place):
                found[str(at)] = list(prints(at))
            if stage == "weights":
                percentages = prints(replace(place, stage="percentages"))
                found[str(place)] += [(f"{text} %", agrees) for text, agrees in percentages]
    return {address: texts for address, texts in found.items() if texts}


def _terms(run: Trace, place: Place) -> Iterator[Place]:
    """Yield the places of the terms of a sum of products."""
    found = origin(run, place)
    if found.operation in ("products", "mixed"):
        yield from (replace(place, term=term) for term in range(len(found.terms)))


# ---- One query, as a table ----


def one_query(run: Trace, row: int | None = None, head: int = 0, component: int = 0) -> str:
    """Return one query's way to its output as a table: a row a key, a column a step.

    Examples
    --------
    >>> from mha import load_example, trace
    >>> table = one_query(trace(load_example("cat-sat")))
    >>> "<td>2.7183</td><td>0.7311</td>" in table
    True
    """
    row = (run.example.focus or 0) if row is None else row
    asked, answers = run.meeting
    parts = run.weights[head, row] * run.value[head, :, component]
    stages = (run.scores, run.scaled_scores, run.exponentials, run.weights)
    columns = np.column_stack([*(stage[head, row] for stage in stages), parts])
    heads = ("Key", "Its numbers", "Score", "Scaled", "exp", "Weight", "Value", "Weight × value")
    lines = "".join(
        f'<tr><th scope="row">{escape(token)}</th><td>{_vector(answers[head, key])}</td>'
        + "".join(f"<td>{shown(float(x))}</td>" for x in columns[key, :-1])
        + f"<td>{_vector(run.value[head, key])}</td><td>{shown(float(columns[key, -1]))}</td></tr>"
        for key, token in enumerate(run.tokens)
    )
    output = shown(float(run.head_outputs[head, row, component]))
    added = [shown(float(part)) for part in parts]
    return (
        f"<table><caption>One query: {escape(run.tokens[row])}, {_vector(asked[head, row])},"
        f" {escape(run.head_names[head])}. The last column adds up to component {component + 1} of"
        f" its output, {total(added, output)}.</caption><thead><tr>"
        + "".join(f'<th scope="col">{text}</th>' for text in heads)
        + f"</tr></thead><tbody>{lines}</tbody></table>"
    )


def _vector(numbers: Array) -> str:
    return "(" + ", ".join(short(float(x)) for x in numbers) + ")"
