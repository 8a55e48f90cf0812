"""Decoding one token at a time, with a cache of the keys and values of earlier tokens."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import ArrayLike

from mha.core.attention import scaled_dot_product_attention
from mha.core.checks import (
    Array,
    as_finite_array,
    frozen_copy,
    in_one_dtype,
)
from mha.core.heads import merge_heads
from mha.core.masks import check_mask_axes
from mha.core.multihead import (
    MultiHeadWeights,
    in_widest_dtype,
    project,
    project_inputs,
    project_output,
)
from mha.core.option_checks import check_type
from mha.core.positions import rotate_by


@dataclass(frozen=True, eq=False)
class KeyValueCache:
    """The cached keys and values of earlier tokens, read-only; `extended` returns a longer cache.

    Parameters
    ----------
    key : array_like, shape (..., num_groups, n, d_k)
    value : array_like, shape (..., num_groups, n, d_v)

    Raises
    ------
    TypeError, ValueError
        If the arrays do not hold finite real numbers, or their shapes differ in more than the
        width.

    Examples
    --------
    >>> cache = KeyValueCache([[[1.0, 2.0]]], [[[3.0]]])
    >>> longer = cache.extended([[[5.0, 6.0]]], [[[7.0]]])
    >>> len(cache), len(longer), longer.value[0, :, 0]
    (1, 2, array([3., 7.]))
    """

    key: Array
    value: Array

    def __post_init__(self) -> None:
        key = as_finite_array("key", self.key, min_ndim=3)
        value = as_finite_array("value", self.value, min_ndim=3)
        if key.shape[:-2] != value.shape[:-2]:
            raise ValueError(
                f"leading axes are {key.shape[:-2]} in key but {value.shape[:-2]} in value;"
                " they must match"
            )
        if key.shape[-2] != value.shape[-2]:
            raise ValueError(
                f"key has {key.shape[-2]} tokens but value has {value.shape[-2]}; they must match"
            )
        for name, array in zip(("key", "value"), in_one_dtype(key, value), strict=True):
            object.__setattr__(self, name, frozen_copy(array))

    @classmethod
    def of(cls, context: ArrayLike, weights: MultiHeadWeights) -> Self:
        """Return the cache of a whole context, for cross-attention.

        Parameters
        ----------
        context : array_like, shape (..., n, d_context)
        weights : MultiHeadWeights

        Returns
        -------
        KeyValueCache

        Raises
        ------
        TypeError, ValueError
            If the arguments do not fit; the message names the argument and its fault.

        Examples
        --------
        >>> one = np.eye(2)[None]
        >>> len(KeyValueCache.of(np.ones((5, 2)), MultiHeadWeights(one, one, one)))
        5
        """
        check_type("weights", weights, MultiHeadWeights)
        (context,) = in_widest_dtype(weights, as_finite_array("context", context, min_ndim=2))
        return cls(
            project("context", context, weights.w_k, weights.b_k),
            project("context", context, weights.w_v, weights.b_v),
        )

    def __len__(self) -> int:
        """Return the number of cached tokens."""
        return int(self.key.shape[-2])

    @property
    def size(self) -> int:
        """Number of cached numbers."""
        return int(self.key.size + self.value.size)

    def extended(self, key: ArrayLike, value: ArrayLike) -> Self:
        """Return a cache with further tokens after the cached ones; this one does not change.

        Parameters
        ----------
        key : array_like, shape (..., num_groups, m, d_k)
        value : array_like, shape (..., num_groups, m, d_v)

        Returns
        -------
        KeyValueCache

        Raises
        ------
        TypeError, ValueError
            As for the cache itself; also if the new arrays differ from the cached ones in more than
            the number of tokens.
        """
        new = KeyValueCache(as_finite_array("key", key), as_finite_array("value", value))
        for name in ("key", "value"):
            cached, added = getattr(self, name), getattr(new, name)
            if (*cached.shape[:-2], cached.shape[-1]) != (*added.shape[:-2], added.shape[-1]):
                raise ValueError(
                    f"{name} has shape {added.shape}, which cannot be appended to {cached.shape};"
                    " only the number of tokens may differ"
                )
        return type(self)(
            np.concatenate([self.key, new.key], axis=-2),
            np.concatenate([self.value, new.value], axis=-2),
        )


def decode_step(
    x: ArrayLike,
    weights: MultiHeadWeights,
    cache: KeyValueCache | None = None,
    *,
    mask: ArrayLike | None = None,
    angles: ArrayLike | None = None,
) -> tuple[Array, KeyValueCache]:
    """Return the causal attention output of new tokens, and the extended cache.

    Parameters
    ----------
    x : array_like, shape (..., m, d_model)
        The new tokens, usually one. Each attends to the cached tokens, to the new tokens before it,
        and to itself.
    weights : MultiHeadWeights
    cache : KeyValueCache, optional
        The cache that the previous step returned; None in the first step.
    mask : array_like of bool or float, broadcastable to (..., num_heads, m, n), optional
        As in `multi_head_attention`, for all n keys, cached and new.
    angles : array_like, shape (m, d_k / 2), optional
        Rotation angles of the queries and keys of the new tokens; the cache holds rotated keys.

    Returns
    -------
    output : ndarray, shape (..., m, d_out)
        The last m rows of a causal pass over all tokens so far, up to rounding.
    cache : KeyValueCache

    Raises
    ------
    TypeError, ValueError
        If the arguments do not fit; the message names the argument and its fault.

    References
    ----------
    Shazeer (2019), section 2.4.

    Examples
    --------
    >>> one = np.eye(2)[None]
    >>> layer = MultiHeadWeights(one, one, one)
    >>> first, cache = decode_step([[1.0, 0.0]], layer)
    >>> second, cache = decode_step([[0.0, 1.0]], layer, cache)
    >>> second.round(4), len(cache)
    (array([[0.3302, 0.6698]]), 2)
    """
    check_type("weights", weights, MultiHeadWeights)
    if cache is not None:
        check_type("cache", cache, KeyValueCache)
    (x,) = in_widest_dtype(weights, as_finite_array("x", x, min_ndim=2))
    query, key, value = project_inputs(x, weights)
    if angles is not None:
        query, key = rotate_by(query, angles), rotate_by(key, angles)
    cache = KeyValueCache(key, value) if cache is None else cache.extended(key, value)
    return _attend_to_cache(query, weights, cache, mask, is_causal=True), cache


def ask_cache(
    x: ArrayLike,
    weights: MultiHeadWeights,
    cache: KeyValueCache,
    *,
    mask: ArrayLike | None = None,
) -> Array:
    """Return the output of cross-attention to a cached context.

    Parameters
    ----------
    x : array_like, shape (..., m, d_model)
        The tokens with the queries; each attends to all cached tokens.
    weights : MultiHeadWeights
    cache : KeyValueCache
        The cache of the context, from `KeyValueCache.of`.
    mask : array_like of bool or float, broadcastable to (..., num_heads, m, n), optional
        As in `multi_head_attention`.

    Returns
    -------
    ndarray, shape (..., m, d_out)

    Raises
    ------
    TypeError, ValueError
        If the arguments do not fit; the message names the argument and its fault.

    References
    ----------
    Vaswani et al. (2017), section 3.2.3; Shazeer (2019), section 2.4.

    Examples
    --------
    >>> one = np.eye(2)[None]
    >>> layer = MultiHeadWeights(one, one, one)
    >>> ask_cache([[1.0, 0.0]], layer, KeyValueCache.of(np.eye(2), layer)).round(4)
    array([[0.6698, 0.3302]])
    """
    check_type("weights", weights, MultiHeadWeights)
    check_type("cache", cache, KeyValueCache)
    (x,) = in_widest_dtype(weights, as_finite_array("x", x, min_ndim=2))
    return _attend_to_cache(project("x", x, weights.w_q, weights.b_q), weights, cache, mask)


def _attend_to_cache(
    query: Array,
    weights: MultiHeadWeights,
    cache: KeyValueCache,
    mask: ArrayLike | None,
    *,
    is_causal: bool = False,
) -> Array:
    """Return a layer's output for queries and all cached keys.

    The queries are those of the newest cached tokens, or in cross-attention of another sequence.
    """
    if mask is not None:
        check_mask_axes(mask, (*query.shape[:-1], len(cache)))
    heads = scaled_dot_product_attention(
        query,
        cache.key,
        cache.value,
        mask=mask,
        is_causal=is_causal,
        align="bottom-right",  # the newest tokens are the last ones of the cache
        enable_gqa=weights.num_groups < weights.num_heads,
    )
    return project_output(merge_heads(heads), weights)
