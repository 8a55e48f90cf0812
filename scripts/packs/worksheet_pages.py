"""Worksheets, their key and their answers as Typst's source, for the template `worksheets.typ`."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from byhand.press.markup import array, string, text
from mha.practice.worksheets import Task, Worksheet
from mha.practice.worksheets.of_model import TITLE as MODEL
from mha.practice.worksheets.of_model import ModelSheet
from mha.practice.worksheets.text import calculator, emptied, points, rounding, steps, tolerance
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

RULES = (
    "A point: every number of the row is right, or off by what the line above the key allows.",
    "Half a point: the way is right and is written down, and one slip of arithmetic is in it.",
    "No point: a wrong way, or a bare wrong number. Another way that is right has its points.",
    "An error counts once. Who goes on from a wrong number in the right way has the points of the"
    " rows that follow; redo one of these rows to see it.",
    "A rounding where none is asked costs half a point once on the whole sheet; 7.7 and 7.70 are"
    " the same.",
)


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


def of_class(
    sheets: Sequence[Worksheet], heading: Heading, *, model: bool = False
) -> dict[str, list[str]]:
    """Return the parts of what is printed for a class, by what they are.

    With `model` each sheet and its key end with the two tasks from the trained model.
    """
    of_model = [ModelSheet(made.seed, made.student) if model else None for made in sheets]
    rubric = _rubric(sheets[0])
    answers = rubric + "".join(map(_answers, sheets))
    return {
        "worksheets": [
            _part(heading, *_of("Worksheet", made), _sheet(made, heading) + _model_tasks(tasks))
            for made, tasks in zip(sheets, of_model, strict=True)
        ],
        "key": [
            _part(heading, "How to mark", "rubric", rubric),
            *(
                _part(heading, *_of("Key", made), _key(made) + _model_key(tasks))
                for made, tasks in zip(sheets, of_model, strict=True)
            ),
        ],
        "answers": [_part(heading, "Answers", "answers", answers)],
    }


def source(parts: Iterable[str], heading: Heading) -> str:
    """Return what the press makes a PDF of."""
    return (
        '#import "/worksheets.typ": *\n'
        f"#show: sheet.with(title: {string(heading.title)}, paper: {string(PAPERS[heading.paper])},"
        " margin: margin)\n"
        f"#show: worksheets\n{''.join(parts)}"
    )


PAPERS = {"a4": "a4", "letter": "us-letter"}


def _part(heading: Heading, who: str, key: str, body: str) -> str:
    about = " · ".join(map(_name, filter(None, (heading.title, heading.course, heading.date))))
    return f"#part([{about}], [{who}], {string(key)})[\n{body}\n]\n"


def _of(what: str, made: Worksheet) -> tuple[str, str]:
    """Return what stands at the foot of a student's pages, and a name for the last of them."""
    student = made.student
    named = ", ".join(map(_name, filter(None, (student.name, student.id))))
    who = f"{what} {student.number}{f': {named}' * bool(named)} ({made.seed}, {made.difficulty})"
    return who, f"{what}-{student.number}"


def _name(words: str) -> str:
    """Return words of others as they are, whatever way they are written."""
    return f"#name[{text(words)}]"


def _sheet(made: Worksheet, heading: Heading) -> str:
    """Return one student's sheet: the inputs beside each task, and room to work."""
    student = made.student
    name = f"*{_name(student.name)}*" if student.name else "#blank(80mm)"
    identifier = f" · {_name(student.id)}" if student.id else ""
    said = f"{rounding(made)} {calculator(made).replace('eˣ', 'e^x')}"
    top = (
        f"= {_name(heading.title)}\nName: {name}{identifier} #h(1fr) #blank(9mm) of"
        f" {points(made.points)}\n\n{_powers(said)}#v(1mm)"
    )
    return f"#tasks([{top}], {', '.join(map(_task, made.tasks))})"


def _task(task: Task) -> str:
    """Return a task: what is given, what is to be filled in, and its heading."""
    numbers = " and ".join(map(str, task.after))
    note = (
        f"#box(width: 38mm)[From your answers to task{'s' * (len(task.after) > 1)} {numbers}.]"
        * bool(task.after)
    )
    given = "".join(f"#{_table(table)}" for table in task.given)
    empty = "".join(f"#{_table(emptied(table), 'boxes')}" for table in task.tables)
    worth = f"#h(1fr) #text(weight: 400)[#blank(9mm) of {task.points}]"
    head = f"== {task.number}. {text(task.text)} {worth}"
    return f"([{note}{given}], [{empty}], [{head}])"


def _key(made: Worksheet) -> str:
    """Return the key to a sheet, with every step."""
    body = _top(made, 1)
    for task in made.tasks:
        body += f"== {task.number}. {text(task.text)} ({points(task.points)})\n"
        for head, table in enumerate(task.tables):
            lines = "".join(
                f", [{text(f'{label}: ')}{_powers(line)}]"
                for label, line in steps(made, task.stage, head)
            )
            body += f"#worked({_table(table)}{lines})\n"
    return body


def _model_tasks(made: ModelSheet | None) -> str:
    """Return the tasks from the trained model, on a page of their own."""
    if made is None:
        return ""
    story = _marked(f"*{' '.join(made.story)}* …")
    body = f"#pagebreak()\n== {text(MODEL.capitalize())}: {story}\n"
    for number, (question, tables) in enumerate(zip(made.questions, made.tables, strict=True), 1):
        given = ", ".join(_table(table, "medium") for table in tables)
        body += f"*{number}.* {_marked(question)}\n#side-by-side({given})\n#work\n"
    return body


def _model_key(made: ModelSheet | None) -> str:
    if made is None:
        return ""
    lines = "".join(f"- {_marked(line)}\n" for line in made.answers)
    raised = re.sub(r"e\\\^(\\\(.*\\\))", r"e#super[\1]", lines)
    return f"== {text(MODEL.capitalize())}\n{raised}"


def _marked(line: str) -> str:
    """Return a line of Markdown whose words between asterisks are set in italics."""
    parts = line.split("*")
    return "".join(f"#emph[{text(part)}]" if i % 2 else text(part) for i, part in enumerate(parts))


def _answers(made: Worksheet) -> str:
    """Return the answers to a sheet alone, to lay beside it."""
    tables = [
        _table(replace(table, caption=_short(task, head)), "answer")
        for task in made.tasks
        for head, table in enumerate(task.tables)
    ]
    return f"#short[{_top(made, 2)}#side-by-side({', '.join(tables)})]\n"


def _short(task: Task, head: int) -> str:
    """Return what is short enough to stand above a small table."""
    title = task.text.partition(":")[0].partition(" of the")[0]
    return f"{task.number}. {title}" + f", Head {head + 1}" * (len(task.tables) > 1)


def _top(made: Worksheet, level: int) -> str:
    said = f"#block(sticky: true)[{text(tolerance(made))}]" if made.rounded else ""
    return f"{'=' * level} {_of('Worksheet', made)[0]}\n{said}\n\n"


def _rubric(made: Worksheet) -> str:
    """Return how the sheets of a class are marked; all ask the same of other numbers."""
    rows = "".join(
        f", [{task.number}], [{text(task.text.partition(':')[0])}], [{task.points}],"
        f" [{text(MISTAKES[task.stage])}]"
        for task in made.tasks
    )
    header = array(["[Task]", "[Stage]", "[Points]", "[What goes wrong most often]"])
    rules = "".join(f"- {text(rule)}\n" for rule in RULES)
    return (
        f"= How to mark\nA point for each row of a table, {points(made.points)} in all.\n\n"
        f"{rules}\n#words((auto, auto, auto, 1fr), {header}{rows})\n"
    )


def _table(table: Table, kind: str = "values") -> str:
    """Return a table as code, of a kind that the template knows."""
    header = array(f"[{text(cell)}]" for cell in table.header)
    cells = "".join(
        f", [_{text(cell)}_]" if i == 0 else f", [{text(cell)}]"
        for row in table.rows
        for i, cell in enumerate(row)
    )
    return f"{kind}([{text(table.caption)}], {header}{cells})"


def _powers(line: str) -> str:
    """Return a line of arithmetic whose powers of e are raised."""
    return re.sub(r"e\\\^(\S+)", r"e#super[\1]", text(line))
