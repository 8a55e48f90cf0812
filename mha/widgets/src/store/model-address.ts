/** A reader's changes of the model in the page's address: only differences from the start. */

import { sharesAt } from "../engine/model-arithmetic.ts";
import { address, parse, valueAt } from "../engine/places.ts";
import { partsOf } from "./address.ts";
import type { ModelData, ModelRun, ModelSpot, ModelState } from "../types/panels.ts";

/** Words that a story may have. */
const MOST = 32;

/** A figure of the model, with what its address leaves out. */
interface AddressedModel {
  data: ModelData;
  start: ModelState;
  words: string[];
}

export function toHash(view: AddressedModel & { state: ModelState }) {
  const { at, cut, greedy, off, place, step, temperature, word, words } = view.state;
  const parts = new URLSearchParams({ model: "names",
    story: words.map((i) => view.words[i]).join(" "), place: String(place + 1) });
  if (step !== view.start.step) parts.set("step", String(view.data.steps[step]));
  if (off.includes(true)) parts.set("off", off.flatMap((is, i) => (is ? [i] : [])).join("."));
  if (cut) parts.set("cut", "1");
  if (temperature !== 1) parts.set("t", String(temperature));
  if (greedy) parts.set("greedy", "1");
  if (word >= 0) parts.set("word", view.words[word]);
  if (at) parts.set("at", `${at.block + 1}:${address(at.place)}`);
  return `#${parts}`;
}

/** The place that is asked about in a part of an address, null where it is none. */
function asked(text: string): ModelSpot | null {
  const [block, where] = text.split(/:(.*)/);
  const place = parse(where ?? "");
  return place && ["1", "2"].includes(block) ? { block: Number(block) - 1, place } : null;
}

/** The state of an address, with defaults for unreadable parts; null if it has none. */
export function fromHash({ data, start, words: known }: AddressedModel, hash: string): ModelState | null {
  const parts = partsOf("model", "names", hash);
  if (!parts) return null;
  const story = (parts.get("story") ?? "").split(" ").map((word) => known.indexOf(word));
  const words = story.length <= MOST && !story.includes(-1) ? story : start.words;
  const number = (name: string, otherwise: number) => {
    const value = Number(parts.get(name) ?? otherwise);
    return Number.isFinite(value) ? value : otherwise;
  };
  const place = number("place", words.length) - 1;
  const step = data.steps.indexOf(number("step", -1));
  const off = (parts.get("off") ?? "").split(".");
  return {
    words, place: words[place] === undefined ? words.length - 1 : place,
    step: step < 0 ? start.step : step,
    off: start.off.map((_, i) =>
      off.includes(String(i))),
    cut: parts.get("cut") === "1", temperature: Math.min(3, Math.max(0.2, number("t", 1))),
    greedy: parts.get("greedy") === "1", word: known.indexOf(parts.get("word") ?? ""),
    at: asked(parts.get("at") ?? ""),
  };
}

/** Whether a run has a number at a place. */
export function hasNumber({ found, state }: { found: ModelRun, state: ModelState }, { block, place }: ModelSpot) {
  sharesAt(found, state.place);
  try {
    valueAt(found.blocks[block].numbers, place);
    return true;
  } catch {
    return false; // an index beyond the run, or a term of a sum
  }
}
