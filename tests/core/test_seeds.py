"""What is measured over seeds, against tosses of a coin and runs of one's own."""

import math

import numpy as np
import pytest

from mha.core.seeds import SeedRuns, interval_rank, over_seeds


def test_each_seed_is_measured_once_and_kept_in_its_order():
    runs = over_seeds(lambda rng: rng.normal(size=(2, 3)), range(5))
    wanted = [np.random.default_rng(seed).normal(size=(2, 3)) for seed in range(5)]
    np.testing.assert_array_equal(runs.values, wanted)
    np.testing.assert_array_equal(runs.median, np.median(wanted, axis=0))


@pytest.mark.parametrize("num_seeds", [6, 11, 30, 101])
def test_the_interval_holds_the_median_of_all_seeds_19_times_in_20(num_seeds):
    rank = interval_rank(num_seeds)

    def missed(r):
        return 2 * sum(math.comb(num_seeds, k) for k in range(r + 1)) / 2**num_seeds

    assert missed(rank) <= 0.05 < missed(rank + 1)
    rng = np.random.default_rng(7)
    low, high = SeedRuns(rng.exponential(size=(num_seeds, 4000))).interval
    held = (low <= math.log(2)) & (math.log(2) <= high)
    assert abs(held.mean() - (1 - missed(rank))) < 0.02


def test_a_share_says_of_how_many():
    runs = SeedRuns(np.arange(7.0))
    assert runs.share(lambda values: values > 4) == "2 of 7"
