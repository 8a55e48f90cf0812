"""The slope of a linear bias as an instrument: a slider and the weights of one query."""

from __future__ import annotations

from html import escape

import numpy as np

from mha.core.checks import Array, as_index
from mha.core.softmax import softmax
from mha.runs.record import Trace
from mha.runs.rounding import shown
from mha.widgets.instrument import Drawing, Explorer, instrument

SHOWN_SLOPES = (0, 1 / 16, 1 / 4, 1 / 2, 1)
"""The slopes in the table for readers without JavaScript."""


def weights_at_slope(scores: Array, slope: float) -> Array:
    """Return the weights of the last token after subtracting the slope times the distance.

    Examples
    --------
    >>> weights_at_slope(np.array([1.0, 1.0, 1.0]), 0.5).round(4)
    array([0.1863, 0.3072, 0.5065])
    """
    distance = np.arange(len(scores))[::-1]
    return softmax(scores - slope * distance)


def slope_explorer(
    run: Trace,
    token: int,
    *,
    slope: float = 0.5,
    name: str = "slope",
    figure: Drawing | None = None,
) -> Explorer:
    """Return an instrument with a slider over the slope, for one token and those before it.

    Parameters
    ----------
    run : Trace
        A run without biases, from whose scaled scores the linear bias is subtracted.
    token : int
    slope : float, default 0.5
        The first slope, from 0 to 1.
    name : str, default "slope"
    figure : Drawing, optional
        Replaces the instrument in print.

    Examples
    --------
    >>> from mha import load_example, trace
    >>> slope_explorer(trace(load_example("play-football")), 2).title
    'The slope of a linear bias'
    """
    token = as_index("token", token, len(run.tokens))
    tokens = list(run.tokens[: token + 1])
    scores = run.scaled_scores[0, token, : token + 1]
    title = "The slope of a linear bias"
    head = "".join(f'<th scope="col">{escape(word)}</th>' for word in tokens)
    lines = "".join(
        f'<tr><th scope="row">{one:g}</th>'
        + "".join(f"<td>{shown(float(x))}</td>" for x in weights_at_slope(scores, one))
        + "</tr>"
        for one in SHOWN_SLOPES
    )
    table = (
        f"<table><caption>Weights of {escape(tokens[-1])}</caption><thead><tr>"
        f'<th scope="col">Slope</th>{head}</tr></thead><tbody>{lines}</tbody></table>'
    )
    data = {"tokens": tokens, "scores": scores.tolist(), "slope": slope}
    return instrument(
        "slope", name, data, title=title, placeholder=table,
        bundles=("plane-slope",), style_sheets=("plane.css",),
        heights=(21.6, 18.8, 45.7, 45.7, 45.5, 42, 39.5), figure=figure,
    )  # fmt: skip
