"""The key-value cache as an instrument: it fills while a text is decoded token by token."""

from __future__ import annotations

from dataclasses import replace
from html import escape

from mha.core.checks import Array
from mha.core.decoding import decode_step
from mha.core.multihead import MultiHeadWeights
from mha.core.option_checks import check_type
from mha.runs.record import Trace, trace
from mha.runs.rounding import shown
from mha.widgets.instrument import Drawing, Explorer, instrument

MAX_TOKENS = 8
"""The most tokens of a text in the browser."""


def count_multiplications(run: Trace, n: int) -> int:
    """Return the number of multiplications for token `n` with a cache, counted from 1.

    The scale and the softmax are not counted. Without a cache there are `n` times as many, because
    every row is computed again, with all keys.

    Examples
    --------
    >>> from mha import load_example, trace
    >>> count_multiplications(trace(load_example("the-cat-sat-end")), 3)
    72
    """
    embeddings, _ = _embeddings_and_layer(run)
    d_model, d_k, d_v = (array.shape[-1] for array in (embeddings, run.key, run.value))
    return d_model * (2 * d_k + d_v) + n * (d_k + d_v)


def growing_cache(
    run: Trace, *, name: str | None = None, figure: Drawing | None = None
) -> Explorer:
    """Return an instrument in which a cache fills while a text is decoded.

    A reader writes a text of the run's tokens, and sees what each step computes, stores and reads.

    Parameters
    ----------
    run : Trace
        A run from embeddings with one head. Its tokens are the vocabulary, and the first text.
    name : str, optional
        The name in the page's address; by default, the example's.
    figure : Drawing, optional
        Replaces the instrument in print.

    Raises
    ------
    TypeError, ValueError
        If `run` is not such a Trace.

    Examples
    --------
    >>> from mha import load_example, trace
    >>> growing_cache(trace(load_example("the-cat-sat-end"))).title
    'A cache that fills: The cat sat <end>'
    """
    check_type("run", run, Trace)
    embeddings, layer = _embeddings_and_layer(run)
    if len(run.tokens) > MAX_TOKENS:
        raise ValueError(f"run has {len(run.tokens)} tokens; at most {MAX_TOKENS} are wanted")
    name = run.example.name if name is None else name
    scale = run.example.scale
    data = {
        "name": name,
        "tokens": run.tokens,
        "text": list(range(len(run.tokens))),
        "embeddings": embeddings.tolist(),
        "scale": None if scale is None else float(scale),
    } | {key: getattr(layer, key).tolist() for key in ("w_q", "w_k", "w_v")}
    title = f"A cache that fills: {' '.join(run.tokens)}"
    return instrument(
        "cache",
        name,
        data,
        title=title,
        placeholder=_table(run, title),
        bundles=("cache",),
        style_sheets=("time-bar.css", "steps.css"),
        heights=(34.9, 36.2, 36.2, 36.9, 36.9, 42.9, 46.1),
        figure=figure,
    )


def _embeddings_and_layer(run: Trace) -> tuple[Array, MultiHeadWeights]:
    """Return the embeddings and the layer of a run; refuse one with positions or several heads."""
    embeddings, layer = run.embeddings, run.example.layer
    is_placed = run.positions is not None or run.angles is not None
    if embeddings is None or layer is None or run.num_heads != 1 or is_placed:
        raise ValueError("run has no cache to fill; one head from embeddings alone is wanted")
    return embeddings, layer


def _table(run: Trace, title: str) -> str:
    """Return a table of each step's cache and calculations, for readers without scripts."""
    heads = ("Written", "Stored numbers", "Multiplications", "Without a cache", "Weights", "Output")
    causal = trace(replace(run.example, is_causal=True))
    embeddings, layer = _embeddings_and_layer(run)
    cache = None
    lines = []
    for i, token in enumerate(run.tokens):
        output, cache = decode_step(embeddings[i : i + 1], layer, cache)
        count = count_multiplications(run, i + 1)
        row = causal.weights[0, i, : i + 1]
        cells = (
            str(cache.size),
            str(count),
            str((i + 1) * count),
            _join_numbers(row),
            _join_numbers(output[0]),
        )
        lines.append(f'<tr><th scope="row">{escape(token)}</th>'
                     + "".join(f"<td>{cell}</td>" for cell in cells) + "</tr>")  # fmt: skip
    return (
        f"<table><caption>{escape(title)}</caption><thead><tr>"
        + "".join(f'<th scope="col">{head}</th>' for head in heads)
        + f"</tr></thead><tbody>{''.join(lines)}</tbody></table>"
    )


def _join_numbers(numbers: Array) -> str:
    return ", ".join(shown(float(x), 2) for x in numbers)
