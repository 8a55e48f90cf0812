"""The question bank: every question of the book, and fresh numbers of each kind, to be imported.

Moodle reads its own XML; GIFT is a text that others read too; a QTI 2.1 package is an archive that
most other systems read, and Canvas reads one with a few words of its own. Formulas are MathML.
"""

import re
from collections.abc import Iterator, Sequence
from html import escape
from pathlib import Path

import numpy as np

from byhand.press.archives import packed
from mha.practice.drawing import LEVELS, SENTENCES, draw_example
from mha.practice.exercise import NumericExercise, numeric_exercise
from mha.practice.wordings import WORDINGS
from mha.runs.places import places
from mha.runs.record import Trace, trace
from mha.runs.stages import STAGES
from packs import alone, formats
from packs.pages import Page, Question, marked, rounding

README = Path(__file__).with_suffix(".md")
FRESH = "Fresh numbers"
"""The chapter of the questions that are drawn."""


def bank(pages: Sequence[Page], seed: int, variants: int) -> list[Question]:
    """Return every question of the book, and so many fresh ones of each kind of number."""
    drawn = [question for stage in drawable() for question in fresh(stage, seed, variants)]
    return [*alone.questions(pages), *drawn]


def drawable() -> list[str]:
    """Return the stages of which questions are drawn: those that a drawn run has."""
    run = _drawn(np.random.default_rng(0), 0)
    return [stage for stage in WORDINGS if STAGES[stage].array(run) is not None]


def fresh(stage: str, seed: int, variants: int) -> Iterator[Question]:
    """Yield questions for numbers of one stage, in rising difficulty."""
    order = list(WORDINGS)
    for number in range(variants):
        rng = np.random.default_rng([seed, order.index(stage), number])
        run = _drawn(rng, number)
        possible = list(places(run, stage))
        place = possible[int(rng.integers(len(possible)))]
        exercise = numeric_exercise(run, stage, place.row or 0, place.column or 0, place.head or 0)
        decimals, sentence = rounding(exercise.answer, exercise.places, percent=exercise.percent)
        yield Question(
            name=f"fresh-{seed}-{stage.replace('_', '-')}-{number + 1}",
            chapter=f"{FRESH}: {stage.replace('_', ' ')}",
            text=_asked(exercise, sentence),
            feedback=f"<p>{_raised(exercise.worked_line)}</p>",
            answer=exercise.asked,
            places=decimals,
            difficulty=_difficulty(number),
        )


def _drawn(rng: np.random.Generator, number: int) -> Trace:
    sentence = SENTENCES[number % len(SENTENCES)]
    example = draw_example(
        rng, num_heads=2, with_output=True, difficulty=_difficulty(number), sentence=sentence
    )
    return trace(example)


def _difficulty(number: int) -> str:
    return list(LEVELS)[number % len(LEVELS)]


def _asked(exercise: NumericExercise, rounding: str) -> str:
    """Return a question with what it gives, as HTML."""
    givens = "".join(f"<li>{marked(str(given))}</li>" for given in exercise.givens)
    return f"<p>{marked(exercise.question)}</p><ul>{givens}</ul><p>{escape(rounding)}</p>"


def _raised(line: str) -> str:
    return re.sub(r"e\^(\S+)", r"e<sup>\1</sup>", escape(line))


def files(questions: Sequence[Question]) -> dict[str, bytes]:
    """Return the bank in each format, by the files' names."""
    return {
        "README.md": README.read_bytes(),
        "questions-moodle.xml": formats.written("moodle.xml", questions=questions).encode(),
        "questions.gift": formats.written("questions.gift", questions=questions).encode(),
        "questions-qti.zip": packed(formats.package(questions)),
        "questions-canvas.zip": packed(formats.package(questions, for_canvas=True)),
    }
