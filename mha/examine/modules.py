"""Layers of PyTorch, Keras, Flax and MLX: their matrices by role, heads, and calls.

The module is copied where that can be done, and the copy computes without dropout; biases that are
all zero are drawn anew in the copy, so that one that is left out shows.
"""

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
from mha.examine import layer
from mha.examine.arrays import as_numpy
from mha.examine.cases import Draw, Subject
from mha.examine.report import Finding
from mha.layouts import AttentionLayer, layer_from_arrays

HEADS = (
    "num_heads", "n_heads", "n_head", "nheads", "nhead", "heads", "num_attention_heads", "num_head",
    "h", "nh", "_num_heads", "n_h", "head_count",
)  # fmt: skip
"""Names of the attribute with the number of heads."""


def _of(letter: str, word: str) -> str:
    """Return a pattern for the names of a projection."""
    either = f"(?:{letter}|{letter.upper()}|{word}|{word.capitalize()})"
    return (
        rf"{either}s?|{either}_(?:proj|linear|lin|layer)|(?:[wW]_?|to_|linear_|fc_|proj_){either}"
    )


_NAMES = {
    "w_qkv": r"qkv|qkv_proj|w_qkv|wqkv|to_qkv|c_attn|in_proj|query_key_value|attn_qkv|Wqkv",
    "w_q": _of("q", "query"),
    "w_k": _of("k", "key"),
    "w_v": _of("v", "value"),
    "w_o": r"o|o_proj|out|out_proj|proj|w_o|wo|W_o|W_O|to_out|to_out\.0|c_proj|dense|output|fc|fc_o"
    r"|w_concat|concat|out_lin|linear_out|out_linear|linear|proj_out|fc_out|output_linear|unify_heads|unifyheads",
}
"""For each matrix, the names of its linear layer in modules."""


@dataclass(frozen=True)
class Module:
    """A module: how it is called, its matrices by the names of `mha`, and its sizes.

    By its `unused` arrays and its `settings` it may compute more than attention with these
    matrices; `is_fused` tells whether queries, keys and values have one matrix.
    """

    call: Callable[..., Any]
    given: Mapping[str, Any]
    num_heads: int
    d_k: int
    code: tuple[str, ...] = ()
    unused: tuple[str, ...] = ()
    settings: tuple[str, ...] = ()
    is_fused: bool = False

    def by_heads(self) -> "Module":
        """Return the module with a fused matrix that has query, key and value head by head."""
        given = dict(self.given)
        for letter in "wb":
            names = [f"{letter}_{name}" for name in "qkv"]
            if names[0] not in given:
                continue
            fused = np.concatenate([given[name] for name in names], axis=-1)
            shape = (*fused.shape[:-1], self.num_heads, 3, self.d_k)
            parts = np.moveaxis(fused.reshape(shape), -2, 0)
            wide = (*fused.shape[:-1], self.num_heads * self.d_k)
            given |= {name: x.reshape(wide) for name, x in zip(names, parts, strict=True)}
        return replace(self, given=given)

    def subject(self, takes: frozenset[str]) -> Subject:
        """Return the subject of a layer whose matrices are those of the module."""
        is_cross = not takes.isdisjoint({"context", "key"})

        def made(draw: Draw, *sizes: int) -> dict[str, Any] | None:
            fixed = frozenset({*draw.takes, "num_heads", *self.given})
            given = layer.made(replace(draw, takes=fixed), sizes[0], self.num_heads, self.d_k)
            if given is None or draw.about == "num_groups" or (not is_cross and "context" in given):
                return None
            width = self.given["w_q"].shape[0]
            for name in ("x", "context", "value", "values_of"):
                if name in given:
                    given[name] = draw.numbers(*given[name].shape[:-1], width)
            if "key" in takes:
                given["key"] = given.get("context", given["x"])
                given["value"] = given["values_of"] = given.get("values_of", given["key"])
                if draw.about != layer.OWN_VALUE:
                    given["value"] = given["key"]
                    del given["values_of"]
            given = {name: x for name, x in given.items() if name not in (*MATRICES, *BIASES)}
            return {**given, **self.given, "num_groups": self.groups}

        return _subject(made)

    @property
    def groups(self) -> int:
        """The number of heads of keys and values."""
        return int(self.given["w_k"].shape[-1] // self.d_k)


CALLED = ("x", "context", "key", "value", "mask", "padding", "is_causal")
"""Arguments of a module's call."""


def _subject(made: Callable[..., dict[str, Any] | None]) -> Subject:
    """Return the subject of a layer with its own maker of cases."""
    return Subject(
        **{
            name: getattr(layer.SUBJECT, name)
            for name in ("first", "needs", "kinds", "wanted", "worked", "right", "steps", "call",
                         "limits", "parts", "blank", "moved", "shaped", "leading")
        },
        aliases={name: layer.ALIASES[name] for name in CALLED},
        made=made,
        tokens=lambda draw, n, _m: made(draw, n),
        sizes=((7,), (5,), (3,), (6,)),
        small=((1,), (2,), (3,)),
        has_float32=False,
    )  # fmt: skip


def is_module(x: Any) -> bool:
    """Return whether an object is a layer of a framework that has matrices."""
    return any(array.ndim > 1 for array in arrays_of(x).values())


def arrays_of(module: Any) -> dict[str, Array]:
    """Return the arrays of a module of PyTorch, Keras, Flax or MLX by name; else none."""
    if isinstance(module, type):
        return {}
    if hasattr(module, "get_weights"):  # Keras, whose layers may be PyTorch's too
        return {x.path.partition("/")[2]: as_numpy(x.value) for x in module.weights}
    if hasattr(module, "state_dict") and hasattr(module, "forward"):
        return {name: as_numpy(x) for name, x in module.state_dict().items()}
    if hasattr(module, "variables") and hasattr(module, "apply"):  # Flax linen, bound
        return _flat(module.variables.get("params", {}))
    if hasattr(module, "parameters") and type(module).__module__.startswith(("mlx", "__main__")):
        return _flat(module.parameters())
    if "flax" not in sys.modules:
        return {}
    try:
        nnx = importlib.import_module("flax.nnx")
    except ImportError:
        return {}
    if isinstance(module, nnx.Module):
        return _flat(nnx.to_pure_dict(nnx.state(module, nnx.Param)))
    return {}


def _flat(tree: Any, prefix: str = "") -> dict[str, Array]:
    if not hasattr(tree, "items"):
        return {prefix[:-1]: as_numpy(tree)}
    found: dict[str, Array] = {}
    for name, x in tree.items():
        found |= _flat(x, f"{prefix}{name}.")
    return found


def read(module: Any) -> Module:
    """Return a module with its matrices and sizes.

    Raises
    ------
    TypeError
        If its matrices or its number of heads are not found; the message says what to write.
    """
    module, code = _copied(module)
    arrays = arrays_of(module)
    heads = _heads(module)
    given = _known(arrays, heads) or _by_names(module, arrays)
    if given is None:
        raise TypeError(_unread(module, arrays, "its matrices"))
    if heads is None:
        if given["w_q"].shape[-1] != given["w_k"].shape[-1]:
            raise TypeError(_unread(module, arrays, "its number of heads"))
        heads = 1
    d_k = given["w_q"].shape[-1] // heads
    unused, settings = tuple(_unused(arrays, given)), tuple(_settings(module))
    is_fused = not any("q" in _roles(name) for name in arrays)
    return Module(module, given, heads, d_k, code, unused, settings, is_fused)


def _copied(module: Any) -> tuple[Any, tuple[str, ...]]:
    """Return a module without dropout, and the code for it; for PyTorch a copy in float64."""
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


def _heads(module: Any) -> int | None:
    """Return the number of heads from an attribute of a module or of its configuration."""
    inner = list(vars(module).values()) + list(getattr(module, "_modules", {}).values())
    for owner in (module, getattr(module, "config", None), *inner):
        for name in HEADS:
            found = getattr(owner, name, None)
            if isinstance(found, int) and not isinstance(found, bool) and found > 0:
                return found
    return None


def _known(arrays: Mapping[str, Array], heads: int | None) -> dict[str, Any] | None:
    """Return matrices and biases by a known layout; None if it is unknown or computes more."""
    try:
        found = layer_from_arrays(arrays, num_heads=heads)
    except (ValueError, TypeError):
        return None
    if not isinstance(found, AttentionLayer):
        return None
    more = (found.query_norm, found.base, found.speeds, found.relative_bias, found.window,
            found.softcap, found.sinks)  # fmt: skip
    if found.alibi or any(x is not None for x in more):
        return None
    given: dict[str, Any] = {}
    for name, x in found.weights.arrays.items():
        wide = x.ndim == 3 if name.startswith("w_") else x.ndim == 2
        given[name] = np.moveaxis(x, 0, -2).reshape(*x.shape[1:-1], -1) if wide else x
    return given


def _by_names(module: Any, arrays: Mapping[str, Array]) -> dict[str, Any] | None:
    """Return matrices and biases by the names of a module's linear layers."""
    given: dict[str, Any] = {}
    for role, pattern in _NAMES.items():
        for name in arrays:
            path, _, kind = name.replace("/", ".").rpartition(".")
            if kind not in ("weight", "kernel") or not re.fullmatch(rf"(.*\.)?({pattern})", path):
                continue
            if arrays[name].ndim != 2 or role in given:
                continue
            is_turned = kind == "kernel" or "Conv1D" in type(_inner(module, path)).__name__
            given[role] = arrays[name] if is_turned else arrays[name].T
            bias = arrays.get(f"{path}.bias")
            if bias is not None:
                given[role.replace("w_", "b_")] = bias
    if "w_qkv" in given:
        width = given["w_qkv"].shape[-1] // 3
        if given["w_qkv"].shape[-1] != 3 * width:
            return None
        for i, name in enumerate("qkv"):
            given[f"w_{name}"] = given["w_qkv"][:, i * width : (i + 1) * width]
            if "b_qkv" in given:
                given[f"b_{name}"] = given["b_qkv"][i * width : (i + 1) * width]
        given = {name: x for name, x in given.items() if "qkv" not in name}
    return given if {"w_q", "w_k", "w_v"} <= given.keys() else None


BUFFERS = r"(.*\.)?(bias|mask|masked_bias|tril|causal_mask|attn_mask|attention_mask|causal|triu)"
"""Names of buffers that may be a causal mask."""
SETTINGS = re.compile(
    r"rope|rotary|alibi|sliding_window|window|softcap|soft_cap|logit_cap|capping|relative|rel_pos"
    r"|sink|qk_norm|q_norm|k_norm|layer_norm|residual|null_kv|zero_attn|bias_kv",
    re.IGNORECASE,
)
"""Names of settings by which a module computes more than attention."""


def _unused(arrays: Mapping[str, Array], given: Mapping[str, Any]) -> Iterator[str]:
    """Yield the arrays that are neither a matrix of the layer, nor its bias, nor a causal mask."""
    known = [x for x in given.values() if isinstance(x, np.ndarray)]
    for name, array in arrays.items():
        if re.fullmatch(BUFFERS, name) and array.ndim > 1 and array.shape[-1] == array.shape[-2]:
            continue
        if not any(_is_part(array, one) for one in known) and array.size > 1:
            yield name


def _is_part(array: Array, of: Array) -> bool:
    """Return whether all numbers of one of two arrays are among those of the other."""
    small, large = sorted((array, of), key=np.size)
    return abs(array.ndim - of.ndim) <= 1 and bool(np.isin(small, large).all())


def _settings(module: Any) -> Iterator[str]:
    """Yield the settings of a module, and of its configuration, that are switched on."""
    for owner in (module, getattr(module, "config", None)):
        own = {
            **vars(type(owner)),
            **getattr(owner, "__dict__", {}),
            **getattr(owner, "_modules", {}),
        }
        for name, value in own.items():
            is_method = callable(value) and name in vars(type(owner))
            if not SETTINGS.search(name) or name.startswith("_") or value is None or is_method:
                continue
            if isinstance(value, bool | int | float | str) and not value:
                continue
            plain = isinstance(value, bool | int | float | str)
            yield f"{name}={value!r}" if plain else name


def refused(module: Any, more: Sequence[str], fault: str = "") -> str:
    """Return the sentence for a module that cannot be judged as attention with its matrices."""
    name = type(module).__name__
    why = f"it raises {fault} in every case" if fault else f"it has {', '.join(more)}"
    return (
        f"examine_layer cannot judge {name}: {why}, which is more than attention with given"
        f" matrices. Examine the function in it that computes attention, with mha.examine, or a"
        f" layer that passes its other inputs:\n"
        f"    lambda x: module(x, ...)"
    )


def without(unused: Sequence[str]) -> Finding:
    """Return the finding on arrays without which a module's output is the right one."""
    names = ", ".join(unused)
    said = f"the output is that of a layer without {names}: these arrays have no influence"
    return Finding(f"{said}.", convention=f"if {names} are not meant to be used")


def _roles(name: str) -> str:
    """Return the letters of the projections that an array may belong to."""
    path = name.rpartition(".")[0].rpartition(".")[2] or name
    return "".join(letter for letter in "qkv" if re.fullmatch(_NAMES[f"w_{letter}"], path))


def _inner(module: Any, path: str) -> Any:
    for name in path.split("."):
        module = module[int(name)] if name.isdigit() else getattr(module, name, None)
    return module


def _unread(module: Any, arrays: Mapping[str, Array], what: str) -> str:
    name = type(module).__name__
    return (
        f"examine_layer does not find {what} in {name}, whose arrays are"
        f" {', '.join(arrays) or 'none'}. Write the lines that are missing, and examine them:\n"
        f"    def layer(x, w_q, w_k, w_v, w_o, num_heads):\n"
        f"        module = {name}(...)  # with its matrices set: w_q of shape (d_model, d_model)\n"
        f"        return module(x)"
    )
