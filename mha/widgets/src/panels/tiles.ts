/**
 * Attention block by block: a tile moves over the scores, and for each query the largest score so far,
 * the sum of exponentials and the mixture are stored. At the end they give the same output as one softmax
 * over all scores. Each score can be changed, and so can the size of a block.
 */

import { matmul, softmax } from "../engine/attention.ts";
import { parsed, short, shown } from "../engine/numbers.ts";
import { reached } from "../engine/signs.ts";
import { type Frame, framesOf } from "../engine/tiles.ts";
import { MOST, entered } from "../engine/typed-numbers.ts";
import { movable } from "../figures/dragged-field.ts";
import { fill } from "../engine/text.ts";
import { make, makeComplaint, set, setText } from "../figures/explorer-parts.ts";
import { TimeBar, eased, fly } from "../figures/time-bar.ts";
import { inBrackets } from "../store/explorer-origins.ts";
import { FigureState, wholes } from "../store/figure-state.ts";
import { tiles as texts } from "../strings/steps.ts";
import type { Complaint } from "../types/fields.ts";
import type { Instrument } from "../types/panels.ts";
import type { Matrix } from "../types/run.ts";

const PACE = 2400;

/** Decimals in the tables. */
const PLACES = 2;

/** Outputs that differ by more than that are not the same. */
const ROUNDING = 1e-9;

/** From this size on a number is written with an exponent. */
const LARGE = 1e4;

/** A number of a table, in the room that it has. */
function written(x: number) {
  if (x === -Infinity) return "−∞";
  if (!Number.isFinite(x)) return Number.isNaN(x) ? "?" : "∞";
  return Math.abs(x) < LARGE ? shown(x, PLACES) : x.toExponential(1).replace("e+", "e");
}

/** How many characters of a score there is room for, and the decimals of one that is typed. */
const ROOM = 6;
const ALL_PLACES = 10;

/** A score that a reader typed, as it was typed where there is room. */
function writtenAsTyped(score: number) {
  const text = short(score, ALL_PLACES);
  return text.length > ROOM ? written(score) : text;
}

/** The data of tiles, as mha/widgets/tiles.py writes it; a masked score is null. */
interface TilesData {
  name: string;
  tokens: string[];
  scores: (number | null)[][];
  value: Matrix;
  size: number;
}

/** `plain` subtracts no largest score; an edit has the position of a score and the score. */
type TilesState = { step: number, size: number, plain: boolean, edits: [number, number][] };

/** A cell of the table, and the element of its number. */
interface Cell {
  node: HTMLElement;
  text: HTMLElement;
}

function cellWith(below: Node | string = ""): Cell {
  const text = make("span");
  return { text, node: make("td", {}, text, below) };
}

const head = (text: string, scope = "col") => make("th", { scope }, text);

const row = (...cells: Node[]) => make("tr", {}, ...cells);

class Tiles {
  width: number;
  state: FigureState<TilesState>;
  bar: TimeBar;
  fields: HTMLInputElement[][];
  tile = make("div", { className: "tile" });
  values: HTMLTableRowElement[];
  /** For each query the outputs at once, and the cells of its running state. */
  once: HTMLElement[][];
  kept: Cell[][];
  shift = head(texts.largest);
  held = make("p", { className: "tiles-held" });
  layer = make("div", { className: "steps-flight", "aria-hidden": "true" });
  size: HTMLInputElement;
  sizeText = make("output");
  plain = make("input", { type: "checkbox", onchange: () => this.state.change({ plain: this.plain.checked }) });
  error: Complaint;
  node: HTMLElement;

  frames: Frame[] = [];

  constructor(public data: TilesData) {
    const { name, scores, size, tokens, value } = data;
    this.width = value[0].length;
    const count = tokens.length;
    this.state = new FigureState<TilesState>("tiles", name, { step: 0, size, plain: false, edits: [] }, {
      step: (text) => wholes(text, 1000)?.[0],
      size: (text) => wholes(text, count + 1)?.find((found) => found > 0),
      plain: (text) => text === "1" || undefined,
      edits: (text) => this.editsFrom(text, scores.length * count),
    }, () => this.paint());
    this.bar = new TimeBar({ count: 1, pace: PACE, label: (i) => this.label(i),
      show: (i, fraction) => this.show(i, fraction) });
    const { width } = this;
    this.fields = tokens.map((query, i) => tokens.map((key, j) => this.field(query, key, i, j)));
    this.values = Array.from({ length: width }, (_, i) => row(head(fill(texts.value, { n: i + 1 }), "row"),
      ...value.map((one) => make("td", {}, shown(one[i], PLACES)))));
    this.once = tokens.map(() => Array.from({ length: width }, () => make("small")));
    this.kept = this.once.map((once) => [cellWith(), cellWith(), cellWith(), ...once.map(cellWith),
      cellWith(make("small", {}, texts.atOnce))]);
    this.size = make("input", { type: "range", min: 1, max: count, step: 1,
      oninput: () => this.state.change({ size: Number(this.size.value), step: 0 }, "size") });
    this.node = this.build();
    this.error = makeComplaint(this.node);
    new ResizeObserver(() => this.bar.refresh()).observe(this.node);
    this.paint();
  }

  /** The places of scores, and their numbers now. */
  editsFrom(text: string, count: number) {
    const numbers = text.split("_").map(parsed);
    const pairs = numbers.flatMap((place, i): [number, number][] => (i % 2 ? [] : [[place, numbers[i + 1]]]));
    const isGood = pairs.length <= count && pairs.every(([place, score]) =>
      Number.isInteger(place) && place >= 0 && place < count && Math.abs(score) <= MOST);
    return isGood ? pairs : undefined;
  }

  // ---- Elements ----

  build() {
    const { width, data: { tokens } } = this;
    const scores = make("table", { "aria-label": texts.scores }, make("thead", {}, row(make("td"),
      ...tokens.map((token) => head(token)))),
    make("tbody", {}, ...this.fields.map((fields, i) =>
      row(head(tokens[i], "row"), ...fields.map((field) => make("td", {}, field))))),
    make("tbody", { className: "values" }, ...this.values));
    const ofEach = (text: string) => Array.from({ length: width }, (_, n) =>
      head(fill(text, { n: "₁₂₃₄₅₆₇₈₉"[n] })));
    const kept = make("table", { "aria-label": texts.kept }, make("thead", {}, row(make("td"),
      this.shift, head(texts.factor), head(texts.total), ...ofEach(texts.mixture), make("td"))),
    make("tbody", {}, ...this.kept.map((those, i) =>
      row(head(tokens[i], "row"), ...those.map(({ node }) => node)))));
    return make("div", { className: "tiles head-0" }, make("p", { className: "strip-title" }, texts.title), this.controls(),
      make("div", { className: "tiles-tables" }, make("div", { className: "tiles-scores" }, scores, this.tile), kept),
      this.layer, this.bar.node, this.held, this.state.actions);
  }

  controls() {
    return make("div", { className: "steps-actions" },
      make("label", {}, texts.size, " ", this.size), this.sizeText,
      make("label", { className: "choice" }, this.plain, " ", texts.plain));
  }

  /** A score that can be changed. */
  field(query: string, key: string, i: number, j: number) {
    const field = make("input", { type: "text", inputMode: "decimal", autocomplete: "off",
      spellcheck: false, "aria-label": fill(texts.score, { query, key }),
      oninput: () => this.edit(i, j, field), onfocus: () => this.beginTyping(i, j, field) });
    movable(field, () => this.scores()[i][j]);
    ["blur", "change"].forEach((name) => field.addEventListener(name, () => {
      field.value = this.textOf(i, j); // refused text gives way to the number that stays
    }));
    return field;
  }

  /** The text of a field that nobody types in. */
  textOf(i: number, j: number) {
    const score = this.scores()[i][j];
    return score === this.data.scores[i][j] ? written(score) : writtenAsTyped(score);
  }

  /** Show all digits of a score, to be typed over. */
  beginTyping(i: number, j: number, field: HTMLInputElement) {
    this.error.clear();
    if (field.readOnly) return;
    field.value = short(this.scores()[i][j], ALL_PLACES);
    field.select();
  }

  // ---- Changes ----

  edit(i: number, j: number, field: HTMLInputElement) {
    const { value: score, wrong } = entered(field.value);
    this.error.say(field, wrong);
    if (wrong) {
      const { value } = field;
      this.state.takeBack();
      field.value = value;
      return;
    }
    const place = i * this.data.tokens.length + j;
    const others = this.state.now.edits.filter(([one]) => one !== place);
    const edits: [number, number][] = score === this.data.scores[i][j] ? others : [...others, [place, score]];
    this.state.change({ edits }, `score ${place}`);
  }

  // ---- Numbers ----

  /** The scores as they are now. */
  scores(): Matrix {
    const { scores, tokens } = this.data;
    const edited = new Map(this.state.now.edits);
    return scores.map((row, i) =>
      row.map((score, j) => edited.get(i * tokens.length + j) ?? score ?? -Infinity));
  }

  /** The outputs of the softmax at once. */
  atOnce() {
    return matmul(softmax(this.scores()), this.data.value);
  }

  /** By how much any output differs from those. */
  difference() {
    const { outputs } = this.frames[this.frames.length - 1];
    return Math.max(...this.atOnce().flatMap((row, i) => row.map((x, j) => Math.abs(x - (outputs[i]?.[j] ?? NaN)))));
  }

  /** The query that is spoken of: one whose largest score grows, if there is one. */
  spokenOf({ rows: [from, to], kept, now }: Frame) {
    const some = Array.from({ length: to - from }, (_, i) => from + i);
    return some.find((i) => kept[i].largest !== -Infinity && now[i].largest > kept[i].largest) ?? from;
  }

  label(step: number) {
    const frame = this.frames[step];
    const { tokens } = this.data;
    if (frame.phase === "start") return texts.start;
    const { rows, keys, kept, now, outputs, phase } = frame;
    const i = this.spokenOf(frame);
    const names = (range: number[]) => tokens.slice(...range).join(", ");
    const words = { query: tokens[i], queries: names(rows), keys: names(keys) };
    if (!Number.isFinite(now[i].total) && phase !== "look") return this.lost(rows);
    const { factor, exponentials, largest, mixture, total } = now[i];
    const number = (x: number, p: number) => inBrackets(short(x, p));
    if (phase === "look") {
      if (this.state.now.plain) return fill(texts.plainLook, words);
      const old = kept[i].largest;
      if (old === -Infinity) return fill(texts.first, { ...words, new: short(largest) });
      return fill(texts.look, { ...words, old: short(old), new: short(largest),
        line: reached((p) => [`e ^ (${short(old, p)} − ${number(largest, p)})`], short(factor)) });
    }
    if (phase === "add") {
      const sum = (before: number, p: number,
        term: (x: number, j: number) => string) =>
        [`${number(factor, p)} × ${number(before, p)}`, ...exponentials.map(term)].join(" + ");
      const value = this.data.value.slice(...keys);
      return fill(texts.add, { ...words,
        total: reached((p) => [sum(kept[i].total, p, (x) => number(x, p))], short(total)),
        mixture: reached((p) => [sum(kept[i].mixture[0], p, (x, j) =>
          `${number(x, p)} × ${number(value[j][0], p)}`)], short(mixture[0])) });
    }
    const said = fill(total ? texts.divide : texts.tooSmall, { ...words,
      line: reached((p) => [`${short(mixture[0], p)} ÷ ${short(total, p)}`], short(outputs[i]?.[0] ?? NaN)) });
    if (step < this.frames.length - 1) return said;
    const difference = this.difference();
    if (Number.isNaN(difference)) return this.lost([0, tokens.length]);
    const most = difference < 1e-12 ? "10⁻¹²" : difference.toExponential(0);
    return `${said} ${fill(difference < ROUNDING ? texts.same : texts.other, { most })}`;
  }

  lost(rows: number[]) {
    const score = Math.max(...this.scores().slice(...rows).flat());
    return fill(texts.lost, { score: short(score) });
  }

  // ---- What is seen ----

  paint() {
    const { state: { now } } = this;
    const { size, plain } = now;
    this.frames = framesOf(this.scores(), this.data.value, size, plain);
    this.size.value = String(now.size);
    setText(this.sizeText, String(now.size));
    this.plain.checked = now.plain;
    setText(this.shift, now.plain ? texts.subtracted : texts.largest);
    this.scores().forEach((row, i) => row.forEach((score, j) => {
      const field = this.fields[i][j];
      const isTyped = field === document.activeElement && entered(field.value).value === score;
      if (!isTyped) field.value = this.textOf(i, j);
      field.readOnly = score === -Infinity;
    }));
    this.atOnce().forEach((row, i) => row.forEach((x, n) => setText(this.once[i][n], written(x))));
    this.bar.recount(this.frames.length);
    const step = Math.min(now.step, this.frames.length - 1);
    if (step === this.bar.at) this.bar.refresh();
    else this.bar.go(step);
  }

  show(step: number, fraction: number) {
    if (this.state.now.step !== step) this.state.move({ step });
    const frame = this.frames[step];
    const { kept, now, outputs, phase, rows, keys } = frame;
    // A number changes when the animated number, or the tile, has arrived at it.
    const isThere = fraction > 0.8;
    this.paintScores(frame);
    this.kept.forEach((cells, i) => {
      const isOfBlock = i >= rows[0] && i < rows[1];
      const hasLooked = phase === "add" || phase === "divide" || (phase === "look" && isThere);
      const hasAdded = phase === "divide" || (phase === "add" && isThere);
      const { largest, factor } = hasLooked ? now[i] : kept[i];
      const { mixture, total } = hasAdded ? now[i] : kept[i];
      const output = phase !== "divide" || isThere || !isOfBlock ? outputs[i] : null;
      const isNew = phase === "look" ? hasLooked : phase === "add" ? hasAdded : output !== null;
      [largest, factor, total, ...(output ?? mixture)].forEach((x, n) => {
        setText(cells[n].text, written(x));
        const isOfStep = phase === "look" ? n < 2 : n > (phase === "add" ? 1 : 2);
        set(cells[n].node, "class", `${isOfBlock ? isOfStep && isNew ? "made" : "ours" : ""}`
          + `${output && n > 2 ? " output" : ""}`);
      });
      setText(cells[cells.length - 1].text, output ? texts.output : "");
    });
    this.moveTile(step, eased(fraction));
    this.fly(frame, fraction);
    const all = this.data.tokens.length ** 2;
    const tile = (rows[1] - rows[0]) * (keys[1] - keys[0]);
    setText(this.held, fill(tile ? texts.held : texts.heldNone,
      { tile, all, rows: rows[1] - rows[0], width: this.width }));
  }

  /** Scores of the tile, of those read before, and of those to come. */
  paintScores({ phase, rows, keys }: Frame) {
    this.fields.forEach((fields, i) =>
      fields.forEach((field, j) => {
        const isIn = i >= rows[0] && i < rows[1] && j >= keys[0] && j < keys[1];
        const isPast = i < rows[0] || (i < rows[1] && (phase === "divide" || j < keys[0]));
        set(field, "class", isIn ? "in-tile" : isPast ? "past" : "");
      }));
    this.values.forEach(({ cells }) => [...cells].slice(1).forEach((cell, j) =>
      set(cell, "class", j >= keys[0] && j < keys[1] ? "in-tile" : "")));
  }

  /** The position of the tile of a step. */
  placeOf(step: number): number[] | null {
    const { rows, keys } = this.frames[step];
    const first = this.fields[rows[0]]?.[keys[0]]?.parentElement;
    const last = this.fields[rows[1] - 1]?.[keys[1] - 1]?.parentElement;
    if (!first || !last) return null;
    const { offsetLeft: left, offsetTop: top } = first;
    return [left, top, last.offsetLeft + last.offsetWidth - left, last.offsetTop + last.offsetHeight - top];
  }

  moveTile(step: number, x: number) {
    const { tile } = this;
    const to = this.placeOf(step);
    const from = (step && this.frames[step].phase === "look" && this.placeOf(step - 1)) || to;
    set(tile, ".visibility", to ? "visible" : "hidden");
    if (!to || !from) return;
    const [left, top, width, height] = to.map((end, i) => from[i] + (end - from[i]) * x);
    set(tile, ".transform", `translate(${left}px, ${top}px)`);
    set(tile, ".width", `${width}px`);
    set(tile, ".height", `${height}px`);
  }

  /** The exponentials of the tile fly into the sums. */
  fly({ phase, rows, keys, now }: Frame, fraction: number) {
    const { fields, kept, layer } = this;
    if (phase !== "add" || fraction === 1) {
      fly(layer, []);
      return;
    }
    const { left, top } = layer.getBoundingClientRect();
    const ways = [];
    const x = eased(Math.min(1, fraction / 0.8));
    for (let i = rows[0]; i < rows[1]; i += 1) {
      const end = kept[i][2].node.getBoundingClientRect();
      for (let j = keys[0]; j < keys[1]; j += 1) {
        const start = fields[i][j].getBoundingClientRect();
        ways.push({ text: written(now[i].exponentials[j - keys[0]]), opacity: 1 - x ** 6,
          left: start.left + (end.left - start.left) * x - left,
          top: start.top + (end.top - start.top) * x - top });
      }
    }
    fly(layer, ways);
  }

  readAddress() {
    this.state.readAddress();
  }
}

/** Open the figure on a page. */
export const open: Instrument = (data) => new Tiles(data);
