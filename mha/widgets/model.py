"""The trained model on a page: a story that a reader writes, and all that the model makes of it."""

from html import escape

from mha.core.checks import as_names
from mha.examples.trained import load_model
from mha.widgets.instrument import Drawing, Explorer, instrument

_LABEL = "The model of names"

_LATE = ("model-view",)


def language_model(story: str, *, figure: Drawing | None = None) -> Explorer:
    """Return the model of names as an element of a page that a reader can write with.

    Parameters
    ----------
    story : str
        What stands there at first: words of the language, parted by spaces.
    figure : Drawing, optional
        What stands in its place in print.

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
        before=f"<p><i>{escape(' '.join(words))}</i> …</p>",
        late=_LATE,
        dress=("model.css", "time-bar.css"),
        heights=(71.5, 84.3, 82.9, 97.2, 108.0, 132.9, 135.6),
        figure=figure,
    )
