"""The backward pass: how a loss changes with every input of attention."""

from dataclasses import dataclass
from typing import TypedDict, Unpack

import numpy as np
from numpy.typing import ArrayLike

from mha.core.attention import as_separate_inputs, attention_weights, fold_heads, repeat_heads
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
from mha.core.multihead import MultiHeadWeights, as_tokens, in_widest_dtype, mixed, projected
from mha.core.positions import rotate_by
from mha.core.softmax import softmax_backward


@dataclass(frozen=True, eq=False)
class AttentionGradients:
    """A loss's gradient by the three inputs of attention, each of its input's shape.

    Parameters
    ----------
    query : ndarray, shape (..., num_queries, d_k)
    key : ndarray, shape (..., num_keys, d_k)
    value : ndarray, shape (..., num_keys, d_v)
        For grouped queries, key's and value's add up over the query heads that they serve.
    """

    query: Array
    key: Array
    value: Array


@dataclass(frozen=True, eq=False)
class MultiHeadGradients:
    """A loss's gradient by the inputs and matrices of a multi-head layer.

    Parameters
    ----------
    x : ndarray, shape (..., n, d_model)
    context : ndarray, shape (..., m, d_context), or None
        None where the layer attends to `x` itself: `x` then holds both parts.
    weights : MultiHeadWeights
        The gradient by each matrix and bias, in its place; those of a batch's sequences add up.
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
    """Carry a gradient from attention's output back to query, key and value.

    Parameters
    ----------
    d_output : array_like, shape (..., num_queries, d_v)
        The loss's gradient by the output.
    query, key, value : array_like
        As in the forward pass, all with the same leading axes; with `enable_gqa`, key and value
        may have fewer heads.
    mask, is_causal, align, scale, enable_gqa
        As in the forward pass.

    Returns
    -------
    AttentionGradients
        Dtype as `mha.core.checks` says.

    Raises
    ------
    TypeError, ValueError
        As the forward pass; also if leading axes differ, `d_output` does not have the output's
        shape, or a gradient is too large for its dtype, naming what was multiplied.

    Examples
    --------
    >>> one = np.eye(2)
    >>> scaled_dot_product_attention_backward(one, one, one, one, scale=1.0).value.round(4)
    array([[0.7311, 0.2689],
           [0.2689, 0.7311]])
    """
    query, key, value = as_separate_inputs(query, key, value, enable_gqa)
    d_output = as_gradient("d_output", d_output, (*query.shape[:-1], value.shape[-1]))
    d_output, query, key, value = in_one_dtype(d_output, query, key, value)
    weights = attention_weights(
        query, key, mask=mask, is_causal=is_causal, align=align, scale=scale, enable_gqa=enable_gqa
    )
    factor = as_scale(scale, query.shape[-1])
    return _through_attention(d_output, query, key, value, weights, factor)


def _through_attention(
    d_output: Array, query: Array, key: Array, value: Array, weights: Array, factor: float
) -> AttentionGradients:
    """Carry a gradient back to query, key and value, with the weights of the forward pass."""
    shape = query.shape
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
    """Carry a gradient from a multi-head layer's output back to its inputs and matrices.

    Parameters
    ----------
    d_output : array_like, shape (..., n, d_out)
        The loss's gradient by the output.
    x : array_like, shape (..., n, d_model)
    weights : MultiHeadWeights
    context : array_like, shape (..., m, d_context), optional
        With the leading axes of `x`.
    mask, is_causal, align
        As in the forward pass.

    Returns
    -------
    MultiHeadGradients
        Dtype as `mha.core.checks` says.

    Raises
    ------
    TypeError, ValueError
        As the forward pass; also if `context` has other leading axes than `x`, `d_output` does not
        have the output's shape, or a gradient is too large for its dtype, naming what was
        multiplied.

    Examples
    --------
    >>> one = np.eye(2)[None]
    >>> weights = MultiHeadWeights(one, one, one)
    >>> multi_head_attention_backward(np.ones((3, 2)), np.ones((3, 2)), weights).x.round(4)
    array([[1., 1.],
           [1., 1.],
           [1., 1.]])
    """
    x, name, source = as_tokens(x, weights, context, mask)
    if source.shape[:-2] != x.shape[:-2]:
        raise ValueError(
            f"leading axes are {x.shape[:-2]} in x but {source.shape[:-2]} in context;"
            " they must match"
        )
    width = weights.num_heads * weights.d_v if weights.w_o is None else weights.w_o.shape[1]
    d_output = as_gradient("d_output", d_output, (*x.shape[:-1], width))
    x, source, d_output = in_widest_dtype(weights, x, source, d_output)
    passed = forward(x, source, weights, name=name, mask=mask, is_causal=is_causal, align=align)
    return backward(d_output, passed, weights, is_cross=context is not None)


class Masks(TypedDict, total=False):
    """What forbids keys."""

    mask: ArrayLike | None
    is_causal: bool
    align: Align


@dataclass(frozen=True, eq=False)
class ForwardPass:
    """What a layer has computed forward, as far as the way back needs it.

    Parameters
    ----------
    x, source : ndarray
        The tokens that ask, and those that are asked.
    query, key, value : ndarray, shape (..., num_heads, tokens, d)
    weights : ndarray, shape (..., num_heads, n, m)
    concat : ndarray, shape (..., n, num_heads * d_v)
        The heads' outputs side by side.
    output : ndarray, shape (..., n, d_out)
    angles : ndarray, shape (n, d_k / 2), optional
        By how much queries and keys are turned, which they are here.
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
    less_key: Array | None = None,
    **masks: Unpack[Masks],
) -> ForwardPass:
    """Return all that a layer computes.

    Parameters
    ----------
    x, source : ndarray
        Of one dtype with the layer's matrices, and with the same leading axes.
    weights : MultiHeadWeights
    name : str, default "x"
        What `source` is called, for an error.
    angles : ndarray, shape (n, d_k / 2), optional
        By how much queries and keys are turned.
    less_key : ndarray, shape (..., num_heads, n, d_k), optional
        What is taken from the keys before they are turned.
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
    query, key, value = projected(x, weights, source, name)
    if less_key is not None:
        key = key - less_key
    if angles is not None:
        query, key = rotate_by(query, angles), rotate_by(key, angles)
    gqa = weights.num_groups < weights.num_heads
    attention = attention_weights(query, key, **masks, enable_gqa=gqa)
    shared = repeat_heads("value", value, query) if gqa else value
    concat = merge_heads(finite_product("weights and value", attention, shared))
    output = mixed(concat, weights)
    return ForwardPass(x, source, query, key, value, attention, concat, output, angles)


def backward(
    d_output: Array, passed: ForwardPass, weights: MultiHeadWeights, *, is_cross: bool
) -> MultiHeadGradients:
    """Carry a gradient back through what a layer has computed.

    Parameters
    ----------
    d_output : ndarray
        Of the shape and dtype of the pass's output.
    passed : ForwardPass
    weights : MultiHeadWeights
    is_cross : bool
        Whether the tokens that are asked are others than those that ask.

    Raises
    ------
    ValueError
        If a gradient is too large for its dtype, naming what was multiplied.
    """
    back, by_output = _to_the_heads(d_output, passed, weights)
    d_x, d_context = _to_the_tokens(back, weights, is_cross=is_cross)
    by_matrix = _to_the_matrices(back, passed, weights, by_output, is_cross=is_cross)
    return MultiHeadGradients(x=d_x, context=d_context, weights=by_matrix)


def matrix_gradients(
    d_output: Array, passed: ForwardPass, weights: MultiHeadWeights
) -> MultiHeadWeights:
    """Return what `backward` gives for matrices and biases, all that a step of training asks for.

    Parameters
    ----------
    d_output : ndarray
        Of the shape and dtype of the pass's output.
    passed : ForwardPass
        Of a layer that attends to its own tokens.
    weights : MultiHeadWeights

    Raises
    ------
    ValueError
        As `backward`.
    """
    back, by_output = _to_the_heads(d_output, passed, weights)
    return _to_the_matrices(back, passed, weights, by_output, is_cross=False)


def _to_the_heads(
    d_output: Array, passed: ForwardPass, weights: MultiHeadWeights
) -> tuple[AttentionGradients, dict[str, Array]]:
    """Carry a gradient back to each head's query, key and value, and to the output projection."""
    d_concat, by_output = d_output, {}
    if weights.w_o is not None:
        d_concat = finite_product("d_output and w_o", d_output, weights.w_o.T)
        by_output["w_o"] = finite_product(
            "the heads' outputs and d_output", as_rows(passed.concat).T, as_rows(d_output)
        )
    if weights.b_o is not None:
        by_output["b_o"] = added_up("the gradients by b_o", as_rows(d_output))
    d_heads, factor = split_heads(d_concat, weights.num_heads), as_scale(None, weights.d_k)
    inputs = passed.query, passed.key, passed.value
    back = _through_attention(d_heads, *inputs, passed.weights, factor)
    if passed.angles is not None:
        query, key = (rotate_by(x, -passed.angles) for x in (back.query, back.key))
        back = AttentionGradients(query, key, back.value)
    return back, by_output


def _to_the_tokens(
    back: AttentionGradients, weights: MultiHeadWeights, *, is_cross: bool
) -> tuple[Array, Array | None]:
    """Carry the heads' gradients to the tokens that ask, and to those asked if they are others."""
    d_x = _through("d_query and w_q", back.query, weights.w_q)
    d_source = finite_sum(
        "the gradients by key and value",
        _through("d_key and w_k", back.key, weights.w_k),
        _through("d_value and w_v", back.value, weights.w_v),
    )
    if is_cross:
        return d_x, d_source
    return finite_sum("the gradients by query, key and value", d_x, d_source), None


def _to_the_matrices(
    back: AttentionGradients,
    passed: ForwardPass,
    weights: MultiHeadWeights,
    by_output: dict[str, Array],
    *,
    is_cross: bool,
) -> MultiHeadWeights:
    """Carry the heads' gradients to the projections and their biases."""
    name = "context" if is_cross else "x"
    x, source = as_rows(passed.x).T, as_rows(passed.source).T
    d_query, d_key, d_value = map(_rows_of_heads, (back.query, back.key, back.value))
    found = {
        "w_q": finite_product("x and d_query", x, d_query),
        "w_k": finite_product(f"{name} and d_key", source, d_key),
        "w_v": finite_product(f"{name} and d_value", source, d_value),
    }
    for bias, rows in (("b_q", d_query), ("b_k", d_key), ("b_v", d_value)):
        if getattr(weights, bias) is not None:
            found[bias] = added_up(f"the gradients by {bias}", rows)
    return MultiHeadWeights(**found, **by_output)


def added_up(names: str, rows: Array) -> Array:
    """Add the rows of all tokens up: the gradient by what was added to each of them.

    Examples
    --------
    >>> added_up("the gradients by b_o", np.array([[1.0, 2.0], [3.0, 4.0]]))
    array([4., 6.])
    """
    with np.errstate(over="ignore", invalid="ignore"):
        total: Array = rows.sum(axis=-2)
    refuse_overflow(names, total, "added")
    return total


def _through(names: str, gradient: Array, matrices: Array) -> Array:
    """Carry a gradient back through each head's projection and add the heads up."""
    side_by_side = matrices.swapaxes(-1, -2).reshape(-1, matrices.shape[1])
    return finite_product(names, merge_heads(gradient), side_by_side)


def as_rows(x: Array) -> Array:
    """Put the tokens of all sequences below one another: shape (tokens, d).

    Examples
    --------
    >>> as_rows(np.ones((2, 3, 5))).shape
    (6, 5)
    """
    return x.reshape(-1, x.shape[-1])


def _rows_of_heads(x: Array) -> Array:
    """Do so head by head: shape (..., num_heads, n, d) to (num_heads, tokens, d)."""
    heads_first = np.moveaxis(x, -3, 0)
    return heads_first.reshape(len(heads_first), -1, x.shape[-1])


def as_gradient(name: str, gradient: ArrayLike, shape: tuple[int, ...]) -> Array:
    """Return a gradient by an output as an array of the output's shape, or raise.

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
