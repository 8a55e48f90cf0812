/* The plane: axes with names and numbers, a grid, arrows and points with their coordinates, and tips
   that are dragged, by mouse or by finger, or moved by keys or by two sliders. A view hands over what
   is to be seen as a list of marks; the plane draws them, and zooms while no hand is on it. */
(function () {
  "use strict";

  const { short } = window.mhaNumbers;
  const { STEP, drawing, fill, freshId, make, set, setText, shape } = window.mhaExplorer;
  const texts = window.mhaStrings.explorer;

  /** In pixels: what is left free at each edge, how far apart ticks are at least, how long an
      arrow's head is, how wide a letter is and how high a line. */
  const EDGE = { across: 34, up: 26 };
  const LEAST = 50;
  const HEAD = 11;
  const LETTER = 7.2;
  const LINE = 17;

  /** What is drawn below comes first. */
  const KINDS = ["grid", "axis", "area", "line", "arrow", "point", "text"];

  /** A step of the plane has this many steps of a hand. */
  const FINE = 20;

  /** How much smaller what is to be seen has to be before the plane zooms in. */
  const SMALL = 0.45;

  /** Nothing is drawn as far as is seen. @type {() => PlaneMark[]} */
  const NONE = () => [];

  /** @type {(points: number[][]) => string} */
  const path = (points) => `M${points.map((point) =>
    point.map((x) => Math.round(10 * x) / 10).join(" ")).join("L")}`;

  /** A point as it is written beside its tip. @type {(point: number[]) => string} */
  const coordinates = (point) => `(${point.map((x) => short(x, 2)).join(", ")})`;

  /** The steps between ticks: 1, 2 or 5 times a power of ten. @param {number} least */
  function stepOf(least) {
    const ten = 10 ** Math.floor(Math.log10(least));
    return [1, 2, 5, 10].map((times) => times * ten).find((step) => step >= least) ?? 10 * ten;
  }

  /** An arrow from a place to another one, with a head that is filled.
      @type {(from: number[], to: number[]) => string} */
  function pointer([x0, y0], [x1, y1]) {
    const length = Math.hypot(x1 - x0, y1 - y0);
    if (length < 0.5) return "";
    const [right, down] = [(x1 - x0) / length, (y1 - y0) / length];
    const head = Math.min(HEAD, length);
    const [x, y] = [x1 - head * right, y1 - head * down];
    const side = (/** @type {number} */ by) => [x - by * head * down, y + by * head * right];
    return `${path([[x0, y0], [x, y]])}${path([[x1, y1], side(0.42), side(-0.42)])}Z`;
  }

  class Plane {
    /** @type {PlaneMark[]} */
    marks = [];

    /** What has to be in sight. @type {number[][]} */
    seen = [];

    /** What is drawn as far as is seen. @type {(low: number[], high: number[]) => PlaneMark[]} */
    behind = NONE;

    /** What is drawn, where nothing is behind it. @type {string | false} */
    looks = false;

    /** What is seen, as two corners: what has to be, and all of it. */
    box = /** @type {number[][]} */ ([]);

    low = [0, 0];

    high = [0, 0];

    /** How many pixels a unit has, where zero stands, and how far apart ticks are. */
    unit = 1;

    zero = [0, 0];

    step = 1;

    /** Whether a hand is on it. */
    held = false;

    /** The elements of each kind, in their order, and how many of them are in use.
        @type {Record<string, any[]>} */
    pools = {};

    /** @type {Record<string, number>} */
    used = {};

    /** The names that are written: their middles and lengths. @type {number[][]} */
    taken = [];

    /** @param {{ title?: string, names: string[], changed?: (tip?: any) => void }} options what stands
          above it, what its axes are called, and what happens when a tip is chosen or let go */
    constructor({ title = "", names, changed = () => {} }) {
      this.changed = changed;
      /** @type {Record<string, any>} */
      this.layers = Object.fromEntries(KINDS.map((kind) => [kind, shape("g", `of-${kind}`)]));
      this.area = drawing("plane-area", Object.values(this.layers), () => {
        this.draw();
        this.changed();
      });
      this.tips = make("div", { className: "tips" });
      this.caption = make("figcaption", {}, title);
      this.node = make("figure", { className: "plane" }, this.caption,
        make("div", { className: "frame" }, this.area, this.tips));
      this.names = names;
    }

    /** @param {PlaneMark[]} marks
        @param {number[][]} seen what has to be in sight besides their tips
        @param {(low: number[], high: number[]) => PlaneMark[]} behind what is drawn as far as is seen */
    paint(marks, seen = [], behind = NONE) {
      const looks = behind === NONE && JSON.stringify([marks, seen, this.names]);
      if (looks && looks === this.looks) return;
      this.looks = looks;
      Object.assign(this, { marks, behind });
      this.seen = [[0, 0], ...seen, ...marks.flatMap((mark) => (mark.at ? [mark.at] : []))];
      this.draw();
    }

    /** What is to be seen, with room for its names: kept while a hand is on it, and as long as all
        is in sight and not small. */
    fit() {
      const corner = (/** @type {(...x: number[]) => number} */ most) =>
        [0, 1].map((axis) => most(...this.seen.map((point) => point[axis])));
      const [low, high] = [corner(Math.min), corner(Math.max)];
      const size = Math.max(high[0] - low[0], high[1] - low[1]) || 1;
      const [[left, bottom], [right, top]] = this.box.length ? this.box : [low, low];
      const isIn = left <= low[0] && bottom <= low[1] && right >= high[0] && top >= high[1];
      if (isIn && size > SMALL * Math.max(right - left, top - bottom)) return;
      const room = 0.14 * size;
      this.box = [low.map((x) => x - room), high.map((x) => x + room)];
    }

    measure() {
      const [width, height] = this.area.size;
      const [low, high] = this.box;
      this.unit = Math.max(1e-9, Math.min((width - 2 * EDGE.across) / (high[0] - low[0] || 1),
        (height - 2 * EDGE.up) / (high[1] - low[1] || 1)));
      const middle = [0, 1].map((axis) => (low[axis] + high[axis]) / 2);
      this.zero = [width / 2 - middle[0] * this.unit, height / 2 + middle[1] * this.unit];
      this.step = stepOf(LEAST / this.unit);
      this.low = this.pointAt([0, height]);
      this.high = this.pointAt([width, 0]);
    }

    /** Where a point of the plane stands. @param {number[]} point */
    at([x, y]) {
      return [this.zero[0] + x * this.unit, this.zero[1] - y * this.unit];
    }

    /** The point of the plane at a place of the drawing. @param {number[]} place */
    pointAt([x, y]) {
      return [(x - this.zero[0]) / this.unit, (this.zero[1] - y) / this.unit];
    }

    /** The nearest point that a hand can choose: in sight, and with few digits.
        @param {number[]} point */
    near(point) {
      const fine = this.step / FINE;
      return point.map((x, axis) => {
        const kept = Math.min(this.high[axis], Math.max(this.low[axis], x));
        return Number((fine * Math.round(kept / fine)).toFixed(6)) || 0;
      });
    }

    draw() {
      if (!this.area.size[0] || !this.seen.length) return;
      if (!this.held) this.fit();
      this.measure();
      [this.used, this.taken] = [{}, []];
      this.drawAxes();
      const marks = [...this.behind(this.low, this.high), ...this.marks];
      for (const mark of marks) this.drawMark(mark);
      for (const mark of marks.filter(({ text }) => text).reverse()) this.write(mark);
      for (const [kind, pool] of Object.entries(this.pools)) {
        pool.forEach((node, i) => set(node, ".display", i < (this.used[kind] ?? 0) ? "" : "none"));
      }
    }

    /** The next element of a kind, made when it is first asked for.
        @type {(kind: string, tag: string, name?: string) => any} */
    next(kind, tag, name = "") {
      const pool = (this.pools[kind] ??= []);
      const i = (this.used[kind] = (this.used[kind] ?? 0) + 1) - 1;
      if (!pool[i]) this.layers[kind].append(pool[i] = shape(tag));
      set(pool[i], "class", name);
      return pool[i];
    }

    drawAxes() {
      const { low, high, step } = this;
      const [width, height] = this.area.size;
      const [zeroX, zeroY] = this.zero;
      /** @type {string[]} */
      const lines = [];
      [0, 1].forEach((axis) => {
        for (let i = Math.ceil(low[axis] / step); i * step <= high[axis]; i += 1) {
          const [x, y] = this.at([i * step, i * step]);
          lines.push(axis ? `M0 ${y}H${width}` : `M${x} 0V${height}`);
          const isNearEnd = axis ? y < 2 * LINE : x > width - LETTER * this.names[0].length - LINE;
          if (i && !isNearEnd) {
            this.tick(short(i * step), axis ? [zeroX - 5, y + 4] : [x, zeroY + 15], axis ? "end" : "middle");
          }
        }
      });
      set(this.next("grid", "path"), "d", lines.join(""));
      set(this.next("axis", "path", "axis"), "d", `M0 ${zeroY}H${width}M${zeroX} 0V${height}`);
      this.tick(this.names[0], [width - 3, zeroY + 15], "end", "name");
      this.tick(this.names[1], [zeroX - 5, 13], "end", "name");
    }

    /** @type {(words: string, place: number[], anchor: string, name?: string) => void} */
    tick(words, [x, y], anchor, name = "tick") {
      // Kept in sight where zero stands at an edge.
      const [width, height] = this.area.size;
      const long = LETTER * words.length;
      const half = anchor === "end" ? long / 2 : 0;
      const middle = Math.min(width - long / 2 - 3, Math.max(long / 2 + 2, x - half));
      const line = Math.min(height - 4, Math.max(13, y));
      this.taken.push([middle, line - 5, long]);
      const node = this.next("text", "text", name);
      set(node, "x", middle + half);
      set(node, "y", line);
      set(node, "text-anchor", anchor);
      setText(node, words);
    }

    /** @param {PlaneMark} mark */
    drawMark({ kind, at = [0, 0], from = [0, 0], points, name = "", wide, tip }) {
      if (kind === "arrow") set(this.next(kind, "path", name), "d", pointer(this.at(from), this.at(at)));
      if (kind === "point") {
        const node = this.next(kind, "circle", name);
        const [x, y] = this.at(at);
        set(node, "cx", x);
        set(node, "cy", y);
        set(node, "r", wide ?? 5);
      }
      if (points) {
        const node = this.next(kind, "path", name);
        const drawn = points.map((line) => path(line.map((point) => this.at(point)))).join("");
        set(node, "d", kind === "area" ? `${drawn}Z` : drawn);
        set(node, ".strokeWidth", wide ?? "");
      }
      if (tip) this.drawTip(tip, at);
    }

    /** Write beside a tip, where most room is: away from zero, in sight, clear of other names.
        @param {PlaneMark} mark */
    write({ at = [0, 0], from = [0, 0], text = "", name = "" }) {
      const [width, height] = this.area.size;
      const [x, y] = this.at(at);
      const [long, high] = [LETTER * text.length, LINE];
      const [fromX, fromY] = this.at(from);
      const length = Math.hypot(x - fromX, y - fromY) || 1;
      const places = [[1, -1], [-1, -1], [1, 1], [-1, 1], [0, -1], [0, 1], [1, 0], [-1, 0]].map(([right, down]) => {
        const middle = [x + right * (long / 2 + 9), y + down * (right ? 12 : 20)];
        const out = (right * (x - fromX) + down * (y - fromY)) / length;
        const hidden = Math.max(0, long / 2 + 2 - middle[0], middle[0] + long / 2 + 2 - width,
          high / 2 - middle[1], middle[1] + high / 2 - height);
        const covered = this.taken.reduce((sum, [left, top, size]) =>
          sum + Math.max(0, (long + size) / 2 - Math.abs(left - middle[0]))
            * Math.max(0, high - Math.abs(top - middle[1])), 0);
        return { middle, cost: 20 * hidden + covered - 12 * out };
      });
      const { middle } = places.reduce((best, place) => (place.cost < best.cost - 4 ? place : best));
      this.taken.push([...middle, long]);
      const node = this.next("text", "text", name);
      set(node, "x", middle[0]);
      set(node, "y", middle[1] + 5);
      set(node, "text-anchor", "middle");
      setText(node, text);
    }

    // -- Hands --

    /** A tip is an element of the page and no part of the drawing: browsers heed a touch-action on
        the whole drawing alone, which then could not be scrolled past.
        @param {PlaneTip} tip
        @param {number[]} at */
    drawTip(tip, at) {
      const pool = (this.pools.tip ??= []);
      const i = (this.used.tip = (this.used.tip ?? 0) + 1) - 1;
      if (!pool[i]) this.tips.append(pool[i] = this.makeTip());
      const node = pool[i];
      Object.assign(node, { tip, at });
      const [x, y] = this.at(at);
      set(node, ".translate", `${x}px ${y}px`); // which lays nothing out
      set(node, "aria-label", fill(texts.planeTip, { name: tip.name, at: at.map((one) => short(one, 2)).join(", ") }));
      set(node, "class", `tip ${tip.look ?? ""}`);
    }

    makeTip() {
      const node = make("button", { type: "button", className: "tip" });
      node.addEventListener("keydown", (/** @type {KeyboardEvent} */ event) => this.onKey(event, node));
      node.addEventListener("pointerdown", (/** @type {PointerEvent} */ event) => this.drag(event, node));
      node.addEventListener("focus", () => this.changed(node));
      return node;
    }

    /** Those that can be moved now. */
    get movable() {
      return (this.pools.tip ?? []).slice(0, this.used.tip ?? 0);
    }

    /** @param {KeyboardEvent} event @param {any} node */
    onKey(event, node) {
      const by = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] }[event.key];
      if (!by) return;
      event.preventDefault();
      const step = STEP * (event.shiftKey ? 10 : 1);
      node.tip.move(node.at.map((/** @type {number} */ x, /** @type {number} */ axis) =>
        Number((x + step * by[axis]).toFixed(6))));
    }

    /** @param {PointerEvent} event @param {any} node */
    drag(event, node) {
      if (event.button) return;
      event.preventDefault();
      node.focus({ preventScroll: true });
      node.setPointerCapture?.(event.pointerId);
      this.held = true;
      const start = this.at(node.at);
      const move = (/** @type {PointerEvent} */ moved) => {
        const place = [start[0] + moved.clientX - event.clientX, start[1] + moved.clientY - event.clientY];
        node.tip.move(this.near(this.pointAt(place)));
      };
      const end = () => {
        ends.forEach((name) => node.removeEventListener(name, end));
        node.removeEventListener("pointermove", move);
        this.held = false;
        this.draw();
        this.changed();
      };
      const ends = ["pointerup", "pointercancel", "lostpointercapture"];
      node.addEventListener("pointermove", move);
      ends.forEach((name) => node.addEventListener(name, end));
    }
  }

  /** A slider with its name and what it says. @param {{ label: string, act: (value: number) => void,
        done?: () => void, properties?: Record<string, any> }} options */
  function makeSlider({ label, act, done = () => {}, properties = {} }) {
    const input = make("input", { type: "range", id: freshId(), ...properties,
      oninput: () => act(Number(input.value)), onchange: done });
    const name = make("label", { htmlFor: input.id }, label);
    const output = make("span");
    /** @param {number} value @param {string} text */
    const show = (value, text) => {
      if (document.activeElement !== input || Number(input.value) !== value) input.value = String(value);
      set(input, "aria-valuetext", text);
      setText(output, text);
    };
    return { input, name, show, node: make("span", { className: "slider" }, name, input, output) };
  }

  /** Two sliders for who does not drag: they move the tip that was chosen last. */
  class Sliders {
    /** @param {() => any[]} planes those that are in sight */
    constructor(planes) {
      this.planes = planes;
      /** @type {any} */
      this.tip = null;
      this.choice = make("select", { id: freshId(), onchange: () => {
        this.tip = this.tips()[this.choice.selectedIndex];
        this.paint();
      } });
      this.axes = [texts.planeAcross, texts.planeUp].map((label, axis) => makeSlider({
        label, done: () => this.hold(false),
        act: (value) => {
          if (!this.tip) return; // its plane is folded away
          this.hold(true);
          const { at, tip } = this.tip;
          tip.move(at.map((/** @type {number} */ x, /** @type {number} */ i) => (i === axis ? value : x)));
        },
      }));
      this.node = make("div", { className: "sliders" },
        make("span", {}, make("label", { htmlFor: this.choice.id }, texts.planeMove), " ", this.choice),
        ...this.axes.map(({ node }) => node));
    }

    tips() {
      return this.planes().flatMap((plane) => plane.movable);
    }

    /** @param {boolean} held */
    hold(held) {
      this.planes().forEach((plane) => {
        plane.held = held;
        if (!held) plane.draw();
      });
      this.paint();
    }

    /** @param {any} [chosen] the tip that was chosen */
    paint(chosen = this.tip) {
      const tips = this.tips();
      this.show(tips, tips.find((tip) => tip === chosen)
        ?? tips.find(({ tip }) => tip.look === "main") ?? tips[0]);
    }

    /** @param {any[]} tips @param {any} chosen */
    show(tips, chosen) {
      this.tip = chosen;
      set(this.node, ".visibility", chosen ? "" : "hidden");
      if (!chosen) return;
      const names = tips.map(({ tip }) => tip.name);
      if (names.join("\n") !== this.names) {
        this.names = names.join("\n");
        this.choice.replaceChildren(...names.map((name) => make("option", {}, name)));
      }
      const place = tips.indexOf(chosen);
      if (this.choice.selectedIndex !== place) this.choice.selectedIndex = place;
      const plane = this.planes().find((one) => one.movable.includes(chosen));
      this.axes.forEach(({ input, show }, axis) => {
        const fine = plane.step / FINE;
        const most = Math.max(-plane.low[axis], plane.high[axis], Math.abs(chosen.at[axis]));
        const end = Number((fine * Math.ceil(most / fine)).toFixed(6));
        [["min", -end], ["max", end], ["step", fine]].forEach(([key, value]) => set(input, String(key), value));
        show(chosen.at[axis], short(chosen.at[axis], 2));
        set(input, "aria-label", `${chosen.tip.name}: ${[texts.planeAcross, texts.planeUp][axis]}`);
      });
    }
  }

  Object.assign(window.mhaExplorer, { Plane, Sliders, coordinates, makeSlider });
})();
