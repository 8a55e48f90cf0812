/**
 * Attention with the changes of newer models: switches, one query's weights beside those of plain
 * attention, and every table of the computation, whose numbers lead to their origins.
 */

import { parsed, short, shown } from "../engine/numbers.ts";
import { carriedOut, originOn } from "../engine/sheet.ts";
import { entered } from "../engine/typed-numbers.ts";
import { movable } from "../figures/dragged-field.ts";
import { fill } from "../engine/text.ts";
import {
  effectOf, inItalics, isPage, make, makeButton, makeChoice, makeComplaint, markCaption, scientific, set, setBar, setText,
} from "../figures/explorer-parts.ts";
import { historyButtons } from "../figures/history-buttons.ts";
import { ask, goBack, originOf, paintOrigin } from "../figures/origin-line.ts";
import { partsOf } from "../store/address.ts";
import { editNow } from "../store/edits.ts";
import { LAYOUTS } from "../store/explorer-origins.ts";
import { same } from "../store/explorer-state.ts";
import { History } from "../store/history.ts";
import { explorer } from "../strings/explorer.ts";
import { sheet as texts } from "../strings/sheet.ts";
import type { Instrument } from "../types/panels.ts";
import type { Matrix } from "../types/run.ts";

const { hidden, outcome, queryIs, redone, undone, unread, wasReset } = explorer;

/** The inputs that a reader can change; masks follow from the switches. */
const OPEN = ["query", "key", "value", "other_key", "other_value", "down", "up_key", "up_value", "angles", "decay",
  "gate"];

/** Which given table a switch makes use of. */
const USED_BY: Record<string, string> = { angles: "turn", gate: "gate", decay: "decay", other_key: "groups",
  other_value: "groups", down: "latent", up_key: "latent", up_value: "latent" };

/** Given tables whose rows are no tokens. */
const MATRICES = ["down", "up_key", "up_value"];

/** Changes that exclude each other: they store something else, or there is no softmax for one. */
const APART = [["groups", "latent"], ["latent", "eight"],
  ...["latent", "eight", "cap", "window", "top", "sink"].map((name) => ["decay", name])];

/** No given number may be larger: all exponentials can be computed. */
const MOST = 20;

/** From here on a number has an exponent. */
const LARGE = 1e6;

/** The decimals of an eps below a root, which is a small number. */
const EPS_PLACES = 6;

/** The delay before an effect is announced and the address written: browsers limit how often. */
const PAUSE_MS = 300;

/** A number of bfloat16, and that of eight bits, in bytes; a row of eight bits has a factor. */
const BYTES = { usual: 2, eight: 1 };

Object.assign(LAYOUTS, {
  capped: ({ terms: [[score], [cap]] }: any) => {
    const by = short(cap.value);
    return [[`${by} × tanh(`, score, `÷ ${by})`]];
  },
  sigmoid: ({ terms: [[x]] }: any) => [["1 ÷ (1 + e ^ −", x, ")"]],
  "largest size": ({ terms }: any) =>
    [["max of sizes (", ...terms.flatMap(([x]: any[], i: number) =>
      (i ? [",", x] : [x])), ")"]],
  "root mean square": ({ terms }: any) => {
    const [[eps], ...row] = [terms.at(-1), ...terms.slice(0, -1)];
    return [["√ ( (", ...row.flatMap(([x]: any[], i: number) =>
      (i ? ["+", x, "²"] : [x, "²"])), `) ÷ ${row.length} + ${short(eps.value, EPS_PLACES)} )`]];
  },
  rounded: ({ terms: [[x]] }: any) => [["rounded", x]],
  masked: () => [[texts.masked]],
});

/** The state that a reader can change; `at` is the selected number, which is not in the history. */
interface SheetState {
  on: string[];
  query: number;
  given: Record<string, Matrix>;
  at: { table: string, row: number, column: number } | null;
}

class SheetView {
  data: any;
  start: Omit<SheetState, "at">;
  state: SheetState;
  history: History<SheetState>;
  trail: any[];
  parts: any;
  about: any;
  waiting: any;
  before: any;
  names: string;
  made: any[];
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
        title: this.titleOf(table), row: this.labelOf(row, table),
        column: this.isOfKeys(table) ? this.labelOf(column) : column + 1 }),
      origin: ({ table, row, column }: any) =>
        originOn(this.sheet.steps, table, row, column),
      given: () => texts.isGiven,
      source: (_: any, { place }: any) => place,
      why: ({ table, row, column }: any) =>
        (originOn(this.sheet.steps, table, row, column).operation === "masked" ? texts.masked : ""),
    };
    /** The timers for writing the address and announcing the effect. */
    this.waiting = null;
    /** The sheet before what has not been said yet. */
    this.before = null;
    /** Which tables stand there. */
    this.names = "";
    this.made = [];
    this.compute();
    this.node = this.build();
    this.paint();
  }

  titleOf(table: string) {
    const { title, operation } = (this.sheet.steps.get(table) as any);
    return operation === "given" ? texts.given[title] : title;
  }

  labelOf(row: number, table = "") {
    return (!MATRICES.includes(table) && this.data.tokens[row]) || String(row + 1);
  }

  /**
   * Whether a table has a column for each key: one of scores, or made of one by something else than
   * mixing.
   */
  isOfKeys(table: string): boolean {
    const { of = [], operation } = (this.sheet.steps.get(table) as any);
    return ["decays", "dots"].includes(operation) || (operation !== "product" && of.length > 0 && this.isOfKeys(of[0]));
  }

  compute() {
    const { plan } = this.data;
    const { given, on } = this.state;
    this.plain = carriedOut(plan, given, new Set());
    this.sheet = carriedOut(plan, given, new Set(on));
  }

  /** A table by its role. */
  of(sheet: any, role: string): Matrix {
    return sheet.steps.get(sheet.roles[role]).array;
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
    parts.tables = make("div", { className: "sheet-tables" });
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
      make("div", { className: "sheet-said" }, parts.status), parts.tables, originOf(this));
    parts.error = makeComplaint(live);
    live.addEventListener("keydown", (event: KeyboardEvent) => {
      if (event.key === "Escape" && this.state.at) goBack(this, true);
      if (!(event.ctrlKey || event.metaKey) || event.key.toLowerCase() !== "z") return;
      event.preventDefault();
      (event.shiftKey ? parts.history.redo : parts.history.undo).click();
    });
    return live;
  }

  /** One table of the sheet. */
  table({ name, title, operation, array }: any) {
    const isOpen = operation === "given" && OPEN.includes(title);
    const rows = array.map((row: number[], i: number) =>
      make("tr", {}, make("th", { scope: "row" }, make("i", {}, this.labelOf(i, title))),
        ...row.map((_, j) => make("td", {}, isOpen ? this.field(title, i, j)
          : makeButton("", () => ask(this, { table: name, row: i, column: j }),
            { className: "number" })))));
    const names = array[0].length === 1 ? [] : array[0].map((_: number, j: number) => make("th", { scope: "col" },
      this.isOfKeys(name) ? make("i", {}, this.labelOf(j)) : String(j + 1)));
    const found = make("table", { className: "sheet-table" }, make("caption", {}, this.titleOf(name)),
      ...(names.length ? [make("thead", {}, make("tr", {}, make("td"), ...names))] : []),
      make("tbody", {}, ...rows));
    return make("div", { className: "sheet-scroll" }, found);
  }

  /** A number that can be changed. */
  field(role: string, row: number, column: number) {
    const input = make("input", { type: "text", inputMode: "decimal", autocomplete: "off",
      className: "number given", "aria-label": fill(texts.of, { title: texts.given[role],
        row: this.labelOf(row, role), column: column + 1 }) });
    const now = () => this.state.given[role][row][column];
    /** The number before an edit, which stays where the text is refused. */
    let kept = now();
    let edit = -1;
    input.addEventListener("focus", () => this.parts.error.clear());
    input.addEventListener("input", () => {
      if (edit !== editNow()) [edit, kept] = [editNow(), now()];
      this.enter(input, role, row, column, kept);
    });
    // Text that is refused does not stay beside numbers that are computed without it.
    input.addEventListener("change", () => { input.value = short(now()); });
    input.addEventListener("blur", () => this.paint());
    movable(input, now, MOST);
    return input;
  }

  // ---- Changes ----

  /** @param kept what stays if it is refused */
  enter(input: any, role: string, row: number, column: number, kept: number) {
    const { value, wrong } = entered(input.value, { most: MOST });
    const isRight = !wrong;
    const given = structuredClone(this.state.given);
    given[role][row][column] = isRight ? value : kept;
    this.change({ given }, [role, row, column].join(), isRight ? undefined : "");
    if (!isRight) this.parts.status.replaceChildren();
    this.parts.error.say(input, wrong);
  }

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
   * @param what is changed: a hand that goes on makes one change of it
   * @param sentence instead of what the change has moved
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
    if (this.parts.tables.contains(activeElement)) activeElement?.dispatchEvent(new Event("change"));
  }

  take(state: SheetState, sentence: string | (() => string) = () => this.effect(this.before)) {
    this.before ??= this.sheet;
    this.trail = [];
    this.state = state;
    this.compute();
    this.paint();
    markCaption(this.parts.tables, false, !same(state.given, this.start.given));
    clearTimeout(this.waiting);
    this.waiting = setTimeout(() => {
      this.parts.status.replaceChildren(...inItalics(typeof sentence === "string" ? sentence : sentence()));
      this.before = null;
      if (isPage) history.replaceState(null, "", this.toHash());
    }, PAUSE_MS);
  }

  /**
   * How far the query's row has moved. @param before the sheet as it was, or another
   * @param what is said of it
   */
  effect(before: any, what?: string): string {
    const { query } = this.state;
    const [weights, result] = ["weights", "output"].map((role) => {
      const [was, now] = [before, this.sheet].map((sheet) => this.of(sheet, role)[query]);
      return Math.max(...was.map((x, i) => Math.abs(x - now[i])));
    });
    return effectOf(weights, result, { token: this.data.tokens[query], end: outcome, what });
  }

  toHash() {
    const { on, query, given } = this.state;
    const parts = new URLSearchParams({ sheet: this.data.name, on: on.join("."), query: String(query) });
    for (const role of OPEN) {
      given[role].forEach((row: number[], i: number) =>
        row.forEach((x, j) => {
          if (x !== this.start.given[role][i][j]) parts.set(`${role}.${i}.${j}`, String(x));
        }));
    }
    return `#${parts}`;
  }

  /** Take what can be read of an address, and say whether something was left out: that is as at first. */
  readAddress() {
    const parts = partsOf("sheet", this.data.name);
    if (!parts) return;
    const names = this.parts.switches.map(({ name }: any) => name);
    const asked = (parts.get("on") ?? "").split(".").filter(Boolean);
    const on = asked.filter((name) => names.includes(name));
    const query = Number(parts.get("query") ?? this.start.query);
    const isQuery = query in this.data.tokens;
    const given = structuredClone(this.start.given);
    let isWhole = isQuery && on.length === asked.length;
    for (const [where, text] of parts) {
      if (["sheet", "on", "query"].includes(where)) continue;
      const [role, i, j] = where.split(".");
      const value = parsed(text);
      if (OPEN.includes(role) && given[role]?.[Number(i)]?.[Number(j)] !== undefined
        && Math.abs(value) <= MOST) given[role][Number(i)][Number(j)] = value;
      else isWhole = false;
    }
    this.history.clear();
    this.take({ on, given, query: isQuery ? query : this.start.query, at: null }, isWhole ? "" : unread);
    this.before = null; // what an address changes is no change of the reader's
  }

  // ---- Painting ----

  paint() {
    const { parts, data, state, sheet } = this;
    const { query } = state;
    const token = data.tokens[query];
    parts.switches.forEach(({ name, input }: any) => { input.checked = state.on.includes(name); });
    parts.queries.forEach((node: any, i: number) =>
      set(node, "aria-pressed", String(i === query)));
    const [weights, plain] = [sheet, this.plain].map((one) => this.of(one, "weights")[query]);
    const written = (one: any, key: number, weight: number) =>
      (this.isHidden(one, key) ? hidden : shown(weight));
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
      `(${this.of(one, "output")[query].map((x) => short(x)).join(", ")})`);
    parts.output.replaceChildren(...inItalics(fill(texts.output, { token, output, plain: before })));
    setText(parts.kept, this.kept());
    setText(parts.published, this.published());
    this.paintTables();
    paintOrigin(this);
  }

  /** Whether a mask hides a key from the query, or larger scores do. */
  isHidden(sheet: any, key: number) {
    const { query } = this.state;
    return sheet.roles.scaled ? this.of(sheet, "scaled")[query][key] === -Infinity : key > query;
  }

  /** The numbers on which the query's output depends. Hidden keys contribute nothing. */
  reached(): Set<string> {
    const { roles, steps } = this.sheet;
    const found: Set<string> = new Set();
    const visit = ({ table, row, column }: any) => {
      const where = [table, row, column].join();
      if (found.has(where)) return;
      found.add(where);
      const { operation, terms } = originOn(steps, table, row, column);
      if (operation === "masked") return;
      for (const operands of terms) {
        const places = operands.flatMap(({ place }: any) => place ?? []);
        const isLost = places.length > 1 && places.some((place: any) =>
          place.table === roles.weights && this.isHidden(this.sheet, place.column));
        if (!isLost) places.forEach(visit);
      }
    };
    this.of(this.sheet, "output")[0].forEach((_, column) =>
      visit({ table: roles.output, row: this.state.query, column }));
    return found;
  }

  /** The bytes that are stored per token for later tokens. */
  kept() {
    const { on, given } = this.state;
    const [keys, values] = [given.key[0].length, given.value[0].length];
    if (on.includes("decay")) {
      return fill(texts.state, { rows: keys, columns: values, bytes: keys * values * BYTES.usual });
    }
    if (on.includes("latent")) {
      const [{ length }] = given.down;
      return fill(texts.latent, { numbers: length, bytes: length * BYTES.usual, plain: (keys + values) * BYTES.usual,
        window: this.ofWindow() });
    }
    const isEight = on.includes("eight");
    const bytes = isEight ? (keys + values) * BYTES.eight + 2 * BYTES.usual : (keys + values) * BYTES.usual;
    return fill(isEight ? texts.keptInEight : texts.kept, { bytes, window: this.ofWindow(),
      heads: on.includes("groups") ? texts.ofGroup : "" });
  }

  /** For which tokens something is stored. */
  ofWindow() {
    const { on, given } = this.state;
    const tokens = Math.max(...given.window.map((row) => row.reduce((all, x) => all + x, 0)));
    return on.includes("window") ? fill(texts.ofWindow, { tokens }) : "";
  }

  /** The bytes that published models store with the changes that are on. */
  published() {
    const { published } = this.data;
    const on = Object.keys(published).filter((name) => this.state.on.includes(name));
    return (on.length ? on : ["plain"]).map((name) => fill(texts.published[name], published[name])).join(" ");
  }

  /** Tables are made anew only where others are there than before. */
  paintTables() {
    const { parts, sheet, state } = this;
    const seen = [...sheet.steps.values()].filter(({ operation, title }) => operation !== "given"
      || (OPEN.includes(title) && (!USED_BY[title] || state.on.includes(USED_BY[title]))));
    const names = seen.map(({ name, title }) => name + title).join();
    if (names !== this.names) {
      this.names = names;
      this.made = seen.map((step) => this.table(step));
      parts.tables.replaceChildren(...this.made);
    }
    const usual = new Set([...this.plain.steps.values()].map(({ title }) => title));
    const reached = this.reached();
    seen.forEach(({ name, title, array, operation }, i) => {
      const cells = [...this.made[i].querySelectorAll(".number")];
      const width = array[0].length;
      array.flat().forEach((x: number, at: number) => {
        const cell = cells[at];
        const text = Math.abs(x) < LARGE || x === -Infinity ? short(x) : scientific(x, 2);
        const isReached = reached.has([name, Math.floor(at / width), at % width].join());
        set(cell, "class", `number${cell.tagName === "INPUT" ? " given" : ""}${isReached ? "" : " pale"}`);
        if (cell.tagName !== "INPUT") setText(cell, text);
        else if (cell !== document.activeElement) cell.value = text;
      });
      this.made[i].firstChild.classList.toggle("added", operation !== "given" && !usual.has(title));
    });
  }
}

/** Open the figure on a page. */
export const open: Instrument = (data) => {
  const view = new SheetView(data);
  return { node: view.node, readAddress: () => view.readAddress() };
};
