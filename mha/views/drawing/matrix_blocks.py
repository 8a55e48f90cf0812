"""Block diagrams of the matrices of a layout: the rows or columns of each part and head."""

from collections.abc import Iterator
from dataclasses import dataclass

from mha.core.checks import as_count
from mha.core.option_checks import as_string
from mha.layouts import LAYOUTS
from mha.layouts.axes import axes_of
from mha.views.colours import head_colour
from mha.views.drawing.canvas import Figure, Panel, figure
from mha.views.drawing.svg import (
    NEUTRAL,
    group,
    hatched,
    line,
    middle_of,
    path,
    plain,
    rectangle,
    text,
    width_of,
)  # fmt: skip

_UNDIVIDED = 88.0  # length of an axis without blocks
_ROW, _COLUMN, _PATTERN, _TOP = 24.0, 46.0, 7.0, 58.0
_HEAD_GAP = 6.0  # between heads, if these have their own axis
_AXIS_NAMES = {
    "p": "3", "h": "heads", "g": "groups", "m": "d_model", "c": "d_context", "k": "d_k", "v": "d_v",
    "o": "d_out", "r": "ranges", "t": "(heads + 2 · groups)", "u": "(heads + 2 · groups)",
}  # fmt: skip
_AS_STORED, _TRANSPOSED = "x W, W as stored", "x W, W transposed"
_LETTERS = {"w_q": "Q", "w_k": "K", "w_v": "V", "w_o": "O", "relative_bias": "B"}


@dataclass(frozen=True)
class _MatrixBlock:
    """A block of a matrix: the letter of its projection, and its heads, counted from 0."""

    letter: str
    heads: range

    @property
    def words(self) -> str:
        """The label on the block."""
        first, last = self.heads[0] + 1, self.heads[-1] + 1
        between = ", " if last == first + 1 else "–"
        return f"{self.letter} {first}{between}{last}" if last > first else f"{self.letter} {first}"


def layout_blocks(layout: str, *, num_heads: int = 2, num_groups: int | None = None) -> Figure:
    """Draw the matrices of a layout as blocks, one for each projection and head.

    Q, K and V are the projections to queries, keys and values, O is the output projection, B a bias
    for distances. The numbers after the letter are the heads, counted from 1. If rotation pairs a
    component of the first half of a head with one of the second, an arc joins the halves.

    Parameters
    ----------
    layout : str
        A name of `mha.layouts.LAYOUTS`.
    num_heads : int, default 2
    num_groups : int, optional
        Number of heads of keys and values, a divisor of `num_heads`.

    Returns
    -------
    Figure

    Raises
    ------
    TypeError, ValueError
        If there is no such layout, or if it has no such number of groups.

    Examples
    --------
    >>> layout_blocks("GPT-2").alt[:75]
    'c_attn.weight, d_model × 3 · heads · d_k: x is multiplied by it, and its co'
    """
    if as_string("layout", layout) not in LAYOUTS:
        raise ValueError(f"layout is {layout!r}; one of {', '.join(LAYOUTS)} is wanted")
    chosen, heads = LAYOUTS[layout], as_count("num_heads", num_heads)
    groups = heads if num_groups is None else as_count("num_groups", num_groups)
    three_alike = "p" in chosen.parts.get("w_qkv", ("", ""))[1]
    if heads % groups or (groups < heads and three_alike):
        raise ValueError(
            f"num_groups is {groups}; a divisor of num_heads={heads} is wanted, and num_heads"
            " itself for a layout with one matrix for query, key and value"
        )
    panels, words = [], []
    for part, (name, pattern) in chosen.parts.items():
        if part.startswith("w_") or part == "relative_bias":
            blocks = list(_blocks(part, pattern, heads, groups))
            rotary = chosen.rotary
            is_turned = part in ("w_q", "w_k") and (
                rotary is not None and not rotary.pairs and rotary.share is rotary.width is None
            )
            shape = _shape(pattern if groups < heads else _pattern_without_groups(pattern))
            panels.append(_panel(name, shape, pattern, blocks, is_turned))
            words.append(_in_words(name, shape, pattern, blocks, is_turned))
    return figure(panels, " ".join(words), gap=(20, 24))


def _blocks(part: str, pattern: str, num_heads: int, num_groups: int) -> Iterator[_MatrixBlock]:
    """Yield the blocks of a matrix in their order."""
    size = num_heads // num_groups
    groups = [range(first, first + size) for first in range(0, num_heads, size)]
    heads = [range(head, head + 1) for head in range(num_heads)]
    if "t" in pattern:
        yield from (_MatrixBlock("Q", head) for head in heads)
        yield from (_MatrixBlock(letter, group) for letter in "KV" for group in groups)
        return
    if "u" in pattern:
        for group in groups:
            yield from (_MatrixBlock("Q", heads[head]) for head in group)
            yield from (_MatrixBlock(letter, group) for letter in "KV")
        return
    shared = size if "g" in pattern else 1
    for letter in "QKV" if "p" in pattern else _LETTERS[part]:
        for first in range(0, num_heads, shared):
            yield _MatrixBlock(letter, range(first, first + shared))


def _has_blocks_in_rows(pattern: str) -> bool:
    """Return whether the blocks are ranges of rows: heads are in the rows, or the first axis."""
    axes = axes_of(pattern)
    return not set("hgtu").isdisjoint(axes[0]) and pattern != "r h"


def _pattern_without_groups(pattern: str) -> str:
    """Return the pattern of axes of a layer with as many groups as heads."""
    return pattern.replace("g", "h").replace("t", "p h").replace("u", "p h")


def _shape(pattern: str) -> str:
    return " × ".join(
        " · ".join(_AXIS_NAMES[letter] for letter in axis) for axis in axes_of(pattern)
    )


def _multiplication(pattern: str) -> str:
    """Return the product of a row and the matrix in words, or the meaning of its rows."""
    if pattern == "r h":
        return "one row per range of distances"
    return _AS_STORED if axes_of(pattern)[0] in "mc" or axes_of(pattern)[-1] == "o" else _TRANSPOSED


def _panel(
    name: str, shape: str, pattern: str, blocks: list[_MatrixBlock], is_turned: bool
) -> Panel:
    """Return the panel of a matrix under its name, its shape and its multiplication."""
    in_rows, has_axis = _has_blocks_in_rows(pattern), len(axes_of(pattern)) == 3
    thick = (_ROW * (2 if is_turned else 1)) if in_rows else _COLUMN
    step = thick + (_HEAD_GAP if has_axis else 0)
    length = step * len(blocks) - (step - thick)
    width, height = (_UNDIVIDED, length) if in_rows else (length, _UNDIVIDED)
    heading = plain(0, 12, name, "f-strong"), text(0, 31, shape, "f-below f-soft")
    parts = [*heading, plain(0, 49, _multiplication(pattern), "f-below f-soft")]
    for i, block in enumerate(blocks):
        x, y = (0.0, _TOP + i * step) if in_rows else (i * step, _TOP)
        parts.append(
            _block(block, x, y, *((_UNDIVIDED, thick) if in_rows else (thick, _UNDIVIDED)), in_rows)
        )
        if is_turned:
            parts.append(_halves_arc(x, y, thick))
        if i and block.letter != blocks[i - 1].letter:
            end = (_UNDIVIDED, y) if in_rows else (x, _TOP + _UNDIVIDED)
            parts.append(line(x, y, *end, stroke_width="2.5px"))
    parts.append(rectangle(0, _TOP, width, height, "f-line"))
    across = max(width + 16 * is_turned, width_of(name, 16), width_of(shape, 14))
    return Panel(across, _TOP + height, "".join(parts))


def _block(
    block: _MatrixBlock, x: float, y: float, width: float, height: float, in_rows: bool
) -> str:
    """Return one block in its head's colour and pattern, or in grey if several heads share it."""
    is_shared, head = len(block.heads) > 1, block.heads[0]
    parts = [rectangle(x, y, width, height, "f-wash" if is_shared else "f-pale")]
    if not is_shared:
        edge = (x, y, _PATTERN, height) if in_rows else (x, y, width, _PATTERN)
        parts.append(hatched(head, *edge))
    middle = x + (width + (_PATTERN if in_rows else 0)) / 2
    at = middle_of(y + (height + (0 if in_rows else _PATTERN)) / 2, 14)
    parts.append(text(middle, at, block.words, "", "middle"))
    return group(*parts, colour=NEUTRAL if is_shared else head_colour(head))


def _halves_arc(x: float, y: float, height: float) -> str:
    """Return the line between the halves of a head, and an arc that joins them."""
    right, quarter = x + _UNDIVIDED, height / 4
    arc = f"M{right} {y + quarter}C{right + 18} {y + quarter} {right + 18} {y + 3 * quarter}"
    beside = ((x + _PATTERN, x + _PATTERN + 20), (right - 20, right))  # the words on the block
    dashed = "".join(
        line(a, y + height / 2, b, y + height / 2, "f-quiet", stroke_dasharray="3 3")
        for a, b in beside
    )
    return dashed + path(f"{arc} {right} {y + 3 * quarter}", "f-line")


def _in_words(
    name: str, shape: str, pattern: str, blocks: list[_MatrixBlock], is_turned: bool
) -> str:
    factors = {_AS_STORED: "x is multiplied by it", _TRANSPOSED: "x is multiplied by its transpose"}
    factor = factors.get(_multiplication(pattern), "it is added to the scaled scores")
    lines = "rows" if _has_blocks_in_rows(pattern) else "columns"
    order = ", ".join(block.words for block in blocks)
    halves = " Each head's halves are rotated together." if is_turned else ""
    return f"{name}, {shape}: {factor}, and its {lines} are {order}.{halves}"
