"""Drawings of a token's vector before and after attention, in one plane."""

from collections.abc import Mapping

import numpy as np

from mha.core.checks import as_index
from mha.runs.record import Trace
from mha.runs.rounding import shown
from mha.views.colours import head_colour
from mha.views.drawing.canvas import Figure, Panel, figure
from mha.views.drawing.svg import arrow, element, group, line, number, plain, width_of

_SIDE = 196.0  # of the square around the points
_LEFT, _TOP, _BOTTOM, _RIGHT = 42.0, 52.0, 42.0, 44.0
_TOP_UNTITLED = 24.0  # above the square of a figure without a title


def moved(runs: Mapping[str, Trace], token: int, axes: tuple[str, str], *, head: int = 0) -> Figure:
    """Draw a token's embedding and a head's output for it as points, with one panel per run.

    Parameters
    ----------
    runs : mapping of str to Trace
        Runs by their titles; embeddings and values have two components.
    token : int
        Position of the token, the same in all runs.
    axes : (str, str)
        Meanings of the two components.
    head : int, default 0

    Returns
    -------
    Figure

    Raises
    ------
    ValueError
        If a run has no embeddings of width two or values of another width.

    Examples
    --------
    >>> from mha import load_example, trace
    >>> moved({"here": trace(load_example("river-bank"))}, 2, ("water", "money")).alt
    'here: bank moves from (1.00, 1.00) to (2.38, 0.26).'
    """
    most = _axis_end(runs)
    panels = [
        _run_panel(name, run, as_index("token", token, len(run.tokens)), axes, head, most)
        for name, run in runs.items()
    ]
    return figure(panels, " ".join(_in_words(*item, token, head) for item in runs.items()))


def meanings(
    runs: Mapping[str, Trace], token: int, axes: tuple[str, str], *, head: int = 0
) -> Figure:
    """Draw a token's embedding and a head's output for it in several runs as arrows in one plane.

    Parameters
    ----------
    runs : mapping of str to Trace
        The label of each output, and runs whose embeddings and values have two components.
    token : int
        The position of the token, the same in all runs, with the same embedding.
    axes : (str, str)
        The meaning of the two components.
    head : int, default 0

    Returns
    -------
    Figure

    Raises
    ------
    ValueError
        If a run has no embeddings of width two or values of another width, or if the token has
        different embeddings.

    Examples
    --------
    >>> from mha import load_example, trace
    >>> meanings({"river bank": trace(load_example("river-bank"))}, 2, ("water", "money")).alt
    'The arrow of bank points to (1.00, 1.00), and in river bank to (2.38, 0.26).'
    """
    most = _axis_end(runs)
    first, *others = runs.values()
    at = as_index("token", token, len(first.tokens))
    alone = _embedding(first, at)
    for name, run in runs.items():
        if not np.array_equal(_embedding(run, as_index("token", token, len(run.tokens))), alone):
            raise ValueError(f"the token has another embedding in {name}; it must be the same")
    words = {
        word: point
        for run in (first, *others)
        for i, (word, point) in enumerate(zip(run.tokens, run.embeddings, strict=True))  # type: ignore[arg-type]
        if i != at and point.any()
    }
    outputs = {name: run.head_outputs[head, at] for name, run in runs.items()}
    alt = f"The arrow of {first.tokens[at]} points to {_pair_in_words(alone)}, and " + " and ".join(
        f"in {name} to {_pair_in_words(point)}" for name, point in outputs.items()
    )
    panel = _arrows(first.tokens[at], alone, words, outputs, axes, most, head)
    return figure([panel], f"{alt}.")


def _arrows(
    token: str, alone: np.ndarray, words: Mapping[str, np.ndarray],
    outputs: Mapping[str, np.ndarray], axes: tuple[str, str], most: float, head: int,
) -> Panel:  # fmt: skip
    """Return a panel: dots for other words, a dashed arrow to the embedding, arrows to outputs."""
    step, bottom = _SIDE / most, _TOP_UNTITLED + _SIDE

    def at(point: np.ndarray) -> tuple[float, float]:
        return _LEFT + step * float(point[0]), bottom - step * float(point[1])

    parts = _axes(axes, bottom, step, int(most))
    for word, point in words.items():
        x, y = at(point)
        parts.append(element("circle", cx=x, cy=y, r=4, cls="f-ink"))
        parts.append(plain(x + 9, y - 8, word, "f-token"))
    zero, (x, y) = at(np.zeros(2)), at(alone)
    before = x + 0.15 * (zero[0] - x), y + 0.15 * (zero[1] - y)
    parts.append(line(*zero, *before, "f-quiet", stroke_dasharray="5 4"))
    parts.append(arrow(*before, x, y, stroke="f-quiet", fill="f-soft"))
    parts.append(plain(x + 6, y - 6, token, "f-token"))
    for name, (x, y) in ((name, at(point)) for name, point in outputs.items()):
        parts.append(arrow(*zero, x, y, stroke="f-stroke", fill="f-head", width=2.5, point=11))
        is_flat = x - zero[0] > zero[1] - y  # its label is above the tip, else to its right
        place, anchor = ((x, y - 12), "middle") if is_flat else ((x + 9, y + 5), "")
        parts.append(plain(*place, name, "f-token", anchor))
    width = _LEFT + _SIDE + max(_RIGHT, max(map(width_of, words)) + 12)
    return Panel(width, bottom + _BOTTOM, group(*parts, colour=head_colour(head)))


def _axis_end(runs: Mapping[str, Trace]) -> float:
    """Return the end of the axes: the smallest integer that no embedding's component exceeds."""
    for name, run in runs.items():
        if run.embeddings is None or run.embeddings.shape[1] != 2 or run.value.shape[-1] != 2:
            raise ValueError(f"{name} is not two wide; embeddings and values of width 2 are wanted")
    points = np.concatenate([run.embeddings for run in runs.values() if run.embeddings is not None])
    return float(np.ceil(points.max()))


def _embedding(run: Trace, token: int) -> np.ndarray:
    assert run.embeddings is not None
    return run.embeddings[token]


def _pair_in_words(point: np.ndarray) -> str:
    return "(" + ", ".join(shown(x, 2) for x in point) + ")"


def _run_panel(
    name: str, run: Trace, token: int, axes: tuple[str, str], head: int, most: float
) -> Panel:
    """Return the panel of one run: a dot for each embedding, and an arrow to the output."""
    assert run.embeddings is not None
    step = _SIDE / most
    bottom = _TOP + _SIDE

    def at(point: np.ndarray) -> tuple[float, float]:
        return _LEFT + step * float(point[0]), bottom - step * float(point[1])

    parts = [plain(0, 16, name, "f-token"), *_axes(axes, bottom, step, int(most))]
    for i, (word, point) in enumerate(zip(run.tokens, run.embeddings, strict=True)):
        x, y = at(point)
        parts.append(element("circle", cx=x, cy=y, r=4, cls="f-head" if i == token else "f-ink"))
        parts.append(plain(x + 9, y - 8, word, "f-token"))
    (x1, y1), (x2, y2) = at(run.embeddings[token]), at(run.head_outputs[head, token])
    parts.append(arrow(x1, y1, x2, y2, stroke="f-stroke", fill="f-head", width=2.5, point=11))
    parts.append(element("circle", cx=x2, cy=y2, r=5, cls="f-box"))
    width = _LEFT + _SIDE + max(_RIGHT, max(width_of(word, 17) for word in run.tokens))
    drawn = group(*parts, colour=head_colour(head))
    # A script of the page moves the points, and needs these numbers for it.
    if np.array_equal(run.value[head], run.embeddings):
        numbers = map("{:g}".format, (token, head, _LEFT, bottom, step, most))
        drawn = element("g", drawn, data_at=" ".join([run.example.name, *numbers]))
    return Panel(width, bottom + _BOTTOM, drawn)


def _axes(names: tuple[str, str], bottom: float, step: float, most: int) -> list[str]:
    """Return two axes with their names, and with a tick and a number at each unit."""
    upright = f"translate(12 {number(bottom - _SIDE / 2)}) rotate(-90)"
    parts = [
        line(_LEFT, bottom, _LEFT + _SIDE + 10, bottom, "f-quiet"),
        line(_LEFT, bottom, _LEFT, bottom - _SIDE - 6, "f-quiet"),
        plain(_LEFT + _SIDE / 2, bottom + 36, names[0], "f-soft", "middle"),
        group(plain(0, 0, names[1], "f-soft", "middle"), transform=upright),
    ]
    across, up = [], []
    for unit in range(1, most + 1):
        x, y = _LEFT + step * unit, bottom - step * unit
        across.append(line(x, bottom, x, bottom + 4, "f-quiet"))
        across.append(plain(x, bottom + 18, str(unit), "f-soft", "middle"))
        up.append(line(_LEFT - 4, y, _LEFT, y, "f-quiet"))
        up.append(plain(_LEFT - 8, y + 5, str(unit), "f-soft", "end"))
    return [*parts, group(*across, data_axis="0"), group(*up, data_axis="1")]


def _in_words(name: str, run: Trace, token: int, head: int) -> str:
    assert run.embeddings is not None
    before, after = (
        _pair_in_words(run.embeddings[token]),
        _pair_in_words(run.head_outputs[head, token]),
    )
    return f"{name}: {run.tokens[token]} moves from {before} to {after}."
