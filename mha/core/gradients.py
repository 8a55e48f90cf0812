"""The backward pass: how a loss changes with every input of attention."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from mha.core.attention import (
    attention_weights,
    check_leading_axes,
    scaled_dot_product_attention,
)
from mha.core.checks import Array, as_finite_array, as_scale, finite_product
from mha.core.heads import merge_heads, split_heads
from mha.core.multihead import MultiHeadWeights, multi_head_attention, project
from mha.core.softmax import softmax_backward


@dataclass(frozen=True, eq=False)
class AttentionGradients:
    """A loss's gradient by the three inputs of attention, each of its input's shape.

    Parameters
    ----------
    query : ndarray, shape (..., num_queries, d_k)
    key : ndarray, shape (..., num_keys, d_k)
    value : ndarray, shape (..., num_keys, d_v)
    """

    query: Array
    key: Array
    value: Array


@dataclass(frozen=True, eq=False)
class MultiHeadGradients:
    """A loss's gradient by the inputs and matrices of a multi-head layer.

    Parameters
    ----------
    x : ndarray, shape (n, d_model)
    context : ndarray, shape (m, d_model), or None
        None where the layer attends to `x` itself: `x` then holds both parts.
    weights : MultiHeadWeights
        The gradient by each matrix, in that matrix's place.
    """

    x: Array
    context: Array | None
    weights: MultiHeadWeights


def scaled_dot_product_attention_backward(
    d_output: ArrayLike,
    query: ArrayLike,
    key: ArrayLike,
    value: ArrayLike,
    *,
    mask: ArrayLike | None = None,
    is_causal: bool = False,
    scale: float | None = None,
) -> AttentionGradients:
    """Carry a gradient from attention's output back to query, key and value.

    Parameters
    ----------
    d_output : array_like, shape (..., num_queries, d_v)
        The loss's gradient by the output.
    query, key, value : array_like
        As in the forward pass, all with the same leading axes.
    mask, is_causal, scale
        As in the forward pass.

    Returns
    -------
    AttentionGradients

    Raises
    ------
    TypeError, ValueError
        As the forward pass; also if leading axes differ, `d_output` does not have the output's
        shape, or a gradient is too large for its dtype.

    Examples
    --------
    >>> import numpy as np
    >>> one = np.eye(2)
    >>> scaled_dot_product_attention_backward(one, one, one, one, scale=1.0).value.round(4)
    array([[0.7311, 0.2689],
           [0.2689, 0.7311]])
    """
    query = as_finite_array("query", query, min_ndim=2)
    key = as_finite_array("key", key, min_ndim=2)
    value = as_finite_array("value", value, min_ndim=2)
    check_leading_axes(query, key, value)
    output = scaled_dot_product_attention(
        query, key, value, mask=mask, is_causal=is_causal, scale=scale
    )
    d_output = _like("d_output", d_output, output)
    weights = attention_weights(query, key, mask=mask, is_causal=is_causal, scale=scale)
    d_weights = finite_product("d_output and value", d_output, value.swapaxes(-1, -2))
    factor = np.result_type(query, key).type(as_scale(scale, query.shape[-1]))
    d_scores = softmax_backward(d_weights, weights) * factor
    return AttentionGradients(
        query=finite_product("d_scores and key", d_scores, key),
        key=finite_product("d_scores and query", d_scores.swapaxes(-1, -2), query),
        value=finite_product("weights and d_output", weights.swapaxes(-1, -2), d_output),
    )


def multi_head_attention_backward(
    d_output: ArrayLike,
    x: ArrayLike,
    weights: MultiHeadWeights,
    *,
    context: ArrayLike | None = None,
    mask: ArrayLike | None = None,
    is_causal: bool = False,
) -> MultiHeadGradients:
    """Carry a gradient from a multi-head layer's output back to its inputs and matrices.

    Parameters
    ----------
    d_output : array_like, shape (n, d_out)
        The loss's gradient by the output.
    x : array_like, shape (n, d_model)
        One sequence: no leading axes.
    weights : MultiHeadWeights
    context : array_like, shape (m, d_model), optional
    mask, is_causal
        As in the forward pass.

    Returns
    -------
    MultiHeadGradients

    Raises
    ------
    TypeError, ValueError
        As the forward pass; also if `x` or `context` has leading axes, or `d_output` does not
        have the output's shape.

    Examples
    --------
    >>> import numpy as np
    >>> one = np.eye(2)[None]
    >>> weights = MultiHeadWeights(one, one, one)
    >>> multi_head_attention_backward(np.ones((3, 2)), np.ones((3, 2)), weights).x.round(4)
    array([[1., 1.],
           [1., 1.],
           [1., 1.]])
    """
    x = _one_sequence("x", x)
    source = x if context is None else _one_sequence("context", context)
    output = multi_head_attention(x, weights, context=context, mask=mask, is_causal=is_causal)
    d_output = _like("d_output", d_output, output)
    query, key = project("x", x, weights.w_q), project("context", source, weights.w_k)
    value = project("context", source, weights.w_v)
    d_concat = d_output if weights.w_o is None else d_output @ weights.w_o.T
    back = scaled_dot_product_attention_backward(
        split_heads(d_concat, weights.num_heads), query, key, value, mask=mask, is_causal=is_causal
    )
    d_x = _through(back.query, weights.w_q)
    d_source = _through(back.key, weights.w_k) + _through(back.value, weights.w_v)
    return MultiHeadGradients(
        x=d_x + d_source if context is None else d_x,
        context=None if context is None else d_source,
        weights=MultiHeadWeights(
            w_q=x.T @ back.query,
            w_k=source.T @ back.key,
            w_v=source.T @ back.value,
            w_o=None
            if weights.w_o is None
            else _concat(query, key, value, mask, is_causal).T @ d_output,
        ),
    )


def _concat(
    query: Array, key: Array, value: Array, mask: ArrayLike | None, is_causal: bool
) -> Array:
    """Return the heads' outputs side by side."""
    return merge_heads(
        scaled_dot_product_attention(query, key, value, mask=mask, is_causal=is_causal)
    )


def _through(gradient: Array, matrices: Array) -> Array:
    """Carry a gradient back through each head's projection and add the heads up."""
    return (gradient @ matrices.swapaxes(-1, -2)).sum(axis=0)


def _one_sequence(name: str, x: ArrayLike) -> Array:
    x = as_finite_array(name, x)
    if x.ndim != 2:
        raise ValueError(f"{name} has shape {x.shape}; (n, d_model) is wanted")
    return x


def _like(name: str, gradient: ArrayLike, output: Array) -> Array:
    gradient = as_finite_array(name, gradient)
    if gradient.shape != output.shape:
        raise ValueError(
            f"{name} has shape {gradient.shape}; the output's {output.shape} is wanted"
        )
    return gradient
