"""Where every number of a run comes from: put together again, it is the number of the trace."""

import math

import numpy as np
import pytest
from helpers import MASK, QUERIES, example, projected, random_layer
from put_together import check_all

from mha import (
    Block,
    FeedForward,
    MultiHeadWeights,
    Norm,
    Place,
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


def drawn(rng):
    """Draw an example of any kind: heads, sizes, scale, masks, size of the numbers, its start."""

    def one_of(*choices):
        return choices[rng.integers(len(choices))]

    n, d_model, d_k, d_v, d_out = one_of(*SIZES)
    heads, size = one_of(1, 2, 3), one_of(0.5, 1, 30)  # 30 takes scores far beyond 80
    shape = one_of((n, n), (1, n), (heads, n, n), (heads, 1, n), (heads, n, 1))
    allowed, added = rng.random(shape) < 0.5, one_of(0.5, 100) * rng.normal(size=shape)
    parts = {
        "tokens": [f"token{i}" for i in range(n)],
        "head_names": [f"Head {i + 1}" for i in range(heads)],
        "scale": one_of(None, 1.0, 0.3, -2.0),
        "keys_at_once": one_of(None, 1, 2, 4),
        "mask": one_of(None, allowed, added, np.where(allowed, added, -np.inf)),
        "is_causal": one_of(False, True),
    }
    if d_k % 2 == 0 and one_of(False, True):
        parts["angles"] = rng.uniform(-9, 9, size=(n, d_k // 2))
    if one_of(False, True):
        shapes = {"query": (heads, n, d_k), "key": (heads, n, d_k), "value": (heads, n, d_v)}
        return example(**parts, **{k: size * rng.normal(size=s) for k, s in shapes.items()})
    sizes = {"d_model": d_model, "d_k": d_k, "d_v": d_v, "d_out": d_out}
    parts["layer"] = random_layer(rng, heads, w_o=one_of(False, True), **sizes)
    parts["embeddings"] = 4 * size * rng.normal(size=(n, d_model))
    return projected(rng, positions=one_of(None, rng.normal(size=(n, d_model))), **parts)


@pytest.mark.parametrize("seed", range(20))
def test_every_number_of_a_random_example(seed):
    check_all(trace(drawn(np.random.default_rng(seed))), read_lines=False)


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
