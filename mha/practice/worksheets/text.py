"""A worksheet and its key as Markdown."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from mha.practice.worksheets.sheet import PLACES, Worksheet
from mha.runs.places import Place
from mha.runs.record import Trace
from mha.runs.rounding import dimensions, shown
from mha.views.table import Table, Word, escape_markdown, escape_tags

ROOM = 4 * "&emsp;"
"""What stands in an empty cell: the width of a number written by hand."""


def sheet(made: Worksheet) -> str:
    """Return what the student gets: the given numbers, and an empty table for each stage.

    Parameters
    ----------
    made : Worksheet

    Returns
    -------
    str
        Markdown.

    Examples
    --------
    >>> from mha.practice.worksheets import worksheet
    >>> print(sheet(worksheet(7, 1, difficulty="easy"))[:29])
    ## Worksheet 1 (seed 7, easy)
    """
    name = _plain(made.student.name) or "\\_" * 30
    parts = [f"## Worksheet {_plain(made.title)}", f"Name: {name}", "### Given"]
    parts += [_markdown(table) for table in made.given()]
    parts += ["### Your turn", f"{rounding(made)} {calculator(made)}"]
    for task in made.tasks:
        parts.append(f"{task.number}\\. {task.text} ({points(task.points)})")
        parts += [_markdown(emptied(table, ROOM)) for table in task.tables]
    return "\n\n".join(parts) + "\n"


def key(made: Worksheet) -> str:
    """Return the answers: each stage as a table, and how every number of it comes about.

    Parameters
    ----------
    made : Worksheet

    Returns
    -------
    str
        Markdown.
    """
    parts = [f"## Key to worksheet {_plain(made.title)}"]
    if made.rounded:
        parts.append(tolerance(made))
    for task in made.tasks:
        parts.append(f"{task.number}\\. {task.text} ({points(task.points)})")
        for head, table in enumerate(task.tables):
            parts.append(_markdown(table))
            lines = [
                f"- {_plain(label)}: {_superscript(line)}"
                for label, line in steps(made, task.stage, head)
            ]
            parts += ["\n".join(lines)] if lines else []
    return "\n\n".join(parts) + "\n"


def points(count: int) -> str:
    """Return how many points something is worth.

    Examples
    --------
    >>> points(1), points(3)
    ('1 point', '3 points')
    """
    return f"{count} point{'s' * (count != 1)}"


def rounding(made: Worksheet) -> str:
    """Return what a sheet says of rounding.

    Parameters
    ----------
    made : Worksheet

    Returns
    -------
    str
    """
    if not made.rounded:
        return "All answers are short: do not round."
    others = " All other answers are short: do not round them." * (
        len(made.rounded) < len(made.stages)
    )
    return (
        f"Round in {_tasks(made, made.rounded)} alone: write down {PLACES} decimals there, and"
        f" calculate on with all the digits that you have.{others}"
    )


def calculator(made: Worksheet) -> str:
    """Return what a sheet says of calculators.

    Parameters
    ----------
    made : Worksheet

    Returns
    -------
    str

    Examples
    --------
    >>> from mha.practice.worksheets import worksheet
    >>> calculator(worksheet(7, 1, stages=["key"]))
    'No calculator is needed.'
    """
    if not made.rounded:
        return "No calculator is needed."
    powers = " with the key eˣ" if "exponentials" in made.stages else ""
    return f"A calculator{powers} is allowed in {_tasks(made, made.rounded)}; the rest needs none."


def tolerance(made: Worksheet) -> str:
    """Return what a key says of rounding, and how far a right answer may be off.

    Parameters
    ----------
    made : Worksheet
        Some of its answers are rounded.

    Returns
    -------
    str
    """
    said = (
        f"{_tasks(made, made.rounded).capitalize()}: each number was computed with all its"
        " digits and is rounded when shown; ≈ stands where rounding enters."
    )
    if not made.slips:
        return said
    bounds = [
        f"{shown(units * 10.0**-PLACES, PLACES)} in {_tasks(made, [stage])}"
        for stage, units in made.slips.items()
    ]
    return (
        f"{said} Who calculates on with rounded numbers is right too, and may be off by at most"
        f" {_listed(bounds)}."
    )


def steps(made: Worksheet, stage: str, head: int) -> Iterator[tuple[str, str]]:
    """Yield what each answer of one table is called, and its line of arithmetic.

    What is only copied has none.

    Parameters
    ----------
    made : Worksheet
    stage : str
    head : int
        Counted from 0.
    """
    if stage == "mask":
        return
    for place, worked in made.answers(stage, head):
        between = " with " if place.kind.by_key else ", "
        yield between.join(name(made.run, place)), str(worked)


def name(run: Trace, place: Place) -> tuple[str, str]:
    """Return what a number of a table is called: its row, and its column.

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
    if place.kind.by_key:
        return row, run.tokens[place.column]
    return row, dimensions(place.kind.symbol, place.column + 1)[-1]


def emptied(table: Table, room: str = "") -> Table:
    """Return a table with its labels alone.

    Parameters
    ----------
    table : Table
    room : str, default ""
        What stands in each empty cell.

    Returns
    -------
    Table
    """
    rows = tuple((row[0], *(room for _ in row[1:])) for row in table.rows)
    return replace(table, rows=rows)


def _tasks(made: Worksheet, stages: Sequence[str]) -> str:
    """Return the numbers that stages have as tasks, in words."""
    numbers = [str(made.stages.index(stage) + 1) for stage in stages]
    return f"task{'s' * (len(numbers) > 1)} {_listed(numbers)}"


def _markdown(table: Table) -> str:
    """Return a table in plain Markdown, its caption above it."""
    rows = [table.header, ("---", *("---:" for _ in table.header[1:])), *table.rows]
    lines = ["| " + " | ".join(map(_cell, row)) + " |" for row in rows]
    return "\n".join([f"**{table.caption}**", "", *lines])


def _cell(text: str) -> str:
    return _plain(text) if isinstance(text, Word) else text.replace("\\", "\\\\")


def _plain(text: str) -> str:
    """Return Markdown that shows words of others as they are written."""
    return escape_tags(escape_markdown(text))


def _superscript(line: str) -> str:
    """Return a line of arithmetic in which e^x stands as a formula."""
    return re.sub(r"e\^(\S+)", lambda power: f"$e^{{{power[1].replace('−', '-')}}}$", line)


def _listed(items: Sequence[str]) -> str:
    """Return items as a sentence names them."""
    *most, last = items
    return f"{', '.join(most)} and {last}" if most else last
