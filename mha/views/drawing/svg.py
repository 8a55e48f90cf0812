"""Elements of SVG as strings, with every length in CSS pixels.

Classes are those of ``figures.css``. The `y` of a text is its baseline; `middle_of` gives the
baseline of a text that is centred at a height.
"""

import hashlib
import math
import re
from html import escape

from mha.views.colours import HEAD_COLOURS, HEAD_COLOURS_IN_DARK, head_hatch

NEUTRAL = "#5f5a52"
"""The colour of parts without heads: soft ink, in either theme."""

_NARROW, _MIDDLE, _BROAD = "iljtfrI.,:;'’|!()[]/ ·", "sckvxyzJ-", "mwMWQOGD@%→√"
_DOWN = str.maketrans("₀₁₂₃₄₅₆₇₈₉", "0123456789")
_INDEXED = re.compile(r"([A-Za-z])(?:_(\w+)|([₀-₉]+))")

_HATCHES = {
    "///": '<path d="M-1 7 7 -1M-1 1 1 -1M5 7 7 5"/>',
    "...": '<circle cx="1.6" cy="1.6" r="0.9"/><circle cx="4.6" cy="4.6" r="0.9"/>',
    "xxx": '<path d="M-1 7 7 -1M-1 -1 7 7"/>',
    "\\\\\\": '<path d="M-1 -1 7 7M-1 5 1 7M5 -1 7 1"/>',
    "++": '<path d="M0 3H6M3 0V6"/>',
}


def number(value: float) -> str:
    """Return a length as SVG writes it, to a tenth of a pixel.

    Examples
    --------
    >>> number(12.04), number(-0.01), number(1 / 3)
    ('12', '0', '0.3')
    """
    return f"{round(float(value), 1) + 0.0:g}"


def element(name: str, *children: str, **attributes: object) -> str:
    """Return an element of SVG.

    The attribute `cls` is its class, underscores become hyphens, numbers are lengths, and
    attributes that are None or empty are omitted.

    Examples
    --------
    >>> element("rect", x=1.25, cls="f-wash", stroke_width=None)
    '<rect x="1.2" class="f-wash"/>'
    """
    words = "".join(
        f' {_attribute(key)}="{escape(_value(value))}"'
        for key, value in attributes.items()
        if value is not None and value != ""
    )
    inside = "".join(children)
    return f"<{name}{words}>{inside}</{name}>" if inside else f"<{name}{words}/>"


def _attribute(key: str) -> str:
    return "class" if key == "cls" else key.replace("_", "-")


def _value(value: object) -> str:
    return number(value) if isinstance(value, int | float) else str(value)


# ---- Text ----


def plain(x: float, y: float, words: str, cls: str = "", anchor: str = "") -> str:
    """Return a text without markup, such as a token.

    Examples
    --------
    >>> plain(0, 9, "<end>", "f-token", "middle")
    '<text x="0" y="9" class="f-token" text-anchor="middle">&lt;end&gt;</text>'
    """
    return element("text", escape(words, quote=False), x=x, y=y, cls=cls, text_anchor=anchor)


def text(x: float, y: float, words: str, cls: str = "", anchor: str = "") -> str:
    """Return a text in which symbols with an index, such as d_k or x₁, are set as mathematics.

    Examples
    --------
    >>> text(0, 9, "x₁")[:51]
    '<text x="0" y="9"><tspan class="f-symbol">x</tspan>'
    """
    return element("text", mathematical(words), x=x, y=y, cls=cls, text_anchor=anchor)


def mathematical(words: str) -> str:
    """Return a text with each indexed letter in italics and its index as a subscript.

    Examples
    --------
    >>> mathematical("a < b")
    'a &lt; b'
    """
    parts, end, lowered = [], 0, False
    for found in _INDEXED.finditer(words):
        parts.append(_raised(words[end : found.start()], lowered))
        letter, index = found[1], found[2] or found[3].translate(_DOWN)
        face = "f-below f-symbol-index" if len(index) == 1 and index.isalpha() else "f-below"
        back = ' dy="-4"' if lowered and found.start() == end else ""
        parts.append(f'<tspan class="f-symbol"{back}>{letter}</tspan>')
        parts.append(f'<tspan class="{face}" dy="4">{escape(index)}</tspan>')
        end, lowered = found.end(), True
    parts.append(_raised(words[end:], lowered))
    return "".join(parts)


def _raised(words: str, lowered: bool) -> str:
    """Return the text after an index, moved back up to the baseline."""
    inside = escape(words, quote=False)
    return f'<tspan dy="-4">{inside}</tspan>' if lowered and words else inside


def middle_of(y: float, size: float = 15) -> float:
    """Return the baseline of a text whose digits are centred at a height.

    Examples
    --------
    >>> middle_of(100, 10)
    103.3
    """
    return y + 0.33 * size


def width_of(words: str, size: float = 14) -> float:
    """Return an estimate of the width of a text, rather too large than too small.

    Examples
    --------
    >>> width_of("0.25", 10)
    18.3
    """
    return size * sum(_ems(character) for character in words)


def _ems(character: str) -> float:
    if character in _NARROW:
        return 0.3
    if character in _BROAD:
        return 0.85
    if character in _MIDDLE:
        return 0.48
    return (
        0.62 if character.isupper() or character in "<>" else 0.56 if character.isalpha() else 0.51
    )


# ---- Shapes ----


def rectangle(x: float, y: float, width: float, height: float, cls: str, **more: object) -> str:
    """Return a rectangle."""
    return element("rect", x=x, y=y, width=width, height=height, cls=cls, **more)


def path(steps: str, cls: str, **more: object) -> str:
    """Return a path."""
    return element("path", d=steps, cls=cls, **more)


def line(x1: float, y1: float, x2: float, y2: float, cls: str = "f-line", **more: object) -> str:
    """Return a straight line."""
    return path(f"M{number(x1)} {number(y1)}L{number(x2)} {number(y2)}", cls, **more)


def arrow(
    x1: float, y1: float, x2: float, y2: float, *, stroke: str, fill: str, width: float = 1.5,
    point: float = 8,
) -> str:  # fmt: skip
    """Return an arrow from one point to another, or a dot if they coincide.

    Examples
    --------
    >>> arrow(0, 0, 0, 0, stroke="f-line", fill="f-ink")
    '<circle cx="0" cy="0" r="2" class="f-ink"/>'
    """
    length = math.hypot(x2 - x1, y2 - y1)
    if length < 1:
        return element("circle", cx=x1, cy=y1, r=2, cls=fill)
    point = min(point, length * 0.7)
    ux, uy = (x2 - x1) / length, (y2 - y1) / length
    x, y, half = x2 - point * ux, y2 - point * uy, point * 0.38
    corners = [(x2, y2), (x - half * uy, y + half * ux), (x + half * uy, y - half * ux)]
    shaft = line(x1, y1, x, y, stroke, stroke_width=f"{number(width)}px" if width != 1.5 else None)
    return shaft + polygon(corners, fill)


def polygon(corners: list[tuple[float, float]], cls: str, **more: object) -> str:
    """Return a polygon."""
    steps = "L".join(f"{number(x)} {number(y)}" for x, y in corners)
    return path(f"M{steps}Z", cls, **more)


def ribbon(x1: float, y1: float, x2: float, y2: float, width: float, cls: str = "f-ribbon") -> str:
    """Return a curved band, horizontal at both ends."""
    middle = number((x1 + x2) / 2)
    steps = f"M{number(x1)} {number(y1)}C{middle} {number(y1)} {middle} {number(y2)}"
    return path(f"{steps} {number(x2)} {number(y2)}", cls, stroke_width=f"{width:.3g}px")


def group(*children: str, colour: str | None = None, **attributes: object) -> str:
    """Return a group of elements, which may have its own colour."""
    style = None if colour is None else f"--head: {paint(colour)}"
    return element("g", *children, style=style, **attributes)


# ---- Colours and patterns ----


def paint(colour: str) -> str:
    """Return a colour as CSS, by the theme's properties for heads' colours and greys.

    Examples
    --------
    >>> paint("#0b6ea8"), paint("#4D4D4D"), paint("#123456")
    ('var(--head-1, #0b6ea8)', 'var(--soft, #5f5a52)', '#123456')
    """
    if colour.lower() in HEAD_COLOURS:
        return f"var(--head-{HEAD_COLOURS.index(colour.lower()) + 1}, {colour.lower()})"
    if colour in HEAD_COLOURS_IN_DARK:
        return paint(HEAD_COLOURS[HEAD_COLOURS_IN_DARK.index(colour)])
    grey = colour[1:3].lower() == colour[3:5].lower() == colour[5:7].lower()
    return f"var(--soft, {NEUTRAL})" if grey or colour == NEUTRAL else colour


def role_mark(role: str, x: float, y: float) -> str:
    """Return the mark of queries, keys or values, centred at a point: 9 pixels high.

    Examples
    --------
    >>> role_mark("key", 5, 5)
    '<path d="M5 0.5L9.5 5L5 9.5L0.5 5Z" class="f-key"/>'
    """
    if role == "value":
        return element("circle", cx=x, cy=y, r=4, cls="f-value")
    right = [(x - 3.5, y - 4.5), (x + 5, y), (x - 3.5, y + 4.5)]
    diamond = [(x, y - 4.5), (x + 4.5, y), (x, y + 4.5), (x - 4.5, y)]
    return polygon({"query": right, "key": diamond}[role], f"f-{role}")


def role_name(role: str, x: float, y: float, words: str) -> str:
    """Return a text in the colour of queries, keys or values, after their mark."""
    return role_mark(role, x + 5, y - 4.5) + text(x + 14, y, words, f"f-{role} f-strong")


def hatched(head: int, x: float, y: float, width: float, height: float) -> str:
    """Return a rectangle with a head's pattern, in the colour of the group around it."""
    below = rectangle(x, y, width, height, "f-part")
    if not head_hatch(head):
        return below
    index = head % len(HEAD_COLOURS) + 1
    return below + rectangle(x, y, width, height, "", fill=f"url(#hatch-{index})")


def hatches(body: str) -> str:
    """Return the definitions of the hatch patterns that a drawing uses."""
    found = "".join(
        element(
            "pattern", _HATCHES[head_hatch(head)].replace("/>", ' class="f-hatch"/>'),
            id=f"hatch-{head + 1}", width=6, height=6, patternUnits="userSpaceOnUse",
            style=f"--head: {paint(colour)}",
        )
        for head, colour in enumerate(HEAD_COLOURS)
        if f"url(#hatch-{head + 1})" in body
    )  # fmt: skip
    return f"<defs>{found}</defs>" if found else ""


# ---- On a page ----


def inline_svg(svg: str, alt: str, place: str = "") -> str:
    """Return a drawing as an element of a page that has the style sheet of figures.

    Identifiers are made unique by a hash of the drawing and of `place`, its place on the page.

    Examples
    --------
    >>> inline_svg('<svg width="9"><g id="a"/></svg>', "A dot")[-33:]
    '<g id="d8512534f-a"/></svg></div>'
    """
    body = re.sub(r"<style>.*?</style>", "", svg[svg.index("<svg") :], flags=re.DOTALL)
    mark = hashlib.sha256((place + svg).encode()).hexdigest()[:8]
    body = re.sub(r'\bid="([^"]+)"', rf'id="d{mark}-\1"', body)
    body = re.sub(r"url\(#([^)]+)\)", rf"url(#d{mark}-\1)", body)
    body = re.sub(r'\bhref="#([^"]+)"', rf'href="#d{mark}-\1"', body)
    body = body.replace(' xmlns="http://www.w3.org/2000/svg"', "", 1)
    label = escape(alt, quote=True)
    body = body.replace("<svg", f'<svg role="img" aria-label="{label}"', 1)
    return f'<div class="drawing" role="group" aria-label="Figure" tabindex="0">{body}</div>'
