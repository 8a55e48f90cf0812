/** The controls of a layer that learns: its seed, heads, learning rate and steps; undo, redo, reset and share. */

import { short } from "../engine/numbers.ts";
import { entered } from "../engine/typed-numbers.ts";
import { isPage, make, makeButton, makeEntry, set } from "../figures/explorer-parts.ts";
import { historyButtons } from "../figures/history-buttons.ts";
import type { History } from "../store/history.ts";
import { HEADS, RATES, SEEDS, STEPS } from "../store/learning-settings.ts";
import { learning as texts } from "../strings/learning.ts";
import type { LearningState } from "../types/panels.ts";

/** What the controls change. */
interface Layer {
  settings: LearningState;
  start: LearningState;
  history: History<LearningState>;
  change(changes: Partial<LearningState>): void;
  now(): LearningState;
  restore(settings: LearningState | undefined): void;
  share(): void;
}

/** The controls of a layer, and the status of its training. */
export function controlsOf(layer: Layer) {
  const choices: { name: "heads" | "rate" | "steps", select: HTMLSelectElement }[] = [];

  /** The status of the training. */
  const status: HTMLElement = make("p", { className: "model-status soft", role: "status" });
  const button = (label: string, act: () => void) =>
    makeButton(label, act, { className: "reading-button" });
  const choice = (name: "heads" | "rate" | "steps", all: number[]) => {
    const select = make("select", { onchange: () => layer.change({ [name]: Number(select.value) }) },
      ...all.map((value) => make("option", { value }, short(value))));
    choices.push({ name, select });
    return make("label", {}, texts[name], " ", select);
  };
  const { input, error, complain } = makeEntry();
  set(input, "inputmode", "numeric");
  input.addEventListener("change", () => {
    const { value: seed, wrong } = entered(input.value, { least: 0, most: SEEDS - 1, whole: true });
    complain(wrong);
    if (!wrong) layer.change({ seed });
  });
  const buttons = historyButtons(() => layer.restore(layer.history.undo(layer.now())),
    () => layer.restore(layer.history.redo(layer.now())));
  const node: HTMLElement = make("div", { className: "model-controls" },
    make("span", { className: "field" }, make("label", {}, texts.seed, " ", input)),
    button(texts.another, () => layer.change({ seed: (layer.settings.seed + 1) % SEEDS })),
    choice("heads", HEADS), choice("rate", RATES), choice("steps", STEPS), buttons.undo, buttons.redo,
    button(texts.reset, () => layer.change(layer.start)),
    ...(isPage ? [button(texts.copy, () => layer.share())] : []), error, status);

  function paint() {
    const { settings, history } = layer;
    input.value = String(settings.seed);
    complain("");
    for (const { name, select } of choices) select.value = String(settings[name]);
    buttons.paint(history);
  }

  return { node, paint, status };
}
