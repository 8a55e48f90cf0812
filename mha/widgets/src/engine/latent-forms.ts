/**
 * Latent attention in both of its forms at any width of the latent vector, a port of `latent_forms` and `LatentForms` in
 * mha/widgets/latent.py.
 */

import { type PlanStep, carriedOut } from "./sheet.ts";
import type { Matrix } from "../types/run.ts";

/** Smaller numbers, beside the largest of the matrix, are rounding. */
const CLOSE = 1e-10;

/** The rank of a matrix, by elimination. */
export function rankOf(matrix: Matrix): number {
  const rows = matrix.map((row) => [...row]);
  const least = CLOSE * Math.max(0, ...rows.flat().map(Math.abs));
  let rank = 0;
  for (let column = 0; column < (rows[0]?.length ?? 0) && rank < rows.length; column += 1) {
    const sizes = rows.map((row, i) => (i < rank ? 0 : Math.abs(row[column])));
    const largest = Math.max(...sizes);
    if (largest <= least) continue;
    const [pivot] = rows.splice(sizes.indexOf(largest), 1);
    rows.splice(rank, 0, pivot);
    rank += 1;
    for (let i = rank; i < rows.length; i += 1) {
      const share = rows[i][column] / pivot[column];
      rows[i] = rows[i].map((x, j) => x - share * pivot[j]);
    }
  }
  return rank;
}

const beside = (matrices: Matrix[]): Matrix => matrices[0].map((_, i) => matrices.flatMap((matrix) => matrix[i]));

/** The largest difference of two rows. */
export const apart = (a: number[], b: number[]): number => Math.max(...a.map((x, i) => Math.abs(x - b[i])));

/** The data that mha/widgets/latent.py writes. */
export interface LatentData {
  name: string;
  tokens: string[];
  heads: string[];
  x: Matrix;
  order: number[];
  w_q: Matrix[];
  w_k: Matrix[];
  w_v: Matrix[];
  plan: PlanStep[];
  width: number;
  focus: number;
  head: number;
  published: Record<string, string>;
}

/** The tables of one head. */
export type Tables = (role: string) => Matrix;

/** The tables of each head, if the latent vectors have the first dimensions of an order. */
export function tablesOf({ x, order, w_q, w_k, w_v, plan }: LatentData, width: number): Tables[] {
  const kept = order.slice(0, width);
  const causal = x.map((_, i) => x.map((_, j) => Number(j <= i)));
  const w_dkv = x[0].map((_, i) => kept.map((dimension) => Number(dimension === i)));
  return w_q.map((own, head) => {
    const up = (matrix: Matrix): Matrix => kept.map((dimension) => matrix[dimension]);
    const given = { x, causal, w_q: own, w_dkv, w_uk: up(w_k[head]), w_uv: up(w_v[head]) };
    const { steps, roles } = carriedOut(plan, given, new Set());
    return (role) => steps.get(roles[role])?.array ?? [];
  });
}

/** The largest difference of the two forms, over all heads and queries. */
export const difference = (heads: Tables[]): number => Math.max(...heads.flatMap((of) => ["scores", "output"].flatMap((role) =>
  of(role).map((row, i) => apart(row, of(`absorbed_${role}`)[i])))));

/** The ranks of the keys and values of all heads. */
export function ranksOf(heads: Tables[]): Record<string, number> {
  const [keys, values] = ["key", "value"].map((role) => beside(heads.map((of) => of(role))));
  return { keys: rankOf(keys), values: rankOf(values), both: rankOf(beside([keys, values])) };
}
