"""The attention layer of a published model: its weights, and steps such as rotation and caps."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from mha.core.attention import attention_scores, masked_scores, repeat_heads, scaled_scores
from mha.core.checks import (
    Array,
    as_finite_array,
    as_number,
    as_scale,
    finite_product,
    frozen_copy,
)
from mha.core.heads import merge_heads, split_heads
from mha.core.masks import as_additive_mask, sliding_window_mask
from mha.core.multihead import MultiHeadWeights, as_layer_inputs, project_inputs, project_output
from mha.core.norm import rms_norm
from mha.core.option_checks import as_bool, as_string, check_type
from mha.core.positions import linear_biases, relative_buckets, rotary_angles, rotate_by
from mha.core.score_variants import capped_scores, softmax_with_sink
from mha.core.softmax import softmax


@dataclass(frozen=True, eq=False, repr=False)
class AttentionLayer:
    """An attention layer of a published model; calling it with tokens returns its output.

    Parameters
    ----------
    weights : MultiHeadWeights
        Rotated columns are in adjacent pairs, whatever the layout of the stored arrays.
    layout : str, default ""
        The layout of the arrays that it was read from: a name of `mha.layouts.LAYOUTS`.
    scale : float, optional
        Factor of the scores; None is 1 / sqrt(d_k). T5 has 1.
    query_norm, key_norm : array_like, optional
        Gains of RMS norms of queries and keys, before rotation. With shape (d_k,) each head has a
        mean square of its own (Qwen3). With shape (num_heads, d_k), or (num_groups, d_k) for keys,
        all heads of a token share one (OLMo 2).
    eps : float, default 1e-6
        Added to the mean square in these norms.
    base : float, optional
        Base of the rotary positions (`mha.rotary_angles`), if all components are rotated.
    speeds : array_like, shape (pairs,), optional
        Angle of each pair per position in radians, instead of `base`. With fewer pairs than d_k / 2
        the remaining components are not rotated (GPT-NeoX).
    relative_bias : array_like, shape (num_buckets, num_heads), optional
        The bias that is added to a scaled score, for each range of distances (T5).
    alibi : bool, default False
        Whether each head subtracts a multiple of the distance from a scaled score
        (`mha.linear_biases`; BLOOM).
    window : int, optional
        The largest distance of a key (`mha.sliding_window_mask`). A configuration that counts the
        token itself, such as Mistral's `sliding_window`, has one more.
    softcap : float, optional
        The soft cap of scaled scores (`mha.core.score_variants.capped_scores`; Gemma 2).
    sinks : array_like, shape (num_heads,), optional
        One more score in the softmax of each head, without a key
        (`mha.core.score_variants.softmax_with_sink`; gpt-oss).
    is_causal : bool, default False
        Whether later tokens are masked; a relative bias then has no ranges for later ones.
    prefix : str, default ""
        The beginning of the names of its arrays.
    assumed : tuple of str, default ()
        The assumed value of each property that no array, setting or argument states.

    Raises
    ------
    TypeError, ValueError
        If an argument has another type, or the widths do not fit.

    References
    ----------
    Su et al. (2024) for rotary positions; Raffel et al. (2020), section 2.1, for relative biases;
    Press, Smith and Lewis (2022) for ALiBi.

    Examples
    --------
    >>> one = np.eye(2)[None]
    >>> layer = AttentionLayer(MultiHeadWeights(one, one, one, b_v=[[3, 5]]), is_causal=True)
    >>> layer([[1.0, 0.0], [0.0, 1.0]]).round(4)
    array([[4.    , 5.    ],
           [3.3302, 5.6698]])
    """

    weights: MultiHeadWeights
    layout: str = ""
    scale: float | None = None
    query_norm: Array | None = None
    key_norm: Array | None = None
    eps: float = 1e-6
    base: float | None = None
    speeds: Array | None = None
    relative_bias: Array | None = None
    alibi: bool = False
    window: int | None = None
    softcap: float | None = None
    sinks: Array | None = None
    is_causal: bool = False
    prefix: str = ""
    assumed: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        check_type("weights", self.weights, MultiHeadWeights)
        for name in ("layout", "prefix"):
            as_string(name, getattr(self, name))
        as_scale(self.scale, self.weights.d_k)
        as_bool("is_causal", self.is_causal)
        as_bool("alibi", self.alibi)
        as_number("eps", self.eps, least=0)
        if self.softcap is not None:
            as_number("softcap", self.softcap, above=0)
        if self.window is not None:
            sliding_window_mask(1, 1, self.window)
        if self.base is not None:
            if self.speeds is not None:
                raise ValueError(f"base is {self.base} and speeds are given; one of them is wanted")
            rotary_angles(0, self.weights.d_k, base=self.base)
        self._freeze_arrays()

    def _freeze_arrays(self) -> None:
        """Make the arrays read-only, and raise a ValueError unless they fit the weights."""
        heads, groups, d_k = self.weights.num_heads, self.weights.num_groups, self.weights.d_k
        for name, ndim, width, wanted in (
            ("query_norm", 1, d_k, "one number per column of a head"),
            ("key_norm", 1, d_k, "one number per column of a head"),
            ("relative_bias", 2, heads, "one column per head"),
            ("sinks", 1, heads, "one number per head"),
        ):
            if getattr(self, name) is None:
                continue
            array = as_finite_array(name, getattr(self, name))
            joint = {"query_norm": (heads, d_k), "key_norm": (groups, d_k)}.get(name)
            if array.shape != joint and (array.ndim != ndim or array.shape[-1] != width):
                raise ValueError(f"{name} has shape {array.shape}; {wanted}, {width}, is wanted")
            object.__setattr__(self, name, frozen_copy(array))
        if self.speeds is not None:
            speeds = as_finite_array("speeds", self.speeds)
            if speeds.ndim != 1 or 2 * len(speeds) > d_k or d_k % 2:
                raise ValueError(
                    f"speeds has shape {speeds.shape}; one for each of at most {d_k} / 2 pairs is"
                    " wanted"
                )
            object.__setattr__(self, "speeds", frozen_copy(speeds))

    def __repr__(self) -> str:
        """Return the sizes, and the properties that differ from plain multi-head attention."""
        weights = self.weights
        sizes = {
            name: getattr(weights, name) for name in ("num_heads", "num_groups", "d_model", "d_k")
        }
        fields = [f"layout={self.layout!r}", f"prefix={self.prefix!r}"]
        fields += [f"{name}={size}" for name, size in sizes.items()]
        for name in ("scale", "base", "window", "softcap", "alibi", "is_causal"):
            value = getattr(self, name)
            fields += [] if value is None or value is False else [f"{name}={value}"]
        arrays = ("query_norm", "key_norm", "speeds", "relative_bias", "sinks")
        shapes = {name: np.shape(getattr(self, name)) for name in arrays if _has(self, name)}
        fields += [f"{name} of shape {shape}" for name, shape in shapes.items()]
        fields += [f"assumed={list(self.assumed)}"] if self.assumed else []
        return f"AttentionLayer({', '.join(fields)})"

    def __call__(
        self,
        x: ArrayLike,
        *,
        context: ArrayLike | None = None,
        mask: ArrayLike | None = None,
        is_causal: bool | None = None,
        angles: ArrayLike | None = None,
    ) -> Array:
        """Return the layer's output.

        Parameters
        ----------
        x : array_like, shape (..., n, d_model)
        context, mask
            As in `mha.multi_head_attention`.
        is_causal : bool, optional
            Default: the layer's own.
        angles : array_like, shape (n, d_k / 2), optional
            Rotation angles of queries and keys; default: those of the layer for positions 0 to
            n - 1.

        Returns
        -------
        ndarray, shape (..., n, d_out)

        Raises
        ------
        TypeError, ValueError
            As `mha.multi_head_attention`.
        """
        weights = self.weights
        x, name, source = as_layer_inputs(x, weights, context, mask)
        query, key, value = project_inputs(x, weights, source, name)
        query, key = self.normed(query, key)
        if angles is None:
            angles = self.angles(x.shape[-2])
        if angles is not None:
            if context is not None:
                raise ValueError("angles are those of the positions in x; no context is wanted")
            query, key = rotate_by(query, angles), rotate_by(key, angles)
        bias = self.position_bias(query.shape[-2], key.shape[-2])
        if bias is not None and mask is not None:
            leading = np.broadcast_shapes(query.shape[:-3], key.shape[:-3])
            shape = (*leading, weights.num_heads, *bias.shape[-2:])
            bias = bias + as_additive_mask(mask, False, shape, query.dtype)
        heads = self._attend(
            query,
            repeat_heads("key", key, query),
            repeat_heads("value", value, query),
            mask if bias is None else bias,
            self.is_causal if is_causal is None else is_causal,
        )
        return project_output(merge_heads(heads), weights)

    def _attend(
        self, query: Array, key: Array, value: Array, mask: ArrayLike | None, is_causal: bool
    ) -> Array:
        """Return the heads' outputs, with the cap and the sinks if the layer has any."""
        scores = scaled_scores(attention_scores(query, key), self.weights.d_k, self.scale)
        if self.softcap is not None:
            scores = capped_scores(scores, self.softcap)
        scores = masked_scores(scores, mask, is_causal)
        if self.sinks is None:
            weights = softmax(scores)
        else:
            sinks = self.sinks.astype(scores.dtype)[:, None, None]
            weights = softmax_with_sink(scores, sinks)
        return finite_product("weights and value", weights, value)

    def normed(self, query: Array, key: Array) -> tuple[Array, Array]:
        """Return queries and keys after their RMS norms, if the layer has any.

        Parameters
        ----------
        query, key : ndarray, shape (..., d_k)

        Returns
        -------
        query, key : ndarray, of the same shapes
        """
        return (
            _normed(query, self.query_norm, self.eps),
            _normed(key, self.key_norm, self.eps),
        )

    def angles(self, num_tokens: int) -> Array | None:
        """Return the rotation angles of the first tokens; None if the layer does not rotate.

        Parameters
        ----------
        num_tokens : int

        Returns
        -------
        ndarray, shape (num_tokens, d_k / 2), or None
            Pairs that are not rotated have angle 0.
        """
        positions, d_k = np.arange(num_tokens), self.weights.d_k
        if self.speeds is not None:
            angles = np.zeros((num_tokens, d_k // 2))
            angles[:, : len(self.speeds)] = positions[:, None] * self.speeds
            return angles
        return None if self.base is None else rotary_angles(positions, d_k, base=self.base)

    def position_bias(self, num_queries: int, num_keys: int) -> Array | None:
        """Return the sum of all biases that depend on positions; None if the layer has none.

        Parameters
        ----------
        num_queries, num_keys : int

        Returns
        -------
        ndarray, shape (num_heads, num_queries, num_keys), or None
            An additive mask, minus infinity outside the window.
        """
        shape = (self.weights.num_heads, num_queries, num_keys)
        if self.relative_bias is None and self.window is None and not self.alibi:
            return None
        bias = np.zeros(shape) if self.relative_bias is None else self._relative_bias(*shape[1:])
        if self.alibi:
            bias = bias + linear_biases(*shape, is_causal=False)
        if self.window is not None:
            allowed = sliding_window_mask(num_queries, num_keys, self.window)
            bias = np.where(allowed, bias, -np.inf)
        return bias

    def _relative_bias(self, num_queries: int, num_keys: int) -> Array:
        """Return the learned bias of each score."""
        assert self.relative_bias is not None
        buckets = relative_buckets(
            num_queries, num_keys, len(self.relative_bias), is_causal=self.is_causal
        )
        return np.moveaxis(self.relative_bias[buckets], -1, 0)


def _has(layer: AttentionLayer, name: str) -> bool:
    return getattr(layer, name) is not None


def _normed(x: Array, gain: Array | None, eps: float) -> Array:
    """Return the RMS norm of each head, or of all heads together; without a gain, `x` itself."""
    if gain is None:
        return x
    if gain.ndim == 1:
        return rms_norm(x, gain, eps)
    flat = merge_heads(x)
    return split_heads(rms_norm(flat, gain.ravel(), eps), len(gain))
