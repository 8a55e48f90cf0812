/** A head that is recorded in full: one weight from its products on. */

import { shown } from "../engine/numbers.ts";
import { origin } from "../engine/origins.ts";
import { at as placeAt } from "../engine/places.ts";
import { stages } from "../engine/stages.ts";
import { fill } from "../engine/text.ts";
import { make, makeButton, scientific, set, setText } from "../figures/explorer-parts.ts";
import { heads as texts } from "../strings/heads.ts";
import { explorer } from "../strings/explorer.ts";
import type { HeadsFigure } from "../types/heads.ts";
import type { About } from "../types/looking.ts";
import type { Numbers, Place, Run } from "../types/run.ts";

const { places } = explorer;

/** The columns of the strip, from the score on. */
const STAGES = ["scores", "scaled_scores", "exponentials", "weights"];

/** How wide a head is. */
const WIDTH = 64;

/** In a step there is room for so much; the line has the number in full. */
const written = (value: number) => (Math.abs(value) < 1e6 ? shown(value) : scientific(value, 2));

// ---- The strip ----

/** One weight step by step. */
export function makeStrip(view: HeadsFigure) {
  const asked = (stage: string) => view.line.ask(placeAt(stage, 0, view.state.place, view.state.key));
  const title = make("span", { className: "model-title" });
  const whole = view.known.map((head) =>
    makeButton(view.brief(head), () => view.chooseHead(head, 0),
      { className: "reading-button", "aria-label": `${view.brief(head)}: ${view.nameOf(head)}` }));
  const bars = Array.from({ length: WIDTH }, () => make("span"));
  const products = makeButton("", () => asked("scores"), { className: "heads-products" });
  products.append(...bars);
  const steps = STAGES.map((stage) => makeButton("", () => asked(stage), { className: "number" }));
  const stepNames = STAGES.map(() => make("span", { className: "soft" }));
  const strip = make("div", { className: "heads-strip head-0" },
    make("span", { className: "heads-step heads-terms" }, make("span", { className: "soft" }, texts.productsName), products),
    ...STAGES.map((_, i) => make("span", { className: "heads-step" }, stepNames[i], steps[i])));
  const node = make("div", { className: "heads-asked" }, make("p", { className: "heads-whole" }, title,
    make("span", { role: "group", "aria-label": texts.stripHeads }, ...whole)), strip);

  function paint() {
    const { known, state: { heads: [head], key, place }, words, worked: { run } } = view;
    const named = (i: number) => `${words[i].trim()} (${i + 1})`;
    setText(title, fill(known.includes(head) ? texts.strip : texts.stripNone,
      { from: named(place), to: named(key), head: view.nameOf(head) }));
    whole.forEach((button, i) =>
      set(button, "aria-pressed", String(known[i] === head)));
    strip.classList.toggle("empty", !run);
    [products, ...steps].forEach((button) => { button.disabled = !run; });
    if (!run) return;
    const { turned_query: [query] = [], turned_key: [keys] = [] } = run;
    const terms = query[place].map((x, i) => x * keys[key][i]);
    const largest = Math.max(...terms.map(Math.abs));
    bars.forEach((bar, i) => {
      const size = (50 * Math.abs(terms[i])) / largest;
      set(bar, ".height", `${size.toFixed(1)}%`);
      set(bar, ".top", `${(terms[i] < 0 ? 50 : 50 - size).toFixed(1)}%`);
      set(bar, "class", terms[i] < 0 ? "below" : "");
    });
    set(products, "aria-label", fill(texts.products, { from: named(place), to: named(key),
      all: terms.map((x) => shown(x, 2)).join(", ") }));
    STAGES.forEach((stage, i) => {
      setText(stepNames[i], fill(texts.steps[i], { sum: written(run.row_sums[0][place]) }));
      setText(steps[i], written((run as Numbers)[stage][0][place][key]));
    });
  }

  return { node, paint };
}

/** The known numbers of the head, for the line of arithmetic. */
export function aboutOf(view: HeadsFigure): About<Place> {
  const word = (i: number) => `${view.words[i].trim()} (${i + 1})`;
  return {
    hint: texts.hint,
    name: ({ stage, row, column }) => fill(places[stage], { row: word(row),
      column: stages[stage].columns === "keys" ? word(column) : String((column ?? 0) + 1) }),
    origin: (at) => origin(view.worked.inputs, view.worked.run as Run, at),
    given: ({ stage, row, column }) => {
      const { heads: [head], sentence } = view.state;
      return fill(texts.given, { ...view.placeOf(head), sentence: JSON.stringify(view.sentences[sentence].text),
        stage, row, column });
    },
    source: ({ place }) => place as Place,
  };
}
