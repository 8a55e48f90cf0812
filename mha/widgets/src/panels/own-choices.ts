/** The choices of a reader's own example: the kind of numbers, the seed, the sizes, and the switches. */

import { neededWidth } from "../engine/own-draw.ts";
import { fill } from "../engine/text.ts";
import { entered } from "../engine/typed-numbers.ts";
import { freshId, make, makeButton, makeChoice, set, setText } from "../figures/explorer-parts.ts";
import { editNow } from "../store/edits.ts";
import { KINDS, SEEDS, SIZES, wordsBeyond } from "../store/own-settings.ts";
import { own as texts } from "../strings/own.ts";
import type { OwnFigure, OwnSettings } from "../types/panels.ts";

/** From this width on there is room for all that can be chosen. */
const DESK = "(min-width: 48rem)";

/** The kind of numbers, the seed, the sizes, and the switches. */
export function choices(own: OwnFigure) {
  const name = freshId();
  const kinds = (KINDS as OwnSettings["numbers"][]).map((kind) => {
    const choice = makeChoice("radio", name, texts.kinds[kind], () =>
      own.change({ numbers: kind }, fill(texts.drawn, { seed: own.settings.seed })));
    own.syncs.push(() => { choice.input.checked = own.settings.numbers === kind; });
    return choice.node;
  });
  const seed = whole(own, texts.seed, (text) => entered(text, { least: 0, most: SEEDS - 1, whole: true }),
    () => own.settings.seed,
    (value) => own.change({ seed: value }, fill(texts.drawn, { seed: value }), "seed"));
  const draw = makeButton(texts.draw, () => {
    const next = (own.settings.seed + 1) % 2 ** 32;
    own.change({ seed: next }, fill(texts.drawn, { seed: next }));
  });
  const sizes = (Object.keys(SIZES) as (keyof typeof SIZES)[]).map((key) => size(own, key, own.data.sizes[SIZES[key]]));
  const switches = (["positions", "output"] as const).map((key) => {
    const choice = makeChoice("checkbox", "", "", (on) =>
      own.change({ [key]: on }, (texts.switched as Record<string, string[]>)[key][Number(on)]));
    choice.word.innerHTML = texts[key];
    own.syncs.push(() => { choice.input.checked = own.settings[key]; });
    return choice.node;
  });
  const causal = makeChoice("checkbox", "", texts.causal, (on) =>
    own.explorer.change({ causal: on }, on ? texts.causalOn : texts.causalOff));
  own.follows.push(() => { causal.input.checked = own.explorer.state.causal; });
  return make("details", { className: "own-choices", open: matchMedia(DESK).matches },
    make("summary", {}, texts.choices),
    make("div", { className: "own-line", role: "group", "aria-label": texts.numbers },
      make("span", {}, texts.numbers), ...kinds, seed.node, draw),
    make("div", { className: "own-line" }, ...sizes),
    make("div", { className: "own-line" }, causal.node, ...switches));
}

/** A field for a whole number, with the error message right below. */
function whole(own: OwnFigure, label: string, read: (text: string) => { value: number, wrong: string }, value: () => number, take: (value: number) => void): { node: HTMLElement, label: HTMLElement } {
  const error = make("span", { className: "error", role: "alert", id: freshId() });
  const input = make("input", { type: "text", inputMode: "numeric", autocomplete: "off", size: 5,
    "aria-describedby": error.id });
  const complain = (sentence: string) => {
    setText(error, sentence);
    set(input, "aria-invalid", String(Boolean(sentence)));
  };
  /** The number before an edit, which stays where the text is refused. */
  let before = NaN;
  let edit = -1;
  input.addEventListener("input", () => {
    if (edit !== editNow()) [edit, before] = [editNow(), value()];
    const { value: text } = input;
    const { value: found, wrong } = read(text);
    take(wrong ? before : found);
    if (input.value !== text) input.value = text;
    complain(wrong);
  });
  own.syncs.push(() => {
    if (read(input.value).value === value()) return;
    input.value = String(value());
    complain("");
  });
  const name = make("label", {}, `${label} `, input);
  return { label: name, node: make("span", { className: "own-field" }, name, error) };
}

/** A size, with buttons for one less and one more. */
function size(own: OwnFigure, key: keyof typeof SIZES, [low, high]: [number, number]) {
  const label = texts.sizes[key];
  const now = () => own.settings[key];
  const take = (value: number) =>
    own.change({ [key]: value }, fill(texts.sized, { label, value }), key);
  const least = () => (key === "width" && own.settings.numbers === "meanings"
    ? Math.max(low, neededWidth(own.settings.words, own.data)) : low);
  const field = whole(own, label, (text) => {
    const found = entered(text, { least: low, most: high, whole: true });
    return found.value < least() ? { value: NaN, wrong: fill(texts.tooFew,
      { text: text.trim(), words: wordsBeyond(own.settings, own.data, found.value).join(", "), least: least() }) } : found;
  }, now, take);
  const step = (by: number, sign: string, says: string) => {
    const button = makeButton(sign, () => {
      if (now() + by >= least() && now() + by <= high) take(now() + by);
    }, { className: "own-step", "aria-label": fill(says, { label }) });
    own.syncs.push(() =>
      set(button, "aria-disabled", String(now() + by < least() || now() + by > high)));
    return button;
  };
  field.label.append(" ");
  field.label.after(step(-1, "−", texts.less), step(1, "+", texts.more));
  return field.node;
}
