"""Cells that programs for spreadsheets show as they are."""


def harmless(text: str) -> str:
    """Return the text of a cell so that no spreadsheet takes it for a formula.

    Parameters
    ----------
    text : str

    Returns
    -------
    str
        Behind an apostrophe where it begins with ``=``, ``+``, ``-`` or ``@``.

    Examples
    --------
    >>> harmless("=1+1"), harmless("Emmy Noether")
    ("'=1+1", 'Emmy Noether')
    """
    return f"'{text}" if text.startswith(("=", "+", "-", "@")) else text
