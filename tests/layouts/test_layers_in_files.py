"""A layer is found in a file by its names, and what cannot be read gets a sentence."""

import json

import numpy as np
import pytest

from mha import read_layer

DTYPES = {np.float64: "F64", np.float32: "F32", np.float16: "F16", np.int64: "I64"}


def written(path, arrays, *, upper_halves=()):
    """Write a file as the format says: the head's length, the head, the numbers."""
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
    shapes = {"c_attn.weight": (6, 18), "c_attn.bias": (18,)}
    shapes |= {"c_proj.weight": (6, 6), "c_proj.bias": (6,)}
    arrays = {name: rng.normal(size=shape).astype(dtype) for name, shape in shapes.items()}
    return {f"transformer.h.{number}.attn.{name}": x for name, x in arrays.items()}


@pytest.fixture
def model(rng, tmp_path):
    """Return a file of a small GPT-2 of twelve layers, and the arrays in it."""
    arrays = {"transformer.wte.weight": np.ones((5, 6), np.float32)}
    for number in range(12):
        arrays |= gpt2(rng, number)
    return written(tmp_path / "model.safetensors", arrays), arrays


def test_a_layer_is_found_by_its_number(model):
    path, arrays = model
    layer = read_layer(path, 3, num_heads=2)
    assert (layer.layout, layer.prefix) == ("GPT-2", "transformer.h.3.attn.")
    fused = arrays["transformer.h.3.attn.c_attn.weight"]
    np.testing.assert_array_equal(layer.weights.w_v[1], fused[:, 15:])
    assert layer.weights.w_q.dtype == np.float32
    assert read_layer(str(path), layer=11, num_heads=2).prefix == "transformer.h.11.attn."


def test_numbers_of_sixteen_bits_are_read(rng, tmp_path):
    half, upper = gpt2(rng, 0, np.float16), gpt2(rng, 1)
    upper = {name: (x.view("<u4") & 0xFFFF0000).view("<f4") for name, x in upper.items()}
    path = written(tmp_path / "halves.safetensors", half | upper, upper_halves=upper)
    for number, arrays in enumerate((half, upper)):
        weights = read_layer(path, number, num_heads=2).weights
        assert weights.w_o.dtype == np.float32
        np.testing.assert_array_equal(
            weights.w_o, arrays[f"transformer.h.{number}.attn.c_proj.weight"]
        )


def test_the_relative_bias_of_the_first_layer_is_that_of_all(rng, tmp_path):
    own = [f"{side}.block.{i}.layer.0.SelfAttention" for side in ("encoder", "decoder")
           for i in (0, 1)]  # fmt: skip
    places = (*own, "decoder.block.1.layer.1.EncDecAttention")
    arrays = {f"{place}.{x}.weight": rng.normal(size=(6, 6)) for place in places for x in "qkvo"}
    for side in ("encoder", "decoder"):
        name = f"{side}.block.0.layer.0.SelfAttention.relative_attention_bias.weight"
        arrays[name] = rng.normal(size=(8, 3))
    path = written(tmp_path / "t5.safetensors", arrays)
    layer = read_layer(path, 1, within="decoder.block.1.layer.0")
    np.testing.assert_array_equal(layer.relative_bias, arrays[name])
    assert layer.is_causal
    assert layer.weights.num_heads == 3
    cross = read_layer(path, 1, num_heads=2, within="EncDec")
    assert (cross.relative_bias, cross.is_causal) == (None, False)
    with pytest.raises(ValueError, match=r"^t5.safetensors has 3 attention layers, .*EncDecAtt"):
        read_layer(path, 1)


def test_what_cannot_be_found_is_said_with_what_is_there(model, tmp_path):
    path, _ = model
    numbers = ", ".join(map(str, range(12)))
    with pytest.raises(ValueError, match=f"^model.safetensors has no .* 12; .*layers {numbers}$"):
        read_layer(path, 12, num_heads=2)
    other = {f"mixer.{i}.in_proj.weight": np.ones(2) for i in range(8)}
    written(tmp_path / "other.safetensors", other)
    sentence = r"^other.safetensors has mixer.0.in_proj.weight, .* and 2 more; the matrices of an"
    with pytest.raises(ValueError, match=sentence):
        read_layer(tmp_path / "other.safetensors", 0)


def test_files_that_are_broken_are_refused(model):
    path, arrays = model
    whole = path.read_bytes()
    started = (3).to_bytes(8, "little") + b"[1]"
    for content, cause in (
        (whole[:-200], "ends before transformer.h.11.attn.c_proj.weight does"),
        (b"", "is no file of safetensors"),
        (b"PK\x03\x04" * 9, "is no file of safetensors"),
        (started, "is no file of safetensors"),
    ):
        path.write_bytes(content)
        with pytest.raises(ValueError, match=f"^model.safetensors {cause}"):
            read_layer(path, 11, num_heads=2)
    written(path, {name: x.astype(np.int64) for name, x in arrays.items()})
    with pytest.raises(TypeError, match=r"^transformer.h.0.attn.c_attn.weight has dtype I64; "):
        read_layer(path, 0, num_heads=2)
