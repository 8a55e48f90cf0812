/** Names for heads and their tests, a port of mha/examples/head_names.py; and the recorded maps. */

import maps from "../data/heads-maps.ts";
import { bytesOf } from "./bytes.ts";
import type { Held } from "../types/heads.ts";
import type { Matrix } from "../types/run.ts";

type Cells = [row: number, keys: number[]][];

/** A byte from here on is the first of two. */
const LONG = 250;

const { heads, layers, packed, tokens } = maps;

const mean = (numbers: number[]) => numbers.reduce((sum, x) => sum + x, 0) / numbers.length;

const rowsOf = (tokens: string[]) => tokens.map((_, i) => i);

/** The rows of tokens that occurred before, with keys that are a step after each occurrence. */
const repeated = (tokens: string[], step: number): Cells => rowsOf(tokens).map((i) =>
  ([i, rowsOf(tokens).filter((j) => j + step < i && tokens[j].trim() === tokens[i].trim())
    .map((j) => j + step)] as [number, number[]])).filter(([, keys]) => keys.length);

/** By the name, the rows of which a rule speaks, each with the keys where its weight would lie. */
export const RULES: Record<string, (tokens: string[]) => Cells> = {
  before: (tokens) => rowsOf(tokens).slice(1).map((i) => [i, [i - 1]]),
  first: (tokens) => rowsOf(tokens).slice(1).map((i) => [i, [0]]),
  itself: (tokens) => rowsOf(tokens).map((i) => [i, [i]]),
  same: (tokens) => repeated(tokens, 0),
  induction: (tokens) => repeated(tokens, 1),
};

/** By the name, how a row is spread, whichever keys it falls on. */
export const SHAPES: Record<string, (row: number[]) => number> = {
  sharp: (row) => Math.max(...row),
  broad: (row) => {
    const total = row.reduce((sum, x) => sum + x, 0);
    const shares = row.map((x) => x / total);
    const entropy = -shares.reduce((sum, x) => sum + (x ? x * Math.log(x) : 0), 0);
    return Math.exp(entropy) / row.length;
  },
};

/** The rows that a name speaks of; of a shape all of them, with no keys. */
export function cellsOf(name: string, tokens: string[], pair: string[]): Cells {
  if (name !== "pair") return RULES[name]?.(tokens) ?? [];
  const [row, key] = pair.map((token) => tokens.indexOf(token));
  return row < 0 || key < 0 ? [] : [[row, [key]]];
}

/** How far a name holds of a map, null where its rule speaks of no row. */
export function holds(name: string, cells: Cells, weights: Matrix): Held {
  if (SHAPES[name]) {
    const measured = weights.map(SHAPES[name]);
    return { share: mean(measured), obeyed: measured.filter((x) => x > 0.5).length, rows: measured.length };
  }
  if (!cells.length) return null;
  const shares = cells.map(([row, keys]) => keys.reduce((sum, key) => sum + weights[row][key], 0));
  const obeyed = cells.filter(([row, keys]) =>
    keys.includes(weights[row].indexOf(Math.max(...weights[row])))).length;
  return { share: mean(shares), obeyed, rows: cells.length };
}

/** The mean of the shares of several sentences, without those of which a rule is silent. */
export const meanShare = (found: Held[]) => mean(found.flatMap((held) => (held ? [held.share] : [])));

/** The key that a row gives most, but neither the first token nor itself if there are others. */
export function tellingKey(row: number[], place: number) {
  const among = row.slice(1, place);
  return among.length ? 1 + among.indexOf(Math.max(...among)) : 0;
}

/** Return the map of a sentence in a head; the numbers of all are read at the first request. */
export function recordedMaps(): (sentence: number, head: number) => Matrix {
  const starts = [0];
  tokens.forEach(({ length: n }, i) => starts.push(starts[i] + (layers * heads * n * (n + 1)) / 2));
  const found: Matrix[][] = tokens.map(() => []);
  let all: Uint16Array | undefined;
  const read = (n: number, from: number): Matrix => {
    all ??= thousandths(starts[tokens.length]);
    let at = from;
    // Weights of later tokens are 0 and not recorded.
    return Array.from({ length: n }, (_row, i) =>
      Array.from({ length: n }, (_entry, j) => (j > i ? 0 : all![at++] / 1000)));
  };
  return (sentence, head) => {
    const n = tokens[sentence].length;
    return (found[sentence][head] ??= read(n, starts[sentence] + (head * n * (n + 1)) / 2));
  };
}

/** All recorded weights: a byte each, or two of a larger one. */
function thousandths(count: number): Uint16Array {
  const bytes = bytesOf(packed);
  const all = new Uint16Array(count);
  let at = 0;
  for (let i = 0; i < count; i += 1) {
    const first = bytes[at++];
    all[i] = first < LONG ? first : 256 * (first - LONG) + bytes[at++];
  }
  return all;
}
