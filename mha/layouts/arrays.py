"""A layer made of arrays by name, and arrays by name of a layer: one way for all layouts."""

import re
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from mha.core.checks import Array, as_array, as_count
from mha.core.kinds import as_switch, as_word, check_kind
from mha.core.multihead import MultiHeadWeights
from mha.core.positions import halves_to_pairs, pairs_to_halves
from mha.layouts.axes import order_of, packed, solved, unpacked
from mha.layouts.layer import AttentionLayer
from mha.layouts.table import LAYOUTS, ORDERS, Layout

TURNED = ("w_q", "w_k", "b_q", "b_k", "query_norm", "key_norm")
"""What has a column, or a number, for each component that positions turn."""

FUSED = {"w_qkv": ("w_q", "w_k", "w_v"), "b_qkv": ("b_q", "b_k", "b_v")}
"""What an array of three parts is made of."""

NORMS = ("query_norm", "key_norm")


@dataclass(frozen=True)
class Found:
    """A layer among named arrays: its layout, and what its names begin with."""

    layout: Layout
    prefix: str

    def names(self, given: Container[str]) -> dict[str, str]:
        """Return the layer's arrays among given names, by their names in this package."""
        own = {part: self.prefix + name for part, (name, _) in self.layout.parts.items()}
        return {part: name for part, name in own.items() if name in given}

    def sizes(
        self, shapes: Mapping[str, tuple[int, ...]], num_heads: int | None = None
    ) -> dict[str, int]:
        """Return how long each axis is that the arrays tell, or raise where they do not fit."""
        named = self.names(shapes)
        laid_out = {
            name: (self.layout.parts[part][1], shapes[name]) for part, name in named.items()
        }
        return solved(laid_out, num_heads)


def layer_from_arrays(
    arrays: Mapping[str, ArrayLike],
    *,
    num_heads: int | None = None,
    base: float | None = None,
    eps: float = 1e-6,
    is_causal: bool | None = None,
    layout: str | None = None,
    within: str = "",
) -> AttentionLayer:
    """Make a layer of arrays by name, such as a `state_dict` has them.

    Parameters
    ----------
    arrays : mapping of str to array_like
        All arrays of one layer; their names may begin with where it stands in a model. Arrays of
        other layers of the model do no harm.
    num_heads : int, optional
        Needed where the arrays do not tell it.
    base : float, optional
        Of rotary positions; needed where the layout has them, since no array tells it. A model's
        settings call it `rope_theta`.
    eps : float, default 1e-6
        What norms of queries and keys add to a mean square.
    is_causal : bool, optional
        Default: as the layout is, or where the names say whether they are a decoder's, as they do.
    layout : str, optional
        A name of `mha.layouts.LAYOUTS`. Default: the first whose names and shapes fit.
    within : str, default ""
        A part of the names that tells one layer of several.

    Returns
    -------
    AttentionLayer
        Its `layout` says which was found. A norm that adds 1 to its gain, Gemma's, has Llama's
        names and is not told from it.

    Raises
    ------
    TypeError, ValueError
        If there is no such layer among the names, or more than one; if the number of heads or the
        base is needed; if an array does not have the shape that its layout wants, or the layer has
        an array that its layout does not know.

    Examples
    --------
    >>> arrays = {"attn.c_attn.weight": np.eye(4, 12), "attn.c_proj.weight": np.eye(4)}
    >>> layer = layer_from_arrays(arrays, num_heads=2)
    >>> layer.layout, layer.prefix, layer.weights.w_q.shape
    ('GPT-2', 'attn.', (2, 4, 2))
    >>> sorted(layer_to_arrays(layer))
    ['attn.c_attn.weight', 'attn.c_proj.weight']
    """
    check_kind("arrays", arrays, Mapping)
    shapes = {as_word("arrays' names", name): np.shape(x) for name, x in arrays.items()}
    place = only_one("arrays", found_in("arrays", shapes, layout, within), shapes)
    return made(place, arrays, num_heads=num_heads, base=base, eps=eps, is_causal=is_causal)


def found_in(
    what: str, shapes: Mapping[str, tuple[int, ...]], layout: str | None = None, within: str = ""
) -> list[Found]:
    """Return the layers among named shapes, one for each beginning of their names.

    Raises
    ------
    TypeError, ValueError
        If there is no such layout, or the names are of none that is known.
    """
    if layout is not None and as_word("layout", layout) not in LAYOUTS:
        raise ValueError(f"layout is {layout!r}; one of {', '.join(LAYOUTS)} is wanted")
    as_word("within", within)
    by_prefix: dict[str, list[Found]] = {}
    for known in LAYOUTS.values() if layout is None else [LAYOUTS[layout]]:
        first, *others = known.required
        for name in shapes:
            prefix = name.removesuffix(first)
            begins = prefix != name and (not prefix or prefix[-1] in "./")
            if begins and within in prefix and all(prefix + other in shapes for other in others):
                by_prefix.setdefault(prefix, []).append(Found(known, prefix))
    if not by_prefix:
        raise ValueError(
            f"{what} has {_some(list(shapes))}; the matrices of an attention layer are wanted, by"
            f" their names in {layout or ' or '.join(LAYOUTS)}"
        )
    return [_fitting(found, shapes) for found in by_prefix.values()]


def _fitting(found: Sequence[Found], shapes: Mapping[str, tuple[int, ...]]) -> Found:
    """Return the first of one layer's layouts whose shapes fit; the first if none does."""
    for each in found:
        try:
            each.sizes(shapes, None if "h" in each.sizes(shapes) else 1)
        except ValueError:
            continue
        return each
    return found[0]


def only_one(what: str, found: Sequence[Found], shapes: Mapping[str, object]) -> Found:
    """Return the one layer that was found, if all its arrays are known; else raise."""
    if len(found) > 1:
        places = ", ".join(f"{each.prefix!r} ({each.layout.name})" for each in found[:9])
        raise ValueError(
            f"{what} has {len(found)} attention layers, at {places}; within= is wanted, a part of"
            " one's names alone"
        )
    (place,) = found
    known = {place.prefix + name for name in place.layout.besides} | set(
        place.names(shapes).values()
    )
    own = [name for name in shapes if name.startswith(place.prefix)] if place.prefix else shapes
    unknown = [name for name in own if name not in known]
    if unknown:
        raise ValueError(
            f"{what} has {_some(unknown)}, which attention in the layout {place.layout.name} has"
            " not; the arrays of a layer that is known are wanted"
        )
    return place


def _some(names: Sequence[str]) -> str:
    """Return names, of many the first."""
    first = ", ".join(names[:6]) or "no arrays"
    return first if len(names) <= 6 else f"{first} and {len(names) - 6} more"


def made(
    place: Found,
    arrays: Mapping[str, ArrayLike],
    *,
    num_heads: int | None,
    base: float | None,
    eps: float,
    is_causal: bool | None,
) -> AttentionLayer:
    """Return the layer that was found among arrays.

    Raises
    ------
    TypeError, ValueError
        As `layer_from_arrays`.
    """
    layout = place.layout
    heads = None if num_heads is None else as_count("num_heads", num_heads)
    sizes = place.sizes({name: np.shape(x) for name, x in arrays.items()}, heads)
    if "h" not in sizes:
        raise ValueError(
            f"num_heads cannot be known from the arrays of {layout.name}; num_heads= is wanted"
        )
    if base is not None and not layout.halves:
        raise ValueError(f"base is {base}, but {layout.name} turns nothing; None is wanted")
    if layout.halves and base is None:
        raise ValueError(
            f"base cannot be known from the arrays of {layout.name}; base= is wanted, which a"
            " model's settings call rope_theta"
        )
    parts: dict[str, Array] = {}
    for part, name in place.names(arrays).items():
        pattern = layout.parts[part][1]
        array = as_array(name, arrays[name])
        array = unpacked(array, pattern, sizes, order_of(ORDERS[part], pattern))
        parts |= zip(FUSED[part], array, strict=True) if part in FUSED else {part: array}
    if layout.halves:
        parts |= {part: halves_to_pairs(parts[part]) for part in TURNED if part in parts}
    parts["w_o"] = parts["w_o"].reshape(-1, parts["w_o"].shape[-1])
    beside: dict[str, Any] = {
        name: parts.pop(name) for name in (*NORMS, "relative_bias") if name in parts
    }
    if is_causal is None:
        is_causal = layout.causal is not None and bool(re.search(layout.causal, place.prefix))
    return AttentionLayer(
        MultiHeadWeights(**parts),
        layout=layout.name,
        scale=layout.scale,
        eps=eps,
        base=base,
        is_causal=as_switch("is_causal", is_causal),
        prefix=place.prefix,
        **beside,
    )


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
    check_kind("layer", layer, AttentionLayer)
    name = layer.layout if layout is None else as_word("layout", layout)
    if name not in LAYOUTS:
        raise ValueError(f"layout is {name!r}; one of {', '.join(LAYOUTS)} is wanted")
    own = LAYOUTS[name]
    parts = _parts(layer, own)
    prefix = layer.prefix if layout in (None, layer.layout) else ""
    return {
        prefix + its_name: packed(parts[part], order_of(ORDERS[part], pattern), pattern)
        for part, (its_name, pattern) in own.parts.items()
        if part in parts
    }


def _parts(layer: AttentionLayer, layout: Layout) -> dict[str, Array]:
    """Return a layer's arrays by the names of a layout's parts, an axis for each letter."""
    weights = layer.weights
    parts = weights.arrays
    parts |= {
        part: array
        for part in (*NORMS, "relative_bias")
        if (array := getattr(layer, part)) is not None
    }
    _refuse_other(layer, layout)
    if "w_o" in parts:
        parts["w_o"] = parts["w_o"].reshape(weights.num_heads, weights.d_v, -1)
    if layout.halves:
        parts |= {part: pairs_to_halves(parts[part]) for part in TURNED if part in parts}
    for fused, names in FUSED.items():
        three = [parts.pop(part) for part in names if part in parts and fused in layout.parts]
        if three and (len(three) < 3 or len({array.shape for array in three}) > 1):
            raise ValueError(
                f"layer has {', '.join(names)} of which some are missing or of other shapes;"
                f" {layout.name} has them in one array, three alike are wanted"
            )
        parts |= {fused: np.stack(three)} if three else {}
    missing = [part for part in layout.parts if part.startswith("w_") and part not in parts]
    other = [part for part in parts if part not in layout.parts]
    if missing or other:
        wrong = f"has no {missing[0]}" if missing else f"has {other[0]}"
        wanted = "has" if missing else "has not"
        raise ValueError(f"layer {wrong}, which {layout.name} {wanted}; another layout is wanted")
    return parts


def _refuse_other(layer: AttentionLayer, layout: Layout) -> None:
    """Raise unless a layer computes as one of a layout does."""
    d_k = layer.weights.d_k
    own, wanted = (d_k**-0.5 if scale is None else scale for scale in (layer.scale, layout.scale))
    if own != wanted:
        raise ValueError(f"layer scales by {own:.4g}; {layout.name} scales by {wanted:.4g}")
    if (layer.base is not None) != layout.halves:
        raise ValueError(
            f"layer {'turns' if layer.base is not None else 'does not turn'} queries and keys by"
            f" their positions; one as in {layout.name} is wanted"
        )
