"""The attention of one layer, as the model's `config.json` describes it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from mha.core.checks import Array, as_count, as_number
from mha.core.rope_scaling import (
    interpolated_speeds,
    llama3_speeds,
    rotary_speeds,
    yarn_sharpness,
    yarn_speeds,
)
from mha.layouts.table import (
    COMPOSITE_MODELS,
    LATENT,
    LAYOUTS,
    LatentLayout,
    Layout,
    Rotary,
    Windows,
)

ALL_LAYOUTS: dict[str, Layout | LatentLayout] = {**LAYOUTS, **LATENT}
"""All layouts, by name."""

LAYOUT_OF = {model_type: row for row in ALL_LAYOUTS.values() for model_type in row.model_types}
"""The layout of each `model_type`."""

LOCAL, FULL = "sliding_attention", "full_attention"
HAS_WINDOW = {LOCAL: True, FULL: False, "local": True, "global": False}
"""Whether the layers of each type have a sliding window."""


@dataclass
class Settings:
    """The settings of one layer, and the defaults that replaced missing ones.

    Parameters
    ----------
    values : mapping
        The contents of `config.json`, or of the table in it that belongs to the layer.
    where : str
        The name of the settings in messages, such as "config.json".
    prefix : str
        The prefix of the names of the layer's arrays.
    number : int or None
        The layer's number, counted from 0.
    assumed : list of str
        A phrase for each default that replaced a missing setting.
    """

    values: Mapping[str, Any]
    where: str
    prefix: str
    number: int | None
    assumed: list[str] = field(default_factory=list)

    def find(self, names: str) -> tuple[str, Any]:
        """Return the name and value of the first setting that exists; if none does, None."""
        side = "decoder" if re.search(r"\bdecoder\b", self.prefix) else "encoder"
        for name in names.format(side=side).split("|"):
            inner: Any = self.values
            for key in name.split("."):
                inner = inner.get(key) if isinstance(inner, Mapping) else None
            if inner is not None:
                return name, inner
        return name, None

    def read(self, names: str, default: Any) -> Any:
        """Return a setting, or its default; the use of a default is recorded in `assumed`."""
        name, value = self.find(names)
        if value is not None or not name or self._has(name):
            return default if not name else value
        if default is not None and default is not False:
            self.assumed.append(f"{name} {default}, since {self.where} has none")
        return default

    def read_number(self, names: str, default: float | None) -> float | None:
        """Return a setting that is a number, or None."""
        value = self.read(names, default)
        return None if value is None else as_number(f"{names} of {self.where}", value)

    def read_count(self, names: str, default: int | None = None) -> int | None:
        """Return a setting that is a whole number of at least 1, or None."""
        value = self.read(names, default)
        return None if value is None else as_count(f"{names} of {self.where}", value)

    def _has(self, name: str) -> bool:
        """Return whether a setting exists; its value may be None."""
        return name in self.values


def layouts_of_model(
    values: Mapping[str, Any], where: str, *, is_strict: bool = True
) -> list[tuple[str, Layout | LatentLayout, Mapping[str, Any]]]:
    """Return the layouts of a model's layers, each with the pattern of its prefix and its settings.

    Parameters
    ----------
    values : mapping
        The contents of `config.json`.
    where : str
        The name of the settings in messages.
    is_strict : bool, default True
        Raise an error if there is no `model_type`, instead of returning an empty list.

    Returns
    -------
    list
        Empty if the `model_type` is unknown.

    Raises
    ------
    ValueError
        If the settings have no `model_type`.

    Examples
    --------
    >>> layouts = layouts_of_model({"model_type": "opt"}, "config.json")
    >>> [(pattern, layout.name) for pattern, layout, _ in layouts]
    [('', 'OPT')]
    """
    model_type = values.get("model_type")
    if model_type is None and is_strict:
        raise ValueError(
            f"{where} has no model_type, so the computation of its layers is unknown; layout=, a"
            " name of mha.layouts.LAYOUTS, is wanted"
        )
    if model_type not in COMPOSITE_MODELS:
        return [("", LAYOUT_OF[model_type], values)] if model_type in LAYOUT_OF else []
    layouts = []
    for pattern, name, default in COMPOSITE_MODELS[model_type]:
        inner = values.get(name) or {}
        if (own := inner.get("model_type", default)) in LAYOUT_OF:
            layouts.append((pattern, LAYOUT_OF[own], inner))
    return layouts


def check_required(settings: Settings, requires: Mapping[str, Any]) -> None:
    """Raise a ValueError if a setting has a value that is not supported.

    Examples
    --------
    >>> check_required(Settings({"clip_qkv": 8}, "config.json", "", 0), {"clip_qkv": None})
    Traceback (most recent call last):
        ...
    ValueError: config.json has clip_qkv 8; only clip_qkv None is supported
    """
    for names, wanted in requires.items():
        name, value = settings.find(names)
        if value is not None and value != wanted and (value or wanted):
            raise ValueError(
                f"{settings.where} has {name} {value!r}; only {name} {wanted!r} is supported"
            )


def read_num_heads(layout: Layout, settings: Settings) -> int | None:
    """Return the number of heads in the settings, or None."""
    return (
        settings.read_count(*layout.settings["num_heads"])
        if "num_heads" in layout.settings
        else None
    )


def check_sizes(layout: Layout, settings: Settings, sizes: Mapping[str, int]) -> None:
    """Raise a ValueError if sizes in the settings differ from those of the arrays.

    Parameters
    ----------
    layout : Layout
    settings : Settings
    sizes : mapping of str to int
        By letter (`mha.layouts.axes`).
    """
    for use, letter in (("num_heads", "h"), ("num_groups", "g"), ("d_k", "k")):
        if use not in layout.settings:
            continue
        stated, actual = settings.read_count(*layout.settings[use]), sizes.get(letter, sizes["h"])
        if stated is not None and stated != actual:
            name, _ = settings.find(layout.settings[use][0])
            raise ValueError(
                f"{settings.where} has {name} {stated}, but the arrays at {settings.prefix!r} have"
                f" {actual}; settings and arrays of the same model are wanted"
            )


def check_bias(layout: Layout, settings: Settings, parts: Mapping[str, str]) -> None:
    """Raise a ValueError if settings and arrays disagree about the bias of queries."""
    if "bias" not in layout.settings:
        return
    names, default = layout.settings["bias"]
    _, value = settings.find(names)
    wanted, has = default if value is None else value, bool(parts.keys() & {"b_q", "b_qkv"})
    if bool(wanted) != has:
        origin = f"{settings.where} has {names} {value}" if value is not None else layout.name
        name = next(name for part, (name, _) in layout.parts.items() if part in ("b_q", "b_qkv"))
        raise ValueError(
            f"{origin}: layers {'with' if wanted else 'without'} a bias of queries; but the arrays"
            f" at {settings.prefix!r} have {name if has else f'no {name}'}"
        )


def read_behaviour(
    layout: Layout, settings: Settings, d_k: int, *, base: float | None = None
) -> dict[str, Any]:
    """Return the options of `AttentionLayer` that the settings determine.

    Parameters
    ----------
    layout : Layout
    settings : Settings
    d_k : int
    base : float, optional
        Replaces the base in the settings.

    Raises
    ------
    TypeError, ValueError
        If a setting has another type, or a value that is not supported.
    """
    names = layout.settings
    found: dict[str, Any] = {"scale": layout.scale, "alibi": layout.alibi}
    if "scale" in names:
        found["scale"] = settings.read_number(*names["scale"])
    if "scale_width" in names:
        width = settings.read_number(*names["scale_width"])
        found["scale"] = None if width is None else width**-0.5
    if "softcap" in names:
        found["softcap"] = settings.read_number(*names["softcap"])
    if "eps" in names:
        found["eps"] = settings.read_number(*names["eps"])
    is_causal = layout.causal is not None and bool(re.search(layout.causal, settings.prefix))
    found["is_causal"] = is_causal and bool(settings.read(*names.get("is_causal", ("", True))))
    is_local = False
    if layout.windows is not None:
        is_local = has_window(layout.windows, settings)
        found["window"] = _read_window(layout.windows, settings) if is_local else None
    if layout.rotary is not None and (is_local or not layout.rotary.only_local):
        rotation, sharpness = read_rotation(layout.rotary, settings, d_k, is_local, base)
        found |= rotation
        if sharpness != 1:  # a factor of queries and of keys is its square in the scores
            scale = d_k**-0.5 if found["scale"] is None else found["scale"]
            found["scale"] = scale * sharpness**2
    return found


def has_window(windows: Windows, settings: Settings) -> bool:
    """Return whether a layer has a sliding window.

    Examples
    --------
    >>> windows = Windows("sliding_window", 4096, every=("", 2))
    >>> [has_window(windows, Settings({}, "config.json", "", i)) for i in range(4)]
    [True, False, True, False]
    """
    number = settings.number
    layer_types = _read_layer_types(settings)
    if windows.switch is not None and not settings.find(windows.switch)[1]:
        return False
    if settings.read(windows.setting, windows.default) is None:
        return False
    needs_number = layer_types or windows.every or windows.start
    if needs_number and number is None:
        raise ValueError(
            f"{settings.where} gives some layers a window, and {settings.prefix!r} has no number;"
            " names with the layer's number are wanted"
        )
    layer = 0 if number is None else number
    if layer_types:
        layer_type = layer_types[layer] if layer < len(layer_types) else None
        if layer_type not in HAS_WINDOW:
            raise ValueError(
                f"{settings.where} has {layer_type!r} as the type of attention of layer {layer};"
                f" one of {', '.join(HAS_WINDOW)} is wanted"
            )
        return HAS_WINDOW[layer_type]
    if windows.every is not None:
        period = settings.read_count(*windows.every)
        assert period is not None
        return bool((layer if windows.first else layer + 1) % period)
    if windows.start is not None:
        return layer >= (settings.read_count(*windows.start) or 0)
    return True


def _read_layer_types(settings: Settings) -> list[str]:
    """Return the type of each layer's attention; an empty list if the settings have none."""
    _, types = settings.find("layer_types|attention_layers")
    if types is None:
        _, runs = settings.find("attention_types")
        types = [each for types, count in runs or [] for _ in range(count) for each in types]
    return list(types)


def _read_window(windows: Windows, settings: Settings) -> int:
    """Return the largest distance of a key from its query."""
    size = as_count(
        f"{windows.setting} of {settings.where}",
        settings.read(windows.setting, windows.default),
        least=2,
    )
    return size - 1 if windows.counts == "token" else size // 2


def read_rotation(
    rotary: Rotary, settings: Settings, d_k: int, is_local: bool, base: float | None = None
) -> tuple[dict[str, Any], float]:
    """Return the base or the speeds of a layer's rotation, and a factor of queries and keys.

    Parameters
    ----------
    rotary : Rotary
    settings : Settings
    d_k : int
    is_local : bool
        Whether the layer has a sliding window.
    base : float, optional
        Replaces the base in the settings.

    Raises
    ------
    TypeError, ValueError
        If the speeds depend on the length of the sequence, or the `rope_type` is unknown.
    """
    rope = _read_rope_table(rotary, settings, is_local)
    own = rope.get("rope_theta") if base is None else base
    if own is None and is_local and rotary.local is not None:
        own = settings.read_number(*rotary.local)
    if own is None:
        own = settings.read_number(rotary.base, rotary.default)
    own = as_number(f"rope_theta of {settings.where}", own or 0, above=0)
    width = _rotated_width(rotary, settings, rope, d_k)
    speeds, sharpness = _speeds(rope, settings, width, own)
    if speeds is None and width == d_k:
        return {"base": own}, 1.0
    if sharpness != 1 and width < d_k:
        raise ValueError(
            f"{settings.where} multiplies a part of each query and key by {sharpness:.4g}; speeds"
            " without such a factor are wanted"
        )
    return {"speeds": rotary_speeds(width, base=own) if speeds is None else speeds}, sharpness


def _rotated_width(rotary: Rotary, settings: Settings, rope: Mapping[str, Any], d_k: int) -> int:
    """Return the number of components of a query that are rotated."""
    if rotary.width is not None:
        return settings.read_count(*rotary.width) or d_k
    if rotary.share is None:
        return d_k
    share = rope.get("partial_rotary_factor")
    share = settings.read_number(*rotary.share) if share is None else share
    return int(
        d_k * as_number(f"{rotary.share[0]} of {settings.where}", 1 if share is None else share)
    )


def _read_rope_table(rotary: Rotary, settings: Settings, is_local: bool) -> Mapping[str, Any]:
    """Return the table of a layer's rotary settings, which has an older and a newer form."""
    _, rope = settings.find("rope_parameters|rope_scaling")
    if rope is None:
        rope = {} if is_local and rotary.local else rotary.scaling
    elif isinstance(rope, Mapping) and rope.keys() & {LOCAL, FULL}:
        rope = rope.get(LOCAL if is_local else FULL) or {}
    elif is_local and rotary.local:
        rope = {}  # one table for all layers is that of the layers without a window
    if not isinstance(rope, Mapping):
        raise TypeError(f"rope_parameters of {settings.where} is {rope!r}; a table is wanted")
    return rope


def _speeds(
    rope: Mapping[str, Any], settings: Settings, width: int, base: float
) -> tuple[Array | None, float]:
    """Return the speeds, or None for those of the base, and a factor of queries and keys."""
    rope_type = rope.get("rope_type", rope.get("type", "default"))
    if rope_type in ("default", None):
        return None, 1.0
    if rope_type not in ("linear", "llama3", "yarn"):
        raise ValueError(
            f"{settings.where} has rope_type {rope_type!r}, which is not supported: its speeds"
            " depend on the length of the sequence, or are unknown; default, linear, llama3 or yarn"
            " is wanted"
        )
    factor = rope.get("factor")
    if rope_type == "linear":
        return interpolated_speeds(width, _require_number(rope, "factor", settings), base=base), 1.0
    length = rope.get("original_max_position_embeddings")
    if length is None:
        _, length = settings.find("original_max_position_embeddings|max_position_embeddings")
    length = as_count(f"original_max_position_embeddings of {settings.where}", length)
    if rope_type == "llama3":
        slow, fast = (
            _require_number(rope, f"{word}_freq_factor", settings) for word in ("low", "high")
        )
        factor = _require_number(rope, "factor", settings)
        return llama3_speeds(width, factor, length=length, base=base, slow=slow, fast=fast), 1.0
    if factor is None:
        longest = settings.read_number("max_position_embeddings", None)
        factor = _require_number(rope, "factor", settings) if longest is None else longest / length
    turns = {"fast": rope.get("beta_fast") or 32, "slow": rope.get("beta_slow") or 1}
    truncate = rope.get("truncate", True)
    speeds = yarn_speeds(width, factor, length=length, base=base, truncate=truncate, **turns)
    sharpness = rope.get("attention_factor")
    if sharpness is None:
        part, whole = rope.get("mscale"), rope.get("mscale_all_dim")
        sharpness = yarn_sharpness(factor)
        if part and whole:
            sharpness = yarn_sharpness(factor, mscale=part) / yarn_sharpness(factor, mscale=whole)
    return speeds, float(sharpness)


def _require_number(rope: Mapping[str, Any], name: str, settings: Settings) -> float:
    """Return a number of the rotary settings, and raise a ValueError if it is missing."""
    if rope.get(name) is None:
        raise ValueError(f"rope_parameters of {settings.where} has no {name}; a number is wanted")
    return as_number(f"{name} of {settings.where}", rope[name])


def read_latent_scale(settings: Settings, d_k: int) -> float | None:
    """Return the scale of latent attention with YaRN's speeds; None is 1 / sqrt(d_k).

    Parameters
    ----------
    settings : Settings
    d_k : int
        The width of a query, including its rotated part.
    """
    _, rope = settings.find("rope_parameters|rope_scaling")
    rope = rope or {}
    if rope.get("rope_type", rope.get("type", "default")) == "default":
        return None
    whole = rope.get("mscale_all_dim")
    if not whole:
        return None
    return float(np.sqrt(1 / d_k) * yarn_sharpness(rope["factor"], mscale=whole) ** 2)
