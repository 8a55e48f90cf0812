"""Layer normalisation and RMS normalisation of each token's vector, forward and backward."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from mha.core.checks import (
    Array,
    as_finite_array,
    as_number,
    frozen_copy,
    in_one_dtype,
    refuse_overflow,
)

EPS = 1e-5
"""Default of the number that is added to the variance, as in PyTorch."""


@dataclass(frozen=True, eq=False)
class Norm:
    """The learned gain and bias of one layer normalisation.

    Parameters
    ----------
    gain : array_like, shape (d_model,), optional
        Factor of each normalised number. Default: ones.
    bias : array_like, shape (d_model,), optional
        Added after the multiplication. Default: zeros.
    eps : float, default 1e-5
        Added to the variance, so that a row of equal numbers does not divide by 0.

    Raises
    ------
    TypeError, ValueError
        If `gain` or `bias` is not a vector of finite numbers, or `eps` is below 0.

    Notes
    -----
    The arrays are copied and read-only.

    References
    ----------
    Ba, Kiros and Hinton (2016), section 3.

    Examples
    --------
    >>> Norm(gain=[1, 2]).gain
    array([1., 2.])
    """

    gain: Array | None = None
    bias: Array | None = None
    eps: float = EPS

    def __post_init__(self) -> None:
        for name in ("gain", "bias"):
            if (value := getattr(self, name)) is not None:
                row = as_finite_array(name, value)
                if row.ndim != 1:
                    raise ValueError(f"{name} has shape {row.shape}; (d_model,) is wanted")
                object.__setattr__(self, name, frozen_copy(row))
        eps = as_number("eps", self.eps, least=0)
        object.__setattr__(self, "eps", eps)

    def gain_and_bias(self, width: int, dtype: np.dtype) -> tuple[Array, Array]:
        """Return gain and bias with their defaults, and raise a ValueError if their width differs.

        Examples
        --------
        >>> Norm(bias=[3, 4]).gain_and_bias(2, np.dtype(np.float64))
        (array([1., 1.]), array([3., 4.]))
        """
        found = []
        for name, default in (("gain", 1), ("bias", 0)):
            row = getattr(self, name)
            row = np.full(width, default) if row is None else row
            if len(row) != width:
                raise ValueError(
                    f"{name} has {len(row)} numbers for rows of {width}; they must match"
                )
            found.append(row.astype(dtype))
        return found[0], found[1]

    @property
    def arrays(self) -> tuple[Array, ...]:
        """The gain and the bias, if they are not None."""
        return tuple(row for row in (self.gain, self.bias) if row is not None)


def layer_norm(
    x: ArrayLike, gain: ArrayLike | None = None, bias: ArrayLike | None = None, eps: float = EPS
) -> Array:
    """Return the layer normalisation of each row: (x - mean) / sqrt(variance + eps) * gain + bias.

    Parameters
    ----------
    x : array_like, shape (..., d_model)
    gain, bias : array_like, shape (d_model,), optional
        The learned gain and bias. Default: ones and zeros.
    eps : float, default 1e-5
        Added to the variance before the square root.

    Returns
    -------
    ndarray, shape (..., d_model)
        The dtype follows the rule in `mha.core.checks`.

    Raises
    ------
    TypeError, ValueError
        If the arrays do not fit or hold NaN or an infinity, if `eps` is below 0, or if it is 0 and
        all numbers of a row are equal.

    References
    ----------
    Ba, Kiros and Hinton (2016), section 3.

    Examples
    --------
    >>> layer_norm([[9, -5, 3, 1]], eps=0)
    array([[ 1.4, -1.4,  0.2, -0.2]])
    """
    norm = Norm(gain, bias, eps)  # type: ignore[arg-type]  # it converts them to arrays
    x, *_ = in_one_dtype(as_finite_array("x", x), *norm.arrays)
    return normalise(x, *moments(x, norm.eps), norm)


def moments(x: Array, eps: float) -> tuple[Array, Array]:
    """Return the mean of each row, and its standard deviation with eps: sqrt(variance + eps).

    Parameters
    ----------
    x : ndarray, shape (..., d_model)
        Finite numbers.
    eps : float

    Returns
    -------
    means, spreads : ndarray, shape (...)

    Raises
    ------
    ValueError
        If `eps` is 0 and all numbers of a row are equal, or a sum is too large for its dtype.

    Examples
    --------
    >>> moments(np.array([[9.0, -5.0, 3.0, 1.0]]), 0.0)
    (array([2.]), array([5.]))
    """
    with np.errstate(over="ignore", invalid="ignore"):
        means = x.mean(axis=-1)
        centred = x - means[..., None]
    refuse_overflow("the numbers of a row", centred, "averaged")
    # Divide by a power of two near the largest number before squaring: the squares stay in range,
    # and the division is exact.
    _, exponents = np.frexp(np.abs(centred).max(axis=-1))
    power = np.ldexp(x.dtype.type(1), exponents - 1)
    with np.errstate(under="ignore"):
        deviation = power * np.sqrt(((centred / power[..., None]) ** 2).mean(axis=-1))
        spreads = np.hypot(deviation, x.dtype.type(np.sqrt(eps)))
    if (spreads == 0).any():
        row = tuple(int(i) for i in np.argwhere(spreads == 0)[0])
        raise ValueError(f"all numbers of x in row {row} are equal; an eps above 0 is wanted")
    return means, spreads


def normalise(x: Array, means: Array, spreads: Array, norm: Norm) -> Array:
    """Return (x - mean) / standard deviation * gain + bias for each row.

    Examples
    --------
    >>> normalise(np.array([[9.0, 1.0]]), np.array([5.0]), np.array([4.0]), Norm(bias=[1, 1]))
    array([[2., 0.]])
    """
    gain, bias = norm.gain_and_bias(x.shape[-1], x.dtype)
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        found = (x - means[..., None]) / spreads[..., None] * gain + bias
    refuse_overflow("the normalised numbers, gain and bias", found, "combined")
    return found


def rms_norm(x: Array, gain: Array, eps: float) -> Array:
    """Return each row divided by its root mean square, times a gain; the mean is not subtracted.

    Parameters
    ----------
    x : ndarray, shape (..., width)
    gain : ndarray, shape (width,)
    eps : float
        Added to the mean square before the square root.

    Returns
    -------
    ndarray, shape and dtype of `x`

    Raises
    ------
    ValueError
        If `eps` is 0 and a row is all zeros, or a number or its square is too large for its dtype.

    References
    ----------
    Zhang and Sennrich (2019), section 4.

    Examples
    --------
    >>> rms_norm(np.array([[1.0, -1.0, 7.0, 7.0]]), np.ones(4), 0.0)
    array([[ 0.2, -0.2,  1.4,  1.4]])
    """
    with np.errstate(over="ignore", under="ignore", divide="ignore", invalid="ignore"):
        spreads = np.sqrt((x * x).mean(axis=-1, keepdims=True) + x.dtype.type(eps))
        found: Array = x / spreads * gain.astype(x.dtype)
    # A number divided by an infinite root mean square would be 0, which looks valid.
    refuse_overflow("a row's numbers", spreads, "squared")
    refuse_overflow("a row's numbers, their root mean square and gain", found, "combined")
    return found


def normalise_backward(d_normed: Array, normed: Array, spreads: Array) -> Array:
    """Return the gradient of the rows before normalisation, from that of the normalised rows.

    Parameters
    ----------
    d_normed : ndarray, shape (..., d_model)
        Gradient of the loss with respect to the normalised rows, before gain and bias.
    normed : ndarray, shape (..., d_model)
        The normalised rows, before gain and bias.
    spreads : ndarray, shape (...)
        The standard deviations that `moments` returned.

    Returns
    -------
    ndarray, shape (..., d_model)
        Each row sums to 0, since the output does not depend on the row's mean.

    Examples
    --------
    >>> normed = np.array([[1.0, -1.0, 1.0, -1.0]])
    >>> normalise_backward(np.array([[4.0, 0.0, 0.0, 0.0]]), normed, np.array([2.0]))
    array([[ 1.,  0., -1.,  0.]])
    """
    with np.errstate(over="ignore", invalid="ignore"):
        along = (d_normed * normed).mean(axis=-1, keepdims=True)  # the part that changes the spread
        centred = d_normed - d_normed.mean(axis=-1, keepdims=True)
        back = (centred - normed * along) / spreads[..., None]
    refuse_overflow("d_normed and the spreads", back, "divided")
    return back
