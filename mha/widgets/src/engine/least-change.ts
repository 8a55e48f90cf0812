/**
 * The least change of a projection matrix by which values become the numbers that a reader types. It is
 * computed from the matrix as it was before the first of these numbers, so that no rounding adds up.
 */

import type { Matrix } from "../types/run.ts";

/** Differences below it are of rounding. */
export const TINY = 1e-9;

export const dot = (left: number[], right: number[]): number => left.reduce((sum, x, i) => sum + x * right[i], 0);

/**
 * The least change of a matrix's column that adds 1 to one row's product with it, and nothing to
 * the others' where they leave a way.
 */
function wayOf(rows: Matrix, row: number): number[] {
  const basis: Matrix = [];
  const without = (vector: number[]): number[] => basis.reduce((rest, unit) => {
    const along = dot(rest, unit);
    return rest.map((x, i) => x - along * unit[i]);
  }, vector);
  for (const other of rows.filter((_, i) => i !== row)) {
    const rest = without(other);
    const length = Math.sqrt(dot(rest, rest));
    if (length > TINY) basis.push(rest.map((x) => x / length));
  }
  const alone = without(rows[row]);
  const way = dot(alone, alone) > TINY ? alone : rows[row];
  const size = dot(way, rows[row]);
  return way.map((x) => (size && Math.abs(x) > TINY ? x / size : 0));
}

/**
 * A column of a matrix after its products with some rows were set, each with the least change.
 *
 * @param from the column before the first of them was set
 * @param typed rows, each at most once, and their products, the latest last
 */
export function columnWith(rows: Matrix, from: number[], typed: [number, number][]): number[] {
  return typed.reduce((column, [row, value]) => {
    const way = wayOf(rows, row);
    const moved = (now: number[]) => {
      const more = value - dot(rows[row], now);
      return Math.abs(more) < (now === from ? TINY : Number.MIN_VALUE) ? now : now.map((x, i) => x + way[i] * more);
    };
    return moved(moved(column)); // the second time takes the rounding of the first away
  }, from);
}
