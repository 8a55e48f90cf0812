"""The frameworks' layers are read, give the frameworks' outputs, and are written unchanged."""

import numpy as np
import pytest
import torch
from framework_layers import LAYERS
from safetensors.torch import save_file

import mha
from mha.layouts import layer_from_arrays, layer_to_arrays

N, BATCH = 11, 2
TOLERANCE = 1e-5


@pytest.fixture(params=LAYERS)
def theirs(request):
    return LAYERS[request.param]()


@pytest.fixture
def numbers(theirs, rng):
    """Return random arrays for a layer, including norms, biases and gains."""
    drawn = {name: rng.normal(size=shape) / 3 for name, shape in theirs.shapes.items()}
    return {name: array.astype(np.float32) for name, array in drawn.items()}


@pytest.fixture
def ours(theirs, numbers):
    arrays = {theirs.prefix + name: array for name, array in numbers.items()}
    return layer_from_arrays(arrays, **theirs.options)


def masks(rng):
    """Return masks that allow each query a key: all keys, padding, and a random mask."""
    everything = np.ones((BATCH, 1, N, N), bool)
    padding = mha.padding_mask([N, N - 3], N)[:, None] & everything
    return everything, padding, (rng.random(everything.shape) < 0.6) | np.eye(N, dtype=bool)


def test_a_layer_s_output_is_the_framework_s(theirs, numbers, ours, rng):
    assert (ours.layout, ours.is_causal) == (theirs.layout, theirs.is_causal)
    x, beside = rng.normal(size=(BATCH, N, theirs.d_model)).astype(np.float32), {}
    if theirs.d_context:
        beside["context"] = rng.normal(size=(BATCH, N, theirs.d_context)).astype(np.float32)
    for mask in masks(rng):
        seen = mask & np.tri(N, dtype=bool) if theirs.is_causal else mask
        wanted = theirs.output(numbers, x, seen, **beside)
        assert np.ptp(wanted) > 1
        found = ours(x, mask=mask, **beside)
        assert found.dtype == wanted.dtype == np.float32
        np.testing.assert_allclose(found, wanted, rtol=TOLERANCE, atol=TOLERANCE)


def test_it_is_written_back_to_the_same_arrays(theirs, numbers, ours):
    back = layer_to_arrays(ours)
    assert set(back) == {theirs.prefix + name for name in numbers if "LayerNorm" not in name}
    for name, array in back.items():
        assert array.dtype == np.float32
        np.testing.assert_array_equal(array, numbers[name.removeprefix(theirs.prefix)], name)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16])
def test_a_file_that_safetensors_wrote_is_read(tmp_path, dtype):
    theirs = LAYERS["Llama"]()
    tensors = {
        f"model.layers.{number}.self_attn.{name}": torch.randn(shape).to(dtype)
        for number in range(11)
        for name, shape in theirs.shapes.items()
    }
    save_file(tensors | {"lm_head.weight": torch.ones(3)}, tmp_path / "model.safetensors")
    found = mha.read_layer(tmp_path / "model.safetensors", 10, **theirs.options)
    assert (found.layout, found.prefix) == ("Llama", "model.layers.10.self_attn.")
    for name, array in layer_to_arrays(found).items():
        np.testing.assert_array_equal(array, tensors[name].float().numpy())
