"""The conventions of attention functions, and their notes in a report.

A convention is not a bug. With the conventions of a function known, each case has one correct
output, and only differences from it are bugs.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from mha.core.checks import Array
from mha.core.masks import Align
from mha.core.positions import Layout, linear_slopes
from mha.examine.cases import Case
from mha.practice.bugs import DECODING, LINEAR, PADDING, ROTARY, SCALING, TEMPERATURE
from mha.runs.rounding import short

NOTATION = "notation#notation"
SINCE_2023 = "transformer/since-2023#switch-it-on"

TRUE_ALLOWS, TRUE_MASKS = "True allows", "True masks"
ONE_ALLOWS, ONE_MASKS = "1 allows", "1 masks"
ADDED = "added"
"""Forms of a mask: booleans, the numbers 1 and 0, or numbers that are added to the scores."""
TRUE_IS_TOKEN, TRUE_IS_PADDING, ONE_IS_TOKEN = "True is a token", "True is padding", "1 is a token"
"""Forms of a padding mask."""
MULTIPLIES, DIVIDES = "multiplies", "divides"
"""Uses of the argument `scale`."""

MASK_AXES: Mapping[str, str] = {
    "": "",
    "four": "if a mask has the axes (batch, 1, n, m)",
    "three": "if a mask has the axes (batch, n, m)",
    "two": "if a mask has the axes (batch, m): one row for each sequence",
}
"""For the only axes that a function takes in a mask, the condition that its report states.

The empty name means any axes that broadcast to those of the scores.
"""

LAST_POSITION = "if the last query has the position of the last key"
FIRST_POSITION = "if the first query has the position of the first key"


@dataclass(frozen=True)
class LinearBiases:
    """Linear biases by their slopes for each number of heads; without slopes, those of ALiBi."""

    slopes: tuple[tuple[int, tuple[float, ...]], ...] = ()

    def slopes_of(self, heads: int) -> tuple[float, ...] | None:
        """Return the slopes for a number of heads, if they are known."""
        return dict(self.slopes).get(heads)


@dataclass(frozen=True)
class Conventions:
    """The conventions of one function; the defaults are those of `mha`.

    Parameters
    ----------
    token_axis : int
        The axis of tokens, counted from the end: -2; -3 if it is before that of heads (attention)
        or of sequences (a layer); or -4 if it is before those of sequences and heads.
    mask : str
        The form of a mask that says which keys a query may attend to: `TRUE_ALLOWS`, `TRUE_MASKS`,
        `ONE_ALLOWS`, `ONE_MASKS` or `ADDED`.
    mask_axes : str
        The axes of a mask; see `MASK_AXES`.
    undetermined : frozenset of str
        Those of the inputs `mask` and `padding` for which no output shows the meaning of True.
    sequence_mask_axes : str
        The axes of a mask that differs between sequences: "four" or "three", as in `MASK_AXES`.
    takes_additive_mask : bool
        Whether a mask of numbers is added to the scores.
    padding : str
        The form of a padding mask: `TRUE_IS_TOKEN`, `TRUE_IS_PADDING` or `ONE_IS_TOKEN`.
    is_always_causal : bool
        Whether later keys are masked in every call.
    align : {"top-left", "bottom-right"}, optional
        The alignment of a causal mask, as in `mha.causal_mask`. With None the outputs do not show
        it, and a causal mask is tested only with as many queries as keys.
    scale : str
        Whether scores are multiplied or divided by `scale`: `MULTIPLIES` or `DIVIDES`.
    own_scale : tuple of float, optional
        A factor and a power: scores are multiplied by factor / d_k ** power.
    first_masked_distance : int or tuple of (int, int), optional
        The smallest distance of a masked key from its query, for a sliding window: one more than
        the `window` of `mha.sliding_window_mask`, which is the largest distance of an allowed key.
        A pair has those of earlier and of later keys.
    sink : float, optional
        One more score in each softmax, without a value.
    rotation : tuple of (str, float), optional
        The layout and the base by which the function itself rotates queries and keys.
    linear_biases : LinearBiases, optional
        The linear biases that the function itself adds.
    window_extra : int
        1 if a query attends to one position more than the `window` of a call, else 0.
    window_is_causal : bool
        Whether a `window` masks later keys too.
    has_segment_rows : bool
        Whether segment ids have the axes (batch, n) instead of (n,).
    """

    token_axis: int = -2
    mask: str = TRUE_ALLOWS
    mask_axes: str = ""
    undetermined: frozenset[str] = frozenset()
    sequence_mask_axes: str = "four"
    takes_additive_mask: bool = True
    padding: str = TRUE_IS_TOKEN
    is_always_causal: bool = False
    align: Align | None = "top-left"
    scale: str = MULTIPLIES
    own_scale: tuple[float, float] | None = None
    first_masked_distance: int | tuple[int, int] | None = None
    sink: float | None = None
    rotation: tuple[Layout, float] | None = None
    linear_biases: LinearBiases | None = None
    window_extra: int = 0
    window_is_causal: bool = False
    has_segment_rows: bool = False

    @property
    def extra_inputs(self) -> frozenset[tuple[str, Any]]:
        """The inputs that these conventions add to every case, for its correct output."""
        added = {
            "is_always_causal": self.is_always_causal or None,
            "align": self.align if self.align == "bottom-right" else None,
            "own_scale": self.own_scale,
            "first_masked_distance": self.first_masked_distance,
            "sink": self.sink,
            "rotation": self.rotation,
            "linear_biases": self.linear_biases,
            "window_extra": self.window_extra or None,
            "window_is_causal": self.window_is_causal or None,
        }
        return frozenset((name, x) for name, x in added.items() if x is not None)

    def encode(self, name: str, x: Any, case: Case) -> Any:
        """Return an input of `mha` in the form that the function takes."""
        if x is None:
            return None
        if name == "mask":
            return self._encode_mask(x, case)
        if name == "padding" and self.padding == TRUE_IS_PADDING:
            return ~x
        if name == "padding" and self.padding == ONE_IS_TOKEN:
            return x.astype(case.dtype)
        if name == "scale" and self.scale == DIVIDES:
            return 1 / x
        if name == "segments" and self.has_segment_rows:
            return np.broadcast_to(x, (case.leading[0], len(x)))
        return x

    def encode_mask_values(self, mask: Array, case: Case) -> Array:
        """Return a boolean mask in the form that the function takes, with the same axes."""
        if mask.dtype == bool:
            if self.mask == ADDED:
                return np.where(mask, 0, -np.inf).astype(case.dtype)
            if self.mask in (ONE_ALLOWS, ONE_MASKS):
                return (mask == (self.mask == ONE_ALLOWS)).astype(case.dtype)
            if self.mask == TRUE_MASKS:
                return ~mask
        return mask

    def _encode_mask(self, mask: Array, case: Case) -> Array:
        """Return a mask in the form and with the axes that the function takes."""
        mask = self.encode_mask_values(mask, case)
        batch = case.leading[0] if case.leading else 1
        is_per_sequence = mask.ndim == 4 and mask.shape[1] == 1
        if not self.mask_axes and self.sequence_mask_axes == "three" and is_per_sequence:
            return mask[:, 0]
        if self.mask_axes == "four":
            if mask.ndim == 4:
                return mask
            shape = (batch, 1, *mask.shape[-2:])
            return np.broadcast_to(mask.reshape(-1, 1, *mask.shape[-2:]), shape)
        if self.mask_axes == "three":
            mask = mask[:, 0] if mask.ndim == 4 else mask
            return np.broadcast_to(mask, (batch, *mask.shape[-2:]))
        if self.mask_axes == "two":
            return np.broadcast_to(mask[0], (batch, mask.shape[-1]))
        return mask

    def can_express(self, case: Case) -> bool:
        """Return whether the function can be called with a case, and its output compared."""
        inputs, mask = case.inputs, case.inputs.get("mask")
        if not self._can_position(case):
            return False
        if len(case.leading) < -2 - self.token_axis:
            return False  # no axes that could be after that of tokens
        if self.is_always_causal and "x" in inputs and "context" in inputs:
            return False  # a layer may be causal among its own tokens alone
        if self.has_segment_rows and "segments" in inputs and len(case.leading) < 2:
            return False
        if self.align is None and inputs.get("is_causal") and "query" in inputs:
            num_queries, num_keys = (inputs[name].shape[-2] for name in ("query", "key"))
            if num_queries != num_keys:
                return False
        if mask is None:
            return True
        if self.mask_axes and len(case.leading) < (1 if "x" in inputs else 2):
            return False  # no axis of sequences
        if mask.dtype != bool and not self.takes_additive_mask:
            return False
        has_one_row = mask.ndim == 2 and len(mask) == 1
        if self.mask_axes == "two" and not has_one_row:
            return False
        has_heads = mask.ndim > 2 and mask.shape[-3] > 1
        return not (self.mask_axes == "three" and has_heads)

    def _can_position(self, case: Case) -> bool:
        """Return whether the positions that the function itself applies are known for a case."""
        inputs = case.inputs
        if self.rotation is not None and "query" not in inputs:
            has_other_keys = not {"context", "values_of"}.isdisjoint(inputs)
            return not has_other_keys and _head_width(inputs) % 2 == 0
        if self.rotation is None and self.linear_biases is None:
            return True
        query, key = inputs["query"], inputs["key"]
        if query.shape[-2] != key.shape[-2]:
            return False
        if self.linear_biases is not None and self.linear_biases.slopes:
            heads = query.shape[-3] if query.ndim > 2 else 1
            return self.linear_biases.slopes_of(heads) is not None
        # Rotated queries and keys have no very low scores.
        is_even = query.shape[-1] % 2 == 0
        return self.rotation is None or (is_even and not case.has_very_low_scores)


def _head_width(inputs: Mapping[str, Any]) -> int:
    """Return the width of one head's queries in a layer."""
    if "weights" in inputs:
        return int(inputs["weights"].w_q.shape[-1])
    width = inputs["w_q"].shape[-1] if "w_q" in inputs else inputs["w_qkv"].shape[-1] // 3
    return int(width // inputs["num_heads"])


MHA_CONVENTIONS = Conventions()
"""The conventions of `mha`."""


def _format_slopes(slopes: Iterable[float]) -> str:
    """Return slopes as a list in brackets."""
    return f"[{', '.join(short(float(slope)) for slope in slopes)}]"


def describe_conventions(
    conventions: Conventions, first_inputs: tuple[str, ...]
) -> list[tuple[str, str, str]]:
    """Return the condition, the explanation and the section for each convention unlike `mha`'s.

    Examples
    --------
    >>> describe_conventions(Conventions(token_axis=-3), ("query",))
    [('if axes are (..., n, num_heads, d_k)', '', '')]
    """
    axes = "(..., n, num_heads, d_k)" if "query" in first_inputs else "(n, batch, d_model)"
    axes = "(n, batch, num_heads, d_k)" if conventions.token_axis == -4 else axes
    rows = [
        (conventions.token_axis != -2, f"if axes are {axes}", "", ""),
        (conventions.mask == TRUE_MASKS, "if True in a mask means masked",
         "So it does in PyTorch's nn.MultiheadAttention; in scaled_dot_product_attention True means"
         " that a query may attend.", NOTATION),
        (conventions.mask == ADDED, "if a mask is added to the scores",
         "It has 0 where a query may attend and -inf elsewhere. A boolean mask would be added"
         " as 1 and 0, and would mask nothing.", NOTATION),
        (conventions.mask == ONE_ALLOWS,
         "if a mask has 1 where a query may attend and 0 elsewhere", "", NOTATION),
        (conventions.mask == ONE_MASKS,
         "if a mask has 1 where a key is masked and 0 elsewhere", "", NOTATION),
        (bool(conventions.mask_axes), MASK_AXES[conventions.mask_axes], "", ""),
        (not conventions.takes_additive_mask,
         "if masks are boolean: it does not add numbers to the scores", "", NOTATION),
        (conventions.padding == TRUE_IS_PADDING, "if True marks padding",
         "PyTorch's nn.MultiheadAttention has the same convention.", PADDING),
        (conventions.padding == ONE_IS_TOKEN,
         "if 0 marks padding and 1 every other key", "", PADDING),
        (conventions.is_always_causal, "if it is always causal",
         "PyTorch's attention is causal only if is_causal says so.", DECODING),
        (conventions.align == "bottom-right", LAST_POSITION,
         "It matters for is_causal with fewer queries than keys. In PyTorch's"
         " scaled_dot_product_attention the first query has the position of the first key.",
         DECODING),
        (conventions.scale == DIVIDES, "if scores are divided by scale",
         "PyTorch multiplies the scores by scale.", SCALING),
    ]  # fmt: skip
    if conventions.first_masked_distance is not None:
        count = conventions.first_masked_distance
        side = "" if conventions.is_always_causal else " on either side"
        condition = f"if a query is meant to attend to {count} positions{side}, its own included"
        if isinstance(count, tuple):
            condition = (
                f"if a query is meant to attend to {count[0]} positions, its own included, and to"
                f" {count[1] - 1} later"
            )
        rows.append((True, condition, "It attends to a sliding window.", SINCE_2023))
    if conventions.window_extra:
        condition = "if a window of w has w + 1 positions, the query's own included"
        explanation = (
            "In transformers and in Mistral it has w; in flash-attn it reaches w positions back."
        )
        rows.append((True, condition, explanation, SINCE_2023))
    if conventions.sink is not None:
        condition = f"if each softmax is meant to have a sink of {short(conventions.sink)}"
        explanation = (
            "The weights of a row add up to less than 1, as in softmax-one and in gpt-oss."
        )
        rows.append((True, condition, explanation, SINCE_2023))
    if conventions.rotation is not None:
        layout, base = conventions.rotation
        condition = f"if rotary positions are by {layout}, with the base {short(base)}"
        rows.append((True, condition, "It rotates queries and keys itself.", ROTARY))
    if conventions.linear_biases is not None:
        slopes = conventions.linear_biases.slopes_of(3)
        condition = "if linear biases have the slopes of ALiBi"
        if slopes is not None:
            condition = f"if linear biases of 3 heads have the slopes {_format_slopes(slopes)}"
        explanation = f"Those of ALiBi are {_format_slopes(linear_slopes(3))}." if slopes else ""
        rows.append((True, condition, explanation, LINEAR))
    if conventions.own_scale is not None:
        factor, power = conventions.own_scale
        condition = (
            f"if scores are multiplied by {short(factor)}"
            if not power
            else (f"if the scale is {short(factor)} ÷ √d_k")
        )
        explanation = "PyTorch multiplies by 1 ÷ √d_k where no scale is given."
        rows.append((True, condition, explanation, TEMPERATURE))
    return [
        (condition, explanation, section)
        for applies, condition, explanation, section in rows
        if applies
    ]
