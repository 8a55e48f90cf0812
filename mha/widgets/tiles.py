"""Blockwise attention as an instrument: a tile over the scores, and each query's running sums."""

from html import escape

import numpy as np

from mha.core.checks import as_count
from mha.core.online_softmax import online_softmax
from mha.core.option_checks import check_type
from mha.runs.record import Trace
from mha.runs.rounding import shown
from mha.widgets.instrument import Drawing, Explorer, instrument

MAX_TOKENS = 8
"""The most queries and keys for which the tables have room."""


def moving_tile(
    run: Trace,
    *,
    head: int = 0,
    block_size: int = 2,
    name: str | None = None,
    figure: Drawing | None = None,
) -> Explorer:
    """Return an instrument with blockwise attention over the scores of one head, step by step.

    A reader can change the scores and the size of a block.

    Parameters
    ----------
    run : Trace
    head : int, default 0
    block_size : int, default 2
        The first number of queries and of keys in a tile.
    name : str, optional
        The name in the page's address; by default, the example's.
    figure : Drawing, optional
        Replaces the instrument in print.

    Raises
    ------
    TypeError, ValueError
        If `run` is not a Trace or has too many tokens, or `block_size` is not a positive integer.

    Examples
    --------
    >>> from mha import load_example, trace
    >>> moving_tile(trace(load_example("cat-sat-on-it"))).title
    'Attention block by block: The cat sat on it'
    """
    check_type("run", run, Trace)
    count = len(run.tokens)
    if count > MAX_TOKENS:
        raise ValueError(f"run has {count} tokens; at most {MAX_TOKENS} are wanted")
    size = as_count("block_size", block_size)
    name = run.example.name if name is None else name
    scores = run.scaled_scores[head]
    data = {
        "name": name,
        "tokens": run.tokens,
        "scores": [[None if np.isneginf(x) else float(x) for x in row] for row in scores],
        "value": run.value[head].tolist(),
        "size": min(size, count),
    }
    title = f"Attention block by block: {' '.join(run.tokens)}"
    return instrument(
        "tiles",
        name,
        data,
        title=title,
        placeholder=_table(run, head, size, title),
        bundles=("tiles",),
        style_sheets=("time-bar.css", "steps.css"),
        heights=(33.8, 35.1, 47, 52.7, 52.7, 56.7, 60.3),
        figure=figure,
    )


def _table(run: Trace, head: int, size: int, title: str) -> str:
    """Return a table of each query's maximum and sum after each block, without scripts."""
    scores, value = run.scaled_scores[head], run.value[head]
    starts = range(0, len(run.tokens), size)
    kept = None
    columns = []
    for start in starts:
        keys = slice(start, start + size)
        kept = online_softmax(scores[:, keys], value[keys], kept)
        columns += [kept.largest, kept.total]
    heads = "".join(
        f'<th scope="col">largest, to {escape(run.tokens[min(start + size, len(run.tokens)) - 1])}'
        '</th><th scope="col">ℓ</th>'
        for start in starts
    )
    lines = "".join(
        f'<tr><th scope="row">{escape(token)}</th>'
        + "".join(f"<td>{shown(float(column[i]), 2)}</td>" for column in columns)
        + f"<td>{', '.join(shown(float(x), 2) for x in run.head_outputs[head, i])}</td></tr>"
        for i, token in enumerate(run.tokens)
    )
    return (
        f'<table><caption>{escape(title)}</caption><thead><tr><th scope="col">Query</th>{heads}'
        f'<th scope="col">Output</th></tr></thead><tbody>{lines}</tbody></table>'
    )
