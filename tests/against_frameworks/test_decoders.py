"""Decoders compute as `transformers` does: tiny models of both formats, and SmolLM2.

The figures of SmolLM2 were first computed by an independent program.
"""

import json
import re
import subprocess
import sys
from dataclasses import replace

import gguf
import numpy as np
import pytest
import tokenizers
import torch
import transformers

import mha
from mha import write
from mha.core.decoder_steps import CachedSteps
from mha.decoders.gguf_files import GgufFile
from mha.decoders.optional_packages import installed_weights
from mha.runs.logit_attribution import logit_shares, trace_text

SIZES = {
    "hidden_size": 24, "intermediate_size": 44, "num_attention_heads": 6, "num_key_value_heads": 2,
    "head_dim": 4, "num_hidden_layers": 3, "vocab_size": 97, "max_position_embeddings": 64,
    "rms_norm_eps": 1e-4,
}  # fmt: skip
IDS = (5, 0, 96, 2, 2, 7, 11, 41)
CHANGES = {
    "plain": {},
    "tied": {"tie_word_embeddings": True},
    "another base": {"rope_theta": 500.0},
    "llama3": {
        "rope_scaling": {
            "rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
            "original_max_position_embeddings": 16,
        },
    },
}  # fmt: skip


def drawn(**changes):
    """Return a tiny random Llama of `transformers`, whose weights are far from zero."""
    config = transformers.LlamaConfig(**SIZES, **changes)
    model = transformers.LlamaForCausalLM(config).eval()
    for parameter in model.parameters():
        scale = 0.4 if parameter.ndim == 2 else 1.0
        parameter.data = torch.randn_like(parameter) * scale
    model.tie_weights()
    return model


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("shard", ["5GB", "20KB"])
def test_a_saved_model_is_read_as_it_computes(change, shard, tmp_path):
    wanted = drawn(**CHANGES[change])
    wanted.save_pretrained(tmp_path, max_shard_size=shard)
    found = mha.read_model(tmp_path).run(IDS).logits
    logits = wanted(torch.tensor([IDS])).logits[0].numpy()
    assert np.ptp(logits) > 5
    np.testing.assert_allclose(found, logits, rtol=1e-4, atol=1e-4)


# ---- A tiny GGUF file ----

TOKENS = ["<|end|>", *(chr(97 + i) for i in range(26)), "Ġ", "1", "2", "ab", "Ġa", "<user>", "ĠĠ"]
MERGES = ["a b", "Ġ a", "Ġ Ġ"]
WIDTH, D_FF, HEADS, GROUPS, D_K, LAYERS = 96, 64, 6, 2, 4, 2


def gguf_arrays(rng):
    shapes = {
        "attn_norm": (WIDTH,), "attn_q": (HEADS * D_K, WIDTH), "attn_k": (GROUPS * D_K, WIDTH),
        "attn_v": (GROUPS * D_K, WIDTH), "attn_output": (WIDTH, HEADS * D_K), "ffn_norm": (WIDTH,),
        "ffn_gate": (D_FF, WIDTH), "ffn_up": (D_FF, WIDTH), "ffn_down": (WIDTH, D_FF),
    }  # fmt: skip
    named = {
        f"blk.{i}.{name}.weight": shape for i in range(LAYERS) for name, shape in shapes.items()
    }
    named |= {"token_embd.weight": (len(TOKENS), WIDTH), "output_norm.weight": (WIDTH,)}
    return {name: rng.normal(size=shape).astype(np.float32) for name, shape in named.items()}


def write_gguf(path, arrays, architecture="llama", kind=None, splits=None, **settings):
    """Write a GGUF file with its own package; matrices whose rows allow it have the type `kind`."""
    writer = gguf.GGUFWriter(path, architecture)
    counts = {
        "block_count": LAYERS, "context_length": 64, "embedding_length": WIDTH,
        "feed_forward_length": D_FF, "attention.head_count": HEADS,
        "attention.head_count_kv": GROUPS, "attention.key_length": D_K,
        "attention.value_length": D_K, "rope.dimension_count": D_K,
    }  # fmt: skip
    for name, value in counts.items():
        writer.add_uint32(f"{architecture}.{name}", settings.pop(name, value))
    numbers = {"attention.layer_norm_rms_epsilon": 1e-4, "rope.freq_base": 500.0}
    for name, value in numbers.items():
        if name not in settings:
            writer.add_float32(f"{architecture}.{name}", value)
    for name, value in settings.items():
        adds = writer.add_string if isinstance(value, str) else writer.add_uint32
        adds(f"{architecture}.{name}", value)
    if splits is not None:
        writer.add_uint16("split.count", splits)
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("smollm")
    writer.add_token_list(TOKENS)
    writer.add_token_types([3 if token == "<|end|>" else 4 if token == "<user>" else 1
                            for token in TOKENS])  # fmt: skip
    writer.add_token_merges(MERGES)
    writer.add_eos_token_id(0)
    for name, array in arrays.items():
        if kind is not None and array.ndim == 2 and array.shape[1] % 32 == 0:
            writer.add_tensor(name, gguf.quantize(array, kind), raw_dtype=kind)
        else:
            writer.add_tensor(name, array)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


def by_transformers(arrays):
    """Return a Llama of `transformers` with the arrays of a GGUF file."""
    config = transformers.LlamaConfig(
        hidden_size=WIDTH, intermediate_size=D_FF, num_attention_heads=HEADS,
        num_key_value_heads=GROUPS, head_dim=D_K, num_hidden_layers=LAYERS,
        vocab_size=len(TOKENS), rms_norm_eps=1e-4, rope_theta=500.0,
        tie_word_embeddings="output.weight" not in arrays,
    )  # fmt: skip
    return loaded(config, arrays)


NAMES = {
    "attn_norm": "input_layernorm", "attn_q": "self_attn.q_proj", "attn_k": "self_attn.k_proj",
    "attn_v": "self_attn.v_proj", "attn_output": "self_attn.o_proj",
    "ffn_norm": "post_attention_layernorm", "ffn_gate": "mlp.gate_proj", "ffn_up": "mlp.up_proj",
    "ffn_down": "mlp.down_proj",
}  # fmt: skip
OUTER = {
    "token_embd.weight": "model.embed_tokens.weight",
    "output_norm.weight": "model.norm.weight",
    "output.weight": "lm_head.weight",
}


def loaded(config, arrays):
    """Return a Llama of a configuration, with arrays by their names in GGUF."""
    state = {}
    for name, array in arrays.items():
        tensor = torch.from_numpy(np.ascontiguousarray(array))
        if name in OUTER:
            state[OUTER[name]] = tensor
            continue
        _, layer, part, _ = name.split(".")
        if part in ("attn_q", "attn_k"):  # adjacent pairs become halves
            heads = tensor.view(-1, config.head_dim // 2, 2, tensor.shape[1])
            tensor = heads.transpose(1, 2).reshape(tensor.shape)
        state[f"model.layers.{layer}.{NAMES[part]}.weight"] = tensor
    model = transformers.LlamaForCausalLM(config).eval()
    missing = model.load_state_dict(state, strict=False)
    assert not missing.unexpected_keys
    assert set(missing.missing_keys) <= {"lm_head.weight"}
    model.tie_weights()
    return model


@pytest.mark.parametrize("is_tied", [True, False])
def test_a_gguf_file_is_read_as_transformers_computes(rng, tmp_path, is_tied):
    arrays = gguf_arrays(rng)
    if not is_tied:
        arrays["output.weight"] = rng.normal(size=(len(TOKENS), WIDTH)).astype(np.float32)
    model = mha.read_model(write_gguf(tmp_path / "tiny.gguf", arrays))
    assert (model.num_groups, model.d_k, model.context_length, model.end_ids) == (2, 4, 64, (0,))
    ids = model.encode("ab a ab12")
    wanted = by_transformers(arrays)(torch.tensor([ids])).logits[0].numpy()
    np.testing.assert_allclose(model.run(ids).logits, wanted, rtol=1e-4, atol=1e-4)
    in_folder = mha.read_model(tmp_path)
    np.testing.assert_array_equal(in_folder.embedding, model.embedding)


@pytest.mark.parametrize("kind", ["Q8_0", "Q4_1", "F16"])
def test_quantised_numbers_are_those_that_gguf_restores(rng, tmp_path, kind):
    arrays, kind = gguf_arrays(rng), gguf.GGMLQuantizationType[kind]
    model = mha.read_model(write_gguf(tmp_path / "tiny.gguf", arrays, kind=kind))
    name = "blk.1.attn_v.weight"
    wanted = gguf.dequantize(gguf.quantize(arrays[name], kind), kind)
    start = (HEADS + GROUPS) * D_K
    np.testing.assert_array_equal(model.layers[1].w_qkv[:, start:], wanted.T)


def test_the_tokenizer_of_a_gguf_file_merges_and_splits_off_digits(rng, tmp_path):
    model = mha.read_model(write_gguf(tmp_path / "tiny.gguf", gguf_arrays(rng)))
    assert isinstance(model.tokenizer, tokenizers.Tokenizer)
    ids = model.encode("ab a12<user><|end|>  z")
    assert model.token_texts(ids) == (
        "ab", " a", "1", "2", "<user>", "<|end|>", " ", " ", "z"
    )  # fmt: skip
    assert model.decode(ids) == "ab a12<user><|end|>  z"


def test_speeds_of_a_file_divide_those_of_the_base(rng, tmp_path):
    arrays = gguf_arrays(rng) | {"rope_freqs.weight": np.array([1, 8], np.float32)}
    model = mha.read_model(write_gguf(tmp_path / "tiny.gguf", arrays))
    np.testing.assert_allclose(model.speeds, [1, 500.0**-0.5 / 8])
    path = write_gguf(tmp_path / "linear.gguf", gguf_arrays(rng), **{"rope.scaling.type": "yarn"})
    with pytest.raises(ValueError, match=r"rope.scaling.type 'yarn'; only none or linear is"):
        mha.read_model(path)


REFUSED = {
    "another architecture": ({"architecture": "gemma"}, "has the architecture 'gemma', which is"),
    "experts": ({"expert_count": 8}, "has llama.expert_count 8; only 0 is supported"),
    "part rotated": ({"rope.dimension_count": 2}, "has llama.rope.dimension_count 2; only 4 is"),
    "fewer layers": ({"block_count": 1}, "has the array blk.1.attn_norm.weight, which is not"),
    "more layers": ({"block_count": 3}, "has no array blk.2.attn_norm.weight, which a decoder"),
    "another width": (
        {"feed_forward_length": 63}, "has blk.0.ffn_gate.weight of shape (64, 96); (63, 96) is",
    ),
    "billions of layers": ({"block_count": 2**31}, "has no array blk.2.attn_norm.weight, which"),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
def test_a_file_of_another_computation_is_refused(rng, tmp_path, case):
    change, sentence = REFUSED[case]
    path = write_gguf(tmp_path / "tiny.gguf", gguf_arrays(rng), **change)
    with pytest.raises(ValueError, match=f"^tiny.gguf {re.escape(sentence)}") as error:
        mha.read_model(path)
    assert len(str(error.value).splitlines()) == 1


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("block_count", 0), ("attention.head_count", 0), ("attention.head_count_kv", 0),
        ("embedding_length", 0), ("context_length", 0), ("rope.freq_base", "large"),
        ("attention.layer_norm_rms_epsilon", "small"),
    ],
)  # fmt: skip
def test_a_setting_that_cannot_be_right_is_named(rng, tmp_path, name, value):
    path = write_gguf(tmp_path / "tiny.gguf", gguf_arrays(rng), **{name: value})
    with pytest.raises((TypeError, ValueError), match=f"^llama.{name} of tiny.gguf ") as error:
        mha.read_model(path)
    assert len(str(error.value).splitlines()) == 1


@pytest.mark.parametrize("start", [8, 16])
def test_a_header_with_a_huge_count_is_refused(rng, tmp_path, start):
    path = write_gguf(tmp_path / "tiny.gguf", gguf_arrays(rng))
    whole = path.read_bytes()
    path.write_bytes(whole[:start] + (2**60).to_bytes(8, "little") + whole[start + 8 :])
    with pytest.raises(ValueError, match=r"^tiny.gguf is damaged or not a whole GGUF file$"):
        mha.read_model(path)


def test_a_part_of_a_split_model_is_refused(rng, tmp_path):
    path = write_gguf(tmp_path / "tiny.gguf", gguf_arrays(rng), splits=3)
    with pytest.raises(ValueError, match=r"^tiny.gguf is one of 3 files of a model; a file with"):
        mha.read_model(path)


def test_a_file_that_ends_early_is_refused(rng, tmp_path, capsys):
    path = write_gguf(tmp_path / "tiny.gguf", gguf_arrays(rng))
    whole = path.read_bytes()
    for size in (*range(4, 200, 13), *np.linspace(200, len(whole) - 1, 20).astype(int)):
        path.write_bytes(whole[:size])
        with pytest.raises(ValueError, match=r"^tiny.gguf is damaged or not a whole GGUF file$"):
            mha.read_model(path)
        assert write.main(["a", "--model", str(path)]) == 1
        assert len(capsys.readouterr().err.rpartition("\r")[2].splitlines()) == 1


# ---- SmolLM2 ----


@pytest.fixture(scope="module")
def smollm():
    return mha.read_model()


@pytest.fixture(scope="module")
def by_torch():
    """Return SmolLM2 as `transformers` computes it, on the numbers that gguf restores."""
    file = GgufFile(installed_weights())
    shapes = {name: tuple(map(int, file._arrays[name].shape[::-1])) for name in file.names}
    arrays = {name: file.array(name, shape) for name, shape in shapes.items()}
    config = transformers.LlamaConfig(
        hidden_size=576, intermediate_size=1536, num_attention_heads=9, num_key_value_heads=3,
        head_dim=64, num_hidden_layers=30, vocab_size=49152, rms_norm_eps=1e-5,
        rope_theta=100000.0, tie_word_embeddings=True, max_position_embeddings=8192,
    )  # fmt: skip
    return loaded(config, arrays)


PROMPTS = (
    "The capital of France is",
    "The animal didn't cross the street because it was too",
    "Once upon a time, 17 small dragons\n\tlived in the mountains; naïve ones — 🐉!",
)


@pytest.mark.parametrize("prompt", PROMPTS)
def test_its_logits_are_those_of_transformers(smollm, by_torch, prompt):
    ids = smollm.encode(prompt)
    assert smollm.decode(ids) == prompt
    wanted = by_torch(torch.tensor([ids])).logits[0].numpy()
    np.testing.assert_allclose(smollm.run(ids).logits, wanted, rtol=1e-4, atol=1e-4)


def test_it_writes_the_64_tokens_of_transformers(smollm, by_torch):
    ids = smollm.encode("The cat sat on the mat because it was")
    unending = replace(smollm, end_ids=())
    tokens = list(unending.write(ids, 64))
    wanted = by_torch.generate(
        torch.tensor([ids]), max_new_tokens=64, min_new_tokens=64, do_sample=False,
        pad_token_id=0, eos_token_id=None,
    )[0, len(ids):]  # fmt: skip
    assert [token.id for token in tokens] == wanted.tolist()
    text = "".join(token.text for token in tokens)
    assert text.startswith(" a cat.")
    run = smollm.run((*ids, *(token.id for token in tokens[:-1])))
    greedy = run.logits[len(ids) - 1 :].argmax(axis=-1)
    assert greedy.tolist() == wanted.tolist()  # without a cache
    steps = CachedSteps(smollm, len(ids))
    found = [steps.next_logits([i]) for i in ids]
    np.testing.assert_allclose(found, run.logits[: len(ids)], rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize(
    ("prompt", "words"),
    [
        ("The capital of France is", {" Paris": 0.773}),
        ("Mr Dursley met Mrs Dursley. Mr D", {"urs": 0.793}),
        (PROMPTS[1], {" far": 0.604, " close": 0.169}),
    ],
)
def test_its_most_probable_tokens_are_those_of_an_independent_run(smollm, prompt, words):
    probabilities = smollm.run(prompt).probabilities[-1]
    top = probabilities.argsort()[::-1][: len(words)]
    assert smollm.token_texts(top) == tuple(words)
    np.testing.assert_allclose(probabilities[top], list(words.values()), atol=5e-4)


def test_a_head_leads_from_it_to_animal_and_its_numbers_can_be_traced(smollm):
    ids = smollm.encode(PROMPTS[1])
    texts = smollm.token_texts(ids)
    it, animal = texts.index(" it"), texts.index(" animal")
    run, trace = smollm.run(ids), trace_text(smollm, ids, layer=13)
    assert run.weights[13, 8, it, animal] == pytest.approx(0.75, abs=5e-3)
    np.testing.assert_allclose(trace.weights, run.weights[13], atol=1e-5)
    assert str(mha.arithmetic(trace, "weights", it, animal, head=8)).endswith("≈ 0.7496")
    assert trace.tokens[animal] == " animal"
    shares = logit_shares(run, len(ids) - 1, words=smollm.encode(" far"))
    np.testing.assert_allclose(
        shares.shares.sum(axis=0), run.logits[-1, smollm.encode(" far")], rtol=1e-4
    )


def test_repeated_tokens_are_predicted_by_an_induction_head(smollm):
    half = np.random.default_rng(0).integers(17, 49152, 25)
    ids = [*half.tolist(), *half.tolist()]
    run = smollm.run(ids)
    losses = -np.log(run.probabilities[np.arange(49), ids[1:]])
    assert losses[:24].mean() > 10 > 3 > losses[25:].mean()
    queries = np.arange(25, 50)
    assert run.weights[18, 6, queries, queries - 24].mean() > 0.8
    after = smollm.run(ids, without=[(18, 6)])
    assert not after.head_outputs[18, 6].any()
    np.testing.assert_array_equal(after.stream[18], run.stream[18])
    assert not np.allclose(after.stream[19], run.stream[19])


def test_the_command_writes_with_the_installed_weights():
    command = [sys.executable, "-m", "mha.write", "The capital of France is", "--steps", "3"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.startswith("The capital of France is Paris")


def test_the_words_of_the_metadata_are_kept_without_the_file(smollm):
    name, metadata = smollm.read_tokenizer.args
    assert name == installed_weights().name
    assert all(key.startswith("tokenizer") for key in metadata)
    assert json.dumps(metadata["tokenizer.ggml.pre"]) == '"smollm"'
