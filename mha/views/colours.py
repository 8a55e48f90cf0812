"""The heads' colours and patterns: what keeps them apart on a page and in greyscale print."""

HEAD_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#8C6D00", "#56B4E9")
"""One colour a head, in order; after Okabe and Ito, told apart by colour-blind readers."""

HATCHES = ("", "///", "...", "xxx", "\\\\\\", "++")
"""One pattern a head, in order, so that heads stay apart in greyscale print."""


def head_colour(head: int) -> str:
    """Return the colour that a head keeps through the whole book, heads counted from 0.

    Examples
    --------
    >>> head_colour(0), head_colour(6)
    ('#0072B2', '#0072B2')
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
