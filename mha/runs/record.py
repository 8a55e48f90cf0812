"""A forward run with every intermediate kept.

A `WorkedExample` is what a run starts from, a `Trace` is its record. Every table, figure and
line of arithmetic in the book is a view of a trace.
"""

from collections.abc import Iterable
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from mha.core.attention import attention_scores, masked_scores, scaled_scores
from mha.core.checks import Array, finite_product, finite_sum, frozen
from mha.core.heads import merge_heads, split_heads
from mha.core.masks import as_additive_mask
from mha.core.multihead import project, project_output
from mha.core.norm import rms_norm
from mha.core.option_checks import check_type
from mha.core.positions import rotate_by
from mha.core.score_variants import capped_scores, softmax_with_sink
from mha.core.softmax import softmax
from mha.core.transformer import (
    Block,
    after_attention,
    as_blocks,
    before_attention,
    in_dtype_of,
)
from mha.runs.next_words import next_words
from mha.runs.running_softmax import RUNNING, running
from mha.runs.worked_example import WorkedExample

LARGEST_EXPONENT = 80.0
"""Beyond this size of a row's largest score, exponentials are shown after a shift."""


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
    positions, placed : ndarray, shape (n, d_model), or None
        What is added to the embeddings, and the sum. None where nothing is.
    start_means, start_spreads : ndarray, shape (n,), or None
        Of each token's numbers, where a block normalises before its attention.
    start_normed : ndarray, shape (n, d_model), or None
        What the attention reads there.
    query, key : ndarray, shape (num_heads, n, d_k)
    query_spreads, key_spreads : ndarray, shape (num_heads, n), or None
        Root mean squares of the queries and keys, where the layer normalises these. None where it
        does not, as what follows.
    normed_query, normed_key : ndarray, shape (num_heads, n, d_k), or None
        Over these, times their gains.
    angles : ndarray, shape (n, d_k / 2), or None
        By how much each pair of components is turned at each place. None without turns.
    turned_query, turned_key : ndarray, shape (num_heads, n, d_k), or None
        What the scores are made of where there are angles.
    value : ndarray, shape (num_heads, n, d_v)
    scores : ndarray, shape (num_heads, n, n)
        Dot products, before scaling.
    mask : ndarray, shape (num_heads, n, n)
        What is added to each scaled score: 0, a term of the example's own, or minus infinity
        where a mask or the order forbids.
    scaled_scores : ndarray, shape (num_heads, n, n)
        Scores times the scale, capped where the example has a cap, plus the mask.
    shifts : ndarray, shape (num_heads, n)
        What each row subtracts from its scaled scores before the exponential: 0, unless the
        row's largest score is beyond ±80 and its exponentials might leave float's range.
    exponentials : ndarray, shape (num_heads, n, n)
        e to the scaled scores less the row's shift.
    row_sums : ndarray, shape (num_heads, n)
        Sums of each row's exponentials, and of its sink's where the example has sinks.
    weights : ndarray, shape (num_heads, n, n)
        The softmax's output: exponentials over row sums.
    head_outputs : ndarray, shape (num_heads, n, d_v)
    running_largest, running_sums, running_factors : ndarray, shape (num_heads, n, blocks), or None
        What a running softmax keeps after each block of keys, and the factor by which it shrinks
        what it kept before; None where keys are not read in blocks, as what follows.
    running_exponentials : ndarray, shape (num_heads, n, n), or None
        e to the scaled scores less the largest up to their block.
    running_mixtures, running_outputs : ndarray, shape (num_heads, n, blocks * d_v), or None
        The values mixed by them, block beside block, and divided by the running sums.
    concat : ndarray, shape (n, num_heads * d_v)
        The heads' outputs side by side.
    output : ndarray, shape (n, d_out), or None
        None without an output projection.
    head_contributions : ndarray, shape (num_heads, n, d_out), or None
        Each head's share of the output; the shares sum to it, with the bias that the layer may add.
        None without a projection.
    stream : ndarray, shape (n, d_model), or None
        What went into a block plus what its attention gives. None without a block, as what follows.
    stream_means, stream_spreads, stream_normed : ndarray, or None
        The stream normalised; None where the block does not.
    hidden, active : ndarray, shape (n, d_ff), or None
        The numbers inside the feed-forward layer, before and after its activation.
    fed : ndarray, shape (n, d_model), or None
        The feed-forward layer's output.
    total : ndarray, shape (n, d_model), or None
        The stream with it.
    total_means, total_spreads, total_normed : ndarray, or None
        The same normalised, where the block normalises after.
    logits : ndarray, shape (n, num_words), or None
        For each token and each word that may come next; of a stream that was normalised. None
        without an unembedding, as what follows.
    word_exponentials : ndarray, shape (n, num_words), or None
    word_sums : ndarray, shape (n,), or None
    probabilities : ndarray, shape (n, num_words), or None
        The softmax of the logits.
    """

    example: WorkedExample
    tokens: tuple[str, ...]
    embeddings: Array | None
    positions: Array | None
    placed: Array | None
    start_means: Array | None = None
    start_spreads: Array | None = None
    start_normed: Array | None = None
    query: Array
    key: Array
    query_spreads: Array | None = None
    normed_query: Array | None = None
    key_spreads: Array | None = None
    normed_key: Array | None = None
    angles: Array | None
    turned_query: Array | None
    turned_key: Array | None
    value: Array
    scores: Array
    mask: Array
    scaled_scores: Array
    shifts: Array
    exponentials: Array
    row_sums: Array
    weights: Array
    head_outputs: Array
    running_largest: Array | None = None
    running_factors: Array | None = None
    running_exponentials: Array | None = None
    running_sums: Array | None = None
    running_mixtures: Array | None = None
    running_outputs: Array | None = None
    concat: Array
    output: Array | None
    head_contributions: Array | None
    stream: Array | None = None
    stream_means: Array | None = None
    stream_spreads: Array | None = None
    stream_normed: Array | None = None
    hidden: Array | None = None
    active: Array | None = None
    fed: Array | None = None
    total: Array | None = None
    total_means: Array | None = None
    total_spreads: Array | None = None
    total_normed: Array | None = None
    logits: Array | None = None
    word_exponentials: Array | None = None
    word_sums: Array | None = None
    probabilities: Array | None = None

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if isinstance(value, np.ndarray):
                object.__setattr__(self, field.name, frozen(value))

    @property
    def meeting(self) -> tuple[Array, Array]:
        """The queries and keys whose products are the scores: normalised and turned, if so."""
        return (
            _first(self.turned_query, self.normed_query, self.query),
            _first(self.turned_key, self.normed_key, self.key),
        )

    @property
    def end(self) -> str:
        """The stage that the run ends with: probabilities, a block's stream, output, or heads."""
        stages = ("probabilities", "total_normed", "total", "stream_normed", "stream", "output",
                  "concat")  # fmt: skip
        return next(stage for stage in stages if getattr(self, stage) is not None)

    @property
    def result(self) -> Array:
        """What the run gives in the end."""
        result: Array = getattr(self, self.end)
        return result

    @property
    def output_parts(self) -> tuple[tuple[str, Array], ...]:
        """What adds up to the output, by name: each head's share, and the bias if there is one."""
        if self.output is None or self.head_contributions is None:
            return ()
        parts = tuple(zip(self.head_names, self.head_contributions, strict=True))
        bias = None if self.example.layer is None else self.example.layer.b_o
        if bias is None:
            return parts
        return (*parts, ("Bias", np.broadcast_to(bias, self.output.shape)))

    @property
    def num_heads(self) -> int:
        """How many heads the run has."""
        return int(self.query.shape[0])

    @property
    def head_names(self) -> tuple[str, ...]:
        """The heads' names, in order."""
        return self.example.head_names


def trace(example: WorkedExample) -> Trace:
    """Run a worked example and keep every intermediate.

    Parameters
    ----------
    example : WorkedExample

    Returns
    -------
    Trace
        Its arrays equal those of the plain functions to the last bit; `exponentials` and
        `row_sums` they never form unshifted.

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
    check_type("example", example, WorkedExample)
    arrays = _placed(example)
    arrays |= _before(example, arrays)
    arrays |= _projections(example, arrays)
    arrays |= _normed(example, arrays)
    query, key = (_first(arrays.get(f"normed_{x}"), arrays[x]) for x in ("query", "key"))
    arrays |= _turned(example, query, key)
    query = _first(arrays["turned_query"], query)
    key = _first(arrays["turned_key"], key)
    arrays |= _attention(example, query, key)
    arrays |= _outputs(example, arrays["weights"], arrays["value"])
    arrays |= running(example.keys_at_once, arrays["scaled_scores"], arrays["value"])
    arrays |= _behind(example, arrays)
    return Trace(example=example, tokens=example.tokens, embeddings=example.embeddings, **arrays)


def continued(run: Trace, **given: Array) -> Trace:
    """Return a run that goes on from other numbers: what follows is computed from these.

    Parameters
    ----------
    run : Trace
    **given : ndarray
        The exponentials, weights or head_outputs that take the place of the run's own, each of the
        same shape. Of two, the later stage is taken as it is given too.

    Returns
    -------
    Trace
        What stands before the first of them is the run's own; it has no running softmax.

    Examples
    --------
    >>> example = WorkedExample(
    ...     name="two-words", title="Two words", tokens=["cat", "sat"], head_names=["only"],
    ...     source="made up", query=np.eye(2), key=np.eye(2), value=np.eye(2), scale=1.0)
    >>> run = trace(example)
    >>> continued(run, exponentials=np.array([[[3.0, 1.0], [1.0, 1.0]]])).weights
    array([[[0.75, 0.25],
            [0.5 , 0.5 ]]])
    """
    arrays: dict[str, Any] = dict.fromkeys(RUNNING)
    if "exponentials" in given:
        sums = given["exponentials"].sum(axis=-1) + _of_sinks(run.example, run.shifts)
        weights = given["exponentials"] / np.where(sums == 0, 1, sums)[..., None]
        arrays |= {"row_sums": sums, "weights": weights}
    arrays |= given
    if "head_outputs" not in given:
        weights = arrays.get("weights", run.weights)
        arrays["head_outputs"] = finite_product("weights and value", weights, run.value)
    arrays |= _joined(run.example, arrays["head_outputs"])
    return replace(run, **arrays | _behind(run.example, {"placed": run.placed, **arrays}))


def trace_blocks(example: WorkedExample, blocks: Iterable[Block]) -> tuple[Trace, ...]:
    """Run a stack of blocks on an example's tokens and keep every intermediate.

    Parameters
    ----------
    example : WorkedExample
        With embeddings. Its positions are added before the first block; its angles, its mask, and
        whether it is causal, hold for each; its unembedding is the last block's. Its own layer or
        block is not used.
    blocks : iterable of Block
        At least one.

    Returns
    -------
    tuple of Trace
        One a block: each starts from what the one before gives. Without an unembedding the last
        one's `result` equals `transformer` to the last bit.

    Raises
    ------
    TypeError, ValueError
        If the example starts at its queries, has a scale of its own, or does not fit the blocks.

    Examples
    --------
    >>> from mha import MultiHeadWeights
    >>> one = np.eye(2)[None]
    >>> block = Block(MultiHeadWeights(one, one, one), norm="nowhere")
    >>> example = WorkedExample(
    ...     name="two-words", title="Two words", tokens=["cat", "sat"], head_names=["only"],
    ...     source="made up", embeddings=np.eye(2), block=block)
    >>> first, second = trace_blocks(example, [block, block])
    >>> second.example.name, second.result.round(4)
    ('two-words-2', array([[3.0455, 0.9545],
           [0.9545, 3.0455]]))
    """
    check_type("example", example, WorkedExample)
    if example.embeddings is None or example.scale is not None:
        raise ValueError(f"{example.name} is no start for blocks; embeddings alone are wanted")
    runs: list[Trace] = []
    blocks = as_blocks(blocks)
    for number, block in enumerate(blocks, 1):
        parts: dict[str, Any] = {
            "name": f"{example.name}-{number}",
            "head_names": [f"Head {head + 1}" for head in range(block.attention.num_heads)],
            "layer": None,
            "block": block,
            "unembedding": example.unembedding if number == len(blocks) else None,
            "target_weights": None,
        }
        if runs:
            parts |= {"embeddings": runs[-1].result, "positions": None}
        runs.append(trace(replace(example, **parts)))
    return tuple(runs)


def _first(*arrays: Array | None) -> Array:
    """Return the first array that there is."""
    return next(array for array in arrays if array is not None)


def _start(example: WorkedExample, arrays: dict[str, Any]) -> Array | None:
    """Return what stands at each place, with its position: what a layer's output is added to."""
    return example.embeddings if arrays["placed"] is None else arrays["placed"]


def _before(example: WorkedExample, arrays: dict[str, Any]) -> dict[str, Array]:
    """Return what a block makes of the stream for its attention; nothing without a block."""
    x = _start(example, arrays)
    return {} if example.block is None or x is None else before_attention(example.block, x)


def _behind(example: WorkedExample, arrays: dict[str, Any]) -> dict[str, Array]:
    """Return what a block makes of what its attention gives; nothing without a block."""
    x, found = _start(example, arrays), _first(arrays["output"], arrays["concat"])
    if example.block is None or x is None:
        return {}
    steps = after_attention(example.block, x, found)
    return steps | next_words(example, steps["stream"])


def _placed(example: WorkedExample) -> dict[str, Any]:
    """Return what is added to the embeddings, and the sum; None where nothing is."""
    x, positions = example.embeddings, example.positions
    if x is None or positions is None:
        return {"positions": None, "placed": None}
    return {
        "positions": positions,
        "placed": finite_sum("embeddings and positions", x, positions),
    }


def _turned(example: WorkedExample, query: Array, key: Array) -> dict[str, Any]:
    """Return the angles, and queries and keys turned by them; None where there are none."""
    angles = example.angles
    if angles is None:
        return dict.fromkeys(("angles", "turned_query", "turned_key"))
    turned_query, turned_key = (rotate_by(x, angles) for x in (query, key))
    return {"angles": angles, "turned_query": turned_query, "turned_key": turned_key}


def _normed(example: WorkedExample, arrays: dict[str, Any]) -> dict[str, Array]:
    """Return queries and keys over their root mean squares, where the layer normalises them."""
    found: dict[str, Array] = {}
    for name in ("query", "key"):
        gain = None if example.refined is None else getattr(example.refined, f"{name}_norm")
        if example.refined is None or gain is None:
            continue
        x, eps = arrays[name], example.refined.eps
        rows = merge_heads(x) if example.refined.is_joint else x
        spreads = np.sqrt((rows * rows).mean(axis=-1) + rows.dtype.type(eps))
        gains = gain.ravel() if example.refined.is_joint else gain[:, None, :]
        normed = rms_norm(rows, gains, eps)
        is_joint = example.refined.is_joint
        found[f"{name}_spreads"] = np.broadcast_to(spreads, x.shape[:2])
        found[f"normed_{name}"] = split_heads(normed, len(x)) if is_joint else normed
    return found


def _projections(example: WorkedExample, arrays: dict[str, Any]) -> dict[str, Any]:
    """Return query, key and value: given, or projected from what stands at each place."""
    x, layer = _start(example, arrays), example.layer
    if x is None or layer is None:
        return {"query": example.query, "key": example.key, "value": example.value}
    if example.block is not None:
        x = arrays.get("start_normed", in_dtype_of(example.block, x))
    return {
        "query": project("embeddings", x, layer.w_q, layer.b_q),
        "key": project("embeddings", x, layer.w_k, layer.b_k),
        "value": project("embeddings", x, layer.w_v, layer.b_v),
    }


def _attention(example: WorkedExample, query: Array, key: Array) -> dict[str, Array]:
    """Return what stands between queries and weights, by the names that a Trace has."""
    scores = attention_scores(query, key)
    mask = as_additive_mask(example.mask, example.is_causal, scores.shape, scores.dtype)
    bare = scaled_scores(scores, query.shape[-1], example.scale)
    refined = example.refined
    if refined is not None and refined.softcap is not None:
        bare = capped_scores(bare, refined.softcap)
    scaled = masked_scores(bare, mask, is_causal=False)
    sinks = None if refined is None or refined.sinks is None else refined.sinks[:, None, None]
    shifts = _shifts(scaled, sinks)
    # A difference that overflows is minus infinity, whose exponential is 0: the right one.
    with np.errstate(over="ignore", under="ignore"):
        exponentials = np.exp(scaled - shifts[..., None])
    return {
        "scores": scores,
        "mask": np.zeros_like(scores) if mask is None else np.broadcast_to(mask, scores.shape),
        "scaled_scores": scaled,
        "shifts": shifts,
        "exponentials": exponentials,
        "row_sums": exponentials.sum(axis=-1) + _of_sinks(example, shifts),
        "weights": softmax(scaled) if sinks is None else softmax_with_sink(scaled, sinks),
    }


def _of_sinks(example: WorkedExample, shifts: Array) -> Array | float:
    """Return the exponential of each row's sink, 0 without sinks."""
    if example.refined is None or example.refined.sinks is None:
        return 0.0
    with np.errstate(under="ignore"):
        powers: Array = np.exp(example.refined.sinks[:, None] - shifts)
    return powers


def _outputs(example: WorkedExample, weights: Array, value: Array) -> dict[str, Any]:
    """Return the heads' outputs, and what is made of them."""
    head_outputs = finite_product("weights and value", weights, value)
    return {"head_outputs": head_outputs, **_joined(example, head_outputs)}


def _joined(example: WorkedExample, head_outputs: Array) -> dict[str, Any]:
    """Return the heads' outputs side by side, the output and the heads' shares of it."""
    concat = merge_heads(head_outputs)
    arrays = {"concat": concat}
    layer = example.layer
    if layer is None or layer.w_o is None:
        return arrays | {"output": None, "head_contributions": None}
    of_each_head = layer.w_o.reshape(len(head_outputs), -1, layer.w_o.shape[1])
    shares = finite_product("the heads' outputs and w_o", head_outputs, of_each_head)
    return arrays | {"output": project_output(concat, layer), "head_contributions": shares}


def _shifts(scaled: Array, sinks: Array | None = None) -> Array:
    """Return the largest score of each row where its size calls for a shift, else 0."""
    largest = scaled.max(axis=-1)
    if sinks is not None:
        largest = np.maximum(largest, sinks[..., 0])
    return np.where(np.isfinite(largest) & (np.abs(largest) > LARGEST_EXPONENT), largest, 0).astype(
        scaled.dtype
    )
