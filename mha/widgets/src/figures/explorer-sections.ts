/**
 * An explorer for an example that was made on the page: the element that mha/widgets/explorer.py
 * writes, and the tables of mha/widgets/explorer_tables.py. The tests hold both to the same text.
 */

import { short, shown } from "../engine/numbers.ts";
import { isGiven } from "../engine/origins.ts";
import { isMatrix } from "../engine/places.ts";
import { stages } from "../engine/stages.ts";
import { MAPS, compute, dimension, startOf } from "../store/explorer-state.ts";
import { make } from "./explorer-parts.ts";
import type { ExplorerData, ExplorerNumbers } from "../types/explorer.ts";
import type { Matrix, Numbers } from "../types/run.ts";

/** How many colours heads have, and how many characters of a token fit beside a table. */
const STYLES = 6;
const LONGEST = 9;

/** The smallest number of components of an embedding and its key that need two lines on a phone. */
const WIDE = 8;

/** The smallest width of an embedding for which a wide screen shows the query above the strip. */
const LONG = 4;

const escaped = (text: string) => text.replace(/[&<>"']/g, (sign) =>
  ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#x27;" }[sign] ?? ""));

/** A label with its index set low. */
const lowered = (label: string) => escaped(label).replace(/[₀-₉]+/g, (digits) =>
  `<sub>${[...digits].map((digit) => "₀₁₂₃₄₅₆₇₈₉".indexOf(digit)).join("")}</sub>`);

const lengthOf = (text: string) => [...text].length;

const longest = (labels: string[]) => Math.min(Math.max(...labels.map(lengthOf)), LONGEST);

const section = (title: string, body: string, mark: string = ""): string =>
  `<section class="stage ${mark}"><h3>${title}</h3>${body}</section>`;

const folded = (title: string, body: string): string =>
  `<details class="fold"><summary>${title}</summary>${body}</details>`;

class Sections {
  /** @param titles of the stages */
  constructor(public data: ExplorerData, public numbers: Numbers & ExplorerNumbers, public titles: Record<string, string>) {}

  title(stage: string) {
    const title = this.titles[stage].replace(/^Attention /, "");
    return title[0].toUpperCase() + title.slice(1).toLowerCase();
  }

  /** All of them, in the order of the computation. */
  text() {
    const { numbers } = this;
    const [d_k, d_v] = [numbers.query, numbers.value].map((heads) => heads[0][0].length);
    const widest = Math.max(d_k, d_v);
    const has = (...stages: string[]) => stages.filter((stage) => numbers[stage]);
    const tables = (stages: string[], columns: number) =>
      this.lanes((head) => has(...stages).map((stage) => this.table(stage, head)).join(""), columns);
    const of = (...stages: string[]) =>
      has(...stages).map((stage) => this.table(stage)).join("");
    const parts = [
      section("Inputs", of("embeddings", "positions", "placed")
        + folded("Projection matrices", tables(["w_q", "w_k", "w_v"], widest))),
      section("Queries, keys and values, per head", tables(["query", "key", "value"], widest)),
      section("Weight maps: one row per query, one column per key",
        MAPS.map((stage) => this.map(stage)).join(""), "maps"),
      section("Output of each head: values mixed by its weights", tables(["head_outputs"], d_v)),
      section("Concatenation: the heads side by side", this.table("concat", null, "bars", true), "end"),
    ];
    if (numbers.output) {
      parts.push(section("Output, and each head's share of it",
        folded("Output projection", of("w_o")) + this.table("output", null, "shares")
        + tables(["head_contributions"], numbers.output[0].length), "end"));
    }
    return parts.join("");
  }

  lanes(tables: (head: number) => string, widest: number): string {
    const lanes = this.data.heads.map((name: string, head: number) =>
      `<div class="lane head-${head % STYLES}" data-head="${head}" role="group"`
      + ` aria-label="${escaped(name)}"><p class="lane-name">${escaped(name)}</p>`
      + `${tables(head)}</div>`);
    return `<div class="lanes" style="--columns: ${widest}">${lanes.join("")}</div>`;
  }

  map(stage: string) {
    const { tokens } = this.data;
    const lanes = this.lanes((head) => this.table(stage, head, "heat"),
      tokens.length + Number(stage === "exponentials"));
    return `<div class="map" data-map="${stage}" style="--heading: ${longest(tokens)}">`
      + `<p class="map-name">${this.title(stage)}</p>${lanes}</div>`;
  }

  table(stage: string, head: number | null = null, look: string = "bars", grouped: boolean = false): string {
    const { data, numbers } = this;
    const { columns: kind, rows: letter, symbol } = stages[stage];
    let rows: Matrix = head === null ? numbers[stage] : numbers[stage][head];
    const isOfMatrix = isMatrix(stage);
    const isByKey = kind === "keys";
    const labels = isOfMatrix ? rows.map((_, i) => dimension(letter ?? "", i)) : data.tokens;
    let columns = isByKey ? data.tokens : rows[0].map((_, i) => dimension(symbol, i));
    if (look === "heat" && stage === "exponentials") {
      rows = rows.map((row, i) => [...row, numbers.row_sums[head ?? 0][i]]);
      columns = [...columns, "Row sum"];
    }
    const write = isGiven(data.inputs, stage) ? short : shown;
    const body = rows.map((row, i) => `<tr><th scope="row">${lowered(labels[i])}</th>`
      + row.map((x) => `<td>${write(x)}</td>`).join("") + "</tr>").join("");
    const tokens = isOfMatrix ? "" : isByKey ? "rows columns" : "rows";
    const [atHead, ofHead] = head === null ? ["", ""]
      : [` data-head="${head}"`, `<span class="aside">, head ${head + 1}</span>`];
    return `<div class="wide" style="--columns: ${columns.length}">`
      + `<table class="${look}" data-stage="${stage}"${atHead}`
      + ` data-tokens="${tokens}"><caption>${this.title(stage)}${ofHead}</caption>`
      + `<thead>${this.header(isOfMatrix, isByKey, columns, grouped)}</thead>`
      + `<tbody>${body}</tbody></table></div>`;
  }

  header(isOfMatrix: boolean, isByKey: boolean, columns: string[], grouped: boolean): string {
    const { heads } = this.data;
    const corner = isOfMatrix ? "From \\ to" : isByKey ? "Query \\ key" : "Token";
    const span = grouped ? ' rowspan="2"' : "";
    const first = `<th scope="col"${span}>${corner}</th>`;
    const labels = columns.map((label) => `<th scope="col">${lowered(label)}</th>`).join("");
    if (!grouped) return `<tr>${first}${labels}</tr>`;
    const width = columns.length / heads.length;
    const names = heads.map((name: string, head: number) =>
      `<th scope="colgroup" colspan="${width}" class="group head-${head % STYLES}"`
      + ` data-head="${head}">${escaped(name)}</th>`);
    return `<tr>${first}${names.join("")}</tr><tr>${labels}</tr>`;
  }
}

export const sectionsOf = (data: ExplorerData, titles: Record<string, string>): string => new Sections(data, compute(data, startOf(data)), titles).text();

/**
 * The element of an example.
 *
 * @param titles of the stages
 */
export function elementOf(data: ExplorerData, titles: Record<string, string>) {
  const { heads, inputs, tokens } = data;
  const { embeddings = [[]], w_k = [[[]]], w_o } = inputs;
  const isWide = embeddings[0].length + w_k[0][0].length >= WIDE;
  const long = embeddings[0].length >= LONG ? " long" : "";
  const joined = w_o ? "projected" : heads.length > 1 ? "joined" : "single";
  const style = { "--keys": tokens.length, "--heads": heads.length, "--tasks": 0,
    "--card": isWide ? "8.25rem" : "6.9rem" };
  const text = make("noscript");
  const body = make("div", { className: "body" }, text);
  // The tables are written when they are asked for.
  const write = () => {
    if (body.firstChild !== text || text.firstChild) return;
    const found = sectionsOf(data, titles);
    const digits = Math.max(...[...found.matchAll(/<td>([^<]*)/g)].map(([, number]) => number.length));
    body.style.cssText = `--digits: ${digits}; --label: ${longest(["Token", ...tokens])}`;
    text.append(found);
  };
  const node = document.createElement("mha-explorer");
  node.className = `with-strip ${joined} computed${long}`;
  node.append(make("div", { className: "face" }),
    make("details", { className: "fold all", ontoggle: write }, make("summary", {}, "All numbers"), body),
    make("script", { type: "application/json" }, JSON.stringify(data)));
  for (const [name, value] of Object.entries(style)) node.style.setProperty(name, String(value));
  return node;
}
