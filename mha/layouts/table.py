"""The layouts: names and shapes of arrays, and the settings that determine the computation."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from mha.core.multihead import BIASES, MATRICES

PACKAGE_AXES = {
    "w_q": "hmk", "w_k": "gck", "w_v": "gcv", "w_o": "hvo",
    "b_q": "hk", "b_k": "gk", "b_v": "gv", "b_o": "o",
    "w_qkv": "phmk", "b_qkv": "phk",
    "query_norm": "k", "key_norm": "k", "relative_bias": "rh", "sinks": "h",
}  # fmt: skip
"""The axes of each array in this package, in the letters of `mha.layouts.axes`."""


@dataclass(frozen=True)
class Windows:
    """The layers of a model that have a sliding window, and its size.

    If the settings list the type of each layer, as `layer_types`, that list determines the layers.
    The other fields are for settings without a list; by default each layer has a window.

    Parameters
    ----------
    setting : str
        The setting of the size of the window.
    default : int or None
        The size without that setting.
    every : tuple of (str, int), optional
        A setting and its default n: layers n, 2 n, ... counted from 1 have no window.
    first : bool, default False
        With `every`, layers 0, n, 2 n, ... counted from 0 have no window instead.
    start : tuple of (str, int), optional
        A setting and its default: layers before that number have no window.
    switch : str, optional
        A setting without which no layer has a window.
    counts : {"token", "both sides"}, default "token"
        The tokens that the size counts: the token itself and its neighbours on one side, or the
        neighbours on both sides.
    """

    setting: str
    default: int | None
    every: tuple[str, int] | None = None
    first: bool = False
    start: tuple[str, int] | None = None
    switch: str | None = None
    counts: Literal["token", "both sides"] = "token"


@dataclass(frozen=True)
class Rotary:
    """The rotation of queries and keys in a model, and the settings of its speeds.

    Parameters
    ----------
    pairs : bool, default False
        Whether adjacent components form a pair, or components i and i + width / 2.
    base : str, default "rope_theta"
        The setting of the base.
    default : float, default 10000.0
        The base without that setting.
    local : tuple of (str, float), optional
        The setting of the base in layers with a window, if it differs, and its default.
    share : tuple of (str, float), optional
        The setting of the share of components that are rotated, and its default.
    width : tuple of (str, int), optional
        The setting of the number of components that are rotated, and its default.
    scaling : mapping, optional
        The table of rotary settings of a model whose `config.json` has none.
    only_local : bool, default False
        Whether layers without a window are not rotated.
    """

    pairs: bool = False
    base: str = "rope_theta"
    default: float = 10000.0
    local: tuple[str, float] | None = None
    share: tuple[str, float] | None = None
    width: tuple[str, int] | None = None
    scaling: Mapping[str, Any] = field(default_factory=dict)
    only_local: bool = False


@dataclass(frozen=True)
class Layout:
    """The stored arrays of one kind of layer, and the settings that determine its computation.

    A setting is an entry of a model's `config.json`. A dot in its name leads into an inner table,
    "a|b" is the first of two that exists, "{side}" is "encoder" or "decoder" as in the layer's
    names, and a setting with an empty name always has its default.

    Parameters
    ----------
    name : str
    whose : str
        The layers that have this layout.
    parts : mapping of str to (str, str)
        By the name of an array in this package (`w_qkv` is three in one): its name in the layout,
        and the pattern of its shape (`mha.layouts.axes`).
    scale : float, optional
        Factor of the scores; None is 1 / sqrt(d_k).
    rotary : Rotary, optional
    causal : str, optional
        A layer is causal if this regular expression is found in the prefix of its names.
    ignored : tuple of str
        Names of further stored arrays that do not change the output.
    gain_offset : float, default 0.0
        Added to the stored gains of queries and keys: 1 in Gemma 3.
    alibi : bool, default False
    model_types : tuple of str
        Each `model_type` that has this layout.
    is_self_describing : bool, default False
        Whether the names, or `layout=`, determine the computation; other layouts need the settings.
    settings : mapping of str to (str, object)
        Settings with their defaults, by purpose: "num_heads", "num_groups", "d_k", "bias" (whether
        queries have one), "scale", "scale_width" (the scale is 1 / sqrt of it), "softcap", "eps",
        "is_causal".
    required_settings : mapping of str to object
        The only supported value of each setting, which is also its default.
    windows : Windows, optional
    prefix_pattern : str, default ""
        Without settings and `layout=`, names match this layout only if this regular expression is
        found in their prefix.
    required_parts : mapping of str to str
        Parts besides the matrices that each layer has whose prefix matches this regular expression.
    """

    name: str
    whose: str
    parts: Mapping[str, tuple[str, str]]
    scale: float | None = None
    rotary: Rotary | None = None
    causal: str | None = None
    ignored: tuple[str, ...] = ()
    gain_offset: float = 0.0
    alibi: bool = False
    model_types: tuple[str, ...] = ()
    is_self_describing: bool = False
    settings: Mapping[str, tuple[str, Any]] = field(default_factory=dict)
    required_settings: Mapping[str, Any] = field(default_factory=dict)
    windows: Windows | None = None
    prefix_pattern: str = ""
    required_parts: Mapping[str, str] = field(default_factory=dict)

    @property
    def required(self) -> list[str]:
        """The names of the matrices, which every layer of this layout has."""
        return [name for part, (name, _) in self.parts.items() if part.startswith("w_")]


@dataclass(frozen=True)
class LatentLayout:
    """The stored arrays of latent attention, by their names in `mha.core.latent.LatentWeights`.

    Parameters
    ----------
    name, whose : str
    parts : mapping of str to str
    required : tuple of str
    model_types : tuple of str
    required_settings : mapping of str to object
        As in `Layout`.
    rotary : Rotary
    """

    name: str
    whose: str
    parts: Mapping[str, str]
    required: tuple[str, ...]
    model_types: tuple[str, ...]
    required_settings: Mapping[str, Any]
    rotary: Rotary
    is_self_describing: bool = False


def _named_parts(parts: tuple[str, ...], names: str, patterns: str) -> dict[str, tuple[str, str]]:
    """Return parts with their names and patterns."""
    return dict(zip(parts, zip(names.split(), patterns.split(", "), strict=True), strict=True))


def _separate(names: str, patterns: str, ends: tuple[str, str]) -> dict[str, tuple[str, str]]:
    """Return four matrices and four biases, whose names differ in their suffixes."""
    full = [f"{name}{end}" for end in ends for name in names.split()]
    return _named_parts((*MATRICES, *BIASES), " ".join(full), patterns)


_LINEAR = "(h k) m, (g k) m, (g v) m, o (h v), (h k), (g k), (g v), o"
_KERNELS = "m h k, c g k, c g v, h v o, h k, g k, g v, o"
_FUSED = ("w_qkv", "w_o", "b_qkv", "b_o")
_ROWS, _COLUMNS = "(p h k) m, o (h k), (p h k), o", "m (p h k), (h k) o, (p h k), o"
_BY_KIND, _BY_GROUP = (f"({letter} k) m, o (h k), ({letter} k), o" for letter in ("t", "u"))
_WORDS = ".weight", ".bias"
_C_ATTN = "c_attn.weight c_proj.weight c_attn.bias c_proj.bias"


def _linear(names: str) -> dict[str, tuple[str, str]]:
    """Return the parts of four Linears for queries, keys, values and the output."""
    return _separate(names, _LINEAR, _WORDS)


def _fused(names: str, patterns: str) -> dict[str, tuple[str, str]]:
    """Return the parts of a Linear for queries, keys and values, and one for the output."""
    full = [f"{name}{end}" for end in _WORDS for name in names.split()]
    return _named_parts(_FUSED, " ".join(full), patterns)


_LLAMA = _linear("q_proj k_proj v_proj o_proj")
_BART = _linear("q_proj k_proj v_proj out_proj")
_NEOX = _fused("query_key_value dense", _BY_GROUP)
_BY_HEAD = _named_parts(("query_norm", "key_norm"), "q_norm.weight k_norm.weight", "k, k")
_OF_ALL = _named_parts(("query_norm", "key_norm"), "q_norm.weight k_norm.weight", "(h k), (g k)")
_NORMED = {"query_norm": "", "key_norm": ""}
_BUFFERS = ("rotary_emb.inv_freq",)
_MASKS = ("bias", "masked_bias")

_HEADS = {"num_heads": ("num_attention_heads", None)}
_N_HEAD = {"num_heads": ("n_head|num_attention_heads", None)}
_GROUPS = _HEADS | {"num_groups": ("num_key_value_heads", None), "d_k": ("head_dim", None)}
_BIAS = {"bias": ("attention_bias", False)}
_ALWAYS, _NEVER = {"bias": ("", True)}, {"bias": ("", False)}
_RMS = {"eps": ("rms_norm_eps", 1e-6)}
_SIDES = {"num_heads": ("{side}_attention_heads", None)}
_ONE_SIDED = {"use_bidirectional_attention": False}
_QWEN = Windows(
    "sliding_window", 4096, start=("max_window_layers", 28), switch="use_sliding_window"
)
_SCALED = {"scale_attn_weights": True, "scale_attn_by_inverse_layer_idx": False}
_DECODER = r"\bdecoder\b.*\bself_attn\b"

LAYOUTS = {
    layout.name: layout
    for layout in (
        Layout(
            "PyTorch",
            "torch.nn.MultiheadAttention",
            _named_parts(_FUSED, "in_proj_weight out_proj.weight in_proj_bias out_proj.bias",
            _ROWS), is_self_describing=True,
        ),
        Layout(
            "PyTorch, separate",
            "torch.nn.MultiheadAttention where keys and values are of another width",
            _named_parts(
                (*MATRICES, "b_qkv", "b_o"),
                "q_proj_weight k_proj_weight v_proj_weight out_proj.weight in_proj_bias"
                " out_proj.bias",
                "(h k) m, (g k) c, (g v) c, o (h v), (p h k), o",
            ),
            is_self_describing=True,
        ),
        Layout(
            "GPT-2",
            "GPT and GPT-2, whose Conv1D multiplies from the right",
            _named_parts(_FUSED, _C_ATTN, _COLUMNS),
            causal="",
            ignored=_MASKS,
            model_types=("gpt2", "openai-gpt"),
            is_self_describing=True,
            settings=_N_HEAD | _ALWAYS,
            required_settings=_SCALED,
        ),
        Layout(
            "fused Linear",
            "small GPTs with one Linear for query, key and value",
            _named_parts(_FUSED, _C_ATTN, _ROWS),
            causal="",
            ignored=("bias",),
            is_self_describing=True,
        ),
        Layout(
            "GPT-BigCode",
            "StarCoder, whose heads share a key and a value",
            _named_parts(_FUSED, _C_ATTN, _BY_GROUP),
            causal="",
            ignored=_MASKS,
            model_types=("gpt_bigcode",),
            settings=_N_HEAD | _ALWAYS,
            required_settings=_SCALED,
        ),
        Layout(
            "BERT",
            "BERT, RoBERTa, ELECTRA and their like",
            _separate("self.query self.key self.value output.dense", _LINEAR, _WORDS),
            causal=r"\battention\.$",
            ignored=("output.LayerNorm.weight", "output.LayerNorm.bias"),
            model_types=("bert", "roberta", "xlm-roberta", "camembert", "electra"),
            is_self_describing=True,
            settings=_HEADS | _ALWAYS | {"is_causal": ("is_decoder", False)},
            required_settings={"position_embedding_type": "absolute"},
        ),
        Layout(
            "DistilBERT",
            "DistilBERT",
            _linear("q_lin k_lin v_lin out_lin"),
            model_types=("distilbert",),
            is_self_describing=True,
            settings=_ALWAYS | {"num_heads": ("n_heads|num_attention_heads", None)},
        ),
        Layout(
            "ViT",
            "ViT and DeiT",
            _linear("attention.query attention.key attention.value output.dense"),
            model_types=("vit", "deit"),
            is_self_describing=True,
            settings=_HEADS | {"bias": ("qkv_bias", True)},
        ),
        Layout(
            "ModernBERT",
            "ModernBERT, most of whose layers have a window",
            _fused("Wqkv Wo", _ROWS),
            rotary=Rotary(
                base="global_rope_theta", default=160000.0, local=("local_rope_theta", 10000.0)
            ),
            model_types=("modernbert",),
            settings=_HEADS | _BIAS,
            windows=Windows(
                "local_attention", 128, every=("global_attn_every_n_layers", 3), first=True,
                counts="both sides",
            ),
        ),
        Layout(
            "BART",
            "BART, mBART and Whisper: a Linear for each matrix",
            _BART,
            causal=_DECODER,
            model_types=("bart", "mbart", "whisper"),
            is_self_describing=True,
            settings=_SIDES | _ALWAYS,
        ),
        Layout(
            "CLIP text",
            "CLIP's encoder of text, which is causal",
            _BART,
            causal="",
            model_types=("clip_text_model",),
            settings=_HEADS | _ALWAYS,
        ),
        Layout(
            "CLIP vision",
            "the encoders of images of CLIP and SigLIP",
            _BART,
            model_types=("clip_vision_model", "siglip_vision_model"),
            settings=_HEADS | _ALWAYS,
        ),
        Layout(
            "OPT",
            "OPT",
            _BART,
            causal="",
            model_types=("opt",),
            settings=_HEADS | {"bias": ("enable_bias", True)},
        ),
        Layout(
            "GPT-Neo",
            "GPT-Neo, whose scores are not scaled",
            _BART,
            scale=1.0,
            causal="",
            ignored=_MASKS,
            model_types=("gpt_neo",),
            settings=_NEVER | {"num_heads": ("num_heads|num_attention_heads", None)},
            windows=Windows("window_size", 256, every=("", 2), first=True),
        ),
        Layout(
            "GPT-J",
            "GPT-J, which rotates neighbouring components of a head's first ones",
            _BART,
            rotary=Rotary(pairs=True, base="", width=("rotary_dim", 64)),
            causal="",
            ignored=_MASKS,
            model_types=("gptj",),
            settings=_N_HEAD | _NEVER,
        ),
        Layout(
            "GPT-NeoX",
            "GPT-NeoX and Pythia",
            _NEOX,
            rotary=Rotary(base="rotary_emb_base", share=("rotary_pct", 0.25)),
            causal="",
            ignored=(*_BUFFERS, *_MASKS),
            model_types=("gpt_neox",),
            settings=_HEADS | {"bias": ("attention_bias", True)},
        ),
        Layout(
            "BLOOM",
            "BLOOM, with ALiBi",
            _NEOX,
            causal="",
            alibi=True,
            model_types=("bloom",),
            settings=_N_HEAD | _ALWAYS,
        ),
        Layout(
            "Falcon",
            "Falcon, each of whose groups has its queries, its key and its value side by side",
            _NEOX,
            rotary=Rotary(),
            causal="",
            ignored=_BUFFERS,
            model_types=("falcon",),
            settings=_HEADS | {"bias": ("bias", False)},
            required_settings={"alibi": False},
        ),
        Layout(
            "MPT",
            "MPT, with ALiBi",
            _fused("Wqkv out_proj", _ROWS),
            causal="",
            alibi=True,
            model_types=("mpt",),
            settings=_NEVER
            | {
                "num_heads": ("n_heads|num_attention_heads", None),
                "scale": ("attn_config.softmax_scale", None),
            },
            required_settings={
                "attn_config.alibi": True,
                "attn_config.alibi_bias_max": 8,
                "attn_config.attn_type": "multihead_attention",
                "attn_config.clip_qkv": None,
                "attn_config.prefix_lm": False,
                "attn_config.qk_ln": False,
            },
        ),
        Layout(
            "Llama",
            "Llama",
            _LLAMA,
            rotary=Rotary(),
            causal="",
            ignored=_BUFFERS,
            model_types=("llama",),
            is_self_describing=True,
            settings=_GROUPS | _BIAS,
        ),
        Layout(
            "Mistral",
            "Mistral, with a window",
            _LLAMA,
            rotary=Rotary(),
            causal="",
            ignored=_BUFFERS,
            model_types=("mistral",),
            settings=_GROUPS | _NEVER,
            windows=Windows("sliding_window", 4096),
        ),
        Layout(
            "Mixtral",
            "Mixtral",
            _LLAMA,
            rotary=Rotary(default=1e6),
            causal="",
            ignored=_BUFFERS,
            model_types=("mixtral",),
            settings=_GROUPS | _NEVER,
            windows=Windows("sliding_window", None),
        ),
        Layout(
            "Qwen2",
            "Qwen2 and Qwen2.5, with biases of queries, keys and values",
            _LLAMA,
            rotary=Rotary(),
            causal="",
            ignored=_BUFFERS,
            model_types=("qwen2", "qwen2_moe"),
            settings=_GROUPS | {"bias": ("qkv_bias", True)},
            windows=_QWEN,
        ),
        Layout(
            "Qwen3",
            "Qwen3, with norms of queries and keys",
            _LLAMA | _BY_HEAD,
            rotary=Rotary(),
            causal="",
            required_parts=_NORMED,
            ignored=_BUFFERS,
            model_types=("qwen3", "qwen3_moe"),
            is_self_describing=True,
            settings=_GROUPS | _BIAS | _RMS,
            windows=_QWEN,
        ),
        Layout(
            "Gemma",
            "Gemma",
            _LLAMA,
            rotary=Rotary(),
            causal="",
            ignored=_BUFFERS,
            model_types=("gemma",),
            settings=_GROUPS | _BIAS,
            required_settings=_ONE_SIDED,
        ),
        Layout(
            "Gemma 2",
            "Gemma 2, with a cap, and a window in every other layer",
            _LLAMA,
            rotary=Rotary(),
            causal="",
            ignored=_BUFFERS,
            model_types=("gemma2",),
            settings=_GROUPS
            | _BIAS
            | {
                "scale_width": ("query_pre_attn_scalar", 256),
                "softcap": ("attn_logit_softcapping", 50.0),
            },
            required_settings=_ONE_SIDED,
            windows=Windows("sliding_window", 4096, every=("", 2)),
        ),
        Layout(
            "Gemma 3",
            "Gemma 3, with norms of queries and keys, and a window in five of six layers",
            _LLAMA | _BY_HEAD,
            rotary=Rotary(default=1e6, local=("rope_local_base_freq", 10000.0)),
            causal="",
            required_parts=_NORMED,
            gain_offset=1.0,
            model_types=("gemma3_text",),
            settings=_GROUPS | _BIAS | _RMS | {"scale_width": ("query_pre_attn_scalar", 256)},
            required_settings=_ONE_SIDED | {"attn_logit_softcapping": None},
            windows=Windows(
                "sliding_window", 4096, every=("sliding_window_pattern|_sliding_window_pattern", 6)
            ),
        ),
        Layout(
            "Phi",
            "Phi-1 to Phi-2, which rotate a part of each head",
            _linear("q_proj k_proj v_proj dense"),
            rotary=Rotary(share=("partial_rotary_factor", 0.5)),
            causal="",
            ignored=_BUFFERS,
            model_types=("phi",),
            settings=_GROUPS | _ALWAYS,
            required_settings={"qk_layernorm": False},
        ),
        Layout(
            "Phi-3",
            "Phi-3 and Phi-4, with all queries, keys and values in one Linear",
            _fused("qkv_proj o_proj", _BY_KIND),
            rotary=Rotary(share=("partial_rotary_factor", 1.0)),
            causal="",
            ignored=_BUFFERS,
            model_types=("phi3",),
            settings=_GROUPS | _NEVER,
            windows=Windows("sliding_window", None),
        ),
        Layout(
            "Cohere",
            "Command R, which rotates neighbouring components",
            _LLAMA,
            rotary=Rotary(pairs=True, default=500000.0),
            causal="",
            model_types=("cohere",),
            settings=_GROUPS | _BIAS,
            required_settings={"use_qk_norm": False},
        ),
        Layout(
            "Cohere 2",
            "Command R7B and A, which rotate in layers with a window alone",
            _LLAMA,
            rotary=Rotary(pairs=True, only_local=True),
            causal="",
            model_types=("cohere2",),
            settings=_GROUPS | _BIAS,
            windows=Windows("sliding_window", 4096, every=("sliding_window_pattern", 4)),
        ),
        Layout(
            "OLMo",
            "OLMo",
            _LLAMA,
            rotary=Rotary(),
            causal="",
            model_types=("olmo",),
            settings=_GROUPS | _BIAS,
            required_settings={"clip_qkv": None},
        ),
        Layout(
            "OLMo 2",
            "OLMo 2, whose norms of queries and keys are of all heads together",
            _LLAMA | _OF_ALL,
            rotary=Rotary(),
            causal="",
            required_parts=_NORMED,
            model_types=("olmo2",),
            settings=_GROUPS | _BIAS | {"eps": ("rms_norm_eps", 1e-5)},
        ),
        Layout(
            "OLMo 3",
            "OLMo 3, as OLMo 2 with a window in three of four layers",
            _LLAMA | _OF_ALL,
            rotary=Rotary(default=500000.0, local=("rope_theta", 500000.0)),
            causal="",
            required_parts=_NORMED,
            model_types=("olmo3",),
            settings=_GROUPS | _BIAS | {"eps": ("rms_norm_eps", 1e-5)},
            windows=Windows("sliding_window", 4096, every=("", 4)),
        ),
        Layout(
            "StarCoder2",
            "StarCoder2",
            _LLAMA,
            rotary=Rotary(),
            causal="",
            model_types=("starcoder2",),
            settings=_GROUPS | {"bias": ("use_bias", True)},
            windows=Windows("sliding_window", None),
        ),
        Layout(
            "StableLM",
            "StableLM, which rotates a part of each head",
            _LLAMA,
            rotary=Rotary(share=("partial_rotary_factor", 0.25)),
            causal="",
            model_types=("stablelm",),
            settings=_GROUPS | {"bias": ("use_qkv_bias", False)},
            required_settings={"qk_layernorm": False},
        ),
        Layout(
            "Granite",
            "Granite, with a scale of its own",
            _LLAMA,
            rotary=Rotary(),
            causal="",
            model_types=("granite",),
            settings=_GROUPS | _BIAS | {"scale": ("attention_multiplier", 1.0)},
        ),
        Layout(
            "gpt-oss",
            "gpt-oss, with a sink for each head, and a window in every other layer",
            _LLAMA | _named_parts(("sinks",), "sinks", "h"),
            rotary=Rotary(
                default=150000.0,
                scaling={
                    "rope_type": "yarn", "factor": 32.0, "truncate": False,
                    "original_max_position_embeddings": 4096,
                },
            ),
            causal="",
            required_parts={"sinks": ""},
            model_types=("gpt_oss",),
            settings=_GROUPS | {"bias": ("attention_bias", True)},
            windows=Windows("sliding_window", 128, every=("", 2)),
        ),
        Layout(
            "T5",
            "T5, which learned a bias for each distance",
            _named_parts(
                (*MATRICES, "relative_bias"),
                "q.weight k.weight v.weight o.weight relative_attention_bias.weight",
                "(h k) m, (g k) m, (g v) m, o (h v), r h",
            ),
            scale=1.0,
            causal=r"\bdecoder\b.*\bSelfAttention\b",
            prefix_pattern=r"\b(SelfAttention|EncDecAttention)\b",
            model_types=("t5", "mt5"),
            is_self_describing=True,
            required_parts={"relative_bias": r"\bSelfAttention\b"},
            settings={"num_heads": ("num_heads", None), "d_k": ("d_kv", None)},
            required_settings={"relative_attention_max_distance": 128},
        ),
        Layout(
            "Keras",
            "keras.layers.MultiHeadAttention",
            _separate("query key value attention_output", _KERNELS, ("/kernel", "/bias")),
            is_self_describing=True,
        ),
        Layout(
            "Flax",
            "flax.linen.MultiHeadDotProductAttention and flax.nnx.MultiHeadAttention",
            _separate("query key value out", _KERNELS, (".kernel", ".bias")),
            is_self_describing=True,
        ),
    )
}  # fmt: skip
"""The layouts of layers with a projection for each head or group, by name."""

LATENT = {
    "DeepSeek": LatentLayout(
        "DeepSeek",
        "DeepSeek-V2 and V3, whose keys and values are made of a latent vector",
        {
            "w_q": "q_proj.weight",
            "w_dq": "q_a_proj.weight",
            "query_gain": "q_a_layernorm.weight",
            "w_uq": "q_b_proj.weight",
            "w_dkv": "kv_a_proj_with_mqa.weight",
            "gain": "kv_a_layernorm.weight",
            "w_ukv": "kv_b_proj.weight",
            "w_o": "o_proj.weight",
        },
        ("kv_a_proj_with_mqa.weight", "kv_a_layernorm.weight", "kv_b_proj.weight", "o_proj.weight"),
        ("deepseek_v2", "deepseek_v3"),
        {"attention_bias": False},
        Rotary(pairs=True),
    ),
}
"""The layouts of latent attention, by name."""

COMPOSITE_MODELS = {
    "clip": (
        (r"^text_model\.", "text_config", "clip_text_model"),
        (r"^vision_model\.", "vision_config", "clip_vision_model"),
    ),
    "gemma3": (
        (r"\blanguage_model\.", "text_config", "gemma3_text"),
        (r"\bvision_tower\.", "vision_config", "siglip_vision_model"),
    ),
}
"""Models of several parts: for each part, the pattern of its prefix, the name of its table in
`config.json`, and its `model_type`."""
