"""The question bank: the questions of the book, and questions with fresh numbers, for import.

Moodle reads its own XML; other programs read GIFT, a text format; most other systems read a QTI 2.1
package, which is an archive. The templates are in `formats`. Formulas are MathML.

Canvas's reader (gems/plugins/qti_exporter of instructure/canvas-lms) treats a number as words in a
gap, which it compares letter by letter, unless the manifest has elements of its own that QTI lacks.
Therefore Canvas has a package of its own, with the same items.
"""

import re
import textwrap
from base64 import b64encode
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from html import escape
from math import inf
from pathlib import Path
from typing import Any

import numpy as np
from templates import templates

from byhand.document import BOOK
from byhand.press.archives import pack
from mha.practice.exercise import NumericExercise, numeric_exercise
from mha.practice.exercise_wording import WORDINGS
from mha.practice.random_inputs import (
    LEVELS,
    SENTENCES,
    TRIVIAL,
    draw_short_example,
    without_trivial_factors,
)
from mha.runs.places import stage_places
from mha.runs.record import Trace, trace
from mha.runs.rounding import rounded
from mha.runs.stages import STAGES
from packs import standalone_questions
from packs.pages import INTEGER_TOLERANCE, Page, Question, emphasised, rounding

README = Path(__file__).with_suffix(".md")
FRESH = "Fresh numbers"
"""The chapter of the questions that are drawn."""

MAX_ALT_LENGTH = 256
"""Characters that QTI allows to stand in the place of a picture."""

MAX_LONG_PRODUCTS = {"easy": 0, "medium": 1, "hard": inf}
"""Products of two factors with several significant digits each that a fresh question may have."""

LONG_ALT = re.compile(rf'(?<= alt=")[^"]{{{MAX_ALT_LENGTH + 1},}}')


def bank(pages: Sequence[Page], seed: int, variants: int, address: str = "") -> list[Question]:
    """Return every question of the book, and `variants` fresh questions of each kind.

    Questions of the book link to its pages at `address`, if it is not empty.
    """
    drawn = [question for stage in drawable() for question in fresh(stage, seed, variants)]
    return with_different_titles([*standalone_questions.questions(pages, address), *drawn])


def with_different_titles(questions: Iterable[Question]) -> list[Question]:
    """Return questions, those with a title that occurred before numbered from 2."""
    counts: Counter[str] = Counter()
    numbered = []
    for question in questions:
        counts[question.title] += 1
        numbered.append(replace(question, number=counts[question.title]))
    return numbered


def drawable() -> list[str]:
    """Return the stages for which questions are drawn: those of a random run."""
    run = _drawn(np.random.default_rng(0), 0, "output")
    return [stage for stage in WORDINGS if STAGES[stage].array(run) is not None]


def fresh(stage: str, seed: int, variants: int) -> Iterator[Question]:
    """Yield questions for numbers of one stage, in rising difficulty."""
    order = list(WORDINGS)
    for number in range(variants):
        rng = np.random.default_rng([seed, order.index(stage), number])
        exercise = _exercise(rng, stage, number)
        decimals, sentence = rounding(exercise.answer, exercise.places, percent=exercise.percent)
        yield Question(
            name=f"fresh-{seed}-{stage.replace('_', '-')}-{number + 1}",
            chapter=f"{FRESH}: {stage.replace('_', ' ')}",
            text=_question_with_givens(exercise, sentence),
            feedback=f"<p>{_superscripts(exercise.worked_line)}</p>",
            answer=exercise.expected,
            places=decimals,
            difficulty=_difficulty(number),
        )


def _exercise(rng: np.random.Generator, stage: str, number: int) -> NumericExercise:
    """Return a random exercise of a stage that is not trivial."""
    while True:
        run = _drawn(rng, number, stage)
        possible = list(stage_places(run, stage))
        for i in rng.permutation(len(possible)):
            place = possible[i]
            cell = (place.row or 0, place.column or 0, place.head or 0)
            exercise = numeric_exercise(run, stage, *cell)
            if not _is_trivial(exercise) and not _is_laborious(exercise, _difficulty(number)):
                return exercise


def _is_trivial(exercise: NumericExercise) -> bool:
    """Return whether an exercise leaves nothing to compute, or rounding would hide its answer.

    A factor 0, 1 or −1, a score 0 or an exponent 0 leaves nothing to compute. Rounding hides an
    answer that is printed as 0 but is not 0, and a whole answer that rounded givens do not give.
    """
    printed = [[rounded(x, given.places) for x in given.values] for given in exercise.givens]
    decimals, _ = rounding(exercise.answer, exercise.places, percent=exercise.percent)
    is_lost = exercise.answer != 0 == rounded(exercise.expected, decimals)
    if is_lost or (decimals == 0 and _is_rounded(exercise)):
        return True
    if exercise.kind == "products":
        return any(x in TRIVIAL for group in printed for x in group)
    return exercise.kind in ("root", "power") and printed[0] == [0]


def _is_laborious(exercise: NumericExercise, difficulty: str) -> bool:
    """Return whether an exercise has more products of two long factors than its difficulty allows.

    A factor is long if it has two or more significant digits.
    """
    if exercise.kind != "products":
        return False
    factors = [
        [
            len(f"{abs(rounded(x, given.places)):.12g}".replace(".", "").strip("0")) > 1
            for x in given.values
        ]
        for given in exercise.givens[:2]
    ]
    return sum(map(all, zip(*factors, strict=True))) > MAX_LONG_PRODUCTS[difficulty]


def _is_rounded(exercise: NumericExercise) -> bool:
    """Return whether some given is printed with fewer decimals than it has."""
    return any(
        abs(rounded(x, given.places) - x) > INTEGER_TOLERANCE
        for given in exercise.givens
        for x in given.values
    )


def _drawn(rng: np.random.Generator, number: int, stage: str) -> Trace:
    sentence, difficulty = SENTENCES[number % len(SENTENCES)], _difficulty(number)
    example = draw_short_example(
        rng, num_heads=2, with_output=True, difficulty=difficulty, sentence=sentence
    )
    if stage in ("query", "key", "value", "scores"):
        example = without_trivial_factors(rng, example, difficulty, keep_scores=False)
    if stage in ("head_outputs", "head_contributions", "output"):
        example = without_trivial_factors(rng, example, difficulty, keep_scores=True)
    return trace(example)


def _difficulty(number: int) -> str:
    return list(LEVELS)[number % len(LEVELS)]


def _question_with_givens(exercise: NumericExercise, rounding: str) -> str:
    """Return a question with its givens, as HTML."""
    givens = "".join(
        f"<li>{emphasised(str(given)).replace('d_k', '<em>d</em><sub>k</sub>')}</li>"
        for given in exercise.givens
    )
    return f"<p>{emphasised(exercise.question)}</p><ul>{givens}</ul><p>{escape(rounding)}</p>"


def _superscripts(line: str) -> str:
    return re.sub(r"e\^(\S+)", r"e<sup>\1</sup>", escape(line))


def files(questions: Sequence[Question]) -> dict[str, bytes]:
    """Return the bank in each format, by the files' names."""
    return {
        "README.md": README.read_bytes(),
        "questions-moodle.xml": _render("moodle.xml", questions=questions).encode(),
        "questions.gift": _render("questions.gift", questions=questions).encode(),
        "questions-qti.zip": pack(_package(questions)),
        "questions-canvas.zip": pack(_package(questions, for_canvas=True)),
    }


# ---- The formats ----


def _render(template: str, **given: Any) -> str:
    """Return a rendered template."""
    return TEMPLATES.get_template(template).render(given)


def _package(questions: Sequence[Question], *, for_canvas: bool = False) -> dict[str, bytes]:
    """Return the files of a QTI 2.1 package by name: a manifest, items and pictures."""
    manifest = _render("qti-manifest.xml", questions=questions, for_canvas=for_canvas)
    items = {f"{q.name}.xml": _render("qti-item.xml", question=q) for q in questions}
    pictures = {f"images/{name}": svg for q in questions for name, svg in q.files.items()}
    files = {"imsmanifest.xml": manifest, **items, **pictures}
    return {name: text.encode() for name, text in files.items()}


def _linked(html: str, folder: str) -> str:
    """Return HTML whose pictures are in a folder."""
    return standalone_questions.PICTURE.sub(lambda name: folder + name[0], html)


def _with_pictures(html: str, question: Question) -> str:
    """Return HTML with pictures in the places of their names."""
    encoded = {name: b64encode(svg.encode()).decode() for name, svg in question.files.items()}
    return standalone_questions.PICTURE.sub(
        lambda name: f"data:image/svg+xml;base64,{encoded[name[0]]}", html
    )


def _flow(html: str) -> str:
    """Return HTML as a block of QTI: bare text becomes a paragraph, and pictures have a folder."""
    linked = LONG_ALT.sub(
        lambda words: textwrap.shorten(words[0], MAX_ALT_LENGTH, placeholder=" …"),
        _linked(html, "images/"),
    )
    return linked if linked.startswith(("<p", "<ul", "<ol", "<table")) else f"<p>{linked}</p>"


TEMPLATES = templates(Path(__file__).with_name("formats"))
TEMPLATES.globals["title"] = BOOK
TEMPLATES.filters |= {
    "base64": lambda text: b64encode(text.encode()).decode(),
    "pictures": lambda html: sorted({*standalone_questions.PICTURE.findall(html)}),
    "linked": _linked,
    "drawn": _with_pictures,
    "flow": _flow,
    "gift": lambda text: re.sub(r"([\\~=#{}:])", r"\\\1", text),
}
