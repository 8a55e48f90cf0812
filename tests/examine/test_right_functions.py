"""What is right is found right, whatever its style; another convention is told as one."""

import numpy as np
import pytest
from wrong_by_hand import causal, dots, joined, masked, parted, soft, t, true_slopes, turned

import mha

INF = np.inf


def loops(query, key, value):
    """Go through queries and keys one by one; of one head."""
    rows = []
    for q in query:
        s = [sum(a * b for a, b in zip(q, k, strict=True)) / len(q) ** 0.5 for k in key]
        e = [np.exp(x - max(s)) for x in s]
        rows.append(sum(x * v for x, v in zip(e, value, strict=True)) / sum(e))
    return np.array(rows, query.dtype)


def einsum(q, k, v, mask=None, is_causal=False):
    s = np.einsum("...nd,...md->...nm", q, k) / q.shape[-1] ** 0.5
    s = masked(s, mask)
    s = np.where(causal(q, k), s, -INF) if is_causal else s
    return np.einsum("...nm,...md->...nd", soft(s), v)


def as_in_pytorch(
    query, key, value, attn_mask=None, dropout_p=0.0, is_causal=False, scale=None, enable_gqa=False
):
    if enable_gqa:
        key, value = (np.repeat(x, query.shape[-3] // x.shape[-3], -3) for x in (key, value))
    factor = query.shape[-1] ** -0.5 if scale is None else scale
    s = masked(query @ t(key) * factor, attn_mask)
    if is_causal:
        s = masked(s, causal(query, key))
    return soft(s) @ value, soft(s)


def capped(query, key, value, softcap=None, key_padding_mask=None):
    s = dots(query, key)
    s = s if softcap is None else softcap * np.tanh(s / softcap)
    return (
        soft(masked(s, None if key_padding_mask is None else key_padding_mask[:, None, None]))
        @ value
    )


FIRST = "if the first query has the place of the first key"

RIGHT = {
    "loops": (loops, ["if arrays have 2 axes"]),
    "einsum": (einsum, [FIRST]),
    "as in PyTorch": (as_in_pytorch, [FIRST]),
    "softcap and padding": (capped, ["if arrays have 4 axes where there is padding"]),
    "mha": (mha.scaled_dot_product_attention, [FIRST]),
    "float64 in float32": (
        lambda q, k, v: (
            soft(dots(q.astype(np.float32), k.astype(np.float32))) @ v.astype(np.float32)
        ).astype(q.dtype),
        ["your function computes float64 with the digits of float32"],
    ),
    "four axes": (
        lambda q, k, v: np.einsum("bhij,bhjd->bhid", soft(dots(q, k)), v),
        ["if arrays have 4 axes"],
    ),
    "True hides": (
        lambda q, k, v, mask=None: (
            soft(masked(dots(q, k), mask if mask is None or mask.dtype != bool else ~mask)) @ v
        ),
        ["if True hides"],
    ),
    "truths alone": (
        lambda q, k, v, mask=None: (
            soft(dots(q, k) if mask is None else np.where(mask, dots(q, k), -INF)) @ v
        ),
        ["if a mask holds True and False: numbers are not added to the scores"],
    ),
    "bottom right": (
        lambda q, k, v, is_causal=False: (
            soft(masked(dots(q, k), causal(q, k, k.shape[-2] - q.shape[-2]) if is_causal else None))
            @ v
        ),
        ["if the last query has the place of the last key"],
    ),
    "causal always": (
        lambda q, k, v: soft(masked(dots(q, k), causal(q, k))) @ v,
        ["if it is causal always"],
    ),
    "causal if it is told nothing": (
        lambda q, k, v, is_causal=True: soft(
            masked(dots(q, k), causal(q, k) if is_causal else None)
        )
        @ v,
        [FIRST],
    ),
    "scale divides": (
        lambda q, k, v, scale=None: soft(q @ t(k) / (scale or q.shape[-1] ** 0.5)) @ v,
        ["if scores are divided by the scale that is given"],
    ),
    "a scale of its own": (lambda q, k, v: soft(q @ t(k) * 0.3) @ v,
                           ["if scores are multiplied by 0.3"]),
    "a temperature": (lambda q, k, v: soft(dots(q, k) / 2) @ v, ["if the scale is 0.5 ÷ √d_k"]),
    "heads behind tokens": (
        lambda q, k, v: np.einsum(
            "...hnm,...mhd->...nhd",
            soft(np.einsum("...nhd,...mhd->...hnm", q, k) / q.shape[-1] ** 0.5),
            v,
        ),
        ["if axes are (..., n, num_heads, d_k)", "if arrays have 3 or 4 axes"],
    ),
    "wider": (
        lambda q, k, v: (soft(dots(q, k)) @ v).astype(float),
        ["your function returns float64 where float32 is handed in"],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", RIGHT)
def test_a_right_function_is_right_and_its_conventions_are_told(name):
    function, conventions = RIGHT[name]
    report = mha.examine(function)
    assert report.ok, report
    assert [finding.convention for finding in report.findings] == conventions
    report.raise_if_wrong()


# ---- Layers, caches, positions ----


def layer(x, w_qkv, w_out, b_qkv, num_heads, attn_mask=None, key_padding_mask=None):
    wide = x @ w_qkv + b_qkv
    q, k, v = (parted(a, num_heads) for a in np.split(wide, 3, -1))
    s = masked(dots(q, k), attn_mask)
    if key_padding_mask is not None:
        s = np.where(key_padding_mask[..., None, None, :], -INF, s)
    return joined(soft(s) @ v) @ w_out


def grouped(x, w_q, w_k, w_v, w_o, num_heads, num_kv_heads, context=None, is_causal=False):
    c = x if context is None else context
    q, k, v = (
        parted(x @ w_q, num_heads),
        parted(c @ w_k, num_kv_heads),
        parted(c @ w_v, num_kv_heads),
    )
    k, v = (np.repeat(a, num_heads // num_kv_heads, -3) for a in (k, v))
    return joined(soft(masked(dots(q, k), causal(q, k) if is_causal else None)) @ v) @ w_o


def no_output(hidden_states, w_q, w_k, w_v, n_heads, angles=None):
    q, k, v = (parted(hidden_states @ w, n_heads) for w in (w_q, w_k, w_v))
    if angles is not None:
        q, k = mha.rotate_by(q, angles), mha.rotate_by(k, angles)
    return joined(soft(dots(q, k)) @ v)


def of_batches(x, w_qkv, w_o, num_heads):
    """Be causal always, as small GPTs are."""
    b, n, d = x.shape
    q, k, v = (a.reshape(b, n, num_heads, -1).swapaxes(1, 2) for a in np.split(x @ w_qkv, 3, -1))
    o = soft(np.where(np.tri(n, dtype=bool), dots(q, k), -INF)) @ v
    return o.swapaxes(1, 2).reshape(b, n, d) @ w_o


@pytest.mark.parametrize(
    ("function", "conventions"),
    [
        (layer, ["if True is padding"]),
        (of_batches, ["if arrays have 3 axes", "if it is causal always"]),
        (grouped, []),
        (no_output, []),
        (mha.multi_head_attention, []),
    ],
)
def test_a_right_layer_is_right(function, conventions):
    report = mha.examine_layer(function)
    assert report.ok, report
    assert [finding.convention for finding in report.findings] == conventions


def step(query, key, value, cache, positions):
    query, key = turned(query, positions), turned(key, positions)
    if cache is not None:
        key, value = np.concatenate([cache[0], key], -2), np.concatenate([cache[1], value], -2)
    s = np.where(causal(query, key, key.shape[-2] - query.shape[-2]), dots(query, key), -INF)
    return soft(s) @ value, (key, value)


def still(q, k, v, past):
    k, v = (x if past is None else np.concatenate([p, x], -2) for p, x in
            zip(past or (None, None), (k, v), strict=True))  # fmt: skip
    s = np.where(causal(q, k, k.shape[-2] - q.shape[-2]), dots(q, k), -INF)
    return soft(s) @ v, (k, v)


@pytest.mark.parametrize(
    ("function", "options"),
    [
        (step, {}),
        (still, {}),
        (lambda q, k, v, cache: step(q, k, v, cache, _places(cache, q)), {"rotary": True}),
        (mha.decode_step, {}),
    ],
)
def test_a_right_step_is_right(function, options):
    report = mha.examine_decoding(function, **options)
    assert report.ok, report
    assert not report.findings


def _places(cache, q):
    return np.arange(q.shape[-2]) + (0 if cache is None else cache[0].shape[-2])


@pytest.mark.parametrize(
    ("function", "options"),
    [
        (lambda x, positions, base=10000.0: turned(x, positions, base), {}),
        (lambda x, positions: turned(x, positions, layout="halves"), {"layout": "halves"}),
        (mha.rotate, {}),
        (mha.linear_biases, {}),
        (mha.linear_slopes, {}),
        # As published: a row's constant and what is later do not count.
        (
            lambda num_heads, n: (
                np.array(true_slopes(num_heads))[:, None, None] * np.arange(n) + np.zeros((n, 1))
            ),
            {},
        ),
        (lambda mask: (mask.cumsum(-1) - 1) * mask, {}),
    ],
)
def test_right_positions_are_right(function, options):
    report = mha.examine_positions(function, **options)
    assert report.ok, report
    told = [FIRST] if function is mha.linear_biases else []
    assert [finding.convention for finding in report.findings] == told


# ---- Bugs beside others ----


def test_nan_where_another_bug_leaves_nothing_is_told_beside_it():
    def attention(q, k, v, is_causal=False):
        s = np.where(causal(q, k, -1), dots(q, k), -INF) if is_causal else dots(q, k)
        e = np.exp(s - s.max(-1, keepdims=True))
        return e / e.sum(-1, keepdims=True) @ v

    report = mha.examine(attention)
    assert {finding.bug for finding in report.findings} == {
        "diagonal hidden",
        "NaN for nothing seen",
    }


def test_a_bug_under_another_convention_is_named_with_it():
    def attention(q, k, v, mask=None):
        s = q @ t(k)
        return soft(s if mask is None else masked(s, ~mask if mask.dtype == bool else mask)) @ v

    report = mha.examine(attention)
    found = {(finding.bug, finding.convention) for finding in report.findings}
    assert found == {("no scale", None), (None, "if True hides")}
