"""Scaled dot-product attention: scores, weights and output, one function for each stage.

The scores are dot products of queries and keys, the weights are the softmax of the scores, and the
output is the sum of the values, weighted by the weights.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from mha.core.checks import (
    Array,
    as_array,
    as_finite_array,
    as_scale,
    check_broadcast,
    finite_product,
    in_one_dtype,
    refuse_where,
)
from mha.core.masks import Align, as_additive_mask
from mha.core.option_checks import as_bool
from mha.core.softmax import softmax


def attention_scores(query: ArrayLike, key: ArrayLike) -> Array:
    """Return the unscaled dot product of every query with every key.

    Parameters
    ----------
    query : array_like, shape (..., num_queries, d_k)
    key : array_like, shape (..., num_keys, d_k)
        Leading axes broadcast.

    Returns
    -------
    ndarray, shape (..., num_queries, num_keys)
        float32 if both arguments are, else float64 (see `mha.core.checks`).

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
    _check_widths(query, key)
    check_broadcast("query", query, "key", key)
    return finite_product("query and key", query, key.swapaxes(-1, -2))


def _check_widths(query: Array, key: Array) -> None:
    """Raise a ValueError unless queries and keys have the same width."""
    if query.shape[-1] != key.shape[-1]:
        raise ValueError(
            f"query has d_k={query.shape[-1]} but key has d_k={key.shape[-1]}; they must match"
        )


def attention_weights(
    query: ArrayLike,
    key: ArrayLike,
    *,
    mask: ArrayLike | None = None,
    is_causal: bool = False,
    align: Align = "top-left",
    scale: float | None = None,
    enable_gqa: bool = False,
) -> Array:
    """Return the attention weights: the softmax of the scaled and masked scores.

    Parameters
    ----------
    query : array_like, shape (..., num_queries, d_k)
    key : array_like, shape (..., num_keys, d_k)
    mask : array_like of bool or float, broadcastable to (..., num_queries, num_keys), optional
        True where a query may attend; a float mask is added to the scaled scores.
    is_causal : bool, default False
        Mask the keys after the query's own position. With a `mask`, both masks must allow a key.
    align : {"top-left", "bottom-right"}, default "top-left"
        Which position the first query has, for `is_causal`; see `mha.core.masks.causal_mask`.
    scale : float, default 1 / sqrt(d_k)
        Factor of the scores.
    enable_gqa : bool, default False
        Grouped-query attention: consecutive query heads share a key head.

    Returns
    -------
    ndarray, shape (..., num_queries, num_keys)
        Each row sums to 1; a fully masked row is all 0.

    Raises
    ------
    TypeError, ValueError
        As `attention_scores`; also if the mask or the scale is invalid.

    References
    ----------
    Vaswani et al. (2017), equation 1; Ainslie et al. (2023) for grouped queries.

    Examples
    --------
    >>> attention_weights(np.eye(2), np.eye(2), scale=1.0).round(4)
    array([[0.7311, 0.2689],
           [0.2689, 0.7311]])
    """
    if as_bool("enable_gqa", enable_gqa):
        key = repeat_heads("key", key, query)
    scores = attention_scores(query, key)  # refuses a query or key without two axes
    scaled = scaled_scores(scores, np.shape(key)[-1], scale)
    return softmax(masked_scores(scaled, mask, is_causal, align))


def scaled_dot_product_attention(
    query: ArrayLike,
    key: ArrayLike,
    value: ArrayLike,
    *,
    mask: ArrayLike | None = None,
    is_causal: bool = False,
    align: Align = "top-left",
    scale: float | None = None,
    enable_gqa: bool = False,
) -> Array:
    """Return scaled dot-product attention: the values, summed with the attention weights.

    The same as ``torch.nn.functional.scaled_dot_product_attention`` without dropout. A fully masked
    query has zero weights and a zero output.

    Parameters
    ----------
    query : array_like, shape (..., num_queries, d_k)
    key : array_like, shape (..., num_keys, d_k)
    value : array_like, shape (..., num_keys, d_v)
    mask, is_causal, align, scale, enable_gqa
        As in `attention_weights`; with `enable_gqa`, query heads share key and value heads (axis
        -3).

    Returns
    -------
    ndarray, shape (..., num_queries, d_v)
        The dtype follows the rule in `mha.core.checks`.

    Raises
    ------
    TypeError, ValueError
        As `attention_weights`; also if key and value have different numbers of rows or, with
        `enable_gqa`, of heads, or an output is too large for its dtype.

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
    query, key, value = as_inputs(query, key, value, enable_gqa)
    weights = attention_weights(
        query, key, mask=mask, is_causal=is_causal, align=align, scale=scale, enable_gqa=enable_gqa
    )
    if enable_gqa:
        value = repeat_heads("value", value, query)
    check_broadcast("query and key", weights, "value", value)
    return finite_product("weights and value", weights, value)


def scaled_scores(scores: Array, d_k: int, scale: float | None = None) -> Array:
    """Return the scores times `scale`, by default 1 / sqrt(d_k).

    No mask is added. The field `scaled_scores` of `mha.runs.record.Trace` is a later stage: these
    numbers after the cap, if there is one, and plus the mask (`masked_scores`).

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


def masked_scores(
    scores: Array, mask: ArrayLike | None, is_causal: bool, align: Align = "top-left"
) -> Array:
    """Return the scores plus the mask: minus infinity where a query may not attend.

    Parameters
    ----------
    scores : ndarray, shape (..., num_queries, num_keys)
    mask : array_like of bool or float, broadcastable to the scores, optional
    is_causal, align
        As in `attention_weights`.

    Returns
    -------
    ndarray, shape and dtype of `scores`

    Raises
    ------
    TypeError, ValueError
        If the mask or `align` does not fit, or the mask makes a finite score overflow.

    Examples
    --------
    >>> masked_scores(np.array([[2.0, 0.0]]), [[True, False]], False)
    array([[  2., -inf]])
    """
    additive = as_additive_mask(mask, is_causal, scores.shape, scores.dtype, align)
    if additive is None:
        return scores
    with np.errstate(over="ignore"):
        masked = scores + additive
    additive = np.broadcast_to(additive, masked.shape)
    overflows = np.isinf(masked) & np.isfinite(additive)
    refuse_where("mask", additive, overflows, "one that leaves the scores finite is wanted")
    return masked


def repeat_heads(name: str, x: ArrayLike, query: ArrayLike) -> Array:
    """Repeat each key or value head for the query heads that share it.

    Parameters
    ----------
    name : str
        "key" or "value", for error messages.
    x : array_like, shape (..., num_groups, num_keys, d)
    query : array_like, shape (..., num_heads, num_queries, d_k)

    Returns
    -------
    ndarray, shape (..., num_heads, num_keys, d)
        Query heads i * g to (i + 1) * g - 1 use group i, where g = num_heads / num_groups.

    Raises
    ------
    ValueError
        If an argument has no axis of heads, or num_groups does not divide num_heads.

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
    check_groups(name, x, query)
    return np.repeat(x, query.shape[-3] // x.shape[-3], axis=-3)


def as_inputs(
    query: ArrayLike,
    key: ArrayLike,
    value: ArrayLike,
    enable_gqa: bool = False,
    *,
    finite: bool = True,
) -> tuple[Array, ...]:
    """Return query, key and value as arrays of one dtype, and of finite numbers unless told not to.

    Parameters
    ----------
    query, key, value, enable_gqa
        As in `scaled_dot_product_attention`.
    finite : bool, default True
        Whether NaN and infinities raise an error. `mha.core.blockwise` passes False: it finds them
        in the norms of the arrays, which it needs anyway, and so saves a pass over the arrays.

    Returns
    -------
    query, key, value : ndarray

    Raises
    ------
    TypeError, ValueError
        If an argument has no axis of tokens (or, with `enable_gqa`, of heads) or, with `finite`,
        holds NaN or an infinity; if key and value have different numbers of rows (or of heads).

    Examples
    --------
    >>> as_inputs(np.ones((4, 5, 3)), np.ones((2, 7, 3)), np.ones((1, 7, 3)), enable_gqa=True)
    Traceback (most recent call last):
        ...
    ValueError: key has 2 heads but value has 1 heads; they must match
    """
    enable_gqa = as_bool("enable_gqa", enable_gqa)
    named = (("query", query), ("key", key), ("value", value))
    convert = as_finite_array if finite else as_array
    arrays = (convert(name, x, min_ndim=3 if enable_gqa else 2) for name, x in named)
    query, key, value = in_one_dtype(*arrays)
    for unit, axis in (("rows", -2), ("heads", -3))[: 1 + enable_gqa]:
        if key.shape[axis] != value.shape[axis]:
            raise ValueError(
                f"key has {key.shape[axis]} {unit} but value has {value.shape[axis]} {unit};"
                " they must match"
            )
    return query, key, value


def as_unbroadcast_inputs(
    query: ArrayLike,
    key: ArrayLike,
    value: ArrayLike,
    enable_gqa: bool = False,
    *,
    finite: bool = True,
) -> tuple[Array, ...]:
    """Return query, key and value as `as_inputs` does, and require equal leading axes.

    Raises
    ------
    TypeError, ValueError
        As `as_inputs`; also if the axes before the last two differ: they are not broadcast. With
        `enable_gqa`, key and value may have fewer heads, a divisor of the query's number.

    Examples
    --------
    >>> as_unbroadcast_inputs(np.ones((2, 5, 3)), np.ones((7, 3)), np.ones((7, 3)))
    Traceback (most recent call last):
        ...
    ValueError: leading axes are (2,) in query but () in key; they must match
    """
    query, key, value = as_inputs(query, key, value, enable_gqa, finite=finite)
    for name, x in (("key", key), ("value", value)):
        if enable_gqa:
            check_groups(name, x, query)
        last = -3 if enable_gqa else -2  # the numbers of heads may differ, and are checked above
        if x.shape[:last] != query.shape[:last]:
            before = " before the heads" if enable_gqa else ""
            raise ValueError(
                f"leading axes{before} are {query.shape[:last]} in query but {x.shape[:last]} in"
                f" {name}; they must match"
            )
    _check_widths(query, key)
    return query, key, value


def check_groups(name: str, x: Array, query: Array) -> None:
    """Raise a ValueError unless the number of heads of `x` (axis -3) divides the query's.

    Examples
    --------
    >>> check_groups("key", np.ones((4, 7, 3)), np.ones((6, 5, 3)))
    Traceback (most recent call last):
        ...
    ValueError: key has 4 heads; a divisor of query's 6 heads is wanted
    """
    num_heads, num_groups = query.shape[-3], x.shape[-3]
    if num_heads % num_groups:
        raise ValueError(
            f"{name} has {num_groups} heads; a divisor of query's {num_heads} heads is wanted"
        )


def fold_heads(x: Array, key: Array) -> Array:
    """Concatenate the rows of the query heads that share a key head.

    One matrix product with `key` or `value` then covers all heads of a group, without a repeated
    copy of the key. Without groups the shape does not change.

    Parameters
    ----------
    x : ndarray, shape (..., num_heads, num_queries, d)
    key : ndarray, shape (..., num_groups, num_keys, d_k)

    Returns
    -------
    ndarray, shape (..., num_groups, num_heads / num_groups * num_queries, d)

    Examples
    --------
    >>> fold_heads(np.ones((4, 5, 3)), np.ones((2, 7, 3))).shape
    (2, 10, 3)
    """
    return x.reshape(*key.shape[:-2], -1, x.shape[-1])
