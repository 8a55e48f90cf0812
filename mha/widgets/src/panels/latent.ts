/**
 * Latent attention at every width of the latent vector: the stored numbers, the ranks of keys and values,
 * and one query's scores, in the plain form and in the absorbed one.
 */

import { apart, difference, ranksOf, tablesOf, type LatentData, type Tables } from "../engine/latent-forms.ts";
import { short } from "../engine/numbers.ts";
import { fill } from "../engine/text.ts";
import { inItalics, make, makeButton, scientific, set, setBar, setText } from "../figures/explorer-parts.ts";
import { StepsState, wholes } from "../store/steps-state.ts";
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

class Latent {
  data: LatentData;
  most: number;
  whole: Tables[];
  state: StepsState;
  // deno-lint-ignore no-explicit-any -- elements by their part; see build
  parts: any = {};
  waiting: number | undefined;
  node: HTMLElement;

  constructor(data: LatentData) {
    this.data = data;
    this.most = data.order.length;
    this.whole = tablesOf(data, this.most);
    const { width, focus, head } = data;
    const below = (many: number) => (text: string) => wholes(text, many)?.[0];
    this.state = new StepsState("latent", data.name, { width, query: focus, head }, {
      width: (text) => below(this.most + 1)(text) || undefined,
      query: below(data.tokens.length), head: below(data.heads.length),
    }, () => this.paint());
    this.node = this.build();
    this.paint();
  }

  build() {
    const { data, parts } = this;
    parts.slider = make("input", { type: "range", min: 1, max: this.most, step: 1, "aria-label": texts.width,
      oninput: () => this.state.change({ width: Number(parts.slider.value) }, "width") });
    parts.width = make("span", { className: "latent-width" });
    const choices = (name: string, words: string[]) => words.map((word, i) =>
      makeButton(word, () => this.state.change({ [name]: i })));
    parts.heads = choices("head", data.heads);
    parts.queries = choices("query", data.tokens);
    const group = (name: string, buttons: HTMLElement[]) =>
      make("div", { className: "latent-choice", role: "group", "aria-label": name }, `${name}: `, ...buttons);
    const row = (title: string) => {
      const cells = Object.keys(texts.of).map(() => make("td"));
      return { cells, node: make("tr", {}, make("th", { scope: "row" }, title), ...cells) };
    };
    parts.ranks = [row(texts.now), row(texts.whole)];
    const heading = (words: string[]) => make("thead", {}, make("tr", {},
      ...words.map((word) => make("th", { scope: "col" }, word))));
    parts.rows = data.tokens.map((token) => {
      const cells = Object.keys(texts.columns).slice(1).map((name) => make("td", { className: `at-${name}` }));
      return { cells, node: make("tr", {}, make("th", { scope: "row" }, make("i", {}, token)), ...cells) };
    });
    parts.bar = make("span");
    parts.counts = [make("td"), make("td")];
    const foot = make("tr", { className: "soft" }, make("th", { scope: "row", colSpan: 3 }, texts.multiplications),
      ...parts.counts, make("td"));
    for (const name of ["stored", "published", "asked", "output"]) parts[name] = make("p");
    parts.status = make("p", { role: "status", className: "latent-said" });
    return make("div", { className: "latent head-0" }, make("p", { className: "soft how" }, texts.help),
      make("div", { className: "latent-bar" },
        make("label", { className: "latent-slider" }, `${texts.width} `, parts.slider, parts.width),
        group(texts.head, parts.heads), group(texts.query, parts.queries)),
      make("div", { className: "latent-halves" },
        make("div", {}, parts.stored, make("div", { className: "latent-bytes" }, parts.bar), parts.published,
          make("table", { className: "latent-ranks" }, heading([texts.ranks, ...Object.values(texts.of)]),
            make("tbody", {}, ...parts.ranks.map(({ node }: { node: Node }) => node)))),
        make("div", {}, parts.asked, make("table", { className: "latent-scores" }, heading(Object.values(texts.columns)),
          make("tbody", {}, ...parts.rows.map(({ node }: { node: Node }) => node)), make("tfoot", {}, foot)))),
      parts.output, parts.status, this.state.actions);
  }

  paint() {
    const { data, parts, most } = this;
    const { width, query, head } = this.state.now;
    const token = data.tokens[query];
    const heads = tablesOf(data, width);
    const [of, whole] = [heads, this.whole].map((all) => all[head]);
    const perHead = data.heads.length * (of("key")[0].length + of("value")[0].length);
    const bytes = BYTES * width;
    parts.slider.value = String(width);
    const named = fill(texts.ofWidth, { width, most });
    set(parts.slider, "aria-valuetext", named);
    setText(parts.width, named);
    for (const [buttons, now] of [[parts.heads, head], [parts.queries, query]]) {
      buttons.forEach((button: HTMLElement, i: number) => set(button, "aria-pressed", String(i === now)));
    }
    setBar(parts.bar, width / perHead);
    setText(parts.stored, fill(texts.stored, { numbers: width, bytes, all: perHead, allBytes: BYTES * perHead }));
    setText(parts.published, fill(texts.published, data.published));
    [heads, this.whole].forEach((all, i) => Object.values(ranksOf(all)).forEach((rank, j) =>
      setText(parts.ranks[i].cells[j], String(rank))));
    parts.asked.replaceChildren(...inItalics(fill(texts.queries, { token, query: vector(of("query")[query]),
      absorbed: vector(of("absorbed_query")[query]) })));
    parts.rows.forEach(({ cells, node }: { cells: HTMLElement[], node: HTMLElement }, i: number) => {
      const scores = [of("scores"), of("absorbed_scores"), whole("scores")].map((table) => table[query][i]);
      [listed(of("latent")[i]), listed(of("key")[i]), ...scores.map((x) => (i > query ? "" : short(x)))]
        .forEach((text, j) => setText(cells[j], text));
      node.classList.toggle("changed", i <= query && apart([scores[0]], [scores[2]]) > CLOSE);
    });
    const [n, d] = [query + 1, of("key")[0].length];
    setText(parts.counts[0], String(n * width * d + n * d));
    setText(parts.counts[1], String(d * width + n * width));
    const outputs = [of("output"), of("absorbed_output"), whole("output")].map((table) => table[query]);
    const [plain, absorbed, before] = outputs.map(vector);
    parts.output.replaceChildren(...inItalics(fill(texts.output,
      { token, plain, absorbed, whole: before, difference: size(difference(heads)) })));
    clearTimeout(this.waiting);
    const change = [apart(of("scores")[query].slice(0, n), whole("scores")[query].slice(0, n)),
      apart(outputs[0], outputs[2])];
    const [scores, output] = change.map(size);
    const said = fill(Math.max(...change) > CLOSE ? texts.said : texts.same, { width, bytes, token, scores, output });
    this.waiting = setTimeout(() => parts.status.replaceChildren(...inItalics(said)), PAUSE_MS);
  }
}

/** Open the figure on a page. */
export const open: Instrument = (data) => {
  const view = new Latent(data);
  return { node: view.node, readAddress: () => view.state.readAddress() };
};
