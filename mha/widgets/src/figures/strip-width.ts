/**
 * Width: the standard deviation of scores as queries and keys grow wider, and their softmax, with and
 * without the division by the root. The query and the keys are arrows that lengthen with the width; the
 * query's and one key's tip can be dragged too, at the current width. The numbers were drawn once, in
 * Python.
 */

import { attentionScores, scaledScores, softmax } from "../engine/attention.ts";
import { percent, shown } from "../engine/numbers.ts";
import { explorerViews as texts } from "../strings/explorer-views.ts";
import { fill } from "../engine/text.ts";
import { inItalics, make, makeButton, set, setBar, setText } from "./explorer-parts.ts";
import { Plane } from "./plane.ts";
import { Tasks } from "./strip-tasks.ts";
import type { ExplorerView, WidthData } from "../types/explorer.ts";
import type { PlaneDrawing, PlaneMark } from "../types/plane.ts";

/** The standard deviation of numbers. */
function spreadOf(numbers: number[]) {
  const mean = numbers.reduce((sum, x) => sum + x, 0) / numbers.length;
  return Math.sqrt(numbers.reduce((sum, x) => sum + (x - mean) ** 2, 0) / numbers.length);
}

/**
 * Scores and weights of the first components of a query and keys.
 * @param tenths the query's row, then the keys', in tenths
 */
export function atWidth(tenths: number[][], width: number) {
  const [query, ...keys] = tenths.map((row) => row.slice(0, width).map((x) => x / 10));
  return bothWays(attentionScores([query], keys)[0], width);
}

/** The standard deviations of the scores, unscaled and divided by the root. */
const bothWays = (raw: number[], width: number): { spread: number, scores: number[], weights: number[] }[] => [[raw], scaledScores([raw], 1 / Math.sqrt(width))].map((scores) =>
  ({ spread: spreadOf(scores[0]), scores: scores[0], weights: softmax(scores)[0] }));

/** The largest number of widths for which a key is drawn. */
const STOPS = 64;

/** The plane has room for the arrows of these widths: at each they are about twice as long as at the one before. */
const ROOMS = [4, 16, 64, 256, 512];

/** A query that is shorter is written as of no length, and asks nothing. */
const SHORTEST = 0.05;

/**
 * A query along an axis and keys beside it, each at its own length and its own angle to the query,
 * at every width from 1 on.
 */
export function arrowsOf(tenths: number[][]): { query: number[], keys: number[][] }[] {
  const [query, ...keys] = tenths.map((row) => row.map((x) => x / 10));
  let square = 0;
  const sums = keys.map(() => ({ score: 0, square: 0 }));
  return query.map((x, i) => {
    square += x * x;
    const long = Math.sqrt(square);
    return { query: [long, 0], keys: sums.map((sum, key) => {
      sum.score += x * keys[key][i];
      sum.square += keys[key][i] ** 2;
      const along = long && sum.score / long;
      const across = Math.sqrt(Math.max(0, sum.square - along * along));
      return [along, key % 2 ? -across : across];
    }) };
  });
}

export class Width {
  data: WidthData;
  columns: { title: string; head: HTMLElement; most: HTMLElement; rows: { name: HTMLElement; score: HTMLElement; bar: HTMLElement; number: HTMLElement; node: HTMLElement; }[]; node: HTMLElement; }[];
  width: number;
  slider: HTMLInputElement;
  value: HTMLElement;
  plane: PlaneDrawing;
  arrows: { query: number[]; keys: number[][]; }[];
  says: HTMLElement;
  longer: number;
  pulled: Record<number, number[]>;
  back: HTMLElement;
  key: number;
  node: HTMLElement;
  /** The numbers that tasks check, as in an explorer. */
  seen: { data: WidthData, state: { order: number[] }, widths: ReturnType<typeof bothWays>, asks: boolean };
  tasks: { node: HTMLElement; forget(): void; news(): string; paint(): void; };
  status: HTMLElement;

  constructor(data: WidthData) {
    this.data = data;
    const keys = data.tenths.slice(1);
    this.columns = [texts.widthRaw, texts.widthScaled].map((title) => {
      const [head, most] = [make("p", { className: "soft" }), make("p", { className: "soft" })];
      const rows = keys.map((_, i) => {
        const [score, bar, number] = [make("span"), make("span"), make("span")];
        const name = makeButton(`k${i + 1}`, () => this.choose(i), { "aria-pressed": "false" });
        return { name, score, bar, number,
          node: make("li", {}, name, score, make("span", { className: "bar" }, bar), number) };
      });
      return { title, head, most, rows,
        node: make("div", {}, head, make("ul", {}, ...rows.map(({ node }) => node)), most) };
    });
    const id = `${data.name}-slider`;
    this.width = data.start;
    this.slider = make("input", { type: "range", id, min: data.widths[0], max: data.widths[data.widths.length - 1],
      step: data.widths[1] - data.widths[0], value: data.start,
      oninput: () => this.setWidth(Number(this.slider.value)) });
    this.value = make("output", { htmlFor: id });
    this.plane = new Plane({ title: texts.widthPlane, names: texts.widthAxes });
    this.arrows = arrowsOf(data.tenths);
    this.says = make("p", { className: "soft width-says" });
    /**
     * The factor by which a reader lengthened the query, and for each dragged key a complex factor of
     * its arrow, so that a dragged key lengthens with the width too.
     */
    this.longer = 1;
    this.pulled = ({} as Record<number, number[]>);
    this.back = makeButton(texts.widthBack, () => this.putBack());
    /** The key that is looked at: at first the one that gets most. */
    const [{ weights }] = atWidth(data.tenths, data.start);
    this.key = weights.indexOf(Math.max(...weights));
    this.node = make("div", { className: "temperature head-0" },
      make("div", { className: "line" },
        make("label", { htmlFor: id }, texts.width), this.slider, this.value, this.back),
      make("div", { className: "two" }, make("div", {}, this.plane.node, this.says),
        make("div", { className: "width-bars" }, ...this.columns.map(({ node }) => node))));
    this.seen = { data, state: { order: [] }, widths: [], asks: true };
    this.tasks = new Tasks(this.seen as unknown as ExplorerView);
    this.status = make("p", { className: "status", role: "status" });
    this.node.append(this.tasks.node, this.status);
    this.paint();
  }

  setWidth(width: number) {
    const { widths } = this.data;
    this.width = Math.min(widths[widths.length - 1], Math.max(widths[0], width));
    this.paint();
  }

  choose(key: number) {
    this.key = key;
    this.paint();
  }

  /** Put every arrow back where it was drawn. */
  putBack() {
    this.longer = 1;
    this.pulled = {};
    this.paint();
  }

  /** The arrows at the current width, with the reader's changes. */
  now() {
    const { query, keys } = this.arrows[this.width - 1];
    return { query: [this.longer * query[0], 0], keys: keys.map(([x, y], i) => {
      const [a, b] = this.pulled[i] ?? [1, 0];
      return [a * x - b * y, a * y + b * x];
    }) };
  }

  /** The scores of these arrows; those of unchanged keys are computed from the exact numbers. */
  scores() {
    const { query, keys } = this.now();
    const [{ scores }] = atWidth(this.data.tenths, this.width);
    return scores.map((score, i) => (this.pulled[i] ? query[0] * keys[i][0] : this.longer * score));
  }

  /** Pull the query's tip along its axis. */
  pullQuery([x]: number[]) {
    this.longer = Math.max(0, x) / this.arrows[this.width - 1].query[0];
    this.paint();
  }

  /** The range of the plane: the arrows as drawn, at a width that is not below this one. */
  room() {
    const widest = ROOMS.find((one) => one >= this.width && one <= this.arrows.length) ?? this.arrows.length;
    const { query, keys } = this.arrows[widest - 1];
    return [query, ...keys.map(([x, y]) => [x, 1.05 * y])];
  }

  /** Pull the tip of the key that is looked at. */
  pullKey([x, y]: number[]) {
    const [c, d] = this.arrows[this.width - 1].keys[this.key];
    const square = c * c + d * d;
    this.pulled[this.key] = [(x * c + y * d) / square, (y * c - x * d) / square];
    this.paint();
  }

  paint() {
    const { width, key } = this;
    setText(this.value, String(width));
    if (Number(this.slider.value) !== width) this.slider.value = String(width);
    set(this.slider, "aria-valuetext", width);
    this.seen.widths = bothWays(this.scores(), width);
    this.seen.asks = this.now().query[0] >= SHORTEST;
    set(this.back, ".visibility", this.longer !== 1 || Object.keys(this.pulled).length ? "" : "hidden");
    this.seen.widths.forEach(({ spread, scores, weights }, i) => {
      const { title, head, most, rows } = this.columns[i];
      setText(head, fill(title, { width, spread: shown(spread, 2) }));
      setText(most, fill(texts.widthMost, { most: shown(Math.max(...weights)) }));
      rows.forEach(({ name, score, bar, number }, j) => {
        set(name, "aria-pressed", String(j === key));
        setText(score, shown(scores[j], 2));
        setBar(bar, weights[j]);
        setText(number, shown(weights[j]));
      });
    });
    this.paintArrows();
    this.tasks.paint();
    this.status.replaceChildren(...inItalics(this.tasks.news()));
  }

  paintArrows() {
    const { key, width, arrows } = this;
    const { query, keys } = this.now();
    const [raw, scaled] = this.seen.widths;
    const most = raw.weights.indexOf(Math.max(...raw.weights));
    const share = ({ weights }: { weights: number[] }) => percent(weights[key]);
    setText(this.says, fill(texts.widthSays, { key: key + 1, width, foot: shown(keys[key][0]),
      long: shown(query[0]), score: shown(raw.scores[key], 2), scaled: shown(scaled.scores[key], 2),
      share: share(raw), shared: share(scaled) }));
    const every = Math.ceil(arrows.length / STOPS);
    const trail = arrows.filter((_, i) => i % every === 0).map((one) => one.keys[key]);
    const room = this.room();
    const far = Math.max(...room.map((at) => Math.hypot(...at)));
    // Named beside where it is in sight.
    const named = trail.filter((at, i) => i * every >= width / 3 && Math.hypot(...at) <= far);
    const winner: PlaneMark[] = most === key ? [] : [
      { kind: "line", name: "foot-line", points: [[keys[most], [keys[most][0], 0]]] },
      { kind: "arrow", name: "gets", at: keys[most], text: fill(texts.widthGets, { key: most + 1 }) },
      { kind: "point", name: "foot", at: [keys[most][0], 0], wide: 3.5 },
    ];
    this.plane.paint([
      { kind: "sheet", name: "trail", points: [trail] },
      { kind: "text", name: "soft", at: named[0] ?? trail[0],
        text: fill(texts.widthTrail, { key: key + 1 }) },
      { kind: "line", name: "foot-line", points: [[keys[key], [keys[key][0], 0]]] },
      { kind: "line", name: "ghost", points: keys.map((at) => [[0, 0], at]) },
      ...keys.map((at) => ({ kind: "point", name: "foot", at, wide: 2 })),
      ...winner,
      { kind: "arrow", name: "key-arrow", at: keys[key],
        text: `k${key + 1}, ${fill(texts.widthLong, { long: shown(Math.hypot(...keys[key]), 1) })}`,
        tip: { name: `k${key + 1}`, move: (point) => this.pullKey(point) } },
      { kind: "point", name: "foot", at: [keys[key][0], 0], wide: 3.5 },
      { kind: "arrow", name: "main query-arrow", at: query,
        text: `${texts.planeAsks}, ${fill(texts.widthLong, { long: shown(query[0], 1) })}`,
        tip: { name: texts.planeAsks, look: "main", move: (point) => this.pullQuery(point) } },
    ], room);
  }
}
