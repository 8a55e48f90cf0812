"""Correct code passes in any style and convention; a bug is named, or reported as unknown.

A correct function of several lines is made wrong by replacing a piece of its text.
"""

import ast

import by_hand as own
import numpy as np
import pytest
from by_hand import INF, causal, dots, masked, near, parted, soft, t, turned, with_sink
from independent_cases import DIVIDES, FIRST, HIDES, LAST, NO_NUMBERS, ROTARY, A, Case, D, L, P
from wild import GPT, WILD

import mha
from mha.core.decoding import decode_step
from mha.core.positions import linear_slopes
from mha.examine.report import format_value
from mha.practice.bugs import TABLE

CAPPED, MASKS = Case(own.softcapped, A), Case(own.all_masks, A, conditions=(LAST,))
LAYER, FUSED, STEP = Case(own.layer, L), Case(own.fused, L), Case(own.step, D, options=ROTARY)
TURN, BIAS = Case(own.rotary, P), Case(own.linear_bias, P)
NUMBERS = Case(own.token_numbers, P)

# ---- Correct functions ----

CONVENTIONS = {
    "if arrays have 2 axes": own.loops,
    FIRST: mha.scaled_dot_product_attention,
    "the function returns float64 with the precision of float32": lambda q, k, v: (
        soft(dots(q.astype(np.float32), k.astype(np.float32))) @ v.astype(np.float32)
    ).astype(q.dtype),
    "the function returns float64 for input of float32": lambda q, k, v:
        (soft(dots(q, k)) @ v).astype(float),
    "if arrays have 4 axes": lambda q, k, v: np.einsum("bhij,bhjd->bhid", soft(dots(q, k)), v),
    HIDES: lambda q, k, v, mask=None:
        soft(masked(dots(q, k), mask if mask is None or mask.dtype != bool else ~mask)) @ v,
    NO_NUMBERS: lambda q, k, v, mask=None:
        soft(dots(q, k) if mask is None else np.where(mask, dots(q, k), -INF)) @ v,
    "if it is always causal": lambda q, k, v: soft(masked(dots(q, k), causal(q, k))) @ v,
    DIVIDES: lambda q, k, v, scale=None: soft(q @ t(k) / (scale or q.shape[-1] ** 0.5)) @ v,
    "if scores are multiplied by 0.3": lambda q, k, v: soft(q @ t(k) * 0.3) @ v,
    "if the scale is 0.5 ÷ √d_k": lambda q, k, v: soft(dots(q, k) / 2) @ v,
    "if a query is meant to attend to 30 positions on either side, its own included":
        lambda q, k, v: soft(masked(dots(q, k), near(q, k, 30))) @ v,
    "if a query is meant to attend to 8 positions on either side, its own included":
        lambda q, k, v: soft(masked(dots(q, k), near(q, k, 8))) @ v,
    "if each softmax is meant to have a sink of 0.5": lambda q, k, v:
        with_sink(dots(q, k), 0.5) @ v,
}  # fmt: skip
"""Functions that are correct by some convention, by the reported convention."""

RIGHT = [
    *(Case(function, A, told, (told, FIRST)[: 1 + ("always" in told)])
      for told, function in CONVENTIONS.items()),
    *(CAPPED, MASKS, LAYER, FUSED, STEP, TURN, BIAS, NUMBERS),
    Case(own.as_in_pytorch, A, conditions=(FIRST,)),
    Case(own.without_two_masks, A,
         conditions=("if is_causal and a mask do not come together", FIRST)),
    Case(own.causally, A).wrong("causal if told nothing", "is_causal=False", "is_causal=True",
                                  conditions=(FIRST,)),
    Case(own.heads_behind_tokens, A, conditions=("if axes are (..., n, num_heads, d_k)",)),
    Case(own.padded, L, conditions=("if True marks padding",)),
    Case(own.of_batches, L, conditions=("if it is always causal", "if arrays have 3 axes")),
    *(Case(function, L) for function in (own.grouped, mha.multi_head_attention)),
    *(Case(function, D) for function in (own.told_its_places, own.still, decode_step)),
    Case(lambda x, positions: turned(x, positions, layout="halves"), P, "halves",
           options={"layout": "halves"}),
    *(Case(function, P) for function in (mha.rotate, linear_slopes, own.as_published)),
    Case(lambda mask: (mask.cumsum(-1) - 1) * mask, P, "padding has place 0"),
    Case(mha.linear_biases, P, conditions=(FIRST,)),
]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("one", RIGHT, ids=str)
def test_correct_functions_pass_and_their_conventions_are_reported(one):
    one.expect_right(np.asarray)


# ---- Bugs of the table ----


def changed(right, changes):
    """Return one function per change: each text is replaced by the text that follows it."""
    return [right.wrong(name, *texts) for name, texts in changes.items()]


def in_two_layouts(x, positions):
    """Use the cosines of halves with the partners of pairs, as no layout does."""
    d = x.shape[-1]
    angle = positions[:, None] * 10000.0 ** (-np.arange(0, d, 2) / d)
    cos, sin = (np.concatenate([f(angle)] * 2, -1) for f in (np.cos, np.sin))
    partner = np.empty_like(x)
    partner[..., ::2], partner[..., 1::2] = -x[..., 1::2], x[..., ::2]
    return (x * cos + partner * sin).astype(x.dtype)


TOP, SUM = ".max(axis=-1, keepdims=True)", ".sum(axis=-1, keepdims=True)"
WEIGHTS, HIDDEN = f"e / e{SUM}", "np.where(mask, s, -INF)"
PARTED, FLAT = "parted(a, num_heads)", ".reshape(*o.shape[:-3], o.shape[-2], -1)"
CUT, THIRDS = "q, k, v = (", "np.split(x @ w_qkv, 3, -1)"
LONGER_K = "np.concatenate([keys, turned(key, places)], -2)"
LONGER_V = "np.concatenate([values, value], -2)"
SEEN = "i + keys.shape[-2] - n"
CAP = "    if softcap is not None:\n        scores = softcap * np.tanh(scores / softcap)\n"
HIDE = "    if mask is not None:\n        scores = masked(scores, mask)\n"
PADS = "key_padding_mask[:, None, None, :]"
SLOPES, SLANTED = "true_slopes(num_heads)", "for i in range(1, num_heads + 1)"
NAMED = [
    *changed(Case(own.plain, A), {
        "wrong axis": ("axis=-1", "axis=-2"),
        "no shift": (f" - s{TOP}", ""),
        "wrong root": ("q.shape[-1]", "many(q)"),
        "columns mixed": (WEIGHTS, f"t({WEIGHTS})"),
        "no scale": (" / q.shape[-1] ** 0.5", ""),
        "scaled twice": (" ** 0.5", ""),
        "multiplied by the root": ("/ q.shape", "* q.shape"),
        "root of the number of keys": ("q.shape[-1]", "k.shape[-2]"),
        "view instead of transpose": ("t(k)", "k.reshape(t(k).shape)"),
        "queries and keys exchanged": ("q @ t(k)", "k @ t(q)"),
        "keys and values exchanged": ("t(k)", "t(v)", "@ v", "@ k"),
        "keys mixed": ("@ v", "@ k"),
        "softmax axis counted from the front": ("axis=-1", "axis=1"),
        "one sum for all rows": (TOP, ".max()", SUM, ".sum()"),
        "softmax twice": (WEIGHTS, f"soft({WEIGHTS})"),
        "one maximum for all rows": (TOP, ".max()"),
        "base 2 for base e": ("np.exp", "np.exp2"),
        "not divided by the sum": (f" / e{SUM}", ""),
        "weights averaged over heads": (WEIGHTS, f"np.mean({WEIGHTS}, -3, keepdims=True)"),
        "sign of the scores": ("q @ t(k)", "-q @ t(k)"),
        "root of the number of heads": ("q.shape[-1]", "q.shape[-3]"),
        "queries mixed": ("@ v", "@ q"),
        "queries compared with queries": ("t(k)", "t(q)"),
        "keys compared with keys": ("q @", "k @"),
        "softmax over heads": ("axis=-1", "axis=-3"),
        "softmax over heads and keys": ("axis=-1", "axis=(-3, -1)"),
        "softmax over queries and keys": ("axis=-1", "axis=(-2, -1)"),
        "no softmax": (WEIGHTS, "s"),
        "sigmoid for softmax": (WEIGHTS, "1 / (1 + np.exp(-s))"),
        "maximum per column": (".max(axis=-1", ".max(axis=-2"),
        "sign of the exponent": (f"s - s{TOP}", f"s{TOP} - s"),
        "weights summed over heads": (WEIGHTS, f"np.sum({WEIGHTS}, -3, keepdims=True)"),
        "outputs summed over heads":
            (f"{WEIGHTS} @ v", f"np.sum({WEIGHTS} @ v, -3, keepdims=True)"),
        "outputs averaged over heads":
            (f"{WEIGHTS} @ v", f"np.mean({WEIGHTS} @ v, -3, keepdims=True)"),
        "dropout left on": (WEIGHTS, f"{WEIGHTS} * (np.random.random(s.shape) > 0.3) / 0.7"),
    }),
    *changed(Case(own.with_mask, A), {
        "late bias": ("else s + mask", "else s",
                      "soft(s)", "(soft(s) + (0 if mask is None or mask.dtype == bool else mask))"),
        "late mask": (HIDDEN, "s",
                      "soft(s)", "(soft(s) * (1 if mask is None or mask.dtype != bool else mask))"),
        "mask unused": ("mask is not None", "False"),
        "additive mask unused": ("s + mask", "s"),
        "mask transposed": ("    if mask is not None:\n",
                             "    if mask is not None:\n        mask = t(mask)\n"),
        "mask multiplied": ("-INF", "0"),
        "mask subtracted": ("else s + mask", "else s - mask"),
        "mask added twice": ("else s + mask", "else s + 2 * mask"),
        "-1e-9 for -1e9": ("-INF", "-1e-09"),
        "zero times infinity": (HIDDEN, "s - ~mask * INF"),
        "mask scaled": ("dots(q, k)", "q @ t(k)", "soft(s)", "soft(s / q.shape[-1] ** 0.5)"),
    }),
    *changed(Case(own.causally, A), {
        "diagonal hidden": ("causal(q, k)", "causal(q, k, -1)"),
        "one key ahead": ("causal(q, k)", "causal(q, k, 1)"),
        "causal mask transposed": ("causal(q, k)", "~causal(q, k, -1)"),
        "causal mask reversed": ("causal(q, k)", "~causal(q, k)"),
        "is_causal unused": ("if is_causal", "if False"),
        "mask added as 0 and 1": ("masked(dots(q, k), causal(q, k) if is_causal else None)",
                                  "dots(q, k) + (causal(q, k) if is_causal else 0)"),
    }),
    *changed(CAPPED, {
        "scale unused": (" if scale is None else scale", ""),
        "scale and root both applied": (
            " if scale is None else scale", " * (1.0 if scale is None else scale)"
        ),
        "softcap not multiplied": ("softcap * np.tanh", "np.tanh"),
        "softcap after the mask": (CAP + HIDE, HIDE + CAP),
        "softcap before the scale": (" * scale", "", HIDE, f"    scores = scores * scale\n{HIDE}"),
    }),
    *changed(MASKS, {
        "padding masks queries": (PADS, "key_padding_mask[:, None, :, None]"),
        "padding unused": ("key_padding_mask is not None", "False"),
        "causal mask dropped beside a mask":
            ("if is_causal:", "if is_causal and attn_mask is None and key_padding_mask is None:"),
        "mask dropped beside a causal mask": ("if attn_mask is not None:",
            "if attn_mask is not None and not is_causal:", "if key_padding_mask is not None:",
            "if key_padding_mask is not None and not is_causal:"),
        "masks combined by or": ("if is_causal:", "if is_causal and key_padding_mask is None:",
                               PADS, f"{PADS} | (at_the_end(query, key) & is_causal)"),
    }),
    Case(own.as_in_pytorch, A).wrong("groups tiled", "np.repeat(x, ", "np.concatenate([x] * (",
                                   "x.shape[-3], -3)", "x.shape[-3]), -3)"),
    *changed(LAYER, {
        "reshape": (PARTED, "a.reshape(*a.shape[:-2], num_heads, a.shape[-2], -1)"),
        "heads interleaved":
            (PARTED, "np.stack([a[..., i::num_heads] for i in range(num_heads)], -3)"),
        "merged by reshape": ("joined(o)", f"o{FLAT}"),
        "merged alternating": ("joined(o)", f"np.moveaxis(o, -3, -1){FLAT}"),
        "W_Q and W_K exchanged": ("x @ w_q", "x @ w_k", "context @ w_k", "context @ w_q"),
        "W_K used for the values": ("context @ w_v", "context @ w_k"),
        "W_Q used for the keys": ("context @ w_k", "context @ w_q"),
        "W_Q used for all three":
            ("context @ w_k", "context @ w_q", "context @ w_v", "context @ w_q"),
        "W_K and W_V exchanged": ("w_k + b_k, context @ w_v", "w_v + b_k, context @ w_k"),
        "W_V and W_O exchanged": ("@ w_v", "@ w_o", "@ w_o + b_o", "@ w_v + b_o"),
        "matrices transposed": ("w_q +", "w_q.T +", "w_k +", "w_k.T +", "w_v +", "w_v.T +",
                                 "w_o +", "w_o.T +"),
        "W_O transposed": ("w_o +", "w_o.T +"),
        "W_O left out": (" @ w_o + b_o", ""),
        "biases left out": (" + b_q", "", " + b_k", "", " + b_v", "", " + b_o", ""),
        "bias of queries left out": (" + b_q", ""),
        "bias of values left out": (" + b_v", ""),
        "bias of the output left out": (" + b_o", ""),
        "context unused": ("x if context is None else context", "x"),
        "queries from the context": ("context @", "x @", "x @ w_q", "context @ w_q"),
        "values from x": ("context @ w_v", "x @ w_v"),
        "keys from x": ("context @ w_k", "x @ w_k"),
    }),
    *changed(Case(own.padded, L), {
        "fused as key, query, value": (CUT, "k, q, v = ("),
        "fused as value, key, query": (CUT, "v, k, q = ("),
        "fused as query, value, key": (CUT, "q, v, k = ("),
        "fused by heads": (THIRDS, "by_heads(x @ w_qkv, num_heads)"),
    }),
    Case(lambda x, positions: turned(x, positions, layout="halves"), P, "halves for pairs"),
    Case(in_two_layouts, P, "two layouts in one"),
    Case(lambda x, positions: turned(x, positions * 10000.0 ** (-2 / x.shape[-1])), P,
           "exponent from 1"),
    *(Case(lambda x, w_q, w_k, w_v, num_heads, name=name: getattr(
        soft(dots(*(parted(x @ w, num_heads) for w in (w_q, w_k)))) @ parted(x @ w_v, num_heads),
        name)(-3), L, f"heads {what}") for name, what in (("sum", "summed"), ("mean", "averaged"))),
    *changed(TURN, {
        "positions from 1": ("x, positions, base)", "x, positions + 1, base)"),
        "rotated backwards": ("x, positions, base)", "x, -positions, base)"),
        "exponent by ones": ("x, positions, base)", "x, positions, base, per=1)"),
        "exponent's sign": ("x, positions, base)", "x, positions, 1 / base)"),
        "degrees for radians": ("x, positions, base)", "x, np.deg2rad(positions), base)"),
    }),
    *changed(Case(own.rotary_attention, P), {
        "values turned": ("@ value", "@ turned(value, positions)"),
        "only queries rotated": ("turned(key, positions)", "key"),
        "only keys rotated": ("turned(query, positions)", "query"),
        "keys rotated backwards": ("turned(key, positions)", "turned(key, -positions)"),
    }),
    *changed(BIAS, {
        "slopes halved": (SLOPES, f"[1 / 2 ** i {SLANTED}]"),
        "slopes reversed": (SLOPES, f"{SLOPES}[::-1]"),
        "slopes from 1": (SLOPES, "[2 ** (-8 * i / num_heads) for i in range(num_heads)]"),
        "slopes for any number of heads": (SLOPES, f"[2 ** (-8 * i / num_heads) {SLANTED}]"),
        "bias grows with distance": ("return -", "return "),
    }),
    NUMBERS.wrong("padding counted", "np.cumsum(mask, axis=-1) - 1",
                  "np.arange(mask.shape[-1]) + 0 * mask"),
    *changed(STEP, {
        "off by one": ("turned(query, places)", "turned(query, places + 1)"),
        "off by one after a cache": ("turned(query, places)", "turned(query, places + (past > 0))"),
        "positions restart at 0": ("past + np", "np"),
        "one position for all new tokens": ("past + np.arange(n)", "past + 0 * np.arange(n)"),
        "one position for all new tokens after a cache":
            ("past + np.arange(n)", "past + np.arange(n) * (past == 0)"),
        "last position for all new tokens":
            ("past + np.arange(n)", "past + n - 1 + 0 * np.arange(n)"),
        "cache overwritten": (LONGER_K, "turned(key, places)", LONGER_V, "value"),
        "cache not extended": (LONGER_K, "keys if past else turned(key, places)",
                               LONGER_V, "values if past else value"),
        "cached keys after new ones": ("[keys, turned(key, places)]", "[turned(key, places), keys]",
                         "[values, value]", "[value, values]"),
        "own key masked": ("places), keys)", "places), keys[..., : past or n, :])",
                             "@ values", "@ values[..., : past or n, :]"),
        "cache aligned top left": (SEEN, "i"),
        "later tokens of a step visible": (SEEN, "i + 99"),
        "cached keys rotated again":
            ("places), keys)", "places), turned(keys, np.arange(keys.shape[-2])))"),
    }),
]  # fmt: skip


def test_every_bug_of_the_table_is_among_them():
    # "True reversed" and "padding masks rows too" are reported as conventions.
    known = {bug.name for bug in TABLE} - {"True reversed", "padding masks rows too"}
    wild = {name for name, _, _ in WILD.values()} - {""}
    assert {one.what for one in NAMED} | wild == known


PASTED = (
    "late mask",
    "additive mask unused",
    "W_O left out",
    "cached keys after new ones",
    "rotated backwards",
)
"""Bugs of each kind whose pasted case must print exactly the function's own output."""


def run_pasted(case, function):
    """Return the printed value of the last statement of a case."""
    *lines, last = ast.parse(str(case)).body
    known = {"np": np, "mha": mha, "function": function, function.__name__: function}
    exec(ast.unparse(lines), known)
    return format_value(eval(ast.unparse(last), known))


@pytest.mark.slow
@pytest.mark.parametrize("one", NAMED, ids=str)
def test_a_bug_is_named_with_a_smallest_case_that_shows_it(one):
    report = one.examined(np.asarray)
    assert not report.ok, report
    (wrong,) = (finding for finding in report.findings if not finding.convention)
    assert wrong.bug == one.what, report
    assert wrong.line != wrong.meant
    assert one.what == "dropout left on" or wrong.case is not None
    if one.what in PASTED:
        assert run_pasted(wrong.case, one.function) == wrong.case.actual != wrong.case.expected
        assert "−" not in str(wrong.case) + "".join(wrong.case.lines)


# ---- Bugs that the table does not know, and two at once ----

ROOT, NUMBERED = "query.shape[-1] ** 0.5", "np.cumsum(mask, axis=-1) - 1"
WRONG = [
    CAPPED.wrong("scores in float16", "query, key)", "query.astype('e'), key.astype('e'))",
                 "* scale", "* np.float16(scale)", CAP, "    scores = scores.astype(query.dtype)\n",
                 ", softcap=None", ""),
    MASKS.wrong("padding mask's batch lies against the heads", "[:, None, None, :]", "[:, None]"),
    LAYER.wrong("values before their projection", "context @ w_v", "context"),
    LAYER.wrong("residual added inside", "return ", "return x + "),
    STEP.wrong("cache keeps the last four tokens only",
               ", keys, values)\n", ", keys[..., -4:, :], values[..., -4:, :])\n"),
    NUMBERS.wrong("the first text's padding taken for all", NUMBERED,
                  "np.arange(mask.shape[-1]) - np.argmax(np.atleast_2d(mask)[0]) + 0 * mask"),
    NUMBERS.wrong("padding taken to be on the right", NUMBERED,
                  "np.minimum(np.arange(mask.shape[-1]), mask.sum(axis=-1, keepdims=True) - 1)"),
]  # fmt: skip
PAIRS = [
    (("wrong axis", "root of the number of keys"), CAPPED.wrong(
        "softmax over queries; root of the key count",
        "soft(scores)", "soft(scores, axis=-2)", ROOT, "key.shape[-2] ** 0.5")),
    (("scale unused", "softcap before the scale"), CAPPED.wrong(
        "softcap before scale; scale ignored", " * scale", "",
        HIDE, f"    scores /= {ROOT}\n{HIDE}")),
    (("fused as key, query, value", "bias of the output left out"), FUSED.wrong(
        "fused cut as k, q, v; b_o left out", CUT, "k, q, v = (", " + b_o", "")),
    (("no scale", "mask multiplied"), Case(own.with_mask, A).wrong(
        "no scale; mask multiplied", "dots(q, k)", "q @ t(k)", "-INF", "0")),
    (("wrong root", "diagonal hidden"), GPT.wrong(
        "root of all heads; diagonal hidden, in a function that is always causal",
        "k.shape[-1]", "(k.shape[-1] * (k.shape[-3] if k.ndim > 2 else 1))",
        "np.ones((n, n))", "np.ones((n, n)), -1")),
]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("one", WRONG, ids=str)
def test_a_bug_that_the_table_lacks_is_reported(one):
    one.expect_reported(np.asarray)


@pytest.mark.slow
@pytest.mark.parametrize(("names", "one"), PAIRS, ids=str)
def test_two_bugs_at_once_are_both_named(names, one):
    report = one.examined(np.asarray)
    wrong = [finding for finding in report.findings if not finding.convention]
    assert {finding.bug for finding in wrong} == set(names), report
    assert all(finding.case for finding in wrong)


def test_a_bug_in_another_layout_is_named():
    report = mha.examine_positions(own.rotary, layout="halves")  # which turns neighbours
    assert [finding.bug for finding in report.findings] == ["halves for pairs"]
    heads = Case(own.heads_behind_tokens, A).wrong("no scale", " / q.shape[-1] ** 0.5", "")
    finding = heads.examined(np.asarray).findings[0]
    assert finding.bug == heads.what
    assert run_pasted(finding.case, heads.function) == finding.case.actual


def test_a_slip_beside_a_bug_and_a_bug_under_a_convention_are_named():
    def hides_the_diagonal(q, k, v, is_causal=False):
        s = np.where(causal(q, k, -1), dots(q, k), -INF) if is_causal else dots(q, k)
        e = np.exp(s - s.max(-1, keepdims=True))
        return e / e.sum(-1, keepdims=True) @ v

    def without_a_scale(q, k, v, mask=None):
        s = q @ t(k)
        return soft(s if mask is None else masked(s, ~mask if mask.dtype == bool else mask)) @ v

    found = {finding.bug for finding in mha.examine(hides_the_diagonal).findings}
    assert found == {"diagonal hidden", None}  # and the place of the first query
    report = mha.examine(without_a_scale)
    found = {(finding.bug, finding.convention) for finding in report.findings}
    assert found == {("no scale", None), (None, HIDES)}


def test_a_mask_of_a_function_with_a_bias_is_tested_with_numbers_too():
    def adds_both(q, k, v, mask=None, bias=None):
        return soft(masked(dots(q, k) + (0 if bias is None else bias), mask)) @ v

    def adds_the_mask_twice(q, k, v, mask=None, bias=None):
        twice = mask if mask is None or mask.dtype == bool else 2 * mask
        return adds_both(q, k, v, twice, bias)

    def takes_booleans(q, k, v, mask=None, bias=None):
        return adds_both(q, k, v, None if mask is None else mask.astype(bool), bias)

    assert mha.examine(adds_both).findings == ()
    assert [finding.bug for finding in mha.examine(adds_the_mask_twice).findings] == [
        "mask added twice"
    ]
    report = mha.examine(takes_booleans)
    assert [finding.convention for finding in report.findings] == [NO_NUMBERS]
