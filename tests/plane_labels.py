"""A check of the labels in a page's planes."""

# Labels that overlap other labels, tick numbers or tips, and labels that are nearer to another
# point or tick than to their own point and have no leader line to it.
WRONG = r"""() => [...document.querySelectorAll(".plane-area")].flatMap((area) => {
  const frame = area.getBoundingClientRect();
  if (!area.checkVisibility()) return [];
  const seen = (selector) =>
    [...area.querySelectorAll(selector)].filter((e) => e.style.display !== "none");
  const value = (text) => Number(text.replace("−", "-").replace(/[  ,]/g, ""));
  const box = (e) => {
    const { x, y, width, height } = e.getBBox();  // without the halo
    const middle = y + height / 2;  // of letters, without the room for accents
    return [x, middle - 7, x + width, middle + 7];
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
