/** Names for heads and their tests, a port of mha/examples/head_names.py; and the recorded maps. */

import maps from "../data/heads-maps.ts";
import { bytesOf } from "./bytes.ts";
import type { Matrix } from "../types.ts";

type Cells = [row: number, keys: number[]][];
type Held = { share: number, obeyed: number, rows: number } | null;

const { heads, high, layers, low, tokens } = maps;

const mean = (numbers: number[]) => numbers.reduce((sum, x) => sum + x, 0) / numbers.length;

const rowsOf = (tokens: any[]) => tokens.map((_, i) => i);

/** The rows of the words, without the tokens that the model adds at both ends. */
const words = (tokens: any[]) => rowsOf(tokens).slice(1, -1);

/** By the name, the rows of which a rule speaks, each with the keys where its weight would lie. */
export const RULES: Record<string, (tokens: string[]) => Cells> = {
  before: (tokens) => rowsOf(tokens).slice(1).map((i) => [i, [i - 1]]),
  next: (tokens) => words(tokens).slice(0, -1).map((i) => [i, [i + 1]]),
  itself: (tokens) => rowsOf(tokens).map((i) => [i, [i]]),
  same: (tokens) => rowsOf(tokens).map((i) =>
    ([i, rowsOf(tokens).filter((j) => j !== i && tokens[j] === tokens[i])] as [number, number[]]))
    .filter(([, keys]) => keys.length),
  first: (tokens) => words(tokens).map((i) => [i, [0]]),
  separator: (tokens) => words(tokens).map((i) => [i, [tokens.length - 1]]),
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

/** Which word gives another most, and which that is; of the row of one place, if that is a place. */
export function tellingPair(weights: Matrix, row: number = -1) {
  const among = words(weights);
  const pairs = (row < 0 ? among : [row]).flatMap((place) =>
    among.filter((key) => key !== place).map((key) => ({ place, key })));
  return pairs.reduce((best, one) =>
    (weights[one.place][one.key] > weights[best.place][best.key] ? one : best));
}

/** Return the map of a sentence in a head, read at the first request. */
export function recordedMaps(): (sentence: number, head: number) => Matrix {
  const [small, large] = [low, high].map(bytesOf);
  const starts = [0];
  tokens.forEach(({ length }: string[], i: number) => starts.push(starts[i] + layers * heads * length ** 2));
  const found: Matrix[][] = tokens.map(() => []);
  const read = (from: number, n: number): Matrix => Array.from({ length: n }, (_row, i) => Array.from({ length: n }, (_entry, j) => {
    const at = from + i * n + j;
    return (small[at] + 256 * large[at]) / 1000;
  }));
  return (sentence, head) => {
    const n = tokens[sentence].length;
    return (found[sentence][head] ??= read(starts[sentence] + head * n * n, n));
  };
}
