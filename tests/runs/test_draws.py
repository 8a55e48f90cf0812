"""Numbers drawn from a seed: the same in a browser to the last bit, and spread as they say."""

import numpy as np
import pytest
from ports import in_browser

from mha.runs.draws import Draws
from mha.widgets.assets import FOLDER

DRAWN = """([seed, low, high]) => {
  const draws = new mhaDraws(seed);
  return [draws.bits(), draws.share(), draws.normal(), draws.whole(low, high), draws.normal()];
}"""


def drawn(seed, low, high):
    draws = Draws(seed)
    return [draws.bits(), draws.share(), draws.normal(), draws.whole(low, high), draws.normal()]


@pytest.mark.browser
def test_the_browser_draws_the_same_numbers(arithmetic_page, rng):
    arithmetic_page.add_script_tag(path=FOLDER / "draws.js")
    bounds = np.sort(rng.integers(-500_000, 500_000, (500, 2)), axis=1).tolist()
    seeds = [0, 1, 2**31 - 1, 2**31, 2**32 - 1, *rng.integers(0, 2**32, 495).tolist()]
    cases = [[seed, *pair] for seed, pair in zip(seeds, bounds, strict=True)]
    assert in_browser(arithmetic_page, DRAWN, cases) == [drawn(*case) for case in cases]


def test_whole_numbers_are_all_drawn_and_normal_ones_have_the_moments():
    draws = Draws(3)
    counts = np.bincount([draws.whole(-2, 2) + 2 for _ in range(5000)])
    assert counts.size == 5
    assert counts.min() > 900
    normal = np.array([draws.normal() for _ in range(20_000)])
    assert np.allclose([normal.mean(), normal.var()], [0, 1], atol=0.05)
    assert abs((np.abs(normal) < 1).mean() - 0.683) < 0.01


def test_neighbouring_seeds_have_nothing_in_common():
    first = np.array([[Draws(seed).share(), Draws(seed + 1).share()] for seed in range(3000)])
    assert abs(np.corrcoef(first.T)[0, 1]) < 0.05
