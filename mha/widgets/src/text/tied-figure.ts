/**
 * Figures that follow a run: a token that moves from its value to its output, as
 * mha/views/drawing/moving.py draws it, and the arcs of mha/views/drawing/arcs.py.
 */

import { short } from "../engine/numbers.ts";
import { at as placeAt, valueAt } from "../engine/places.ts";
import { set, setText } from "../figures/explorer-parts.ts";
import { LINE, placed, widthOf } from "../figures/plane-labels.ts";
import { WRITERS } from "./tied-lines.ts";
import type { PlaneMark } from "../types/plane.ts";
import type { Numbers, Place } from "../types/run.ts";

/** How wide an arc is for a weight of 1, and the thinnest one; below the least weight none is drawn. */
const ARC = { thickest: 16, thinnest: 0.6, least: 0.01 };

/** How long the point of the arrow is, and half as wide; no arrow is longer than its way. */
const POINT = { long: 11, share: 0.7, half: 0.38 };

/** The book's points are written to a tenth of a pixel. */
const ROUNDED = 0.1;

/** The room of a name beyond the axes. */
const ROOM = { right: 44, below: 8 };

/** The greatest number of steps between ticks on an axis. */
const MOST_TICKS = 6;

/** Half the side of a square around a point that a label keeps off. */
const AROUND = 6;

/** The size of a point's name, as figures.css has it, compared with that of a plane's labels. */
const LARGER = 17 / 14;

/** The cost of a pixel of the arrow and of an axis below a label. */
const COVERED = { arrow: 9, axis: 4 };

/** The step between ticks: 1, 2 or 5 times a power of ten. */
function stepOf(span: number) {
  const ten = 10 ** Math.floor(Math.log10(span / MOST_TICKS));
  return [1, 2, 5, 10].map((times) => times * ten).find((step) => span <= MOST_TICKS * step) ?? 10 * ten;
}

/**
 * Points are the values of a run, and go where a reader moves them. The axes grow with them, so that
 * every point is where its numbers say; labels have the positions of labels in planes.
 */
class MovedFigure {
  token: number;
  head: number;
  frame: { left: number; bottom: number; side: number; most: number; };
  end: SVGCircleElement | undefined;
  points: { circle: SVGCircleElement; word: Element | null; }[];
  shaft: Element | null;
  tip: Element | null;
  axes: Element[];
  first: { shape: Element; attributes: { "text-anchor": string; }; }[];
  ticks: ChildNode[][];
  book: number[][];

  isMoved = false;

  constructor(node: Element) {
    const [, ...numbers] = (node.getAttribute("data-at") ?? "").split(" ");
    const [token, head, left, bottom, step, most] = numbers.map(Number);
    [this.token, this.head] = [token, head];
    this.frame = { left, bottom, side: step * most, most };
    const circles = [...node.querySelectorAll("circle")];
    this.end = circles.pop();
    this.points = circles.map((circle) => ({ circle, word: circle.nextElementSibling }));
    this.shaft = node.querySelector("path.f-stroke");
    this.tip = node.querySelector("path.f-head");
    this.axes = [...node.querySelectorAll("[data-axis]")];
    /** Everything as the book has it: it comes back with the book's numbers. */
    this.first = [...node.querySelectorAll("circle, text, path")].map((shape) => ({ shape,
      attributes: { "text-anchor": "start",
        ...Object.fromEntries([...shape.attributes].map(({ name, value }) => [name, value])) } }));
    this.ticks = this.axes.map((axis) => [...axis.childNodes]);
    this.book = [...this.points.map(({ circle }) => circle), this.end].map((circle) =>
      ["cx", "cy"].map((name) => Number(circle?.getAttribute(name))));
  }

  /**
   * @param numbers of the explorer @param _ its temperature
   * @param moved where a place is now
   */
  paint(numbers: Numbers, _: number, moved: (at: Place) => Place) {
    const { head, token } = this;
    const at = (stage: string, row: number) =>
      [0, 1].map((i) => valueAt(numbers, moved(placeAt(stage, head, row, i))));
    const points = [...this.points.map((_one, i) => at("value", i)), at("head_outputs", token)];
    const { left, bottom, side, most } = this.frame;
    const isBook = points.every(([x, y], i) => Math.hypot(left + (side / most) * x - this.book[i][0],
      bottom - (side / most) * y - this.book[i][1]) < ROUNDED);
    if (isBook) {
      this.restore();
      return;
    }
    const scale = this.scaleOf(points);
    const places = points.map(scale.at);
    const [x, y] = places.pop() ?? [0, 0];
    this.drawAxes(scale);
    this.points.forEach(({ circle }, i) => this.put(circle, { cx: places[i][0], cy: places[i][1] }));
    this.put(this.end, { cx: x, cy: y });
    this.arrow(places[token], [x, y]);
    this.write(scale, places, [x, y]);
  }

  restore() {
    this.first.forEach(({ shape, attributes }) => this.put(shape, attributes));
    this.axes.forEach((axis, i) => {
      if (axis.firstChild !== this.ticks[i][0]) axis.replaceChildren(...this.ticks[i]);
    });
  }

  /** Equal units on both axes, from whole ticks that hold zero, the book's axes and every point. */
  scaleOf(points: number[][]) {
    const { left, bottom, side, most } = this.frame;
    const ends = [0, 1].map((axis) => [Math.min(0, ...points.map((point) => point[axis])),
      Math.max(most, ...points.map((point) => point[axis]))]);
    const tick = Math.max(1, stepOf(Math.max(...ends.map(([low, high]) => high - low))));
    const lows = ends.map(([low]) => tick * Math.floor(low / tick));
    const span = Math.max(...ends.map(([, high], axis) => tick * Math.ceil((high - lows[axis]) / tick)));
    const unit = side / span;
    const at = ([x, y]: number[]): number[] => [left + unit * (x - lows[0]), bottom - unit * (y - lows[1])]
      .map((place) => Math.round(10 * place) / 10);
    return { at, lows, span, tick };
  }

  drawAxes({ at, lows, span, tick }: { at: (point: number[]) => number[], lows: number[], span: number, tick: number }) {
    const { left, bottom } = this.frame;
    this.axes.forEach((node, axis) => {
      const [mark, text] = ["path", "text"].map((name) => node.querySelector(name));
      const count = Math.round(span / tick);
      const parts = Array.from({ length: count + 1 }, (_, i) => lows[axis] + i * tick)
        .filter((value) => value || lows[axis] < 0).flatMap((value) => {
          const [x, y] = at(axis ? [lows[0], value] : [value, lows[1]]);
          const [line, number] = [mark, text].map((one) => (one?.cloneNode() as Element));
          this.put(line, { d: axis ? `M${left - 4} ${y}L${left} ${y}` : `M${x} ${bottom}L${x} ${bottom + 4}` });
          this.put(number, axis ? { x: left - 8, y: y + 5 } : { x, y: bottom + 18 });
          number.textContent = short(Number(value.toFixed(6)));
          return [line, number];
        });
      node.replaceChildren(...parts);
    });
  }

  /**
   * Write each word beside its point, as labels are written in planes.
   *
   * @param end of the arrow
   */
  write({ at, lows }: { at: (point: number[]) => number[], lows: number[] }, places: number[][], end: number[]) {
    const { left, bottom, side } = this.frame;
    const { token } = this;
    const boxes = [...places, end].map(([x, y]) => [x - AROUND, y - AROUND, x + AROUND, y + AROUND]);
    const owner = ({ kind: "point" } as PlaneMark);
    const lines = [{ line: [...places[token], ...end], weight: COVERED.arrow, owner },
      { line: [left, bottom, left + side, bottom], weight: COVERED.axis, owner },
      { line: [left, bottom - side, left, bottom], weight: COVERED.axis, owner }];
    const names = this.points.map(({ word }, i) => ({ owner: ({ kind: "text" } as PlaneMark),
      at: places[i], from: at([Math.min(0, lows[0]), 0]),
      size: [LARGER * widthOf(word?.textContent ?? ""), LARGER * LINE] }));
    const room = [left + side + ROOM.right, bottom + ROOM.below];
    const { middles } = placed(names, { lines, boxes, anchors: [...places, end], size: room }, []);
    this.points.forEach(({ word }, i) => this.put(word, { "x": middles[i][0], "y": middles[i][1] + 6, "text-anchor": "middle" }));
  }

  arrow([x, y]: number[], [toX, toY]: number[]) {
    const long = Math.hypot(toX - x, toY - y);
    const [ux, uy] = long ? [(toX - x) / long, (toY - y) / long] : [0, 0];
    const point = Math.min(POINT.long, POINT.share * long);
    const half = POINT.half * point;
    const [backX, backY] = [toX - point * ux, toY - point * uy];
    this.put(this.shaft, { d: `M${x} ${y}L${backX} ${backY}` });
    this.put(this.tip, { d: `M${toX} ${toY}L${backX - half * uy} ${backY + half * ux}`
      + `L${backX + half * uy} ${backY - half * ux}Z` });
  }

  /** Put a shape in its place. */
  put(shape: Element | null | undefined, attributes: Record<string, string | number>) {
    if (shape instanceof SVGElement) Object.entries(attributes).forEach(([name, value]) => set(shape, name, value));
  }
}

/** Arcs are as wide as their weights, and a share is written again. */
class ArcsFigure {
  parts: { part: Element; at: Place; }[];

  isMoved = false;

  constructor(node: Element) {
    this.parts = [...node.querySelectorAll("[data-weight]")].map((part) => ({
      part: (part.firstElementChild as Element),
      at: placeAt("weights", ...(part.getAttribute("data-weight") ?? "").split(" ").map(Number)),
    }));
  }

  /**
   * @param numbers of the explorer @param _ its temperature
   * @param moved where a place is now
   */
  paint(numbers: Numbers, _: number, moved: (at: Place) => Place) {
    for (const { part, at } of this.parts) {
      const weight = valueAt(numbers, moved(at));
      if (part instanceof SVGTextElement) setText(part, WRITERS.percent(weight, 0));
      else if (part instanceof SVGElement) {
        set(part, "stroke-width", `${Math.max(ARC.thinnest, weight * ARC.thickest)}px`);
        set(part, "visibility", weight < ARC.least ? "hidden" : "visible");
      }
    }
  }
}

/** The functions that draw the figures that follow. */
export const figureOf = (node: Element) => new (node.querySelector("[data-weight]") ? ArcsFigure : MovedFigure)(node);
