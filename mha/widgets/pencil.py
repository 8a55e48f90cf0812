"""The red pencil as an instrument: a reader corrects the numbers of the source documents."""

from mha.audit.sources import TITLES
from mha.views.figures import inline_svg
from mha.widgets.instrument import Drawing, Explorer, instrument

_LABEL = "The documents, corrected"


def red_pencil(first: str, *, figure: Drawing | None = None) -> Explorer:
    """Return an instrument in which slips of the source documents are followed and corrected.

    Parameters
    ----------
    first : str
        The document that is open at first, one of `mha.audit.sources.source_names`.
    figure : Drawing, optional
        Shown until the documents load, in print, and without scripts.

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
        placeholder="" if figure is None else inline_svg(figure.svg, figure.alt),
        bundles=("pencil-view",),
        style_sheets=("pencil.css",),
        heights=(46, 54.2, 60.3, 60.3, 60.3, 70.2, 97.3),
        figure=figure,
    )
