/**
 * The part of an explorer for a block: how its numbers are written out, and below the strip, in order,
 * the rest of the block for the query's token. Normalised inputs of attention are above the strip.
 */

import { normalShare } from "../engine/attention-block.ts";
import { parsed, short } from "../engine/numbers.ts";
import { of as placeOf } from "../engine/places.ts";
import { LAYOUTS, inBrackets } from "../store/explorer-origins.ts";
import { explorer } from "../strings/explorer.ts";
import { explorerBlock as texts } from "../strings/explorer-block.ts";
import "../engine/origins-block.ts";
import { make, setText } from "./explorer-parts.ts";
import { extendStrip } from "./explorer-view.ts";
import type { Strip } from "./strip.ts";
import type { ExplorerData, Part, StripView } from "../types/explorer.ts";
import type { Numbers } from "../types/run.ts";

// Names of a block's numbers join those of attention once this module is loaded.
Object.assign(explorer.places, texts.places);

// ---- How numbers are written out ----

const { products } = LAYOUTS;

/** Items with a sign between them. */
const plus = (items: Part[][]): Part[] => items.flatMap((item, i) => (i ? ["+", ...item] : item));

Object.assign(LAYOUTS, ({
  /** A bias is a term of one factor. */
  products: (from, state) => from.terms.flatMap((term) =>
    (term.length > 1 ? products?.({ ...from, terms: [term] }, state) ?? [] : [term])),
  mean: ({ terms }) => [["(", ...plus(terms), `) ÷ ${terms.length}`]],
  spread: ({ terms }) => {
    const numbers = terms.slice(0, -2);
    const [[mean], [eps]] = terms.slice(-2);
    const squares = numbers.map(([number]) => ["(", number, "−", mean, ")²"]);
    const seen = parsed(short(eps.value)) ? [(p: number) => `+ ${short(eps.value, p)}`] : [];
    return [["√ ( (", ...plus(squares), `) ÷ ${numbers.length}`, ...seen, ")"]];
  },
  normalised: ({ terms: [[number], [mean], [spread], ...rest] }) => [["(", number, "−", mean,
    ") ÷", spread, ...rest.flatMap(([own]) => [own.name === "gain" ? "×" : "+", own])]],
  relu: ({ terms: [[hidden]] }) => [["max(0,", hidden, ")"]],
  gelu: ({ terms: [[hidden]] }) => [[hidden, "×",
    (p) => inBrackets(short(normalShare(hidden.value), p))]],
} as typeof LAYOUTS));

// ---- Around the strip ----

/**
 * How lines look. The style sheet, which every page with an explorer loads, has no room for it;
 * `_height_of_block` in mha/widgets/explorer.py keeps their height.
 */
const LOOKS = {
  line: "display: flex; flex-wrap: wrap; align-items: center",
  label: "flex: 0 1 11rem",
  numbers: "flex: 1 1 20rem",
  number: "min-width: 3.9rem; margin-top: 0.2rem; text-align: right",
  axis: "display: inline-block; box-sizing: content-box; width: 3.9rem; padding: 0 0.2rem; text-align: right",
  named: "display: inline-flex; align-items: center; max-width: 100%; vertical-align: top",
  name: "margin: 0.2rem 1rem 0 0.4rem; line-height: 1.5rem",
};

/** The stages of each line, before and after attention; absent stages are omitted. */
const BEFORE = [["start_means", "start_spreads"], ["start_normed"]];
const BEHIND = [["stream"], ["stream_means", "stream_spreads"], ["stream_normed"], ["hidden"],
  ["active"], ["fed"], ["total"], ["total_means", "total_spreads"], ["total_normed"]];

/** The label of a line: one label for all normalisations; that of the activations names ReLU or GELU. */
const label = ([stage]: string[], activation: string): string =>
  texts.block[stage === "active" ? activation : stage.replace(/^(start|stream|total)_/, "")];

/** Stages with the names of the stream's components above them. */
const NAMED = ["embeddings", "placed", "stream", "fed"];

/** The name beside a number that is not in the stream: a mean, a standard deviation, or its question. */
const nameIn = ({ asks }: ExplorerData, stage: string, i: number): string | undefined => {
  if (["hidden", "active"].includes(stage)) return asks?.[i];
  return stage.endsWith("_means") ? texts.block.mean : stage.endsWith("_spreads") ? texts.block.spread : undefined;
};

/** The numbers of a stage that belong to the query's token. */
function numbersOf(strip: Strip, stage: string): HTMLElement[] {
  const { data, numbers } = strip.explorer;
  const { length: count } = [(numbers as Numbers)[stage][0]].flat();
  return Array.from({ length: count }, (_, i) => {
    const node = strip.number(({ row }: StripView) => placeOf(stage, 0, row, i));
    node.style.cssText = LOOKS.number;
    const name = nameIn(data, stage, i);
    return name ? make("span", { style: LOOKS.named }, node, make("span", { className: "soft", style: LOOKS.name }, name)) : node;
  });
}

/** The names of the stream's numbers above a line of them, if they have any. */
const header = ({ axes }: ExplorerData, [stage]: string[]): HTMLElement[] => (axes && NAMED.includes(stage) ? [
  make("div", { className: "end-row soft", style: LOOKS.line, "aria-hidden": "true" }, make("span", { style: LOOKS.label }),
    make("span", { style: LOOKS.numbers }, ...axes.map((name) =>
      make("span", { style: LOOKS.axis }, name))))] : []);

/** Lines below their title, which names the query's token. */
function section(strip: Strip, title: string, lines: string[][]): HTMLElement {
  const { data, numbers } = strip.explorer;
  const token = make("i");
  strip.words.push((view: StripView) => setText(token, view.token));
  const [before, after] = title.split("{token}");
  const there = lines.map((stages) => stages.filter((stage) => (numbers as Numbers)[stage]))
    .filter(([stage]) => stage);
  const rows = there.flatMap((stages) => [...header(data, stages), make("div", { className: "end-row", style: LOOKS.line },
    make("span", { className: "soft", style: LOOKS.label }, label(stages, data.block?.activation ?? "")),
    make("span", { style: LOOKS.numbers },
      ...stages.flatMap((stage) => numbersOf(strip, stage))))]);
  return make("div", { className: "around" },
    make("p", { className: "strip-title" }, before, token, after), ...rows);
}

/** Add the stages of a block above and below a strip. */
function addBlock(strip: Strip) {
  const { placed, start_normed } = strip.explorer.numbers;
  const before = [[placed ? "placed" : "embeddings"], ...BEFORE];
  if (start_normed) strip.node.prepend(section(strip, texts.block.before, before));
  strip.node.append(section(strip, texts.block.title, BEHIND));
}

extendStrip(addBlock);
