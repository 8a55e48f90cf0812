/** The parts of a word's logit: the number that each head and layer of the trained model adds to it. */

import { sharesAt } from "../engine/model-arithmetic.ts";
import { percent, shown } from "../engine/numbers.ts";
import { at as placeAt } from "../engine/places.ts";
import { fill } from "../engine/text.ts";
import { make, makeButton, set, setText } from "../figures/explorer-parts.ts";
import { model as texts } from "../strings/model.ts";
import type { ModelView } from "../types/panels.ts";

/** The largest part for which a bar has room; a larger part makes all bars shorter. */
const LARGEST = 10;

type Row = { bar: HTMLElement, number: HTMLElement, row: HTMLElement };

/** The parts as bars; each number leads to its origin. */
export function sharesOf(model: ModelView) {
  const choice: HTMLSelectElement = make("select", { "aria-label": texts.partsOf,
    onchange: () => model.change({ word: Number(choice.value) }) },
  ...model.words.map((word, i) => make("option", { value: i }, word)));
  const rows: Row[] = texts.partNames.map((name, i) => {
    const bar = make("span", { className: "model-signed" }, make("span", {}));
    const number = makeButton("", () => model.ask(1, placeAt("shares", i, model.state.place,
      model.chosen)), { className: "number" });
    return { bar: bar.firstChild as HTMLElement, number, row: make("li", {}, make("span", {}, name), bar, number) };
  });
  const logit: HTMLElement = makeButton("", () => model.ask(1, placeAt("logits", model.state.place, model.chosen)),
    { className: "number" });
  const logitName: HTMLElement = make("span");
  const chance: HTMLElement = makeButton("", () => model.ask(1, placeAt("probabilities", model.state.place,
    model.chosen)), { className: "number" });
  const node: HTMLElement = make("div", {}, make("p", { className: "model-title" }, texts.partsOf, " ", choice),
    make("ol", { className: "model-shares" },
      ...rows.map(({ row }) => row),
      make("li", { className: "total" }, logitName, make("span"), logit),
      make("li", {}, texts.chance, make("span"), chance)));

  function paint() {
    const { place } = model.state;
    const shares = sharesAt(model.found, place).map((part) => part[model.chosen]);
    const largest = Math.max(LARGEST, ...shares.map(Math.abs));
    choice.value = String(model.chosen);
    rows.forEach(({ bar, number }, i) => {
      const size = (50 * Math.abs(shares[i])) / largest;
      set(bar, ".left", `${shares[i] < 0 ? 50 - size : 50}%`);
      set(bar, ".width", `${size.toFixed(1)}%`);
      set(bar, "class", shares[i] < 0 ? "below" : "");
      setText(number, shown(shares[i], 2));
    });
    setText(logitName, fill(texts.wordsLogit, { word: model.words[model.chosen] }));
    const { logits, probabilities } = model.found.blocks[1].numbers;
    setText(logit, shown(logits[place][model.chosen], 2));
    setText(chance, percent(probabilities[place][model.chosen]));
  }

  return { node, paint };
}
