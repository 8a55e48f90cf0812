"""A smallest case is true: the twin gives `wanted`, and the examined function gives `came`.

Each bug is tested in one calling convention: with the table of bugs, and with an empty table.
"""

import inspect
from dataclasses import dataclass, field

import numpy as np
import pytest

import mha
from mha.core.positions import rotary_angles
from mha.examine import attention, bug_search, decoding, layer
from mha.examine.report import format_value
from mha.practice.attention_parts import RIGHT_NAN_ROWS, RIGHT_ZERO_ROWS, decode
from mha.practice.bugs import TABLE

ATTENTION = ("mask", "key_padding_mask", "is_causal", "scale", "softcap", "enable_gqa")
NAMES = {"key_padding_mask": "padding", "attn_mask": "mask", "w_qkv": "w_qkv"}
DEFAULTS = {"is_causal": False, "enable_gqa": False}


@dataclass(frozen=True)
class Convention:
    """A calling convention: the optional arguments, and changes of the inputs."""

    what: str
    takes: tuple[str, ...] = ATTENTION
    inputs: dict = field(default_factory=dict)
    facts: dict = field(default_factory=dict)
    is_swapped: bool = False
    has_swapped_output: bool = False
    parts: object = RIGHT_ZERO_ROWS


CONVENTIONS = [
    Convention("as in mha"),
    Convention("True hides", inputs={"mask": lambda x: ~x if x.dtype == bool else x}),
    Convention("added", inputs={"mask": lambda x: x.astype(float)}),
    Convention("True is padding", inputs={"key_padding_mask": lambda x: ~x}),
    Convention("always causal", takes=(), facts={"is_always_causal": True}),
    Convention("last", facts={"align": "bottom-right"}),
    Convention("divides", inputs={"scale": lambda x: 1 / x}),
    Convention("tokens first", is_swapped=True, has_swapped_output=True),
    Convention("tokens first in the output", has_swapped_output=True),
    Convention("NaN for nothing", parts=RIGHT_NAN_ROWS),
]


def swapped(x):
    return x.swapaxes(-3, -2) if x.ndim > 2 else x


def function_of(subject, first, called, exchanged):
    """Return a function in a calling convention, of reference parts that may be replaced."""
    parts = called.parts.with_parts(exchanged)

    def compute(**handed):
        given = {}
        for name, x in handed.items():
            if x is None or (name == "enable_gqa" and not x):
                continue
            x = called.inputs.get(name, lambda x: x)(x)
            is_moved = called.is_swapped and name in subject.token_axis_inputs
            given[NAMES.get(name, name)] = swapped(x) if is_moved else x
        output = subject.compute({**given, **called.facts}, parts)
        return swapped(output) if called.has_swapped_output else output

    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    empty = inspect.Parameter.empty
    arguments = [
        inspect.Parameter(name, kind, default=None if name == "context" else empty)
        for name in first
    ]
    arguments += [
        inspect.Parameter(name, kind, default=DEFAULTS.get(name)) for name in called.takes
    ]
    compute.__signature__ = inspect.Signature(arguments)
    compute.__name__ = "compute"
    return compute


def expect_true_cases(report, function, twin):
    """Expect that the twin gives each case's wanted output, and the function the actual one."""
    assert not report.ok, report
    shown = [finding.case for finding in report.findings if finding.case is not None]
    assert shown or "The outputs do not show" in " ".join(str(report).split()), report
    for case in shown:
        for each, said in ((twin, case.expected), (function, case.actual)):
            assert is_given(each, case, said), (report, each is twin)


def is_given(function, case, said):
    try:
        with np.errstate(all="ignore"):
            return format_value(evaluate_case(function, case)) in said
    except (ValueError, IndexError, TypeError) as error:
        return f"raises {type(error).__name__}" in said or said.startswith("no array")


def evaluate_case(function, case):
    """Return the value of the last line of a case."""
    known = {"np": np, "mha": mha, "compute": function, "function": function}
    *lines, last = case.code
    exec("\n".join(lines), known)
    return eval(last, known)


def rows_of(subject):
    names = {"True reversed", "dropout left on"}
    return [row for row in TABLE if row.part in subject.parts and row.name not in names]


ROWS = rows_of(attention.SUBJECT)
BOTH = [(row, CONVENTIONS[i % len(CONVENTIONS)]) for i, row in enumerate(ROWS)]


@pytest.fixture(params=[False, True], ids=["known", "unknown"])
def table(request, monkeypatch):
    if request.param:
        monkeypatch.setattr(bug_search, "TABLE", ())
    return TABLE


@pytest.mark.slow
@pytest.mark.parametrize(("row", "called"), BOTH, ids=lambda x: getattr(x, "name", None) or x.what)
@pytest.mark.usefixtures("table")
def test_a_case_of_attention_is_true(row, called):
    first = ("query", "key", "value")
    function, twin = (
        function_of(attention.SUBJECT, first, called, each) for each in (row.replaced, {})
    )
    report = mha.examine(function)
    if is_invisible(row, called):
        return
    if not report.ok:
        expect_true_cases(report, function, twin)
    else:
        assert is_unseen(row, called), report


def is_unseen(row, called):
    """Return whether a bug is a convention, or has no effect, with these arguments."""
    of_inputs = {
        "score_with_scale": "scale",
        "repeat_groups": "enable_gqa",
        **dict.fromkeys(("cap_scores", "cap_masked_scores"), "softcap"),
        **dict.fromkeys(("read_mask", "read_bias", "combine_masks"), "mask"),
        **dict.fromkeys(("read_padding", "padding_as_mask", "repeat_masks"), "key_padding_mask"),
    }
    is_added = row.name == "mask added as 0 and 1" and called.what != "always causal"
    is_added |= called.what == "added" and row.part == "read_mask"
    # With a table of no bugs, another scale is a convention.
    is_added |= not bug_search.TABLE and row.name in (
        "no scale",
        "base 2 for base e",
        "scaled twice",
    )
    is_added |= row.kind == "note"
    needed = of_inputs.get(row.part)
    return is_added or (needed is not None and needed not in called.takes)


def is_invisible(row, called):
    """Return whether, with an empty table, no output of the function shows its convention."""
    parts = ("forbid", "read_is_causal", "merge", "split", "powers")
    if row.name == "no softmax" and called.what == "True hides":
        return True  # where a key is hidden each output is NaN or infinite, and so tells nothing
    is_told = called.what not in ("always causal", "True hides") or row.part not in parts
    return not bug_search.TABLE and not is_told


LAYERS = [
    Convention("in parts", takes=("mask", "key_padding_mask", "is_causal")),
    Convention("sequence first", takes=("mask",), is_swapped=True, has_swapped_output=True),
    Convention(
        "True hides", takes=("mask",), inputs={"mask": lambda x: ~x if x.dtype == bool else x}
    ),
    Convention("always causal", takes=(), facts={"is_always_causal": True}),
]


@pytest.mark.slow
@pytest.mark.parametrize(("row", "called"), [
    (row, LAYERS[i % len(LAYERS)]) for i, row in enumerate(rows_of(layer.SUBJECT))
], ids=lambda x: getattr(x, "name", None) or x.what)  # fmt: skip
@pytest.mark.usefixtures("table")
def test_a_case_of_a_layer_is_true(row, called):
    first = (
        ("x", "w_qkv", "w_o", "num_heads")
        if row.part == "split_fused"
        else ("x", "w_q", "w_k", "w_v", "w_o", "b_q", "b_k", "b_v", "b_o", "num_heads", "context")
    )
    function, twin = (
        function_of(layer.SUBJECT, first, called, each) for each in (row.replaced, {})
    )
    report = mha.examine_layer(function)
    if not report.ok and not is_invisible(row, called):
        expect_true_cases(report, function, twin)


TAKES = (), ("positions",), ("position",)
STEPS = [(row, bool(i % 2), TAKES[i % 3]) for i, row in enumerate(rows_of(decoding.SUBJECT))]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("row", "is_rotary", "takes"), STEPS, ids=lambda x: getattr(x, "name", str(x))
)
@pytest.mark.usefixtures("table")
def test_a_case_of_a_step_is_true(row, is_rotary, takes):
    function, twin = (step_of(each, is_rotary, takes) for each in (row.replaced, {}))
    report = mha.examine_decoding(function, rotary=is_rotary)
    if not report.ok:
        expect_true_cases(report, function, twin)
    else:
        # A step without rotation has no positions, and an array of three axes has no fourth.
        is_turned = (
            row.part in ("turn", "new_positions", "newest", "read_cached_keys")
            or row.name == "values turned"
        )
        assert (is_turned and not is_rotary) or row.name in ("no shift", "one maximum for all rows",
            "wrong root", "softmax over axis 2",
            "causal mask dropped once cached", "halves for pairs"), report  # fmt: skip


def step_of(exchanged, is_rotary, takes):
    """Return a step that caches all inputs, and returns the rows of its new tokens."""
    parts = RIGHT_ZERO_ROWS.with_parts(exchanged)

    def compute(query, key, value, cache=None, **_):
        given, sizes = cache or ([], ())
        given, sizes = [*given, (query, key, value)], (*sizes, query.shape[-2])
        every = [np.concatenate(each, axis=-2) for each in zip(*given, strict=True)]
        n, width = every[0].shape[-2:]
        angles = rotary_angles(np.arange(n + 1), width) * is_rotary
        output = decode(*every, angles, parts, sizes=sizes)
        return output[..., -sizes[-1] :, :], (given, sizes)

    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    names = ("query", "key", "value", "cache", *takes)
    compute.__signature__ = inspect.Signature([inspect.Parameter(name, kind) for name in names])
    return compute
