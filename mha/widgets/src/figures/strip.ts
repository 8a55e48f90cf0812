/**
 * The strip: one query on one screen, from its numbers through keys, scores, exponentials, weights
 * and values to the output. An input is a field that can be scrubbed, every other number a button; the
 * numbers from which it is computed, and those that depend on it, light up.
 */

import { factor } from "../engine/attention.ts";
import { TINY } from "../engine/least-change.ts";
import { short } from "../engine/numbers.ts";
import { isGiven } from "../engine/origins.ts";
import { address, of as placeOf, valueAt } from "../engine/places.ts";
import { sign } from "../engine/signs.ts";
import { stages } from "../engine/stages.ts";
import { entered } from "../engine/typed-numbers.ts";
import { chainOf, inBrackets, worked } from "../store/explorer-origins.ts";
import { explorer as texts } from "../strings/explorer.ts";
import { fill } from "../engine/text.ts";
import { inItalics, make, set, setBar, setText } from "./explorer-parts.ts";
import { Heads, Ribbons } from "./strip-drawing.ts";
import { canMove, edit, isFree, movedBy, rangeOf, typedAt } from "./strip-edits.ts";
import { Hands } from "./strip-hands.ts";
import { ROOM, SLACK, roomIn, scaleText, widthOf } from "./strip-room.ts";
import type { ExplorerData, ExplorerNumbers, ExplorerState, ExplorerView, StripNumber, StripView, VectorLayout } from "../types/explorer.ts";
import type { Complaint } from "../types/fields.ts";
import type { Place } from "../types/run.ts";

/** The longest bar of a row takes this share of its room at least. */
const LEAST_BAR = 1 / 3;

/** The templates of numbers, which are copied because that is faster: an input and a computed one. */
const FIELD = make("input", { type: "text", inputMode: "decimal", autocomplete: "off", spellcheck: false,
  className: "number given", tabIndex: -1 });
const BUTTON = make("button", { type: "button", className: "number", tabIndex: -1 }, "");

/** Whether there is a mouse, or the like, to point with. */
const HAS_POINTER = !matchMedia("(hover: none)").matches;

export class Strip {
  explorer: ExplorerView;
  numbers: StripNumber[] = [];
  ofNode: Map<EventTarget | null, StripNumber> = new Map();

  /** The texts that only name the token or the head, and those with the scale of the scores. */
  words: ((view: StripView) => void)[] = [];
  scales: ((by: string) => void)[] = [];

  bars: HTMLElement[] = [];

  /** The terms of each sum of the strip, by stage, and the signs before sums. */
  terms: Record<string, StripNumber[]> = { exponentials: [], part: [] };
  signs: { node: HTMLElement, total: StripNumber, terms: (view: StripView) => StripNumber[] }[] = [];

  chains: ((at: Place) => Set<string>) | null = null;

  /** The state for which the words and the lit numbers were last written. */
  looks = "";
  by = "";
  name = "";
  shines: string | null = null;
  moved = true;

  /** The text that says whether the largest score is subtracted before the exponential. */
  power!: HTMLElement;
  room: ReturnType<typeof roomIn>;
  hands: { pointed: StripNumber | null; focused: StripNumber | null; complaint: Complaint | null; typing: EventTarget | null; listen(): void; };
  vectors: Record<string, VectorLayout[]>;

  /** The name of the selected number, and its origin. */
  named = make("span");
  how = make("span");

  ribbons: Ribbons;
  one: HTMLElement;
  heads: Heads;
  status: HTMLElement;
  node: HTMLElement;

  constructor(explorer: ExplorerView) {
    this.explorer = explorer;
    this.room = roomIn(explorer);
    this.hands = new Hands(this);
    this.vectors = this.room.layOut();
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

  /** A token, by its position in the current view. */
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

  /** One key: from its numbers to its part in the output. */
  row(key: number) {
    const cell = (stage: string, ...inside: Node[]) => {
      const label = texts.columns[stage] ?? "";
      const node = make("span", { className: `at at-${stage}`, role: "cell", "data-label": label },
        ...inside);
      if (stage === "exponentials") node.dataset.first = texts.lessMax;
      // Without a head row, the label says it: a masked score is not a divided one.
      if (stage === "scaled_scores") {
        const say = () => {
          const { head, row: query } = this.view();
          const isHidden = this.explorer.numbers.mask[head][query][key] === -Infinity;
          node.dataset.label = isHidden ? texts.hidden : scaleText(this.explorer.data.keyWidth, this.explorer.state);
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
    const bar = make("span");
    this.bars.push(bar);
    const part = this.number((v) =>
      ({ ...placeOf("head_outputs", v.head, v.row, v.component), term: key }));
    this.terms.part.push(this.last);
    const token = () => this.token(() => key);
    return make("div", { className: "key", role: "row" },
      cell("key", token(), ...this.vector("key", () => key)),
      one("scores"), one("scaled_scores"), one("exponentials"),
      cell("weights", make("span", { className: "bar" }, bar),
        make("span", {}, this.number((v) => placeOf("weights", v.head, v.row, key)))),
      cell("value", token(), ...this.vector("value", () => key)),
      cell("part", part));
  }

  /** The sums below the columns, and the output. */
  footer() {
    const { width } = this.explorer.data;
    const sum = this.number((v) => placeOf("row_sums", v.head, v.row, 0));
    const sumSign = this.sign(() => this.terms.exponentials);
    const cell = (name: string, ...inside: Node[]) =>
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
    const given = at.term === null && canMove(this.explorer, at.stage);
    const digits = this.room.digitsOf(at.term === null ? at.stage : "value", ROOM.computed);
    const node = (given ? FIELD : BUTTON).cloneNode(true) as HTMLElement;
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
    // The words and the names of numbers depend on the view, and not on the numbers.
    const { order, scale, temperature, causal, padding } = state;
    const looks = JSON.stringify([view, order, causal, padding]);
    this.moved = looks !== this.looks;
    if (this.moved) {
      this.looks = looks;
      this.chains = null;
      this.words.forEach((write) => write(view));
      this.hands.complaint?.clear(); // it was about a number that is seen no longer
    }
    const by = scaleText(this.explorer.data.keyWidth, this.explorer.state);
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

  paintNumber(number: StripNumber, view: StripView) {
    if (this.moved) {
      number.at = number.place(view);
      number.where = address(number.at);
      number.name = this.explorer.nameOf(number.at);
    }
    const value = typedAt(this.explorer, number.at) ?? this.valueOf(number.at);
    if (number.node instanceof HTMLInputElement) this.free(number);
    const { node, name, given } = number;
    const isSame = value === number.value;
    if (isSame && !this.moved) return;
    number.value = value;
    const text = isSame ? number.text : this.room.textOf(value, number);
    // For voice control, the accessible name begins with the visible text.
    set(node, "aria-label", given ? name : `${text}, ${name}`);
    if (isSame) return;
    number.text = text;
    node.classList.toggle("small", widthOf(text) > number.digits + SLACK.own);
    if (!(node instanceof HTMLInputElement)) setText(node, text);
    else if (node !== this.hands.typing) node.value = text;
    else {
      // Text that is refused stays while it is typed.
      const { value: read, wrong } = entered(node.value, rangeOf(this.explorer, number.at));
      if (!wrong && Math.abs(read - value) > TINY) node.value = text;
    }
  }

  // -- What can be moved --

  /** Change a number; returns an error message, or "". */
  edit({ at }: StripNumber, value: number): string {
    return edit(this.explorer, at, value);
  }

  /** Show the influence of an input, without a change of the state. */
  moveBy({ at }: StripNumber, by: number) {
    this.explorer.numbers = movedBy(this.explorer, at, by);
    this.paint();
  }

  /** A value that is made of zeros alone stays zero, whatever its matrix: it is not to be moved. */
  free(number: StripNumber) {
    const given = isFree(this.explorer, number.at);
    if (given === number.given) return;
    number.given = given;
    number.value = NaN;
    number.node.classList.toggle("given", given);
    (number.node as HTMLInputElement).readOnly = !given;
  }

  // -- The origin of a number, and its influence --

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
