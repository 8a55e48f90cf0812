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
  FLAGS, INPUTS, LARGER, type MuseumBug, type MuseumExample, type MuseumState, ORDERS, choicesOf, fromParts, orderOf,
  resultOf, startOf, toHash,
} from "../store/museum-state.ts";
import { shareAddress } from "../store/share.ts";
import { bugs as texts } from "../strings/bugs.ts";
import type { NumberField } from "../types/fields.ts";
import type { Instrument } from "../types/panels.ts";

/** From this difference on a number is wrong, of its own size. */
const CLOSE = 1e-9;

const LETTERS = "ABCDEFGHIJ";

const isOther = (x: number, right: number) =>
  !(Math.abs(x - right) <= CLOSE * Math.max(1, Math.abs(right))) && !(Number.isNaN(x) && Number.isNaN(right));

/** A text whose parts between ` are code. */
const withCode = (text: string) => text.split("`").map((part, i) => (i % 2 ? make("code", {}, part) : part));

/** A button that does nothing more keeps the focus. */
const off = (node: HTMLElement, isOff: boolean = true) => set(node, "aria-disabled", String(isOff));

/** The figure's data, as mha/widgets/bugs.py writes it. */
interface BugsData {
  examples: MuseumExample[];
  properties: string[];
  bugs: MuseumBug[];
}

/** A number of the program, and the right one where it differs. */
type Cell = Record<"number" | "right" | "node", HTMLElement>;

const PARTS = ["weights", "output"] as const;

const button = (label: string, act: () => void, name = label) =>
  makeButton(label, act, { "className": "reading-button", "aria-label": name });

/** A choice with its label. */
function choiceOf(label: string, options: (string | number)[][], act: (value: number) => void) {
  const select = make("select", { onchange: () => act(Number(select.value)) },
    ...options.map(([value, text]) => make("option", { value }, String(text))));
  return { select, node: make("label", { className: "bugs-choose" }, label, " ", select) };
}

class View {
  state = startOf(Math.floor(Math.random() * ORDERS));
  /** By the bug's name, whether it was found at the first guess. */
  known: Map<string, boolean> = new Map();
  /** The program's bug, the bugs whose lines are offered, and those whose lines were chosen and are not there. */
  bug: MuseumBug;
  choices: MuseumBug[] = [];
  wrong: Set<MuseumBug> = new Set();
  /** Of the programs whose lines are known, among the choices the place where it was found, -1 where it was shown. */
  told: Map<string, number> = new Map();
  isTested = false;
  isOver = false;
  result: ReturnType<typeof resultOf> = null;

  program = make("strong");
  found = make("span", { className: "soft" });
  seed = makeEntry();
  status = make("p", { className: "model-status soft", role: "status" });
  before = button(texts.previous, () => this.go(-1), texts.previousProgram);
  next = button(texts.next, () => this.go(1), texts.nextProgram);
  results = make("div", { className: "bugs-result" });
  verdict = make("p", { className: "bugs-verdict", role: "status" });
  offered = make("div", { className: "bugs-choices", role: "group", "aria-label": texts.guess });
  /** The buttons of the choices, and what is said of each. */
  buttons: HTMLElement[] = [];
  verdicts: HTMLElement[] = [];
  show = button(texts.show, () => this.reveal());
  examples: ReturnType<typeof choiceOf>;
  times = choiceOf(texts.times, [[1, texts.once], [LARGER, fill(texts.many, { n: LARGER })]],
    (times) => this.change({ times }));
  flags = FLAGS.map((flag) => {
    const input = make("input", { type: "checkbox", onchange: () => this.change({ [flag]: input.checked }) });
    return { flag, input, node: make("label", {}, input, make("span", {}, (texts.told as Record<string, string>)[flag])) };
  });
  lights: { verdict: HTMLElement, node: HTMLElement }[];
  test = makeButton(texts.test, () => {
    this.isTested = true;
    this.paint();
  }, { className: "reading-button bugs-test" });
  /** The example that the tables and the fields of numbers are of; what its results say, their numbers
      by head and row, and the fields by input, row and column. */
  laid: MuseumExample | null = null;
  said = make("p", { className: "bugs-said", role: "status" });
  rows: Record<typeof PARTS[number], Cell[]>[][] = [];
  fields = make("div", { className: "bugs-own" });
  entries: NumberField[][][] = [];
  what = INPUTS.map(() => make("p", { className: "soft" }));
  node: HTMLElement;

  constructor(public data: BugsData) {
    [this.bug] = data.bugs;
    this.examples = choiceOf(texts.example, data.examples.map(({ title }, i) => [i, title]),
      (example) => this.change({ example, own: {} }));
    this.lights = data.properties.map((text, i) => {
      const verdict = make("span", { className: "bugs-light" });
      return { verdict, node: make("li", {}, verdict, make("b", {}, LETTERS[i]), " ", text) };
    });
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
    const { input, error, complain } = this.seed;
    set(input, "inputmode", "numeric");
    input.addEventListener("change", () => {
      const { value: seed, wrong } = entered(input.value, { least: 0, most: ORDERS - 1, whole: true });
      complain(wrong);
      if (wrong) input.value = String(this.state.seed);
      else this.begin(seed);
    });
    return make("div", { className: "model-live" },
      make("p", { className: "strip-title" }, texts.title),
      make("div", { className: "model-controls" }, this.program, this.before, this.next),
      make("div", { className: "bugs-halves" }, this.controls(), this.results, this.own(),
        make("div", { className: "bugs-guess" },
          make("p", { className: "model-title" }, texts.guess), this.offered, this.show, this.verdict),
        ...this.properties()),
      make("div", { className: "model-controls" }, this.found, make("span", { className: "field" },
        make("label", { className: "bugs-order soft" }, texts.order, input), error),
        button(texts.newOrder, () => this.begin((this.state.seed + 1) % ORDERS)),
        ...(isPage ? [button(texts.copy, () => this.share())] : []), this.status));
  }

  controls() {
    return make("div", { className: "bugs-controls" }, this.examples.node, this.times.node,
      ...this.flags.map(({ node }) => node),
      makeButton(texts.again, () => this.again(), { className: "reading-button" }));
  }

  /** The fields of the reader's own inputs, right below the results. */
  own() {
    return make("details", { className: "bugs-fold" }, make("summary", {}, texts.own), this.fields,
      makeButton(texts.restore, () => this.change({ own: {} }), { className: "reading-button" }));
  }

  properties() {
    return [this.test, make("ol", { className: "bugs-properties", "aria-live": "polite" },
      ...this.lights.map(({ node }) => node))];
  }

  /** The table of a sentence, and the fields of its numbers. */
  layOut() {
    const { example } = this;
    if (this.laid === example) return;
    this.laid = example;
    const { heads, tokens, wide } = example;
    const width = wide[2][0].length / heads;
    const cell = () => {
      const [number, right] = [make("span"), make("small")];
      return { number, right, node: make("td", {}, number, right) };
    };
    this.rows = Array.from({ length: heads }, () => tokens.map(() =>
      ({ weights: tokens.map(cell), output: Array.from({ length: width }, cell) })));
    const name = (h: number, token: string) => make("th", { scope: "row" },
      heads > 1 ? `${fill(texts.head, { n: h + 1 })} ` : "", make("i", {}, token));
    const table = (part: "weights" | "output", columns: string[]) =>
      make("table", { className: "learning-table bugs-table", style: `--columns: ${columns.length}` },
        make("thead", {}, make("tr", {}, ...[texts[part], ...columns].map((text) => make("th", { scope: "col" }, text)))),
        make("tbody", {}, ...this.rows.flatMap((rows, h) => rows.map((row, i) =>
          make("tr", {}, name(h, tokens[i]), ...row[part].map(({ node }) => node))))));
    this.results.replaceChildren(this.said,
      make("div", { className: "bugs-tables" }, table("weights", tokens),
        table("output", Array.from({ length: width }, (_, j) => String(j + 1)))),
      make("p", { className: "soft" }, texts.rule));
    this.entries = wide.map((rows, m) => rows.map((row, i) => row.map((_, j) => {
      const field = makeField("", (value) => {
        this.change({ own: { ...this.state.own, [`${INPUTS[m]}.${i}.${j}`]: value } });
        return "";
      }, undefined, () => this.change({ own }));
      let { own } = this.state;
      ["focus", "change"].forEach((name) => field.input.addEventListener(name, () => { ({ own } = this.state); }));
      set(field.input, "aria-label", fill(texts.field, { what: texts.inputs[m], token: tokens[i], n: j + 1 }));
      return field;
    })));
    this.fields.replaceChildren(...this.entries.map((rows, m) =>
      make("div", {}, this.what[m], ...rows.map((row, i) =>
        make("div", { className: "bugs-row" }, make("i", {}, tokens[i]), ...row.map(({ node }) => node))))));
  }

  // ---- Changes ----

  change(changes: Partial<MuseumState>) {
    this.state = { ...this.state, ...changes };
    setText(this.status, "");
    this.paint();
  }

  again() {
    const { result, said } = this;
    this.change({ runs: this.state.runs + 1 });
    const isSame = JSON.stringify(this.result) === JSON.stringify(result);
    setText(said, `${said.textContent} ${texts.cameAgain[Number(isSame)]}`);
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
    this.bug = this.order[at];
    this.isTested = false;
    this.isOver = false;
    this.wrong.clear();
    this.choices = choicesOf(this.data.bugs, this.bug, seed + ORDERS * (at + 1));
    this.buttons = this.choices.map((bug) => makeButton("", () => this.guess(bug), { className: "bugs-choice" }));
    this.buttons.forEach((node, i) =>
      node.append(make("code", {}, this.choices[i].line),
        make("small", {}, `${texts.instead} `, make("code", {}, this.choices[i].meant))));
    this.verdicts = this.choices.map(() => make("p", { className: "bugs-verdict", role: "status" }));
    this.offered.replaceChildren(...this.buttons.map((node, i) =>
      make("div", {}, node, this.verdicts[i])));
    this.verdict.replaceChildren();
    const place = this.told.get(this.bug.name);
    if (place === undefined) this.paint();
    else this.tell(place);
  }

  guess(bug: MuseumBug) {
    const place = this.choices.indexOf(bug);
    const node = this.buttons[place];
    if (this.isOver || node.ariaDisabled === "true") return;
    if (bug === this.bug) {
      if (!this.known.has(bug.name)) this.known.set(bug.name, true);
      this.reveal(place);
      return;
    }
    if (!this.known.has(this.bug.name)) this.known.set(this.bug.name, false);
    this.wrong.add(bug);
    this.paint();
    this.verdicts[place].scrollIntoView({ block: "nearest" });
  }

  /** The first number that another line would give otherwise here, "" if all are the same. */
  unlike(bug: MuseumBug) {
    const { result } = this;
    const other = this.foundWith(bug.name);
    if (!other || !result) return other === result ? "" : texts.stops;
    for (const part of PARTS) {
      for (const [h, rows] of (other[part] ?? []).entries()) {
        for (const [i, row] of rows.entries()) {
          const j = row.findIndex((x, n) => isOther(x, result[part]?.[h][i][n] ?? NaN));
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
    const node = this.verdicts[place] ?? this.verdict;
    this.isOver = true;
    node.replaceChildren(...withCode(fill(place < 0 ? texts.was : texts.yes, { line, meant, said })), " ",
      fill(texts.because[Number(fails.length > 1)], { letters: [...fails].join(", ") }), " ",
      ...(isPage ? [make("a", { href: `#${at}` }, texts.exhibit)] : []));
    this.paint();
    return node;
  }

  share() {
    shareAddress(toHash(this.state, this.data.examples), this.status);
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
  foundWith(name: string) {
    return resultOf(name, this.state, this.example);
  }

  paint() {
    const { state } = this;
    this.layOut();
    setText(this.program, fill(texts.program, { n: state.at + 1, count: this.data.bugs.length }));
    setText(this.found, this.known.size ? fill(texts.found, { done: this.known.size,
      right: [...this.known.values()].filter(Boolean).length }) : "");
    this.seed.input.value = String(state.seed);
    setOff(this.before, state.at === 0);
    setOff(this.next, state.at === this.data.bugs.length - 1);
    this.examples.select.value = String(state.example);
    this.times.select.value = String(state.times);
    this.flags.forEach(({ flag, input }) => {
      input.disabled = state.inSteps && ["isCausal", "isBiased"].includes(flag);
      input.checked = state[flag] && !input.disabled; // what is not in force has no tick
    });
    this.what.forEach((node, m) => setText(node,
      m < 2 && state.times > 1 ? fill(texts.before, { what: texts.inputs[m], n: state.times }) : texts.inputs[m]));
    const { wide } = this.example;
    this.entries.forEach((rows, m) => rows.forEach((row, i) =>
      row.forEach((field, j) => field.set(state.own[`${INPUTS[m]}.${i}.${j}`] ?? wide[m][i][j]))));
    this.paintResult();
    off(this.test, this.isTested);
    this.lights.forEach(({ node, verdict }, i) => {
      const fails = this.bug.fails.includes(LETTERS[i]);
      set(node, "class", !this.isTested ? "" : fails ? "fails" : "holds");
      setText(verdict, !this.isTested ? "" : fails ? texts.fails : texts.holds);
    });
    this.buttons.forEach((node, i) => {
      const bug = this.choices[i];
      off(node, this.isOver || this.wrong.has(bug));
      if (this.wrong.has(bug)) { // what tells the two apart is of the numbers that go in now
        const what = this.unlike(bug);
        setText(this.verdicts[i], what ? fill(texts.notHere, { what }) : texts.likeHere);
      }
      set(node, "class", `bugs-choice${this.isOver && this.choices[i] === this.bug ? " right" : ""}`);
    });
    off(this.show, this.isOver);
  }

  paintResult() {
    const [found, right] = [this.foundWith(this.bug.name), this.foundWith("")];
    this.result = found;
    let [all, count] = [0, 0];
    for (const part of PARTS) {
      this.rows.forEach((rows, h) => rows.forEach((row, i) =>
        row[part].forEach((cell, j) => {
          const [x, meant] = [found?.[part]?.[h][i][j], right?.[part]?.[h][i][j]];
          const differs = x !== undefined && meant !== undefined && isOther(x, meant);
          if (x !== undefined) all += 1;
          if (differs) count += 1;
          set(cell.node, "class", differs ? "differs" : "");
          setText(cell.number, x === undefined ? "–" : shown(x));
          setText(cell.right, differs ? shown(meant) : "");
        })));
    }
    setText(this.said, !found ? texts.stops : `${count ? fill(texts.differ, { all, count }) : texts.same}${
      found.weights ? "" : ` ${texts.noWeights}`}`);
  }
}

/** Open the figure on a page. */
export const open: Instrument = (data) => new View(data);
