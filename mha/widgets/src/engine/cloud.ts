/** Points of a plane: the polygon around them, and embeddings of several components as pictures in it. */

import type { Matrix } from "../types/run.ts";

/** How far a grid is drawn. */
const GRID = 12;

/** Differences below it are of rounding. */
const TINY = 1e-9;

/** The corners of the polygon around points, in order. */
export function hull(points: number[][]): number[][] {
  const sorted = [...points].sort((a, b) => a[0] - b[0] || a[1] - b[1]);
  const turn = ([a, b, c]: number[][]) =>
    (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]);
  const half = (those: number[][]) => {
    const corners: number[][] = [];
    for (const point of those) {
      while (corners.length > 1 && turn([...corners.slice(-2), point]) <= 0) corners.pop();
      corners.push(point);
    }
    return corners.slice(0, -1);
  };
  return sorted.length < 3 ? sorted : [...half(sorted), ...half(sorted.reverse())];
}

/**
 * How embeddings are drawn as they are: each of their components has an axis of its own, all of
 * them at equal angles, so that two of them are the axes of the plane.
 */
export const directions = (width: number): Matrix => Array.from({ length: width }, (_, i) =>
  [Math.cos, Math.sin].map((of) => Number(of((Math.PI * i) / width).toFixed(12))));

export const through = (x: number[], matrix: Matrix): number[] => [0, 1].map((column) =>
  x.reduce((sum, one, i) => sum + one * matrix[i][column], 0));

/**
 * The embedding whose picture is at a point: of two components at most that change, those whose
 * changes are least. Along an axis only its component changes.
 */
export function embeddingAt(x: number[], matrix: Matrix, point: number[]): number[] {
  const start = through(x, matrix);
  const [right, up] = point.map((to, axis) => to - start[axis]);
  let [best, least] = [x, Infinity];
  matrix.forEach(([a, b], i) => matrix.slice(0, i).forEach(([c, d], j) => {
    const size = a * d - b * c;
    if (Math.abs(size) < TINY) return;
    const [first, second] = [(right * d - up * c) / size, (up * a - right * b) / size];
    const way = Math.abs(first) + Math.abs(second);
    if (way > least - TINY) return;
    least = way;
    best = x.map((one, k) => Number((one + (k === i ? first : k === j ? second : 0)).toFixed(4)));
  }));
  return best;
}

/** A component's axis, or a square grid, through a matrix, as lines. */
export function gridOf(matrix: Matrix): number[][][] {
  const far = (i: number, at: number[]) =>
    [-GRID, GRID].map((by) => matrix[i].map((x, axis) => at[axis] + by * x));
  if (matrix.length > 2) return matrix.map((_, i) => far(i, [0, 0]));
  const steps = Array.from({ length: 2 * GRID + 1 }, (_, i) => i - GRID);
  return steps.flatMap((by) => [0, 1].map((i) => far(i, matrix[1 - i].map((x) => by * x))));
}

/** The way to an embedding, component after component. */
export const wayTo = (x: number[], matrix: Matrix): number[][] => [...x.keys(), x.length].map((most) =>
  through(x.map((one, i) => (i < most ? one : 0)), matrix)).filter((_, i) => !i || x[i - 1]);
