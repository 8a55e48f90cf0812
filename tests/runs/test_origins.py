"""Where every number of a run comes from: put together again, it is the number of the trace."""

import math

import numpy as np
import pytest
from helpers import MASK, QUERIES, example, projected, raises
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from put_together import check_all

from mha import (
    Block,
    FeedForward,
    MultiHeadWeights,
    Norm,
    Place,
    WorkedExample,
    arithmetic,
    example_names,
    load_example,
    origin,
    shown,
    trace,
    without_scale,
)
from mha.runs.places import places

# n, d_model, d_k, d_v, d_out: all different, so that a swapped axis shows.
SIZES = [(2, 5, 8, 3, 11), (3, 5, 7, 2, 11), (3, 7, 10, 2, 13)]


# Random examples


@st.composite
def masks(draw, heads, n):
    """Draw no mask, a boolean one or a float one, for all heads or for each; rows may be empty."""
    kind = draw(st.sampled_from(["none", "bool", "float"]))
    if kind == "none":
        return None
    shape = draw(st.sampled_from([(n, n), (1, n), (heads, n, n), (heads, 1, n), (heads, n, 1)]))
    rng = np.random.default_rng(draw(st.integers(0, 99)))
    allowed = rng.random(shape) < draw(st.sampled_from([0.3, 0.7]))
    if kind == "bool":
        return allowed
    terms = rng.normal(size=shape) * draw(st.sampled_from([0.5, 100]))
    return np.where(allowed, terms, -np.inf) if draw(st.booleans()) else terms


@st.composite
def examples(draw):
    """Draw an example of any kind: heads, sizes, scale, masks, size of the numbers, its start."""
    heads = draw(st.sampled_from([1, 2, 3]))
    n, d_model, d_k, d_v, d_out = draw(st.sampled_from(SIZES))
    rng = np.random.default_rng(draw(st.integers(0, 9999)))
    size = draw(st.sampled_from([0.5, 1, 30]))  # 30 takes scores far beyond 80
    if draw(st.booleans()):
        shapes = (heads, d_model, d_k), (heads, d_model, d_k), (heads, d_model, d_v)
        w_o = rng.normal(size=(heads * d_v, d_out)) if draw(st.booleans()) else None
        start = {
            "embeddings": rng.normal(size=(n, d_model)) * size,
            "layer": MultiHeadWeights(*(rng.normal(size=shape) for shape in shapes), w_o),
        }
    else:
        shapes = {"query": (heads, n, d_k), "key": (heads, n, d_k), "value": (heads, n, d_v)}
        start = {name: rng.normal(size=shape) * size for name, shape in shapes.items()}
    if "embeddings" in start and draw(st.booleans()):
        start["positions"] = rng.normal(size=(n, d_model))
    if d_k % 2 == 0 and draw(st.booleans()):
        start["angles"] = rng.uniform(-9, 9, size=(n, d_k // 2))
    return WorkedExample(
        name="random",
        title="Random",
        source="this test",
        tokens=[f"token{i}" for i in range(n)],
        head_names=[f"Head {i + 1}" for i in range(heads)],
        scale=draw(st.none() | st.sampled_from([1.0, 0.3, -2.0])),
        keys_at_once=draw(st.none() | st.integers(1, 4)),
        mask=draw(masks(heads, n)),
        is_causal=draw(st.booleans()),
        **start,
    )


@settings(max_examples=15, phases=[Phase.generate])
@given(examples())
def test_every_number_of_a_random_example(start):
    check_all(trace(start), read_lines=False)


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", example_names())
def test_every_number_of_every_example(name):
    check_all(trace(load_example(name)))


@pytest.mark.parametrize(
    "start",
    [
        example(mask=MASK),
        example(mask=np.where(MASK, 0.5, -np.inf)),
        example(mask=np.linspace(-1, 1, QUERIES), is_causal=True, scale=-0.3),
        example(scale=-2, query=np.ones((QUERIES, 1)) * 50, key=np.ones((QUERIES, 1))),
        without_scale(load_example("play-football")),
    ],
)
def test_masks_scales_and_shifts(start):
    check_all(trace(start))


@pytest.mark.parametrize("norm", ["before", "after", "nowhere"])
@pytest.mark.parametrize("activation", ["relu", "gelu"])
def test_every_number_of_a_small_block(rng, norm, activation):
    shapes = ((2, 3, 4), (2, 3, 4), (2, 3, 1), (2, 3)), ((3, 5), (5,), (5, 3), (3,)), ((3,),) * 4
    layer, feed, norms = ([rng.normal(size=shape) for shape in group] for group in shapes)
    first, second = Norm(*norms[:2], eps=0.5), Norm(*norms[2:], eps=0.5)
    block = Block(MultiHeadWeights(*layer), FeedForward(*feed, activation), norm, first, second)
    arrays = {"embeddings": rng.normal(size=(2, 3)), "positions": rng.normal(size=(2, 3))}
    arrays |= {"angles": rng.normal(size=(2, 2)), "head_names": ["x", "y"]}
    check_all(trace(projected(rng, tokens=["a", "b"], layer=None, block=block, **arrays)))


def test_the_root_and_percentages_have_no_array_and_yet_a_number(rng):
    run = trace(projected(rng, mask=MASK))
    assert origin(run, Place("root")).evaluate() == math.sqrt(run.query.shape[-1])
    for place in places(run, "weights"):
        found = origin(run, Place.at("percentages", *place.index))
        assert found.kept is None
        assert found.number == found.evaluate() == 100 * place.value(run)


# Refusals


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("scores.0.0.2", "scores has shape (1, 2, 2); index (0, 0, 2) is outside it"),
        ("percentages.1.0.0", "weights has shape (1, 2, 2); index (1, 0, 0) is outside it"),
        ("output.0.0", "cat-sat has no output; another stage is wanted"),
    ],
)
def test_a_number_that_the_run_lacks_is_refused(text, sentence):
    with raises(ValueError, sentence):
        origin(trace(load_example("cat-sat")), Place.parse(text))


def test_an_additive_mask_is_part_of_the_line():
    start = {"query": [[1.0, 0.0]], "key": [[1.0, 0.0]], "value": [[1.0]]}
    run = trace(example(tokens=["a"], mask=np.array([[0.5]]), **start))
    assert str(arithmetic(run, "scaled_scores", 0, 0)) == "1 ÷ √2 + 0.5 ≈ 1.2071"
    run = trace(example(tokens=["a"], mask=np.array([[-0.5]]), scale=-3, **start))
    assert str(arithmetic(run, "scaled_scores", 0, 0)) == "1 × (−3) + (−0.5) = −3.5"


def test_a_line_ends_in_the_number_of_the_trace_to_its_last_digit():
    """Two ways to take an exponential may differ in the last bit, which a large one shows."""
    query = np.linspace(50, 79, 101)[:, None]
    start = {"query": query, "key": np.ones_like(query), "value": query, "scale": 1}
    run = trace(example(tokens=[str(x) for x in query[:, 0]], **start))
    for row in range(len(query)):
        for stage, number in (
            ("exponentials", run.exponentials[0, row, 0]),
            ("row_sums", run.row_sums[0, row]),
        ):
            assert arithmetic(run, stage, row, 0).result == shown(number)
