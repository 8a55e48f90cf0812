"""Arcs from word to word, the row of steps, and the plane of one query."""

import re
from dataclasses import replace
from xml.etree import ElementTree

import numpy as np
import pytest
from drawn import by_class
from hypothesis import given
from hypothesis import strategies as st

from mha import load_example, recorded_head, trace
from mha.views.drawing.plane import _hull
from mha.views.figures import arcs, flow, plane

BANK = trace(load_example("river-bank"))
CAT_SAT = trace(load_example("the-cat-sat"))


def widths(drawn):
    return [float(w) for w in re.findall(r'f-ribbon" stroke-width="([\d.]+)px"/', drawn.svg)]


def test_an_arc_is_as_wide_as_its_weight_in_each_head_and_a_masked_key_has_none():
    for head in range(2):
        drawn = widths(arcs(CAT_SAT, head=head))
        np.testing.assert_allclose(
            sorted(drawn), sorted(16 * CAT_SAT.weights[head].ravel()), rtol=0.01
        )
    assert len(widths(arcs(CAT_SAT))) == CAT_SAT.weights.size
    causal = trace(replace(CAT_SAT.example, is_causal=True))
    assert len(widths(arcs(causal, head=1))) == 6


def test_one_word_s_arcs_carry_their_weights():
    drawn = arcs(BANK, token=2)
    assert len(widths(drawn)) == 3
    assert all(f">{share}\N{NO-BREAK SPACE}%<" in drawn.svg for share in (4, 71, 26))
    assert "bank attends most to river (71" in drawn.alt


def test_a_long_sentence_stands_closer_on_a_phone():
    run = trace(recorded_head(1, 5, "The bank near the river"))
    drawn = arcs(run, token=2)
    wide, narrow = (float(n) for n in re.findall(r'width[=:] ?"?([\d.]+)', drawn.svg)[:2])
    assert narrow <= 330 < wide <= 648
    for layout in ("f-wide", "f-narrow"):
        (part,) = by_class(ElementTree.fromstring(drawn.svg), layout)
        words = [e.text for e in by_class(part, "f-token")]
        assert words == list(run.tokens)


def test_flow_marks_the_step_of_a_stage():
    steps = {"query": "three vectors", "scaled_scores": "scores", "concat": "output"}
    for here, step in steps.items():
        drawn = flow(here)
        assert drawn.alt.endswith(f"Marked is: {step}.")
        assert f'class="f-strong" text-anchor="middle">{step}<' in drawn.svg
        assert drawn.svg.count("you are here") == 2  # on a desk and on a phone
    assert "you are here" not in flow().svg
    with pytest.raises(ValueError, match="nowhere"):
        flow("nowhere")


def test_the_plane_has_the_scores_at_the_feet_of_the_keys():
    layer = BANK.example.layer
    half = replace(BANK.example, layer=replace(layer, w_q=layer.w_q / 2))
    drawn = plane(trace(half), 2)
    for score in ("0", "1", "1.5"):
        assert f'f-strong f-number" text-anchor="middle">{score}</text>' in drawn.svg
    feet = re.findall(r'd="M([\d.]+) [\d.]+L([\d.]+) ([\d.]+)" class="f-quiet"', drawn.svg)
    tips, xs, ys = np.array(feet, dtype=float).T
    np.testing.assert_array_equal(xs, tips)  # this query lies on the first axis
    assert len(set(ys)) == 1


@given(st.lists(st.tuples(*[st.integers(-4, 4)] * 2), min_size=1, max_size=9))
def test_the_polygon_holds_every_value(points):
    corners = np.array(_hull(np.array(points, dtype=float)))
    assert {tuple(c) for c in corners.tolist()} <= {tuple(map(float, p)) for p in points}
    if len(corners) < 3:
        return
    sides = np.roll(corners, -1, axis=0) - corners
    for point in np.array(points, dtype=float):
        to = point - corners
        assert (sides[:, 0] * to[:, 1] - sides[:, 1] * to[:, 0] >= -1e-9).all()
