/** Where the parts of a cost are equal: two curves on logarithmic axes, and the reader's point. */

import { commas } from "../engine/numbers.ts";
import { fill } from "../engine/text.ts";
import { make, set, setText } from "../figures/explorer-parts.ts";
import { shape } from "../figures/strip-drawing.ts";
import { cost as texts } from "../strings/cost.ts";
import type { CostFigure } from "../types/cost.ts";

/** Where the curves lie in their drawing. */
const [LEFT, RIGHT, TOP, BOTTOM, WIDTH, HEIGHT] = [62, 350, 10, 150, 360, 190];

/** The lengths of texts on the axis, as powers of ten. */
const [FIRST, LAST] = [2, 7.3];

/** For each chart, the constant part, the part that grows with n, and the length at which they are equal. */
const PARTS = [["products", "mixing", "equal_flops"], ["model", "caches", "equal_bytes"]];

const SCALES = [1000, 1024];

const across = (tokens: number) => {
  const share = (Math.log10(Math.max(1, tokens)) - FIRST) / (LAST - FIRST);
  return LEFT + (RIGHT - LEFT) * Math.min(1, Math.max(0, share));
};

/**
 * Let the reader drag the point, in the slider's steps. A finger that moves up or down scrolls the page,
 * and the point returns.
 */
function drag(svg: SVGElement, view: CostFigure) {
  const { slider } = view;
  let before: number;
  const take = ({ clientX }: MouseEvent) => {
    const { left, width } = svg.getBoundingClientRect();
    const share = (WIDTH * (clientX - left) / width - LEFT) / (RIGHT - LEFT);
    slider.value = String((FIRST + (LAST - FIRST) * share) * Math.log2(10));
    slider.dispatchEvent(new Event("input"));
  };
  svg.addEventListener("pointerdown", ({ button, pointerId }: PointerEvent) => {
    before = view.sizes.tokens;
    if (!button) svg.setPointerCapture(pointerId);
  });
  svg.addEventListener("pointercancel", () => view.change({ tokens: before }));
  svg.addEventListener("pointermove", (event: PointerEvent) => {
    if (svg.hasPointerCapture(event.pointerId)) take(event);
  });
  svg.addEventListener("click", take);
}

/** A chart of a cost; the reader can drag its point. */
export function makeCurve(view: CostFigure, chart: number) {
  const text = (words: string, x: number, y: number, look: string) => {
    const node = shape("text", look);
    Object.entries({ x, y }).forEach(([name, value]) => set(node, name, value));
    setText(node, words);
    return node;
  };
  const svg = shape("svg", "model-curves");
  Object.entries({ viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img" }).forEach(([name, value]) => set(svg, name, value));
  const levels = [0, 1, 2, 3].map(() => ({ line: shape("line", "level"), text: text("", LEFT - 6, 0, "at-end") }));
  const lines = ["flat", "rising"].map((name) => shape("line", name));
  const [marker, equal, ...dots] = [shape("line", "marker"), shape("circle", "equal"), shape("circle"), shape("circle")];
  const axis = text(texts.axis, (LEFT + RIGHT) / 2, BOTTOM + 33, "at-middle");
  svg.append(...levels.flatMap(({ line, text: label }) => [line, label]),
    ...[3, 4, 5, 6, 7].map((power) => text(texts.powers[power], across(10 ** power), BOTTOM + 16, "at-middle")),
    axis, marker, ...lines, equal, ...dots);
  drag(svg, view);
  const { flat, rising, title } = texts.charts[chart];
  const node = make("div", {}, make("p", { className: "model-title" }, title), svg,
    make("p", { className: "model-key soft" }, make("span", { className: "flat" }, flat), make("span", {}, rising),
      make("span", { className: "same" }, texts.same)));
  return { node, svg, axis, levels, lines, marker, equal, dots };
}

type Curve = ReturnType<typeof makeCurve>;

/** Draw a chart for other sizes. */
export function paintCurve({ axis, dots, equal, levels, lines, marker, svg }: Curve, values: Record<string, bigint>, chart: number) {
  const all: Record<string, bigint> = { ...values, caches: values.texts * values.cache };
  const [flat, rising, same] = PARTS[chart].map((name) => Number(all[name]));
  const tokens = Number(values.tokens);
  const each = rising / tokens;
  const [low, high] = [each * 10 ** FIRST, each * 10 ** LAST];
  const scale = Math.log(SCALES[chart]);
  const first = Math.floor(Math.log(Math.min(low, flat)) / scale);
  const last = Math.max(first + 1, Math.ceil(Math.log(Math.max(high, flat)) / scale));
  const up = (value: number) => BOTTOM - ((BOTTOM - TOP) * (Math.log(value) / scale - first)) / (last - first);
  const placed = (node: SVGElement, at: Record<string, number>) =>
    Object.entries(at).forEach(([name, value]) => set(node, name, value.toFixed(1)));
  levels.forEach((level, i) => {
    const power = first + Math.round(((last - first) * i) / (levels.length - 1));
    const y = up(SCALES[chart] ** power);
    placed(level.line, { x1: LEFT, x2: RIGHT, y1: y, y2: y });
    placed(level.text, { y: y + 4 });
    setText(level.text, texts.units[chart][power] ?? "");
  });
  placed(lines[0], { x1: LEFT, x2: RIGHT, y1: up(flat), y2: up(flat) });
  placed(lines[1], { x1: LEFT, x2: RIGHT, y1: up(low), y2: up(high) });
  const x = across(tokens);
  placed(marker, { x1: x, x2: x, y1: TOP, y2: BOTTOM });
  placed(equal, { cx: across(same), cy: up(flat), r: 5 });
  set(equal, "visibility", same >= 10 ** FIRST && same <= 10 ** LAST ? "visible" : "hidden");
  const beyond = tokens < 10 ** FIRST ? 0 : tokens > 10 ** LAST ? 1 : -1;
  [marker, ...dots].forEach((node) => set(node, "visibility", beyond < 0 ? "visible" : "hidden"));
  setText(axis, beyond < 0 ? texts.axis : texts.beyond[beyond]);
  placed(dots[0], { cx: x, cy: up(flat), r: 3.5 });
  placed(dots[1], { cx: x, cy: Math.min(BOTTOM, Math.max(TOP, up(rising))), r: 3.5 });
  set(svg, "aria-label", fill(texts.said, { ...texts.charts[chart], first: commas(all[PARTS[chart][0]]),
    second: commas(all[PARTS[chart][1]]), tokens: commas(values.tokens), equal: commas(all[PARTS[chart][2]]) }));
}

/** A text with its symbols, which are single letters, written as in formulas. */
export const inSymbols = (text: string): (Node | string)[] => text.split(/((?<![\w'])[A-Zb-z](?:_k)?(?![a-z]))/).flatMap<Node | string>((part, i) => {
  if (i % 2 === 0) return [part];
  const symbol = make("i", {}, part[0]);
  return part.length > 1 ? [symbol, make("sub", {}, part.slice(2))] : [symbol];
});
