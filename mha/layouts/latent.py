"""Layers of latent attention of published models: matrices, rotation and stored arrays."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from mha.core.checks import Array, as_array, as_count, as_finite_array, as_scale, frozen_copy
from mha.core.latent import LatentRun, LatentWeights, latent_attention
from mha.core.option_checks import as_bool, as_string, check_type
from mha.core.positions import halves_to_pairs
from mha.core.rope_scaling import rotary_speeds
from mha.layouts.settings import Settings, read_latent_scale, read_rotation
from mha.layouts.table import LatentLayout


@dataclass(frozen=True, eq=False)
class LatentLayer:
    """A layer of latent attention of a published model; calling it with tokens returns its output.

    Parameters
    ----------
    weights : LatentWeights
        The rotated components are in adjacent pairs.
    layout : str, default ""
        The layout of the arrays that it was read from: "DeepSeek".
    scale : float, optional
        Factor of the scores; None is 1 / sqrt(d_k + d_r).
    speeds : array_like, shape (d_r / 2,), optional
        Angle of each pair per position, in radians.
    is_causal : bool, default True
    prefix : str, default ""
        The beginning of the names of its arrays.
    assumed : tuple of str, default ()
        The assumed value of each property that no array, setting or argument states.

    Raises
    ------
    TypeError, ValueError
        If an argument has another type, or the widths do not fit.

    References
    ----------
    DeepSeek-AI (2024), section 2.1.
    """

    weights: LatentWeights
    layout: str = ""
    scale: float | None = None
    speeds: Array | None = None
    is_causal: bool = True
    prefix: str = ""
    assumed: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        check_type("weights", self.weights, LatentWeights)
        for name in ("layout", "prefix"):
            as_string(name, getattr(self, name))
        as_bool("is_causal", self.is_causal)
        as_scale(self.scale, 1)
        if self.speeds is not None:
            speeds = as_finite_array("speeds", self.speeds)
            pairs = self.weights.w_kr.shape[1] / 2
            if speeds.shape != (pairs,):
                raise ValueError(f"speeds has shape {speeds.shape}; ({pairs:g},) is wanted")
            object.__setattr__(self, "speeds", frozen_copy(speeds))

    def run(self, x: ArrayLike, *, absorbed: bool = False) -> LatentRun:
        """Return a run over one sequence, with every intermediate.

        Parameters
        ----------
        x : array_like, shape (n, d_model)
        absorbed : bool, default False
            As in `mha.core.latent.latent_attention`.

        Returns
        -------
        LatentRun

        Raises
        ------
        TypeError, ValueError
            As `mha.core.latent.latent_attention`.
        """
        angles = None
        if self.speeds is not None:
            angles = np.arange(np.shape(x)[0])[:, None] * self.speeds
        return latent_attention(
            x,
            self.weights,
            angles=angles,
            is_causal=self.is_causal,
            absorbed=absorbed,
            scale=self.scale,
        )

    def __call__(self, x: ArrayLike) -> Array:
        """Return the output for one sequence, shape (n, d_model)."""
        return self.run(x).output


def build_latent_layer(
    layout: LatentLayout, prefix: str, arrays: Mapping[str, ArrayLike], settings: Settings
) -> LatentLayer:
    """Return a layer of latent attention, from its named arrays and its settings.

    Parameters
    ----------
    layout : LatentLayout
    prefix : str
    arrays : mapping of str to array_like
    settings : Settings

    Raises
    ------
    TypeError, ValueError
        If a setting or an array is missing, or the sizes of both do not fit.
    """
    heads, nope, rope, width, rank = (
        as_count(f"{name} of {settings.where}", settings.find(name)[1])
        for name in (
            "num_attention_heads", "qk_nope_head_dim", "qk_rope_head_dim", "v_head_dim",
            "kv_lora_rank",
        )
    )  # fmt: skip
    found: dict[str, Any] = {
        part: as_array(prefix + name, arrays[prefix + name])
        for part, name in layout.parts.items()
        if prefix + name in arrays
    }
    if ("w_dq" in found) != ("query_gain" in found):
        one, other = sorted(("w_dq", "query_gain"), key=lambda part: part in found)
        names = layout.parts[one], layout.parts[other]
        raise ValueError(f"arrays at {prefix!r} have no {names[0]} for {names[1]}; both are wanted")
    query = "w_uq" if "w_uq" in found else "w_q"
    d_model = found["w_o"].shape[0]
    query_width = found["w_dq"].shape[0] if "w_dq" in found else d_model
    shapes = {
        query: (heads * (nope + rope), query_width),
        "w_dkv": (rank + rope, d_model),
        "w_ukv": (heads * (nope + width), rank),
        "w_o": (d_model, heads * width),
    }
    for part, shape in shapes.items():
        name = prefix + layout.parts[part]
        if part not in found or found[part].shape != shape:
            came = f"has shape {found[part].shape}" if part in found else "is missing"
            raise ValueError(f"{name} {came}; {shape} is wanted by {settings.where}")
    queries = found[query].reshape(heads, nope + rope, -1).swapaxes(1, 2)
    key_and_value = found["w_ukv"].reshape(heads, nope + width, rank).swapaxes(1, 2)
    w_qr, w_kr = queries[..., nope:], found["w_dkv"][rank:].T
    if not settings.read("rope_interleave", True):
        w_qr, w_kr = halves_to_pairs(w_qr), halves_to_pairs(w_kr)
    rotation, sharpness = read_rotation(layout.rotary, settings, rope, False)
    if sharpness != 1:
        raise ValueError(
            f"{settings.where} multiplies a part of each query and key by {sharpness:.4g}; speeds"
            " without such a factor are wanted"
        )
    speeds = rotation.get("speeds")
    return LatentLayer(
        LatentWeights(
            w_dkv=found["w_dkv"][:rank].T,
            w_uk=key_and_value[..., :nope],
            w_uv=key_and_value[..., nope:],
            w_kr=w_kr,
            w_uq=queries[..., :nope],
            w_qr=w_qr,
            w_o=found["w_o"].T,
            w_dq=found["w_dq"].T if "w_dq" in found else None,
            gain=found.get("gain"),
            query_gain=found.get("query_gain"),
        ),
        layout=layout.name,
        scale=read_latent_scale(settings, nope + rope),
        speeds=rotary_speeds(rope, base=rotation["base"]) if speeds is None else speeds,
        prefix=prefix,
        assumed=tuple(settings.assumed),
    )
