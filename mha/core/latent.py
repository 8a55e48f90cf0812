"""Latent attention: keys and values are compressed to one cached latent vector per token.

Each head projects the latent vector to its key and to its value. Since matrix products are
associative, the key projection can be applied to the query instead, and the value projection to the
weighted sum of latent vectors. This absorbed form computes no keys and values, and has the same
outputs.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace

import numpy as np
from numpy.typing import ArrayLike

from mha.core.attention import masked_scores, scaled_scores
from mha.core.checks import (
    Array,
    as_count,
    as_finite_array,
    as_number,
    finite_product,
    finite_sum,
    frozen_copy,
    in_one_dtype,
)
from mha.core.heads import merge_heads
from mha.core.norm import rms_norm
from mha.core.option_checks import as_bool, check_type
from mha.core.positions import rotate_by
from mha.core.softmax import as_scores, softmax

EPS = 1e-6
"""Added to the mean square by the RMS norms of latent vectors."""


@dataclass(frozen=True, eq=False)
class LatentWeights:
    """The matrices of latent attention, named as in the paper: d for down, u for up, r for rotary.

    Parameters
    ----------
    w_dkv : array_like, shape (d_model, d_c)
        Down-projection to the latent vector, which is cached.
    w_uk : array_like, shape (num_heads, d_c, d_k)
    w_uv : array_like, shape (num_heads, d_c, d_v)
    w_kr : array_like, shape (d_model, d_r)
        Projection to the rotary part of the key, which all heads share; it is cached too.
    w_uq : array_like, shape (num_heads, d_q, d_k)
    w_qr : array_like, shape (num_heads, d_q, d_r)
    w_o : array_like, shape (num_heads * d_v, d_out)
    w_dq : array_like, shape (d_model, d_q), optional
        Down-projection to the queries' own latent vector; without it d_q is d_model.
    gain, query_gain : array_like, shape (d_c,) and (d_q,), optional
        Gains of RMS norms of the latent vectors.

    Raises
    ------
    TypeError, ValueError
        If an array does not hold finite real numbers or does not fit the others.

    References
    ----------
    DeepSeek-AI (2024), section 2.1.2 and 2.1.3.
    """

    w_dkv: Array
    w_uk: Array
    w_uv: Array
    w_kr: Array
    w_uq: Array
    w_qr: Array
    w_o: Array
    w_dq: Array | None = None
    gain: Array | None = None
    query_gain: Array | None = None

    def __post_init__(self) -> None:
        given = {f.name: getattr(self, f.name) for f in fields(self)}
        given = {name: value for name, value in given.items() if value is not None}
        ranks = {"w_uk": 3, "w_uv": 3, "w_uq": 3, "w_qr": 3, "gain": 1, "query_gain": 1}
        found = [as_finite_array(n, v, min_ndim=ranks.get(n, 2)) for n, v in given.items()]
        for name, array in zip(given, in_one_dtype(*found), strict=True):
            object.__setattr__(self, name, frozen_copy(array))
        if self.w_uk.ndim != 3:
            wanted = "(num_heads, d_c, d_k) is wanted"
            raise ValueError(f"w_uk has shape {self.w_uk.shape}; {wanted}")
        heads, d_c, d_k = self.w_uk.shape
        d_q = self.w_uq.shape[1]
        d_r, d_v = self.w_kr.shape[-1], self.w_uv.shape[-1]
        shapes = {
            "w_dkv": (self.d_model, d_c),
            "w_uv": (heads, d_c, d_v),
            "w_kr": (self.d_model, d_r),
            "w_uq": (heads, d_q, d_k),
            "w_qr": (heads, d_q, d_r),
            "w_o": (heads * d_v, self.w_o.shape[-1]),
            "w_dq": (self.d_model, d_q if self.w_dq is not None else self.d_model),
            "gain": (d_c,),
            "query_gain": (d_q,),
        }
        for name, shape in shapes.items():
            array = getattr(self, name)
            if array is not None and array.shape != shape:
                raise ValueError(f"{name} has shape {array.shape}; {shape} is wanted")
        if self.w_dq is None and d_q != self.d_model:
            raise ValueError(f"w_uq takes {d_q} numbers; without w_dq {self.d_model} are wanted")

    @property
    def d_model(self) -> int:
        """Width of the input."""
        return int(self.w_dkv.shape[0])

    @property
    def kept(self) -> int:
        """Number of cached numbers per token."""
        return int(self.w_dkv.shape[1] + self.w_kr.shape[1])

    def cache_bytes(self, num_tokens: int, *, itemsize: int = 2) -> int:
        """Return the size in bytes of this layer's cache for one sequence.

        Parameters
        ----------
        num_tokens : int
        itemsize : int, default 2
            Bytes of one number: 2 for bfloat16.
        """
        return as_count("num_tokens", num_tokens) * self.kept * as_count("itemsize", itemsize)


@dataclass(frozen=True, eq=False)
class LatentRun:
    """All intermediates of latent attention over one sequence; the axis of heads comes first.

    Parameters
    ----------
    latent : ndarray, shape (n, d_c)
    turned_key : ndarray, shape (n, d_r)
        The rotated shared part of the keys; the cache holds it and `latent`.
    query, turned_query : ndarray, shape (num_heads, n, d_k) and (num_heads, n, d_r)
    met : ndarray, shape (num_heads, n, d_k) or (num_heads, n, d_c)
        The left factor of the scores: the queries, or in the absorbed form the queries times the
        transposed key projections.
    key, value : ndarray or None
        Projections of the latent vectors; None in the absorbed form.
    scores, weights : ndarray, shape (num_heads, n, n)
        The scores are scaled, and not masked.
    mixed : ndarray or None, shape (num_heads, n, d_c)
        The weighted sums of latent vectors in the absorbed form.
    head_outputs : ndarray, shape (num_heads, n, d_v)
    output : ndarray, shape (n, d_out)
    """

    latent: Array
    turned_key: Array
    query: Array
    turned_query: Array
    met: Array
    key: Array | None
    value: Array | None
    scores: Array
    weights: Array
    mixed: Array | None
    head_outputs: Array
    output: Array


def latent_attention(
    x: ArrayLike,
    weights: LatentWeights,
    *,
    angles: ArrayLike | None = None,
    is_causal: bool = True,
    absorbed: bool = False,
    scale: float | None = None,
) -> LatentRun:
    """Return a run of latent attention over one sequence.

    Parameters
    ----------
    x : array_like, shape (n, d_model)
    weights : LatentWeights
    angles : array_like, shape (n, d_r / 2), optional
        Rotation angles of the rotary parts, whose pairs are adjacent. Default: no rotation.
    is_causal : bool, default True
    absorbed : bool, default False
        Whether to compute the absorbed form, without keys and values.
    scale : float, default 1 / sqrt(d_k + d_r)
        Factor of the scores.

    Returns
    -------
    LatentRun
        Both forms have the same weights and outputs, up to rounding.

    Raises
    ------
    TypeError, ValueError
        If the arguments do not fit, or a product is too large for its dtype.

    References
    ----------
    DeepSeek-AI (2024), equations 9 to 19; appendix C for the whole.

    Examples
    --------
    >>> import numpy as np
    >>> one = np.ones((1, 2, 2))
    >>> layer = LatentWeights(np.eye(2), one, one, np.eye(2), one, one, np.eye(2))
    >>> run = latent_attention(np.eye(2), layer)
    >>> run.weights[0].round(4), layer.kept
    (array([[1. , 0. ],
           [0.5, 0.5]]), 4)
    """
    check_type("weights", weights, LatentWeights)
    (x, _) = in_one_dtype(as_finite_array("x", x, min_ndim=2), weights.w_dkv)
    w, absorbed = weights, as_bool("absorbed", absorbed)
    if x.ndim != 2 or x.shape[1] != w.d_model:
        raise ValueError(f"x has shape {x.shape}; rows of {w.d_model} numbers are wanted")
    query_latent = x
    if w.w_dq is not None:
        query_latent = _normed(finite_product("x and w_dq", x, w.w_dq), w.query_gain)
    latent = _normed(finite_product("x and w_dkv", x, w.w_dkv), w.gain)
    query = finite_product("the queries' latent vectors and w_uq", query_latent, w.w_uq)
    turned_query = finite_product("the queries' latent vectors and w_qr", query_latent, w.w_qr)
    turned_key = finite_product("x and w_kr", x, w.w_kr)
    if angles is not None:
        turned_query, turned_key = rotate_by(turned_query, angles), rotate_by(turned_key, angles)
        if turned_key.ndim != 2:
            raise ValueError(f"angles has shape {np.shape(angles)}; one row per token is wanted")
    key = value = mixed = None
    if absorbed:
        met = finite_product("query and w_uk", query, w.w_uk.swapaxes(-1, -2))
        raw = finite_product("query and latent", met, latent.T)
    else:
        met = query
        key = finite_product("latent and w_uk", latent, w.w_uk)
        value = finite_product("latent and w_uv", latent, w.w_uv)
        raw = finite_product("query and key", query, key.swapaxes(-1, -2))
    # A score is the sum of the products of the unrotated and of the rotated parts, as if each
    # head's two parts were concatenated.
    rotary_scores = finite_product("rotated query and rotated key", turned_query, turned_key.T)
    total = finite_sum("unrotated and rotated scores", raw, rotary_scores)
    scores = scaled_scores(total, query.shape[-1] + turned_query.shape[-1], scale)
    attention = softmax(masked_scores(scores, None, is_causal))
    if value is None:
        mixed = finite_product("weights and latent", attention, latent)
        outputs = finite_product("mixed and w_uv", mixed, w.w_uv)
    else:
        outputs = finite_product("weights and value", attention, value)
    output = finite_product("concat and w_o", merge_heads(outputs), w.w_o)
    return LatentRun(
        latent,
        turned_key,
        query,
        turned_query,
        met,
        key,
        value,
        scores,
        attention,
        mixed,
        outputs,
        output,
    )


def clip_qk(weights: LatentWeights, scores: ArrayLike, threshold: float = 100.0) -> LatentWeights:
    """Return matrices whose scores for the same tokens are at most a threshold: QK-clip.

    Each head has a factor: the threshold divided by its largest score, at most 1. The unrotated
    parts of its queries and keys are scaled by the root of the factor, and the rotated part of its
    queries by the factor, so its scores are multiplied by the factor. The rotated key is unchanged,
    because all heads share it.

    Parameters
    ----------
    weights : LatentWeights
    scores : array_like, shape (..., num_heads, num_queries, num_keys)
        Scaled scores that these matrices gave. Minus infinity where a query may not attend.
    threshold : float, default 100
        Above 0.

    Returns
    -------
    LatentWeights
        Rounding may leave the largest score slightly above the threshold.

    Raises
    ------
    TypeError, ValueError
        If an argument does not hold numbers, `scores` does not have one table per head, or
        `threshold` is not above 0.

    References
    ----------
    Kimi Team (2025a), section 2.1 and algorithm 1, which apply it after a step of the optimiser,
    with the largest scores of the batch.

    Examples
    --------
    >>> import numpy as np
    >>> one = np.ones((1, 2, 2))
    >>> layer = LatentWeights(np.eye(2), one, one, np.eye(2), one, one, np.eye(2))
    >>> x = np.eye(2)
    >>> scores = latent_attention(x, layer, is_causal=False).scores
    >>> clipped = clip_qk(layer, scores, 1)
    >>> scores.max(), latent_attention(x, clipped, is_causal=False).scores.max().round(9)
    (np.float64(1.5), np.float64(1.0))
    """
    check_type("weights", weights, LatentWeights)
    scores, w_uk = in_one_dtype(as_scores("scores", scores), weights.w_uk)
    heads = len(w_uk)
    if scores.ndim < 3 or scores.shape[-3] != heads:
        raise ValueError(
            f"scores has shape {scores.shape}; (..., {heads}, num_queries, num_keys) is wanted"
        )
    threshold = as_number("threshold", threshold, above=0)
    largest = scores.max(axis=(*range(scores.ndim - 3), -2, -1)).astype(float)
    factor = (threshold / np.maximum(largest, threshold)).astype(scores.dtype)[:, None, None]
    root = np.sqrt(factor)
    return replace(weights, w_uq=weights.w_uq * root, w_uk=w_uk * root, w_qr=weights.w_qr * factor)


def _normed(x: Array, gain: Array | None) -> Array:
    return x if gain is None else rms_norm(x, gain, EPS)
