/** The drawing beside the maps of the model's heads: the cost of names during its training. */

import { shown } from "../engine/numbers.ts";
import { fill } from "../engine/text.ts";
import { make, set, setText } from "../figures/explorer-parts.ts";
import { model as texts } from "../strings/model.ts";
import type { ModelData, ModelState } from "../types/panels.ts";

const SVG = "http://www.w3.org/2000/svg";

export function drawn(tag: string, attributes: Record<string, string | number>): SVGElement {
  const node = document.createElementNS(SVG, tag);
  Object.entries(attributes).forEach(([name, value]) => node.setAttribute(name, String(value)));
  return node;
}

/** Where the curves lie in their drawing, and the costs that have a line. */
const [SIZE, LEFT, RIGHT, TOP, BOTTOM, LINES] = [300, 26, 282, 8, 112, 4];

/** The costs of new and of met names after a step, as the heads are switched. */
function costsAt(data: ModelData, { cut, off }: ModelState, step: number) {
  const place = [...off, cut].reduce((sum, isOff) => 2 * sum + Number(isOff), step);
  return data.costs.slice(2 * place, 2 * place + 2);
}

/**
 * The curves of the costs, with their axes.
 * @param go shows a step
 * @returns the element, and `paint`, which draws them and returns the costs of the shown step in words
 */
export function makeCurves(data: ModelData, go: (step: number) => void) {
  const { steps } = data;
  const last = steps[steps.length - 1];
  const curves = drawn("svg", { viewBox: `0 0 ${SIZE} 146`, class: "model-curves", role: "img" });
  const text = (words: string, attributes: Record<string, string | number>) => {
    const node = drawn("text", attributes);
    node.textContent = words;
    curves.append(node);
    return node;
  };
  const across = (step: number) => LEFT + ((RIGHT - LEFT) * step) / last;
  const levels = Array.from({ length: LINES + 1 }, (_, i) => {
    const y = BOTTOM - ((BOTTOM - TOP) * i) / LINES;
    curves.append(drawn("line", { x1: LEFT, x2: RIGHT, y1: y, y2: y, class: "level" }));
    return text("", { x: LEFT - 6, y: y + 4, class: "at-end" });
  });
  [0, last / 2, last].forEach((step) =>
    text(String(step), { x: across(step), y: BOTTOM + 14, class: "at-middle" }));
  text(texts.axis, { x: (LEFT + RIGHT) / 2, y: BOTTOM + 28, class: "at-middle" });
  const marker = drawn("line", { y1: TOP, y2: BOTTOM, class: "marker" });
  const strokes = ["fresh", "met"].map((name) => drawn("polyline", { class: name }));
  const dots = ["fresh", "met"].map(() => drawn("circle", { r: 3.5 }));
  curves.append(marker, ...strokes, ...dots);
  const goTo = (event: PointerEvent) => {
    const { left, width } = curves.getBoundingClientRect();
    const step = (((event.clientX - left) / width) * SIZE - LEFT) / (RIGHT - LEFT) * last;
    const near = steps.map((own) => Math.abs(own - step));
    go(near.indexOf(Math.min(...near)));
  };
  const pad = make("div", { className: "model-pad",
    onpointerdown: (event: PointerEvent) => { pad.setPointerCapture(event.pointerId); goTo(event); },
    onpointermove: (event: PointerEvent) => { if (pad.hasPointerCapture(event.pointerId)) goTo(event); },
  }, curves);
  const keys = ["fresh", "met"].map((name) => make("span", { className: name }));
  const node = make("div", {}, make("p", { className: "model-title" }, texts.costs), pad,
    make("p", { className: "model-key soft" }, ...keys, make("small", {}, texts.stories)));

  function paint(state: ModelState): string {
    const { step } = state;
    const costs = steps.map((_, i) => costsAt(data, state, i));
    const most = LINES * Math.ceil(Math.max(...costs.flat()) / LINES);
    const up = (cost: number) => BOTTOM - ((BOTTOM - TOP) * cost) / most;
    levels.forEach((level, i) => setText(level, String((most * i) / LINES)));
    const [fresh, met] = costs[step].map((cost) => shown(cost, 2));
    const x = across(steps[step]);
    [0, 1].forEach((i) => {
      set(strokes[i], "points", costs.map((both, j) => `${across(steps[j])},${up(both[i]).toFixed(1)}`).join(" "));
      set(dots[i], "cx", x);
      set(dots[i], "cy", up(costs[step][i]).toFixed(1));
      setText(keys[i], fill(i ? texts.met : texts.fresh, { cost: [fresh, met][i] }));
    });
    set(marker, "x1", x);
    set(marker, "x2", x);
    set(curves, "aria-label", fill(texts.curves, { step: steps[step], fresh, met }));
    return fill(texts.brief, { fresh, met });
  }

  return { node, paint };
}
