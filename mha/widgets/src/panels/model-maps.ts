/** The drawing beside the maps of the model's heads: the cost of names during its training. */

import { shown } from "../engine/numbers.ts";
import { fill } from "../engine/text.ts";
import { make, set, setText } from "../figures/explorer-parts.ts";
import { model as texts } from "../strings/model.ts";

const SVG = "http://www.w3.org/2000/svg";

export function drawn(tag: string, attributes: Record<string, string | number>): SVGElement {
  const node = document.createElementNS(SVG, tag);
  Object.entries(attributes).forEach(([name, value]) => node.setAttribute(name, String(value)));
  return node;
}

/** Where the curves lie in their drawing, and the costs that have a line. */
const [SIZE, LEFT, RIGHT, TOP, BOTTOM, LINES] = [300, 26, 282, 8, 112, 4];

/** The costs of new and of met names after a step, as the heads are switched. */
function costsAt({ data, state: { cut, off } }: any, step: number) {
  const place = [...off, cut].reduce((sum, isOff) => 2 * sum + Number(isOff), step);
  return data.costs.slice(2 * place, 2 * place + 2);
}

/** The curves of the costs, with their axes. */
export function curvesOf(view: any) {
  const { parts } = view;
  const { steps } = view.data;
  parts.curves = drawn("svg", { viewBox: `0 0 ${SIZE} 146`, class: "model-curves", role: "img" });
  const text = (words: string, attributes: any) => {
    const node = drawn("text", attributes);
    node.textContent = words;
    parts.curves.append(node);
    return node;
  };
  parts.across = (step: number) => LEFT + ((RIGHT - LEFT) * step) / steps.at(-1);
  parts.levels = Array.from({ length: LINES + 1 }, (_, i) => {
    const y = BOTTOM - ((BOTTOM - TOP) * i) / LINES;
    parts.curves.append(drawn("line", { x1: LEFT, x2: RIGHT, y1: y, y2: y, class: "level" }));
    return text("", { x: LEFT - 6, y: y + 4, class: "at-end" });
  });
  [0, steps.at(-1) / 2, steps.at(-1)].forEach((step) =>
    text(String(step), { x: parts.across(step), y: BOTTOM + 14, class: "at-middle" }));
  text(texts.axis, { x: (LEFT + RIGHT) / 2, y: BOTTOM + 28, class: "at-middle" });
  parts.marker = drawn("line", { y1: TOP, y2: BOTTOM, class: "marker" });
  parts.strokes = ["fresh", "met"].map((name) => drawn("polyline", { class: name }));
  parts.dots = ["fresh", "met"].map(() => drawn("circle", { r: 3.5 }));
  parts.curves.append(parts.marker, ...parts.strokes, ...parts.dots);
  const go = (event: PointerEvent) => {
    const { left, width } = parts.curves.getBoundingClientRect();
    const step = (((event.clientX - left) / width) * SIZE - LEFT) / (RIGHT - LEFT) * steps.at(-1);
    const near = steps.map((own: number) => Math.abs(own - step));
    view.bar.go(near.indexOf(Math.min(...near)));
  };
  const pad = make("div", { className: "model-pad",
    onpointerdown: (event: PointerEvent) => { pad.setPointerCapture(event.pointerId); go(event); },
    onpointermove: (event: PointerEvent) => { if (pad.hasPointerCapture(event.pointerId)) go(event); },
  }, parts.curves);
  parts.costs = ["fresh", "met"].map((name) => make("span", { className: name }));
  return make("div", {}, make("p", { className: "model-title" }, texts.costs), pad,
    make("p", { className: "model-key soft" }, ...parts.costs, make("small", {}, texts.stories)));
}

export function paintCurves(view: any) {
  const { parts, state: { step } } = view;
  const { steps } = view.data;
  const costs = steps.map((_: number, i: number) => costsAt(view, i));
  const most = LINES * Math.ceil(Math.max(...costs.flat()) / LINES);
  const up = (cost: number) => BOTTOM - ((BOTTOM - TOP) * cost) / most;
  parts.levels.forEach((node: any, i: number) =>
    setText(node, String((most * i) / LINES)));
  const shownCosts = costs[step].map((cost: number) => shown(cost, 2));
  const x = parts.across(steps[step]);
  [0, 1].forEach((i) => {
    set(parts.strokes[i], "points", costs.map((both: number[], j: number) =>
      `${parts.across(steps[j])},${up(both[i]).toFixed(1)}`).join(" "));
    set(parts.dots[i], "cx", x);
    set(parts.dots[i], "cy", up(costs[step][i]).toFixed(1));
    setText(parts.costs[i], fill(i ? texts.met : texts.fresh, { cost: shownCosts[i] }));
  });
  setText(parts.brief, fill(texts.brief, { fresh: shownCosts[0], met: shownCosts[1] }));
  set(parts.marker, "x1", x);
  set(parts.marker, "x2", x);
  set(parts.curves, "aria-label", fill(texts.curves, { step: steps[step], fresh: shownCosts[0],
    met: shownCosts[1] }));
}
