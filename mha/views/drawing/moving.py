"""A token's vector before attention and after it, in the plane that both are drawn in."""

from collections.abc import Mapping

import numpy as np

from mha.core.checks import as_index
from mha.runs.record import Trace
from mha.runs.rounding import shown
from mha.views.colours import head_colour
from mha.views.drawing.canvas import Figure, Panel, figure
from mha.views.drawing.svg import arrow, element, group, line, number, plain, width_of

_SIDE = 196.0  # of the square that the points stand in
_LEFT, _TOP, _BELOW, _RIGHT = 42.0, 52.0, 42.0, 44.0


def moved(runs: Mapping[str, Trace], token: int, axes: tuple[str, str], *, head: int = 0) -> Figure:
    """Draw where a token's embedding stands and where a head's output for it stands, a panel a run.

    Parameters
    ----------
    runs : mapping of str to Trace
        What each run is called, and runs whose embeddings and values have two components.
    token : int
        The place of the token, the same in all of them.
    axes : (str, str)
        What the two components mean.
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
    for name, run in runs.items():
        if run.embeddings is None or run.embeddings.shape[1] != 2 or run.value.shape[-1] != 2:
            raise ValueError(f"{name} is not two wide; embeddings and values of width 2 are wanted")
    drawn = np.concatenate([run.embeddings for run in runs.values() if run.embeddings is not None])
    most = float(np.ceil(drawn.max()))
    panels = [
        _panel(name, run, as_index("token", token, len(run.tokens)), axes, head, most)
        for name, run in runs.items()
    ]
    return figure(panels, " ".join(_in_words(*item, token, head) for item in runs.items()))


def _panel(
    name: str, run: Trace, token: int, axes: tuple[str, str], head: int, most: float
) -> Panel:
    """Return one run: its axes, a dot for each embedding, and an arrow to the output."""
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
    if np.array_equal(run.value[head], run.embeddings):  # a page may move them, by these numbers
        numbers = map("{:g}".format, (token, head, _LEFT, bottom, step, most))
        drawn = element("g", drawn, data_at=" ".join([run.example.name, *numbers]))
    return Panel(width, bottom + _BELOW, drawn)


def _axes(names: tuple[str, str], bottom: float, step: float, most: int) -> list[str]:
    """Return two axes with a mark and a number at each unit, and what they mean."""
    upright = f"translate(12 {number(bottom - _SIDE / 2)}) rotate(-90)"
    parts = [
        line(_LEFT, bottom, _LEFT + _SIDE + 10, bottom, "f-quiet"),
        line(_LEFT, bottom, _LEFT, _TOP - 6, "f-quiet"),
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
        "(" + ", ".join(shown(x, 2) for x in point) + ")"
        for point in (run.embeddings[token], run.head_outputs[head, token])
    )
    return f"{name}: {run.tokens[token]} moves from {before} to {after}."
