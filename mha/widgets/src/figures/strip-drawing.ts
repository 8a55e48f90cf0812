/**
 * The lines of the strip: from the query to the keys, a ribbon from each value to its part of
 * the output, as wide as its weight, and the heads' paths into the output.
 */

import { address, of as placeOf } from "../engine/places.ts";
import { explorer as texts } from "../strings/explorer.ts";
import { fitting, make, set, setBar, setText, strength } from "./explorer-parts.ts";
import type { ExplorerStrip, ExplorerView, StripNumber, StripView } from "../types/explorer.ts";
import type { Drawn } from "../types/plane.ts";

/** Widths in pixels: of the ribbon of a weight of 1, of the narrowest one, of a stack. */
const WIDE = 26;
const NARROW = 0.75;
const STACK = 36;

/** How much of a drawing's height a stack may take. */
const SHARE = 0.86;

/** The possible full heights of a stack, times a power of ten. */
const STEPS = [1, 2, 5, 10];

/** How long a value flows, and how much a weight changes at least for it to flow. */
const FLOW_MS = 700;
const LEAST = 5e-5;

/** An element of a drawing. */
export function shape<Tag extends keyof SVGElementTagNameMap>(tag: Tag, name: string = ""): SVGElementTagNameMap[Tag] {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  element.setAttribute("class", name);
  return element;
}

/**
 * A drawing in the size of its parent element, drawn again when that changes. In print, where no script
 * measures rows, it is stretched. Its parent has a fixed size, so that a move in the drawing does not
 * lay out the whole page.
 */
export function drawing(name: string, shapes: SVGElement[], draw: (width: number, height: number) => void): Drawn {
  const svg = shape("svg");
  svg.setAttribute("preserveAspectRatio", "none");
  svg.append(...shapes);
  const place = Object.assign(make("div", { className: `drawn ${name}`, "aria-hidden": "true" }, svg), { size: [0, 0] });
  new ResizeObserver(([{ contentRect: { width, height } }]) => {
    place.size = [width, height];
    if (width) svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
    draw(width, height);
  }).observe(place);
  return place;
}

/** A tenth of a pixel is enough; more digits take longer to read. */
const tenth = (x: number): number => Math.round(10 * x) / 10;

/** A curve from left to right. */
const across = (...ends: number[]): string => {
  const [x0, y0, x1, y1] = ends.map(tenth);
  return `M${x0} ${y0}C${(x0 + x1) / 2} ${y0} ${(x0 + x1) / 2} ${y1} ${x1} ${y1}`;
};

/** A band from left to right, from one height to another. */
const band = (y0: number, high0: number, x1: number, y1: number, high1: number): string => {
  const [x, turn, top0, end0, top1, end1] =
    [x1, x1 / 2, y0 - high0 / 2, y0 + high0 / 2, y1 - high1 / 2, y1 + high1 / 2].map(tenth);
  return `M0 ${top0}C${turn} ${top0} ${turn} ${top1} ${x} ${top1}V${end1}`
    + `C${turn} ${end1} ${turn} ${end0} 0 ${end0}Z`;
};

const total = (numbers: number[]): number => numbers.reduce((sum, x) => sum + Math.abs(x), 0);

/** The positions of stacked parts: the positive ones first, then the negative ones. */
function piled(parts: number[], length: number, of: number = total(parts)): { from: number, size: number }[] {
  const unit = length / (of || 1);
  let [above, below] = [0, unit * total(parts.filter((part) => part > 0))];
  return parts.map((part) => {
    const size = unit * Math.abs(part);
    const from = part < 0 ? below : above;
    if (part > 0) above += size;
    else below += size;
    return { from, size };
  });
}

/** The least round number that is no smaller. */
function rounded(size: number): number {
  const ten = 10 ** Math.floor(Math.log10(size));
  return Number((ten * (STEPS.find((step) => step * ten >= size) ?? 10)).toPrecision(1));
}

/** Less than any part that is seen. */
const TINY = 1e-9;

export const isStill = () => matchMedia("(prefers-reduced-motion: reduce)").matches;

/** The contribution of each value to a component of the output. */
const partsOf = ({ numbers }: ExplorerView, head: number, weights: number[], component: number): number[] =>
  weights.map((weight, key) => weight * numbers.value[head][key][component]);

export class Ribbons {
  explorer: ExplorerView;
  lines: SVGElement[];
  ribbons: SVGElement[];
  parts: SVGElement[];
  gauge: SVGElement;
  full: SVGElement;
  drops: SVGElement[];
  fan: Drawn;
  flow: Drawn;
  most: number[][];
  now: { view: StripView, weights: number[], parts: number[] } | null;
  flown: number;

  constructor(explorer: ExplorerView) {
    this.explorer = explorer;
    const { tokens } = explorer.data;
    this.lines = tokens.map(() => shape("path", "line"));
    this.ribbons = tokens.map(() => shape("path", "ribbon"));
    this.parts = tokens.map(() => shape("rect", "part"));
    /** The scale of the stack: its height, as its name says. */
    this.gauge = shape("rect", "gauge");
    this.full = shape("text", "full");
    this.drops = tokens.map(() => shape("circle", "drop"));
    this.fan = drawing("fan", this.lines, (width, height) => this.drawFan(width, height));
    this.flow = drawing("flow",
      [this.gauge, ...this.ribbons, ...this.parts, ...this.drops, this.full],
      () => this.drawFlow());
    /** The number at each stack's full height: the example's largest, per head and component. */
    this.most = explorer.numbers.weights.map((rows, head) =>
      explorer.numbers.value[head][0].map((_, i) => rounded(
        Math.max(...rows.map((row) => total(partsOf(explorer, head, row, i)))) || 1)));
    this.now = null;
    this.flown = -Infinity;
  }

  middle(key: number, height: number) {
    return ((key + 0.5) / this.lines.length) * height;
  }

  drawFan(width: number, height: number) {
    // If the query is above the lines, not beside them, they start at the top.
    const above = this.fan.previousElementSibling?.getBoundingClientRect();
    const isBelow = above && above.bottom < this.fan.getBoundingClientRect().top;
    this.lines.forEach((line, key) => {
      const middle = this.middle(key, height);
      set(line, "d", isBelow ? `M4 -32V${middle - 12}Q4 ${middle} 16 ${middle}H${width}`
        : across(0, height / 2, width, middle));
    });
  }

  paint(view: StripView) {
    const { numbers } = this.explorer;
    const weights = numbers.weights[view.head][view.row];
    const parts = partsOf(this.explorer, view.head, weights, view.component);
    const before = this.now;
    this.now = { view, weights, parts };
    this.drawFlow();
    if (before?.view.head === view.head && before.view.row === view.row) this.move(before.weights, weights);
  }

  drawFlow() {
    const [width, height] = this.flow.size;
    if (!width || !this.now) return;
    const { weights, parts, view } = this.now;
    const high = height * SHARE;
    const foot = (height + high) / 2;
    const full = Math.max(this.most[view.head][view.component], rounded(total(parts) || TINY));
    const stack = piled(parts, high, full);
    const top = foot - (high * total(parts)) / full;
    const end = width - STACK;
    set(this.gauge, "x", end);
    set(this.gauge, "y", foot - high);
    set(this.gauge, "width", STACK);
    set(this.gauge, "height", high);
    set(this.full, "x", end - 4);
    set(this.full, "y", foot - high + 10);
    setText(this.full, fitting(full, true));
    weights.forEach((weight, key) => {
      const { from, size } = stack[key];
      const [ribbon, part] = [this.ribbons[key], this.parts[key]];
      const wide = weight && Math.max(NARROW, WIDE * weight);
      set(ribbon, "d", band(this.middle(key, height), wide, end, top + from + size / 2,
        weight && Math.max(NARROW, size)));
      set(ribbon, ".fillOpacity", strength(weight));
      set(part, "x", end);
      set(part, "width", STACK);
      set(part, "y", tenth(top + from));
      set(part, "height", tenth(size));
      set(part, "class", parts[key] < 0 ? "part below" : "part");
      set(part, ".fillOpacity", strength(weight));
    });
  }

  /** A value flows along its ribbon where its weight has changed. */
  move(before: number[], weights: number[]) {
    // While values flow, further changes start none anew: each would cost a frame its time.
    const now = performance.now();
    if (now - this.flown < FLOW_MS || isStill()) return;
    if (weights.every((weight, key) =>
      Math.abs(weight - before[key]) < LEAST)) return;
    this.flown = now;
    weights.forEach((weight, key) => {
      const drop = this.drops[key];
      if (Math.abs(weight - before[key]) < LEAST || !drop.animate) return;
      drop.style.offsetPath = `path("${this.way(key)}")`;
      set(drop, "r", 2 + (WIDE * weight) / 2);
      drop.animate([
        { offsetDistance: "0%", opacity: 0 }, { opacity: 0.9, offset: 0.2 },
        { opacity: 0.9, offset: 0.8 }, { offsetDistance: "100%", opacity: 0 },
      ], { duration: FLOW_MS, easing: "ease-in-out" });
    });
  }

  /** The middle of a ribbon. */
  way(key: number): string {
    const [width, height] = this.flow.size;
    const part = this.parts[key];
    const [top, size] = ["y", "height"].map((name) => Number(part.getAttribute(name)));
    return across(0, this.middle(key, height), width - STACK, top + size / 2);
  }

  /** Follow the highlighted numbers; null if there are none. */
  light(lit: Set<string> | null) {
    if (!this.now) return;
    const { head, row } = this.now.view;
    this.lines.forEach((line, key) => {
      const isLit = (stage: string) =>
        lit?.has(address(placeOf(stage, head, row, key))) ?? false;
      line.classList.toggle("lit", isLit("scores"));
      this.ribbons[key].classList.toggle("lit", isLit("weights"));
    });
  }
}

/** The heads side by side, each with its weights for the query, and their ways to the output. */
export class Heads {
  explorer: ExplorerView;
  nodes: HTMLElement[];
  tabs: HTMLElement[];
  lanes: HTMLElement[];
  shares: HTMLElement[];
  bars: HTMLElement[][] = [];
  ways: SVGElement[] = [];
  joins: Drawn | undefined;
  view: StripView | undefined;

  constructor(explorer: ExplorerView, strip: ExplorerStrip) {
    this.explorer = explorer;
    const { heads, tokens, width } = explorer.data;
    this.nodes = [];
    this.tabs = [];
    this.lanes = [];
    this.shares = [];
    if (heads.length < 2 && !explorer.numbers.output) return;
    this.bars = heads.map(() => tokens.map(() => make("span", {})));
    this.tabs = heads.map(() => make("div", { className: "tabs" }));
    this.lanes = heads.map((_, head) => make("div", { className: `one-head head-${head % 6}` },
      this.tabs[head],
      make("span", { className: "mini", "aria-hidden": "true" }, ...this.bars[head]),
      make("span", { className: "numbers" }, ...Array.from({ length: width }, (_, i) =>
        strip.number((v: StripView) => placeOf("head_outputs", head, v.row, i))))));
    this.nodes = [make("div", { className: "one-heads" }, ...this.lanes), ...this.end(strip)];
  }

  /** The concatenation, and the output with each head's ribbon where there is a projection. */
  end(strip: ExplorerStrip): HTMLElement[] {
    const { data, numbers } = this.explorer;
    const row = (name: string, label: string, ...inside: Node[]) => make("div", { className: `end-row ${name}` },
      make("span", { className: "soft" }, label), ...inside);
    if (!numbers.output) {
      // A line that is too long breaks between heads.
      const joined = data.heads.map((_, head) => make("span", { className: "joined-head" },
        ...Array.from({ length: data.width }, (__, i) => {
          const node = strip.number((v: StripView) =>
            placeOf("concat", 0, v.row, head * data.width + i));
          node.classList.add(`head-${head % 6}`, "of-head");
          return node;
        })));
      return [row("joined", texts.joined, ...joined)];
    }
    this.ways = data.heads.map((_, head) => shape("path", `way head-${head % 6}`));
    this.joins = drawing("joins", this.ways, () => this.draw());
    const terms: StripNumber[] = [];
    const shares = data.heads.map((_, head) => {
      const node = strip.number((v: StripView) =>
        placeOf("head_contributions", head, v.row, v.outcome));
      node.classList.add(`head-${head % 6}`, "of-head");
      terms.push(strip.last);
      return node;
    });
    const outputs = numbers.output[0].map((_, i) => {
      const node = strip.number((v: StripView) => placeOf("output", 0, v.row, i));
      node.classList.add("result");
      strip.words.push((v: StripView) =>
        node.classList.toggle("chosen", i === v.outcome));
      const sign = strip.sign((v: StripView) =>
        terms.filter((_, head) => i === v.outcome && !this.explorer.state.off[head]));
      return make("span", { className: "total" }, sign, node);
    });
    this.shares = shares;
    return [this.joins, row("outcome", texts.headShares, ...shares,
      make("span", { className: "soft" }, texts.outcome), ...outputs)];
  }

  paint(view: StripView) {
    if (!this.bars) return;
    const { numbers, state } = this.explorer;
    this.view = view;
    this.lanes.forEach((lane, head) => {
      lane.classList.toggle("shown", head === view.head);
      lane.classList.toggle("off", state.off[head]);
      this.shares[head]?.classList.toggle("off", state.off[head]);
      numbers.weights[head][view.row].forEach((weight, key) =>
        setBar(this.bars[head][key], weight, { upright: true }));
    });
    this.draw();
  }

  /** Each head's way from its lane to its share of the output. */
  draw() {
    const [width, height] = this.joins?.size ?? [0, 0];
    if (!width || !this.view) return;
    const { numbers, state } = this.explorer;
    const { row, outcome } = this.view;
    const shares = (numbers.head_contributions ?? []).map((share, head) =>
      (state.off[head] ? 0 : share[row][outcome]));
    const bar = height - 14;
    piled(shares, width).forEach(({ from, size }, head) => {
      const middle = ((head + 0.5) / shares.length) * width;
      const half = Math.min(size / 2, width / shares.length / 4);
      const [left, right] = [from, from + Math.max(0, size - 2)];
      const turn = bar / 2;
      const path = `M${middle - half} 0C${middle - half} ${turn} ${left} ${turn} ${left} ${bar}`
        + `V${height}H${right}V${bar}C${right} ${turn} ${middle + half} ${turn} ${middle + half} 0Z`;
      set(this.ways?.[head], "d", size ? path : "");
    });
  }
}
