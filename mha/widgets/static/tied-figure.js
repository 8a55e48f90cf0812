/* The figure of a token on its way from where it stands to its output, as mha/views/drawing/moving.py
   draws it: its points are the values of a run, and go where a reader moves them. */
(function () {
  "use strict";

  const { at: placeAt, valueAt } = window.mhaPlaces;
  const { set } = window.mhaExplorer;

  /** How long the point of the arrow is, and half as wide; no arrow is longer than its way. */
  const POINT = { long: 11, share: 0.7, half: 0.38 };

  /** How far beyond the axes a point is drawn, in pixels. */
  const BEYOND = 50;

  class MovedFigure {
    isMoved = false;

    /** @param {Element} node */
    constructor(node) {
      const [, ...numbers] = (node.getAttribute("data-at") ?? "").split(" ");
      const [token, head, left, bottom, step] = numbers.map(Number);
      Object.assign(this, { token, head });
      /** @type {(x: number, y: number) => number[]} */
      this.onScreen = (x, y) => [left + step * x, bottom - step * y];
      this.least = [left - BEYOND, BEYOND];
      this.most = [left + BEYOND * 5, bottom + BEYOND];
      const circles = [...node.querySelectorAll("circle")];
      this.end = circles.pop();
      this.points = circles.map((circle) => ({ circle, word: circle.nextElementSibling }));
      this.shaft = node.querySelector("path.f-stroke");
      this.tip = node.querySelector("path.f-head");
    }

    /** @param {any} numbers of the explorer @param {number} _ its temperature
        @param {(at: Place) => Place} moved where a place is now */
    paint(numbers, _, moved) {
      const { head, token } = /** @type {any} */ (this);
      const at = (/** @type {string} */ stage, /** @type {number} */ row) => {
        const [x, y] = [0, 1].map((i) => valueAt(numbers, moved(placeAt(stage, head, row, i))));
        return this.onScreen(x, y);
      };
      const points = this.points.map((_one, i) => at("value", i));
      this.points.forEach(({ circle, word }, i) => {
        this.put(circle, { cx: points[i][0], cy: points[i][1] }, points[i]);
        this.put(word, { x: points[i][0] + 9, y: points[i][1] - 8 }, points[i]);
      });
      const end = at("head_outputs", token);
      this.put(this.end, { cx: end[0], cy: end[1] }, end);
      this.arrow(points[token], end);
    }

    /** @param {number[]} start @param {number[]} end */
    arrow([x, y], [toX, toY]) {
      const long = Math.hypot(toX - x, toY - y);
      const [ux, uy] = long ? [(toX - x) / long, (toY - y) / long] : [0, 0];
      const point = Math.min(POINT.long, POINT.share * long);
      const half = POINT.half * point;
      const [backX, backY] = [toX - point * ux, toY - point * uy];
      this.put(this.shaft, { d: `M${x} ${y}L${backX} ${backY}` }, [x, y], [toX, toY]);
      this.put(this.tip, { d: `M${toX} ${toY}L${backX - half * uy} ${backY + half * ux}`
        + `L${backX + half * uy} ${backY - half * ux}Z` }, [x, y], [toX, toY]);
    }

    /** Put a shape in its place; what has no room is not seen.
        @param {any} shape @param {Record<string, any>} attributes @param {...number[]} points */
    put(shape, attributes, ...points) {
      Object.entries(attributes).forEach(([name, value]) => set(shape, name, value));
      const hasRoom = points.every((one) => one.every((x, i) => x > this.least[i] && x < this.most[i]));
      set(shape, ".visibility", hasRoom ? "" : "hidden");
    }
  }

  Object.assign(window.mhaExplorer, { MovedFigure });
})();
