"""Every drawing of a run has the sizes and positions that its numbers require."""

import re
from dataclasses import replace

import chains
import numpy as np
import pytest
from drawn import by_class, lengths, raw, texts, wide
from helpers import MASK, example, raises
from hypothesis import given
from hypothesis import strategies as st

import mha
from mha.layouts import LAYOUTS
from mha.runs.changed_examples import with_swapped_tokens
from mha.runs.rounding import short, shown
from mha.views import figures
from mha.views.drawing.plane import _hull

RUNS = {name: mha.trace(mha.load_example(name)) for name in mha.example_names()}
BANK, CAT_SAT = RUNS["river-bank"], RUNS["the-cat-sat"]


def matches(pattern, drawn):
    """Return the numbers that a pattern matches in a drawing, one row per match."""
    return np.array(re.findall(pattern, drawn.svg), dtype=float)


# One query in one row


def sum_in(said, parts):
    """Return the printed sum of parts in a drawing. Its sign must hold as printed."""
    (end,) = (words for words in said if words[0] in "=≈")
    line = " + ".join(f"({part})" if part[0] == "−" else part for part in parts)
    assert len(chains.hold(f"{line} {end}", is_column=True)) == 1
    return end[2:]


@pytest.mark.parametrize("name", RUNS)
def test_the_row_has_every_number_and_ribbons_of_that_width(name):
    run = RUNS[name]
    token, head, component = len(run.tokens) - 1, run.num_heads - 1, 1
    drawn = figures.query_strip(run, token, head=head, component=component)
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


def test_negative_numbers_are_below_the_line():
    run = RUNS["cat-sat-on-it"]
    parts = run.weights[2, 4] * run.value[2, :, 0]
    assert parts.min() < 0 < parts.max()
    root = wide(figures.query_strip(run, 4, head=2))
    (zero,) = by_class(root, "f-line")
    at = float(re.match(r"M[\d.]+ ([\d.]+)", zero.get("d"))[1])
    for part, box in zip(parts, by_class(root, "f-part")[len(run.tokens) :], strict=True):
        y, height = lengths(box, "y", "height")
        assert (y + height <= at + 0.2) if part > 0 else (y >= at - 0.2)


def test_a_masked_key_has_no_bar_and_no_ribbon():
    run = mha.trace(example(mask=MASK))
    root = wide(figures.query_strip(run, 3))
    assert texts(root).count("−∞") == len(run.tokens) - 1
    assert len(by_class(root, "f-ribbon")) == 2
    nothing = figures.query_strip(run, 2)
    assert by_class(wide(nothing), "f-ribbon") == []
    assert "The largest weight is that of none." in nothing.alt


# Arcs, the row of steps


def widths(drawn):
    return matches(r'f-ribbon" stroke-width="([\d.]+)px"/', drawn)


def test_an_arc_is_as_wide_as_its_weight_in_each_head_and_a_masked_key_has_none():
    for head in range(2):
        wanted = np.sort(16 * CAT_SAT.weights[head].ravel())
        np.testing.assert_allclose(
            np.sort(widths(figures.arcs(CAT_SAT, head=head))), wanted, rtol=0.01
        )
    assert len(widths(figures.arcs(CAT_SAT))) == CAT_SAT.weights.size
    causal = mha.trace(replace(CAT_SAT.example, is_causal=True))
    assert len(widths(figures.arcs(causal, head=1))) == 6
    of_bank = figures.arcs(BANK, token=2)
    assert len(widths(of_bank)) == 3
    assert all(f">{share}\N{NO-BREAK SPACE}%<" in of_bank.svg for share in (4, 71, 26))
    assert "bank attends most to river (71" in of_bank.alt


@pytest.mark.parametrize(
    ("lit", "filled", "alt"),
    [
        (("scores",), 1, "Filled is: the scores."),
        (("head",), 6, "Filled is: one head."),
        (("attention",), 7, "Filled is: multi-head attention."),
        (("norm", "add"), 3, "Filled are: normalisation and addition to the stream."),
        (("model",), 17, "Filled is: the whole model."),
    ],
)
def test_a_small_map_fills_the_boxes_of_its_pieces(lit, filled, alt):
    drawn = figures.transformer_map(*lit)
    assert drawn.alt.endswith(alt)
    boxes = re.findall(r'<rect [^>]*class="f-ink" rx=', drawn.svg)
    assert len(boxes) == 2 * filled  # on a desk and on a phone


def test_the_large_map_names_every_box_and_fills_none():
    drawn = figures.transformer_map()
    for name in ("embedding", "position", "softmax", "feed-forward", "unembedding", "next token"):
        assert drawn.svg.count(f">{name}</text>") >= 2  # on a desk and on a phone
    assert 'class="f-ink" rx=' not in drawn.svg
    with pytest.raises(ValueError, match="nowhere"):
        figures.transformer_map("scores", "nowhere")


# Vectors


def test_the_plane_has_the_scores_at_the_feet_of_the_keys():
    layer = BANK.example.layer
    half = replace(BANK.example, layer=replace(layer, w_q=layer.w_q / 2))
    drawn = figures.plane(mha.trace(half), 2)
    for score in ("0", "1", "1.5"):
        assert f'f-strong f-number" text-anchor="middle">{score}</text>' in drawn.svg
    tips, xs, ys = matches(r'd="M([\d.]+) [\d.]+L([\d.]+) ([\d.]+)" class="f-quiet"', drawn).T
    np.testing.assert_array_equal(xs, tips)  # this query lies on the first axis
    assert len(set(ys)) == 1


@given(st.lists(st.tuples(*[st.integers(-4, 4)] * 2), min_size=1, max_size=9))
def test_the_polygon_of_a_plane_holds_every_value(points):
    corners = np.array(_hull(np.array(points, dtype=float)))
    assert {tuple(c) for c in corners.tolist()} <= {tuple(map(float, p)) for p in points}
    if len(corners) < 3:
        return
    sides = np.roll(corners, -1, axis=0) - corners
    for point in np.array(points, dtype=float):
        to = point - corners
        assert (sides[:, 0] * to[:, 1] - sides[:, 1] * to[:, 0] >= -1e-9).all()


def test_a_token_moves_from_its_embedding_to_the_output():
    drawn = figures.moved({"the river bank": BANK}, 2, ("water", "money"))
    the, river, bank, output = matches(r'<circle cx="([\d.]+)" cy="([\d.]+)"', drawn)
    unit = (river - the)[0] / 3  # river is (3, 0) and the (0, 0)
    np.testing.assert_allclose(bank - the, [unit, -unit], atol=0.11)
    wanted = BANK.head_outputs[0, 2] * [unit, -unit]
    np.testing.assert_allclose(output - the, wanted, atol=0.11)
    for word in (*BANK.tokens, "water", "money", "the river bank"):
        assert f">{word}</text>" in drawn.svg
    assert drawn.alt == "the river bank: bank moves from (1.00, 1.00) to (2.38, 0.26)."


def test_the_arrow_of_a_token_rotates_to_its_output_in_each_run():
    example = BANK.example
    x = example.embeddings
    money = mha.trace(
        replace(example, embeddings=[x[0], x[1, ::-1], x[2]], tokens=("the", "money", "bank"))
    )
    drawn = figures.meanings({"river bank": BANK, "money bank": money}, 2, ("water", "money"))
    (river, other) = matches(r'<circle cx="([\d.]+)" cy="([\d.]+)" r="4"', drawn)
    unit = (river[0] - other[0]) / 3  # (3, 0) and (0, 3)
    zero = np.array([other[0], river[1]])
    points = matches(r'<path d="M([\d.]+) ([\d.]+)L[^Z"]*Z" class="f-head"', drawn)
    outputs = [run.head_outputs[0, 2] for run in (BANK, money)]
    np.testing.assert_allclose((points - zero) * [1, -1], unit * np.array(outputs), atol=0.11)
    (alone,) = matches(r'<path d="M([\d.]+) ([\d.]+)L[^Z"]*Z" class="f-soft"', drawn)
    np.testing.assert_allclose((alone - zero) * [1, -1], [unit, unit], atol=0.11)
    for word in ("river", "money", "bank", "water", "river bank", "money bank"):
        assert f">{word}</text>" in drawn.svg
    assert ">the</text>" not in drawn.svg  # it has no length
    assert drawn.alt == (
        "The arrow of bank points to (1.00, 1.00), and in river bank to (2.38, 0.26)"
        " and in money bank to (0.26, 2.38)."
    )
    doubled = mha.trace(replace(example, embeddings=2 * x))
    with raises(ValueError, "the token has another embedding in other; it must be the same"):
        figures.meanings({"here": BANK, "other": doubled}, 2, ("water", "money"))


def tips(drawn):
    """Return the end points of the thick arrows, relative to the centres of their circles."""
    centres = matches(r'<circle cx="([\d.]+)" cy="([\d.]+)" r="46"', drawn)
    points = matches(r'<path d="M([\d.]+) ([\d.]+)L[^Z"]*Z" class="f-key"', drawn)
    return (points - centres) * [1, -1]


def test_the_arrows_are_the_rotated_keys():
    quarter = np.pi / 2 * np.arange(2)[:, None] * [1, 1]
    run = mha.trace(replace(mha.load_example("cat-sat"), angles=quarter))
    swapped = mha.trace(with_swapped_tokens(run.example, 0, 1))
    drawn = figures.turned({"cat sat": run, "sat cat": swapped})
    np.testing.assert_allclose(tips(drawn), 46 * np.array([[1, 0], [-1, 0], [0, 1], [0, 1]]))
    assert drawn.alt == (
        "cat sat: cat is rotated by 0°, to (1.00, 0.00); sat is rotated by 90°, to (−1.00, 0.00)."
        " sat cat: sat is rotated by 0°, to (0.00, 1.00); cat is rotated by 90°, to (0.00, 1.00)."
    )
    assert drawn.svg.count("stroke-dasharray") == 2  # what is not turned has one arrow
    run = mha.trace(replace(run.example, angles=np.array([[0.3, -1.2], [2.0, 4.0]])))
    drawn = figures.turned({"here": run}, pair=1)
    np.testing.assert_allclose(tips(drawn), 46 * run.turned_key[0, :, 2:], atol=0.11)
    # −1.2 goes the long way round, and 4 is more than half a turn
    assert matches(r"A20.7 20.7 0 (\d) 0", drawn).tolist() == [1, 1]


# Small maps, matrices


def test_every_small_map_has_its_weights_in_grades_of_a_tenth():
    weights = mha.softmax(np.random.default_rng(5).normal(scale=2, size=(2, 3, 5, 5)))
    panels = by_class(raw(figures.small_maps(weights)), "f-panel")
    side = 46 / 5
    for panel, of_head in zip(panels, weights.reshape(6, 5, 5), strict=True):
        drawn = {}
        for path in by_class(panel, "f-grade"):
            for x, y in re.findall(r"M([\d.]+) ([\d.]+)h", path.get("d")):
                row, column = round((float(y) - 17) / side), round(float(x) / side)
                np.testing.assert_allclose([float(x), float(y) - 17],
                                           [column * side, row * side], atol=0.1)  # fmt: skip
                drawn[row, column] = float(path.get("style").split(":")[1])
        assert drawn == {
            at: pytest.approx(round(float(weight), 1))
            for at, weight in np.ndenumerate(of_head)
            if weight >= 0.05
        }


def words(drawn):
    """Return the texts on the blocks, in order."""
    return re.findall(r">([QKVOB] [\d, –]+)</text>", drawn.svg)


@pytest.mark.parametrize("name", LAYOUTS)
def test_every_matrix_of_a_layout_has_its_blocks(name):
    drawn, parts = figures.layout_blocks(name, num_heads=3), LAYOUTS[name].parts
    letters = "QKVO" + "B" * ("relative_bias" in parts)
    wanted = [f"{letter} {head}" for letter in letters for head in (1, 2, 3)]
    if parts.get("w_qkv", ("", ""))[1].startswith("(u"):
        wanted[:9] = [f"{letter} {head}" for head in (1, 2, 3) for letter in "QKV"]
    assert words(drawn) == wanted
    for own in LAYOUTS[name].required:
        assert f">{own}</text>" in drawn.svg
        assert f"{own}, " in drawn.alt
    rotary = LAYOUTS[name].rotary
    whole = rotary and not rotary.pairs and rotary.share is None and "w_q" in parts
    assert ("halves" in drawn.alt) == bool(whole)
    shared = words(figures.layout_blocks("Llama", num_heads=6, num_groups=2))
    assert shared[6:10] == ["K 1–3", "K 4–6", "V 1–3", "V 4–6"]


def test_the_groups_of_a_fused_matrix_are_beside_each_other_or_behind():
    falcon = words(figures.layout_blocks("Falcon", num_heads=4, num_groups=2))
    assert falcon[:8] == ["Q 1", "Q 2", "K 1, 2", "V 1, 2", "Q 3", "Q 4", "K 3, 4", "V 3, 4"]
    phi = words(figures.layout_blocks("Phi-3", num_heads=4, num_groups=2))
    assert phi[4:8] == ["K 1, 2", "K 3, 4", "V 1, 2", "V 3, 4"]


def test_arrays_that_a_layout_lacks_are_refused():
    with raises(ValueError, f"layout is 'Bloom'; one of {', '.join(LAYOUTS)} is wanted"):
        figures.layout_blocks("Bloom")
    sentence = (
        "num_groups is 1; a divisor of num_heads=2 is wanted, and num_heads itself for a layout"
        " with one matrix for query, key and value"
    )
    with raises(ValueError, sentence):
        figures.layout_blocks("GPT-2", num_groups=1)
