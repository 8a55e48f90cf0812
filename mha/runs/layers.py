"""Traces of layers: a layer's own matrices, run on given vectors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from mha.core.checks import Array, as_names, as_ndarray
from mha.core.masks import as_additive_mask
from mha.core.multihead import MultiHeadWeights, as_layer_inputs
from mha.layouts import AttentionLayer
from mha.runs.record import Trace, trace
from mha.runs.worked_example import Refinements, WorkedExample


def trace_layer(
    layer: MultiHeadWeights | AttentionLayer,
    x: ArrayLike,
    *,
    tokens: Sequence[str] | None = None,
    is_causal: bool | None = None,
    mask: ArrayLike | None = None,
    angles: ArrayLike | None = None,
    title: str = "A layer",
) -> Trace:
    """Run a layer of your own on one sequence and keep every intermediate, in float64.

    Tables, figures, lines of arithmetic, origins and the explorer show the returned trace as they
    show that of a worked example. `figures.small_maps` shows any number of heads, and the explorer
    a choice of them.

    Parameters
    ----------
    layer : MultiHeadWeights or AttentionLayer
        Heads that share keys and values get a copy each of their group's projections. A relative
        bias, ALiBi and a window become part of the trace's mask, which is added to the scaled
        scores.
    x : array_like, shape (n, d_model)
        The input of the layer.
    tokens : sequence of str, length n, optional
        Labels of the rows of `x`, by default "1" to "n". A character that cannot be printed is
        shown as Python writes it, and a token of spaces as dots, "·".
    is_causal : bool, optional
        By default as the AttentionLayer has it, else False.
    mask : array_like of bool or float, broadcastable to (num_heads, n, n), optional
        True where a query may attend; a float mask is added to the scaled scores.
    angles : array_like, shape (n, d_k / 2), optional
        As for `mha.multi_head_attention`; by default those of an AttentionLayer.
    title : str, default "A layer"

    Returns
    -------
    Trace
        Its output equals that of the layer in float64 to the last bit, or up to rounding if keys
        have one norm over all heads and heads share keys. The explorer shows no run with norms of
        queries and keys, a cap or sinks; tables, figures, lines of arithmetic and origins do.

    Raises
    ------
    TypeError, ValueError
        If the arguments do not fit together, or if the layer attends to tokens of another width,
        for which a trace has no stages. The message names the argument, its value and the values
        that are valid.

    Examples
    --------
    >>> one = np.eye(2)[None]
    >>> run = trace_layer(MultiHeadWeights(one, one, one), np.eye(2), tokens=["cat", "sat"])
    >>> run.weights.round(4)
    array([[[0.6698, 0.3302],
            [0.3302, 0.6698]]])
    """
    attention = AttentionLayer(layer) if isinstance(layer, MultiHeadWeights) else layer
    if not isinstance(attention, AttentionLayer):
        kind = type(layer).__name__
        raise TypeError(f"layer is a {kind}; MultiHeadWeights or an AttentionLayer is wanted")
    weights = attention.weights
    x = as_layer_inputs(x, weights, mask=mask)[0].astype(np.float64)
    if x.ndim != 2 or x.shape[1] != weights.d_model:
        raise ValueError(f"x has shape {x.shape}; one sequence, (n, {weights.d_model}), is wanted")
    _refuse_cross_attention(attention)
    names = [str(i + 1) for i in range(len(x))] if tokens is None else as_names("tokens", tokens)
    if len(names) != len(x):
        raise ValueError(
            f"tokens has {len(names)} names for {len(x)} rows of x; one each is wanted"
        )
    example = WorkedExample(
        name="layer",
        title=title,
        source="your own layer",
        tokens=tuple(map(_visible, names)),
        head_names=tuple(f"Head {head + 1}" for head in range(weights.num_heads)),
        embeddings=x,
        layer=_repeat_groups(weights),
        mask=_mask_with_position_bias(attention, mask, len(x)),
        is_causal=attention.is_causal if is_causal is None else is_causal,
        angles=attention.angles(len(x)) if angles is None else as_ndarray("angles", angles),
        scale=attention.scale,
        refinements=_refinements(attention),
    )
    return trace(example)


def _refinements(layer: AttentionLayer) -> Refinements | None:
    """Return the norms, with a gain per head, the cap and the sinks of a layer, or None."""
    weights = layer.weights
    norms: dict[str, Array | None] = {"query_norm": layer.query_norm, "key_norm": layer.key_norm}
    parts = [*norms.values(), layer.softcap, layer.sinks]
    if all(part is None for part in parts):
        return None
    is_joint = {gain.ndim == 2 for gain in norms.values() if gain is not None}
    if len(is_joint) > 1:
        raise ValueError(
            "one of query_norm and key_norm is over each head, the other over all heads together;"
            " both must be of one kind"
        )
    for name, gain in norms.items():
        if gain is None:
            continue
        wide = gain.astype(np.float64)
        size = weights.num_heads // (len(gain) if gain.ndim == 2 else weights.num_heads)
        norms[name] = (
            np.repeat(wide, size, axis=0)
            if gain.ndim == 2
            else np.broadcast_to(wide, (weights.num_heads, len(wide)))
        )
    return Refinements(
        **norms,
        is_joint=True in is_joint,
        eps=layer.eps,
        softcap=layer.softcap,
        sinks=None if layer.sinks is None else layer.sinks.astype(np.float64),
    )


def _refuse_cross_attention(layer: AttentionLayer) -> None:
    """Raise a ValueError if keys and values are projected from vectors of another width."""
    weights = layer.weights
    if weights.d_context != weights.d_model:
        raise ValueError(
            f"layer has d_context={weights.d_context} but d_model={weights.d_model}; they must"
            " match, because a trace holds self-attention alone"
        )


def _mask_with_position_bias(
    layer: AttentionLayer, mask: ArrayLike | None, count: int
) -> Array | None:
    """Return the mask plus the layer's bias for distances, if it has one."""
    bias = layer.position_bias(count, count)
    if bias is None or mask is None:
        return bias if mask is None else np.asarray(mask)
    dtype: Any = np.dtype(np.float64)
    # Both are added to the scaled scores, so their sum is one mask.
    return bias + as_additive_mask(mask, False, bias.shape, dtype)


def _visible(token: str) -> str:
    """Return a token as visible text; tokenizers have tokens of spaces and of line ends.

    Examples
    --------
    >>> _visible(" cat"), _visible(" "), _visible("")
    (' cat', '·', '∅')
    """
    written = token if token.isprintable() else repr(token)[1:-1]
    return written if written.strip() else "·" * len(written) or "∅"


def _repeat_groups(weights: MultiHeadWeights) -> MultiHeadWeights:
    """Return the weights in float64, with the projections of each group once per head."""
    size = weights.num_heads // weights.num_groups
    arrays = {name: array.astype(np.float64) for name, array in weights.arrays.items()}
    grouped = arrays.keys() & {"w_k", "w_v", "b_k", "b_v"}
    return replace(
        weights, **arrays | {name: np.repeat(arrays[name], size, axis=0) for name in grouped}
    )
