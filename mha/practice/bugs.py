"""The known bugs of attention: each is a wrong part in the place of a right one.

Twelve of them are the museum's; `mha.examine` recognises all of them by their outputs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from mha.core.checks import Array
from mha.core.positions import linear_slopes, rotate_by
from mha.practice.attention_parts import (
    RATE,
    RIGHT_NAN_ROWS,
    RIGHT_ZERO_ROWS,
    Part,
    Parts,
    Quadruple,
    Triple,
    expression_of,
)

Replaced = tuple[str, Part]
"""The name of a part, and the function that replaces it."""


@dataclass(frozen=True)
class Bug:
    """One wrong part.

    Parameters
    ----------
    name : str
    part : str
        The name of the right part, in `mha.practice.attention_parts`.
    function : callable
        The wrong part.
    section : str
        The section of the book that explains it: a page without its ending, and a label on it.
    effect : str
        A predicate that continues "Your function".
    often_with : tuple of tuple of (str, callable), default ()
        Further parts that are often wrong along with it.
    always_with : tuple of tuple of (str, callable), default ()
        Further parts that are always wrong along with it.
    kind : str, default ""
        Of these words: "museum", one of the twelve bugs of the chapter "A museum of bugs"; "minor",
        a bug that changes outputs in special cases only and is therefore often present beside
        another one; "note", a convention and not an error.
    """

    name: str
    part: str
    function: Part
    section: str
    effect: str
    often_with: tuple[Replaced, ...] = ()
    always_with: tuple[Replaced, ...] = ()
    kind: str = ""

    @property
    def replaced(self) -> dict[str, Part]:
        """The parts that the bug replaces, by name."""
        return {self.part: self.function, **dict(self.always_with)}

    @property
    def line(self) -> str:
        """The wrong expression."""
        return expression_of(self.function)

    @property
    def right_line(self) -> str:
        """The right expression."""
        return expression_of(getattr(RIGHT_ZERO_ROWS, self.part))

    @property
    def is_minor(self) -> bool:
        """Whether it changes outputs in special cases only, so that it is tried beside others."""
        return "minor" in self.kind


def bug(
    name: str,
    part: str,
    section: str,
    effect: str,
    *,
    kind: str = "",
    often_with: tuple[Replaced, ...] = (),
    always_with: tuple[Replaced, ...] = (),
) -> Callable[[Part], Bug]:
    """Return a decorator that makes a `Bug` of a wrong part; the parameters are those of `Bug`."""
    return lambda function: Bug(
        name, part, function, section, effect, often_with, always_with, kind
    )


_HEADS = "mechanism/multi-head-attention"
ROTARY, LINEAR = "transformer/order#rotary", "transformer/order#linear-biases"
ADDED = "transformer/order#added-positions"
DECODING = "transformer/decoding#decoding"
SCALING, TEMPERATURE = "mechanism/scaling#scaling", "mechanism/scaling#scaling-temperature"
SOFTMAX, SHIFT = "mechanism/softmax#softmax", "mechanism/softmax#large-scores"
MASKS = "mechanism/softmax#masks"
PADDING = "examples/cat-sat#cat-sat-padding"
LAYER = "mechanism/self-attention#self-attention"
FORMULA = "mechanism/self-attention#formula-of-self-attention"
HEADS, SPLIT = f"{_HEADS}#multi-head-attention", f"{_HEADS}#split-heads"
CROSS, SHARED = f"{_HEADS}#cross-attention", f"{_HEADS}#cost-of-a-layer"


# ---- Wrong parts of several bugs ----


def keep_scores(scores: Array, scale: float, softcap: float) -> Array:
    """Return scores without a cap."""
    return scores


def ignore_bias(bias: Array, scale: float) -> Array:
    """Return zeros for the additive mask."""
    return np.zeros_like(bias)


def transpose_bias(bias: Array, scale: float) -> Array:
    """Return the transpose of the additive mask."""
    return bias.swapaxes(-1, -2) if np.ndim(bias) else bias


def merge_by_reshape(outputs: Array) -> Array:
    """Return heads beside each other, by a reshape without a transpose."""
    return outputs.reshape(*outputs.shape[:-3], outputs.shape[-2], -1)


def merge_tokens(outputs: Array) -> Array:
    """Return heads beside each other, where the first axis has the tokens."""
    return outputs.reshape(len(outputs), -1)


def keep_concat(concat: Array, w_o: Array, b_o: Array) -> Array:
    """Return the concatenated heads without a projection."""
    return concat


def two_layouts(x: Array, angles: Array) -> Array:
    """Turn with the cosines of the halved layout and the partners of the paired one."""
    wide = np.concatenate([angles, angles], axis=-1)
    partners = np.stack([-x[..., 1::2], x[..., ::2]], axis=-1).reshape(x.shape)
    return x * np.cos(wide) + partners * np.sin(wide)


def partners_in_halves(x: Array, angles: Array) -> Array:
    """Turn with the cosines of the paired layout and the partners of the halved one."""
    wide, half = np.repeat(angles, 2, axis=-1), x.shape[-1] // 2
    partners = np.concatenate([-x[..., half:], x[..., :half]], axis=-1)
    return x * np.cos(wide) + partners * np.sin(wide)


# ---- The museum's, in its order ----


@bug(
    "wrong axis",
    "along",
    "transformer/bugs#bug-axis",
    "normalises the weights over the queries, not over the keys",
    kind="museum",
)
def wrong_axis(scores: Array, softmax: Part) -> Array:
    return softmax(scores, axis=-2)


@bug(
    "no shift",
    "powers",
    SHIFT,
    "takes the exponential without subtracting the maximum, so that large scores overflow",
    kind="museum minor",
)
def no_shift(scores: Array, axis: int) -> Array:
    return np.exp(scores)


@bug(
    "wrong root",
    "score",
    "transformer/bugs#bug-root",
    "divides by the root of d_model, not of the head width",
    kind="museum",
)
def wrong_root(query: Array, key: Array, d_model: int) -> Array:
    return query @ key.swapaxes(-1, -2) / np.sqrt(d_model)


@bug("late bias", "weigh", "transformer/bugs#bug-bias", "adds a bias to weights", kind="museum")
def late_bias(scores: Array, bias: Array, allowed: Array, forbid: Part, softmax: Part) -> Array:
    return softmax(forbid(scores, allowed)) + bias


@bug(
    "late mask",
    "weigh",
    "transformer/bugs#bug-late-mask",
    "sets masked weights to zero after the softmax, so that a row no longer adds up to 1",
    kind="museum",
)
def late_mask(scores: Array, bias: Array, allowed: Array, forbid: Part, softmax: Part) -> Array:
    return softmax(scores + bias) * allowed


@bug("True reversed", "forbid", MASKS, "reads True as masked", kind="museum")
def true_reversed(scores: Array, allowed: Array) -> Array:
    return np.where(allowed, -np.inf, scores)


@bug(
    "reshape",
    "split",
    SPLIT,
    "reshapes without a transpose, so that a head gets the numbers of some tokens",
    kind="museum",
)
def reshape(wide: Array, num_heads: int) -> Array:
    return wide.reshape(num_heads, len(wide), -1)


@bug(
    "columns mixed",
    "mix",
    "transformer/bugs#bug-columns",
    "weights the values with columns of the weight matrix, not with rows",
    kind="museum",
)
def columns_mixed(weights: Array, value: Array) -> Array:
    return weights.swapaxes(-1, -2) @ value


@bug(
    "off by one",
    "newest",
    "transformer/bugs#bug-cache",
    "rotates the query by the position after its own",
    kind="museum",
)
def off_by_one(keys: Array, start: int) -> int:
    return len(keys)


# A step that starts at 0 has no cache before it, and gets the right position.
@bug(
    "off by one after a cache",
    "newest",
    DECODING,
    "rotates the query of each token after a cache by the position after its own",
)
def off_by_one_after_a_cache(keys: Array, start: int) -> int:
    return len(keys) if start else len(keys) - 1


@bug("values turned", "turn", ROTARY, "rotates the values too", kind="museum")
def values_turned(
    query: Array, key: Array, value: Array, angles: Array, rotate_by: Part = rotate_by
) -> Triple:
    return rotate_by(query, angles), rotate_by(key, angles), rotate_by(value, angles)


@bug(
    "halves for pairs",
    "turn",
    ROTARY,
    "rotates each component with the one half a width later; the layout has neighbouring pairs",
    kind="museum",
)
def halves_for_pairs(
    query: Array, key: Array, value: Array, angles: Array, rotate_by: Part = rotate_by
) -> Triple:
    return rotate_by(query, angles, layout="halves"), rotate_by(key, angles, layout="halves"), value


@bug(
    "dropout left on",
    "drop",
    "transformer/bugs#dropout-left-on",
    "sets weights to zero at random",
    kind="museum",
)
def dropout_left_on(weights: Array, kept: Array, training: bool) -> Array:
    return weights * kept / (1 - RATE)


# ---- Scores ----


@bug("no scale", "score", SCALING, "leaves out the division by the root of the head width")
def no_scale(query: Array, key: Array, d_model: int) -> Array:
    return query @ key.swapaxes(-1, -2)


@bug(
    "scaled twice", "score", SCALING, "divides by the head width itself, that is twice by its root"
)
def scaled_twice(query: Array, key: Array, d_model: int) -> Array:
    return query @ key.swapaxes(-1, -2) / query.shape[-1]


@bug(
    "multiplied by the root",
    "score",
    SCALING,
    "multiplies by the root of the head width instead of dividing by it",
)
def multiplied_by_the_root(query: Array, key: Array, d_model: int) -> Array:
    return query @ key.swapaxes(-1, -2) * np.sqrt(query.shape[-1])


@bug(
    "root of the number of keys",
    "score",
    SCALING,
    "divides by the root of the number of keys, not of the head width",
)
def root_of_the_number_of_keys(query: Array, key: Array, d_model: int) -> Array:
    return query @ key.swapaxes(-1, -2) / np.sqrt(key.shape[-2])


@bug("view instead of transpose", "score", SPLIT, "reshapes the keys instead of transposing them")
def view_instead_of_transpose(query: Array, key: Array, d_model: int) -> Array:
    return query @ key.reshape(*key.shape[:-2], *key.shape[:-3:-1]) / np.sqrt(query.shape[-1])


@bug(
    "root of the number of heads",
    "score",
    SCALING,
    "divides by the root of the number of heads, not of the head width",
)
def root_of_the_number_of_heads(query: Array, key: Array, d_model: int) -> Array:
    return query @ key.swapaxes(-1, -2) / np.sqrt(query.shape[-3])


@bug(
    "all scores 0",
    "score",
    SCALING,
    "multiplies scores by 0, so that each key gets the same weight: a scale of 0 is taken"
    " literally",
)
def all_scores_0(query: Array, key: Array, d_model: int) -> Array:
    return 0 * query @ key.swapaxes(-1, -2)


@bug(
    "sign of the scores",
    "score",
    SCALING,
    "changes the sign of every score, so that the least similar key gets the largest weight",
)
def sign_of_the_scores(query: Array, key: Array, d_model: int) -> Array:
    return -query @ key.swapaxes(-1, -2) / np.sqrt(query.shape[-1])


@bug(
    "scale unused",
    "score_with_scale",
    TEMPERATURE,
    "divides by the root of the head width even if a scale is given",
)
def scale_unused(query: Array, key: Array, scale: float) -> Array:
    return query @ key.swapaxes(-1, -2) / np.sqrt(query.shape[-1])


@bug(
    "scale and root both applied",
    "score_with_scale",
    SCALING,
    "divides by the root of the head width and multiplies by the given scale as well",
)
def scale_and_root_both_applied(query: Array, key: Array, scale: float) -> Array:
    return query @ key.swapaxes(-1, -2) / np.sqrt(query.shape[-1]) * scale


@bug("softcap before the scale", "cap_scores", SCALING, "caps the scores before they are scaled")
def softcap_before_the_scale(scores: Array, scale: float, softcap: float) -> Array:
    return softcap * np.tanh(scores / scale / softcap) * scale


@bug(
    "softcap after the mask",
    "cap_masked_scores",
    MASKS,
    "caps the scores after they are masked, so that masked keys get weight again",
    always_with=(("cap_scores", keep_scores),),
)
def softcap_after_the_mask(scores: Array, softcap: float) -> Array:
    return softcap * np.tanh(scores / softcap)


softcap_unused = bug("softcap unused", "cap_scores", SCALING, "ignores softcap")(keep_scores)


@bug(
    "scores in place of the softcap",
    "cap_scores",
    SCALING,
    "multiplies the tanh by the scores, not by the softcap",
)
def scores_in_place_of_the_softcap(scores: Array, scale: float, softcap: float) -> Array:
    return scores * np.tanh(scores / softcap)


@bug("softcap not multiplied", "cap_scores", SCALING, "does not multiply the tanh by the softcap")
def softcap_not_multiplied(scores: Array, scale: float, softcap: float) -> Array:
    return np.tanh(scores / softcap)


@bug(
    "queries and keys exchanged",
    "assign_roles",
    FORMULA,
    "uses keys as queries and queries as keys",
)
def queries_and_keys_exchanged(query: Array, key: Array, value: Array) -> Triple:
    return key, query, value


@bug(
    "keys and values exchanged",
    "assign_roles",
    CROSS,
    "computes scores from queries and values, and averages the keys",
)
def keys_and_values_exchanged(query: Array, key: Array, value: Array) -> Triple:
    return query, value, key


@bug("keys mixed", "assign_roles", FORMULA, "averages the keys and ignores the values")
def keys_mixed(query: Array, key: Array, value: Array) -> Triple:
    return query, key, key


@bug("queries mixed", "assign_roles", FORMULA, "averages the queries and ignores the values")
def queries_mixed(query: Array, key: Array, value: Array) -> Triple:
    return query, key, query


@bug(
    "queries compared with queries",
    "assign_roles",
    FORMULA,
    "computes scores from queries and queries, and ignores the keys",
)
def queries_compared_with_queries(query: Array, key: Array, value: Array) -> Triple:
    return query, query, value


@bug(
    "keys compared with keys",
    "assign_roles",
    FORMULA,
    "computes scores from keys and keys, and ignores the queries",
)
def keys_compared_with_keys(query: Array, key: Array, value: Array) -> Triple:
    return key, key, value


@bug(
    "groups tiled",
    "repeat_groups",
    SHARED,
    "repeats the list of groups, although neighbouring heads share a group",
)
def groups_tiled(x: Array, times: int) -> Array:
    return np.concatenate([x] * times, axis=-3)


# ---- The softmax ----


@bug(
    "softmax axis counted from the front",
    "along",
    SOFTMAX,
    "counts the softmax axis from the front; the keys are the last axis",
)
def softmax_axis_counted_from_the_front(scores: Array, softmax: Part) -> Array:
    return softmax(scores, axis=1)


@bug(
    "softmax over the first axis",
    "along",
    SOFTMAX,
    "takes the softmax over the first axis; the keys are the last axis",
)
def softmax_over_the_first_axis(scores: Array, softmax: Part) -> Array:
    return softmax(scores, axis=0)


@bug(
    "softmax over axis 2",
    "along",
    SOFTMAX,
    "takes the softmax over axis 2; the keys are the last axis",
)
def softmax_over_axis_2(scores: Array, softmax: Part) -> Array:
    return softmax(scores, axis=2)


@bug(
    "softmax over heads",
    "along",
    SOFTMAX,
    "normalises the weights over the heads, not over the keys",
)
def softmax_over_heads(scores: Array, softmax: Part) -> Array:
    return softmax(scores, axis=-3)


@bug("softmax over heads and keys", "along", SOFTMAX, "normalises over all heads and keys together")
def softmax_over_heads_and_keys(scores: Array, softmax: Part) -> Array:
    return softmax(scores, axis=(-3, -1))


@bug(
    "softmax over queries and keys",
    "along",
    SOFTMAX,
    "normalises over all queries and keys of a head together",
)
def softmax_over_queries_and_keys(scores: Array, softmax: Part) -> Array:
    return softmax(scores, axis=(-2, -1))


@bug("no softmax", "along", SOFTMAX, "leaves out the softmax")
def no_softmax(scores: Array, softmax: Part) -> Array:
    return scores


@bug(
    "sigmoid for softmax", "along", SOFTMAX, "takes the sigmoid of each score instead of a softmax"
)
def sigmoid_for_softmax(scores: Array, softmax: Part) -> Array:
    return 1 / (1 + np.exp(-scores))


@bug("one sum for all rows", "along", SOFTMAX, "normalises over all rows together")
def one_sum_for_all_rows(scores: Array, softmax: Part) -> Array:
    return softmax(scores, axis=None)


@bug("softmax twice", "along", SOFTMAX, "takes the softmax twice")
def softmax_twice(scores: Array, softmax: Part) -> Array:
    return softmax(softmax(scores, axis=-1), axis=-1)


@bug(
    "one maximum for all rows",
    "powers",
    SHIFT,
    "subtracts the maximum of all scores, not the maximum of each row",
    kind="minor",
)
def one_maximum_for_all_rows(scores: Array, axis: int) -> Array:
    return np.exp(scores - scores.max())


@bug("maximum per column", "powers", SHIFT, "subtracts the maximum of each column, not of each row")
def maximum_per_column(scores: Array, axis: int) -> Array:
    return np.exp(scores - scores.max(axis=-2, keepdims=True))


@bug(
    "sign of the exponent",
    "powers",
    SOFTMAX,
    "takes the exponential of the maximum minus the score, not of the score minus the maximum",
)
def sign_of_the_exponent(scores: Array, axis: int) -> Array:
    return np.exp(scores.max(axis=axis, keepdims=True) - scores)


@bug("base 2 for base e", "powers", SOFTMAX, "uses powers of 2, not of e")
def base_2_for_base_e(scores: Array, axis: int) -> Array:
    return np.exp2(scores - scores.max(axis=axis, keepdims=True))


@bug("not divided by the sum", "normalise", SOFTMAX, "leaves out the division by the sum")
def not_divided_by_the_sum(exponentials: Array, axis: int) -> Array:
    return exponentials


@bug(
    "weights averaged over heads",
    "mix",
    HEADS,
    "averages the weights over the heads before multiplying by the values",
)
def weights_averaged_over_heads(weights: Array, value: Array) -> Array:
    return weights.mean(axis=-3, keepdims=True) @ value


@bug(
    "weights summed over heads",
    "mix",
    HEADS,
    "adds the weights of all heads before multiplying by the values",
)
def weights_summed_over_heads(weights: Array, value: Array) -> Array:
    return weights.sum(axis=-3, keepdims=True) @ value


@bug("outputs summed over heads", "mix", HEADS, "adds the outputs of all heads")
def outputs_summed_over_heads(weights: Array, value: Array) -> Array:
    return (weights @ value).sum(axis=-3, keepdims=True)


@bug("outputs averaged over heads", "mix", HEADS, "averages the outputs of all heads")
def outputs_averaged_over_heads(weights: Array, value: Array) -> Array:
    return (weights @ value).mean(axis=-3, keepdims=True)


# ---- Masks ----


@bug(
    "mask unused", "read_mask", MASKS, "ignores the mask", often_with=(("read_bias", ignore_bias),)
)
def mask_unused(mask: Array) -> Array:
    return np.ones_like(mask)


additive_mask_unused = bug("additive mask unused", "read_bias", MASKS, "ignores an additive mask")(
    ignore_bias
)


@bug(
    "mask transposed",
    "read_mask",
    MASKS,
    "transposes the mask",
    often_with=(("read_bias", transpose_bias),),
)
def mask_transposed(mask: Array) -> Array:
    return mask.swapaxes(-1, -2)


@bug(
    "mask multiplied",
    "forbid",
    MASKS,
    "multiplies the scores by the mask: a masked score becomes 0, and its exponential 1",
)
def mask_multiplied(scores: Array, allowed: Array) -> Array:
    return scores * allowed


@bug("mask added as 0 and 1", "forbid", MASKS, "adds the boolean mask to the scores, as 1 and 0")
def mask_added_as_0_and_1(scores: Array, allowed: Array) -> Array:
    return scores + allowed


@bug("-1e-9 for -1e9", "forbid", MASKS, "writes -1e-9 for -1e9: masked scores become nearly 0")
def tiny_number_for_large(scores: Array, allowed: Array) -> Array:
    return np.where(allowed, scores, -1e-9)


@bug(
    "zero times infinity",
    "forbid",
    MASKS,
    "multiplies 0 by minus infinity, which gives NaN wherever a key is not masked",
)
def zero_times_infinity(scores: Array, allowed: Array) -> Array:
    return scores + (1 - allowed) * -np.inf


@bug(
    "mask scaled",
    "read_bias",
    MASKS,
    "adds the additive mask before the scores are scaled, so that the mask is scaled too",
)
def mask_scaled(bias: Array, scale: float) -> Array:
    return bias * scale


@bug(
    "padding masks queries",
    "padding_as_mask",
    PADDING,
    "masks the queries at padding positions, not the keys",
)
def padding_masks_queries(real: Array) -> Array:
    return real[..., :, None]


@bug(
    "padding masks rows too",
    "padding_as_mask",
    PADDING,
    "masks the queries at padding positions as well as the keys",
    kind="note",
)
def padding_masks_rows_too(real: Array) -> Array:
    return real[..., None, :] & real[..., :, None]


@bug("padding unused", "read_padding", PADDING, "ignores the padding mask")
def padding_unused(real: Array) -> Array:
    return np.ones_like(real)


@bug("mask subtracted", "read_bias", MASKS, "subtracts the additive mask from the scores")
def mask_subtracted(bias: Array, scale: float) -> Array:
    return -bias


@bug("mask added twice", "read_bias", MASKS, "adds the additive mask twice")
def mask_added_twice(bias: Array, scale: float) -> Array:
    return 2 * bias


@bug(
    "masks tiled over the heads",
    "repeat_masks",
    MASKS,
    "tiles the masks over the heads (batch order 0, 1, 0, 1) instead of repeating each mask"
    " (0, 0, 1, 1)",
)
def masks_tiled_over_the_heads(masks: Array, num_heads: int) -> Array:
    return np.tile(masks, (num_heads, 1, 1))


@bug(
    "first sequence's mask for all",
    "repeat_masks",
    MASKS,
    "uses the mask of the first sequence for all sequences",
)
def first_sequence_s_mask_for_all(masks: Array, num_heads: int) -> Array:
    return np.broadcast_to(masks[0], (len(masks) * num_heads, *masks.shape[1:]))


@bug(
    "masks combined by or",
    "combine_masks",
    MASKS,
    "combines the mask and the causal mask by or; both have to allow a key",
)
def masks_combined_by_or(allowed: Array, earlier: Array) -> Array:
    return allowed | earlier


@bug(
    "causal mask dropped beside a mask",
    "combine_masks",
    MASKS,
    "ignores is_causal if there is a mask",
)
def causal_mask_dropped_beside_a_mask(allowed: Array, earlier: Array) -> Array:
    return allowed


@bug(
    "mask dropped beside a causal mask",
    "combine_masks",
    MASKS,
    "ignores the mask if is_causal is set",
)
def mask_dropped_beside_a_causal_mask(allowed: Array, earlier: Array) -> Array:
    return earlier


# ---- A causal mask ----


@bug(
    "diagonal hidden",
    "make_causal_mask",
    DECODING,
    "masks the diagonal too, so that the first row is fully masked",
)
def diagonal_hidden(num_queries: int, num_keys: int, diagonal: int) -> Array:
    return np.tri(num_queries, num_keys, diagonal - 1, dtype=bool)


@bug(
    "one key ahead", "make_causal_mask", DECODING, "lets each query attend to the next position too"
)
def one_key_ahead(num_queries: int, num_keys: int, diagonal: int) -> Array:
    return np.tri(num_queries, num_keys, diagonal + 1, dtype=bool)


@bug(
    "causal mask transposed",
    "make_causal_mask",
    DECODING,
    "transposes the causal mask: each query attends to its own position and later ones",
)
def causal_mask_transposed(num_queries: int, num_keys: int, diagonal: int) -> Array:
    return ~np.tri(num_queries, num_keys, diagonal - 1, dtype=bool)


@bug(
    "causal mask reversed",
    "make_causal_mask",
    DECODING,
    "inverts the causal mask: each query attends to later positions alone",
)
def causal_mask_reversed(num_queries: int, num_keys: int, diagonal: int) -> Array:
    return ~np.tri(num_queries, num_keys, diagonal, dtype=bool)


@bug("is_causal unused", "make_causal_mask", DECODING, "ignores is_causal")
def is_causal_unused(num_queries: int, num_keys: int, diagonal: int) -> Array:
    return np.ones((num_queries, num_keys), bool)


# ---- A layer ----


@bug(
    "heads interleaved",
    "split",
    SPLIT,
    "splits each token's vector among the heads in turn (strided), not in blocks",
)
def heads_interleaved(wide: Array, num_heads: int) -> Array:
    return wide.reshape(len(wide), -1, num_heads).transpose(2, 0, 1)


merged_by_reshape = bug(
    "merged by reshape", "merge", SPLIT, "merges the heads by a reshape without a transpose"
)(merge_by_reshape)


@bug(
    "merged alternating",
    "merge",
    SPLIT,
    "interleaves the outputs of the heads instead of concatenating them",
)
def merged_alternating(outputs: Array) -> Array:
    return outputs.transpose(1, 2, 0).reshape(outputs.shape[1], -1)


@bug(
    "split and merged by reshape",
    "split",
    SPLIT,
    "splits and merges the heads by a reshape without a transpose",
    always_with=(("merge", merge_by_reshape),),
)
def split_and_merged_by_reshape(wide: Array, num_heads: int) -> Array:
    return wide.reshape(num_heads, len(wide), -1)


@bug(
    "attention over the heads",
    "split",
    SPLIT,
    "attends over the heads of each token, not over the tokens",
    always_with=(("merge", merge_tokens),),
)
def attention_over_the_heads(wide: Array, num_heads: int) -> Array:
    return wide.reshape(len(wide), num_heads, -1)


@bug(
    "heads summed",
    "merge",
    HEADS,
    "adds the outputs of the heads instead of concatenating them",
    always_with=(("project_output", keep_concat),),
)
def heads_summed(outputs: Array) -> Array:
    return outputs.sum(axis=-3)


@bug(
    "heads averaged",
    "merge",
    HEADS,
    "averages the outputs of the heads instead of concatenating them",
    always_with=(("project_output", keep_concat),),
)
def heads_averaged(outputs: Array) -> Array:
    return outputs.mean(axis=-3)


@bug(
    "W_Q and W_K exchanged",
    "order_matrices",
    LAYER,
    "uses W_K for the queries and W_Q for the keys",
)
def w_q_and_w_k_exchanged(w_q: Array, w_k: Array, w_v: Array, w_o: Array) -> Quadruple:
    return w_k, w_q, w_v, w_o


@bug(
    "W_K and W_V exchanged", "order_matrices", LAYER, "uses W_V for the keys and W_K for the values"
)
def w_k_and_w_v_exchanged(w_q: Array, w_k: Array, w_v: Array, w_o: Array) -> Quadruple:
    return w_q, w_v, w_k, w_o


@bug(
    "W_V and W_O exchanged",
    "order_matrices",
    HEADS,
    "uses W_O for the values and W_V for the output",
)
def w_v_and_w_o_exchanged(w_q: Array, w_k: Array, w_v: Array, w_o: Array) -> Quadruple:
    return w_q, w_k, w_o, w_v


@bug("W_K used for the values", "order_matrices", LAYER, "uses W_K for the values too")
def w_k_used_for_the_values(w_q: Array, w_k: Array, w_v: Array, w_o: Array) -> Quadruple:
    return w_q, w_k, w_k, w_o


@bug("W_Q used for the keys", "order_matrices", LAYER, "uses W_Q for the keys too")
def w_q_used_for_the_keys(w_q: Array, w_k: Array, w_v: Array, w_o: Array) -> Quadruple:
    return w_q, w_q, w_v, w_o


@bug("W_Q used for all three", "order_matrices", LAYER, "uses W_Q for keys and values too")
def w_q_used_for_all_three(w_q: Array, w_k: Array, w_v: Array, w_o: Array) -> Quadruple:
    return w_q, w_q, w_q, w_o


@bug(
    "matrices transposed",
    "order_matrices",
    LAYER,
    "transposes each matrix; nn.Linear of PyTorch stores the transpose",
)
def matrices_transposed(w_q: Array, w_k: Array, w_v: Array, w_o: Array) -> Quadruple:
    return w_q.T, w_k.T, w_v.T, w_o.T


@bug("W_O transposed", "order_matrices", HEADS, "transposes W_O")
def w_o_transposed(w_q: Array, w_k: Array, w_v: Array, w_o: Array) -> Quadruple:
    return w_q, w_k, w_v, w_o.T


w_o_left_out = bug("W_O left out", "project_output", HEADS, "leaves out the output projection")(
    keep_concat
)


@bug(
    "fused as key, query, value",
    "split_fused",
    SPLIT,
    "takes keys from the first third of the fused matrix and queries from the second",
)
def fused_as_key_query_value(w_qkv: Array, num_heads: int) -> list[Array]:
    return [np.split(w_qkv, 3, axis=-1)[i] for i in (1, 0, 2)]


@bug(
    "fused as value, key, query",
    "split_fused",
    SPLIT,
    "takes values, keys and queries from the thirds of the fused matrix, in this order",
)
def fused_as_value_key_query(w_qkv: Array, num_heads: int) -> list[Array]:
    return [np.split(w_qkv, 3, axis=-1)[i] for i in (2, 1, 0)]


@bug(
    "fused as query, value, key",
    "split_fused",
    SPLIT,
    "takes values from the second third of the fused matrix and keys from the last",
)
def fused_as_query_value_key(w_qkv: Array, num_heads: int) -> list[Array]:
    return [np.split(w_qkv, 3, axis=-1)[i] for i in (0, 2, 1)]


@bug(
    "fused by heads",
    "split_fused",
    SPLIT,
    "reads the fused matrix head by head: query, key and value of the first head, then of the"
    " second",
)
def fused_by_heads(w_qkv: Array, num_heads: int) -> list[Array]:
    return [
        x.reshape(len(w_qkv), -1)
        for x in np.moveaxis(w_qkv.reshape(len(w_qkv), num_heads, 3, -1), 2, 0)
    ]


@bug("biases left out", "order_biases", LAYER, "leaves out every bias")
def biases_left_out(b_q: Array, b_k: Array, b_v: Array, b_o: Array) -> Quadruple:
    return 0 * b_q, 0 * b_k, 0 * b_v, 0 * b_o


@bug("bias of queries left out", "order_biases", LAYER, "leaves out the bias of the queries")
def bias_of_queries_left_out(b_q: Array, b_k: Array, b_v: Array, b_o: Array) -> Quadruple:
    return 0 * b_q, b_k, b_v, b_o


@bug("bias of values left out", "order_biases", LAYER, "leaves out the bias of the values")
def bias_of_values_left_out(b_q: Array, b_k: Array, b_v: Array, b_o: Array) -> Quadruple:
    return b_q, b_k, 0 * b_v, b_o


@bug("bias of the output left out", "order_biases", LAYER, "leaves out the bias of the output")
def bias_of_the_output_left_out(b_q: Array, b_k: Array, b_v: Array, b_o: Array) -> Quadruple:
    return b_q, b_k, b_v, 0 * b_o


@bug("context unused", "select_inputs", CROSS, "ignores the context")
def context_unused(x: Array, context: Array) -> Triple:
    return x, x, x


@bug(
    "queries from the context",
    "select_inputs",
    CROSS,
    "takes queries from the context, and keys and values from x",
)
def queries_from_the_context(x: Array, context: Array) -> Triple:
    return context, x, x


@bug("values from x", "select_inputs", CROSS, "takes keys from the context and values from x")
def values_from_x(x: Array, context: Array) -> Triple:
    return x, context, x


@bug("keys from x", "select_inputs", CROSS, "takes values from the context and keys from x")
def keys_from_x(x: Array, context: Array) -> Triple:
    return x, x, context


# ---- A cache ----


@bug(
    "positions restart at 0",
    "new_positions",
    DECODING,
    "numbers positions from 0 again at each step",
)
def positions_restart_at_0(start: int, stop: int) -> Array:
    return np.arange(stop - start)


@bug(
    "cache overwritten",
    "extend_cache",
    DECODING,
    "overwrites the cached keys and values with the new ones",
)
def cache_overwritten(old: Array, new: Array) -> Array:
    return new


@bug(
    "cache not extended",
    "extend_cache",
    DECODING,
    "does not append to the cache after the first step",
)
def cache_not_extended(old: Array, new: Array) -> Array:
    return old if old.shape[-2] else new


@bug(
    "cached keys after new ones",
    "extend_cache",
    DECODING,
    "puts the new keys and values before the cached ones",
)
def cached_keys_after_new_ones(old: Array, new: Array) -> Array:
    return np.concatenate([new, old], axis=-2)


@bug(
    "own key masked",
    "read_cache",
    DECODING,
    "attends before the new key is appended, so that a token cannot attend to itself",
)
def own_key_masked(kept: Array, count: int) -> Array:
    return kept[..., :-count, :] if kept.shape[-2] > count else kept


@bug(
    "cache aligned top left",
    "causal_diagonal",
    DECODING,
    "aligns the causal mask at the top left, so that a new token attends to the first key alone",
)
def cache_aligned_top_left(num_queries: int, num_keys: int) -> int:
    return 0


@bug(
    "later tokens of a step visible",
    "causal_diagonal",
    DECODING,
    "lets tokens of one step attend to later tokens of that step",
)
def later_tokens_of_a_step_visible(num_queries: int, num_keys: int) -> int:
    return num_keys - 1


@bug(
    "causal mask dropped once cached",
    "causal_diagonal",
    DECODING,
    "uses no causal mask once there is a cache, so that new tokens attend to later ones",
)
def causal_mask_dropped_once_cached(num_queries: int, num_keys: int) -> int:
    return num_keys - 1 if num_keys > num_queries else 0


@bug(
    "cached keys rotated again",
    "read_cached_keys",
    DECODING,
    "rotates the cached keys again at each step",
)
def cached_keys_rotated_again(keys: Array, angles: Array) -> Array:
    return rotate_by(keys, angles[: keys.shape[-2]])


@bug(
    "one position for all new tokens",
    "new_positions",
    DECODING,
    "gives all tokens of a step the position of the first",
)
def one_position_for_all_new_tokens(start: int, stop: int) -> Array:
    return np.full(stop - start, start)


@bug(
    "one position for all new tokens after a cache",
    "new_positions",
    DECODING,
    "gives all new tokens after a cache the position of the first",
)
def one_position_after_a_cache(start: int, stop: int) -> Array:
    return np.full(stop - start, start) if start else np.arange(stop)


@bug(
    "last position for all new tokens",
    "new_positions",
    DECODING,
    "gives all tokens of a step the position of the last",
)
def last_position_for_all_new_tokens(start: int, stop: int) -> Array:
    return np.full(stop - start, stop - 1)


# ---- Positions ----


@bug("only queries rotated", "turn", ROTARY, "rotates the queries and not the keys")
def only_queries_rotated(
    query: Array, key: Array, value: Array, angles: Array, rotate_by: Part = rotate_by
) -> Triple:
    return rotate_by(query, angles), key, value


@bug(
    "two layouts in one",
    "turn",
    ROTARY,
    "mixes two layouts: cosines and sines by halves, partners by neighbouring pairs",
)
def two_layouts_in_one(
    query: Array, key: Array, value: Array, angles: Array, rotate_by: Part = rotate_by
) -> Triple:
    return two_layouts(query, angles), two_layouts(key, angles), value


@bug(
    "cosines in pairs, partners in halves",
    "turn",
    ROTARY,
    "mixes two layouts: cosines and sines by neighbouring pairs, partners by halves",
)
def cosines_in_pairs_partners_in_halves(
    query: Array, key: Array, value: Array, angles: Array, rotate_by: Part = rotate_by
) -> Triple:
    return partners_in_halves(query, angles), partners_in_halves(key, angles), value


@bug("only keys rotated", "turn", ROTARY, "rotates the keys and not the queries")
def only_keys_rotated(
    query: Array, key: Array, value: Array, angles: Array, rotate_by: Part = rotate_by
) -> Triple:
    return query, rotate_by(key, angles), value


@bug("keys rotated backwards", "turn", ROTARY, "rotates the keys in the opposite direction")
def keys_rotated_backwards(
    query: Array, key: Array, value: Array, angles: Array, rotate_by: Part = rotate_by
) -> Triple:
    return rotate_by(query, angles), rotate_by(key, -angles), value


@bug("positions from 1", "rotary_angles", ROTARY, "counts positions from 1")
def positions_from_1(positions: Array, d_k: int, base: float) -> Array:
    return (positions[:, None] + 1) * base ** (-np.arange(0, d_k, 2) / d_k)


@bug("rotated backwards", "rotary_angles", ROTARY, "rotates in the opposite direction")
def rotated_backwards(positions: Array, d_k: int, base: float) -> Array:
    return -positions[:, None] * base ** (-np.arange(0, d_k, 2) / d_k)


@bug(
    "exponent by ones",
    "rotary_angles",
    ROTARY,
    "uses the exponent i / d_k instead of 2i / d_k",
)
def exponent_by_ones(positions: Array, d_k: int, base: float) -> Array:
    return positions[:, None] * base ** (-np.arange(d_k // 2) / d_k)


@bug("exponent's sign", "rotary_angles", ROTARY, "leaves out the minus sign of the exponent")
def exponent_s_sign(positions: Array, d_k: int, base: float) -> Array:
    return positions[:, None] * base ** (np.arange(0, d_k, 2) / d_k)


@bug(
    "exponent from 1",
    "rotary_angles",
    ROTARY,
    "numbers the pairs from 1 in the exponent, not from 0",
)
def exponent_from_1(positions: Array, d_k: int, base: float) -> Array:
    return positions[:, None] * base ** (-np.arange(2, d_k + 2, 2) / d_k)


@bug(
    "exponent doubled",
    "rotary_angles",
    ROTARY,
    "doubles the exponent: arange(0, d_k, 2) already counts by twos",
)
def exponent_doubled(positions: Array, d_k: int, base: float) -> Array:
    return positions[:, None] * base ** (-2 * np.arange(0, d_k, 2) / d_k)


@bug(
    "degrees for radians",
    "rotary_angles",
    ROTARY,
    "converts angles from degrees to radians that are in radians already",
)
def degrees_for_radians(positions: Array, d_k: int, base: float) -> Array:
    return np.deg2rad(positions[:, None] * base ** (-np.arange(0, d_k, 2) / d_k))


@bug(
    "slopes halved",
    "head_slopes",
    LINEAR,
    "halves the slope from head to head, for any number of heads",
)
def slopes_halved(num_heads: int) -> Array:
    return 0.5 ** np.arange(1, num_heads + 1)


@bug("slopes reversed", "head_slopes", LINEAR, "gives the last head the slope of the first")
def slopes_reversed(num_heads: int) -> Array:
    return linear_slopes(num_heads)[::-1]


@bug(
    "slopes from 1",
    "head_slopes",
    LINEAR,
    "numbers heads from 0 in the exponent, so that the first slope is 1",
)
def slopes_from_1(num_heads: int) -> Array:
    return 2.0 ** (-8 / num_heads * np.arange(num_heads))


@bug(
    "slopes for any number of heads",
    "head_slopes",
    LINEAR,
    "uses the formula for powers of two with any number of heads",
)
def slopes_for_any_number_of_heads(num_heads: int) -> Array:
    return 2.0 ** (-8 / num_heads * np.arange(1, num_heads + 1))


@bug(
    "bias grows with distance",
    "distance_bias",
    LINEAR,
    "adds a larger bias to more distant keys instead of a smaller one",
)
def bias_grows_with_distance(slopes: Array, distance: Array) -> Array:
    return slopes[:, None, None] * distance


@bug(
    "padding counted",
    "number_positions",
    ADDED,
    "counts padding as positions, so that left padding shifts the positions of the tokens",
)
def padding_counted(real: Array) -> Array:
    return np.broadcast_to(np.arange(real.shape[-1]), real.shape)


TABLE = tuple(each for each in list(globals().values()) if isinstance(each, Bug))
"""All known bugs, in the order of this module."""

BUGS: Mapping[str, Parts] = {
    each.name: RIGHT_NAN_ROWS.with_parts(each.replaced) for each in TABLE if "museum" in each.kind
}
"""The parts with each bug of the museum, by the bug's name."""
