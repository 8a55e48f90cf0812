"""The question bank: every question of the book, and fresh numbers of each kind, to be imported.

GIFT is a text that Moodle and others read; a QTI 2.1 package is an archive that most other learning
systems read. Formulas are MathML in both.
"""

import re
import zipfile
from collections.abc import Iterator, Sequence
from html import escape
from pathlib import Path

import numpy as np

from mha.practice.drawing import LEVELS, SENTENCES, draw_example
from mha.practice.exercise import NumericExercise, half_unit, numeric_exercise
from mha.practice.wordings import WORDINGS
from mha.runs.places import Place, places
from mha.runs.record import Trace, trace
from mha.runs.stages import STAGES
from packs import qti
from packs.pages import Page, Question
from packs.pages import questions as of_page

FRESH = "Fresh numbers"
"""The chapter of the questions that are drawn."""


def bank(pages: Sequence[Page], seed: int, variants: int) -> list[Question]:
    """Return every question of the book, and so many fresh ones of each kind of number."""
    found = [question for page in pages for question in of_page(page)]
    return found + [question for stage in drawable() for question in fresh(stage, seed, variants)]


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
        place = _some_place(rng, run, stage)
        exercise = numeric_exercise(run, stage, place.row or 0, place.column or 0, place.head or 0)
        yield Question(
            name=f"fresh-{stage.replace('_', '-')}-{number + 1}",
            chapter=f"{FRESH}: {stage.replace('_', ' ')}",
            text=_asked(exercise),
            feedback=f"<p>{_raised(exercise.worked_line)}</p>",
            answer=exercise.asked,
            places=exercise.places,
        )


def _drawn(rng: np.random.Generator, number: int) -> Trace:
    difficulty = list(LEVELS)[number % len(LEVELS)]
    sentence = SENTENCES[number % len(SENTENCES)]
    example = draw_example(
        rng, num_heads=2, with_output=True, difficulty=difficulty, sentence=sentence
    )
    return trace(example)


def _some_place(rng: np.random.Generator, run: Trace, stage: str) -> Place:
    possible = list(places(run, stage))
    return possible[int(rng.integers(len(possible)))]


def _asked(exercise: NumericExercise) -> str:
    """Return a question with what it gives, as HTML."""
    givens = "".join(f"<li>{_marked(str(given))}</li>" for given in exercise.givens)
    question, rounding = _marked(exercise.question), escape(exercise.rounding)
    return f"<p>{question}</p><ul>{givens}</ul><p>{rounding}</p>"


def _marked(text: str) -> str:
    """Return text whose tokens, which stand between asterisks, are emphasised."""
    return re.sub(r"\*([^*]+)\*", r"<em>\1</em>", escape(text))


def _raised(line: str) -> str:
    return re.sub(r"e\^(\S+)", r"e<sup>\1</sup>", escape(line))


# ---- GIFT ----


def as_gift(questions: Sequence[Question]) -> str:
    """Return questions in the GIFT format, a category a chapter."""
    parts, chapter = [], ""
    for question in questions:
        if question.chapter != chapter:
            chapter = question.chapter
            parts.append(f"$CATEGORY: Attention by Hand/{chapter.replace('/', ' ')}")
        parts.append(f"::{question.name}::[html]{_gift(question.text)}{{{_answers(question)}}}")
    return "\n\n".join(parts) + "\n"


def _answers(question: Question) -> str:
    said = f"####{_gift(question.feedback)}" if question.feedback else ""
    if question.kind == "essay":
        return said
    if question.answer is not None:
        return f"#{_number(question.answer)}:{half_unit(question.places):.9g}{said}"
    right = sum(option.is_right for option in question.options)
    wrong = len(question.options) - right
    lines = []
    for option in question.options:
        mark = "=" if option.is_right else "~"
        if question.is_multiple:
            share = 100 / right if option.is_right else -100 / max(wrong, 1)
            mark = f"~%{share:.5g}%"
        lines.append(f"{mark}{_gift(option.text)}#{_gift(option.feedback)}")
    return "\n" + "\n".join(lines) + said + "\n"


def _gift(text: str) -> str:
    """Return text in which no character is a sign of the format."""
    return re.sub(r"([\\~=#{}:])", r"\\\1", text)


def _number(value: float) -> str:
    """Return a number with its digits, without an exponent."""
    return np.format_float_positional(value, precision=12, trim="-")


# ---- Files ----


def write(questions: Sequence[Question], folder: Path) -> list[Path]:
    """Write the bank in both formats, and return the files."""
    gift, package = folder / "questions.gift", folder / "questions-qti.zip"
    gift.write_text(as_gift(questions), encoding="utf-8")
    with zipfile.ZipFile(package, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in qti.package(questions).items():
            # A fixed date, so that the same questions give the same bytes.
            archive.writestr(zipfile.ZipInfo(name, (2026, 1, 1, 0, 0, 0)), text)
    return [gift, package]
