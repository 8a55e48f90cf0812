"""A layer made of arrays by name, and arrays by name of a layer: one way for all layouts."""

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
from mha.layouts.axes import joined, order_of, packed, parts_of, solved, unpacked
from mha.layouts.latent import LatentLayer, latent_layer
from mha.layouts.layer import AttentionLayer
from mha.layouts.settings import (
    EVERY,
    Settings,
    behaviour,
    check_bias,
    check_required,
    check_sizes,
    num_heads_of,
    rows_of,
)
from mha.layouts.table import LAYOUTS, ORDERS, LatentLayout, Layout

ROTATED = ("w_q", "w_k", "b_q", "b_k", "query_norm", "key_norm")
"""The arrays that have a column, or a number, for each component that positions rotate."""

FUSED = {"w_qkv": ("w_q", "w_k", "w_v"), "b_qkv": ("b_q", "b_k", "b_v")}
"""The parts of an array of three."""

NORMS = ("query_norm", "key_norm")
BESIDE = (*NORMS, "relative_bias", "sinks")
"""The arrays that are no part of the projections."""

ATTENTION = re.compile(r"att|query|key|value|qkv|[qkvo]_?(proj|lin)|w[qkvo]\b|rotary|sinks", re.I)
"""What the names of an attention layer's arrays often have."""


@dataclass(frozen=True)
class Found:
    """A layer among named arrays: its layout, the beginning of its names, and its settings."""

    layout: Layout | LatentLayout
    prefix: str
    settings: Mapping[str, Any] | None = None

    @property
    def number(self) -> int | None:
        """The first number in the layer's names, if there is one."""
        number = re.search(r"(?<![^./])\d+(?![^./])", self.prefix)
        return int(number[0]) if number else None

    def names(self, given: Container[str]) -> dict[str, str]:
        """Return the layer's arrays among given names, by their names in this package."""
        names = {
            part: name if isinstance(name, str) else name[0]
            for part, name in self.layout.parts.items()
        }
        own = {part: self.prefix + name for part, name in names.items()}
        return {part: name for part, name in own.items() if name in given}

    def sizes(
        self, shapes: Mapping[str, tuple[int, ...]], num_heads: int | None = None
    ) -> dict[str, int]:
        """Return how long each axis is that the arrays tell, or raise where they do not fit."""
        assert isinstance(self.layout, Layout)
        named = self.names(shapes)
        laid_out = {
            name: (self.layout.parts[part][1], shapes[name]) for part, name in named.items()
        }
        return solved(laid_out, num_heads)


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
    """Make a layer of arrays by name, such as a `state_dict` has them.

    Names and shapes rarely say what a layer computes: Llama, Mistral and Gemma 2 name their arrays
    alike. So `settings` or `layout` is wanted wherever several layouts fit.

    Parameters
    ----------
    arrays : mapping of str to array_like
        All arrays of one layer; their names may begin with its place in a model. Arrays of other
        layers of the model do no harm.
    settings : mapping, optional
        The contents of the model's `config.json`. Its `model_type` gives the layout.
    num_heads : int, optional
        Needed where neither arrays nor settings tell it.
    base : float, optional
        Of rotary positions, in place of the settings' own; needed without settings where the
        layout rotates. A model's settings call it `rope_theta`.
    eps : float, optional
        The number that norms of queries and keys add to a mean square. Default: as the settings
        say, else 1e-6.
    is_causal : bool, optional
        Default: as the settings, the layout and the names say.
    layout : str, optional
        A name of `mha.layouts.LAYOUTS`, in place of the settings' `model_type`.
    within : str, default ""
        A part of the names that tells one layer of several.

    Returns
    -------
    AttentionLayer or LatentLayer
        Its `layout` says which was found, its `assumed` what was assumed. The second is latent
        attention, DeepSeek's.

    Raises
    ------
    TypeError, ValueError
        If there is no such layer among the names, or more than one; if the `model_type` is not
        known, or several layouts fit and neither settings nor `layout` is given; if the number of
        heads or the base is needed; if an array does not have the shape that its layout wants, or
        the layer has an array that its layout does not know; if a setting asks for something that
        is not read, or does not fit the arrays.

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
    found = found_in("arrays", shapes, settings, layout, within)
    place = only_one("arrays", found, shapes, "settings")
    return made(
        place, arrays, "settings", num_heads=num_heads, base=base, eps=eps, is_causal=is_causal
    )


def found_in(
    what: str,
    shapes: Mapping[str, tuple[int, ...]],
    settings: Mapping[str, Any] | None = None,
    layout: str | None = None,
    within: str = "",
    where: str = "settings",
) -> list[Found]:
    """Return the layers among named shapes, one or more for each beginning of their names.

    Raises
    ------
    TypeError, ValueError
        If there is no such layout, or the names are of none that is known.
    """
    as_string("within", within)
    rows = _rows(settings, layout, where, what, shapes)
    found = [
        Found(row, prefix, given)
        for begins, row, given in rows
        for prefix in _prefixes(row, shapes)
        if within in prefix and re.search(begins, prefix)
    ]
    if not found:
        own = " or ".join(dict.fromkeys(row.name for _, row, _ in rows))
        names = layout or (own if settings else "a layout of mha.layouts.LAYOUTS")
        raise ValueError(
            f"{what} has {patterns_of(shapes)}; the matrices of an attention layer are wanted, by"
            f" their names in {names}"
        )
    if settings or layout is not None:
        return found
    return [place for place in found if _fits(place, shapes)] or found[:1]


def _rows(
    settings: Mapping[str, Any] | None,
    layout: str | None,
    where: str,
    what: str,
    shapes: Mapping[str, tuple[int, ...]],
) -> list[tuple[str, Layout | LatentLayout, Mapping[str, Any] | None]]:
    """Return the layouts that names may be of, with what they begin with and their settings."""
    if layout is not None and as_string("layout", layout) not in EVERY:
        raise ValueError(f"layout is {layout!r}; one of {', '.join(EVERY)} is wanted")
    if settings and (layout is None or "model_type" in settings):
        rows = rows_of(settings, where, is_strict=layout is None)
        if not rows and layout is None:
            raise ValueError(
                f"{where} has model_type {settings['model_type']!r}, which is not read, as its"
                f" attention may compute anything; {what} has {patterns_of(shapes)}; layout= is"
                " wanted if one of mha.layouts.LAYOUTS computes the same"
            )
        own = [row for row in rows if layout in (None, row[1].name)]
        if rows and not own:
            raise ValueError(
                f"layout is {layout!r}, but {where} has model_type {settings['model_type']!r},"
                f" whose layout is {' or '.join(row.name for _, row, _ in rows)}; that one, or"
                " settings={} to leave the settings out, is wanted"
            )
        if own:
            return [*own]
    if layout is not None:
        return [("", EVERY[layout], settings or None)]
    return [(getattr(row, "begins", ""), row, None) for row in EVERY.values()]


def _prefixes(row: Layout | LatentLayout, shapes: Mapping[str, tuple[int, ...]]) -> list[str]:
    """Return the beginnings of names with which a layout's matrices are all there."""
    first, *others = row.required
    prefixes = [name.removesuffix(first) for name in shapes if name.endswith(first)]
    return [
        prefix
        for prefix in prefixes
        if (not prefix or prefix[-1] in "./") and all(prefix + other in shapes for other in others)
    ]


def _fits(place: Found, shapes: Mapping[str, tuple[int, ...]]) -> bool:
    """Return whether the shapes are possible in a layout, whatever the number of heads."""
    if isinstance(place.layout, LatentLayout):
        return True
    try:
        place.sizes(shapes, None if "h" in place.sizes(shapes) else 1)
    except ValueError:
        return False
    return True


def patterns_of(names: Mapping[str, object]) -> str:
    """Return the names that are like those of attention, a pattern for all layers, else all names.

    Examples
    --------
    >>> patterns_of(dict.fromkeys(["h.0.attn.wq", "h.1.attn.wq", "h.1.mlp.up"]))
    'h.{0,1}.attn.wq'
    >>> patterns_of({})
    'no arrays'
    """
    own = [name for name in names if ATTENTION.search(name)] or list(names)
    numbers: dict[str, list[set[int]]] = {}
    for name in own:
        steps = re.findall(r"(?<![^./])\d+(?![^./])", name)
        pattern = re.sub(r"(?<![^./])\d+(?![^./])", "{}", name)
        seen = numbers.setdefault(pattern, [set() for _ in steps])
        for place, step in zip(seen, steps, strict=True):
            place.add(int(step))
    said = []
    for pattern, seen in numbers.items():
        first, *others = pattern.split("{}")
        said.append(first + "".join(_range(n) + end for n, end in zip(seen, others, strict=True)))
    more = f" and {len(said) - 12} more" if len(said) > 12 else ""
    return ", ".join(said[:12]) + more or "no arrays"


def _range(numbers: set[int]) -> str:
    """Return numbers in braces, many of them as a range."""
    first, last = min(numbers), max(numbers)
    if len(numbers) > 2 and last - first == len(numbers) - 1:
        return f"{{{first}..{last}}}"
    if len(numbers) == 1:
        return str(first)
    return "{" + ",".join(map(str, sorted(numbers))) + "}"


def only_one(what: str, found: Sequence[Found], shapes: Mapping[str, object], where: str) -> Found:
    """Return the one layer that was found, if all its arrays are known; else raise."""
    prefixes = list(dict.fromkeys(each.prefix for each in found))
    if len(prefixes) > 1:
        by_prefix = {
            prefix: [each.layout.name for each in found if each.prefix == prefix]
            for prefix in prefixes[:9]
        }
        places = ", ".join(f"{prefix!r} ({' or '.join(own)})" for prefix, own in by_prefix.items())
        more = f" and {len(prefixes) - 9} more" if len(prefixes) > 9 else ""
        raise ValueError(
            f"{what} has {len(prefixes)} attention layers, at {places}{more}; within= is wanted, a"
            " part of one's names alone"
        )
    place = found[0]
    if len(found) > 1 or not (place.settings or place.layout.is_stated):
        layouts = ", ".join(each.layout.name for each in found)
        raise ValueError(
            f"{what} has names and shapes at {place.prefix!r} that fit {layouts}; settings= is"
            " wanted, the contents of the model's config.json, or layout= if it is one of"
            f" {_stated(found)}"
        )
    settings = Settings(place.settings or {}, where, place.prefix, place.number)
    check_required(settings, place.layout.requires)
    besides = place.layout.besides if isinstance(place.layout, Layout) else ()
    known = {place.prefix + name for name in besides} | set(place.names(_All()).values())
    own = [name for name in shapes if name.startswith(place.prefix)] if place.prefix else shapes
    unknown = {name: shapes[name] for name in own if name not in known}
    if unknown:
        raise ValueError(
            f"{what} has {patterns_of(unknown)}, which attention in the layout {place.layout.name}"
            " has not; the arrays of a layer that is known are wanted"
        )
    return place


class _All(Container[str]):
    """Contains every name."""

    def __contains__(self, name: object) -> bool:
        return True


def _stated(found: Sequence[Found]) -> str:
    """Return the layouts whose behaviour `layout=` alone states."""
    names = [each.layout.name for each in found if each.layout.is_stated]
    return " or ".join(map(repr, names)) or "those that need no settings"


def made(
    place: Found,
    arrays: Mapping[str, ArrayLike],
    where: str,
    *,
    num_heads: int | None,
    base: float | None,
    eps: float | None,
    is_causal: bool | None,
) -> AttentionLayer | LatentLayer:
    """Return the layer that was found among arrays.

    Raises
    ------
    TypeError, ValueError
        As `layer_from_arrays`.
    """
    layout = place.layout
    settings = Settings(place.settings or {}, where, place.prefix, place.number)
    if isinstance(layout, LatentLayout):
        return latent_layer(layout, place.prefix, arrays, settings)
    heads = None if num_heads is None else as_count("num_heads", num_heads)
    if heads is None and place.settings:
        heads = num_heads_of(layout, settings)
    sizes = place.sizes({name: np.shape(x) for name, x in arrays.items()}, heads)
    if "h" not in sizes:
        raise ValueError(
            f"num_heads cannot be known from the arrays of {layout.name}; num_heads= is wanted"
        )
    if base is not None and layout.rotary is None:
        raise ValueError(f"base is {base}, but {layout.name} rotates nothing; None is wanted")
    names = place.names(arrays)
    _check_needs(place, names)
    if place.settings:
        check_sizes(layout, settings, sizes)
        check_bias(layout, settings, names)
        beside = behaviour(layout, settings, sizes["k"], base=base)
    else:
        beside = _stated_behaviour(layout, place.prefix, base)
        settings.assumed += _assumed(beside, names, eps, is_causal)
    parts = _unpacked_parts(layout, names, arrays, sizes)
    if layout.rotary is not None and not layout.rotary.pairs:
        parts |= {
            part: _reordered(parts[part], halves_to_pairs, beside.get("speeds"))
            for part in ROTATED
            if part in parts
        }
    for part in NORMS:
        if part in parts and layout.gain_offset:
            parts[part] = layout.gain_offset + parts[part].astype(np.float64)
    parts["w_o"] = parts["w_o"].reshape(-1, parts["w_o"].shape[-1])
    beside |= {name: parts.pop(name) for name in BESIDE if name in parts}
    beside["eps"] = beside.get("eps", 1e-6) if eps is None else eps
    if is_causal is not None:
        beside["is_causal"] = as_bool("is_causal", is_causal)
    return AttentionLayer(
        MultiHeadWeights(**parts),
        layout=layout.name,
        prefix=place.prefix,
        assumed=tuple(settings.assumed),
        **beside,
    )


def _check_needs(place: Found, names: Mapping[str, str]) -> None:
    """Raise if a layer is without an array that no layer of its layout is without."""
    assert isinstance(place.layout, Layout)
    for part, begins in place.layout.needs.items():
        if part not in names and re.search(begins, place.prefix):
            raise ValueError(
                f"arrays at {place.prefix!r} have no {place.layout.parts[part][0]}, with which each"
                f" layer of {place.layout.name} computes; all arrays of the layer are wanted, and"
                " those of the first layer that it shares"
            )


def _stated_behaviour(layout: Layout, prefix: str, base: float | None) -> dict[str, Any]:
    """Return what a layer computes besides its projections, where no settings are given."""
    if layout.rotary is not None and base is None:
        raise ValueError(
            f"base cannot be known from the arrays of {layout.name}; base= is wanted, which a"
            " model's settings call rope_theta"
        )
    is_causal = layout.causal is not None and bool(re.search(layout.causal, prefix))
    if "is_causal" in layout.reads:
        is_causal = bool(layout.reads["is_causal"][1])
    return {"scale": layout.scale, "base": base, "is_causal": is_causal}


def _assumed(
    beside: Mapping[str, Any], names: Mapping[str, str], eps: float | None, is_causal: bool | None
) -> list[str]:
    """Return what is assumed of a layer without settings."""
    said = [] if is_causal is not None else [f"is_causal {beside['is_causal']}"]
    scale = beside["scale"]
    said.append(f"scale {'1 / sqrt(d_k)' if scale is None else scale}")
    if eps is None and names.keys() & set(NORMS):
        said.append("eps 1e-06")
    if beside["base"] is not None:
        said.append("all components are rotated; no window, and no cap of scores")
    return said


def _unpacked_parts(
    layout: Layout,
    names: Mapping[str, str],
    arrays: Mapping[str, ArrayLike],
    sizes: Mapping[str, int],
) -> dict[str, Array]:
    """Return a layer's arrays with an axis for each letter, three for each fused one."""
    parts: dict[str, Array] = {}
    for part, name in names.items():
        pattern = layout.parts[part][1]
        order = _order(part, pattern)
        array = unpacked(as_array(name, arrays[name]), pattern, sizes, order)
        if part in FUSED:
            parts |= zip(FUSED[part], parts_of(array, order[0], sizes), strict=True)
        else:
            parts[part] = array
    return parts


def _order(part: str, pattern: str) -> str:
    """Return the axes of a part in this package, by the letters of its pattern."""
    if part in NORMS and pattern != "k":
        return "hk" if part == "query_norm" else "gk"
    return order_of(ORDERS[part], pattern)


def _reordered(array: Array, change: Any, speeds: ArrayLike | None) -> Array:
    """Return an array whose rotated columns are in another order, and the others as they were."""
    width = array.shape[-1] if speeds is None else 2 * len(np.asarray(speeds))
    return np.concatenate([change(array[..., :width]), array[..., width:]], axis=-1)


def layer_to_arrays(layer: AttentionLayer, layout: str | None = None) -> dict[str, Array]:
    """Return the arrays of a layer by name, as a layout has them.

    Parameters
    ----------
    layer : AttentionLayer
    layout : str, optional
        A name of `mha.layouts.LAYOUTS`. Default: the layer's own; it then gives what the layer was
        made of.

    Returns
    -------
    dict of str to ndarray

    Raises
    ------
    TypeError, ValueError
        If there is no such layout, or the layer has or does something that the layout does not.

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
        prefix + its_name: packed(parts[part], _order(part, pattern), pattern)
        for part, (its_name, pattern) in own.parts.items()
        if part in parts
    }


def _parts(layer: AttentionLayer, layout: Layout) -> dict[str, Array]:
    """Return a layer's arrays by the names of a layout's parts, an axis for each letter."""
    weights = layer.weights
    parts = weights.arrays
    parts |= {part: array for part in BESIDE if (array := getattr(layer, part)) is not None}
    for part in NORMS:
        if part in parts and layout.gain_offset:
            parts[part] = (parts[part] - layout.gain_offset).astype(weights.w_q.dtype)
    _refuse_other(layer, layout)
    if "w_o" in parts:
        parts["w_o"] = parts["w_o"].reshape(weights.num_heads, weights.d_v, -1)
    if layout.rotary is not None and not layout.rotary.pairs:
        parts |= {
            part: _reordered(parts[part], pairs_to_halves, layer.speeds)
            for part in ROTATED
            if part in parts
        }
    for fused, names in FUSED.items():
        three = [parts.pop(part) for part in names if part in parts and fused in layout.parts]
        if not three:
            continue
        letter = _order(fused, layout.parts[fused][1])[0]
        shapes = {array.shape[letter != "p" :] for array in three}
        if len(three) < 3 or len(shapes) > 1:
            raise ValueError(
                f"layer has {', '.join(names)} of which some are missing or of other shapes;"
                f" {layout.name} has them in one array, three alike are wanted"
            )
        parts[fused] = joined(three, letter)
    missing = [part for part in layout.parts if part.startswith("w_") and part not in parts]
    other = [part for part in parts if part not in layout.parts]
    if missing or other:
        wrong = f"has no {missing[0]}" if missing else f"has {other[0]}"
        wanted = "has" if missing else "has not"
        raise ValueError(f"layer {wrong}, which {layout.name} {wanted}; another layout is wanted")
    return parts


def _refuse_other(layer: AttentionLayer, layout: Layout) -> None:
    """Raise unless a layer computes as one of a layout does, or settings say what it computes."""
    if layer.layout == layout.name:
        return
    d_k = layer.weights.d_k
    own, wanted = (d_k**-0.5 if scale is None else scale for scale in (layer.scale, layout.scale))
    if own != wanted:
        raise ValueError(f"layer scales by {own:.4g}; {layout.name} scales by {wanted:.4g}")
    if (layer.base is not None) != (layout.rotary is not None) or layer.speeds is not None:
        rotates = layer.base is not None or layer.speeds is not None
        said = "rotates" if rotates else "does not rotate"
        raise ValueError(
            f"layer {said} queries and keys by their positions; one as in {layout.name} is wanted"
        )
    for name in ("window", "softcap"):
        if getattr(layer, name) is not None:
            raise ValueError(
                f"layer has {name} {getattr(layer, name)}, which no array holds; a layer without"
                " is wanted"
            )
    if layer.alibi != layout.alibi:
        raise ValueError(f"layer has alibi {layer.alibi}; {layout.name} has {layout.alibi}")
