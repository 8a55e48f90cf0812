"""Worked examples: the inputs of a run, from tokens and embeddings to matrices and masks."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from mha.core.checks import (
    Array,
    as_count,
    as_finite_array,
    as_index,
    as_names,
    as_number,
    frozen_copy,
)
from mha.core.distributions import row_sums
from mha.core.multihead import MultiHeadWeights, project
from mha.core.option_checks import as_bool, as_string, check_type
from mha.core.transformer import Block

_ZERO_WIDTH_JOINERS = str.maketrans("", "", "\u200c\u200d")
"""A table that deletes zero-width joiners and non-joiners.

They are not printable, but words of some scripts and composed emoji contain them.
"""


@dataclass(frozen=True)
class Reading:
    """A damaged number of a source: the number as printed, and the intended one.

    Parameters
    ----------
    quantity : str
        Name of the printed quantity.
    line : int
        Line of the source's text.
    printed, intended : str
    reason : str
        Evidence for the intended number.
    """

    quantity: str
    line: int
    printed: str
    intended: str
    reason: str


@dataclass(frozen=True, eq=False, kw_only=True)
class Refinements:
    """Parts of newer attention layers: norms of queries and keys, a cap of scores, sinks.

    Parameters
    ----------
    query_norm, key_norm : array_like, shape (num_heads, d_k), optional
        Gains of the RMS norms of queries and keys, which precede rotation.
    is_joint : bool, default False
        Whether the mean square is over all heads of a token together, not over each head.
    eps : float, default 1e-6
        The number added to a mean square.
    softcap : float, optional
        The cap of scaled scores (`mha.core.score_variants.capped_scores`).
    sinks : array_like, shape (num_heads,), optional
        A score per head that takes part in the softmax but has no value
        (`mha.core.score_variants.softmax_with_sink`).

    Raises
    ------
    TypeError, ValueError
        If an argument has another type or number of axes.
    """

    query_norm: Array | None = None
    key_norm: Array | None = None
    is_joint: bool = False
    eps: float = 1e-6
    softcap: float | None = None
    sinks: Array | None = None

    def __post_init__(self) -> None:
        as_bool("is_joint", self.is_joint)
        as_number("eps", self.eps, least=0)
        if self.softcap is not None:
            as_number("softcap", self.softcap, above=0)
        for name, ndim in (("query_norm", 2), ("key_norm", 2), ("sinks", 1)):
            if getattr(self, name) is not None:
                array = as_finite_array(name, getattr(self, name))
                if array.ndim != ndim:
                    raise ValueError(f"{name} has shape {array.shape}; {ndim} axes are wanted")
                object.__setattr__(self, name, frozen_copy(array))

    def check_sizes(self, num_heads: int, d_k: int) -> None:
        """Raise a ValueError unless the arrays fit a number of heads and their width."""
        wanted = {
            "query_norm": (num_heads, d_k),
            "key_norm": (num_heads, d_k),
            "sinks": (num_heads,),
        }
        for name, shape in wanted.items():
            array = getattr(self, name)
            if array is not None and array.shape != shape:
                raise ValueError(f"{name} has shape {array.shape}; {shape} is wanted")


@dataclass(frozen=True, eq=False, kw_only=True)
class WorkedExample:
    """The inputs of a run.

    A run starts from `embeddings` with `layer` or `block`, or from `query`, `key` and `value`.

    Parameters
    ----------
    name : str
        The example's address: lower-case words joined by hyphens.
    title : str
    tokens : sequence of str, length n
    head_names : sequence of str, length num_heads
    source : str
        Origin of the inputs: the title of a document, or their author.
    embeddings : array_like, shape (n, d_model), optional
    layer : MultiHeadWeights, optional
        The projection matrices and biases, with as many groups as heads.
    block : Block, optional
        The transformer block around the layer. Its attention is the layer; if `layer` is given
        too, that layer replaces the block's attention.
    query, key : array_like, shape (num_heads, n, d_k), optional
        For one head, the shape may be (n, d_k).
    value : array_like, shape (num_heads, n, d_v), optional
    positions : array_like, shape (n, d_model), optional
        Position vectors, which are added to the embeddings. They belong to positions, so that they
        stay where they are when tokens are exchanged.
    angles : array_like, shape (n, d_k / 2), optional
        Rotation of each pair of components of the queries and keys at each position, in radians.
    focus : int, optional
        Index of the token that the chapter computes in full.
    mask : array_like of bool or float, broadcastable to (num_heads, n, n), optional
    is_causal : bool, default False
    scale : float, default 1 / sqrt(d_k)
    refinements : Refinements, optional
        Norms of queries and keys, a cap of scores, sinks.
    keys_at_once : int, optional
        Number of keys in a block of a running softmax. By default the run has no running softmax.
    unembedding : array_like, shape (d_model, num_words), optional
        One column per word. The normalised stream after a block of attention alone, times this
        matrix, gives the logits of the next word.
    vocabulary : sequence of str, length num_words, optional
        The words.
    target_weights : array_like, shape (num_heads, n, n), optional
        Weights that the source draws, if it draws them instead of computing them.
    shows : str, default ""
        The concept that the example is best for; the book's overview lists examples with one.
    readings : tuple of Reading, default ()
        Damaged numbers of the source, for which the inputs have the intended numbers.

    Raises
    ------
    TypeError, ValueError
        If the arguments do not fit together. The message names the argument, its value and the
        values that are valid.

    Examples
    --------
    >>> example = WorkedExample(
    ...     name="two-words", title="Two words", tokens=["cat", "sat"], head_names=["only"],
    ...     source="made up", query=np.eye(2), key=np.eye(2), value=np.eye(2))
    >>> example.num_heads
    1
    """

    name: str
    title: str
    tokens: tuple[str, ...]
    head_names: tuple[str, ...]
    source: str
    embeddings: Array | None = None
    layer: MultiHeadWeights | None = None
    block: Block | None = None
    query: Array | None = None
    key: Array | None = None
    value: Array | None = None
    positions: Array | None = None
    angles: Array | None = None
    focus: int | None = None
    mask: Array | None = None
    is_causal: bool = False
    scale: float | None = None
    refinements: Refinements | None = None
    keys_at_once: int | None = None
    unembedding: Array | None = None
    vocabulary: tuple[str, ...] | None = None
    target_weights: Array | None = None
    shows: str = ""
    readings: tuple[Reading, ...] = ()

    def __post_init__(self) -> None:
        self._check_words()
        self._settle_block()
        object.__setattr__(self, "tokens", as_names("tokens", self.tokens))
        object.__setattr__(self, "head_names", as_names("head_names", self.head_names))
        self._check_layer()
        self._check_start()
        for name in ("embeddings", "query", "key", "value"):
            self._freeze(name)
        self._check_heads()
        self._check_positions()
        self._check_vocabulary()
        if self.mask is not None:
            object.__setattr__(self, "mask", frozen_copy(np.asarray(self.mask)))
        if self.num_heads != len(self.head_names):
            raise ValueError(
                f"head_names has {len(self.head_names)} names for {self.num_heads} heads;"
                " one per head is wanted"
            )
        if self.keys_at_once is not None:
            as_count("keys_at_once", self.keys_at_once)
        if self.refinements is not None:
            self._check_refinements(self.refinements)
        if self.focus is not None:
            as_index("focus", self.focus, len(self.tokens))
        if self.target_weights is not None:
            self._check_target(self.target_weights)
        if self.embeddings is not None and self.layer is not None:
            for matrices in (self.layer.w_q, self.layer.w_k):
                project("embeddings", self.embeddings, matrices)

    def _check_refinements(self, refinements: Refinements) -> None:
        """Raise unless norms and sinks fit the heads, and sinks come without a running softmax."""
        check_type("refinements", refinements, Refinements)
        start = self.query if self.layer is None else self.layer.w_q
        assert start is not None
        refinements.check_sizes(self.num_heads, start.shape[-1])
        if self.keys_at_once is not None and refinements.sinks is not None:
            raise ValueError(
                f"keys_at_once is {self.keys_at_once}, but a running softmax keeps no sinks; None"
                " is wanted with them"
            )

    def _check_words(self) -> None:
        """Raise unless names and titles are strings, switches are bools, and tokens are visible."""
        for name in ("name", "title", "source", "shows"):
            as_string(name, getattr(self, name))
        as_bool("is_causal", self.is_causal)
        for token in as_names("tokens", self.tokens):
            visible = token.translate(_ZERO_WIDTH_JOINERS)
            if not visible.strip() or not visible.isprintable():
                raise ValueError(f"tokens has {token!r}; visible characters are wanted")

    def _settle_block(self) -> None:
        """Check the block; set the layer to its attention, or its attention to a given layer."""
        if self.block is None:
            return
        check_type("block", self.block, Block)
        if self.layer is None:
            object.__setattr__(self, "layer", self.block.attention)
        elif self.layer is not self.block.attention:
            object.__setattr__(self, "block", replace(self.block, attention=self.layer))

    def _check_layer(self) -> None:
        """Raise unless each head of the layer has its own key and value projection."""
        if self.layer is None:
            return
        if not isinstance(self.layer, MultiHeadWeights):
            raise TypeError(f"layer is a {type(self.layer).__name__}; MultiHeadWeights is wanted")
        if self.layer.num_groups != self.layer.num_heads:
            raise ValueError(
                f"layer has {self.layer.num_groups} groups for {self.layer.num_heads} heads;"
                " one key and one value projection per head are wanted"
            )

    def _check_target(self, target: Array) -> None:
        """Raise unless the target has a row of weights for each head and token."""
        target = as_finite_array("target_weights", target)
        wanted = (self.num_heads, len(self.tokens), len(self.tokens))
        if target.shape != wanted:
            raise ValueError(f"target_weights has shape {target.shape}; {wanted} is wanted")
        if not np.allclose(row_sums(target), 1):
            raise ValueError("target_weights has a row that does not sum to 1")
        object.__setattr__(self, "target_weights", frozen_copy(target))

    def _check_start(self) -> None:
        """Raise unless exactly one of the two groups of inputs is given."""
        projected = self.embeddings is not None and self.layer is not None
        given = all(x is not None for x in (self.query, self.key, self.value))
        parts = [
            name
            for name in ("embeddings", "layer", "query", "key", "value")
            if getattr(self, name) is not None
        ]
        if (projected, len(parts)) != (True, 2) and (given, len(parts)) != (True, 3):
            raise ValueError(
                f"the example has {', '.join(parts) or 'no arrays'}; embeddings with layer,"
                " or query, key and value are wanted"
            )

    def _freeze(self, name: str) -> None:
        """Check one array, add an axis of heads if it has none, and make it read-only."""
        if getattr(self, name) is None:
            return
        array = as_finite_array(name, getattr(self, name), min_ndim=2)
        wanted = 2 if name == "embeddings" else 3
        if wanted == 3 and array.ndim == 2:
            array = array[None]
        if array.ndim != wanted or array.shape[-2] != len(self.tokens):
            raise ValueError(
                f"{name} has shape {array.shape}; a row for each of the"
                f" {len(self.tokens)} tokens is wanted"
            )
        object.__setattr__(self, name, frozen_copy(array))

    def _check_heads(self) -> None:
        """Raise unless the shapes of a given query, key and value match."""
        if self.query is None or self.key is None or self.value is None:
            return
        if self.key.shape != self.query.shape:
            raise ValueError(
                f"query has shape {self.query.shape} but key has {self.key.shape}; they must match"
            )
        if len(self.value) != len(self.query):
            raise ValueError(
                f"query has {len(self.query)} heads but value has {len(self.value)};"
                " they must match"
            )

    def _check_positions(self) -> None:
        """Raise unless positions and angles have one row per token, and the width of their use."""
        x, n = self.embeddings, len(self.tokens)
        if self.positions is not None:
            if x is None:
                raise ValueError("positions are added to embeddings; some are wanted")
            self._freeze_positions("positions", (n, x.shape[1]))
        if self.angles is not None:
            start = self.query if self.layer is None else self.layer.w_q
            assert start is not None
            if start.shape[-1] % 2:
                raise ValueError(f"d_k is {start.shape[-1]}; an even number is wanted for angles")
            self._freeze_positions("angles", (n, start.shape[-1] // 2))

    def _check_vocabulary(self) -> None:
        """Raise unless the unembedding fits the block, and the vocabulary the unembedding."""
        if self.vocabulary is not None:
            object.__setattr__(self, "vocabulary", as_names("vocabulary", self.vocabulary))
        if self.unembedding is None:
            return
        block = self.block
        if block is None or block.norm != "before" or block.feed_forward is not None:
            raise ValueError(
                "unembedding reads a block of attention alone, normalised before; one is wanted"
            )
        array = as_finite_array("unembedding", self.unembedding, min_ndim=2)
        count = array.shape[-1] if self.vocabulary is None else len(self.vocabulary)
        if array.shape != (block.d_model, count):
            raise ValueError(
                f"unembedding has shape {array.shape}; {(block.d_model, count)} is wanted"
            )
        object.__setattr__(self, "unembedding", frozen_copy(array))

    def _freeze_positions(self, name: str, wanted: tuple[int, int]) -> None:
        """Check the shape of an array with one row per position, and make it read-only."""
        array = as_finite_array(name, getattr(self, name))
        if array.shape != wanted:
            raise ValueError(f"{name} has shape {array.shape}; {wanted} is wanted")
        object.__setattr__(self, name, frozen_copy(array))

    @property
    def num_heads(self) -> int:
        """Number of heads."""
        if self.layer is not None:
            return self.layer.num_heads
        assert self.query is not None
        return int(self.query.shape[0])
