"""Attention variants since 2023, compared with the layers of `transformers`, random weights."""

import re
from types import SimpleNamespace

import numpy as np
import pytest
import torch
import transformers
from explained_fields import explained_fields
from framework_layers import layer_of, modelling
from transformers.masking_utils import sliding_window_overlay
from transformers.modeling_rope_utils import ROPE_INIT_FUNCTIONS

import mha
from mha.core.heads import merge_heads
from mha.core.int8 import EightBits
from mha.core.latent import LatentWeights, clip_qk, latent_attention
from mha.core.linear_attention import gated_delta_rule, linear_attention, linear_recurrence
from mha.core.norm import rms_norm
from mha.core.rope_scaling import (
    interpolated_speeds,
    rotary_speeds,
    wider_base,
    yarn_sharpness,
    yarn_speeds,
)
from mha.core.score_variants import (
    capped_scores,
    differential_weights,
    gated,
    indexer_scores,
    softmax_with_sink,
    top_blocks_mask,
    top_keys_mask,
)
from mha.examples.published_models import published_models

N, D_MODEL, HEADS, GROUPS, WIDTH = 7, 22, 6, 2, 10
CAUSAL = np.where(np.tri(N, dtype=bool), 0.0, -np.inf)
CONFIGURATIONS = (
    *("DeepseekV32", "Gemma2", "Gemma3Text", "Gemma3nText", "GptOss", "KimiLinear"),
    *("Llama4Text", "MiniMaxM2", "Mistral", "Olmo2", "Qwen3Next"),
)
ON_ATTENTION = re.compile(
    r"\b(?!_)\w*(?:head|rank|rope|rotary|attn|attention|sliding|linear|qk|layer_types|position)\w*"
)


def close(found, wanted):
    np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-5)


def tensor(array):
    return torch.tensor(np.asarray(array, np.float32))


def drawn(kind, **more):
    """Return a layer with weights large enough to matter, and its weights by name."""
    sizes = {"hidden_size": D_MODEL, "num_attention_heads": HEADS, "num_key_value_heads": HEADS}
    layer = layer_of(kind, **sizes | {"head_dim": WIDTH} | more)
    for parameter in layer.parameters():
        parameter.copy_(torch.randn_like(parameter) * 0.4 + 0.1 * (parameter.ndim == 1))
    return layer, {name: x.numpy().astype(float) for name, x in layer.named_parameters()}


def output(layer, x, angles):
    """Return the output of a causal layer for the given cosines and sines."""
    both = np.concatenate([angles, angles], axis=-1)[None]
    turns = tensor(np.cos(both)), tensor(np.sin(both))
    return layer(tensor(x)[None], turns, tensor(CAUSAL)[None, None])[0][0]


def by_head(matrix, heads=HEADS):
    """Return a Linear's matrix as one matrix per head that multiplies from the right."""
    return matrix.reshape(heads, -1, matrix.shape[-1]).swapaxes(1, 2)


@pytest.fixture
def x(rng):
    return rng.normal(size=(N, D_MODEL))


# ---- Layers ----


def latent_layer(compressed=None):
    """Return a layer of DeepSeek-V3, and its weights for `latent_attention`."""
    d_c, d_k, d_r, d_v = 5, 4, 6, 3
    theirs, w = drawn(
        "DeepseekV3", q_lora_rank=compressed, kv_lora_rank=d_c, qk_nope_head_dim=d_k,
        qk_rope_head_dim=d_r, v_head_dim=d_v,
    )  # fmt: skip
    asking = by_head(w["q_proj.weight" if compressed is None else "q_b_proj.weight"])
    making, down = by_head(w["kv_b_proj.weight"]), w["kv_a_proj_with_mqa.weight"].T
    own = {} if compressed is None else {
        "w_dq": w["q_a_proj.weight"].T, "query_gain": w["q_a_layernorm.weight"],
    }  # fmt: skip
    weights = LatentWeights(
        w_dkv=down[:, :d_c], w_kr=down[:, d_c:], w_uk=making[..., :d_k], w_uv=making[..., d_k:],
        w_uq=asking[..., :d_k], w_qr=asking[..., d_k:], w_o=w["o_proj.weight"].T,
        gain=w["kv_a_layernorm.weight"], **own,
    )  # fmt: skip
    return theirs, weights


@pytest.mark.parametrize("compressed", [None, 9])
def test_latent_attention_as_deepseek_v3_has_it(x, compressed):
    theirs, layer = latent_layer(compressed)
    angles = np.arange(N)[:, None] * rotary_speeds(layer.w_kr.shape[1])
    plain, absorbed = (
        latent_attention(x, layer, angles=angles, absorbed=form) for form in (False, True)
    )
    close(plain.output, output(theirs, x, angles))
    np.testing.assert_allclose(absorbed.output, plain.output, rtol=1e-10, atol=1e-10)
    assert np.ptp(plain.weights[:, -1]) > 0.1


def test_clipped_matrices_as_in_algorithm_1_of_the_report_on_kimi_k2(x):
    theirs, layer = latent_layer()
    d_k = layer.w_uk.shape[2]
    angles = np.arange(N)[:, None] * rotary_speeds(layer.w_kr.shape[1])
    scores = latent_attention(x, layer, angles=angles).scores
    largest = scores.max(axis=(1, 2))
    threshold = float(np.median(largest))
    before = output(theirs, x, angles)
    query = theirs.q_proj.weight.view(HEADS, -1, D_MODEL)
    key_and_value = theirs.kv_b_proj.weight.view(HEADS, -1, layer.w_uk.shape[1])
    for head, size in enumerate(largest):
        if size > threshold:
            gamma = threshold / size
            query[head, :d_k].mul_(gamma**0.5)
            query[head, d_k:].mul_(gamma)
            key_and_value[head, :d_k].mul_(gamma**0.5)
    wanted = output(theirs, x, angles)
    clipped = latent_attention(x, clip_qk(layer, scores, threshold), angles=angles)
    close(clipped.output, wanted)
    assert not np.allclose(before, wanted, rtol=1e-3)


def test_normed_queries_and_keys_and_a_gate_as_qwen3_next_has_them(x):
    theirs, w = drawn("Qwen3Next", num_key_value_heads=GROUPS)
    angles = np.arange(N)[:, None] * rotary_speeds(4)  # of ten components the first four are turned
    asking = x @ by_head(w["q_proj.weight"])
    key, value = (x @ by_head(w[f"{name}_proj.weight"], GROUPS) for name in "kv")

    def ready(vectors, name):
        normed = rms_norm(vectors, 1 + w[f"{name}_norm.weight"], theirs.config.rms_norm_eps)
        turned = mha.rotate_by(normed[..., :4], angles, layout="halves")
        return np.concatenate([turned, normed[..., 4:]], axis=-1)

    heads = mha.scaled_dot_product_attention(
        ready(asking[..., :WIDTH], "q"), ready(key, "k"), value, is_causal=True, enable_gqa=True
    )
    found = merge_heads(gated(heads, asking[..., WIDTH:])) @ w["o_proj.weight"].T
    close(found, output(theirs, x, angles))


def test_a_difference_of_two_softmaxes_as_diffllama_has_it(x):
    theirs, w = drawn("DiffLlama", number=3)
    angles = np.arange(N)[:, None] * rotary_speeds(WIDTH)
    query, key, value = (x @ by_head(w[f"{name}_proj.weight"]) for name in "qkv")
    query, key = (mha.rotate_by(a, angles, layout="halves") for a in (query, key))
    maps = mha.attention_weights(query, key, is_causal=True)
    one, two = (np.exp(w[f"lambda_q{i}"] @ w[f"lambda_k{i}"]) for i in (1, 2))
    start = 0.8 - 0.6 * np.exp(-0.3 * 3)
    half = HEADS // 2
    weights = differential_weights(maps[:half], maps[half:], one - two + start)
    outputs = weights @ np.concatenate([value[:half], value[half:]], axis=-1)
    normed = (1 - start) * rms_norm(outputs, np.ones(2 * WIDTH), theirs.config.rms_norm_eps)
    close(merge_heads(normed) @ w["o_proj.weight"].T, output(theirs, x, angles))


def test_linear_attention_with_decays_as_minimax_and_mamba_2_have_it(rng, x):
    theirs, w = drawn(
        "MiniMax", name="LightningAttention", number=1, block_size=3, num_hidden_layers=4
    )
    mixed = x @ w["qkv_proj.weight"].T
    packed = (mixed / (1 + np.exp(-mixed))).reshape(N, HEADS, 3 * WIDTH).swapaxes(0, 1)
    query, key, value = np.split(packed, 3, axis=-1)
    decay = np.exp(-theirs.slope_rate.numpy().astype(float))[..., 0] * np.ones(N)
    by_step, _ = linear_recurrence(query, key, value, decay=decay)
    at_once = linear_attention(query, key, value, decay=decay)
    np.testing.assert_allclose(by_step, at_once, rtol=1e-9, atol=1e-9)
    merged = merge_heads(at_once)
    normed = rms_norm(merged, w["norm.weight"], theirs.norm.variance_epsilon)
    opened = gated(normed, x @ w["output_gate.weight"].T)
    close(opened @ w["out_proj.weight"].T, theirs(tensor(x)[None], None, None)[0][0])
    # Decays that differ from token to token: the matrix that Mamba-2 makes of them.
    decay = rng.uniform(0.2, 1, size=(HEADS, N))
    left = torch.exp(modelling("Mamba2").segment_sum(tensor(np.log(decay)))).numpy()
    found = linear_attention(query, key, value, decay=decay)
    close(found, (query @ key.swapaxes(1, 2) * left) @ value)


def test_the_gated_delta_rule_as_qwen3_next_and_kimi_linear_have_it(rng):
    query, key, value = rng.normal(size=(3, HEADS, N, WIDTH))
    key /= np.linalg.norm(key, axis=-1, keepdims=True)
    beta = rng.uniform(size=(HEADS, N))
    for kind, function, shape in (
        ("Qwen3Next", "torch_chunk_gated_delta_rule", (HEADS, N)),
        ("KimiLinear", "recurrent_kimi_delta_attention", (HEADS, N, WIDTH)),
    ):
        decay = rng.uniform(0.2, 1, size=shape)
        ours, states = gated_delta_rule(query, key, value, beta=beta, decay=decay)
        arrays = query * np.sqrt(WIDTH), key, value, np.log(decay), beta  # theirs scales queries
        outputs, state = getattr(modelling(kind), function)(
            *(tensor(array.swapaxes(0, 1))[None] for array in arrays),
            initial_state=None, output_final_state=True,
        )  # fmt: skip
        close(ours.swapaxes(0, 1), outputs[0])
        close(states[:, -1], state[0])


# ---- Functions ----


def test_capped_scores_as_gemma_2_and_a_sink_a_head_as_gpt_oss_has_them(rng):
    query, key, value = rng.normal(size=(3, HEADS, N, WIDTH))
    sinks = rng.normal(size=HEADS)
    module = SimpleNamespace(num_key_value_groups=1, training=False, sinks=tensor(sinks))
    scores = 0.4 * query @ key.swapaxes(1, 2)
    for kind, weights, own in (
        ("Gemma2", mha.softmax(capped_scores(scores, 2.0) + CAUSAL), {"softcap": 2.0}),
        ("GptOss", softmax_with_sink(scores + CAUSAL, sinks[:, None, None]), {}),
    ):
        handed = (tensor(array)[None] for array in (query, key, value))
        theirs = modelling(kind).eager_attention_forward
        wanted, _ = theirs(module, *handed, tensor(CAUSAL), scaling=0.4, **own)
        close((weights @ value).swapaxes(0, 1), wanted[0])


def test_rope_scaling_as_in_transformers():
    def theirs(kind, seq_len=None, **parameters):
        own = {"rope_type": kind, "rope_theta": 10000.0, "original_max_position_embeddings": 2048}
        config = transformers.LlamaConfig(
            head_dim=64, max_position_embeddings=8192, rope_parameters=own | parameters
        )
        speeds, sharpness = ROPE_INIT_FUNCTIONS[kind](config, "cpu", seq_len=seq_len)
        return speeds.numpy(), sharpness

    near = {"rtol": 1e-5}
    np.testing.assert_allclose(interpolated_speeds(64, 4), theirs("linear", factor=4.0)[0], **near)
    speeds, sharpness = theirs("yarn", factor=4.0)
    np.testing.assert_allclose(yarn_speeds(64, 4, length=2048), speeds, **near)
    assert sharpness == pytest.approx(yarn_sharpness(4))
    speeds, sharpness = theirs("yarn", factor=32.0, truncate=False, mscale=0.7, mscale_all_dim=0.3)
    found = yarn_speeds(64, 32, length=2048, truncate=False)
    np.testing.assert_allclose(found, speeds, **near)
    whole = yarn_sharpness(32, mscale=0.3)
    assert sharpness == pytest.approx(yarn_sharpness(32, mscale=0.7) / whole)
    told = {"rope_type": "yarn", "factor": 32.0, "mscale_all_dim": 0.3}
    assert modelling("DeepseekV3").yarn_apply_mscale(told, 1.0) == pytest.approx(whole**2)
    speeds, _ = theirs("dynamic", seq_len=4 * 8192, factor=1.0)
    np.testing.assert_allclose(rotary_speeds(64, base=wider_base(64, 4)), speeds, **near)


def test_an_indexer_has_one_key_per_token_and_sums_positive_scores():
    theirs, _ = drawn(
        "DeepseekV32", name="Indexer", q_lora_rank=9, qk_rope_head_dim=6, index_n_heads=HEADS,
        index_head_dim=WIDTH, index_topk=3,
    )  # fmt: skip
    x, asked = torch.randn(1, N, D_MODEL), torch.randn(1, N, 9)
    still = torch.ones(1, N, 6), torch.zeros(1, N, 6)
    found = theirs(x, asked, still, tensor(CAUSAL)[None], None)
    query = theirs.wq_b(asked).reshape(N, HEADS, WIDTH).swapaxes(0, 1)
    key = theirs.k_norm(theirs.wk(x))[0]
    scores = indexer_scores(query.numpy(), key.numpy(), theirs.weights_proj(x)[0].T.numpy())
    kept = top_keys_mask(scores + CAUSAL, 3)
    for row in range(N):
        assert {int(i) for i in found[0, row] if i <= row} == set(np.flatnonzero(kept[row]))


def test_blocks_are_chosen_as_minimax_m3_does_where_the_keys_of_a_block_are_equal():
    # It takes the largest score of a block, the paper that of the mean key: here both are the same.
    block, count, blocks = 3, 2, 5
    config = transformers.MiniMaxM3VLTextConfig(
        hidden_size=D_MODEL, num_attention_heads=1, index_n_heads=1, index_head_dim=WIDTH,
        index_block_size=block, index_topk_blocks=count, index_local_blocks=1,
    )  # fmt: skip
    theirs = modelling("MiniMaxM3VL").MiniMaxM3VLIndexer(config, layer_idx=0)
    x = torch.randn(1, blocks, D_MODEL).repeat_interleave(block, dim=1)[:, : blocks * block - 1]
    n = x.shape[1]
    still = torch.ones(1, n, WIDTH), torch.zeros(1, n, WIDTH)
    places = torch.arange(n)[None]
    chosen = theirs(x, still, None, places)
    wanted = theirs.build_block_mask(chosen, None, n, x.dtype, x.device, places)[0, 0] == 0
    query, key = (
        norm(project(x))[0].numpy()
        for norm, project in ((theirs.q_norm, theirs.q_proj), (theirs.k_norm, theirs.k_proj))
    )
    np.testing.assert_array_equal(top_blocks_mask(query, key, block, count), wanted.numpy())
    assert not wanted[-1].all()


def test_int8_as_in_torch(rng):
    x = rng.normal(size=(N, WIDTH))
    kept = EightBits.of(x)
    scale, zeros = tensor(kept.factor[:, 0]), torch.zeros(N, dtype=torch.int32)
    theirs = torch.fake_quantize_per_channel_affine(tensor(x), scale, zeros, 0, -128, 127)
    np.testing.assert_array_equal(kept.whole, (theirs / scale[:, None]).round().numpy())
    close(kept.numbers, theirs.numpy())


# ---- Claims of the chapter ----


def test_a_window_counts_the_token_itself():
    inside = sliding_window_overlay(128)
    assert sum(bool(inside(0, 0, 500, key)) for key in range(501)) == 128


def test_facts_from_configurations_are_the_defaults_of_transformers():
    classes = {
        cls.__module__.rsplit(".", 1)[-1]: cls
        for name in CONFIGURATIONS
        for cls in [getattr(transformers, f"{name}Config")]
    }
    compared = 0
    for fact in published_models().facts:
        if fact.source.key != "transformers" or not fact.where.startswith("configuration_"):
            continue
        settings = classes[fact.where.removesuffix(".py")]().to_dict()
        for found in (settings, settings.get("rope_parameters") or {}):
            if fact.field in found:
                compared += 1
                assert found[fact.field] == fact.value, fact
    assert compared > 25


@pytest.mark.parametrize(
    "kind", ["DeepseekV3", "DeepseekV32", "GptOss", "Gemma3Text", "Glm4Moe", "Qwen3Next"]
)
def test_the_chapter_has_each_field_of_a_configuration_on_attention(kind):
    fields = " ".join(getattr(transformers, f"{kind}Config")().to_dict())
    found = set(ON_ATTENTION.findall(fields))
    assert len(found) > 6
    assert found <= explained_fields() | {"output_attentions", "mlp_layer_types"}
