"""The layouts: of each, which names its arrays have, and how each array is laid out."""

from collections.abc import Mapping
from dataclasses import dataclass

from mha.core.multihead import BIASES, MATRICES

ORDERS = {
    "w_q": "hmk", "w_k": "gck", "w_v": "gcv", "w_o": "hvo",
    "b_q": "hk", "b_k": "gk", "b_v": "gv", "b_o": "o",
    "w_qkv": "phmk", "b_qkv": "phk",
    "query_norm": "k", "key_norm": "k", "relative_bias": "rh",
}  # fmt: skip
"""The axes that each array has in this package, by the letters of `mha.layouts.axes`."""


@dataclass(frozen=True)
class Layout:
    """How one kind of layer keeps its arrays, and what it does besides.

    Parameters
    ----------
    name : str
    whose : str
        Which layers have it.
    parts : mapping of str to (str, str)
        By the name that an array has in this package (`w_qkv` are three in one): the layer's own
        name, and how the array is laid out (`mha.layouts.axes`).
    scale : float, optional
        What scores are multiplied with; None is 1 / sqrt(d_k).
    halves : bool, default False
        Whether queries and keys are turned by their positions, component i with i + d_k / 2.
    causal : str, optional
        A layer is causal if this regular expression is found in what its names begin with.
    besides : tuple of str
        Names of what stands beside these arrays and is no part of the attention.
    """

    name: str
    whose: str
    parts: Mapping[str, tuple[str, str]]
    scale: float | None = None
    halves: bool = False
    causal: str | None = None
    besides: tuple[str, ...] = ()

    @property
    def required(self) -> list[str]:
        """The names of the matrices, which every layer has."""
        return [name for part, (name, _) in self.parts.items() if part.startswith("w_")]


def _each(parts: tuple[str, ...], names: str, patterns: str) -> dict[str, tuple[str, str]]:
    """Return parts with their names and patterns."""
    return dict(zip(parts, zip(names.split(), patterns.split(", "), strict=True), strict=True))


def _apart(names: str, patterns: str, ends: tuple[str, str]) -> dict[str, tuple[str, str]]:
    """Return four matrices and four biases whose names differ in their endings."""
    full = [f"{name}{end}" for end in ends for name in names.split()]
    return _each((*MATRICES, *BIASES), " ".join(full), patterns)


_LINEAR = "(h k) m, (g k) m, (g v) m, o (h v), (h k), (g k), (g v), o"
_KERNELS = "m h k, c g k, c g v, h v o, h k, g k, g v, o"
_FUSED = ("w_qkv", "w_o", "b_qkv", "b_o")
_ROWS, _COLUMNS = "(p h k) m, o (h k), (p h k), o", "m (p h k), (h k) o, (p h k), o"
_WORDS = ".weight", ".bias"
_C_ATTN = "c_attn.weight c_proj.weight c_attn.bias c_proj.bias"

LAYOUTS = {
    layout.name: layout
    for layout in (
        Layout(
            "PyTorch",
            "torch.nn.MultiheadAttention",
            _each(_FUSED, "in_proj_weight out_proj.weight in_proj_bias out_proj.bias", _ROWS),
        ),
        Layout(
            "PyTorch, separate",
            "torch.nn.MultiheadAttention where keys and values are of another width",
            _each(
                (*MATRICES, "b_qkv", "b_o"),
                "q_proj_weight k_proj_weight v_proj_weight out_proj.weight in_proj_bias"
                " out_proj.bias",
                "(h k) m, (g k) c, (g v) c, o (h v), (p h k), o",
            ),
        ),
        Layout(
            "GPT-2",
            "GPT-2, whose Conv1D multiplies from the right",
            _each(_FUSED, _C_ATTN, _COLUMNS),
            causal="",
            besides=("bias", "masked_bias"),
        ),
        Layout(
            "fused Linear",
            "small GPTs with one Linear for query, key and value",
            _each(_FUSED, _C_ATTN, _ROWS),
            causal="",
            besides=("bias",),
        ),
        Layout(
            "BERT",
            "BERT and its like",
            _apart("self.query self.key self.value output.dense", _LINEAR, _WORDS),
            besides=("output.LayerNorm.weight", "output.LayerNorm.bias"),
        ),
        Layout(
            "BART",
            "BART, CLIP, OPT, Whisper: a Linear for each matrix",
            _apart("q_proj k_proj v_proj out_proj", _LINEAR, _WORDS),
        ),
        Layout(
            "Llama",
            "Llama and Mistral; Qwen2 with biases, Qwen3 with norms of queries and keys",
            _apart("q_proj k_proj v_proj o_proj", _LINEAR, _WORDS)
            | _each(("query_norm", "key_norm"), "q_norm.weight k_norm.weight", "k, k"),
            halves=True,
            causal="",
            besides=("rotary_emb.inv_freq",),
        ),
        Layout(
            "T5",
            "T5, which learned a bias for each distance",
            _each(
                (*MATRICES, "relative_bias"),
                "q.weight k.weight v.weight o.weight relative_attention_bias.weight",
                "(h k) m, (g k) m, (g v) m, o (h v), r h",
            ),
            scale=1.0,
            causal=r"\bdecoder\b.*\bSelfAttention\b",
        ),
        Layout(
            "Keras",
            "keras.layers.MultiHeadAttention",
            _apart("query key value attention_output", _KERNELS, ("/kernel", "/bias")),
        ),
        Layout(
            "Flax",
            "flax.linen.MultiHeadDotProductAttention and flax.nnx.MultiHeadAttention",
            _apart("query key value out", _KERNELS, (".kernel", ".bias")),
        ),
    )
}
"""The layouts that are known, by name."""
