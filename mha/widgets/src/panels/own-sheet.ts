/** The worksheet of an example, with its key: made on the page, and printed by the browser. */

import { short, shown } from "../engine/numbers.ts";
import { isGiven } from "../engine/origins.ts";
import { at as placeAt, isMatrix, valueAt } from "../engine/places.ts";
import { reached } from "../engine/signs.ts";
import { stages } from "../engine/stages.ts";
import { fill } from "../engine/text.ts";
import { make } from "../figures/explorer-parts.ts";
import { inBrackets, worked } from "../store/explorer-origins.ts";
import { compute, dimension, startOf } from "../store/explorer-state.ts";
import { own as texts } from "../strings/own.ts";
import type { ExplorerData, ExplorerNumbers, ExplorerState } from "../types/explorer.ts";
import type { MaskEntry, Matrix, Numbers, Place } from "../types/run.ts";

/** Stages of a head, in the order of the computation. */
const OF_HEAD = ["query", "key", "value", "scores", "scaled_scores", "exponentials", "weights",
  "head_outputs"];

/** Of these one word has a row each, in one table. */
const STEPS = OF_HEAD.slice(3, 7);

/** Text with exponents after ^ raised. */
const raised = (text: string) => text.split(/\s?\^\s?(\([^)]*\)|[^\s,.]+(?:\.\d+)?)/).map((part, i) =>
  (i % 2 ? make("sup", {}, part) : part));

/** A text with its {token} set as a word. */
const naming = (text: string, words: Record<string, string>): (Node | string)[] => text.split("{token}").flatMap((part, i) =>
  [...(i ? [make("i", { dir: "auto" }, words.token)] : []), fill(part, words)]);

/** So many columns, or letters above them, are too wide for a narrow page. */
const [COLUMNS, LETTERS] = [8, 60];

export class Sheet {
  data: ExplorerData;
  titles: Record<string, string>;
  isAll: boolean;
  meanings: string[];
  state: ExplorerState;
  numbers: Numbers & ExplorerNumbers;
  focus: number;
  tokens: string[];
  seen: boolean[];

  /**
   * @param data the result of `taken`
   * @param titles of the stages
   * @param isAll whether the sheet asks for all words, or only for the shown one
   * @param meanings the meanings of a word's numbers
   */
  constructor(data: ExplorerData, titles: Record<string, string>, isAll: boolean, meanings: string[] = []) {
    this.data = data;
    this.titles = titles;
    this.isAll = isAll;
    this.meanings = meanings;
    this.state = startOf(data);
    this.numbers = compute(data, this.state);
    this.focus = data.focus ?? 0;
    /** The words; a word that occurs twice has its position. */
    this.tokens = data.tokens.map((token, i, all) =>
      (all.indexOf(token) === all.lastIndexOf(token) ? token : dimension(token, i)));
    /** The words to which any word in question may attend: no other keys or values are needed. */
    this.seen = data.tokens.map((_, key) => (isAll ? data.tokens.map((__, row) => row) : [this.focus])
      .some((row) => !this.isHidden(row, key)));
  }

  /** Whether a mask hides a key from a word; masks are the same in all heads. */
  isHidden(row: number, key: number) {
    return this.numbers.mask[0][row][key] === -Infinity;
  }

  /** The sheet, and its key on a page of its own. */
  node() {
    return make("section", { className: "own-sheet", lang: "en" }, this.page(false), this.page(true));
  }

  page(isKey: boolean) {
    const { data, isAll } = this;
    const token = this.tokens[this.focus];
    const sentence = make("p", { className: "own-sentence" }, make("i", { dir: "auto" }, data.tokens.join(" ")));
    const head = isKey ? [] : [
      make("p", { className: "own-who" }, `${texts.sheetName} `, make("span"), ` ${texts.sheetDate} `,
        make("span"))];
    const asks = naming(isAll ? texts.sheetAsksAll : texts.sheetAsks, { token });
    return make("article", { className: isKey ? "own-key" : "own-page" },
      make("h1", {}, isKey ? `${texts.sheet}: ${texts.sheetKey}` : texts.sheet), ...head, sentence,
      ...(isKey ? [] : [make("p", {}, ...asks), make("h2", {}, texts.sheetGiven), this.given(),
        this.rules(), make("h2", {}, texts.sheetWork)]),
      ...data.heads.map((_, i) => this.head(i, isKey)), this.end(isKey),
      ...(isKey ? this.lines() : []));
  }

  /** The numbers that the example starts from. */
  given() {
    const { data, numbers } = this;
    const once = ["embeddings", "positions", "w_o"].filter((stage) => numbers[stage]);
    return make("div", { className: "own-given" },
      ...once.map((stage) => this.table(stage, null, true)),
      ...data.heads.map((name, head) => make("div", { className: "own-head" },
        make("h3", {}, name),
        ...["w_q", "w_k", "w_v"].map((stage) => this.table(stage, head, true)))),
      ...(data.masks ? [this.mask(data.masks[0])] : []));
  }

  /** The table of the mask, if words are padding. */
  mask(mask: MaskEntry[][]) {
    const { tokens } = this;
    return this.grid(texts.sheetMask, tokens, mask.map((row, i) => make("tr", {},
      make("th", {}, tokens[i]), ...row.map((may) => make("td", {}, String(Number(may)))))));
  }

  rules() {
    const { data, numbers } = this;
    const width = numbers.query[0][0].length;
    const { sheetRules: rules } = texts;
    const root = short(Math.sqrt(width));
    const isExact = Number.isInteger(Math.sqrt(width));
    const scaling = data.scale === null
      ? fill(isExact ? rules.rootExact : rules.root, { width, root })
      : fill(rules.scale, { scale: short(data.scale, 15) });
    const end = numbers.output ? rules.output : data.heads.length > 1 ? rules.join : rules.only;
    const all = [...(numbers.placed ? [rules.placed] : []), rules.project, rules.scores, scaling,
      rules.weights, rules.mix, end];
    return make("div", { className: "own-rules" }, make("ol", {}, ...all.map((rule) => make("li", {}, ...raised(rule)))),
      ...(data.isCausal ? [make("p", {}, texts.sheetCausal)] : []),
      make("p", {}, ...raised(texts.sheetRounding)), this.symbols());
  }

  /** The meanings of the letters of tables and lines. */
  symbols() {
    return make("p", {}, fill(texts.sheetSymbols, { end: this.numbers.output ? texts.sheetEnd : "" }));
  }

  /** The name of one of a word's numbers, with its meaning. */
  named(symbol: string, i: number): string {
    return [dimension(symbol, i), symbol === "x" ? this.meanings[i] : ""].filter(Boolean).join(" ");
  }

  head(head: number, isKey: boolean) {
    const { data, numbers } = this;
    const first = head === 0 && numbers.placed ? [this.table("placed", null, isKey)] : [];
    return make("div", {}, ...first, make("div", { className: "own-head" },
      make("h3", {}, data.heads[head]), ...OF_HEAD.flatMap((stage) =>
        (this.isAll || !STEPS.includes(stage) ? [this.table(stage, head, isKey)]
          : stage === STEPS[0] ? [this.steps(head, isKey)] : []))));
  }

  /** How the heads come together. */
  end(isKey: boolean) {
    const { data, numbers } = this;
    const stages = [...(data.heads.length > 1 ? ["concat"] : []), ...(numbers.output ? ["output"] : [])];
    return make("div", { className: "own-head" },
      ...stages.map((stage) => this.table(stage, null, isKey)));
  }

  /** Which rows of a stage are asked for. */
  rowsOf(stage: string) {
    const all = this.data.tokens.map((_, i) => i);
    const isOfAll = this.isAll || isGiven(this.data.inputs, stage) || isMatrix(stage);
    const rows = (this.arrayOf(stage, 0) as Matrix).map((_, i) => i);
    if (["key", "value"].includes(stage)) return rows.filter((i) => this.seen[i]);
    if (stage === "placed") return rows.filter((i) => this.isAll || this.seen[i] || i === this.focus);
    return isOfAll ? rows : all.slice(this.focus, this.focus + 1);
  }

  arrayOf(stage: string, head: number | null): Matrix {
    const { numbers } = this;
    const array = numbers[stage];
    return Array.isArray(array[0][0]) ? array[head ?? 0] : array;
  }

  table(stage: string, head: number | null, isFilled: boolean): HTMLElement {
    const { tokens } = this;
    const { columns: kind, rows: letter, symbol } = stages[stage];
    const array = this.arrayOf(stage, head);
    const isOfMatrix = isMatrix(stage);
    const columns = kind === "keys" ? tokens : array[0].map((_, i) => this.named(symbol, i));
    return this.grid(this.titles[stage], stage === "exponentials" ? [...columns, texts.sum] : columns,
      this.rowsOf(stage).map((row) => this.row(stage, head, row, isFilled,
        isOfMatrix ? this.named(letter ?? "", row) : tokens[row])));
  }

  /** The steps from one word's scores to its weights, one per row. */
  steps(head: number, isFilled: boolean): HTMLElement {
    const { focus, titles, tokens } = this;
    return this.grid(tokens[focus], [...tokens, texts.sum], STEPS.map((stage) =>
      this.row(stage, head, focus, isFilled, titles[stage])));
  }

  /** A row of a table; omitted numbers are to be computed. Masked numbers are filled in: a score of −∞. */
  row(stage: string, head: number | null, row: number, isFilled: boolean, label: string): HTMLElement {
    const given = isGiven(this.data.inputs, stage);
    const values = [...this.arrayOf(stage, head)[row],
      ...(stage === "exponentials" ? [this.numbers.row_sums[head ?? 0][row]] : [])];
    const text = (x: number) => (given ? short(x, 15)
      : short(x).length < shown(x).length ? short(x) : shown(x));
    const node = make("tr", {}, make("th", {}, label),
      ...values.map((x, column) => (STEPS.includes(stage) && column < this.tokens.length && this.isHidden(row, column)
        ? make("td", { className: "own-hidden" }, stage === "scores" || stage === "scaled_scores" ? "−∞" : "0")
        : make("td", {}, isFilled ? text(x) : ""))));
    Object.assign(node.dataset, { stage, row, ...(head !== null && { head }) });
    return node;
  }

  grid(caption: string, columns: string[], rows: HTMLElement[]): HTMLElement {
    const isWide = columns.length > COLUMNS || columns.join("").length > LETTERS;
    return make("table", { className: isWide ? "own-wide" : "" }, make("caption", {}, caption),
      make("thead", {}, make("tr", {}, make("th"), ...columns.map((name) => make("th", {}, name)))),
      make("tbody", {}, ...rows));
  }

  /** The computation of the numbers of the word in question, one per line. */
  lines() {
    const { data, numbers, focus, tokens } = this;
    const token = tokens[focus];
    const hidden = tokens.filter((_, key) => this.isHidden(focus, key));
    const line = (at: Place) => make("li", {}, ...raised(this.line(at)));
    const parts = data.heads.map((name, head) => {
      const places = OF_HEAD.filter((stage) => !["key", "value"].includes(stage)).flatMap((stage) => [
        ...numbers[stage][head][focus].map((_: number, j: number) =>
          placeAt(stage, head, focus, j)),
        ...(stage === "exponentials" ? [placeAt("row_sums", head, focus)] : []),
      ]).filter(({ stage, column }) => !STEPS.includes(stage) || column === null || !this.isHidden(focus, column));
      return make("div", {}, make("h3", {}, ...naming(texts.sheetLines, { token, head: name })),
        make("ul", { className: "own-lines" }, ...places.map(line)));
    });
    const end = numbers.output ? [make("h3", {}, ...naming(texts.sheetOutput, { token })),
      make("ul", { className: "own-lines" }, ...numbers.output[0].map(
        (_: number, j: number) => line(placeAt("output", focus, j))))] : [];
    const left = hidden.length ? [make("p", {}, fill(texts.sheetHidden, { words: hidden.join(", ") }))] : [];
    return [...left, ...parts, ...end];
  }

  /** The computation of a number. A score is divided by the root, as the rules say. */
  workedOut(at: Place) {
    const { data, numbers, state } = this;
    if (at.stage === "exponentials" && !numbers.shifts[at.head ?? 0][at.row ?? 0]) {
      const [exponent, value] = ["scaled_scores", "exponentials"].map((stage) => valueAt(numbers, { ...at, stage }));
      return reached((p) => [`e ^ ${inBrackets(short(exponent, p))}`], short(value));
    }
    if (at.stage !== "scaled_scores" || data.scale !== null || !Number.isFinite(valueAt(numbers, at))) {
      return worked(data, state, numbers, at);
    }
    const score = valueAt(numbers, { ...at, stage: "scores" });
    return reached((p) => [`${short(score, p)} ÷ √${numbers.query[0][0].length}`],
      short(valueAt(numbers, at)));
  }

  line(at: Place) {
    const { symbol, columns } = stages[at.stage];
    const name = columns === "keys" ? `${symbol}(${this.tokens[at.column]})`
      : at.column === null ? symbol : dimension(symbol, at.column);
    return `${name}: ${this.workedOut(at)}`;
  }
}

/** Print a sheet by the browser, and take it away afterwards. */
export function print(sheet: HTMLElement) {
  const { classList } = document.documentElement;
  const end = () => {
    classList.remove("own-printing");
    sheet.remove();
  };
  document.querySelector(".own-sheet")?.remove();
  document.body.append(sheet);
  classList.add("own-printing");
  window.addEventListener("afterprint", end, { once: true });
  window.print();
}
