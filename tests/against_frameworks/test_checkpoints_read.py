"""Tiny random models of transformers, saved by transformers, are read correctly or refused."""

import json
from dataclasses import fields, replace

import numpy as np
import pytest
import torch
import transformers
from checkpoints import CHECKPOINTS, REFUSED

import mha
from mha.layouts import LATENT, LAYOUTS, AttentionLayer, layer_to_arrays

TOLERANCE = 1e-5
USUAL = {field.name: field.default for field in fields(AttentionLayer) if field.name != "weights"}


@pytest.fixture(params=CHECKPOINTS)
def checkpoint(request):
    return CHECKPOINTS[request.param]


def close(found, wanted):
    assert np.ptp(wanted) > 0.5
    np.testing.assert_allclose(found, wanted, rtol=TOLERANCE, atol=TOLERANCE)


def test_a_saved_model_is_read_as_it_computes(checkpoint, tmp_path):
    model = checkpoint.made()
    x, wanted = checkpoint.run(model)
    model.save_pretrained(tmp_path)
    layer = mha.read_layer(tmp_path, checkpoint.layer, within=checkpoint.within)
    close(layer(x[0]), wanted[0])
    assert layer.is_causal == checkpoint.is_causal
    if not isinstance(layer, AttentionLayer):
        return
    used = {name for name in USUAL if getattr(layer, name) is not USUAL[name]}
    assert used - {"layout", "prefix", "eps", "assumed", "is_causal"} == set(checkpoint.has)
    changes = {name: USUAL[name] for name in checkpoint.has} | {"is_causal": not layer.is_causal}
    for name, usual in changes.items():
        other = replace(layer, **{name: usual})
        assert not np.allclose(other(x[0]), wanted[0], atol=1e-3), name


def test_it_is_written_back_as_it_was(checkpoint, tmp_path):
    model = checkpoint.made()
    model.save_pretrained(tmp_path)
    layer = mha.read_layer(tmp_path, checkpoint.layer, within=checkpoint.within)
    if not isinstance(layer, AttentionLayer):
        pytest.skip("latent attention is not written")
    from safetensors.numpy import load_file

    saved = load_file(tmp_path / "model.safetensors")
    for name, array in layer_to_arrays(layer).items():
        if name in saved:  # the relative bias of T5's first layer is that of all
            np.testing.assert_array_equal(array, saved[name], name)


@pytest.mark.parametrize("name", REFUSED)
def test_unsupported_models_are_refused_with_the_reason(name, tmp_path):
    kind, settings = REFUSED[name]
    kind = getattr(transformers, kind)
    kind(kind.config_class(**settings)).save_pretrained(tmp_path)
    with pytest.raises(ValueError, match=r"^config.json has ") as error:
        mha.read_layer(tmp_path, 0)
    assert len(str(error.value).splitlines()) == 1


def test_each_model_type_of_the_table_has_a_checkpoint():
    rows = [*LAYOUTS.values(), *LATENT.values()]
    known = {model_type for row in rows for model_type in row.model_types}
    assert {name.partition(",")[0] for name in CHECKPOINTS} == known | {"clip", "gemma3"}


def test_a_layer_across_two_shards_is_read(tmp_path):
    checkpoint = CHECKPOINTS["mistral"]
    model = checkpoint.made()
    x, wanted = checkpoint.run(model)
    model.save_pretrained(tmp_path, max_shard_size="3KB")
    index = json.loads((tmp_path / "model.safetensors.index.json").read_text())["weight_map"]
    own = {file for name, file in index.items() if "layers.0.self_attn" in name}
    assert len(own) > 1
    for path in (tmp_path, tmp_path / "model.safetensors.index.json", tmp_path / min(own)):
        close(mha.read_layer(path, 0)(x[0]), wanted[0])


def test_settings_of_older_versions_are_read_alike(tmp_path):
    checkpoint = CHECKPOINTS["gemma3_text"]
    model = checkpoint.made()
    model.save_pretrained(tmp_path)
    new = [mha.read_layer(tmp_path, number) for number in (0, 1)]
    path = tmp_path / "config.json"
    config = json.loads(path.read_text())
    for name in ("rope_parameters", "layer_types", "_sliding_window_pattern"):
        config.pop(name)
    config |= {"rope_theta": 1e6, "rope_local_base_freq": 10000.0, "sliding_window_pattern": 2}
    path.write_text(json.dumps(config))
    old = [mha.read_layer(tmp_path, number) for number in (0, 1)]
    assert [layer.window for layer in old] == [3, None]
    assert [layer.base for layer in old] == [10000.0, 1e6]
    x = np.random.default_rng(7).normal(size=(9, 24)).astype(np.float32)
    np.testing.assert_array_equal(old[0](x), new[0](x))
    assert torch.is_tensor(model.norm.weight)
