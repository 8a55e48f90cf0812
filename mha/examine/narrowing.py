"""Sentences on a function whose outputs no known bug explains.

They name the inputs for which it is right, and inputs that have an influence where they should have
none, or none where they should have one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from mha.core.checks import Array
from mha.examine.attention import added_mask
from mha.examine.bug_search import TOLERANCE, comparable
from mha.examine.cases import Case, Draw
from mha.examine.convention_search import attended_keys
from mha.practice.attention_parts import RIGHT_ZERO_ROWS, Parts
from mha.practice.bugs import TABLE

if TYPE_CHECKING:
    from mha.examine.report_building import Examination


@dataclass(frozen=True)
class Condition:
    """A condition on the inputs of a case, in words; `is_size` if it is only on shapes."""

    text: str
    is_size: bool = True


def _sizes(case: Case) -> dict[str, int]:
    """Return the sizes of a case by name; none for a subject without conditions on sizes."""
    inputs = case.inputs
    if "query" in inputs and "key" in inputs:
        query, key, value = inputs["query"], inputs["key"], inputs["value"]
        heads = query.shape[-3] if query.ndim > 2 else 1
        sizes = {"n": query.shape[-2], "m": key.shape[-2], "d_k": query.shape[-1],
                 "d_v": value.shape[-1], "heads": heads,
                 "groups": key.shape[-3] if key.ndim > 2 else 1}  # fmt: skip
        return sizes | {"batch": query.shape[0] if query.ndim > 3 else 1}
    if "x" in inputs and "num_heads" in inputs:
        n = inputs["x"].shape[-2]
        m = inputs.get("context", inputs["x"]).shape[-2]
        sizes = {"n": n, "m": m, "heads": inputs["num_heads"], "batch": 1}
        return sizes | ({"batch": len(inputs["x"])} if inputs["x"].ndim > 2 else {})
    return {}


SIZE_CONDITIONS: Mapping[str, Callable[[dict[str, int]], bool]] = {
    "if there are as many queries as keys": lambda s: s["n"] == s["m"],
    "if values are as wide as keys": lambda s: s["d_k"] == s["d_v"],
    "if there is one head": lambda s: s["heads"] == 1,
    "if there is one sequence": lambda s: s["batch"] == 1,
    "if there are several queries": lambda s: s["n"] > 1,
    "if the width of a head is even": lambda s: s["d_k"] % 2 == 0,
    "if there are at most 7 tokens": lambda s: max(s["n"], s["m"]) <= 7,
}
"""Conditions on sizes, under which a function that refuses the other cases is right."""


def _sizes_pass(test: Callable[[dict[str, int]], bool], case: Case) -> bool:
    """Return whether the sizes of a case pass a test."""
    return test(_sizes(case))


def find_condition(refused: Sequence[Case], answered: Sequence[Case]) -> Condition | None:
    """Return a condition that all answered cases meet and no refused one, or None."""
    conditions_on_sizes: list[tuple[Condition, Callable[[Case], bool]]] = [
        (Condition(text), partial(_sizes_pass, test)) for text, test in SIZE_CONDITIONS.items()
    ]
    kinds = {case.kind for case in refused}
    cases = [*refused, *answered]
    if all(_sizes(case) for case in cases):
        for count in (1, 2):
            for conditions in combinations(conditions_on_sizes, count):
                try:
                    is_met = [all(passes(case) for _, passes in conditions) for case in cases]
                except KeyError:
                    continue
                if is_met == [False] * len(refused) + [True] * len(answered):
                    return Condition(", and ".join(condition.text for condition, _ in conditions))
    for dtype in (np.float32, np.float64):
        if {c.dtype == dtype for c in answered} == {True} and not any(
            c.dtype == dtype for c in refused
        ):
            return Condition(f"if numbers are {np.dtype(dtype).name}")
    if kinds.isdisjoint(case.kind for case in answered) and kinds != {"plain"}:
        rare_kinds = kinds & {"mask of one row", "mask per head", "mask per sequence"}
        if kinds == rare_kinds:
            return Condition(f"if there is no {' and no '.join(sorted(kinds))}")
    return None


# ---- Where it is right ----


def describe_right_cases(examination: Examination, group: Sequence[int], parts: Parts) -> list[str]:
    """Return sentences on a kind of case that some parts, the bugs found so far, do not explain.

    `group` has the indices of the cases of this kind.
    """
    sentences = [
        *_describe_sizes(examination, group, parts),
        *_describe_rows(examination, group, parts),
    ]
    sentences += _describe_influences(examination, group)
    if rounds_scores_away(examination, group, NO_SCORES):
        sentences.append(ROUNDED_AWAY)
    if examination.tested.subject.step_arguments is not None:
        sentences = [*_describe_steps(examination), *sentences]
    return [*_describe_arguments(examination), *sentences]


NO_SCORES = RIGHT_ZERO_ROWS.with_parts(
    next(bug.replaced for bug in TABLE if bug.name == "all scores 0")
)
ROUNDED_AWAY = (
    "Only large scores have an influence: small ones are rounded away, as beside a large number"
    " that is added to every score."
)
SCORE_FACTOR = 2.0**24
"""The factor by which scores are raised: more than the digits of float32."""


def rounds_scores_away(examination: Examination, group: Sequence[int], parts: Parts) -> bool:
    """Return whether large scores have an influence, and others have the output of `parts`.

    `parts` leave all scores unused.
    """
    cases = [examination.cases[i] for i in group]
    name = "x" if "x" in cases[0].inputs else "query"
    # Such a function computes in float32 or with fewer digits.
    examination = examination.with_tolerance(max(examination.min_tolerance, TOLERANCE["float32"]))
    if name not in cases[0].inputs or not all(examination.fits(i, parts) for i in group):
        return False
    large = [
        replace(case, inputs={**case.inputs, name: SCORE_FACTOR * case.inputs[name]})
        for case in cases
    ]
    examined = [examination.with_case(case) for case in large]
    return any(x.has_numbers(0) and not x.fits(0, parts) for x in examined)


def _describe_arguments(examination: Examination) -> list[str]:
    """Return a sentence on an argument that every wrong case has, if there is one."""
    tested = examination.tested
    wrong = [i for i in range(len(examination.cases)) if not examination.fits(i, RIGHT_ZERO_ROWS)]
    for name in ("padding", "lengths", "mask", "bias", "is_causal", "softcap", "scale",
                 "enable_gqa", "n_rep", "context", "values_of", "angles"):  # fmt: skip
        has_input = [name in case.inputs for case in examination.cases]
        if wrong and all(has_input[i] for i in wrong) and not all(has_input):
            argument = next(
                (
                    argument
                    for argument, input_name in tested.arguments.items()
                    if input_name == name
                ),
                name,
            )
            return [f"It agrees in every case without {argument}."]
    return []


def _further_cases(examination: Examination, group: Sequence[int]) -> list[tuple[Case, bool]]:
    """Return further cases of a kind in other sizes, each with whether its output is right."""
    tested, subject = examination.tested, examination.tested.subject
    given = examination.cases[group[0]]
    rng = np.random.default_rng(53)
    count = max(len(examination.cases[i].leading) for i in group)
    leadings = {(1,) * count, *((*(1,) * (count - 1 - i), 2, *(1,) * i) for i in range(count))}
    cases = []
    for leading in sorted(leadings):
        for size in [*subject.sizes, *subject.small_sizes]:
            inputs = subject.draw_inputs(Draw(given.kind, given.takes, leading, rng), *size)
            if not inputs:
                continue
            inputs = {**inputs, **dict(tested.conventions.extra_inputs)}
            case = tested.add_context(Case(given.kind, inputs, leading, given.takes))
            if not tested.can_run(case) or not tested.conventions.can_express(case):
                continue
            cases.append((case, not examination.with_case(case).wrong_cases()))
    return cases


def _describe_sizes(examination: Examination, group: Sequence[int], parts: Parts) -> list[str]:
    """Return at most two sentences on the sizes for which a function is right."""
    known = [(examination.cases[i], examination.fits(i, parts)) for i in group]
    cases = [*known, *_further_cases(examination, group)]
    if not any(is_right for _, is_right in cases) or not all(_sizes(case) for case, _ in cases):
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
    sentences = []
    for condition, test in tests.items():
        try:
            right_if_met = [is_right for case, is_right in cases if test(_sizes(case))]
            right_if_not = [is_right for case, is_right in cases if not test(_sizes(case))]
        except KeyError:
            continue
        if right_if_met and all(right_if_met) and right_if_not and not all(right_if_not):
            no_other = ", and in no other case" if not any(right_if_not) else ""
            sentences.append((bool(any(right_if_not)), f"It agrees {condition}{no_other}."))
    return [condition for _, condition in sorted(sentences, key=lambda x: x[0])][:2]


def _describe_rows(examination: Examination, group: Sequence[int], parts: Parts) -> list[str]:
    """Return sentences on the columns, rows, heads and sequences with wrong or right numbers."""
    subject = examination.tested.subject
    wrong_indices: dict[str, set[int]] = {}
    all_indices: dict[str, set[int]] = {}
    differ_after_masked_key = []
    for i in group:
        case, actual = examination.cases[i], examination.outcomes[i].value
        expected = examination.output_of(case, parts)
        if actual is None or expected is None or actual.shape != expected.shape or actual.ndim < 2:
            return []
        expected_part, actual_part = (
            comparable(subject, case, expected),
            comparable(subject, case, actual),
        )
        differs = ~np.isclose(actual_part, expected_part, 3e-4, 3e-4)
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
                wrong_indices.setdefault(name, set()).update(
                    i for i in range(size) if rows[i].any()
                )
                all_indices.setdefault(name, set()).update(range(size))
        differ_after_masked_key.append(_differs_after_masked_key(case, differs))
    sentences = []
    for name, wrong in wrong_indices.items():
        agreeing = all_indices[name] - wrong
        if agreeing == {0}:
            sentences.append(f"It agrees only for the first {name}.")
        elif 0 in agreeing:
            indices = ", ".join(str(x) for x in sorted(agreeing)[:4])
            sentences.append(f"It agrees for {name} {indices} (counted from 0).")
        elif wrong == {0}:
            sentences.append(f"It differs only for the first {name}.")
    if differ_after_masked_key and all(differ_after_masked_key):
        sentences.append("It agrees in each row up to the position of the first masked key.")
    return sentences


def _differs_after_masked_key(case: Case, differs: Array) -> bool:
    """Return whether the rows before the position of the first masked key agree."""
    sizes = _sizes(case)
    if (
        not sizes
        or sizes["n"] != sizes["m"]
        or ("mask" not in case.inputs and "padding" not in case.inputs)
    ):
        return False
    is_masked = added_mask(case.inputs, sizes["n"], sizes["m"]) == -np.inf
    columns: Array = np.asarray(is_masked.reshape(-1, *is_masked.shape[-2:]).all(axis=1))
    first = min((int(np.argmax(row)) for row in columns if row.any()), default=0)
    return first > 0 and not differs[..., :first, :].any()


def _describe_influences(examination: Examination, group: Sequence[int]) -> list[str]:
    """Return sentences on the inputs that change the output of a case, or do not change it."""
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
    sentences = []
    names = [
        name
        for name, x in case.inputs.items()
        if isinstance(x, np.ndarray | float | int)
        and not isinstance(x, bool)
        and name in tested.takes
        and name != "angles"
    ]
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
            argument = (
                next(
                    argument
                    for argument, input_name in tested.arguments.items()
                    if input_name == name
                )
                if (name in tested.arguments.values())
                else name
            )
            sentences.append(f"The output does not depend on {argument}.")
    if tested.subject.step_arguments is not None and "value" in case.inputs:
        sentences += _describe_weight_sums(examination, case, base)
    if tested.subject.draw_plain_inputs is None:
        return sentences
    sentences += _describe_factor_or_term(examination, case, base)
    if "value" in case.inputs and "x" not in case.inputs:
        sentences += _describe_mixed_values(examination, case, base)
    return sentences


def _describe_factor_or_term(examination: Examination, case: Case, base: Array) -> list[str]:
    """Return a sentence if the output is the correct one times a factor, or plus or minus an input.

    If no number of the output is finite, the sentence says so.
    """
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
                    is_equal = np.allclose(
                        base - expected, np.broadcast_to(sign * x, base.shape), rtol=1e-3, atol=1e-3
                    )
                except ValueError:
                    continue
                if is_equal:
                    return [f"The output is the correct output {word} {name}."]
    return []


def _perturb_array(x: Any) -> Any:
    """Return another value of the same type for an input."""
    rng, kind = np.random.default_rng(59), np.asarray(x).dtype.kind
    if kind == "b":
        return ~x
    if kind == "i":  # a size, ids or positions
        return 1 if isinstance(x, int) else x * 2 + 1
    return x + rng.normal(size=np.shape(x)).astype(getattr(x, "dtype", float))


def _describe_mixed_values(examination: Examination, case: Case, base: Array) -> list[str]:
    """Return sentences on weights that do not add up to 1, and on values of other heads.

    In correct attention, the output of a head or sequence does not depend on the values of another.
    """
    tested, sentences = examination.tested, _describe_weight_sums(examination, case, base)
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
            sentences.append(f"The output of one {name} depends on the values of another.")
    sentences += _describe_keys(examination, case)
    return sentences


def _describe_weight_sums(examination: Examination, case: Case, base: Array) -> list[str]:
    """Return a sentence if the output is not 1 for values of 1: then weights do not add up to 1."""
    tested = examination.tested
    ones = np.ones_like(case.inputs["value"])
    for_ones = tested.run(replace(case, inputs={**case.inputs, "value": ones})).value
    masked_rows = (
        tested.subject.masked_rows(case.inputs) if tested.subject.masked_rows else np.zeros(1, bool)
    )
    if for_ones is None or for_ones.shape != base.shape:
        return []
    rows = for_ones[~np.broadcast_to(masked_rows, for_ones.shape[:-1])]
    if not np.isfinite(rows).all() or np.allclose(rows, 1, 1e-3, 1e-3):
        return []
    return [
        "With all values equal to 1 the output is not 1: a row of weights does not add up to 1."
    ]


def _describe_steps(examination: Examination) -> list[str]:
    """Return a sentence on the decoding steps with wrong rows, if the others are right."""
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
    for where, steps in STEP_KINDS.items():
        if wrong == wrong & steps and wrong and (right - wrong) - steps:
            return [f"It differs only {where}."]
    return []


STEP_KINDS: Mapping[str, set[tuple[bool, bool]]] = {
    "in the first step": {(True, True), (True, False)},
    "in steps of several tokens after the first step": {(False, False)},
    "in steps of one token after the first step": {(False, True)},
    "in steps of one token": {(True, True), (False, True)},
    "in steps of several tokens": {(True, False), (False, False)},
    "after the first step": {(False, True), (False, False)},
}
"""Sets of decoding steps, the narrowest first.

A step is described by two facts: whether it is the first, and whether it has one token.
"""


def _describe_keys(examination: Examination, case: Case) -> list[str]:
    """Return sentences on a masked key with an influence, and on an unmasked key without one."""
    sizes = _sizes(case)
    attended = attended_keys(examination.tested, case)
    if attended is None or attended.shape != (sizes["n"], sizes["m"]):
        return []
    is_unmasked = added_mask(case.inputs, sizes["n"], sizes["m"]) != -np.inf
    is_allowed: Array = np.asarray(is_unmasked.reshape(-1, *is_unmasked.shape[-2:]).any(axis=0))
    sentences = []
    if (attended & ~is_allowed).any():
        i, j = np.argwhere(attended & ~is_allowed)[0]
        sentences.append(
            f"A masked key has an influence: query {i} depends on key {j} (counted from 0)."
        )
    if (is_allowed & ~attended).any():
        i, j = np.argwhere(is_allowed & ~attended)[0]
        sentences.append(f"An unmasked key has no influence: query {i}, key {j} (counted from 0).")
    return sentences
