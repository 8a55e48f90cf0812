"""Exercises in the browser agree with `mha`: numbers, hints, worked lines and verdicts."""

import json
import re
from dataclasses import replace

import numpy as np
import pytest
from answer_oracle import judge_answer, parse_answer, recognise_mistake
from helpers import example, example_with_stage
from reading_book import RUN, Reader

from mha import load_example, trace
from mha.core.norm import Norm
from mha.practice.calculations import FORMULAS
from mha.practice.exercise_wording import WORDINGS
from mha.practice.mistakes import distinct_mistakes, mistakes, operand_mistakes
from mha.practice.operand_ranges import operand_quantities
from mha.runs.origins import is_given
from mha.runs.places import stage_places
from mha.runs.rounding import is_tie, shown
from mha.widgets.boxes import your_turn

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def page(book, browser, modules):
    """Return the page with modules. Tests must not change it."""
    context = browser.new_context()
    made = Reader(book, context)
    page = made.open()
    page.evaluate(modules.read_text(encoding="utf-8"))
    yield page
    context.close()
    assert made.errors == []


def exercises(run, stage, **options):
    """Yield exercises of a stage, each with the data of the page's script."""
    found = list(stage_places(run, stage))
    for place in found[:: max(1, len(found) // 6)]:
        cell = (place.row, place.column or 0, place.head or 0)
        try:
            box = your_turn(run, stage, *cell, **options)
        except ValueError:  # masked: there is nothing to compute
            continue
        (exercise,), (task,) = box.exercises, json.loads(box._json())["tasks"]
        # The page has them without their last digits.
        yield exercise, task | {"givens": [list(given.values) for given in exercise.givens]}


def runs_with(rng, stage):
    """Yield runs that have a stage: with each kind of mask, scale and norm, and with integers."""
    start = example_with_stage(rng, stage)
    n = len(start.tokens)
    mask = np.where(np.eye(n)[::-1], -np.inf, rng.normal(size=(n, n)).round(2))
    others = {"scale": -0.7, "block": replace(start.block, first=Norm(eps=0.0))}
    for given in ({}, {"is_causal": True}, {"mask": mask}, {"mask": mask} | others):
        yield trace(replace(start, **given))
    for run in (RUN, trace(load_example("cat-sat"))):
        if getattr(run, stage) is not None and not is_given(run, stage):
            yield run


COMPUTED = """([task, texts, seed]) => {
  const turn = modules.exercises;
  const fresh = Array.from({length: 5}, (_, i) => turn.fresh(task, turn.seedOf("box", seed + i)));
  return {asked: turn.asked(task), hints: turn.hints(task), worked: turn.worked(task),
          mistakes: modules.answers.mistakes({...task, elsewhere: []}),
          recognised: texts.map(text => modules.answers.recognised(task, text)),
          fresh: fresh.map(made => [made.givens, turn.asked(made)])};
}"""


# For these stages the browser writes a bias, and a partial sum, with a factor of 1.
OTHERWISE = ("hidden", "fed", "running_sums")


def plain(line):
    """Return a line without factors of 1 and without parentheses."""
    line = re.sub(r"[()]|×1(?![\d.])|(?<![\d.])1×", "", line)
    return re.sub(r"^(.+) = \1 =", r"\1 =", line)


@pytest.mark.parametrize("stage", WORDINGS)
def test_the_browser_computes_what_mha_computes_and_draws_what_can_be(page, rng, stage):
    drawn = []
    for run in runs_with(rng, stage):
        percent = {"percent": True} if stage == "weights" and run.example.is_causal else {}
        for exercise, task in exercises(run, stage, **percent):
            known, own = (
                mistakes(run, exercise),
                distinct_mistakes(exercise, operand_mistakes(exercise)),
            )
            texts = [f"{mistake.value:.8f}" for mistake in known] + [
                "7.77",
                shown(exercise.expected),
            ]
            found = page.evaluate(COMPUTED, [task, texts, len(drawn)])
            written = plain if stage in OTHERWISE else str
            wanted = [written(line) for line in (*exercise.hints, exercise.worked_line)]
            assert [written(line) for line in (*found["hints"], found["worked"])] == wanted
            named = [(mistake["name"], mistake["unit"]) for mistake in found["mistakes"]]
            assert named == [(mistake.name, mistake.tolerance_factor) for mistake in own]
            values = [mistake["value"] for mistake in found["mistakes"]]
            assert values == pytest.approx([m.value for m in own], rel=1e-12, abs=1e-13)
            entered = [parse_answer(text, percent=exercise.percent) for text in texts]
            assert found["recognised"] == [recognise_mistake(exercise, x, known) for x in entered]
            fresh = found["fresh"] if task["draw"] else []
            for givens, asked in [(task["givens"], found["asked"]), *fresh]:
                wanted = FORMULAS[exercise.kind](givens, exercise.column)
                wanted *= 100 if exercise.percent else 1
                assert asked == pytest.approx(wanted, rel=1e-12, abs=1e-13)
            for givens, _ in fresh:
                assert_in_range(exercise, givens)
                drawn.append(str(givens))
    assert len(set(drawn)) > 15


# Ranges of new numbers, if not simply below 10. Numbers changed by a mask are kept.
LIMITS = {
    "positions": (-1, 1),
    "weights": (0.01, 1),
    "below the largest": (-10, 0),
    "running_sums": (1, 10),
    "active": (0, 10),
    **dict.fromkeys(("running_factors", "running_exponentials"), (0.01, 0.99)),
    **dict.fromkeys(("exponentials", "start_spreads", "stream_spreads", "total_spreads"), (0.1, 8)),
}
MASKED = {
    "weights": (0,),
    "exponentials": (0,),
    **dict.fromkeys(("running_factors", "running_exponentials"), (0, 1)),
    **dict.fromkeys(("scaled_scores", "running_largest"), (-np.inf,)),
}
CONSTANTS = {"d_k", "scale", "mask", "eps", "gain", "bias", "cos", "sin", "one"}


def assert_in_range(exercise, givens):
    """Assert that new numbers are valid for their stages, and short enough for paper."""
    before = [given.values for given in exercise.givens]
    for new, old, names in zip(givens, before, operand_quantities(exercise), strict=True):
        for name, now, was in zip(names, new, old, strict=True):
            low, high = LIMITS.get(name, (-10, 10))
            stays = name in CONSTANTS or was in MASKED.get(name, ())
            assert now == was if stays else low <= now <= high, (name, now, was)
            assert now == was or abs(round(now, 2) - now) < 1e-12, (name, now)
        assert "weights" not in names or abs(sum(new) - 1) < 1e-12


ANSWERS = [
    "", "x", " 1 ", "1,5", "1.5", "−1.5", "- 1.5", "+2", "3/7", "−3/7", "3/0", "3/", "1e3", "50%",
    "50 %", "0.5%", ".5", "1/2+√4", "e^1", "exp(1)*2", "-2^2", "1/exp(1000)", "(", "9" * 80000,
    ".5e", "2**3", "sqrt(2),", "1×2÷3", "e^-0,5 %", "5.", ".", "1.2.3", "1,234.5", "9" * 400,
    "0,73\u202f%", "0+" * 150 + "1", "3 000", "3 00", "1 2", "１,５",
    "1e-3", "2e", "1E2", "‐1.5", "1.5²",
]  # fmt: skip
JUDGED = """([task, texts]) => texts.map(text =>
  [modules.answers.verdict(task, text), modules.answers.recognised(task, text)])"""


def test_the_browser_judges_answers_as_mha_does(page, rng):
    answers = [*rng.normal(size=3), 0.5, 0.125, 3 / 7, 0.7310585786, -1.5]
    one = {"tokens": ["a"], "key": [[1.0]], "value": [[1.0]]}
    runs = [trace(example(**one, scale=1.0, query=[[float(answer)]])) for answer in answers]
    asked = [{"percent": percent, "places": n} for percent in (False, True) for n in (0, 1, 2, 4)]
    for run, options in ((run, options) for run in runs for options in asked):
        answer = run.scores.item() * (100 if options["percent"] else 1)
        if is_tie(answer, options["places"]):  # no box asks for it
            assert list(exercises(run, "scores", **options)) == []
            continue
        ((exercise, task),) = exercises(run, "scores", **options)
        near = [exercise.expected + k * 10.0 ** -options["places"] / 2 for k in range(-5, 6)]
        rounded = [shown(exercise.expected, places) for places in (1, 3)]
        tried = [*ANSWERS, *(f"{x:.9f}" for x in near), *rounded]
        known = mistakes(run, exercise)
        for text, (judged, name) in zip(tried, page.evaluate(JUDGED, [task, tried]), strict=True):
            assert judged == judge_answer(exercise, text), text
            entered = parse_answer(text, percent=exercise.percent)
            assert name == (entered and recognise_mistake(exercise, entered, known)), text
