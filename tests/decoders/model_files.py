"""Tiny models as files: safetensors with `config.json`, written by their specification."""

import json

import numpy as np

HEADS, GROUPS, D_K, D_FF, WIDTH, WORDS, LAYERS = 6, 2, 4, 11, 13, 17, 2

CONFIG = {
    "model_type": "llama",
    "num_attention_heads": HEADS,
    "num_key_value_heads": GROUPS,
    "head_dim": D_K,
    "hidden_size": WIDTH,
    "intermediate_size": D_FF,
    "num_hidden_layers": LAYERS,
    "vocab_size": WORDS,
    "rms_norm_eps": 1e-3,
    "rope_theta": 50.0,
    "max_position_embeddings": 64,
    "tie_word_embeddings": False,
    "eos_token_id": [3, 4],
}


def drawn_arrays(rng):
    """Return the arrays of a model by their names, in the shapes of `transformers`."""
    shapes = {
        "input_layernorm": (WIDTH,),
        "self_attn.q_proj": (HEADS * D_K, WIDTH),
        "self_attn.k_proj": (GROUPS * D_K, WIDTH),
        "self_attn.v_proj": (GROUPS * D_K, WIDTH),
        "self_attn.o_proj": (WIDTH, HEADS * D_K),
        "post_attention_layernorm": (WIDTH,),
        "mlp.gate_proj": (D_FF, WIDTH),
        "mlp.up_proj": (D_FF, WIDTH),
        "mlp.down_proj": (WIDTH, D_FF),
    }
    named = {
        f"model.layers.{number}.{name}.weight": shape
        for number in range(LAYERS)
        for name, shape in shapes.items()
    }
    named |= {
        "model.embed_tokens.weight": (WORDS, WIDTH),
        "model.norm.weight": (WIDTH,),
        "lm_head.weight": (WORDS, WIDTH),
    }
    return {name: rng.normal(size=shape).astype(np.float32) for name, shape in named.items()}


def write_safetensors(path, arrays):
    """Write a safetensors file by its specification: header length, header, numbers."""
    head, body = {}, b""
    for name, array in arrays.items():
        data = array.tobytes()
        place = [len(body), len(body) + len(data)]
        head[name] = {"dtype": "F32", "shape": array.shape, "data_offsets": place}
        body += data
    start = json.dumps(head).encode()
    path.write_bytes(len(start).to_bytes(8, "little") + start + body)


def write_folder(folder, arrays, config=CONFIG):
    """Write a model into a folder, and return the folder."""
    write_safetensors(folder / "model.safetensors", arrays)
    (folder / "config.json").write_text(json.dumps(config))
    return folder


def logits_in_halves(arrays, ids, theta=50.0, eps=1e-3):
    """Return the logits by the formulas of `transformers`, in float64, one head after another.

    Its rotation takes components i and i + d_k / 2 together: x cos + rotate_half(x) sin.
    """
    w = {name: array.astype(np.float64) for name, array in arrays.items()}

    def norm(x, gain):
        return x / np.sqrt((x**2).mean(axis=-1, keepdims=True) + eps) * gain

    angles = np.arange(len(ids))[:, None] * theta ** (-np.arange(0, D_K, 2) / D_K)
    angles = np.concatenate([angles, angles], axis=-1)

    def rotated(x):
        half = np.concatenate([-x[:, D_K // 2 :], x[:, : D_K // 2]], axis=-1)
        return x * np.cos(angles) + half * np.sin(angles)

    x = w["model.embed_tokens.weight"][list(ids)]
    for number in range(LAYERS):
        of = {
            name.split(".", 3)[3]: array for name, array in w.items() if f"layers.{number}." in name
        }
        normed = norm(x, of["input_layernorm.weight"])
        q, k, v = (normed @ of[f"self_attn.{letter}_proj.weight"].T for letter in "qkv")
        heads = []
        for head in range(HEADS):
            own = slice(head * D_K, (head + 1) * D_K)
            group = head // (HEADS // GROUPS)
            shared = slice(group * D_K, (group + 1) * D_K)
            scores = rotated(q[:, own]) @ rotated(k[:, shared]).T / np.sqrt(D_K)
            scores[np.triu_indices(len(ids), 1)] = -np.inf
            powers = np.exp(scores)
            heads.append(powers / powers.sum(axis=-1, keepdims=True) @ v[:, shared])
        x = x + np.concatenate(heads, axis=-1) @ of["self_attn.o_proj.weight"].T
        normed = norm(x, of["post_attention_layernorm.weight"])
        gate, up = (normed @ of[f"mlp.{name}_proj.weight"].T for name in ("gate", "up"))
        x = x + (gate / (1 + np.exp(-gate)) * up) @ of["mlp.down_proj.weight"].T
    return norm(x, w["model.norm.weight"]) @ w["lm_head.weight"].T
