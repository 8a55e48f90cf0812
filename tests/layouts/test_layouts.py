"""Each layout stands where the book says: small cases by hand, and every layer there and back."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mha import AttentionLayer, MultiHeadWeights, layer_from_arrays, layer_to_arrays
from mha.layouts import LAYOUTS
from mha.layouts.axes import axes_of

# ---- By hand ----


def places(heads, rows, columns):
    """Return numbers that say where they belong: head, row of d_model or of d_v, column."""
    head, row, column = np.ogrid[1 : heads + 1, 1 : rows + 1, 1 : columns + 1]
    return 100 * head + 10 * row + column


BY_HEAD, OUT_BY_HEAD = places(2, 3, 2), places(2, 2, 3)
KERNEL = BY_HEAD.swapaxes(0, 1)
COLUMNS, OUT_COLUMNS = KERNEL.reshape(3, 4), OUT_BY_HEAD.reshape(4, 3)
ROWS, OUT_ROWS = COLUMNS.T, OUT_COLUMNS.T
BIAS = np.array([[11, 12], [21, 22]])
FLAT = BIAS.ravel()
# The first rows of a head in halves are 1 and 2, and those turned with them 3 and 4: in pairs
# they stand as 1, 3, 2, 4.
HALVES = np.array([[11], [12], [13], [14], [21], [22], [23], [24]])
PAIRS = np.array([[[11, 13, 12, 14]], [[21, 23, 22, 24]]])


def three(array, axis=0):
    """Return query, key and value beside each other: 1,000 is added to a key, 2,000 to a value."""
    return np.concatenate([array, 1000 + array, 2000 + array], axis=axis)


def apart(names, matrix, out, bias, ends=(".weight", ".bias")):
    """Return four matrices and four biases by name."""
    arrays = [matrix, 1000 + matrix, 2000 + matrix, out]
    biases = [bias, 1000 + bias, 2000 + bias, np.array([1, 2, 3])]
    full = [f"{name}{end}" for end in ends for name in names.split()]
    return dict(zip(full, arrays + biases, strict=True))


FUSED = {"c_proj.bias": np.array([1, 2, 3]), "c_attn.bias": three(FLAT)}
CASES = {
    "PyTorch": {
        **{"in_proj_weight": three(ROWS), "in_proj_bias": three(FLAT)},
        **{"out_proj.weight": OUT_ROWS, "out_proj.bias": np.array([1, 2, 3])},
    },
    "PyTorch, separate": {
        **{f"{x}_proj_weight": 1000 * i + ROWS for i, x in enumerate("qkv")},
        **{"in_proj_bias": three(FLAT), "out_proj.weight": OUT_ROWS},
        "out_proj.bias": np.array([1, 2, 3]),
    },
    "GPT-2": FUSED | {"c_attn.weight": three(COLUMNS, 1), "c_proj.weight": OUT_COLUMNS},
    "fused Linear": FUSED | {"c_attn.weight": three(ROWS), "c_proj.weight": OUT_ROWS},
    "BERT": apart("self.query self.key self.value output.dense", ROWS, OUT_ROWS, FLAT),
    "BART": apart("q_proj k_proj v_proj out_proj", ROWS, OUT_ROWS, FLAT),
    "Keras": apart(
        "query key value attention_output", KERNEL, OUT_BY_HEAD, BIAS, ("/kernel", "/bias")
    ),
    "Flax": apart("query key value out", KERNEL, OUT_BY_HEAD, BIAS, (".kernel", ".bias")),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_a_layout_by_hand_is_read_and_another_s_layer_is_written_in_it(name):
    heads = {} if name in ("Keras", "Flax") else {"num_heads": 2}
    layer = layer_from_arrays({f"h.3.{own}": x for own, x in CASES[name].items()}, **heads)
    assert (layer.layout, layer.prefix, layer.scale) == (name, "h.3.", None)
    assert layer.is_causal == (name in ("GPT-2", "fused Linear"))
    weights = layer.weights
    for i, (matrix, bias) in enumerate((("w_q", "b_q"), ("w_k", "b_k"), ("w_v", "b_v"))):
        np.testing.assert_array_equal(getattr(weights, matrix), 1000 * i + BY_HEAD)
        np.testing.assert_array_equal(getattr(weights, bias), 1000 * i + BIAS)
    np.testing.assert_array_equal(weights.w_o, OUT_COLUMNS)
    np.testing.assert_array_equal(weights.b_o, [1, 2, 3])
    back = layer_to_arrays(layer_from_arrays(CASES["BERT"], num_heads=2), name)
    assert set(back) == set(CASES[name])
    for own, array in back.items():
        np.testing.assert_array_equal(array, CASES[name][own], own)


def test_llama_by_hand():
    arrays = {"q_proj.weight": HALVES, "k_proj.weight": 1000 + HALVES[:4]}
    arrays |= {"v_proj.weight": [[5], [6], [7]], "o_proj.weight": [[1, 2, 3, 4, 5, 6]]}
    arrays |= {"q_norm.weight": [1, 2, 3, 4], "k_norm.weight": [5, 6, 7, 8]}
    arrays["rotary_emb.inv_freq"] = [1.0, 0.1]
    layer = layer_from_arrays(arrays, base=100.0, eps=1e-5)  # the norms tell the heads' width
    np.testing.assert_array_equal(layer.weights.w_q, PAIRS)
    np.testing.assert_array_equal(layer.weights.w_k, 1000 + PAIRS[:1])
    np.testing.assert_array_equal(layer.weights.w_v, [[[5, 6, 7]]])
    np.testing.assert_array_equal(layer.weights.w_o[:, 0], [1, 2, 3, 4, 5, 6])
    np.testing.assert_array_equal(layer.query_norm, [1, 3, 2, 4])
    np.testing.assert_array_equal(layer.key_norm, [5, 7, 6, 8])
    assert (layer.layout, layer.base, layer.eps, layer.is_causal) == ("Llama", 100.0, 1e-5, True)


@pytest.mark.parametrize("side", ["encoder", "decoder"])
def test_t5_by_hand(side):
    arrays = {"q.weight": ROWS, "k.weight": 1000 + ROWS, "v.weight": 2000 + ROWS}
    arrays["o.weight"] = OUT_ROWS
    arrays["relative_attention_bias.weight"] = [[1, 5], [2, 6], [3, 7], [4, 8]]
    prefix = f"{side}.block.0.layer.0.SelfAttention."
    layer = layer_from_arrays({prefix + name: x for name, x in arrays.items()})
    np.testing.assert_array_equal(layer.weights.w_v, 2000 + BY_HEAD)
    np.testing.assert_array_equal(layer.weights.w_o, OUT_COLUMNS)
    assert (layer.layout, layer.scale, layer.is_causal) == ("T5", 1.0, side == "decoder")
    # Ranges of one key each: its own place and, for an encoder, one of earlier and two of later.
    own, before, after = (1, 2, 4) if side == "encoder" else (1, 2, 1)
    np.testing.assert_array_equal(layer.position_bias(2, 2)[0], [[own, after], [before, own]])


# ---- There and back ----

SIZES = {"p": 3, "h": 3, "g": 3, "m": 7, "c": 7, "k": 4, "v": 5, "o": 11, "r": 13}


@st.composite
def layers(draw):
    """Draw a layer of any layout with distinct sizes, and what tells its heads and its base."""
    layout = LAYOUTS[draw(st.sampled_from(list(LAYOUTS)))]
    groups = draw(st.sampled_from([1, 3])) if "g" in str(layout.parts.values()) else 3
    if "b_qkv" in layout.parts:
        groups = 3
    is_separate = layout.name == "PyTorch, separate"
    sizes = SIZES | {"g": groups, "c": 2 if is_separate else 7, "v": 4 if is_separate else 5}
    rng = np.random.default_rng(draw(st.integers(0, 999)))
    dtype = draw(st.sampled_from([np.float32, np.float64]))
    optional = [part for part in layout.parts if not part.startswith("w_")]
    left_out = draw(st.sets(st.sampled_from([p for p in optional if "b_" in p] or [None])))
    left_out |= {part for part in ("query_norm", "key_norm") if draw(st.booleans())}
    prefix = draw(st.sampled_from(["", "model.layers.3."]))
    arrays = {}
    for part, (name, pattern) in layout.parts.items():
        shape = [np.prod([sizes[x] for x in axis]) for axis in axes_of(pattern)]
        if part not in left_out:
            arrays[prefix + name] = rng.normal(size=shape).astype(dtype)
    return layout, arrays, {"num_heads": 3} | ({"base": 10.0} if layout.halves else {})


@given(layers())
def test_a_layer_is_written_back_as_it_was(drawn):
    layout, arrays, options = drawn
    layer = layer_from_arrays(arrays, **options)
    assert layer.layout == layout.name
    back = layer_to_arrays(layer)
    assert set(back) == set(arrays)
    for name, array in back.items():
        assert array.dtype == arrays[name].dtype
        np.testing.assert_array_equal(array, arrays[name])


# ---- What is refused ----

PACKED = CASES["PyTorch"]
TWO = {f"{side}.{name}": x for side in "ab" for name, x in PACKED.items()}
LLAMA = {f"{x}_proj.weight": np.ones((8, 8)) for x in "qkvo"}
HEADS_TOLD = {"num_heads": 2}


@pytest.mark.parametrize(
    ("arrays", "options", "cause"),
    [
        ({"w.weight": np.ones(3)}, {"layout": "BERT"}, "arrays has w.weight; .* names in BERT"),
        (TWO, HEADS_TOLD, "arrays has 2 attention layers, at 'a.' .*; within= is wanted"),
        (PACKED | {"bias_k": np.ones(1)}, HEADS_TOLD, "arrays has bias_k, which .* has not"),
        (PACKED, {}, "num_heads cannot be known .* PyTorch; num_heads= is wanted"),
        (PACKED, {"num_heads": 3}, "in_proj_weight has shape .12, 3.; .* with num_heads 3"),
        (PACKED | {"in_proj_bias": np.ones(15)}, HEADS_TOLD, "in_proj_bias has shape .15,.; .*2"),
        (LLAMA, HEADS_TOLD, "base cannot be known .* Llama; base= is wanted"),
        (PACKED, HEADS_TOLD | {"base": 9.0}, "base is 9.0, but PyTorch turns nothing"),
        (PACKED, {"layout": "Bart"}, f"layout is 'Bart'; one of {', '.join(LAYOUTS)} is wanted"),
    ],
)  # fmt: skip
def test_arrays_that_are_no_layer_are_refused(arrays, options, cause):
    with pytest.raises(ValueError, match=f"^{cause}"):
        layer_from_arrays(arrays, **options)


ONE = np.eye(2)[None]
PLAIN = MultiHeadWeights(ONE, ONE, ONE, np.eye(2))
TWO_HEADS = MultiHeadWeights(ONE.repeat(2, 0), ONE, ONE, np.ones((4, 2)))


@pytest.mark.parametrize(
    ("layer", "layout", "cause"),
    [
        (AttentionLayer(PLAIN), None, f"layout is ''; one of {', '.join(LAYOUTS)} is wanted"),
        (AttentionLayer(MultiHeadWeights(ONE, ONE, ONE)), "GPT-2", "layer has no w_o"),
        (AttentionLayer(PLAIN, query_norm=[1, 1]), "GPT-2", "layer has query_norm"),
        (AttentionLayer(PLAIN), "T5", "layer scales by 0.7071; T5 scales by 1"),
        (AttentionLayer(PLAIN, base=9.0), "BERT", "layer turns queries and keys"),
        (AttentionLayer(TWO_HEADS), "GPT-2", "layer has w_q, w_k, w_v of which some are missing"),
    ],
)
def test_a_layer_that_a_layout_cannot_hold_is_refused(layer, layout, cause):
    with pytest.raises(ValueError, match=f"^{cause}"):
        layer_to_arrays(layer, layout)
