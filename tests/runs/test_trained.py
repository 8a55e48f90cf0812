"""The recorded training results of two toy languages are reproduced.

A language with other stories would give other numbers.
"""

import numpy as np
import pytest

from mha.examples.learning_runs import evaluate_layer, load_seed_runs, trained_layer
from mha.examples.trained import (
    CHECKPOINT_STEPS,
    fresh_stories,
    load_model,
    name_costs,
    train_from_seed,
)

FRESH = fresh_stories()


def test_the_first_steps_of_the_training_give_the_losses_that_are_kept():
    trained = load_model("names")
    assert trained.steps == CHECKPOINT_STEPS
    steps = list(train_from_seed(trained.seed, 30))
    assert [step.step for step in steps] == list(range(31))
    assert [step.loss for step in steps[1:]] == pytest.approx(trained.losses[:30], abs=2e-3)
    first = trained.checkpoints[0].arrays
    for name, array in steps[0].model.arrays.items():
        assert np.allclose(array, first[name], rtol=1e-3, atol=1e-4), name


@pytest.mark.parametrize(
    ("step", "off", "cut"), [(9, (), None), (9, ((1, 1),), None), (5, ((0, 1), (1, 0)), (0, 1))]
)
def test_the_costs_that_are_kept_are_those_of_the_checkpoints_with_parts_off(step, off, cut):
    trained = load_model("names")
    switches = [int((block, head) in off) for block in (0, 1) for head in (0, 1)]
    kept = trained.costs[(step, *switches, int(cut is not None))]
    found = name_costs(trained.checkpoints[step].without(*off), FRESH, cut)
    assert found == pytest.approx(kept, abs=1e-4)


@pytest.mark.parametrize(("num_heads", "steps", "seed"), [(12, 150, 7), (3, 400, 11)])
def test_a_recorded_run_is_reproduced(num_heads, steps, seed):
    found = evaluate_layer(trained_layer(np.random.default_rng(seed), num_heads, steps))
    kept = [runs.values[seed] for runs in load_seed_runs(num_heads, steps)]
    np.testing.assert_allclose(found, kept, rtol=1e-3, atol=1e-6)
