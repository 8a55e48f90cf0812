"""The red pencil on a page: the source documents as sheets of numbers that a reader corrects."""

from mha.audit.sources import TITLES
from mha.views.figures import inline_svg
from mha.widgets.instrument import Drawing, Explorer, instrument

_LABEL = "The documents, corrected"


def red_pencil(first: str, *, figure: Drawing | None = None) -> Explorer:
    """Return the source documents as sheets on which slips can be followed and corrected.

    Parameters
    ----------
    first : str
        The document that is open at first, one of `mha.audit.sources.source_names`.
    figure : Drawing, optional
        What stands there until the sheets come, in print, and where no script runs.

    Returns
    -------
    Explorer

    Raises
    ------
    ValueError
        If there is no such document.

    Examples
    --------
    >>> red_pencil("apple-walkthrough").html[:35]
    '<mha-instrument id="pencil-sources"'
    """
    if first not in TITLES:
        raise ValueError(f"first is {first!r}; one of {', '.join(TITLES)} is wanted")
    return instrument(
        "pencil",
        "sources",
        {"first": first},
        title=_LABEL,
        before="" if figure is None else inline_svg(figure.svg, figure.alt),
        late=("pencil-view",),
        dress=("pencil.css",),
        heights=(46, 54.2, 60.3, 60.3, 60.3, 70.2, 97.3),
        figure=figure,
    )
