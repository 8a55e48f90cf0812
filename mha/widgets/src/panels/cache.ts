/**
 * A cache that fills while a text is written: each token's key and value are appended, its query is
 * multiplied by all stored keys and is not stored. Beside it is the same without a cache: everything is
 * computed again for each token.
 */

import { trace } from "../engine/attention.ts";
import { short, shown } from "../engine/numbers.ts";
import { fill } from "../engine/text.ts";
import { make, makeButton, set, setBar, setText } from "../figures/explorer-parts.ts";
import { TimeBar, eased, fly } from "../figures/time-bar.ts";
import { FigureState, wholes } from "../store/figure-state.ts";
import { cache as texts } from "../strings/steps.ts";
import type { Instrument } from "../types/panels.ts";
import type { Matrix, Run } from "../types/run.ts";

/** Tokens that a text may have, steps of each, and decimals of computed numbers. */
const MOST = 8;
const STEPS = 4;
const PLACES = 2;

/** Bytes of a number in the cache. */
const BYTES = 2;

const PACE = 2200;

const listed = (numbers: number[]): string => numbers.map((x) => shown(x, PLACES)).join(" ");

/** The data of a cache, as mha/widgets/cache.py writes it. */
interface CacheData {
  name: string;
  tokens: string[];
  /** The text at first, as indices of tokens. */
  text: number[];
  embeddings: Matrix;
  scale: number | null;
  w_q: Matrix[];
  w_k: Matrix[];
  w_v: Matrix[];
}

/** `again` shows the same without a cache. */
type CacheState = { text: number[], step: number, again: boolean };

/** The cells of a token's line, by the names of their columns. */
type Column = "token" | "query" | "key" | "weight" | "value" | "output";
type Line = Record<Column | "bar" | "number" | "node", HTMLElement>;

/** A number of multiplications, with a bar. */
type Count = Record<"bar" | "text" | "node", HTMLElement>;

class Cache {
  widths: { d: number, k: number, v: number };
  state: FigureState<CacheState>;
  bar: TimeBar;
  words: HTMLElement[];
  again = make("input", { type: "checkbox", onchange: () => this.state.change({ again: this.again.checked }) });
  full = make("span", { className: "soft", role: "status" });
  slots = Array.from({ length: MOST }, () => this.line("slot"));
  newest = this.line("newest");
  layer = make("div", { className: "steps-flight", "aria-hidden": "true" });
  counts: { cells: Count[], node: HTMLElement }[] = [texts.withCache, texts.without].map((title) => this.countsOf(title));
  kept = make("p", { className: "cache-kept" });
  node: HTMLElement;

  numbers!: Run;

  constructor(public data: CacheData) {
    const { embeddings, name, text, w_k: [key], w_v: [value] } = data;
    this.widths = { d: embeddings[0].length, k: key[0].length, v: value[0].length };
    this.state = new FigureState<CacheState>("cache", name, { text, step: STEPS * 2, again: false }, {
      text: (found) => (found.split("_").length <= MOST ? wholes(found, embeddings.length) : undefined),
      step: (found) => wholes(found, STEPS * MOST + 1)?.[0],
      again: (found) => (found === "1" ? true : undefined),
    }, () => this.paint());
    this.bar = new TimeBar({ count: 1, pace: PACE, label: (i) => this.label(i),
      show: (i, fraction) => this.show(i, fraction) });
    this.words = data.tokens.map((word, i) =>
      makeButton(word, () => this.append(i), { "aria-label": fill(texts.append, { token: word }) }));
    this.node = this.build();
    this.paint();
  }

  // ---- Elements ----

  build() {
    const heads = Object.entries(texts.columns).map(([name, title]) =>
      make("span", { className: `of-${name}`, role: "columnheader" }, title));
    const table = make("div", { className: "cache-table", role: "table", "aria-label": texts.slots },
      make("div", { className: "cache-line heading", role: "row" }, ...heads),
      ...this.slots.map(({ node }) => node), this.newest.node);
    return make("div", { className: "cache head-0" },
      make("div", { className: "steps-actions cache-words" }, make("span", { className: "soft" }, texts.write),
        ...this.words, make("label", { className: "choice" }, this.again, " ", texts.again), this.full),
      table, this.layer, this.bar.node, this.allCounts(), this.state.actions);
  }

  /** A token's line: its stored numbers, or the computed ones of the newest token. */
  line(name: string): Line {
    const cells = Object.fromEntries(Object.entries(texts.columns).map(([column, label]) => [column, make("span",
      { className: `of-${column}`, "data-label": label, role: column === "token" ? "rowheader" : "cell" })])) as Record<Column, HTMLElement>;
    const bar = make("span", {});
    const number = make("span", { className: "cache-number" });
    cells.weight.append(make("span", { className: "cache-bar" }, bar), number);
    const node = make("div", { className: `cache-line ${name}`, role: "row" }, ...Object.values(cells));
    return { ...cells, bar, number, node };
  }

  /** The multiplications of this token and of all tokens so far. */
  countsOf(title: string) {
    const cells = [0, 1].map(() => {
      const [bar, text] = [make("span"), make("span")];
      return { bar, text, node: make("td", {}, text, make("span", { className: "cache-bar" }, bar)) };
    });
    return { cells, node: make("tr", {}, make("th", { scope: "row" }, title), ...cells.map(({ node }) => node)) };
  }

  allCounts() {
    return make("div", {}, this.kept, make("table", { className: "cache-counts" },
      make("thead", {}, make("tr", {}, make("th", { scope: "col" }, texts.counts),
        make("th", { scope: "col" }, texts.this), make("th", { scope: "col" }, texts.all))),
      make("tbody", {}, ...this.counts.map(({ node }) => node))));
  }

  // ---- Changes ----

  /** Append a token, and show the steps. */
  append(token: number) {
    const { now } = this.state;
    const text = now.text.slice(0, Math.ceil(now.step / STEPS));
    if (text.length === MOST) {
      setText(this.full, fill(texts.full, { most: MOST }));
      return;
    }
    this.state.change({ text: [...text, token], step: STEPS * text.length });
    this.bar.play();
  }

  // ---- Numbers ----

  /** The numbers of multiplications and of stored numbers after `n` tokens. */
  sizes(n: number) {
    const { d, k, v } = this.widths;
    const project = d * (2 * k + v);
    const each = k + v;
    const one = project + each * n;
    // Of all steps up to this one: with a cache their sum, and each n times without.
    const sum = project * n + (each * n * (n + 1)) / 2;
    const sumAgain = (project * n * (n + 1)) / 2 + (each * n * (n + 1) * (2 * n + 1)) / 6;
    return { n, d, k, v, project, each, kept: n * each, bytes: BYTES * n * each, meet: n * k, mix: n * v,
      projectAgain: n * project, meetAgain: n * n * k, mixAgain: n * n * v,
      with: one, without: n * one, sum, sumAgain };
  }

  /** Which token is written at a step, counted from 1, and how far its own steps are. */
  at(step: number) {
    return { n: Math.ceil(step / STEPS), phase: (step + STEPS - 1) % STEPS };
  }

  label(step: number) {
    if (!step) return texts.start;
    const { n, phase } = this.at(step);
    const { again, text } = this.state.now;
    return fill(texts[again ? "stepsAgain" : "steps"][phase],
      { ...this.sizes(n), token: this.data.tokens[text[n - 1]] });
  }

  // ---- What is seen ----

  paint() {
    const { embeddings, scale, w_q, w_k, w_v } = this.data;
    const { again, step, text } = this.state.now;
    this.numbers = trace({ embeddings: text.map((i) => embeddings[i]), w_q, w_k, w_v, scale, isCausal: true });
    this.again.checked = again;
    setText(this.full, "");
    this.bar.recount(STEPS * text.length + 1);
    this.bar.refresh();
    if (step !== this.bar.at) this.bar.go(step);
  }

  show(step: number, fraction: number) {
    if (this.state.now.step !== step) this.state.move({ step });
    const { n, phase } = this.at(step);
    const x = eased(fraction);
    this.slots.forEach((_, i) => this.paintSlot(i, n - 1, phase, x));
    this.paintNewest(n - 1, phase, x);
    this.fly(n - 1, phase, fraction);
    this.paintCounts(this.sizes(n));
  }

  /**
   * @param i which token
   *
   * @param x how much of it has happened
   */
  paintSlot(i: number, newest: number, phase: number, x: number) {
    const { again, text } = this.state.now;
    const slot = this.slots[i];
    const isThere = newest >= 0 && (i < newest || (i === newest && phase > 0));
    const isAgain = again && isThere && i < newest;
    set(slot.node, "class", `cache-line slot${isThere ? "" : " free"}${isAgain ? " again" : ""}`
      + `${i === newest && isThere ? " fresh" : ""}`);
    set(slot.node, "aria-hidden", String(!isThere));
    const { query, key, value, weights, head_outputs } = this.numbers;
    setText(slot.token, isThere ? this.data.tokens[text[i]] : "");
    this.vector(slot.key, isThere ? key[0][i] : []);
    this.vector(slot.value, isThere ? value[0][i] : []);
    this.vector(slot.query, isAgain ? query[0][i] : []);
    this.vector(slot.output, isAgain && phase === STEPS - 1 ? head_outputs[0][i] : []);
    for (const cell of [slot.key, slot.value, slot.query]) {
      // What flies to its place is not there yet.
      const isFlying = i === newest && phase === 1 && x < 1;
      set(cell, ".opacity", isFlying ? 0 : isAgain && !phase ? x : 1);
    }
    const isWeighed = isThere && (phase > 2 || (phase === 2 && x * (newest + 1) >= i + 1));
    const weight = isWeighed ? weights[0][newest][i] : 0;
    setBar(slot.bar, weight);
    setText(slot.number, isWeighed ? shown(weight) : "");
  }

  paintNewest(newest: number, phase: number, x: number) {
    const { newest: line, data: { tokens }, state: { now: { text } } } = this;
    const { query, key, value, head_outputs } = this.numbers;
    const isThere = newest >= 0;
    setText(line.token, isThere ? tokens[text[newest]] : texts.nothing);
    this.vector(line.query, isThere ? query[0][newest] : []);
    this.vector(line.key, isThere ? key[0][newest] : []);
    this.vector(line.value, isThere ? value[0][newest] : []);
    this.vector(line.output, isThere && phase === STEPS - 1 ? head_outputs[0][newest] : []);
    set(line.node, "class", `cache-line newest phase-${isThere ? phase : "none"}`);
    for (const cell of [line.query, line.key, line.value]) set(cell, ".opacity", phase ? 1 : x);
    set(line.output, ".opacity", x < 1 ? x ** 3 : 1);
  }

  vector(cell: HTMLElement, numbers: number[]) {
    setText(cell, listed(numbers));
  }

  /** A key and a value fly to their place; the query goes from key to key; values fly to the output. */
  fly(newest: number, phase: number, fraction: number) {
    const { layer, newest: line, slots } = this;
    if (newest < 0 || fraction === 1 || !phase) {
      fly(layer, []);
      return;
    }
    const { left, top } = layer.getBoundingClientRect();
    const place = (cell: HTMLElement) => {
      // The numbers of the cell without their name, which precedes them on a phone.
      const numbers = document.createRange();
      numbers.selectNodeContents(cell);
      return [numbers.getBoundingClientRect().left - left, cell.getBoundingClientRect().top - top];
    };
    const between = (a: number[], b: number[], x: number) =>
      ({ left: a[0] + (b[0] - a[0]) * x, top: a[1] + (b[1] - a[1]) * x });
    const text = (cell: HTMLElement) => cell.textContent ?? "";
    const x = eased(fraction);
    if (phase === 1) {
      fly(layer, [[line.key, slots[newest].key], [line.value, slots[newest].value]].map(([from, to]) =>
        ({ text: text(from), ...between(place(from), place(to), x) })));
      return;
    }
    if (phase === 2) {
      const way = [line.query, ...slots.slice(0, newest + 1).map(({ key }) => key)];
      const along = x * (way.length - 1);
      const i = Math.min(Math.floor(along), way.length - 2);
      fly(layer, [{ text: text(line.query), ...between(place(way[i]), place(way[i + 1]), along - i) }]);
      return;
    }
    const weights = this.numbers.weights[0][newest] ?? [];
    fly(layer, slots.slice(0, newest + 1).map(({ value }, i) =>
      ({ text: text(value), opacity: 0.25 + 0.75 * weights[i],
        ...between(place(value), place(line.output), x) })));
  }

  paintCounts(sizes: ReturnType<Cache["sizes"]>) {
    const { again } = this.state.now;
    setText(this.kept, fill(again ? texts.keptAgain : texts.kept, sizes));
    const [[one, all], [oneAgain, allAgain]] = this.counts.map(({ cells }) => cells);
    const { n } = sizes;
    const count = (cell: Count, text: string, number: number, most: number) => {
      setText(cell.text, text);
      setBar(cell.bar, number / (most || 1));
    };
    count(one, n ? fill(texts.formula, { ...sizes, total: sizes.with }) : "0", n ? sizes.with : 0, sizes.without);
    count(oneAgain, n ? fill(texts.formulaAgain, { ...sizes, total: short(sizes.without) }) : "0",
      sizes.without, sizes.without);
    count(all, short(sizes.sum), sizes.sum, sizes.sumAgain);
    count(allAgain, short(sizes.sumAgain), sizes.sumAgain, sizes.sumAgain);
    this.counts.forEach(({ node }, i) =>
      node.classList.toggle("shown", Boolean(i) === again));
  }

  readAddress() {
    this.state.readAddress();
  }
}

/** Open the figure on a page. */
export const open: Instrument = (data) => new Cache(data);
