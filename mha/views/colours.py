"""The heads' colours and patterns: what keeps them apart on a page and in greyscale print.

This is their one home: `head_properties` tells the style sheets.
"""

HEAD_COLOURS = ("#0b6ea8", "#c2570c", "#1f7a4d", "#8e2a6b", "#3f3600", "#4a3fd0")
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


def head_hatch(head: int) -> str:
    """Return the pattern that a head keeps through the whole book, heads counted from 0.

    Examples
    --------
    >>> head_hatch(1), head_hatch(7)
    ('///', '///')
    """
    return HATCHES[head % len(HATCHES)]


def head_property(head: int) -> str:
    """Return the property of a style sheet that has a head's colour, heads counted from 0.

    Examples
    --------
    >>> head_property(0), head_property(6)
    ('--head-1', '--head-1')
    """
    return f"--head-{head % len(HEAD_COLOURS) + 1}"


def head_properties() -> str:
    """Return the colours as a style sheet's properties ``--head-1`` to ``--head-6``, by theme.

    Examples
    --------
    >>> print(head_properties()[:24])
    html{--head-1:#0b6ea8;--
    """
    light, dark = (
        ";".join(f"{head_property(i)}:{colour}" for i, colour in enumerate(colours))
        for colours in (HEAD_COLOURS, HEAD_COLOURS_IN_DARK)
    )
    return f'html{{{light}}}\nhtml[data-theme="dark"]{{{dark}}}\n'
