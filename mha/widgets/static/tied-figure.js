/* Figures that follow a run: a token on its way from where it stands to its output, as
   mha/views/drawing/moving.py draws it, and the arcs of mha/views/drawing/arcs.py. */
(function () {
  "use strict";

  const { at: placeAt, valueAt } = window.mhaPlaces;
  const { WRITERS, set, setText } = window.mhaExplorer;
  const { short } = window.mhaNumbers;

  /** How wide an arc is for a weight of 1, and the thinnest one; below the least weight none is drawn. */
  const ARC = { thickest: 16, thinnest: 0.6, least: 0.01 };

  /** How long the point of the arrow is, and half as wide; no arrow is longer than its way. */
  const POINT = { long: 11, share: 0.7, half: 0.38 };

  /** Where the axes end above, how far beyond them a point is drawn, and how far beyond that a name goes
      on, in pixels. */
  const TOP = 52;
  const BEYOND = 12;
  const ROOM = 32;

  /** A name stands above its point, or below it where the end of the arrow is there. */
  const NAME = { up: 8, down: 20, wide: 44, high: 18 };

  /** Points are the values of a run, and go where a reader moves them. One for which the axes are too
      short stands at their end, and its name says where it is. */
  class MovedFigure {
    isMoved = false;

    /** @param {Element} node */
    constructor(node) {
      const [, ...numbers] = (node.getAttribute("data-at") ?? "").split(" ");
      const [token, head, left, bottom, step] = numbers.map(Number);
      Object.assign(this, { token, head });
      /** @type {(x: number, y: number) => number[]} */
      this.onScreen = (x, y) => [left + step * x, bottom - step * y];
      this.least = [left - BEYOND, TOP - BEYOND];
      this.most = [left + bottom - TOP + BEYOND, bottom + BEYOND];
      const circles = [...node.querySelectorAll("circle")];
      this.end = circles.pop();
      this.points = circles.map((circle) => ({ circle, word: circle.nextElementSibling,
        name: circle.nextElementSibling?.textContent }));
      this.shaft = node.querySelector("path.f-stroke");
      this.tip = node.querySelector("path.f-head");
    }

    /** @param {any} numbers of the explorer @param {number} _ its temperature
        @param {(at: Place) => Place} moved where a place is now */
    paint(numbers, _, moved) {
      const { head, token } = /** @type {any} */ (this);
      const at = (/** @type {string} */ stage, /** @type {number} */ row) => {
        const values = [0, 1].map((i) => valueAt(numbers, moved(placeAt(stage, head, row, i))));
        const wanted = this.onScreen(values[0], values[1]);
        const point = wanted.map((x, i) => Math.min(this.most[i], Math.max(this.least[i], x)));
        const isOut = point.some((x, i) => x !== wanted[i]);
        return { point, isOut, says: isOut ? ` (${values.map((x) => short(x, 2)).join(", ")})` : "" };
      };
      const points = this.points.map((_one, i) => at("value", i));
      const { point: [x, y], says: ends } = at("head_outputs", token);
      this.points.forEach(({ circle, word, name }, i) => {
        const { point: [left, top], isOut, says } = points[i];
        this.put(circle, { cx: left, cy: top });
        const isRight = isOut && left > (this.least[0] + this.most[0]) / 2;
        const isMet = Math.abs(x - left - NAME.wide / 2) < NAME.wide && Math.abs(y - top + NAME.up) < NAME.high;
        this.put(word, { "x": isRight ? this.most[0] + ROOM : left + 9, "y": top + (isMet ? NAME.down : -NAME.up),
          "text-anchor": isRight ? "end" : "start" });
        if (word) setText(word, name + says + (i === token && ends ? ` →${ends}` : ""));
      });
      this.put(this.end, { cx: x, cy: y });
      this.arrow(points[token].point, [x, y]);
    }

    /** @param {number[]} start @param {number[]} end */
    arrow([x, y], [toX, toY]) {
      const long = Math.hypot(toX - x, toY - y);
      const [ux, uy] = long ? [(toX - x) / long, (toY - y) / long] : [0, 0];
      const point = Math.min(POINT.long, POINT.share * long);
      const half = POINT.half * point;
      const [backX, backY] = [toX - point * ux, toY - point * uy];
      this.put(this.shaft, { d: `M${x} ${y}L${backX} ${backY}` });
      this.put(this.tip, { d: `M${toX} ${toY}L${backX - half * uy} ${backY + half * ux}`
        + `L${backX + half * uy} ${backY - half * ux}Z` });
    }

    /** Put a shape in its place.
        @param {any} shape @param {Record<string, any>} attributes */
    put(shape, attributes) {
      Object.entries(attributes).forEach(([name, value]) => set(shape, name, value));
    }
  }

  /** Arcs are as wide as their weights, and a share is written anew. */
  class ArcsFigure {
    isMoved = false;

    /** @param {Element} node */
    constructor(node) {
      this.parts = [...node.querySelectorAll("[data-weight]")].map((part) => ({
        part: /** @type {Element} */ (part.firstElementChild),
        at: placeAt("weights", ...(part.getAttribute("data-weight") ?? "").split(" ").map(Number)),
      }));
    }

    /** @param {any} numbers of the explorer @param {number} _ its temperature
        @param {(at: Place) => Place} moved where a place is now */
    paint(numbers, _, moved) {
      for (const { part, at } of this.parts) {
        const weight = valueAt(numbers, moved(at));
        if (part instanceof SVGTextElement) setText(part, WRITERS.percent(weight, 0));
        else {
          set(part, "stroke-width", `${Math.max(ARC.thinnest, weight * ARC.thickest)}px`);
          set(part, "visibility", weight < ARC.least ? "hidden" : "visible");
        }
      }
    }
  }

  /** What draws a figure that follows. @param {Element} node */
  const figureOf = (node) => new (node.querySelector("[data-weight]") ? ArcsFigure : MovedFigure)(node);

  Object.assign(window.mhaExplorer, { figureOf });
})();
