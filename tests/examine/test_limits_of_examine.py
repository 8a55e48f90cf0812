"""Untested inputs are named, and modules that `examine` does not model are refused."""

from types import SimpleNamespace

import numpy as np
import pytest
from by_hand import INF, dots, masked, soft, t

import mha
from mha import causal_mask
from mha.core.heads import merge_heads, split_heads
from mha.core.positions import rotary_angles, rotate_by


def layer(x, context, w_q, w_k, w_v, w_o, num_heads, mask=None, key_padding_mask=None):
    """Compute a layer whose context is a required argument."""
    q, k, v = (split_heads(y @ w, num_heads) for y, w in ((x, w_q), (context, w_k), (context, w_v)))
    scores = dots(q, k)
    if mask is not None:
        scores = np.where(mask, scores, -INF) if mask.dtype == bool else scores + mask
    if key_padding_mask is not None:
        scores = np.where(key_padding_mask[:, None, None, :], scores, -INF)
    return merge_heads(soft(scores) @ v) @ w_o


def without_masks(x, context, w_q, w_k, w_v, w_o, num_heads, mask=None, key_padding_mask=None):
    return layer(x, context, w_q, w_k, w_v, w_o, num_heads)


def test_masks_of_a_layer_that_requires_a_context_are_tested():
    right, wrong = map(mha.examine_layer, (layer, without_masks))
    assert right.ok, right
    assert {"boolean mask", "key_padding_mask", "context with key_padding_mask"} <= set(right.cases)
    assert {f.bug for f in wrong.findings} >= {"mask unused", "padding unused"}


def test_a_row_of_keys_for_each_sequence_is_tested_as_a_mask_of_a_layer():
    def by_keys(x, w_q, w_k, w_v, w_o, num_heads, attention_mask=None, is_late=False):
        q, k, v = (split_heads(x @ w, num_heads) for w in (w_q, w_k, w_v))
        weights = dots(q, k)
        if attention_mask is not None:
            assert attention_mask.ndim == 2
            seen = attention_mask[:, None, None, :]
            weights = soft(weights) * seen if is_late else soft(np.where(seen, weights, -INF))
        else:
            weights = soft(weights)
        return merge_heads(weights @ v) @ w_o

    def late(x, w_q, w_k, w_v, w_o, num_heads, attention_mask=None):
        return by_keys(x, w_q, w_k, w_v, w_o, num_heads, attention_mask, is_late=True)

    report = mha.examine_layer(by_keys)
    assert report.ok, report
    assert "attention_mask of one row" in report.cases
    assert not mha.examine_layer(late).ok


def test_an_argument_that_is_not_known_is_named_in_the_first_line():
    def attention(query, key, value, dilation=None, rate=2):
        return soft(dots(query, key)) @ value

    first, *_ = str(mha.examine(attention)).split("\n\n")
    assert first.endswith("cases agree; not tested: dilation, rate.")


def test_arrays_of_half_precision_are_judged_by_their_digits():
    def in_float32(query, key, value):
        query, key, value = (x.astype(np.float32) for x in (query, key, value))
        return (soft(dots(query, key)) @ value).astype(np.float16)

    def half(x):
        return np.asarray(x, np.float16 if np.asarray(x).dtype.kind == "f" else None)

    report = mha.examine(in_float32, asarray=half)
    assert report.ok, report
    assert not mha.examine(lambda q, k, v: in_float32(q, k, 2 * v), asarray=half).ok


def test_numbers_that_are_all_nan_have_no_bug_named_after_them():
    def after_the_softmax(query, key, value, mask=None):
        weights = soft(dots(query, key))
        if mask is not None:
            weights = weights + np.where(mask, 0, -np.inf) * weights.sum(-1, keepdims=True)
        return np.nan_to_num(weights @ value, nan=np.nan, posinf=np.nan, neginf=np.nan)

    report = mha.examine(after_the_softmax)
    assert not report.ok
    assert "no softmax" not in str(report)


def test_a_step_that_rotates_by_halves_is_right_by_its_convention():
    def step(query, key, value, position, cache=None):
        angles = rotary_angles(np.arange(position, position + query.shape[-2]), query.shape[-1])
        query, key = (rotate_by(x, angles, layout="halves") for x in (query, key))
        if cache is not None:
            key, value = (
                np.concatenate(pair, -2) for pair in zip(cache, (key, value), strict=True)
            )
        seen = causal_mask(key.shape[-2], key.shape[-2])[-query.shape[-2] :]
        return soft(masked(query @ t(key) / query.shape[-1] ** 0.5, seen)) @ value, (key, value)

    report = mha.examine_decoding(step)
    assert report.ok, report
    assert "if rotary positions are by halves" in [f.convention for f in report.findings]


class Layer:
    """A layer that exposes its arrays as Keras does."""

    num_heads = 2

    def __init__(self, **arrays):
        rng = np.random.default_rng(71)
        names = ("q_proj", "k_proj", "v_proj", "o_proj")
        kernels = {f"{name}/kernel": rng.normal(size=(8, 8)) / 2 for name in names}
        self.arrays = {**kernels, **arrays}
        self.weights = [
            SimpleNamespace(path=f"layer/{name}", value=x) for name, x in self.arrays.items()
        ]

    def get_weights(self):
        return list(self.arrays.values())

    def scores(self, q, k):
        gain = self.arrays.get("q_norm/gamma")
        if gain is not None:
            q = gain * q / np.sqrt((q**2).mean(-1, keepdims=True))
        return dots(q, k)

    def __call__(self, x, mask=None):
        w_q, w_k, w_v, w_o = list(self.arrays.values())[:4]
        q, k, v = (split_heads(x @ w, self.num_heads) for w in (w_q, w_k, w_v))
        scores = self.scores(q, k)
        if mask is not None:
            scores = np.where(mask, scores, -INF)
        return merge_heads(soft(scores) @ v) @ w_o


def test_a_module_with_a_norm_of_its_own_is_refused_and_one_that_ignores_it_is_noted():
    assert mha.examine(Layer()).ok
    normed = Layer(**{"q_norm/gamma": np.linspace(0.5, 2, 4)})
    with pytest.raises(TypeError, match=r"cannot judge Layer: it has q_norm/gamma"):
        mha.examine(normed)

    class Ignoring(Layer):
        def scores(self, q, k):
            return dots(q, k)

    report = mha.examine(Ignoring(**{"q_norm/gamma": np.linspace(0.5, 2, 4)}))
    assert report.ok
    assert "without q_norm/gamma: nothing of this has an influence" in " ".join(str(report).split())


def test_a_setting_of_a_module_is_named_as_unused_or_untested_or_in_the_refusal():
    class Windowed(Layer):
        sliding_window = 3

        def scores(self, q, k):
            i, j = np.ogrid[: q.shape[-2], : k.shape[-2]]
            return np.where(abs(i - j) < self.sliding_window, dots(q, k), -INF)

    with pytest.raises(TypeError, match="sliding_window=3"):
        mha.examine(Windowed())
    idle = Layer()
    idle.rope_theta, idle.sliding_window = 10000.0, 4096
    report = mha.examine(idle)
    conditions = [finding.convention for finding in report.findings]
    assert "if the layer should ignore rope_theta=10000.0" in conditions
    assert "cases agree; not tested: sliding_window=4096." in " ".join(str(report).split())


def test_the_named_correct_function_is_found_where_the_report_says():
    def keeps_nothing(query, key, value, cache=None):
        return soft(dots(query, key)) @ value, (key, value)

    report = str(mha.examine_decoding(keeps_nothing))
    assert "  a correct function: mha.core.decoding.decode_step\n" in report


def test_a_case_has_its_outputs_by_their_former_names_too():
    case = mha.examine(lambda q, k, v: soft(q @ t(k)) @ v).findings[0].case
    with pytest.warns(DeprecationWarning, match=r"^Shown\.wanted is now Shown\.expected"):
        assert case.wanted == case.expected
    with pytest.warns(DeprecationWarning, match=r"^Shown\.came is now Shown\.actual"):
        assert case.came == case.actual
    with pytest.raises(AttributeError, match="no attribute 'other'"):
        _ = case.other


@pytest.mark.parametrize("is_merged", [False, True])
def test_tokens_may_be_before_sequences_and_heads(is_merged):
    def tokens_first(query, key, value, is_scaled=True):
        scores = np.einsum("nbhd,mbhd->bhnm", query, key)
        weights = soft(scores / query.shape[-1] ** 0.5 if is_scaled else scores)
        output = np.einsum("bhnm,mbhd->nbhd", weights, value)
        return output.reshape(*output.shape[:2], -1) if is_merged else output

    right = mha.examine(tokens_first)
    assert right.ok, right
    assert "if axes are (n, batch, num_heads, d_k)" in [f.convention for f in right.findings]
    wrong = mha.examine(lambda q, k, v: tokens_first(q, k, v, is_scaled=False))
    assert wrong.findings[0].bug == "no scale"


def test_scores_beside_a_large_number_are_not_called_0():
    def beside_a_large_number(query, key, value):
        scores = dots(query.astype(np.float32), key.astype(np.float32)) - np.float32(1e9)
        return soft(scores) @ value

    report = mha.examine(beside_a_large_number)
    assert not report.ok
    assert {finding.bug for finding in report.findings} == {None}
    assert "Only large scores have an influence" in " ".join(str(report).split())


@pytest.mark.parametrize(("low", "is_right"), [(-100.0, False), (-1e4, True), (-1e9, True)])
def test_a_layer_has_the_limit_of_the_number_that_stands_for_minus_infinity(low, is_right):
    def padded(x, w_q, w_k, w_v, w_o, num_heads, key_padding_mask=None):
        q, k, v = (split_heads(x @ w, num_heads) for w in (w_q, w_k, w_v))
        scores = dots(q, k)
        if key_padding_mask is not None:
            scores = scores + np.where(key_padding_mask, 0, low)[..., None, None, :]
        return merge_heads(soft(scores) @ v) @ w_o

    report = mha.examine_layer(padded)
    assert report.ok is is_right, report
    limits = {-100.0: "if its score is above about 90", -1e4: "a score above about 10000"}
    text = " ".join(str(report).split())
    assert limits.get(low, "is right") in text
    assert ("minus infinity" in text) is (low in limits)


def half(x):
    return np.asarray(x, np.float16 if np.asarray(x).dtype.kind == "f" else None)


@pytest.mark.parametrize("is_upcast", [False, True])
def test_products_that_overflow_in_float16_are_a_limit(is_upcast):
    def attention(query, key, value):
        dtype = np.float32 if is_upcast else np.float16
        scores = dots(query.astype(dtype), key.astype(dtype)).astype(np.float32)
        return soft(scores).astype(np.float16) @ value

    report = mha.examine(attention, asarray=half)
    assert report.ok, report
    assert ("exceeds 65504" in str(report)) is not is_upcast


@pytest.mark.parametrize("is_used", [False, True])
def test_an_argument_that_promises_float32_is_tested_in_float16(is_used):
    def attention(query, key, value, upcast_attention=True):
        if upcast_attention and is_used:
            query, key = query.astype(np.float32), key.astype(np.float32)
        return soft(query @ t(key) * query.shape[-1] ** -0.5).astype(value.dtype) @ value

    report = mha.examine(attention)
    assert report.ok is is_used, report
    assert ("in spite of upcast_attention=True" in " ".join(str(report).split())) is not is_used


def test_frequencies_without_influence_are_noted():
    class Idle(Layer):
        def named_buffers(self):
            return [("inv_freq", np.ones(2))]

    report = mha.examine(Idle())
    assert "if the layer should ignore inv_freq" in [f.convention for f in report.findings]


@pytest.mark.parametrize("error", [NotImplementedError, ValueError])
def test_weights_that_a_right_function_does_not_return_are_no_bug(error):
    def without_weights(query, key, value, return_weights=False):
        if return_weights:
            raise error("weights are not returned")
        return soft(dots(query, key)) @ value

    def unscaled_weights(query, key, value, return_weights=False):
        if not return_weights:
            return soft(dots(query, key)) @ value
        weights = soft(query @ t(key))
        return weights @ value, weights

    assert mha.examine(without_weights).ok
    report = mha.examine(unscaled_weights)
    assert [finding.bug for finding in report.findings] == ["no scale"]
    assert "It is right without return_weights=True." in str(report)
