"""One attention layer as real models have it: its weights, and what it does besides."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from mha.core.attention import scaled_dot_product_attention
from mha.core.checks import Array, as_finite_array, as_number, as_scale, frozen
from mha.core.heads import merge_heads
from mha.core.kinds import as_switch, as_word, check_kind
from mha.core.masks import as_additive_mask
from mha.core.multihead import MultiHeadWeights, as_tokens, mixed, projected
from mha.core.norm import rms_norm
from mha.core.positions import relative_buckets, rotary_angles, rotate_by


@dataclass(frozen=True, eq=False)
class AttentionLayer:
    """An attention layer of a real model: called with tokens, it returns its output.

    Parameters
    ----------
    weights : MultiHeadWeights
        Where queries and keys are turned, their columns stand in pairs, whatever the layout.
    layout : str, default ""
        The layout that it was read from: a name of `mha.layouts.LAYOUTS`.
    scale : float, optional
        What scores are multiplied with; None is 1 / sqrt(d_k). T5 has 1.
    query_norm, key_norm : array_like, shape (d_k,), optional
        Gains: each head's queries or keys are divided by their root mean square, and multiplied
        with these (Qwen3).
    eps : float, default 1e-6
        What is added to a mean square.
    base : float, optional
        Of rotary positions (`mha.rotary_angles`); None turns nothing.
    relative_bias : array_like, shape (num_buckets, num_heads), optional
        What is added to a scaled score for each range of distances (T5).
    is_causal : bool, default False
        Whether tokens see those before them alone; a relative bias then has no later ones either.
    prefix : str, default ""
        What the names of its arrays began with.

    Raises
    ------
    TypeError, ValueError
        If the parts are not of these kinds, or their widths do not fit.

    References
    ----------
    Su et al. (2024) for rotary positions; Raffel et al. (2020), section 2.1, for relative biases.

    Examples
    --------
    >>> one = np.eye(2)[None]
    >>> layer = AttentionLayer(MultiHeadWeights(one, one, one, b_v=[[3, 5]]), is_causal=True)
    >>> layer([[1.0, 0.0], [0.0, 1.0]]).round(4)
    array([[4.    , 5.    ],
           [3.3302, 5.6698]])
    """

    weights: MultiHeadWeights
    layout: str = ""
    scale: float | None = None
    query_norm: Array | None = None
    key_norm: Array | None = None
    eps: float = 1e-6
    base: float | None = None
    relative_bias: Array | None = None
    is_causal: bool = False
    prefix: str = ""

    def __post_init__(self) -> None:
        check_kind("weights", self.weights, MultiHeadWeights)
        for name in ("layout", "prefix"):
            as_word(name, getattr(self, name))
        as_scale(self.scale, self.weights.d_k)
        as_switch("is_causal", self.is_causal)
        as_number("eps", self.eps, least=0)
        if self.base is not None:
            rotary_angles(0, self.weights.d_k, base=self.base)
        for name, ndim, width, wanted in (
            ("query_norm", 1, self.weights.d_k, "a number a column of a head"),
            ("key_norm", 1, self.weights.d_k, "a number a column of a head"),
            ("relative_bias", 2, self.weights.num_heads, "a column a head"),
        ):
            if getattr(self, name) is not None:
                array = as_finite_array(name, getattr(self, name))
                if array.ndim != ndim or array.shape[-1] != width:
                    raise ValueError(
                        f"{name} has shape {array.shape}; {wanted}, {width}, is wanted"
                    )
                object.__setattr__(self, name, frozen(array))

    def __call__(
        self,
        x: ArrayLike,
        *,
        context: ArrayLike | None = None,
        mask: ArrayLike | None = None,
        is_causal: bool | None = None,
        angles: ArrayLike | None = None,
    ) -> Array:
        """Return the layer's output.

        Parameters
        ----------
        x : array_like, shape (..., n, d_model)
        context, mask
            As in `mha.multi_head_attention`.
        is_causal : bool, optional
            Default: the layer's own.
        angles : array_like, shape (n, d_k / 2), optional
            By how much queries and keys are turned, in place of what `base` says of tokens
            0 to n - 1.

        Returns
        -------
        ndarray, shape (..., n, d_out)

        Raises
        ------
        TypeError, ValueError
            As `mha.multi_head_attention`.
        """
        weights = self.weights
        x, name, source = as_tokens(x, weights, context, mask)
        query, key, value = projected(x, weights, source, name)
        query, key = self.normed(query, key)
        if angles is None:
            angles = self.angles(x.shape[-2])
        if angles is not None:
            if context is not None:
                raise ValueError("angles are those of the places in x; no context is wanted")
            query, key = rotate_by(query, angles), rotate_by(key, angles)
        bias = self.position_bias(query.shape[-2], key.shape[-2])
        if bias is not None and mask is not None:
            leading = np.broadcast_shapes(query.shape[:-3], key.shape[:-3])
            bias = bias + as_additive_mask(mask, False, (*leading, *bias.shape), query.dtype)
        heads = scaled_dot_product_attention(
            query,
            key,
            value,
            mask=mask if bias is None else bias,
            is_causal=self.is_causal if is_causal is None else is_causal,
            scale=self.scale,
            enable_gqa=weights.num_groups < weights.num_heads,
        )
        return mixed(merge_heads(heads), weights)

    def normed(self, query: Array, key: Array) -> tuple[Array, Array]:
        """Return queries and keys normalised, where the layer does so.

        Parameters
        ----------
        query, key : ndarray, shape (..., d_k)

        Returns
        -------
        query, key : ndarray, of the same shapes
        """
        if self.query_norm is not None:
            query = rms_norm(query, self.query_norm, self.eps)
        if self.key_norm is not None:
            key = rms_norm(key, self.key_norm, self.eps)
        return query, key

    def angles(self, num_tokens: int) -> Array | None:
        """Return by how much queries and keys of the first tokens are turned, if they are.

        Parameters
        ----------
        num_tokens : int

        Returns
        -------
        ndarray, shape (num_tokens, d_k / 2), or None
        """
        if self.base is None:
            return None
        return rotary_angles(np.arange(num_tokens), self.weights.d_k, base=self.base)

    def position_bias(self, num_queries: int, num_keys: int) -> Array | None:
        """Return what is added to scaled scores for the distances of tokens, if anything is.

        Parameters
        ----------
        num_queries, num_keys : int

        Returns
        -------
        ndarray, shape (num_heads, num_queries, num_keys), or None
        """
        if self.relative_bias is None:
            return None
        buckets = relative_buckets(
            num_queries, num_keys, len(self.relative_bias), is_causal=self.is_causal
        )
        return np.moveaxis(self.relative_bias[buckets], -1, 0)
