/**
 * Attention with the changes of newer models: switches, one query's weights beside those of plain
 * attention, and every table of the computation, whose numbers lead to their origins.
 */

import { short, shown } from "../engine/numbers.ts";
import { arrayOf, carriedOut, originOn } from "../engine/sheet.ts";
import { fill } from "../engine/text.ts";
import {
  effectOf, inItalics, isPage, make, makeButton, makeChoice, makeComplaint, markCaption, set, setBar, setText,
} from "../figures/explorer-parts.ts";
import { historyButtons } from "../figures/history-buttons.ts";
import { ask, goBack, originOf, paintOrigin } from "../figures/origin-line.ts";
import { partsOf } from "../store/address.ts";
import { same } from "../store/same.ts";
import { History } from "../store/history.ts";
import { type SheetChoices, fromParts, toHash } from "../store/sheet-address.ts";
import { explorer } from "../strings/explorer.ts";
import { sheet as texts } from "../strings/sheet.ts";
import "./sheet-layouts.ts";
import { keptText, publishedText } from "./sheet-storage.ts";
import { tablesOf } from "./sheet-tables.ts";
import type { Instrument } from "../types/panels.ts";

const { hidden, outcome, queryIs, redone, undone, unread, wasReset } = explorer;

/** Changes that exclude each other: they store something else, or there is no softmax for one. */
const APART = [["groups", "latent"], ["latent", "eight"],
  ...["latent", "eight", "cap", "window", "top", "sink"].map((name) => ["decay", name])];

/** The delay before an effect is announced and the address written: browsers limit how often. */
const PAUSE_MS = 300;

/** The state that a reader can change; `at` is the selected number, which is not in the history. */
interface SheetState extends SheetChoices {
  at: { table: string, row: number, column: number } | null;
}

class SheetView {
  data: any;
  start: SheetChoices;
  state: SheetState;
  history: History<SheetState>;
  trail: any[];
  parts: any;
  tables = tablesOf(this, (at) => ask(this, at), () => this.parts.error);
  about: any;
  waiting: any;
  before: any;
  node: any;
  plain: any;
  sheet: any;

  constructor(data: any) {
    this.data = data;
    this.start = { on: data.on, query: data.focus, given: data.given };
    this.state = { ...structuredClone(this.start), at: null };
    this.history = new History();
    this.trail = [];
    this.parts = {};
    this.about = {
      name: ({ table, row, column }: any) => fill(texts.of, {
        title: this.tables.titleOf(table), row: this.tables.labelOf(row, table),
        column: this.tables.isOfKeys(table) ? this.tables.labelOf(column) : column + 1 }),
      origin: ({ table, row, column }: any) =>
        originOn(this.sheet.steps, table, row, column),
      given: () => texts.isGiven,
      source: (_: any, { place }: any) => place,
      why: ({ table, row, column }: any) =>
        (originOn(this.sheet.steps, table, row, column).operation === "masked" ? texts.masked : ""),
    };
    /** The timers for writing the address and announcing the effect. */
    this.waiting = null;
    /** The sheet before the changes that are not announced yet. */
    this.before = null;
    this.compute();
    this.node = this.build();
    this.paint();
  }

  compute() {
    const { plan } = this.data;
    const { given, on } = this.state;
    this.plain = carriedOut(plan, given, new Set());
    this.sheet = carriedOut(plan, given, new Set(on));
  }

  // ---- Elements ----

  build() {
    const { parts, data } = this;
    const switches = [...new Set(data.plan.flatMap(({ switch: name = "" }: any) =>
      name.split(" ").filter(Boolean)))];
    const inOrder = Object.keys(texts.names).filter((name) => switches.includes(name));
    parts.switches = inOrder.map((name) => ({ name, ...makeChoice("checkbox", `${data.name}-on`,
      texts.names[name], (isOn) => this.turn(name, isOn)) }));
    parts.queries = data.tokens.map((token: string, i: number) =>
      makeButton(token, () => this.change({ query: i }, "", fill(queryIs, { token })), { className: "model-word" }));
    parts.title = make("p", { className: "strip-title" });
    parts.rows = [...data.tokens, texts.sink].map((token) => {
      const [bar, now, plain] = [make("span"), make("span"), make("span", { className: "soft" })];
      return { bar, now, plain, node: make("li", {}, make("i", {}, token),
        make("span", { className: "bar" }, bar), now, plain) };
    });
    parts.output = make("p");
    parts.kept = make("p", { className: "soft" });
    parts.published = make("p", { className: "soft" });
    parts.status = make("p", { role: "status" });
    parts.history = historyButtons(() => this.restore(this.history.undo(this.now()), undone),
      () => this.restore(this.history.redo(this.now()), redone));
    const reset = makeButton(texts.reset, () => this.change(structuredClone(this.start), "", wasReset),
      { className: "reading-button" });
    const live = make("div", { className: "sheet-live" },
      make("p", { className: "soft how" }, texts.help),
      make("div", { className: "sheet-top" },
        make("fieldset", {}, make("legend", {}, texts.switches),
          make("div", { className: "sheet-switches" },
            ...parts.switches.map(({ node }: any) => node))),
        make("div", { className: "sheet-now head-0" },
          make("div", { className: "sheet-bar" },
            make("div", { className: "sheet-queries", role: "group", "aria-label": texts.query },
              `${texts.query}: `, ...parts.queries),
            make("div", { className: "sheet-history" }, parts.history.undo, parts.history.redo, reset)),
          parts.title, make("ul", {}, ...parts.rows.map(({ node }: any) => node)),
          parts.output, parts.kept, parts.published)),
      make("div", { className: "sheet-said" }, parts.status), this.tables.node, originOf(this));
    parts.error = makeComplaint(live);
    live.addEventListener("keydown", (event: KeyboardEvent) => {
      if (event.key === "Escape" && this.state.at) goBack(this, true);
      if (!(event.ctrlKey || event.metaKey) || event.key.toLowerCase() !== "z") return;
      event.preventDefault();
      (event.shiftKey ? parts.history.redo : parts.history.undo).click();
    });
    return live;
  }

  // ---- Changes ----

  turn(name: string, isOn: boolean) {
    const excluded = APART.filter((pair) => isOn && pair.includes(name)).flat();
    const off = this.state.on.filter((one) => one !== name && excluded.includes(one));
    const on = this.state.on.filter((one) => one !== name && !off.includes(one));
    if (isOn) on.push(name, ...(name === "stretch" && !on.includes("turn") ? ["turn"] : []));
    const wanted = name === "turn" && !isOn ? on.filter((one: string) => one !== "stretch") : on;
    const gone = off.length ? ` ${fill(texts.apart, { names: off.map((one) => texts.names[one]).join(", ") })}` : "";
    this.change({ on: wanted }, "", () =>
      (wanted.length ? this.effect(this.plain, texts.together) : texts.plain) + gone);
  }

  /**
   * @param what the name of the changed value; one drag is one change of it
   * @param sentence the announcement, by default the effect of the change
   */
  change(patch: Partial<SheetState>, what: string, sentence?: string | (() => string)) {
    const before = this.now();
    const state = { ...before, ...patch };
    this.history.record(before, state, what);
    this.take(state, sentence);
  }

  /** The state without the number that is asked. */
  now(): SheetState {
    return { ...this.state, at: null };
  }

  /** Go back, or forward again. */
  restore(state: SheetState | undefined, sentence: string) {
    if (!state) return;
    this.take(state, sentence);
    this.parts.error.clear();
    // A field that is typed in shows it too.
    const { activeElement } = document;
    if (this.tables.node.contains(activeElement)) activeElement?.dispatchEvent(new Event("change"));
  }

  take(state: SheetState, sentence: string | (() => string) = () => this.effect(this.before)) {
    this.before ??= this.sheet;
    this.trail = [];
    this.state = state;
    this.compute();
    this.paint();
    markCaption(this.tables.node, false, !same(state.given, this.start.given));
    clearTimeout(this.waiting);
    this.waiting = setTimeout(() => {
      this.parts.status.replaceChildren(...inItalics(typeof sentence === "string" ? sentence : sentence()));
      this.before = null;
      if (isPage) history.replaceState(null, "", this.toHash());
    }, PAUSE_MS);
  }

  /**
   * How far the query's row has moved. @param before the sheet as it was, or another
   * @param what the subject of the sentence
   */
  effect(before: any, what?: string): string {
    const { query } = this.state;
    const [weights, result] = ["weights", "output"].map((role) => {
      const [was, now] = [before, this.sheet].map((sheet) => arrayOf(sheet, role)[query]);
      return Math.max(...was.map((x, i) => Math.abs(x - now[i])));
    });
    return effectOf(weights, result, { token: this.data.tokens[query], end: outcome, what });
  }

  toHash() {
    return toHash(this.data.name, this.state, this.start);
  }

  /** Take the readable parts of an address, with defaults for the others, and announce if there are any. */
  readAddress() {
    const parts = partsOf("sheet", this.data.name);
    if (!parts) return;
    const switches = this.parts.switches.map((one: { name: string }) => one.name);
    const { isWhole, ...state } = fromParts(parts, this.start, switches, this.data.tokens.length);
    this.history.clear();
    this.take({ ...state, at: null }, isWhole ? "" : unread);
    this.before = null; // what an address changes is no change of the reader's
  }

  clearStatus() {
    this.parts.status.replaceChildren();
  }

  // ---- Painting ----

  paint() {
    const { parts, data, state, sheet } = this;
    const { query } = state;
    const token = data.tokens[query];
    parts.switches.forEach(({ name, input }: any) => { input.checked = state.on.includes(name); });
    parts.queries.forEach((node: any, i: number) =>
      set(node, "aria-pressed", String(i === query)));
    const [weights, plain] = [sheet, this.plain].map((one) => arrayOf(one, "weights")[query]);
    const written = (one: any, key: number, weight: number) =>
      (this.tables.isHidden(one, key) ? hidden : shown(weight));
    const isLinear = state.on.includes("decay");
    parts.title.replaceChildren(...inItalics(fill(isLinear ? texts.factors : texts.weights, { token })));
    const left = 1 - weights.reduce((all, x) => all + x, 0);
    // Without a softmax a factor may be negative, or larger than 1.
    const whole = Math.max(1, ...weights.map(Math.abs));
    [...weights, left].forEach((weight, i) => {
      setBar(parts.rows[i].bar, isLinear ? Math.abs(weight) / whole : Math.max(0, weight));
      setText(parts.rows[i].now, written(sheet, i, weight));
      parts.rows[i].bar.parentNode.style.setProperty("--plain", `${100 * (plain[i] ?? 0) / whole}%`);
      setText(parts.rows[i].plain, i < plain.length ? fill(texts.plainly, { weight: written(this.plain, i, plain[i]) }) : "");
    });
    parts.history.paint(this.history);
    parts.rows[weights.length].node.hidden = isLinear || !state.on.includes("sink");
    const [output, before] = [sheet, this.plain].map((one) =>
      `(${arrayOf(one, "output")[query].map((x) => short(x)).join(", ")})`);
    parts.output.replaceChildren(...inItalics(fill(texts.output, { token, output, plain: before })));
    setText(parts.kept, keptText(this.state));
    setText(parts.published, publishedText(this.data.published, this.state.on));
    this.tables.paint();
    paintOrigin(this);
  }

}

/** Open the figure on a page. */
export const open: Instrument = (data) => {
  const view = new SheetView(data);
  return { node: view.node, readAddress: () => view.readAddress() };
};
