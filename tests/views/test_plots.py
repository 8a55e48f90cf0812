"""Plots run through their numbers, on axes that a reader can read, and are the page's own looks."""

import re

import numpy as np
import pytest
from drawn import SVG, by_class, head_of, raw, shapes, texts, wide

from mha.views.drawing.plots import _round_numbers
from mha.views.figures import HEAD_COLOURS, curves

SERIES = {f"series {i}": np.arange(1, 4.0) * (i + 1) for i in range(5)} | {"dots": [1, 2, 3]}


def test_curves_differ_without_colour():
    drawn = wide(
        curves(
            [1, 2, 4], SERIES, xlabel="length", ylabel="cost", alt="Six", log="xy",
            points=["dots"], xticks={1: "one", 4: "four"},
        )
    )  # fmt: skip
    lines = by_class(drawn, "f-curve")
    assert len({e.get("stroke-dasharray") for e in lines}) == 5
    assert len(shapes(drawn, "use")) == 2 + 3 + 1  # ticks, points and their sample
    said = texts(drawn)
    assert said[-6:] == list(SERIES)
    assert {"length", "cost", "one", "four"} <= set(said)
    heads = [head_of(g) for g in drawn.iter(f"{SVG}g") if head_of(g)]
    assert set(heads) == set(HEAD_COLOURS)


def test_looks_are_the_page_s_and_texts_are_text():
    drawn = wide(curves([1, 2, 4], SERIES, xlabel="d_k", ylabel="cost", alt="Six", points=["dots"]))
    own = [
        e for e in drawn.iter() if {"font", "fill:", "stroke:"} & set(e.get("style", "").split())
    ]
    assert own == []
    assert "d_k" not in texts(drawn)  # a symbol with its index below it
    assert "dk" in texts(drawn)


def test_curves_run_through_their_numbers():
    x, y = np.array([0.0, 1.0, 4.0]), np.array([0.0, 3.0, 10.0])
    drawn = wide(curves(x, {"one": y}, xlabel="x", ylabel="y", alt="One"))
    (curve,) = by_class(drawn, "f-curve")
    points = np.array(re.findall(r"([\d.]+) ([\d.]+)", curve.get("d")), float)
    shares = (points - points[0]) / (points[-1] - points[0])
    np.testing.assert_allclose(shares, np.stack([x / 4, y / 10], axis=1), atol=0.002)


def test_a_logarithmic_axis_spaces_equal_ratios_equally():
    drawn = wide(curves([1, 2, 8], {"one": [1, 10, 1000]}, xlabel="", ylabel="", alt="", log="xy"))
    (curve,) = by_class(drawn, "f-curve")
    points = np.array(re.findall(r"([\d.]+) ([\d.]+)", curve.get("d")), float)
    np.testing.assert_allclose(np.diff(points[:, 0])[1] / np.diff(points[:, 0])[0], 2, atol=0.01)
    np.testing.assert_allclose(np.diff(points[:, 1])[1] / np.diff(points[:, 1])[0], 2, atol=0.01)


def test_curves_number_their_ticks_and_leave_out_a_key_of_one():
    drawn = curves([1, 2, 3], {"one": [1, 2, 3]}, xlabel="x", ylabel="y", alt="", xticks=[1, 2.5])
    said = texts(wide(drawn))
    assert "one" not in said
    assert {"1", "2.5"} <= set(said)


def test_names_on_an_axis_all_stand_turned_where_they_do_not_fit():
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
