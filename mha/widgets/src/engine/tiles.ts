/** Attention block by block: the online softmax, step by step over tiles of queries and keys. */

import type { Matrix } from "../types/run.ts";

/** The running state of a query: its largest score, the sum of exponentials, and the weighted sum of values. */
export interface Kept {
  largest: number;
  /** What multiplied the sum and the mixture before the last block. */
  factor: number;
  /** Those of the last block. */
  exponentials: number[];
  total: number;
  mixture: number[];
}

/** The state after a step. */
export interface Frame {
  phase: "start" | "look" | "add" | "divide";
  /** The first query and key of the tile, and those after its last. */
  rows: number[];
  keys: number[];
  /** The running state of each query before and after the block. */
  kept: Kept[];
  now: Kept[];
  /** The outputs that are finished. */
  outputs: (number[] | null)[];
}

/** The state of a query before any key. */
const nothing = (width: number): Kept =>
  ({ largest: -Infinity, factor: 1, exponentials: [], total: 0, mixture: Array(width).fill(0) });

/**
 * The running state of a query after a block of keys, by the equation of the online softmax.
 *
 * @param isPlain whether nothing is subtracted
 */
function read(scores: number[], value: Matrix, kept: Kept, isPlain: boolean): Kept {
  const largest = isPlain ? 0 : Math.max(kept.largest, ...scores);
  const shift = largest === -Infinity ? 0 : largest;
  const factor = isPlain ? 1 : Math.exp(kept.largest - shift);
  const exponentials = scores.map((score) => Math.exp(score - shift));
  return {
    largest, factor, exponentials,
    total: exponentials.reduce((sum, x) => sum + x, factor * kept.total),
    mixture: kept.mixture.map((o, i) =>
      exponentials.reduce((sum, x, j) => sum + x * value[j][i], factor * o)),
  };
}

/**
 * The state after each step: the tile, the finished part of it, and all stored numbers.
 *
 * @param size of the blocks of queries and keys
 * @param isPlain whether nothing is subtracted from scores
 */
export function framesOf(scores: Matrix, value: Matrix, size: number, isPlain: boolean): Frame[] {
  const { length: count } = scores;
  const blocks = Array.from({ length: Math.ceil(count / size) }, (_, i) =>
    [i * size, Math.min(count, (i + 1) * size)]);
  let kept: Kept[] = scores.map(() => nothing(value[0].length));
  const outputs: (number[] | null)[] = scores.map(() => null);
  const frames: Frame[] = [{ phase: "start", rows: [0, 0], keys: [0, 0], kept, outputs: [...outputs], now: kept }];
  for (const rows of blocks) {
    const isOfBlock = (i: number) => i >= rows[0] && i < rows[1];
    for (const keys of blocks) {
      const now = kept.map((one, i) => (isOfBlock(i)
        ? read(scores[i].slice(...keys), value.slice(...keys), one, isPlain) : one));
      frames.push({ phase: "look", rows, keys, kept, now, outputs: [...outputs] },
        { phase: "add", rows, keys, kept, now, outputs: [...outputs] });
      kept = now;
    }
    kept.forEach(({ mixture, total }, i) => {
      if (isOfBlock(i)) outputs[i] = mixture.map((o) => o / (total || 1));
    });
    frames.push({ phase: "divide", rows, keys: [0, 0], kept, now: kept, outputs: [...outputs] });
  }
  return frames;
}
