"""Boxes with exercises: fields for the answers, hints, and new numbers on request."""

import json
import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape

from mha.practice.calculations import hint_templates
from mha.practice.exercise import NumericExercise, numeric_exercise
from mha.practice.mistakes import mistakes, operand_mistakes
from mha.practice.operand_ranges import operand_ranges
from mha.runs.record import Trace
from mha.runs.rounding import is_tie
from mha.views.table import escape_tags

LABELS = {
    "title": "Your turn",
    "answer": "Your answer",
    "check": "Check",
    "hint": "Hint",
    "fresh": "Another set",
    "worked": "Worked answer",
    "print_line": "Answer:",
}
"""The labels of a box; the sentences that scripts show are in `strings/your-turn.ts`."""

BLANK = r"\_" * 20
SHORT_BLANK = r"\_" * 8
"""The blanks for answers in print, as Markdown."""


def for_page_and_print(html: str, printed: str, answer: str) -> str:
    """Return MyST with HTML for a page, and a box and its answer for print.

    Parameters
    ----------
    html, printed : str
    answer : str
        The answer. Its box has the class ``your-turn-answer``, which the printed book moves to the
        answers.

    Returns
    -------
    str
    """
    lines = ["~~~~{raw} html", html, "~~~~", "", "~~~~{only} typst"]
    lines += [f"~~~{{admonition}} {LABELS['title']}", ":class: your-turn", "", printed, "~~~", ""]
    lines += [f"~~~{{admonition}} {LABELS['worked']}", ":class: your-turn-answer", "", answer]
    return "\n".join([*lines, "~~~", "~~~~"])


@dataclass(frozen=True)
class YourTurn:
    """A box on a page with one or more exercises, with a field for each, hints and new numbers.

    Parameters
    ----------
    exercises : tuple of NumericExercise
    name : str
        The box's id, which is unique on the page; a reader's progress is stored under it.
    variants : bool, default True
        Whether new numbers are offered, which the browser draws.
    other_mistakes : tuple of tuple of (str, float), optional
        For each exercise the mistakes that do not follow from its operands: a name of
        `mha.practice.mistakes.NAMES`, and the wrong answer.
    row : str, default ""
        The common question, if the exercises are the numbers of one row.
    cells : tuple of str, default ()
        The labels of the fields of a row; a word between asterisks is a token.

    Raises
    ------
    ValueError
        If `name` is not an id.
    """

    exercises: tuple[NumericExercise, ...]
    name: str
    variants: bool = True
    other_mistakes: tuple[tuple[tuple[str, float], ...], ...] = ()
    row: str = ""
    cells: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not re.fullmatch(r"[a-z][a-z0-9-]*", self.name):
            raise ValueError(
                f"name is {self.name!r}; lower-case words joined by hyphens are wanted"
            )

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:
        """Return HTML for a notebook, and Markdown with a form for pages and one for print."""
        return {
            "text/html": self._html(),
            "text/markdown": self._markdown(),
            "text/plain": "\n".join(map(str, self.exercises)),
        }

    @property
    def _givens(self) -> dict[str, str]:
        """The address of each group of operands in the exercises, by its text."""
        found: dict[str, str] = {}
        for i, exercise in enumerate(self.exercises):
            for j, given in enumerate(exercise.givens):
                found.setdefault(str(given), f"{i}.{j}")
        return found

    # ---- Print ----

    def _markdown(self) -> str:
        """Return MyST with the box in HTML, and for print the questions with blanks and answers."""
        answers = (_markdown(exercise.worked_line) for exercise in self.exercises)
        return for_page_and_print(self._html(), "\n\n".join(self._printed()), "\n\n".join(answers))

    def _printed(self) -> Iterable[str]:
        """Yield the paragraphs of the print form."""
        if self.row:
            yield _markdown(self.row)
            yield "\n".join(f"- {_markdown(given)}" for given in self._givens)
            blanks = (f"{_markdown(cell)} {SHORT_BLANK}" for cell in self.cells)
            yield f"{self.exercises[0].rounding} {', '.join(blanks)}"
            return
        for exercise in self.exercises:
            yield _markdown(exercise.question)
            yield "\n".join(f"- {_markdown(str(given))}" for given in exercise.givens)
            yield f"{exercise.rounding} {LABELS['print_line']} {BLANK}"

    # ---- The page ----

    def _html(self) -> str:
        """Return the box as HTML, which shows questions and worked answers without scripts too."""
        name, kind = escape(self.name), "row" if self.row else "several"
        kind = kind if len(self.exercises) > 1 else "one"
        worked = "".join(f"<p>{_to_html(e.worked_line)}</p>" for e in self.exercises)
        fresh = (
            '<button type="button" class="reading-button your-turn-fresh">'
            f"{LABELS['fresh']}</button>"
            if self.variants
            else ""
        )
        return (
            f'<mha-your-turn id="{name}" class="your-turn-{kind}" role="group"'
            f' aria-labelledby="{name}-title">'
            f'<p class="your-turn-title" id="{name}-title">{LABELS["title"]}'
            ' <span class="reading-done"></span></p>'
            f'<form class="your-turn-form" novalidate>{self._row() if self.row else self._parts()}'
            '<div class="your-turn-controls">'
            f'<button type="submit" class="reading-button">{LABELS["check"]}</button>'
            '<button type="button" class="reading-button your-turn-hint">'
            f"{LABELS['hint']}</button>{fresh}</div>"
            '<div class="your-turn-feedback" role="status"></div>'
            '<ol class="your-turn-hints" aria-live="polite"></ol></form>'
            f'<details class="your-turn-worked"><summary>{LABELS["worked"]}</summary>'
            f"{worked}</details>"
            f'<script type="application/json">{self._json()}</script></mha-your-turn>'
        )

    def _parts(self) -> str:
        """Return each question with its field."""
        several = len(self.exercises) > 1
        return "".join(
            self._question(f"-{i + 1}" if several else "", exercise.question, exercise.rounding,
                           {str(given): f"{i}.{j}" for j, given in enumerate(exercise.givens)})
            + self._field(
                f"-{i + 1}" if several else "",
                f"{LABELS['answer']} {i + 1}" if several else LABELS["answer"],
            )
            for i, exercise in enumerate(self.exercises)
        )  # fmt: skip

    def _row(self) -> str:
        """Return the question of a row with a field for each of its numbers."""
        fields = "".join(
            self._field(f"-{i + 1}", _to_html(cell), described="")
            for i, cell in enumerate(self.cells)
        )
        question = self._question("", self.row, self.exercises[0].rounding, self._givens)
        return f'{question}<div class="your-turn-cells">{fields}</div>'

    def _question(self, suffix: str, question: str, rounding: str, givens: dict[str, str]) -> str:
        """Return a question with its numbers, each with its address in the data."""
        name = escape(self.name)
        items = ""
        for text, at in givens.items():
            label, _, numbers = text.rpartition(": ")
            items += (
                f"<li>{_to_html(label)}:"
                f' <span class="your-turn-given" data-at="{at}">{numbers}</span></li>'
            )
        return (
            '<div class="your-turn-part">'
            f'<p class="your-turn-question" id="{name}-question{suffix}">'
            f"{_to_html(question)}</p>"
            f'<ul class="your-turn-givens" id="{name}-givens{suffix}">{items}</ul>'
            f'<p class="your-turn-rounding" id="{name}-rounding{suffix}">{rounding}</p></div>'
        )

    def _field(self, suffix: str, label: str, described: str | None = None) -> str:
        """Return a field with its label, and an empty mark if there are several fields."""
        name = escape(self.name)
        described = suffix if described is None else described
        mark = f' <span class="your-turn-mark" id="{name}-mark{suffix}"></span>' if suffix else ""
        by_mark = f" {name}-mark{suffix}" if suffix else ""
        return (
            f'<div class="your-turn-field"><label for="{name}-answer{suffix}">{label}</label> '
            f'<input id="{name}-answer{suffix}" type="text" autocomplete="off"'
            f' autocapitalize="off" spellcheck="false" size="9"'
            f' aria-describedby="{name}-question{described}'
            f" {name}-givens{described} {name}-rounding{described}"
            f'{by_mark}">{mark}</div>'
        )

    def _json(self) -> str:
        """Return the data of the script, which computes the answers itself."""
        other_mistakes = self.other_mistakes or ((),) * len(self.exercises)
        pairs = zip(self.exercises, other_mistakes, strict=True)
        tasks = [_task_data(exercise, known, self.variants) for exercise, known in pairs]
        # The exercises of a row share their operands, so new ones are drawn once for all.
        data = {"tasks": tasks, "together": bool(self.row)}
        return json.dumps(data, ensure_ascii=False).replace("</", "<\\/")


def your_turn(
    run: Trace,
    stage: str,
    row: int,
    column: int = 0,
    head: int = 0,
    *,
    places: int | None = None,
    percent: bool = False,
    name: str | None = None,
    variants: bool = True,
) -> YourTurn:
    """Return an exercise as a box for a page.

    Parameters
    ----------
    run : Trace
    stage, row, column, head, places, percent
        As for `numeric_exercise`.
    name : str, default the example, the stage and the cell
    variants : bool, default True

    Returns
    -------
    YourTurn

    Raises
    ------
    TypeError, ValueError
        As for `numeric_exercise`, or if `name` is not an id.

    Examples
    --------
    >>> from mha import load_example, trace
    >>> your_turn(trace(load_example("cat-sat")), "scores", 0, 1).name
    'turn-cat-sat-scores-1-1-2'
    """
    exercise = numeric_exercise(run, stage, row, column, head, places=places, percent=percent)
    if is_tie(exercise.expected, exercise.places):
        raise ValueError(
            f"the answer, {exercise.expected}, lies halfway between two numbers of"
            f" {exercise.places} decimals; another number of places is wanted"
        )
    cell = f"{stage.replace('_', '-')}-{head + 1}-{row + 1}-{column + 1}"
    by_operands = operand_mistakes(exercise)
    other_mistakes = tuple(
        (known.name, _round_off(known.value))
        for known in mistakes(run, exercise)
        if known not in by_operands
    )
    name = f"turn-{run.example.name}-{cell}" if name is None else name
    # The browser cannot compute GELU's second operand, the normal distribution, for new numbers.
    can_vary = variants and exercise.origin.operation != "gelu"
    return YourTurn((exercise,), name, can_vary, (other_mistakes,))


def one_box(*boxes: YourTurn, name: str | None = None) -> YourTurn:
    """Return one box with the fields of several boxes.

    Parameters
    ----------
    *boxes : YourTurn
    name : str, optional
        By default, the name of the first box and the number of the others.

    Returns
    -------
    YourTurn

    Examples
    --------
    >>> from mha import load_example, trace
    >>> run = trace(load_example("the-cat-sat"))
    >>> one_box(your_turn(run, "key", 2, 0), your_turn(run, "value", 2, 1)).name
    'turn-the-cat-sat-key-1-3-1-and-1-more'
    """
    return YourTurn(
        sum((box.exercises for box in boxes), ()),
        name or f"{boxes[0].name}-and-{len(boxes) - 1}-more",
        all(box.variants for box in boxes),
        sum((box.other_mistakes for box in boxes), ()),
    )


def your_turns(
    run: Trace,
    stage: str,
    cells: Sequence[tuple[int, ...]],
    head: int = 0,
    *,
    places: int | None = None,
    percent: bool = False,
    name: str | None = None,
    variants: bool = True,
) -> YourTurn:
    """Return one box that asks for several numbers of one stage.

    Parameters
    ----------
    run : Trace
    stage, places, percent, name, variants
        As for `your_turn`.
    cells : sequence of tuple of int
        For each number its row and column, and its head if that is not `head`.
    head : int, default 0

    Returns
    -------
    YourTurn

    Examples
    --------
    >>> from mha import load_example, trace
    >>> run = trace(load_example("the-cat-sat"))
    >>> len(your_turns(run, "scores", [(0, 1), (0, 2)], head=1).exercises)
    2
    """
    options = {"places": places, "percent": percent, "variants": variants}
    boxes = [
        your_turn(run, stage, row, column, *([*rest, head][:1]), **options)  # type: ignore[arg-type]
        for row, column, *rest in cells
    ]
    return one_box(*boxes, name=name)


def _task_data(
    exercise: NumericExercise, other_mistakes: Iterable[tuple[str, float]], variants: bool
) -> dict[str, object]:
    """Return the data of one exercise for the script."""
    return {
        "kind": exercise.kind,
        "givens": [_as_json_numbers(given.values) for given in exercise.givens],
        "shownPlaces": exercise.givens[0].places,
        "column": exercise.column,
        "places": exercise.places,
        "percent": exercise.percent,
        "hints": hint_templates(exercise.kind, exercise.givens),
        "draw": operand_ranges(exercise) if variants else None,
        "elsewhere": list(other_mistakes),
    }


def _as_json_numbers(values: Iterable[float]) -> list[float | None]:
    """Return numbers for JSON, which has no infinity, so that a masked score becomes null."""
    return [_round_off(value) if math.isfinite(value) else None for value in values]


def _round_off(value: float) -> float:
    """Return a number without its last digits, which differ between machines."""
    return round(value, 10) + 0.0  # no negative zero


def _to_html(text: str) -> str:
    """Return HTML with emphasised tokens, superscript exponents and d_k with a subscript."""
    raised = re.sub(r"\^([^\s,]+)", r"<sup>\1</sup>", escape(text))
    lowered = re.sub(r"\bd_k\b", "<em>d</em><sub>k</sub>", raised)
    return re.sub(r"\*(.+?)\*", r"<em>\1</em>", lowered)


def _markdown(text: str) -> str:
    """Return Markdown in which a token such as <end> or {role} is plain text."""
    return re.sub(r"\^([^\s,]+)", r"{sup}`\1`", escape_tags(text))
