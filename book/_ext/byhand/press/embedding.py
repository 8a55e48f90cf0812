"""Embedding of fonts in SVG drawings, so that they look the same without the book's fonts.

Widths in a drawing are measured with the book's fonts. In another font its longest words could
cross the edge of the drawing and be cut off.
"""

from base64 import b64encode
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from io import BytesIO
from xml.etree import ElementTree

from byhand.press.typefaces import CUTS, folder

BOLD = 600
"""The font weight of bold text in drawings; this and heavier weights use the bold font."""

FEATURES = ["kern", "liga", "mark", "mkmk", "ccmp"]
"""The OpenType features that are kept: kerning, ligatures and the placement of marks."""

FACES = {(family, "Bold" in name, "Italic" in name): name for name, (family, _, _) in CUTS.items()}


def with_fonts(drawing: str) -> str:
    """Return an SVG drawing with embedded fonts for the characters that it contains.

    Parameters
    ----------
    drawing : str
        An SVG styled by attributes, as `byhand.press.drawings.in_attributes` returns it.
    """
    used: dict[str, set[str]] = defaultdict(set)
    for text, families, weight, style in _letters(ElementTree.fromstring(drawing), "", "", ""):
        waiting = set(text)
        for family in families.replace("'", "").split(","):
            name = _face(family.strip(), weight.isdigit() and int(weight) >= BOLD, bool(style))
            found = waiting & _characters(name)
            if found:
                used[name] |= found
            waiting -= found
    rules = "".join(_rule(name, "".join(sorted(used[name]))) for name in sorted(used))
    end_of_tag = drawing.index(">") + 1
    return f"{drawing[:end_of_tag]}<style>{rules}</style>{drawing[end_of_tag:]}"


def _letters(
    element: ElementTree.Element, families: str, weight: str, style: str
) -> Iterator[tuple[str, str, str, str]]:
    """Yield the texts of an element, each with its font families, weight and style."""
    families = element.get("font-family", families)
    weight, style = element.get("font-weight", weight), element.get("font-style", style)
    if element.text:
        yield element.text, families, weight, style
    for child in element:
        yield from _letters(child, families, weight, style)
        if child.tail:
            yield child.tail, families, weight, style


def _face(family: str, is_bold: bool, is_italic: bool) -> str:
    """Return the name of the font in a family that is closest to a weight and a style."""
    wanted = [(is_bold, is_italic), (False, is_italic), (is_bold, False), (False, False)]
    return next(FACES[family, *face] for face in wanted if (family, *face) in FACES)


@cache
def _characters(name: str) -> frozenset[str]:
    from fontTools.ttLib import TTFont

    return frozenset(map(chr, TTFont(folder() / f"{name}.ttf").getBestCmap()))


@cache
def _rule(name: str, characters: str) -> str:
    """Return a CSS rule that embeds a font with only these characters."""
    from fontTools import subset
    from fontTools.ttLib import TTFont

    options = subset.Options(layout_features=FEATURES, flavor="woff2", drop_tables=["MATH"])
    font = TTFont(folder() / f"{name}.ttf", recalcTimestamp=False)
    subsetter = subset.Subsetter(options)
    subsetter.populate(text=characters)
    subsetter.subset(font)
    font.flavor = "woff2"
    packed = BytesIO()
    font.save(packed)
    weight = BOLD if "Bold" in name else 400
    style = "italic" if "Italic" in name else "normal"
    data = b64encode(packed.getvalue()).decode()
    return (
        f"@font-face{{font-family:'{CUTS[name][0]}';font-weight:{weight};font-style:{style};"
        f"src:url(data:font/woff2;base64,{data})}}"
    )
