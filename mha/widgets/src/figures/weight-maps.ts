/** Maps of heads: a square a weight, a row a token that asks, a column a token that is asked. */

import { percent } from "../engine/numbers.ts";
import { looking as texts } from "../strings/looking.ts";
import { fill } from "../engine/text.ts";
import { make, set } from "./explorer-parts.ts";
import type { Mapped } from "../types/looking.ts";
import type { Matrix } from "../types/run.ts";

/** How many heads differ in colour. */
const COLOURS = 6;

/** So many words have room along a map, on a screen and on a phone. */
const WORDS = { screen: 13, phone: 8 };

/** A map with its last drawing: its weights, its colour, and the theme that this is of. */
interface WeightMap {
  canvas: HTMLCanvasElement;
  line: HTMLElement;
  box: HTMLElement;
  labels: HTMLElement[];
  node: HTMLElement;
  weights: Matrix | null;
  color: string;
  theme: string | undefined;
}

/**
 * The maps, to look at and to choose a row and a head of.
 * @param names of the heads
 * @param options whether words are beside the rows and below the columns
 * @returns the maps, the element of all, and the function that paints them
 */
export function makeMaps(view: Mapped, names: string[], { isLabelled = false }: { isLabelled?: boolean } = {}) {
  const maps = names.map((name, i): WeightMap => {
    const canvas = make("canvas");
    const line = make("span", { className: "model-row" });
    const box = make("div", { className: `model-map head-${i % COLOURS}`, tabIndex: 0, role: "slider",
      "aria-label": fill(texts.map, { head: name }), "aria-valuemin": 1 }, canvas, line);
    box.addEventListener("keydown", (event: KeyboardEvent) => {
      const by = { ArrowUp: -1, ArrowLeft: -1, ArrowDown: 1, ArrowRight: 1 }[event.key];
      if (!by) return;
      event.preventDefault();
      view.choose(view.state.place + by, i);
    });
    canvas.addEventListener("click", (event: MouseEvent) => {
      const { top, height } = canvas.getBoundingClientRect();
      view.choose(Math.floor(((event.clientY - top) / height) * view.state.words.length), i);
    });
    canvas.addEventListener("pointermove", ({ offsetX, offsetY }: PointerEvent) => {
      const { words } = view.state;
      const [row, column] = [offsetY / canvas.clientHeight, offsetX / canvas.clientWidth].map((share) =>
        Math.max(0, Math.min(words.length - 1, Math.floor(share * words.length))));
      const weight = view.weightsOf(i)?.[row]?.[column];
      set(canvas, "title", weight === undefined ? "" : fill(texts.square, { row: view.words[words[row]],
        column: view.words[words[column]], weight: percent(weight) }));
    });
    const title = view.titleOf?.(i) ?? make("p", { className: "soft" }, name);
    const made = { canvas, line, box, weights: null, color: "", theme: "" };
    if (!isLabelled) return { ...made, labels: [], node: make("div", {}, title, box) };
    const labels = ["rows", "columns"].map((side) => make("div", { className: `along-${side}`, ariaHidden: "true" }));
    const labelled = make("div", { className: "words-around" }, labels[0], box, labels[1]);
    return { ...made, labels, node: make("div", {}, title, labelled) };
  });
  return { maps, node: make("div", { className: "model-maps" }, ...maps.map(({ node }) => node)),
    paint: () => paintMaps(view, maps) };
}

/**
 * Write the words beside the rows and below the columns, as many as there is room for, and always the
 * one that looks.
 */
function writeLabels(view: Mapped, labels: HTMLElement[]) {
  const { place, words } = view.state;
  const most = matchMedia("(max-width: 48rem)").matches ? WORDS.phone : WORDS.screen;
  const every = Math.ceil(words.length / most);
  labels.forEach((label, side) => {
    label.replaceChildren(...words.flatMap((word, i) => {
      if (i % every !== place % every) return [];
      const node = make("span", { className: i === place && !side ? "main" : "" }, view.words[word]);
      set(node, side ? ".left" : ".top", `${(100 * (i + 0.5)) / words.length}%`);
      return [node];
    }));
  });
}

/** A size that a canvas has already would have the page laid out. */
export function resize(canvas: HTMLCanvasElement, width: number, height: number) {
  if (canvas.width !== width) canvas.width = width;
  if (canvas.height !== height) canvas.height = height;
}

/** @param color as rgb(1, 2, 3) */
export function drawWeights(canvas: HTMLCanvasElement, weights: Matrix, color: string) {
  const [red, green, blue] = (color.match(/\d+/g) ?? []).map(Number);
  const n = weights.length;
  const image = new ImageData(n, n);
  weights.forEach((row, i) => row.forEach((weight, j) => {
    const at = 4 * (i * n + j);
    [image.data[at], image.data[at + 1], image.data[at + 2]] = [red, green, blue];
    image.data[at + 3] = Math.round(255 * weight);
  }));
  resize(canvas, n, n);
  canvas.getContext("2d")?.putImageData(image, 0, 0);
}

function paintMaps(view: Mapped, maps: WeightMap[]) {
  const { place, words } = view.state;
  const n = words.length;
  // To ask for a colour has the page laid out: all are asked for at once, and when the theme is new.
  const { theme } = document.documentElement.dataset;
  const themed = maps.filter((map) => !map.color || map.theme !== theme);
  const colors = themed.map(({ canvas }) => getComputedStyle(canvas).color);
  themed.forEach((map, i) =>
    Object.assign(map, { theme, color: colors[i], weights: null }));
  maps.forEach((map, head) => {
    if (view.isLate?.(head)) return; // painted when it is worked out
    const { box, canvas, color, line } = map;
    const weights = view.weightsOf(head);
    if (map.weights !== weights) drawWeights(canvas, weights, color);
    map.weights = weights;
    if (map.labels.length) writeLabels(view, map.labels);
    set(line, ".top", `${(100 * place) / n}%`);
    set(line, ".height", `${100 / n}%`);
    const row = weights[place];
    const most = row.indexOf(Math.max(...row));
    set(box, "aria-valuemax", n);
    set(box, "aria-valuenow", place + 1);
    set(box, "aria-valuetext", `${view.words[words[place]]} (${place + 1}): ` +
      `${view.words[words[most]]} (${most + 1}) ${percent(row[most])}`);
  });
}
