"""Conversion between named arrays and attention layers, for all layouts."""

from __future__ import annotations

import re
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from mha.core.checks import Array, as_array, as_count
from mha.core.multihead import MultiHeadWeights
from mha.core.option_checks import as_bool, as_string, check_type
from mha.core.positions import halves_to_pairs, pairs_to_halves
from mha.layouts.axes import (
    fuse_axes,
    fuse_parts,
    infer_sizes,
    pattern_order,
    split_axes,
    split_fused,
)
from mha.layouts.latent import LatentLayer, build_latent_layer
from mha.layouts.layer import AttentionLayer
from mha.layouts.settings import (
    ALL_LAYOUTS,
    Settings,
    check_bias,
    check_required,
    check_sizes,
    layouts_of_model,
    read_behaviour,
    read_num_heads,
)
from mha.layouts.table import LAYOUTS, PACKAGE_AXES, LatentLayout, Layout

ROTATED = ("w_q", "w_k", "b_q", "b_k", "query_norm", "key_norm")
"""The arrays whose last axis has the components that rotary positions rotate."""

FUSED = {"w_qkv": ("w_q", "w_k", "w_v"), "b_qkv": ("b_q", "b_k", "b_v")}
"""The parts of each fused array."""

NORMS = ("query_norm", "key_norm")
EXTRAS = (*NORMS, "relative_bias", "sinks")
"""The arrays that are not part of the projections."""

ATTENTION = re.compile(r"att|query|key|value|qkv|[qkvo]_?(proj|lin)|w[qkvo]\b|rotary|sinks", re.I)
"""Matches most names of arrays of attention layers, for messages."""


@dataclass(frozen=True)
class LayerMatch:
    """A layer found among named arrays: its layout, the prefix of its names, and its settings."""

    layout: Layout | LatentLayout
    prefix: str
    settings: Mapping[str, Any] | None = None

    @property
    def number(self) -> int | None:
        """The first number in the prefix, or None."""
        number = re.search(r"(?<![^./])\d+(?![^./])", self.prefix)
        return int(number[0]) if number else None

    def names(self, present: Container[str]) -> dict[str, str]:
        """Return the names of the layer's present arrays, by their names in this package."""
        names = {
            part: name if isinstance(name, str) else name[0]
            for part, name in self.layout.parts.items()
        }
        own = {part: self.prefix + name for part, name in names.items()}
        return {part: name for part, name in own.items() if name in present}

    def sizes(
        self, shapes: Mapping[str, tuple[int, ...]], num_heads: int | None = None
    ) -> dict[str, int]:
        """Return the lengths of axes that follow from the shapes."""
        assert isinstance(self.layout, Layout)
        names = self.names(shapes)
        patterns = {
            name: (self.layout.parts[part][1], shapes[name]) for part, name in names.items()
        }
        return infer_sizes(patterns, num_heads)


def layer_from_arrays(
    arrays: Mapping[str, ArrayLike],
    *,
    settings: Mapping[str, Any] | None = None,
    num_heads: int | None = None,
    base: float | None = None,
    eps: float | None = None,
    is_causal: bool | None = None,
    layout: str | None = None,
    within: str = "",
) -> AttentionLayer | LatentLayer:
    """Make an attention layer of named arrays, such as those of a `state_dict`.

    Names and shapes rarely determine the computation: Llama, Mistral and Gemma 2 have equal names.
    If several layouts fit, `settings` or `layout` is therefore required.

    Parameters
    ----------
    arrays : mapping of str to array_like
        All arrays of one layer; their names may have a prefix, such as the path of the layer in the
        model. Arrays that do not belong to an attention layer are ignored.
    settings : mapping, optional
        The contents of the model's `config.json`. Its `model_type` determines the layout.
    num_heads : int, optional
        Required if neither the arrays nor the settings determine it.
    base : float, optional
        Base of the rotary positions, instead of the one in the settings; required without
        settings if the layout rotates. A `config.json` calls it `rope_theta`.
    eps : float, optional
        Added to the mean square by norms of queries and keys. Default: that of the settings,
        else 1e-6.
    is_causal : bool, optional
        Default: determined by the settings, the layout and the names.
    layout : str, optional
        A name of `mha.layouts.LAYOUTS`, instead of the settings' `model_type`.
    within : str, default ""
        A part of the names that selects one of several layers.

    Returns
    -------
    AttentionLayer or LatentLayer
        Its `layout` is the name of the layout; `assumed` lists the properties that were assumed. A
        LatentLayer is DeepSeek's latent attention.

    Raises
    ------
    TypeError, ValueError
        If no layer or more than one matches the names; if the `model_type` is unknown, or several
        layouts fit and neither settings nor `layout` is given; if the number of heads or the base
        is required and missing; if the shape of an array does not fit the layout, or the layer has
        an array that the layout does not have; if a setting is not supported, or does not fit the
        arrays.

    Examples
    --------
    >>> fused = np.eye(4, 12)
    >>> arrays = {"attn.c_attn.weight": fused, "attn.c_proj.weight": np.eye(4)}
    >>> layer = layer_from_arrays(arrays, num_heads=2)
    >>> layer.layout, layer.assumed
    ('GPT-2', ('is_causal True', 'scale 1 / sqrt(d_k)'))
    >>> sorted(layer_to_arrays(layer))
    ['attn.c_attn.weight', 'attn.c_proj.weight']
    >>> arrays |= {"attn.c_attn.bias": np.zeros(12), "attn.c_proj.bias": np.zeros(4)}
    >>> layer_from_arrays(arrays, settings={"model_type": "gpt2", "n_head": 2}).assumed
    ()
    """
    check_type("arrays", arrays, Mapping)
    if settings is not None:
        check_type("settings", settings, Mapping)
    shapes = {as_string("arrays' names", name): np.shape(x) for name, x in arrays.items()}
    matches = find_layers("arrays", shapes, settings, layout, within)
    match = require_one_layer("arrays", matches, shapes, "settings")
    return build_layer(
        match, arrays, "settings", num_heads=num_heads, base=base, eps=eps, is_causal=is_causal
    )


def find_layers(
    source: str,
    shapes: Mapping[str, tuple[int, ...]],
    settings: Mapping[str, Any] | None = None,
    layout: str | None = None,
    within: str = "",
    where: str = "settings",
) -> list[LayerMatch]:
    """Return the layers among named shapes; several layouts may match one prefix.

    Raises
    ------
    TypeError, ValueError
        If the layout is unknown, or no layout matches the names.
    """
    as_string("within", within)
    candidates = _candidates(settings, layout, where, source, shapes)
    found = [
        LayerMatch(candidate, prefix, own_settings)
        for pattern, candidate, own_settings in candidates
        for prefix in _prefixes(candidate, shapes)
        if within in prefix and re.search(pattern, prefix)
    ]
    if not found:
        own = " or ".join(dict.fromkeys(candidate.name for _, candidate, _ in candidates))
        names = layout or (own if settings else "a layout of mha.layouts.LAYOUTS")
        raise ValueError(
            f"{source} has {summarise_names(shapes)}; the matrices of an attention layer are"
            f" wanted, by their names in {names}"
        )
    if settings or layout is not None:
        return found
    return [match for match in found if _fits(match, shapes)] or found[:1]


def _candidates(
    settings: Mapping[str, Any] | None,
    layout: str | None,
    where: str,
    source: str,
    shapes: Mapping[str, tuple[int, ...]],
) -> list[tuple[str, Layout | LatentLayout, Mapping[str, Any] | None]]:
    """Return the possible layouts, each with the pattern of its prefix and its settings."""
    if layout is not None and as_string("layout", layout) not in ALL_LAYOUTS:
        raise ValueError(f"layout is {layout!r}; one of {', '.join(ALL_LAYOUTS)} is wanted")
    if settings and (layout is None or "model_type" in settings):
        rows = layouts_of_model(settings, where, is_strict=layout is None)
        if not rows and layout is None:
            raise ValueError(
                f"{where} has model_type {settings['model_type']!r}, which is unknown, so its"
                f" attention may compute anything; {source} has {summarise_names(shapes)};"
                " layout= is wanted if one of mha.layouts.LAYOUTS computes the same"
            )
        own = [row for row in rows if layout in (None, row[1].name)]
        if rows and not own:
            raise ValueError(
                f"layout is {layout!r}, but {where} has model_type {settings['model_type']!r},"
                f" whose layout is {' or '.join(row.name for _, row, _ in rows)}; that one, or"
                " settings={} to ignore the settings, is wanted"
            )
        if own:
            return [*own]
    if layout is not None:
        return [("", ALL_LAYOUTS[layout], settings or None)]
    return [(getattr(row, "prefix_pattern", ""), row, None) for row in ALL_LAYOUTS.values()]


def _prefixes(row: Layout | LatentLayout, shapes: Mapping[str, tuple[int, ...]]) -> list[str]:
    """Return the prefixes with which all matrices of a layout are among the names."""
    first, *others = row.required
    prefixes = [name.removesuffix(first) for name in shapes if name.endswith(first)]
    return [
        prefix
        for prefix in prefixes
        if (not prefix or prefix[-1] in "./") and all(prefix + other in shapes for other in others)
    ]


def _fits(match: LayerMatch, shapes: Mapping[str, tuple[int, ...]]) -> bool:
    """Return whether the shapes fit a layout with some number of heads."""
    if isinstance(match.layout, LatentLayout):
        return True
    try:
        match.sizes(shapes, None if "h" in match.sizes(shapes) else 1)
    except ValueError:
        return False
    return True


def summarise_names(names: Mapping[str, object]) -> str:
    """Return the names of attention arrays, else all names, with the layers' numbers as ranges.

    Examples
    --------
    >>> summarise_names(dict.fromkeys(["h.0.attn.wq", "h.1.attn.wq", "h.1.mlp.up"]))
    'h.{0,1}.attn.wq'
    >>> summarise_names({})
    'no arrays'
    """
    own = [name for name in names if ATTENTION.search(name)] or list(names)
    numbers: dict[str, list[set[int]]] = {}
    for name in own:
        in_name = re.findall(r"(?<![^./])\d+(?![^./])", name)
        pattern = re.sub(r"(?<![^./])\d+(?![^./])", "{}", name)
        seen = numbers.setdefault(pattern, [set() for _ in in_name])
        for values, number in zip(seen, in_name, strict=True):
            values.add(int(number))
    texts = []
    for pattern, seen in numbers.items():
        first, *others = pattern.split("{}")
        ends = zip(seen, others, strict=True)
        texts.append(first + "".join(_format_numbers(n) + end for n, end in ends))
    rest = f" and {len(texts) - 12} more" if len(texts) > 12 else ""
    return ", ".join(texts[:12]) + rest or "no arrays"


def _format_numbers(numbers: set[int]) -> str:
    """Return numbers in braces, consecutive ones as a range."""
    first, last = min(numbers), max(numbers)
    if len(numbers) > 2 and last - first == len(numbers) - 1:
        return f"{{{first}..{last}}}"
    if len(numbers) == 1:
        return str(first)
    return "{" + ",".join(map(str, sorted(numbers))) + "}"


def require_one_layer(
    source: str, found: Sequence[LayerMatch], shapes: Mapping[str, object], where: str
) -> LayerMatch:
    """Return the only match; raise a ValueError if there are several, or it has unknown arrays."""
    prefixes = list(dict.fromkeys(each.prefix for each in found))
    if len(prefixes) > 1:
        by_prefix = {
            prefix: [each.layout.name for each in found if each.prefix == prefix]
            for prefix in prefixes[:9]
        }
        places = ", ".join(f"{prefix!r} ({' or '.join(own)})" for prefix, own in by_prefix.items())
        rest = f" and {len(prefixes) - 9} more" if len(prefixes) > 9 else ""
        raise ValueError(
            f"{source} has {len(prefixes)} attention layers, at {places}{rest}; within= is wanted,"
            " a part of the names of one layer only"
        )
    match = found[0]
    if len(found) > 1 or not (match.settings or match.layout.is_self_describing):
        layouts = ", ".join(each.layout.name for each in found)
        raise ValueError(
            f"{source} has names and shapes at {match.prefix!r} that fit {layouts}; settings= is"
            " wanted, the contents of the model's config.json, or layout= if it is one of"
            f" {_self_describing(found)}"
        )
    settings = Settings(match.settings or {}, where, match.prefix, match.number)
    check_required(settings, match.layout.required_settings)
    ignored = match.layout.ignored if isinstance(match.layout, Layout) else ()
    known = {match.prefix + name for name in ignored} | set(match.names(_AnyName()).values())
    own = [name for name in shapes if name.startswith(match.prefix)] if match.prefix else shapes
    unknown = {name: shapes[name] for name in own if name not in known}
    if unknown:
        raise ValueError(
            f"{source} has {summarise_names(unknown)}, which attention in the layout"
            f" {match.layout.name} does not have; the arrays of a known layer are wanted"
        )
    return match


class _AnyName(Container[str]):
    """A container of every name."""

    def __contains__(self, name: object) -> bool:
        return True


def _self_describing(found: Sequence[LayerMatch]) -> str:
    """Return the names of the layouts that need no settings, as text for messages."""
    names = [each.layout.name for each in found if each.layout.is_self_describing]
    return " or ".join(map(repr, names)) or "those that need no settings"


def build_layer(
    match: LayerMatch,
    arrays: Mapping[str, ArrayLike],
    where: str,
    *,
    num_heads: int | None,
    base: float | None,
    eps: float | None,
    is_causal: bool | None,
) -> AttentionLayer | LatentLayer:
    """Return the layer of a match and its arrays.

    Raises
    ------
    TypeError, ValueError
        As `layer_from_arrays`.
    """
    layout = match.layout
    settings = Settings(match.settings or {}, where, match.prefix, match.number)
    if isinstance(layout, LatentLayout):
        return build_latent_layer(layout, match.prefix, arrays, settings)
    heads = None if num_heads is None else as_count("num_heads", num_heads)
    if heads is None and match.settings:
        heads = read_num_heads(layout, settings)
    sizes = match.sizes({name: np.shape(x) for name, x in arrays.items()}, heads)
    if "h" not in sizes:
        raise ValueError(
            f"num_heads does not follow from the arrays of {layout.name}; num_heads= is wanted"
        )
    if base is not None and layout.rotary is None:
        raise ValueError(f"base is {base}, but {layout.name} has no rotation; None is wanted")
    names = match.names(arrays)
    _check_required_parts(match, names)
    if match.settings:
        check_sizes(layout, settings, sizes)
        check_bias(layout, settings, names)
        options = read_behaviour(layout, settings, sizes["k"], base=base)
    else:
        options = _default_behaviour(layout, match.prefix, base)
        settings.assumed += _assumptions(options, names, eps, is_causal)
    parts = _split_parts(layout, names, arrays, sizes)
    if layout.rotary is not None and not layout.rotary.pairs:
        parts |= {
            part: _reorder_rotated(parts[part], halves_to_pairs, options.get("speeds"))
            for part in ROTATED
            if part in parts
        }
    for part in NORMS:
        if part in parts and layout.gain_offset:
            parts[part] = layout.gain_offset + parts[part].astype(np.float64)
    parts["w_o"] = parts["w_o"].reshape(-1, parts["w_o"].shape[-1])
    options |= {name: parts.pop(name) for name in EXTRAS if name in parts}
    options["eps"] = options.get("eps", 1e-6) if eps is None else eps
    if is_causal is not None:
        options["is_causal"] = as_bool("is_causal", is_causal)
    return AttentionLayer(
        MultiHeadWeights(**parts),
        layout=layout.name,
        prefix=match.prefix,
        assumed=tuple(settings.assumed),
        **options,
    )


def _check_required_parts(match: LayerMatch, names: Mapping[str, str]) -> None:
    """Raise a ValueError if an array is missing that each layer of the layout has."""
    assert isinstance(match.layout, Layout)
    for part, pattern in match.layout.required_parts.items():
        if part not in names and re.search(pattern, match.prefix):
            raise ValueError(
                f"arrays at {match.prefix!r} have no {match.layout.parts[part][0]}, which each"
                f" layer of {match.layout.name} has; all arrays of the layer are wanted, and"
                " those of the first layer that it shares"
            )


def _default_behaviour(layout: Layout, prefix: str, base: float | None) -> dict[str, Any]:
    """Return the options of `AttentionLayer` for a layer without settings."""
    if layout.rotary is not None and base is None:
        raise ValueError(
            f"base does not follow from the arrays of {layout.name}; base= is wanted, which a"
            " model's settings call rope_theta"
        )
    is_causal = layout.causal is not None and bool(re.search(layout.causal, prefix))
    if "is_causal" in layout.settings:
        is_causal = bool(layout.settings["is_causal"][1])
    return {"scale": layout.scale, "base": base, "is_causal": is_causal}


def _assumptions(
    options: Mapping[str, Any], names: Mapping[str, str], eps: float | None, is_causal: bool | None
) -> list[str]:
    """Return the assumed properties of a layer without settings, as phrases."""
    phrases = [] if is_causal is not None else [f"is_causal {options['is_causal']}"]
    scale = options["scale"]
    phrases.append(f"scale {'1 / sqrt(d_k)' if scale is None else scale}")
    if eps is None and names.keys() & set(NORMS):
        phrases.append("eps 1e-06")
    if options["base"] is not None:
        phrases.append("all components are rotated; no window, and no cap of scores")
    return phrases


def _split_parts(
    layout: Layout,
    names: Mapping[str, str],
    arrays: Mapping[str, ArrayLike],
    sizes: Mapping[str, int],
) -> dict[str, Array]:
    """Return a layer's arrays with one axis per letter, and fused arrays split in three."""
    parts: dict[str, Array] = {}
    for part, name in names.items():
        pattern = layout.parts[part][1]
        order = _own_axes(part, pattern)
        array = split_axes(as_array(name, arrays[name]), pattern, sizes, order)
        if part in FUSED:
            parts |= zip(FUSED[part], split_fused(array, order[0], sizes), strict=True)
        else:
            parts[part] = array
    return parts


def _own_axes(part: str, pattern: str) -> str:
    """Return the axes of an array in this package, in the letters of its pattern."""
    if part in NORMS and pattern != "k":
        return "hk" if part == "query_norm" else "gk"
    return pattern_order(PACKAGE_AXES[part], pattern)


def _reorder_rotated(array: Array, change: Any, speeds: ArrayLike | None) -> Array:
    """Return an array with its rotated columns reordered by `change`, and the others unchanged."""
    width = array.shape[-1] if speeds is None else 2 * len(np.asarray(speeds))
    return np.concatenate([change(array[..., :width]), array[..., width:]], axis=-1)


def layer_to_arrays(layer: AttentionLayer, layout: str | None = None) -> dict[str, Array]:
    """Return the arrays of a layer by their names in a layout.

    Parameters
    ----------
    layer : AttentionLayer
    layout : str, optional
        A name of `mha.layouts.LAYOUTS`. Default: the layer's own, which returns the arrays that the
        layer was made of.

    Returns
    -------
    dict of str to ndarray

    Raises
    ------
    TypeError, ValueError
        If the layout is unknown, or cannot store an array or a property of the layer.

    Examples
    --------
    >>> one = np.eye(2)[None]
    >>> layer = AttentionLayer(MultiHeadWeights(one, one, one, np.eye(2)))
    >>> {name: array.shape for name, array in layer_to_arrays(layer, "PyTorch").items()}
    {'in_proj_weight': (6, 2), 'out_proj.weight': (2, 2)}
    """
    check_type("layer", layer, AttentionLayer)
    name = layer.layout if layout is None else as_string("layout", layout)
    if name not in LAYOUTS:
        raise ValueError(f"layout is {name!r}; one of {', '.join(LAYOUTS)} is wanted")
    own = LAYOUTS[name]
    parts = _parts(layer, own)
    prefix = layer.prefix if layout in (None, layer.layout) else ""
    return {
        prefix + its_name: fuse_axes(parts[part], _own_axes(part, pattern), pattern)
        for part, (its_name, pattern) in own.parts.items()
        if part in parts
    }


def _parts(layer: AttentionLayer, layout: Layout) -> dict[str, Array]:
    """Return a layer's arrays by the parts of a layout, with one axis per letter."""
    weights = layer.weights
    parts = weights.arrays
    parts |= {part: array for part in EXTRAS if (array := getattr(layer, part)) is not None}
    for part in NORMS:
        if part in parts and layout.gain_offset:
            parts[part] = (parts[part] - layout.gain_offset).astype(weights.w_q.dtype)
    _check_behaviour(layer, layout)
    if "w_o" in parts:
        parts["w_o"] = parts["w_o"].reshape(weights.num_heads, weights.d_v, -1)
    if layout.rotary is not None and not layout.rotary.pairs:
        parts |= {
            part: _reorder_rotated(parts[part], pairs_to_halves, layer.speeds)
            for part in ROTATED
            if part in parts
        }
    for fused, names in FUSED.items():
        three = [parts.pop(part) for part in names if part in parts and fused in layout.parts]
        if not three:
            continue
        letter = _own_axes(fused, layout.parts[fused][1])[0]
        shapes = {array.shape[letter != "p" :] for array in three}
        if len(three) < 3 or len(shapes) > 1:
            raise ValueError(
                f"layer has {', '.join(names)} of which some are missing or of other shapes;"
                f" {layout.name} has them in one array, so three equal shapes are wanted"
            )
        parts[fused] = fuse_parts(three, letter)
    missing = [part for part in layout.parts if part.startswith("w_") and part not in parts]
    other = [part for part in parts if part not in layout.parts]
    if missing or other:
        wrong = f"has no {missing[0]}" if missing else f"has {other[0]}"
        wanted = "has" if missing else "does not have"
        raise ValueError(f"layer {wrong}, which {layout.name} {wanted}; another layout is wanted")
    return parts


def _check_behaviour(layer: AttentionLayer, layout: Layout) -> None:
    """Raise a ValueError if the layer computes something that the layout does not imply."""
    if layer.layout == layout.name:
        return
    d_k = layer.weights.d_k
    own, wanted = (d_k**-0.5 if scale is None else scale for scale in (layer.scale, layout.scale))
    if own != wanted:
        raise ValueError(f"layer scales by {own:.4g}; {layout.name} scales by {wanted:.4g}")
    if (layer.base is not None) != (layout.rotary is not None) or layer.speeds is not None:
        rotates = layer.base is not None or layer.speeds is not None
        verb = "rotates" if rotates else "does not rotate"
        raise ValueError(
            f"layer {verb} queries and keys by their positions; one as in {layout.name} is wanted"
        )
    for name in ("window", "softcap"):
        if getattr(layer, name) is not None:
            raise ValueError(
                f"layer has {name} {getattr(layer, name)}, which no array holds; a layer without"
                f" {name} is wanted"
            )
    if layer.alibi != layout.alibi:
        raise ValueError(f"layer has alibi {layer.alibi}; {layout.name} has {layout.alibi}")
