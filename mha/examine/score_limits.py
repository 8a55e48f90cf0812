"""Limits on the size of scores: a function may be right for small scores, and wrong beyond a limit.

Many functions mask keys with a large negative number instead of minus infinity; the score of a
masked key may be larger in size. In float16 the product of a query and a key may overflow, although
the scaled score does not.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from mha.core.checks import Array
from mha.core.heads import split_heads
from mha.examine import layer
from mha.examine.attention import added_mask
from mha.examine.cases import Case
from mha.examine.report import Finding
from mha.examine.tested_function import FunctionUnderTest, normalise_name, read_defaults

if TYPE_CHECKING:
    from mha.examine.report_building import Examination

SECTION = "mechanism/softmax#large-scores"
MODEL_SCORE_DEPTH = 9000
"""Scores of models are smaller in size than this. Beyond it, a limit is only noted."""
LARGEST_SCORE = 2.0**17
"""The largest score of a masked key that is tried."""
MASKING_KINDS = ("boolean mask", "mask of one row", "key_padding_mask", "lengths")
"""Kinds of cases with a mask in which the score of a masked key is raised."""
LARGEST_FLOAT16 = 65504
"""The largest number of float16."""
UPCAST_ARGUMENTS = ("upcastattention", "upcastscores", "upcastqk")
"""Names of arguments with which scores are computed in float32."""


# ---- Scores of masked keys ----


def masked_score_findings(examination: Examination) -> list[Finding]:
    """Return a finding if a masked key with a large score has an influence."""
    limits = [
        limit
        for kind in MASKING_KINDS
        if (limit := _masked_score_limit(examination, kind)) is not None
    ]
    if not limits:
        return []
    limit = min(limits)
    rounded = f"{round(limit, -int(np.log10(limit))):.0f}"
    reason = "The number that stands for minus infinity is too small, and a larger score outweighs"
    if limit < MODEL_SCORE_DEPTH:
        text = f"A masked key has an influence if its score is above about {rounded}."
        return [Finding(f"{text} {reason} it.", section=SECTION, narrowed=(text,))]
    condition = f"if no masked key has a score above about {rounded}"
    text = f"the function is right {condition}. {reason} it."
    return [Finding(text, convention=condition, section=SECTION)]


def _masked_score_limit(examination: Examination, kind: str) -> float | None:
    """Return the score above which a masked key has an influence in a kind of case, if it has."""
    tested = examination.tested
    cases = [case for case in examination.cases if case.kind == kind and case.dtype == np.float64]
    for case in sorted(cases, key=lambda case: case.size):
        key, rows = _masked_key(tested, case)
        size = _largest_score(case, key)
        if not rows.any() or not size:
            continue
        if not _has_influence(tested, case, key, rows, LARGEST_SCORE / size):
            return None
        smallest, largest = 1.0, LARGEST_SCORE
        while largest / smallest > 1.001:
            middle = float(np.sqrt(smallest * largest))
            has_influence = _has_influence(tested, case, key, rows, middle / size)
            smallest, largest = (smallest, middle) if has_influence else (middle, largest)
        return largest
    return None


def _masked_key(tested: FunctionUnderTest, case: Case) -> tuple[int, Array]:
    """Return a masked key, and True for each row of the output that it must not influence."""
    inputs = case.inputs
    queries = inputs["x"] if "x" in inputs else inputs["query"]
    keys = inputs.get("context", inputs["x"]) if "x" in inputs else inputs["key"]
    n, m = queries.shape[-2], keys.shape[-2]
    is_masked = added_mask(inputs, n, m) == -np.inf
    if "x" in inputs and is_masked.ndim > 2:
        is_masked = is_masked[:, 0]
    is_masked = np.broadcast_to(is_masked, (*queries.shape[:-2], n, m))
    is_masked = is_masked & ~is_masked.all(axis=-1, keepdims=True)
    if "x" in inputs and "context" not in inputs:  # a token's own output depends on it as a query
        is_masked = is_masked & ~np.eye(n, dtype=bool)
    key = int(np.argmax(is_masked.reshape(-1, m).sum(axis=0)))
    return key, is_masked[..., key]


def _largest_score(case: Case, key: int) -> float:
    """Return the size of the largest score of a key, without biases and positions."""
    inputs = case.inputs
    if "x" not in inputs:
        queries, keys = inputs["query"], inputs["key"]
    elif "weights" in inputs:
        return 0.0
    else:
        w_q, w_k, *_ = layer.matrices_of(inputs)
        d_k = layer.head_width(inputs)
        queries = split_heads(inputs["x"] @ w_q, w_q.shape[-1] // d_k)
        keys = split_heads(inputs.get("context", inputs["x"]) @ w_k, w_k.shape[-1] // d_k)
    if queries.shape[:-2] != keys.shape[:-2]:
        return 0.0
    scores = queries @ keys[..., key, :, None] / np.sqrt(queries.shape[-1])
    return float(np.abs(scores).max())


def _has_influence(
    tested: FunctionUnderTest, case: Case, key: int, rows: Array, factor: float
) -> bool:
    """Return whether the sign of a masked key, times a factor, changes outputs of some rows."""
    name = "context" if "context" in case.inputs else "x" if "x" in case.inputs else "key"
    outputs = []
    for sign in (1, -1):
        x = case.inputs[name].copy()
        x[..., key, :] *= sign * factor
        inputs = {**case.inputs, name: x}
        inputs |= {other: x for other in ("key", "value") if case.inputs.get(other) is
                   case.inputs[name] and "x" in case.inputs}  # fmt: skip
        outputs.append(tested.run(replace(case, inputs=inputs)).value)
    first, second = outputs
    if first is None or second is None or not first.shape[:-1] == second.shape[:-1] == rows.shape:
        return False
    return not np.allclose(first[rows], second[rows], 1e-3, 1e-3, equal_nan=True)


# ---- Scores in float16 ----


def float16_findings(examination: Examination, is_half: bool) -> list[Finding]:
    """Return a finding if products of queries and keys overflow in float16.

    This is asked of a function with numbers of half precision, and of one with an argument that
    says that it computes scores in float32.
    """
    tested = examination.tested
    upcast = _upcast_argument(tested)
    is_attention = "query" in tested.takes and tested.subject.draw_plain_inputs is not None
    if not is_attention or not (is_half or upcast):
        return []
    cases = [_with_products(examination.cases[i], LARGEST_FLOAT16 * x)
             for i in examination.plain_cases() for x in (0.5, 1.5)]  # fmt: skip
    values = [tested.run(case).value for case in cases]
    is_finite = [x is None or bool(np.isfinite(x.astype(float)).all()) for x in values]
    if all(is_finite[1::2]) or not all(is_finite[::2]):
        return []
    condition = f"if no product of a query and a key exceeds {LARGEST_FLOAT16} in float16"
    reason = (
        "A larger product is infinite, and the output NaN. Compute the scores in float32, or"
        " scale the queries before the product."
    )
    if upcast:
        text = f"In float16 a product of a query and a key overflows, in spite of {upcast}=True."
        return [Finding(f"{text} {reason}", section=SECTION, narrowed=(text,))]
    text = f"the function is right {condition}. {reason}"
    return [Finding(text, convention=condition, section=SECTION)]


def _upcast_argument(tested: FunctionUnderTest) -> str:
    """Return the argument, True by default, with which scores are in float32; "" without one."""
    defaults = read_defaults(tested.function)
    for argument in tested.untested:
        name = normalise_name(argument)
        if name in UPCAST_ARGUMENTS and defaults.get(name) is True:
            return argument
    return ""


def _with_products(case: Case, largest: float) -> Case:
    """Return a case in float16 whose largest product of a query and a key is a given number."""
    query, key = case.inputs["query"], case.inputs["key"]
    if query.shape[:-2] != key.shape[:-2]:
        return case
    factor = np.sqrt(largest / np.abs(query @ key.swapaxes(-1, -2)).max())
    raised = {**case.inputs, "query": factor * query, "key": factor * key}
    inputs = {
        name: x.astype(np.float16) if isinstance(x, np.ndarray) and x.dtype.kind == "f" else x
        for name, x in raised.items()
    }
    return replace(case, inputs=inputs)
