/* The plane: a query and keys of two components as arrows, and the values as points with the output
   among them. The query's point can be dragged, and moved by the arrow keys. */
(function () {
  "use strict";

  const { short, shown } = window.mhaNumbers;
  const { of: placeOf } = window.mhaPlaces;
  const { STEP, fill, make, shape } = window.mhaExplorer;
  const texts = window.mhaStrings.explorer;

  /** A panel's size, and the room at its edge for labels. */
  const SIZE = 300;
  const EDGE = 46;

  /** A label begins or ends no nearer to an edge than it is long. */
  const LABEL = 100;

  /** The corners of the polygon around points, in order.
      @type {(points: number[][]) => number[][]} */
  function hull(points) {
    const sorted = [...points].sort((a, b) => a[0] - b[0] || a[1] - b[1]);
    const turn = (/** @type {number[][]} */ [a, b, c]) =>
      (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]);
    const half = (/** @type {number[][]} */ those) => {
      /** @type {number[][]} */
      const corners = [];
      for (const point of those) {
        while (corners.length > 1 && turn([...corners.slice(-2), point]) <= 0) corners.pop();
        corners.push(point);
      }
      return corners.slice(0, -1);
    };
    return sorted.length < 3 ? sorted : [...half(sorted), ...half(sorted.reverse())];
  }

  /** A panel that shows a square part of the plane. */
  class Panel {
    /** @param {string} title
        @param {number[][]} points that are to be seen, with zero
        @param {number} room by how much more is seen */
    constructor(title, points, room) {
      const all = [0, ...points.flat()];
      const [low, high] = [Math.min(...all), Math.max(...all)];
      const more = (high - low || 1) * room;
      this.low = low - more;
      this.high = high + more;
      this.svg = shape("svg", "panel-plane");
      this.svg.setAttribute("viewBox", `0 0 ${SIZE} ${SIZE}`);
      const [x, y] = this.at([0, 0]);
      this.draw("path", "axis", { d: `M0 ${y}H${SIZE}M${x} 0V${SIZE}` });
      this.node = make("figure", {}, make("figcaption", { className: "soft" }, title), this.svg);
    }

    /** Where a point of the plane stands. @param {number[]} point */
    at([x, y]) {
      const unit = (SIZE - 2 * EDGE) / (this.high - this.low);
      return [EDGE + (x - this.low) * unit, SIZE - EDGE - (y - this.low) * unit];
    }

    /** The point of the plane at a point of the drawing. @param {number[]} place */
    pointAt([x, y]) {
      const unit = (SIZE - 2 * EDGE) / (this.high - this.low);
      return [this.low + (x - EDGE) / unit, this.low + (SIZE - EDGE - y) / unit];
    }

    /** @type {(tag: string, name: string, attributes?: Record<string, any>) => any} */
    draw(tag, name, attributes = {}) {
      const made = shape(tag, name);
      this.svg.append(made);
      set(made, attributes);
      return made;
    }

    /** Write beside a point, on the side that looks away from another one.
        @type {(text: any, point: number[], words: string, from?: number[]) => void} */
    label(text, point, words, from = [0, 0]) {
      const [x, y] = this.at(point);
      const isNearEdge = x < LABEL || x > SIZE - LABEL;
      const [right, up] = [isNearEdge ? x < LABEL : point[0] > from[0], point[1] > from[1]];
      set(text, { x: x + (right ? 6 : -6), y: y + (up ? -6 : 16),
        "text-anchor": right ? "start" : "end" });
      if (text.textContent !== words) text.textContent = words;
    }
  }

  /** @type {(node: Element, attributes: Record<string, any>) => void} */
  function set(node, attributes) {
    for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, String(value));
  }

  /** How far a point is from the line between two others. @type {(...points: number[][]) => number} */
  function distance([x, y], [fromX, fromY], [toX, toY]) {
    const [dx, dy] = [toX - fromX, toY - fromY];
    const along = ((x - fromX) * dx + (y - fromY) * dy) / (dx * dx + dy * dy || 1);
    const part = Math.min(1, Math.max(0, along));
    return Math.hypot(x - fromX - part * dx, y - fromY - part * dy);
  }

  /** The place around a point that is farthest from the lines to others, and from their names.
      @type {(center: number[], ends: number[][], names: number[][]) => number[]} */
  function clearest(center, ends, names) {
    const around = Array.from({ length: 12 }, (_, i) => {
      const [across, up] = [Math.cos((i * Math.PI) / 6), Math.sin((i * Math.PI) / 6)];
      return [center[0] + 40 * across, center[1] + 24 * up];
    }).filter(([x]) => x > LABEL / 2 && x < SIZE - LABEL / 2);
    const room = (/** @type {number[]} */ place) => Math.min(
      ...ends.map((end) => distance(place, center, end)),
      ...names.map((name) => Math.hypot(place[0] - name[0], place[1] - name[1]) / 2));
    return around.reduce((best, place) => (room(place) > room(best) ? place : best), around[0] ?? center);
  }

  class Plane {
    /** @param {ExplorerView} explorer */
    constructor(explorer) {
      this.explorer = explorer;
      const { numbers, data } = explorer;
      const { query, key, value } = numbers;
      this.keys = new Panel(texts.planeKeys, [...query.flat(), ...key.flat()], 0.25);
      this.values = new Panel(texts.planeValues, value.flat(), 0.1);
      const each = (/** @type {Panel} */ panel, /** @type {string} */ tag, /** @type {string} */ name) =>
        data.tokens.map(() => panel.draw(tag, name));
      this.drops = each(this.keys, "path", "foot-line");
      this.arrows = each(this.keys, "path", "arrow");
      this.feet = each(this.keys, "circle", "foot");
      this.names = each(this.keys, "text", "");
      this.line = this.keys.draw("path", "query-line");
      this.arrow = this.keys.draw("path", "arrow query-arrow");
      this.handle = this.keys.draw("circle", "handle", { r: 10, tabindex: 0, role: "button" });
      this.hull = this.values.draw("path", "hull");
      this.pulls = each(this.values, "path", "pull");
      this.points = each(this.values, "circle", "point");
      this.labels = each(this.values, "text", "");
      this.output = this.values.draw("circle", "output-point", { r: 7 });
      this.outputName = this.values.draw("text", "output-name");
      this.node = make("div", { className: "plane head-0" }, this.keys.node, this.values.node);
      this.handle.addEventListener("keydown", (/** @type {KeyboardEvent} */ event) =>
        this.onKey(event));
      // Browsers heed a touch-action on the whole drawing alone, which then could not be scrolled past.
      this.handle.addEventListener("touchstart", (/** @type {Event} */ event) =>
        event.preventDefault(), { passive: false });
      this.handle.addEventListener("pointerdown", (/** @type {PointerEvent} */ event) =>
        this.drag(event));
    }

    get view() {
      const { state } = this.explorer;
      return { row: state.order.indexOf(state.query), head: state.focus };
    }

    paint() {
      const { explorer: { data, numbers, state } } = this;
      const { row, head } = this.view;
      const query = numbers.query[head][row];
      const token = (/** @type {number} */ i) => data.tokens[state.order[i]];
      const zero = this.keys.at([0, 0]);
      const tip = this.keys.at(query);
      const square = query[0] ** 2 + query[1] ** 2;
      this.node.className = `plane head-${head % 6}`;
      set(this.line, { d: `M${this.far(query, -1)}L${this.far(query, 1)}` });
      set(this.arrow, { d: pointer(zero, tip) });
      set(this.handle, {
        cx: tip[0], cy: tip[1],
        "aria-label": fill(texts.planeQuery, { token: token(row), x: short(query[0], 2), y: short(query[1], 2) }),
      });
      numbers.key[head].forEach((key, i) => {
        const along = square ? numbers.scores[head][row][i] / square : 0;
        const foot = this.keys.at([query[0] * along, query[1] * along]);
        const end = this.keys.at(key);
        set(this.arrows[i], { d: pointer(zero, end) });
        set(this.drops[i], { d: `M${end}L${foot}` });
        set(this.feet[i], { cx: foot[0], cy: foot[1], r: 3.5 });
        this.keys.label(this.names[i], key,
          `${token(i)} ${short(numbers.scores[head][row][i], 2)}`);
      });
      this.paintValues(numbers, head, row, token);
    }

    /** @type {(numbers: ExplorerNumbers, head: number, row: number,
          token: (i: number) => string) => void} */
    paintValues(numbers, head, row, token) {
      const values = numbers.value[head];
      const output = numbers.head_outputs[head][row];
      const center = this.values.at(output);
      set(this.hull, { d: `M${hull(values).map((point) => this.values.at(point)).join("L")}Z` });
      const middle = [0, 1].map((axis) =>
        values.reduce((sum, value) => sum + value[axis], 0) / values.length);
      values.forEach((value, i) => {
        const weight = numbers.weights[head][row][i];
        const [x, y] = this.values.at(value);
        set(this.pulls[i], { d: `M${x} ${y}L${center}`, "stroke-width": 1 + 14 * weight });
        set(this.points[i], { cx: x, cy: y, r: 5 });
        this.values.label(this.labels[i], value, `${token(i)} ${shown(weight)}`, middle);
      });
      set(this.output, { cx: center[0], cy: center[1] });
      const names = this.labels.map((label) =>
        ["x", "y"].map((axis) => Number(label.getAttribute(axis))));
      const [x, y] = clearest(center, values.map((value) => this.values.at(value)), names);
      set(this.outputName, { x, y: y + 5, "text-anchor": "middle" });
      if (!this.outputName.textContent) this.outputName.textContent = texts.outcome;
    }

    /** A point far out on the query's line. @type {(query: number[], sign: number) => number[]} */
    far([x, y], sign) {
      const size = Math.hypot(x, y) || 1;
      const far = (2 * sign * (this.keys.high - this.keys.low)) / size;
      return this.keys.at([x * far, y * far]);
    }

    /** @param {number[]} point */
    move(point) {
      const { row, head } = this.view;
      const { low, high } = this.keys;
      this.explorer.editAll(/** @type {[Place, number][]} */ (point.map((x, i) =>
        [placeOf("query", head, row, i), Number(Math.min(high, Math.max(low, x)).toFixed(2))])));
    }

    /** @param {KeyboardEvent} event */
    onKey(event) {
      const by = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };
      const step = Object.entries(by).find(([key]) => key === event.key)?.[1];
      if (!step) return;
      event.preventDefault();
      const { row, head } = this.view;
      const query = this.explorer.numbers.query[head][row];
      this.move(query.map((x, i) => x + STEP * step[i]));
    }

    /** @param {PointerEvent} event */
    drag(event) {
      const { handle, keys } = this;
      event.preventDefault();
      handle.focus({ preventScroll: true });
      handle.setPointerCapture?.(event.pointerId);
      const move = (/** @type {PointerEvent} */ moved) => {
        const box = keys.svg.getBoundingClientRect();
        const unit = SIZE / box.width;
        this.move(keys.pointAt([(moved.clientX - box.left) * unit, (moved.clientY - box.top) * unit]));
      };
      const end = () => {
        handle.removeEventListener("pointermove", move);
        handle.removeEventListener("pointerup", end);
        handle.removeEventListener("pointercancel", end);
      };
      handle.addEventListener("pointermove", move);
      handle.addEventListener("pointerup", end);
      handle.addEventListener("pointercancel", end);
    }
  }

  /** An arrow from a point to another one. @type {(from: number[], to: number[]) => string} */
  function pointer([x0, y0], [x1, y1]) {
    if (x0 === x1 && y0 === y1) return "";
    const turn = Math.atan2(y1 - y0, x1 - x0);
    const side = (/** @type {number} */ by) =>
      `M${x1} ${y1}L${x1 - 9 * Math.cos(turn + by)} ${y1 - 9 * Math.sin(turn + by)}`;
    return `M${x0} ${y0}L${x1} ${y1}${side(0.45)}${side(-0.45)}`;
  }

  window.mhaExplorer.views = { ...window.mhaExplorer.views, plane: Plane };
})();
