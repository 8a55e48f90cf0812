"""The frameworks' layers become ours, give what theirs give, and are written back as they were."""

import numpy as np
import pytest
import torch
from framework_layers import BATCH, LAYERS, N, named, randomised
from safetensors.torch import save_file

import mha

TOLERANCE = 1e-5


@pytest.fixture(params=LAYERS)
def theirs(request):
    return LAYERS[request.param]()


@pytest.fixture
def ours(theirs):
    return mha.layer_from_arrays(theirs.arrays, **theirs.options)


def masks(theirs, rng):
    """Return masks that leave each query a key: all, padding, a random one; causal where it is."""
    padding = np.ones((BATCH, N, N), bool)
    padding[1, :, N - 3 :] = False
    some = (rng.random((BATCH, N, N)) < 0.6) | np.eye(N, dtype=bool)
    causal = np.tri(N, dtype=bool) if theirs.is_causal else True
    return [allowed & causal for allowed in (np.ones((BATCH, N, N), bool), padding, some)]


def test_a_layer_gives_what_the_framework_s_own_gives(theirs, ours, rng):
    x = rng.normal(size=(BATCH, N, theirs.d_model)).astype(np.float32)
    assert (ours.layout, ours.is_causal) == (theirs.layout, theirs.is_causal)
    for mask in masks(theirs, rng):
        wanted = theirs.output(x, mask)
        assert np.ptp(wanted) > 1
        found = ours(x, mask=mask[:, None])
        assert found.dtype == wanted.dtype == np.float32
        np.testing.assert_allclose(found, wanted, rtol=TOLERANCE, atol=TOLERANCE)


def test_it_is_written_back_to_the_same_arrays(theirs, ours):
    back = mha.layer_to_arrays(ours)
    besides = {name for name in theirs.arrays if "LayerNorm" in name}
    assert set(back) == set(theirs.arrays) - besides
    for name, array in back.items():
        assert array.dtype == theirs.arrays[name].dtype
        np.testing.assert_array_equal(array, theirs.arrays[name], name)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16])
def test_a_file_that_safetensors_wrote_is_read(tmp_path, dtype):
    layer, names = LAYERS["Llama"](), {}
    for number in range(11):
        for name, array in layer.arrays.items():
            tensor = torch.tensor(array + number).to(dtype)
            names[f"model.layers.{number}.self_attn.{name}"] = tensor
    save_file(names | {"lm_head.weight": torch.ones(3)}, tmp_path / "model.safetensors")
    found = mha.read_layer(tmp_path / "model.safetensors", 10, **layer.options)
    assert (found.layout, found.prefix) == ("Llama", "model.layers.10.self_attn.")
    for name, array in mha.layer_to_arrays(found).items():
        np.testing.assert_array_equal(array, names[name].float().numpy())


def test_keys_of_another_width_have_arrays_of_their_own(rng):
    layer = torch.nn.MultiheadAttention(15, 3, kdim=7, vdim=7, batch_first=True)
    arrays = named(randomised(layer))
    ours = mha.layer_from_arrays(arrays, num_heads=3)
    assert (ours.layout, ours.weights.d_context) == ("PyTorch, separate", 7)
    x, context = (
        rng.normal(size=shape).astype(np.float32) for shape in ((BATCH, N, 15), (BATCH, 5, 7))
    )
    asked = torch.tensor(context)
    wanted = layer(torch.tensor(x), asked, asked)[0].numpy()
    found = ours(x, context=context)
    np.testing.assert_allclose(found, wanted, rtol=TOLERANCE, atol=TOLERANCE)
    back = mha.layer_to_arrays(ours)
    assert set(back) == set(arrays)
    for name, array in back.items():
        np.testing.assert_array_equal(array, arrays[name])
