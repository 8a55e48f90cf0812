"""The red pencil on a page: the source documents as sheets of numbers that a reader corrects."""

from mha.audit.sources import TITLES
from mha.widgets.instrument import Drawing, Explorer, instrument

_LABEL = "The documents, corrected"


def red_pencil(first: str, *, before: str, figure: Drawing | None = None) -> Explorer:
    """Return the source documents as sheets on which slips can be followed and corrected.

    Parameters
    ----------
    first : str
        The document that is open at first, one of `mha.audit.sources.source_names`.
    before : str
        HTML that stands there until the sheets come, and for good where no script runs.
    figure : Drawing, optional
        What stands in its place in print.

    Returns
    -------
    Explorer

    Raises
    ------
    ValueError
        If there is no such document.

    Examples
    --------
    >>> red_pencil("apple-walkthrough", before="").html[:35]
    '<mha-instrument id="pencil-sources"'
    """
    if first not in TITLES:
        raise ValueError(f"first is {first!r}; one of {', '.join(TITLES)} is wanted")
    return instrument(
        "pencil",
        "sources",
        {"first": first},
        title=_LABEL,
        before=before,
        late=("pencil-sheets.js", "pencil.js"),
        dress=("pencil.css",),
        heights=(100, 120, 300),
        figure=figure,
    )
