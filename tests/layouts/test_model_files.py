"""Files of whole models: their settings, formats and names are read, or refused with a reason."""

import json
from itertools import combinations, product

import numpy as np
import pytest
from test_layouts import FLAT, OUT_ROWS, ROWS, separate, write_file

import mha
from mha.core.rope_scaling import (
    interpolated_speeds,
    llama3_speeds,
    rotary_speeds,
    yarn_sharpness,
    yarn_speeds,
)
from mha.layouts import LATENT, LAYOUTS, layer_from_arrays
from mha.layouts.settings import Settings, read_behaviour

H, G, K, M, LAYERS = 6, 2, 4, 11, 4


def llama(rng, names="q_proj k_proj v_proj o_proj", at="model.layers.{}.self_attn."):
    """Return the arrays of a model's layers by name."""
    shapes = [(H * K, M), (G * K, M), (G * K, M), (M, H * K)]
    return {
        f"{at.format(i)}{name}.weight": rng.normal(size=shape).astype(np.float32)
        for i in range(LAYERS)
        for name, shape in zip(names.split(), shapes, strict=True)
    }


SIZES = {"num_attention_heads": H, "num_key_value_heads": G}


@pytest.fixture
def model(rng, tmp_path):
    """Return a function that writes a model and its settings into a folder."""

    def write(settings, arrays=None):
        arrays = llama(rng) if arrays is None else arrays
        write_file(tmp_path / "model.safetensors", arrays)
        (tmp_path / "config.json").write_text(json.dumps(settings))
        return tmp_path

    return write


# ---- Settings ----


def settings_of(name, number=0, prefix="", **given):
    """Return the settings of a layer that is read in a layout from a model's settings."""
    settings = Settings(given, "config.json", prefix, number)
    return read_behaviour(LAYOUTS[name], settings, K) | {"assumed": settings.assumed}


def windows(name, count=8, **given):
    return [settings_of(name, number, **given)["window"] for number in range(count)]


def test_windows_are_those_of_the_layers_that_have_one():
    assert windows("Mistral", sliding_window=4) == [3] * 8  # a setting that counts the token
    assert windows("Mistral", sliding_window=None) == [None] * 8
    assert windows("Mistral") == [4095] * 8
    assert windows("Gemma 2", sliding_window=4) == [3, None] * 4
    assert windows("Gemma 3", sliding_window=4) == [3, 3, 3, 3, 3, None, 3, 3]
    assert windows("Gemma 3", sliding_window=4, sliding_window_pattern=2) == [3, None] * 4
    assert windows("ModernBERT", local_attention=6)[:4] == [None, 3, 3, None]
    assert windows("GPT-Neo", window_size=4)[:4] == [None, 3, None, 3]
    assert windows("GPT-Neo", 3, attention_types=[[["local", "global"], 2]], window_size=4) == [
        3, None, 3,
    ]  # fmt: skip
    kinds = ["full_attention", "sliding_attention"]
    assert windows("gpt-oss", 2, sliding_window=4, layer_types=kinds) == [None, 3]
    own = {"use_sliding_window": True, "sliding_window": 4, "max_window_layers": 2}
    assert windows("Qwen3", 4, **own) == [None, None, 3, 3]
    assert windows("Qwen3", 4, **own | {"use_sliding_window": False}) == [None] * 4


def test_rotation_is_that_of_the_layer():
    new = {"rope_parameters": {"rope_type": "default", "rope_theta": 50.0}}
    assert (
        settings_of("Llama", rope_theta=50.0)["base"] == settings_of("Llama", **new)["base"] == 50.0
    )
    assert [settings_of("Gemma 3", i, rope_theta=50.0)["base"] for i in (0, 5)] == [10000.0, 50.0]
    assert "base" not in settings_of("Cohere 2", 3, sliding_window=4)
    assert settings_of("Cohere 2", 0, sliding_window=4)["base"] == 10000.0
    for part in (
        settings_of("Phi"),
        settings_of("GPT-J", rotary_dim=2),
        settings_of("GPT-NeoX", rotary_pct=0.5),
    ):
        np.testing.assert_array_equal(part["speeds"], [1.0])
    scaled = {"rope_theta": 50.0, "rope_scaling": {"type": "linear", "factor": 4.0}}
    speeds = interpolated_speeds(K, 4, base=50.0)
    np.testing.assert_array_equal(settings_of("Llama", **scaled)["speeds"], speeds)
    yarn = settings_of("gpt-oss")
    own = yarn_speeds(K, 32, length=4096, base=150000.0, truncate=False)
    np.testing.assert_array_equal(yarn["speeds"], own)
    assert yarn["scale"] == pytest.approx(yarn_sharpness(32) ** 2 / 2)


def test_speeds_of_llama_3_between_those_kept_and_those_divided():
    found = llama3_speeds(64, 8, length=8192, base=500000.0)
    usual = rotary_speeds(64, base=500000.0)
    turns = 8192 * usual / (2 * np.pi)
    ratio = found / usual
    np.testing.assert_allclose(ratio[turns > 4], 1)
    np.testing.assert_allclose(ratio[turns < 1], 1 / 8)
    between = (turns > 1) & (turns < 4)
    assert between.sum() > 1
    np.testing.assert_allclose(ratio[between], 1 / 8 + (turns[between] - 1) / 3 * 7 / 8)


def test_other_settings():
    gemma = settings_of("Gemma 2", query_pre_attn_scalar=16, attn_logit_softcapping=30.0)
    assert (gemma["scale"], gemma["softcap"]) == (0.25, 30.0)
    assert settings_of("Gemma 2", attn_logit_softcapping=None)["softcap"] is None
    assert settings_of("Granite", attention_multiplier=0.3)["scale"] == 0.3
    assert settings_of("MPT", attn_config={"softmax_scale": 0.3})["scale"] == 0.3
    assert settings_of("BLOOM")["alibi"]
    assert settings_of("GPT-Neo")["scale"] == 1.0
    at = "bert.encoder.layer.0.attention."
    assert settings_of("BERT", prefix=at, is_decoder=True)["is_causal"]
    assert not settings_of("BERT", prefix=at)["is_causal"]
    assert not settings_of("BERT", prefix=at.replace("att", "crossatt"), is_decoder=True)[
        "is_causal"
    ]
    places = ("encoder.layers.0.self_attn.", "decoder.layers.0.self_attn.",
              "decoder.layers.0.encoder_attn.")  # fmt: skip
    causal = [settings_of("BART", prefix=place)["is_causal"] for place in places]
    assert causal == [False, True, False]


def test_a_missing_setting_is_named_with_its_default():
    assert settings_of("Mistral", sliding_window=4, rope_theta=50.0)["assumed"] == []
    assert settings_of("Mistral", sliding_window=None)["assumed"] == [
        "rope_theta 10000.0, since config.json has none"
    ]


# ---- Models ----


def test_settings_beside_the_file_say_what_the_same_arrays_compute(model, rng):
    x, outputs = rng.normal(size=(9, M)), {}
    arrays = llama(rng)
    for kind in ("llama", "mistral", "gemma2", "cohere"):
        folder = model({"model_type": kind, "sliding_window": 4, **SIZES}, arrays)
        layer = mha.read_layer(folder, 0)
        assert layer.weights.num_groups == G
        outputs[kind] = layer(x)
    for one, other in combinations(outputs.values(), 2):
        assert np.abs(one - other).max() > 0.1
    path = model({"model_type": "llama", **SIZES, "rope_theta": 50.0})
    layer = mha.read_layer(path, 2)
    assert (layer.layout, layer.base, layer.prefix) == ("Llama", 50.0, "model.layers.2.self_attn.")
    assert mha.read_layer(path, 2, base=60.0).base == 60.0
    same = mha.read_layer(path, 2, settings={"model_type": "mistral", "sliding_window": 5, **SIZES})
    assert same.window == 4
    told = mha.read_layer(path, 2, settings={}, layout="Llama", num_heads=H, base=50.0)
    np.testing.assert_array_equal(told(x), layer(x))
    assert told.assumed[-1] == "all components are rotated; no window, and no cap of scores"


@pytest.mark.parametrize(
    ("settings", "cause"),
    [
        ({"model_type": "mamba"}, "config.json has model_type 'mamba', which is unknown, .*;"
         " model.safetensors has model.layers.{0..3}.self_attn.q_proj.weight, .*; layout= is"),
        ({"vocab": 3}, "config.json has no model_type, .*; layout=, .*, is wanted"),
        ({"model_type": "llama"}, "num_heads does not follow .*; num_heads= is wanted"),
        ({"model_type": "llama", **SIZES, "num_key_value_heads": 3},
         "config.json has num_key_value_heads 3, but the arrays .* have 2; settings and arrays"),
        ({"model_type": "llama", **SIZES, "head_dim": 8}, "config.json has head_dim 8, but .* 4"),
        ({"model_type": "llama", **SIZES, "attention_bias": True},
         "config.json has attention_bias True: layers with a bias .* have no q_proj.bias"),
        ({"model_type": "olmo", **SIZES, "clip_qkv": 8},
         "config.json has clip_qkv 8; only clip_qkv None is supported"),
        ({"model_type": "gemma2", **SIZES, "use_bidirectional_attention": True},
         "config.json has use_bidirectional_attention True; only .* False is"),
        ({"model_type": "llama", **SIZES, "rope_scaling": {"rope_type": "longrope"}},
         "config.json has rope_type 'longrope', which is not supported"),
        ({"model_type": "llama", **SIZES, "rope_scaling": {"rope_type": "linear"}},
         "rope_parameters of config.json has no factor; a number is wanted"),
        ({"model_type": "gemma2", **SIZES, "layer_types": ["chunked"]},
         "config.json has 'chunked' as the type of attention of layer 0; one of"),
        ({"model_type": "mistral", **SIZES, "sliding_window": 1},
         "sliding_window of config.json is 1; .* at least 2"),
        ({"model_type": "phi3", **SIZES}, "model.safetensors has .*; .* their names in Phi-3"),
        ({"model_type": "phi", "partial_rotary_factor": 0.5, "num_attention_heads": H,
          "rope_scaling": {"rope_type": "yarn", "factor": 4.0, "max_position_embeddings": 64,
                           "original_max_position_embeddings": 64}},
         "model.safetensors has .* in Phi"),
    ],
)  # fmt: skip
def test_settings_that_are_not_read_are_refused_in_one_sentence(model, settings, cause):
    with pytest.raises((TypeError, ValueError), match=f"^{cause}") as error:
        mha.read_layer(model(settings), 0)
    assert "\n" not in str(error.value)


def test_a_layout_against_the_settings_is_refused(model):
    folder = model({"model_type": "mistral", **SIZES})
    with pytest.raises(ValueError, match=r"^layout is 'Llama', but config.json has .* 'mistral', "):
        mha.read_layer(folder, 0, layout="Llama", base=9.0)


def test_without_settings_names_that_several_layouts_have_are_refused(model, rng):
    arrays = separate("q_proj k_proj v_proj out_proj", ROWS, OUT_ROWS, FLAT)
    sentence = (
        r"^arrays has names and shapes at '' that fit BART, .*OPT, .*GPT-J; settings= is wanted,"
        r" the contents of the model's config.json, or layout= if it is one of 'BART'$"
    )
    with pytest.raises(ValueError, match=sentence):
        layer_from_arrays(arrays, num_heads=2)
    with pytest.raises(ValueError, match=r"fit GPT-J; settings= is wanted"):
        layer_from_arrays(arrays, num_heads=2, layout="GPT-J")
    own = {"model_type": "gptj", "n_head": 2, "rotary_dim": 2}
    with pytest.raises(ValueError, match=r"^GPT-J: layers without a bias .* have q_proj.bias$"):
        layer_from_arrays(arrays, settings=own)
    matrices = {name: array for name, array in arrays.items() if "weight" in name}
    assert layer_from_arrays(matrices, settings=own).layout == "GPT-J"
    unknown = {f"net.{i}.attend.w{x}": np.eye(2) for i in range(30) for x in "qkvo"}
    unknown |= {f"net.{i}.mlp.up": np.eye(2) for i in range(30)}
    sentence = r"^arrays has net.\{0..29\}.attend.wq, net.*wk, net.*wv, net.*wo; the matrices"
    with pytest.raises(ValueError, match=sentence):
        layer_from_arrays(unknown)


def test_the_inner_models_of_a_model_have_their_own_settings(rng, tmp_path):
    at = "{}_model.encoder.layers.{}.self_attn."
    arrays = {}
    for side, number in product(("text", "vision"), range(2)):
        own = separate("q_proj k_proj v_proj out_proj", np.eye(12), np.eye(12), np.zeros(12))
        own["out_proj.bias"] = np.zeros(12)
        arrays |= {at.format(side, number) + name: array for name, array in own.items()}
    np.savez(tmp_path / "model.npz", **arrays)
    settings = {"model_type": "clip", "text_config": {"num_attention_heads": 2},
                "vision_config": {"num_attention_heads": 3}}  # fmt: skip
    (tmp_path / "config.json").write_text(json.dumps(settings))
    text, vision = (mha.read_layer(tmp_path, 1, within=side) for side in ("text", "vision"))
    assert (text.layout, text.is_causal, text.weights.num_heads) == ("CLIP text", True, 2)
    assert (vision.layout, vision.is_causal, vision.weights.num_heads) == ("CLIP vision", False, 3)


# ---- Formats ----

LLAMA = {"model_type": "llama", **SIZES}


def test_shards_are_read_by_folder_index_or_shard(model, rng, tmp_path):
    arrays, x = llama(rng), rng.normal(size=(5, M))
    wanted = mha.read_layer(model(LLAMA, arrays), 1)(x)
    (tmp_path / "model.safetensors").unlink()
    files = [f"model-0000{i}-of-00002.safetensors" for i in (1, 2)]
    halves = dict(list(arrays.items())[:6]), dict(list(arrays.items())[6:])  # layer 1 is in both
    index = {}
    for file, half in zip(files, halves, strict=True):
        write_file(tmp_path / file, half)
        index |= dict.fromkeys(half, file)
    path = tmp_path / "model.safetensors.index.json"
    path.write_text(json.dumps({"weight_map": index}))
    for place in (tmp_path, str(path), tmp_path / files[0], tmp_path / files[1]):
        np.testing.assert_array_equal(mha.read_layer(place, 1)(x), wanted)
    name = "model.layers.1.self_attn.q_proj.weight"
    for content, cause in (
        (
            {"weight_map": index | {name: "../x.safetensors"}},
            "has .* in '../x.safetensors'; a file",
        ),
        ({"weight_map": index | {name: files[1]}}, f"has {name} in {files[1]}, which does not"),
        ([], "is not an index of"),
    ):
        path.write_text(json.dumps(content))
        with pytest.raises(ValueError, match=f"^model.safetensors.index.json {cause}"):
            mha.read_layer(tmp_path, 1)
    path.write_text(json.dumps({"weight_map": index}))
    (tmp_path / files[0]).unlink()
    with pytest.raises(FileNotFoundError):
        mha.read_layer(tmp_path, 1)


def test_archives_of_numpy_are_read_and_nothing_in_them_is_unpickled(model, rng, tmp_path):
    arrays, x = llama(rng), rng.normal(size=(5, M))
    wanted = mha.read_layer(model(LLAMA, arrays), 3)(x)
    (tmp_path / "model.safetensors").unlink()
    np.savez_compressed(tmp_path / "layers.npz", **arrays)
    for path in (tmp_path, tmp_path / "layers.npz"):
        np.testing.assert_array_equal(mha.read_layer(path, 3)(x), wanted)
    name = "model.layers.3.self_attn.q_proj.weight"
    objects = np.empty(arrays[name].shape, object)
    np.savez(tmp_path / "layers.npz", **arrays | {name: objects})
    with pytest.raises(TypeError, match=f"^{name} of layers.npz holds objects, which are pickled"):
        mha.read_layer(tmp_path, 3)
    (tmp_path / "layers.npz").write_bytes(b"PK")
    with pytest.raises(ValueError, match=r"^layers.npz is not an archive"):
        mha.read_layer(tmp_path, 3)


@pytest.mark.parametrize("name", ["pytorch_model.bin", "model.pt", "model.pth", "model.ckpt"])
def test_pickles_are_refused_with_the_reason(tmp_path, name):
    (tmp_path / name).write_bytes(b"\x80\x02")
    for path in (tmp_path, tmp_path / name):
        with pytest.raises(ValueError, match=f"^{name} is a pickle, which may run any program"):
            mha.read_layer(path, 0)


def test_folders_and_other_formats_are_refused(tmp_path):
    with pytest.raises(FileNotFoundError, match="has no safetensors file, and no index"):
        mha.read_layer(tmp_path, 0)
    (tmp_path / "model.gguf").write_bytes(b"GGUF")
    with pytest.raises(ValueError, match=r"^model.gguf is a GGUF file, .*; a safetensors file"):
        mha.read_layer(tmp_path, 0)
    for name in "ab":
        write_file(tmp_path / f"{name}.safetensors", {"x": np.ones(2)})
    with pytest.raises(ValueError, match=r"has a.safetensors, b.safetensors; the path of one"):
        mha.read_layer(tmp_path, 0)
    (tmp_path / "config.json").write_text("{")
    with pytest.raises(ValueError, match=r"^config.json beside a.safetensors is not JSON"):
        mha.read_layer(tmp_path / "a.safetensors", 0)


# ---- Latent attention ----


def test_latent_attention_by_hand(rng):
    heads, nope, rope, width, rank = 3, 4, 2, 5, 7
    sizes = {"num_attention_heads": heads, "qk_nope_head_dim": nope, "qk_rope_head_dim": rope,
             "v_head_dim": width, "kv_lora_rank": rank, "model_type": "deepseek_v3"}  # fmt: skip
    shapes = {"q_proj.weight": (heads * (nope + rope), M),
              "kv_a_proj_with_mqa.weight": (rank + rope, M), "kv_a_layernorm.weight": (rank,),
              "kv_b_proj.weight": (heads * (nope + width), rank),
              "o_proj.weight": (M, heads * width)}  # fmt: skip
    arrays = {f"layers.2.self_attn.{name}": rng.normal(size=s) for name, s in shapes.items()}
    layer = layer_from_arrays(arrays, settings=sizes)
    assert (layer.layout, layer.is_causal, *layer.speeds) == ("DeepSeek", True, 1.0)
    own = {name.removeprefix(layer.prefix): array for name, array in arrays.items()}
    x = rng.normal(size=(6, M))
    latent = x @ own["kv_a_proj_with_mqa.weight"][:rank].T
    latent = latent / np.sqrt((latent**2).mean(-1, keepdims=True) + 1e-6)
    latent = latent * own["kv_a_layernorm.weight"]
    turned = mha.rotate(x @ own["kv_a_proj_with_mqa.weight"][rank:].T, np.arange(6))
    outputs = []
    for head in range(heads):
        rows = slice(head * (nope + rope), (head + 1) * (nope + rope))
        query = x @ own["q_proj.weight"][rows].T
        query[:, nope:] = mha.rotate(query[:, nope:], np.arange(6))
        made = own["kv_b_proj.weight"][head * (nope + width) : (head + 1) * (nope + width)]
        key = np.concatenate([latent @ made[:nope].T, turned], axis=-1)
        outputs.append(
            mha.scaled_dot_product_attention(query, key, latent @ made[nope:].T, is_causal=True)
        )
    wanted = np.concatenate(outputs, axis=-1) @ own["o_proj.weight"].T
    np.testing.assert_allclose(layer(x), wanted, rtol=1e-9)
    with pytest.raises(ValueError, match=r"q_proj.weight has shape .18, 11.; .20, 11. is wanted"):
        layer_from_arrays(
            arrays, settings=sizes | {"num_attention_heads": 2, "qk_nope_head_dim": 8}
        )
    half = {"layers.2.self_attn.q_a_proj.weight": np.ones((3, M))}
    with pytest.raises(ValueError, match=r"have no q_a_layernorm.weight for q_a_proj.weight; both"):
        layer_from_arrays(arrays | half, settings=sizes)
    with pytest.raises(ValueError, match=r"fit DeepSeek; settings= is wanted"):
        layer_from_arrays(arrays)
    assert set(LATENT) == {"DeepSeek"}
