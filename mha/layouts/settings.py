"""What a model's settings, its `config.json`, say about the attention of one of its layers."""

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
from mha.layouts.table import INSIDE, LATENT, LAYOUTS, LatentLayout, Layout, Rotary, Windows

EVERY: dict[str, Layout | LatentLayout] = {**LAYOUTS, **LATENT}
"""All layouts, by name."""

ROWS = {model_type: row for row in EVERY.values() for model_type in row.model_types}
"""The row of each `model_type`."""

LOCAL, FULL = "sliding_attention", "full_attention"
KINDS = {LOCAL: True, FULL: False, "local": True, "global": False}
"""Whether layers of a kind have a window."""


@dataclass
class Settings:
    """The settings that belong to one layer, and which of them were missing.

    Parameters
    ----------
    given : mapping
        The contents of `config.json`, or of the part of it that belongs to the layer.
    where : str
        The name for messages.
    prefix : str
        The beginning of the layer's names.
    number : int or None
        The layer's number, counted from 0.
    assumed : list of str
        What a missing setting counted as, a phrase for each that changes the layer.
    """

    given: Mapping[str, Any]
    where: str
    prefix: str
    number: int | None
    assumed: list[str] = field(default_factory=list)

    def find(self, names: str) -> tuple[str, Any]:
        """Return the name of the first setting that is there, and its value; else None."""
        side = "decoder" if re.search(r"\bdecoder\b", self.prefix) else "encoder"
        for name in names.format(side=side).split("|"):
            inner: Any = self.given
            for step in name.split("."):
                inner = inner.get(step) if isinstance(inner, Mapping) else None
            if inner is not None:
                return name, inner
        return name, None

    def read(self, names: str, default: Any) -> Any:
        """Return a setting, or its default, of which a note is taken if it changes anything."""
        name, value = self.find(names)
        if value is not None or not name or self._has(name):
            return default if not name else value
        if default is not None and default is not False:
            self.assumed.append(f"{name} {default}, since {self.where} has none")
        return default

    def number_of(self, names: str, default: float | None) -> float | None:
        """Return a setting that is a number, or None."""
        value = self.read(names, default)
        return None if value is None else as_number(f"{names} of {self.where}", value)

    def count_of(self, names: str, default: int | None = None) -> int | None:
        """Return a setting that is a whole number of at least 1, or None."""
        value = self.read(names, default)
        return None if value is None else as_count(f"{names} of {self.where}", value)

    def _has(self, name: str) -> bool:
        """Return whether a setting is there, though it may be None."""
        return name in self.given


def rows_of(
    given: Mapping[str, Any], where: str, *, is_strict: bool = True
) -> list[tuple[str, Layout | LatentLayout, Mapping[str, Any]]]:
    """Return the rows of a model: for each, what names begin with, the row, and its settings.

    Parameters
    ----------
    given : mapping
    where : str
        The name for messages.
    is_strict : bool, default True
        Raise if there is no `model_type`, in place of returning nothing.

    Returns
    -------
    list
        Empty if the `model_type` is not known.

    Raises
    ------
    ValueError
        If the settings have no `model_type`.

    Examples
    --------
    >>> [(start, row.name) for start, row, _ in rows_of({"model_type": "opt"}, "config.json")]
    [('', 'OPT')]
    """
    kind = given.get("model_type")
    if kind is None and is_strict:
        raise ValueError(
            f"{where} has no model_type, so it does not say what its layers compute; layout=, a"
            " name of mha.layouts.LAYOUTS, is wanted"
        )
    if kind not in INSIDE:
        return [("", ROWS[kind], given)] if kind in ROWS else []
    rows = []
    for begins, name, default in INSIDE[kind]:
        inner = given.get(name) or {}
        if (own := inner.get("model_type", default)) in ROWS:
            rows.append((begins, ROWS[own], inner))
    return rows


def check_required(settings: Settings, requires: Mapping[str, Any]) -> None:
    """Raise where a model computes something that is not read.

    Examples
    --------
    >>> check_required(Settings({"clip_qkv": 8}, "config.json", "", 0), {"clip_qkv": None})
    Traceback (most recent call last):
        ...
    ValueError: config.json has clip_qkv 8; layers are read with clip_qkv None alone
    """
    for names, wanted in requires.items():
        name, value = settings.find(names)
        if value is not None and value != wanted and (value or wanted):
            raise ValueError(
                f"{settings.where} has {name} {value!r}; layers are read with {name} {wanted!r}"
                " alone"
            )


def num_heads_of(layout: Layout, settings: Settings) -> int | None:
    """Return the number of heads that the settings say."""
    return settings.count_of(*layout.reads["num_heads"]) if "num_heads" in layout.reads else None


def check_sizes(layout: Layout, settings: Settings, sizes: Mapping[str, int]) -> None:
    """Raise where the settings say other sizes than the arrays have.

    Parameters
    ----------
    layout : Layout
    settings : Settings
    sizes : mapping of str to int
        By letter (`mha.layouts.axes`).
    """
    for use, letter in (("num_heads", "h"), ("num_groups", "g"), ("d_k", "k")):
        if use not in layout.reads:
            continue
        said, has = settings.count_of(*layout.reads[use]), sizes.get(letter, sizes["h"])
        if said is not None and said != has:
            name, _ = settings.find(layout.reads[use][0])
            raise ValueError(
                f"{settings.where} has {name} {said}, but the arrays at {settings.prefix!r} have"
                f" {has}; settings and arrays of one model are wanted"
            )


def check_bias(layout: Layout, settings: Settings, parts: Mapping[str, str]) -> None:
    """Raise where the settings say that queries have a bias, and the arrays not, or otherwise."""
    if "bias" not in layout.reads:
        return
    names, default = layout.reads["bias"]
    _, value = settings.find(names)
    wanted, has = default if value is None else value, bool(parts.keys() & {"b_q", "b_qkv"})
    if bool(wanted) != has:
        said = f"{settings.where} has {names} {value}" if value is not None else layout.name
        name = next(name for part, (name, _) in layout.parts.items() if part in ("b_q", "b_qkv"))
        raise ValueError(
            f"{said}: layers {'with' if wanted else 'without'} a bias of queries; but the arrays at"
            f" {settings.prefix!r} have {name if has else f'no {name}'}"
        )


def behaviour(
    layout: Layout, settings: Settings, d_k: int, *, base: float | None = None
) -> dict[str, Any]:
    """Return what a layer computes besides its projections, by the names of `AttentionLayer`.

    Parameters
    ----------
    layout : Layout
    settings : Settings
    d_k : int
    base : float, optional
        In place of the settings' own.

    Raises
    ------
    TypeError, ValueError
        If a setting is of another kind, or the model computes something that is not read.
    """
    reads = layout.reads
    found: dict[str, Any] = {"scale": layout.scale, "alibi": layout.alibi}
    if "scale" in reads:
        found["scale"] = settings.number_of(*reads["scale"])
    if "scale_width" in reads:
        width = settings.number_of(*reads["scale_width"])
        found["scale"] = None if width is None else width**-0.5
    if "softcap" in reads:
        found["softcap"] = settings.number_of(*reads["softcap"])
    if "eps" in reads:
        found["eps"] = settings.number_of(*reads["eps"])
    is_causal = layout.causal is not None and bool(re.search(layout.causal, settings.prefix))
    found["is_causal"] = is_causal and bool(settings.read(*reads.get("is_causal", ("", True))))
    is_local = False
    if layout.windows is not None:
        is_local = has_window(layout.windows, settings)
        found["window"] = _width(layout.windows, settings) if is_local else None
    if layout.rotary is not None and (is_local or not layout.rotary.only_local):
        rotation, sharpness = rotated(layout.rotary, settings, d_k, is_local, base)
        found |= rotation
        if sharpness != 1:
            scale = d_k**-0.5 if found["scale"] is None else found["scale"]
            found["scale"] = scale * sharpness**2
    return found


def has_window(windows: Windows, settings: Settings) -> bool:
    """Return whether a layer has a window.

    Examples
    --------
    >>> windows = Windows("sliding_window", 4096, every=("", 2))
    >>> [has_window(windows, Settings({}, "config.json", "", i)) for i in range(4)]
    [True, False, True, False]
    """
    number = settings.number
    kinds = _kinds(settings)
    if windows.switch is not None and not settings.find(windows.switch)[1]:
        return False
    if settings.read(windows.setting, windows.default) is None:
        return False
    needs_number = kinds or windows.every or windows.start
    if needs_number and number is None:
        raise ValueError(
            f"{settings.where} gives some layers a window, and {settings.prefix!r} has no number;"
            " names with the layer's number are wanted"
        )
    layer = 0 if number is None else number
    if kinds:
        kind = kinds[layer] if layer < len(kinds) else None
        if kind not in KINDS:
            raise ValueError(
                f"{settings.where} has {kind!r} as the kind of attention of layer {layer}; one of"
                f" {', '.join(KINDS)} is wanted"
            )
        return KINDS[kind]
    if windows.every is not None:
        period = settings.count_of(*windows.every)
        assert period is not None
        return bool((layer if windows.first else layer + 1) % period)
    if windows.start is not None:
        return layer >= (settings.count_of(*windows.start) or 0)
    return True


def _kinds(settings: Settings) -> list[str]:
    """Return the kind of each layer's attention, if the settings list them."""
    _, kinds = settings.find("layer_types|attention_layers")
    if kinds is None:
        _, runs = settings.find("attention_types")
        kinds = [kind for kinds, count in runs or [] for _ in range(count) for kind in kinds]
    return list(kinds)


def _width(windows: Windows, settings: Settings) -> int:
    """Return how many positions away a key may be."""
    said = as_count(
        f"{windows.setting} of {settings.where}",
        settings.read(windows.setting, windows.default),
        least=2,
    )
    return said - 1 if windows.counts == "token" else said // 2


def rotated(
    rotary: Rotary, settings: Settings, d_k: int, is_local: bool, base: float | None = None
) -> tuple[dict[str, Any], float]:
    """Return the base or the speeds of a layer's rotation, and a factor of queries and keys.

    Parameters
    ----------
    rotary : Rotary
    settings : Settings
    d_k : int
    is_local : bool
        Whether the layer has a window.
    base : float, optional
        In place of the settings' own.

    Raises
    ------
    TypeError, ValueError
        If the speeds depend on the length of the sequence, or are of an unknown kind.
    """
    told = _told(rotary, settings, is_local)
    own = told.get("rope_theta") if base is None else base
    if own is None and is_local and rotary.local is not None:
        own = settings.number_of(*rotary.local)
    if own is None:
        own = settings.number_of(rotary.base, rotary.default)
    own = as_number(f"rope_theta of {settings.where}", own or 0, above=0)
    width = _rotated_width(rotary, settings, told, d_k)
    speeds, sharpness = _speeds(told, settings, width, own)
    if speeds is None and width == d_k:
        return {"base": own}, 1.0
    if sharpness != 1 and width < d_k:
        raise ValueError(
            f"{settings.where} multiplies a part of each query and key by {sharpness:.4g}; speeds"
            " without such a factor are wanted"
        )
    return {"speeds": rotary_speeds(width, base=own) if speeds is None else speeds}, sharpness


def _rotated_width(rotary: Rotary, settings: Settings, told: Mapping[str, Any], d_k: int) -> int:
    """Return how many components of a query are rotated."""
    if rotary.width is not None:
        return settings.count_of(*rotary.width) or d_k
    if rotary.share is None:
        return d_k
    share = told.get("partial_rotary_factor")
    share = settings.number_of(*rotary.share) if share is None else share
    return int(
        d_k * as_number(f"{rotary.share[0]} of {settings.where}", 1 if share is None else share)
    )


def _told(rotary: Rotary, settings: Settings, is_local: bool) -> Mapping[str, Any]:
    """Return the table of rotary settings of a layer, in the newer or the older form."""
    _, told = settings.find("rope_parameters|rope_scaling")
    if told is None:
        told = {} if is_local and rotary.local else rotary.scaling
    elif told.keys() & {LOCAL, FULL}:
        told = told.get(LOCAL if is_local else FULL) or {}
    elif is_local and rotary.local:
        told = {}  # one table for all layers is that of the layers without a window
    if not isinstance(told, Mapping):
        raise TypeError(f"rope_parameters of {settings.where} is {told!r}; a table is wanted")
    return told


def _speeds(
    told: Mapping[str, Any], settings: Settings, width: int, base: float
) -> tuple[Array | None, float]:
    """Return changed speeds, or None where they are those of the base; and a factor."""
    kind = told.get("rope_type", told.get("type", "default"))
    if kind in ("default", None):
        return None, 1.0
    if kind not in ("linear", "llama3", "yarn"):
        raise ValueError(
            f"{settings.where} has rope_type {kind!r}, which is not read: its speeds depend on the"
            " length of the sequence, or are unknown; default, linear, llama3 or yarn is wanted"
        )
    factor = told.get("factor")
    if kind == "linear":
        return interpolated_speeds(width, _needed(told, "factor", settings), base=base), 1.0
    length = told.get("original_max_position_embeddings")
    if length is None:
        _, length = settings.find("original_max_position_embeddings|max_position_embeddings")
    length = as_count(f"original_max_position_embeddings of {settings.where}", length)
    if kind == "llama3":
        slow, fast = (_needed(told, f"{word}_freq_factor", settings) for word in ("low", "high"))
        factor = _needed(told, "factor", settings)
        return llama3_speeds(width, factor, length=length, base=base, slow=slow, fast=fast), 1.0
    if factor is None:
        longest = settings.number_of("max_position_embeddings", None)
        factor = _needed(told, "factor", settings) if longest is None else longest / length
    turns = {"fast": told.get("beta_fast") or 32, "slow": told.get("beta_slow") or 1}
    truncate = told.get("truncate", True)
    speeds = yarn_speeds(width, factor, length=length, base=base, truncate=truncate, **turns)
    sharpness = told.get("attention_factor")
    if sharpness is None:
        part, whole = told.get("mscale"), told.get("mscale_all_dim")
        sharpness = yarn_sharpness(factor)
        if part and whole:
            sharpness = yarn_sharpness(factor, mscale=part) / yarn_sharpness(factor, mscale=whole)
    return speeds, float(sharpness)


def _needed(told: Mapping[str, Any], name: str, settings: Settings) -> float:
    """Return a number of the rotary settings, or raise."""
    if told.get(name) is None:
        raise ValueError(f"rope_parameters of {settings.where} has no {name}; a number is wanted")
    return as_number(f"{name} of {settings.where}", told[name])


def latent_scale(settings: Settings, d_k: int) -> float | None:
    """Return the scale of latent attention whose speeds are YaRN's; None is 1 / sqrt(d_k).

    Parameters
    ----------
    settings : Settings
    d_k : int
        The width of a query, the rotated part with it.
    """
    _, told = settings.find("rope_parameters|rope_scaling")
    told = told or {}
    if told.get("rope_type", told.get("type", "default")) == "default":
        return None
    whole = told.get("mscale_all_dim")
    if not whole:
        return None
    return float(np.sqrt(1 / d_k) * yarn_sharpness(told["factor"], mscale=whole) ** 2)
