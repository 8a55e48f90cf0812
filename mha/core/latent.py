"""Latent attention: keys and values are compressed to one short vector a token, and kept so.

Each head makes its key and its value of the same latent vector. Since a product of matrices may be
taken in any order, a head's query can also be brought to the latent vectors instead, so that no
key and no value is ever made: the absorbed form, with the same outputs.
"""

from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import ArrayLike

from mha.core.attention import masked_scores, scaled_scores
from mha.core.checks import (
    Array,
    as_count,
    as_finite_array,
    finite_product,
    finite_sum,
    frozen,
    in_one_dtype,
)
from mha.core.heads import merge_heads
from mha.core.norm import rms_norm
from mha.core.option_checks import as_switch, check_kind
from mha.core.positions import rotate_by
from mha.core.softmax import softmax

EPS = 1e-6
"""What the norms of latent vectors add to the mean square."""


@dataclass(frozen=True, eq=False)
class LatentWeights:
    """The matrices of a layer of latent attention, named as in the paper: d down, u up, r rotary.

    Parameters
    ----------
    w_dkv : array_like, shape (d_model, d_c)
        Makes the latent vector, which is kept.
    w_uk : array_like, shape (num_heads, d_c, d_k)
    w_uv : array_like, shape (num_heads, d_c, d_v)
    w_kr : array_like, shape (d_model, d_r)
        Makes the part of the key that is turned, one for all heads; it is kept too.
    w_uq : array_like, shape (num_heads, d_q, d_k)
    w_qr : array_like, shape (num_heads, d_q, d_r)
    w_o : array_like, shape (num_heads * d_v, d_out)
    w_dq : array_like, shape (d_model, d_q), optional
        Makes the queries' own latent vector; without it d_q is d_model.
    gain, query_gain : array_like, shape (d_c,) and (d_q,), optional
        Of an RMS norm of the latent vectors.

    Raises
    ------
    TypeError, ValueError
        If an array does not hold finite real numbers or does not fit the others.

    References
    ----------
    DeepSeek-AI (2024), section 2.1.2 and 2.1.3.
    """

    w_dkv: Array
    w_uk: Array
    w_uv: Array
    w_kr: Array
    w_uq: Array
    w_qr: Array
    w_o: Array
    w_dq: Array | None = None
    gain: Array | None = None
    query_gain: Array | None = None

    def __post_init__(self) -> None:
        given = {f.name: getattr(self, f.name) for f in fields(self)}
        given = {name: value for name, value in given.items() if value is not None}
        ranks = {"w_uk": 3, "w_uv": 3, "w_uq": 3, "w_qr": 3, "gain": 1, "query_gain": 1}
        found = [as_finite_array(n, v, min_ndim=ranks.get(n, 2)) for n, v in given.items()]
        for name, array in zip(given, in_one_dtype(*found), strict=True):
            object.__setattr__(self, name, frozen(array))
        if self.w_uk.ndim != 3:
            wanted = "(num_heads, d_c, d_k) is wanted"
            raise ValueError(f"w_uk has shape {self.w_uk.shape}; {wanted}")
        heads, d_c, d_k = self.w_uk.shape
        d_q = self.w_uq.shape[1]
        d_r, d_v = self.w_kr.shape[-1], self.w_uv.shape[-1]
        shapes = {
            "w_dkv": (self.d_model, d_c),
            "w_uv": (heads, d_c, d_v),
            "w_kr": (self.d_model, d_r),
            "w_uq": (heads, d_q, d_k),
            "w_qr": (heads, d_q, d_r),
            "w_o": (heads * d_v, self.w_o.shape[-1]),
            "w_dq": (self.d_model, d_q if self.w_dq is not None else self.d_model),
            "gain": (d_c,),
            "query_gain": (d_q,),
        }
        for name, shape in shapes.items():
            array = getattr(self, name)
            if array is not None and array.shape != shape:
                raise ValueError(f"{name} has shape {array.shape}; {shape} is wanted")
        if self.w_dq is None and d_q != self.d_model:
            raise ValueError(f"w_uq takes {d_q} numbers; without w_dq {self.d_model} are wanted")

    @property
    def d_model(self) -> int:
        """The width of the input."""
        return int(self.w_dkv.shape[0])

    @property
    def kept(self) -> int:
        """How many numbers of a token are kept for the tokens to come."""
        return int(self.w_dkv.shape[1] + self.w_kr.shape[1])

    def cache_bytes(self, num_tokens: int, *, itemsize: int = 2) -> int:
        """Return the bytes that is kept of a text in this layer.

        Parameters
        ----------
        num_tokens : int
        itemsize : int, default 2
            Bytes of one number: 2 for bfloat16.
        """
        return as_count("num_tokens", num_tokens) * self.kept * as_count("itemsize", itemsize)


@dataclass(frozen=True, eq=False)
class LatentRun:
    """One run of latent attention, with every step kept; arrays have an axis of heads first.

    Parameters
    ----------
    latent : ndarray, shape (n, d_c)
    turned_key : ndarray, shape (n, d_r)
        With `latent`, what is kept.
    query, turned_query : ndarray, shape (num_heads, n, d_k) and (num_heads, n, d_r)
    met : ndarray, shape (num_heads, n, d_k) or (num_heads, n, d_c)
        What meets the keys: the queries, or in the absorbed form what they are for latent vectors.
    key, value : ndarray or None
        Made of the latent vectors; None in the absorbed form.
    scores, weights : ndarray, shape (num_heads, n, n)
        The scores are scaled.
    mixed : ndarray or None, shape (num_heads, n, d_c)
        The weighted sums of latent vectors in the absorbed form.
    head_outputs : ndarray, shape (num_heads, n, d_v)
    output : ndarray, shape (n, d_out)
    """

    latent: Array
    turned_key: Array
    query: Array
    turned_query: Array
    met: Array
    key: Array | None
    value: Array | None
    scores: Array
    weights: Array
    mixed: Array | None
    head_outputs: Array
    output: Array


def latent_attention(
    x: ArrayLike,
    weights: LatentWeights,
    *,
    angles: ArrayLike | None = None,
    is_causal: bool = True,
    absorbed: bool = False,
    scale: float | None = None,
) -> LatentRun:
    """Return a run of latent attention over one text.

    Parameters
    ----------
    x : array_like, shape (n, d_model)
    weights : LatentWeights
    angles : array_like, shape (n, d_r / 2), optional
        By how much the rotary parts are turned, pairs side by side; without it they are not.
    is_causal : bool, default True
    absorbed : bool, default False
        Whether queries are brought to the latent vectors, and no key and value is made.
    scale : float, default 1 / sqrt(d_k + d_r)
        The factor of the scores.

    Returns
    -------
    LatentRun
        Both forms have the same weights and outputs, up to rounding.

    Raises
    ------
    TypeError, ValueError
        If arguments do not fit, or a product is too large for its dtype.

    References
    ----------
    DeepSeek-AI (2024), equations 9 to 19; appendix C for the whole.

    Examples
    --------
    >>> import numpy as np
    >>> one = np.ones((1, 2, 2))
    >>> layer = LatentWeights(np.eye(2), one, one, np.eye(2), one, one, np.eye(2))
    >>> run = latent_attention(np.eye(2), layer)
    >>> run.weights[0].round(4), layer.kept
    (array([[1. , 0. ],
           [0.5, 0.5]]), 4)
    """
    check_kind("weights", weights, LatentWeights)
    (x, _) = in_one_dtype(as_finite_array("x", x, min_ndim=2), weights.w_dkv)
    w, absorbed = weights, as_switch("absorbed", absorbed)
    if x.ndim != 2 or x.shape[1] != w.d_model:
        raise ValueError(f"x has shape {x.shape}; rows of {w.d_model} numbers are wanted")
    asking = x if w.w_dq is None else _normed(finite_product("x and w_dq", x, w.w_dq), w.query_gain)
    latent = _normed(finite_product("x and w_dkv", x, w.w_dkv), w.gain)
    query = finite_product("the queries' latent vectors and w_uq", asking, w.w_uq)
    turned_query = finite_product("the queries' latent vectors and w_qr", asking, w.w_qr)
    turned_key = finite_product("x and w_kr", x, w.w_kr)
    if angles is not None:
        turned_query, turned_key = rotate_by(turned_query, angles), rotate_by(turned_key, angles)
        if turned_key.ndim != 2:
            raise ValueError(f"angles has shape {np.shape(angles)}; a row a token is wanted")
    key = value = mixed = None
    if absorbed:
        met = finite_product("query and w_uk", query, w.w_uk.swapaxes(-1, -2))
        raw = finite_product("query and latent", met, latent.T)
    else:
        met = query
        key = finite_product("latent and w_uk", latent, w.w_uk)
        value = finite_product("latent and w_uv", latent, w.w_uv)
        raw = finite_product("query and key", query, key.swapaxes(-1, -2))
    by_place = finite_product("turned query and turned key", turned_query, turned_key.T)
    total = finite_sum("scores of contents and of places", raw, by_place)
    scores = scaled_scores(total, query.shape[-1] + turned_query.shape[-1], scale)
    shares = softmax(masked_scores(scores, None, is_causal))
    if value is None:
        mixed = finite_product("weights and latent", shares, latent)
        outputs = finite_product("mixed and w_uv", mixed, w.w_uv)
    else:
        outputs = finite_product("weights and value", shares, value)
    output = finite_product("concat and w_o", merge_heads(outputs), w.w_o)
    return LatentRun(
        latent,
        turned_key,
        query,
        turned_query,
        met,
        key,
        value,
        scores,
        shares,
        mixed,
        outputs,
        output,
    )


def _normed(x: Array, gain: Array | None) -> Array:
    return x if gain is None else rms_norm(x, gain, EPS)
