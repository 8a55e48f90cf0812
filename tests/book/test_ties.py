"""What is found out of a number in a page's text: which numbers of which run it follows from."""

from dataclasses import replace

import numpy as np
import pytest

import mha
import mha.chapters
from byhand.reading.running import Ties
from byhand.reading.ties import View, is_of, parts_of
from mha import load_example, trace
from mha.widgets.explorer import explorer

RUN = trace(load_example("it-tired"))
OTHER = trace(replace(RUN.example, scale=1.0))
NAMES = {name: getattr(mha, name) for name in mha.__all__} | {
    "np": np, "run": RUN, "other": OTHER, "it": 2, "cat": 0, "who": RUN.weights[0, 2],
    "share": float(RUN.weights[0, 2, 0]),
}  # fmt: skip


@pytest.mark.parametrize(
    "expression",
    [
        "percent(share)",  # its place is lost
        "percent(other.weights[0, 0, 0] - run.weights[0, 0, 0])",  # of two runs
        "short(run.weights[0].argmax())",
        "shown(np.hypot(*run.query[0, it]))",
        "'A' if who[0] > 0.5 else shown(who[1])",  # it depends on more than is said
    ],
)
def test_what_places_of_one_run_do_not_tell_is_not_tied(expression):
    assert parts_of(expression, View(RUN), NAMES) == []


def test_a_number_of_what_is_given_there_is_no_line():
    given = replace(RUN.example, embeddings=None, layer=None, query=RUN.query, key=RUN.key,
                    value=RUN.value)  # fmt: skip
    weight, line = ("shown(who[0])", "arithmetic(run, 'query', it, 0)")
    assert is_of(parts_of(weight, View(RUN), NAMES), trace(given))
    assert not is_of(parts_of(line, View(RUN), NAMES), trace(given))


def test_what_does_not_follow_but_shows_numbers_of_the_run_is_the_books_own():
    ties = Ties()
    ties.show(explorer(RUN))
    asked = ["percent(who[0])", "str(run.weights.argmax())", "[bool(run), '']", "shown(np.pi)",
             "shown(other.weights[0, 0, 0])", "len(run.tokens)"]  # fmt: skip
    for number, expression in enumerate(asked):
        ties.note(number, expression, NAMES, "73 %")
    ties.note(9, asked[0], NAMES, str(mha.percent(RUN.weights[0, 2, 0])))
    for number, cell in enumerate(["figures.bars(who)", "figures.flow()", "figures.arcs(other)"]):
        ties.note_cell(20 + number, cell, NAMES)
    ties.note_cell(30, "show.maps()", {"show": mha.chapters.Show(RUN)})
    found = ties.settled()
    assert found.pop("9")[1][0][2] == "percent:0"
    own = {number: parts[0][2] for number, (_, parts) in found.items() if parts}
    # The other run has the same inputs: who changes them will look for the change there too.
    assert own == dict.fromkeys(["0", "1", "2", "4"], "own")
    assert [number for number, (name, parts) in found.items() if not parts] == ["20", "22", "30"]
