"""A view of a run that is too large for the strip: weight maps, and one query of one head.

The page has only queries, keys and values, and computes the numbers that a reader looks at.
"""

from __future__ import annotations

import base64
from html import escape
from typing import Any

from mha.core.checks import Array
from mha.core.multihead import BIASES
from mha.runs.record import Trace
from mha.widgets.instrument import Drawing, Explorer, instrument

MAX_TOKENS = 512
"""The most tokens for which a map has room and a browser computes fast enough."""

_FEW_NUMBERS, _FEW_TOKENS, _NARROW = 4000, 16, 24


def is_large(run: Trace) -> bool:
    """Return whether a run has more tokens, more numbers or wider heads than the strip can show.

    A run with biases counts as large too: the strip computes no biases, while this view starts from
    queries, keys and values.

    Examples
    --------
    >>> from mha import load_example, trace
    >>> is_large(trace(load_example("cat-sat-on-it-wide")))
    False
    """
    layer = run.example.layer
    matrices = () if layer is None else (layer.w_q, layer.w_k, layer.w_v)
    numbers = run.query.size + sum(matrix.size for matrix in matrices)
    widest = max(run.query.shape[-1], run.value.shape[-1])
    if layer is not None and any(getattr(layer, name) is not None for name in BIASES):
        return True
    return numbers > _FEW_NUMBERS or len(run.tokens) > _FEW_TOKENS or widest > _NARROW


def layer_view(run: Trace, name: str, masks: list[Any] | None, figure: Drawing | None) -> Explorer:
    """Return the view of a large run as an instrument.

    Parameters
    ----------
    run : Trace
    name : str
    masks : list, optional
        One mask per head, as in `run_data`.
    figure : Drawing, optional

    Raises
    ------
    ValueError
        If the run has more tokens than a page can show.
    """
    count = len(run.tokens)
    if count > MAX_TOKENS:
        raise ValueError(f"run has {count} tokens; at most {MAX_TOKENS} are wanted to be explored")
    query, key = run.score_factors
    data = {
        "tokens": run.tokens,
        "heads": run.head_names,
        "focus": _focus(run),
        "arrays": [_encode(array) for array in (query, key, run.value)],
        "masks": masks[:1] if masks and all(mask == masks[0] for mask in masks) else masks,
        "isCausal": bool(run.example.is_causal),
        "scale": None if run.example.scale is None else float(run.example.scale),
        "turned": run.angles is not None,
    }
    return instrument(
        "layer",
        name,
        data,
        title=run.example.title,
        placeholder=f"<p>{escape(run.example.title)}: {count} tokens, {run.num_heads} heads.</p>",
        bundles=("layer-view",),
        style_sheets=("model.css",),
        figure=figure,
    )


def _focus(run: Trace) -> int:
    """Return the query shown first; in causal runs the last one, which attends to all tokens."""
    if run.example.focus is not None:
        return run.example.focus
    return len(run.tokens) - 1 if run.example.is_causal else 0


def _encode(array: Array) -> dict[str, Any]:
    """Return an array in base64, with all bits of each number."""
    numbers = base64.b64encode(array.astype("<f8").tobytes()).decode()
    return {"shape": array.shape, "numbers": numbers}
