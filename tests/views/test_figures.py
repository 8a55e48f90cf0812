"""Figures are sound SVG and PDF, show a trace's numbers, and read without colour."""

import base64
import re
from xml.etree import ElementTree

import numpy as np
import pytest
from all_figures import FIGURES, RUN
from helpers import HEADS, MASK, QUERIES, example, projected, raises
from matplotlib.colors import to_hex, to_rgb
from matplotlib.patches import FancyBboxPatch

from mha import example_names, load_example, short, shown, trace
from mha.views.figures import (
    HATCHES,
    HEAD_COLOURS,
    Figure,
    concat_strips,
    curves,
    head_colour,
    heatmaps,
    lanes,
    mixing_maps,
    output_shares,
    stacked_counts,
    vector_bars,
    weight_maps,
)

MASKED = trace(example(mask=MASK))


@pytest.fixture(scope="module")
def twice():
    """Draw every figure twice."""
    return {name: (draw(), draw()) for name, draw in FIGURES.items()}


def luminance(colour):
    """Return relative luminance as WCAG 2 defines it."""
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in to_rgb(colour)]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(first, second):
    light, dark = sorted((luminance(first), luminance(second)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def heatmap_cells(axes):
    """Return (row, column, text, ink, colour) of each cell of a heatmap."""
    colours = [c.get_facecolor()[0] for c in axes.collections]
    return [
        (int(text.get_position()[1]), int(text.get_position()[0]), text.get_text(), ink, colour)
        for text, colour in zip(axes.texts, colours, strict=True)
        for ink in [text.get_color()]
    ]


# The files


@pytest.mark.parametrize("name", FIGURES)
def test_svg_is_well_formed_and_pdf_is_pdf(twice, name):
    figure = twice[name][0]
    assert isinstance(figure, Figure)
    root = ElementTree.fromstring(figure.svg)
    assert root.tag == "{http://www.w3.org/2000/svg}svg"
    assert len(list(root.iter("{http://www.w3.org/2000/svg}path"))) > 3
    assert figure.pdf.startswith(b"%PDF-")
    assert figure.pdf.rstrip().endswith(b"%%EOF")


@pytest.mark.parametrize("name", FIGURES)
def test_the_same_call_gives_the_same_bytes(twice, name):
    first, second = twice[name]
    assert first == second
    assert "dc:date" not in first.svg
    assert b"CreationDate" not in first.pdf


@pytest.mark.parametrize("name", FIGURES)
def test_alternative_text_holds_numbers(twice, name):
    assert re.search(r"\d", twice[name][0].alt)


@pytest.mark.parametrize("name", FIGURES)
def test_a_notebook_gets_every_format_with_the_alternative_text(twice, name):
    figure = twice[name][0]
    data, metadata = figure._repr_mimebundle_(include=None, exclude=None)
    assert data["image/svg+xml"] == figure.svg
    assert base64.b64decode(data["application/pdf"]) == figure.pdf
    assert data["text/plain"] == f"Figure: {figure.alt}"
    assert metadata == {
        "image/svg+xml": {"alt": figure.alt},
        "application/pdf": {"alt": figure.alt},
    }


# Numbers


@pytest.mark.parametrize("name", example_names())
@pytest.mark.parametrize("stage", ["weights", "scaled_scores"])
def test_a_heatmap_shows_every_number(canvases, name, stage):
    run = trace(load_example(name))
    weight_maps(run, stage)
    (canvas,) = canvases
    for axes, array in zip(canvas.axes, getattr(run, stage), strict=True):
        texts = {(i, j): text for i, j, text, _, _ in heatmap_cells(axes)}
        assert texts == {index: shown(x, 2) for index, x in np.ndenumerate(array)}
        assert [t.get_text() for t in axes.get_xticklabels()] == list(run.tokens)
    rows = [t.get_text() for t in canvas.axes[0].get_yticklabels()]
    assert rows == list(run.tokens)
    titles = [axes.get_title(loc="left") for axes in canvas.axes]
    assert titles == (list(run.head_names) if run.num_heads > 1 else [""])


@pytest.mark.parametrize("name", example_names())
def test_a_heatmap_s_alternative_text_names_each_row_s_largest(canvases, name):
    run = trace(load_example(name))
    alt = weight_maps(run, places=3).alt
    for head, part in enumerate(alt.split("Head ")[1:]):
        for i, token in enumerate(run.tokens):
            row = run.weights[head, i]
            words = f"to {run.tokens[int(np.argmax(row))]} ({shown(row.max(), 3)})"
            assert f" {token} {words}" in part.replace("attends most ", "")


def test_a_query_that_may_attend_to_none_attends_to_none(canvases):
    for stage in ("weights", "scaled_scores"):
        alt = weight_maps(MASKED, stage).alt
        assert ", token2 to none, token3 to token0 (" in alt
        assert "(0.00)" not in alt
        assert "∞" not in alt


def test_masked_scores_are_white_and_say_minus_infinity(canvases):
    weight_maps(MASKED, "scaled_scores")
    for i, j, text, _, colour in heatmap_cells(canvases[0].axes[0]):
        if not MASK[i, j]:
            assert (text, to_hex(colour)) == ("−∞", "#ffffff")


def test_bars_show_every_component(canvases):
    run = trace(load_example("cat-sat-on-it"))
    figure = vector_bars(run.embeddings, rows=run.tokens, symbol="x")
    for axes, token, vector in zip(canvases[0].axes, run.tokens, run.embeddings, strict=True):
        assert axes.get_title() == token
        assert [bar.get_height() for bar in axes.patches] == list(vector)
        numbers = [short(x, 2) for x in vector]
        assert [text.get_text() for text in axes.texts] == numbers
        assert f"{token}: {', '.join(numbers)}" in figure.alt
        assert [t.get_text() for t in axes.get_xticklabels()] == ["x₁", "x₂", "x₃"]


@pytest.mark.parametrize("name", ["apple", "cat-sat", "cat-sat-on-it-wide", "the-cat-sat"])
def test_strips_show_the_concatenation(canvases, name):
    run = trace(load_example(name))
    figure = concat_strips(run)
    (axes,) = canvases[0].axes
    width = run.concat.shape[1]
    texts = [t.get_text() for t in axes.texts]
    assert texts[: run.concat.size] == [shown(x, 2) for x in run.concat.ravel()]
    assert texts[run.concat.size :] == list(run.head_names)
    d_v = width // run.num_heads
    assert f"columns {width - d_v + 1} to {width} from {run.head_names[-1]}." in figure.alt


@pytest.mark.parametrize("name", ["cat-sat-on-it", "cat-sat-on-it-wide", "the-cat-sat"])
def test_shares_add_up_to_the_output(canvases, name):
    run = trace(load_example(name))
    figure = output_shares(run)
    for i, axes in enumerate(canvases[0].axes):
        *shares, output = axes.containers
        heights = np.array([[bar.get_height() for bar in share] for share in shares])
        np.testing.assert_array_equal(heights, run.head_contributions[:, i])
        np.testing.assert_array_equal([bar.get_height() for bar in output], run.output[i])
        bars = [*run.head_contributions[:, i].ravel(), *run.output[i]]
        assert [t.get_text() for t in axes.texts] == [short(x, 2) for x in bars]
    shares = [shown(x, 2) for x in run.head_contributions[:, 0, 0]]
    for name, share in zip(run.head_names, shares, strict=True):
        assert f"{name} {share}," in figure.alt
    assert figure.alt.endswith(f"output {shown(run.output[0, 0], 2)}.")


@pytest.mark.parametrize("name", [n for n in example_names() if n != "cat-sat"])
def test_lanes_show_every_shape(canvases, name):
    run = trace(load_example(name))
    figure = lanes(run)
    (axes,) = canvases[0].axes
    texts = " ".join(t.get_text() for t in axes.texts)
    n, d_k, d_v = len(run.tokens), run.query.shape[2], run.value.shape[2]
    assert texts.count(f"Q, K ({n}, {d_k})\nV ({n}, {d_v})") == run.num_heads
    assert texts.count(f"weights ({n}, {n})") == run.num_heads
    assert f"embeddings {run.embeddings.shape}" in texts
    assert f"concatenation {run.concat.shape}" in texts
    assert ("output projection" in texts) == (run.output is not None)
    for name in run.head_names:
        assert name.replace(": ", "\n") in texts
    assert str(run.embeddings.shape) in figure.alt
    assert f"{run.num_heads} lanes" in figure.alt
    assert ("an output of shape" in figure.alt.split("lanes meet")[1]) == (run.output is not None)


def test_curves_differ_without_colour(canvases):
    series = {f"series {i}": np.arange(1, 4.0) * (i + 1) for i in range(5)} | {"dots": [1, 2, 3]}
    curves(
        [1, 2, 4],
        series,
        xlabel="length",
        ylabel="cost",
        alt="Six",
        log="xy",
        points=["dots"],
        xticks={1: "one", 4: "four"},
    )
    (axes,) = canvases[0].axes
    *lines, dots = axes.lines
    assert len({str(line._unscaled_dash_pattern) for line in lines}) == 5
    assert (dots.get_linestyle(), dots.get_marker()) == ("None", "o")
    assert [line.get_marker() for line in lines] == ["None"] * 5
    assert [to_hex(line.get_color()) for line in axes.lines] == [c.lower() for c in HEAD_COLOURS]
    assert [t.get_text() for t in axes.get_legend().get_texts()] == list(series)
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("length", "cost")
    assert (axes.get_xscale(), axes.get_yscale()) == ("log", "log")
    assert [t.get_text() for t in axes.get_xticklabels()] == ["one", "four"]
    for line, y in zip(axes.lines, series.values(), strict=True):
        np.testing.assert_array_equal(line.get_ydata(), y)


def test_curves_number_their_ticks_and_leave_out_a_legend_of_one(canvases):
    curves([1, 2, 3], {"one": [1, 2, 3]}, xlabel="x", ylabel="y", alt="One", xticks=[1, 2.5])
    (axes,) = canvases[0].axes
    assert axes.get_legend() is None
    assert [t.get_text() for t in axes.get_xticklabels()] == ["1", "2.5"]
    assert (axes.get_xscale(), axes.get_yscale()) == ("linear", "linear")


# Colours


def test_heads_have_a_colour_and_a_hatch_each():
    assert [head_colour(i) for i in range(6)] == list(HEAD_COLOURS)
    assert head_colour(6) == head_colour(0)
    assert len(set(HEAD_COLOURS)) == len(set(HATCHES)) == 6


def test_heads_keep_their_colours(canvases, rng):
    run = trace(projected(rng))
    colours = [c.lower() for c in HEAD_COLOURS[:HEADS]]
    for draw in (lanes, concat_strips, output_shares):
        draw(run)
    lane, strip, share = canvases
    boxes = [t.get_bbox_patch() for t in lane.axes[0].texts if t.get_bbox_patch()]
    assert all(isinstance(box, FancyBboxPatch) for box in boxes)
    edges = [to_hex(box.get_edgecolor()) for box in boxes]
    assert edges[1:-2] == [c for c in colours for _ in range(4)]
    edges = [to_hex(bar.get_edgecolor()) for bar in strip.axes[0].patches]
    d_v = len(edges) // QUERIES // HEADS
    assert edges == [c for c in colours for _ in range(d_v)] * QUERIES
    for axes in share.axes:
        *shares, output = axes.containers
        assert [to_hex(bars[0].get_edgecolor()) for bars in shares] == colours
        assert [bars[0].get_hatch() or "" for bars in shares] == list(HATCHES[:HEADS])
        assert to_hex(output[0].get_facecolor()) not in colours


def test_a_weight_is_as_far_from_white_to_its_head_s_colour(canvases):
    run = trace(load_example("cat-sat-on-it"))
    weight_maps(run)
    for head, axes in enumerate(canvases[0].axes):
        for i, j, _, _, colour in heatmap_cells(axes):
            w = run.weights[head, i, j]
            wanted = (1 - w) + w * np.array(to_rgb(HEAD_COLOURS[head]))
            np.testing.assert_allclose(to_rgb(colour), wanted, atol=1 / 255)


@pytest.mark.parametrize("colour", [*HEAD_COLOURS, "#6B6B6B", "#000000"])
def test_in_greyscale_a_larger_number_is_darker(canvases, colour):
    heatmaps(
        [np.linspace(0, 1, 65)[None]],
        rows=["row"],
        columns=[""] * 65,
        alt="A ramp",
        colours=[colour],
    )
    cells = heatmap_cells(canvases[0].axes[0])
    assert [text for _, _, text, _, _ in cells] == [shown(x, 2) for x in np.linspace(0, 1, 65)]
    lights = [luminance(shade) for *_, shade in cells]
    assert (np.diff(lights) < 0).all()
    assert (lights[0], lights[-1]) == pytest.approx((1, luminance(colour)))
    assert min(contrast(ink, shade) for *_, ink, shade in cells) >= 4.5
    assert {ink for *_, ink, _ in cells} <= {"#000000", "#FFFFFF"}


@pytest.mark.parametrize("draw", [lanes, concat_strips])
def test_text_on_coloured_boxes_can_be_read(canvases, rng, draw):
    draw(trace(projected(rng)))
    (axes,) = canvases[0].axes
    if draw is lanes:
        pairs = [(t, t.get_bbox_patch()) for t in axes.texts if t.get_bbox_patch()]
    else:
        pairs = list(zip(axes.texts, axes.patches, strict=False))
    assert len(pairs) > HEADS
    assert min(contrast(t.get_color(), box.get_facecolor()) for t, box in pairs) >= 4.5


def test_one_scale_for_all_heatmaps_of_a_figure(canvases):
    heatmaps([[[0, 1]], [[2, 4]]], rows="a", columns="xy", alt="", colours=["#000000"] * 2)
    shades = [luminance(colour) for axes in canvases[0].axes for *_, colour in heatmap_cells(axes)]
    assert shades == sorted(shades, reverse=True)
    assert len(set(shades)) == 4


def test_equal_numbers_have_one_colour(canvases):
    heatmaps([np.full((2, 2), 3.0)], rows="ab", columns="xy", alt="")
    assert len({to_hex(cell[-1]) for cell in heatmap_cells(canvases[0].axes[0])}) == 1


# Refusals


@pytest.mark.parametrize("stage", ["query", "output", ""])
def test_a_stage_that_is_no_map_is_refused(stage):
    with raises(
        ValueError,
        f"stage is {stage!r}; scores, scaled_scores, exponentials or weights is wanted",
    ):
        weight_maps(RUN, stage)


def test_lanes_need_embeddings():
    with raises(ValueError, "cat-sat has no embeddings; an example with them is wanted"):
        lanes(trace(load_example("cat-sat")))


def test_shares_need_an_output_projection():
    with raises(ValueError, "apple has no w_o; an output projection is wanted"):
        output_shares(trace(load_example("apple")))


def test_stacked_counts_draw_every_count_and_the_sum(canvases):
    figure = stacked_counts(["one", "two"], {"right": [2, 30], "wrong": [5, 0], "odd": [11, 7]})
    (ax,) = canvases[0].axes
    widths = [[bar.get_width() for bar in bars] for bars in ax.containers]
    assert widths == [[2, 30], [5, 0], [11, 7]]
    lefts = [[bar.get_x() for bar in bars] for bars in ax.containers]
    assert lefts == [[0, 0], [2, 30], [7, 30]]
    texts = [text.get_text().strip() for text in ax.texts]
    assert texts.count("18") == texts.count("37") == 1
    assert figure.alt == "Bars. one: right 2, wrong 5, odd 11. two: right 30, wrong 0, odd 7."
    assert len({bars[0].get_hatch() for bars in ax.containers}) == 3


def test_stacked_counts_need_a_count_for_each_row():
    with raises(ValueError, "right has 1 counts for 2 rows; one a row is wanted"):
        stacked_counts(["one", "two"], {"right": [2]})


def test_mixing_maps_show_weights_values_and_outputs(canvases):
    run = trace(load_example("the-cat-sat"))
    mixing_maps(run)
    axes = canvases[0].axes
    assert len(axes) == 3 * run.num_heads
    for head in range(run.num_heads):
        for ax, array in zip(
            axes[3 * head : 3 * head + 3],
            (run.weights[head], run.value[head], run.head_outputs[head]),
            strict=True,
        ):
            assert [t.get_text() for t in ax.texts] == [shown(x, 2) for x in array.flat]
        assert [ax.get_title(loc="left") for ax in axes[3 * head : 3 * head + 3]] == [
            "weights",
            "× values",
            "= output",
        ]
