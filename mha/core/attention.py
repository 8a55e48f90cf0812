"""Scaled dot-product attention, one function a step.

Queries and keys give scores, scores give weights, weights mix the values.
"""

import numpy as np
from numpy.typing import ArrayLike

from mha.core.checks import (
    Array,
    as_finite_array,
    as_scale,
    check_broadcast,
    finite_product,
    refuse_where,
)
from mha.core.masks import as_additive_mask
from mha.core.softmax import softmax


def attention_scores(query: ArrayLike, key: ArrayLike) -> Array:
    """Return the dot product of every query with every key, unscaled.

    Parameters
    ----------
    query : array_like, shape (..., num_queries, d_k)
    key : array_like, shape (..., num_keys, d_k)
        Leading axes broadcast.

    Returns
    -------
    ndarray, shape (..., num_queries, num_keys)
        float32 if both arguments are, else float64.

    Raises
    ------
    TypeError
        If an argument does not hold real numbers.
    ValueError
        If the widths differ, the leading axes do not broadcast, an argument holds NaN or an
        infinity, an axis is empty, or a dot product is too large for its dtype.

    References
    ----------
    Vaswani et al. (2017), equation 1.

    Examples
    --------
    >>> attention_scores([[1, 0, 1, 0]], [[1, 0, 1, 0], [0, 1, 0, 1]])
    array([[2., 0.]])
    """
    query = as_finite_array("query", query, min_ndim=2)
    key = as_finite_array("key", key, min_ndim=2)
    if query.shape[-1] != key.shape[-1]:
        raise ValueError(
            f"query has d_k={query.shape[-1]} but key has d_k={key.shape[-1]}; they must match"
        )
    check_broadcast("query", query, "key", key)
    return finite_product("query and key", query, key.swapaxes(-1, -2))


def attention_weights(
    query: ArrayLike,
    key: ArrayLike,
    *,
    mask: ArrayLike | None = None,
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> Array:
    """Return how strongly each query attends to each key.

    Parameters
    ----------
    query : array_like, shape (..., num_queries, d_k)
    key : array_like, shape (..., num_keys, d_k)
    mask : array_like of bool or float, broadcastable to (..., num_queries, num_keys), optional
        True where a query may attend; a float mask is added to the scaled scores.
    is_causal : bool, default False
        Forbid keys after the query's own place, aligned at the top left. With a `mask`, both
        must allow.
    scale : float, default 1 / sqrt(d_k)
        What the scores are multiplied with.
    enable_gqa : bool, default False
        Grouped queries: each key head serves the same number of neighbouring query heads.

    Returns
    -------
    ndarray, shape (..., num_queries, num_keys)
        Each row sums to 1, or to 0 where the mask leaves no key.

    Raises
    ------
    TypeError, ValueError
        As `attention_scores`, and for a mask or scale that does not fit, naming the argument,
        what is wanted and what came.

    References
    ----------
    Vaswani et al. (2017), equation 1; Ainslie et al. (2023) for grouped queries.

    Examples
    --------
    >>> attention_weights(np.eye(2), np.eye(2), scale=1.0).round(4)
    array([[0.7311, 0.2689],
           [0.2689, 0.7311]])
    """
    if enable_gqa:
        key = repeat_heads("key", key, query)
    scaled = scaled_scores(attention_scores(query, key), np.shape(key)[-1], scale)
    return softmax(masked_scores(scaled, mask, is_causal))


def scaled_dot_product_attention(
    query: ArrayLike,
    key: ArrayLike,
    value: ArrayLike,
    *,
    mask: ArrayLike | None = None,
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> Array:
    """Mix the values by how strongly each query attends to each key.

    As ``torch.nn.functional.scaled_dot_product_attention`` without dropout. A query that may
    attend to no key gets zero weights and a zero output.

    Parameters
    ----------
    query : array_like, shape (..., num_queries, d_k)
    key : array_like, shape (..., num_keys, d_k)
    value : array_like, shape (..., num_keys, d_v)
    mask : array_like of bool or float, broadcastable to (..., num_queries, num_keys), optional
        True where a query may attend; a float mask is added to the scaled scores.
    is_causal : bool, default False
        Forbid keys after the query's own place, aligned at the top left.
    scale : float, default 1 / sqrt(d_k)
    enable_gqa : bool, default False
        Repeat key and value heads (axis -3) to match the number of query heads.

    Returns
    -------
    ndarray, shape (..., num_queries, d_v)
        float32 if all three arrays are, else float64.

    Raises
    ------
    TypeError, ValueError
        As `attention_weights`; also if key and value have different numbers of rows, or an
        output is too large for its dtype.

    References
    ----------
    Vaswani et al. (2017), equation 1.

    Examples
    --------
    >>> query = key = [[1, 0, 1, 0], [0, 1, 0, 1]]
    >>> scaled_dot_product_attention(query, key, [[2, 3], [5, 7]]).round(4)
    array([[2.8068, 4.0758],
           [4.1932, 5.9242]])
    """
    key = as_finite_array("key", key, min_ndim=2)
    value = as_finite_array("value", value, min_ndim=2)
    if key.shape[-2] != value.shape[-2]:
        raise ValueError(
            f"key has {key.shape[-2]} rows but value has {value.shape[-2]} rows; they must match"
        )
    weights = attention_weights(
        query, key, mask=mask, is_causal=is_causal, scale=scale, enable_gqa=enable_gqa
    )
    if enable_gqa:
        value = repeat_heads("value", value, query)
    check_broadcast("query and key", weights, "value", value)
    return finite_product("weights and value", weights, value)


def scaled_scores(scores: Array, d_k: int, scale: float | None = None) -> Array:
    """Return `scores` times `scale`, which is 1 / sqrt(d_k) unless given.

    Parameters
    ----------
    scores : ndarray, shape (..., num_queries, num_keys)
    d_k : int
        Width of one head's queries and keys.
    scale : float, optional

    Returns
    -------
    ndarray, shape and dtype of `scores`

    Raises
    ------
    TypeError, ValueError
        If `scale` is not a finite number, or makes a score overflow.

    Examples
    --------
    >>> scaled_scores(np.array([[2.0, 0.0]]), d_k=4)
    array([[1., 0.]])
    """
    factor = as_scale(scale, d_k)
    with np.errstate(over="ignore", invalid="ignore"):
        scaled = scores * scores.dtype.type(factor)
    if not np.isfinite(scaled).all():
        raise ValueError(f"scale is {scale}; one that leaves the scores finite is wanted")
    return scaled


def masked_scores(scores: Array, mask: ArrayLike | None, is_causal: bool) -> Array:
    """Return `scores` with minus infinity where a query may not attend.

    Parameters
    ----------
    scores : ndarray, shape (..., num_queries, num_keys)
    mask : array_like of bool or float, broadcastable to the scores, optional
    is_causal : bool

    Returns
    -------
    ndarray, shape and dtype of `scores`

    Raises
    ------
    TypeError, ValueError
        If the mask does not fit, or makes a finite score overflow.

    Examples
    --------
    >>> masked_scores(np.array([[2.0, 0.0]]), [[True, False]], False)
    array([[  2., -inf]])
    """
    additive = as_additive_mask(mask, is_causal, scores.shape, scores.dtype)
    if additive is None:
        return scores
    with np.errstate(over="ignore"):
        masked = scores + additive
    additive = np.broadcast_to(additive, masked.shape)
    overflows = np.isinf(masked) & np.isfinite(additive)
    refuse_where("mask", additive, overflows, "one that leaves the scores finite is wanted")
    return masked


def repeat_heads(name: str, x: ArrayLike, query: ArrayLike) -> Array:
    """Repeat the heads of a key or value until they are as many as the query's.

    Parameters
    ----------
    name : str
        "key" or "value", for the error.
    x : array_like, shape (..., num_groups, num_keys, d)
    query : array_like, shape (..., num_heads, num_queries, d_k)

    Returns
    -------
    ndarray, shape (..., num_heads, num_keys, d)
        Group i serves query heads i * g to (i + 1) * g, where g = num_heads / num_groups.

    Raises
    ------
    ValueError
        If either has no axis of heads, or the number of groups does not divide that of heads.

    References
    ----------
    Ainslie et al. (2023), section 2.2.

    Examples
    --------
    >>> repeat_heads("key", np.ones((2, 5, 3)), np.ones((4, 7, 3))).shape
    (4, 5, 3)
    """
    query = as_finite_array("query", query, min_ndim=3)
    x = as_finite_array(name, x, min_ndim=3)
    num_heads, num_groups = query.shape[-3], x.shape[-3]
    if num_heads % num_groups:
        raise ValueError(
            f"{name} has {num_groups} heads; a divisor of query's {num_heads} heads is wanted"
        )
    return np.repeat(x, num_heads // num_groups, axis=-3)


def check_leading_axes(query: Array, key: Array, value: Array) -> None:
    """Raise a ValueError unless all axes but the last two are the same in all three.

    Examples
    --------
    >>> check_leading_axes(np.ones((2, 5, 3)), np.ones((7, 3)), np.ones((7, 3)))
    Traceback (most recent call last):
        ...
    ValueError: leading axes are (2,) in query but () in key; they must match
    """
    for name, x in (("key", key), ("value", value)):
        if x.shape[:-2] != query.shape[:-2]:
            raise ValueError(
                f"leading axes are {query.shape[:-2]} in query but {x.shape[:-2]} in {name};"
                " they must match"
            )
