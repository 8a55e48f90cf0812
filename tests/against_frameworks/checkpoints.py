"""Tiny random models of transformers: one row per kind of model, and their layers' outputs."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import reduce
from typing import Any

import torch
import transformers

N, WORDS = 11, 31
"""Tokens of a sequence, and of a vocabulary."""


@dataclass(frozen=True)
class Checkpoint:
    """A model, and the layer that is read from it.

    Parameters
    ----------
    model : str
        A class of transformers.
    config : mapping
    module : str
        The attention module; "{}" is the layer's number.
    output : str
        Where the output projection is, if the module adds something behind it.
    layer : int
    within : str
    has : tuple of str
        The fields of `AttentionLayer` that are not as usual; each changes the output.
    is_causal : bool
    """

    model: str
    config: Mapping[str, Any]
    module: str
    output: str = ""
    layer: int = 0
    within: str = ""
    has: tuple[str, ...] = ()
    is_causal: bool = True

    def made(self):
        """Return the model with random weights, including biases and gains."""
        kind = getattr(transformers, self.model)
        config = kind.config_class(**self.config)
        config._attn_implementation = "eager"
        model = kind(config).eval()
        for name, parameter in model.named_parameters():
            if parameter.ndim == 2 and "emb" not in name:
                parameter.copy_(torch.randn_like(parameter) * 1.2 / parameter.shape[1] ** 0.5)
            elif parameter.ndim == 1:
                parameter.add_(torch.randn_like(parameter) / 3)
            if "relative_attention_bias" in name or "sinks" in name:
                parameter.copy_(torch.randn_like(parameter))
            if "embed" in name or "wte" in name or "word" in name:
                parameter.copy_(torch.randn_like(parameter))
        return model

    def run(self, model):
        """Return the input and the output of the layer's attention in a run of the model."""
        path = self.module.format(self.layer)
        module = reduce(lambda x, step: x[int(step)] if step.isdigit() else getattr(x, step),
                        path.split("."), model)  # fmt: skip
        last = reduce(getattr, self.output.split("."), module) if self.output else module
        kept = {}

        def before(_, values, named):
            names = ("hidden_states", "query", "x")
            kept["x"] = values[0] if values else next(named[n] for n in names if n in named)

        def after(_, __, found):
            kept["output"] = found if torch.is_tensor(found) else found[0]

        hooks = [
            module.register_forward_pre_hook(before, with_kwargs=True),
            last.register_forward_hook(after),
        ]
        model(**inputs_of(model.config))
        for hook in hooks:
            hook.remove()
        return kept["x"].numpy(), kept["output"].numpy()


def inputs_of(config):
    """Return inputs for a model: tokens, an image, sound, or two of them."""
    kind = config.model_type
    words = torch.randint(3, WORDS, (1, N))
    image = torch.randn(1, 3, 12, 12)
    if kind in ("vit", "deit", "clip_vision_model", "siglip_vision_model"):
        return {"pixel_values": image}
    if kind == "clip":
        return {"input_ids": words, "pixel_values": image}
    if kind == "whisper":
        return {"input_features": torch.randn(1, 80, 2 * N), "decoder_input_ids": words}
    if kind in ("bart", "mbart", "t5", "mt5"):
        return {"input_ids": words, "decoder_input_ids": words.flip(1)}
    return {"input_ids": words}


_TWO = {"num_hidden_layers": 2, "vocab_size": WORDS, "pad_token_id": 0}
_SMALL = _TWO | {"hidden_size": 24, "num_attention_heads": 3, "intermediate_size": 16}
_GROUPED = _TWO | {
    "hidden_size": 24, "intermediate_size": 16, "num_attention_heads": 6, "num_key_value_heads": 2,
}  # fmt: skip
_WIDE = _GROUPED | {"head_dim": 6}
_GPT = {"vocab_size": WORDS, "n_embd": 24, "n_head": 3, "n_layer": 2}
_SIDES = {
    "vocab_size": WORDS, "d_model": 24, "encoder_layers": 2, "decoder_layers": 2,
    "encoder_attention_heads": 3, "decoder_attention_heads": 4, "encoder_ffn_dim": 16,
    "decoder_ffn_dim": 16,
}  # fmt: skip
_IMAGES = {
    "hidden_size": 24, "num_attention_heads": 3, "intermediate_size": 16, "num_hidden_layers": 2,
    "image_size": 12, "patch_size": 4,
}  # fmt: skip
_EXPERTS = {"moe_intermediate_size": 8, "num_experts": 2, "num_experts_per_tok": 1}
_T5 = {"vocab_size": WORDS, "d_model": 24, "d_kv": 5, "num_heads": 3, "num_layers": 2, "d_ff": 16}
_LATENT = _TWO | {
    "hidden_size": 24, "intermediate_size": 16, "num_attention_heads": 6, "num_key_value_heads": 6,
    "kv_lora_rank": 8, "qk_rope_head_dim": 4, "qk_nope_head_dim": 6, "v_head_dim": 3,
    "first_k_dense_replace": 5,
}  # fmt: skip
_YARN = {
    "rope_type": "yarn", "rope_theta": 10000.0, "factor": 4.0,
    "original_max_position_embeddings": 16, "mscale": 0.7, "mscale_all_dim": 0.7,
}  # fmt: skip
_LLAMA3 = {
    "rope_type": "llama3", "rope_theta": 10000.0, "factor": 4.0, "low_freq_factor": 1.0,
    "high_freq_factor": 4.0, "original_max_position_embeddings": 32,
}  # fmt: skip
_FIRST = {"rope_type": "default", "rope_theta": 100.0}
_SELF, _H, _BERT = "layers.{}.self_attn", "h.{}.attn", "encoder.layer.{}.attention"
_BOTH = {
    "text_config": _SMALL,
    "vision_config": _IMAGES,
}

CHECKPOINTS = {
    "gpt2": Checkpoint("GPT2LMHeadModel", _GPT, "transformer.h.{}.attn", layer=1),
    "openai-gpt": Checkpoint("OpenAIGPTModel", _GPT, _H),
    "gpt_bigcode": Checkpoint("GPTBigCodeModel", _GPT, _H),
    "gpt_bigcode, each head": Checkpoint("GPTBigCodeModel", _GPT | {"multi_query": False}, _H),
    "gptj": Checkpoint("GPTJModel", _GPT | {"rotary_dim": 4}, _H, has=("speeds",)),
    "gpt_neo": Checkpoint(
        "GPTNeoModel",
        {"vocab_size": WORDS, "hidden_size": 24, "num_heads": 3, "num_layers": 2,
         "attention_types": [[["global", "local"], 1]], "window_size": 4},
        "h.{}.attn.attention", layer=1, has=("window", "scale"),
    ),
    "gpt_neox": Checkpoint(
        "GPTNeoXModel", _SMALL | {"rotary_pct": 0.5}, "layers.{}.attention",
        has=("speeds",),
    ),
    "bloom": Checkpoint(
        "BloomModel", {"vocab_size": WORDS, "hidden_size": 24, "n_head": 3, "n_layer": 2},
        "h.{}.self_attention", "dense", has=("alibi",),
    ),
    "mpt": Checkpoint(
        "MptModel", {"vocab_size": WORDS, "d_model": 24, "n_heads": 3, "n_layers": 2},
        "blocks.{}.attn", has=("alibi",),
    ),
    "mpt, scaled": Checkpoint(
        "MptModel", {"vocab_size": WORDS, "d_model": 24, "n_heads": 3, "n_layers": 2,
                     "attn_config": {"softmax_scale": 0.7}},
        "blocks.{}.attn", has=("alibi", "scale"),
    ),
    "falcon": Checkpoint("FalconModel", _SMALL, "h.{}.self_attention", has=("base",)),
    "falcon, grouped": Checkpoint(
        "FalconModel", _SMALL | {"num_attention_heads": 6, "new_decoder_architecture": True,
                                 "num_kv_heads": 2, "bias": True},
        "h.{}.self_attention", has=("base",),
    ),
    "falcon, each head": Checkpoint(
        "FalconModel", _SMALL | {"multi_query": False}, "h.{}.self_attention", has=("base",)
    ),
    "bert": Checkpoint("BertModel", _SMALL, _BERT, "output.dense", is_causal=False),
    "bert, causal": Checkpoint(
        "BertLMHeadModel", _SMALL | {"is_decoder": True}, f"bert.{_BERT}", "output.dense",
    ),
    "roberta": Checkpoint("RobertaModel", _SMALL, _BERT, "output.dense", is_causal=False),
    "xlm-roberta": Checkpoint("XLMRobertaModel", _SMALL, _BERT, "output.dense", is_causal=False),
    "camembert": Checkpoint("CamembertModel", _SMALL, _BERT, "output.dense", is_causal=False),
    "electra": Checkpoint(
        "ElectraModel", _SMALL | {"embedding_size": 24}, _BERT, "output.dense", is_causal=False),
    "distilbert": Checkpoint(
        "DistilBertModel",
        {"vocab_size": WORDS, "dim": 24, "n_heads": 3, "hidden_dim": 16, "n_layers": 2},
        "transformer.layer.{}.attention", is_causal=False,
    ),
    "modernbert": Checkpoint(
        "ModernBertModel", _SMALL | {"local_attention": 6}, "layers.{}.attn", layer=1,
        has=("window", "base"), is_causal=False,
    ),
    "modernbert, full": Checkpoint(
        "ModernBertModel", _SMALL, "layers.{}.attn", has=("base",), is_causal=False
    ),
    "vit": Checkpoint("ViTModel", _IMAGES, "layers.{}.attention", is_causal=False),
    "deit": Checkpoint("DeiTModel", _IMAGES, "layers.{}.attention", is_causal=False),
    "clip, text": Checkpoint(
        "CLIPModel", _BOTH, "text_model.encoder.layers.{}.self_attn", within="text_model",
    ),
    "clip, images": Checkpoint(
        "CLIPModel", _BOTH, "vision_model.encoder.layers.{}.self_attn", within="vision_model",
        is_causal=False,
    ),
    "clip_vision_model": Checkpoint(
        "CLIPVisionModel", _IMAGES, "encoder.layers.{}.self_attn", is_causal=False
    ),
    "clip_text_model": Checkpoint(
        "CLIPTextModel", _SMALL, "encoder.layers.{}.self_attn"
    ),
    "siglip_vision_model": Checkpoint(
        "SiglipVisionModel", _IMAGES, "encoder.layers.{}.self_attn", is_causal=False
    ),
    "opt": Checkpoint(
        "OPTModel",
        _TWO | {"hidden_size": 24, "num_attention_heads": 3, "ffn_dim": 16,
                "word_embed_proj_dim": 24},
        "decoder.layers.{}.self_attn",
    ),
    "bart, encoder": Checkpoint(
        "BartModel", _SIDES, "encoder.layers.{}.self_attn", within="encoder.layers",
        is_causal=False,
    ),
    "bart, decoder": Checkpoint(
        "BartModel", _SIDES, "decoder.layers.{}.self_attn", within="decoder.layers.1.self",
        layer=1,
    ),
    "mbart": Checkpoint(
        "MBartModel", _SIDES, "decoder.layers.{}.self_attn", within="decoder.layers.0.self",
    ),
    "whisper": Checkpoint(
        "WhisperModel", _SIDES | {"pad_token_id": 1, "max_source_positions": N},
        "encoder.layers.{}.self_attn", within="encoder.layers", is_causal=False,
    ),
    "t5, encoder": Checkpoint(
        "T5Model", _T5, "encoder.block.{}.layer.0.SelfAttention", within="encoder", layer=1,
        has=("relative_bias", "scale"), is_causal=False,
    ),
    "t5, decoder": Checkpoint(
        "T5Model", _T5, "decoder.block.{}.layer.0.SelfAttention", within="decoder.block.1.layer.0",
        layer=1, has=("relative_bias", "scale"),
    ),
    "mt5": Checkpoint(
        "MT5Model", _T5, "encoder.block.{}.layer.0.SelfAttention", within="encoder",
        has=("relative_bias", "scale"), is_causal=False,
    ),
    "llama": Checkpoint(
        "LlamaForCausalLM", _WIDE, f"model.{_SELF}", layer=1, has=("base",)
    ),
    "llama, biases and other speeds": Checkpoint(
        "LlamaModel", _WIDE | {"attention_bias": True, "rope_parameters": _LLAMA3}, _SELF,
        has=("speeds",),
    ),
    "llama, linear": Checkpoint(
        "LlamaModel", _WIDE | {"rope_parameters": _FIRST | {"rope_type": "linear", "factor": 3.0}},
        _SELF, has=("speeds",),
    ),
    "llama, yarn": Checkpoint(
        "LlamaModel", _WIDE | {"rope_parameters": {
            "rope_type": "yarn", "rope_theta": 100.0, "factor": 4.0,
            "original_max_position_embeddings": 16}},
        _SELF, has=("speeds", "scale"),
    ),
    "mistral": Checkpoint(
        "MistralModel", _GROUPED | {"sliding_window": 4}, _SELF, has=("window", "base")
    ),
    "mixtral": Checkpoint(
        "MixtralModel", _GROUPED | {"num_local_experts": 2}, _SELF, has=("base",)
    ),
    "qwen2": Checkpoint("Qwen2Model", _GROUPED, _SELF, has=("base",)),
    "qwen2, window": Checkpoint(
        "Qwen2Model",
        _GROUPED | {"use_sliding_window": True, "sliding_window": 4, "max_window_layers": 1},
        _SELF, layer=1, has=("base", "window"),
    ),
    "qwen2_moe": Checkpoint(
        "Qwen2MoeModel", _GROUPED | _EXPERTS | {"shared_expert_intermediate_size": 8}, _SELF,
        has=("base",),
    ),
    "qwen3": Checkpoint("Qwen3Model", _WIDE, _SELF, has=("query_norm", "key_norm", "base")),
    "qwen3_moe": Checkpoint(
        "Qwen3MoeModel", _WIDE | _EXPERTS, _SELF, has=("query_norm", "key_norm", "base")
    ),
    "gemma": Checkpoint("GemmaModel", _WIDE, _SELF, has=("base",)),
    "gemma2": Checkpoint(
        "Gemma2Model",
        _WIDE | {"sliding_window": 4, "query_pre_attn_scalar": 9, "attn_logit_softcapping": 2.0},
        _SELF, has=("softcap", "window", "scale", "base"),
    ),
    "gemma2, full": Checkpoint(
        "Gemma2Model", _WIDE | {"query_pre_attn_scalar": 9, "attn_logit_softcapping": 2.0}, _SELF,
        layer=1, has=("softcap", "scale", "base"),
    ),
    "gemma3_text": Checkpoint(
        "Gemma3TextModel", _WIDE | {"sliding_window": 4, "query_pre_attn_scalar": 9}, _SELF,
        has=("query_norm", "key_norm", "window", "scale", "base"),
    ),
    "gemma3_text, full": Checkpoint(
        "Gemma3TextModel",
        _WIDE | {"layer_types": ["sliding_attention", "full_attention"],
                 "query_pre_attn_scalar": 9},
        _SELF, layer=1, has=("query_norm", "key_norm", "scale", "base"),
    ),
    "gemma3": Checkpoint(
        "Gemma3ForConditionalGeneration",
        {"text_config": _WIDE | {"query_pre_attn_scalar": 9, "sliding_window": 4},
         "vision_config": _IMAGES},
        f"model.language_model.{_SELF}", within="language_model",
        has=("query_norm", "key_norm", "window", "scale", "base"),
    ),
    "phi": Checkpoint("PhiModel", _GROUPED, _SELF, has=("speeds",)),
    "phi3": Checkpoint(
        "Phi3Model", _GROUPED | {"sliding_window": 4}, _SELF, has=("base", "window")
    ),
    "phi3, partly rotated": Checkpoint(
        "Phi3Model", _GROUPED | {"partial_rotary_factor": 0.5}, _SELF, has=("speeds",)
    ),
    "cohere": Checkpoint("CohereModel", _GROUPED, _SELF, has=("base",)),
    "cohere2": Checkpoint(
        "Cohere2Model", _GROUPED | {"sliding_window": 4}, _SELF, has=("base", "window")
    ),
    "cohere2, full": Checkpoint(
        "Cohere2Model", _GROUPED | {"layer_types": ["full_attention"] * 2}, _SELF,
    ),
    "olmo": Checkpoint("OlmoModel", _GROUPED, _SELF, has=("base",)),
    "olmo2": Checkpoint("Olmo2Model", _GROUPED, _SELF, has=("query_norm", "key_norm", "base")),
    "olmo3": Checkpoint(
        "Olmo3Model", _GROUPED | {"sliding_window": 4}, _SELF,
        has=("query_norm", "key_norm", "base", "window"),
    ),
    "starcoder2": Checkpoint(
        "Starcoder2Model", _GROUPED | {"sliding_window": 4}, _SELF, has=("base", "window")
    ),
    "stablelm": Checkpoint(
        "StableLmModel", _GROUPED | {"partial_rotary_factor": 0.5, "use_qkv_bias": True}, _SELF,
        has=("speeds",),
    ),
    "granite": Checkpoint(
        "GraniteModel", _GROUPED | {"attention_multiplier": 0.7}, _SELF, has=("scale", "base")
    ),
    "gpt_oss": Checkpoint(
        "GptOssModel",
        _WIDE | {"sliding_window": 4, "num_local_experts": 2, "num_experts_per_tok": 1},
        _SELF, has=("sinks", "window", "speeds", "scale"),
    ),
    "gpt_oss, full": Checkpoint(
        "GptOssModel", _WIDE | {"num_local_experts": 2, "num_experts_per_tok": 1},
        _SELF, layer=1, has=("sinks", "speeds", "scale"),
    ),
    "deepseek_v3": Checkpoint("DeepseekV3Model", _LATENT | {"q_lora_rank": 7}, _SELF),
    "deepseek_v3, yarn": Checkpoint(
        "DeepseekV3Model", _LATENT | {"q_lora_rank": 7, "rope_parameters": _YARN}, _SELF
    ),
    "deepseek_v3, halves": Checkpoint(
        "DeepseekV3Model", _LATENT | {"q_lora_rank": None, "rope_interleave": False}, _SELF
    ),
    "deepseek_v2": Checkpoint("DeepseekV2Model", _LATENT | {"q_lora_rank": None}, _SELF),
}  # fmt: skip
"""Each kind of model that is read, by its `model_type`; a row of `mha.layouts.table` has one."""

REFUSED = {
    "mamba": ("MambaModel", _TWO | {"hidden_size": 24, "state_size": 4}),
    "deberta-v2": ("DebertaV2Model", _SMALL),
    "smollm3": ("SmolLM3Model", _GROUPED),
    "glm": ("GlmModel", _WIDE),
    "falcon, with ALiBi": ("FalconModel", _SMALL | {"alibi": True}),
    "cohere, with norms": ("CohereModel", _GROUPED | {"use_qk_norm": True}),
    "olmo, clipped": ("OlmoModel", _GROUPED | {"clip_qkv": 8.0}),
    "phi, with norms": ("PhiModel", _GROUPED | {"qk_layernorm": True}),
    "llama, dynamic": (
        "LlamaModel",
        _WIDE | {"rope_parameters": _FIRST | {"rope_type": "dynamic", "factor": 2.0}},
    ),
    "gpt2, by the layer": ("GPT2Model", _GPT | {"scale_attn_by_inverse_layer_idx": True}),
}
"""Models whose attention is not read: a class and its settings."""
