/**
 * The matrices of a head of a layer that learns: each number as a square, the numbers of one row, and the
 * plane of queries and keys of a head of two numbers.
 */

import task from "../data/learning-task.ts";
import { FORMS, MATRIX, ROWS, attend, fresh } from "../engine/learning.ts";
import { shown } from "../engine/numbers.ts";
import { fill } from "../engine/text.ts";
import { make, set, setText } from "../figures/explorer-parts.ts";
import { shape } from "../figures/strip-drawing.ts";
import { resize } from "../figures/weight-maps.ts";
import { learning as texts } from "../strings/learning.ts";
import type { LearningState } from "../types/panels.ts";

const { length, questions, width, words } = task;

/** A point of the plane: the arm from zero to it, and its word. */
type Point = { arm: SVGElement, point: SVGElement, label: SVGElement };

type Block = { canvas: HTMLCanvasElement, node: HTMLElement, numbers: HTMLElement };

/** The meaning of a row of the matrices. */
const nameOf = (row: number): string => (row < FORMS ? words[row] : fill(texts.placeRow, { n: row - FORMS + 1 }));

/** A square a number, as large as it is: full above zero, hollow below. */
function paintSquares(canvas: HTMLCanvasElement, color: string, columns: number, share: (row: number, column: number) => number) {
  const cell = 14;
  const fine = 2;
  resize(canvas, columns * cell * fine, ROWS * cell * fine);
  const pen = canvas.getContext("2d") as CanvasRenderingContext2D;
  Object.assign(pen, { fillStyle: color, strokeStyle: color, lineWidth: 1.2 });
  pen.setTransform(fine, 0, 0, fine, 0, 0);
  pen.clearRect(0, 0, columns * cell, ROWS * cell);
  for (let row = 0; row < ROWS; row += 1) {
    for (let c = 0; c < columns; c += 1) {
      const number = share(row, c);
      const side = Math.sqrt(Math.min(1, Math.abs(number))) * (cell - 1);
      const [x, y] = [(c + 0.5) * cell - side / 2, (row + 0.5) * cell - side / 2];
      if (number > 0) pen.fillRect(x, y, side, side);
      else if (side > 1.2) pen.strokeRect(x + 0.6, y + 0.6, side - 1.2, side - 1.2);
    }
  }
}

/** @param read is called to read another row */
export function matricesOf(read: (row: number) => void) {
  const node: HTMLElement = make("div", { className: "learning-matrices" });
  const title: HTMLElement = make("p", { className: "model-title" });
  const rowName: HTMLElement = make("p", { className: "model-title" });
  const planeTitle: HTMLElement = make("figcaption", { className: "soft" });

  /** The mark of the row that is read. */
  const chosen: HTMLElement = make("span", { className: "learning-row" });
  let grid: HTMLElement;
  let blocks: Block[];

  /** The queries, and the keys. */
  let points: Point[][];

  /** The row that is read. */
  let now = 0;

  /** Lay the matrices of a head of a layer out. */
  function layOut(heads: number) {
    const own = width / heads;
    blocks = texts.blocks.map((name: string) => {
      const canvas = make("canvas");
      canvas.addEventListener("click", (event: MouseEvent) => {
        const { top, height } = canvas.getBoundingClientRect();
        read(Math.floor(((event.clientY - top) / height) * ROWS));
      });
      return { canvas, node: make("div", {}, make("small", {}, name), canvas), numbers: make("li") };
    });
    const labels = make("ol", {}, ...Array.from({ length: ROWS }, (_, i) =>
      make("li", {}, nameOf(i))));
    grid = make("div", { className: "learning-blocks", tabIndex: 0, role: "slider",
      "aria-label": texts.rows, "aria-valuemin": 1, "aria-valuemax": ROWS,
      style: `--columns: ${own}` }, make("div", {}, make("small", {}, "\u00a0"), labels),
    ...blocks.map(({ node }) => node), chosen);
    grid.addEventListener("keydown", (event: KeyboardEvent) => {
      const by = { ArrowUp: -1, ArrowLeft: -1, ArrowDown: 1, ArrowRight: 1 }[event.key];
      if (!by) return;
      event.preventDefault();
      read(now + by);
    });
    node.replaceChildren(title, make("p", { className: "soft" }, texts.key),
      make("div", { className: "learning-sides" }, grid, make("div", { className: "learning-numbers" },
        rowName, make("ol", {}, ...blocks.map(({ numbers }) => numbers)),
        ...(own === 2 ? [plane()] : []))));
  }

  /** Queries and keys of the sentence in a head of two numbers. */
  function plane(): HTMLElement {
    const svg = shape("svg", "learning-plane");
    set(svg, "viewBox", "-110 -110 220 220");
    const axes = shape("path", "level");
    set(axes, "d", "M-110 0H110M0 -110V110");
    svg.append(axes);
    points = ["query", "key"].map((name) => Array.from({ length }, () => {
      const [arm, point, label] = (["path", "circle", "text"] as const).map((tag) => shape(tag, name));
      set(point, "r", 4);
      svg.append(arm, point, label);
      return { arm, point, label };
    }));
    return make("figure", {}, planeTitle, svg);
  }

  /**
   * @param layer after the step that is shown
   * @param last after the newest step, which gives the scale
   * @param inner the queries and keys of the sentence
   * @param row that is read
   */
  function paint(settings: LearningState, layer: Float64Array, last: Float64Array, inner: Float64Array, row: number, color: string) {
    now = row;
    const { head, heads } = settings;
    const own = width / heads;
    const number = (block: number, row: number, c: number) => (block < 3
      ? layer[block * MATRIX + (head * ROWS + row) * own + c]
      : layer[3 * MATRIX + (head * own + c) * questions.length * FORMS + (block - 3) * FORMS + row]);
    const most = last.reduce((size: number, x: number) => Math.max(size, Math.abs(x)), 0);
    setText(title, fill(texts.matrices, { n: head + 1 }));
    set(grid, "class", `learning-blocks head-${head % 6}${own < 4 ? " narrow" : ""}`);
    blocks.forEach(({ canvas }, block) =>
      paintSquares(canvas, color, own, (row, c) => (block < 3 || row < FORMS ? number(block, row, c) / most : 0)));
    set(chosen, ".top", `calc(var(--title) + ${row} * var(--row))`);
    setText(rowName, nameOf(row));
    blocks.forEach(({ numbers }, block) =>
      setText(numbers, block < 3 || row < FORMS ? fill(texts.numbers, { name: texts.blocks[block],
        numbers: Array.from({ length: own }, (_, c) => shown(number(block, row, c), 2)).join("  ") }) : ""));
    set(grid, "aria-valuenow", row + 1);
    set(grid, "aria-valuetext", nameOf(row));
    if (own === 2) paintPlane(settings, last, inner);
  }

  /** Queries and keys; the plane is as large as the newest layer needs. */
  function paintPlane({ head, heads, sentence, word }: LearningState, last: Float64Array, shownInner: Float64Array) {
    const { forms } = fresh[sentence];
    const inner = [attend(last, heads, forms).inner, shownInner];
    const at = (of: Float64Array, m: number, i: number) =>
      [0, 1].map((c) => of[(m * length + i) * width + 2 * head + c]);
    const all = inner.flatMap((of) => [0, 1].flatMap((m) => forms.flatMap((_: number, i: number) => at(of, m, i))));
    const unit = 90 / Math.max(1, ...all.map(Math.abs));
    setText(planeTitle, fill(texts.plane, { n: head + 1 }));
    points.forEach((those, m) => those.forEach(({ arm, label, point }, i) => {
      const [x, y] = at(inner[1], m, i).map((z) => z * unit);
      set(arm, "d", `M0 0L${x.toFixed(1)} ${(-y).toFixed(1)}`);
      set(arm, "class", m === 0 && i === word ? "arm" : "none");
      set(point, "cx", x.toFixed(1));
      set(point, "cy", (-y).toFixed(1));
      set(label, "x", (x + (x > 40 ? -6 : 6)).toFixed(1));
      set(label, "y", (4 - y).toFixed(1));
      set(label, "text-anchor", x > 40 ? "end" : "start");
      setText(label, m === 1 || i === word ? words[forms[i]] : "");
    }));
  }

  return { node, layOut, paint };
}
