"""The trained model on a page: a story that a reader writes, and all that the model makes of it."""

from collections.abc import Mapping, Sequence
from html import escape

from mha.core.checks import as_names
from mha.examples.trained import load_model
from mha.widgets.explorer import Drawing, Explorer, as_json

_LABEL = "The model of names"


def language_model(
    story: str, *, curves: Mapping[str, Sequence[float]], figure: Drawing | None = None
) -> Explorer:
    """Return the model of names as an element of a page that a reader can write with.

    Parameters
    ----------
    story : str
        What stands there at first: words of the language, parted by spaces.
    curves : mapping of str to sequence of float
        The cost of second syllables after each step that is kept: of names "met" and "fresh" ones.
    figure : Drawing, optional
        What stands in its place in print.

    Returns
    -------
    Explorer

    Raises
    ------
    ValueError
        If a word is not one of the language, or a curve has not a number a step.

    Examples
    --------
    >>> curves = {"met": [4.0] * 10, "fresh": [4.0] * 10}
    >>> language_model("ba ke saw mo nu .", curves=curves).html[:33]
    '<mha-model id="model-names"><div '
    """
    trained = load_model("names")
    words = as_names("story", story.split())
    trained.model.indices(words)
    costs = {}
    for name in ("met", "fresh"):
        costs[name] = [round(float(cost), 4) for cost in curves.get(name, ())]
        if len(costs[name]) != len(trained.steps):
            raise ValueError(
                f"curves has {len(costs[name])} numbers for {name!r};"
                f" one a step, {len(trained.steps)}, is wanted"
            )
    data = as_json({"story": " ".join(words), "curves": costs})
    html = (
        '<mha-model id="model-names"><div class="model-before" role="group"'
        f' aria-label="{_LABEL}"><p><i>{escape(" ".join(words))}</i> …</p></div>'
        f'<script type="application/json">{data}</script></mha-model>'
    )
    return Explorer(html=html, title=_LABEL, figure=figure)
