"""Small multiples of weights: a map each, as dark as its weights, on a desk and on a phone."""

import re
from xml.etree import ElementTree

import numpy as np
import pytest
from drawn import by_class

from mha import recorded_maps, softmax
from mha.views.figures import small_maps

RNG = np.random.default_rng(5)
WEIGHTS = softmax(RNG.normal(scale=2, size=(2, 3, 5, 5)))


def cells(panel):
    """Return the grade of heat at each corner where a cell begins."""
    found = {}
    for path in by_class(panel, "f-grade"):
        grade = float(path.get("style").split(":")[1])
        for x, y in re.findall(r"M([\d.]+) ([\d.]+)h", path.get("d")):
            found[float(x), float(y)] = grade
    return found


def test_every_map_has_its_weights_in_grades_of_a_tenth():
    root = ElementTree.fromstring(small_maps(WEIGHTS).svg)
    panels = by_class(root, "f-panel")
    assert len(panels) == 2 * 3
    for panel, weights in zip(panels, WEIGHTS.reshape(6, 5, 5), strict=True):
        drawn = cells(panel)
        side = 46 / 5
        for (i, j), weight in np.ndenumerate(weights):
            near = [
                grade
                for (x, y), grade in drawn.items()
                if abs(x - j * side) < 0.1 and abs(y - 17 - i * side) < 0.1
            ]
            assert near == ([] if weight < 0.05 else [pytest.approx(round(float(weight), 1))])


def test_a_layer_is_a_row_on_a_desk_and_two_on_a_phone():
    drawn = small_maps(recorded_maps("I play football").weights)
    width, height = map(float, re.search(r'width="([\d.]+)" height="([\d.]+)"', drawn.svg).groups())
    narrow = float(re.search(r"--narrow-width: ([\d.]+)px", drawn.svg)[1])
    low = float(re.search(r"--narrow-height: ([\d.]+)px", drawn.svg)[1])
    assert width <= 648
    assert narrow <= 330
    assert height < 6 * 80 < low
