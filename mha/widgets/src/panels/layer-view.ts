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
import { OriginLine } from "../figures/origin-line.ts";
import { makeMaps } from "../figures/weight-maps.ts";
import { explorer } from "../strings/explorer.ts";
import { layer as texts } from "../strings/layer.ts";
import type { About } from "../types/looking.ts";
import type { Instrument } from "../types/panels.ts";
import type { Calculation, Inputs, MaskEntry, Matrix, Numbers, Place, Run } from "../types/run.ts";

const { byRoot, byScale, columns, places } = explorer;

const dot = (left: number[], right: number[]): number => left.reduce((sum, x, i) => sum + x * right[i], 0);

/** The stage of each column; a key's share of the output follows. */
const STAGES = ["scores", "scaled_scores", "exponentials", "weights"];

/** The number of keys that are drawn first; the others follow. */
const SEEN = 12;

/** So many terms a line of arithmetic has at most without being shortened. */
const LONGEST = 12;

/** The data of a layer, as mha/widgets/layer.py writes it; the arrays are query, key and value. */
interface LayerData {
  tokens: string[];
  heads: string[];
  focus: number;
  isCausal: boolean;
  scale: number | null;
  /** Whether queries and keys were rotated before. */
  turned: boolean;
  masks: MaskEntry[][][] | null;
  arrays: { numbers: string, shape: number[] }[];
}

/** The address of a number: of the run, or the share of a key in the output. */
type Spot = Place | { stage: "share", key: number };

/** A key's row of the table; what follows its name is made when the row is filled. */
interface KeyRow {
  node: HTMLElement;
  made: { buttons: HTMLElement[], share: HTMLElement, bar: HTMLElement, signed: HTMLElement } | null;
}

const isShare = (at: Spot): at is { stage: "share", key: number } => at.stage === "share";

const cell = (...inside: Node[]) => make("td", {}, ...inside);

class LayerView {
  /** The inputs and the results of the heads that have been computed so far. */
  inputs: Inputs & Record<string, unknown>;
  numbers: Numbers = {};
  /** The heads that are not. */
  late: Set<number>;
  words: string[];
  state: { words: number[], place: number, head: number, at: Spot | null };
  about: About<Spot> = this.knowledge();
  line = new OriginLine<Spot>(this);

  title = make("p", { className: "strip-title", role: "status" });
  tokens: HTMLElement[];
  heads: HTMLElement[];
  most: HTMLElement[];
  maps: ReturnType<typeof makeMaps>;
  rows: KeyRow[];
  body = make("tbody");
  total = this.number(() => placeAt("row_sums", this.state.head, this.state.place));
  totals = [make("span"), make("span")];
  node: HTMLElement;

  constructor(public data: LayerData) {
    const { focus, heads, isCausal, scale, tokens } = data;
    this.inputs = { query: [], key: [], value: [], isCausal, scale };
    this.late = new Set(heads.keys());
    this.words = tokens;
    this.state = { words: tokens.map((_, i) => i), place: focus, head: 0, at: null };
    this.tokens = tokens.map((word, i) => makeButton(word, () => this.choose(i), { className: "model-word",
      "aria-label": fill(texts.word, { n: i + 1, word }) }));
    this.heads = heads.map((_, i) =>
      makeButton(fill(texts.head, { n: i + 1 }), () => this.choose(this.state.place, i), { className: "model-word" }));
    this.most = heads.map(() => make("small", { className: "soft" }, "\u00a0"));
    this.maps = makeMaps(this, heads);
    this.rows = tokens.map((word) =>
      ({ node: make("tr", {}, make("th", { scope: "row" }, make("i", {}, word))), made: null }));
    this.body.append(...this.rows.map(({ node }) => node));
    this.rows.slice(0, SEEN).forEach((_, key) => this.fillRow(key));
    this.node = this.build();
    this.work(this.state.head, focus);
    this.paint();
    new MutationObserver(() => this.maps.paint())
      .observe(document.documentElement, { attributeFilter: ["data-theme"] });
  }

  /** In its page it has the colours of the maps: the heads are worked out one after another. */
  placed() {
    inSlices([...this.data.heads.map((_, head) => () => {
      if (!this.isLate(head)) return;
      this.work(head);
      this.paintHeads();
    }), ...this.rows.slice(SEEN).map((_, i) => () => {
      this.fillRow(SEEN + i);
      this.paintRow(SEEN + i);
    })]);
  }

  // ---- Elements ----

  build() {
    const live = make("div", { className: "model-live" }, this.title,
      make("div", { className: "layer-tokens", role: "group", "aria-label": texts.tokens }, ...this.tokens),
      this.maps.node, this.line.node, this.table(), make("p", { className: "soft how" }, texts.help));
    this.line.closeByKey(live);
    return live;
  }

  /** The title above the map of a head. */
  titleOf(i: number) {
    return make("p", {}, this.heads[i], this.most[i]);
  }

  /** A number whose origin is asked for by a click. */
  number(at: () => Spot) {
    return makeButton("", () => this.line.ask(at()), { className: "number" });
  }

  fillRow(key: number) {
    const buttons = STAGES.map((stage) =>
      this.number(() => placeAt(stage, this.state.head, this.state.place, key)));
    const share = this.number(() => ({ stage: "share", key }));
    const [bar, signed] = [make("span"), make("span")];
    const row = this.rows[key];
    row.node.append(...buttons.map((button) => cell(button)), cell(make("span", { className: "model-bar" }, bar)),
      cell(share), cell(make("span", { className: "model-signed" }, signed)));
    row.made = { buttons, share, bar, signed };
  }

  table() {
    const by = this.data.scale === null
      ? fill(byRoot, { width: this.data.arrays[0].shape[2] })
      : fill(byScale, { scale: short(this.data.scale) });
    const heads = [texts.key, columns.scores, by, columns.exponentials, columns.weights, "",
      texts.share, ""];
    return make("div", { className: "layer-keys" }, make("table", { "aria-label": texts.keys },
      make("thead", {}, make("tr", {}, ...heads.map((text) =>
        (text ? make("th", { scope: "col" }, text) : make("td"))))),
      this.body,
      make("tfoot", {}, make("tr", {}, make("th", { scope: "row" }, texts.sum), cell(), cell(),
        cell(this.total), cell(this.totals[0]), cell(), cell(this.totals[1]), cell()))));
  }

  // ---- Changes ----

  choose(place: number, head: number = this.state.head) {
    if (place < 0 || place >= this.words.length) return;
    this.line.trail = [];
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
    const [query, key, value] = arrays.map(({ numbers, shape }) => matrixOf(numbers, shape, head));
    const mask = masks && (masks[head] ?? masks[0]);
    const inputs = { query: [query], key: [key], value: [value], scale };
    const { inputs: all } = this;
    [all.query, all.key, all.value].forEach((matrices, i) => { if (matrices) matrices[head] = [query, key, value][i]; });
    const run: Partial<Run> = trace(only === null ? { ...inputs, isCausal, masks: mask && [mask] }
      : { ...inputs, query: [[query[only]]],
        masks: [[key.map((_, j) => (isCausal && j > only ? false : mask ? mask[only][j] : true))]] });
    delete run.concat;
    Object.entries(run).forEach(([stage, [found]]) => {
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
  knowledge(): About<Spot> {
    const word = (i: number) => `${this.words[i]} (${i + 1})`;
    const dimension = (i: number | null) => String((i ?? 0) + 1);
    return {
      longest: LONGEST,
      name: (at) => {
        if (isShare(at)) return fill(texts.shareOf, { token: this.words[at.key], n: at.key + 1 });
        const isByKey = stages[at.stage].columns === "keys";
        return fill(places[this.stageOf(at.stage)], { row: word(at.row),
          column: isByKey ? word(at.column) : dimension(at.column) });
      },
      origin: (at) => (isShare(at) ? this.shareOrigin(at.key)
        : origin(this.inputs, this.numbers as Run, at)),
      given: (at) => (isShare(at) ? "" : fill(texts.given,
        { call: `mha.arithmetic(run, "${this.stageOf(at.stage)}", ${at.row}, ${at.column}, head=${at.head})` })),
      source: ({ place }) => place as Place,
      why: (at) => (!isShare(at) && STAGES.indexOf(at.stage) > 0
        && this.numbers.mask[at.head][at.row][at.column] === -Infinity ? texts.masked : ""),
    };
  }

  /** Weight times v·z, over z·z. */
  shareOrigin(key: number): Calculation {
    const { head, place: row } = this.state;
    const { along, whole } = this.shares();
    const place = placeAt("weights", head, row, key);
    const weight = { value: valueAt(this.numbers, place), place, name: "" };
    const by = { value: whole ? along[key] / whole : 0, place: null, name: "v·z over z·z" };
    return { operation: "product", terms: [[weight, by]] };
  }

  // ---- Painting ----

  paint() {
    const { words, numbers } = this;
    const { head, place } = this.state;
    const heads = this.data.heads.length;
    setText(this.title, fill(texts.title, { token: `${words[place]} (${place + 1})`,
      head: this.data.heads[head], heads }));
    this.tokens.forEach((node, i) => set(node, "aria-pressed", String(i === place)));
    const { shares } = this.shares();
    set(this.body, "class", `head-${head % 6}`);
    this.rows.forEach((_, key) => this.paintRow(key, shares));
    setText(this.total, shown(numbers.row_sums[head][place]));
    const both: number[][] = [numbers.weights[head][place], shares];
    const sums = both.map((row) => row.reduce((all, x) => all + x, 0));
    this.totals.forEach((node, i) => setText(node, shown(sums[i])));
    this.paintHeads();
    this.line.paint();
  }

  /** Paint the products of the query with a key, if the key's row is filled. */
  paintRow(key: number, shares: number[] = this.shares().shares) {
    const row = this.rows[key].made;
    const { head, place } = this.state;
    if (!row) return;
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
    const { state: { head, place }, words } = this;
    this.heads.forEach((node, i) => {
      set(node, "aria-pressed", String(i === head));
      if (this.isLate(i)) return;
      const row = this.weightsOf(i)[place];
      const n = row.indexOf(Math.max(...row));
      setText(this.most[i], fill(texts.most, { token: words[n], n: n + 1, weight: percent(row[n]) }));
    });
    if (this.node.isConnected) this.maps.paint();
  }
}

/** Open the figure on a page. */
export const open: Instrument = (data) => new LayerView(data);
