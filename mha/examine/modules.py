"""Layers of PyTorch, Keras, Flax and MLX: their matrices, their number of heads, and calls of them.

A PyTorch module is copied, and the copy computes without dropout. Biases that are all zero get
other values in the copy, so that a missing addition changes the output.
"""

from __future__ import annotations

import copy
import importlib
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from mha.core.checks import Array
from mha.core.multihead import BIASES, MATRICES
from mha.core.positions import BASE, Layout, rotary_angles
from mha.examine import layer
from mha.examine.arrays import as_numpy
from mha.examine.cases import Draw, Subject
from mha.examine.report import Finding
from mha.layouts import AttentionLayer, layer_from_arrays
from mha.practice.bugs import ROTARY
from mha.runs.rounding import short

NUM_HEADS_NAMES = (
    "num_heads", "n_heads", "n_head", "nheads", "nhead", "heads", "num_attention_heads", "num_head",
    "h", "nh", "_num_heads", "n_h", "head_count",
)  # fmt: skip
"""Names that modules give to the attribute with their number of heads."""


def _projection_pattern(letter: str, word: str) -> str:
    """Return a regular expression for the names that modules give to a projection."""
    either = f"(?:{letter}|{letter.upper()}|{word}|{word.capitalize()})"
    return (
        rf"{either}s?|{either}_(?:proj|projection|linear|lin|layer|attn|fc|transform)"
        rf"|(?:[wW]_?|to_|linear_|lin_|fc_|proj_){either}s?"
    )


_LAYER_NAMES = {
    "w_qkv": r"qkv|qkv_proj|w_qkv|wqkv|to_qkv|c_attn|in_proj|query_key_value|attn_qkv|Wqkv"
    r"|qkv_layer|qkv_linear|proj_qkv",
    "w_kv": r"kv|kv_proj|w_kv|wkv|to_kv|c_attn|key_value|kv_layer|kv_linear|Wkv",
    "w_q": _projection_pattern("q", "query"),
    "w_k": _projection_pattern("k", "key"),
    "w_v": _projection_pattern("v", "value"),
    "w_o": r"o|o_proj|out|out_proj|proj|w_o|wo|W_o|W_O|to_out|to_out\.0|c_proj|dense|output|fc|fc_o"
    r"|w_concat|concat|out_lin|linear_out|out_linear|linear|proj_out|fc_out|output_linear|unify_heads|unifyheads"
    r"|linear_layer|linear_proj|out_layer|output_layer|output_proj|wout|w_out|o_linear|o_lin",
}
"""For each matrix, a regular expression for the names that modules give to its linear layer."""


@dataclass(frozen=True)
class ModuleLayer:
    """A module as an attention layer: its call, its matrices by the names of `mha`, and its sizes.

    `code` has the lines of Python that copied and changed the module. Because of arrays that are
    `unused` here, or because of its `settings`, it may compute more than attention with these
    matrices. `is_fused` is True if queries, keys and values have one matrix. With a `rotary_base`
    it rotates queries and keys.
    """

    call: Callable[..., Any]
    matrices: Mapping[str, Any]
    num_heads: int
    d_k: int
    code: tuple[str, ...] = ()
    unused: tuple[str, ...] = ()
    settings: tuple[str, ...] = ()
    is_fused: bool = False
    rotary_base: float | None = None

    def with_rotation(self, base: float, layout: Layout) -> ModuleLayer:
        """Return the module as one that rotates queries and keys.

        The correct output is computed with pairs of neighbours. For halves, the columns of each
        head are reordered, so that the two components that are rotated together are neighbours:
        scores do not depend on this order.
        """
        if layout == "pairs":
            return replace(self, rotary_base=base)
        order, matrices = np.arange(self.d_k).reshape(2, -1).T.ravel(), dict(self.matrices)
        for name in ("w_q", "w_k", "b_q", "b_k"):
            if name in matrices:
                by_head = matrices[name].reshape(*matrices[name].shape[:-1], -1, self.d_k)
                matrices[name] = by_head[..., order].reshape(matrices[name].shape)
        return replace(self, matrices=matrices, rotary_base=base)

    def with_fused_by_heads(self) -> ModuleLayer:
        """Return the module with the columns of its fused matrix read head by head."""
        matrices = dict(self.matrices)
        for letter in "wb":
            names = [f"{letter}_{name}" for name in "qkv"]
            if not matrices.keys() >= set(names):
                continue
            fused = np.concatenate([matrices[name] for name in names], axis=-1)
            shape = (*fused.shape[:-1], self.num_heads, 3, self.d_k)
            parts = np.moveaxis(fused.reshape(shape), -2, 0)
            wide = (*fused.shape[:-1], self.num_heads * self.d_k)
            matrices |= {name: x.reshape(wide) for name, x in zip(names, parts, strict=True)}
        return replace(self, matrices=matrices)

    def subject(self, takes: frozenset[str]) -> Subject:
        """Return the subject of layers with the matrices of the module.

        `takes` are the inputs that the call of the module takes.
        """
        is_cross = not takes.isdisjoint({"context", "key"})

        def draw_inputs(draw: Draw, *sizes: int) -> dict[str, Any] | None:
            takes_all = frozenset({*draw.takes, "num_heads", *self.matrices})
            inputs = layer.draw_inputs(
                replace(draw, takes=takes_all), sizes[0], self.num_heads, self.d_k
            )
            if (
                inputs is None
                or draw.kind == "num_groups"
                or (not is_cross and "context" in inputs)
            ):
                return None
            width = self.matrices["w_q"].shape[0]
            for name in ("x", "context", "value", "values_of"):
                if name in inputs:
                    inputs[name] = draw.numbers(*inputs[name].shape[:-1], width)
            if "key" in takes:
                inputs["key"] = inputs.get("context", inputs["x"])
                inputs["value"] = inputs["values_of"] = inputs.get("values_of", inputs["key"])
                if draw.kind != layer.OWN_VALUE:
                    inputs["value"] = inputs["key"]
                    del inputs["values_of"]
            if self.rotary_base is not None:
                positions = np.arange(inputs["x"].shape[-2])
                inputs["angles"] = rotary_angles(positions, self.d_k, base=self.rotary_base)
            inputs = {name: x for name, x in inputs.items() if name not in (*MATRICES, *BIASES)}
            return {**inputs, **self.matrices, "num_groups": self.groups}

        return _subject(draw_inputs)

    @property
    def groups(self) -> int:
        """The number of heads of keys and values, which is the number of groups."""
        return int(self.matrices["w_k"].shape[-1] // self.d_k)


CALL_INPUTS = ("x", "context", "key", "value", "mask", "padding", "lengths", "is_causal")
"""Inputs that the call of a module may take."""


def _subject(draw_inputs: Callable[..., dict[str, Any] | None]) -> Subject:
    """Return the subject of layers whose inputs are drawn by another function."""
    return Subject(
        **{
            name: getattr(layer.SUBJECT, name)
            for name in ("first_inputs", "required_inputs", "kinds", "expected", "compute",
                         "correct_function", "printed_steps", "locate_call",
                         "refusable_kinds", "parts", "masked_rows",
                         "token_axis_inputs", "output_shape", "leading")
        },
        aliases={name: layer.ALIASES[name] for name in CALL_INPUTS},
        draw_inputs=draw_inputs,
        draw_plain_inputs=lambda draw, n, _m: draw_inputs(draw, n),
        sizes=((7,), (5,), (3,), (6,)),
        small_sizes=((1,), (2,), (3,)),
        has_float32=False,
    )  # fmt: skip


def is_module(x: Any) -> bool:
    """Return whether an object is a layer of a framework, with at least one matrix."""
    return any(array.ndim > 1 for array in arrays_of(x).values())


def arrays_of(module: Any) -> dict[str, Array]:
    """Return the arrays of a module of PyTorch, Keras, Flax or MLX, by name.

    For any other object the result is empty.
    """
    if isinstance(module, type):
        return {}
    if hasattr(module, "get_weights"):  # Keras, whose layers may be PyTorch's too
        return {x.path.partition("/")[2]: as_numpy(x.value) for x in module.weights}
    if hasattr(module, "state_dict") and hasattr(module, "forward"):
        return {name: as_numpy(x) for name, x in module.state_dict().items()}
    if hasattr(module, "variables") and hasattr(module, "apply"):  # Flax linen, bound
        return _flatten(module.variables.get("params", {}))
    if hasattr(module, "parameters") and type(module).__module__.startswith(("mlx", "__main__")):
        return _flatten(module.parameters())
    if "flax" not in sys.modules:
        return {}
    try:
        nnx = importlib.import_module("flax.nnx")
    except ImportError:
        return {}
    if isinstance(module, nnx.Module):
        return _flatten(nnx.to_pure_dict(nnx.state(module, nnx.Param)))
    return {}


def _flatten(tree: Any, prefix: str = "") -> dict[str, Array]:
    """Return the arrays of nested dicts, by their joined names."""
    if not hasattr(tree, "items"):
        return {prefix[:-1]: as_numpy(tree)}
    arrays: dict[str, Array] = {}
    for name, x in tree.items():
        arrays |= _flatten(x, f"{prefix}{name}.")
    return arrays


def read_module(module: Any) -> ModuleLayer:
    """Return a module as an attention layer, with its matrices and sizes.

    Raises
    ------
    TypeError
        If its matrices or its number of heads are not found. The message has code that the reader
        can examine instead.
    """
    module, code = _copy_module(module)
    arrays = arrays_of(module)
    heads = _find_num_heads(module) or _count_listed_heads(arrays)
    matrices = _match_layout(arrays, heads) or _match_names(module, arrays)
    if matrices is None:
        raise TypeError(_unreadable_message(module, arrays, "its matrices"))
    if heads is None:
        if matrices["w_q"].shape[-1] != matrices["w_k"].shape[-1]:
            raise TypeError(_unreadable_message(module, arrays, "its number of heads"))
        heads = 1
    d_k = matrices["w_q"].shape[-1] // heads
    unused = tuple(_unused(arrays, matrices))
    settings = tuple(
        name
        for name in _settings(module)
        if not any(array == name or array.startswith(f"{name}.") for array in unused)
    )
    is_fused = not any("q" in _possible_roles(name) for name in arrays)
    return ModuleLayer(module, matrices, heads, d_k, code, unused, settings, is_fused)


def _copy_module(module: Any) -> tuple[Any, tuple[str, ...]]:
    """Return a module without dropout, and the code that makes it; for PyTorch a float64 copy."""
    if not hasattr(module, "state_dict") or hasattr(module, "get_weights"):
        if hasattr(module, "eval") and callable(module.eval):
            module.eval()
        return module, ()
    copied = copy.deepcopy(module).eval().double()
    code = ["module = copy.deepcopy(module).eval().double()"]
    for name, x in copied.named_parameters():
        if x.ndim == 1 and not as_numpy(x).any():
            x.data = x.data.new_tensor(np.linspace(-1, 1, len(x)).round(2))
            drawn = f"torch.linspace(-1, 1, {len(x)}, dtype=torch.float64).round(decimals=2)"
            code.append(f"module.get_parameter({name!r}).data = {drawn}")
    return copied, tuple(code)


def _find_num_heads(module: Any) -> int | None:
    """Return the number of heads from an attribute of a module or of its configuration."""
    inner = list(vars(module).values()) + list(getattr(module, "_modules", {}).values())
    for owner in (module, getattr(module, "config", None), *inner):
        for name in NUM_HEADS_NAMES:
            num_heads = getattr(owner, name, None)
            if isinstance(num_heads, int) and not isinstance(num_heads, bool) and num_heads > 0:
                return num_heads
    return None


def _match_layout(arrays: Mapping[str, Array], heads: int | None) -> dict[str, Any] | None:
    """Return matrices and biases by a layout of `mha.layouts`.

    The result is None if the layout is unknown, or has more than attention with matrices.
    """
    try:
        layer = layer_from_arrays(arrays, num_heads=heads)
    except (ValueError, TypeError):
        return None
    if not isinstance(layer, AttentionLayer):
        return None
    extras = (layer.query_norm, layer.base, layer.speeds, layer.relative_bias, layer.window,
            layer.softcap, layer.sinks)  # fmt: skip
    if layer.alibi or any(x is not None for x in extras):
        return None
    matrices: dict[str, Any] = {}
    for name, x in layer.weights.arrays.items():
        has_heads = x.ndim == 3 if name.startswith("w_") else x.ndim == 2
        matrices[name] = np.moveaxis(x, 0, -2).reshape(*x.shape[1:-1], -1) if has_heads else x
    return matrices


def _match_names(module: Any, arrays: Mapping[str, Array]) -> dict[str, Any] | None:
    """Return matrices and biases by the names of a module's linear layers."""
    matrices: dict[str, Any] = {}
    arrays = _join_heads(arrays)
    for role, pattern in _LAYER_NAMES.items():
        for name in arrays:
            path, _, kind = name.replace("/", ".").rpartition(".")
            if kind not in ("weight", "kernel") or not re.fullmatch(rf"(.*\.)?({pattern})", path):
                continue
            if arrays[name].ndim != 2 or role in matrices:
                continue
            is_transposed = kind == "kernel" or "Conv1D" in type(_submodule(module, path)).__name__
            matrices[role] = arrays[name] if is_transposed else arrays[name].T
            bias = arrays.get(f"{path}.bias")
            if bias is not None:
                matrices[role.replace("w_", "b_")] = bias
    own_biases = {f"b_{letter}": arrays.get(f"{letter}_bias") for letter in "qkv"}
    matrices |= {name: x for name, x in own_biases.items() if x is not None}
    fused = "qkv" if "w_q" not in matrices else "kv"
    if f"w_{fused}" in matrices:
        width = matrices[f"w_{fused}"].shape[-1] // len(fused)
        if matrices[f"w_{fused}"].shape[-1] != len(fused) * width:
            return None
        for i, name in enumerate(fused):
            matrices[f"w_{name}"] = matrices[f"w_{fused}"][:, i * width : (i + 1) * width]
            if f"b_{fused}" in matrices:
                matrices[f"b_{name}"] = matrices[f"b_{fused}"][i * width : (i + 1) * width]
    matrices = {name: x for name, x in matrices.items() if "kv" not in name}
    if not {"w_q", "w_k", "w_v"} <= matrices.keys():
        return None
    # A fused matrix of queries and fewer heads of keys and values has no equal thirds.
    fits = "w_o" not in matrices or len(matrices["w_o"]) == matrices["w_q"].shape[-1]
    return matrices if fits else None


def _join_heads(arrays: Mapping[str, Array]) -> dict[str, Array]:
    """Return arrays in which the linear layers of a list, one for each head, are one layer.

    The outputs of a linear layer are the first axis of its arrays in PyTorch.
    """
    of_lists: dict[str, list[Array]] = {}
    for name, array in arrays.items():
        match = re.fullmatch(r"(.*)\.(\d+)\.(weight|bias)", name)
        is_next = match and int(match[2]) == len(of_lists.get(f"{match[1]}.{match[3]}", []))
        if match and is_next:
            of_lists.setdefault(f"{match[1]}.{match[3]}", []).append(array)
    joined = {name: np.concatenate(x) for name, x in of_lists.items()
              if len(x) > 1 and len({each.shape for each in x}) == 1}  # fmt: skip
    return {**arrays, **joined}


def _count_listed_heads(arrays: Mapping[str, Array]) -> int | None:
    """Return the number of heads of a module with a list of linear layers, one for each head."""
    pattern = rf"(.*\.)?({_LAYER_NAMES['w_q']})\.(\d+)\.weight"
    matches = [match for name in arrays if (match := re.fullmatch(pattern, name))]
    return 1 + max(int(match[match.lastindex or 0]) for match in matches) if matches else None


MASK_BUFFERS = (
    r"(.*\.)?(bias|mask|masked_bias|tril|causal_mask|attn_mask|attention_mask|causal|triu)"
)
"""Names of buffers that may be a causal mask."""
EXTRA_SETTINGS = re.compile(
    r"rope|rotary|alibi|sliding_window|window|softcap|soft_cap|logit_cap|capping|relative|rel_pos"
    r"|sink|qk_norm|q_norm|k_norm|layer_norm|residual|null_kv|zero_attn|bias_kv",
    re.IGNORECASE,
)
"""Names of settings by which a module computes more than attention."""


NORM = re.compile(r"(^|[._\d])(layer_?norm|rms_?norm|norm|ln)(_?\w+)?[./]", re.IGNORECASE)
"""Names of normalisations, whose numbers may be among those of a bias by chance."""
ROTATION = re.compile("rotat|rope|rotary", re.IGNORECASE)
"""Names of settings and methods for the rotation of queries and keys."""


def rotary_variants(
    module: Any, module_layer: ModuleLayer
) -> Iterator[tuple[ModuleLayer, Finding]]:
    """Yield the module as one with rotary positions, by base and layout, and a note on them."""
    if module_layer.d_k % 2:
        return
    bases = [getattr(module, name, None) for name in ("rope_theta", "rope_base", "rotary_base")]
    for base in dict.fromkeys([x for x in bases if isinstance(x, int | float) and x > 1] + [BASE]):
        layouts: tuple[Layout, ...] = ("pairs", "halves")
        for layout in layouts:
            condition = f"if rotary positions are by {layout}, with the base {short(float(base))}"
            text = f"another convention: the function is right {condition}, which it computes."
            yield (
                module_layer.with_rotation(base, layout),
                Finding(text, convention=condition, section=ROTARY),
            )


def _unused(arrays: Mapping[str, Array], matrices: Mapping[str, Any]) -> Iterator[str]:
    """Yield the arrays that are neither a matrix of the layer, nor its bias, nor a causal mask."""
    known = [x for x in matrices.values() if isinstance(x, np.ndarray)]
    for name, array in arrays.items():
        if (
            re.fullmatch(MASK_BUFFERS, name)
            and array.ndim > 1
            and array.shape[-1] == array.shape[-2]
        ):
            continue
        is_known = any(_is_part(array, matrix) for matrix in known)
        if (NORM.search(name) or not is_known) and array.size > 1:
            yield name


def _is_part(array: Array, other: Array) -> bool:
    """Return whether all numbers of the smaller array are among those of the larger one."""
    small, large = sorted((array, other), key=np.size)
    return abs(array.ndim - other.ndim) <= 1 and bool(np.isin(small, large).all())


def _settings(module: Any) -> Iterator[str]:
    """Yield the settings of a module, and of its configuration, that are switched on."""
    for owner in (module, getattr(module, "config", None)):
        attributes = {
            **vars(type(owner)),
            **getattr(owner, "__dict__", {}),
            **getattr(owner, "_modules", {}),
        }
        for name, value in attributes.items():
            is_method = callable(value) and name in vars(type(owner))
            if is_method and ROTATION.search(name) and owner is module:
                yield name
            is_rotation = ROTATION.search(type(value).__name__)
            if (
                not (EXTRA_SETTINGS.search(name) or is_rotation)
                or name.startswith("_")
                or value is None
                or is_method
            ):
                continue
            if isinstance(value, bool | int | float | str) and not value:
                continue
            is_plain = isinstance(value, bool | int | float | str)
            yield f"{name}={value!r}" if is_plain else name


def refusal_message(module: Any, extra_names: Sequence[str], error: str = "") -> str:
    """Return the message for a module that may compute more than attention with its matrices."""
    name = type(module).__name__
    reason = f"it raises {error} in every case" if error else f"it has {', '.join(extra_names)}"
    return (
        f"examine_layer cannot judge {name}: {reason}, which is more than attention with given"
        f" matrices. Examine the function in it that computes attention, with mha.examine, or a"
        f" layer that passes its other inputs:\n"
        f"    lambda x: module(x, ...)"
    )


def unused_finding(unused: Sequence[str]) -> Finding:
    """Return the finding on arrays and settings that have no influence on a module's output."""
    names = ", ".join(unused)
    text = f"the output is that of a layer without {names}: nothing of this has an influence"
    return Finding(f"{text}.", convention=f"if the layer should ignore {names}")


def idle_frequencies(module: Any) -> list[str]:
    """Return the buffers with rotary frequencies of a module whose outputs have no rotation.

    They are buffers that PyTorch does not save, and so are not among the arrays.
    """
    buffers = dict(module.named_buffers()) if hasattr(module, "named_buffers") else {}
    saved = arrays_of(module)
    return [name for name in buffers if name not in saved and FREQUENCIES.search(name)]


FREQUENCIES = re.compile("inv_freq|freqs|rotary|rope|(^|[._])(cos|sin)([._]|$)", re.IGNORECASE)
"""Names of buffers with the frequencies or the angles of rotary positions."""


def affects_cases(setting: str) -> bool:
    """Return whether a setting would change the output of the cases: a wide window does not."""
    name, _, value = setting.partition("=")
    return "window" not in name or (value.isdigit() and int(value) < MAX_CASE_LENGTH)


MAX_CASE_LENGTH = 7
"""The number of tokens of the longest case."""


def _possible_roles(name: str) -> str:
    """Return the letters of the projections, such as "q", that an array may belong to by name."""
    path = name.rpartition(".")[0].rpartition(".")[2] or name
    return "".join(letter for letter in "qkv" if re.fullmatch(_LAYER_NAMES[f"w_{letter}"], path))


def _submodule(module: Any, path: str) -> Any:
    """Return the part of a module at a path such as ``to_out.0``."""
    for name in path.split("."):
        module = module[int(name)] if name.isdigit() else getattr(module, name, None)
    return module


def _unreadable_message(module: Any, arrays: Mapping[str, Array], missing: str) -> str:
    name = type(module).__name__
    return (
        f"examine_layer does not find {missing} in {name}, whose arrays are"
        f" {', '.join(arrays) or 'none'}. Write the lines that are missing, and examine them:\n"
        f"    def layer(x, w_q, w_k, w_v, w_o, num_heads):\n"
        f"        module = {name}(...)  # with its matrices set: w_q of shape (d_model, d_model)\n"
        f"        return module(x)"
    )
