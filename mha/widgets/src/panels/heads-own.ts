/** A head that is recorded in full: one weight from its products on. */

import { shown } from "../engine/numbers.ts";
import { origin } from "../engine/origins.ts";
import { at as placeAt } from "../engine/places.ts";
import { stages } from "../engine/stages.ts";
import { fill } from "../engine/text.ts";
import { make, makeButton, scientific, set, setText } from "../figures/explorer-parts.ts";
import { ask } from "../figures/origin-line.ts";
import { heads as texts } from "../strings/heads.ts";
import { explorer } from "../strings/explorer.ts";
import type { Operand, Place } from "../types/run.ts";

const { places } = explorer;

/** The columns of the strip, from the score on. */
const STAGES = ["scores", "scaled_scores", "exponentials", "weights"];

/** How wide a head is. */
const WIDTH = 64;

/** In a step there is room for so much; the line has the number in full. */
const written = (value: number) => (Math.abs(value) < 1e6 ? shown(value) : scientific(value, 2));

// ---- The strip ----

export function stripOf(view: any) {
  const { parts } = view;
  const asked = (stage: string) => ask(view, placeAt(stage, 0, view.state.place, view.state.key));
  parts.stripTitle = make("span", { className: "model-title" });
  parts.whole = view.known.map((head: number) =>
    makeButton(view.brief(head), () => view.chooseHead(head, 0),
      { className: "reading-button", "aria-label": `${view.brief(head)}: ${view.nameOf(head)}` }));
  parts.bars = Array.from({ length: WIDTH }, () => make("span"));
  parts.products = makeButton("", () => asked("scores"), { className: "heads-products" });
  parts.products.append(...parts.bars);
  parts.steps = STAGES.map((stage) => makeButton("", () => asked(stage), { className: "number" }));
  parts.stepNames = STAGES.map(() => make("span", { className: "soft" }));
  parts.strip = make("div", { className: "heads-strip head-0" },
    make("span", { className: "heads-step heads-terms" }, make("span", { className: "soft" }, texts.productsName), parts.products),
    ...STAGES.map((_, i) => make("span", { className: "heads-step" }, parts.stepNames[i], parts.steps[i])));
  return make("div", { className: "heads-asked" }, make("p", { className: "heads-whole" }, parts.stripTitle,
    make("span", { role: "group", "aria-label": texts.stripHeads }, ...parts.whole)), parts.strip);
}

export function paintStrip(view: any) {
  const { known, parts, state: { heads: [head], key, place }, words, worked: { run } } = view;
  const named = (i: number) => `${words[i].trim()} (${i + 1})`;
  setText(parts.stripTitle, fill(known.includes(head) ? texts.strip : texts.stripNone,
    { from: named(place), to: named(key), head: view.nameOf(head) }));
  parts.whole.forEach((node: any, i: number) =>
    set(node, "aria-pressed", String(known[i] === head)));
  parts.strip.classList.toggle("empty", !run);
  [parts.products, ...parts.steps].forEach((button) => { button.disabled = !run; });
  if (!run) return;
  const products = run.turned_query[0][place].map((x: number, i: number) => x * run.turned_key[0][key][i]);
  const largest = Math.max(...products.map(Math.abs));
  parts.bars.forEach((bar: any, i: number) => {
    const size = (50 * Math.abs(products[i])) / largest;
    set(bar, ".height", `${size.toFixed(1)}%`);
    set(bar, ".top", `${(products[i] < 0 ? 50 : 50 - size).toFixed(1)}%`);
    set(bar, "class", products[i] < 0 ? "below" : "");
  });
  set(parts.products, "aria-label", fill(texts.products, { from: named(place), to: named(key),
    all: products.map((x: number) => shown(x, 2)).join(", ") }));
  STAGES.forEach((stage, i) => {
    setText(parts.stepNames[i], fill(texts.steps[i], { sum: written(run.row_sums[0][place]) }));
    setText(parts.steps[i], written(run[stage][0][place][key]));
  });
}

/** The known numbers of the head, for the line of arithmetic. */
export function aboutOf(view: any) {
  const word = (i: number) => `${view.words[i].trim()} (${i + 1})`;
  return {
    hint: texts.hint,
    name: ({ stage, row, column }: Place) => fill(places[stage], { row: word(row),
      column: stages[stage].columns === "keys" ? word(column) : String((column ?? 0) + 1) }),
    origin: (at: Place) => origin(view.worked.inputs, view.worked.run, at),
    given: ({ stage, row, column }: Place) => {
      const { heads: [head], sentence } = view.state;
      return fill(texts.given, { ...view.placeOf(head), sentence: JSON.stringify(view.sentences[sentence].text),
        stage, row, column });
    },
    source: (_: any, { place }: Operand) => place,
  };
}
