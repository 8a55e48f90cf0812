/**
 * Two layers on a few letters: the weights of each token, and the guess of the last one. A letter can
 * be changed, and the first layer omitted: the second follows, or fails. The layers are explorers' runs;
 * the output of the first is the input of the second.
 */

import "../figures/explorer-block.ts";
import { percent } from "../engine/numbers.ts";
import { fill } from "../engine/text.ts";
import { isPage, make, makeButton, markCaption, set, setBar, setText } from "../figures/explorer-parts.ts";
import { partsOf } from "../store/address.ts";
import { shareAddress } from "../store/share.ts";
import { compute, nameOf, startOf } from "../store/explorer-state.ts";
import { same } from "../store/same.ts";
import { letters as texts } from "../strings/letters.ts";
import type { ExplorerData, ExplorerNumbers, ExplorerState } from "../types/explorer.ts";
import type { Instrument } from "../types/panels.ts";
import type { Matrix, Numbers, Place } from "../types/run.ts";

/** From so much on a share counts as a find. */
const LEAST = 0.4;

/** The figure's data, as mha/widgets/letters.py writes it; the parts are components of a vector. */
interface LettersData {
  letters: string;
  layers: ExplorerData[];
  parts: Record<"what" | "before" | "following", number[]>;
}

/** One layer, with the interface of an explorer for the texts that follow it. */
class LayerRun {
  data: ExplorerData;
  start: ExplorerState;
  state: ExplorerState;
  numbers: ExplorerNumbers;
  root: HTMLElement;
  /** No number of it can be changed by itself. */
  isFixed = true;
  told: (() => void)[] = [];
  strip: { node: HTMLElement, hands: { pointed: { at: Place } | null }, view(): { row: number, head: number }, light(): void };

  constructor(public base: ExplorerData, public letters: Letters) {
    this.data = base;
    this.start = startOf(base);
    this.state = this.start;
    this.numbers = compute(base, this.state);
    this.root = letters.node;
    this.strip = {
      node: letters.node, hands: { pointed: null }, view: () => ({ row: this.state.query, head: 0 }),
      light: () => letters.light(this),
    };
  }

  nameOf(at: Place) {
    return nameOf(this.data, this.state, at);
  }

  reset() {
    this.letters.reset();
  }

  show() {
    // One query is drawn, and it stays.
  }

  /** @param embeddings that it reads, if they are not its own */
  change(patch: Partial<ExplorerState>, embeddings?: Matrix) {
    this.state = { ...this.state, ...patch };
    const { inputs } = this.data;
    this.numbers = compute(embeddings ? { ...this.data, inputs: { ...inputs, embeddings } } : this.data,
      embeddings ? { ...this.state, edits: {} } : this.state);
  }
}

/** The numbers that a layer passes on. */
const outOf = ({ base, numbers }: LayerRun): Matrix => (numbers as Numbers)[base.end];

class Letters {
  name: string;
  node = make("div", { className: "letters" });
  labels: string[];
  /** The letter of each token, as an index; -1 for a token that is no letter. */
  chosen: number[];
  selects: (HTMLSelectElement | null)[];
  on = make("input", { type: "checkbox", checked: true, onchange: () => this.follow() });
  status = make("p", { className: "status", role: "status" });
  shared = make("span", { className: "soft", role: "status" });

  /** The first layer and the second. */
  layers: LayerRun[];

  /** Of each layer the lines, a list a query. */
  flows: { lines: SVGLineElement[][], node: HTMLElement }[];

  /** The tokens from which each token has received information. */
  marks: HTMLElement[];

  /** Of each letter, and of none, how likely it is next. */
  bars: { bar: HTMLElement, number: HTMLElement, node: HTMLElement }[];

  constructor(public data: LettersData, element: HTMLElement) {
    this.name = element.id.replace(/^letters-/, "");
    this.layers = data.layers.map((layer) => new LayerRun(layer, this));
    this.labels = data.layers[0].tokens;
    this.chosen = this.atFirst();
    this.selects = this.labels.map((_, i) => (this.chosen[i] < 0 ? null : this.select(i)));
    this.marks = this.labels.map(() => make("span", { className: "heard" }));
    this.flows = this.layers.map(() => this.flow());
    this.bars = [...data.letters, ""].map((letter) => {
      const [bar, number] = [make("span"), make("span", { className: "share" })];
      return { bar, number, node: make("span", { className: "guess" },
        letter ? make("i", {}, letter) : make("span", {}, texts.noLetter), make("span", { className: "bar" }, bar), number) };
    });
    this.build();
    this.paint();
  }

  /** The letters as the figure shows them at first. */
  atFirst() {
    const { layers: [{ inputs: { embeddings = [] } }], parts: { what } } = this.data;
    return embeddings.map((row) => what.findIndex((i) => row[i] === 1));
  }

  /** The choice of the letter of a token. */
  select(i: number) {
    const select = make("select", { "aria-label": fill(texts.letter, { n: i }),
      onchange: () => { this.chosen[i] = select.selectedIndex; this.follow(); } },
    ...[...this.data.letters].map((letter) => make("option", {}, letter)));
    return select;
  }

  build() {
    const tokens = this.labels.map((label, i) =>
      make("span", { className: "token" }, this.selects[i] ?? make("i", {}, label)));
    const row = (...nodes: Node[]) => make("div", { className: "tokens" }, ...nodes);
    const share = makeButton(texts.copy, () => this.share(), { className: "reading-button" });
    this.node.append(make("p", { className: "strip-title" }, texts.title),
      row(...tokens), make("p", { className: "soft layer" }, texts.first), this.flows[0].node,
      row(...this.marks), make("p", { className: "soft layer" }, texts.second), this.flows[1].node,
      make("div", { className: "guesses" }, make("span", { className: "soft" }, texts.guess),
        ...this.bars.map(({ node }) => node)),
      this.status,
      make("div", { className: "line" }, make("label", {}, this.on, ` ${texts.isOn}`),
        makeButton(texts.reset, () => this.reset(), { className: "reading-button" }), ...(isPage ? [share, this.shared] : [])));
  }

  /** The lines from the tokens of a layer, above, to its outputs, below. */
  flow() {
    const space = "http://www.w3.org/2000/svg";
    const svg = document.createElementNS(space, "svg");
    const count = this.labels.length;
    set(svg, "viewBox", `0 0 ${count} 1`);
    set(svg, "preserveAspectRatio", "none");
    set(svg, "aria-hidden", "true");
    const lines = Array.from({ length: count }, (_, query) => Array.from({ length: query + 1 }, (__, key) => {
      const line = document.createElementNS(space, "line");
      Object.entries({ x1: key + 0.5, y1: 0, x2: query + 0.5, y2: 1 }).forEach(([name, at]) =>
        line.setAttribute(name, String(at)));
      svg.append(line);
      return line;
    }));
    return { lines, node: make("div", { className: "flow" }, svg) };
  }

  reset() {
    this.chosen = this.atFirst();
    this.on.checked = true;
    this.follow();
  }

  share() {
    const text = this.chosen.map((i) => this.data.letters[i] ?? "").join("");
    const off = this.on.checked ? "" : "&first=off";
    shareAddress(`#letters=${this.name}&text=${text}${off}`, this.shared);
  }

  /** The readable part of an address, with defaults for the rest. */
  readAddress() {
    const parts = partsOf("letters", this.name);
    if (!parts) return;
    const found = [...parts.get("text") ?? ""].map((letter) => this.data.letters.indexOf(letter));
    const all = this.atFirst();
    const places = all.flatMap((was, i) => (was < 0 ? [] : [i]));
    this.chosen = all;
    if (found.length === places.length && !found.includes(-1)) {
      places.forEach((place, i) => { all[place] = found[i]; });
    }
    this.on.checked = parts.get("first") !== "off";
    this.follow();
  }

  /** Set the letters as edits of the first layer's embeddings, and compute both layers. */
  follow() {
    setText(this.shared, "");
    const [first, second] = this.layers;
    const { what } = this.data.parts;
    const edits: Record<string, number> = {};
    this.atFirst().forEach((was, row) => {
      if (was === this.chosen[row]) return;
      edits[`embeddings.${row}.${what[was]}`] = 0;
      edits[`embeddings.${row}.${what[this.chosen[row]]}`] = 1;
    });
    const tokens = this.labels.map((label, i) =>
      (this.chosen[i] < 0 ? label : label.replace(/\S+$/, this.data.letters[this.chosen[i]])));
    const off = [!this.on.checked];
    first.data = { ...first.base, tokens };
    second.data = { ...second.base, tokens };
    first.change({ edits, off });
    second.change({ edits, off: second.start.off }, outOf(first));
    if (off[0]) second.state = { ...second.state, edits: { ...edits, off: 1 } };
    markCaption(this.node, off[0] || !same(this.chosen, this.atFirst()));
    this.paint();
    this.layers.forEach(({ told }) => told.forEach((tell) => tell()));
  }

  /** A pointed number's line. */
  light(layer: LayerRun) {
    const at = layer.strip.hands.pointed?.at;
    this.flows[this.layers.indexOf(layer)].lines.forEach((line, query) => line.forEach((one, key) =>
      one.classList.toggle("lit", at?.row === query && (at.column === key || at.stage === "row_sums"))));
  }

  paint() {
    const [first, second] = this.layers;
    const { letters, parts: { before, following } } = this.data;
    this.selects.forEach((select, i) => {
      if (select) select.selectedIndex = this.chosen[i];
    });
    const last = this.labels.length - 1;
    this.layers.forEach(({ numbers }, layer) => {
      this.flows[layer].lines.forEach((line, query) => line.forEach((one, key) => {
        const weight = numbers.weights[0][query][key];
        const isFaint = layer === 1 && query !== last;
        set(one, ".strokeWidth", `${(0.5 + 9 * weight).toFixed(1)}px`);
        const isOut = layer === 0 && !this.on.checked;
        set(one, ".opacity", (isFaint || isOut ? 0.12 : 0.15 + 0.85 * weight).toFixed(2));
      }));
    });
    const left = outOf(first);
    this.marks.forEach((mark, row) => {
      const heard = before.map((i) => left[row][i]);
      const most = Math.max(...heard);
      const letter = letters[heard.indexOf(most)];
      setText(mark, most > LEAST ? fill(texts.after, { letter }) : row ? texts.afterNone : "");
    });
    const guess = following.map((i) => outOf(second)[last][i]);
    // What is left was given to tokens that are no letter.
    const given = guess.reduce((sum, share) => sum + share, 0);
    const shares = [...guess, Math.max(0, 1 - given)];
    this.bars.forEach(({ bar, number }, i) => {
      setBar(bar, shares[i]);
      setText(number, percent(shares[i], 0));
    });
    setText(this.status, this.says(second.numbers.weights[0][last], guess));
  }

  /** @param weights of the last token */
  says(weights: number[], guess: number[]) {
    const { letters } = this.data;
    const last = letters[this.chosen[this.chosen.length - 1]];
    const most = guess.indexOf(Math.max(...guess));
    const words = { last, article: "AEFHILMNORSX".includes(last) ? "an" : "a",
      guess: letters[most], share: percent(guess[most], 0) };
    if (!this.on.checked) return texts.off;
    const found = weights.flatMap((weight, key) => (weight > LEAST ? [key] : []));
    if (!found.length) return fill(texts.none, words);
    if (found.length > 1) return fill(texts.both, words);
    const [key] = found;
    if (key === weights.length - 1) return fill(texts.itself, words);
    return fill(texts.finds, { ...words, found: letters[this.chosen[key]] });
  }

  /** The numbers that the page's text may follow. */
  get runs() {
    return this.layers;
  }
}

/** Open the figure on a page. */
export const open: Instrument = (data, element) => new Letters(data, element);
