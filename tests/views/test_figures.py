"""Figures are sound SVG, show a trace's numbers, and read without colour and on a phone."""

import re
from xml.etree import ElementTree

import numpy as np
import pytest
from all_figures import FIGURES
from drawn import SVG, by_class, head_of, linear, on_paper, raw, texts, wide
from helpers import HEADS, MASK, example, projected

from byhand.press.drawings import full_heat
from mha import dimensions, example_names, load_example, short, shown, trace
from mha.views.drawing.canvas import Panel, figure
from mha.views.drawing.svg import NEUTRAL
from mha.views.figures import (
    HEAD_COLOURS,
    Figure,
    concat_strips,
    heatmaps,
    lanes,
    mixing_maps,
    output_shares,
    stacked_counts,
    vector_bars,
    weight_maps,
)

RUNS = [trace(load_example(name)) for name in example_names()]


def luminance(colour):
    return float(np.dot(linear(colour), (0.2126, 0.7152, 0.0722)))


def contrast(first, second):
    light, dark = sorted((luminance(first), luminance(second)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def panels(root):
    """Return the panels of a figure that has the same ones everywhere."""
    return by_class(root, "f-panel")


def heats(panel):
    """Return the weight of each heatmap's cell, and the number written on it, in order."""
    weights = [float(e.get("style").split(":")[1]) for e in by_class(panel, "f-heat")]
    numbers = [e for e in by_class(panel, "f-number") if e.get("text-anchor") == "middle"]
    return weights, ["".join(e.itertext()) for e in numbers][-len(weights) :]


def layouts(root):
    """Return the panels of each layout of a drawing, the wide one first."""
    groups = [*by_class(root, "f-wide"), *by_class(root, "f-narrow")]
    return [list(group) for group in groups] or [panels(root)]


@pytest.mark.parametrize("name", FIGURES)
def test_every_drawing_is_sound_the_same_twice_and_needs_nothing_from_outside(name):
    drawn = FIGURES[name]()
    assert isinstance(drawn, Figure)
    assert drawn == FIGURES[name]()
    assert re.search(r"\d", drawn.alt)
    data, metadata = drawn._repr_mimebundle_(include=None, exclude=None)
    assert data == {"image/svg+xml": drawn.svg, "text/plain": f"Figure: {drawn.alt}"}
    assert metadata == {"image/svg+xml": {"alt": drawn.alt}}
    root = ElementTree.fromstring(drawn.svg)
    assert root.tag == f"{SVG}svg"
    assert len(texts(root)) > 3
    names = drawn.svg.replace('xmlns="http://www.w3.org/2000/svg"', "")
    assert "http" not in names
    ids = {e.get("id") for e in root.iter() if e.get("id")}
    assert set(re.findall(r"""(?:url\(|href=")#?([^)"]+)""", names)) == ids


def test_panels_that_need_two_rows_stand_two_and_two():
    root = raw(figure([Panel(190, 50, "<path/>")] * 4, "Four", gap=(30, 10)))
    at = [panel.get("transform") for panel in panels(root)]
    assert at == ["translate(1, 1)", "translate(221, 1)", "translate(1, 61)", "translate(221, 61)"]


# Numbers


@pytest.mark.parametrize("run", RUNS, ids=example_names())
def test_heatmaps_show_every_number_and_say_each_row_s_largest(run):
    for stage in ("weights", "scaled_scores"):
        found = layouts(raw(weight_maps(run, stage)))
        for layout in found:
            for i, (panel, array) in enumerate(zip(layout, getattr(run, stage), strict=True)):
                # The maps of a row share the names of their rows.
                named = i == 0 or layout is found[-1]
                wanted = [run.head_names[i]] if run.num_heads > 1 else []
                wanted += ["key", *["query"] * named, *run.tokens]
                for token, row in zip(run.tokens, array, strict=True):
                    wanted += [*[token] * named, *(shown(x, 2) for x in row)]
                assert texts(panel) == wanted
    said = weight_maps(run, places=3).alt.replace("attends most ", "")
    parts = said.split("Head ")[1:] if run.num_heads > 1 else [said]
    for part, weights in zip(parts, run.weights, strict=True):
        for token, row in zip(run.tokens, weights, strict=True):
            assert f"{token} to {run.tokens[row.argmax()]} ({shown(row.max(), 3)})" in part


def test_what_is_masked_is_paper_says_minus_infinity_and_is_nowhere_the_largest():
    masked = trace(example(mask=MASK))
    weights, numbers = heats(panels(raw(weight_maps(masked, "scaled_scores")))[0])
    for allowed, weight, number in zip(MASK.ravel(), weights, numbers, strict=True):
        assert (number == "−∞") == (not allowed)
        assert allowed or weight == 0
    for stage in ("weights", "scaled_scores"):
        alt = weight_maps(masked, stage).alt
        assert ", token2 to none, token3 to token0 (" in alt
        assert "(0.00)" not in alt
        assert "∞" not in alt


def test_bars_show_every_component():
    run = trace(load_example("cat-sat-on-it"))
    drawn = vector_bars(run.embeddings, rows=run.tokens, symbol="x")
    span = run.embeddings.max() - min(0, run.embeddings.min())
    for panel, token, vector in zip(panels(raw(drawn)), run.tokens, run.embeddings, strict=True):
        numbers = [short(x, 2) for x in vector]
        assert texts(panel) == [*numbers, "x1", "x2", "x3", token]
        heights = [float(e.get("height")) for e in by_class(panel, "f-part")]
        np.testing.assert_allclose(heights, np.abs(vector) / span * 92, atol=0.06)
        assert f"{token}: {', '.join(numbers)}" in drawn.alt
    i, j = np.unravel_index(np.abs(run.embeddings).argmax(), run.embeddings.shape)
    longest = f"{dimensions('x', 3)[j]} of {run.tokens[i]}, {short(run.embeddings[i, j], 2)}"
    assert drawn.alt.endswith(f"The longest bar is {longest}.")


@pytest.mark.parametrize("run", [run for run in RUNS if run.embeddings is not None],
                         ids=lambda run: run.example.name)  # fmt: skip
def test_lanes_strips_and_shares_show_what_heads_make_together(run):
    drawn = lanes(run)
    said = " ".join(texts(raw(drawn)))
    n, d_k, d_v = len(run.tokens), run.query.shape[2], run.value.shape[2]
    assert said.count(f"Q, K ({n}, {d_k}) V ({n}, {d_v})") == run.num_heads
    assert said.count(f"weights ({n}, {n})") == run.num_heads
    for words in (f"embeddings {run.embeddings.shape}", f"concatenation {run.concat.shape}",
                  *(name.partition(":")[0] for name in run.head_names)):  # fmt: skip
        assert words in said
    assert {str(run.embeddings.shape), f"{run.num_heads} lanes"} <= set(re.findall(
        r"\d+ lanes|\(\d+, \d+\)", drawn.alt))  # fmt: skip
    has_output = run.output is not None
    assert ("output projection" in said) == has_output
    assert ("an output of shape" in drawn.alt.partition("lanes meet")[2]) == has_output
    check_strips(run)
    if has_output:
        check_shares(run)


def check_strips(run):
    drawn = concat_strips(run)
    numbers = [text for text in texts(wide(drawn)) if re.fullmatch(r"−?\d+\.\d\d", text)]
    assert sorted(numbers) == sorted(shown(x, 2) for x in run.concat.ravel())
    width = run.concat.shape[1]
    columns = f"columns {width - width // run.num_heads + 1} to {width}"
    assert f"{columns} from {run.head_names[-1]}." in drawn.alt
    largest = run.concat.ravel()[np.abs(run.concat).argmax()]
    assert f"The largest number is {shown(largest, 2)}," in drawn.alt


def check_shares(run):
    drawn = output_shares(run)
    said = texts(wide(drawn))
    for i in range(len(run.tokens)):
        for values in np.column_stack([*run.head_contributions[:, i], run.output[i]]):
            row = [short(x, 2) for x in values]  # the shares of a number, and what they make
            assert any(said[k : k + len(row)] == row for k in range(len(said)))
    shares = run.head_contributions[:, 0, 0]
    for head, share in zip(run.head_names, shares, strict=True):
        assert f"{head} {shown(share, 2)}," in drawn.alt
    largest = run.head_names[np.abs(shares).argmax()]
    end = f"output {shown(run.output[0, 0], 2)}; the largest share is {largest}'s."
    assert drawn.alt.endswith(end)


def test_mixing_maps_show_weights_values_and_outputs():
    run = trace(load_example("the-cat-sat"))
    drawn = iter(panels(raw(mixing_maps(run))))
    for head in range(run.num_heads):
        arrays = (run.weights[head], run.value[head], run.head_outputs[head])
        titles = (f"Head {head + 1}: weights", "× values", "= output")
        for array, title in zip(arrays, titles, strict=True):
            panel = next(drawn)
            assert heats(panel)[1] == [shown(x, 2) for x in array.flat]
            assert texts(panel)[0] == title
    assert list(drawn) == []


# Colours


@pytest.mark.parametrize("draw", [lanes, concat_strips, output_shares])
def test_heads_keep_their_colours_and_patterns(rng, draw):
    root = wide(draw(trace(projected(rng))))
    heads = list(dict.fromkeys(head_of(g) for g in root.iter(f"{SVG}g") if head_of(g)))
    assert [c for c in heads if c != NEUTRAL] == list(HEAD_COLOURS[:HEADS])
    used = {e.get("fill") for e in root.iter(f"{SVG}rect")} - {None}
    assert used == {f"url(#hatch-{i + 1})" for i in range(1, HEADS)}


def test_a_weight_is_as_far_from_paper_to_its_head_s_colour():
    run = trace(load_example("cat-sat-on-it"))
    drawn = weight_maps(run)
    for panel, array in zip(layouts(raw(drawn))[0], run.weights, strict=True):
        np.testing.assert_allclose(heats(panel)[0], array.ravel(), atol=1e-4)
    fills = [e.get("fill") for e in on_paper(drawn).iter(f"{SVG}rect")]
    for k, (head, i, j) in enumerate(np.ndindex(run.weights.shape)):
        share = run.weights[head, i, j] * full_heat(HEAD_COLOURS[head]) / 100
        for at in (1, 3, 5):
            full = int(HEAD_COLOURS[head][at : at + 2], 16)
            assert abs(int(fills[k][at : at + 2], 16) - (255 + share * (full - 255))) <= 1


@pytest.mark.parametrize("colour", [*HEAD_COLOURS, "#6B6B6B", "#000000"])
def test_in_greyscale_a_larger_number_is_darker_and_every_number_can_be_read(colour):
    ramp = np.linspace(0, 1, 65)[None]
    drawn = heatmaps([ramp], rows=["row"], columns=[""] * 65, alt="", colours=[colour])
    fills = [e.get("fill") for e in on_paper(drawn).iter(f"{SVG}rect")]
    lights = [luminance(fill) for fill in fills]
    assert (np.diff(lights) <= 0).all()
    assert lights[0] == 1
    assert min(contrast("#000000", fill) for fill in fills) >= 4.5


def test_a_cell_without_a_number_is_blank_and_its_row_still_has_a_largest():
    matrix = [[0.25, np.nan], [np.nan, np.nan]]
    drawn = heatmaps([matrix], rows="ab", columns="xy", alt="", lowest=0, highest=1)
    (panel,) = panels(raw(drawn))
    numbers = [e for e in panel.iter(f"{SVG}text") if "f-number" in e.get("class", "")]
    assert [(e.text, "f-strong" in e.get("class")) for e in numbers] == [("0.25", True)]
    assert heats(panel)[0] == [0.25, 0, 0, 0]


# Counts


def test_stacked_counts_draw_every_count_and_the_sum():
    parts = {"right": [2, 30], "wrong": [5, 0], "odd": [11, 7]}
    drawn = stacked_counts(["one", "two"], parts)
    root = wide(drawn)
    corners = [np.array(re.findall(r"[\d.]+", e.get("d")), float) for e in by_class(root, "f-part")]
    bars = [(c[::2].min(), c[::2].max() - c[::2].min()) for c in corners][:5]  # the key follows
    scale = bars[1][1] / 30
    wanted = [(0, 2), (0, 30), (2, 5), (7, 11), (30, 7)]
    np.testing.assert_allclose(bars, np.array(wanted) * scale, atol=0.2)
    said = texts(root)
    assert said[-3:] == list(parts)
    assert said.count("18") == said.count("37") == 1
    assert drawn.alt == (
        "Bars. one: right 2, wrong 5, odd 11. two: right 30, wrong 0, odd 7."
        " The longest bar is two, 37."
    )
