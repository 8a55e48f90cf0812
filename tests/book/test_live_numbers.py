"""Live numbers: how the code finds the run and the places that a printed number depends on."""

from dataclasses import replace

import numpy as np
import pytest

import mha
import mha.chapters
from byhand.reading.live_numbers import (
    LiveNumbers,
    TracedNames,
    covers,
    has_same_numbers,
    traced_parts,
)
from mha import load_example, public_names, trace
from mha.runs.rounding import percent
from mha.widgets.explorer import explorer

RUN = trace(load_example("it-tired"))
OTHER = trace(replace(RUN.example, scale=1.0))
NAMES = {name: getattr(public_names, name) for name in public_names.__all__} | {
    "np": np, "run": RUN, "other": OTHER, "it": 2, "cat": 0, "who": RUN.weights[0, 2],
    "sides": RUN.weights[:, :, ::-1], "both": [OTHER, RUN], "share": float(RUN.weights[0, 2, 0]),
}  # fmt: skip


def parts(expression, run=RUN):
    return traced_parts(expression, TracedNames(run), NAMES)


def test_a_text_of_several_numbers_is_split():
    found = parts("', '.join(short(x) for x in run.query[0, it]) + f' and {who[0]:.2f}'")
    places = ["query.0.2.0", "", "query.0.2.1", "", "weights.0.2.0"]
    assert [formula for _, formula, _ in found] == places
    assert "".join(text for text, _, _ in found) == f"3, 1 and {RUN.weights[0, 2, 0]:.2f}"


@pytest.mark.parametrize(
    "expression",
    [
        "percent(share)",  # its place is lost
        "percent(who[0] / share)",
        "percent(other.weights[0, 0, 0] - run.weights[0, 0, 0])",  # of two runs
        "short(run.weights[0].argmax())",
        "shown(np.hypot(*run.query[0, it]))",
        "len(run.tokens)",
        "'A' if who[0] > 0.5 else shown(who[1])",  # the text depends on who[0] too
        "'A' if who[0] == 2 else shown(who[1])",
        "shown(who[1]) if who[0] != 2 else 'A'",
        "[bool(who[0] == who[0]), '']",  # the browser has no equality
    ],
)
def test_a_number_that_one_run_does_not_determine_is_not_live(expression):
    assert parts(expression) == []


def test_an_explorer_of_the_same_numbers_is_the_same_run_from_where_it_begins():
    outright = trace(replace(
        RUN.example, embeddings=None, layer=None, query=RUN.query, key=RUN.key, value=RUN.value,
    ))  # fmt: skip
    assert has_same_numbers(RUN, outright)
    assert not has_same_numbers(RUN, OTHER)
    assert covers(parts("shown(who[0])"), outright)
    assert not covers(parts("arithmetic(run, 'query', it, 0)"), outright)  # there it is given


def test_static_parts_with_numbers_of_the_run_are_marked_as_the_book_s():
    live = LiveNumbers()
    live.record_explorer(explorer(RUN))
    asked = ["percent(who[0])", "str(run.weights.argmax())", "[bool(run), '']", "shown(np.pi)",
             "shown(other.weights[0, 0, 0])", "len(run.tokens)"]  # fmt: skip
    for number, expression in enumerate(asked):
        live.record_expression(number, expression, NAMES, "73 %")
    live.record_expression(9, asked[0], NAMES, str(percent(RUN.weights[0, 2, 0])))
    for number, cell in enumerate(["figures.bars(who)", "figures.flow()", "figures.arcs(other)"]):
        live.record_cell(20 + number, cell, NAMES)
    live.record_cell(30, "show.maps()", {"show": mha.chapters.Show(RUN)})
    found = live.resolve()
    assert found.pop("9")[1][0][2] == "percent:0"
    own = {number: parts[0][2] for number, (_, parts) in found.items() if parts}
    # The other run has the same inputs: who changes them will look for the change there too.
    assert own == dict.fromkeys(["0", "1", "2", "4"], "own")
    assert [number for number, (name, parts) in found.items() if not parts] == ["20", "22", "30"]
