"""Labels in planes are legible and near their own points, also after drags.

The positions of points are computed from the ticks and from the coordinates in the labels.
"""

import numpy as np
import pytest
from book_site import rest
from hand import middle
from helpers import example
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

# Labels that overlap other labels, tick numbers or tips, and labels that are nearer to another
# point or tick than to their own point and have no leader line to it.
WRONG = r"""() => [...document.querySelectorAll(".plane-area")].flatMap((area) => {
  const frame = area.getBoundingClientRect();
  if (!area.checkVisibility()) return [];
  const seen = (selector) =>
    [...area.querySelectorAll(selector)].filter((e) => e.style.display !== "none");
  const value = (text) => Number(text.replace("−", "-").replace(/[  ,]/g, ""));
  const box = (e) => {
    const { left, right, top, bottom } = e.getBoundingClientRect();
    const middle = (top + bottom) / 2 - frame.top;  // of letters, without the room for accents
    return [left - frame.left, middle - 7, right - frame.left, middle + 7];
  };
  const ticks = seen("text.tick");
  const path = (selector) => seen(selector)[0].getAttribute("d");
  const [upright, axis] = [/M([\d.-]+) 0V/, /M0 ([\d.-]+)H/].map((line) =>
    Number(path(".of-axis path").match(line)[1]));
  const values = ["middle", "end"].map((anchor) =>
    ticks.filter((e) => e.getAttribute("text-anchor") === anchor).map((e) => value(e.textContent)));
  // A number is moved where the edge would cut it; the others are exactly below their ticks.
  const units = ticks.filter((e) => e.getAttribute("text-anchor") === "middle")
    .map((e) => (Number(e.getAttribute("x")) - upright) / value(e.textContent))
    .sort((a, b) => a - b);
  const unit = units[Math.floor(units.length / 2)];
  const point = ([x, y]) => [upright + unit * x, axis - unit * y];
  const tips = [...area.parentNode.querySelectorAll(".tip")].map((e) => {
    const { left, top, width, height } = e.getBoundingClientRect();
    return [left + width / 2 - frame.left, top + height / 2 - frame.top];
  });
  const circles = seen(".of-point circle").map((e) =>
    ["cx", "cy"].map((key) => Number(e.getAttribute(key))));
  const anchors = [...values[0].map((x) => point([x, 0])), ...values[1].map((y) => point([0, y])),
    ...tips, ...circles];
  const leaders = seen(".leader").map((e) => e.getAttribute("d").match(/-?[\d.]+/g).map(Number));
  const distance = ([x, y], [left, top, right, bottom]) =>
    Math.hypot(Math.max(left - x, 0, x - right), Math.max(top - y, 0, y - bottom));
  const labels = seen("text:not(.tick, .name, .equal)");
  const boxes = labels.map(box);
  const others = [...ticks.map(box), ...seen("text.name").map(box), ...seen("text.equal").map(box),
    ...tips.map(([x, y]) => [x - 5, y - 5, x + 5, y + 5])];
  return labels.flatMap((label, i) => {
    const name = label.textContent;
    const found = [];
    for (const other of [...boxes.slice(i + 1), ...others]) {
      const [left, top, right, bottom] = boxes[i];
      if (Math.min(right, other[2]) - Math.max(left, other[0]) > 1
        && Math.min(bottom, other[3]) - Math.max(top, other[1]) > 1) {
        found.push(`${name} covers ${other}`);
      }
    }
    const [left, top, right, bottom] = boxes[i];
    if (left < -1 || right > frame.width + 1 || top < -1 || bottom > frame.height + 1) {
      found.push(`${name} leaves the plane`);
    }
    const own = point(name.match(/\(([^()]*)\)$/)[1].split(", ").map(value));
    const near = Math.min(...anchors.map((anchor) => distance(anchor, boxes[i])));
    const isLed = leaders.some(([x, y, toX, toY]) =>
      distance([x, y], boxes[i]) < 4 && Math.hypot(toX - own[0], toY - own[1]) < 9);
    if (distance(own, boxes[i]) > near + 3 && !isLed) {
      found.push(`${name} is ${distance(own, boxes[i])} from its point and ${near} from another`);
    }
    return found;
  });
})"""


SHOWN = {
    "arrows": lambda: explorer(BANK, view="plane", axes=("water", "money")).html,
    "lines of equal weight": lambda: explorer(BANK, view="temperature").html,
    "five keys": lambda: explorer(FIVE, view="plane").html,
}


def drag_to(page, node, place):
    """Drag a tip to a position in its plane, given as shares of the plane's width and height."""
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
    rest(page, 30)


@pytest.mark.parametrize("width", [390, 1280])
@pytest.mark.parametrize("name", SHOWN)
def test_each_label_is_beside_its_own_point_also_after_random_drags(put, name, width):
    rng = np.random.default_rng(SEED)
    page = put(SHOWN[name](), width=width, reduced_motion="reduce").page
    tips = page.locator(".tip")
    tips.first.wait_for()
    rest(page, 100)
    wrong = page.evaluate(WRONG)
    for _ in range(20):
        drag_to(page, tips.nth(int(rng.integers(tips.count()))), rng.uniform(0.05, 0.95, 2))
        wrong += page.evaluate(WRONG)
    assert wrong == [], "\n".join(wrong)
