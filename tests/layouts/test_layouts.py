"""Layouts, the array names of layers: against handwritten layers, round trips, and files."""

import json
from dataclasses import replace

import numpy as np
import pytest
from helpers import BATCH, D_MODEL, HEADS, KEYS, QUERIES, random_layer

import mha
from mha.core.norm import rms_norm
from mha.layouts import LATENT, LAYOUTS, layer_from_arrays, layer_to_arrays

# ---- By hand, and back ----


def places(heads, rows, columns):
    """Return numbers that encode their place: head, row of d_model or of d_v, and column."""
    head, row, column = np.ogrid[1 : heads + 1, 1 : rows + 1, 1 : columns + 1]
    return 100 * head + 10 * row + column


BY_HEAD, OUT_BY_HEAD = places(2, 3, 2), places(2, 2, 3)
KERNEL = BY_HEAD.swapaxes(0, 1)
COLUMNS, OUT_COLUMNS = KERNEL.reshape(3, 4), OUT_BY_HEAD.reshape(4, 3)
ROWS, OUT_ROWS = COLUMNS.T, OUT_COLUMNS.T
BIAS = np.array([[11, 12], [21, 22]])
FLAT, OUT_BIAS = BIAS.ravel(), np.array([1, 2, 3])


def fused_qkv(array, axis=0):
    """Return query, key and value side by side, with 1,000 added to keys and 2,000 to values."""
    return np.concatenate([array, 1000 + array, 2000 + array], axis=axis)


def separate(names, matrix, out, bias, ends=(".weight", ".bias")):
    """Return four matrices and four biases by name."""
    arrays = [matrix, 1000 + matrix, 2000 + matrix, out]
    biases = [bias, 1000 + bias, 2000 + bias, OUT_BIAS]
    full = [f"{name}{end}" for end in ends for name in names.split()]
    return dict(zip(full, arrays + biases, strict=True))


PACKED = {"in_proj_bias": fused_qkv(FLAT), "out_proj.weight": OUT_ROWS, "out_proj.bias": OUT_BIAS}
FUSED = {"c_proj.bias": OUT_BIAS, "c_attn.bias": fused_qkv(FLAT)}
CASES = {
    "PyTorch": PACKED | {"in_proj_weight": fused_qkv(ROWS)},
    "PyTorch, separate": PACKED
    | {f"{x}_proj_weight": 1000 * i + ROWS for i, x in enumerate("qkv")},
    "GPT-2": FUSED | {"c_attn.weight": fused_qkv(COLUMNS, 1), "c_proj.weight": OUT_COLUMNS},
    "fused Linear": FUSED | {"c_attn.weight": fused_qkv(ROWS), "c_proj.weight": OUT_ROWS},
    "BERT": separate("self.query self.key self.value output.dense", ROWS, OUT_ROWS, FLAT),
    "BART": separate("q_proj k_proj v_proj out_proj", ROWS, OUT_ROWS, FLAT),
    "Keras": separate(
        "query key value attention_output", KERNEL, OUT_BY_HEAD, BIAS, ("/kernel", "/bias")
    ),
    "Flax": separate("query key value out", KERNEL, OUT_BY_HEAD, BIAS, (".kernel", ".bias")),
}
TWO_HEADS = {"num_heads": 2}
STATED = {"fused Linear", "BART"}  # other layouts have the same names and shapes


def assert_same(found, wanted):
    """Assert that arrays by name are equal."""
    assert set(found) == set(wanted)
    for name, array in wanted.items():
        np.testing.assert_array_equal(found[name], array, name)


@pytest.mark.parametrize("name", CASES)
def test_a_layout_by_hand_is_read_and_another_s_layer_is_written_in_it(name):
    options = {} if name in ("Keras", "Flax") else TWO_HEADS
    options = options | ({"layout": name} if name in STATED else {})
    arrays = {f"h.3.{own}": array.astype(np.float32) for own, array in CASES[name].items()}
    layer = layer_from_arrays(arrays, **options)
    assert (layer.layout, layer.prefix, layer.scale) == (name, "h.3.", None)
    assert layer.is_causal == (name in ("GPT-2", "fused Linear"))
    wanted = {"w_o": OUT_COLUMNS, "b_o": OUT_BIAS}
    for i, letter in enumerate("qkv"):
        wanted |= {f"w_{letter}": 1000 * i + BY_HEAD, f"b_{letter}": 1000 * i + BIAS}
    assert_same(layer.weights.arrays, wanted)
    assert_same(layer_to_arrays(layer_from_arrays(CASES["BERT"], num_heads=2), name), CASES[name])
    for left_out in ["", *(own for own in arrays if "bias" in own)]:
        some = {own: array for own, array in arrays.items() if own != left_out}
        back = layer_to_arrays(layer_from_arrays(some, **options))
        assert_same(back, some)
        assert {array.dtype for array in back.values()} == {np.dtype(np.float32)}


def test_llama_with_norms_by_hand():
    # In halves, rows 1 and 2 of a head are rotated with rows 3 and 4. In pairs the same rows have
    # the order 1, 3, 2, 4.
    halves = np.array([[11], [12], [13], [14], [21], [22], [23], [24]])
    pairs = np.array([[[11, 13, 12, 14]], [[21, 23, 22, 24]]])
    arrays = {"q_proj.weight": halves, "k_proj.weight": 1000 + halves[:4]}
    arrays |= {"v_proj.weight": [[5], [6], [7]], "o_proj.weight": [[1, 2, 3, 4, 5, 6]]}
    arrays |= {"q_norm.weight": [1, 2, 3, 4], "k_norm.weight": [5, 6, 7, 8]}
    speeds = {"rotary_emb.inv_freq": [1.0, 0.1]}
    layer = layer_from_arrays(arrays | speeds, layout="Qwen3", base=100.0, eps=1e-5)
    # The size of the norms determines d_k.
    np.testing.assert_array_equal(layer.weights.w_q, pairs)
    np.testing.assert_array_equal(layer.weights.w_k, 1000 + pairs[:1])
    np.testing.assert_array_equal(layer.weights.w_v, [[[5, 6, 7]]])
    np.testing.assert_array_equal(layer.weights.w_o[:, 0], [1, 2, 3, 4, 5, 6])
    np.testing.assert_array_equal(layer.query_norm, [1, 3, 2, 4])
    np.testing.assert_array_equal(layer.key_norm, [5, 7, 6, 8])
    assert (layer.layout, layer.base, layer.eps, layer.is_causal) == ("Qwen3", 100.0, 1e-5, True)
    assert_same(layer_to_arrays(layer), arrays)
    del arrays["k_norm.weight"]
    with pytest.raises(ValueError, match=r"^arrays at '' have no k_norm.weight, .* of Qwen3"):
        layer_from_arrays(arrays, layout="Qwen3", base=100.0)
    with pytest.raises(ValueError, match=r"^arrays has q_norm.weight, which .* Llama does not"):
        layer_from_arrays(arrays, layout="Llama", num_heads=2, base=100.0)


@pytest.mark.parametrize("side", ["encoder", "decoder"])
def test_t5_by_hand(side):
    arrays = {"q.weight": ROWS, "k.weight": 1000 + ROWS, "v.weight": 2000 + ROWS}
    arrays["o.weight"] = OUT_ROWS
    arrays["relative_attention_bias.weight"] = [[1, 5], [2, 6], [3, 7], [4, 8]]
    prefix = f"{side}.block.0.layer.0.SelfAttention."
    arrays = {prefix + name: x for name, x in arrays.items()}
    layer = layer_from_arrays(arrays)
    np.testing.assert_array_equal(layer.weights.w_v, 2000 + BY_HEAD)
    np.testing.assert_array_equal(layer.weights.w_o, OUT_COLUMNS)
    assert (layer.layout, layer.scale, layer.is_causal) == ("T5", 1.0, side == "decoder")
    assert_same(layer_to_arrays(layer), arrays)
    del arrays[f"{prefix}relative_attention_bias.weight"]
    with pytest.raises(
        ValueError, match=r"have no relative_attention_bias.weight, .* of T5 .* shares"
    ):
        layer_from_arrays(arrays, num_heads=2)


PYTORCH, ONE = CASES["PyTorch"], np.eye(2)[None]
NAMES = ", ".join([*LAYOUTS, *LATENT])
SMALL = {"w_q": ONE, "w_k": ONE, "w_v": ONE, "w_o": np.eye(2)}
GROUPED = SMALL | {"w_q": ONE.repeat(2, 0), "w_o": np.ones((4, 2))}
TWICE = {f"{side}.{name}": x for side in "ab" for name, x in PYTORCH.items()}
LLAMA = {f"{x}_proj.weight": np.ones((8, 8)) for x in "qkvo"}


def read(arrays, num_heads=2, **options):
    return layer_from_arrays(arrays, num_heads=num_heads, **options)


def layer(weights=SMALL, **parts):
    return mha.AttentionLayer(mha.MultiHeadWeights(**weights), **parts)


@pytest.mark.parametrize(
    ("call", "cause"),
    [
        (lambda: read({"w": 1}, layout="BERT"), "arrays has w; the matrices .* names in BERT"),
        (lambda: read(TWICE), "arrays has 2 attention layers, at 'a.' .*; within= is wanted"),
        (
            lambda: read(PYTORCH | {"bias_k": 1}),
            "arrays has bias_k, which .* PyTorch does not",
        ),
        (lambda: read(PYTORCH, None), "num_heads does not follow .* PyTorch; num_heads= is"),
        (lambda: read(PYTORCH, 3), "in_proj_weight has shape .12, 3.; .* with num_heads 3"),
        (lambda: read(PYTORCH | {"in_proj_bias": [1] * 15}), "in_proj_bias has shape .15,.; .*2"),
        (lambda: read(LLAMA, layout="Llama"), "base does not follow .* Llama; base= is wanted"),
        (lambda: read(PYTORCH, base=9.0), "base is 9.0, but PyTorch has no rotation"),
        (lambda: read(PYTORCH, layout="Bart"), f"layout is 'Bart'; one of {NAMES} is wanted"),
        (
            lambda: layer_to_arrays(layer()),
            f"layout is ''; one of {', '.join(LAYOUTS)} is wanted",
        ),
        (lambda: layer_to_arrays(layer(SMALL | {"w_o": None}), "GPT-2"), "layer has no w_o"),
        (lambda: layer_to_arrays(layer(query_norm=[1, 1]), "GPT-2"), "layer has query_norm"),
        (lambda: layer_to_arrays(layer(), "T5"), "layer scales by 0.7071; T5 scales by 1"),
        (lambda: layer_to_arrays(layer(base=9.0), "BERT"), "layer rotates queries and keys"),
        (lambda: layer_to_arrays(layer(GROUPED), "GPT-2"), "layer has w_q, w_k, w_v of which"),
        (
            lambda: layer(query_norm=[1]),
            "query_norm has shape .1,.; .* per column of a head, 2",
        ),
        (
            lambda: layer(relative_bias=np.ones((3, 5))),
            "relative_bias has shape .3, 5.; one ",
        ),
        (lambda: layer(eps=-1.0), "eps is -1.0; a number of at least 0 is wanted"),
        (lambda: layer(base=0.0), "base is 0.0; a number above 0 is wanted"),
    ],
)
def test_arrays_of_no_layer_or_no_layout_are_refused(call, cause):
    with pytest.raises(ValueError, match=f"^{cause}"):
        call()


# ---- In files ----

DTYPES = {np.float64: "F64", np.float32: "F32", np.float16: "F16", np.int64: "I64"}


def write_file(path, arrays, *, upper_halves=()):
    """Write a safetensors file by its specification: header length, header, numbers."""
    head, body = {"__metadata__": {"format": "pt"}}, b""
    for name, array in arrays.items():
        data, dtype = array.tobytes(), DTYPES[array.dtype.type]
        if name in upper_halves:
            data, dtype = (array.view("<u4") >> 16).astype("<u2").tobytes(), "BF16"
        place = [len(body), len(body) + len(data)]
        head[name] = {"dtype": dtype, "shape": array.shape, "data_offsets": place}
        body += data
    start = json.dumps(head).encode()
    path.write_bytes(len(start).to_bytes(8, "little") + start + body)
    return path


def gpt2(rng, number, dtype=np.float32):
    shapes = {"c_attn.weight": (6, 18), "c_proj.weight": (6, 6), "c_proj.bias": (6,)}
    arrays = {name: rng.normal(size=shape).astype(dtype) for name, shape in shapes.items()}
    return {f"transformer.h.{number}.attn.{name}": x for name, x in arrays.items()}


def test_a_layer_is_found_by_its_number_in_numbers_of_any_bits(rng, tmp_path):
    half, upper, full = gpt2(rng, 0, np.float16), gpt2(rng, 1), gpt2(rng, 11)
    upper = {name: (x.view("<u4") & 0xFFFF0000).view("<f4") for name, x in upper.items()}
    arrays = {"transformer.wte.weight": np.ones((5, 6), np.float32)} | half | upper | full
    path = write_file(tmp_path / "model.safetensors", arrays, upper_halves=upper)
    for number in (0, 1, 11):
        layer = mha.read_layer(str(path), number, num_heads=2)
        assert (layer.layout, layer.prefix) == ("GPT-2", f"transformer.h.{number}.attn.")
        assert layer.weights.w_o.dtype == np.float32
        np.testing.assert_array_equal(layer.weights.w_o, arrays[f"{layer.prefix}c_proj.weight"])
        fused = arrays[f"{layer.prefix}c_attn.weight"]
        np.testing.assert_array_equal(layer.weights.w_v[1], fused[:, 15:])
    with pytest.raises(ValueError, match=r"^model.safetensors has no .* 2; .*layers 0, 1, 11$"):
        mha.read_layer(path, 2, num_heads=2)


def test_the_relative_bias_of_the_first_layer_is_that_of_all(rng, tmp_path):
    own = [f"{side}.block.{i}.layer.0.SelfAttention" for side in ("encoder", "decoder")
           for i in (0, 1)]  # fmt: skip
    at = (*own, "decoder.block.1.layer.1.EncDecAttention")
    arrays = {f"{place}.{x}.weight": rng.normal(size=(6, 6)) for place in at for x in "qkvo"}
    for side in ("encoder", "decoder"):
        name = f"{side}.block.0.layer.0.SelfAttention.relative_attention_bias.weight"
        arrays[name] = rng.normal(size=(8, 3))
    path = write_file(tmp_path / "t5.safetensors", arrays)
    layer = mha.read_layer(path, 1, within="decoder.block.1.layer.0")
    np.testing.assert_array_equal(layer.relative_bias, arrays[name])
    assert layer.is_causal
    assert layer.weights.num_heads == 3
    cross = mha.read_layer(path, 1, num_heads=2, within="EncDec")
    assert (cross.relative_bias, cross.is_causal) == (None, False)
    with pytest.raises(ValueError, match=r"^t5.safetensors has 3 attention layers, .*EncDecAtt"):
        mha.read_layer(path, 1)


def test_files_that_are_broken_or_hold_something_else_are_refused(rng, tmp_path):
    path, arrays = tmp_path / "model.safetensors", gpt2(rng, 0)
    whole = write_file(path, arrays).read_bytes()
    for content, cause in (
        (whole[:-20], "model.safetensors ends before transformer.h.0.attn.c_proj.bias does"),
        (b"", "model.safetensors is not a safetensors file"),
        ((3).to_bytes(8, "little") + b"[1]", "model.safetensors is not a safetensors file"),
    ):
        path.write_bytes(content)
        with pytest.raises(ValueError, match=f"^{cause}"):
            mha.read_layer(path, 0, num_heads=2)
    write_file(path, {name: x.astype(np.int64) for name, x in arrays.items()})
    with pytest.raises(TypeError, match=r"^transformer.h.0.attn.c_attn.weight has dtype I64; "):
        mha.read_layer(path, 0, num_heads=2)
    write_file(path, {f"mixer.{i}.in_proj.weight": np.ones(2) for i in range(8)})
    with pytest.raises(ValueError, match=r"^model.safetensors has mixer.\{0..7\}.in_proj.weight; "):
        mha.read_layer(path, 0)


# ---- Settings of a layer besides its weights ----


@pytest.fixture
def own(rng):
    """Return the weights of a layer whose heads have six columns."""
    return random_layer(rng, groups=1, biases=True, d_k=6, d_v=6, d_out=D_MODEL)


def test_a_bare_layer_is_multi_head_attention(rng, own):
    x, context = rng.normal(size=(BATCH, QUERIES, D_MODEL)), rng.normal(size=(KEYS, D_MODEL))
    layer, mask = mha.AttentionLayer(own), rng.random((QUERIES, KEYS)) < 0.7
    causal = replace(layer, is_causal=True)
    for options in ({}, {"context": context, "mask": mask}, {"is_causal": True}):
        wanted = mha.multi_head_attention(x, own, **options)
        np.testing.assert_array_equal(layer(x, **options), wanted)
    np.testing.assert_array_equal(causal(x), wanted)
    np.testing.assert_array_equal(causal(x, is_causal=False), layer(x))
    by_root = mha.AttentionLayer(own, scale=6**-0.5)
    np.testing.assert_allclose(by_root(x), layer(x), rtol=1e-12)
    assert not np.allclose(mha.AttentionLayer(own, scale=1.0)(x), layer(x))


def test_norms_and_rotation_one_query_at_a_time(rng, own):
    x, gains = rng.normal(size=(QUERIES, D_MODEL)), rng.normal(size=(2, 6))
    layer = mha.AttentionLayer(own, query_norm=gains[0], key_norm=gains[1], eps=0.5, base=9.0)

    def made(rows, gain):
        normed = rows / np.sqrt((rows**2).mean(axis=-1, keepdims=True) + 0.5) * gain
        return mha.rotate(normed, np.arange(QUERIES), base=9.0)

    key, value = made(x @ own.w_k[0] + own.b_k[0], gains[1]), x @ own.w_v[0] + own.b_v[0]
    queries = [made(x @ own.w_q[head] + own.b_q[head], gains[0]) for head in range(HEADS)]
    heads = [mha.scaled_dot_product_attention(query, key, value) for query in queries]
    wanted = np.concatenate(heads, axis=-1) @ own.w_o + own.b_o
    np.testing.assert_allclose(layer(x), wanted, rtol=1e-10)
    later = mha.rotary_angles(np.arange(QUERIES) + 40, 6, base=9.0)
    np.testing.assert_allclose(layer(x, angles=later), layer(x), rtol=1e-9)
    assert not np.allclose(layer(x, angles=0 * later), layer(x))
    narrow = {name: array.astype(np.float32) for name, array in own.arrays.items()}
    layer = replace(layer, weights=mha.MultiHeadWeights(**narrow))
    assert layer(x.astype(np.float32)).dtype == np.float32
    with pytest.raises(ValueError, match=r"^angles .*; no context is wanted"):
        layer(x, context=x)
    with pytest.raises(ValueError, match=r"^a row's numbers overflow float64 when squared"):
        rms_norm(np.array([[1e200, 0.0]]), np.array([np.inf, 1.0]), 0.0)


@pytest.mark.parametrize("is_causal", [False, True])
def test_relative_biases_are_a_mask_of_numbers(rng, own, is_causal):
    x, table = rng.normal(size=(BATCH, QUERIES, D_MODEL)), rng.normal(size=(8, HEADS))
    layer = mha.AttentionLayer(own, relative_bias=table, is_causal=is_causal)
    bias = layer.position_bias(QUERIES, QUERIES)
    for i, j in np.ndindex(QUERIES, QUERIES):
        # Half of the four or eight buckets hold one distance each; the wider buckets follow them.
        each, start = (4, 0) if is_causal else (2, 4 * (j > i))
        distance = max(i - j, 0) if is_causal else abs(i - j)
        np.testing.assert_array_equal(bias[:, i, j], table[start + min(distance, each)])
    wanted = mha.multi_head_attention(x, own, mask=bias[None], is_causal=is_causal)
    np.testing.assert_allclose(layer(x), wanted, rtol=1e-10)
    padding = mha.padding_mask([3, QUERIES], QUERIES)[:, None]
    both = np.where(padding, bias, -np.inf)
    wanted = mha.multi_head_attention(x, own, mask=both, is_causal=is_causal)
    np.testing.assert_allclose(layer(x, mask=padding), wanted, rtol=1e-10)
