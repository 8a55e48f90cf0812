"""What stands where in the matrices of a layout: the blocks of each part and each head."""

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

_PLAIN = 88.0  # an axis without blocks
_ROW, _COLUMN, _PATTERN, _TOP = 24.0, 46.0, 7.0, 58.0
_APART = 6.0  # between heads that have an axis of their own
_SAID = {
    "p": "3", "h": "heads", "g": "groups", "m": "d_model", "c": "d_context", "k": "d_k", "v": "d_v",
    "o": "d_out", "r": "ranges", "t": "(heads + 2 · groups)", "u": "(heads + 2 · groups)",
}  # fmt: skip
_LETTERS = {"w_q": "Q", "w_k": "K", "w_v": "V", "w_o": "O", "relative_bias": "B"}


@dataclass(frozen=True)
class _Block:
    """A block of a matrix: whose it is, and the heads that it serves, counted from 0."""

    letter: str
    heads: range

    @property
    def words(self) -> str:
        """What stands on it."""
        first, last = self.heads[0] + 1, self.heads[-1] + 1
        between = ", " if last == first + 1 else "–"
        return f"{self.letter} {first}{between}{last}" if last > first else f"{self.letter} {first}"


def layout_blocks(layout: str, *, num_heads: int = 2, num_groups: int | None = None) -> Figure:
    """Draw the matrices of a layout with the blocks that each of them is made of.

    Q, K and V are the projections to queries, keys and values, O is the output projection, B a bias
    for distances; behind them stand the heads, counted from 1. Where positions turn components in
    halves, an arc joins the two halves of a head.

    Parameters
    ----------
    layout : str
        A name of `mha.layouts.LAYOUTS`.
    num_heads : int, default 2
    num_groups : int, optional
        How many heads of keys and values there are; a divisor of `num_heads`.

    Returns
    -------
    Figure

    Raises
    ------
    TypeError, ValueError
        If there is no such layout, or a number does not fit it.

    Examples
    --------
    >>> layout_blocks("GPT-2").alt[:75]
    'c_attn.weight, d_model × 3 · heads · d_k, stands right of x: its columns ar'
    """
    if as_string("layout", layout) not in LAYOUTS:
        raise ValueError(f"layout is {layout!r}; one of {', '.join(LAYOUTS)} is wanted")
    own, heads = LAYOUTS[layout], as_count("num_heads", num_heads)
    groups = heads if num_groups is None else as_count("num_groups", num_groups)
    three_alike = "p" in own.parts.get("w_qkv", ("", ""))[1]
    if heads % groups or (groups < heads and three_alike):
        raise ValueError(
            f"num_groups is {groups}; a divisor of num_heads={heads} is wanted, and itself"
            " where one matrix has query, key and value"
        )
    panels, words = [], []
    for part, (name, pattern) in own.parts.items():
        if part.startswith("w_") or part == "relative_bias":
            blocks = list(_blocks(part, pattern, heads, groups))
            rotary = own.rotary
            is_turned = part in ("w_q", "w_k") and (
                rotary is not None and not rotary.pairs and rotary.share is rotary.width is None
            )
            shape = _shape(pattern if groups < heads else _ungrouped(pattern))
            panels.append(_panel(name, shape, pattern, blocks, is_turned))
            words.append(_in_words(name, shape, pattern, blocks, is_turned))
    return figure(panels, " ".join(words), gap=(20, 24))


def _blocks(part: str, pattern: str, num_heads: int, num_groups: int) -> Iterator[_Block]:
    """Go through the blocks of a matrix in their order."""
    size = num_heads // num_groups
    groups = [range(first, first + size) for first in range(0, num_heads, size)]
    heads = [range(head, head + 1) for head in range(num_heads)]
    if "t" in pattern:
        yield from (_Block("Q", head) for head in heads)
        yield from (_Block(letter, group) for letter in "KV" for group in groups)
        return
    if "u" in pattern:
        for group in groups:
            yield from (_Block("Q", heads[head]) for head in group)
            yield from (_Block(letter, group) for letter in "KV")
        return
    shared = size if "g" in pattern else 1
    for letter in "QKV" if "p" in pattern else _LETTERS[part]:
        for first in range(0, num_heads, shared):
            yield _Block(letter, range(first, first + shared))


def _is_below(pattern: str) -> bool:
    """Return whether the blocks stand below one another: heads have the rows, or come first."""
    axes = axes_of(pattern)
    return not set("hgtu").isdisjoint(axes[0]) and pattern != "r h"


def _ungrouped(pattern: str) -> str:
    """Return the pattern of a layer whose heads have a key and a value each."""
    return pattern.replace("g", "h").replace("t", "p h").replace("u", "p h")


def _shape(pattern: str) -> str:
    return " × ".join(" · ".join(_SAID[letter] for letter in axis) for axis in axes_of(pattern))


def _side(pattern: str) -> str:
    """Return how a matrix is multiplied with a row; one that is not, what its rows are."""
    if pattern == "r h":
        return "a row a range of distances"
    return (
        "x W, as it stands"
        if axes_of(pattern)[0] in "mc" or axes_of(pattern)[-1] == "o"
        else "x W, turned over"
    )


def _panel(name: str, shape: str, pattern: str, blocks: list[_Block], is_turned: bool) -> Panel:
    """Return a matrix under its name, its shape and how it is multiplied."""
    below, has_axis = _is_below(pattern), len(axes_of(pattern)) == 3
    thick = (_ROW * (2 if is_turned else 1)) if below else _COLUMN
    step = thick + (_APART if has_axis else 0)
    length = step * len(blocks) - (step - thick)
    width, height = (_PLAIN, length) if below else (length, _PLAIN)
    said = plain(0, 12, name, "f-strong"), text(0, 31, shape, "f-below f-soft")
    parts = [*said, plain(0, 49, _side(pattern), "f-below f-soft")]
    for i, block in enumerate(blocks):
        x, y = (0.0, _TOP + i * step) if below else (i * step, _TOP)
        parts.append(_drawn(block, x, y, *((_PLAIN, thick) if below else (thick, _PLAIN)), below))
        if is_turned:
            parts.append(_halves(x, y, thick))
        if i and block.letter != blocks[i - 1].letter:
            end = (_PLAIN, y) if below else (x, _TOP + _PLAIN)
            parts.append(line(x, y, *end, stroke_width="2.5px"))
    parts.append(rectangle(0, _TOP, width, height, "f-line"))
    across = max(width + 16 * is_turned, width_of(name, 16), width_of(shape, 14))
    return Panel(across, _TOP + height, "".join(parts))


def _drawn(block: _Block, x: float, y: float, width: float, height: float, below: bool) -> str:
    """Return one block in its head's colour and pattern; what several heads share has neither."""
    is_shared, head = len(block.heads) > 1, block.heads[0]
    parts = [rectangle(x, y, width, height, "f-wash" if is_shared else "f-pale")]
    if not is_shared:
        edge = (x, y, _PATTERN, height) if below else (x, y, width, _PATTERN)
        parts.append(hatched(head, *edge))
    middle = x + (width + (_PATTERN if below else 0)) / 2
    at = middle_of(y + (height + (0 if below else _PATTERN)) / 2, 14)
    parts.append(text(middle, at, block.words, "", "middle"))
    return group(*parts, colour=NEUTRAL if is_shared else head_colour(head))


def _halves(x: float, y: float, height: float) -> str:
    """Return the line between the halves of a head, and an arc from one to the other."""
    right, quarter = x + _PLAIN, height / 4
    arc = f"M{right} {y + quarter}C{right + 18} {y + quarter} {right + 18} {y + 3 * quarter}"
    beside = ((x + _PATTERN, x + _PATTERN + 20), (right - 20, right))  # the words on the block
    dashed = "".join(
        line(a, y + height / 2, b, y + height / 2, "f-quiet", stroke_dasharray="3 3")
        for a, b in beside
    )
    return dashed + path(f"{arc} {right} {y + 3 * quarter}", "f-line")


def _in_words(name: str, shape: str, pattern: str, blocks: list[_Block], is_turned: bool) -> str:
    sides = {"x W, as it stands": "right of x", "x W, turned over": "turned over right of x"}
    place = sides.get(_side(pattern), "for itself")
    lines = "rows" if _is_below(pattern) else "columns"
    order = ", ".join(block.words for block in blocks)
    halves = " Each head's halves are turned together." if is_turned else ""
    return f"{name}, {shape}, stands {place}: its {lines} are {order}.{halves}"
