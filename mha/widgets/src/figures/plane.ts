/**
 * The plane: axes with names and numbers, a grid, arrows and points with their coordinates, and tips
 * that are dragged, by mouse or by finger, or moved by keys or by two sliders. A view passes its
 * content as a list of marks; the plane draws them, and zooms while no tip is held.
 */

import { explorerViews as texts } from "../strings/explorer-views.ts";
import { fill } from "../engine/text.ts";
import { make, set, setText } from "./explorer-parts.ts";
import { glide } from "./glide.ts";
import { drawAxes } from "./plane-axes.ts";
import { coordinates, path, pointer, stepOf } from "./plane-geometry.ts";
import { LINE, placed, widthOf } from "./plane-labels.ts";
import { makeTip } from "./plane-tips.ts";
import { drawing, shape } from "./strip-drawing.ts";
import type { Drawn, PlaneDrawing, PlaneDrawn, PlaneMark, PlaneName, TipElement } from "../types/plane.ts";
import type { Numbers } from "../types/run.ts";

/** In pixels: the margin at each edge, the smallest distance of ticks, and the distance of names from a point. */
const EDGE = { across: 34, up: 26 };
const LEAST = 50;
const AROUND = 9;

/** The cost of each covered pixel for a name, by class and then by kind. */
const COVERED = (
  { arrow: 9, pull: 6, axis: 4, line: 4, area: 1, equal: 1, sheet: 0 } as Record<string, number>);

/** So many pixels from the edge a point is as good as out of sight. */
const NEAR_EDGE = 12;

/** How long a plane glides from one scale to another. */
const GLIDE_MS = 300;

/** The kinds in drawing order, from the bottom to the top. */
const KINDS = ["grid", "sheet", "axis", "area", "line", "leader", "arrow", "point", "text"];

/** The plane zooms in if the marks need less than this share of its size. */
const SMALL = 0.45;

/** Nothing is drawn as far as is seen. */
const NONE = (): PlaneMark[] => [];

/**
 * Whether a pointer is down, wherever it is: until then every plane keeps its scale. A finger that
 * a slider takes over is there until it is lifted.
 */
let isPressed = false;

/** Those that are to get another scale then. */
const waiting: Set<Plane> = new Set();

/** The planes that glide. */
const gliding: Set<Plane> = new Set();

addEventListener("pointerdown", () => {
  isPressed = true;
  gliding.forEach((plane) => plane.stay());
}, true);

const release = (event: Event) => {
  if (event.type === "pointercancel" && (event as PointerEvent).pointerType !== "mouse") return;
  isPressed = false;
  const late = [...waiting];
  waiting.clear();
  late.forEach((plane) => plane.draw());
};
["pointerup", "pointercancel", "touchend", "touchcancel"].forEach((end) =>
  addEventListener(end, release, { capture: true, passive: true }));

export class Plane {
  title: string;
  also: { text: string, of?: Numbers | null } | null;
  changed: (tip?: TipElement) => void;
  light: (token: number | null) => void;
  layers: Record<string, SVGElement>;
  area: Drawn;
  tips: HTMLElement;
  caption: HTMLElement;
  node: HTMLElement;
  names: string[];

  marks: PlaneMark[] = [];

  /** The points that have to be visible. */
  seen: number[][] = [];

  /** Return the marks that are drawn across the visible part. */
  behind: (low: number[], high: number[]) => PlaneMark[] = NONE;

  /** The last drawing, if nothing is behind it. */
  looks: string | false = false;

  /** The visible part as two corners: the required part, also at the end of a glide, and all of it. */
  box = ([] as number[][]);

  goal = this.box;

  low = [0, 0];

  high = [0, 0];

  /** The pixels of a unit, the position of zero, and the distance of ticks. */
  unit = 1;

  zero = [0, 0];

  step = 1;

  /** Ends a glide. */
  halt = () => {};

  equal: PlaneDrawing["equal"];

  /** Whether axes and grid are not drawn, since the marks have their images. */
  isBare = false;

  /** The token whose marks are lit. */
  lit: number | null = null;

  /** The elements of each kind, in their order, and how many of them are in use. */
  pools: Record<string, SVGElement[]> = {};

  used: Record<string, number> = {};

  /** The tips, and those of them that can be moved now. */
  tipPool: TipElement[] = [];

  movable: TipElement[] = [];

  /** The obstacles of labels: boxes of numbers and tips, and lines; and the points and ticks. */
  drawn: PlaneDrawn = { boxes: [], lines: [], anchors: [], size: [0, 0] };

  /** Which of its places each name has. */
  places: number[] = [];

  /**
   * @param options `title`: the text above; `names`: those of the axes; `changed` is called when a tip
   *   is chosen or released, and `light` when the pointer is at a token's tip
   */
  constructor({ title = "", names, changed = () => {}, light = () => {} }: { title?: string, names: string[], changed?: (tip?: TipElement) => void, light?: (token: number | null) => void }) {
    this.title = title;
    /**
     * The text in place of the title after a drag that moved more than its tip, and the numbers that
     * it is about.
     */
    this.also = null;
    this.changed = changed;
    this.light = light;
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

  /**
   * @param seen further points that must be in sight
   * @param behind the marks of the visible rectangle, from its corners
   */
  paint(marks: PlaneMark[], seen: number[][] = [], behind: (low: number[], high: number[]) => PlaneMark[] = NONE) {
    const looks = behind === NONE && JSON.stringify([marks, seen, this.names, this.isBare]);
    if (looks && looks === this.looks) {
      const tips = marks.flatMap(({ tip }) => tip ?? []);
      this.movable.forEach((node, i) => { node.tip = tips[i]; });
      return;
    }
    this.looks = looks;
    Object.assign(this, { marks, behind });
    this.seen = [[0, 0], ...seen, ...marks.flatMap((mark) => (mark.at ? [mark.at] : []))];
    this.draw();
  }

  /**
   * The rectangle to show, with room for names. It remains the same while a pointer is down, and as
   * long as all points are in sight and not too near to each other.
   */
  fit() {
    const corner = (most: (...x: number[]) => number) =>
      [0, 1].map((axis) => most(...this.seen.map((point) => point[axis])));
    const [low, high] = [corner(Math.min), corner(Math.max)];
    const size = Math.max(high[0] - low[0], high[1] - low[1]) || 1;
    const [[left, bottom], [right, top]] = this.inSight();
    const isIn = left <= low[0] && bottom <= low[1] && right >= high[0] && top >= high[1];
    const [from, to] = this.goal.length ? this.goal : [low, low];
    if (isIn && size > SMALL * Math.max(...to.map((x, axis) => x - from[axis]))) return;
    const room = 0.14 * size;
    const goal = [low.map((x) => x - room), high.map((x) => x + room)];
    if (!this.box.length) this.box = this.goal = goal;
    else if (isPressed) waiting.add(this);
    else this.zoom(goal);
  }

  /**
   * Two corners between which a point may lie without another scale: all that is drawn but its
   * edge, or where a glide goes.
   */
  inSight(): number[][] {
    const [width, height] = this.area.size;
    if (!this.box.length) return [[0, 0], [0, 0]];
    if (gliding.has(this)) return this.goal;
    return [[NEAR_EDGE, height - NEAR_EDGE], [width - NEAR_EDGE, NEAR_EDGE]].map((at) => this.pointAt(at));
  }

  /** Glide to where other corners are seen. */
  zoom(goal: number[][]) {
    const from = this.box;
    this.halt();
    this.goal = goal;
    gliding.add(this);
    this.halt = glide(GLIDE_MS, (part) => {
      this.box = from.map((corner, i) => corner.map((x, axis) => x + part * (goal[i][axis] - x)));
      if (part === 1) gliding.delete(this);
      this.measure(); // what is in sight now; else one that is there at once would never end
      this.draw();
      if (part === 1) this.changed();
    });
  }

  /** Stay where a glide has come to, as a pointer is down. */
  stay() {
    this.halt();
    gliding.delete(this);
    this.goal = this.box;
    waiting.add(this);
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

  /** The position of a point of the plane, in pixels. */
  at([x, y]: number[]) {
    return [this.zero[0] + x * this.unit, this.zero[1] - y * this.unit];
  }

  /** The point of the plane at a place of the drawing. */
  pointAt([x, y]: number[]) {
    return [(x - this.zero[0]) / this.unit, (this.zero[1] - y) / this.unit];
  }

  /**
   * The nearest point to which a tip can be dragged: in sight, less than a pixel away, and with the
   * fewest digits that this permits.
   */
  near(point: number[]) {
    const fine = stepOf(0.4 / this.unit);
    return point.map((x, axis) => {
      const kept = Math.min(this.high[axis], Math.max(this.low[axis], x));
      return Number((fine * Math.round(kept / fine)).toFixed(6)) || 0;
    });
  }

  draw() {
    if (!this.area.size[0] || !this.seen.length) return;
    this.fit();
    this.measure();
    this.used = {};
    this.drawn = { boxes: [], lines: [], anchors: [], size: this.area.size };
    if (!this.isBare) drawAxes(this);
    this.movable = [];
    const marks = [...this.behind(this.low, this.high), ...this.marks];
    for (const mark of marks) this.drawMark(mark);
    this.write(marks.filter(({ text }) => text).reverse());
    for (const [kind, pool] of Object.entries(this.pools)) {
      pool.forEach((node, i) => set(node, ".display", i < (this.used[kind] ?? 0) ? "" : "none"));
    }
    this.tipPool.forEach((node, i) => set(node, ".display", i < this.movable.length ? "" : "none"));
  }

  /** The next element of a kind, made when it is first asked for. */
  next(kind: string, tag: keyof SVGElementTagNameMap, name: string = ""): SVGElement {
    const pool = (this.pools[kind] ??= []);
    const i = (this.used[kind] = (this.used[kind] ?? 0) + 1) - 1;
    if (!pool[i]) this.layers[kind].append(pool[i] = shape(tag));
    set(pool[i], "class", name);
    return pool[i];
  }

  /** Names keep off a line. */
  keepOff(line: number[], name: string, owner?: PlaneMark): void {
    const weight = COVERED[name.split(" ")[0]] ?? COVERED[owner?.kind ?? "line"];
    if (weight) this.drawn.lines.push({ line, weight, owner });
  }

  drawMark(mark: PlaneMark) {
    const { kind, at = [0, 0], from = [0, 0], points, wide, tip } = mark;
    const isLit = this.lit !== null && mark.token === this.lit;
    const name = `${mark.name ?? ""}${isLit ? " lit" : ""}`;
    const [x, y] = this.at(at);
    if (kind === "arrow" || kind === "point") this.drawn.anchors.push([x, y]);
    if (kind === "arrow") {
      const start = this.at(from);
      set(this.next(kind, "path", name), "d", pointer(start, [x, y]));
      this.keepOff([...start, x, y], name, mark);
    }
    if (kind === "point") {
      const node = this.next(kind, "circle", name);
      const size = wide ?? 5;
      set(node, "cx", x);
      set(node, "cy", y);
      set(node, "r", size + (isLit ? 2 : 0));
      this.drawn.boxes.push([x - size, y - size, x + size, y + size]);
    }
    if (points) {
      const node = this.next(kind, "path", name);
      const lines = points.map((line) => line.map((point) => this.at(point)));
      lines.forEach((line) => line.slice(1).forEach((end, i) => this.keepOff([...line[i], ...end], name, mark)));
      const drawn = lines.map(path).join("");
      set(node, "d", kind === "area" ? `${drawn}Z` : drawn);
      set(node, ".strokeWidth", wide ?? "");
    }
    if (tip) {
      this.drawTip({ tip, at, token: mark.token }, [x, y]);
      this.drawn.boxes.push([x - AROUND, y - AROUND, x + AROUND, y + AROUND]);
    }
  }

  /** Write each name where it covers least. */
  write(marks: PlaneMark[]) {
    const names: PlaneName[] = marks.map((mark) => {
      const { at = [0, 0], from = [0, 0], text = "", name = "", token, along } = mark;
      const isBold = name.startsWith("main") || (this.lit !== null && token === this.lit);
      return { owner: mark, at: this.at(at), from: this.at(from), size: [widthOf(text, isBold), LINE],
        along: along?.map((point) => this.at(point)) };
    });
    const kept = isPressed || gliding.has(this) ? this.places : [];
    const { middles, leaders, chosen } = placed(names, this.drawn, kept);
    this.places = chosen;
    for (const leader of leaders) {
      if (leader) set(this.next("leader", "path", "leader"), "d", path([leader.slice(0, 2), leader.slice(2)]));
    }
    marks.forEach(({ text = "", name = "", token }, i) => {
      const node = this.next("text", "text", `${name}${this.lit !== null && token === this.lit ? " lit" : ""}`);
      set(node, "x", middles[i][0]);
      set(node, "y", middles[i][1] + 5);
      set(node, "text-anchor", "middle");
      setText(node, text);
    });
  }

  // -- Hands --

  /**
   * A tip is an element of the page and no part of the drawing: browsers heed a touch-action on
   * the whole drawing alone, which then could not be scrolled past.
   */
  drawTip(of: Pick<TipElement, "tip" | "at" | "token">, [x, y]: number[]): void {
    const i = this.movable.length;
    if (!this.tipPool[i]) this.tips.append(this.tipPool[i] = makeTip(this, of));
    const node = Object.assign(this.tipPool[i], of);
    this.movable.push(node);
    set(node, ".translate", `${x}px ${y}px`); // which lays nothing out
    set(node, "aria-label", fill(texts.planeTip, { name: node.tip.name, at: coordinates(node.at).slice(1, -1) }));
    set(node, "class", `tip ${node.tip.look ?? ""}`);
  }
}
