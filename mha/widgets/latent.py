"""Latent attention as an instrument: the latent vector's width, and both forms side by side."""

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

import numpy as np

from mha.core.checks import Array, as_count, as_index
from mha.core.multihead import BIASES, MultiHeadWeights
from mha.core.option_checks import check_type
from mha.runs.attention_variants import evaluate_plan, latent_plan, plan_as_data
from mha.runs.computations import Computation
from mha.runs.record import Trace
from mha.runs.rounding import short
from mha.widgets.instrument import Drawing, Explorer, instrument
from mha.widgets.variants_explorer import bytes_of_published_models

BYTES = 2
"""Bytes of a number in bfloat16."""


@dataclass(frozen=True, eq=False)
class LatentForms:
    """Causal latent attention of all heads at one width of the latent vector, without rotation.

    Parameters
    ----------
    heads : tuple of Computation
        One per head, with the tables of `latent_plan`.
    """

    heads: tuple[Computation, ...]

    @property
    def keys(self) -> Array:
        """The keys of all heads beside each other, shape (n, num_heads * d_k)."""
        return np.hstack([head["key"] for head in self.heads])

    @property
    def values(self) -> Array:
        """The values of all heads beside each other, shape (n, num_heads * d_v)."""
        return np.hstack([head["value"] for head in self.heads])

    @property
    def ranks(self) -> tuple[int, int, int]:
        """The ranks of the keys, of the values, and of both beside each other."""
        both = np.hstack([self.keys, self.values])
        keys, values, all_columns = map(np.linalg.matrix_rank, (self.keys, self.values, both))
        return int(keys), int(values), int(all_columns)

    @property
    def difference(self) -> float:
        """The largest difference of scores and outputs between the plain and the absorbed form."""
        return max(
            float(np.abs(head[role] - head[f"absorbed_{role}"]).max())
            for head in self.heads
            for role in ("scores", "output")
        )


def latent_forms(run: Trace, order: Sequence[int], width: int) -> LatentForms:
    """Return a run's layer as latent attention, in the plain and in the absorbed form.

    Parameters
    ----------
    run : Trace
        A run from embeddings, without positions and biases.
    order : sequence of int
        The dimensions of the embeddings; latent vectors have the first `width` of them.
    width : int

    Returns
    -------
    LatentForms

    Raises
    ------
    TypeError, ValueError
        If `run` is not such a Trace, `order` does not have each dimension once, or `width` is not
        from 1 to their number.

    Examples
    --------
    >>> from mha import load_example, trace
    >>> forms = latent_forms(trace(load_example("it-tired")), [0, 1, 3, 2], 3)
    >>> forms.ranks, forms.difference
    ((3, 3, 3), 0.0)
    """
    x, layer = _embeddings_and_layer(run)
    n, d_model = x.shape
    if sorted(order) != list(range(d_model)):
        raise ValueError(f"order is {list(order)}; each of 0 to {d_model - 1} once is wanted")
    if as_count("width", width) > d_model:
        raise ValueError(f"width is {width}; a number from 1 to {d_model} is wanted")
    kept = list(order[:width])
    plan = latent_plan(run.query.shape[-1])
    shared = {"x": x, "causal": np.tri(n), "w_dkv": np.eye(d_model)[:, kept]}
    return LatentForms(tuple(
        evaluate_plan(plan, shared | {"w_q": w_q, "w_uk": w_k[kept], "w_uv": w_v[kept]})[0]
        for w_q, w_k, w_v in zip(layer.w_q, layer.w_k, layer.w_v, strict=True)
    ))  # fmt: skip


def latent_widths(
    run: Trace,
    order: Sequence[int],
    *,
    width: int,
    head: int = 0,
    name: str | None = None,
    figure: Drawing | None = None,
) -> Explorer:
    """Return an instrument in which a reader changes the width of the latent vector.

    It shows the stored bytes, the ranks of keys and values, and the scores of a query in the plain
    and in the absorbed form.

    Parameters
    ----------
    run : Trace
        As for `latent_forms`. Its last token's query is shown first.
    order : sequence of int
        The dimensions of the embeddings, in the order in which a wider latent vector has them.
    width : int
        Numbers of the latent vector at first.
    head : int, default 0
        The head that is shown first.
    name : str, optional
        The name in the page's address; by default, the example's.
    figure : Drawing, optional
        Replaces the instrument in print.

    Raises
    ------
    TypeError, ValueError
        As `latent_forms`, or if there is no such head.

    Examples
    --------
    >>> from mha import load_example, trace
    >>> latent_widths(trace(load_example("it-tired")), [0, 1, 3, 2], width=3).title
    'Latent vectors of every width: It was tired'
    """
    latent_forms(run, order, width)
    x, layer = _embeddings_and_layer(run)
    head = as_index("head", head, run.num_heads)
    name = run.example.name if name is None else name
    title = f"Latent vectors of every width: {run.example.title}"
    data: dict[str, Any] = {
        "name": name,
        "tokens": run.tokens,
        "heads": run.head_names,
        "x": x.tolist(),
        "order": list(order),
        "plan": plan_as_data(latent_plan(run.query.shape[-1])),
        "width": width,
        "focus": len(run.tokens) - 1,
        "head": head,
        "published": bytes_of_published_models()["latent"],
    } | {key: getattr(layer, key).tolist() for key in ("w_q", "w_k", "w_v")}
    return instrument(
        "latent",
        name,
        data,
        title=title,
        placeholder=_table(run, order, head, title),
        bundles=("latent",),
        style_sheets=("latent.css",),
        heights=(24.1, 28.7, 30, 30, 36.3, 41.3, 54),
        figure=figure,
    )


def _embeddings_and_layer(run: Trace) -> tuple[Array, MultiHeadWeights]:
    """Return the embeddings and the layer of a run; refuse one with positions or biases."""
    check_type("run", run, Trace)
    layer = run.example.layer
    is_placed = run.positions is not None or run.angles is not None
    if run.embeddings is None or layer is None or is_placed:
        raise ValueError("run has no plain embeddings; a run from embeddings alone is wanted")
    if any(getattr(layer, name) is not None for name in BIASES):
        raise ValueError("run has biases; a layer without them is wanted")
    return run.embeddings, layer


def _table(run: Trace, order: Sequence[int], head: int, title: str) -> str:
    """Return a table of what each width stores and gives, for readers without scripts."""
    last = run.tokens[-1]
    heads = ("Width", "Bytes per token", "Rank of the keys", "Rank of the values",
             f"Scores of {last}", "Absorbed", f"Output of {last}")  # fmt: skip
    lines = []
    for width in range(1, len(order) + 1):
        forms = latent_forms(run, order, width)
        tables = forms.heads[head]
        rows = (tables[role][-1] for role in ("scores", "absorbed_scores", "output"))
        cells = (str(BYTES * width), *map(str, forms.ranks[:2]),
                 *(", ".join(short(float(x)) for x in row) for row in rows))  # fmt: skip
        lines.append(f'<tr><th scope="row">{width}</th>'
                     + "".join(f"<td>{cell}</td>" for cell in cells) + "</tr>")  # fmt: skip
    return (
        f"<table><caption>{escape(title)}</caption><thead><tr>"
        + "".join(f'<th scope="col">{escape(text)}</th>' for text in heads)
        + f"</tr></thead><tbody>{''.join(lines)}</tbody></table>"
    )
