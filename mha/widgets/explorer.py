"""The explorer: a worked example whose numbers can be changed and traced back, on its page.

Python writes every number of the example as tables, so that a page without JavaScript has them
all, and the inputs as JSON. The browser computes the rest itself, from the inputs alone.
"""

import base64
import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from html import escape
from typing import Any, Protocol

import numpy as np

from mha.core.checks import Array
from mha.runs.rounding import dimensions, short, shown
from mha.runs.places import PrintsAt, Place, places
from mha.runs.origins import is_given, origin
from mha.runs.record import Trace
from mha.runs.stages import STAGES

HEAD_STYLES = 6
"""How many colours and patterns of heads the style sheet has."""

LONGEST_LABEL = 9
"""How many characters of a token fit beside a table; a longer one is cut where it stands."""

_MATRICES = {
    "w_q": ("Query projection", "q"),
    "w_k": ("Key projection", "k"),
    "w_v": ("Value projection", "v"),
}
_VECTORS = {"query": ("Queries", "q"), "key": ("Keys", "k"), "value": ("Values", "v")}
_MAPS = {
    "scores": "Scores",
    "scaled_scores": "Scaled scores",
    "exponentials": "Exponentials",
    "weights": "Weights",
}


class Drawing(Protocol):
    """What the print form of an explorer has to offer; `mha.views.figures.Figure` does."""

    @property
    def pdf(self) -> bytes:
        """The drawing as vector graphics for print."""

    @property
    def alt(self) -> str:
        """What is to be seen."""


@dataclass(frozen=True)
class Explorer:
    """An explorer as an element of a page, with a figure in its place in print.

    Parameters
    ----------
    html : str
    title : str
    figure : Drawing, optional
    """

    html: str
    title: str
    figure: Drawing | None = None

    def _repr_mimebundle_(self, **_: object) -> tuple[dict[str, str], dict[str, dict[str, str]]]:
        data = {"text/html": self.html, "text/plain": f"Explorer: {self.title}"}
        if self.figure is None:
            return data, {}
        data["application/pdf"] = base64.b64encode(self.figure.pdf).decode("ascii")
        return data, {"application/pdf": {"alt": self.figure.alt}}


def explorer(
    run: Trace,
    *,
    figure: Drawing | None = None,
    name: str | None = None,
    prints: PrintsAt | None = None,
) -> Explorer:
    """Return a run as an explorer: its numbers can be changed, and each traced to the inputs.

    Parameters
    ----------
    run : Trace
    figure : Drawing, optional
        What stands in the explorer's place in print.
    name : str, optional
        The explorer's name in the page's address, by default the example's: lower-case letters,
        digits and hyphens.
    prints : callable, optional
        What the example's source prints, shown on demand.

    Returns
    -------
    Explorer

    Raises
    ------
    TypeError
        If `run` is not a Trace.
    ValueError
        If `name` is not made of lower-case letters, digits and hyphens.

    Examples
    --------
    >>> from mha import load_example, trace
    >>> explorer(trace(load_example("cat-sat"))).html[:34]
    '<mha-explorer id="explore-cat-sat"'
    """
    if not isinstance(run, Trace):
        raise TypeError(f"run is a {type(run).__name__}; a Trace is wanted")
    name = run.example.name if name is None else name
    if not re.fullmatch(r"[a-z0-9-]+", name):
        raise ValueError(f"name is {name!r}; lower-case letters, digits and hyphens are wanted")
    title = escape(run.example.title)
    stages = "".join(_stages(run))
    digits = max(map(len, re.findall("<td>([^<]*)", stages)))
    label = min(max(map(len, ("Token", *run.tokens))), LONGEST_LABEL)
    html = (
        f'<mha-explorer id="explore-{name}"><details class="explorer">'
        f'<summary><span class="title">Explorer: {title}</span>'
        '<span class="intro">Change a number and see the others follow. Select one and see where'
        " it comes from.</span></summary>"
        f'<div class="body" style="--digits: {digits}; --label: {label}">{stages}</div></details>'
        f'<script type="application/json">{_as_json(_data(run, name, prints))}</script>'
        "</mha-explorer>"
    )
    return Explorer(html=html, title=run.example.title, figure=figure)


# ---- What the browser starts from ----


def _data(run: Trace, name: str, prints: PrintsAt | None) -> dict[str, Any]:
    """Return the inputs of a run, and what its source prints."""
    example = run.example
    return {
        "name": name,
        "tokens": run.tokens,
        "heads": run.head_names,
        "focus": example.focus,
        "inputs": {stage: array.tolist() for stage, array in _inputs(run)},
        "masks": _masks(run),
        "isCausal": bool(example.is_causal),
        "scale": None if example.scale is None else float(example.scale),
        "prints": {} if prints is None else _printed(run, prints),
    }


def _inputs(run: Trace) -> Iterator[tuple[str, Array]]:
    """Yield the arrays that the run starts from, by their names."""
    layer = run.example.layer
    if run.embeddings is None or layer is None:
        yield from (("query", run.query), ("key", run.key), ("value", run.value))
        return
    yield "embeddings", run.embeddings
    yield from (("w_q", layer.w_q), ("w_k", layer.w_k), ("w_v", layer.w_v))
    if layer.w_o is not None:
        yield "w_o", layer.w_o


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
    for stage, kind in STAGES.items():
        if kind.is_matrix or kind.array(run) is None or stage in ("embeddings", "head_contributions"):
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


def _as_json(data: dict[str, Any]) -> str:
    """Return data as JSON that no text in it can end before its script element does."""
    text = json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c")


# ---- Every number, as tables ----


def _stages(run: Trace) -> Iterator[str]:
    """Yield the sections of the page's element, in order of the computation."""
    widest = max(run.query.shape[-1], run.value.shape[-1])
    if run.embeddings is not None:
        matrices = _folded("Projection matrices", _lanes(run, _projections, widest))
        yield _section("Inputs", _embeddings(run) + matrices)
    yield _section("Queries, keys and values: one lane a head", _lanes(run, _vectors, widest))
    maps = "".join(_maps(run, stage) for stage in _MAPS)
    yield _section("Weight maps: a row a query, a column a key", maps, "maps")
    lanes = _lanes(run, _head_output, run.value.shape[-1])
    yield _section("Output of each head: values mixed by its weights", lanes)
    yield _section("Concatenation: the heads side by side", _concat(run), "end")
    if run.output is not None:
        shares = _lanes(run, _share, run.output.shape[1])
        yield _section("Output, and each head's share of it", _output(run) + shares, "end")


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


def _maps(run: Trace, stage: str) -> str:
    """Return one stage of all heads as maps, columns wide enough for the tokens above them."""
    heading = min(max(map(len, run.tokens)), LONGEST_LABEL)
    lanes = _lanes(run, partial(_map, stage), len(run.tokens) + (stage == "exponentials"))
    return (
        f'<div class="map" data-map="{stage}" style="--heading: {heading}">'
        f'<p class="map-name">{_MAPS[stage]}</p>{lanes}</div>'
    )


def _style(head: int) -> str:
    return f"head-{head % HEAD_STYLES}"


def _folded(title: str, body: str) -> str:
    return f'<details class="fold"><summary>{title}</summary>{body}</details>'


def _embeddings(run: Trace) -> str:
    assert run.embeddings is not None
    columns = dimensions("x", run.embeddings.shape[1])
    table = _Table("embeddings", "Embeddings", "Token", run.tokens, columns, "bars", "rows")
    return table.html(run.embeddings, short)


def _projections(run: Trace, head: int) -> str:
    assert run.example.layer is not None
    tables = []
    for stage, (title, symbol) in _MATRICES.items():
        matrix = getattr(run.example.layer, stage)[head]
        rows, columns = dimensions("x", len(matrix)), dimensions(symbol, matrix.shape[1])
        table = _Table(stage, title, "From \\ to", rows, columns, "bars", "", head)
        tables.append(table.html(matrix, short))
    return "".join(tables)


def _vectors(run: Trace, head: int) -> str:
    text = short if run.embeddings is None else shown
    tables = []
    for stage, (title, symbol) in _VECTORS.items():
        array = getattr(run, stage)[head]
        columns = dimensions(symbol, array.shape[1])
        table = _Table(stage, title, "Token", run.tokens, columns, "bars", "rows", head)
        tables.append(table.html(array, text))
    return "".join(tables)


def _map(stage: str, run: Trace, head: int) -> str:
    array, columns = getattr(run, stage)[head], run.tokens
    if stage == "exponentials":
        array = np.column_stack([array, run.row_sums[head]])
        columns = (*columns, "Row sum")
    table = _Table(
        stage, _MAPS[stage], "Query \\ key", run.tokens, columns, "heat", "rows columns", head
    )
    return table.html(array, shown)


def _head_output(run: Trace, head: int) -> str:
    array = run.head_outputs[head]
    columns = dimensions("z", array.shape[1])
    table = _Table("head_outputs", "Output", "Token", run.tokens, columns, "bars", "rows", head)
    return table.html(array, shown)


def _concat(run: Trace) -> str:
    columns = dimensions("z", run.concat.shape[1])
    table = _Table("concat", "Concatenation", "Token", run.tokens, columns, "bars", "rows")
    return table.html(run.concat, shown, groups=run.head_names)


def _output(run: Trace) -> str:
    assert run.output is not None
    layer = run.example.layer
    assert layer is not None
    assert layer.w_o is not None
    columns = dimensions("y", run.output.shape[1])
    rows = dimensions("z", len(layer.w_o))
    matrix = _Table("w_o", "Output projection", "From \\ to", rows, columns, "bars")
    table = _Table("output", "Output", "Token", run.tokens, columns, "shares", "rows")
    return _folded("Output projection", matrix.html(layer.w_o, short)) + table.html(
        run.output, shown
    )


def _share(run: Trace, head: int) -> str:
    assert run.head_contributions is not None
    array = run.head_contributions[head]
    columns = dimensions("y", array.shape[1])
    title = "Share of the output"
    table = _Table("head_contributions", title, "Token", run.tokens, columns, "bars", "rows", head)
    return table.html(array, shown)


@dataclass(frozen=True)
class _Table:
    """One stage of one head as a table; the browser finds its numbers by `stage` and `head`.

    Parameters
    ----------
    stage, title, corner : str
    rows, columns : sequence of str
    look : str
        How numbers are drawn behind their cells: "bars", "heat" or "shares".
    tokens : str
        Which labels are tokens: "rows", "rows columns", or "".
    head : int, optional
        Counted from 0; None for what belongs to no one head.
    """

    stage: str
    title: str
    corner: str
    rows: Sequence[str]
    columns: Sequence[str]
    look: str
    tokens: str = ""
    head: int | None = None

    def html(
        self, array: Array, text: Callable[[float], str], *, groups: Sequence[str] = ()
    ) -> str:
        """Return the table with its numbers; `groups` are headings above equal runs of columns."""
        body = "".join(
            f'<tr><th scope="row">{escape(label)}</th>'
            + "".join(f"<td>{text(float(x))}</td>" for x in row)
            + "</tr>"
            for label, row in zip(self.rows, array, strict=True)
        )
        head = "" if self.head is None else f' data-head="{self.head}"'
        return (
            f'<div class="wide" style="--columns: {len(self.columns)}">'
            f'<table class="{self.look}" data-stage="{self.stage}"{head}'
            f' data-tokens="{self.tokens}">'
            f"<caption>{self.title}{self._of_head}</caption>"
            f"<thead>{self._header(groups)}</thead><tbody>{body}</tbody></table></div>"
        )

    @property
    def _of_head(self) -> str:
        return "" if self.head is None else f'<span class="aside">, head {self.head + 1}</span>'

    def _header(self, groups: Sequence[str]) -> str:
        span = ' rowspan="2"' if groups else ""
        corner = f'<th scope="col"{span}>{escape(self.corner)}</th>'
        labels = "".join(f'<th scope="col">{escape(label)}</th>' for label in self.columns)
        if not groups:
            return f"<tr>{corner}{labels}</tr>"
        width = len(self.columns) // len(groups)
        names = "".join(
            f'<th scope="colgroup" colspan="{width}" class="group {_style(head)}"'
            f' data-head="{head}">{escape(name)}</th>'
            for head, name in enumerate(groups)
        )
        return f"<tr>{corner}{names}</tr><tr>{labels}</tr>"
