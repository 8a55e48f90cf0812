/** A reader's choices for an example: parsed from fields and addresses, with messages on errors. */

import { bareWord, neededWidth, splitWords } from "../engine/own-draw.ts";
import { address, parse, stays } from "../engine/places.ts";
import { fill } from "../engine/text.ts";
import { beginning } from "../figures/explorer-parts.ts";
import { own as texts } from "../strings/own.ts";
import { partsOf } from "./address.ts";
import type { ExplorerState } from "../types/explorer.ts";
import type { OwnKnowledge, OwnSettings } from "../types/panels.ts";
import type { Matrix, Place } from "../types/run.ts";

/** Seeds have 32 bits. */
export const SEEDS = 2 ** 32;

/** Longer texts than any sentence are not looked at. */
const LONGEST = 1000;

/** Numbers per word, unless the words need more. */
export const WIDTH = 4;

export const KINDS = ["meanings", "whole", "tenths"];

/** The names of the sizes in `draw_example` of `mha/runs/random_examples.py`. */
export const SIZES = { heads: "num_heads", width: "d_model", inner: "d_k" };

/**
 * The words of a text, or a message on its error. Punctuation is omitted, and so
 * are characters that nobody sees, but for those that join letters, or a family of signs.
 */
export function wordsOf(text: string, most: { words: number, letters: number }): { words: string[], error: string } {
  const seen = text.slice(0, LONGEST).replace(/(?![\u200c\u200d])\p{C}/gu, (sign) => (/\s/.test(sign) ? " " : ""));
  const words: string[] = splitWords(seen).filter((word: string) => /\P{C}/u.test(word));
  const long = words.find((word) => [...word].length > most.letters);
  const error = !words.length ? texts.noWords
    : words.length > most.words ? fill(texts.tooMany, { count: words.length, most: most.words })
      : long ? fill(texts.tooLong,
        { word: beginning(long), count: [...long].length, most: most.letters }) : "";
  return { words, error };
}

/** A whole number in a text, NaN where there is none from the one bound to the other. */
function wholeOf(text: string, low: number, high: number): number {
  const plain = text.trim();
  const value = /^\d{1,10}$/.test(plain) ? Number(plain) : NaN;
  return value >= low && value <= high ? value : NaN;
}

/** The part of an address with the choices. */
export function addressOf(settings: OwnSettings): Record<string, string> {
  const { words, positions, output, ...others } = settings;
  return { own: "example", words: words.join(" "), positions: positions ? "1" : "0",
    output: output ? "1" : "0",
    ...Object.fromEntries(Object.entries(others).map(([key, value]) => [key, String(value)])) };
}

/** The settings of an address, with defaults for unreadable ones; null if it has none. */
export function settingsOf(hash: string, first: OwnSettings, knowledge: OwnKnowledge): OwnSettings | null {
  const { most, sizes } = knowledge;
  const parts = partsOf("own", "example", hash);
  if (!parts) return null;
  const { words, error } = wordsOf(parts.get("words") ?? "", most);
  const found: OwnSettings = { ...first, words: error ? first.words : words };
  for (const key of Object.keys(SIZES) as (keyof typeof SIZES)[]) {
    const [low, high] = sizes[SIZES[key]];
    const value = wholeOf(parts.get(key) ?? "", low, high);
    if (!Number.isNaN(value)) found[key] = value;
  }
  const seed = wholeOf(parts.get("seed") ?? "", 0, SEEDS - 1);
  if (!Number.isNaN(seed)) found.seed = seed;
  const numbers = parts.get("numbers") ?? "";
  if (KINDS.includes(numbers)) found.numbers = numbers as OwnSettings["numbers"];
  for (const key of ["positions", "output"] as const) {
    const text = parts.get(key) ?? "";
    if (["0", "1"].includes(text)) found[key] = text === "1";
  }
  return withWidth(found, knowledge);
}

/** Settings with as many numbers per word as the meanings of their words need, at least. */
export const withWidth = (settings: OwnSettings, knowledge: OwnKnowledge): OwnSettings => (settings.numbers === "meanings"
  ? { ...settings, width: Math.max(settings.width, neededWidth(settings.words, knowledge)) } : settings);

/** Whether a word that should have meanings got its numbers by chance. */
export const isByChance = ({ numbers }: OwnSettings, { vocabulary }: Pick<OwnKnowledge, "vocabulary">, word: string): boolean =>
  numbers === "meanings" && !Object.hasOwn(vocabulary, bareWord(word));

/** The words whose meanings need more numbers than some. */
export const wordsBeyond = ({ numbers, words }: OwnSettings, knowledge: OwnKnowledge, width: number): string[] =>
  (numbers === "meanings" ? words.filter((word) => neededWidth([word], knowledge) > width) : []);

/** For each word of a sentence its place in another one, or −1. */
export function followed(from: string[], to: string[]): number[] {
  const left = to.map((word, i) => ({ word, i }));
  return from.map((word) => {
    const at = left.findIndex((one) => one.word === word);
    return at < 0 ? -1 : left.splice(at, 1)[0].i;
  });
}

/**
 * The part of a state that remains in an explorer for other settings: numbers that were changed, where
 * the numbers drawn for the others are as they were.
 */
export function kept(state: ExplorerState, before: OwnSettings, after: OwnSettings): Partial<ExplorerState> {
  const { causal, scale, temperature } = state;
  const places = followed(before.words, after.words);
  const focus = state.focus < after.heads ? state.focus : 0;
  const edits: Record<string, number> = {};
  const isSame = before.seed === after.seed && before.numbers === after.numbers
    && before.width === after.width;
  for (const [where, value] of isSame ? Object.entries(state.edits) : []) {
    const at = parse(where) as Place;
    const isWord = at.stage === "embeddings";
    const row = isWord ? places[at.row] : at.row;
    const isThere = isWord ? row >= 0
      : stays(at.stage) ? after.positions && row < after.words.length
        : before.inner === after.inner && (at.stage === "w_o"
          ? after.output && row < after.heads * after.inner : at.head < after.heads);
    if (isThere) edits[address({ ...at, row })] = value;
  }
  return { causal, scale, temperature, focus, edits };
}

/** How much a word tells: its largest weight, in shares of an even split. */
const told = (weights: Matrix[], word: number): number => Math.max(...weights.map((head) =>
  Math.max(...head[word]) * head[word].filter((weight) => weight > 0).length));

/** Whether any head chooses for a word. */
export const isTold = (weights: Matrix[], word: number): boolean => told(weights, word) > 1 + 1e-9;

/** The first word that tells most. */
export function mostTold(weights: Matrix[]) {
  const found = weights[0].map((_, word) => told(weights, word));
  const most = Math.max(...found) - 1e-9;
  return found.findIndex((one) => one >= most);
}
