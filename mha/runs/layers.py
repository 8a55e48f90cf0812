"""A run of a layer that somebody has: its matrices and any tokens, as the trace of an example."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from mha.core.checks import Array, as_names, as_ndarray
from mha.core.masks import as_additive_mask
from mha.core.multihead import MultiHeadWeights, as_tokens
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

    Every view of a run works on it: tables, figures, lines of arithmetic, origins, the explorer.
    Of many tokens or heads, `figures.small_maps` and the explorer show what fits.

    Parameters
    ----------
    layer : MultiHeadWeights or AttentionLayer
        Of heads that share keys and values each gets a copy of its group's. A relative bias, ALiBi
        and a window are part of the trace's mask, as they are added to the scaled scores.
    x : array_like, shape (n, d_model)
        What the layer reads.
    tokens : sequence of str, length n, optional
        What the rows of `x` are called, by default "1" to "n". What cannot be seen is written as
        Python does, a space as "·".
    is_causal : bool, optional
        By default what an AttentionLayer says, else False.
    mask : array_like of bool or float, broadcastable to (num_heads, n, n), optional
        True where a query may attend; a float mask is added to the scaled scores.
    angles : array_like, shape (n, d_k / 2), optional
        As for `mha.multi_head_attention`; by default those of an AttentionLayer.
    title : str, default "A layer"

    Returns
    -------
    Trace
        Its output equals that of the layer to the last bit, in float64; up to rounding where
        groups of heads share a norm of keys over all heads. An explorer shows a run without norms,
        a cap and sinks; tables, figures, lines of arithmetic and origins show each.

    Raises
    ------
    TypeError, ValueError
        If the arguments do not fit together, naming the one, what is wanted and what came; or if
        the layer attends to tokens of another width, which no trace keeps.

    Examples
    --------
    >>> one = np.eye(2)[None]
    >>> run = trace_layer(MultiHeadWeights(one, one, one), np.eye(2), tokens=["cat", "sat"])
    >>> run.weights.round(4)
    array([[[0.6698, 0.3302],
            [0.3302, 0.6698]]])
    """
    own = AttentionLayer(layer) if isinstance(layer, MultiHeadWeights) else layer
    if not isinstance(own, AttentionLayer):
        kind = type(layer).__name__
        raise TypeError(f"layer is a {kind}; MultiHeadWeights or an AttentionLayer is wanted")
    weights = own.weights
    x = as_tokens(x, weights, mask=mask)[0].astype(np.float64)
    if x.ndim != 2 or x.shape[1] != weights.d_model:
        raise ValueError(f"x has shape {x.shape}; one sequence, (n, {weights.d_model}), is wanted")
    _refuse_what_has_no_stage(own)
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
        layer=_ungrouped(weights),
        mask=_mask(own, mask, len(x)),
        is_causal=own.is_causal if is_causal is None else is_causal,
        angles=own.angles(len(x)) if angles is None else as_ndarray("angles", angles),
        scale=own.scale,
        refined=_refined(own),
    )
    return trace(example)


def _refined(layer: AttentionLayer) -> Refinements | None:
    """Return the norms, the cap and the sinks of a layer, a gain a head; None if it has none."""
    weights = layer.weights
    norms: dict[str, Array | None] = {"query_norm": layer.query_norm, "key_norm": layer.key_norm}
    parts = [*norms.values(), layer.softcap, layer.sinks]
    if all(part is None for part in parts):
        return None
    is_joint = {gain.ndim == 2 for gain in norms.values() if gain is not None}
    if len(is_joint) > 1:
        raise ValueError(
            "query_norm and key_norm are of a head and of all heads; two alike are wanted"
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


def _refuse_what_has_no_stage(layer: AttentionLayer) -> None:
    """Raise if a layer does what no stage of a trace holds."""
    weights = layer.weights
    if weights.d_context != weights.d_model:
        raise ValueError(
            f"layer reads {weights.d_context} numbers of the tokens that are asked and"
            f" {weights.d_model} of those that ask; one width, self-attention, is wanted"
        )


def _mask(layer: AttentionLayer, mask: ArrayLike | None, count: int) -> Array | None:
    """Return the mask with what the layer adds for distances, if it does."""
    bias = layer.position_bias(count, count)
    if bias is None or mask is None:
        return bias if mask is None else np.asarray(mask)
    dtype: Any = np.dtype(np.float64)
    return bias + as_additive_mask(mask, False, bias.shape, dtype)


def _visible(token: str) -> str:
    """Return a token as it can be read: tokenizers have some of spaces and line ends.

    Examples
    --------
    >>> _visible(" cat"), _visible(" "), _visible("")
    (' cat', '·', '∅')
    """
    written = token if token.isprintable() else repr(token)[1:-1]
    return written if written.strip() else "·" * len(written) or "∅"


def _ungrouped(weights: MultiHeadWeights) -> MultiHeadWeights:
    """Return weights in float64 whose heads have a key and a value projection each."""
    size = weights.num_heads // weights.num_groups
    arrays = {name: array.astype(np.float64) for name, array in weights.arrays.items()}
    grouped = arrays.keys() & {"w_k", "w_v", "b_k", "b_v"}
    return replace(
        weights, **arrays | {name: np.repeat(arrays[name], size, axis=0) for name in grouped}
    )
