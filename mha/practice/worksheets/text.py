"""Worksheets and their keys as Markdown, and sentences that the printed ones share."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from mha.practice.effort import SECONDS
from mha.practice.worksheets.sheet import PLACES, Worksheet
from mha.runs.places import Place
from mha.runs.record import Trace
from mha.runs.rounding import dimensions, shown
from mha.views.table import Table, Word, escape_markdown, escape_tags

ROOM = 4 * "&emsp;"
"""The content of an empty cell, as wide as a handwritten number."""


def write_sheet(worksheet: Worksheet) -> str:
    """Return the student's sheet as Markdown: the given numbers, and an empty table per stage.

    Parameters
    ----------
    worksheet : Worksheet

    Returns
    -------
    str
        Markdown.

    Examples
    --------
    >>> from mha.practice.worksheets import draw_worksheet
    >>> print(write_sheet(draw_worksheet(7, 1, difficulty="easy"))[:29])
    ## Worksheet 1 (seed 7, easy)
    """
    name = _escape_markdown(worksheet.student.name) or "\\_" * 30
    parts = [f"## Worksheet {_escape_markdown(worksheet.title)}", f"Name: {name}", "### Given"]
    parts += [write_table(table) for table in worksheet.given()]
    parts += ["### Your turn", " ".join(notes(worksheet))]
    for task in worksheet.tasks:
        parts.append(f"{task.number}\\. {task.text} ({points(task.points)})")
        parts += [write_table(empty_table(table, ROOM)) for table in task.tables]
    return "\n\n".join(parts) + "\n"


def write_key(worksheet: Worksheet) -> str:
    """Return the key: a table for each stage, and a line of arithmetic for each number.

    Parameters
    ----------
    worksheet : Worksheet

    Returns
    -------
    str
        Markdown.
    """
    parts = [f"## Key to worksheet {_escape_markdown(worksheet.title)}", effort_note(worksheet)]
    if worksheet.rounded:
        parts.append(tolerance_note(worksheet))
    for task in worksheet.tasks:
        parts.append(f"{task.number}\\. {task.text} ({points(task.points)})")
        for head, table in enumerate(task.tables):
            parts.append(write_table(table))
            lines = [
                f"- {_escape_markdown(label)}: {_superscript(line)}"
                for label, line in answer_lines(worksheet, task.stage, head)
            ]
            parts += ["\n".join(lines)] if lines else []
    return "\n\n".join(parts) + "\n"


def points(count: int) -> str:
    """Return a number of points in words.

    Examples
    --------
    >>> points(1), points(3)
    ('1 point', '3 points')
    """
    return f"{count} point{'s' * (count != 1)}"


def rounding_note(worksheet: Worksheet) -> str:
    """Return a sheet's sentences on rounding.

    Parameters
    ----------
    worksheet : Worksheet

    Returns
    -------
    str
    """
    if not worksheet.rounded:
        return "All answers are short: do not round."
    others = " All other answers are short: do not round them." * (
        len(worksheet.rounded) < len(worksheet.stages)
    )
    return (
        f"Round only in {_tasks(worksheet, worksheet.rounded)}: write down {PLACES} decimals"
        f" there, and continue with all the digits that you have.{others}"
    )


def calculator_note(worksheet: Worksheet) -> str:
    """Return a sheet's sentence on calculators.

    Parameters
    ----------
    worksheet : Worksheet

    Returns
    -------
    str

    Examples
    --------
    >>> from mha.practice.worksheets import draw_worksheet
    >>> calculator_note(draw_worksheet(7, 1, stages=["key"]))
    'No calculator is needed.'
    """
    if not worksheet.rounded:
        return "No calculator is needed."
    powers = " with the key eˣ" if "exponentials" in worksheet.stages else ""
    tasks = _tasks(worksheet, worksheet.rounded)
    return f"A calculator{powers} is allowed in {tasks}; the rest needs none."


def notes(worksheet: Worksheet) -> tuple[str, ...]:
    """Return a sheet's sentences on rounding, calculators and the minutes.

    Parameters
    ----------
    worksheet : Worksheet

    Returns
    -------
    tuple of str

    Examples
    --------
    >>> from mha.practice.worksheets import draw_worksheet
    >>> notes(draw_worksheet(7, 1, stages=["key"]))[-1]
    'About 4 minutes.'
    """
    minutes = f"About {_count(worksheet.effort.minutes, 'minute')}."
    return rounding_note(worksheet), calculator_note(worksheet), minutes


def effort_note(worksheet: Worksheet) -> str:
    """Return a key's sentences on the operations of a sheet and the estimate of its minutes.

    Parameters
    ----------
    worksheet : Worksheet

    Returns
    -------
    str

    Examples
    --------
    >>> from mha.practice.worksheets import draw_worksheet
    >>> effort_note(draw_worksheet(7, 1, stages=["key"])).split(": ")[0]
    'About 4 minutes for 21 operations and 12 numbers to write'
    """
    effort = worksheet.effort
    operations = _count(effort.operations, "operation")
    numbers = _count(effort.numbers, "number")
    rates = ", ".join(f"{seconds} s for {operation}" for operation, seconds in _RATES)
    return (
        f"About {_count(effort.minutes, 'minute')} for {operations} and {numbers} to write:"
        f" {rates}. A product with 0, 1 or −1 does not count. The rates are assumptions, not timed"
        " with a class."
    )


_RATES = (
    ("a product of two one-digit numbers", SECONDS["short products"]),
    ("another product", SECONDS["long products"]),
    ("an addition", SECONDS["sums"]),
    ("a division, root or power", SECONDS["calculator"]),
    ("writing a number", SECONDS["numbers"]),
)


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'s' * (number != 1)}"


def tolerance_note(worksheet: Worksheet) -> str:
    """Return a key's sentences on rounding, and on the largest errors of right answers.

    Parameters
    ----------
    worksheet : Worksheet
        A sheet with rounded answers.

    Returns
    -------
    str
    """
    sentence = (
        f"{_tasks(worksheet, worksheet.rounded).capitalize()}: each number was computed with all"
        " its digits and is rounded when shown; ≈ marks rounding."
    )
    if not worksheet.error_bounds:
        return sentence
    bounds = [
        f"{shown(units * 10.0**-PLACES, PLACES)} in {_tasks(worksheet, [stage])}"
        for stage, units in worksheet.error_bounds.items()
    ]
    return (
        f"{sentence} A student who continues with rounded numbers is right too, and may be off by"
        f" at most {join_words(bounds)}."
    )


def answer_lines(worksheet: Worksheet, stage: str, head: int) -> Iterator[tuple[str, str]]:
    """Yield the label and the line of arithmetic of each answer of one table.

    Masked scores are copied, so they have no lines.

    Parameters
    ----------
    worksheet : Worksheet
    stage : str
    head : int
        Counted from 0.
    """
    if stage == "mask":
        return
    for place, worked in worksheet.answers(stage, head):
        between = " with " if place.stage_entry.by_key else ", "
        yield between.join(cell_labels(worksheet.run, place)), str(worked)


def cell_labels(run: Trace, place: Place) -> tuple[str, str]:
    """Return the labels of a number's row and column in its table.

    Parameters
    ----------
    run : Trace
    place : Place

    Returns
    -------
    tuple of str
    """
    assert place.row is not None
    row = run.tokens[place.row]
    if place.stage == "row_sums":
        return row, "row sum"
    assert place.column is not None
    if place.stage_entry.by_key:
        return row, run.tokens[place.column]
    return row, dimensions(place.stage_entry.symbol, place.column + 1)[-1]


def empty_table(table: Table, room: str = "") -> Table:
    """Return a table with its labels and without its numbers.

    Parameters
    ----------
    table : Table
    room : str, default ""
        The content of each empty cell.

    Returns
    -------
    Table
    """
    rows = tuple((row[0], *(room for _ in row[1:])) for row in table.rows)
    return replace(table, rows=rows)


def _tasks(worksheet: Worksheet, stages: Sequence[str]) -> str:
    """Return the numbers of the tasks of some stages, in words."""
    numbers = [str(worksheet.stages.index(stage) + 1) for stage in stages]
    return f"task{'s' * (len(numbers) > 1)} {join_words(numbers)}"


def write_table(table: Table) -> str:
    """Return a table in plain Markdown, its caption above it.

    Parameters
    ----------
    table : Table

    Returns
    -------
    str
    """
    rows = [table.header, ("---", *("---:" for _ in table.header[1:])), *table.rows]
    lines = ["| " + " | ".join(map(_cell, row)) + " |" for row in rows]
    return "\n".join([f"**{table.caption}**", "", *lines])


def _cell(text: str) -> str:
    return _escape_markdown(text) if isinstance(text, Word) else text.replace("\\", "\\\\")


def _escape_markdown(text: str) -> str:
    """Return Markdown that shows a text literally, whatever marks it contains."""
    return escape_tags(escape_markdown(text))


def _superscript(line: str) -> str:
    """Return a line of arithmetic with each e^x as a formula."""
    return re.sub(r"e\^(\S+)", lambda power: f"$e^{{{power[1].replace('−', '-')}}}$", line)


def join_words(items: Sequence[str]) -> str:
    """Return items joined by commas and "and"."""
    *most, last = items
    return f"{', '.join(most)} and {last}" if most else last
