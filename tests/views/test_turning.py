"""The drawing of keys that their positions turn."""

import re
from dataclasses import replace

import numpy as np

from mha import load_example, trace, with_swapped_tokens
from mha.views.figures import turned

QUARTER = np.pi / 2 * np.arange(2)[:, None] * [1, 1]
RUN = trace(replace(load_example("cat-sat"), angles=QUARTER))
SWAPPED = trace(with_swapped_tokens(RUN.example, 0, 1))


def tips(svg):
    """Return where the points of the thick arrows lie, from the centre of their circles."""
    centres = re.findall(r'<circle cx="([\d.]+)" cy="([\d.]+)" r="46"', svg)
    found = re.findall(r'<path d="M([\d.]+) ([\d.]+)L[^Z"]*Z" class="f-head"', svg)
    return [
        (float(x) - float(cx), float(cy) - float(y))
        for (cx, cy), (x, y) in zip(centres, found, strict=True)
    ]


def test_the_arrows_are_the_turned_keys():
    drawn = turned({"cat sat": RUN, "sat cat": SWAPPED})
    np.testing.assert_allclose(tips(drawn.svg), 46 * np.array([[1, 0], [-1, 0], [0, 1], [0, 1]]))
    assert drawn.alt == (
        "cat sat: cat is turned by 0°, to (1.00, 0.00); sat is turned by 90°, to (−1.00, 0.00)."
        " sat cat: sat is turned by 0°, to (0.00, 1.00); cat is turned by 90°, to (0.00, 1.00)."
    )
    assert drawn.svg.count("stroke-dasharray") == 2  # what is not turned has one arrow


def test_any_pair_and_angle():
    angles = np.array([[0.3, -1.2], [2.0, 4.0]])
    run = trace(replace(load_example("cat-sat"), angles=angles))
    drawn = turned({"here": run}, pair=1).svg
    np.testing.assert_allclose(tips(drawn), 46 * run.turned_key[0, :, 2:], atol=0.11)
    arcs = re.findall(r"A20.7 20.7 0 (\d) 0", drawn)
    assert arcs == ["1", "1"]  # −1.2 goes the long way round, and 4 is more than half a turn
