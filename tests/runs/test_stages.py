"""The registry of stages fits the arrays of a trace and the matrices of a layer."""

from dataclasses import replace

import pytest
from helpers import (
    D_FF,
    D_K,
    D_MODEL,
    D_OUT,
    D_V,
    HEADS,
    QUERIES,
    with_block,
    with_places,
)

from mha import trace
from mha.core.multihead import BIASES
from mha.runs.stages import AXES, OF_WORDS, STAGES

LENGTHS = {
    "n": QUERIES,
    "num_heads": HEADS,
    "d_model": D_MODEL,
    "d_k": 2 * D_K,
    "d_k / 2": D_K,
    "d_v": D_V,
    "d_out": D_OUT,
    "d_ff": D_FF,
    "num_heads · d_v": HEADS * D_V,
    "blocks": 2,
    "blocks · d_v": 2 * D_V,
}


NORMED = ("start_", "stream_", "total_", "first_", "second_")
BLOCKS = {"before": "total_", "after": "start_", "nowhere": NORMED}
"""Where a block may normalise, and the beginnings of the stages that it does not have then."""


@pytest.mark.parametrize("norm", [None, *BLOCKS])
def test_axes_and_sizes_are_those_of_the_arrays(rng, norm):
    start = with_block(rng, norm) if norm else with_places(rng)
    run = trace(replace(start, keys_at_once=4))
    lengths = LENGTHS | {"d_out": D_MODEL if norm else D_OUT}
    for name, kind in STAGES.items():
        array = kind.array(run)
        is_lacking = kind.in_block and (norm is None or name.startswith(BLOCKS[norm]))
        is_lacking |= name in (*OF_WORDS, *BIASES)
        if name in ("root", "percentages") or is_lacking:
            assert array is None, name
            continue
        assert array.shape == tuple(lengths[size] for size in kind.sizes), name
        assert array.ndim == len(kind.axes), name
        assert list(kind.axes) == [axis for axis in AXES if axis in kind.axes], name
        assert kind.per_head == (array.shape[0] == HEADS), name
        assert kind.by_key == (array.ndim == 3 and array.shape[1:] == (QUERIES, QUERIES)), name
