"""Exercises in the browser are those of `mha`: numbers, hints, worked lines, verdicts."""

import json
from dataclasses import replace

import numpy as np
import pytest
from helpers import example, with_every_stage
from reading_book import RUN, Reader

from mha import Operand, Origin, Place, shown, trace
from mha.practice.calculations import calculation, templates
from mha.practice.entered import read
from mha.practice.exercise import Given, NumericExercise, numeric_exercise
from mha.practice.laws import quantities
from mha.practice.mistakes import listed, mistakes, of_operands, recognised
from mha.practice.verdict import verdict
from mha.practice.wordings import WORDINGS
from mha.runs.places import places as places_of
from mha.widgets.boxes import your_turn

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def page(book, browser):
    """Return the worked page, which no test here changes."""
    context = browser.new_context()
    made = Reader(book, context)
    yield made.open()
    context.close()
    assert made.errors == []


def task(kind, givens, draw, **rest):
    """Return what the page's script computes with, before the hints."""
    plain = {"column": 0, "places": 2, "percent": False}
    return plain | {"kind": kind, "givens": givens, "draw": draw} | rest


TASKS = {
    "products": task("products", [[1, 2, 3], [4, 5, 6]], ["whole", "whole"]),
    "signed products": task("products", [[1] * 5, [1] * 5], ["tenths", "tenths"]),
    "one product": task("products", [[2], [3]], ["tenths", "whole"]),
    "shares": task("products", [[0.2] * 7, [1] * 7], ["shares", "tenths"], places=3),
    "root": task("root", [[1], [3]], ["scores", "same"]),
    "root and mask": task("root", [[1], [2], [0.5]], ["scores", "same", "same"]),
    "times": task("times", [[1], [0.7]], ["scores", "same"]),
    "times and mask": task("times", [[1], [-0.7], [-1.25]], ["scores", "same", "same"]),
    "power": task("power", [[1]], ["exponents"], places=4),
    "share": task("share", [[1, 2, 3, 4, 5]], ["exponents"], column=3),
    "masked share": task("share", [[1, 2, None]], ["exponents"], column=1),
    "sum": task("sum", [[1, 2, 0, 4]], ["positive"]),
    "mean": task("mean", [[1, -2.5, 3]], ["tenths"], places=4),
    "spread": task("spread", [[1, -2.5, 3]], ["tenths"]),
    "spread and eps": task("spread", [[1, -2, 3, 4], [0.5]], ["whole", "same"]),
    "normalised": task("normalised", [[1], [0.5], [2]], ["tenths", "tenths", "positive"]),
    "gain and bias": task(
        "normalised",
        [[1], [-2], [2], [-0.5], [0.25]],
        ["whole", "whole", "positive", "same", "same"],
    ),
    "gain alone": task(
        "normalised", [[1], [-2], [2], [3], [0]], ["whole", "whole", "positive", "same", "same"]
    ),
    "relu": task("relu", [[-1]], ["scores"]),
    "largest": task("largest", [[1, -2, 0.5]], ["tenths"]),
    "largest of one": task("largest", [[-2]], ["scores"]),
    "quotient": task("quotient", [[1], [2]], ["scores", "positive"]),
    "percent": task("share", [[1, 2, 3]], ["exponents"], percent=True, places=0),
}


def one_number(kind, givens, column, places, percent):
    """Return the exercise of `mha` that asks for what a task of the browser asks for."""
    if kind not in ("power", "share"):
        return of_operands_alone(kind, givens, places)
    mask = np.isfinite(givens[0])
    keys = np.where(mask, givens[0], 0)[:, None]
    run = run_of(len(keys), query=np.ones((len(keys), 1)), key=keys, scale=1.0, mask=mask)
    stage = {"power": "exponentials", "share": "weights"}[kind]
    return numeric_exercise(run, stage, 0, column, places=places, percent=percent)


def of_operands_alone(kind, givens, places):
    """Return an exercise whose operands belong to no run."""
    terms = [(Operand(x),) for values in givens for x in values]
    operation = {"root": "scaled", "times": "scaled"}.get(kind, kind)
    if kind == "products":
        terms = [(Operand(x), Operand(y)) for x, y in zip(*givens, strict=True)]
    if operation == "scaled":
        names = ("", "d_k" if kind == "root" else "scale", "mask")
        terms = [(Operand(x, name=name),) for (x,), name in zip(givens, names, strict=False)]
    if kind == "spread":
        eps = givens[1][0] if len(givens) > 1 else 0.0
        numbers = (*givens[0], float(np.mean(givens[0])))
        terms = [*((Operand(x),) for x in numbers), (Operand(eps, name="eps"),)]
    if kind == "normalised":
        learned = zip(givens[3:], ("gain", "bias"), (1, 0), strict=False)
        named = [(Operand(x, name=name),) for (x,), name, left_out in learned if x != left_out]
        terms = [*terms[:3], *named]
    found = Origin(Place("root"), operation, tuple(terms))
    made = tuple(Given("", tuple(values)) for values in givens)
    hints = calculation(RUN, found).hints
    return NumericExercise(found, "", made, kind, found.evaluate(), places, False, hints)


def run_of(n, **start):
    tokens = [f"token{i}" for i in range(n)]
    return trace(example(tokens=tokens, value=np.ones((n, 1)), **start))


VARIANTS = """([task, hints, count]) => {
  const turn = mhaExercises;
  task.givens = task.givens.map(row => row.map(x => x === null ? -Infinity : x));
  return Array.from({length: count}, (_, i) => {
    const made = turn.fresh({...task, hints}, turn.seedOf("box", i));
    return {givens: made.givens.map(row => row.map(x => Number.isFinite(x) ? x : null)),
            mistakes: mhaAnswers.mistakes(made).map(m => [m.name, m.value, m.unit]),
            asked: turn.asked(made), hints: turn.hints(made), worked: turn.worked(made)};
  });
}"""


@pytest.mark.parametrize("name", TASKS)
def test_the_browser_computes_what_mha_computes(page, name):
    asked = TASKS[name]
    hints = templates(asked["kind"], asked["givens"])
    variants = page.evaluate(VARIANTS, [asked, hints, 31])
    assert len({str(variant["givens"]) for variant in variants}) > 20
    for variant in variants:
        givens = [[-np.inf if x is None else x for x in row] for row in variant["givens"]]
        finite = [x for row in variant["givens"] for x in row if x is not None]
        assert all(abs(round(x, 2) - x) < 1e-12 for x in finite)
        options = (asked[option] for option in ("column", "places", "percent"))
        made = one_number(asked["kind"], givens, *options)
        assert variant["asked"] == pytest.approx(made.asked, rel=1e-12, abs=1e-13)
        assert variant["hints"] == list(made.hints)
        assert variant["worked"] == made.worked_line
        known = listed(made, of_operands(made))
        assert [(m.name, m.unit) for m in known] == [(n, u) for n, _, u in variant["mistakes"]]
        assert [m.value for m in known] == pytest.approx(
            [value for _, value, _ in variant["mistakes"]], rel=1e-12, abs=1e-13
        )


def kept(new, old, can_be, fixed=(0,)):
    """Tell whether new numbers can be, and which stay as they are have stayed."""
    return all(
        after == before if before in fixed else can_be(after)
        for after, before in zip(new, old, strict=True)
    )


# What each quantity can be that an exercise gives, of new numbers and of those before.
CAN_BE = {
    "positions": lambda new, old: kept(new, old, lambda x: -1 <= x <= 1, ()),
    "weights": lambda new, old: kept(new, old, lambda x: x > 0) and abs(sum(new) - 1) < 1e-12,
    "exponentials": lambda new, old: kept(new, old, lambda x: x > 0),
    "scaled_scores": lambda new, old: kept(new, old, lambda x: abs(x) < 10, (-np.inf,)),
    "running_largest": lambda new, old: kept(new, old, lambda x: abs(x) < 10, (-np.inf,)),
    "below the largest": lambda new, old: kept(new, old, lambda x: x <= 0, ()),
    "running_factors": lambda new, old: kept(new, old, lambda x: 0 < x < 1, (0, 1)),
    "running_exponentials": lambda new, old: kept(new, old, lambda x: 0 < x < 1, (0, 1)),
    "running_sums": lambda new, old: kept(new, old, lambda x: x >= 1, ()),
    "active": lambda new, old: kept(new, old, lambda x: x >= 0, ()),
} | {
    f"{stream}_spreads": lambda new, old: kept(new, old, lambda x: x > 0, ())
    for stream in ("start", "stream", "total")
}
CONSTANTS = {"d_k", "scale", "mask", "eps", "gain", "bias", "cos", "sin", "one"}


@pytest.mark.parametrize("stage", WORDINGS)
def test_new_numbers_are_what_their_quantities_can_be(page, rng, stage):
    start = with_every_stage(rng, stage)
    runs = [trace(replace(start, is_causal=is_causal)) for is_causal in (False, True)]
    cells = [(run, place) for run in runs for place in places_of(run, stage)]
    for run, place in cells[:: max(1, len(cells) // 9)]:
        try:
            box = your_turn(run, stage, place.row, place.column or 0, place.head or 0)
        except ValueError:  # masked: there is nothing to compute
            continue
        (exercise,) = box.exercises
        data = json.loads(box._json())["tasks"][0]
        before = [[-np.inf if x is None else x for x in row] for row in data["givens"]]
        for variant in page.evaluate(VARIANTS, [data, [], 5]):
            givens = [[-np.inf if x is None else x for x in row] for row in variant["givens"]]
            for new, old, names in zip(givens, before, quantities(exercise), strict=True):
                for name in set(names):
                    of_it = [i for i, one in enumerate(names) if one == name]
                    now, was = ([row[i] for i in of_it] for row in (new, old))
                    can_be = CAN_BE.get(name, lambda now, was: max(map(abs, now)) < 10)
                    assert now == was if name in CONSTANTS else can_be(now, was), (name, now, was)


ANSWERS = [
    "", "x", " 1 ", "1,5", "1.5", "−1.5", "- 1.5", "+2", "3/7", "−3/7", "3/0", "3/", "1e3", "50%",
    "50 %", "0.5%", ".5", "1/2+√4", "e^1", "exp(1)*2", "-2^2", "1/exp(1000)", "(", "9" * 80000,
    ".5e", "2**3", "sqrt(2),", "1×2÷3", "e^-0,5 %", "5.", ".", "1.2.3", "1,234.5", "9" * 400,
    "0,73\u202f%",
]  # fmt: skip


def test_the_browser_judges_answers_as_mha_does(page, rng):
    made = []
    for kind_percent in (False, True):
        for places in (0, 1, 2, 4):
            for answer in (*rng.normal(size=3), 0.5, 0.125, 3 / 7, 0.7310585786, -1.5):
                run = run_of(1, query=[[float(answer)]], key=[[1.0]])
                base = numeric_exercise(run, "scores", 0, 0, places=places, percent=kind_percent)
                near = [f"{base.asked + k * 10.0**-places / 2:.9f}" for k in range(-5, 6)]
                made.append((base, [*ANSWERS, *near, shown(base.asked, 1), shown(base.asked, 3)]))
    tasks = [
        task(
            base.kind,
            [list(given.values) for given in base.givens],
            None,
            places=base.places,
            percent=base.percent,
            texts=tried,
        )
        for base, tried in made
    ]
    judge = """tasks => tasks.map(task => task.texts.map(text =>
      [mhaAnswers.verdict(task, text), mhaAnswers.recognised(task, text)]))"""
    verdicts, names = set(), set()
    for (base, tried), found in zip(made, page.evaluate(judge, tasks), strict=True):
        known = listed(base, of_operands(base))
        for text, (judged, name) in zip(tried, found, strict=True):
            assert judged == verdict(base, text), text
            entered = read(text, percent=base.percent)
            assert name == (entered and recognised(base, entered.number, known)), text
            verdicts.add(judged)
            names.add(name)
    assert verdicts == {"right", "near", "wrong", "unreadable"}
    assert names >= {"sign", "last-digit", None}


# What a box on the page asks for, and what it tells of answers.
ASKED = "box => ['asked', 'worked', 'hints'].map(name => mhaExercises[name](box.tasks[0]))"
RECOGNISED = "(box, texts) => texts.map(text => mhaAnswers.recognised(box.tasks[0], text))"


@pytest.mark.parametrize(
    ("cell", "options"),
    [
        (("query", 0, 1), {}),
        (("weights", 2, 1, 1), {"percent": True}),
        (("head_outputs", 1, 0), {}),
        (("exponentials", 1, 1), {}),
    ],
)
def test_a_box_asks_for_its_trace_s_number_and_recognises_mistakes(page, cell, options):
    turn = your_turn(RUN, *cell, **options)
    (made,) = turn.exercises
    box = page.locator(f"#{turn.name}")
    asked, worked, hints = box.evaluate(ASKED)
    assert asked == pytest.approx(made.asked, abs=1e-8)
    assert worked == made.worked_line
    assert hints == list(made.hints)
    known = mistakes(RUN, made)
    texts = [f"{mistake.value:.8f}" for mistake in known] + ["7.77", f"{made.asked + 0.03:.4f}"]
    got = box.evaluate(RECOGNISED, texts)
    assert got == [
        recognised(made, read(text, percent=made.percent).number, known) for text in texts
    ]
    assert len(set(got)) > 3
