"""Dtypes, batches and memory layouts for each function of `mha.core`."""

import numpy as np
import pytest
from nested import arrays_of, changed, changed_at
from sound_arguments import SOUND, call_public, valid_arguments
from strange import KEEPING

from mha.core.checks import as_array

IN_A_BATCH = (
    *("query", "key", "value", "x", "scores", "output", "gate", "context", "source", "target"),
    *("d_output", "d_weights", "first", "second", "weights", "decay", "beta", "draft"),
)
"""Arguments that may have leading axes, where they are arrays."""

NO_BATCH = (
    *("decode_step", "latent_attention"),  # with a cache of its size alone, or never
    *("cross_entropy", "layer_gradients", "train_layer"),  # with answers of its size
    *("multi_head_attention_backward", "transformer_backward"),  # a layer's gradients add up
    "accept_drafts",  # for one sequence
    "clip_qk",  # its matrices are those of one layer
)

BROADCAST = ("attention_scores", "attention_weights", "scaled_dot_product_attention")
BROADCAST += ("multi_head_attention", "transformer", "encoder_decoder")
"""Functions for which only some arrays may have a leading axis."""

ROUNDED = ("centred_log", "entropy", "fit_patterns", "pattern_projections", "total_variation")
ROUNDED += ("acceptance_probabilities", "residual_distribution", "accept_drafts")
"""Functions that require rows with sum 1, which rounding would destroy."""

WIDENS_WHAT_FOLLOWS = {
    **dict.fromkeys(("rotate", "rotate_by"), ("x", "positions", "angles")),
    **dict.fromkeys(("ask_cache", "decode_step"), ("cache",)),
    **{
        "linear_attention": ("decay",),
        "linear_recurrence": ("decay",),
        "gated_delta_rule": ("decay", "beta"),
        "transformer": ("context",),
    },
    "latent_attention": ("x", "weights", "angles"),
    "encoder_decoder": ("source", "target", "encoder", "decoder"),
}
"""Arguments whose wider dtype does not widen the earlier steps, or no step at all."""


WITH_ARRAYS = [name for name in SOUND if arrays_of([*valid_arguments(name).values()])]


def batches():
    """Yield each function that takes a batch, and the arguments that get a leading axis."""
    for name in SOUND.keys() - {*NO_BATCH}:
        names = [n for n in IN_A_BATCH if isinstance(SOUND[name].get(n), np.ndarray)]
        yield from ((name, [n]) for n in names if name in BROADCAST)
        yield from [(name, names)] if names else ()


def output_arrays(name, change=lambda array: array, **changes):
    """Return a function's output arrays for changed arguments. `changes` are per argument."""
    given = valid_arguments(name).items()
    return arrays_of(call_public(name, {n: changed(v, changes.get(n, change)) for n, v in given}))


def assert_identical(results, wanted):
    """Assert equal dtypes and equal bits, so that no step used a lower precision."""
    for got, want in zip(results, wanted, strict=True):
        assert got.dtype == want.dtype
        np.testing.assert_array_equal(got, want)


def rounded_to(dtype):
    """Return a function that rounds floating-point arrays to float16 and casts them to `dtype`."""
    return lambda x: x.astype(np.float16).astype(dtype) if x.dtype.kind == "f" else x


@pytest.mark.parametrize(
    ("given", "computed"),
    [
        *((dtype, np.float32) for dtype in ("f2", "f4", ">f2", ">f4")),
        *((dtype, np.float64) for dtype in ("f8", ">f8", "i1", "u8", "?")),
    ],
)
def test_each_dtype_is_computed_in_single_or_in_double(given, computed):
    array = as_array("query", np.ones((2, 3), given))
    assert array.dtype == computed
    assert array.dtype.isnative
    assert (array == 1).all()
    assert as_array("query", [2**53, -(2**53)]).tolist() == [2**53, -(2**53)]


@pytest.mark.parametrize("name", [name for name in WITH_ARRAYS if name not in ROUNDED])
def test_float16_is_computed_in_float32_and_one_float64_widens_every_step(name):
    assert_identical(
        output_arrays(name, rounded_to(np.float16)), output_arrays(name, rounded_to(np.float32))
    )
    wanted, narrow = output_arrays(name, rounded_to(np.float64)), WIDENS_WHAT_FOLLOWS.get(name, ())
    taken_in = [
        (n, array) for n, value in valid_arguments(name).items() for array in arrays_of(value)
    ]
    for index, (argument, array) in enumerate(taken_in):
        if array.dtype.kind == "f" and argument not in narrow:
            wide = changed_at(
                index,
                [*valid_arguments(name).values()],
                rounded_to(np.float64),
                rounded_to(np.float32),
            )
            assert_identical(
                arrays_of(call_public(name, dict(zip(valid_arguments(name), wide, strict=True)))),
                wanted,
            )


@pytest.mark.parametrize(("name", "batched"), sorted(batches()))
def test_a_batch_equals_its_members_computed_alone(name, batched):
    moved = dict.fromkeys(batched, lambda x: np.roll(x, 1, axis=-1))
    stacked = dict.fromkeys(batched, lambda x: np.stack([x, np.roll(x, 1, axis=-1)]))
    for both, *alone in zip(
        output_arrays(name, **stacked),
        output_arrays(name),
        output_arrays(name, **moved),
        strict=True,
    ):
        np.testing.assert_allclose(both, alone, rtol=1e-11, atol=1e-13)


@pytest.mark.parametrize("name", WITH_ARRAYS)
def test_memory_layout_changes_no_result(name):
    wanted = output_arrays(name)
    for present in KEEPING:
        for got, want in zip(output_arrays(name, present), wanted, strict=True):
            assert type(got) is np.ndarray
            np.testing.assert_allclose(got, want, rtol=1e-12, atol=1e-14)
