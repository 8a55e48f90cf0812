"""The trained model on a page: a story that a reader writes, and all that the model makes of it."""

from html import escape

from mha.core.checks import as_names
from mha.examples.trained import load_model
from mha.widgets.explorer import Drawing, Explorer, as_json

_LABEL = "The model of names"

_LATE = ("explorer-block.js", "model-view.js", "model-numbers.js")


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
    >>> language_model("ba ke saw mo nu .").html[:33]
    '<mha-model id="model-names"><div '
    """
    words = as_names("story", story.split())
    load_model("names").model.indices(words)
    data = as_json({"story": " ".join(words)})
    html = (
        '<mha-model id="model-names"><div class="model-before" role="group"'
        f' aria-label="{_LABEL}"><p><i>{escape(" ".join(words))}</i> …</p></div>'
        f'<script type="application/json">{data}</script></mha-model>'
    )
    return Explorer(html, _LABEL, figure, late=_LATE, styles=("explorer.css", "model.css"))
