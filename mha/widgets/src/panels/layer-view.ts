/**
 * A layer too large for the strip: all heads as maps, one query of one head key by key, and the origins
 * of its numbers. It starts from queries, keys and values; the other stages are computed here, those of
 * the chosen head first.
 */

import { trace } from "../engine/attention.ts";
import { matrixOf } from "../engine/bytes.ts";
import { percent, short, shown } from "../engine/numbers.ts";
import { origin } from "../engine/origins.ts";
import { at as placeAt, valueAt } from "../engine/places.ts";
import { stages } from "../engine/stages.ts";
import { fill } from "../engine/text.ts";
import { inSlices, make, makeButton, set, setBar, setText } from "../figures/explorer-parts.ts";
import { ask, goBack, originOf, paintOrigin } from "../figures/origin-line.ts";
import { mapsOf, paintMaps } from "../figures/weight-maps.ts";
import { explorer } from "../strings/explorer.ts";
import { layer as texts } from "../strings/layer.ts";
import type { Instrument } from "../types/panels.ts";
import type { Matrix, Operand, Place } from "../types/run.ts";

const { byRoot, byScale, columns, places } = explorer;

const dot = (left: number[], right: number[]): number => left.reduce((sum, x, i) => sum + x * right[i], 0);

/** The stage of each column; a key's share of the output follows. */
const STAGES = ["scores", "scaled_scores", "exponentials", "weights"];

/** The number of keys that are drawn first; the others follow. */
const SEEN = 12;

/** So many terms a line of arithmetic has at most without being shortened. */
const LONGEST = 12;

class LayerView {
  data: any;
  inputs: any;
  late: Set<any>;
  numbers: any;
  words: any;
  state: any;
  trail: any[];
  parts: any;
  about: any;
  node: any;

  constructor(data: any) {
    this.data = data;
    const { focus, isCausal, scale, tokens } = this.data;
    /** The inputs and the results of the heads that have been computed so far. */
    this.inputs = { query: [], key: [], value: [], isCausal, scale };
    /** The heads that are not. */
    this.late = new Set(this.data.heads.keys());
    this.numbers = {};
    this.words = tokens;
    this.state = { words: tokens.map((_: string, i: number) => i),
      place: focus, head: 0, at: null };
    this.trail = [];
    this.parts = {};
    this.about = this.knowledge();
    this.node = this.build();
    this.work(this.state.head, focus);
    this.paint();
    new MutationObserver(() => paintMaps(this))
      .observe(document.documentElement, { attributeFilter: ["data-theme"] });
  }

  /** In its page it has the colours of the maps: the heads are worked out one after another. */
  placed() {
    inSlices([...this.data.heads.map((_: string, head: number) => () => {
      if (!this.isLate(head)) return;
      this.work(head);
      this.paintHeads();
    }), ...this.parts.rows.slice(SEEN).map((row: any, i: number) => () => {
      row.fill();
      this.paintRow(SEEN + i);
    })]);
  }

  // ---- Elements ----

  build() {
    const { parts, words } = this;
    parts.title = make("p", { className: "strip-title", role: "status" });
    parts.tokens = words.map((word: string, i: number) =>
      makeButton(word, () => this.choose(i), { className: "model-word",
        "aria-label": fill(texts.word, { n: i + 1, word }) }));
    parts.heads = this.data.heads.map((_: string, i: number) =>
      makeButton(fill(texts.head, { n: i + 1 }), () => this.choose(this.state.place, i),
        { className: "model-word" }));
    parts.most = parts.heads.map(() => make("small", { className: "soft" }, "\u00a0"));
    const live = make("div", { className: "model-live" }, parts.title,
      make("div", { className: "layer-tokens", role: "group", "aria-label": texts.tokens },
        ...parts.tokens), mapsOf(this, this.data.heads), originOf(this), this.table(),
      make("p", { className: "soft how" }, texts.help));
    live.addEventListener("keydown", (event: KeyboardEvent) => {
      if (event.key === "Escape" && this.state.at) goBack(this, true);
    });
    return live;
  }

  /** The title above the map of a head. */
  titleOf(i: number) {
    return make("p", {}, this.parts.heads[i], this.parts.most[i]);
  }

  table() {
    const { parts } = this;
    const number = (at: () => any) =>
      makeButton("", () => ask(this, at()), { className: "number" });
    const cell = (...inside: any[]) => make("td", {}, ...inside);
    parts.rows = this.words.map((word: string, key: number) => {
      const node = make("tr", {}, make("th", { scope: "row" }, make("i", {}, word)));
      const row: any = { node };
      row.fill = () => {
        const buttons = STAGES.map((stage) =>
          number(() => placeAt(stage, this.state.head, this.state.place, key)));
        const share = number(() => ({ stage: "share", key }));
        const bar = make("span", {});
        const signed = make("span", {});
        node.append(...buttons.map((button) => cell(button)), cell(make("span", { className: "model-bar" }, bar)),
          cell(share), cell(make("span", { className: "model-signed" }, signed)));
        Object.assign(row, { buttons, share, bar, signed });
      };
      if (key < SEEN) row.fill();
      return row;
    });
    parts.total = number(() => placeAt("row_sums", this.state.head, this.state.place));
    parts.totals = [make("span"), make("span")];
    const by = this.data.scale === null
      ? fill(byRoot, { width: this.data.arrays[0].shape[2] })
      : fill(byScale, { scale: short(this.data.scale) });
    const heads = [texts.key, columns.scores, by, columns.exponentials, columns.weights, "",
      texts.share, ""];
    return make("div", { className: "layer-keys" }, make("table", { "aria-label": texts.keys },
      make("thead", {}, make("tr", {}, ...heads.map((text) =>
        (text ? make("th", { scope: "col" }, text) : make("td"))))),
      make("tbody", {}, ...parts.rows.map(({ node }: any) => node)),
      make("tfoot", {}, make("tr", {}, make("th", { scope: "row" }, texts.sum), cell(), cell(),
        cell(parts.total), cell(parts.totals[0]), cell(), cell(parts.totals[1]), cell()))));
  }

  // ---- Changes ----

  choose(place: number, head: number = this.state.head) {
    if (place < 0 || place >= this.words.length) return;
    this.trail = [];
    this.work(head);
    this.state = { ...this.state, place, head, at: null };
    this.paint();
  }

  // ---- Numbers ----

  isLate(head: number) {
    return this.late.has(head);
  }

  /**
   * Compute a head once, or one of its queries alone, which takes less time.
   * @param only the query; null for the whole head
   */
  work(head: number, only: number | null = null) {
    if (!this.isLate(head)) return;
    const { arrays, isCausal, masks, scale } = this.data;
    const [query, key, value]: Matrix[] = arrays.map(({ numbers, shape }: any) =>
      matrixOf(numbers, shape, head));
    const mask = masks && (masks[head] ?? masks[0]);
    const inputs = { query: [query], key: [key], value: [value], scale };
    Object.entries({ query, key, value }).forEach(([name, matrix]) => { this.inputs[name][head] = matrix; });
    const run: any = trace(only === null ? { ...inputs, isCausal, masks: masks && [mask] }
      : { ...inputs, query: [[query[only]]],
        masks: [[key.map((_, j) => (isCausal && j > only ? false : mask ? mask[only][j] : true))]] });
    delete run.concat;
    Object.entries(run).forEach(([stage, [found]]: any) => {
      (this.numbers[stage] ??= [])[head] = only === null || stage === "key" || stage === "value" ? found
        : Object.assign([], { [only]: found[0] });
    });
    if (only === null) this.late.delete(head);
  }

  weightsOf(head: number): Matrix {
    return this.numbers.weights[head];
  }

  /** The output of the chosen head for the chosen query, and each value's share of it. */
  shares() {
    const { head, place } = this.state;
    const output = this.numbers.head_outputs[head][place];
    const whole = dot(output, output);
    const along = this.numbers.value[head].map((value: number[]) => dot(value, output));
    return { whole, along, shares: this.weightsOf(head)[place].map((weight, key) =>
      (whole ? (weight * along[key]) / whole : 0)) };
  }

  /** The name of a stage in a run of the package: queries and keys may have been rotated before. */
  stageOf(stage: string) {
    return this.data.turned && ["query", "key"].includes(stage) ? `turned_${stage}` : stage;
  }

  /** The known numbers of the layer, for the line of arithmetic. */
  knowledge() {
    const word = (i: number) => `${this.words[i]} (${i + 1})`;
    const dimension = (i: number | null) => String((i ?? 0) + 1);
    return {
      longest: LONGEST,
      name: (at: any) => {
        if (at.stage === "share") return fill(texts.shareOf, { token: this.words[at.key], n: at.key + 1 });
        const isByKey = stages[at.stage].columns === "keys";
        return fill(places[this.stageOf(at.stage)], { row: word(at.row),
          column: isByKey ? word(at.column) : dimension(at.column) });
      },
      origin: (at: any) => (at.stage === "share" ? this.shareOrigin(at.key)
        : origin(this.inputs, this.numbers, at)),
      given: ({ stage, head, row, column }: Place) => fill(texts.given,
        { call: `mha.arithmetic(run, "${this.stageOf(stage)}", ${row}, ${column}, head=${head})` }),
      source: (_: any, { place }: Operand) => place,
      why: ({ stage, head, row, column }: Place) => (STAGES.indexOf(stage) > 0
        && this.numbers.mask[head][row][column] === -Infinity ? texts.masked : ""),
    };
  }

  /** Weight times v·z, over z·z. */
  shareOrigin(key: number) {
    const { head, place: row } = this.state;
    const { along, whole } = this.shares();
    const place = placeAt("weights", head, row, key);
    const weight = { value: valueAt(this.numbers, place), place, name: "" };
    const by = { value: whole ? along[key] / whole : 0, place: null, name: "v·z over z·z" };
    return { place, operation: "product", terms: [[weight, by]] };
  }

  // ---- Painting ----

  paint() {
    const { parts, words, numbers } = this;
    const { head, place } = this.state;
    const heads = this.data.heads.length;
    setText(parts.title, fill(texts.title, { token: `${words[place]} (${place + 1})`,
      head: this.data.heads[head], heads }));
    parts.tokens.forEach((node: any, i: number) =>
      set(node, "aria-pressed", String(i === place)));
    const { shares } = this.shares();
    set(parts.rows[0].node.parentNode, "class", `head-${head % 6}`);
    parts.rows.forEach((_: any, key: number) => this.paintRow(key, shares));
    setText(parts.total, shown(numbers.row_sums[head][place]));
    const both: number[][] = [numbers.weights[head][place], shares];
    const sums = both.map((row) => row.reduce((all, x) => all + x, 0));
    parts.totals.forEach((node: any, i: number) => setText(node, shown(sums[i])));
    this.paintHeads();
    paintOrigin(this);
  }

  /** Paint the products of the query with a key, if the key's row is filled. */
  paintRow(key: number, shares: number[] = this.shares().shares) {
    const row = this.parts.rows[key];
    const { head, place } = this.state;
    if (!row.buttons) return;
    STAGES.forEach((stage, i) => setText(row.buttons[i], shown(this.numbers[stage][head][place][key])));
    setBar(row.bar, this.numbers.weights[head][place][key]);
    setText(row.share, shown(shares[key]));
    const largest = Math.max(1e-9, ...shares.map(Math.abs));
    const size = (50 * Math.abs(shares[key])) / largest;
    set(row.signed, ".left", `${shares[key] < 0 ? 50 - size : 50}%`);
    set(row.signed, ".width", `${size.toFixed(1)}%`);
    set(row.signed, "class", shares[key] < 0 ? "below" : "");
  }

  /** The summary of each head: its map, and the token with its largest weight. */
  paintHeads() {
    const { parts, state: { head, place }, words } = this;
    parts.heads.forEach((node: any, i: number) => {
      set(node, "aria-pressed", String(i === head));
      if (this.isLate(i)) return;
      const row = this.weightsOf(i)[place];
      const n = row.indexOf(Math.max(...row));
      setText(parts.most[i], fill(texts.most, { token: words[n], n: n + 1, weight: percent(row[n]) }));
    });
    if (this.node.isConnected) paintMaps(this);
  }
}

/** Open the figure on a page. */
export const open: Instrument = (data) => new LayerView(data);
