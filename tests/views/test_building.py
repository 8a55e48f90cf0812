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


def sum_in(said, parts):
    """Return what parts add up to in a drawing, whose sign holds as it is printed."""
    (end,) = (words for words in said if words[0] in "=≈")
    line = " + ".join(f"({part})" if part[0] == "−" else part for part in parts)
    (read,) = chains.read(f"{line} {end}")
    assert read.faults() == []
    return end[2:]


@pytest.mark.parametrize("name", RUNS)
def test_the_row_tells_every_number_and_what_it_draws_is_as_wide(name):
    run = RUNS[name]
    token, head, component = len(run.tokens) - 1, run.num_heads - 1, 1
    drawn = query_strip(run, token, head=head, component=component)
    weights, values = run.weights[head, token], run.value[head, :, component]
    parts = weights * values
    for layout in ("wide", "narrow"):
        (root,) = by_class(raw(drawn), f"f-{layout}")
        said = texts(root)
        for i, value in enumerate(values):
            assert short(run.scores[head, token, i]) in said
            assert short(run.scaled_scores[head, token, i]) in said
            assert shown(run.exponentials[head, token, i]) in said
            assert {shown(weights[i]), shown(parts[i])} <= set(said)
            assert {short(value), f"× {short(value)}"} & set(said)
        output = run.head_outputs[head, token, component]
        assert sum_in(said, map(shown, parts)) == shown(output)
        assert f"output z{component + 1}" in said
    root, count = wide(drawn), len(run.tokens)
    sizes = np.array([lengths(e, "width", "height") for e in by_class(root, "f-part")])
    widths, heights = sizes[:count, 0], sizes[count:, 1]
    np.testing.assert_allclose(widths / widths.sum(), weights, atol=0.003)
    shares = np.abs(parts[parts != 0]) / np.abs(parts).sum()
    np.testing.assert_allclose(heights / heights.sum(), shares, atol=0.003)
    ribbons = [float(e.get("stroke-width")[:-2]) for e in by_class(root, "f-ribbon")]
    np.testing.assert_allclose(ribbons, np.repeat(np.maximum(14 * weights, 0.8), 2), rtol=0.01)


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


@pytest.mark.parametrize(
    ("scale", "titles"),
    [
        (None, ["scores", "÷ √4", "exp"]),
        (1.0, ["scores", "exp"]),
        (0.25, ["scores", "scaled", "exp"]),
    ],
)
def test_scaled_scores_stand_where_there_is_a_scale_and_say_which(scale, titles):
    said = texts(wide(query_strip(trace(replace(load_example("cat-sat"), scale=scale)), 0)))
    assert [text for text in said if text in ("scores", "÷ √4", "scaled", "exp")] == titles


def test_a_masked_key_has_no_bar_and_no_ribbon():
    run = trace(example(mask=MASK))
    root = wide(query_strip(run, 3))
    assert texts(root).count("−∞") == len(run.tokens) - 1
    assert len(by_class(root, "f-ribbon")) == 2
    nothing = query_strip(run, 2)
    assert by_class(wide(nothing), "f-ribbon") == []
    assert "The largest weight is that of none." in nothing.alt


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
