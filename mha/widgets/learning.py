"""Training of a layer on the toy language as an instrument, step by step and from any seed."""

import numpy as np

from mha.core.checks import as_count
from mha.examples.learning_runs import (
    evaluate_layer,
    relation_positions,
    relation_weights,
    train_layers,
)
from mha.runs.rounding import percent, shown
from mha.widgets.instrument import Drawing, Explorer, instrument

STEPS = 150
_LABEL = "A layer that learns"
_SHOWN = range(0, STEPS + 1, 25)


def learning_layer(*, seed: int = 0, num_heads: int = 3, figure: Drawing | None = None) -> Explorer:
    """Return an instrument that trains a layer on the toy language.

    For the same seed and number of heads, the browser draws and computes the same numbers as
    `mha.examples.learning_runs.train_layers`.

    Parameters
    ----------
    seed : int, default 0
        The first seed, as for `numpy.random.default_rng`.
    num_heads : int, default 3
        A divisor of twelve.
    figure : Drawing, optional
        Replaces the instrument in print.

    Returns
    -------
    Explorer

    Raises
    ------
    TypeError, ValueError
        If `seed` or `num_heads` is not as described.

    Examples
    --------
    >>> learning_layer().html[:42]
    '<mha-instrument id="learning-layer" class='
    """
    seed = as_count("seed", seed, least=0)
    return instrument(
        "learning",
        "layer",
        {"seed": seed, "heads": num_heads, "rate": 0.03, "steps": STEPS},
        title=_LABEL,
        placeholder=_table(seed, num_heads),
        bundles=("learning-view",),
        style_sheets=("model.css", "time-bar.css", "learning.css"),
        heights=(79.6, 87.1, 101.9, 105.2, 104.9, 135.2, 141.7),
        figure=figure,
    )


def _table(seed: int, num_heads: int) -> str:
    """Return a table of some steps: the loss, and the largest weight on each right word."""
    layers = train_layers(np.random.default_rng(seed), num_heads, STEPS)
    lines = []
    for step in _SHOWN:
        loss, right = evaluate_layer(layers[step])
        most = (shown(float(x), 2) for x in relation_weights(layers[step]).max(axis=0))
        cells = "".join(f"<td>{text}</td>" for text in (shown(loss), percent(right, 1), *most))
        lines.append(f'<tr><th scope="row">{step}</th>{cells}</tr>')
    names = ("After step", "Loss", "Right", *relation_positions())
    head = "".join(f'<th scope="col">{name}</th>' for name in names)
    caption = (
        f"Training from seed {seed}: loss, right answers, and a head's largest mean weight on the"
        " right word"
    )
    return (
        f"<table><caption>{caption}</caption><thead><tr>{head}</tr></thead>"
        f"<tbody>{''.join(lines)}</tbody></table>"
    )
