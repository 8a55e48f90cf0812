"""What models do since 2023, beside the layers of `transformers`, with random weights."""

import re
from pathlib import Path

import numpy as np
import pytest
import torch
import transformers
from transformers.masking_utils import sliding_window_overlay
from transformers.modeling_rope_utils import ROPE_INIT_FUNCTIONS
from transformers.models.deepseek_v3 import modeling_deepseek_v3 as deepseek
from transformers.models.deepseek_v32 import modeling_deepseek_v32 as deepseek_v32
from transformers.models.diffllama import modeling_diffllama as diffllama
from transformers.models.gemma2 import modeling_gemma2 as gemma2
from transformers.models.gpt_oss import modeling_gpt_oss as gpt_oss
from transformers.models.mamba2 import modeling_mamba2 as mamba2
from transformers.models.minimax import modeling_minimax as minimax
from transformers.models.qwen3_next import modeling_qwen3_next as qwen3_next

import mha
from mha.core.eight_bits import EightBits
from mha.core.latent import LatentWeights, latent_attention
from mha.core.linear_attention import linear_attention, linear_recurrence
from mha.core.norm import rms_norm
from mha.core.score_variants import (
    capped_scores,
    differential_weights,
    gated,
    softmax_with_sink,
    top_keys_mask,
)
from mha.core.stretched import (
    interpolated_speeds,
    rotary_speeds,
    wider_base,
    yarn_sharpness,
    yarn_speeds,
)

N, D_MODEL, HEADS, GROUPS, WIDTH = 7, 22, 6, 2, 10
CLOSE = {"rtol": 1e-5, "atol": 1e-5}
BOOK = Path(__file__).parents[2] / "book"
ON_ATTENTION = re.compile(
    r"\b(?!_)\w*(?:head|rank|rope|rotary|attn|attention|sliding|linear|qk|layer_types|position)\w*"
)
CAUSAL = np.where(np.tri(N, dtype=bool), 0.0, -np.inf)


def tensor(array):
    return torch.tensor(np.asarray(array, np.float32))


def numbers(module, name):
    return dict(module.named_parameters())[name].numpy().astype(float)


def spread(module):
    """Give every parameter numbers that are large enough to tell."""
    for parameter in module.parameters():
        parameter.copy_(torch.randn_like(parameter) * 0.4 + 0.1 * (parameter.ndim == 1))
    return module.eval()


def turns(speeds):
    """Return cosines and sines as the layers of transformers take them."""
    angles = np.arange(N)[:, None] * speeds
    both = np.concatenate([angles, angles], axis=-1)[None]
    return tensor(np.cos(both)), tensor(np.sin(both))


def by_head(matrix, heads):
    """Return a Linear's matrix as one a head that multiplies from the right."""
    return matrix.reshape(heads, -1, matrix.shape[-1]).swapaxes(1, 2)


@pytest.mark.parametrize("compressed", [None, 9])
def test_latent_attention_as_deepseek_v3_has_it(rng, compressed):
    d_c, d_k, d_r, d_v = 5, 4, 6, 3
    config = deepseek.DeepseekV3Config(
        hidden_size=D_MODEL, num_attention_heads=HEADS, num_key_value_heads=HEADS,
        q_lora_rank=compressed, kv_lora_rank=d_c, qk_nope_head_dim=d_k, qk_rope_head_dim=d_r,
        v_head_dim=d_v, attn_implementation="eager",
    )  # fmt: skip
    theirs = spread(deepseek.DeepseekV3Attention(config, 0))
    x, speeds = rng.normal(size=(N, D_MODEL)), rotary_speeds(d_r)
    wanted, _ = theirs(tensor(x)[None], turns(speeds), tensor(CAUSAL)[None, None])
    name = "q_proj.weight" if compressed is None else "q_b_proj.weight"
    asking = by_head(numbers(theirs, name), HEADS)
    making = by_head(numbers(theirs, "kv_b_proj.weight"), HEADS)
    down = numbers(theirs, "kv_a_proj_with_mqa.weight").T
    own = {} if compressed is None else {
        "w_dq": numbers(theirs, "q_a_proj.weight").T,
        "query_gain": numbers(theirs, "q_a_layernorm.weight"),
    }  # fmt: skip
    layer = LatentWeights(
        w_dkv=down[:, :d_c], w_kr=down[:, d_c:], w_uk=making[..., :d_k], w_uv=making[..., d_k:],
        w_uq=asking[..., :d_k], w_qr=asking[..., d_k:], w_o=numbers(theirs, "o_proj.weight").T,
        gain=numbers(theirs, "kv_a_layernorm.weight"), **own,
    )  # fmt: skip
    angles = np.arange(N)[:, None] * speeds
    plain, absorbed = (
        latent_attention(x, layer, angles=angles, absorbed=form) for form in (False, True)
    )
    np.testing.assert_allclose(plain.output, wanted[0], **CLOSE)
    np.testing.assert_allclose(absorbed.output, plain.output, rtol=1e-10, atol=1e-10)
    assert np.ptp(plain.weights[:, -1]) > 0.1


class Module:
    """What the functions of attention in transformers read of their layer."""

    num_key_value_groups = 1
    training = False


def projected(rng, heads=HEADS):
    return rng.normal(size=(3, heads, N, WIDTH))


def test_capped_scores_as_gemma_2_has_them(rng):
    query, key, value = projected(rng)
    wanted, _ = gemma2.eager_attention_forward(
        Module(), *(tensor(a)[None] for a in (query, key, value)), tensor(CAUSAL), softcap=2.0,
        scaling=WIDTH**-0.5,
    )  # fmt: skip
    scores = capped_scores(query @ key.swapaxes(1, 2) / np.sqrt(WIDTH), 2.0)
    found = mha.softmax(scores + CAUSAL) @ value
    np.testing.assert_allclose(found.swapaxes(0, 1), wanted[0], **CLOSE)


def test_a_sink_a_head_as_gpt_oss_has_it(rng):
    query, key, value = projected(rng)
    sinks = rng.normal(size=HEADS)
    module = Module()
    module.sinks = tensor(sinks)
    wanted, _ = gpt_oss.eager_attention_forward(
        module, *(tensor(a)[None] for a in (query, key, value)), tensor(CAUSAL), scaling=0.4
    )
    scores = 0.4 * query @ key.swapaxes(1, 2) + CAUSAL
    found = softmax_with_sink(scores, sinks[:, None, None]) @ value
    np.testing.assert_allclose(found.swapaxes(0, 1), wanted[0], **CLOSE)


def test_normed_queries_and_keys_and_a_gate_as_qwen3_next_has_them(rng):
    config = qwen3_next.Qwen3NextConfig(
        hidden_size=D_MODEL, num_attention_heads=HEADS, num_key_value_heads=GROUPS,
        head_dim=WIDTH, attn_implementation="eager",
    )  # fmt: skip
    theirs = spread(qwen3_next.Qwen3NextAttention(config, 0))
    speeds = rotary_speeds(4)  # of ten components the first four are turned
    x = rng.normal(size=(N, D_MODEL))
    wanted, _ = theirs(tensor(x)[None], turns(speeds), tensor(CAUSAL)[None, None])
    asking = by_head(numbers(theirs, "q_proj.weight"), HEADS)
    key, value = (x @ by_head(numbers(theirs, f"{n}_proj.weight"), GROUPS) for n in "kv")
    query, gate = x @ asking[..., :WIDTH], x @ asking[..., WIDTH:]
    angles = np.arange(N)[:, None] * speeds

    def ready(vectors, name):
        normed = rms_norm(vectors, 1 + numbers(theirs, f"{name}_norm.weight"), config.rms_norm_eps)
        turned = mha.rotate_by(normed[..., :4], angles, layout="halves")
        return np.concatenate([turned, normed[..., 4:]], axis=-1)

    heads = mha.scaled_dot_product_attention(
        ready(query, "q"), ready(key, "k"), value, is_causal=True, enable_gqa=True
    )
    found = mha.merge_heads(gated(heads, gate)) @ numbers(theirs, "o_proj.weight").T
    np.testing.assert_allclose(found, wanted[0], **CLOSE)


def test_a_difference_of_two_softmaxes_as_diffllama_has_it(rng):
    config = diffllama.DiffLlamaConfig(
        hidden_size=D_MODEL, num_attention_heads=HEADS, num_key_value_heads=HEADS,
        head_dim=WIDTH, attn_implementation="eager",
    )  # fmt: skip
    theirs = spread(diffllama.DiffLlamaAttention(config, 3))
    x, speeds = rng.normal(size=(N, D_MODEL)), rotary_speeds(WIDTH)
    wanted, _ = theirs(tensor(x)[None], turns(speeds), tensor(CAUSAL)[None, None])
    query, key, value = (x @ by_head(numbers(theirs, f"{n}_proj.weight"), HEADS) for n in "qkv")
    angles = np.arange(N)[:, None] * speeds
    query, key = (mha.rotate_by(a, angles, layout="halves") for a in (query, key))
    maps = mha.attention_weights(query, key, is_causal=True)
    one, two = (
        np.exp(numbers(theirs, f"lambda_q{i}") @ numbers(theirs, f"lambda_k{i}")) for i in (1, 2)
    )
    start = 0.8 - 0.6 * np.exp(-0.3 * 3)
    half = HEADS // 2
    weights = differential_weights(maps[:half], maps[half:], one - two + start)
    outputs = weights @ np.concatenate([value[:half], value[half:]], axis=-1)
    eps = config.rms_norm_eps
    normed = (1 - start) * rms_norm(outputs, np.ones(2 * WIDTH), eps)
    found = mha.merge_heads(normed) @ numbers(theirs, "o_proj.weight").T
    np.testing.assert_allclose(found, wanted[0], **CLOSE)


def test_linear_attention_with_decays_as_minimax_and_mamba_2_have_it(rng):
    config = minimax.MiniMaxConfig(
        hidden_size=D_MODEL, num_attention_heads=HEADS, num_key_value_heads=HEADS,
        head_dim=WIDTH, block_size=3, num_hidden_layers=4,
    )  # fmt: skip
    theirs = spread(minimax.MiniMaxLightningAttention(config, 1))
    x = rng.normal(size=(N, D_MODEL))
    wanted, _ = theirs(tensor(x)[None], None, None)
    mixed = x @ numbers(theirs, "qkv_proj.weight").T
    packed = (mixed / (1 + np.exp(-mixed))).reshape(N, HEADS, 3 * WIDTH).swapaxes(0, 1)
    query, key, value = np.split(packed, 3, axis=-1)
    decay = np.exp(-theirs.slope_rate.numpy().astype(float))[..., 0] * np.ones(N)
    by_step, _ = linear_recurrence(query, key, value, decay=decay)
    at_once = linear_attention(query, key, value, decay=decay)
    np.testing.assert_allclose(by_step, at_once, rtol=1e-9, atol=1e-9)
    normed = rms_norm(
        mha.merge_heads(at_once), numbers(theirs, "norm.weight"), theirs.norm.variance_epsilon
    )
    opened = gated(normed, x @ numbers(theirs, "output_gate.weight").T)
    np.testing.assert_allclose(opened @ numbers(theirs, "out_proj.weight").T, wanted[0], **CLOSE)
    # Decays that differ from token to token: the matrix that Mamba-2 makes of them.
    decay = rng.uniform(0.2, 1, size=(HEADS, N))
    left = torch.exp(mamba2.segment_sum(tensor(np.log(decay)))).numpy()
    np.testing.assert_allclose(
        linear_attention(query, key, value, decay=decay),
        (query @ key.swapaxes(1, 2) * left) @ value, **CLOSE,
    )  # fmt: skip


class Config:
    """What the functions of rotary positions in transformers read."""

    head_dim, hidden_size, num_attention_heads, max_position_embeddings = 64, 64, 1, 8192

    def __init__(self, **parameters):
        self.rope_parameters = {
            "rope_theta": 10000.0, "original_max_position_embeddings": 2048, **parameters
        }  # fmt: skip

    def standardize_rope_params(self):
        """Nothing is to be changed."""


def test_stretched_positions_as_transformers_has_them():
    def theirs(kind, **parameters):
        speeds, sharpness = ROPE_INIT_FUNCTIONS[kind](Config(**parameters), "cpu")
        return speeds.numpy(), sharpness

    close = {"rtol": 1e-5}
    np.testing.assert_allclose(interpolated_speeds(64, 4), theirs("linear", factor=4.0)[0], **close)
    speeds, sharpness = theirs("yarn", factor=4.0)
    np.testing.assert_allclose(yarn_speeds(64, 4, length=2048), speeds, **close)
    assert sharpness == pytest.approx(yarn_sharpness(4))
    speeds, sharpness = theirs("yarn", factor=32.0, truncate=False, mscale=0.7, mscale_all_dim=0.3)
    found = yarn_speeds(64, 32, length=2048, truncate=False)
    np.testing.assert_allclose(found, speeds, **close)
    whole = yarn_sharpness(32, mscale=0.3)
    assert sharpness == pytest.approx(yarn_sharpness(32, mscale=0.7) / whole)
    scaling = deepseek.yarn_apply_mscale(
        {"rope_type": "yarn", "factor": 32.0, "mscale_all_dim": 0.3}, 1.0
    )
    assert scaling == pytest.approx(whole**2)
    speeds, _ = ROPE_INIT_FUNCTIONS["dynamic"](
        Config(rope_type="dynamic", factor=1.0), "cpu", seq_len=4 * 8192
    )
    np.testing.assert_allclose(rotary_speeds(64, base=wider_base(64, 4)), speeds, **close)


def test_the_largest_scores_as_torch_finds_them(rng):
    scores = rng.normal(size=(HEADS, N, N)) + CAUSAL
    wanted = torch.zeros(HEADS, N, N, dtype=torch.bool)
    wanted.scatter_(-1, tensor(scores).topk(3, dim=-1).indices, True)
    np.testing.assert_array_equal(top_keys_mask(scores, 3), wanted.numpy() & np.isfinite(scores))


def test_eight_bits_as_torch_keeps_them(rng):
    x = rng.normal(size=(N, WIDTH))
    kept = EightBits.of(x)
    scale, zeros = tensor(kept.factor[:, 0]), torch.zeros(N, dtype=torch.int32)
    theirs = torch.fake_quantize_per_channel_affine(tensor(x), scale, zeros, 0, -128, 127)
    np.testing.assert_array_equal(kept.whole, (theirs / scale[:, None]).round().numpy())
    np.testing.assert_allclose(kept.numbers, theirs.numpy(), **CLOSE)


def test_a_window_counts_the_token_itself():
    inside = sliding_window_overlay(128)
    assert sum(bool(inside(0, 0, 500, key)) for key in range(501)) == 128


def test_an_indexer_keeps_one_key_a_token_and_adds_what_is_above_0():
    config = deepseek_v32.DeepseekV32Config(
        hidden_size=D_MODEL, q_lora_rank=9, qk_rope_head_dim=6, index_n_heads=HEADS,
        index_head_dim=WIDTH, index_topk=3,
    )  # fmt: skip
    theirs = spread(deepseek_v32.DeepseekV32Indexer(config, 0))
    x, asked = torch.randn(1, N, D_MODEL), torch.randn(1, N, 9)
    still = torch.ones(1, N, 6), torch.zeros(1, N, 6)
    found = theirs(x, asked, still, tensor(CAUSAL)[None], None)
    query = theirs.wq_b(asked).reshape(N, HEADS, WIDTH)
    key = theirs.k_norm(theirs.wk(x))[0]
    each = (query @ key.T).relu() * theirs.weights_proj(x)[0, :, :, None]
    wanted = (each.sum(dim=1) + tensor(CAUSAL)).topk(3, dim=-1).indices
    for row in range(2, N):
        assert set(found[0, row].tolist()) == set(wanted[row].tolist())


@pytest.mark.parametrize(
    "kind", ["DeepseekV3", "DeepseekV32", "GptOss", "Gemma3Text", "Glm4Moe", "Qwen3Next"]
)
def test_the_chapter_has_each_field_of_a_configuration_on_attention(kind):
    fields = " ".join(getattr(transformers, f"{kind}Config")().to_dict())
    chapter = (BOOK / "transformer" / "since-2023.md").read_text(encoding="utf-8")
    found = set(ON_ATTENTION.findall(fields))
    assert len(found) > 6
    said = {"output_attentions", "mlp_layer_types"} | set(re.findall(r"`(\w+)`", chapter))
    assert found <= said
