/**
 * The numbers that operations give, a port of mha/runs/operations.py. A run's origins, the sheets of newer
 * attention and the red pencil's corrections are all evaluated here. Modules that need more operations add
 * them to `RESULTS`: origins-block.ts those of a block, sheet.ts those of newer attention.
 */

import type { Calculation, Operand, Place } from "../types/run.ts";

const product = (numbers: number[]) => numbers.reduce((all, x) => all * x, 1);

export const sum = (numbers: number[]) => numbers.reduce((all, x) => all + x, 0);

const single = ([[value]]: number[][]): number => value;

const products = (terms: number[][]): number => sum(terms.map(product));

/** The result of each operation, from the values of its terms; a constant is identified by its name. */
export const RESULTS: Record<string, (terms: number[][], calculation: Calculation) => number> = {
  given: single,
  copy: single,
  products,
  product: products,
  mixed: products,
  sum: products,
  root: (terms) => Math.sqrt(single(terms)),
  percent: (terms) => 100 * single(terms),
  scaled: ([[score], [factor], ...mask], { terms }) => {
    const byRoot = terms[1][0].name === "d_k";
    return (byRoot ? score / Math.sqrt(factor) : score * factor) + sum(mask.flat());
  },
  exponential: ([[score], ...shift]) => Math.exp(score - sum(shift.flat())),
  share: ([[exponential], [total]]) => (total ? exponential / total : 0),
};

/**
 * The number that an operation gives.
 *
 * @param value the number to put in at a place; by default each operand's own
 */
export function evaluate(origin: Calculation, value?: (place: Place) => number): number {
  const read = (operand: Operand) =>
    (value && operand.place ? value(operand.place) : operand.value);
  return RESULTS[origin.operation](origin.terms.map((term) => term.map(read)), origin);
}

/** A constant, as an operand. */
export const named = (name: string, value: number): Operand => ({ value, place: null, name });

/** Each operand as a term of its own. */
export const each = (...operands: Operand[]): Operand[][] => operands.map((operand) => [operand]);
