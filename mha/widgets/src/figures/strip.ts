/**
 * The strip: one query on one screen, from its numbers through keys, scores, exponentials, weights
 * and values to the output. An input is a field that can be scrubbed, every other number a button; the
 * numbers from which it is computed, and those that depend on it, light up.
 */

import { factor } from "../engine/attention.ts";
import { TINY, columnWith, dot } from "../engine/least-change.ts";
import { short, shown } from "../engine/numbers.ts";
import { isGiven } from "../engine/origins.ts";
import { address, of as placeOf, valueAt } from "../engine/places.ts";
import { sign } from "../engine/signs.ts";
import { stages } from "../engine/stages.ts";
import { MOST, entered } from "../engine/typed-numbers.ts";
import { chainOf, inBrackets, worked } from "../store/explorer-origins.ts";
import { compute, inputAddress, same } from "../store/explorer-state.ts";
import { explorer as texts } from "../strings/explorer.ts";
import { fill } from "../engine/text.ts";
import { inItalics, make, scientific, set, setBar, setText } from "./explorer-parts.ts";
import { Heads, Ribbons } from "./strip-drawing.ts";
import { Hands } from "./strip-hands.ts";
import type { ExplorerData, ExplorerNumbers, ExplorerState, ExplorerView, StripNumber, StripView, VectorLayout } from "../types/explorer.ts";
import type { Complaint } from "../types/fields.ts";
import type { Drawn } from "../types/plane.ts";
import type { Matrix, Place } from "../types/run.ts";

/**
 * For so many digits there is room in the columns of numbers, on one line at a desk; what a
 * vector takes beyond its numbers, what it takes more where positions are added, and a number beyond
 * its digits; the least digits that a number has room for that is computed, and one of a vector: more
 * where the line has room.
 */
const ROOM = { line: 95, vector: 2.8, placed: 4, number: 0.85, computed: 6.2, component: [4.5, 3.5, 3] };

/**
 * So many digits more a number may have than room; where it is set smaller it also uses what is
 * empty at its left, and everything holds so much more.
 */
const SLACK = { own: 0.4, small: 0.3, smaller: 1.25 };

/** Vectors are folded in two where the line has no room for all, in this order. */
const VECTORS = ["query", "value", "key"];

/** Decimals of a vector's numbers that are computed; a line below has all that are asked for. */
const PLACES = 2;

/** The longest bar of a row takes this share of its room at least. */
const LEAST_BAR = 1 / 3;

/** How wide a text is, in digits: a point is half as wide. */
const widthOf = (text: string): number => text.length - (text.includes(".") ? 0.5 : 0);

/** The templates of numbers, which are copied because that is faster: an input and a computed one. */
const FIELD = make("input", { type: "text", inputMode: "decimal", autocomplete: "off", spellcheck: false,
  className: "number given", tabIndex: -1 });
const BUTTON = make("button", { type: "button", className: "number", tabIndex: -1 }, "");

/** Whether there is a mouse, or the like, to point with. */
const HAS_POINTER = !matchMedia("(hover: none)").matches;

/** A number that is typed has to come out of its matrix as exactly as this. */
const EXACT = 1e-8;

/** The input that a number is moved by: where a position is added, the embedding. */
const moverOf = (at: Place): Place => (at.stage === "placed" ? { ...at, stage: "embeddings" } : at);

export class Strip {
  explorer: ExplorerView;
  numbers: StripNumber[];
  ofNode: Map<EventTarget | null, StripNumber>;
  words: ((view: StripView) => void)[];
  scales: ((by: string) => void)[];
  bars: HTMLElement[];
  terms: Record<string, StripNumber[]>;
  signs: { node: HTMLElement, total: StripNumber, terms: (view: StripView) => StripNumber[] }[];
  chains: ((at: Place) => Set<string>) | null;
  looks: string;
  by: string;
  power: any;
  name: string;
  shines: string | null;
  moved: boolean;
  digits: Record<string, number>;
  hands: { pointed: StripNumber | null; focused: StripNumber | null; complaint: Complaint | null; typing: EventTarget | null; listen(): void; };
  vectors: Record<string, VectorLayout[]>;
  named: any;
  how: any;
  ribbons: { fan: Drawn; flow: Drawn; light(lit: Set<string> | null): void; paint(view: StripView): void; };
  one: any;
  heads: { nodes: Element[]; tabs: HTMLElement[]; paint(view: StripView): void; };
  status: any;
  node: any;

  constructor(explorer: ExplorerView) {
    this.explorer = explorer;
    this.numbers = [];
    this.ofNode = new Map();
    /** The texts that only name the token or the head. */
    this.words = [];
    /** The text with the scale of the scores. */
    this.scales = [];
    this.bars = [];
    /** The terms of each sum of the strip, by stage. */
    this.terms = { exponentials: [], part: [] };
    /** The signs before sums. */
    this.signs = [];
    this.chains = null;
    /** The state for which the words and the lit numbers were last written. */
    this.looks = "";
    this.by = "";
    /** The text that says whether the largest score is subtracted before the exponential. */
    this.power = null;
    this.name = "";
    this.shines = null;
    this.moved = true;
    /** The digits that the numbers of a stage have room for. */
    this.digits = {};
    this.hands = new Hands(this);
    this.vectors = this.layOut();
    /** The name of the selected number, and its origin. */
    this.named = make("span");
    this.how = make("span");
    this.ribbons = new Ribbons(explorer);
    this.one = this.build();
    this.heads = new Heads(explorer, this);
    this.status = make("p", { className: "status", role: "status" });
    this.node = make("div", { className: "strip" }, this.title(), this.one,
      make("div", { className: "says" }, make("p", { className: "how" }, this.named, this.how), this.status), ...this.heads.nodes);
    this.hands.listen();
  }

  // -- Elements --

  title() {
    const [query, sentence] = [make("i"), make("i")];
    this.words.push(({ token }) => {
      const { data, state } = this.explorer;
      setText(query, token);
      setText(sentence, state.order.map((i) => data.tokens[i]).join(" "));
    });
    const [before, between, after] = texts.title.split(/\{\w+\}/);
    const how = make("span", { className: "strip-how" }, texts.titleHow);
    return make("p", { className: "strip-title" }, before, query, between, sentence, after, how);
  }

  build() {
    const { tokens } = this.explorer.data;
    const query = make("div", { className: "query" }, this.token(({ row }) => row),
      ...this.vector("query", ({ row }) => row));
    const rows = tokens.map((_, key) => this.row(key));
    const table = make("div", { className: "rows", role: "table", "aria-label": texts.strip },
      this.header(), ...rows, this.footer());
    const of = make("div", { className: "of head" });
    this.words.push(({ token }) => of.replaceChildren(...inItalics(fill(texts.columns.query, { token }))));
    return make("div", { className: "one" }, of, query, this.ribbons.fan, table,
      this.ribbons.flow);
  }

  /** A token, whichever stands there. */
  token(position: (view: StripView) => number) {
    const node = make("i", { className: "token" });
    this.words.push((view) =>
      setText(node, this.explorer.data.tokens[this.explorer.state.order[position(view)]]));
    return node;
  }

  header() {
    const { columns } = texts;
    const scaled = make("span", { className: "head", role: "columnheader" });
    this.scales.push((by) => setText(scaled, by));
    const head = (stage: string) =>
      make("span", { className: `head at-${stage}`, role: "columnheader" }, columns[stage]);
    this.power = head("exponentials");
    const output = head("head_outputs"); // ribbons and parts are of one of its components
    if (this.explorer.data.width > 1) {
      this.words.push(({ component }) => setText(output, fill(texts.ofComponent, { i: component + 1 })));
    }
    return make("div", { className: "heading", role: "row" }, head("key"), head("scores"),
      scaled, this.power, head("weights"), head("value"), output);
  }

  /** The factor of the scores, as the head of their column. */
  scaleText() {
    const { data: { keyWidth }, state: { scale, temperature } } = this.explorer;
    const by = scale === null ? fill(texts.byRoot, { width: keyWidth })
      : factor(keyWidth, scale) === 1 ? texts.byOne
        : fill(texts.byScale, { scale: short(factor(keyWidth, scale)) });
    return temperature === 1 ? by
      : fill(texts.byTemperature, { by, temperature: short(temperature) });
  }

  /** One key: from its numbers to its part in the output. */
  row(key: number) {
    const cell = (stage: string, ...inside: any[]) => {
      const label = texts.columns[stage] ?? "";
      const node = make("span", { className: `at at-${stage}`, role: "cell", "data-label": label },
        ...inside);
      if (stage === "exponentials") node.dataset.first = texts.lessMax;
      // Where no head row says it: what a mask hides is no score that was divided.
      if (stage === "scaled_scores") {
        const say = () => {
          const { head, row: query } = this.view();
          const isHidden = this.explorer.numbers.mask[head][query][key] === -Infinity;
          node.dataset.label = isHidden ? texts.hidden : this.scaleText();
        };
        this.words.push(say);
        this.scales.push(say);
      }
      return node;
    };
    const one = (stage: string) => {
      const node = this.number((v) => placeOf(stage, v.head, v.row, key));
      this.terms[stage]?.push(this.last);
      return cell(stage, node);
    };
    const bar = make("span", { className: "bar" }, make("span", {}));
    this.bars.push(bar.firstChild);
    const part = this.number((v) =>
      ({ ...placeOf("head_outputs", v.head, v.row, v.component), term: key }));
    this.terms.part.push(this.last);
    const token = () => this.token(() => key);
    return make("div", { className: "key", role: "row" },
      cell("key", token(), ...this.vector("key", () => key)),
      one("scores"), one("scaled_scores"), one("exponentials"),
      cell("weights", bar,
        make("span", {}, this.number((v) => placeOf("weights", v.head, v.row, key)))),
      cell("value", token(), ...this.vector("value", () => key)),
      cell("part", part));
  }

  /** The sums below the columns, and the output. */
  footer() {
    const { width } = this.explorer.data;
    const sum = this.number((v) => placeOf("row_sums", v.head, v.row, 0));
    const sumSign = this.sign(() => this.terms.exponentials);
    const cell = (name: string, ...inside: any[]) =>
      make("span", { className: `at at-${name}`, role: "cell" }, ...inside);
    const outputs = Array.from({ length: width }, (_, i) => {
      const number = this.number((v) => placeOf("head_outputs", v.head, v.row, i));
      number.classList.add("result");
      this.words.push(({ component }) => number.classList.toggle("chosen", i === component));
      const sign = this.sign(({ component }) => (i === component ? this.terms.part : []));
      return make("span", { className: "total" }, sign, number);
    });
    return make("div", { className: "sums", role: "row" }, cell("key"), cell("scores"),
      cell("scaled_scores", make("span", { className: "soft" }, texts.sum), sumSign),
      cell("exponentials", sum), cell("weights"), cell("value"),
      cell("head_outputs", this.token(({ row }) => row), ...outputs));
  }

  /**
   * The sign before the last number: whether some others give it as they are printed.
   * @param terms none where this sum is not looked at
   */
  sign(terms: (view: StripView) => StripNumber[]): HTMLElement {
    const node = make("span", { className: "sign" });
    this.signs.push({ node, total: this.last, terms });
    return node;
  }

  /** The number that was made last. */
  get last() {
    return this.numbers[this.numbers.length - 1];
  }

  /**
   * How each vector's numbers stand, by stage: those that it is computed from too, where they
   * are given.
   */
  layOut(): Record<string, VectorLayout[]> {
    const { numbers }: any = this.explorer;
    const { inputs } = this.explorer.data;
    const room = ["scores", "scaled_scores", "exponentials", "value"].reduce((left, stage) =>
      left - this.digitsOf(stage, ROOM.computed) - ROOM.number, ROOM.line);
    const laid = (least: number): VectorLayout[][] => VECTORS.map((stage) => {
      const meets = `turned_${stage}` in numbers ? `turned_${stage}` : stage;
      const start = isGiven(inputs, stage) ? stage : numbers.placed ? "placed" : "embeddings";
      const those = meets === start || stage === "value" ? [meets] : [start, meets];
      return those.map((name) => {
        const { length: count } = numbers[name].flat(stages[name].axes.length - 2)[0];
        return { stage: name, count, columns: count, digits: this.digitsOf(name, least) };
      });
    });
    const size = ({ stage, columns, digits: most }: VectorLayout) =>
      ROOM.vector + (stage === "placed" ? ROOM.placed : 0) + columns * (most + ROOM.number);
    const isTooWide = (those: VectorLayout[][]): boolean => those.reduce((sum, one) => sum + Math.max(...one.map(size)), 0) > room;
    const vectors = ROOM.component.map(laid).find((those, i, all) =>
      i === all.length - 1 || !isTooWide(those)) ?? [];
    for (const those of vectors) {
      for (const one of [...those].sort((a, b) => size(b) - size(a))) {
        if (isTooWide(vectors)) one.columns = Math.ceil(one.count / 2);
      }
    }
    return Object.fromEntries(VECTORS.map((stage, i) => [stage, vectors[i]]));
  }

  /**
   * For how many digits a stage's numbers have room, whatever becomes of them: what the example
   * itself comes to is written out.
   */
  digitsOf(stage: string, least: number) {
    const { numbers }: any = this.explorer;
    if (!(stage in this.digits)) {
      const write = this.writer(stage);
      this.digits[stage] = Math.max(...[numbers[stage]].flat(3)
        .map((x: number) => widthOf(write(x, 0))));
    }
    return Math.max(least, this.digits[stage]);
  }

  /**
   * A token's vector.
   * @param name of its stage
   */
  vector(name: string, position: (view: StripView) => number): HTMLElement[] {
    return this.vectors[name].map(({ stage, count, columns, digits }) => {
      const numbers = Array.from({ length: count }, (_, i) => {
        const node = this.number((v) => placeOf(stage, v.head, position(v), i));
        this.last.digits = digits;
        if (stage === "value") {
          this.words.push(({ component }) => node.classList.toggle("chosen", i === component));
        }
        return node;
      });
      const letter = make("span", { className: "soft letter", "aria-hidden": "true" },
        stage === "placed" ? texts.placed : stages[stage].symbol);
      return make("span", { className: `vector of-${stage}`,
        style: `--columns: ${columns}; --count: ${count}; --digits: ${digits}` },
      letter, make("span", { className: "numbers" }, ...numbers));
    });
  }

  /** A number of the strip: a field where it is an input, else a button. */
  number(place: (view: StripView) => Place): HTMLElement {
    const at = place(this.view());
    const given = at.term === null && this.canMove(at.stage);
    const digits = this.digitsOf(at.term === null ? at.stage : "value", ROOM.computed);
    const node: any = (given ? FIELD : BUTTON).cloneNode(true);
    if (digits > ROOM.computed) node.style.setProperty("--digits", String(digits));
    const number: StripNumber = { node, place, at, given, digits, where: "", value: NaN, text: "", name: "" };
    this.numbers.push(number);
    this.ofNode.set(node, number);
    return node;
  }

  // -- What they show --

  /** Which row, head and component are looked at. */
  view(): StripView {
    const { data, state } = this.explorer;
    const row = state.order.indexOf(state.query);
    return {
      row, head: state.focus, component: state.component, outcome: state.outcome,
      token: data.tokens[state.query],
    };
  }

  /** The number at a place; that of a term is its product. */
  valueOf(at: Place): number {
    const { numbers } = this.explorer;
    if (at.term === null) return valueAt(numbers, at);
    const { head, row, column, term } = at;
    return numbers.weights[head][row][term] * numbers.value[head][term][column];
  }

  paint() {
    const view = this.view();
    const { numbers, state } = this.explorer;
    // The words, and what a number is called, depend on what is looked at and on no number.
    const { order, scale, temperature, causal, padding } = state;
    const looks = JSON.stringify([view, order, causal, padding]);
    this.moved = looks !== this.looks;
    if (this.moved) {
      this.looks = looks;
      this.chains = null;
      this.words.forEach((write) => write(view));
      this.hands.complaint?.clear(); // it was about a number that is seen no longer
    }
    const by = this.scaleText();
    if (by !== this.by) this.scales.forEach((write) => write(by));
    this.by = by;
    const isShifted = numbers.shifts[view.head][view.row] !== 0;
    setText(this.power, `${isShifted ? `${texts.lessMax}\n` : ""}${texts.columns.exponentials}`);
    for (const number of this.numbers) this.paintNumber(number, view);
    for (const { node, total, terms } of this.signs) {
      const sum = terms(view).map(({ text }) => inBrackets(text)).join(" + ");
      const isShort = /e/.test(sum + total.text);
      setText(node, sum && (isShort ? "≈" : sign(sum, total.text)));
    }
    const weights = numbers.weights[view.head][view.row];
    const longest = Math.min(1, Math.max(...weights) / LEAST_BAR) || 1;
    weights.forEach((weight, key) => setBar(this.bars[key], weight, { of: longest }));
    const isUnscaled = factor(this.explorer.data.keyWidth, scale, temperature) === 1
      && numbers.mask[view.head][view.row].every((entry) => entry === 0);
    set(this.one, "class", `one head-${view.head % 6}${state.off[view.head] ? " off" : ""}${
      isUnscaled ? " unscaled" : ""}${isShifted ? " shifted" : ""}`);
    this.ribbons.paint(view);
    this.heads.paint(view);
    this.light();
  }

  /**
   * A number of a stage as it is written where there is room for it, or with so many decimals less;
   * "" where it has no more.
   */
  writer(stage: string): (value: number, less: number) => string {
    const isPart = /query|key|value/.test(stage);
    const write = isPart || stage === "placed" || isGiven(this.explorer.data.inputs, stage) ? short : shown;
    const places = isPart && !isGiven(this.explorer.data.inputs, stage) ? PLACES : 4;
    return (value, less) => (less > places ? "" : write(value, places - less));
  }

  /** How a number is written in its room: nothing moves for a longer one. */
  textOf(value: number, { at: { stage }, digits }: StripNumber) {
    const room = (digits + SLACK.small) * SLACK.smaller;
    const write = this.writer(stage);
    let text = write(value, 0);
    for (let less = 1; text && widthOf(text) > room; less += 1) text = write(value, less);
    return text || ([2, 1].map((places) => scientific(value, places))
      .find((short) => widthOf(short) <= room) ?? scientific(value, 0));
  }

  paintNumber(number: StripNumber, view: StripView) {
    if (this.moved) {
      number.at = number.place(view);
      number.where = address(number.at);
      number.name = this.explorer.nameOf(number.at);
    }
    const value = this.typedAt(number.at) ?? this.valueOf(number.at);
    if (number.node instanceof HTMLInputElement) this.free(number);
    const { node, name, given } = number;
    const isSame = value === number.value;
    if (isSame && !this.moved) return;
    number.value = value;
    const text = isSame ? number.text : this.textOf(value, number);
    // Who speaks to the page says what is to be seen.
    set(node, "aria-label", given ? name : `${text}, ${name}`);
    if (isSame) return;
    number.text = text;
    node.classList.toggle("small", widthOf(text) > number.digits + SLACK.own);
    if (!(node instanceof HTMLInputElement)) setText(node, text);
    else if (node !== this.hands.typing) node.value = text;
    else {
      // Text that is refused stays while it is typed.
      const { value: read, wrong } = entered(node.value, this.rangeOf(number));
      if (!wrong && Math.abs(read - value) > TINY) node.value = text;
    }
  }

  // -- What can be moved --

  /**
   * Whether a reader can move a stage's numbers: inputs, with their positions too, and values that
   * a matrix makes.
   */
  canMove(stage: string) {
    const { inputs } = this.explorer.data;
    return isGiven(inputs, stage) || ["placed", "value"].includes(stage);
  }

  /** A value that is made of zeros alone stays zero, whatever its matrix: it is not to be moved. */
  free(number: StripNumber) {
    const { at: { stage, row } } = number;
    const given = stage !== "value" || isGiven(this.explorer.data.inputs, stage)
      || this.madeOf()[row ?? 0].some(Boolean);
    if (given === number.given) return;
    number.given = given;
    number.value = NaN;
    number.node.classList.toggle("given", given);
    (number.node as HTMLInputElement).readOnly = !given;
  }

  /** The inputs of the matrices, one row per token. */
  madeOf(): Matrix {
    const { start_normed: normed, placed, embeddings }: any = this.explorer.numbers;
    return normed ?? placed ?? embeddings;
  }

  /** Which numbers can be typed. */
  rangeOf({ at }: StripNumber) {
    if (at.stage !== "placed" || isGiven(this.explorer.data.inputs, at.stage)) return {};
    const added = valueAt(this.explorer.numbers, { ...at, stage: "positions" });
    return { least: added - MOST, most: added + MOST };
  }

  /**
   * The typed numbers of the values in a column of a head, and the column of the matrix before them;
   * undefined where none was typed, or where the matrix or the tokens have changed since.
   * @param at of a value
   */
  pinOf({ head, column }: Place) {
    const { numbers, state } = this.explorer;
    const pin = state.pins[`${head}.${column}`];
    if (!pin) return undefined;
    const now = (numbers as any).w_v[head].map((row: number[]) => row[column ?? 0]);
    return same(pin.column, now) && same(pin.rows, this.byToken()) ? pin : undefined;
  }

  /** The rows that the matrices are multiplied by, in the first order of the tokens. */
  byToken(): Matrix {
    const { order } = this.explorer.state;
    const rows = this.madeOf();
    return rows.map((_, token) => rows[order.indexOf(token)]);
  }

  /** The number that a reader typed for a value, which its matrix gives but for rounding. */
  typedAt(at: Place): number | undefined {
    if (at.stage !== "value" || at.term !== null) return undefined;
    const token = this.explorer.state.order[at.row ?? 0];
    const [, value] = this.pinOf(at)?.typed.find(([one]) => one === token) ?? [];
    return value !== undefined && Math.abs(value - this.valueOf(at)) < EXACT ? value : undefined;
  }

  /** Move a number; returns what is wrong with that, or "". */
  edit({ at }: StripNumber, value: number): string {
    const { data, numbers, state }: any = this.explorer;
    if (isGiven(data.inputs, at.stage)) return this.explorer.edit(at, value);
    if (at.stage === "placed") {
      const mover = moverOf(at);
      const first = valueAt(data.inputs, { ...mover, row: state.order[at.row ?? 0] });
      const embedding = value - valueAt(numbers, { ...at, stage: "positions" });
      return this.explorer.edit(mover, Math.abs(embedding - first) < TINY ? first : embedding);
    }
    const { head, row, column } = at;
    const rows = this.byToken();
    const token = state.order[row ?? 0];
    const pin = this.pinOf(at);
    const from = pin?.from ?? numbers.w_v[head].map((entries: number[]) => entries[column ?? 0]);
    const typed: [number, number][] = [...(pin?.typed ?? []).filter(([one]) => one !== token), [token, value]];
    const isExact = (column: number[]) => typed.every(([one, wanted]) =>
      Math.abs(dot(column, rows[one]) - wanted) < EXACT);
    // In the order of the tokens, so that no path to the same numbers matters where none excludes another.
    const inOrder = columnWith(rows, from, [...typed].sort(([one], [other]) => one - other));
    const entries = isExact(inOrder) ? inOrder : columnWith(rows, from, typed);
    if (!(Math.abs(dot(entries, rows[token]) - value) < EXACT)) return texts.overflow;
    const changes = entries.map((x: number, i: number) => ([placeOf("w_v", head, i, column), x] as [Place, number]));
    return this.explorer.editAll(changes, () =>
      fill(texts.pulled, { place: this.explorer.called(at), value: short(value) }),
    `value of ${token}`, { pins: { ...state.pins, [`${head}.${column}`]: { rows, from, typed, column: entries } } });
  }

  /** Show what an input moves, and leave the state as it is. */
  moveBy({ at }: StripNumber, by: number) {
    const { data, state } = this.explorer;
    const mover = moverOf(at);
    const edited = { [inputAddress(data, state, mover)]: valueAt(compute(data, state), mover) + by };
    this.explorer.numbers = compute(data, by ? { ...state, edits: { ...state.edits, ...edited } } : state);
    this.paint();
  }

  // -- Where a number comes from, and what it moves --

  /** Light the chain of the number that is pointed at, focused or selected, in that order. */
  light() {
    const { data, state, numbers } = this.explorer;
    const { selected } = state;
    const where = selected && address(selected);
    const looked = this.hands.pointed ?? this.hands.focused;
    const at = looked?.at ?? selected;
    const center = at && address(at);
    this.node.classList.toggle("asked", Boolean(at) && !looked?.given);
    const shines = at && `${this.looks} ${center} ${where}`;
    if (shines !== this.shines) {
      this.shines = shines;
      const lit = at
        ? (this.chains ??= chainOf(numbers, this.numbers.map((number) => number.at)))(at) : new Set<string>();
      for (const { node, where: own } of this.numbers) {
        node.classList.toggle("lit", lit.has(own));
        node.classList.toggle("center", own === center);
        node.classList.toggle("selected", own === where);
      }
      this.ribbons.light(at ? lit : null);
    }
    const name = at ? `${this.explorer.called(at)}: ` : "";
    if (name !== this.name) this.named.replaceChildren(...inItalics(name));
    this.name = name;
    setText(this.how, at ? this.says(at, data, state, numbers)
      : (HAS_POINTER ? texts.hint : texts.hintTouch) + (data.heads.length > 1 ? texts.hintHeads : ""));
  }

  says(at: Place, data: ExplorerData, state: ExplorerState, numbers: ExplorerNumbers): string {
    if (at.term === null && isGiven(data.inputs, at.stage)) {
      return `${short(this.valueOf(at))}. ${texts.isInput}`;
    }
    return worked(data, state, numbers, at);
  }
}
