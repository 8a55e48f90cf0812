"""The conventions of attention functions, and their notes in a report.

A convention is not a bug. With the conventions of a function known, each case has one correct
output, and only differences from it are bugs.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from mha.core.checks import Array
from mha.practice.bugs import DECODING, PADDING, SCALING, TEMPERATURE
from mha.runs.rounding import short

NOTATION = "notation#notation"
NEWER = "transformer/since-2023#switch-it-on"

SEES, HIDES, ADDED = "True sees", "True hides", "added"
ONES, ONES_HIDE = "1 sees", "1 hides"
REAL, IS_PADDING = "True is real", "True is padding"
MULTIPLIES, DIVIDES = "multiplies", "divides"

MASK_AXES: Mapping[str, str] = {
    "": "",
    "four": "if a mask has the axes (batch, 1, n, m)",
    "three": "if a mask has the axes (batch, n, m)",
    "two": "if a mask has the axes (batch, m): one row for each sequence",
}
"""The axes of a mask, and the condition that the report states for them."""

LAST_POSITION = "if the last query has the position of the last key"
FIRST_POSITION = "if the first query has the position of the first key"


@dataclass(frozen=True)
class Conventions:
    """The conventions of one function; the defaults are those of `mha`.

    Parameters
    ----------
    tokens_first : bool
        Whether the axis of tokens is before that of heads (attention) or of sequences (a layer).
    mask : str
        The form of a boolean mask: `SEES`, `HIDES`, `ADDED`, `ONES` or `ONES_HIDE`.
    mask_axes : str
        The axes of a mask; see `MASK_AXES`.
    undetermined : frozenset of str
        Those of the inputs `mask` and `padding` for which no output shows the meaning of True.
    by_sequence : str
        The axes of a mask that differs between sequences: "four" or "three".
    has_numbers : bool
        Whether a mask of numbers is added to the scores.
    padding : str
        The meaning of True for a key: `REAL` or `IS_PADDING`; or `ONES` for 1 and 0.
    is_always_causal : bool
    is_last : bool
        Whether a causal mask gives the last query the position of the last key.
    is_square : bool
        Whether a causal mask is tested only with as many queries as keys, since the outputs do not
        show which key has the position of the first query.
    scale : str
        Whether scores are multiplied or divided by `scale`: `MULTIPLIES` or `DIVIDES`.
    own_scale : tuple of float, optional
        A factor and a power: scores are multiplied by factor / d_k ** power.
    first_masked_distance : int, optional
        The smallest distance of a masked key from its query, for a sliding window: one more than
        the `window` of `mha.sliding_window_mask`, which is the largest distance of an allowed key.
    sink : float, optional
        One more score in each softmax, without a value.
    window_extra : int
        1 if a query attends to one position more than the `window` of a call, else 0.
    window_is_causal : bool
        Whether a `window` hides later keys too.
    has_segment_rows : bool
        Whether segment ids have the axes (batch, n) instead of (n,).
    """

    tokens_first: bool = False
    mask: str = SEES
    mask_axes: str = ""
    undetermined: frozenset[str] = frozenset()
    by_sequence: str = "four"
    has_numbers: bool = True
    padding: str = REAL
    is_always_causal: bool = False
    is_last: bool = False
    is_square: bool = False
    scale: str = MULTIPLIES
    own_scale: tuple[float, float] | None = None
    first_masked_distance: int | None = None
    sink: float | None = None
    window_extra: int = 0
    window_is_causal: bool = False
    has_segment_rows: bool = False

    @property
    def extra_inputs(self) -> frozenset[tuple[str, Any]]:
        """The inputs that these conventions add to every case."""
        found = {"is_always_causal": self.is_always_causal, "is_last": self.is_last}
        inputs = {
            "own_scale": self.own_scale,
            "first_masked_distance": self.first_masked_distance,
            "sink": self.sink,
            "window_extra": self.window_extra or None,
            "window_is_causal": self.window_is_causal or None,
        }
        return frozenset((name, True) for name, is_so in found.items() if is_so) | frozenset(
            (name, x) for name, x in inputs.items() if x is not None
        )

    def encode(self, name: str, x: Any, case: Any) -> Any:
        """Convert an input to the function's convention."""
        if x is None:
            return None
        if name == "mask":
            return self._mask(x, case)
        if name == "padding" and self.padding != REAL:
            return ~x if self.padding == IS_PADDING else x.astype(case.dtype)
        if name == "scale" and self.scale == DIVIDES:
            return 1 / x
        if name == "segments" and self.has_segment_rows:
            return np.broadcast_to(x, (case.leading[0], len(x)))
        return x

    def encode_values(self, mask: Array, case: Any) -> Array:
        """Convert the values of a mask, and keep its axes."""
        if mask.dtype == bool:
            if self.mask == ADDED:
                return np.where(mask, 0, -np.inf).astype(case.dtype)
            if self.mask in (ONES, ONES_HIDE):
                return (mask == (self.mask == ONES)).astype(case.dtype)
            if self.mask == HIDES:
                return ~mask
        return mask

    def _mask(self, mask: Array, case: Any) -> Array:
        mask = self.encode_values(mask, case)
        batch = case.leading[0] if case.leading else 1
        if self.mask_axes == "four":
            shape = (batch, 1, *mask.shape[-2:])
            return (
                mask if mask.ndim == 4 else np.broadcast_to(mask.reshape(-1, 1, *shape[2:]), shape)
            )
        if (
            not self.mask_axes
            and self.by_sequence == "three"
            and mask.ndim == 4
            and mask.shape[1] == 1
        ):
            return mask[:, 0]
        if self.mask_axes == "three":
            mask = mask[:, 0] if mask.ndim == 4 else mask
            return np.broadcast_to(mask, (batch, *mask.shape[-2:]))
        if self.mask_axes == "two":
            return np.broadcast_to(mask[0], (batch, mask.shape[-1]))
        return mask

    def allows(self, case: Any) -> bool:
        """Return whether a case can be expressed in these conventions."""
        mask = case.inputs.get("mask")
        if self.tokens_first and not case.leading:
            return False  # two axes tell nothing of their order
        if self.is_always_causal and "x" in case.inputs and "context" in case.inputs:
            return False  # a layer may be causal among its own tokens alone
        if self.has_segment_rows and "segments" in case.inputs and len(case.leading) < 2:
            return False
        query, key = case.inputs.get("query"), case.inputs.get("key")
        is_square_only = self.is_square and case.inputs.get("is_causal") and query is not None
        if is_square_only and query.shape[-2] != key.shape[-2]:
            return False
        if mask is None:
            return True
        if self.mask_axes and len(case.leading) < (1 if "x" in case.inputs else 2):
            return False
        is_short = mask.ndim == 2 and len(mask) == 1
        if (mask.dtype != bool and not self.has_numbers) or (
            self.mask_axes == "two" and not is_short
        ):
            return False
        return not (self.mask_axes == "three" and mask.ndim > 2 and mask.shape[-3] > 1)


USUAL = Conventions()
"""The conventions of `mha`."""


def describe_conventions(
    found: Conventions, first_inputs: tuple[str, ...]
) -> list[tuple[str, str, str]]:
    """Return the condition, the explanation and the section for each unusual convention.

    Examples
    --------
    >>> [condition for condition, _, _ in describe_conventions(Conventions(mask=HIDES), ("query",))]
    ['if True in a mask means masked']
    """
    axes = "(..., n, num_heads, d_k)" if "query" in first_inputs else "(n, batch, d_model)"
    rows = [
        (found.tokens_first, f"if axes are {axes}", "", ""),
        (found.mask == HIDES, "if True in a mask means masked",
         "So it does in PyTorch's nn.MultiheadAttention; in scaled_dot_product_attention True means"
         " that a query may attend.", NOTATION),
        (found.mask == ADDED, "if a mask is added to the scores",
         "It has 0 where a query may attend and -inf elsewhere. A boolean mask would be added"
         " as 1 and"
         " 0, and would mask nothing.", NOTATION),
        (found.mask == ONES, "if a mask has 1 where a query may attend and 0 elsewhere", "",
         NOTATION),
        (found.mask == ONES_HIDE, "if a mask has 1 where a key is masked and 0 elsewhere", "",
         NOTATION),
        (bool(found.mask_axes), MASK_AXES[found.mask_axes], "", ""),
        (not found.has_numbers,
         "if masks are boolean: it does not add numbers to the scores", "", NOTATION),
        (found.padding == IS_PADDING, "if True marks padding",
         "PyTorch's nn.MultiheadAttention has the same convention.", PADDING),
        (found.padding == ONES, "if 0 marks padding and 1 every other key", "", PADDING),
        (found.is_always_causal, "if it is always causal",
         "PyTorch's attention is causal only if is_causal says so.", DECODING),
        (found.is_last, LAST_POSITION,
         "It matters for is_causal with fewer queries than keys. In PyTorch's"
         " scaled_dot_product_attention the first query has the position of the first key.",
         DECODING),
        (found.scale == DIVIDES, "if scores are divided by scale",
         "PyTorch multiplies the scores by scale.", SCALING),
    ]  # fmt: skip
    if found.first_masked_distance is not None:
        side = "" if found.is_always_causal else " on either side"
        count = found.first_masked_distance
        rule = f"if a query is meant to attend to {count} positions{side}, its own included"
        rows.append((True, rule, "It attends to a sliding window.", NEWER))
    if found.window_extra:
        rule = "if a window of w has w + 1 positions, the query's own included"
        more = "In transformers and in Mistral it has w; in flash-attn it reaches w positions back."
        rows.append((True, rule, more, NEWER))
    if found.sink is not None:
        rule = f"if each softmax is meant to have a sink of {short(found.sink)}"
        more = "The weights of a row add up to less than 1, as in softmax-one and in gpt-oss."
        rows.append((True, rule, more, NEWER))
    if found.own_scale is not None:
        factor, power = found.own_scale
        rule = (
            f"if scores are multiplied by {short(factor)}"
            if not power
            else (f"if the scale is {short(factor)} ÷ √d_k")
        )
        more = "PyTorch multiplies by 1 ÷ √d_k where no scale is given."
        rows.append((True, rule, more, TEMPERATURE))
    return [(condition, more, section) for is_so, condition, more, section in rows if is_so]
