"""Figures for use outside the pages: SVG without style sheets, in the book's fonts.

A drawing on a page takes colours and fonts from style sheets with classes and variables, which
neither the press nor EPUB readers apply. This module writes the same rules into each element as
attributes, with the colours of white paper. It also defines the tint of weights in print: equal
weights are equally dark, also in greyscale.
"""

import re
from collections.abc import Iterator, Mapping
from functools import cache
from xml.etree import ElementTree

from mha.views.colours import HEAD_COLOURS, HEAT_FULL, head_colour
from mha.views.figures import STYLE

PAPER = {
    "--paper": "#ffffff",
    "--ink": "#000000",
    "--font-interface": "'Attention Interface Book','STIX Two Math Book'",
    "--font-text": "'STIX Two Text Book','STIX Two Math Book'",
}
"""What the variables of the pages are on paper; the others have the values behind their commas."""

_NAMESPACE = ' xmlns="http://www.w3.org/2000/svg"'
_NARROW = re.compile(
    r'width="[\d.]+" height="[\d.]+"'
    r' style="--narrow-width: ([\d.]+)px; --narrow-height: ([\d.]+)px"'
)
_MOVED = re.compile(
    r'transform="translate\([^)]*\)" style="--narrow: translate\(([\d.]+)px, ([\d.]+)px\)"'
)
_OTHER = {"wide": "narrow", "narrow": "wide"}
_VARIABLE = re.compile(r"var\((--[\w-]+)(?:,\s*((?:[^()]|\([^()]*\))*))?\)")
_MIXED = re.compile(
    r"color-mix\(in srgb, (#\w{6}) (?:calc\(([\d.e-]+) \* ([\d.]+)%\)|([\d.]+)%), (#\w{6})\)"
)


def size(drawing: str) -> tuple[float, float]:
    """Return the width and height of a drawing in pixels."""
    width, height = (re.search(rf'\b{side}="([\d.]+)"', drawing) for side in ("width", "height"))
    assert width, drawing[:80]
    assert height, drawing[:80]
    return float(width[1]), float(height[1])


def narrow(drawing: str) -> str | None:
    """Return a drawing for narrow spaces, or None if it has one form only.

    Examples
    --------
    >>> narrow('<svg width="9" height="2" style="--narrow-width: 4px; --narrow-height: 5px"></svg>')
    '<svg width="4" height="5"></svg>'
    """
    found = _NARROW.search(drawing)
    if found is None:
        return None
    drawing = drawing.replace(found[0], f'width="{found[1]}" height="{found[2]}"', 1)
    drawing = re.sub('class="f-(wide|narrow)"', lambda m: f'class="f-{_OTHER[m[1]]}"', drawing)
    return _MOVED.sub(r'transform="translate(\1, \2)"', drawing)


def in_attributes(drawing: str) -> str:
    """Return a drawing that needs no style sheet.

    Examples
    --------
    >>> in_attributes('<svg><path class="f-heat" style="--head: #000000; --weight: 1"/></svg>')[40:]
    '<path fill="#afafaf" /></svg>'
    """
    bare = re.sub(r"<style>.*?</style>", "", drawing, flags=re.DOTALL).replace(_NAMESPACE, "", 1)
    root = ElementTree.fromstring(bare)
    _resolve(root, PAPER)
    text = ElementTree.tostring(root, encoding="unicode")
    return text.replace("<svg", f"<svg{_NAMESPACE}", 1)


def _resolve(element: ElementTree.Element, around: Mapping[str, str]) -> None:
    """Write an element's style into its attributes, and remove invisible elements."""
    own: dict[str, str] = {}
    for name in element.attrib.pop("class", "").split():
        own |= _rules().get(name, {})
    own |= dict(_declarations(element.attrib.pop("style", "")))
    variables = {**around, **{key: value for key, value in own.items() if key.startswith("--")}}
    if "--head" in own:
        variables["--heat-full"] = f"{full_heat(_on_paper(own['--head'], variables)):g}%"
    for key, value in own.items():
        if not key.startswith("--"):
            element.set(key, _on_paper(value, variables))
    for child in list(element):
        _resolve(child, variables)
        if child.get("display") == "none":
            element.remove(child)


def _on_paper(value: str, variables: Mapping[str, str]) -> str:
    """Return a CSS value with variables and mixed colours replaced."""
    while "var(" in value:
        value = _VARIABLE.sub(lambda m: variables.get(m[1], m[2] or ""), value)
    return _MIXED.sub(lambda m: mix(m[1], float(m[4] or float(m[2]) * float(m[3])), m[5]), value)


def mix(colour: str, share: float, other: str) -> str:
    """Return a mix of two colours; `share` is the per cent of the first.

    Examples
    --------
    >>> mix("#000000", 55, "#ffffff")
    '#737373'
    """
    pairs = ((int(c[i : i + 2], 16) for c in (colour, other)) for i in (1, 3, 5))
    return "#" + "".join(f"{round((a * share + b * (100 - share)) / 100):02x}" for a, b in pairs)


def tint(weight: float, head: int) -> str:
    """Return the print colour for a weight of a head, which counts from 0.

    Examples
    --------
    >>> tint(0.0, 0), tint(1.0, 0)
    ('#ffffff', '#8cbad6')
    """
    colour = head_colour(head)
    return mix(colour, full_heat(colour) * weight, "#ffffff")


def full_heat(colour: str) -> float:
    """Return the per cent of a head's colour in the tint of a weight of 1 on paper.

    The lightest colour has as much as on a page, the darker ones less.
    """
    return HEAT_FULL * min(map(darkness, HEAD_COLOURS)) / darkness(colour)


def darkness(colour: str) -> float:
    """Return the distance of a colour from white in greyscale, from 0 to 1.

    Examples
    --------
    >>> darkness("#ffffff"), darkness("#000000")
    (0.0, 1.0)
    """
    red, green, blue = (int(colour[i : i + 2], 16) for i in (1, 3, 5))
    return 1 - (0.299 * red + 0.587 * green + 0.114 * blue) / 255


@cache
def _rules() -> dict[str, dict[str, str]]:
    """Return the declarations that the figures' style sheet has for each single class."""
    sheet = STYLE.read_text(encoding="utf-8")
    found = re.findall(r"^\.(f-[\w-]+) \{([^}]*)\}", sheet, re.MULTILINE)
    return {name: dict(_declarations(rule)) for name, rule in found}


def _declarations(text: str) -> Iterator[tuple[str, str]]:
    for declaration in filter(str.strip, text.split(";")):
        key, _, value = declaration.partition(":")
        yield key.strip(), value.strip()
