"""The search for the conventions of a function, by the influence of inputs on its outputs.

An input is changed a little, and the outputs that change with it show a convention, even if the
function has a bug: a key without influence is masked, and an axis whose elements do not influence
each other is the axis of heads. Bugs are then searched for, and cases printed, in the function's
own conventions.

Each search takes the function with the conventions found so far (`tested`) and the lengths of its
leading axes, and returns these conventions with one more.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np

from mha.core.checks import Array
from mha.core.positions import BASE, Layout
from mha.examine.attention import POSITION_PARTS, POSITION_SIZES, WINDOW_WIDTH
from mha.examine.cases import Case, Draw
from mha.examine.conventions import (
    ADDED,
    DIVIDES,
    ONE_ALLOWS,
    ONE_IS_TOKEN,
    ONE_MASKS,
    TRUE_ALLOWS,
    TRUE_IS_PADDING,
    TRUE_MASKS,
    Conventions,
    LinearBiases,
)
from mha.examine.tested_function import FunctionUnderTest, read_defaults

NUM_TOKENS, NUM_HEADS, BATCH_SIZE = 5, 3, 2
"""The sizes of the cases of the search."""
WINDOW_TOKENS = 40
"""The number of tokens in the search for the width of a sliding window."""
MIN_CHANGE = 1e-4
"""The smallest change, relative to 1 plus the number, that counts as a change."""
KEY_INPUTS = "value", "values_of", "key", "context", "x"
"""Inputs with a row per key, in the order in which their influence is tested."""


def find_conventions(tested: FunctionUnderTest) -> FunctionUnderTest:
    """Return the function with the conventions that its outputs show.

    If it computes no plain case, only optional inputs and the order of its axes are searched for.
    """
    if tested.subject.draw_plain_inputs is None:
        return tested
    tested = _find_optional_inputs(tested)
    tested = _find_axes(tested)
    leading = _find_leading(tested)
    if leading is None:
        return tested
    for find in (
        *(_find_causality, _find_alignment, _find_mask, _find_padding, _find_scale),
        *(_find_window, _find_segments),
    ):
        tested = tested.with_conventions(find(tested, leading))
    return _find_padding_argument(tested, leading)


def returns_output(tested: FunctionUnderTest) -> bool:
    """Return whether a function computes some plain case without an error."""
    for count in sorted(_leading_counts(tested), reverse=True):
        for omitted in (frozenset(), frozenset(tested.required)):
            trial = replace(tested, may_be_none=omitted)
            case = _plain_case(trial, (1,) * count)
            if trial.can_run(case) and trial.run(case).value is not None:
                return True
    return False


# ---- Cases, and the influence of inputs ----


def _plain_case(
    tested: FunctionUnderTest,
    leading: tuple[int, ...],
    n: int = NUM_TOKENS,
    m: int = NUM_TOKENS,
    **extra_inputs: Any,
) -> Case:
    """Draw a plain case with small scores, so that each attended key has an influence."""
    draw = Draw("plain", tested.takes, leading, np.random.default_rng(47))
    draw_plain = tested.subject.draw_plain_inputs
    inputs = dict((draw_plain and draw_plain(draw, n, m)) or {})
    for name in ("query", "x"):
        if name in inputs:
            inputs[name] = inputs[name] * 0.5
    if "context" in tested.required and "x" in inputs:
        inputs["context"] = inputs["x"]
    return Case("plain", {**inputs, **extra_inputs}, leading, tested.takes)


def _perturb(case: Case, names: Sequence[str], index: tuple[Any, ...]) -> Case:
    """Return a case with some elements of some inputs increased by one."""
    inputs = dict(case.inputs)
    for name in names:
        inputs[name] = inputs[name].copy()
        inputs[name][index] += 1
    return replace(case, inputs=inputs)


def _differ(x: Array, y: Array) -> Array:
    with np.errstate(all="ignore"):
        return ~np.isclose(x.astype(float), y.astype(float), MIN_CHANGE, MIN_CHANGE, equal_nan=True)


def attended_keys(tested: FunctionUnderTest, case: Case) -> Array | None:
    """Return an array (n, m), True where a key influences a query's output; None without outputs.

    The values are changed first. If the function leaves them unused, the keys are changed too. In a
    layer each token influences its own output, be it masked or not, since it is the query too.
    """
    base = tested.run(case).value
    if base is None or base.shape != tested.subject.shape(case.inputs):
        return None
    if np.isfinite(base.astype(float)).mean() < 0.5:  # a change of infinity or NaN cannot be seen
        return None
    names = [name for name in KEY_INPUTS if isinstance(case.inputs.get(name), np.ndarray)]
    groups = [names[:1], names] if names[0] == "value" and "x" not in names else [names]
    for group in groups:
        columns = []
        for j in range(case.inputs[group[0]].shape[-2]):
            other = tested.run(_perturb(case, group, (..., j, slice(None)))).value
            if other is None or other.shape != base.shape:
                return None
            differs = _differ(base, other).any(axis=-1)
            columns.append(differs.reshape(-1, differs.shape[-1]).any(axis=0))
        attended = np.stack(columns, axis=-1)
        if attended.any():
            return attended
    return attended


def _attends_to(
    tested: FunctionUnderTest, attended: Array | None, expected: Array, first: int = 0
) -> bool:
    """Return whether the attended keys equal the expected ones, from query `first` on.

    In a layer the influence of a token on its own output is not compared.
    """
    if attended is None or attended.shape != expected.shape:
        return False
    is_own_token = np.eye(*expected.shape).astype(bool) & np.array("x" in tested.takes)
    return bool(((attended == expected) | is_own_token)[first:].all())


# ---- Axes, and optional inputs ----


def _find_optional_inputs(tested: FunctionUnderTest) -> FunctionUnderTest:
    """Return the function with the required inputs that may be None, or a mask of all keys."""
    omitted = frozenset(tested.required) & {"mask", "bias", "padding", "softcap"}
    if not omitted:
        return tested
    trial = replace(tested, may_be_none=omitted)
    leadings = ((BATCH_SIZE, NUM_HEADS), (NUM_HEADS,), ())
    values = [
        _run_in_own_axes(trial, _plain_case(trial, leading))
        for leading in leadings
        if len(leading) in _leading_counts(tested)
    ]
    if any(_is_informative(value) for value in values):
        return trial
    if filled := _find_filled_masks(tested, omitted):
        return filled
    return trial if any(value is not None for value in values) else tested


def _is_informative(value: Array | None) -> bool:
    """Return whether an output has finite numbers alone, and not zeros alone."""
    return value is not None and bool(np.isfinite(value.astype(float)).all() and value.any())


def _find_filled_masks(
    tested: FunctionUnderTest, omitted: frozenset[str]
) -> FunctionUnderTest | None:
    """Return the function with the required masks that cannot be None, in a form that it takes."""
    masks = omitted & {"mask", "padding"}
    forms = (TRUE_ALLOWS, ADDED, ONE_ALLOWS) if "mask" in masks else (tested.conventions.mask,)
    leadings = [x for x in ((BATCH_SIZE, NUM_HEADS), (BATCH_SIZE,), ())
                if len(x) in _leading_counts(tested)]  # fmt: skip
    for leading, token_axis, axes, form in product(
        leadings if masks else [], (-2, -3, -4), ("", "four", "three", "two"), forms
    ):
        if len(leading) < -2 - token_axis:
            continue
        conventions = replace(tested.conventions, mask=form, mask_axes=axes, token_axis=token_axis)
        trial = tested.with_conventions(
            conventions, filled_masks=masks, may_be_none=omitted - masks
        )
        if _is_informative(_run_in_own_axes(trial, _plain_case(trial, leading))):
            return trial
    return None


def _leading_counts(tested: FunctionUnderTest) -> set[int]:
    """Return the numbers of leading axes that the cases of the function's subject have."""
    return {len(leading) for leading in tested.subject.leading}


def _run_in_own_axes(tested: FunctionUnderTest, case: Case) -> Array | None:
    """Return an output in the function's own order of axes; None if there is none."""
    return replace(tested, output_token_axis=-2, has_merged_heads=False).run(case).value


def _find_leading(tested: FunctionUnderTest) -> tuple[int, ...] | None:
    """Return as many leading axes of length 1 as the function takes; None if it takes no case."""
    for count in sorted(_leading_counts(tested), reverse=True):
        case = _plain_case(tested, (1,) * count)
        if tested.can_run(case):
            value = tested.run(case).value
            if value is not None and value.shape == tested.subject.shape(case.inputs):
                return (1,) * count
    return None


def _find_axes(tested: FunctionUnderTest) -> FunctionUnderTest:
    """Return the function with the order of axes of its inputs and outputs."""
    is_layer = "x" in tested.takes
    for leading in ((BATCH_SIZE,),) if is_layer else ((BATCH_SIZE, NUM_HEADS), (NUM_HEADS,)):
        with_axes = _find_axes_of_case(tested, leading)
        if with_axes is not None:
            return with_axes
    return tested


def _find_axes_of_case(
    tested: FunctionUnderTest, leading: tuple[int, ...]
) -> FunctionUnderTest | None:
    """Return the function with the order of axes that a plain case shows; None if it shows none."""
    count, has_heads = len(leading), tested.subject.has_heads
    if count not in _leading_counts(tested):
        return None
    case = _plain_case(tested, leading)
    if not tested.can_run(case):
        return None
    base, shape = _run_in_own_axes(tested, case), tested.subject.shape(case.inputs)
    if base is None:
        return None
    if base.shape == shape:
        # The axes may have been exchanged or not: only the axis of tokens is mixed.
        names = [name for name in ("x", "context", "value", "key") if name in case.inputs]
        # A function may leave the values unused: then the influence of keys or queries shows.
        groups = [names] if "x" in names else [["value"], ["key"], ["query"]]
        for group in groups:
            mixes = [
                _influences_other_indices(tested, case, base, group, axis) for axis in (-3, -2)
            ]
            if mixes == [True, False]:
                return _with_tokens_at(tested, -3)
            if mixes == [False, True]:
                return tested
            if (
                count == 2
                and mixes == [False, False]
                and _influences_other_indices(tested, case, base, group, -4)
            ):
                return _with_tokens_at(tested, -4)
        return None
    if not has_heads:
        return None
    *batch, num_heads, num_tokens, width = shape
    swapped = (*batch, num_tokens, num_heads, width)
    merged = (*batch, num_tokens, num_heads * width)
    with_one_head = (*batch, num_tokens, 1, width)
    if base.shape == with_one_head:  # all heads in one, by mistake
        return replace(tested, output_token_axis=-3)
    if count == 2:
        for is_merged, its_shape in ((False, swapped), (True, merged)):
            if base.shape == its_shape:
                return replace(tested, output_token_axis=-3, has_merged_heads=is_merged)
        # The inputs have tokens before heads, or first, and the output has its heads merged.
        if base.shape == (*batch, num_heads, num_tokens * width):
            is_first = _influences_other_indices(tested, case, base, ["value"], -4, -3)
            return replace(_with_tokens_at(tested, -4 if is_first else -3), has_merged_heads=True)
    return None


def _with_tokens_at(tested: FunctionUnderTest, axis: int) -> FunctionUnderTest:
    """Return the function with an axis of tokens, in its inputs and its output."""
    conventions = replace(tested.conventions, token_axis=axis)
    return tested.with_conventions(conventions, output_token_axis=axis)


def _influences_other_indices(
    tested: FunctionUnderTest,
    case: Case,
    base: Array,
    names: Sequence[str],
    axis: int,
    output_axis: int | None = None,
) -> bool:
    """Return whether inputs at one index of an axis influence outputs at other indices of it.

    `output_axis` is that axis of the output, by default the same.
    """
    output_axis = axis if output_axis is None else output_axis
    size = base.shape[output_axis]
    for i in (0, size - 1):
        index = (..., i, *[slice(None)] * (-axis - 1))
        other = _run_in_own_axes(tested, _perturb(case, names, index))
        if other is None or other.shape != base.shape:
            return False
        differs = np.moveaxis(_differ(base, other), output_axis, 0)
        if differs[[j for j in range(size) if j != i]].any():
            return True
    return False


# ---- Masks ----


def _find_causality(tested: FunctionUnderTest, leading: tuple[int, ...]) -> Conventions:
    """Return the conventions, with whether the function is always causal."""
    attended = attended_keys(tested, _plain_case(tested, leading))
    if attended is None or attended.all() or not attended.any():
        return tested.conventions
    i, j = np.indices(attended.shape)
    is_far = np.abs(i - j) > 1
    earlier, later = (bool(attended[is_far & side].any()) for side in (j < i, j > i))
    return replace(tested.conventions, is_always_causal=earlier != later)


def _find_alignment(tested: FunctionUnderTest, leading: tuple[int, ...]) -> Conventions:
    """Return the conventions, with the alignment of a causal mask for fewer queries than keys."""
    is_always_causal, n, m = tested.conventions.is_always_causal, 3, 11
    if "query" not in tested.takes or not (is_always_causal or "is_causal" in tested.takes):
        return tested.conventions
    extra_inputs = {"is_causal": True} if "is_causal" in tested.takes else {}
    attended = attended_keys(tested, _plain_case(tested, leading, n, m, **extra_inputs))
    if attended is None or attended.shape != (n, m) or not attended.any():
        return tested.conventions
    if attended.all():  # is_causal is unused here, or takes effect for square masks alone
        return tested.conventions if is_always_causal else replace(tested.conventions, align=None)
    i, j = np.nonzero(attended)
    largest, smallest = int((j - i).max()), int((j - i).min())
    # The mask has a diagonal edge, which is wrong by a key or on the other side if there is a bug.
    # An extreme distance that the corner of the array has is no edge.
    edges = [x for x, corner in ((largest, m - 1), (smallest, 1 - n)) if x != corner]
    is_last = bool(edges) and all(abs(x - (m - n)) < abs(x) for x in edges)
    return replace(tested.conventions, align="bottom-right" if is_last else "top-left")


def _find_mask(tested: FunctionUnderTest, leading: tuple[int, ...]) -> Conventions:
    """Return the conventions, with the form and the axes of a mask.

    The mask of the search has no symmetry, so a mask that the function reads with rows and columns
    exchanged, a known bug, shows its form too.
    """
    conventions = tested.conventions
    if "mask" not in tested.takes:
        return conventions
    base = attended_keys(tested, _plain_case(tested, leading))
    n = NUM_TOKENS
    base = np.ones((n, n), bool) if base is None or base.shape != (n, n) else base
    i, j = np.indices((n, n))
    allowed = (i + 2 * j) % 3 != 0
    accepted_axes = list[str]()
    for axes in ("", "four", "three", "two"):
        mask = allowed[:1] | np.zeros((n, 1), bool) if axes == "two" else allowed
        if leading and not _accepts_mask_axes(tested, (BATCH_SIZE, *leading[1:]), axes, mask):
            continue
        has_output = False
        for form in (TRUE_ALLOWS, ADDED, ONE_ALLOWS):
            trial = replace(conventions, mask=form, mask_axes=axes)
            attended = attended_keys(
                tested.with_conventions(trial), _plain_case(tested, leading, mask=mask)
            )
            has_output |= attended is not None
            if form == ADDED and not _may_be_added(tested.with_conventions(trial), leading, mask):
                continue
            masked_patterns, allowed_patterns = (~mask & base, ~mask.T), (mask & base, mask.T)
            # A causal function may mask the first rows fully: their output is a convention.
            if form != ADDED and any(_attends_to(tested, attended, x, 2) for x in masked_patterns):
                trial = replace(trial, mask=TRUE_MASKS if form == TRUE_ALLOWS else ONE_MASKS)
            elif not any(_attends_to(tested, attended, x, 2) for x in allowed_patterns):
                continue
            trial = _find_additive_mask(tested, leading, trial, base)
            return _find_sequence_axes(tested.with_conventions(trial), leading, mask)
        accepted_axes += [axes] if has_output else []
    undetermined = conventions.undetermined | {"mask"}
    return replace(conventions, mask_axes=(*accepted_axes, "")[0], undetermined=undetermined)


def _accepts_mask_axes(
    tested: FunctionUnderTest, leading: tuple[int, ...], axes: str, mask: Array
) -> bool:
    """Return whether a function computes two sequences with a mask of given axes."""
    case = _plain_case(tested, leading, mask=mask)
    for form in (TRUE_ALLOWS, ADDED, ONE_ALLOWS):
        trial = tested.with_conventions(replace(tested.conventions, mask=form, mask_axes=axes))
        value = trial.run(case).value
        if value is not None and value.shape == tested.subject.shape(case.inputs):
            return True
    return False


def _find_padding_argument(
    tested: FunctionUnderTest, leading: tuple[int, ...]
) -> FunctionUnderTest:
    """Return the function with its mask as the argument of a padding mask, if that works.

    This is tried for a function without another argument for padding, whose mask has its own axes.
    """
    conventions = tested.conventions
    is_known = conventions.mask_axes and "mask" not in conventions.undetermined
    if not is_known or not tested.takes.isdisjoint({"padding", "lengths"}) or not leading:
        return tested
    argument = next(argument for argument, name in tested.arguments.items() if name == "mask")
    trial = replace(tested, padding_argument=argument)
    padding = np.ones((BATCH_SIZE, NUM_TOKENS), bool)
    case = _plain_case(trial, (BATCH_SIZE, *leading[1:]), padding=padding)
    value = trial.run(case).value
    return (
        trial if value is not None and value.shape == trial.subject.shape(case.inputs) else tested
    )


def _find_sequence_axes(
    tested: FunctionUnderTest, leading: tuple[int, ...], mask: Array
) -> Conventions:
    """Return the conventions, with the axes of a mask that differs between sequences."""
    conventions = tested.conventions
    if conventions.mask_axes or not leading:
        return conventions
    both = (BATCH_SIZE, *leading[1:])
    masks = np.stack([mask, mask])[:, None]
    for axes in ("four", "three"):
        trial = replace(conventions, sequence_mask_axes=axes)
        case = _plain_case(tested, both, mask=masks)
        value = tested.with_conventions(trial).run(case).value
        if value is not None and value.shape == tested.subject.shape(case.inputs):
            return trial
    return conventions


def _may_be_added(tested: FunctionUnderTest, leading: tuple[int, ...], mask: Array) -> bool:
    """Return whether a function may add its mask to the scores.

    It does not if it computes different outputs for a mask of booleans and one of 1 and 0.
    """
    case = _plain_case(tested, leading, mask=mask)
    for_booleans, for_ones = (
        tested.with_conventions(replace(tested.conventions, mask=form)).run(case).value
        for form in (TRUE_ALLOWS, ONE_ALLOWS)
    )
    return for_booleans is None or for_ones is None or not _differ(for_booleans, for_ones).any()


def _find_additive_mask(
    tested: FunctionUnderTest, leading: tuple[int, ...], conventions: Conventions, base: Array
) -> Conventions:
    """Return the conventions, with whether a mask of numbers is added to the scores."""
    if conventions.mask in (ONE_ALLOWS, ONE_MASKS) or conventions.mask_axes == "two":
        return replace(conventions, takes_additive_mask=False)
    if conventions.mask == ADDED:
        return conventions
    n = NUM_TOKENS
    i, j = np.indices((n, n))
    # A mask of 1 and 0 that masks, as a boolean one does, is not added.
    allowed = (i + 2 * j) % 3 != 0
    as_ones = replace(conventions, mask=ONE_MASKS if conventions.mask == TRUE_MASKS else ONE_ALLOWS)
    case = _plain_case(tested, leading, mask=allowed)
    if _attends_to(
        tested, attended_keys(tested.with_conventions(as_ones), case), allowed & base, 2
    ):
        return replace(conventions, takes_additive_mask=False)
    zeros = (i + 2 * j) % 3 == 0
    numbers = np.where(zeros, 0, 0.1 * (1 + i + j))
    attended = attended_keys(
        tested.with_conventions(conventions), _plain_case(tested, leading, mask=numbers)
    )
    is_truth_value = any(
        _attends_to(tested, attended, pattern & base, 2) for pattern in (zeros, ~zeros)
    )
    return replace(conventions, takes_additive_mask=not is_truth_value and attended is not None)


def _find_padding(tested: FunctionUnderTest, leading: tuple[int, ...]) -> Conventions:
    """Return the conventions, with the meaning of True in a padding mask."""
    conventions = tested.conventions
    if "padding" not in tested.takes or not leading:
        return conventions
    is_token = np.array([[True, True, False, True, False]])
    for form in (conventions.padding, ONE_IS_TOKEN):
        trial = replace(conventions, padding=form)
        attended = attended_keys(
            tested.with_conventions(trial), _plain_case(tested, leading, padding=is_token)
        )
        if attended is None:
            continue
        if "x" in tested.takes:
            attended = attended & (np.eye(*attended.shape) == 0)
        # The second pattern is of a function that masks the queries by mistake.
        for keys in (attended.any(axis=0), attended.any(axis=1)):
            if (keys == is_token[0]).all():
                return trial
            if (keys == ~is_token[0]).all() and form == conventions.padding:
                return replace(conventions, padding=TRUE_IS_PADDING)
    return replace(conventions, undetermined=conventions.undetermined | {"padding"})


# ---- Scale ----


def _find_scale(tested: FunctionUnderTest, leading: tuple[int, ...]) -> Conventions:
    """Return the conventions, with whether scores are multiplied or divided by scale.

    With a tiny scale products vanish and all weights are equal; quotients are huge, and one weight
    is 1.
    """
    conventions = tested.conventions
    if "scale" not in tested.takes:
        return conventions
    case = _plain_case(tested, leading)
    if "query" not in case.inputs:
        return conventions
    zeros = {name: 0 * case.inputs[name] for name in ("query", "key")}
    equal_scores = replace(case, inputs={**case.inputs, **zeros, "scale": 1.0})
    expected = tested.run(equal_scores).value
    is_even = []
    for scale in (1e-7, 1e7):
        output = tested.run(replace(case, inputs={**case.inputs, "scale": scale})).value
        if output is None or expected is None or output.shape != expected.shape:
            return conventions
        is_even.append(not _differ(output, expected).any())
    return replace(conventions, scale=DIVIDES) if is_even == [False, True] else conventions


# ---- Windows, segments, and a sink ----


def _find_window(tested: FunctionUnderTest, leading: tuple[int, ...]) -> Conventions:
    """Return the conventions, with the number of positions of a window, and its direction."""
    conventions, n = tested.conventions, 2 * WINDOW_WIDTH + 2
    if "window" not in tested.takes:
        return conventions
    attended = attended_keys(tested, _plain_case(tested, leading, n, n, window=WINDOW_WIDTH))
    distance = np.arange(n)[:, None] - np.arange(n)
    for extra, is_causal in ((0, False), (0, True), (1, False), (1, True)):
        near = abs(distance) < WINDOW_WIDTH + extra
        is_one_sided = is_causal or conventions.is_always_causal
        if _attends_to(tested, attended, near & (distance >= 0) if is_one_sided else near):
            return replace(conventions, window_extra=extra, window_is_causal=is_causal)
    return conventions


def _find_segments(tested: FunctionUnderTest, leading: tuple[int, ...]) -> Conventions:
    """Return the conventions, with the axes of segment ids."""
    conventions = tested.conventions
    if "segments" not in tested.takes or len(leading) < 2:
        return conventions
    both, ids = (BATCH_SIZE, *leading[1:]), np.arange(NUM_TOKENS) * 2 // NUM_TOKENS
    for has_rows in (False, True):
        trial = tested.with_conventions(replace(conventions, has_segment_rows=has_rows))
        case = _plain_case(trial, both, segments=ids)
        value = trial.run(case).value
        if value is not None and value.shape == tested.subject.shape(case.inputs):
            return trial.conventions
    return conventions


def find_first_masked_distance(tested: FunctionUnderTest) -> int | tuple[int, int] | None:
    """Return the smallest distance of a key outside a sliding window; None without a window.

    It is a pair, of the distance of earlier and of later keys, if the two differ.
    """
    for leading in sorted(tested.subject.leading, key=len, reverse=True):
        leading_ones = (1,) * len(leading)
        case = _plain_case(tested, leading_ones, WINDOW_TOKENS, WINDOW_TOKENS)
        if "query" in case.inputs:  # beside large scores some keys have too little influence
            case = replace(case, inputs={**case.inputs, "query": 0.05 * case.inputs["query"]})
        attended = attended_keys(tested, case) if tested.can_run(case) else None
        if attended is None or attended.all():
            continue
        distance = np.arange(WINDOW_TOKENS)[:, None] - np.arange(WINDOW_TOKENS)
        earlier, later = (int((sign * distance)[attended].max(initial=-1)) + 1 for sign in (1, -1))
        is_window = bool((attended == ((distance < earlier) & (-distance < later))).all())
        if not is_window or not 1 < earlier < WINDOW_TOKENS:
            return None
        is_simple = earlier == later or tested.conventions.is_always_causal
        return earlier if is_simple else (earlier, later)
    return None


def find_sink(tested: FunctionUnderTest) -> float | None:
    """Return the score of a sink in each softmax; None if there is none.

    With a sink the weight of a single key is below 1, and shows the sink's score.
    """
    rng, sinks = np.random.default_rng(67), []
    axes = max(tested.subject.leading, key=len)
    for _ in range(4):
        for count in range(len(axes), -1, -1):
            query, key = rng.normal(size=(2, *(1,) * count, 1, 4))
            inputs = {"query": query, "key": key, "value": np.ones((*(1,) * count, 1, 4))}
            output = tested.run(Case("plain", inputs, (1,) * count, tested.takes)).value
            if output is not None and output.shape == tested.subject.shape(inputs):
                break
        else:
            return None
        weight = float(output.reshape(-1)[0])
        if not 0 < weight < 1:
            return None
        sinks.append(float((query * key).sum()) / 2 - np.log(weight / (1 - weight)))
    return float(np.round(sinks[0], 6)) if np.ptp(sinks) < 1e-4 else None


# ---- Positions that a function itself applies ----

NUM_POSITIONS = 6
"""The number of tokens, and the width of heads, in the search for positions."""


def find_own_positions(tested: FunctionUnderTest) -> list[FunctionUnderTest]:
    """Return the function with each way in which it may itself apply positions.

    With queries of zeros, weights that differ show linear biases. With equal keys, they show that
    queries and keys are rotated.
    """
    rotated = [
        _with_positions(tested, rotation=(layout, base)) for layout, base in _rotations(tested)
    ]
    if "query" not in tested.takes:
        return rotated if _depends_on_order(tested) else []
    slopes = {heads: x for heads in (1, 2, 3, 4, 6) if (x := _own_slopes(tested, heads))}
    if any(slope for row in slopes.values() for slope in row):
        return [
            _with_positions(tested, linear_biases=LinearBiases(known))
            for known in ((), tuple(slopes.items()))
        ]
    rng = np.random.default_rng(71)
    query, key = rng.normal(size=(2, NUM_POSITIONS, NUM_POSITIONS))
    weights = _own_weights(tested, 2, query, np.broadcast_to(key[:1], key.shape))
    if weights is None or not _differ(weights, _average_attended(weights)).any():
        return []
    return rotated


def _depends_on_order(tested: FunctionUnderTest) -> bool:
    """Return whether the last token's output of a layer changes with the order of the others."""
    for count in sorted(_leading_counts(tested), reverse=True):
        case = _plain_case(tested, (1,) * count)
        x = case.inputs["x"][..., [1, 0, *range(2, NUM_TOKENS)], :]
        outputs = [
            tested.run(each).value for each in (case, replace(case, inputs={**case.inputs, "x": x}))
        ]
        if outputs[0] is not None and outputs[1] is not None:
            return bool(_differ(outputs[0][..., -1, :], outputs[1][..., -1, :]).any())
    return False


def _rotations(tested: FunctionUnderTest) -> list[tuple[Layout, float]]:
    """Return the layouts and bases of rotary positions that a function may apply."""
    defaults = read_defaults(tested.function)
    given = (defaults.get(name) for name in ("base", "theta", "ropetheta", "ropebase", "maxperiod"))
    bases = [float(x) for x in given if isinstance(x, int | float) and x > 1]
    layouts: tuple[Layout, ...] = ("pairs", "halves")
    return [(layout, base) for base in dict.fromkeys([*bases, BASE]) for layout in layouts]


def _with_positions(tested: FunctionUnderTest, **positions: Any) -> FunctionUnderTest:
    """Return the function as one that applies positions, with the parts of a bug in them."""
    subject = tested.subject
    parts = dict.fromkeys((*subject.parts, *POSITION_PARTS))
    sizes = POSITION_SIZES if subject.has_heads else subject.sizes
    return tested.with_conventions(
        replace(tested.conventions, **positions),
        subject=replace(subject, parts=tuple(parts), sizes=sizes),
    )


def _average_attended(weights: Array) -> Array:
    """Return equal weights for all keys that have a weight."""
    is_attended = weights > MIN_CHANGE
    return is_attended / is_attended.sum(axis=-1, keepdims=True).clip(1)


def _own_weights(tested: FunctionUnderTest, heads: int, query: Array, key: Array) -> Array | None:
    """Return the weights (heads, n, n) for the same queries and keys in all heads.

    With the unit vectors as values, they are the output.
    """
    n = NUM_POSITIONS
    for leading in ((1, heads), (heads,)):
        arrays = dict(zip(("query", "key", "value"), (query, key, np.eye(n)), strict=True))
        inputs: dict[str, Any] = {
            name: np.broadcast_to(x, (*leading, n, n)).copy() for name, x in arrays.items()
        }
        output = tested.run(Case("plain", inputs, leading, tested.takes)).value
        if output is not None and output.shape == (*leading, n, n):
            weights = output.reshape(heads, n, n).astype(float)
            is_weights = (weights > -MIN_CHANGE).all() and not _differ(
                weights.sum(axis=-1), np.ones((heads, n))
            ).any()
            return weights if is_weights else None
    return None


def _own_slopes(tested: FunctionUnderTest, heads: int) -> tuple[float, ...] | None:
    """Return the slopes of the linear biases that a function itself adds.

    Without biases the slopes are 0.
    """
    keys = np.random.default_rng(71).normal(size=(NUM_POSITIONS, NUM_POSITIONS))
    weights = _own_weights(tested, heads, 0 * keys, keys)
    if weights is None or not (weights[:, 1:, 0] > 0).all():
        return None
    i, j = np.indices(weights.shape[-2:])
    with np.errstate(all="ignore"):
        biases = np.log(weights) - np.log(np.diagonal(weights, axis1=1, axis2=2))[..., None]
    slopes = -biases[:, 1, 0]
    is_linear = ~_differ(biases, -slopes[:, None, None] * abs(i - j))
    is_unattended = weights <= 0
    if not (is_linear | is_unattended).all():
        return None
    return tuple(map(float, slopes))
