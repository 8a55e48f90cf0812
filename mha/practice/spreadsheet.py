"""Tables as CSV that spreadsheets open correctly, and without cells that they run as formulas."""

import csv
import io
from collections.abc import Iterable

BYTE_ORDER_MARK = "\ufeff"
"""The first character of a CSV file: without it, Excel does not read the file as UTF-8."""

STARTS = tuple("=+-@＝＋－＠")
"""The first characters of formulas, in normal and full width."""


def harmless(text: str) -> str:
    """Return the text of a cell that a spreadsheet shows and does not run as a formula.

    Parameters
    ----------
    text : str
        The text of a cell that others have written.

    Returns
    -------
    str
        The text, after an apostrophe if it would be a formula.

    Examples
    --------
    >>> harmless("=1+1"), harmless(" ＋1"), harmless("Emmy Noether"), harmless("")
    ("'=1+1", "' ＋1", 'Emmy Noether', '')
    """
    return f"'{text}" if text.lstrip().startswith(STARTS) else text


def as_csv(rows: Iterable[Iterable[str | int]]) -> str:
    r"""Return a table as CSV that Excel, LibreOffice and Python's ``csv`` read alike.

    Parameters
    ----------
    rows : iterable of rows
        The first row names the columns. The caller applies `harmless` to the cells that need it,
        because a negative number may begin like a formula.

    Returns
    -------
    str
        A byte order mark, then the rows, each ended by CR and LF. Encode it as UTF-8 and write it
        as bytes, which keeps the line ends. Python reads it with the encoding ``utf-8-sig``.

    Examples
    --------
    >>> as_csv([("student", "points"), ("Zoë", 3)])
    '\ufeffstudent,points\r\nZoë,3\r\n'
    """
    file = io.StringIO()
    file.write(BYTE_ORDER_MARK)
    csv.writer(file, lineterminator="\r\n").writerows(rows)
    return file.getvalue()
