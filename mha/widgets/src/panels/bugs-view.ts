/**
 * The museum as a game: a program with one wrong line, tried on numbers that a reader chooses, beside
 * the right one; its properties; and four lines of which one is in it. A seed gives the order.
 */

import { shown } from "../engine/numbers.ts";
import { entered } from "../engine/typed-numbers.ts";
import { fill } from "../engine/text.ts";
import {
  isPage, make, makeButton, makeEntry, makeField, set, setOff, setText,
} from "../figures/explorer-parts.ts";
import { partsOf } from "../store/address.ts";
import {
  FLAGS, INPUTS, LARGER, type MuseumState, ORDERS, choicesOf, fromParts, orderOf, resultOf, startOf, toHash,
} from "../store/museum-state.ts";
import { shareAddress } from "../store/share.ts";
import { bugs as texts } from "../strings/bugs.ts";
import type { Instrument } from "../types/panels.ts";
import type { Matrix } from "../types/run.ts";

/** From this difference on a number is wrong, of its own size. */
const CLOSE = 1e-9;

const LETTERS = "ABCDEFGHIJ";

const isOther = (x: number, right: number) =>
  !(Math.abs(x - right) <= CLOSE * Math.max(1, Math.abs(right))) && !(Number.isNaN(x) && Number.isNaN(right));

/** A text whose parts between ` are code. */
const withCode = (text: string) => text.split("`").map((part, i) => (i % 2 ? make("code", {}, part) : part));

/** A button that does nothing more keeps the focus. */
const off = (node: any, isOff: boolean = true) => set(node, "aria-disabled", String(isOff));

class View {
  data: any;
  known: Map<string, boolean>;
  state: MuseumState;
  parts: any;
  bug: any;
  choices: any[];
  wrong: Set<any>;
  told: Map<string, number>;
  isTested: boolean;
  isOver: boolean;
  result: any;
  node: any;

  constructor(data: any) {
    this.data = data;
    /** By the bug's name, whether it was found at the first guess. */
    this.known = new Map();
    this.state = startOf(Math.floor(Math.random() * ORDERS));
    this.parts = {};
    /** The program's bug, the bugs whose lines are offered, and how often a reader has guessed. */
    this.bug = data.bugs[0];
    this.choices = [];
    /** Those whose lines were chosen, and are not there. */
    this.wrong = new Set();
    /** Of the programs whose lines are known, among the choices the place where it was found, -1 where it was shown. */
    this.told = new Map();
    this.isTested = false;
    this.isOver = false;
    this.result = null;
    this.node = this.build();
    this.enter();
  }

  get example() {
    return this.data.examples[this.state.example];
  }

  /** The programs in this order. */
  get order() {
    return orderOf(this.data.bugs, this.state.seed);
  }

  // ---- Elements ----

  build() {
    const { parts } = this;
    const button = (label: string, act: () => void, name = label) =>
      makeButton(label, act, { "className": "reading-button", "aria-label": name });
    parts.program = make("strong");
    parts.found = make("span", { className: "soft" });
    const { input, error, complain } = makeEntry();
    set(input, "inputmode", "numeric");
    input.addEventListener("change", () => {
      const { value: seed, wrong } = entered(input.value, { least: 0, most: ORDERS - 1, whole: true });
      complain(wrong);
      if (wrong) input.value = String(this.state.seed);
      else this.begin(seed);
    });
    Object.assign(parts, { seed: input, complain });
    parts.status = make("p", { className: "model-status soft", role: "status" });
    parts.before = button(texts.previous, () => this.go(-1), texts.previousProgram);
    parts.next = button(texts.next, () => this.go(1), texts.nextProgram);
    parts.result = make("div", { className: "bugs-result" });
    parts.verdict = make("p", { className: "bugs-verdict", role: "status" });
    parts.choices = make("div", { className: "bugs-choices", role: "group", "aria-label": texts.guess });
    parts.show = button(texts.show, () => this.reveal());
    return make("div", { className: "model-live" },
      make("p", { className: "strip-title" }, texts.title),
      make("div", { className: "model-controls" }, parts.program, parts.before, parts.next),
      make("div", { className: "bugs-halves" }, this.controls(), parts.result, this.own(),
        make("div", { className: "bugs-guess" },
          make("p", { className: "model-title" }, texts.guess), parts.choices, parts.show, parts.verdict),
        ...this.properties()),
      make("div", { className: "model-controls" }, parts.found, make("span", { className: "field" },
        make("label", { className: "bugs-order soft" }, texts.order, parts.seed), error),
        button(texts.newOrder, () => this.begin((this.state.seed + 1) % ORDERS)),
        ...(isPage ? [button(texts.copy, () => this.share())] : []), parts.status));
  }

  controls() {
    const { parts } = this;
    const choice = (label: string, options: any[][], act: (value: number) => void) => {
      const select = make("select", { onchange: () => act(Number(select.value)) },
        ...options.map(([value, text]) => make("option", { value }, text)));
      return { select, node: make("label", { className: "bugs-choose" }, label, " ", select) };
    };
    parts.example = choice(texts.example, this.data.examples.map(({ title }: any, i: number) =>
      [i, title]), (example) => this.change({ example, own: {} }));
    parts.times = choice(texts.times, [[1, texts.once], [LARGER, fill(texts.many, { n: LARGER })]],
      (times) => this.change({ times }));
    parts.flags = FLAGS.map((flag) => {
      const input = make("input", { type: "checkbox", onchange: () => this.change({ [flag]: input.checked }) });
      return { flag, input, node: make("label", {}, input, make("span", {}, (texts.told as Record<string, string>)[flag])) };
    });
    return make("div", { className: "bugs-controls" }, parts.example.node, parts.times.node,
      ...parts.flags.map(({ node }: any) => node),
      makeButton(texts.again, () => this.again(), { className: "reading-button" }));
  }

  /** The fields of the reader's own inputs, right below the results. */
  own() {
    this.parts.fields = make("div", { className: "bugs-own" });
    return make("details", { className: "bugs-fold" }, make("summary", {}, texts.own), this.parts.fields,
      makeButton(texts.restore, () => this.change({ own: {} }), { className: "reading-button" }));
  }

  properties() {
    const { parts } = this;
    parts.lights = this.data.properties.map((text: string, i: number) => {
      const verdict = make("span", { className: "bugs-light" });
      return { verdict, node: make("li", {}, verdict, make("b", {}, LETTERS[i]), " ", text) };
    });
    parts.test = makeButton(texts.test, () => {
      this.isTested = true;
      this.paint();
    }, { className: "reading-button bugs-test" });
    return [parts.test, make("ol", { className: "bugs-properties", "aria-live": "polite" },
      ...parts.lights.map(({ node }: any) => node))];
  }

  /** The table of a sentence, and the fields of its numbers. */
  layOut() {
    const { example, parts } = this;
    if (parts.laid === example) return;
    parts.laid = example;
    const { heads, tokens, wide } = example;
    const width = wide[2][0].length / heads;
    const cell = () => {
      const [number, right] = [make("span"), make("small")];
      return { number, right, node: make("td", {}, number, right) };
    };
    parts.said = make("p", { className: "bugs-said", role: "status" });
    parts.rows = Array.from({ length: heads }, () => tokens.map(() =>
      ({ weights: tokens.map(cell), output: Array.from({ length: width }, cell) })));
    const name = (h: number, token: string) => make("th", { scope: "row" },
      heads > 1 ? `${fill(texts.head, { n: h + 1 })} ` : "", make("i", {}, token));
    const table = (part: "weights" | "output", columns: string[]) =>
      make("table", { className: "learning-table bugs-table", style: `--columns: ${columns.length}` },
        make("thead", {}, make("tr", {}, ...[texts[part], ...columns].map((text) => make("th", { scope: "col" }, text)))),
        make("tbody", {}, ...parts.rows.flatMap((rows: any[], h: number) => rows.map((row, i) =>
          make("tr", {}, name(h, tokens[i]), ...row[part].map(({ node }: any) => node))))));
    parts.result.replaceChildren(parts.said,
      make("div", { className: "bugs-tables" }, table("weights", tokens),
        table("output", Array.from({ length: width }, (_, j) => String(j + 1)))),
      make("p", { className: "soft" }, texts.rule));
    parts.entries = wide.map((rows: Matrix, m: number) => rows.map((row, i) => row.map((_, j) => {
      const field = makeField("", (value) => {
        this.change({ own: { ...this.state.own, [`${INPUTS[m]}.${i}.${j}`]: value } });
        return "";
      }, undefined, () => this.change({ own }));
      let { own } = this.state;
      ["focus", "change"].forEach((name) => field.input.addEventListener(name, () => { ({ own } = this.state); }));
      set(field.input, "aria-label", fill(texts.field, { what: texts.inputs[m], token: tokens[i], n: j + 1 }));
      return field;
    })));
    parts.what = INPUTS.map(() => make("p", { className: "soft" }));
    parts.fields.replaceChildren(...parts.entries.map((rows: any[][], m: number) =>
      make("div", {}, parts.what[m], ...rows.map((row, i) =>
        make("div", { className: "bugs-row" }, make("i", {}, tokens[i]), ...row.map(({ node }) => node))))));
  }

  // ---- Changes ----

  change(changes: any) {
    this.state = { ...this.state, ...changes };
    setText(this.parts.status, "");
    this.paint();
  }

  again() {
    const { parts, result } = this;
    this.change({ runs: this.state.runs + 1 });
    const isSame = JSON.stringify(this.result) === JSON.stringify(result);
    setText(parts.said, `${parts.said.textContent} ${texts.cameAgain[Number(isSame)]}`);
  }

  /** Another order, from its first program. */
  begin(seed: number) {
    this.forget();
    this.state = startOf(seed);
    this.enter();
  }

  forget() {
    this.known.clear();
    this.told.clear();
  }

  go(by: number) {
    this.state.at = Math.max(0, Math.min(this.data.bugs.length - 1, this.state.at + by));
    this.enter();
  }

  /** Come to a program: nothing is tested or guessed, but a line that is known stays so. */
  enter() {
    const { at, seed } = this.state;
    const { parts } = this;
    this.bug = this.order[at];
    this.isTested = false;
    this.isOver = false;
    this.wrong.clear();
    this.choices = choicesOf(this.data.bugs, this.bug, seed + ORDERS * (at + 1));
    parts.buttons = this.choices.map((bug) => makeButton("", () => this.guess(bug), { className: "bugs-choice" }));
    parts.buttons.forEach((node: any, i: number) =>
      node.append(make("code", {}, this.choices[i].line),
        make("small", {}, `${texts.instead} `, make("code", {}, this.choices[i].meant))));
    parts.verdicts = this.choices.map(() => make("p", { className: "bugs-verdict", role: "status" }));
    parts.choices.replaceChildren(...parts.buttons.map((node: any, i: number) =>
      make("div", {}, node, parts.verdicts[i])));
    parts.verdict.replaceChildren();
    const place = this.told.get(this.bug.name);
    if (place === undefined) this.paint();
    else this.tell(place);
  }

  guess(bug: any) {
    const place = this.choices.indexOf(bug);
    const node = this.parts.buttons[place];
    if (this.isOver || node.ariaDisabled === "true") return;
    if (bug === this.bug) {
      if (!this.known.has(bug.name)) this.known.set(bug.name, true);
      this.reveal(place);
      return;
    }
    if (!this.known.has(this.bug.name)) this.known.set(this.bug.name, false);
    this.wrong.add(bug);
    this.paint();
    this.parts.verdicts[place].scrollIntoView({ block: "nearest" });
  }

  /** The first number that another line would give otherwise here, "" if all are the same. */
  unlike(bug: any) {
    const other = this.found(bug.name);
    if (!other || !this.result) return other === this.result ? "" : texts.stops;
    for (const part of (["weights", "output"] as ("weights" | "output")[])) {
      for (const [h, rows] of (other[part] ?? []).entries()) {
        for (const [i, row] of rows.entries()) {
          const j = row.findIndex((x, n) => isOther(x, (this.result as any)[part][h][i][n]));
          if (j >= 0) {
            return fill(texts.unlike, { token: this.example.tokens[i], part: texts[part], n: j + 1,
              number: shown(row[j]) });
          }
        }
      }
    }
    return "";
  }

  /** Reveal the wrong line, and scroll to the text. @param place the index at which a reader found it */
  reveal(place: number = -1) {
    if (this.isOver) return;
    const { name } = this.bug;
    if (!this.known.has(name)) this.known.set(name, false);
    this.told.set(name, place);
    this.tell(place).scrollIntoView({ block: "nearest" });
  }

  /** Say which line it is: right below it, where a reader has found it. */
  tell(place: number) {
    const { at, fails, line, meant, said } = this.bug;
    const node = this.parts.verdicts[place] ?? this.parts.verdict;
    this.isOver = true;
    node.replaceChildren(...withCode(fill(place < 0 ? texts.was : texts.yes, { line, meant, said })), " ",
      fill(texts.because[Number(fails.length > 1)], { letters: [...fails].join(", ") }), " ",
      ...(isPage ? [make("a", { href: `#${at}` }, texts.exhibit)] : []));
    this.paint();
    return node;
  }

  share() {
    shareAddress(toHash(this.state, this.data.examples), this.parts.status);
  }

  /** The readable part of an address, with defaults for the rest. */
  readAddress() {
    const parts = partsOf("bugs", "museum");
    const state = parts && fromParts(parts, this.data.examples, this.data.bugs.length);
    if (!state) return;
    this.forget();
    this.state = state;
    this.enter();
  }

  // ---- Painting ----

  /** The results of a program with a bug, null if it stops. */
  found(name: string) {
    return resultOf(name, this.state, this.example);
  }

  paint() {
    const { parts, state } = this;
    this.layOut();
    setText(parts.program, fill(texts.program, { n: state.at + 1, count: this.data.bugs.length }));
    setText(parts.found, this.known.size ? fill(texts.found, { done: this.known.size,
      right: [...this.known.values()].filter(Boolean).length }) : "");
    parts.seed.value = String(state.seed);
    setOff(parts.before, state.at === 0);
    setOff(parts.next, state.at === this.data.bugs.length - 1);
    parts.example.select.value = state.example;
    parts.times.select.value = state.times;
    parts.flags.forEach(({ flag, input }: { flag: typeof FLAGS[number], input: HTMLInputElement }) => {
      input.disabled = state.inSteps && ["isCausal", "isBiased"].includes(flag);
      input.checked = state[flag] && !input.disabled; // what is not in force has no tick
    });
    parts.what.forEach((node: any, m: number) => setText(node,
      m < 2 && state.times > 1 ? fill(texts.before, { what: texts.inputs[m], n: state.times }) : texts.inputs[m]));
    const { wide } = this.example;
    parts.entries.forEach((rows: any[][], m: number) => rows.forEach((row, i) =>
      row.forEach((field, j) => field.set(state.own[`${INPUTS[m]}.${i}.${j}`] ?? wide[m][i][j]))));
    this.paintResult();
    off(parts.test, this.isTested);
    parts.lights.forEach(({ node, verdict }: any, i: number) => {
      const fails = this.bug.fails.includes(LETTERS[i]);
      set(node, "class", !this.isTested ? "" : fails ? "fails" : "holds");
      setText(verdict, !this.isTested ? "" : fails ? texts.fails : texts.holds);
    });
    parts.buttons.forEach((node: any, i: number) => {
      const bug = this.choices[i];
      off(node, this.isOver || this.wrong.has(bug));
      if (this.wrong.has(bug)) { // what tells the two apart is of the numbers that go in now
        const what = this.unlike(bug);
        setText(parts.verdicts[i], what ? fill(texts.notHere, { what }) : texts.likeHere);
      }
      set(node, "class", `bugs-choice${this.isOver && this.choices[i] === this.bug ? " right" : ""}`);
    });
    off(parts.show, this.isOver);
  }

  paintResult() {
    const { parts } = this;
    const [found, right] = [this.found(this.bug.name), this.found("")];
    this.result = found;
    let [all, count] = [0, 0];
    for (const part of (["weights", "output"] as ("weights" | "output")[])) {
      parts.rows.forEach((rows: any[], h: number) => rows.forEach((row, i) =>
        row[part].forEach((cell: any, j: number) => {
          const [x, meant] = [found?.[part]?.[h][i][j], right?.[part]?.[h][i][j]];
          const differs = x !== undefined && meant !== undefined && isOther(x, meant);
          if (x !== undefined) all += 1;
          if (differs) count += 1;
          set(cell.node, "class", differs ? "differs" : "");
          setText(cell.number, x === undefined ? "–" : shown(x));
          setText(cell.right, differs ? shown((meant as number)) : "");
        })));
    }
    setText(parts.said, !found ? texts.stops : `${count ? fill(texts.differ, { all, count }) : texts.same}${
      found.weights ? "" : ` ${texts.noWeights}`}`);
  }
}

/** Open the figure on a page. */
export const open: Instrument = (data) => new View(data);
