/**
 * The planes of an explorer: a query among the keys, the values with the output among them, and the
 * cloud of the embeddings with their images under a matrix of a head. Queries, keys, values, embeddings
 * and a matrix's rows can be dragged, and a weight can be dragged to a wanted value.
 */

import { percent, short, shown } from "../engine/numbers.ts";
import { isGiven } from "../engine/origins.ts";
import { of as placeOf } from "../engine/places.ts";
import { explorerViews } from "../strings/explorer-views.ts";
import { explorer } from "../strings/explorer.ts";
import { Choices } from "./explorer-controls.ts";
import { fill } from "../engine/text.ts";
import { freshId, inItalics, make, set, setText } from "./explorer-parts.ts";
import { equalLines, nearest, weighing } from "./plane-weights.ts";
import { Plane, Sliders, coordinates, glide } from "./plane.ts";
import type { ExplorerView } from "../types/explorer.ts";
import type { PlaneDrawing, PlaneMark, PlaneTip, Weighed } from "../types/plane.ts";
import type { Matrix, Numbers, Place } from "../types/run.ts";

const texts = { ...explorerViews, ...explorer };

/** The matrix that makes each kind of vector, and what its axes are called. */
const MATRIX = ({ query: "w_q", key: "w_k", value: "w_v" } as Record<string, string>);

/** How far the line of a query is drawn on both sides. */
const FAR = 1e3;

/** How long embeddings glide from one matrix to another, and how far a matrix's grid is drawn. */
const GLIDE_MS = 500;
const GRID = 12;

/** An axis of a cloud has its name so far out. */
const FAR_OUT = 2.6;

/** Weights on whose lines queries stand, where lines are drawn. */
const LEVELS = [0.5, 0.75, 0.9];

/** An entry that a matrix gets by a hand on what it makes has so many decimals. */
const DECIMALS = 8;

/** No query gives more of the weight, or less than what is left: a pull stops there. */
const MOST = 0.99;

/** Differences below it are of rounding. */
const TINY = 1e-9;

/** The corners of the polygon around points, in order. */
function hull(points: number[][]): number[][] {
  const sorted = [...points].sort((a, b) => a[0] - b[0] || a[1] - b[1]);
  const turn = ([a, b, c]: number[][]) =>
    (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]);
  const half = (those: number[][]) => {
    const corners: number[][] = [];
    for (const point of those) {
      while (corners.length > 1 && turn([...corners.slice(-2), point]) <= 0) corners.pop();
      corners.push(point);
    }
    return corners.slice(0, -1);
  };
  return sorted.length < 3 ? sorted : [...half(sorted), ...half(sorted.reverse())];
}

const tokenAt = ({ data, state }: ExplorerView, row: number): string => data.tokens[state.order[row]];

/** The operands of each token's vectors, if they are computed. */
const sources = ({ numbers }: ExplorerView): Matrix | undefined => numbers.placed ?? numbers.embeddings;

/**
 * The changes of inputs that bring a token's vector to a point: of itself, or the least change of
 * the matrix that makes it; null where its embedding is zero.
 */
function changesTo(explorer: ExplorerView, stage: string, head: number, row: number, point: number[]): [Place, number][] | null {
  const { data } = explorer;
  const numbers = (explorer.numbers as Numbers);
  if (isGiven(data.inputs, stage)) return point.map((x, i) => [placeOf(stage, head, row, i), x]);
  const x = (sources(explorer) as Matrix)[row];
  const square = x.reduce((sum, one) => sum + one * one, 0);
  if (!square) return null;
  const matrix = MATRIX[stage];
  return point.flatMap((wanted, column) => {
    const more = (wanted - numbers[stage][head][row][column]) / square;
    return x.flatMap((one, i) => (one ? [([placeOf(matrix, head, i, column),
      Number((numbers[matrix][head][i][column] + more * one).toFixed(DECIMALS))] as [Place, number])] : []));
  });
}

/**
 * How embeddings are drawn as they are: each of their components has an axis of its own, all of
 * them at equal angles, so that two of them are the axes of the plane.
 */
const directions = (width: number): Matrix => Array.from({ length: width }, (_, i) =>
  [Math.cos, Math.sin].map((of) => Number(of((Math.PI * i) / width).toFixed(12))));

const through = (x: number[], matrix: Matrix): number[] => [0, 1].map((column) =>
  x.reduce((sum, one, i) => sum + one * matrix[i][column], 0));

/**
 * The embedding whose picture is at a point: of two components at most that change, those whose
 * changes are least. Along an axis only its component changes.
 */
function embeddingAt(x: number[], matrix: Matrix, point: number[]): number[] {
  const start = through(x, matrix);
  const [right, up] = point.map((to, axis) => to - start[axis]);
  let [best, least] = [x, Infinity];
  matrix.forEach(([a, b], i) => matrix.slice(0, i).forEach(([c, d], j) => {
    const size = a * d - b * c;
    if (Math.abs(size) < TINY) return;
    const [first, second] = [(right * d - up * c) / size, (up * a - right * b) / size];
    const way = Math.abs(first) + Math.abs(second);
    if (way > least - TINY) return;
    least = way;
    best = x.map((one, k) => Number((one + (k === i ? first : k === j ? second : 0)).toFixed(4)));
  }));
  return best;
}

/** The added message if a matrix has to change for the vector of one word. */
const byMatrix = ({ data }: ExplorerView, stage: string): string => (isGiven(data.inputs, stage) ? ""
  : ` ${fill(texts.planeByMatrix, { matrix: texts.planeSymbol[MATRIX[stage]] })}`);

/** The tokens whose vectors move too, because one matrix makes all of them: said above the plane. */
function alsoMoved(explorer: ExplorerView, stage: string, row: number): string {
  if (isGiven(explorer.data.inputs, stage)) return "";
  const all = (sources(explorer) as Matrix);
  const others = all.flatMap((x, i) =>
    (i !== row && x.some((one, j) => one * all[row][j]) ? [tokenAt(explorer, i)] : []));
  return others.length ? fill(texts.planeAlso[stage], { others: others.join(", ") }) : "";
}

/** The message after a vector has been moved. */
const saysMoved = (explorer: ExplorerView, name: string, stage: string, point: number[]): string =>
  fill(texts.planeMoved, { name, at: coordinates(point) }) + byMatrix(explorer, stage);

/** The tip of a token's vector, undefined where no hand can move it. */
function tipOf(explorer: ExplorerView, plane: any, stage: string, head: number, row: number, look?: string): PlaneTip | undefined {
  const { data } = explorer;
  if (!changesTo(explorer, stage, head, row, [0, 0])) return undefined;
  const name = fill(texts.planeVector[stage], { token: tokenAt(explorer, row) });
  return {
    name: data.heads.length > 1 ? fill(texts.ofHead, { place: name, head: data.heads[head] }) : name,
    look,
    move: (point) => {
      plane.also = { text: alsoMoved(explorer, stage, row) };
      explorer.editAll(changesTo(explorer, stage, head, row, point) ?? [],
        saysMoved(explorer, name, stage, point));
    },
  };
}

/**
 * Write a sentence with words in italics. Where its parts are as many as before, their texts alone
 * change, and no style is looked for anew.
 */
function sayIn(node: any, text: string): void {
  const parts = text.split("*");
  if (node.childNodes.length !== parts.length) node.replaceChildren(...inItalics(text));
  else parts.forEach((part, i) => setText(node.childNodes[i], part));
}

/** The query that is looked at. */
const rowOf = ({ state }: ExplorerView): number => state.order.indexOf(state.query);

/** A query among the keys, each key's foot on the query's line, and lines of equal weight. */
export function paintMeeting(explorer: ExplorerView, plane: any, head: number, key: number | null): void {
  const { numbers } = explorer;
  const row = rowOf(explorer);
  const query = numbers.query[head][row];
  const square = query[0] ** 2 + query[1] ** 2;
  const marks: PlaneMark[] = [];
  if (square) {
    const far = FAR / Math.sqrt(square);
    marks.push({ kind: "line", name: "query-line",
      points: [[-far, far].map((by) => [by * query[0], by * query[1]])] });
  }
  numbers.key[head].forEach((at: number[], i: number) => {
    const score = numbers.scores[head][row][i];
    if (square) {
      const foot = query.map((x: number) => (x * score) / square);
      marks.push({ kind: "line", name: "foot-line", points: [[at, foot]] });
      marks.push({ kind: "point", name: "foot", at: foot, wide: 3.5 });
    }
    marks.push({ kind: "arrow", name: "key-arrow", at, token: i, text: `${tokenAt(explorer, i)} ${coordinates(at)}`,
      tip: tipOf(explorer, plane, "key", head, i) });
  });
  marks.push({ kind: "arrow", name: "main query-arrow", at: query, token: row, text: `${texts.planeAsks} ${coordinates(query)}`,
    tip: tipOf(explorer, plane, "query", head, row, "main") });
  plane.paint(marks, [], (low: number[], high: number[]) =>
    (key === null ? [] : equalMarks(plane, weighing(explorer, head, row), key, query, low, high)));
}

/**
 * Lines on which a query gives a key the same weight; a line's name is where it is nearest. No query
 * moves them: they are looked for again when something else has changed.
 */
function equalMarks(plane: any, weighed: Weighed, key: number, query: number[], low: number[], high: number[]): PlaneMark[] {
  const asked = JSON.stringify([weighed.keys, weighed.by, weighed.added, key, low, high]);
  if (asked !== plane.asked) {
    Object.assign(plane, { asked, lines: equalLines(weighed, key, LEVELS, low, high) });
  }
  const way = ([x, y]: number[]) => Math.hypot(x - query[0], y - query[1]);
  return plane.lines.flatMap((points: number[][][], level: number) => {
    if (!points.length) return [];
    const at = points.flat().reduce((best, point) => (way(point) < way(best) ? point : best));
    return [{ kind: "line", name: `equal level-${level}`, points, at, along: points.map(([one]) => one),
      text: percent(LEVELS[level], 0) }];
  });
}

/** The values, their polygon, and the output as what they pull it to. */
function paintMix(explorer: ExplorerView, plane: any, head: number): void {
  const { numbers } = explorer;
  const row = rowOf(explorer);
  const [values, weights] = [numbers.value[head], numbers.weights[head][row]];
  const output = numbers.head_outputs[head][row];
  const middle = [0, 1].map((axis) => values.reduce((sum, value) => sum + value[axis], 0) / values.length);
  plane.paint([
    { kind: "area", name: "hull", points: [hull(values)] },
    ...values.map((at, i) => ({ kind: "line", name: "pull", points: [[at, output]], wide: 1 + 14 * weights[i] })),
    ...values.map((at, i) => ({ kind: "point", name: "value-point", at, from: middle, token: i, tip: tipOf(explorer, plane, "value", head, i),
      text: `${tokenAt(explorer, i)} ${coordinates(at)}` })),
    { kind: "point", name: "main", at: output, from: middle, wide: 7,
      text: `${texts.outcome} ${coordinates(output)}` },
  ]);
}

/** A component's axis, or a square grid, through a matrix, as lines. */
function gridOf(matrix: Matrix): number[][][] {
  const far = (i: number, at: number[]) =>
    [-GRID, GRID].map((by) => matrix[i].map((x, axis) => at[axis] + by * x));
  if (matrix.length > 2) return matrix.map((_, i) => far(i, [0, 0]));
  const steps = Array.from({ length: 2 * GRID + 1 }, (_, i) => i - GRID);
  return steps.flatMap((by) => [0, 1].map((i) => far(i, matrix[1 - i].map((x) => by * x))));
}

/** The way to an embedding, component after component. */
const wayTo = (x: number[], matrix: Matrix): number[][] => [...x.keys(), x.length].map((most) =>
  through(x.map((one, i) => (i < most ? one : 0)), matrix)).filter((_, i) => !i || x[i - 1]);

/**
 * The embeddings through a matrix, with what it makes of their axes: those of each component, and
 * for two the grid. Rows of a head's matrix are dragged, or where it is none, embeddings.
 */
function paintMap(explorer: ExplorerView, plane: any, { matrix, stage, head, seen, axes }: { matrix: Matrix, stage: string, head: number, seen: number[][], axes: string[] }): void {
  const isWide = matrix.length > 2;
  const embeddings = ((stage ? sources(explorer) : explorer.numbers.embeddings) as Matrix);
  const { heads } = explorer.data;
  const symbol = heads.length > 1 ? fill(texts.ofHead, { place: texts.planeSymbol[stage], head: heads[head] })
    : texts.planeSymbol[stage];
  const rows: PlaneMark[] = stage ? matrix.map((at, i) => ({ kind: "arrow", name: `row-${i}`, at,
    text: isWide && !Math.hypot(...at) ? "" : `${isWide ? axes[i] : i ? "(0, 1)" : "(1, 0)"} → ${coordinates(at)}`,
    tip: { name: fill(texts.planeRow, { row: i + 1, matrix: symbol }), look: "row",
      move: (point: number[]) => explorer.editAll(point.map((x, column) =>
        ([placeOf(stage, head, i, column), x] as [Place, number]))) } })) : [];
  const edit = (i: number, x: number[], taken: number[]) => {
    // Those numbers alone that differ from what the hand took.
    const moved = x.flatMap((one, j) => (one === taken[j] ? [] : [`${axes[j]} ${short(one, 2)}`]));
    const text = moved.length ? fill(texts.planeOnly, { token: tokenAt(explorer, i), moved: moved.join(", ") }) : "";
    plane.also = { text };
    explorer.editAll(x.map((one, column) =>
      ([placeOf("embeddings", 0, i, column), one] as [Place, number])), text || undefined);
  };
  const axesOf: PlaneMark[] = stage || !isWide ? [] : matrix.flatMap((way, i) => [
    ...[1, 2].map((by) => ({ kind: "point", name: "foot", at: way.map((x) => by * x), wide: 2.5 })),
    { kind: "text", name: "soft name", at: way.map((x) => FAR_OUT * x), text: axes[i],
      along: [1, 0.9, 1.1, 1.2, 0.8].map((part) => FAR_OUT * part).map((by) => way.map((x) => by * x)) }]);
  plane.paint([
    { kind: "sheet", name: isWide ? "sheared wide" : "sheared", points: gridOf(matrix) },
    ...axesOf,
    ...(isWide ? embeddings : []).map((x, i) =>
      ({ kind: "line", name: "steps-to", points: [wayTo(x, matrix)], token: i })),
    ...rows,
    ...embeddings.map((x, i) => {
      const at = through(x, matrix);
      return { kind: "point", at, token: i, name: i === rowOf(explorer) ? "main" : "",
        text: `${tokenAt(explorer, i)} ${coordinates(stage ? at : x)}`,
        tip: stage ? undefined : {
          name: fill(texts.planeVector.embeddings, { token: tokenAt(explorer, i) }),
          take: () => (explorer.numbers.embeddings as Matrix)[i],
          move: (point: number[], taken: number[]) =>
            edit(i, isWide ? embeddingAt(taken, matrix, point) : point, taken),
        } };
    }),
  ], seen);
}

/** The weights of a query, each to be pulled: the query goes the shortest way to one that gives it. */
class Pulls {
  explorer: ExplorerView;
  head: number;
  look: (key: number) => void;
  say: (text: string) => void;
  pulling: number | null;
  start: number[] | null;
  rows: { input: any; token: any; number: any; node: any; }[];
  node: any;

  /**
   * @param look at the lines of a key
   * @param say what a pull has come to
   */
  constructor(explorer: ExplorerView, head: number, look: (key: number) => void, say: (text: string) => void) {
    this.explorer = explorer;
    this.head = head;
    this.look = look;
    this.say = say;
    /** The key whose bar is in a hand. */
    this.pulling = null;
    /** Where the query stood when a hand took the bar. */
    this.start = null;
    this.rows = explorer.data.tokens.map((_, key) => {
      const input = make("input", { type: "range", id: freshId(), min: 0, max: 100, step: 1,
        oninput: () => this.pull(key, Number(input.value) / 100), onchange: () => this.release() });
      const [token, number] = [make("i"), make("span")];
      return { input, token, number,
        node: make("li", {}, make("label", { htmlFor: input.id }, token), input, number) };
    });
    this.node = make("div", { className: "pulls" }, make("p", { className: "soft" }, texts.planePull),
      make("ul", {}, ...this.rows.map(({ node }) => node)));
  }

  release() {
    this.start = null;
    this.pulling = null;
    this.paint();
  }

  pull(key: number, wanted: number) {
    const { explorer, head } = this;
    const row = rowOf(explorer);
    this.pulling = key;
    this.start ??= explorer.numbers.query[head][row];
    const start = (this.start as number[]);
    const weighed = weighing(explorer, head, row);
    const words = { token: tokenAt(explorer, row), key: tokenAt(explorer, key), share: percent(wanted, 0) };
    const { most, ...found } = nearest(weighed, key, Math.min(MOST, Math.max(1 - MOST, wanted)), start);
    const query = found.query ?? nearest(weighed, key, Math.floor(100 * most) / 100, start).query;
    const point = query?.map((x) => Number(x.toFixed(4)));
    const changes = point && changesTo(explorer, "query", head, row, point);
    this.look(key);
    const way = point ? Math.hypot(point[0] - start[0], point[1] - start[1]) : 0;
    const text = !found.query || wanted === 0 || wanted === 1
      ? fill(found.query ? texts.planeNever : texts.planeNone,
        { ...words, most: percent(Math.ceil(1000 * most - 1e-6) / 1000) })
      : changes ? fill(texts.planeWay, { ...words, from: coordinates(start), to: coordinates(point), way: shown(way, 2) }) + byMatrix(explorer, "query")
        : texts.planeFixed;
    this.say(text);
    if (point && changes) {
      const name = fill(texts.planeVector.query, { token: tokenAt(explorer, row) });
      explorer.editAll(changes, saysMoved(explorer, name, "query", point));
    }
    // The handle stands where the weight is, also where a hand has gone further.
    this.rows[key].input.value = String(100 * explorer.numbers.weights[head][row][key]);
    if (!point || !changes) {
      explorer.say(text.replaceAll("*", ""));
      this.paint();
    }
  }

  paint() {
    const { explorer, head } = this;
    const row = rowOf(explorer);
    explorer.numbers.weights[head][row].forEach((weight: number, key: number) => {
      const { input, token, number } = this.rows[key];
      setText(token, tokenAt(explorer, key));
      setText(number, percent(weight));
      set(input, "aria-valuetext", percent(weight));
      set(input, ".backgroundSize", `calc(0.375rem + ${weight.toFixed(4)} * (100% - 0.75rem)) 100%`);
      if (this.pulling !== key) input.value = String(100 * weight);
    });
  }
}

export class PlaneView {
  explorer: ExplorerView;
  through: string;
  head: number;
  focus: number;
  key: number | null;
  axes: any;
  isWide: boolean;
  map: PlaneDrawing | null;
  meetings: PlaneDrawing[];
  mix: PlaneDrawing | null;
  says: any;
  told: any;
  pulls: Pulls[];
  planes: PlaneDrawing[];
  sliders: { node: HTMLElement; paint(tip?: any): void; };
  node: any;
  choices: any;
  halt: (() => void) | undefined;
  between: number[][] | null | undefined;

  constructor(explorer: ExplorerView) {
    this.explorer = explorer;
    const { data, numbers } = explorer;
    const heads = data.heads.length;
    const wide = numbers.embeddings?.[0].length ?? 0;
    const isMapped = (heads <= 2 && wide === 2)
      || (heads === 2 && wide > 2 && wide <= texts.planeAxes[""].length);
    /** The content of the map: the embeddings, or their images under a matrix of one head. */
    this.through = "";
    this.head = 0;
    /** The head that the strip shows: the map goes with it. */
    this.focus = explorer.state.focus;
    /** The key whose lines of equal weight are drawn. */
    this.key = null;
    const plane = (title: string, names: string[]) =>
      new Plane({ title, names, changed: (tip) => this.sliders.paint(tip),
        light: (token) => this.light(token) });
    const axes = data.axes ?? texts.planeAxes.w_v;
    this.axes = data.axes ?? texts.planeAxes[""];
    this.isWide = wide > 2;
    this.map = isMapped ? plane("", this.axes) : null;
    this.meetings = (heads === 2 ? [0, 1] : [0]).map((head) =>
      plane(heads === 2 ? fill(texts.planeHead, { head: data.heads[head] }) : texts.planeKeys, texts.planeAxes.both));
    this.mix = heads === 2 ? null : plane(texts.planeValues, axes);
    this.says = make("p", { className: "plane-says" });
    /** The numbers for which it says so. */
    this.told = null;
    this.pulls = this.meetings.map((_, i) => new Pulls(explorer, i, (key) => { this.key = key; },
      (text) => { this.told = null; sayIn(this.says, text); }));
    this.planes = [...(this.map ? [this.map] : []), ...this.meetings, ...(this.mix ? [this.mix] : [])];
    this.sliders = new Sliders(() => this.planes.filter(({ node }) => !node.hidden));
    const isCloud = this.map && this.isWide;
    this.node = make("div", { className: "planes" },
      ...(isCloud ? this.cloud() : this.sideBySide()), this.sliders.node);
  }

  /** Planes in two columns, and hands for queries below. */
  sideBySide() {
    this.map?.caption.replaceChildren(this.choose());
    return [make("div", { className: "two" }, ...this.planes.map(({ node }) => node)),
      make("div", { className: "hands" }, ...this.pulls.map(({ node }) => node), this.says)];
  }

  /** One cloud, and beside it the planes of both heads, each above its hands. */
  cloud() {
    const how = make("p", { className: "soft how" }, texts.planeCloudHow);
    const hands = [make("div", {}, this.choose(), how), ...this.pulls.map(({ node }) => node)];
    const columns = this.planes.map(({ node }, i) => make("div", {}, node, hands[i]));
    const choices = (this.choices as NonNullable<typeof this.choices>);
    const which = choices.radios("plane", this.explorer.data.heads,
      (focus: number) => this.explorer.show({ focus }, ""),
      ({ focus }: any) => focus);
    columns[0].append(make("div", { className: "through which-head", role: "group",
      "aria-label": texts.planeWhich }, ...which));
    choices.sync(this.explorer.state);
    return [make("div", { className: "cloud" }, ...columns), this.says];
  }

  /** The embeddings as they are, or what a matrix of a head makes of them. */
  choose() {
    const { heads } = this.explorer.data;
    const choices = new Choices(this.explorer);
    const [names, stages] = heads.length === 2 ? [texts.planeOfHead, ["w_q", "w_k"]]
      : [texts.planeThrough, ["w_q", "w_k", "w_v"]];
    const ways = [["", 0], ...heads.flatMap((_, head) => stages.map((stage) => [stage, head]))];
    const labels = ways.map(([stage, head]) => fill((names as Record<string, string>)[stage], { head: heads[Number(head)] }));
    const nodes = choices.radios("through", labels, (i) => {
      const from = this.between ?? this.matrix();
      [this.through, this.head] = (ways[i] as [string, number]);
      this.glide(from);
    }, () => ways.findIndex(([stage, head]) => stage === this.through && head === this.head));
    this.choices = choices;
    choices.sync(this.explorer.state);
    return make("div", { className: "through", role: "group", "aria-label": texts.planeChoose }, ...nodes);
  }

  /** The matrix through which the map shows embeddings. */
  matrix(stage = this.through, head = this.head): Matrix {
    const numbers = (this.explorer.numbers as Numbers);
    return stage ? numbers[stage][head] : directions(numbers.embeddings[0].length);
  }

  /** Let embeddings and grid move to what is chosen now; a hand finds them there. */
  glide(from: Matrix) {
    const to = this.matrix();
    this.halt?.();
    this.halt = glide(GLIDE_MS, (part) => {
      this.between = part < 1
        ? from.map((line, i) => line.map((x, j) => x + part * (to[i][j] - x))) : null;
      this.paint();
    });
  }

  /** Light a token in all planes. */
  light(token: number | null) {
    this.planes.forEach((plane) => {
      plane.lit = token;
      plane.draw();
    });
  }

  paint() {
    const { explorer, map, mix, meetings } = this;
    const { focus } = explorer.state;
    const heads = explorer.data.heads.length;
    const shownHeads = heads === 2 ? [0, 1] : [focus];
    set(this.node, "class", `planes head-${focus % 6}`);
    if (focus !== this.focus) {
      const from = this.between ?? this.matrix();
      this.head = this.focus = focus;
      this.choices?.sync(explorer.state);
      if (this.through) this.glide(from);
    }
    if (map) this.paintMap(map);
    if (map && mix) {
      const isMixed = this.through === "w_v";
      if (mix.node.hidden === isMixed) [meetings[0].node.hidden, mix.node.hidden] = [isMixed, !isMixed];
    }
    meetings.forEach((plane, i) => {
      set(plane.node, "class", `plane head-${shownHeads[i] % 6}`);
      if (!plane.node.hidden) paintMeeting(explorer, plane, shownHeads[i], this.key);
      // What has moved along is said until the next change.
      if (plane.also) plane.also.of ??= explorer.numbers;
      setText(plane.caption, (plane.also?.of === explorer.numbers && plane.also.text) || plane.title);
    });
    if (mix && !mix.node.hidden) paintMix(explorer, mix, focus);
    this.pulls.forEach((pulls, i) => {
      pulls.head = shownHeads[i];
      set(pulls.node, "class", `pulls head-${shownHeads[i] % 6}`);
      pulls.paint();
    });
    this.sliders.paint();
    // What a pull has come to holds until the next change.
    if (this.told && this.told !== explorer.numbers) sayIn(this.says, "");
    this.told ??= explorer.numbers;
  }

  paintMap(map: any) {
    const { explorer, isWide, head } = this;
    const names = this.through ? texts.planeAxes[this.through] : this.axes;
    const stages = isWide ? [this.through] : ["", "w_q", "w_k", "w_v"];
    const seen = stages.flatMap((stage) => this.throughAll(stage));
    map.names = names.slice(0, 2);
    map.isBare = isWide && !this.through;
    const title = this.through ? texts.planeThis[this.through] : texts.planeCloud;
    if (isWide) {
      if (map.also) map.also.of ??= explorer.numbers;
      setText(map.caption, (map.also?.of === explorer.numbers && map.also.text)
        || fill(title, { head: explorer.data.heads[head] }));
    }
    set(map.node, "class", `plane head-${(this.through ? head : explorer.state.focus) % 6}`);
    const matrix = this.between ?? this.matrix();
    paintMap(explorer, map, { matrix, stage: this.through, head, seen, axes: this.axes });
  }

  /**
   * Where the embeddings and the rows of a matrix stand: a map of two components has room for all
   * of them at once, a cloud for those that it shows.
   */
  throughAll(stage: string) {
    const matrix = this.matrix(stage);
    const ends = this.isWide && !stage ? matrix.map((way) => way.map((x) => FAR_OUT * x)) : matrix;
    return [...ends, ...(sources(this.explorer) as Matrix).map((x) => through(x, matrix))];
  }
}
