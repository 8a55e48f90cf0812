"""A forward run with every intermediate kept.

A `WorkedExample` is what a run starts from, a `Trace` is its record. Every table, figure and
line of arithmetic in the book is a view of a trace.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields

import numpy as np

from mha.attention import (
    attention_scores,
    attention_weights,
    masked_scores,
    scaled_scores,
)
from mha.checks import Array, as_finite_array, as_index, as_names, finite_product, frozen
from mha.heads import merge_heads
from mha.multihead import MultiHeadWeights, project

LARGEST_EXPONENT = 80.0
"""Beyond this size of a row's largest score, exponentials are shown after a shift."""


Prints = Callable[..., Sequence[tuple[str, bool]]]
"""Tells what a source prints: called with a stage, its place and a term, as `mha.audit.Prints` is,
it returns each print of that number with whether it agrees with the true one."""


@dataclass(frozen=True)
class Reading:
    """Where a source's print is damaged: what stands there, and what was meant.

    Parameters
    ----------
    quantity : str
        What the print claims to be.
    line : int
        Line in the source's text.
    printed, intended : str
    reason : str
        Why the intended reading is the right one.
    """

    quantity: str
    line: int
    printed: str
    intended: str
    reason: str


@dataclass(frozen=True, eq=False, kw_only=True)
class WorkedExample:
    """What a worked example starts from.

    Give either `embeddings` with `weights`, or `query`, `key` and `value`.

    Parameters
    ----------
    name : str
        The example's address: lower-case words joined by hyphens.
    title : str
    tokens : sequence of str, length n
    head_names : sequence of str, length num_heads
    source : str
        Where the inputs come from: a document's title, or who made them.
    embeddings : array_like, shape (n, d_model), optional
    weights : MultiHeadWeights, optional
    query, key : array_like, shape (num_heads, n, d_k), optional
        For one head, (n, d_k) will do.
    value : array_like, shape (num_heads, n, d_v), optional
    focus : int, optional
        Index of the token that the text follows.
    mask : array_like of bool or float, broadcastable to (num_heads, n, n), optional
    is_causal : bool, default False
    scale : float, default 1 / sqrt(d_k)
    target_weights : array_like, shape (num_heads, n, n), optional
        The weights that the source draws, where it draws them instead of computing them.
    shows : str, default ""
        The concept that the example shows best; the book's overview lists examples that have one.
    readings : tuple of Reading, default ()
        Where the source's print is damaged and the inputs follow what was meant.

    Raises
    ------
    TypeError, ValueError
        If the parts do not fit together, naming the part, what is wanted and what came.

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
    weights: MultiHeadWeights | None = None
    query: Array | None = None
    key: Array | None = None
    value: Array | None = None
    focus: int | None = None
    mask: Array | None = None
    is_causal: bool = False
    scale: float | None = None
    target_weights: Array | None = None
    shows: str = ""
    readings: tuple[Reading, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "tokens", as_names("tokens", self.tokens))
        object.__setattr__(self, "head_names", as_names("head_names", self.head_names))
        if self.weights is not None and not isinstance(self.weights, MultiHeadWeights):
            raise TypeError(
                f"weights is a {type(self.weights).__name__}; MultiHeadWeights is wanted"
            )
        self._check_start()
        for name in ("embeddings", "query", "key", "value"):
            self._freeze(name)
        self._check_heads()
        if self.mask is not None:
            object.__setattr__(self, "mask", frozen(np.asarray(self.mask)))
        if self.num_heads != len(self.head_names):
            raise ValueError(
                f"head_names has {len(self.head_names)} names for {self.num_heads} heads;"
                " one a head is wanted"
            )
        if self.focus is not None:
            as_index("focus", self.focus, len(self.tokens))
        if self.target_weights is not None:
            self._check_target(self.target_weights)
        if self.embeddings is not None and self.weights is not None:
            project("embeddings", self.embeddings, self.weights.w_q)

    def _check_target(self, target: Array) -> None:
        """Raise unless the target has a row of weights for each head and token."""
        target = as_finite_array("target_weights", target)
        wanted = (self.num_heads, len(self.tokens), len(self.tokens))
        if target.shape != wanted:
            raise ValueError(f"target_weights has shape {target.shape}; {wanted} is wanted")
        if not np.allclose(target.sum(axis=-1), 1):
            raise ValueError("target_weights has a row that does not sum to 1")
        object.__setattr__(self, "target_weights", frozen(target))

    def _check_start(self) -> None:
        """Raise unless the example starts in exactly one of the two ways."""
        projected = self.embeddings is not None and self.weights is not None
        given = all(x is not None for x in (self.query, self.key, self.value))
        parts = [
            name
            for name in ("embeddings", "weights", "query", "key", "value")
            if getattr(self, name) is not None
        ]
        if (projected, len(parts)) != (True, 2) and (given, len(parts)) != (True, 3):
            raise ValueError(
                f"the example has {', '.join(parts) or 'no arrays'}; embeddings with weights,"
                " or query, key and value are wanted"
            )

    def _freeze(self, name: str) -> None:
        """Check one array, give it an axis of heads where it needs one, and make it read-only."""
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
        object.__setattr__(self, name, frozen(array))

    def _check_heads(self) -> None:
        """Raise unless query, key and value, where they are given, go together."""
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

    @property
    def num_heads(self) -> int:
        """How many heads the example has."""
        if self.weights is not None:
            return self.weights.num_heads
        assert self.query is not None
        return int(self.query.shape[0])


@dataclass(frozen=True, eq=False, kw_only=True)
class Trace:
    """Every intermediate of one forward run, read-only.

    Parameters
    ----------
    example : WorkedExample
        What the run started from.
    tokens : tuple of str, length n
    embeddings : ndarray, shape (n, d_model), or None
        None for an example that starts at query, key and value.
    query, key : ndarray, shape (num_heads, n, d_k)
    value : ndarray, shape (num_heads, n, d_v)
    scores : ndarray, shape (num_heads, n, n)
        Dot products, before scaling.
    scaled_scores : ndarray, shape (num_heads, n, n)
        Scores times the scale; minus infinity where a mask forbids.
    shifts : ndarray, shape (num_heads, n)
        What each row subtracts from its scaled scores before the exponential: 0, unless the
        row's largest score is beyond ±80 and its exponentials might leave float's range.
    exponentials : ndarray, shape (num_heads, n, n)
        e to the scaled scores less the row's shift.
    row_sums : ndarray, shape (num_heads, n)
        Sums of each row's exponentials.
    weights : ndarray, shape (num_heads, n, n)
        The softmax's output: exponentials over row sums.
    head_outputs : ndarray, shape (num_heads, n, d_v)
    concat : ndarray, shape (n, num_heads * d_v)
        The heads' outputs side by side.
    output : ndarray, shape (n, d_out), or None
        None without an output projection.
    head_contributions : ndarray, shape (num_heads, n, d_out), or None
        Each head's share of the output; the shares sum to it. None without a projection.
    prints : callable, optional
        What the example's source prints for these numbers, for the views to set beside them.
    """

    example: WorkedExample
    tokens: tuple[str, ...]
    embeddings: Array | None
    query: Array
    key: Array
    value: Array
    scores: Array
    scaled_scores: Array
    shifts: Array
    exponentials: Array
    row_sums: Array
    weights: Array
    head_outputs: Array
    concat: Array
    output: Array | None
    head_contributions: Array | None
    prints: Prints | None = None

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if isinstance(value, np.ndarray):
                object.__setattr__(self, field.name, frozen(value))

    @property
    def num_heads(self) -> int:
        """How many heads the run has."""
        return int(self.query.shape[0])

    @property
    def head_names(self) -> tuple[str, ...]:
        """The heads' names, in order."""
        return self.example.head_names


def trace(example: WorkedExample, *, prints: Prints | None = None) -> Trace:
    """Run a worked example and keep every intermediate.

    Parameters
    ----------
    example : WorkedExample
    prints : callable, optional
        What the example's source prints, such as `mha.audit.Prints`: kept for the views.

    Returns
    -------
    Trace
        Its arrays equal those of the plain functions to the last bit, but for `exponentials`
        and `row_sums`, which the stable softmax never forms unshifted.

    Raises
    ------
    TypeError, ValueError
        If `example` is not a WorkedExample, or its arrays do not fit together.

    References
    ----------
    Vaswani et al. (2017), section 3.2.

    Examples
    --------
    >>> example = WorkedExample(
    ...     name="two-words", title="Two words", tokens=["cat", "sat"], head_names=["only"],
    ...     source="made up", query=np.eye(2), key=np.eye(2), value=np.eye(2), scale=1.0)
    >>> trace(example).weights.round(4)
    array([[[0.7311, 0.2689],
            [0.2689, 0.7311]]])
    """
    if not isinstance(example, WorkedExample):
        raise TypeError(f"example is a {type(example).__name__}; a WorkedExample is wanted")
    query, key, value = _projections(example)
    scores = attention_scores(query, key)
    scaled = masked_scores(
        scaled_scores(scores, query.shape[-1], example.scale), example.mask, example.is_causal
    )
    shifts = _shifts(scaled)
    # A difference that overflows is minus infinity, whose exponential is 0: the right one.
    with np.errstate(over="ignore", under="ignore"):
        exponentials = np.exp(scaled - shifts[..., None])
    weights = attention_weights(
        query, key, mask=example.mask, is_causal=example.is_causal, scale=example.scale
    )
    head_outputs = finite_product("weights and value", weights, value)
    concat = merge_heads(head_outputs)
    w_o = None if example.weights is None else example.weights.w_o
    return Trace(
        example=example,
        tokens=example.tokens,
        embeddings=example.embeddings,
        query=query,
        key=key,
        value=value,
        scores=scores,
        scaled_scores=scaled,
        shifts=shifts,
        exponentials=exponentials,
        row_sums=exponentials.sum(axis=-1),
        weights=weights,
        head_outputs=head_outputs,
        concat=concat,
        output=None if w_o is None else _mixed(concat, w_o),
        head_contributions=None
        if w_o is None
        else _mixed(head_outputs, w_o.reshape(len(query), -1, w_o.shape[1])),
        prints=prints,
    )


def _mixed(head_outputs: Array, w_o: Array) -> Array:
    return finite_product("the heads' outputs and w_o", head_outputs, w_o)


def _projections(example: WorkedExample) -> tuple[Array, Array, Array]:
    """Return query, key and value: given, or projected from the embeddings."""
    if example.weights is not None and example.embeddings is not None:
        x, weights = example.embeddings, example.weights
        return (
            project("embeddings", x, weights.w_q),
            project("embeddings", x, weights.w_k),
            project("embeddings", x, weights.w_v),
        )
    assert example.query is not None
    assert example.key is not None
    assert example.value is not None
    return example.query, example.key, example.value


def _shifts(scaled: Array) -> Array:
    """Return the largest score of each row where its size calls for a shift, else 0."""
    largest = scaled.max(axis=-1)
    return np.where(np.isfinite(largest) & (np.abs(largest) > LARGEST_EXPONENT), largest, 0).astype(
        scaled.dtype
    )
