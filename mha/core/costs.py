"""The cost of attention: parameters, floating-point operations and bytes.

A multiplication and an addition count as one operation each, so that a product of an
(m, k) and a (k, n) matrix costs 2 m k n. Softmax, masks and scaling are not counted: their
cost grows only with the number of weights.
"""

from dataclasses import dataclass

from mha.core.checks import as_count


@dataclass(frozen=True)
class LayerSizes:
    """The sizes of a multi-head attention layer, from `layer_sizes`.

    Parameters
    ----------
    d_model : int
        Width of the input.
    num_heads : int
    d_k : int
        Width of one head's queries and keys.
    d_v : int
        Width of one head's values.
    d_out : int
        Width of the output.
    num_groups : int
        Number of key and value heads: num_heads, or fewer for grouped-query attention.
    """

    d_model: int
    num_heads: int
    d_k: int
    d_v: int
    d_out: int
    num_groups: int

    @property
    def parameters(self) -> int:
        """The number of entries in w_q, w_k, w_v and w_o, without biases."""
        query = self.num_heads * self.d_model * self.d_k
        key_and_value = self.num_groups * self.d_model * (self.d_k + self.d_v)
        return query + key_and_value + self.num_heads * self.d_v * self.d_out

    def flops(self, num_queries: int, num_keys: int | None = None) -> dict[str, int]:
        """Return the floating-point operations of one forward pass, by stage.

        Parameters
        ----------
        num_queries : int
        num_keys : int, default num_queries

        Returns
        -------
        dict
            The keys, in the order of the computation, are "query", "key", "value", "scores",
            "weighted sum", "output projection".

        Examples
        --------
        >>> layer_sizes(d_model=4, num_heads=2).flops(3)["scores"]
        72
        """
        n = as_count("num_queries", num_queries)
        m = n if num_keys is None else as_count("num_keys", num_keys)
        h, groups = self.num_heads, self.num_groups
        return {
            "query": 2 * h * n * self.d_model * self.d_k,
            "key": 2 * groups * m * self.d_model * self.d_k,
            "value": 2 * groups * m * self.d_model * self.d_v,
            "scores": 2 * h * n * self.d_k * m,
            "weighted sum": 2 * h * n * m * self.d_v,
            "output projection": 2 * n * h * self.d_v * self.d_out,
        }

    def weight_bytes(
        self, num_queries: int, num_keys: int | None = None, *, itemsize: int = 4
    ) -> int:
        """Return the size in bytes of the attention weights of all heads.

        Parameters
        ----------
        num_queries : int
        num_keys : int, default num_queries
        itemsize : int, default 4
            Bytes of one number: 4 for float32.

        Returns
        -------
        int

        Examples
        --------
        >>> layer_sizes(d_model=512, num_heads=8).weight_bytes(1024)
        33554432
        """
        n = as_count("num_queries", num_queries)
        m = n if num_keys is None else as_count("num_keys", num_keys)
        return self.num_heads * n * m * as_count("itemsize", itemsize)

    def cache_bytes(self, num_tokens: int, *, itemsize: int = 4) -> int:
        """Return the size in bytes of this layer's cached keys and values for one sequence.

        Parameters
        ----------
        num_tokens : int
        itemsize : int, default 4
            Bytes of one number: 4 for float32.

        Returns
        -------
        int

        References
        ----------
        Shazeer (2019), section 2.4; Ainslie et al. (2023) for groups.

        Examples
        --------
        >>> [layer_sizes(512, 8, num_groups=groups).cache_bytes(1024) for groups in (8, 1)]
        [4194304, 524288]
        """
        numbers = self.num_groups * (self.d_k + self.d_v)
        return as_count("num_tokens", num_tokens) * numbers * as_count("itemsize", itemsize)


def layer_sizes(
    d_model: int,
    num_heads: int,
    *,
    d_k: int | None = None,
    d_v: int | None = None,
    d_out: int | None = None,
    num_groups: int | None = None,
) -> LayerSizes:
    """Return the sizes of a layer, with the usual default for each omitted size.

    Parameters
    ----------
    d_model, num_heads : int
    d_k : int, default d_model / num_heads
    d_v : int, default d_k
    d_out : int, default d_model
    num_groups : int, default num_heads
        Number of key and value heads.

    Returns
    -------
    LayerSizes

    Raises
    ------
    TypeError, ValueError
        If a size is not a whole number of at least 1, `d_k` is omitted and `num_heads` does
        not divide `d_model`, or `num_groups` does not divide `num_heads`.

    References
    ----------
    Vaswani et al. (2017), section 3.2.2 and table 3; Ainslie et al. (2023) for groups.

    Examples
    --------
    >>> base = layer_sizes(d_model=512, num_heads=8)
    >>> base.d_k, base.parameters
    (64, 1048576)
    """
    d_model, num_heads = as_count("d_model", d_model), as_count("num_heads", num_heads)
    if d_k is None and d_model % num_heads:
        raise ValueError(f"num_heads is {num_heads}; a divisor of d_model={d_model} is wanted")
    d_k = d_model // num_heads if d_k is None else as_count("d_k", d_k)
    num_groups = num_heads if num_groups is None else as_count("num_groups", num_groups)
    if num_heads % num_groups:
        raise ValueError(
            f"num_groups is {num_groups}; a divisor of num_heads={num_heads} is wanted"
        )
    return LayerSizes(
        d_model=d_model,
        num_heads=num_heads,
        d_k=d_k,
        d_v=d_k if d_v is None else as_count("d_v", d_v),
        d_out=d_model if d_out is None else as_count("d_out", d_out),
        num_groups=num_groups,
    )


@dataclass(frozen=True)
class ModelSizes:
    """The sizes of a Transformer with equal blocks, without its embeddings.

    Parameters
    ----------
    num_layers : int
    attention : LayerSizes
        The attention layer of each block.
    d_inner : int
        Hidden width of the feed-forward layer of each block.
    num_inner : int, default 2
        Number of matrices of a feed-forward layer: 2, or 3 for a gated one.

    Examples
    --------
    >>> gpt3 = ModelSizes(96, layer_sizes(12288, 96), 4 * 12288)
    >>> gpt3.parameters == 12 * 96 * 12288**2, gpt3.equal_flops
    (True, 73728.0)
    """

    num_layers: int
    attention: LayerSizes
    d_inner: int
    num_inner: int = 2

    @property
    def parameters(self) -> int:
        """The number of entries in all matrices."""
        inner = self.num_inner * self.attention.d_model * self.d_inner
        return self.num_layers * (self.attention.parameters + inner)

    def mixing_flops(self, num_keys: int) -> int:
        """Return the operations of scores and weighted sums for one token with `num_keys` keys."""
        by_stage = self.attention.flops(1, num_keys)
        return self.num_layers * (by_stage["scores"] + by_stage["weighted sum"])

    def token_flops(self, num_keys: int) -> int:
        """Return the operations of one token with `num_keys` keys, its own among them."""
        return 2 * self.parameters + self.mixing_flops(num_keys)

    @property
    def equal_flops(self) -> float:
        """The number of keys at which scores and weighted sums cost as much as the matrices."""
        return 2 * self.parameters / self.mixing_flops(1)

    def cache_bytes(self, num_tokens: int, *, itemsize: int = 4) -> int:
        """Return the size in bytes of all layers' cached keys and values for one sequence."""
        return self.num_layers * self.attention.cache_bytes(num_tokens, itemsize=itemsize)

    def step_bytes(self, num_tokens: int, *, num_texts: int = 1, itemsize: int = 4) -> int:
        """Return the bytes that one step reads: all matrices once, and each sequence's cache."""
        cache = self.cache_bytes(num_tokens, itemsize=itemsize)
        return self.parameters * itemsize + as_count("num_texts", num_texts) * cache

    def equal_bytes(self, num_texts: int = 1) -> float:
        """Return the sequence length at which the caches are as large as the matrices."""
        cache = self.cache_bytes(1, itemsize=1)
        return self.parameters / (as_count("num_texts", num_texts) * cache)
