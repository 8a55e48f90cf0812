"""What a spreadsheet makes of a cell of CSV."""

STARTS = tuple("=+-@＝＋－＠")
"""What a formula begins with, narrow and wide."""


def harmless(text: str) -> str:
    """Return a cell that a spreadsheet shows, and does not compute.

    Parameters
    ----------
    text : str
        Of a cell that is no number of ours.

    Returns
    -------
    str
        With an apostrophe before what would be a formula.

    Examples
    --------
    >>> harmless("=1+1"), harmless(" ＋1"), harmless("Emmy Noether"), harmless("")
    ("'=1+1", "' ＋1", 'Emmy Noether', '')
    """
    return f"'{text}" if text.lstrip().startswith(STARTS) else text
