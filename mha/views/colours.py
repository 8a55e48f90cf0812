"""The heads' colours and patterns: what keeps them apart on a page and in greyscale print."""

HEAD_COLOURS = ("#0b6ea8", "#c2570c", "#1f7a4d", "#cc79a7", "#6b5d00", "#56b4e9")
"""One colour a head, in order, for light paper; colour-blind readers tell them apart."""

HEAD_COLOURS_IN_DARK = ("#6db6e3", "#f0a35e", "#5fc29a", "#c46aa8", "#f3ecc0", "#4577c9")
"""The same colours for dark paper."""

HEAT_FULL = 55
"""How many per cent of a head's colour the cell of a weight of 1 has: text on it can be read."""

HATCHES = ("", "///", "...", "xxx", "\\\\\\", "++")
"""One pattern a head, in order, so that heads stay apart in greyscale print."""


def head_colour(head: int) -> str:
    """Return the colour that a head keeps through the whole book, heads counted from 0.

    Examples
    --------
    >>> head_colour(0), head_colour(6)
    ('#0b6ea8', '#0b6ea8')
    """
    return HEAD_COLOURS[head % len(HEAD_COLOURS)]


def head_colour_in_dark(head: int) -> str:
    """Return a head's colour in the dark theme, heads counted from 0.

    Examples
    --------
    >>> head_colour_in_dark(0), head_colour_in_dark(6)
    ('#6db6e3', '#6db6e3')
    """
    return HEAD_COLOURS_IN_DARK[head % len(HEAD_COLOURS_IN_DARK)]


def head_hatch(head: int) -> str:
    """Return the pattern that a head keeps through the whole book, heads counted from 0.

    Examples
    --------
    >>> head_hatch(1), head_hatch(7)
    ('///', '///')
    """
    return HATCHES[head % len(HATCHES)]
