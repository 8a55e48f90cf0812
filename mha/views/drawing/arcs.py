"""Arc diagrams: the words of a sentence in a row, and arcs from queries to keys."""

from collections.abc import Sequence
from itertools import accumulate, pairwise

from mha.core.checks import as_index
from mha.runs.record import Trace
from mha.runs.rounding import percent
from mha.views.colours import head_colour
from mha.views.drawing.canvas import NARROW, WIDE, Figure, Panel, figure
from mha.views.drawing.svg import element, group, number, path, plain, width_of

_THICKEST = 16.0
_SMALLEST_WEIGHT = 0.01  # arcs of smaller weights are hidden
_FONT_SIZE = 17.0
_LARGEST_STEP = 110.0  # pixels from one word to the next
_PHONE_GAP = 9.0  # pixels between two words of a sentence that is long for a phone


def arcs(run: Trace, *, token: int | None = None, head: int | None = None) -> Figure:
    """Draw the attention of a sentence as arcs between words, as wide as the weights.

    Arcs start at queries. An arc to the right is above the words, one to the left below them, and
    a word's attention to itself is a loop above it.

    Parameters
    ----------
    run : Trace
    token : int, optional
        Index of a token, to draw only its arcs, each with its weight.
    head : int, optional
        Index of a head, to draw only that head. By default each head has a panel.

    Returns
    -------
    Figure

    Raises
    ------
    ValueError
        If there is no such token or head.

    Examples
    --------
    >>> from mha import load_example, trace
    >>> arcs(trace(load_example("river-bank")), token=2).alt[:29]
    'bank attends most to river (7'
    """
    heads = range(run.num_heads) if head is None else [as_index("head", head, run.num_heads)]
    words = range(len(run.tokens))
    queries = words if token is None else [as_index("token", token, len(run.tokens))]
    room = NARROW if len(heads) == 1 else (WIDE - 40) / 2
    with_weights = token is not None
    panels = [_panel(run, h, list(queries), with_weights, room) for h in heads]
    is_long = max(panel.width for panel in panels) > NARROW
    narrow = [_panel(run, h, list(queries), with_weights, None) for h in heads] if is_long else None
    alt = " ".join(_in_words(run, h, list(queries)) for h in heads)
    return figure(panels, alt, narrow=narrow, gap=(40, 20))


def _in_words(run: Trace, head: int, queries: list[int]) -> str:
    favourites = (
        f"{run.tokens[i]} attends most to {run.tokens[j]} ({percent(run.weights[head, i, j])})"
        for i, j in ((i, int(run.weights[head, i].argmax())) for i in queries)
    )
    named = f"{run.head_names[head]}: " if run.num_heads > 1 else ""
    return f"{named}{'; '.join(favourites)}."


def _word_positions(
    widths: Sequence[float], room: float | None
) -> tuple[list[float], float, float]:
    """Return the centres of the words, the height of an arc per word, and the margin at the ends.

    Words are spread over `room`. Without it, on a phone, they are as close as in a line of text.
    """
    if room is None:
        steps = [(left + right) / 2 + _PHONE_GAP for left, right in pairwise(widths)]
        spare = NARROW - 6 - sum(steps) - (widths[0] + widths[-1]) / 2
        steps = [step + max(0, spare) / len(steps) for step in steps]
        return list(accumulate(steps, initial=widths[0] / 2 + 2)), 16.0, 2.0
    least = max(66.0, max(widths) + 30)
    free = room - 50 - (widths[0] + widths[-1]) / 2
    step = max(least, min(free / max(1, len(widths) - 1), _LARGEST_STEP))
    return [widths[0] / 2 + 22 + i * step for i in range(len(widths))], 22 * step / least, 22.0


def _panel(
    run: Trace, head: int, queries: list[int], with_weights: bool, room: float | None
) -> Panel:
    """Return the panel of one head: the words, and the arcs of the queries."""
    widths = [width_of(word, _FONT_SIZE) for word in run.tokens]
    places, rise, end = _word_positions(widths, room)
    rises = {(i, j): 4 + rise * (1 + abs(i - j)) for i in queries for j in range(len(places))}
    visible = [at for at in rises if run.weights[head, *at] >= _SMALLEST_WEIGHT]
    above = max((rises[i, j] for i, j in visible if j >= i), default=0)
    below = max((rises[i, j] for i, j in visible if j < i), default=0)
    middle = above + 40.0
    title = run.head_names[head].partition(":")[0] if run.num_heads > 1 else ""
    parts = [plain(0, 14, title, "f-strong")] if title else []
    for (i, j), rise in sorted(rises.items(), key=lambda item: -item[1]):
        weight = float(run.weights[head, i, j])
        arc = _arc(places[i], places[j], middle, rise, weight, up=j >= i)
        parts.append(element("g", arc, data_weight=f"{head} {i} {j}"))
    for i, (word, x) in enumerate(zip(run.tokens, places, strict=True)):
        parts.append(plain(x, middle + 6, word, "f-token", "middle"))
        if with_weights:
            query = queries[0]
            share = _weight_label(percent(run.weights[head, query, i]), x, middle, i - query)
            parts.append(element("g", share, data_weight=f"{head} {query} {i}"))
    width = places[-1] + widths[-1] / 2 + end
    # A script of the page moves the arcs when weights change, by the attributes data-weight.
    all_of_it = element("g", *parts, data_at=f"{run.example.name} arcs")
    return Panel(width, middle + max(below, 0) + 34, group(all_of_it, colour=head_colour(head)))


def _weight_label(share: str, x: float, middle: float, step: int) -> str:
    """Return a weight as text on the side of its word that is free of arcs, or beside a loop."""
    if step == 0:
        return plain(x - 18, middle - 34, share, "f-soft", "end")
    return plain(x, middle + (26 if step > 0 else -16), share, "f-strong", "middle")


def _arc(x1: float, x2: float, middle: float, rise: float, weight: float, *, up: bool) -> str:
    """Return a band from one word to another, or a loop at one word."""
    y = middle - 12 if up else middle + 14
    top = y - rise * 4 / 3 if up else y + rise * 4 / 3
    if x1 == x2:
        x1, x2, top = x1 - 12, x2 + 12, y - 36
    steps = (
        f"M{number(x1)} {number(y)}C{number(x1)} {number(top)}"
        f" {number(x2)} {number(top)} {number(x2)} {number(y)}"
    )
    wide = f"{max(0.6, weight * _THICKEST):.3g}px"
    hidden = "hidden" if weight < _SMALLEST_WEIGHT else None
    return path(steps, "f-ribbon", stroke_width=wide, visibility=hidden)
