"""Worksheets, their key and their answers as pages of HTML, which WeasyPrint prints."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape

from mha.practice.worksheets import Task, Worksheet
from mha.practice.worksheets.text import (
    calculator,
    emptied,
    points,
    rounding,
    steps,
    tolerance,
)
from mha.views.table import Table

TITLE = "Attention by hand"

MISTAKES = {
    "query": "the matrix from the left; a sign lost",
    "key": "the query projection taken twice",
    "value": "the key projection taken twice",
    "scores": "the query of one token with its own key throughout; rows and columns exchanged",
    "scaled_scores": "divided by the width itself, not by its root",
    "mask": "0 written for −∞; the mask turned over, so that only later tokens are seen",
    "exponentials": "the sum taken down a column; e to a negative number taken for negative",
    "weights": "divided by the largest exponential; divided by the sum of another row",
    "head_outputs": "keys mixed in the place of values; weights of a column taken",
    "output": "heads added, not put side by side",
}
"""What goes wrong most often in each task, for the rubric."""


@dataclass(frozen=True)
class Heading:
    """What stands on every page.

    Parameters
    ----------
    title, course, date : str
    paper : str
        "a4" or "letter".
    """

    title: str = TITLE
    course: str = ""
    date: str = ""
    paper: str = "a4"

    @property
    def about(self) -> str:
        """The title, the course and the date, as far as they are given."""
        return " · ".join(filter(None, (self.title, self.course, self.date)))


def sheet_page(made: Worksheet, heading: Heading) -> str:
    """Return one student's sheet: the inputs beside each task, and room to work."""
    student = made.student
    name = f"<b>{escape(student.name)}</b>" if student.name else '<span class="line"></span>'
    top = (
        f"<h1>{escape(heading.title)}</h1>"
        f'<p class="who">Name: {name}{f" · {escape(student.id)}" if student.id else ""}'
        f'<span class="total">of {points(made.points)}</span></p>'
        f"<p>{escape(rounding(made))} {escape(calculator(made))}</p>"
    )
    tasks = "".join(map(_task, made.tasks))
    named = f"Worksheet {made.title}"
    return _document(named, f"{heading.about}", named, heading, top + tasks)


def _task(task: Task) -> str:
    """Return a task: what is given, what is to be filled in, and room for working."""
    empty = "".join(_table(emptied(table), "answer") for table in task.tables)
    worth = f'<span class="points">of {task.points}</span>'
    return (
        f'<section class="task"><h2>{task.number}. {escape(task.text)}{worth}</h2>'
        f'<div class="beside"><div class="given">{_given(task)}</div>'
        f'<div class="answers">{empty}</div><div class="working">Working</div></div></section>'
    )


def _given(task: Task) -> str:
    """Return what a task starts from: tables, and the tasks whose answers it takes."""
    numbers = " and ".join(map(str, task.after))
    several = "s" * (len(task.after) > 1)
    note = f"<p>From your answers to task{several} {numbers}.</p>" if task.after else ""
    return note + "".join(_table(table) for table in task.given)


def key_page(made: Worksheet, heading: Heading) -> str:
    """Return the key to a sheet, with every step."""
    body = _key_top(made)
    for task in made.tasks:
        body += f"<h2>{task.number}. {escape(task.text)} ({points(task.points)})</h2>"
        for head, table in enumerate(task.tables):
            lines = "".join(
                f"<li>{_lowered(escape(label))}: {_superscript(line)}</li>"
                for label, line in steps(made, task.stage, head)
            )
            body += f'<div class="worked">{_table(table)}<ul>{lines}</ul></div>'
    return _document(f"Key {made.title}", heading.about, f"Key {made.title}", heading, body)


def answers_page(made: Worksheet, heading: Heading) -> str:
    """Return the answers to a sheet alone, to lay beside it."""
    body = _key_top(made)
    for task in made.tasks:
        tables = "".join(_table(table) for table in task.tables)
        title = task.text.partition(":")[0].partition(" of the")[0]
        body += (
            f'<section class="short"><h2>{task.number}. {escape(title)}</h2>'
            f'<div class="side">{tables}</div></section>'
        )
    return _document(f"Answers {made.title}", heading.about, f"Answers {made.title}", heading, body)


def _key_top(made: Worksheet) -> str:
    said = f"<p>{escape(tolerance(made))}</p>" if made.rounded else ""
    return f"<h1>Worksheet {escape(made.title)}</h1>{said}"


def rubric_page(made: Worksheet, heading: Heading) -> str:
    """Return how the sheets of a class are marked; all ask the same of other numbers."""
    rows = "".join(
        f"<tr><td>{task.number}</td><td>{escape(task.text.partition(':')[0])}</td>"
        f"<td>{task.points}</td><td>{MISTAKES[task.stage]}</td></tr>"
        for task in made.tasks
    )
    body = (
        f"<h1>How to mark</h1><p>A point for each row of a table, {points(made.points)} in all.</p>"
        "<ul><li>A point: every number of the row is right, within what the key allows.</li>"
        "<li>Half a point: the way is right and is written down, and one slip of arithmetic is in"
        " it.</li>"
        "<li>No point: another way, or a bare wrong number.</li>"
        "<li>An error counts once. Who goes on from a wrong number in the right way has the points"
        " of the rows that follow; compare the ratio of two numbers, or redo the one row.</li>"
        "<li>A missing or an added digit costs half a point once on the whole sheet.</li></ul>"
        '<table class="rubric"><thead><tr><th>Task</th><th>Stage</th><th>Points</th>'
        f"<th>What goes wrong most often</th></tr></thead><tbody>{rows}</tbody></table>"
    )
    return _document("How to mark", heading.about, "How to mark", heading, body)


Page = Callable[[Worksheet, Heading], str]


def _document(title: str, left: str, right: str, heading: Heading, body: str) -> str:
    """Return a page's HTML; `left` and `right` stand at the foot of every page of it."""
    return (
        f'<html lang="en"><head><meta charset="utf-8"><title>{escape(title)}</title><style>'
        f"@page {{ size: {heading.paper} }}</style></head><body>"
        f'<div class="foot-left">{escape(left)}</div><div class="foot-right">{escape(right)}</div>'
        f"{body}</body></html>"
    )


def _table(table: Table, kind: str = "") -> str:
    """Return a table, its lowered digits as HTML has them."""
    text = table._repr_html_().replace("<table>", f'<table class="{kind}">', 1)
    return _lowered(re.sub(r"</?u>|</?strong>", "", text))


def _lowered(text: str) -> str:
    """Return text with digits lowered by HTML: the book's fonts have no others."""
    digits = str.maketrans("₀₁₂₃₄₅₆₇₈₉", "0123456789")
    return re.sub(r"[₀-₉]+", lambda m: f"<sub>{m[0].translate(digits)}</sub>", text)


def _superscript(step: str) -> str:
    """Return a line of arithmetic whose powers of e are raised."""
    return _lowered(re.sub(r"e\^(\S+)", r"e<sup>\1</sup>", escape(step)))


def of_class(sheets: Sequence[Worksheet], heading: Heading) -> dict[str, list[str]]:
    """Return the pages of a class, by what they are."""
    rubric = rubric_page(sheets[0], heading)
    return {
        "worksheets": [sheet_page(made, heading) for made in sheets],
        "key": [rubric, *(key_page(made, heading) for made in sheets)],
        "answers": [rubric, *(answers_page(made, heading) for made in sheets)],
    }
