"""The heads' colours are told apart on light and on dark paper, also by colour-blind readers."""

import re
from itertools import combinations

import numpy as np
import pytest
from book_site import ROOT
from drawn import linear

from mha.views.colours import (
    HEAD_COLOURS,
    HEAD_COLOURS_IN_DARK,
    HEAT_FULL,
    HEAT_FULL_IN_DARK,
    PAGE_COLOURS,
)

# What is seen without one kind of cone: Machado, Oliveira and Fernandes (2009), severity 1.
SEEN = {
    "all cones": np.eye(3),
    "no red": [
        [0.152286, 1.052583, -0.204868],
        [0.114503, 0.786281, 0.099216],
        [-0.003882, -0.048116, 1.051998],
    ],
    "no green": [
        [0.367322, 0.860646, -0.227968],
        [0.280085, 0.672501, 0.047413],
        [-0.011820, 0.042940, 0.968881],
    ],
}
TO_XYZ = [[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]]
PAPERS = [(HEAD_COLOURS, "#fffdf8"), (HEAD_COLOURS_IN_DARK, "#14161a")]


def lab(colour, seen):
    """Return a colour as CIELAB, in which distances are those that people see."""
    xyz = TO_XYZ @ np.clip(seen @ linear(colour), 0, 1) / [0.9505, 1, 1.089]
    x, y, z = np.where(xyz > 0.008856, np.cbrt(xyz), 7.787 * xyz + 16 / 116)
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


@pytest.mark.parametrize("eyes", SEEN)
@pytest.mark.parametrize(("colours", "paper"), PAPERS, ids=["light", "dark"])
def test_any_two_heads_differ_and_the_first_three_clearly(colours, paper, eyes):
    seen = np.array(SEEN[eyes])
    apart = {
        (i, j): np.linalg.norm(lab(a, seen) - lab(b, seen))
        for (i, a), (j, b) in combinations(enumerate(colours), 2)
    }
    assert min(apart.values()) > 7
    assert min(distance for (_, j), distance in apart.items() if j < 3) > 25
    assert min(np.linalg.norm(lab(c, seen) - lab(paper, seen)) for c in colours) > 25


def test_the_pages_have_the_same_colours_and_heat():
    sheet = (ROOT / "book" / "_static" / "tokens.css").read_text(encoding="utf-8")
    light, dark = re.findall(r'html\[data-theme="\w+"\] \{\n(.*?)\}', sheet, re.DOTALL)[:2]
    assert f"--heat-full: {HEAT_FULL}%;" in light
    assert f"--heat-full: {HEAT_FULL_IN_DARK}%;" in dark
    for name, (of_light, of_dark) in PAGE_COLOURS.items():
        assert f"--{name}: {of_light};" in light
        assert f"--{name}: {of_dark};" in dark
