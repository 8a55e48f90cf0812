"""Multi-head attention: several heads, each with its own projections, then one mixing matrix."""

from dataclasses import dataclass

from numpy.typing import ArrayLike

from mha.core.attention import scaled_dot_product_attention
from mha.core.checks import Array, as_finite_array, check_broadcast, finite_product, frozen
from mha.core.heads import merge_heads


@dataclass(frozen=True, eq=False)
class MultiHeadWeights:
    """The projection matrices of one multi-head attention layer.

    Parameters
    ----------
    w_q, w_k : array_like, shape (num_heads, d_model, d_k)
        Each head's query and key projection.
    w_v : array_like, shape (num_heads, d_model, d_v)
    w_o : array_like, shape (num_heads * d_v, d_out), optional
        The output projection; without it the output is the concatenation.

    Raises
    ------
    TypeError
        If a matrix does not hold real numbers.
    ValueError
        If the shapes do not fit together, or a matrix holds NaN or an infinity.

    Notes
    -----
    The arrays are copied and read-only.

    References
    ----------
    Vaswani et al. (2017), section 3.2.2.

    Examples
    --------
    >>> import numpy as np
    >>> one = np.eye(2)[None]
    >>> weights = MultiHeadWeights(one, one, one)
    >>> weights.num_heads, weights.d_model, weights.d_k, weights.d_v
    (1, 2, 2, 2)
    """

    w_q: Array
    w_k: Array
    w_v: Array
    w_o: Array | None = None

    def __post_init__(self) -> None:
        for name in ("w_q", "w_k", "w_v"):
            matrix = as_finite_array(name, getattr(self, name))
            if matrix.ndim != 3:
                raise ValueError(
                    f"{name} has shape {matrix.shape}; (num_heads, d_model, width) is wanted"
                )
            object.__setattr__(self, name, frozen(matrix))
        if self.w_k.shape != self.w_q.shape:
            raise ValueError(
                f"w_q has shape {self.w_q.shape} but w_k has {self.w_k.shape}; they must match"
            )
        if self.w_v.shape[:2] != self.w_q.shape[:2]:
            raise ValueError(
                f"w_v has shape {self.w_v.shape}; ({self.num_heads}, {self.d_model}, d_v)"
                " is wanted, as in w_q"
            )
        if self.w_o is not None:
            w_o = as_finite_array("w_o", self.w_o)
            if w_o.ndim != 2 or w_o.shape[0] != self.num_heads * self.d_v:
                raise ValueError(
                    f"w_o has shape {w_o.shape}; num_heads * d_v = {self.num_heads * self.d_v}"
                    " rows are wanted"
                )
            object.__setattr__(self, "w_o", frozen(w_o))

    @property
    def num_heads(self) -> int:
        """How many heads there are."""
        return int(self.w_q.shape[0])

    @property
    def d_model(self) -> int:
        """Width of the input."""
        return int(self.w_q.shape[1])

    @property
    def d_k(self) -> int:
        """Width of one head's queries and keys."""
        return int(self.w_q.shape[2])

    @property
    def d_v(self) -> int:
        """Width of one head's values."""
        return int(self.w_v.shape[2])


def project(name: str, x: ArrayLike, matrices: Array) -> Array:
    """Multiply every token with every head's matrix.

    Parameters
    ----------
    name : str
        The argument's name, for the error.
    x : array_like, shape (..., n, d_model)
    matrices : ndarray, shape (num_heads, d_model, width)

    Returns
    -------
    ndarray, shape (..., num_heads, n, width)

    Raises
    ------
    TypeError, ValueError
        If `x` does not hold finite real numbers, its width is not d_model, or a product is
        too large for its dtype.

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
    return finite_product(f"{name} and the weights", x[..., None, :, :], matrices)


def multi_head_attention(
    x: ArrayLike,
    weights: MultiHeadWeights,
    *,
    context: ArrayLike | None = None,
    mask: ArrayLike | None = None,
    is_causal: bool = False,
) -> Array:
    """Return what every head finds for every token, mixed by the output projection.

    Parameters
    ----------
    x : array_like, shape (..., n, d_model)
        The tokens that ask.
    weights : MultiHeadWeights
    context : array_like, shape (..., m, d_model), optional
        The tokens that are asked: cross-attention. Default: `x` itself.
    mask : array_like of bool or float, broadcastable to (..., num_heads, n, m), optional
        True where a query may attend; a float mask is added to the scaled scores.
    is_causal : bool, default False

    Returns
    -------
    ndarray, shape (..., n, d_out)
        Without `w_o`, the heads' outputs side by side: shape (..., n, num_heads * d_v).

    Raises
    ------
    TypeError, ValueError
        If arguments do not fit, naming the argument, what is wanted and what came.

    References
    ----------
    Vaswani et al. (2017), section 3.2.2.

    Examples
    --------
    >>> import numpy as np
    >>> one = np.eye(2)[None]
    >>> weights = MultiHeadWeights(one, one, one)
    >>> multi_head_attention([[1.0, 0.0], [0.0, 1.0]], weights).round(4)
    array([[0.6698, 0.3302],
           [0.3302, 0.6698]])
    """
    if not isinstance(weights, MultiHeadWeights):
        raise TypeError(f"weights is a {type(weights).__name__}; MultiHeadWeights is wanted")
    x = as_finite_array("x", x, min_ndim=2)
    name, source = "x", x
    if context is not None:
        name, source = "context", as_finite_array("context", context, min_ndim=2)
        check_broadcast("x", x, "context", source)
    concat = merge_heads(
        scaled_dot_product_attention(
            project("x", x, weights.w_q),
            project(name, source, weights.w_k),
            project(name, source, weights.w_v),
            mask=mask,
            is_causal=is_causal,
        )
    )
    if weights.w_o is None:
        return concat
    return finite_product("the heads' outputs and w_o", concat, weights.w_o)
