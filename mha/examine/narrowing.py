"""The inputs for which a function with unexplained outputs is right, as sentences."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from mha.core.checks import Array
from mha.examine.attention import added_mask
from mha.examine.bug_search import comparable
from mha.examine.cases import Case, Draw
from mha.practice.attention_parts import RIGHT_ZERO_ROWS, Parts

if TYPE_CHECKING:
    from mha.examine.report_building import Examination


@dataclass(frozen=True)
class Rule:
    """A condition on inputs, in words; `is_size` if it concerns only shapes."""

    condition: str
    is_size: bool = True


def _sizes(case: Case) -> dict[str, int]:
    """Return the sizes of a case by name."""
    inputs = case.inputs
    if "query" in inputs and "key" in inputs:
        query, key, value = inputs["query"], inputs["key"], inputs["value"]
        heads = query.shape[-3] if query.ndim > 2 else 1
        found = {"n": query.shape[-2], "m": key.shape[-2], "d_k": query.shape[-1],
                 "d_v": value.shape[-1], "heads": heads,
                 "groups": key.shape[-3] if key.ndim > 2 else 1}  # fmt: skip
        return found | {"batch": query.shape[0] if query.ndim > 3 else 1}
    if "x" in inputs and "num_heads" in inputs:
        n = inputs["x"].shape[-2]
        m = inputs.get("context", inputs["x"]).shape[-2]
        found = {"n": n, "m": m, "heads": inputs["num_heads"], "batch": 1}
        return found | ({"batch": len(inputs["x"])} if inputs["x"].ndim > 2 else {})
    return {}


SIZES: Mapping[str, Callable[[dict[str, int]], bool]] = {
    "if there are as many queries as keys": lambda s: s["n"] == s["m"],
    "if values are as wide as keys": lambda s: s["d_k"] == s["d_v"],
    "if there is one head": lambda s: s["heads"] == 1,
    "if there is one sequence": lambda s: s["batch"] == 1,
    "if there are several queries": lambda s: s["n"] > 1,
    "if the width of a head is even": lambda s: s["d_k"] % 2 == 0,
    "if there are at most 7 tokens": lambda s: max(s["n"], s["m"]) <= 7,
}
"""Conditions on sizes."""


def _holds(test: Callable[[dict[str, int]], bool], case: Case) -> bool:
    return test(_sizes(case))


def find_limit(refused: Sequence[Case], answered: Sequence[Case]) -> Rule | None:
    """Return a condition that all answered cases and no refused one meet; None if there is none."""
    rules: list[tuple[Rule, Callable[[Case], bool]]] = [
        (Rule(condition), partial(_holds, holds)) for condition, holds in SIZES.items()
    ]
    kinds = {case.kind for case in refused}
    both = [*refused, *answered]
    if all(_sizes(case) for case in both):
        for count in (1, 2):
            for chosen in combinations(rules, count):
                try:
                    is_met = [all(holds(case) for _, holds in chosen) for case in both]
                except KeyError:
                    continue
                if is_met == [False] * len(refused) + [True] * len(answered):
                    return Rule(" and ".join(rule.condition for rule, _ in chosen).replace(
                        " and if ", ", and if "))  # fmt: skip
    for wide in (np.float32, np.float64):
        if {c.dtype == wide for c in answered} == {True} and not any(
            c.dtype == wide for c in refused
        ):
            return Rule(f"if numbers are {np.dtype(wide).name}")
    if kinds.isdisjoint(case.kind for case in answered) and kinds != {"plain"}:
        rare = kinds & {"mask of one row", "mask per head", "mask per sequence"}
        if kinds == rare:
            return Rule(f"if there is no {' and no '.join(sorted(kinds))}")
    return None


# ---- Where it is right ----


def describe_right_cases(examination: Examination, group: Sequence[int], parts: Parts) -> list[str]:
    """Return sentences on the inputs and outputs for which a function is right."""
    found = [*_by_sizes(examination, group, parts), *_by_rows(examination, group, parts)]
    found += _by_influence(examination, group)
    if examination.tested.subject.calls is not None:
        found = [*_by_steps(examination), *found]
    return [*_by_inputs(examination), *found]


def _by_inputs(examination: Examination) -> list[str]:
    """Return a sentence on the argument without which every case agrees, if there is one."""
    tested = examination.tested
    failing = [i for i in range(len(examination.cases)) if not examination.fits(i, RIGHT_ZERO_ROWS)]
    for name in ("padding", "lengths", "mask", "bias", "is_causal", "softcap", "scale",
                 "enable_gqa", "n_rep", "context", "values_of", "angles"):  # fmt: skip
        has = [name in case.inputs for case in examination.cases]
        if failing and all(has[i] for i in failing) and not all(has):
            own = next((own for own, takes in tested.arguments.items() if takes == name), name)
            return [f"It agrees in every case without {own}."]
    return []


def _further_cases(examination: Examination, group: Sequence[int]) -> list[tuple[Case, bool]]:
    """Return further cases of a kind with other sizes, and whether each is right."""
    tested, subject = examination.tested, examination.tested.subject
    like = examination.cases[group[0]]
    rng = np.random.default_rng(53)
    count = max(len(examination.cases[i].leading) for i in group)
    leadings = {(1,) * count, *((*(1,) * (count - 1 - i), 2, *(1,) * i) for i in range(count))}
    found = []
    for leading in sorted(leadings):
        for size in [*subject.sizes, *subject.small_sizes]:
            inputs = subject.draw_inputs(Draw(like.kind, like.takes, leading, rng), *size)
            if not inputs:
                continue
            inputs = {**inputs, **dict(tested.conventions.extra_inputs)}
            case = tested.add_context(Case(like.kind, inputs, leading, like.takes))
            if not tested.can_run(case) or not tested.conventions.allows(case):
                continue
            one = replace(examination, cases=[case], outcomes=[tested.run(case)], fitting={})
            found.append((case, not one.differing()))
    return found


def _by_sizes(examination: Examination, group: Sequence[int], parts: Parts) -> list[str]:
    """Return sentences on the sizes for which a function is right."""
    known = [(examination.cases[i], examination.fits(i, parts)) for i in group]
    both = [*known, *_further_cases(examination, group)]
    if not any(is_right for _, is_right in both) or not all(_sizes(case) for case, _ in both):
        return []
    tests: dict[str, Callable[[dict[str, int]], bool]] = {
        "with one head": lambda s: s["heads"] == 1,
        "with one sequence": lambda s: s["batch"] == 1,
        "with one query": lambda s: s["n"] == 1,
        "with one key": lambda s: s["m"] == 1,
        "with two keys or fewer": lambda s: s["m"] <= 2,
        "with as many queries as keys": lambda s: s["n"] == s["m"],
        "with values as wide as keys": lambda s: s["d_k"] == s["d_v"],
        "with heads of width 1": lambda s: s.get("d_k", 0) == 1,
        "with heads of width 4": lambda s: s.get("d_k", 0) == 4,
        "with up to 7 tokens": lambda s: max(s["n"], s["m"]) <= 7,
    }
    found = []
    for said, test in tests.items():
        try:
            met = [is_right for case, is_right in both if test(_sizes(case))]
            unmet = [is_right for case, is_right in both if not test(_sizes(case))]
        except KeyError:
            continue
        if met and all(met) and unmet and not all(unmet):
            only = ", and in no other case" if not any(unmet) else ""
            found.append((bool(any(unmet)), f"It agrees {said}{only}."))
    return [said for _, said in sorted(found, key=lambda x: x[0])][:2]


def _by_rows(examination: Examination, group: Sequence[int], parts: Parts) -> list[str]:
    """Return sentences on the rows, heads and sequences in which the output is right."""
    subject = examination.tested.subject
    axes: dict[str, set[int]] = {}
    right: dict[str, set[int]] = {}
    is_first_hidden = []
    for i in group:
        case, actual = examination.cases[i], examination.outcomes[i].value
        expected = examination.output_of(case, parts)
        if actual is None or expected is None or actual.shape != expected.shape or actual.ndim < 2:
            return []
        ours, theirs = comparable(subject, case, expected), comparable(subject, case, actual)
        differs = ~np.isclose(theirs, ours, 3e-4, 3e-4)
        if not differs.any():
            continue
        names = {"column": -1, "query": -2}
        if actual.ndim > 2:
            names["head" if subject.has_heads else "sequence"] = -3
        if actual.ndim > 3:
            names["sequence"] = -4
        for name, axis in names.items():
            size = differs.shape[axis]
            if size > 1:
                rows = np.moveaxis(differs, axis, 0).reshape(size, -1)
                axes.setdefault(name, set()).update(i for i in range(size) if rows[i].any())
                right.setdefault(name, set()).update(range(size))
        is_first_hidden.append(_differs_after_masked_key(case, differs))
    found = []
    for name, wrong in axes.items():
        agreeing = right[name] - wrong
        if agreeing == {0}:
            found.append(f"It agrees only for the first {name}.")
        elif 0 in agreeing:
            found.append(f"It agrees for {name} {', '.join(str(x) for x in sorted(agreeing)[:4])}"
                         " (counted from 0).")  # fmt: skip
        elif wrong == {0}:
            found.append(f"It differs only for the first {name}.")
    if is_first_hidden and all(is_first_hidden):
        found.append("It agrees in each row up to the position of the first masked key.")
    return found


def _differs_after_masked_key(case: Case, differs: Array) -> bool:
    """Return whether rows before the first masked key agree, and a later row differs."""
    sizes = _sizes(case)
    if (
        not sizes
        or sizes["n"] != sizes["m"]
        or ("mask" not in case.inputs and "padding" not in case.inputs)
    ):
        return False
    hidden = added_mask(case.inputs, sizes["n"], sizes["m"]) == -np.inf
    columns: Array = np.asarray(hidden.reshape(-1, *hidden.shape[-2:]).all(axis=1))
    first = min((int(np.argmax(row)) for row in columns if row.any()), default=0)
    return first > 0 and not differs[..., :first, :].any()


def _by_influence(examination: Examination, group: Sequence[int]) -> list[str]:
    """Return sentences on missing and forbidden dependencies of the output on inputs."""
    tested = examination.tested
    answered = [i for i in group if examination.outcomes[i].value is not None]
    if not answered:
        return []
    case = examination.cases[
        max(answered, key=lambda i: (len(examination.cases[i].leading), -examination.cases[i].size))
    ]
    base = tested.run(case).value
    if base is None or base.shape != tested.subject.shape(case.inputs):
        return []
    found = []
    names = [own for own, x in case.inputs.items() if isinstance(x, np.ndarray | float | int)
             and not isinstance(x, bool) and own in tested.takes and own != "angles"]  # fmt: skip
    for name in names:
        x = case.inputs[name]
        other = _perturb_array(x)
        if name == "key" and "x" in case.inputs:
            continue
        changed = tested.run(replace(case, inputs={**case.inputs, name: other})).value
        if (
            changed is not None
            and changed.shape == base.shape
            and np.array_equal(changed, base, equal_nan=True)
        ):
            own = (
                next(own for own, takes in tested.arguments.items() if takes == name)
                if (name in tested.arguments.values())
                else name
            )
            found.append(f"The output does not depend on {own}.")
    if tested.subject.calls is not None and "value" in case.inputs:
        found += _by_equal_values(examination, case, base)
    if tested.subject.plain_inputs is None:
        return found
    found += _by_difference(examination, case, base)
    if "value" in case.inputs and "x" not in case.inputs:
        found += _by_values(examination, case, base)
    return found


def _by_difference(examination: Examination, case: Case, base: Array) -> list[str]:
    """Return whether the output is the right one plus an input or times a factor."""
    expected = examination.tested.subject.expected(case.inputs)
    with np.errstate(all="ignore"):
        ratio = base / expected
    if not np.isfinite(base).any():
        return ["Every number of the output is NaN or infinite."]
    if np.isfinite(ratio).all() and np.ptp(ratio) < 1e-3 and abs(ratio.mean() - 1) > 1e-3:
        return [f"The output is {float(ratio.mean()):.4g} times the correct output."]
    for name, x in case.inputs.items():
        if isinstance(x, np.ndarray) and x.dtype.kind == "f" and x.shape[-1:] == base.shape[-1:]:
            for sign, word in ((1, "plus"), (-1, "minus")):
                try:
                    is_it = np.allclose(
                        base - expected, np.broadcast_to(sign * x, base.shape), rtol=1e-3, atol=1e-3
                    )
                except ValueError:
                    continue
                if is_it:
                    return [f"The output is the correct output {word} {name}."]
    return []


def _perturb_array(x: Any) -> Any:
    rng, kind = np.random.default_rng(59), np.asarray(x).dtype.kind
    if kind == "b":
        return ~x
    if kind == "i":  # a size, ids or positions
        return 1 if isinstance(x, int) else x * 2 + 1
    return x + rng.normal(size=np.shape(x)).astype(getattr(x, "dtype", float))


def _by_values(examination: Examination, case: Case, base: Array) -> list[str]:
    """Return faults of the weights that equal values and other heads' values show."""
    tested, found = examination.tested, _by_equal_values(examination, case, base)
    for axis, name in ((-3, "head"), (-4, "sequence")):
        value = case.inputs["value"]
        if value.ndim < -axis or value.shape[axis] < 2:
            continue
        changed = value.copy()
        np.moveaxis(changed, axis, 0)[0] += 1
        other = tested.run(replace(case, inputs={**case.inputs, "value": changed})).value
        if other is None or other.shape != base.shape:
            continue
        differs = np.moveaxis(~np.isclose(other, base, 1e-4, 1e-4, equal_nan=True), axis, 0)
        if differs.shape[0] == value.shape[axis] and differs[1:].any():
            found.append(f"The output of one {name} depends on the values of another.")
    found += _by_keys(examination, case)
    return found


def _by_equal_values(examination: Examination, case: Case, base: Array) -> list[str]:
    """Return a sentence if a row of weights does not add up to 1, which equal values show."""
    tested = examination.tested
    ones = np.ones_like(case.inputs["value"])
    even = tested.run(replace(case, inputs={**case.inputs, "value": ones})).value
    empty = (
        tested.subject.masked_rows(case.inputs) if tested.subject.masked_rows else np.zeros(1, bool)
    )
    if even is None or even.shape != base.shape:
        return []
    rows = even[~np.broadcast_to(empty, even.shape[:-1])]
    if not np.isfinite(rows).all() or np.allclose(rows, 1, 1e-3, 1e-3):
        return []
    return [
        "With all values equal to 1 the output is not 1: a row of weights does not add up to 1."
    ]


def _by_steps(examination: Examination) -> list[str]:
    """Return a sentence on the decoding steps whose rows are wrong, if it is on some steps only."""
    wrong, right = set[tuple[bool, bool]](), set[tuple[bool, bool]]()
    for i, case in enumerate(examination.cases):
        actual, expected = (
            examination.outcomes[i].value,
            examination.output_of(case, RIGHT_ZERO_ROWS),
        )
        if actual is None or expected is None or actual.shape != expected.shape:
            return []
        differs = ~np.isclose(actual, expected, 3e-4, 3e-4)
        stops = np.cumsum(case.inputs["sizes"])
        for step, rows in enumerate(np.split(differs, stops[:-1], axis=-2)):
            (wrong if rows.any() else right).add((step == 0, rows.shape[-2] == 1))
    for said, steps in STEPS.items():
        if wrong == wrong & steps and wrong and (right - wrong) - steps:
            return [f"It differs only {said}."]
    return []


STEPS: Mapping[str, set[tuple[bool, bool]]] = {
    "in the first step": {(True, True), (True, False)},
    "in steps of several tokens after the first step": {(False, False)},
    "in steps of one token after the first step": {(False, True)},
    "in steps of one token": {(True, True), (False, True)},
    "in steps of several tokens": {(True, False), (False, False)},
    "after the first step": {(False, True), (False, False)},
}
"""Steps by whether they are the first, and whether they have one token, narrowest first."""


def _by_keys(examination: Examination, case: Case) -> list[str]:
    """Return sentences on masked keys with an influence, and unmasked keys without."""
    from mha.examine.convention_search import attended_keys

    sizes = _sizes(case)
    attended = attended_keys(examination.tested, case)
    if attended is None or attended.shape != (sizes["n"], sizes["m"]):
        return []
    open_keys = added_mask(case.inputs, sizes["n"], sizes["m"]) != -np.inf
    shown: Array = np.asarray(open_keys.reshape(-1, *open_keys.shape[-2:]).any(axis=0))
    found = []
    if (attended & ~shown).any():
        i, j = np.argwhere(attended & ~shown)[0]
        found.append(
            f"A masked key has an influence: query {i} depends on key {j} (counted from 0)."
        )
    if (shown & ~attended).any():
        i, j = np.argwhere(shown & ~attended)[0]
        found.append(f"An unmasked key has no influence: query {i}, key {j} (counted from 0).")
    return found
