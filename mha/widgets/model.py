"""The trained model as an instrument: a reader writes a story, and the model continues it."""

from html import escape

from mha.core.checks import as_names
from mha.examples.trained import load_model
from mha.widgets.instrument import Drawing, Explorer, instrument

_LABEL = "The model of names"

_BUNDLES = ("model-view",)


def language_model(story: str, *, figure: Drawing | None = None) -> Explorer:
    """Return the model of names as an instrument, in which a reader writes a story.

    Parameters
    ----------
    story : str
        The first story: words of the language, separated by spaces.
    figure : Drawing, optional
        Replaces the instrument in print.

    Returns
    -------
    Explorer

    Raises
    ------
    ValueError
        If a word is not one of the language.

    Examples
    --------
    >>> language_model("ba ke saw mo nu .").html[:39]
    '<mha-instrument id="model-names" class='
    """
    words = as_names("story", story.split())
    load_model("names").model.indices(words)
    return instrument(
        "model",
        "names",
        {"story": " ".join(words)},
        title=_LABEL,
        placeholder=f"<p><i>{escape(' '.join(words))}</i> …</p>",
        bundles=_BUNDLES,
        style_sheets=("model.css", "time-bar.css"),
        heights=(71.5, 84.3, 82.9, 97.2, 108.0, 132.9, 135.6),
        figure=figure,
    )
