"""What a running softmax keeps, as stages of a run: its numbers, its lines, what is refused."""

import numpy as np
import pytest
from helpers import D_V, HEADS, MASK, QUERIES, example, projected

from mha import arithmetic, trace

STARTS = [{}, {"is_causal": True}, {"mask": MASK}, {"mask": np.where(MASK, 0.5, -np.inf)}]


def of_the_chapter(**parts):
    """Return the run of one query with the scores log 1, log 2, log 5, read two at a time."""
    key = np.log([[1.0], [2.0], [5.0]])
    start = {"query": np.ones((3, 1)), "key": key, "value": [[4.0], [2.0], [8.0]]}
    tokens = ["a", "b", "c"]
    return trace(example(tokens=tokens, scale=1.0, **{"keys_at_once": 2} | start | parts))


@pytest.mark.parametrize("size", [1, 2, QUERIES + 1])
@pytest.mark.parametrize("masked", STARTS)
def test_the_last_output_is_that_of_whole_rows(rng, size, masked):
    run = trace(projected(rng, keys_at_once=size, **masked))
    np.testing.assert_allclose(run.running_outputs[..., -D_V:], run.head_outputs, atol=1e-13)
    blocks = -(-QUERIES // size)
    assert run.running_sums.shape == (HEADS, QUERIES, blocks)
    assert run.running_mixtures.shape == (HEADS, QUERIES, blocks * D_V)


def test_the_lines_of_the_chapter():
    run = of_the_chapter()
    lines = {
        ("running_largest", 0): "max(0, 0.6931) = 0.6931",
        ("running_largest", 1): "max(0.6931, 1.6094) = 1.6094",
        ("running_exponentials", 0): "e^−0.6931 ≈ 0.5000",
        ("running_exponentials", 2): "e^0 = 1.0000",
        ("running_factors", 0): "e^−∞ = 0.0000",
        ("running_factors", 1): "e^−0.9163 ≈ 0.4000",
        ("running_sums", 0): "0.5 + 1 = 1.5",
        ("running_sums", 1): "0.4×1.5 + 1 = 0.6 + 1 = 1.6",
        ("running_mixtures", 0): "0.5×4 + 1×2 = 2 + 2 = 4",
        ("running_mixtures", 1): "0.4×4 + 1×8 = 1.6 + 8 = 9.6",
        ("running_outputs", 0): "4 ÷ 1.5 ≈ 2.6667",
        ("running_outputs", 1): "9.6 ÷ 1.6 = 6",
    }
    assert {cell: str(arithmetic(run, cell[0], 0, cell[1])) for cell in lines} == lines
