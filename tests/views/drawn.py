"""What a drawing shows, read from its SVG: texts, and shapes with the colours that paper gives."""

import re
from xml.etree import ElementTree

import numpy as np

from byhand.press.drawings import in_attributes

SVG = "{http://www.w3.org/2000/svg}"


def on_paper(figure):
    """Return a drawing's root as print sees it: the wide layout, styles as attributes."""
    return ElementTree.fromstring(in_attributes(figure.svg))


def raw(figure):
    """Return a drawing's root as it is."""
    return ElementTree.fromstring(figure.svg)


def texts(root):
    """Return every text of a drawing or a part of one, in order."""
    return ["".join(text.itertext()) for text in root.iter(f"{SVG}text")]


def shapes(root, name, **attributes):
    """Return the shapes of a kind, such as "rect", that have these attributes."""
    return [
        element
        for element in root.iter(SVG + name)
        if all(element.get(key) == value for key, value in attributes.items())
    ]


def by_class(root, cls):
    """Return the elements of a class; of an unresolved drawing."""
    return [e for e in root.iter() if cls in e.get("class", "").split()]


def wide(figure):
    """Return the root without what only a narrow place shows."""
    root = raw(figure)
    for child in by_class(root, "f-narrow"):
        root.remove(child)
    return root


def lengths(element, *names):
    """Return attributes as numbers."""
    return tuple(float(element.get(name)) for name in names)


def head_of(element_or_style):
    """Return the colour that an element's style sets as its head's, in the light theme."""
    style = element_or_style.get("style", "")
    found = re.search(r"--head: (?:var\(--[\w-]+, )?(#\w{6})", style)
    return found and found[1]


def linear(colour):
    """Return the light of a colour's channels, from 0 to 1, as WCAG 2 defines it."""
    channels = np.array([int(colour[i : i + 2], 16) for i in (1, 3, 5)]) / 255
    return np.where(channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)
