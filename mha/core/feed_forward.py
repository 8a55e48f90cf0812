"""The feed-forward layer: two matrices with an activation between them, applied to each token."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import ArrayLike

from mha.core.checks import (
    Array,
    as_finite_array,
    finite_product,
    finite_sum,
    frozen_copy,
    in_one_dtype,
    refuse_overflow,
)

Activation: TypeAlias = Literal["relu", "gelu"]
"""The activation of a feed-forward layer: max(x, 0), or x Φ(x)."""


def normal_cdf(x: float) -> float:
    """Return Φ(x), the cumulative distribution function of the standard normal distribution.

    Examples
    --------
    >>> normal_cdf(0.0)
    0.5
    """
    # erfc, not 1 + erf: for large negative x the latter would cancel to 0.
    return 0.5 * math.erfc(-x / math.sqrt(2))


_normal_cdfs = np.vectorize(normal_cdf, otypes=[np.float64])


def silu(x: Array) -> Array:
    """Return x / (1 + e to the -x) of each number: the gate of newer feed-forward layers (SwiGLU).

    Parameters
    ----------
    x : ndarray

    Returns
    -------
    ndarray, shape and dtype of `x`

    References
    ----------
    Shazeer (2020), section 2.

    Examples
    --------
    >>> silu(np.array([-1.0, 0.0, 1.0])).round(4)
    array([-0.2689,  0.    ,  0.7311])
    """
    with np.errstate(over="ignore", under="ignore"):
        found: Array = x / (1 + np.exp(-x))
    return found


def activate(hidden: Array, activation: Activation) -> Array:
    """Return the activation of each pre-activation.

    Parameters
    ----------
    hidden : ndarray
    activation : {"relu", "gelu"}

    Returns
    -------
    ndarray, shape and dtype of `hidden`

    Examples
    --------
    >>> activate(np.array([-1.0, 2.0]), "relu")
    array([0., 2.])
    """
    if activation == "relu":
        return np.maximum(hidden, 0)
    with np.errstate(under="ignore"):
        return (hidden * _normal_cdfs(hidden)).astype(hidden.dtype)


def activate_backward(d_active: Array, hidden: Array, activation: Activation) -> Array:
    """Return the gradient with respect to the pre-activations, from that of the activations.

    Parameters
    ----------
    d_active : ndarray
    hidden : ndarray, shape of `d_active`
    activation : {"relu", "gelu"}
        The derivative of "relu" at 0 is taken as 0.

    Returns
    -------
    ndarray, shape of `d_active`

    Examples
    --------
    >>> activate_backward(np.array([3.0, 3.0]), np.array([-1.0, 2.0]), "relu")
    array([0., 3.])
    """
    if activation == "relu":
        return np.where(hidden > 0, d_active, 0)
    with np.errstate(over="ignore", under="ignore"):
        density = np.exp(-(hidden**2) / 2) / math.sqrt(2 * math.pi)
        found: Array = d_active * (_normal_cdfs(hidden) + hidden * density).astype(hidden.dtype)
    refuse_overflow("d_active and the slopes", found)
    return found


@dataclass(frozen=True, eq=False)
class FeedForward:
    """The matrices and biases of a feed-forward layer.

    Parameters
    ----------
    w_in : array_like, shape (d_model, d_ff)
    b_in : array_like, shape (d_ff,), optional
        Added to the product of `x` and `w_in`. Default: zeros.
    w_out : array_like, shape (d_ff, d_out)
    b_out : array_like, shape (d_out,), optional
    activation : {"relu", "gelu"}, default "relu"

    Raises
    ------
    TypeError, ValueError
        If the shapes do not fit together, or an array holds NaN or an infinity.

    Notes
    -----
    The arrays are copied and read-only.

    References
    ----------
    Vaswani et al. (2017), section 3.3.

    Examples
    --------
    >>> FeedForward(np.ones((2, 8)), None, np.ones((8, 2)), None).d_ff
    8
    """

    w_in: Array
    b_in: Array | None
    w_out: Array
    b_out: Array | None
    activation: Activation = "relu"

    def __post_init__(self) -> None:
        for name in ("w_in", "w_out"):
            matrix = as_finite_array(name, getattr(self, name))
            if matrix.ndim != 2:
                raise ValueError(f"{name} has shape {matrix.shape}; two axes are wanted")
            object.__setattr__(self, name, frozen_copy(matrix))
        if len(self.w_out) != self.d_ff:
            raise ValueError(
                f"w_in has {self.d_ff} columns but w_out has {len(self.w_out)} rows;"
                " they must match"
            )
        for name, matrix in (("b_in", self.w_in), ("b_out", self.w_out)):
            if (value := getattr(self, name)) is not None:
                row = as_finite_array(name, value)
                if row.shape != matrix.shape[1:]:
                    raise ValueError(f"{name} has shape {row.shape}; {matrix.shape[1:]} is wanted")
                object.__setattr__(self, name, frozen_copy(row))
        if self.activation not in get_args(Activation):
            raise ValueError(f'activation is {self.activation!r}; "relu" or "gelu" is wanted')

    @property
    def d_ff(self) -> int:
        """Width of the hidden layer."""
        return int(self.w_in.shape[1])

    @property
    def arrays(self) -> tuple[Array, ...]:
        """The matrices, and the biases that are not None."""
        found = (self.w_in, self.b_in, self.w_out, self.b_out)
        return tuple(array for array in found if array is not None)

    def hidden(self, x: Array) -> Array:
        """Return ``x @ w_in + b_in``, the input of the activation."""
        if x.shape[-1] != len(self.w_in):
            raise ValueError(
                f"x has width {x.shape[-1]} but w_in has {len(self.w_in)} rows; they must match"
            )
        return _affine("x and w_in", x, self.w_in, self.b_in)

    def output(self, active: Array) -> Array:
        """Return ``active @ w_out + b_out``."""
        return _affine("the activations and w_out", active, self.w_out, self.b_out)


def _affine(names: str, x: Array, matrix: Array, bias: Array | None) -> Array:
    """Return ``x @ matrix + bias`` in the dtype of `x`; a missing bias is 0."""
    found = finite_product(names, x, matrix.astype(x.dtype, copy=False))
    if bias is None:
        return found
    return finite_sum(f"{names}, and the bias,", found, bias.astype(x.dtype, copy=False))


def feed_forward(
    x: ArrayLike,
    w_in: ArrayLike,
    b_in: ArrayLike | None,
    w_out: ArrayLike,
    b_out: ArrayLike | None,
    activation: Activation = "relu",
) -> Array:
    """Return the output of a feed-forward layer: ``activation(x @ w_in + b_in) @ w_out + b_out``.

    Parameters
    ----------
    x : array_like, shape (..., d_model)
    w_in : array_like, shape (d_model, d_ff)
    b_in : array_like, shape (d_ff,), or None
    w_out : array_like, shape (d_ff, d_out)
    b_out : array_like, shape (d_out,), or None
    activation : {"relu", "gelu"}, default "relu"
        "relu" is max(x, 0); "gelu" is x Φ(x), with the cumulative distribution function Φ of the
        standard normal distribution.

    Returns
    -------
    ndarray, shape (..., d_out)
        The dtype follows the rule in `mha.core.checks`.

    Raises
    ------
    TypeError, ValueError
        If the shapes do not fit together, an array holds NaN or an infinity, a product is too large
        for its dtype, or `activation` is unknown.

    References
    ----------
    Vaswani et al. (2017), section 3.3, equation 2.

    Examples
    --------
    >>> feed_forward([[3, 1], [1, 1]], [[1], [1]], [-3], [[2, 0]], None)
    array([[2., 0.],
           [0., 0.]])
    """
    # The dataclass converts its arguments to arrays.
    layer = FeedForward(w_in, b_in, w_out, b_out, activation)  # type: ignore[arg-type]
    x, *_ = in_one_dtype(as_finite_array("x", x), *layer.arrays)
    return layer.output(activate(layer.hidden(x), layer.activation))
