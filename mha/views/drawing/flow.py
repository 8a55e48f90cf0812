"""Flow charts of attention, with the step of the chapter marked."""

from mha.runs.stages import stage
from mha.views.colours import head_colour
from mha.views.drawing.canvas import NARROW, Figure, Panel, figure
from mha.views.drawing.svg import NEUTRAL, arrow, group, plain, rectangle

_STEPS = (
    ("embeddings", "X", ("embeddings",)),
    ("three vectors", "Q, K, V", ("w_q", "w_k", "w_v", "query", "key", "value")),
    ("scores", "S", ("scores", "scaled_scores")),
    ("weights", "A", ("exponentials", "row_sums", "weights")),
    ("mixture", "A V", ("head_outputs",)),
    ("output", "Y", ("concat", "w_o", "head_contributions", "output")),
)
_WIDTH, _HEIGHT, _BETWEEN = 90.0, 46.0, 20.0


def flow(*here: str) -> Figure:
    """Draw the steps from the embeddings to the output, with "you are here" at one of them.

    Parameters
    ----------
    *here : str
        Stages of `mha.runs.stages`, whose steps are marked. Several are numbered instead.

    Returns
    -------
    Figure

    Raises
    ------
    ValueError
        If there is no such stage.

    Examples
    --------
    >>> flow("weights").alt[-27:]
    'output. Marked is: weights.'
    """
    steps = [_step_of(stage(name).name) for name in here]
    notes = [str(i) for i in range(1, len(steps) + 1)] if len(steps) > 1 else ["you are here"]
    marked = dict(zip(steps, notes, strict=False))
    panels = [
        _panel(i, marked, last=i == len(_STEPS) - 1, row=len(_STEPS)) for i in range(len(_STEPS))
    ]
    per_row = int((NARROW + _BETWEEN) // (_WIDTH + _BETWEEN))
    narrow = [
        _panel(i, marked, last=i % per_row == per_row - 1 or i == len(_STEPS) - 1, row=per_row)
        for i in range(len(_STEPS))
    ]
    names = [f"{name} ({symbol})" for name, symbol, _ in _STEPS]
    alt = f"The steps of attention: {', '.join(names[:-1])}, {_STEPS[-1][0]}."
    if marked:
        alt += f" Marked is: {', '.join(_STEPS[step][0] for step in steps)}."
    return figure(panels, alt, narrow=narrow, gap=(0, 10))


def _step_of(name: str) -> int:
    return next(i for i, (_, _, stages) in enumerate(_STEPS) if name in stages)


def _panel(i: int, marked: dict[int, str], *, last: bool, row: int) -> Panel:
    """Return the panel of one step: a box, and an arrow to the next step of the row."""
    name, symbol, _ = _STEPS[i]
    is_here = i in marked
    box = group(
        rectangle(0, 0, _WIDTH, _HEIGHT, "f-pale" if is_here else "f-wash"),
        colour=head_colour(0) if is_here else NEUTRAL,
    )
    parts = [
        box,
        plain(_WIDTH / 2, 18, name, "f-strong" if is_here else "", "middle"),
        plain(_WIDTH / 2, 37, symbol, "f-symbol", "middle"),
    ]
    if not last:
        x, y = _WIDTH, _HEIGHT / 2
        parts.append(arrow(x + 4, y, x + _BETWEEN - 4, y, stroke="f-quiet", fill="f-soft", point=6))
    if is_here:
        parts.append(plain(_WIDTH / 2, _HEIGHT + 17, marked[i], "f-soft", "middle"))
    height = _HEIGHT + (20 if marked else 0)
    return Panel(_WIDTH + (0 if last else _BETWEEN), height, "".join(parts), breaks=i % row == 0)
