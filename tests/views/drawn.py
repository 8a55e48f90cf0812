"""The contents of a drawing, read from its SVG: texts, shapes, and the colours in print."""

import re
from xml.etree import ElementTree

import numpy as np

from byhand.press.drawings import in_attributes

SVG = "{http://www.w3.org/2000/svg}"


def on_paper(figure):
    """Return the root of a drawing as printed: the wide layout, with styles as attributes."""
    return ElementTree.fromstring(in_attributes(figure.svg))


def raw(figure):
    """Return the root of a drawing without changes."""
    return ElementTree.fromstring(figure.svg)


def texts(root):
    """Return every text in a drawing or in a part of it, in order."""
    return ["".join(text.itertext()) for text in root.iter(f"{SVG}text")]


def shapes(root, name, **attributes):
    """Return the shapes with a tag, such as "rect", and with these attributes."""
    return [
        element
        for element in root.iter(SVG + name)
        if all(element.get(key) == value for key, value in attributes.items())
    ]


def by_class(root, cls):
    """Return the elements with a CSS class. The styles must not be resolved to attributes."""
    return [e for e in root.iter() if cls in e.get("class", "").split()]


def wide(figure):
    """Return the root without the elements for narrow screens."""
    root = raw(figure)
    for child in by_class(root, "f-narrow"):
        root.remove(child)
    return root


def lengths(element, *names):
    """Return attributes as numbers."""
    return tuple(float(element.get(name)) for name in names)


def head_of(element_or_style):
    """Return the head colour that an element's style sets, in the light theme."""
    style = element_or_style.get("style", "")
    found = re.search(r"--head: (?:var\(--[\w-]+, )?(#\w{6})", style)
    return found and found[1]


def linear(colour):
    """Return the linear RGB channels of a colour, from 0 to 1, as WCAG 2 defines them."""
    channels = np.array([int(colour[i : i + 2], 16) for i in (1, 3, 5)]) / 255
    return np.where(channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)
