"""Forward passes with every intermediate kept.

A run starts from a `WorkedExample` and returns a `Trace`. Every table, figure and line of
arithmetic in the book is a view of a trace.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from mha.core.attention import attention_scores, masked_scores, scaled_scores
from mha.core.checks import Array, finite_product, finite_sum, frozen_copy
from mha.core.heads import merge_heads, split_heads
from mha.core.masks import as_additive_mask
from mha.core.multihead import in_widest_dtype, project, project_output
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
from mha.runs.next_words import next_word_stages
from mha.runs.running_softmax import RUNNING_STAGES, running_softmax_stages
from mha.runs.worked_example import WorkedExample

MAX_SCORE_SHOWN_UNSHIFTED = 80.0
"""If a row's largest score is beyond ±80, it is subtracted before the exponential.

e to the 80 leaves room to sum thousands of exponentials in float32. Smaller scores are shown
without a shift, because the textbook formula has none.
"""


@dataclass(frozen=True, eq=False, kw_only=True)
class Trace:
    """Every intermediate of one forward run, read-only.

    Parameters
    ----------
    example : WorkedExample
        The input of the run.
    tokens : tuple of str, length n
    embeddings : ndarray, shape (n, d_model), or None
        None for an example that starts at query, key and value.
    positions, placed : ndarray, shape (n, d_model), or None
        The position vectors, and the embeddings plus these. None without positions.
    start_means, start_spreads : ndarray, shape (n,), or None
        Mean and standard deviation of each token's numbers. None unless a block normalises before
        its attention.
    start_normed : ndarray, shape (n, d_model), or None
        The normalised vectors, which the attention reads.
    query, key : ndarray, shape (num_heads, n, d_k)
    query_spreads, key_spreads : ndarray, shape (num_heads, n), or None
        Root mean squares of the queries and keys. None unless the layer normalises these.
    normed_query, normed_key : ndarray, shape (num_heads, n, d_k), or None
        Queries and keys divided by their root mean squares, times their gains. None as above.
    angles : ndarray, shape (n, d_k / 2), or None
        Rotation of each pair of components at each position, in radians. None without rotation.
    turned_query, turned_key : ndarray, shape (num_heads, n, d_k), or None
        The rotated queries and keys. None without angles.
    value : ndarray, shape (num_heads, n, d_v)
    scores : ndarray, shape (num_heads, n, n)
        Dot products, before scaling.
    mask : ndarray, shape (num_heads, n, n)
        The number added to each scaled score: 0, a number of the example's mask, or minus
        infinity where the query may not attend. No stage: a line of arithmetic shows it as a term
        of the scaled score.
    scaled_scores : ndarray, shape (num_heads, n, n)
        Scores times the scale, capped where the example has a cap, plus the mask. (The function
        `mha.core.attention.scaled_scores` neither caps nor masks.)
    shifts : ndarray, shape (num_heads, n)
        The number subtracted from a row's scaled scores before the exponential: the row's largest
        score if that is beyond ±80, where exponentials may leave the range of floats, else 0. No
        stage: a line of arithmetic shows it as a part of the exponent.
    exponentials : ndarray, shape (num_heads, n, n)
        e to the scaled scores less the row's shift.
    row_sums : ndarray, shape (num_heads, n)
        Sums of each row's exponentials, and of its sink's where the example has sinks.
    weights : ndarray, shape (num_heads, n, n)
        The softmax's output: exponentials over row sums.
    head_outputs : ndarray, shape (num_heads, n, d_v)
    running_largest, running_sums, running_factors : ndarray, shape (num_heads, n, blocks), or None
        Largest score and sum after each block of keys, and the factor by which the sum and the
        mixture before the block are multiplied. All `running_*` arrays are None unless keys
        are read in blocks.
    running_exponentials : ndarray, shape (num_heads, n, n), or None
        e to the scaled scores minus the largest score up to and including their block.
    running_mixtures, running_outputs : ndarray, shape (num_heads, n, blocks * d_v), or None
        `running_mixtures`: the sum of the values times `running_exponentials`, after each block.
        `running_outputs`: these divided by the running sums.
    concat : ndarray, shape (n, num_heads * d_v)
        The heads' outputs side by side.
    output : ndarray, shape (n, d_out), or None
        None without an output projection.
    head_contributions : ndarray, shape (num_heads, n, d_out), or None
        Each head's share of the output. The shares and the output bias, if there is one, sum to the
        output. None without a projection.
    stream : ndarray, shape (n, d_model), or None
        The input of a block plus the output of its attention. This and all arrays below are None
        without a block.
    stream_means, stream_spreads, stream_normed : ndarray, or None
        Means and standard deviations of the stream, and the normalised stream; None unless the
        block normalises there.
    hidden, active : ndarray, shape (n, d_ff), or None
        The numbers inside the feed-forward layer, before and after its activation.
    fed : ndarray, shape (n, d_model), or None
        The feed-forward layer's output.
    total : ndarray, shape (n, d_model), or None
        The stream plus the output of the feed-forward layer.
    total_means, total_spreads, total_normed : ndarray, or None
        The same for `total`; None unless the block normalises after its layers.
    logits : ndarray, shape (n, num_words), or None
        The normalised stream times the unembedding: a number for each word that may come next.
        This and the arrays below are None without an unembedding.
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
                object.__setattr__(self, field.name, frozen_copy(value))

    @property
    def score_factors(self) -> tuple[Array, Array]:
        """The queries and keys whose products are the scores, after any norm and rotation."""
        return (
            _first_present(self.turned_query, self.normed_query, self.query),
            _first_present(self.turned_key, self.normed_key, self.key),
        )

    @property
    def end(self) -> str:
        """The name of the last stage: the probabilities, a block's stream, the output or concat."""
        stages = ("probabilities", "total_normed", "total", "stream_normed", "stream", "output",
                  "concat")  # fmt: skip
        return next(stage for stage in stages if getattr(self, stage) is not None)

    @property
    def result(self) -> Array:
        """The array of the last stage."""
        result: Array = getattr(self, self.end)
        return result

    @property
    def output_parts(self) -> tuple[tuple[str, Array], ...]:
        """The terms of the output with their names: each head's share, and the bias if any."""
        if self.output is None or self.head_contributions is None:
            return ()
        parts = tuple(zip(self.head_names, self.head_contributions, strict=True))
        bias = None if self.example.layer is None else self.example.layer.b_o
        if bias is None:
            return parts
        return (*parts, ("Bias", np.broadcast_to(bias, self.output.shape)))

    @property
    def num_heads(self) -> int:
        """Number of heads."""
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
        Its arrays equal those of the functions in `mha.core` to the last bit, except
        `exponentials` and `row_sums`: the softmax there always subtracts the row's largest score,
        a trace only beyond ±80.

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
    # Norms of queries and keys come before rotation, as in Qwen3 and Gemma 3.
    arrays = _add_positions(example)
    arrays |= _normalise_before_attention(example, arrays)
    arrays |= _project(example, arrays)
    arrays |= _normalise_query_and_key(example, arrays)
    query, key = (_first_present(arrays.get(f"normed_{x}"), arrays[x]) for x in ("query", "key"))
    arrays |= _rotate_query_and_key(example, query, key)
    query = _first_present(arrays["turned_query"], query)
    key = _first_present(arrays["turned_key"], key)
    arrays |= _attend(example, query, key)
    arrays |= _mix_values(example, arrays["weights"], arrays["value"])
    arrays |= running_softmax_stages(example.keys_at_once, arrays["scaled_scores"], arrays["value"])
    arrays |= _finish_block(example, arrays)
    return Trace(example=example, tokens=example.tokens, embeddings=example.embeddings, **arrays)


def continue_from(run: Trace, **given: Array) -> Trace:
    """Return a run with some stages replaced, and the later stages computed from them.

    Parameters
    ----------
    run : Trace
    **given : ndarray
        Replacements for `exponentials`, `weights` or `head_outputs`, of the same shape. If several
        are given, a later one replaces the array that would be computed from an earlier one.

    Returns
    -------
    Trace
        The earlier stages are those of `run`. It has no running softmax.

    Examples
    --------
    >>> example = WorkedExample(
    ...     name="two-words", title="Two words", tokens=["cat", "sat"], head_names=["only"],
    ...     source="made up", query=np.eye(2), key=np.eye(2), value=np.eye(2), scale=1.0)
    >>> run = trace(example)
    >>> continue_from(run, exponentials=np.array([[[3.0, 1.0], [1.0, 1.0]]])).weights
    array([[[0.75, 0.25],
            [0.5 , 0.5 ]]])
    """
    # A running softmax would have read the run's own scores, so it is dropped.
    arrays: dict[str, Any] = dict.fromkeys(RUNNING_STAGES)
    if "exponentials" in given:
        sums = given["exponentials"].sum(axis=-1) + _sink_exponentials(run.example, run.shifts)
        # A fully masked row sums to 0; divided by 1 its weights are 0, not NaN.
        weights = given["exponentials"] / np.where(sums == 0, 1, sums)[..., None]
        arrays |= {"row_sums": sums, "weights": weights}
    arrays |= given
    if "head_outputs" not in given:
        weights = arrays.get("weights", run.weights)
        arrays["head_outputs"] = finite_product("weights and value", weights, run.value)
    arrays |= _combine_heads(run.example, arrays["head_outputs"])
    return replace(run, **arrays | _finish_block(run.example, {"placed": run.placed, **arrays}))


def trace_blocks(example: WorkedExample, blocks: Iterable[Block]) -> tuple[Trace, ...]:
    """Run a stack of blocks on an example's tokens and keep every intermediate.

    Parameters
    ----------
    example : WorkedExample
        With embeddings. The example's positions are added before the first block. Every block uses
        the example's angles, mask and `is_causal`, and the last block its unembedding. The layer
        and the block of the example are ignored.
    blocks : iterable of Block
        At least one.

    Returns
    -------
    tuple of Trace
        One per block; the result of each is the input of the next. Without an unembedding the
        last one's `result` equals `mha.core.transformer.transformer` to the last bit.

    Raises
    ------
    TypeError, ValueError
        If the example has no embeddings, has a scale of its own, or does not fit the blocks.

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
    if example.embeddings is None:
        raise ValueError(f"{example.name} starts at query, key and value; embeddings are wanted")
    if example.scale is not None:  # `transformer` scales the scores of every block by default
        raise ValueError(f"{example.name} has scale {example.scale}; None is wanted for blocks")
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


def _first_present(*arrays: Array | None) -> Array:
    """Return the first array that is not None."""
    return next(array for array in arrays if array is not None)


def _residual_input(example: WorkedExample, arrays: dict[str, Any]) -> Array | None:
    """Return the residual stream at the start: embeddings, plus positions if there are any."""
    return example.embeddings if arrays["placed"] is None else arrays["placed"]


def _normalise_before_attention(example: WorkedExample, arrays: dict[str, Any]) -> dict[str, Array]:
    """Return the stages of a block's first normalisation; empty without a block."""
    x = _residual_input(example, arrays)
    return {} if example.block is None or x is None else before_attention(example.block, x)


def _finish_block(example: WorkedExample, arrays: dict[str, Any]) -> dict[str, Array]:
    """Return the stages of a block after its attention; empty without a block."""
    x, found = _residual_input(example, arrays), _first_present(arrays["output"], arrays["concat"])
    if example.block is None or x is None:
        return {}
    steps = after_attention(example.block, x, found)
    return steps | next_word_stages(example, steps["stream"])


def _add_positions(example: WorkedExample) -> dict[str, Any]:
    """Return the positions and the embeddings plus positions, each None without positions."""
    x, positions = example.embeddings, example.positions
    if x is None or positions is None:
        return {"positions": None, "placed": None}
    return {
        "positions": positions,
        "placed": finite_sum("embeddings and positions", x, positions),
    }


def _rotate_query_and_key(example: WorkedExample, query: Array, key: Array) -> dict[str, Any]:
    """Return the angles, and queries and keys rotated by them, each None without angles."""
    angles = example.angles
    if angles is None:
        return dict.fromkeys(("angles", "turned_query", "turned_key"))
    turned_query, turned_key = (rotate_by(x, angles) for x in (query, key))
    return {"angles": angles, "turned_query": turned_query, "turned_key": turned_key}


def _normalise_query_and_key(example: WorkedExample, arrays: dict[str, Any]) -> dict[str, Array]:
    """Return normalised queries and keys with their root mean squares; empty without norms."""
    found: dict[str, Array] = {}
    for name in ("query", "key"):
        gain = None if example.refinements is None else getattr(example.refinements, f"{name}_norm")
        if example.refinements is None or gain is None:
            continue
        x, eps = arrays[name], example.refinements.eps
        # A joint norm is over the numbers of all heads of a token.
        rows = merge_heads(x) if example.refinements.is_joint else x
        spreads = np.sqrt((rows * rows).mean(axis=-1) + rows.dtype.type(eps))
        gains = gain.ravel() if example.refinements.is_joint else gain[:, None, :]
        normed = rms_norm(rows, gains, eps)
        is_joint = example.refinements.is_joint
        found[f"{name}_spreads"] = np.broadcast_to(spreads, x.shape[:2])
        found[f"normed_{name}"] = split_heads(normed, len(x)) if is_joint else normed
    return found


def _project(example: WorkedExample, arrays: dict[str, Any]) -> dict[str, Any]:
    """Return query, key and value: those of the example, or projections of its vectors."""
    x, layer = _residual_input(example, arrays), example.layer
    if x is None or layer is None:
        return {"query": example.query, "key": example.key, "value": example.value}
    # The widest dtype of all arrays, as in `multi_head_attention`; in a block, as in `transformer`,
    # also of the arrays of its norms and its feed-forward layer.
    if example.block is None:
        (x,) = in_widest_dtype(layer, x)
    else:
        x = arrays.get("start_normed", in_dtype_of(example.block, x))
    return {
        "query": project("embeddings", x, layer.w_q, layer.b_q),
        "key": project("embeddings", x, layer.w_k, layer.b_k),
        "value": project("embeddings", x, layer.w_v, layer.b_v),
    }


def _attend(example: WorkedExample, query: Array, key: Array) -> dict[str, Array]:
    """Return the stages from scores to weights, by their names in `Trace`."""
    scores = attention_scores(query, key)
    mask = as_additive_mask(example.mask, example.is_causal, scores.shape, scores.dtype)
    unmasked = scaled_scores(scores, query.shape[-1], example.scale)
    refinements = example.refinements
    if refinements is not None and refinements.softcap is not None:
        unmasked = capped_scores(unmasked, refinements.softcap)
    scaled = masked_scores(unmasked, mask, is_causal=False)  # `mask` contains the causal mask
    sinks = (
        None
        if refinements is None or refinements.sinks is None
        else refinements.sinks[:, None, None]
    )
    shifts = _row_shifts(scaled, sinks)
    # A difference that overflows is minus infinity, whose exponential is 0: the right one.
    with np.errstate(over="ignore", under="ignore"):
        exponentials = np.exp(scaled - shifts[..., None])
    return {
        "scores": scores,
        "mask": np.zeros_like(scores) if mask is None else np.broadcast_to(mask, scores.shape),
        "scaled_scores": scaled,
        "shifts": shifts,
        "exponentials": exponentials,
        "row_sums": exponentials.sum(axis=-1) + _sink_exponentials(example, shifts),
        "weights": softmax(scaled) if sinks is None else softmax_with_sink(scaled, sinks),
    }


def _sink_exponentials(example: WorkedExample, shifts: Array) -> Array | float:
    """Return e to each row's shifted sink score, or 0 without sinks."""
    if example.refinements is None or example.refinements.sinks is None:
        return 0.0
    with np.errstate(under="ignore"):
        powers: Array = np.exp(example.refinements.sinks[:, None] - shifts)
    return powers


def _mix_values(example: WorkedExample, weights: Array, value: Array) -> dict[str, Any]:
    """Return the heads' outputs, their concatenation, the output and the heads' shares of it."""
    head_outputs = finite_product("weights and value", weights, value)
    return {"head_outputs": head_outputs, **_combine_heads(example, head_outputs)}


def _combine_heads(example: WorkedExample, head_outputs: Array) -> dict[str, Any]:
    """Return the concatenation of the heads' outputs, the output and the heads' shares of it."""
    concat = merge_heads(head_outputs)
    arrays = {"concat": concat}
    layer = example.layer
    if layer is None or layer.w_o is None:
        return arrays | {"output": None, "head_contributions": None}
    # concat @ w_o is the sum over heads of each head's output times its own rows of w_o.
    w_o_of_heads = layer.w_o.reshape(len(head_outputs), -1, layer.w_o.shape[1])
    shares = finite_product("the heads' outputs and w_o", head_outputs, w_o_of_heads)
    return arrays | {"output": project_output(concat, layer), "head_contributions": shares}


def _row_shifts(scaled: Array, sinks: Array | None = None) -> Array:
    """Return each row's largest score if that is beyond the unshifted range, else 0."""
    largest = scaled.max(axis=-1)
    if sinks is not None:
        largest = np.maximum(largest, sinks[..., 0])
    # A fully masked row, whose largest score is minus infinity, must not be shifted by it.
    return np.where(
        np.isfinite(largest) & (np.abs(largest) > MAX_SCORE_SHOWN_UNSHIFTED), largest, 0
    ).astype(scaled.dtype)
