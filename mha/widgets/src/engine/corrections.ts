/**
 * The verdicts on a document with some slips corrected. mha/audit/document_data.py writes how each
 * number follows from those before it, and operations.ts computes it. The tests compare the verdicts with
 * tests/correction_oracle.py.
 */

import { each, evaluate as resultOf, named } from "./operations.ts";
import type { PencilFormula, PencilNumber, PencilSheet, PencilState, SignedFormula } from "../types/pencil.ts";

export const RIGHT = 0;
export const SLIP = 1;
export const SPOILED = 2;
/** Computed correctly from right numbers, and off by rounding errors. */
export const ROUNDED = 3;

/** The tolerance beyond half a unit of the last printed digit. */
const SLACK = 1e-9;

/** The result of a formula, with the current numbers at its spots. */
export function evaluate(formula: PencilFormula, values: number[]): number {
  if (typeof formula === "number") return values[formula];
  if (typeof formula === "string") return parseFloat(formula);
  const [operation, ...parts] = formula;
  const operands = parts.map((part) => named(nameOf(part), evaluate(part, values)));
  return resultOf({ operation, terms: operation === "product" ? [operands] : each(...operands) });
}

/** The name of a constant, such as d_k of "3 d_k"; "" where there is none. */
export const nameOf = (formula: PencilFormula): string => (typeof formula === "string" ? formula.split(" ")[1] ?? "" : "");

/** The spots that a formula takes numbers from. */
function spotsOf(formula: PencilFormula): number[] {
  if (typeof formula === "number") return [formula];
  if (typeof formula === "string") return [];
  const [, ...parts] = formula;
  return parts.flatMap(spotsOf);
}

/** A formula with the names of operations for their signs. */
function inWords(formula: SignedFormula, operations: PencilSheet["operations"]): PencilFormula {
  if (!Array.isArray(formula)) return formula;
  const [sign, ...parts] = formula;
  return [operations[sign], ...parts.map((part) => inWords(part, operations))];
}

/** A document's numbers, ready to be corrected. */
export function read(sheet: PencilSheet): PencilNumber[] {
  const numbers: PencilNumber[] = sheet.numbers.map(([printed, true_, signed, state = -1, slip = "", meant = ""]) => {
    const formula = inWords(signed, sheet.operations);
    const places = printed.split(".")[1]?.length ?? 0;
    return {
      printed, formula, state, slip, places, true: true_, value: Number(meant || printed),
      half: 0.5 * 10 ** -places, from: [...new Set(spotsOf(formula))], into: [],
    };
  });
  numbers.forEach(({ from }, spot) => from.forEach((before) => numbers[before].into.push(spot)));
  return numbers;
}

/**
 * The numbers of a document after some slips are corrected: a corrected number is the one that
 * follows from those before it, and numbers computed correctly from it are computed again.
 */
export function correct(numbers: PencilNumber[], corrected: Set<number>): PencilState {
  const values = numbers.map(({ value }) => value);
  const states = numbers.map(({ state }) => state);
  const changed = numbers.map(() => false);
  numbers.forEach((number, spot) => {
    const isMoved = number.from.some((before) => changed[before]);
    const isMended = corrected.has(spot);
    if (!isMended && !isMoved) return;
    const local = evaluate(number.formula, values);
    const isAnew = isMended || !number.slip;
    if (isAnew) [values[spot], changed[spot]] = [local, true];
    if (number.true === null) return; // a copy is not judged
    const printed = isAnew ? local : Number(number.printed);
    const isNear = (wanted: number) => Math.abs(printed - wanted) <= number.half + SLACK;
    states[spot] = isNear(number.true) ? RIGHT : isNear(local) ? SPOILED : SLIP;
  });
  /** Whether a slip caused the error of a number. */
  const behind: boolean[] = [];
  numbers.forEach(({ from }, spot) => {
    behind[spot] = from.some((before) => states[before] === SLIP || behind[before]);
    if (states[spot] === SPOILED && !behind[spot]) states[spot] = ROUNDED;
  });
  return { values, states, changed };
}

/**
 * The numbers that are computed from a number, and the slips at which this ends.
 *
 * @returns how many steps away each is
 */
export function chainOf(numbers: PencilNumber[], spot: number, corrected: Set<number>): { lit: Map<number, number>, ends: Set<number> } {
  const lit = new Map([[spot, 0]]);
  const ends: Set<number> = new Set();
  for (const [at, steps] of lit) { // grows while it is gone through
    for (const next of numbers[at].into) {
      if (numbers[next].slip && !corrected.has(next)) ends.add(next);
      else if (!lit.has(next)) lit.set(next, steps + 1);
    }
  }
  return { lit, ends };
}

/**
 * The slips that a spoiled number goes back to.
 *
 * @returns in the order of reading
 */
export function slipsBehind(numbers: PencilNumber[], states: number[], spot: number): number[] {
  const seen = new Set([spot]);
  for (const at of seen) {
    if (states[at] !== SLIP) numbers[at].from.forEach((before) => seen.add(before));
  }
  return [...seen].filter((at) => states[at] === SLIP).sort((a, b) => a - b);
}
