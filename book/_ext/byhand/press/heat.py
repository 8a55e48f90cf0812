"""How strongly print tints by weight: equal weights are equally dark, also without colours."""

from mha.views.colours import HEAD_COLOURS, HEAT_FULL


def full(colour: str) -> float:
    """Return how many per cent of a head's colour the tint of a weight of 1 has on paper.

    The lightest colour has as much as on a page, the darker ones less.

    Examples
    --------
    >>> [round(full(colour)) for colour in HEAD_COLOURS[:3]]
    [47, 55, 48]
    """
    return HEAT_FULL * min(map(darkness, HEAD_COLOURS)) / darkness(colour)


def darkness(colour: str) -> float:
    """Return how far a colour is from white once it is printed in greys, from 0 to 1.

    Examples
    --------
    >>> darkness("#ffffff"), darkness("#000000")
    (0.0, 1.0)
    """
    red, green, blue = (int(colour[i : i + 2], 16) for i in (1, 3, 5))
    return 1 - (0.299 * red + 0.587 * green + 0.114 * blue) / 255
