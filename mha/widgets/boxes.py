"""The boxes in which a reader computes one number: an exercise with a field, hints, new numbers."""

import json
import math
import re
from collections.abc import Iterable
from dataclasses import dataclass
from html import escape

from mha.practice.calculations import templates
from mha.practice.exercise import NumericExercise, numeric_exercise
from mha.runs.record import Trace
from mha.views.table import no_tags

LABELS = {
    "title": "Your turn",
    "answer": "Your answer",
    "check": "Check",
    "hint": "Hint",
    "fresh": "New numbers",
    "worked": "Worked answer",
    "print_line": "Answer:",
}
"""What the box says; what it says while it is used stands in the page's strings."""

BLANK = r"\_" * 20
"""Where the answer is written in print, as Markdown."""


@dataclass(frozen=True)
class YourTurn:
    """An exercise as a box on a page, with an answer field, hints and new numbers.

    Parameters
    ----------
    exercise : NumericExercise
    name : str
        The box's id, one of its kind on the page; progress is kept by it.
    variants : bool, default True
        Offer new numbers, drawn in the browser.

    Raises
    ------
    ValueError
        If `name` is no id.
    """

    exercise: NumericExercise
    name: str
    variants: bool = True

    def __post_init__(self) -> None:
        if not re.fullmatch(r"[a-z][a-z0-9-]*", self.name):
            raise ValueError(
                f"name is {self.name!r}; lower-case words joined by hyphens are wanted"
            )

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:
        """Return HTML for a notebook, and Markdown that holds an HTML and a print form."""
        return {
            "text/html": self._html(),
            "text/markdown": self._markdown(),
            "text/plain": str(self.exercise),
        }

    def _markdown(self) -> str:
        """Return MyST that shows the box in HTML, and the question with a line in print."""
        exercise = self.exercise
        question = [
            _markdown(exercise.question),
            "\n".join(f"- {_markdown(str(given))}" for given in exercise.givens),
            f"{exercise.rounding} {LABELS['print_line']} {BLANK}",
        ]
        lines = ["~~~~{raw} html", self._html(), "~~~~", ""]
        lines += ["~~~~{only} latex", f"~~~{{admonition}} {LABELS['title']}"]
        lines += ["\n\n".join(question), "~~~", "~~~~"]
        return "\n".join(lines)

    def _html(self) -> str:
        """Return the box; without a script the question and the worked answer read as they are."""
        exercise, name = self.exercise, escape(self.name)
        givens = "".join(
            f"<li>{_marked_up(given.label)}:"
            f' <span class="your-turn-given">{given.numbers}</span></li>'
            for given in exercise.givens
        )
        fresh = (
            '<button type="button" class="reading-button your-turn-fresh">'
            f"{LABELS['fresh']}</button>"
            if self.variants
            else ""
        )
        return (
            f'<mha-your-turn id="{name}" role="group" aria-labelledby="{name}-title">'
            f'<p class="your-turn-title" id="{name}-title">{LABELS["title"]}'
            ' <span class="reading-done"></span></p>'
            f'<p class="your-turn-question" id="{name}-question">'
            f"{_marked_up(exercise.question)}</p>"
            f'<ul class="your-turn-givens" id="{name}-givens">{givens}</ul>'
            f'<p class="your-turn-rounding" id="{name}-rounding">{exercise.rounding}</p>'
            '<form class="your-turn-form" novalidate>'
            f'<label for="{name}-answer">{LABELS["answer"]}</label> '
            f'<input id="{name}-answer" type="text" inputmode="decimal" autocomplete="off"'
            f' spellcheck="false" size="9" aria-describedby="{name}-question'
            f' {name}-givens {name}-rounding">'
            f'<button type="submit" class="reading-button">{LABELS["check"]}</button>'
            '<button type="button" class="reading-button your-turn-hint">'
            f"{LABELS['hint']}</button>{fresh}"
            '<div class="your-turn-feedback" role="status"></div>'
            '<ol class="your-turn-hints" aria-live="polite"></ol></form>'
            f'<details class="your-turn-worked"><summary>{LABELS["worked"]}</summary>'
            f"<p>{_marked_up(exercise.worked_line)}</p></details>"
            f'<script type="application/json">{self._json()}</script></mha-your-turn>'
        )

    def _json(self) -> str:
        """Return what the script computes with. The answer is not among it."""
        exercise = self.exercise
        data = {
            "kind": exercise.kind,
            "givens": [_finite(given.values) for given in exercise.givens],
            "shownPlaces": exercise.givens[0].places,
            "column": exercise.column,
            "places": exercise.places,
            "percent": exercise.percent,
            "hints": templates(exercise.kind, exercise.givens),
            "draw": _draws(exercise) if self.variants else None,
        }
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
        As for `numeric_exercise`, or if `name` is no id.

    Examples
    --------
    >>> from mha import load_example, trace
    >>> your_turn(trace(load_example("cat-sat")), "scores", 0, 1).name
    'turn-cat-sat-scores-1-1-2'
    """
    exercise = numeric_exercise(run, stage, row, column, head, places=places, percent=percent)
    cell = f"{stage.replace('_', '-')}-{head + 1}-{row + 1}-{column + 1}"
    return YourTurn(exercise, f"turn-{run.example.name}-{cell}" if name is None else name, variants)


def _finite(values: Iterable[float]) -> list[float | None]:
    """Return numbers for JSON, which has no infinity: a masked score is null."""
    return [value if math.isfinite(value) else None for value in values]


def _draws(exercise: NumericExercise) -> list[str]:
    """Return from where the script draws each group of operands anew."""
    whole = all(value.is_integer() for given in exercise.givens for value in given.values)
    is_mixed = exercise.origin.operation == "mixed"
    ordinary = "whole" if whole and not is_mixed else "tenths"
    fixed = ["same"] * (len(exercise.givens) - 1)  # of a scaled score: its factor, its mask's term
    return {
        "products": ["shares" if is_mixed else ordinary, ordinary],
        "root": ["scores", *fixed],
        "times": ["scores", *fixed],
        "power": ["exponents"],
        "sum": ["exponentials"],
        "share": ["exponents"],
    }[exercise.kind]


def _marked_up(text: str) -> str:
    """Return HTML in which tokens are emphasised and exponents raised."""
    raised = re.sub(r"\^([^\s,]+)", r"<sup>\1</sup>", escape(text))
    return re.sub(r"\*(.+?)\*", r"<em>\1</em>", raised)


def _markdown(text: str) -> str:
    """Return Markdown in which a token such as <end> is text, and one like a role does nothing."""
    return re.sub(r"\^([^\s,]+)", r"{sup}`\1`", no_tags(text))
