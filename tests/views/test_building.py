"""One query in one row, and weights as bars."""

import re
from dataclasses import replace

import chains
import numpy as np
import pytest
from drawn import by_class, lengths, raw, texts, wide
from helpers import MASK, example

from mha import example_names, load_example, short, shown, trace
from mha.views.figures import query_strip, softmax_bars

RUNS = {name: trace(load_example(name)) for name in example_names()}


def bars(root):
    """Return where each bar begins and how wide and high it is."""
    return [lengths(e, "x", "width", "height") for e in by_class(root, "f-part")]


def sum_in(said, parts):
    """Return what parts add up to in a drawing, whose sign holds as it is printed."""
    (end,) = (words for words in said if words[0] in "=≈")
    line = " + ".join(f"({part})" if part[0] == "−" else part for part in parts)
    (read,) = chains.read(f"{line} {end}")
    assert read.faults() == []
    return end[2:]


# One query in one row


@pytest.mark.parametrize("name", RUNS)
@pytest.mark.parametrize("layout", ["wide", "narrow"])
def test_every_number_of_the_row_is_told(name, layout):
    run = RUNS[name]
    token, head, component = len(run.tokens) - 1, run.num_heads - 1, 1
    root = raw(query_strip(run, token, head=head, component=component))
    (root,) = by_class(root, f"f-{layout}")
    said = texts(root)
    weights, values = run.weights[head, token], run.value[head, :, component]
    for i in range(len(run.tokens)):
        assert short(run.scores[head, token, i]) in said
        assert short(run.scaled_scores[head, token, i]) in said
        assert shown(run.exponentials[head, token, i]) in said
        assert shown(weights[i]) in said
        assert shown(weights[i] * values[i]) in said
        assert {short(values[i]), f"× {short(values[i])}"} & set(said)
    parts = [shown(weight * value) for weight, value in zip(weights, values, strict=True)]
    assert sum_in(said, parts) == shown(run.head_outputs[head, token, component])
    assert f"output z{component + 1}" in said


@pytest.mark.parametrize("name", RUNS)
def test_bars_ribbons_and_parts_are_as_wide_as_their_numbers(name):
    run = RUNS[name]
    root = wide(query_strip(run, 0))
    weights, parts = run.weights[0, 0], run.weights[0, 0] * run.value[0, :, 0]
    count = len(run.tokens)
    drawn = bars(root)
    widths = np.array([width for _, width, _ in drawn[:count]])
    np.testing.assert_allclose(widths / widths.sum(), weights, atol=0.003)
    heights = np.array([height for *_, height in drawn[count:]])
    shares = np.abs(parts[parts != 0]) / np.abs(parts).sum()
    np.testing.assert_allclose(heights / heights.sum(), shares, atol=0.003)
    ribbons = [float(e.get("stroke-width")[:-2]) for e in by_class(root, "f-ribbon")]
    wanted = np.repeat(np.maximum(14 * weights, 0.8), 2)
    np.testing.assert_allclose(ribbons, wanted, rtol=0.01)


def test_what_is_below_zero_hangs_from_a_line():
    run = RUNS["cat-sat-on-it"]
    parts = run.weights[2, 4] * run.value[2, :, 0]
    assert parts.min() < 0 < parts.max()
    root = wide(query_strip(run, 4, head=2))
    stack = by_class(root, "f-part")[len(run.tokens) :]
    (zero,) = by_class(root, "f-line")
    at = float(re.match(r"M[\d.]+ ([\d.]+)", zero.get("d"))[1])
    for part, box in zip(parts, stack, strict=True):
        y, height = lengths(box, "y", "height")
        assert (y + height <= at + 0.2) if part > 0 else (y >= at - 0.2)


def test_without_a_scale_the_scaled_scores_are_left_out():
    plain = trace(replace(load_example("cat-sat"), scale=1.0))
    for run, titles in ((RUNS["cat-sat"], ["scores", "÷ √4", "exp"]), (plain, ["scores", "exp"])):
        root = wide(query_strip(run, 0))
        said = texts(root)
        assert [t for t in said if t in ("scores", "÷ √4", "scaled", "exp")] == titles
    other = trace(replace(load_example("cat-sat"), scale=0.25))
    assert "scaled" in texts(wide(query_strip(other, 0)))


def test_a_masked_key_has_no_bar_and_no_ribbon():
    run = trace(example(mask=MASK))
    root = wide(query_strip(run, 3))
    assert texts(root).count("−∞") == len(run.tokens) - 1
    assert len(by_class(root, "f-ribbon")) == 2
    nothing = query_strip(run, 2)
    assert by_class(wide(nothing), "f-ribbon") == []
    assert "The largest weight is that of none." in nothing.alt


# Weights as bars


def test_weights_as_bars_stand_on_one_scale():
    rows = [[0.7, 0.2, 0.1], [0.25, 0.25, 0.5]]
    drawn = softmax_bars(rows, ["a", "b", "c"], ["width 4", "width 64"])
    panels = by_class(raw(drawn), "f-panel")
    corners = [[re.findall(r"[\d.]+", e.get("d")) for e in by_class(p, "f-part")] for p in panels]
    widths = np.ptp(np.array(corners, float)[..., ::2], axis=-1)
    np.testing.assert_allclose(widths / widths[0, 0], np.array(rows) / 0.7, atol=0.01)
    for panel, title, row in zip(panels, ("width 4", "width 64"), rows, strict=True):
        numbers = [shown(x, 2) for x in row]
        assert texts(panel) == ["a", numbers[0], "b", numbers[1], "c", numbers[2], title]
    assert drawn.alt.endswith("width 4: largest 0.70, a. width 64: largest 0.50, c.")
