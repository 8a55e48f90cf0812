/** The choices of a layer that learns, in the page's address as far as they differ from the start. */

import type { LearningState } from "../types/panels.ts";

export const HEADS = [1, 2, 3, 4, 6, 12];
export const RATES = [0.001, 0.003, 0.01, 0.03, 0.1, 0.3];
export const STEPS = [150, 400, 1000];
export const SEEDS = 2 ** 32;

/** The parts of the state that are in the address. */
const NAMES = ["seed", "heads", "rate", "steps", "step", "sentence", "word", "head"] as const;

/** The address of a state. */
export function toHash(state: LearningState, start: LearningState): string {
  const parts = new URLSearchParams({ learning: "layer" });
  for (const name of NAMES) if (state[name] !== start[name]) parts.set(name, String(state[name]));
  return `#${parts}`;
}

/**
 * The state of an address, with defaults for unreadable parts.
 * @param sentences how many there are
 * @param words how many a sentence has
 */
export function fromParts(parts: URLSearchParams, start: LearningState, sentences: number, words: number): LearningState {
  const among = (name: string, fits: (value: number) => boolean) => {
    const text = parts.get(name) ?? "";
    return /^\d{1,10}(\.\d{1,3})?$/.test(text) && fits(Number(text)) ? { [name]: Number(text) } : {};
  };
  const below = (most: number) => (value: number) => Number.isInteger(value) && value < most;
  const found = { ...start, ...among("heads", (n) => HEADS.includes(n)),
    ...among("seed", below(SEEDS)), ...among("rate", (n) => RATES.includes(n)),
    ...among("steps", (n) => STEPS.includes(n)), ...among("sentence", below(sentences)),
    ...among("word", below(words)) };
  return Object.assign(found, { step: found.steps, ...among("step", below(found.steps + 1)),
    head: found.heads - 1, ...among("head", below(found.heads)) });
}
