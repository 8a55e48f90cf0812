"""Figures are valid SVG, labelled images on a page, and legible with few or no colours."""

import re
from itertools import combinations
from xml.etree import ElementTree

import numpy as np
import pytest
from all_figures import FIGURES
from book_site import STATIC
from drawn import SVG, by_class, head_of, linear, on_paper, raw, texts, wide
from helpers import HEADS, MASK, example, example_from_embeddings

from mha import example_names, load_example, trace
from mha.runs.rounding import dimensions, short, shown
from mha.views import colours, figures
from mha.views.drawing.svg import NEUTRAL

RUNS = [trace(load_example(name)) for name in example_names()]
DRAWN = {name: draw() for name, draw in FIGURES.items()}
ALT = 'Weights of "cat" <end> & more, 0.7'


# On a page


@pytest.mark.parametrize("name", FIGURES)
def test_every_drawing_is_sound_the_same_twice_and_needs_nothing_from_outside(name):
    drawn = DRAWN[name]
    assert drawn == FIGURES[name]()
    assert re.search(r"\d", drawn.alt) or name.startswith("transformer_map")
    data, metadata = drawn._repr_mimebundle_(include=None, exclude=None)
    assert data == {"image/svg+xml": drawn.svg, "text/plain": f"Figure: {drawn.alt}"}
    assert metadata == {"image/svg+xml": {"alt": drawn.alt}}
    assert len(texts(ElementTree.fromstring(drawn.svg))) > 3
    assert "http" not in drawn.svg.replace('xmlns="http://www.w3.org/2000/svg"', "")


def test_on_a_page_each_is_an_image_with_a_label_and_identifiers_are_unique_and_found():
    ids = []
    for place in "ab":
        for drawn in DRAWN.values():
            page = figures.inline_svg(drawn.svg, ALT, place)
            assert "<style" not in page
            root = ElementTree.fromstring(page)
            assert (root.get("class"), root.get("tabindex")) == ("drawing", "0")
            assert (root[0].get("role"), root[0].get("aria-label")) == ("img", ALT)
            own = [e.get("id") for e in root.iter() if e.get("id")]
            assert set(re.findall(r"""(?:url\(|href=")#([^)"]+)""", page)) == set(own)
            ids += own
    assert len(ids) == len(set(ids)) > 5


# Numbers


def heatmap_cells(panel):
    """Return the weight of each heatmap cell and its printed number, in order."""
    weights = [float(e.get("style").split(":")[1]) for e in by_class(panel, "f-heat")]
    numbers = [e for e in by_class(panel, "f-number") if e.get("text-anchor") == "middle"]
    return weights, ["".join(e.itertext()) for e in numbers][-len(weights) :]


def panels(drawn):
    """Return the panels of a figure that has the same panels in both layouts."""
    return by_class(raw(drawn), "f-panel")


def layouts(drawn):
    """Return the panels of each layout of a drawing, the wide layout first."""
    root = raw(drawn)
    groups = [*by_class(root, "f-wide"), *by_class(root, "f-narrow")]
    return [list(group) for group in groups] or [panels(drawn)]


@pytest.mark.parametrize("run", RUNS, ids=example_names())
def test_heatmaps_show_every_number_and_say_each_row_s_largest(run):
    for stage in ("weights", "scaled_scores"):
        found = layouts(figures.weight_maps(run, stage))
        for layout in found:
            for i, (panel, array) in enumerate(zip(layout, getattr(run, stage), strict=True)):
                if stage == "weights":
                    np.testing.assert_allclose(heatmap_cells(panel)[0], array.ravel(), atol=1e-4)
                # The maps of a row share the names of their rows.
                named = i == 0 or layout is found[-1]
                wanted = [run.head_names[i]] if run.num_heads > 1 else []
                wanted += ["key", *["query"] * named, *run.tokens]
                for token, row in zip(run.tokens, array, strict=True):
                    wanted += [*[token] * named, *(shown(x, 2) for x in row)]
                assert texts(panel) == wanted
    said = figures.weight_maps(run, places=3).alt.replace("attends most ", "")
    parts = said.split("Head ")[1:] if run.num_heads > 1 else [said]
    for part, weights in zip(parts, run.weights, strict=True):
        for token, row in zip(run.tokens, weights, strict=True):
            assert f"{token} to {run.tokens[row.argmax()]} ({shown(row.max(), 3)})" in part


def test_masked_cells_are_blank_minus_infinity_and_never_the_largest():
    masked = trace(example(mask=MASK))
    weights, numbers = heatmap_cells(panels(figures.weight_maps(masked, "scaled_scores"))[0])
    for allowed, weight, number in zip(MASK.ravel(), weights, numbers, strict=True):
        assert (number == "−∞") == (not allowed)
        assert allowed or weight == 0
    for stage in ("weights", "scaled_scores"):
        alt = figures.weight_maps(masked, stage).alt
        assert ", token2 to none, token3 to token0 (" in alt
        assert "(0.00)" not in alt
        assert "∞" not in alt


def test_a_cell_without_a_number_is_blank_and_its_row_still_has_a_largest():
    matrix = [[0.25, np.nan], [np.nan, np.nan]]
    drawn = figures.heatmaps([matrix], rows="ab", columns="xy", alt="", lowest=0, highest=1)
    (panel,) = panels(drawn)
    numbers = [e for e in panel.iter(f"{SVG}text") if "f-number" in e.get("class", "")]
    assert [(e.text, "f-strong" in e.get("class")) for e in numbers] == [("0.25", True)]
    assert heatmap_cells(panel)[0] == [0.25, 0, 0, 0]


def test_bars_show_every_component():
    run = trace(load_example("cat-sat-on-it"))
    drawn = figures.vector_bars(run.embeddings, rows=run.tokens, symbol="x")
    span = run.embeddings.max() - min(0, run.embeddings.min())
    for panel, token, vector in zip(panels(drawn), run.tokens, run.embeddings, strict=True):
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
    drawn = figures.lanes(run)
    said = " ".join(texts(raw(drawn)))
    n, d_k, d_v = len(run.tokens), run.query.shape[2], run.value.shape[2]
    assert said.count(f"Q, K ({n}, {d_k}) V ({n}, {d_v})") == run.num_heads
    assert said.count(f"weights ({n}, {n})") == run.num_heads
    for words in (f"embeddings {run.embeddings.shape}", f"concatenation {run.concat.shape}",
                  *(name.partition(":")[0] for name in run.head_names)):  # fmt: skip
        assert words in said
    assert {str(run.embeddings.shape), f"{run.num_heads} lanes"} <= set(
        re.findall(r"\d+ lanes|\(\d+, \d+\)", drawn.alt)
    )
    has_output = run.output is not None
    assert ("output projection" in said) == has_output
    assert ("an output of shape" in drawn.alt.partition("lanes meet")[2]) == has_output
    drawn = figures.concat_strips(run)
    numbers = [text for text in texts(wide(drawn)) if re.fullmatch(r"−?\d+\.\d\d", text)]
    assert sorted(numbers) == sorted(shown(x, 2) for x in run.concat.ravel())
    width = run.concat.shape[1]
    columns = f"columns {width - width // run.num_heads + 1} to {width}"
    assert f"{columns} from {run.head_names[-1]}." in drawn.alt
    largest = run.concat.ravel()[np.abs(run.concat).argmax()]
    assert f"The largest number is {shown(largest, 2)}," in drawn.alt
    if has_output:
        check_shares(run)


def check_shares(run):
    drawn = figures.output_shares(run)
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
    arrays = zip(run.weights, run.value, run.head_outputs, strict=True)
    wanted = [[shown(x, 2) for x in array.flat] for head in arrays for array in head]
    found = panels(figures.mixing_maps(run))
    assert [heatmap_cells(panel)[1] for panel in found] == wanted
    assert [texts(panel)[0] for panel in found] == [
        title for head in "12" for title in (f"Head {head}: weights", "× values", "= output")
    ]


# Colours


@pytest.mark.parametrize("draw", [figures.lanes, figures.concat_strips, figures.output_shares])
def test_heads_keep_their_colours_and_patterns(rng, draw):
    root = wide(draw(trace(example_from_embeddings(rng))))
    heads = list(dict.fromkeys(head_of(g) for g in root.iter(f"{SVG}g") if head_of(g)))
    assert [c for c in heads if c != NEUTRAL] == list(figures.HEAD_COLOURS[:HEADS])
    used = {e.get("fill") for e in root.iter(f"{SVG}rect")} - {None}
    assert used == {f"url(#hatch-{i + 1})" for i in range(1, HEADS)}


@pytest.mark.parametrize("colour", [*figures.HEAD_COLOURS, "#6B6B6B", "#000000"])
def test_in_greyscale_a_larger_number_is_darker_and_every_number_can_be_read(colour):
    ramp = np.linspace(0, 1, 65)[None]
    drawn = figures.heatmaps([ramp], rows=["row"], columns=[""] * 65, alt="", colours=[colour])
    fills = [e.get("fill") for e in on_paper(drawn).iter(f"{SVG}rect")]
    lights = np.array([linear(fill) for fill in fills]) @ (0.2126, 0.7152, 0.0722)
    assert (np.diff(lights) <= 0).all()
    assert lights[0] == 1
    assert min(lights + 0.05) / 0.05 >= 4.5  # WCAG's contrast with black


# Colours as seen without one type of cone: Machado, Oliveira and Fernandes (2009), severity 1.
SEEN = {
    "all cones": np.eye(3),
    "no red": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216],
               [-0.003882, -0.048116, 1.051998]],
    "no green": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413],
                 [-0.011820, 0.042940, 0.968881]],
}  # fmt: skip
TO_XYZ = [[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]]
PAPERS = [(colours.HEAD_COLOURS, "#fffdf8"), (colours.HEAD_COLOURS_IN_DARK, "#14161a")]


def cielab(colour, seen):
    """Return a colour as CIELAB, in which distances are perceptual."""
    xyz = TO_XYZ @ np.clip(seen @ linear(colour), 0, 1) / [0.9505, 1, 1.089]
    x, y, z = np.where(xyz > 0.008856, np.cbrt(xyz), 7.787 * xyz + 16 / 116)
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


@pytest.mark.parametrize("eyes", SEEN)
@pytest.mark.parametrize(("own", "paper"), PAPERS, ids=["light", "dark"])
def test_any_two_heads_differ_and_the_first_three_clearly(own, paper, eyes):
    seen = np.array(SEEN[eyes])
    apart = {
        (i, j): np.linalg.norm(cielab(a, seen) - cielab(b, seen))
        for (i, a), (j, b) in combinations(enumerate(own), 2)
    }
    assert min(apart.values()) > 7
    assert min(distance for (_, j), distance in apart.items() if j < 3) > 25
    assert min(np.linalg.norm(cielab(c, seen) - cielab(paper, seen)) for c in own) > 25


def test_the_pages_have_the_same_colours_and_heat():
    sheet = (STATIC / "tokens.css").read_text(encoding="utf-8")
    light, dark = re.findall(r'html\[data-theme="\w+"\] \{\n(.*?)\}', sheet, re.DOTALL)[:2]
    assert f"--heat-full: {colours.HEAT_FULL}%;" in light
    assert f"--heat-full: {colours.HEAT_FULL_IN_DARK}%;" in dark
    for name, (of_light, of_dark) in colours.PAGE_COLOURS.items():
        assert f"--{name}: {of_light};" in light
        assert f"--{name}: {of_dark};" in dark
