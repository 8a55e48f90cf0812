"""What the registry says of a stage is so of the array that a run has."""

import pytest
from helpers import D_FF, D_K, D_MODEL, D_V, HEADS, QUERIES, with_block

from mha import trace
from mha.runs.stages import STAGES

LENGTHS = {
    "n": QUERIES,
    "num_heads": HEADS,
    "d_model": D_MODEL,
    "d_k": 2 * D_K,
    "d_k / 2": D_K,
    "d_v": D_V,
    "d_out": D_MODEL,
    "d_ff": D_FF,
    "num_heads · d_v": HEADS * D_V,
    "blocks": 2,
    "blocks · d_v": 2 * D_V,
}


@pytest.mark.parametrize("norm", ["before", "after"])
def test_axes_and_sizes_are_those_of_the_arrays(rng, norm):
    run = trace(with_block(rng, norm, keys_at_once=4))
    for name, kind in STAGES.items():
        array = kind.array(run)
        if array is None:
            continue
        assert array.shape == tuple(LENGTHS[size] for size in kind.sizes), name
        assert array.ndim == len(kind.axes), name
        assert kind.per_head == (array.shape[0] == HEADS), name
        assert kind.by_key == (array.ndim == 3 and array.shape[1:] == (QUERIES, QUERIES)), name
