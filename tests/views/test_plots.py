"""Plots go through their data points, have readable axes, and use the pages' styles."""

import re

import numpy as np
import pytest
from drawn import SVG, by_class, head_of, raw, shapes, texts, wide

from mha.runs.rounding import shown
from mha.views.drawing.plots import _round_numbers
from mha.views.figures import HEAD_COLOURS, curves, softmax_bars, stacked_counts

SERIES = {f"series {i}": np.arange(1, 4.0) * (i + 1) for i in range(5)} | {"dots": [1, 2, 3]}


def points(element):
    """Return the points of a path."""
    return np.array(re.findall(r"([\d.]+) ([\d.]+)", element.get("d")), float)


def test_curves_differ_without_colour_and_their_looks_are_the_page_s():
    drawn = wide(
        curves(
            [1, 2, 4], SERIES, xlabel="d_k", ylabel="cost", alt="Six", log="xy",
            points=["dots"], xticks={1: "one", 4: "four"},
        )
    )  # fmt: skip
    lines = by_class(drawn, "f-curve")
    assert len({e.get("stroke-dasharray") for e in lines}) == 5
    assert len(shapes(drawn, "use")) == 2 + 3 + 1  # ticks, points and their sample
    said = texts(drawn)
    assert said[-6:] == list(SERIES)
    assert {"dk", "cost", "one", "four"} <= set(said)  # a symbol with its index below it
    assert "d_k" not in said
    assert {head_of(g) for g in drawn.iter(f"{SVG}g")} - {None} == set(HEAD_COLOURS)
    own = {word for e in drawn.iter() for word in e.get("style", "").split()}
    assert not {"font", "fill:", "stroke:"} & own


@pytest.mark.parametrize(
    ("x", "y", "log", "shares"),
    [
        ([0, 1, 4], [0, 3, 10], "", [[0, 0], [0.25, 0.3], [1, 1]]),
        ([1, 2, 8], [1, 10, 1000], "xy", [[0, 0], [1 / 3, 1 / 3], [1, 1]]),
    ],
)
def test_curves_run_through_their_numbers_and_equal_ratios_are_equally_far(x, y, log, shares):
    drawn = wide(curves(x, {"one": y}, xlabel="x", ylabel="y", alt="", log=log))
    (curve,) = by_class(drawn, "f-curve")
    at = points(curve)
    np.testing.assert_allclose((at - at[0]) / (at[-1] - at[0]), shares, atol=0.003)


def test_ticks_are_numbered_or_named_and_turned_where_names_do_not_fit():
    drawn = curves([1, 2, 3], {"one": [1, 2, 3]}, xlabel="x", ylabel="y", alt="", xticks=[1, 2.5])
    said = texts(wide(drawn))
    assert "one" not in said  # one curve has no key
    assert {"1", "2.5"} <= set(said)
    names = {i: f"a rather long name {i}" for i in range(6)}
    drawn = curves(range(6), {"y": range(6)}, xlabel="", ylabel="y", alt="", xticks=names)
    turned = [e for e in raw(drawn).iter(f"{SVG}text") if "rotate" in e.get("transform", "")]
    assert len(turned) == 12  # in the wide layout and in the narrow one


@pytest.mark.parametrize("log", [False, True])
@pytest.mark.parametrize(("low", "high"), [(0.3, 0.9), (1.0, 1.0), (2e-6, 40), (7, 1024)])
def test_ticks_hold_the_numbers_between_them(low, high, log):
    found = _round_numbers(low, high, log)
    assert found == sorted(set(found))
    assert found[0] <= low
    assert found[-1] >= high or (log and len(found) > 5)
    assert 1 <= len(found) <= 10


def test_weights_as_bars_stand_on_one_scale():
    rows = [[0.7, 0.2, 0.1], [0.25, 0.25, 0.5]]
    drawn = softmax_bars(rows, ["a", "b", "c"], ["width 4", "width 64"])
    panels = by_class(raw(drawn), "f-panel")
    bars = np.array([[np.ptp(points(e)[:, 0]) for e in by_class(p, "f-part")] for p in panels])
    np.testing.assert_allclose(bars / bars[0, 0], np.array(rows) / 0.7, atol=0.01)
    for panel, title, row in zip(panels, ("width 4", "width 64"), rows, strict=True):
        a, b, c = (shown(x, 2) for x in row)
        assert texts(panel) == ["a", a, "b", b, "c", c, title]
    assert drawn.alt.endswith("width 4: largest 0.70, a. width 64: largest 0.50, c.")


def test_stacked_counts_draw_every_count_and_the_sum():
    parts = {"right": [2, 30], "wrong": [5, 0], "odd": [11, 7]}
    drawn = stacked_counts(["one", "two"], parts)
    root = wide(drawn)
    corners = [points(e)[:, 0] for e in by_class(root, "f-part")][:5]  # the key follows
    bars = np.array([(x.min(), np.ptp(x)) for x in corners])
    wanted = np.array([(0, 2), (0, 30), (2, 5), (7, 11), (30, 7)])
    np.testing.assert_allclose(bars, wanted * bars[1, 1] / 30, atol=0.2)
    said = texts(root)
    assert said[-3:] == list(parts)
    assert said.count("18") == said.count("37") == 1
    assert drawn.alt == (
        "Bars. one: right 2, wrong 5, odd 11. two: right 30, wrong 0, odd 7."
        " The longest bar is two, 37."
    )
