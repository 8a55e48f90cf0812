/**
 * Latent attention at every width of the latent vector: the stored numbers, the ranks of keys and values,
 * and one query's scores, in the plain form and in the absorbed one.
 */

import { apart, difference, ranksOf, tablesOf, type LatentData, type Tables } from "../engine/latent-forms.ts";
import { short } from "../engine/numbers.ts";
import { fill } from "../engine/text.ts";
import { inItalics, make, makeButton, scientific, set, setBar, setText } from "../figures/explorer-parts.ts";
import { FigureState, wholes } from "../store/figure-state.ts";
import { latent as texts } from "../strings/latent.ts";
import type { Instrument } from "../types/panels.ts";

/** Bytes of a number of bfloat16. */
const BYTES = 2;

/** The delay before the effect is announced: a slider passes many widths. */
const PAUSE_MS = 300;

/** From here on two scores differ by more than rounding. */
const CLOSE = 1e-9;

const listed = (row: number[]): string => row.map((x) => short(x)).join(" ");

const vector = (row: number[]): string => `(${row.map((x) => short(x)).join(", ")})`;

/** A difference, or 0, as the page writes it. */
const size = (x: number): string => (x && x < 1e-4 ? scientific(x, 0) : short(x));

const headings = (words: string[]) => make("thead", {}, make("tr", {},
  ...words.map((word) => make("th", { scope: "col" }, word))));

function rowOf(title: Node | string, looks: string[]) {
  const cells = looks.map((className) => make("td", { className }));
  return { cells, node: make("tr", {}, make("th", { scope: "row" }, title), ...cells) };
}

class Latent {
  most: number;
  whole: Tables[];
  state: FigureState<{ width: number, query: number, head: number }>;
  waiting: number | undefined;

  slider: HTMLInputElement;
  width = make("span", { className: "latent-width" });
  heads: HTMLElement[];
  queries: HTMLElement[];
  ranks = [texts.now, texts.whole].map((title) => rowOf(title, Object.keys(texts.of).map(() => "")));
  rows: ReturnType<typeof rowOf>[];
  bar = make("span");
  counts = [make("td"), make("td")];
  stored = make("p");
  published = make("p");
  asked = make("p");
  output = make("p");
  status = make("p", { role: "status", className: "latent-said" });
  node: HTMLElement;

  constructor(public data: LatentData) {
    this.most = data.order.length;
    this.whole = tablesOf(data, this.most);
    const { width, focus, head } = data;
    const below = (many: number) => (text: string) => wholes(text, many)?.[0];
    this.state = new FigureState("latent", data.name, { width, query: focus, head }, {
      width: (text) => below(this.most + 1)(text) || undefined,
      query: below(data.tokens.length), head: below(data.heads.length),
    }, () => this.paint());
    this.slider = make("input", { type: "range", min: 1, max: this.most, step: 1, "aria-label": texts.width,
      oninput: () => this.state.change({ width: Number(this.slider.value) }, "width") });
    const choices = (name: string, words: string[]) => words.map((word, i) =>
      makeButton(word, () => this.state.change({ [name]: i })));
    this.heads = choices("head", data.heads);
    this.queries = choices("query", data.tokens);
    const looks = Object.keys(texts.columns).slice(1).map((name) => `at-${name}`);
    this.rows = data.tokens.map((token) => rowOf(make("i", {}, token), looks));
    this.node = this.build();
    this.paint();
  }

  build() {
    const group = (name: string, buttons: HTMLElement[]) =>
      make("div", { className: "latent-choice", role: "group", "aria-label": name }, `${name}: `, ...buttons);
    const foot = make("tr", { className: "soft" }, make("th", { scope: "row", colSpan: 3 }, texts.multiplications),
      ...this.counts, make("td"));
    return make("div", { className: "latent head-0" }, make("p", { className: "soft how" }, texts.help),
      make("div", { className: "latent-bar" },
        make("label", { className: "latent-slider" }, `${texts.width} `, this.slider, this.width),
        group(texts.head, this.heads), group(texts.query, this.queries)),
      make("div", { className: "latent-halves" },
        make("div", {}, this.stored, make("div", { className: "latent-bytes" }, this.bar), this.published,
          make("table", { className: "latent-ranks" }, headings([texts.ranks, ...Object.values(texts.of)]),
            make("tbody", {}, ...this.ranks.map(({ node }) => node)))),
        make("div", {}, this.asked, make("table", { className: "latent-scores" }, headings(Object.values(texts.columns)),
          make("tbody", {}, ...this.rows.map(({ node }) => node)), make("tfoot", {}, foot)))),
      this.output, this.status, this.state.actions);
  }

  paint() {
    const { data, most } = this;
    const { width, query, head } = this.state.now;
    const token = data.tokens[query];
    const heads = tablesOf(data, width);
    const [of, whole] = [heads, this.whole].map((all) => all[head]);
    const perHead = data.heads.length * (of("key")[0].length + of("value")[0].length);
    const bytes = BYTES * width;
    this.slider.value = String(width);
    const named = fill(texts.ofWidth, { width, most });
    set(this.slider, "aria-valuetext", named);
    setText(this.width, named);
    this.heads.forEach((button, i) => set(button, "aria-pressed", String(i === head)));
    this.queries.forEach((button, i) => set(button, "aria-pressed", String(i === query)));
    setBar(this.bar, width / perHead);
    setText(this.stored, fill(texts.stored, { numbers: width, bytes, all: perHead, allBytes: BYTES * perHead }));
    setText(this.published, fill(texts.published, data.published));
    [heads, this.whole].forEach((all, i) => Object.values(ranksOf(all)).forEach((rank, j) =>
      setText(this.ranks[i].cells[j], String(rank))));
    this.asked.replaceChildren(...inItalics(fill(texts.queries, { token, query: vector(of("query")[query]),
      absorbed: vector(of("absorbed_query")[query]) })));
    this.rows.forEach(({ cells, node }, i) => {
      const scores = [of("scores"), of("absorbed_scores"), whole("scores")].map((table) => table[query][i]);
      [listed(of("latent")[i]), listed(of("key")[i]), ...scores.map((x) => (i > query ? "" : short(x)))]
        .forEach((text, j) => setText(cells[j], text));
      node.classList.toggle("changed", i <= query && apart([scores[0]], [scores[2]]) > CLOSE);
    });
    const [n, d] = [query + 1, of("key")[0].length];
    setText(this.counts[0], String(n * width * d + n * d));
    setText(this.counts[1], String(d * width + n * width));
    const outputs = [of("output"), of("absorbed_output"), whole("output")].map((table) => table[query]);
    const [plain, absorbed, before] = outputs.map(vector);
    this.output.replaceChildren(...inItalics(fill(texts.output,
      { token, plain, absorbed, whole: before, difference: size(difference(heads)) })));
    clearTimeout(this.waiting);
    const change = [apart(of("scores")[query].slice(0, n), whole("scores")[query].slice(0, n)),
      apart(outputs[0], outputs[2])];
    const [scores, output] = change.map(size);
    const said = fill(Math.max(...change) > CLOSE ? texts.said : texts.same, { width, bytes, token, scores, output });
    this.waiting = setTimeout(() => this.status.replaceChildren(...inItalics(said)), PAUSE_MS);
  }
}

/** Open the figure on a page. */
export const open: Instrument = (data) => {
  const view = new Latent(data);
  return { node: view.node, readAddress: () => view.state.readAddress() };
};
