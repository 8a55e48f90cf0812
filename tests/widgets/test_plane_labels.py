"""Labels in planes are legible and near their own points, also after drags.

The positions of points are computed from the ticks and from the coordinates in the labels.
"""

import numpy as np
import pytest
from book_site import advance_clock
from helpers import example
from plane_labels import WRONG
from pointer import middle
from seeds import SEED

from mha import load_example, trace
from mha.widgets.explorer import explorer

pytestmark = pytest.mark.browser

BANK = trace(load_example("river-bank"))
FIVE = trace(example(
    query=[[1, 0], [0, 1], [2, 1], [-1, 1], [1, -2]],
    key=[[3, 3], [2, 0], [2.2, 0.3], [-1, 0], [0, 0]],
    value=[[0, 0], [1, 0], [1, 1], [0, 1], [0.5, 0.4]],
    tokens=["one", "two", "three", "four", "five"],
))  # fmt: skip

SHOWN = {
    "arrows": lambda: explorer(BANK, view="plane", axes=("water", "money")).html,
    "lines of equal weight": lambda: explorer(BANK, view="temperature").html,
    "five keys": lambda: explorer(FIVE, view="plane").html,
}


def drag_to(page, node, place):
    """Drag a tip to a position given as shares of the plane's width and height."""
    node.scroll_into_view_if_needed()
    x, y = middle(node)
    frame = node.locator("xpath=../..").bounding_box()
    page.mouse.move(x, y)
    page.mouse.down()
    across, down = place
    page.mouse.move(
        frame["x"] + across * frame["width"], frame["y"] + down * frame["height"], steps=3
    )
    page.mouse.up()
    advance_clock(page, 30)


@pytest.mark.parametrize("width", [390, 1280])
@pytest.mark.parametrize("name", SHOWN)
def test_each_label_is_beside_its_own_point_also_after_random_drags(open_element, name, width):
    rng = np.random.default_rng(SEED)
    page = open_element(SHOWN[name](), width=width, reduced_motion="reduce").page
    tips = page.locator(".tip")
    tips.first.wait_for()
    advance_clock(page, 100)
    wrong = page.evaluate(WRONG)
    for _ in range(20):
        drag_to(page, tips.nth(int(rng.integers(tips.count()))), rng.uniform(0.05, 0.95, 2))
        wrong += page.evaluate(WRONG)
    assert wrong == [], "\n".join(wrong)
