"""Worked examples with one change: without the scale, without a head, or with tokens swapped."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from mha.core.checks import Array, as_index
from mha.core.multihead import MultiHeadWeights, refuse_biases
from mha.core.option_checks import check_type
from mha.runs.worked_example import WorkedExample


def without_scale(example: WorkedExample) -> WorkedExample:
    """Return the example with unscaled scores, that is, with a scale of 1.

    Parameters
    ----------
    example : WorkedExample

    Examples
    --------
    >>> from mha import load_example, trace
    >>> trace(without_scale(load_example("cat-sat"))).weights[0, 0].round(4)
    array([0.8808, 0.1192])
    """
    check_type("example", example, WorkedExample)
    return replace(example, scale=1.0)


def without_head(example: WorkedExample, head: int) -> WorkedExample:
    """Return the example without one head, and without that head's rows of the output projection.

    Parameters
    ----------
    example : WorkedExample
        Of at least two heads, with embeddings.
    head : int
        Counted from 0.

    Raises
    ------
    TypeError, ValueError
        If there is no such head or only one, if the layer has biases, or if the example starts
        at query, key and value.

    Examples
    --------
    >>> from mha import load_example
    >>> without_head(load_example("the-cat-sat"), 0).head_names
    ('Head 2',)
    """
    check_type("example", example, WorkedExample)
    layer = example.layer
    if layer is None:
        raise ValueError(f"{example.name} starts at its queries; one with embeddings is wanted")
    refuse_biases("layer", layer)
    head = as_index("head", head, layer.num_heads)
    if layer.num_heads == 1:
        raise ValueError(f"{example.name} has one head; at least two are wanted")
    kept = np.delete(np.arange(layer.num_heads), head)
    w_o = layer.w_o
    if w_o is not None:
        w_o = w_o.reshape(layer.num_heads, layer.d_v, -1)[kept].reshape(-1, w_o.shape[1])
    return replace(
        example,
        layer=MultiHeadWeights(layer.w_q[kept], layer.w_k[kept], layer.w_v[kept], w_o),
        head_names=tuple(example.head_names[i] for i in kept),
        mask=_mask_of(example.mask, kept),
        target_weights=None if example.target_weights is None else example.target_weights[kept],
    )


def _mask_of(mask: Array | None, heads: Array) -> Array | None:
    """Return the mask of the given heads; a mask shared by all heads is unchanged."""
    return mask if mask is None or mask.ndim < 3 or len(mask) == 1 else mask[heads]


def with_swapped_tokens(example: WorkedExample, first: int, second: int) -> WorkedExample:
    """Return the example with two tokens exchanged, together with their vectors.

    Parameters
    ----------
    example : WorkedExample
        Without a mask, because a mask belongs to positions, not to tokens.
    first, second : int
        Indices of the tokens, counted from 0.

    Raises
    ------
    TypeError, ValueError
        If there is no such token, or the example has a mask.

    Examples
    --------
    >>> from mha import load_example
    >>> with_swapped_tokens(load_example("cat-sat"), 0, 1).tokens
    ('sat', 'cat')
    """
    check_type("example", example, WorkedExample)
    order = np.arange(len(example.tokens))
    first = as_index("first", first, len(order))
    second = as_index("second", second, len(order))
    if example.mask is not None or example.is_causal:
        raise ValueError(f"{example.name} has a mask; an example without one is wanted")
    order[[first, second]] = order[[second, first]]
    vectors: dict[str, Any] = {
        name: None if array is None else array[..., order, :]
        for name in ("embeddings", "query", "key", "value")
        for array in [getattr(example, name)]
    }
    target = example.target_weights
    return replace(
        example,
        tokens=tuple(example.tokens[i] for i in order),
        focus=None if example.focus is None else int(order.argsort()[example.focus]),
        target_weights=None if target is None else target[:, order][..., order],
        **vectors,
    )
