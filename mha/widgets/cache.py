"""A cache that fills on a page, while a text is written token by token."""

from dataclasses import replace
from html import escape

from mha.core.checks import Array
from mha.core.decoding import decode_step
from mha.core.multihead import MultiHeadWeights
from mha.core.option_checks import check_type
from mha.runs.record import Trace, trace
from mha.runs.rounding import shown
from mha.widgets.instrument import Drawing, Explorer, instrument

MOST_TOKENS = 8
"""So many tokens a text may have in the browser."""


def multiplications(run: Trace, n: int) -> int:
    """Return how many numbers are multiplied to write token `n` with a cache, counted from 1.

    The scale and the softmax are not counted. Without a cache it is `n` times as many, since each
    row is worked anew, with all keys.

    Examples
    --------
    >>> from mha import load_example, trace
    >>> multiplications(trace(load_example("the-cat-sat-end")), 3)
    72
    """
    embeddings, _ = _start(run)
    d_model, d_k, d_v = (array.shape[-1] for array in (embeddings, run.key, run.value))
    return d_model * (2 * d_k + d_v) + n * (d_k + d_v)


def growing_cache(
    run: Trace, *, name: str | None = None, figure: Drawing | None = None
) -> Explorer:
    """Return a cache that fills while a text is written, as an element of a page.

    A reader writes any text of the run's tokens, and sees what each step computes, keeps and reads.

    Parameters
    ----------
    run : Trace
        From embeddings, with one head; its tokens are the vocabulary, and the text at first.
    name : str, optional
        In the page's address, by default the example's.
    figure : Drawing, optional
        What stands in its place in print.

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
    embeddings, layer = _start(run)
    if len(run.tokens) > MOST_TOKENS:
        raise ValueError(f"run has {len(run.tokens)} tokens; at most {MOST_TOKENS} are wanted")
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
        before=_table(run, title),
        late=("cache",),
        dress=("time-bar.css", "steps.css"),
        heights=(34.9, 36.2, 36.2, 36.9, 36.9, 42.9, 46.1),
        figure=figure,
    )


def _start(run: Trace) -> tuple[Array, MultiHeadWeights]:
    """Return what the run starts from, or raise."""
    embeddings, layer = run.embeddings, run.example.layer
    is_placed = run.positions is not None or run.angles is not None
    if embeddings is None or layer is None or run.num_heads != 1 or is_placed:
        raise ValueError("run has no cache to fill; one head from embeddings alone is wanted")
    return embeddings, layer


def _table(run: Trace, title: str) -> str:
    """Return what each step keeps and computes as a table, for who has no script."""
    heads = ("Written", "Kept numbers", "Multiplications", "Without a cache", "Weights", "Output")
    causal = trace(replace(run.example, is_causal=True))
    embeddings, layer = _start(run)
    cache = None
    lines = []
    for i, token in enumerate(run.tokens):
        output, cache = decode_step(embeddings[i : i + 1], layer, cache)
        count = multiplications(run, i + 1)
        row = causal.weights[0, i, : i + 1]
        cells = (
            str(cache.size),
            str(count),
            str((i + 1) * count),
            _listed(row),
            _listed(output[0]),
        )
        lines.append(f'<tr><th scope="row">{escape(token)}</th>'
                     + "".join(f"<td>{cell}</td>" for cell in cells) + "</tr>")  # fmt: skip
    return (
        f"<table><caption>{escape(title)}</caption><thead><tr>"
        + "".join(f'<th scope="col">{head}</th>' for head in heads)
        + f"</tr></thead><tbody>{''.join(lines)}</tbody></table>"
    )


def _listed(numbers: Array) -> str:
    return ", ".join(shown(float(x), 2) for x in numbers)
