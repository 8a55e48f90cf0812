"""Conventions of a function, found from the influence of inputs on its outputs.

What an output depends on tells a convention, whether the numbers are right or not: a key that has
no influence is hidden, heads that have none on each other are heads. So bugs are looked for in the
function's own conventions, and a case that is shown is asked in them.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from mha.core.checks import Array
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
from mha.examine.function_calls import Asked

TOKENS, HEADS, BATCH = 5, 3, 2
FAR = 40
"""The number of tokens with which the width of a window is found."""
LEAST = 1e-4
"""The smallest change, relative to 1 plus the number, that counts as a change."""
KEYS = "value", "values_of", "key", "context", "x"
"""Inputs with a row per key; the first with an influence shows the attended keys."""


def probe(asked: Asked) -> Asked:
    """Return a function with its conventions."""
    if asked.subject.tokens is None:
        return asked
    asked = _neutral(asked)
    asked = _axes(asked)
    leading = _leading(asked)
    if leading is None:
        return asked
    for find in (_causal, _last, _mask, _padding, _scale):
        asked = asked.by(find(asked, leading))
    return asked


def has_answer(asked: Asked) -> bool:
    """Return whether a function returns an output for a plain case with any number of axes."""
    for count in sorted(_counts(asked), reverse=True):
        for may in (frozenset(), frozenset(asked.required)):
            trial = replace(asked, may_be_none=may)
            case = _case(trial, (1,) * count)
            if trial.can(case) and _value(trial, case) is not None:
                return True
    return False


# ---- Questions ----


def _case(
    asked: Asked, leading: tuple[int, ...], n: int = TOKENS, m: int = TOKENS, **more: Any
) -> Case:
    """Draw a plain case with small scores, so that each attended key has an influence."""
    draw = Draw("plain", asked.takes, leading, np.random.default_rng(47))
    made = asked.subject.tokens
    given = dict((made and made(draw, n, m)) or {})
    for name in ("query", "x"):
        if name in given:
            given[name] = given[name] * 0.5
    if "context" in asked.required and "x" in given:
        given["context"] = given["x"]
    return Case("plain", {**given, **more}, leading, asked.takes)


def _value(asked: Asked, case: Case) -> Array | None:
    answer = asked.ask(case)
    return None if answer.value is None else answer.value


def _changed(case: Case, names: Sequence[str], at: tuple[Any, ...]) -> Case:
    """Return a case with some elements of some inputs increased by one."""
    given = dict(case.given)
    for name in names:
        given[name] = given[name].copy()
        given[name][at] += 1
    return replace(case, given=given)


def _differ(x: Array, y: Array) -> Array:
    with np.errstate(all="ignore"):
        return ~np.isclose(x.astype(float), y.astype(float), LEAST, LEAST, equal_nan=True)


def seen(asked: Asked, case: Case) -> Array | None:
    """Return which keys influence the outputs of which queries; None if an output is missing.

    Of a layer a token always has one on its own output.
    """
    base = _value(asked, case)
    if base is None or base.shape != asked.subject.shape(case.given):
        return None
    if np.isfinite(base.astype(float)).mean() < 0.5:  # beside infinities no influence shows
        return None
    names = [name for name in KEYS if isinstance(case.given.get(name), np.ndarray)]
    groups = [names[:1], names] if names[0] == "value" and "x" not in names else [names]
    for group in groups:
        columns = []
        for j in range(case.given[group[0]].shape[-2]):
            other = _value(asked, _changed(case, group, (..., j, slice(None))))
            if other is None or other.shape != base.shape:
                return None
            off = _differ(base, other).any(axis=-1)
            columns.append(off.reshape(-1, off.shape[-1]).any(axis=0))
        found = np.stack(columns, axis=-1)
        if found.any():
            return found
    return found


def _alike(asked: Asked, found: Array | None, wanted: Array, first: int = 0) -> bool:
    """Return whether the attended keys are the expected ones, from the query `first` on."""
    if found is None or found.shape != wanted.shape:
        return False
    own = np.eye(*wanted.shape).astype(bool) & np.array("x" in asked.takes)
    return bool(((found == wanted) | own)[first:].all())


# ---- Axes, and what may be left out ----


def _neutral(asked: Asked) -> Asked:
    """Find which inputs without a default may be None."""
    may = frozenset(asked.required) & {"mask", "bias", "padding", "softcap"}
    if not may:
        return asked
    trial = replace(asked, may_be_none=may)
    for leading in ((BATCH, HEADS), (HEADS,), ()):
        case = _case(trial, leading) if len(leading) in _counts(asked) else None
        if case is not None and trial.can(case) and _raw(trial, case) is not None:
            return trial
    return asked


def _counts(asked: Asked) -> set[int]:
    return {len(leading) for leading in asked.subject.leading}


def _raw(asked: Asked, case: Case) -> Array | None:
    """Return an output with the axes of the function."""
    answer = replace(asked, output="").ask(case)
    return answer.value


def _leading(asked: Asked) -> tuple[int, ...] | None:
    """Return the most leading axes that the function takes, each of length 1."""
    for count in sorted(_counts(asked), reverse=True):
        case = _case(asked, (1,) * count)
        if asked.can(case):
            value = _value(asked, case)
            if value is not None and value.shape == asked.subject.shape(case.given):
                return (1,) * count
    return None


def _axes(asked: Asked) -> Asked:
    """Find the order of axes of inputs and outputs."""
    is_layer = "x" in asked.takes
    for leading in ((BATCH,),) if is_layer else ((BATCH, HEADS), (HEADS,)):
        for found in _orders(asked, leading):
            return found
    return asked


def _orders(asked: Asked, leading: tuple[int, ...]) -> Iterator[Asked]:
    """Yield a function with the order of axes that its outputs show, if any."""
    count = len(leading)
    if count not in _counts(asked):
        return
    case = _case(asked, leading)
    if not asked.can(case):
        return
    base, shape = _raw(asked, case), asked.subject.shape(case.given)
    if base is None:
        return
    names = [name for name in ("x", "context", "value", "key") if name in case.given]
    # A function may leave the values unused: then keys and queries tell.
    groups = [names] if "x" in names else [["value"], ["key"], ["query"]]
    swapped = (*shape[:-3], shape[-2], shape[-3], shape[-1])
    merged = (*shape[:-3], shape[-2], shape[-3] * shape[-1])
    if base.shape == shape:
        for group in groups:
            mixes = [_mixes(asked, case, base, group, axis) for axis in (-3, -2)]
            if mixes == [True, False]:
                yield asked.by(replace(asked.conventions, tokens_first=True), output="swapped")
                return
            if mixes == [False, True]:
                yield asked
                return
        return
    one = (*shape[:-3], shape[-2], 1, shape[-1])
    if asked.subject.has_heads and base.shape == one:  # all heads in one, by mistake
        yield replace(asked, output="swapped")
        return
    if count == 2 or not asked.subject.has_heads:
        for output, each in (("swapped", swapped), ("merged", merged)):
            if base.shape == each and asked.subject.has_heads:
                yield replace(asked, output=output)
                return
        # Tokens first, and heads merged in the output.
        first = (*shape[:-2], shape[-2] * shape[-1])
        if base.shape == first and asked.subject.has_heads:
            yield asked.by(replace(asked.conventions, tokens_first=True), output="merged")


def _mixes(asked: Asked, case: Case, base: Array, names: Sequence[str], axis: int) -> bool:
    """Return whether an index of an axis influences the outputs at other indices."""
    size = base.shape[axis]
    for i in (0, size - 1):
        at = (..., i, *[slice(None)] * (-axis - 1))
        other = _raw(asked, _changed(case, names, at))
        if other is None or other.shape != base.shape:
            return False
        off = np.moveaxis(_differ(base, other), axis, 0)
        if off[[j for j in range(size) if j != i]].any():
            return True
    return False


# ---- Masks ----


def _causal(asked: Asked, leading: tuple[int, ...]) -> Conventions:
    """Find whether a function is always causal."""
    found = seen(asked, _case(asked, leading))
    if found is None or found.all() or not found.any():
        return asked.conventions
    i, j = np.indices(found.shape)
    off = np.abs(i - j) > 1
    one_side = bool(found[off & (j < i)].any()) != bool(found[off & (j > i)].any())
    return replace(asked.conventions, is_always_causal=one_side)


def _last(asked: Asked, leading: tuple[int, ...]) -> Conventions:
    """Find which key has the position of the first query if there are fewer queries."""
    always, n, m = asked.conventions.is_always_causal, 3, 11
    if "query" not in asked.takes or not (always or "is_causal" in asked.takes):
        return asked.conventions
    more = {"is_causal": True} if "is_causal" in asked.takes else {}
    found = seen(asked, _case(asked, leading, n, m, **more))
    if found is None or found.shape != (n, m) or found.all() or not found.any():
        is_told = found is not None and not always and found.all()
        return replace(asked.conventions, is_square=True) if is_told else asked.conventions
    i, j = np.nonzero(found)
    later, earlier = int((j - i).max()), int((j - i).min())
    ends = [x for x, edge in ((later, m - 1), (earlier, 1 - n)) if x != edge]
    is_last = bool(ends) and all(abs(x - (m - n)) < abs(x) for x in ends)
    return replace(asked.conventions, is_last=is_last)


def _mask(asked: Asked, leading: tuple[int, ...]) -> Conventions:
    """Find the meaning of True in a mask, whether it is added, and its axes."""
    usual = asked.conventions
    if "mask" not in asked.takes:
        return usual
    base = seen(asked, _case(asked, leading))
    n = TOKENS
    base = np.ones((n, n), bool) if base is None or base.shape != (n, n) else base
    i, j = np.indices((n, n))
    allowed = (i + 2 * j) % 3 != 0
    for axes in ("", "four", "three", "two"):
        mask = allowed[:1] | np.zeros((n, 1), bool) if axes == "two" else allowed
        if leading and axes and not _takes_mask(asked, (BATCH, *leading[1:]), axes, mask):
            continue
        is_asked = False
        for kind in (SEES, ADDED, ONES):
            trial = replace(usual, mask=kind, mask_axes=axes)
            found = seen(asked.by(trial), _case(asked, leading, mask=mask))
            is_asked |= found is not None
            if kind == ADDED and not _is_added(asked.by(trial), leading, mask):
                continue
            hides, sees = (~mask & base, ~mask.T), (mask & base, mask.T)
            if kind != ADDED and any(_alike(asked, found, x, 2) for x in hides):
                trial = replace(trial, mask=HIDES if kind == SEES else ONES_HIDE)
            elif not any(_alike(asked, found, x, 2) for x in sees):
                continue
            trial = _numbers(asked, leading, trial, base)
            return _by_sequence(asked.by(trial), leading, mask)
        if is_asked:
            return replace(usual, mask_axes=axes, untold=usual.untold | {"mask"})
    return replace(usual, untold=usual.untold | {"mask"})


def _takes_mask(asked: Asked, leading: tuple[int, ...], axes: str, mask: Array) -> bool:
    """Return whether masks of given axes give outputs of the right shape for two sequences."""
    case = _case(asked, leading, mask=mask)
    for kind in (SEES, ADDED, ONES):
        trial = asked.by(replace(asked.conventions, mask=kind, mask_axes=axes))
        value = _value(trial, case)
        if value is not None and value.shape == asked.subject.shape(case.given):
            return True
    return False


def _by_sequence(asked: Asked, leading: tuple[int, ...], mask: Array) -> Conventions:
    """Find the axes of a mask that differs between sequences."""
    usual = asked.conventions
    if usual.mask_axes or not leading:
        return usual
    both = (BATCH, *leading[1:])
    masks = np.stack([mask, mask])[:, None]
    for axes in ("four", "three"):
        trial = replace(usual, by_sequence=axes)
        case = _case(asked, both, mask=masks)
        value = _value(asked.by(trial), case)
        if value is not None and value.shape == asked.subject.shape(case.given):
            return trial
    return usual


def _is_added(asked: Asked, leading: tuple[int, ...], mask: Array) -> bool:
    """Return whether a boolean mask is refused, or added as 1 and 0."""
    truth, ones = (
        _value(asked.by(replace(asked.conventions, mask=kind)), _case(asked, leading, mask=mask))
        for kind in (SEES, ONES)
    )
    return truth is None or ones is None or not _differ(truth, ones).any()


def _numbers(
    asked: Asked, leading: tuple[int, ...], found: Conventions, base: Array
) -> Conventions:
    """Find whether a mask of numbers is added to the scores, or read as boolean."""
    if found.mask in (ONES, ONES_HIDE) or found.mask_axes == "two":
        return replace(found, has_numbers=False)
    if found.mask == ADDED:
        return found
    n = TOKENS
    i, j = np.indices((n, n))
    zeros = (i + 2 * j) % 3 == 0
    numbers = np.where(zeros, 0, 0.1 * (1 + i + j))
    answers = seen(asked.by(found), _case(asked, leading, mask=numbers))
    is_read = any(_alike(asked, answers, seen_ & base, 2) for seen_ in (zeros, ~zeros))
    return replace(found, has_numbers=not is_read and answers is not None)


def _padding(asked: Asked, leading: tuple[int, ...]) -> Conventions:
    """Find the meaning of True in a padding mask."""
    usual = asked.conventions
    if "padding" not in asked.takes or not leading:
        return usual
    real = np.array([[True, True, False, True, False]])
    for kind in (usual.padding, ONES):
        trial = replace(usual, padding=kind)
        found = seen(asked.by(trial), _case(asked, leading, padding=real))
        if found is None:
            continue
        if "x" in asked.takes:
            found = found & (np.eye(*found.shape) == 0)
        for keys in (found.any(axis=0), found.any(axis=1)):  # or queries are hidden by mistake
            if (keys == real[0]).all():
                return trial
            if (keys == ~real[0]).all() and kind == usual.padding:
                return replace(usual, padding=IS_PADDING)
    return replace(usual, untold=usual.untold | {"padding"})


# ---- Scale ----


def _scale(asked: Asked, leading: tuple[int, ...]) -> Conventions:
    """Find whether scores are multiplied or divided by scale: a tiny factor makes them 0."""
    usual = asked.conventions
    if "scale" not in asked.takes:
        return usual
    case = _case(asked, leading)
    if "query" not in case.given:
        return usual
    zeros = {name: 0 * case.given[name] for name in ("query", "key")}
    even = replace(case, given={**case.given, **zeros, "scale": 1.0})
    wanted = _value(asked, even)
    is_even = []
    for scale in (1e-7, 1e7):
        found = _value(asked, replace(case, given={**case.given, "scale": scale}))
        if found is None or wanted is None or found.shape != wanted.shape:
            return usual
        is_even.append(not _differ(found, wanted).any())
    return replace(usual, scale=DIVIDES) if is_even == [False, True] else usual


# ---- A window, and a sink ----


def own_window(asked: Asked) -> int | None:
    """Return the width of a sliding window; None if the function has none."""
    for leading in sorted(asked.subject.leading, key=len, reverse=True):
        ones = (1,) * len(leading)
        case = _case(asked, ones, FAR, FAR)
        if "query" in case.given:  # beside large scores some keys have too little influence
            case = replace(case, given={**case.given, "query": 0.05 * case.given["query"]})
        found = seen(asked, case) if asked.can(case) else None
        if found is None or found.all():
            continue
        distance = abs(np.arange(FAR)[:, None] - np.arange(FAR))
        width = int(distance[found].max(initial=-1)) + 1
        allowed = distance < width
        if asked.conventions.is_always_causal:
            allowed = np.tril(allowed)
        return width if 0 < width < FAR and (found == allowed).all() else None
    return None


def own_sink(asked: Asked) -> float | None:
    """Return the score of a sink in each softmax; None if there is none.

    With a sink the weight of a single key is below 1.
    """
    rng, found = np.random.default_rng(67), []
    axes = max(asked.subject.leading, key=len)
    for _ in range(4):
        for count in range(len(axes), -1, -1):
            query, key = rng.normal(size=(2, *(1,) * count, 1, 4))
            given = {"query": query, "key": key, "value": np.ones((*(1,) * count, 1, 4))}
            share = asked.ask(Case("plain", given, (1,) * count, asked.takes)).value
            if share is not None and share.shape == asked.subject.shape(given):
                break
        else:
            return None
        first = float(share.reshape(-1)[0])
        if not 0 < first < 1:
            return None
        found.append(float((query * key).sum()) / 2 - np.log(first / (1 - first)))
    return float(np.round(found[0], 6)) if np.ptp(found) < 1e-4 else None
