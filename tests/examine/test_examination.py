"""Reports are readable alone, plain data, usable as tests, and have an exit status."""

import functools
import json
import subprocess
import sys
from email.message import Message
from pathlib import Path

import chains
import numpy as np
import pytest
from by_hand import dots, soft, t
from helpers import raises
from test_right_and_wrong import NAMED, run_pasted

import mha
from mha.core.decoding import decode_step
from mha.examine.__main__ import main
from mha.examine.attention import SUBJECT
from mha.examine.bug_search import Explanation, extend_explanations
from mha.examine.cases import Case
from mha.examine.report import address
from mha.practice.attention_parts import RIGHT_ZERO_ROWS
from mha.practice.bugs import TABLE
from mha.runs.rounding import short

BOOK = Path(__file__).resolve().parents[2] / "book"

BUGGY = {one.what: one.function for one in NAMED}


def right(query, key, value):
    return soft(dots(query, key)) @ value


# ---- The table ----


def test_a_bug_has_its_section_in_the_book():
    for bug in TABLE:
        page, _, label = bug.section.partition("#")
        assert f"({label})=\n" in (BOOK / f"{page}.md").read_text(encoding="utf-8"), bug.name


def test_the_sound_parts_are_the_package_s_attention():
    asked_for = frozenset({"mask", "padding", "is_causal", "scale", "enable_gqa", "softcap"})
    found = SUBJECT.cases(asked_for, frozenset())
    assert len(found) > 120
    for case in found:
        tolerance = 1e-12 if case.dtype == np.float64 else 1e-3
        wanted = SUBJECT.expected(case.inputs)
        np.testing.assert_allclose(
            SUBJECT.compute(case.inputs, RIGHT_ZERO_ROWS), wanted, tolerance, tolerance
        )


# ---- Contents of reports ----


def test_a_report_says_what_is_wrong_and_works_the_smallest_case():
    report = mha.examine(BUGGY["no scale"])
    assert str(report).startswith("plain is wrong: 38 of 38 cases differ.\n\nWrong: no scale.")
    for line in (
        "differ: plain (16 of 16); large scores (8 of 8);",
        "wrong: query @ key.swapaxes(-1, -2)",
        "right: query @ key.swapaxes(-1, -2) / np.sqrt(query.shape[-1])",
        "explained in: mechanism/scaling.html#scaling in the book Attention by Hand",
    ):
        assert f"  {line}\n" in str(report)
    (finding,) = report.findings
    query, key, value = finding.case.arguments.values()
    assert query.size + key.size + value.size < 20
    assert all(x == np.round(x) != 0 for each in (query, key, value) for x in each.flat)
    wanted = soft(dots(query, key)) @ value
    assert finding.case.expected == f"[[{short(wanted[0, 0])}]]".replace("−", "-")
    assert finding.case.expected != finding.case.actual
    lines = finding.case.lines
    assert [line[: line.index("[")] for line in lines] == [
        "expected: scores", "got:      scores", "expected: weights", "got:      weights",
        "expected: output", "got:      output",
    ]  # fmt: skip
    assert "÷ √4" in lines[0]
    assert lines[1].endswith("<- the first difference")
    assert lines[-1].endswith(finding.case.actual[2:-2])
    assert all(" ".join(line.split()) in " ".join(str(report).split()) for line in lines)
    assert max(map(len, str(report).splitlines())) <= 77


def tiled(query, key, value, enable_gqa=False, wrong=("key", "value")):
    """Tile the groups instead of repeating each: of keys, of values, or of both."""
    if enable_gqa:
        times = query.shape[-3] // key.shape[-3]
        key, value = (
            np.concatenate([x] * times, -3) if name in wrong else np.repeat(x, times, -3)
            for name, x in (("key", key), ("value", value))
        )
    return soft(dots(query, key)) @ value


def takes_weights(x, weights):
    return x


def test_a_case_is_python_that_gives_what_came_and_needs_the_whole_repair():
    case = mha.examine_layer(takes_weights).findings[0].case
    assert run_pasted(case, takes_weights) == case.actual
    case = mha.examine(tiled).findings[0].case
    assert run_pasted(case, tiled) == case.actual
    for wrong in ((), ("key",), ("value",)):
        mended = functools.wraps(tiled)(functools.partial(tiled, wrong=wrong))
        assert (run_pasted(case, mended) == case.expected) is (wrong == ())


def test_a_section_has_its_address_once_the_book_is_published(monkeypatch):
    published, unpublished = Message(), Message()
    published["Project-URL"] = "Source, https://host.test/source"
    published["Project-URL"] = "Homepage, https://host.test/book/"
    for found, wanted in (
        (published, "https://host.test/book/mechanism/scaling.html#scaling"),
        (unpublished, "mechanism/scaling.html#scaling in the book Attention by Hand"),
    ):
        monkeypatch.setitem(address.__globals__, "metadata", lambda _name, found=found: found)
        assert address("mechanism/scaling#scaling") == wanted


@pytest.mark.parametrize("one", NAMED, ids=str)
def test_every_step_holds_as_it_is_printed(one):
    for finding in one.examined(None).findings:
        for line in finding.case.lines if finding.case else ():
            assert [one.text for one in chains.read(line.replace("-", "−")) if one.faults()] == []


def test_steps_say_what_masks_and_caps_do():
    for bug, lines in {
        "one key ahead": ["hidden = -∞", "hidden = 0"],
        "late bias": [" + "],
        "softcap before the scale": ["1.5×tanh(("],
    }.items():
        said = "\n".join(mha.examine(BUGGY[bug]).findings[0].case.lines)
        assert all(line in said for line in lines), said


def test_a_wrong_step_of_a_whole_layer_is_told_with_all_heads():
    def sees_what_comes_with_it(x, weights, cache):
        return mha.multi_head_attention(x, weights), None

    report = mha.examine_decoding(sees_what_comes_with_it)
    assert not report.ok
    case = next(finding.case for finding in report.findings if finding.case is not None)
    assert any(line.startswith("expected: scores = [[[") for line in case.lines), case.lines


def test_a_report_is_the_same_each_time_is_data_and_fails_a_test(tmp_path):
    first, again = (mha.examine(BUGGY["late mask"]) for _ in range(2))
    assert str(first) == str(again)
    data = first.as_data()
    assert json.loads(json.dumps(data)) == data
    assert (data["ok"], data["findings"][0]["bug"]) == (False, "late mask")
    assert {"about", "code", "expected", "actual", "lines"} == set(data["findings"][0]["case"])
    first.save(tmp_path / "report.json")
    assert json.loads((tmp_path / "report.json").read_text(encoding="utf-8")) == data
    with pytest.raises(AssertionError, match="Wrong: late mask"):
        first.raise_if_wrong()


# ---- Functions that cannot be compared ----


def changes(query, key, value):
    query /= query.shape[-1] ** 0.5
    return soft(query @ t(key)) @ value


def stops_on_a_mask(query, key, value, mask=None):
    if mask is not None:
        raise KeyError("no mask here")
    return right(query, key, value)


@pytest.mark.parametrize(
    ("function", "said"),
    [
        (changes, "the function changes its argument query"),
        (stops_on_a_mask, "the function raises KeyError: 'no mask here'"),
        (lambda q, k, v: None, "the function returns None instead of an array"),
        (lambda q, k, v: "text", "the function returns <U4 instead of numbers"),
        (lambda q, k, v: right(q, k, v).reshape(-1), "the output is wrong, and no known bug"),
        (lambda q, k, v: np.nan * right(q, k, v), "the output is wrong, and no known bug"
        " explains it"),
    ],
)  # fmt: skip
def test_a_failure_to_compare_is_a_line_of_the_report(function, said):
    report = mha.examine(function)
    assert not report.ok
    assert said in str(report)
    finding = next(finding for finding in report.findings if said in finding.said)
    assert finding.case is None or len(finding.case.arguments) >= 3


def test_arrays_of_one_precision_are_compared_in_it():
    """JAX has float32 alone, unless float64 is enabled."""
    narrow = mha.examine(right, asarray=lambda x: x.astype(np.float32))
    assert (narrow.ok, narrow.findings) == (True, ())


def test_dropout_in_another_place_is_reported_without_a_name():
    rng = np.random.default_rng(3)
    report = mha.examine(lambda q, k, v: right(q, k, v) * (rng.random(v.shape[-1]) > 0.3))
    assert (report.ok, report.findings[0].bug) == (False, None)
    assert "give different outputs" in str(report)


def test_random_outputs_are_no_dropout_unless_a_weight_is_zero():
    rng = np.random.default_rng(3)

    def of_random_shapes(q, k, v):
        if rng.random() < 0.3:
            raise ValueError("not this time")
        return rng.normal(size=(*q.shape[:-1], rng.integers(1, 4)))

    def scaled_at_random(q, k, v):
        return right(q, k, v) * (1 + rng.random())

    for function in (of_random_shapes, scaled_at_random):
        report = mha.examine(function)
        assert "two calls with the same input give different outputs" in report.findings[0].said
        assert report.findings[0].bug is None, function


# ---- The search for bugs ----


class MadeUpCases:
    """Two cases without a mask: each set of bugs in `fitting` reproduces the second one."""

    cases = (Case("plain", {}), Case("second", {}))

    def __init__(self, *fitting):
        self.fitting = [{bug.part for bug in bugs} for bugs in fitting]

    def fits(self, i, parts):
        return i == 0 or dict(parts.replaced).keys() - {"fill_masked_rows"} in self.fitting

    def changes(self, i, parts, other):
        return i == 1

    def has_numbers(self, i):
        return True

    has_output = has_numbers


def test_the_search_prefers_fewer_bugs_to_an_earlier_explanation():
    names = ("no scale", "wrong axis", "keys and values exchanged", "not divided by the sum")
    a, b, c, d = (next(bug for bug in TABLE if bug.name == name) for name in names)
    found = [Explanation((bug,), RIGHT_ZERO_ROWS.with_parts(bug.replaced)) for bug in (a, b)]
    examined = MadeUpCases((a, c, d), (b, c))
    (best,) = extend_explanations(found, [c, d], [1], [0], examined, True, frozenset())
    assert best.bugs == (b, c)


# ---- Refusals ----


@pytest.mark.parametrize(
    ("function", "sentence"),
    [
        (3, "function is 3; a callable is needed"),
        (lambda query, key: key,
         "function takes query, key; it also needs value. Examine a function around it, such as\n"
         "    lambda query, key, value: your_function(...)"),
        (lambda *given: given,
         "function takes no argument that examine knows; it also needs key and query and value."
         " Examine a function around it, such as\n"
         "    lambda query, key, value: your_function(...)"),
        (functools.partial(max),
         "the arguments of function cannot be read. Examine a function around it, such as\n"
         "    lambda query, key, value: your_function(query, key, value)"),
    ],
)  # fmt: skip
def test_objects_that_cannot_be_examined_are_refused(function, sentence):
    with raises(TypeError, sentence):
        mha.examine(function)


def test_options_and_arguments_that_are_not_known_are_refused():
    with pytest.raises(
        TypeError, match=r"^function has the argument spice, whose name examine does not know"
    ):
        mha.examine(lambda query, key, value, spice: value)
    with raises(TypeError, "asarray is 3; a callable is needed"):
        mha.examine(right, asarray=3)
    with raises(TypeError, "rotary is 'no'; true or false is wanted"):
        mha.examine_decoding(decode_step, rotary="no")
    with raises(ValueError, 'layout is \'thirds\'; "pairs" or "halves" is wanted'):
        mha.examine_positions(mha.rotate, layout="thirds")
    kinds = ["plain", "large negative scores", "long sequence", "very low scores"]
    assert list(mha.examine(right, leave_out=["large scores"]).cases) == kinds
    said = (
        "leave_out has 'huge'; this function has plain, large scores, large negative scores,"
        " long sequence, grouped heads, very low scores"
    )
    with raises(ValueError, said):
        mha.examine(right, leave_out=["huge"])


# ---- From a shell ----


MINE = """\
import mha

def attention(query, key, value):
    return mha.softmax(query @ key.swapaxes(-1, -2)) @ value
"""


def test_the_command_has_the_report_s_status(tmp_path):
    (tmp_path / "mine.py").write_text(MINE, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "mha.examine", "mine:attention", "--json"],
        cwd=tmp_path, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (1, "")
    assert json.loads(done.stdout)["findings"][0]["bug"] == "no scale"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["mha"], "'mha' names no function; write package.module:function"),
        (["mha.nowhere:f"], "mha.nowhere:f cannot be imported (ModuleNotFoundError: No module"),
        (["mha:nothing"], "mha:nothing cannot be imported (AttributeError: module 'mha' has no"),
        (["mha:softmax"], "function takes scores; it also needs key and value."),
        (["mha:rotate", "--as", "thing"], "argument --as: invalid choice: 'thing'"),
    ],
)
def test_the_command_refuses_with_one_sentence_and_status_two(arguments, said, capsys):
    with pytest.raises(SystemExit) as stopped:
        main(arguments)
    out, err = capsys.readouterr()
    assert (stopped.value.code, out, err.count("\n")) == (2, "", 1)
    assert err.startswith(f"python -m mha.examine: {said}")


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        ("attention", "mha:scaled_dot_product_attention"),
        ("layer", "mha:multi_head_attention"),
        ("decoding", "mha.core.decoding:decode_step"),
        ("positions", "mha:rotate"),
    ],
)
def test_every_kind_is_examined_from_a_shell(kind, name, capsys):
    with pytest.raises(SystemExit) as stopped:
        main([name, "--as", kind])
    assert stopped.value.code == 0
    assert "cases agree" in capsys.readouterr().out
