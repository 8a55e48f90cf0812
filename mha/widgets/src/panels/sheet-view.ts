/**
 * Attention with the changes of newer models: switches, one query's weights beside those of plain
 * attention, and every table of the computation, whose numbers lead to their origins.
 */

import { short, shown } from "../engine/numbers.ts";
import { type PlanStep, type Sheet, type Spot, arrayOf, carriedOut, originOn } from "../engine/sheet.ts";
import { fill } from "../engine/text.ts";
import {
  effectOf, inItalics, isPage, make, makeButton, makeChoice, makeComplaint, markCaption, set, setBar, setText,
} from "../figures/explorer-parts.ts";
import { historyButtons } from "../figures/history-buttons.ts";
import { OriginLine } from "../figures/origin-line.ts";
import { partsOf } from "../store/address.ts";
import { same } from "../store/same.ts";
import { History } from "../store/history.ts";
import { type SheetChoices, fromParts, toHash } from "../store/sheet-address.ts";
import { explorer } from "../strings/explorer.ts";
import { sheet as texts } from "../strings/sheet.ts";
import "./sheet-layouts.ts";
import { keptText, publishedText } from "./sheet-storage.ts";
import { tablesOf } from "./sheet-tables.ts";
import type { Choice, Complaint } from "../types/fields.ts";
import type { About } from "../types/looking.ts";
import type { Instrument } from "../types/panels.ts";
import type { Matrix } from "../types/run.ts";

const { hidden, outcome, queryIs, redone, undone, unread, wasReset } = explorer;

/** Changes that exclude each other: they store something else, or there is no softmax for one. */
const APART = [["groups", "latent"], ["latent", "eight"],
  ...["latent", "eight", "cap", "window", "top", "sink"].map((name) => ["decay", name])];

/** The delay before an effect is announced and the address written: browsers limit how often. */
const PAUSE_MS = 300;

/** The state that a reader can change; `at` is the selected number, which is not in the history. */
interface SheetState extends SheetChoices {
  at: Spot | null;
}

/** The data of a sheet, as mha/widgets/variants_explorer.py writes it. */
interface SheetData {
  name: string;
  tokens: string[];
  plan: PlanStep[];
  given: Record<string, Matrix>;
  /** The switches that are on at first, and the query. */
  on: string[];
  focus: number;
  /** The bytes of published models with a change, by its switch. */
  published: Record<string, Record<string, string>>;
}

class SheetView {
  start: SheetChoices;
  state: SheetState;
  history: History<SheetState>;
  plain: Sheet;
  sheet: Sheet;
  about: About<Spot> = {
    name: ({ table, row, column }) => fill(texts.of, {
      title: this.tables.titleOf(table), row: this.tables.labelOf(row, table),
      column: this.tables.isOfKeys(table) ? this.tables.labelOf(column) : column + 1 }),
    origin: ({ table, row, column }) => originOn(this.sheet.steps, table, row, column),
    given: () => texts.isGiven,
    source: ({ place }) => place as unknown as Spot, // see sheet.ts
    why: ({ table, row, column }) =>
      (originOn(this.sheet.steps, table, row, column).operation === "masked" ? texts.masked : ""),
  };
  line = new OriginLine<Spot>(this);
  tables: ReturnType<typeof tablesOf> = tablesOf(this, (at) => this.line.ask(at), () => this.error);
  /** The timer for writing the address and announcing the effect. */
  waiting: number | undefined;
  /** The sheet before the changes that are not announced yet. */
  before: Sheet | null = null;

  switches: (Choice & { name: string })[];
  queries: HTMLElement[];
  title = make("p", { className: "strip-title" });
  rows: { bar: HTMLElement, room: HTMLElement, now: HTMLElement, plain: HTMLElement, node: HTMLElement }[];
  output = make("p");
  kept = make("p", { className: "soft" });
  published = make("p", { className: "soft" });
  status = make("p", { role: "status" });
  buttons = historyButtons(() => this.restore(this.history.undo(this.now()), undone),
    () => this.restore(this.history.redo(this.now()), redone));
  node: HTMLElement;
  error: Complaint;

  constructor(public data: SheetData) {
    this.start = { on: data.on, query: data.focus, given: data.given };
    this.state = { ...structuredClone(this.start), at: null };
    this.history = new History();
    this.plain = this.computed([]);
    this.sheet = this.computed(this.state.on);
    const switches = new Set(data.plan.flatMap(({ switch: name = "" }) => name.split(" ").filter(Boolean)));
    this.switches = Object.keys(texts.names).filter((name) => switches.has(name)).map((name) =>
      ({ name, ...makeChoice("checkbox", `${data.name}-on`, texts.names[name], (isOn) => this.turn(name, isOn)) }));
    this.queries = data.tokens.map((token, i) =>
      makeButton(token, () => this.change({ query: i }, "", fill(queryIs, { token })), { className: "model-word" }));
    this.rows = [...data.tokens, texts.sink].map((token) => {
      const [bar, now, plain] = [make("span"), make("span"), make("span", { className: "soft" })];
      const room = make("span", { className: "bar" }, bar);
      return { bar, room, now, plain, node: make("li", {}, make("i", {}, token), room, now, plain) };
    });
    this.node = this.build();
    this.error = makeComplaint(this.node);
    this.paint();
  }

  /** The sheet with some switches on. */
  computed(on: string[]): Sheet {
    return carriedOut(this.data.plan, this.state.given, new Set(on));
  }

  // ---- Elements ----

  build() {
    const { redo, undo } = this.buttons;
    const reset = makeButton(texts.reset, () => this.change(structuredClone(this.start), "", wasReset),
      { className: "reading-button" });
    const live = make("div", { className: "sheet-live" },
      make("p", { className: "soft how" }, texts.help),
      make("div", { className: "sheet-top" },
        make("fieldset", {}, make("legend", {}, texts.switches),
          make("div", { className: "sheet-switches" },
            ...this.switches.map(({ node }) => node))),
        make("div", { className: "sheet-now head-0" },
          make("div", { className: "sheet-bar" },
            make("div", { className: "sheet-queries", role: "group", "aria-label": texts.query },
              `${texts.query}: `, ...this.queries),
            make("div", { className: "sheet-history" }, undo, redo, reset)),
          this.title, make("ul", {}, ...this.rows.map(({ node }) => node)),
          this.output, this.kept, this.published)),
      make("div", { className: "sheet-said" }, this.status), this.tables.node, this.line.node);
    this.line.closeByKey(live);
    live.addEventListener("keydown", (event) => {
      if (!(event.ctrlKey || event.metaKey) || event.key.toLowerCase() !== "z") return;
      event.preventDefault();
      (event.shiftKey ? redo : undo).click();
    });
    return live;
  }

  // ---- Changes ----

  turn(name: string, isOn: boolean) {
    const excluded = APART.filter((pair) => isOn && pair.includes(name)).flat();
    const off = this.state.on.filter((one) => one !== name && excluded.includes(one));
    const on = this.state.on.filter((one) => one !== name && !off.includes(one));
    if (isOn) on.push(name, ...(name === "stretch" && !on.includes("turn") ? ["turn"] : []));
    const wanted = name === "turn" && !isOn ? on.filter((one) => one !== "stretch") : on;
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
    this.error.clear();
    // A field that is typed in shows it too.
    const { activeElement } = document;
    if (this.tables.node.contains(activeElement)) activeElement?.dispatchEvent(new Event("change"));
  }

  take(state: SheetState, sentence: string | (() => string) = () => this.effect(this.before ?? this.sheet)) {
    this.before ??= this.sheet;
    this.line.trail = [];
    this.state = state;
    this.plain = this.computed([]);
    this.sheet = this.computed(state.on);
    this.paint();
    markCaption(this.tables.node, false, !same(state.given, this.start.given));
    clearTimeout(this.waiting);
    this.waiting = setTimeout(() => {
      this.status.replaceChildren(...inItalics(typeof sentence === "string" ? sentence : sentence()));
      this.before = null;
      if (isPage) history.replaceState(null, "", this.toHash());
    }, PAUSE_MS);
  }

  /**
   * How far the query's row has moved. @param before the sheet as it was, or another
   * @param what the subject of the sentence
   */
  effect(before: Sheet, what?: string): string {
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
    const switches = this.switches.map(({ name }) => name);
    const { isWhole, ...state } = fromParts(parts, this.start, switches, this.data.tokens.length);
    this.history.clear();
    this.take({ ...state, at: null }, isWhole ? "" : unread);
    this.before = null; // what an address changes is no change of the reader's
  }

  clearStatus() {
    this.status.replaceChildren();
  }

  // ---- Painting ----

  paint() {
    const { data, output, rows, state, sheet, title } = this;
    const { query } = state;
    const token = data.tokens[query];
    this.switches.forEach(({ name, input }) => { input.checked = state.on.includes(name); });
    this.queries.forEach((node, i) =>
      set(node, "aria-pressed", String(i === query)));
    const [weights, plain] = [sheet, this.plain].map((one) => arrayOf(one, "weights")[query]);
    const written = (one: Sheet, key: number, weight: number) =>
      (this.tables.isHidden(one, key) ? hidden : shown(weight));
    const isLinear = state.on.includes("decay");
    title.replaceChildren(...inItalics(fill(isLinear ? texts.factors : texts.weights, { token })));
    const left = 1 - weights.reduce((all, x) => all + x, 0);
    // Without a softmax a factor may be negative, or larger than 1.
    const whole = Math.max(1, ...weights.map(Math.abs));
    [...weights, left].forEach((weight, i) => {
      setBar(rows[i].bar, isLinear ? Math.abs(weight) / whole : Math.max(0, weight));
      setText(rows[i].now, written(sheet, i, weight));
      rows[i].room.style.setProperty("--plain", `${100 * (plain[i] ?? 0) / whole}%`);
      setText(rows[i].plain, i < plain.length ? fill(texts.plainly, { weight: written(this.plain, i, plain[i]) }) : "");
    });
    this.buttons.paint(this.history);
    rows[weights.length].node.hidden = isLinear || !state.on.includes("sink");
    const [now, before] = [sheet, this.plain].map((one) =>
      `(${arrayOf(one, "output")[query].map((x) => short(x)).join(", ")})`);
    output.replaceChildren(...inItalics(fill(texts.output, { token, output: now, plain: before })));
    setText(this.kept, keptText(this.state));
    setText(this.published, publishedText(this.data.published, this.state.on));
    this.tables.paint();
    this.line.paint();
  }
}

/** Open the figure on a page. */
export const open: Instrument = (data) => {
  const view = new SheetView(data);
  return { node: view.node, readAddress: () => view.readAddress() };
};
