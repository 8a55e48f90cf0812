"""The backward pass of attention: gradients with respect to its inputs and matrices."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypedDict, Unpack

import numpy as np
from numpy.typing import ArrayLike

from mha.core.attention import as_unbroadcast_inputs, attention_weights, fold_heads, repeat_heads
from mha.core.checks import (
    Array,
    as_finite_array,
    as_scale,
    finite_multiple,
    finite_product,
    finite_sum,
    in_one_dtype,
    refuse_overflow,
)
from mha.core.heads import merge_heads, split_heads
from mha.core.masks import Align
from mha.core.multihead import (
    MultiHeadWeights,
    as_layer_inputs,
    in_widest_dtype,
    project_inputs,
    project_output,
)
from mha.core.positions import rotate_by
from mha.core.softmax import softmax_backward


@dataclass(frozen=True, eq=False)
class AttentionGradients:
    """Gradients of the loss with respect to query, key and value, each in the shape of its input.

    Parameters
    ----------
    query : ndarray, shape (..., num_queries, d_k)
    key : ndarray, shape (..., num_keys, d_k)
    value : ndarray, shape (..., num_keys, d_v)
        With grouped queries, the gradients of key and value are sums over the query heads that
        share them.
    """

    query: Array
    key: Array
    value: Array


@dataclass(frozen=True, eq=False)
class MultiHeadGradients:
    """Gradients of the loss with respect to the inputs and matrices of a multi-head layer.

    Parameters
    ----------
    x : ndarray, shape (..., n, d_model)
    context : ndarray, shape (..., m, d_context), or None
        None for self-attention, where the gradient of `x` has both parts.
    weights : MultiHeadWeights
        The gradient of each matrix and bias, summed over the sequences of a batch.
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
    align: Align = "top-left",
    scale: float | None = None,
    enable_gqa: bool = False,
) -> AttentionGradients:
    """Return the gradients of query, key and value, from the gradient of attention's output.

    Parameters
    ----------
    d_output : array_like, shape (..., num_queries, d_v)
        Gradient of the loss with respect to the output.
    query, key, value : array_like
        As in the forward pass, all with the same leading axes; with `enable_gqa`, key and value
        may have fewer heads.
    mask, is_causal, align, scale, enable_gqa
        As in the forward pass.

    Returns
    -------
    AttentionGradients
        The dtype follows the rule in `mha.core.checks`.

    Raises
    ------
    TypeError, ValueError
        As the forward pass; also if leading axes differ, `d_output` does not have the output's
        shape, or a gradient is too large for its dtype.

    Examples
    --------
    >>> one = np.eye(2)
    >>> scaled_dot_product_attention_backward(one, one, one, one, scale=1.0).value.round(4)
    array([[0.7311, 0.2689],
           [0.2689, 0.7311]])
    """
    query, key, value = as_unbroadcast_inputs(query, key, value, enable_gqa)
    d_output = as_gradient("d_output", d_output, (*query.shape[:-1], value.shape[-1]))
    d_output, query, key, value = in_one_dtype(d_output, query, key, value)
    weights = attention_weights(
        query, key, mask=mask, is_causal=is_causal, align=align, scale=scale, enable_gqa=enable_gqa
    )
    factor = as_scale(scale, query.shape[-1])
    return _attention_backward(d_output, query, key, value, weights, factor)


def _attention_backward(
    d_output: Array, query: Array, key: Array, value: Array, weights: Array, factor: float
) -> AttentionGradients:
    """Return the gradients of query, key and value, given the weights of the forward pass."""
    shape = query.shape
    # The rows of the heads that share a key are rows of one matrix. The products with its transpose
    # below then also sum the gradients of the key and the value over these heads.
    query, weights, d_output = (fold_heads(x, key) for x in (query, weights, d_output))
    d_weights = finite_product("d_output and value", d_output, value.mT)
    d_scores = softmax_backward(d_weights, weights)
    d_scores = finite_multiple("d_scores and scale", d_scores, factor)
    return AttentionGradients(
        query=finite_product("d_scores and key", d_scores, key).reshape(shape),
        key=finite_product("d_scores and query", d_scores.mT, query),
        value=finite_product("weights and d_output", weights.mT, d_output),
    )


def multi_head_attention_backward(
    d_output: ArrayLike,
    x: ArrayLike,
    weights: MultiHeadWeights,
    *,
    context: ArrayLike | None = None,
    mask: ArrayLike | None = None,
    is_causal: bool = False,
    align: Align = "top-left",
) -> MultiHeadGradients:
    """Return the gradients of a multi-head layer's inputs and matrices, from that of its output.

    Parameters
    ----------
    d_output : array_like, shape (..., n, d_out)
        Gradient of the loss with respect to the output.
    x : array_like, shape (..., n, d_model)
    weights : MultiHeadWeights
    context : array_like, shape (..., m, d_context), optional
        With the leading axes of `x`.
    mask, is_causal, align
        As in the forward pass.

    Returns
    -------
    MultiHeadGradients
        The dtype follows the rule in `mha.core.checks`.

    Raises
    ------
    TypeError, ValueError
        As the forward pass; also if `context` has other leading axes than `x`, `d_output` does not
        have the output's shape, or a gradient is too large for its dtype.

    Examples
    --------
    >>> one = np.eye(2)[None]
    >>> weights = MultiHeadWeights(one, one, one)
    >>> multi_head_attention_backward(np.ones((3, 2)), np.ones((3, 2)), weights).x.round(4)
    array([[1., 1.],
           [1., 1.],
           [1., 1.]])
    """
    x, name, source = as_layer_inputs(x, weights, context, mask)
    if source.shape[:-2] != x.shape[:-2]:
        raise ValueError(
            f"leading axes are {x.shape[:-2]} in x but {source.shape[:-2]} in context;"
            " they must match"
        )
    width = weights.num_heads * weights.d_v if weights.w_o is None else weights.w_o.shape[1]
    d_output = as_gradient("d_output", d_output, (*x.shape[:-1], width))
    x, source, d_output = in_widest_dtype(weights, x, source, d_output)
    forward_pass = forward(
        x, source, weights, name=name, mask=mask, is_causal=is_causal, align=align
    )
    return backward(d_output, forward_pass, weights, is_cross=context is not None)


class MaskOptions(TypedDict, total=False):
    """The keyword arguments of a layer that mask keys."""

    mask: ArrayLike | None
    is_causal: bool
    align: Align


@dataclass(frozen=True, eq=False)
class ForwardPass:
    """The intermediates of a multi-head layer's forward pass that its backward pass needs.

    Parameters
    ----------
    x, source : ndarray
        The inputs of the queries, and of the keys and values.
    query, key, value : ndarray, shape (..., num_heads, tokens, d)
    weights : ndarray, shape (..., num_heads, n, m)
    concat : ndarray, shape (..., n, num_heads * d_v)
        The concatenated outputs of the heads.
    output : ndarray, shape (..., n, d_out)
    angles : ndarray, shape (n, d_k / 2), optional
        Rotation angles of `query` and `key`, which are stored rotated.
    """

    x: Array
    source: Array
    query: Array
    key: Array
    value: Array
    weights: Array
    concat: Array
    output: Array
    angles: Array | None = None


def forward(
    x: Array,
    source: Array,
    weights: MultiHeadWeights,
    *,
    name: str = "x",
    angles: Array | None = None,
    subtracted_key: Array | None = None,
    **masks: Unpack[MaskOptions],
) -> ForwardPass:
    """Return the forward pass of a multi-head layer, with all intermediates.

    Parameters
    ----------
    x, source : ndarray
        In the dtype of the layer's matrices, and with equal leading axes.
    weights : MultiHeadWeights
    name : str, default "x"
        The name of `source` in error messages.
    angles : ndarray, shape (n, d_k / 2), optional
        Rotation angles of queries and keys.
    subtracted_key : ndarray, shape (..., num_heads, n, d_k), optional
        Subtracted from the keys before the rotation.
    mask, is_causal, align
        As in `multi_head_attention`.

    Raises
    ------
    TypeError, ValueError
        As `multi_head_attention`.

    Examples
    --------
    >>> one = np.eye(2)[None]
    >>> forward(np.eye(2), np.eye(2), MultiHeadWeights(one, one, one)).output.round(4)
    array([[0.6698, 0.3302],
           [0.3302, 0.6698]])
    """
    query, key, value = project_inputs(x, weights, source, name)
    if subtracted_key is not None:
        key = key - subtracted_key
    if angles is not None:
        query, key = rotate_by(query, angles), rotate_by(key, angles)
    gqa = weights.num_groups < weights.num_heads
    attention = attention_weights(query, key, **masks, enable_gqa=gqa)
    shared = repeat_heads("value", value, query) if gqa else value
    concat = merge_heads(finite_product("weights and value", attention, shared))
    output = project_output(concat, weights)
    return ForwardPass(x, source, query, key, value, attention, concat, output, angles)


def backward(
    d_output: Array, forward_pass: ForwardPass, weights: MultiHeadWeights, *, is_cross: bool
) -> MultiHeadGradients:
    """Return the gradients of a multi-head layer's inputs and matrices, given its forward pass.

    Parameters
    ----------
    d_output : ndarray, shape and dtype of the output
    forward_pass : ForwardPass
    weights : MultiHeadWeights
    is_cross : bool
        Whether the keys and values have another input than the queries.

    Raises
    ------
    ValueError
        If a gradient is too large for its dtype.
    """
    head_gradients, by_projection = _backward_to_heads(d_output, forward_pass, weights)
    d_x, d_context = _backward_to_inputs(head_gradients, weights, is_cross=is_cross)
    by_matrix = _backward_to_matrices(
        head_gradients, forward_pass, weights, by_projection, is_cross=is_cross
    )
    return MultiHeadGradients(x=d_x, context=d_context, weights=by_matrix)


def matrix_gradients(
    d_output: Array, forward_pass: ForwardPass, weights: MultiHeadWeights
) -> MultiHeadWeights:
    """Return the gradients of a layer's matrices and biases alone, as one training step needs them.

    Parameters
    ----------
    d_output : ndarray, shape and dtype of the output
    forward_pass : ForwardPass
        The forward pass of a self-attention layer.
    weights : MultiHeadWeights

    Raises
    ------
    ValueError
        As `backward`.
    """
    head_gradients, by_projection = _backward_to_heads(d_output, forward_pass, weights)
    return _backward_to_matrices(
        head_gradients, forward_pass, weights, by_projection, is_cross=False
    )


def _backward_to_heads(
    d_output: Array, forward_pass: ForwardPass, weights: MultiHeadWeights
) -> tuple[AttentionGradients, dict[str, Array]]:
    """Return the gradients of each head's query, key and value, and of the output projection."""
    d_concat, by_projection = d_output, {}
    if weights.w_o is not None:
        d_concat = finite_product("d_output and w_o", d_output, weights.w_o.T)
        by_projection["w_o"] = finite_product(
            "the heads' outputs and d_output",
            flatten_sequences(forward_pass.concat).T,
            flatten_sequences(d_output),
        )
    if weights.b_o is not None:
        by_projection["b_o"] = sum_rows("the gradients by b_o", flatten_sequences(d_output))
    d_heads, factor = split_heads(d_concat, weights.num_heads), as_scale(None, weights.d_k)
    inputs = forward_pass.query, forward_pass.key, forward_pass.value
    head_gradients = _attention_backward(d_heads, *inputs, forward_pass.weights, factor)
    if forward_pass.angles is not None:
        # The Jacobian of a rotation is the rotation, and its transpose is the inverse one.
        query, key = (
            rotate_by(x, -forward_pass.angles) for x in (head_gradients.query, head_gradients.key)
        )
        head_gradients = AttentionGradients(query, key, head_gradients.value)
    return head_gradients, by_projection


def _backward_to_inputs(
    head_gradients: AttentionGradients, weights: MultiHeadWeights, *, is_cross: bool
) -> tuple[Array, Array | None]:
    """Return the gradients of the inputs, from those of query, key and value."""
    d_x = _projection_backward("d_query and w_q", head_gradients.query, weights.w_q)
    d_source = finite_sum(
        "the gradients by key and value",
        _projection_backward("d_key and w_k", head_gradients.key, weights.w_k),
        _projection_backward("d_value and w_v", head_gradients.value, weights.w_v),
    )
    if is_cross:
        return d_x, d_source
    return finite_sum("the gradients by query, key and value", d_x, d_source), None


def _backward_to_matrices(
    head_gradients: AttentionGradients,
    forward_pass: ForwardPass,
    weights: MultiHeadWeights,
    by_projection: dict[str, Array],
    *,
    is_cross: bool,
) -> MultiHeadWeights:
    """Return the gradients of all matrices and biases, from those of query, key and value."""
    name = "context" if is_cross else "x"
    x, source = flatten_sequences(forward_pass.x).T, flatten_sequences(forward_pass.source).T
    d_query, d_key, d_value = map(
        _flatten_sequences_by_head, (head_gradients.query, head_gradients.key, head_gradients.value)
    )
    found = {
        "w_q": finite_product("x and d_query", x, d_query),
        "w_k": finite_product(f"{name} and d_key", source, d_key),
        "w_v": finite_product(f"{name} and d_value", source, d_value),
    }
    for bias, rows in (("b_q", d_query), ("b_k", d_key), ("b_v", d_value)):
        if getattr(weights, bias) is not None:
            found[bias] = sum_rows(f"the gradients by {bias}", rows)
    return MultiHeadWeights(**found, **by_projection)


def sum_rows(names: str, rows: Array) -> Array:
    """Return the sum of the rows, and raise a ValueError if it overflows.

    Examples
    --------
    >>> sum_rows("the gradients by b_o", np.array([[1.0, 2.0], [3.0, 4.0]]))
    array([4., 6.])
    """
    with np.errstate(over="ignore", invalid="ignore"):
        total: Array = rows.sum(axis=-2)
    refuse_overflow(names, total, "added")
    return total


def _projection_backward(names: str, gradient: Array, matrices: Array) -> Array:
    """Return the gradient of the input of all heads' projections."""
    side_by_side = matrices.swapaxes(-1, -2).reshape(-1, matrices.shape[1])
    return finite_product(names, merge_heads(gradient), side_by_side)


def flatten_sequences(x: Array) -> Array:
    """Reshape the tokens of all sequences to one matrix of shape (tokens, d).

    Examples
    --------
    >>> flatten_sequences(np.ones((2, 3, 5))).shape
    (6, 5)
    """
    return x.reshape(-1, x.shape[-1])


def _flatten_sequences_by_head(x: Array) -> Array:
    """Reshape (..., num_heads, n, d) to (num_heads, tokens, d)."""
    heads_first = np.moveaxis(x, -3, 0)
    return heads_first.reshape(len(heads_first), -1, x.shape[-1])


def as_gradient(name: str, gradient: ArrayLike, shape: tuple[int, ...]) -> Array:
    """Return the gradient of an output as an array, and raise a ValueError if its shape differs.

    Examples
    --------
    >>> as_gradient("d_output", [1.0], (2,))
    Traceback (most recent call last):
        ...
    ValueError: d_output has shape (1,); the output's (2,) is wanted
    """
    found = as_finite_array(name, gradient)
    if found.shape != shape:
        raise ValueError(f"{name} has shape {found.shape}; the output's {shape} is wanted")
    return found
