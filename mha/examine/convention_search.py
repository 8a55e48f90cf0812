"""The search for the conventions of a function, by the influence of inputs on its outputs.

The influence of inputs shows a convention even if the numbers are wrong: a key without influence is
masked, and an axis whose elements do not influence each other is the axis of heads. Bugs are then
searched for, and cases printed, in the function's own conventions.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from mha.core.checks import Array
from mha.examine.attention import WINDOW_WIDTH
from mha.examine.cases import Case, Draw
from mha.examine.conventions import (
    ADDED,
    DIVIDES,
    HIDES,
    IS_PADDING,
    ONES,
    ONES_HIDE,
    SEES,
    Conventions,
)
from mha.examine.tested_function import FunctionUnderTest

TOKENS, HEADS, BATCH = 5, 3, 2
WINDOW_TOKENS = 40
"""The number of tokens in the search for the width of a sliding window."""
MIN_CHANGE = 1e-4
"""The smallest change, relative to 1 plus the number, that counts as a change."""
KEYS = "value", "values_of", "key", "context", "x"
"""Inputs with a row per key; the first with an influence shows the attended keys."""


def find_conventions(tested: FunctionUnderTest) -> FunctionUnderTest:
    """Return the function with the conventions that its outputs show."""
    if tested.subject.plain_inputs is None:
        return tested
    tested = _find_optional_inputs(tested)
    tested = _find_axes(tested)
    leading = _leading(tested)
    if leading is None:
        return tested
    for find in (
        *(_find_causality, _find_alignment, _find_mask, _find_padding, _find_scale),
        *(_find_window, _find_segments),
    ):
        tested = tested.with_conventions(find(tested, leading))
    return _find_padding_through(tested, leading)


def returns_output(tested: FunctionUnderTest) -> bool:
    """Return whether a function returns an output for a plain case with any number of axes."""
    for count in sorted(_axis_counts(tested), reverse=True):
        for may in (frozenset(), frozenset(tested.required)):
            trial = replace(tested, may_be_none=may)
            case = _plain_case(trial, (1,) * count)
            if trial.can_run(case) and _output(trial, case) is not None:
                return True
    return False


# ---- Cases and influences ----


def _plain_case(
    tested: FunctionUnderTest,
    leading: tuple[int, ...],
    n: int = TOKENS,
    m: int = TOKENS,
    **more: Any,
) -> Case:
    """Draw a plain case with small scores, so that each attended key has an influence."""
    draw = Draw("plain", tested.takes, leading, np.random.default_rng(47))
    draw_plain = tested.subject.plain_inputs
    inputs = dict((draw_plain and draw_plain(draw, n, m)) or {})
    for name in ("query", "x"):
        if name in inputs:
            inputs[name] = inputs[name] * 0.5
    if "context" in tested.required and "x" in inputs:
        inputs["context"] = inputs["x"]
    return Case("plain", {**inputs, **more}, leading, tested.takes)


def _output(tested: FunctionUnderTest, case: Case) -> Array | None:
    outcome = tested.run(case)
    return None if outcome.value is None else outcome.value


def _perturb(case: Case, names: Sequence[str], at: tuple[Any, ...]) -> Case:
    """Return a case with some elements of some inputs increased by one."""
    inputs = dict(case.inputs)
    for name in names:
        inputs[name] = inputs[name].copy()
        inputs[name][at] += 1
    return replace(case, inputs=inputs)


def _differ(x: Array, y: Array) -> Array:
    with np.errstate(all="ignore"):
        return ~np.isclose(x.astype(float), y.astype(float), MIN_CHANGE, MIN_CHANGE, equal_nan=True)


def attended_keys(tested: FunctionUnderTest, case: Case) -> Array | None:
    """Return True where a key influences the output of a query; None if an output is missing.

    In a layer each token influences its own output.
    """
    base = _output(tested, case)
    if base is None or base.shape != tested.subject.shape(case.inputs):
        return None
    if np.isfinite(base.astype(float)).mean() < 0.5:  # beside infinities no influence shows
        return None
    names = [name for name in KEYS if isinstance(case.inputs.get(name), np.ndarray)]
    groups = [names[:1], names] if names[0] == "value" and "x" not in names else [names]
    for group in groups:
        columns = []
        for j in range(case.inputs[group[0]].shape[-2]):
            other = _output(tested, _perturb(case, group, (..., j, slice(None))))
            if other is None or other.shape != base.shape:
                return None
            differs = _differ(base, other).any(axis=-1)
            columns.append(differs.reshape(-1, differs.shape[-1]).any(axis=0))
        found = np.stack(columns, axis=-1)
        if found.any():
            return found
    return found


def _attends_as(
    tested: FunctionUnderTest, found: Array | None, expected: Array, first: int = 0
) -> bool:
    """Return whether the attended keys equal the expected ones, from query `first` on."""
    if found is None or found.shape != expected.shape:
        return False
    own = np.eye(*expected.shape).astype(bool) & np.array("x" in tested.takes)
    return bool(((found == expected) | own)[first:].all())


# ---- Axes, and optional inputs ----


def _find_optional_inputs(tested: FunctionUnderTest) -> FunctionUnderTest:
    """Return the function with the required inputs that may be None."""
    may = frozenset(tested.required) & {"mask", "bias", "padding", "softcap"}
    if not may:
        return tested
    trial = replace(tested, may_be_none=may)
    for leading in ((BATCH, HEADS), (HEADS,), ()):
        case = _plain_case(trial, leading) if len(leading) in _axis_counts(tested) else None
        if case is not None and trial.can_run(case) and _raw_output(trial, case) is not None:
            return trial
    return tested


def _axis_counts(tested: FunctionUnderTest) -> set[int]:
    return {len(leading) for leading in tested.subject.leading}


def _raw_output(tested: FunctionUnderTest, case: Case) -> Array | None:
    """Return an output in the function's own order of axes."""
    outcome = replace(tested, output_axes="").run(case)
    return outcome.value


def _leading(tested: FunctionUnderTest) -> tuple[int, ...] | None:
    """Return the largest number of leading axes that the function takes, each of length 1."""
    for count in sorted(_axis_counts(tested), reverse=True):
        case = _plain_case(tested, (1,) * count)
        if tested.can_run(case):
            value = _output(tested, case)
            if value is not None and value.shape == tested.subject.shape(case.inputs):
                return (1,) * count
    return None


def _find_axes(tested: FunctionUnderTest) -> FunctionUnderTest:
    """Return the function with the order of axes of its inputs and outputs."""
    is_layer = "x" in tested.takes
    for leading in ((BATCH,),) if is_layer else ((BATCH, HEADS), (HEADS,)):
        for found in _orders(tested, leading):
            return found
    return tested


def _orders(tested: FunctionUnderTest, leading: tuple[int, ...]) -> Iterator[FunctionUnderTest]:
    """Yield the function with the order of axes that its outputs show, if any."""
    count = len(leading)
    if count not in _axis_counts(tested):
        return
    case = _plain_case(tested, leading)
    if not tested.can_run(case):
        return
    base, shape = _raw_output(tested, case), tested.subject.shape(case.inputs)
    if base is None:
        return
    names = [name for name in ("x", "context", "value", "key") if name in case.inputs]
    # A function may leave the values unused: then keys and queries tell.
    groups = [names] if "x" in names else [["value"], ["key"], ["query"]]
    swapped = (*shape[:-3], shape[-2], shape[-3], shape[-1])
    merged = (*shape[:-3], shape[-2], shape[-3] * shape[-1])
    if base.shape == shape:
        for group in groups:
            mixes = [_mixes(tested, case, base, group, axis) for axis in (-3, -2)]
            if mixes == [True, False]:
                yield tested.with_conventions(
                    replace(tested.conventions, tokens_first=True), output_axes="swapped"
                )
                return
            if mixes == [False, True]:
                yield tested
                return
        return
    one = (*shape[:-3], shape[-2], 1, shape[-1])
    if tested.subject.has_heads and base.shape == one:  # all heads in one, by mistake
        yield replace(tested, output_axes="swapped")
        return
    if count == 2 or not tested.subject.has_heads:
        for output, each in (("swapped", swapped), ("merged", merged)):
            if base.shape == each and tested.subject.has_heads:
                yield replace(tested, output_axes=output)
                return
        # Tokens first, and heads merged in the output.
        first = (*shape[:-2], shape[-2] * shape[-1])
        if base.shape == first and tested.subject.has_heads:
            yield tested.with_conventions(
                replace(tested.conventions, tokens_first=True), output_axes="merged"
            )


def _mixes(
    tested: FunctionUnderTest, case: Case, base: Array, names: Sequence[str], axis: int
) -> bool:
    """Return whether an index of an axis influences the outputs at other indices."""
    size = base.shape[axis]
    for i in (0, size - 1):
        at = (..., i, *[slice(None)] * (-axis - 1))
        other = _raw_output(tested, _perturb(case, names, at))
        if other is None or other.shape != base.shape:
            return False
        differs = np.moveaxis(_differ(base, other), axis, 0)
        if differs[[j for j in range(size) if j != i]].any():
            return True
    return False


# ---- Masks ----


def _find_causality(tested: FunctionUnderTest, leading: tuple[int, ...]) -> Conventions:
    """Return the conventions, with whether the function is always causal."""
    found = attended_keys(tested, _plain_case(tested, leading))
    if found is None or found.all() or not found.any():
        return tested.conventions
    i, j = np.indices(found.shape)
    is_far = np.abs(i - j) > 1
    one_side = bool(found[is_far & (j < i)].any()) != bool(found[is_far & (j > i)].any())
    return replace(tested.conventions, is_always_causal=one_side)


def _find_alignment(tested: FunctionUnderTest, leading: tuple[int, ...]) -> Conventions:
    """Return the conventions, with the position of the first query if there are fewer queries."""
    always, n, m = tested.conventions.is_always_causal, 3, 11
    if "query" not in tested.takes or not (always or "is_causal" in tested.takes):
        return tested.conventions
    more = {"is_causal": True} if "is_causal" in tested.takes else {}
    found = attended_keys(tested, _plain_case(tested, leading, n, m, **more))
    if found is None or found.shape != (n, m) or found.all() or not found.any():
        sees_all = found is not None and not always and found.all()
        return replace(tested.conventions, is_square=True) if sees_all else tested.conventions
    i, j = np.nonzero(found)
    later, relative_to_first_key = int((j - i).max()), int((j - i).min())
    ends = [x for x, edge in ((later, m - 1), (relative_to_first_key, 1 - n)) if x != edge]
    is_last = bool(ends) and all(abs(x - (m - n)) < abs(x) for x in ends)
    return replace(tested.conventions, is_last=is_last)


def _find_mask(tested: FunctionUnderTest, leading: tuple[int, ...]) -> Conventions:
    """Return the conventions, with the meaning of True in a mask, and the mask's axes."""
    usual = tested.conventions
    if "mask" not in tested.takes:
        return usual
    base = attended_keys(tested, _plain_case(tested, leading))
    n = TOKENS
    base = np.ones((n, n), bool) if base is None or base.shape != (n, n) else base
    i, j = np.indices((n, n))
    allowed = (i + 2 * j) % 3 != 0
    for axes in ("", "four", "three", "two"):
        mask = allowed[:1] | np.zeros((n, 1), bool) if axes == "two" else allowed
        if leading and axes and not _takes_mask(tested, (BATCH, *leading[1:]), axes, mask):
            continue
        has_output = False
        for kind in (SEES, ADDED, ONES):
            trial = replace(usual, mask=kind, mask_axes=axes)
            found = attended_keys(
                tested.with_conventions(trial), _plain_case(tested, leading, mask=mask)
            )
            has_output |= found is not None
            if kind == ADDED and not _is_added(tested.with_conventions(trial), leading, mask):
                continue
            hides, sees = (~mask & base, ~mask.T), (mask & base, mask.T)
            if kind != ADDED and any(_attends_as(tested, found, x, 2) for x in hides):
                trial = replace(trial, mask=HIDES if kind == SEES else ONES_HIDE)
            elif not any(_attends_as(tested, found, x, 2) for x in sees):
                continue
            trial = _find_number_mask(tested, leading, trial, base)
            return _find_sequence_axes(tested.with_conventions(trial), leading, mask)
        if has_output:
            return replace(usual, mask_axes=axes, undetermined=usual.undetermined | {"mask"})
    return replace(usual, undetermined=usual.undetermined | {"mask"})


def _takes_mask(
    tested: FunctionUnderTest, leading: tuple[int, ...], axes: str, mask: Array
) -> bool:
    """Return whether masks of given axes give outputs of the right shape for two sequences."""
    case = _plain_case(tested, leading, mask=mask)
    for kind in (SEES, ADDED, ONES):
        trial = tested.with_conventions(replace(tested.conventions, mask=kind, mask_axes=axes))
        value = _output(trial, case)
        if value is not None and value.shape == tested.subject.shape(case.inputs):
            return True
    return False


def _find_padding_through(tested: FunctionUnderTest, leading: tuple[int, ...]) -> FunctionUnderTest:
    """Return the function with the mask argument that takes a padding mask of (batch, m) too."""
    usual = tested.conventions
    is_known = usual.mask_axes and "mask" not in usual.undetermined
    if not is_known or not tested.takes.isdisjoint({"padding", "lengths"}) or not leading:
        return tested
    own = next(own for own, name in tested.arguments.items() if name == "mask")
    trial = replace(tested, padding_through=own)
    padding = np.ones((BATCH, TOKENS), bool)
    case = _plain_case(trial, (BATCH, *leading[1:]), padding=padding)
    value = _output(trial, case)
    return (
        trial if value is not None and value.shape == trial.subject.shape(case.inputs) else tested
    )


def _find_sequence_axes(
    tested: FunctionUnderTest, leading: tuple[int, ...], mask: Array
) -> Conventions:
    """Return the conventions, with the axes of a mask that differs between sequences."""
    usual = tested.conventions
    if usual.mask_axes or not leading:
        return usual
    both = (BATCH, *leading[1:])
    masks = np.stack([mask, mask])[:, None]
    for axes in ("four", "three"):
        trial = replace(usual, by_sequence=axes)
        case = _plain_case(tested, both, mask=masks)
        value = _output(tested.with_conventions(trial), case)
        if value is not None and value.shape == tested.subject.shape(case.inputs):
            return trial
    return usual


def _is_added(tested: FunctionUnderTest, leading: tuple[int, ...], mask: Array) -> bool:
    """Return whether a boolean mask is refused, or added as 1 and 0."""
    truth, ones = (
        _output(
            tested.with_conventions(replace(tested.conventions, mask=kind)),
            _plain_case(tested, leading, mask=mask),
        )
        for kind in (SEES, ONES)
    )
    return truth is None or ones is None or not _differ(truth, ones).any()


def _find_number_mask(
    tested: FunctionUnderTest, leading: tuple[int, ...], found: Conventions, base: Array
) -> Conventions:
    """Return the conventions, with whether a mask of numbers is added to the scores."""
    if found.mask in (ONES, ONES_HIDE) or found.mask_axes == "two":
        return replace(found, has_numbers=False)
    if found.mask == ADDED:
        return found
    n = TOKENS
    i, j = np.indices((n, n))
    # A mask of 1 and 0 that masks, as a boolean one does, is not added.
    allowed = (i + 2 * j) % 3 != 0
    as_ones = replace(found, mask=ONES_HIDE if found.mask == HIDES else ONES)
    case = _plain_case(tested, leading, mask=allowed)
    if _attends_as(
        tested, attended_keys(tested.with_conventions(as_ones), case), allowed & base, 2
    ):
        return replace(found, has_numbers=False)
    zeros = (i + 2 * j) % 3 == 0
    numbers = np.where(zeros, 0, 0.1 * (1 + i + j))
    outcomes = attended_keys(
        tested.with_conventions(found), _plain_case(tested, leading, mask=numbers)
    )
    is_read = any(_attends_as(tested, outcomes, seen_ & base, 2) for seen_ in (zeros, ~zeros))
    return replace(found, has_numbers=not is_read and outcomes is not None)


def _find_padding(tested: FunctionUnderTest, leading: tuple[int, ...]) -> Conventions:
    """Return the conventions, with the meaning of True in a padding mask."""
    usual = tested.conventions
    if "padding" not in tested.takes or not leading:
        return usual
    real = np.array([[True, True, False, True, False]])
    for kind in (usual.padding, ONES):
        trial = replace(usual, padding=kind)
        found = attended_keys(
            tested.with_conventions(trial), _plain_case(tested, leading, padding=real)
        )
        if found is None:
            continue
        if "x" in tested.takes:
            found = found & (np.eye(*found.shape) == 0)
        for keys in (found.any(axis=0), found.any(axis=1)):  # or queries are hidden by mistake
            if (keys == real[0]).all():
                return trial
            if (keys == ~real[0]).all() and kind == usual.padding:
                return replace(usual, padding=IS_PADDING)
    return replace(usual, undetermined=usual.undetermined | {"padding"})


# ---- Scale ----


def _find_scale(tested: FunctionUnderTest, leading: tuple[int, ...]) -> Conventions:
    """Return the conventions, with whether scores are multiplied or divided by scale."""
    usual = tested.conventions
    if "scale" not in tested.takes:
        return usual
    case = _plain_case(tested, leading)
    if "query" not in case.inputs:
        return usual
    zeros = {name: 0 * case.inputs[name] for name in ("query", "key")}
    even = replace(case, inputs={**case.inputs, **zeros, "scale": 1.0})
    expected = _output(tested, even)
    is_even = []
    for scale in (1e-7, 1e7):
        found = _output(tested, replace(case, inputs={**case.inputs, "scale": scale}))
        if found is None or expected is None or found.shape != expected.shape:
            return usual
        is_even.append(not _differ(found, expected).any())
    return replace(usual, scale=DIVIDES) if is_even == [False, True] else usual


# ---- Windows, segments, and a sink ----


def _find_window(tested: FunctionUnderTest, leading: tuple[int, ...]) -> Conventions:
    """Return the conventions, with the number of positions of a window, and its direction."""
    usual, n = tested.conventions, 2 * WINDOW_WIDTH + 2
    if "window" not in tested.takes:
        return usual
    found = attended_keys(tested, _plain_case(tested, leading, n, n, window=WINDOW_WIDTH))
    distance = np.arange(n)[:, None] - np.arange(n)
    for extra, is_causal in ((0, False), (0, True), (1, False), (1, True)):
        near = abs(distance) < WINDOW_WIDTH + extra
        is_one_sided = is_causal or usual.is_always_causal
        if _attends_as(tested, found, near & (distance >= 0) if is_one_sided else near):
            return replace(usual, window_extra=extra, window_is_causal=is_causal)
    return usual


def _find_segments(tested: FunctionUnderTest, leading: tuple[int, ...]) -> Conventions:
    """Return the conventions, with the axes of segment ids."""
    usual = tested.conventions
    if "segments" not in tested.takes or len(leading) < 2:
        return usual
    both, ids = (BATCH, *leading[1:]), np.arange(TOKENS) * 2 // TOKENS
    for has_rows in (False, True):
        trial = tested.with_conventions(replace(usual, has_segment_rows=has_rows))
        case = _plain_case(trial, both, segments=ids)
        value = _output(trial, case)
        if value is not None and value.shape == tested.subject.shape(case.inputs):
            return trial.conventions
    return usual


def find_first_masked_distance(tested: FunctionUnderTest) -> int | None:
    """Return the smallest distance of a key outside a sliding window; None without a window."""
    for leading in sorted(tested.subject.leading, key=len, reverse=True):
        ones = (1,) * len(leading)
        case = _plain_case(tested, ones, WINDOW_TOKENS, WINDOW_TOKENS)
        if "query" in case.inputs:  # beside large scores some keys have too little influence
            case = replace(case, inputs={**case.inputs, "query": 0.05 * case.inputs["query"]})
        found = attended_keys(tested, case) if tested.can_run(case) else None
        if found is None or found.all():
            continue
        distance = abs(np.arange(WINDOW_TOKENS)[:, None] - np.arange(WINDOW_TOKENS))
        first_masked = int(distance[found].max(initial=-1)) + 1
        allowed = distance < first_masked
        if tested.conventions.is_always_causal:
            allowed = np.tril(allowed)
        is_window = 0 < first_masked < WINDOW_TOKENS and bool((found == allowed).all())
        return first_masked if is_window else None
    return None


def find_sink(tested: FunctionUnderTest) -> float | None:
    """Return the score of a sink in each softmax; None if there is none.

    With a sink the weight of a single key is below 1.
    """
    rng, found = np.random.default_rng(67), []
    axes = max(tested.subject.leading, key=len)
    for _ in range(4):
        for count in range(len(axes), -1, -1):
            query, key = rng.normal(size=(2, *(1,) * count, 1, 4))
            inputs = {"query": query, "key": key, "value": np.ones((*(1,) * count, 1, 4))}
            share = tested.run(Case("plain", inputs, (1,) * count, tested.takes)).value
            if share is not None and share.shape == tested.subject.shape(inputs):
                break
        else:
            return None
        first = float(share.reshape(-1)[0])
        if not 0 < first < 1:
            return None
        found.append(float((query * key).sum()) / 2 - np.log(first / (1 - first)))
    return float(np.round(found[0], 6)) if np.ptp(found) < 1e-4 else None
