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
import type { ExplorerNumbers, ExplorerState } from "../types/explorer.ts";
import type { Instrument } from "../types/panels.ts";
import type { Matrix, Place } from "../types/run.ts";

/** From so much on a share counts as a find. */
const LEAST = 0.4;

/** One layer, with the interface of an explorer for the texts that follow it. */
class LayerRun {
  base: any;
  data: any;
  start: ExplorerState;
  state: ExplorerState;
  numbers: ExplorerNumbers;
  letters: any;
  root: any;
  isFixed: boolean;
  told: (() => void)[];
  strip: { node: any; hands: { pointed: null; }; view: () => { row: number; head: number; }; light: () => any; };

  constructor(data: any, letters: any) {
    this.base = data;
    this.data = data;
    this.start = startOf(data);
    this.state = this.start;
    this.numbers = compute(data, this.state);
    this.letters = letters;
    this.root = letters.node;
    /** No number of it can be changed by itself. */
    this.isFixed = true;
    this.told = [];
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
  change(patch: any, embeddings?: Matrix) {
    this.state = { ...this.state, ...patch };
    const { inputs } = this.data;
    this.numbers = compute(embeddings ? { ...this.data, inputs: { ...inputs, embeddings } } : this.data,
      embeddings ? { ...this.state, edits: {} } : this.state);
  }
}

class Letters {
  data: any;
  name: string;
  node: any;
  labels: any;
  chosen: any;
  selects: any;
  on: any;
  status: any;
  shared: any;

  /** The first layer and the second. */
  layers: any[] = [];

  /** Of each layer the lines, a list a query. */
  flows: { lines: SVGLineElement[][], node: any }[] = [];

  /** The tokens from which each token has received information. */
  marks: HTMLElement[] = [];

  /** Of each letter, and of none, how likely it is next. */
  bars: { bar: any, number: any, node: any }[] = [];

  constructor(data: any, element: HTMLElement) {
    this.data = data;
    this.name = element.id.replace(/^letters-/, "");
    const [{ tokens }] = data.layers;
    this.node = make("div", { className: "letters" });
    this.layers = data.layers.map((layer: any) => new LayerRun(layer, this));
    this.labels = tokens;
    this.chosen = this.atFirst();
    this.build();
    this.paint();
  }

  /** The letter of each token, as an index; -1 for a token that is no letter. */
  atFirst() {
    const { what } = this.data.parts;
    return this.data.layers[0].inputs.embeddings.map((row: number[]) =>
      what.findIndex((i: number) => row[i] === 1));
  }

  build() {
    const { letters } = this.data;
    const tokens = this.labels.map((label: string, i: number) => {
      if (this.chosen[i] < 0) return make("span", { className: "token" }, make("i", {}, label));
      const select = make("select", { "aria-label": fill(texts.letter, { n: i }),
        onchange: () => { this.chosen[i] = select.selectedIndex; this.follow(); } },
      ...[...letters].map((letter) => make("option", {}, letter)));
      return make("span", { className: "token" }, select);
    });
    this.selects = tokens.map((token: Element) => token.querySelector("select"));
    this.marks = this.labels.map((_: string) => make("span", { className: "heard" }));
    this.flows = this.layers.map(() => this.flow());
    this.bars = [...letters, ""].map((letter) => {
      const [bar, number] = [make("span"), make("span", { className: "share" })];
      return { bar, number, node: make("span", { className: "guess" },
        letter ? make("i", {}, letter) : make("span", {}, texts.noLetter), make("span", { className: "bar" }, bar), number) };
    });
    this.on = make("input", { type: "checkbox", checked: true, onchange: () => this.follow() });
    this.status = make("p", { className: "status", role: "status" });
    const row = (...nodes: any[]) => make("div", { className: "tokens" }, ...nodes);
    this.shared = make("span", { className: "soft", role: "status" });
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
    const text = this.chosen.map((i: number) => this.data.letters[i] ?? "").join("");
    const off = this.on.checked ? "" : "&first=off";
    shareAddress(`#letters=${this.name}&text=${text}${off}`, this.shared);
  }

  /** The readable part of an address, with defaults for the rest. */
  readAddress() {
    const parts = partsOf("letters", this.name);
    if (!parts) return;
    const found = [...parts.get("text") ?? ""].map((letter) => this.data.letters.indexOf(letter));
    const all = this.atFirst();
    const places = all.flatMap((was: number, i: number) => (was < 0 ? [] : [i]));
    this.chosen = all;
    if (found.length === places.length && !found.includes(-1)) {
      places.forEach((place: number, i: number) => { all[place] = found[i]; });
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
    this.atFirst().forEach((was: number, row: number) => {
      if (was === this.chosen[row]) return;
      edits[`embeddings.${row}.${what[was]}`] = 0;
      edits[`embeddings.${row}.${what[this.chosen[row]]}`] = 1;
    });
    const tokens = this.labels.map((label: string, i: number) =>
      (this.chosen[i] < 0 ? label : label.replace(/\S+$/, this.data.letters[this.chosen[i]])));
    const off = [!this.on.checked];
    first.data = { ...first.base, tokens };
    second.data = { ...second.base, tokens };
    first.change({ edits, off });
    second.change({ edits, off: second.start.off }, first.numbers[first.base.end]);
    if (off[0]) second.state = { ...second.state, edits: { ...edits, off: 1 } };
    markCaption(this.node, off[0] || !same(this.chosen, this.atFirst()));
    this.paint();
    this.layers.forEach(({ told }) => told.forEach((tell: () => void) => tell()));
  }

  /** A pointed number's line. */
  light(layer: LayerRun) {
    const { pointed } = layer.strip.hands;
    const at = (pointed as any)?.at;
    this.flows[this.layers.indexOf(layer)].lines.forEach((line, query) => line.forEach((one, key) =>
      one.classList.toggle("lit", at?.row === query && (at.column === key || at.stage === "row_sums"))));
  }

  paint() {
    const [first, second] = this.layers;
    const { letters, parts: { before, following } } = this.data;
    this.selects.forEach((select: any, i: number) => {
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
    const left = first.numbers[first.base.end];
    this.marks.forEach((mark, row) => {
      const heard = before.map((i: number) => left[row][i]);
      const most = Math.max(...heard);
      const letter = letters[heard.indexOf(most)];
      setText(mark, most > LEAST ? fill(texts.after, { letter }) : row ? texts.afterNone : "");
    });
    const guess = following.map((i: number) => second.numbers[second.base.end][last][i]);
    // What is left was given to tokens that are no letter.
    const given = guess.reduce((sum: number, share: number) => sum + share, 0);
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
