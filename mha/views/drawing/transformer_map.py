"""A map of a Transformer from its tokens to the next token, with the pieces of a chapter lit."""

from collections.abc import Sequence
from dataclasses import dataclass

from mha.views.drawing.canvas import Figure, Panel, figure
from mha.views.drawing.svg import (
    arrow,
    element,
    middle_of,
    number,
    path,
    plain,
    rectangle,
    role_mark,
    text,
    width_of,
)  # fmt: skip

PIECES = {
    "tokens": "the tokens so far",
    "embedding": "the embedding",
    "position": "the position",
    "blocks": "all blocks",
    "norm": "normalisation",
    "attention": "multi-head attention",
    "head": "one head",
    "projections": "queries, keys and values",
    "query and key": "queries and keys",
    "scores": "the scores",
    "softmax": "the softmax of the scores",
    "weighted sum": "the weighted sum",
    "output projection": "the output projection",
    "add": "addition to the stream",
    "feed-forward": "the feed-forward layer",
    "unembedding": "the unembedding",
    "probabilities": "the last softmax",
    "next token": "the next token",
    "model": "the whole model",
}
"""The pieces that can be lit, each with its words in the legend."""

_IN_HEAD = ("query", "key", "value", "scores", "softmax", "weighted sum")
_PARTS = {
    "projections": ("query", "key", "value"),
    "query and key": ("query", "key"),
    "head": _IN_HEAD,
    "attention": (*_IN_HEAD, "output projection"),
    "blocks": (*_IN_HEAD, "output projection", "norm", "add", "feed-forward"),
    "model": (*_IN_HEAD, *PIECES),
}
_ROLES = {"Q": "query", "K": "key", "V": "value"}

_SMALL, _SMALLER = 0.42, 0.38
"""The scales of the small map, on a desk and on a phone."""

_SUM = 8.0
"""The radius of an addition."""

_ALT = (
    "Map of a Transformer. The tokens so far become embeddings, to which positions are added: one"
    " vector per token. The vectors pass through N blocks. Each block adds two results to them:"
    " that of a norm and multi-head attention, then that of a norm and a feed-forward layer. Each"
    " head of attention has queries, keys and values, then scores, a softmax and a weighted sum of"
    " the values; the output projection joins the heads. After the blocks a last norm, the"
    " unembedding and a softmax give the next token. It is appended, and everything begins again."
)

_LEGEND_GAP = 16.0

_Points = Sequence[tuple[float, float]]


@dataclass(frozen=True)
class _Box:
    """A box of the map: its piece, left edge, top, width, height, and lines of text."""

    piece: str
    x: float
    y: float
    width: float
    height: float
    lines: tuple[str, ...] = ()


@dataclass(frozen=True)
class _Layout:
    """An arrangement of the map. Each path ends in an arrow; `stream` is drawn thick."""

    size: tuple[float, float]
    frames: tuple[_Box, ...]
    boxes: tuple[_Box, ...]
    sums: _Points
    stream: tuple[_Points, ...]
    returns: tuple[_Points, ...]  # from a layer to its sum
    paths: tuple[_Points, ...]
    words: tuple[tuple[float, float, str, str], ...]


_WIDE = _Layout(
    size=(640, 437),
    frames=(
        _Box("blocks", 2, 118, 616, 274),
        _Box("attention", 148, 132, 462, 166),
        _Box("head", 170, 172, 366, 104),
        _Box("head", 164, 166, 366, 104),
        _Box("head", 158, 160, 366, 104),
    ),
    boxes=(
        _Box("tokens", 0, 0, 118, 30, ("tokens so far",)),
        _Box("embedding", 0, 46, 118, 30, ("embedding",)),
        _Box("position", 146, 79, 88, 30, ("position",)),
        _Box("norm", 74, 195, 54, 30, ("norm",)),
        _Box("query", 168, 168, 34, 24, ("Q",)),
        _Box("key", 168, 198, 34, 24, ("K",)),
        _Box("value", 168, 228, 34, 24, ("V",)),
        _Box("scores", 226, 168, 84, 54, ("scores", "q · k / √d_k")),
        _Box("softmax", 330, 180, 66, 30, ("softmax",)),
        _Box("weighted sum", 416, 168, 100, 84, ("weighted sum", "of the values")),
        _Box("output projection", 560, 195, 42, 30, ("W^O",)),
        _Box("norm", 74, 328, 54, 30, ("norm",)),
        _Box("feed-forward", 152, 328, 112, 30, ("feed-forward",)),
        _Box("norm", 0, 406, 66, 30, ("norm",)),
        _Box("unembedding", 90, 406, 108, 30, ("unembedding",)),
        _Box("probabilities", 222, 406, 78, 30, ("softmax",)),
        _Box("next token", 324, 406, 96, 30, ("next token",)),
    ),
    sums=((32, 94), (32, 312), (32, 374)),
    stream=(((32, 102), (32, 304)), ((32, 320), (32, 366)), ((32, 382), (32, 406))),
    returns=(((581, 225), (581, 312), (40, 312)), ((208, 358), (208, 374), (40, 374))),
    paths=(
        ((32, 30), (32, 46)),
        ((32, 76), (32, 86)),
        ((146, 94), (40, 94)),
        ((32, 210), (74, 210)),
        ((128, 210), (158, 210)),
        ((202, 180), (226, 180)),
        ((202, 210), (226, 210)),
        ((202, 240), (416, 240)),
        ((310, 195), (330, 195)),
        ((396, 195), (416, 195)),
        ((524, 210), (560, 210)),
        ((32, 343), (74, 343)),
        ((128, 343), (152, 343)),
        ((66, 421), (90, 421)),
        ((198, 421), (222, 421)),
        ((300, 421), (324, 421)),
        ((420, 421), (632, 421), (632, 15), (118, 15)),
    ),
    words=(
        (252, 99, "from here on, one vector per token: the stream", "f-soft"),
        (158, 151, "multi-head attention", "f-strong"),
        (326, 151, "here alone tokens read other tokens", "f-soft"),
        (158, 291, "h heads, each with its own matrices", "f-soft"),
        (280, 348, "for each token alone", "f-soft"),
        (444, 384, "block, repeated N times", "f-strong"),
        (446, 34, "append it and begin again", "f-soft"),
    ),
)
"""The stream runs down the left edge, and a head from left to right."""

_NARROW = _Layout(
    size=(330, 684),
    frames=(
        _Box("blocks", 2, 118, 308, 468),
        _Box("attention", 52, 178, 250, 306),
        _Box("head", 72, 214, 216, 216),
        _Box("head", 66, 208, 216, 216),
        _Box("head", 60, 202, 216, 216),
    ),
    boxes=(
        _Box("tokens", 0, 0, 112, 30, ("tokens so far",)),
        _Box("embedding", 0, 46, 96, 30, ("embedding",)),
        _Box("position", 120, 79, 84, 30, ("position",)),
        _Box("norm", 52, 136, 54, 30, ("norm",)),
        _Box("query", 76, 212, 40, 26, ("Q",)),
        _Box("key", 130, 212, 40, 26, ("K",)),
        _Box("value", 204, 212, 40, 26, ("V",)),
        _Box("scores", 76, 258, 94, 46, ("scores", "q · k / √d_k")),
        _Box("softmax", 87, 322, 72, 28, ("softmax",)),
        _Box("weighted sum", 76, 368, 168, 42, ("weighted sum", "of the values")),
        _Box("output projection", 139, 446, 42, 30, ("W^O",)),
        _Box("norm", 52, 500, 54, 30, ("norm",)),
        _Box("feed-forward", 126, 500, 112, 30, ("feed-forward",)),
        _Box("norm", 0, 604, 54, 30, ("norm",)),
        _Box("unembedding", 72, 604, 102, 30, ("unembedding",)),
        _Box("probabilities", 192, 604, 72, 30, ("softmax",)),
        _Box("next token", 182, 652, 92, 30, ("next token",)),
    ),
    sums=((24, 94), (24, 461), (24, 550)),
    stream=(((24, 102), (24, 453)), ((24, 469), (24, 542)), ((24, 558), (24, 604))),
    returns=(((139, 461), (32, 461)), ((182, 530), (182, 550), (32, 550))),
    paths=(
        ((24, 30), (24, 46)),
        ((24, 76), (24, 86)),
        ((120, 94), (32, 94)),
        ((24, 151), (52, 151)),
        ((79, 166), (79, 178)),
        ((96, 238), (96, 258)),
        ((150, 238), (150, 258)),
        ((224, 238), (224, 368)),
        ((123, 304), (123, 322)),
        ((123, 350), (123, 368)),
        ((160, 418), (160, 446)),
        ((24, 515), (52, 515)),
        ((106, 515), (126, 515)),
        ((54, 619), (72, 619)),
        ((174, 619), (192, 619)),
        ((228, 634), (228, 652)),
        ((274, 667), (322, 667), (322, 15), (112, 15)),
    ),
    words=(
        (110, 65, "then one vector per token", "f-soft"),
        (62, 195, "multi-head attention", "f-strong"),
        (118, 156, "tokens read other tokens:", "f-soft"),
        (194, 466, "h heads", "f-soft"),
        (194, 547, "for each token", "f-soft"),
        (120, 577, "block, repeated N times", "f-strong"),
        (124, 34, "append it and begin again", "f-soft"),
    ),
)
"""The stream runs down the left edge, and a head from top to bottom."""


def transformer_map(*lit: str) -> Figure:
    """Draw a map of a Transformer, large with all its names, or small with some pieces lit.

    Parameters
    ----------
    *lit : str
        Pieces of `PIECES`, whose boxes are filled in a small map; a legend names them. Without any,
        the map is large and each box has its name.

    Returns
    -------
    Figure

    Raises
    ------
    ValueError
        If there is no such piece.

    Examples
    --------
    >>> transformer_map("scores", "softmax").alt[-53:]
    'Filled are: the scores and the softmax of the scores.'
    >>> transformer_map().alt[:21]
    'Map of a Transformer.'
    """
    for piece in lit:
        if piece not in PIECES:
            raise ValueError(f"lit has {piece!r}; one of {', '.join(PIECES)} is wanted")
    if not lit:
        return figure([_large(_WIDE)], _ALT, narrow=[_large(_NARROW)])
    names = [PIECES[piece] for piece in lit]
    joined = " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)
    alt = "Small map of a Transformer, from the tokens so far to the next token."
    alt += f" Filled {'is' if len(names) == 1 else 'are'}: {joined}."
    wide, narrow = _small(_WIDE, lit, _SMALL), _small(_NARROW, lit, _SMALLER)
    return figure(
        [wide, _legend(names, wide.height)], alt, narrow=[narrow, _legend(names, narrow.height)],
        gap=(_LEGEND_GAP, 0),
    )  # fmt: skip


def _large(layout: _Layout) -> Panel:
    """Return the large map, with all its names."""
    parts = [_frame(box, 1) for box in layout.frames]
    parts += [_arrow_path(points, 1) for points in (*layout.paths, *layout.returns)]
    parts += [_arrow_path(points, 1, "f-thick") for points in layout.stream]
    parts += [_sum(*at, 1) for at in layout.sums]
    for box in layout.boxes:
        parts.append(_rectangle(box, 1, "f-card"))
        if box.piece in _ROLES.values():
            parts.append(role_mark(box.piece, box.x + 9, box.y + box.height / 2))
        shift = 5 if box.piece in _ROLES.values() else 0
        middle, y = box.x + box.width / 2 + shift, middle_of(box.y + box.height / 2)
        first = y - 10 * (len(box.lines) - 1)
        parts += [_label(middle, first + 20 * i, words) for i, words in enumerate(box.lines)]
    parts += [plain(*words) for words in layout.words]
    return Panel(*layout.size, "".join(parts))


def _small(layout: _Layout, lit: Sequence[str], scale: float) -> Panel:
    """Return the small map without names, in which the boxes of the lit pieces are filled."""
    filled = {part for piece in lit for part in _PARTS.get(piece, (piece,))}
    parts = [_frame(box, scale) for box in layout.frames]
    parts += [_arrow_path(points, scale, "f-quiet") for points in (*layout.paths, *layout.stream)]
    returns = "f-line" if "add" in filled else "f-quiet"
    parts += [_arrow_path(points, scale, returns) for points in layout.returns]
    parts += [
        _sum(*at, scale, is_filled="add" in filled and i > 0) for i, at in enumerate(layout.sums)
    ]
    for box in layout.boxes:
        parts.append(_rectangle(box, scale, "f-ink" if box.piece in filled else "f-blank"))
    width, height = layout.size
    return Panel(scale * width, scale * height, "".join(parts))


def _legend(names: Sequence[str], height: float) -> Panel:
    """Return the names of the lit pieces, one per line, at the middle of the map's height."""
    top = max(0.0, (height - 24 * (len(names) + 1)) / 2)
    parts = [plain(0, top + 16, "This chapter", "f-soft")]
    for i, name in enumerate(names, 1):
        y = top + 24 * i + 16
        parts += [rectangle(0, y - 11, 12, 12, "f-ink"), plain(20, y, name, "f-strong")]
    return Panel(20 + max(width_of(name, 14.5) for name in names), height, "".join(parts))


def _rectangle(box: _Box, scale: float, cls: str, **more: object) -> str:
    x, y, width, height = (scale * side for side in (box.x, box.y, box.width, box.height))
    return rectangle(x, y, width, height, cls, rx=4 * scale, **more)


def _frame(box: _Box, scale: float) -> str:
    """Return a frame around boxes: of all blocks, of attention, or of a head."""
    classes = {"blocks": "f-quiet", "attention": "f-wash", "head": "f-blank"}
    dashes = "5 4" if box.piece == "blocks" else None
    return _rectangle(box, scale, classes[box.piece], stroke_dasharray=dashes)


def _arrow_path(points: _Points, scale: float, stroke: str = "f-line") -> str:
    """Return straight lines from point to point, the last of them an arrow."""
    placed = [(scale * x, scale * y) for x, y in points]
    steps = "L".join(f"{number(x)} {number(y)}" for x, y in placed[:-1])
    fill = "f-edge" if stroke == "f-quiet" else "f-ink"
    parts = [path(f"M{steps}", stroke)] if len(placed) > 2 else []
    last = (*placed[-2], *placed[-1])
    return "".join((*parts, arrow(*last, stroke=stroke, fill=fill, point=9 if scale == 1 else 4)))


def _sum(x: float, y: float, scale: float, *, is_filled: bool = False) -> str:
    """Return a circle with a plus."""
    x, y, r = scale * x, scale * y, (_SUM if scale == 1 else 1.25 * _SUM) * scale
    parts = [element("circle", cx=x, cy=y, r=r, cls="f-ink" if is_filled else "f-card")]
    if scale == 1:
        parts.append(path(f"M{x - 4} {y}H{x + 4}M{x} {y - 4}V{y + 4}", "f-line"))
    return "".join(parts)


def _label(x: float, y: float, words: str) -> str:
    """Return a line of text in a box; letters of matrices are set as mathematics."""
    if words == "W^O":
        letter = element("tspan", "W", cls="f-symbol")
        raised = element("tspan", "O", cls="f-below f-symbol-index", dy=-5)
        return element("text", letter, raised, x=x, y=y, text_anchor="middle")
    if words in _ROLES:
        return plain(x, y, words, f"f-symbol f-{_ROLES[words]}", "middle")
    return text(x, y, words, "f-symbol" if "·" in words else "", "middle")
