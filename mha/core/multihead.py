"""Multi-head attention: heads with their own projections, and an output projection."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from mha.core.attention import scaled_dot_product_attention
from mha.core.checks import (
    Array,
    as_finite_array,
    check_broadcast,
    finite_product,
    finite_sum,
    frozen_copy,
    in_one_dtype,
)
from mha.core.heads import merge_heads
from mha.core.masks import Align, check_mask_axes
from mha.core.positions import rotate_by

MATRICES, BIASES = ("w_q", "w_k", "w_v", "w_o"), ("b_q", "b_k", "b_v", "b_o")
"""The names of a layer's matrices and biases."""


@dataclass(frozen=True, eq=False)
class MultiHeadWeights:
    """The projection matrices of one multi-head attention layer, and its biases if it has any.

    With fewer key and value projections than query projections this is grouped-query attention:
    query heads i * g to (i + 1) * g - 1 share the key and value projection of group i, where
    g = num_heads / num_groups.

    Parameters
    ----------
    w_q : array_like, shape (num_heads, d_model, d_k)
        Each head's query projection.
    w_k : array_like, shape (num_groups, d_context, d_k)
        Each group's key projection; num_groups is num_heads or a divisor of it. The width d_context
        of the context is d_model, unless cross-attention has a context of another width.
    w_v : array_like, shape (num_groups, d_context, d_v)
    w_o : array_like, shape (num_heads * d_v, d_out), optional
        The output projection; without it the output is the concatenation.
    b_q, b_k, b_v : array_like, optional
        The biases of each head's queries, and of each group's keys and values: shapes
        (num_heads, d_k), (num_groups, d_k) and (num_groups, d_v).
    b_o : array_like, shape (d_out,), optional
        The bias of the output; it needs `w_o`.

    Raises
    ------
    TypeError
        If an array does not hold real numbers.
    ValueError
        If the shapes do not fit together, or an array holds NaN or an infinity.

    Notes
    -----
    The arrays are copied and read-only.

    References
    ----------
    Vaswani et al. (2017), section 3.2.2; Ainslie et al. (2023) for groups.

    Examples
    --------
    >>> import numpy as np
    >>> one = np.eye(2)[None]
    >>> weights = MultiHeadWeights(one, one, one)
    >>> weights.num_heads, weights.d_model, weights.d_k, weights.d_v
    (1, 2, 2, 2)
    >>> MultiHeadWeights(np.ones((6, 5, 3)), np.ones((2, 5, 3)), np.ones((2, 5, 7))).num_groups
    2
    """

    w_q: Array
    w_k: Array
    w_v: Array
    w_o: Array | None = None
    b_q: Array | None = None
    b_k: Array | None = None
    b_v: Array | None = None
    b_o: Array | None = None

    def __post_init__(self) -> None:
        for name in ("w_q", "w_k", "w_v"):
            matrix = as_finite_array(name, getattr(self, name))
            if matrix.ndim != 3:
                raise ValueError(
                    f"{name} has shape {matrix.shape}; (num_heads, d_model, width) is wanted"
                )
            object.__setattr__(self, name, frozen_copy(matrix))
        self._check_groups()
        if self.w_o is not None:
            w_o = as_finite_array("w_o", self.w_o)
            if w_o.ndim != 2 or w_o.shape[0] != self.num_heads * self.d_v:
                raise ValueError(
                    f"w_o has shape {w_o.shape}; num_heads * d_v = {self.num_heads * self.d_v}"
                    " rows are wanted"
                )
            object.__setattr__(self, "w_o", frozen_copy(w_o))
        self._check_biases()

    def _check_groups(self) -> None:
        """Raise a ValueError unless the shapes of w_q, w_k and w_v match."""
        width, d_k = self.w_q.shape[1:]
        # Only w_k and w_v together may have another input width: that of a context.
        has_other_context = self.w_v.shape[1] == self.d_context != width
        if self.w_k.shape[2] != d_k or (self.d_context != width and not has_other_context):
            raise ValueError(
                f"w_q has shape {self.w_q.shape} but w_k has {self.w_k.shape}; they must match"
            )
        if self.num_heads % self.num_groups:
            raise ValueError(
                f"w_k has {self.num_groups} groups; a divisor of w_q's {self.num_heads} heads"
                " is wanted"
            )
        if self.w_v.shape[:2] != self.w_k.shape[:2]:
            raise ValueError(
                f"w_v has shape {self.w_v.shape}; ({self.num_groups}, {self.d_context}, d_v)"
                " is wanted, as in w_k"
            )

    def _check_biases(self) -> None:
        """Make each bias a read-only array; raise a ValueError unless its shape fits its matrix."""
        if self.b_o is not None and self.w_o is None:
            raise ValueError("b_o is given without w_o; both are wanted")
        for name, matrix in zip(BIASES, (self.w_q, self.w_k, self.w_v, self.w_o), strict=True):
            if getattr(self, name) is None or matrix is None:
                continue
            bias = as_finite_array(name, getattr(self, name))
            wanted = (*matrix.shape[:-2], matrix.shape[-1])
            if bias.shape != wanted:
                raise ValueError(f"{name} has shape {bias.shape}; {wanted} is wanted")
            object.__setattr__(self, name, frozen_copy(bias))

    @property
    def arrays(self) -> dict[str, Array]:
        """The matrices and biases that are not None, by name."""
        named = ((name, getattr(self, name)) for name in (*MATRICES, *BIASES))
        return {name: array for name, array in named if array is not None}

    @property
    def num_heads(self) -> int:
        """Number of query heads."""
        return int(self.w_q.shape[0])

    @property
    def num_groups(self) -> int:
        """Number of key and value heads: num_heads, or fewer for grouped-query attention."""
        return int(self.w_k.shape[0])

    @property
    def d_model(self) -> int:
        """Width of the input."""
        return int(self.w_q.shape[1])

    @property
    def d_context(self) -> int:
        """Width of the input of keys and values; d_model for self-attention."""
        return int(self.w_k.shape[1])

    @property
    def d_k(self) -> int:
        """Width of one head's queries and keys."""
        return int(self.w_q.shape[2])

    @property
    def d_v(self) -> int:
        """Width of one head's values."""
        return int(self.w_v.shape[2])


def refuse_biases(name: str, weights: MultiHeadWeights) -> None:
    """Raise a ValueError if a layer has biases; `name` is its name in the message.

    Examples
    --------
    >>> one = np.eye(2)[None]
    >>> refuse_biases("layer", MultiHeadWeights(one, one, one, b_q=[[1, 2]]))
    Traceback (most recent call last):
        ...
    ValueError: layer has the bias b_q; a layer without biases is wanted here
    """
    for bias in BIASES:
        if getattr(weights, bias) is not None:
            raise ValueError(f"{name} has the bias {bias}; a layer without biases is wanted here")


def project(name: str, x: ArrayLike, matrices: Array, bias: Array | None = None) -> Array:
    """Return the projection of every token by every head: ``x @ matrices + bias``.

    Parameters
    ----------
    name : str
        The argument's name, for error messages.
    x : array_like, shape (..., n, d_model)
    matrices : ndarray, shape (num_heads, d_model, width)
    bias : ndarray, shape (num_heads, width), optional

    Returns
    -------
    ndarray, shape (..., num_heads, n, width)

    Raises
    ------
    TypeError, ValueError
        If `x` does not hold finite real numbers, its width is not d_model, or a product or sum
        is too large for its dtype.

    Examples
    --------
    >>> import numpy as np
    >>> project("x", [[1.0, 2.0]], np.stack([np.eye(2), 2 * np.eye(2)]))
    array([[[1., 2.]],
    <BLANKLINE>
           [[2., 4.]]])
    """
    x = as_finite_array(name, x, min_ndim=2)
    if x.shape[-1] != matrices.shape[1]:
        raise ValueError(
            f"{name} has width {x.shape[-1]} but the weights have d_model={matrices.shape[1]};"
            " they must match"
        )
    product = finite_product(f"{name} and the weights", x[..., None, :, :], matrices)
    if bias is None:
        return product
    return finite_sum(f"{name} times the weights and the bias", product, bias[:, None, :])


def project_inputs(
    x: Array, weights: MultiHeadWeights, source: Array | None = None, name: str = "x"
) -> tuple[Array, Array, Array]:
    """Return the queries of `x`, and the keys and values of `source`.

    Parameters
    ----------
    x : ndarray, shape (..., n, d_model)
    weights : MultiHeadWeights
    source : ndarray, shape (..., m, d_context), optional
        Default: `x`.
    name : str, default "x"
        The name of `source` in error messages.

    Returns
    -------
    query, key, value : ndarray, shape (..., num_heads or num_groups, tokens, width)

    Raises
    ------
    TypeError, ValueError
        As `project`.

    Examples
    --------
    >>> one = np.eye(2)[None]
    >>> project_inputs(np.eye(2), MultiHeadWeights(one, one, 2 * one, b_k=[[3, 5]]))[1]
    array([[[4., 5.],
            [3., 6.]]])
    """
    source = x if source is None else source
    return (
        project("x", x, weights.w_q, weights.b_q),
        project(name, source, weights.w_k, weights.b_k),
        project(name, source, weights.w_v, weights.b_v),
    )


def project_output(concat: Array, weights: MultiHeadWeights) -> Array:
    """Return the heads' concatenated outputs times `w_o`, plus `b_o`; unchanged without `w_o`.

    Parameters
    ----------
    concat : ndarray, shape (..., n, num_heads * d_v)
    weights : MultiHeadWeights

    Returns
    -------
    ndarray, shape (..., n, d_out)

    Raises
    ------
    ValueError
        If the output is too large for its dtype.

    Examples
    --------
    >>> one = np.eye(2)[None]
    >>> project_output(np.eye(2), MultiHeadWeights(one, one, one, np.eye(2), b_o=[5, 7]))
    array([[6., 7.],
           [5., 8.]])
    """
    if weights.w_o is None:
        return concat
    output = finite_product("the heads' outputs and w_o", concat, weights.w_o)
    return output if weights.b_o is None else finite_sum("the output and b_o", output, weights.b_o)


def multi_head_attention(
    x: ArrayLike,
    weights: MultiHeadWeights,
    *,
    context: ArrayLike | None = None,
    mask: ArrayLike | None = None,
    is_causal: bool = False,
    align: Align = "top-left",
    angles: ArrayLike | None = None,
) -> Array:
    """Return the output of a multi-head attention layer for each token.

    Parameters
    ----------
    x : array_like, shape (..., n, d_model)
        The tokens, as input of the queries.
    weights : MultiHeadWeights
        With fewer groups than heads, the heads of a group share keys and values.
    context : array_like, shape (..., m, d_context), optional
        The input of the keys and values, for cross-attention. Default: `x` itself.
    mask : array_like of bool or float, broadcastable to (..., num_heads, n, m), optional
        True where a query may attend; a float mask is added to the scaled scores. For one
        sequence, three axes are (num_heads, n, m). If `x` or `context` has leading axes, a mask
        with more than two axes must have all axes of the scores: for a batch, ``mask[:, None]``
        is one mask per sequence and ``mask[None]`` one per head.
    is_causal, align
        As in `mha.core.attention.attention_weights`.
    angles : array_like, shape (n, d_k / 2), optional
        Rotation angles of the queries and keys at each position (`mha.rotary_angles`); only without
        `context`.

    Returns
    -------
    ndarray, shape (..., n, d_out)
        Without `w_o`, the concatenated outputs of the heads: shape (..., n, num_heads * d_v).
        The dtype follows the rule in `mha.core.checks`.

    Raises
    ------
    TypeError, ValueError
        If the arguments do not fit; the message names the argument and its fault.

    References
    ----------
    Vaswani et al. (2017), section 3.2.2; Ainslie et al. (2023) for groups.

    Examples
    --------
    >>> import numpy as np
    >>> one = np.eye(2)[None]
    >>> weights = MultiHeadWeights(one, one, one)
    >>> multi_head_attention([[1.0, 0.0], [0.0, 1.0]], weights).round(4)
    array([[0.6698, 0.3302],
           [0.3302, 0.6698]])
    """
    x, name, source = as_layer_inputs(x, weights, context, mask)
    query, key, value = project_inputs(x, weights, source, name)
    if angles is not None:
        if context is not None:
            raise ValueError("angles are those of the positions in x; no context is wanted")
        query, key = rotate_by(query, angles), rotate_by(key, angles)
    heads = scaled_dot_product_attention(
        query,
        key,
        value,
        mask=mask,
        is_causal=is_causal,
        align=align,
        enable_gqa=weights.num_groups < weights.num_heads,
    )
    return project_output(merge_heads(heads), weights)


def as_layer_inputs(
    x: ArrayLike,
    weights: MultiHeadWeights,
    context: ArrayLike | None = None,
    mask: ArrayLike | None = None,
) -> tuple[Array, str, Array]:
    """Return `x`, the name of the keys' input ("x" or "context"), and that input, in one dtype.

    Raises
    ------
    TypeError, ValueError
        If the arguments do not fit together, or the axes of the mask are ambiguous.

    Examples
    --------
    >>> import numpy as np
    >>> one = np.eye(2)[None]
    >>> as_layer_inputs([[1.0, 2.0]], MultiHeadWeights(one, one, one))[1:]
    ('x', array([[1., 2.]]))
    """
    if not isinstance(weights, MultiHeadWeights):
        raise TypeError(f"weights is a {type(weights).__name__}; MultiHeadWeights is wanted")
    x = as_finite_array("x", x, min_ndim=2)
    name, source = "x", x
    if context is not None:
        name, source = "context", as_finite_array("context", context, min_ndim=2)
        check_broadcast("x", x, "context", source)
    x, source = in_widest_dtype(weights, x, source)
    if mask is not None:
        leading = np.broadcast_shapes(x.shape[:-2], source.shape[:-2])
        check_mask_axes(mask, (*leading, weights.num_heads, x.shape[-2], source.shape[-2]))
    return x, name, source


def in_widest_dtype(weights: MultiHeadWeights, *arrays: Array) -> tuple[Array, ...]:
    """Convert arrays to the widest dtype among theirs and the weights'.

    Examples
    --------
    >>> import numpy as np
    >>> one = np.eye(2)[None]
    >>> weights = MultiHeadWeights(one, one, one)
    >>> in_widest_dtype(weights, np.ones(3, np.float32))[0].dtype
    dtype('float64')
    """
    return in_one_dtype(*arrays, *weights.arrays.values())[: len(arrays)]
