/**
 * Numbers of the text, computed and written again: a formula of places, as live_numbers.py in the
 * book's package makes it, and a line of arithmetic as mha/views/arithmetic.py writes it, in pieces
 * in which each number knows its place. The tests compare the lines with Python's.
 */

import { parsed, percent, short, shown } from "../engine/numbers.ts";
import { origin } from "../engine/origins.ts";
import { parse, valueAt } from "../engine/places.ts";
import { decimalsOf, sign } from "../engine/signs.ts";
import { inBrackets } from "../store/explorer-origins.ts";
import type { ExplorerNumbers } from "../types/explorer.ts";
import type { Operand, Operation, Origin, Place } from "../types/run.ts";

type Piece = { text: string, place?: Place | null, raised?: boolean };
type Line = (from: Origin, places: number, temperature: number) => Piece[][];

// ---- Formulas ----

/** The result of a comparison; none for two masked scores. */
const told = (left: number, right: number, isTrue: boolean): number => (Number.isNaN(left - right) ? NaN : Number(isTrue));

const BINARY: Record<string, (left: number, right: number) => number> = {
  "+": (a, b) => a + b, "-": (a, b) => a - b, "*": (a, b) => a * b, "/": (a, b) => a / b,
  max: Math.max, ">=": (a, b) => told(a, b, a >= b), ">": (a, b) => told(a, b, a > b),
  "<=": (a, b) => told(a, b, a <= b), "<": (a, b) => told(a, b, a < b),
};

const UNARY: Record<string, (value: number) => number> = { exp: Math.exp, sqrt: Math.sqrt, abs: Math.abs };

/** A formula in parts: numbers, places and signs. */
export const formulaOf = (text: string): (number | string | Place)[] => text.split(" ").map((part) =>
  (part in BINARY || part in UNARY ? part : parse(part) ?? Number(part)));

/** The result of a formula. */
export function worth(formula: (number | string | Place)[], valueOf: (at: Place) => number): number {
  const stack: number[] = [];
  for (const part of formula) {
    if (typeof part === "number") stack.push(part);
    else if (typeof part === "object") stack.push(valueOf(part));
    else if (part in UNARY) stack.push(UNARY[part](stack.pop() ?? NaN));
    else {
      const [left, right] = stack.splice(-2);
      stack.push(BINARY[part](left, right));
    }
  }
  return stack[0];
}

/** As tables have it: with their decimals, and with more where these do not show it. */
function atLeast(value: number, places: number): string {
  const text = shown(value, places);
  return Math.abs(parsed(text) - value) < 5e-5 ? text : short(value);
}

/** The formatting of a number, by the name of Python's function. */
export const WRITERS: Record<string, (value: number, places: number) => string> = {
  shown, short, percent, table: atLeast, at_least: shown, at_most: shown, at_least_percent: percent,
  at_most_percent: percent,
};

/** Whether a bound still holds, read from its text. */
export function holds(how: string, text: string, value: number): boolean {
  const bound = parseFloat(text.replace("−", "-")) / (how.endsWith("percent") ? 100 : 1);
  return how.startsWith("at_least") ? value >= bound - 1e-14 : value <= bound + 1e-14;
}

// ---- Lines of arithmetic ----

const word = (text: string): Piece => ({ text });

const joined = (pieces: Piece[][], between: string): Piece[] =>
  pieces.flatMap((piece, i) => (i ? [word(between), ...piece] : piece));

/** A factor, in brackets where it is negative. */
const factor = ({ value, place }: Operand, places: number): Piece => ({ text: inBrackets(short(value, places)), place });

const plain = ({ value, place }: Operand, places: number): Piece => ({ text: short(value, places), place });

const exact = ({ value, place }: Operand, places: number): Piece => ({ text: shown(value, places), place });

/** A stage's line: its steps but the result. */

const ofProducts: Line = ({ terms }, places) => {
  const steps = [joined(terms.map((term) =>
    joined(term.map((operand) => [factor(operand, places)]), "×")), " + ")];
  if (terms.length > 1) {
    steps.push([word(terms.map((term) => inBrackets(short(
      term.reduce((product, { value }) => product * value, 1), places))).join(" + "))]);
  }
  return steps;
};

const LINES: Partial<Record<Operation, Line>> = {
  products: ofProducts,
  product: ofProducts,
  mixed: ofProducts,
  scaled: ({ terms: [[score], [by], ...mask] }, places, temperature) => [[
    plain(score, places),
    word(by.name === "d_k" ? ` ÷ √${inBrackets(short(by.value, places))}`
      : ` × ${inBrackets(short(by.value, places))}`),
    // The mask is added after the temperature has divided the score.
    word((temperature === 1 ? "" : ` ÷ ${short(temperature, places)}`)
      + mask.map(([added]) => ` + ${inBrackets(short(added.value, places))}`).join("")),
  ]],
  exponential: ({ terms: [[score], ...shift] }, places) => [[word("e"), {
    text: short(shift.reduce((left, [{ value }]) => left - value, score.value), places),
    place: score.place, raised: true,
  }]],
  sum: ({ terms }, places) => [joined(terms.map(([{ value, place }]) =>
    [{ text: inBrackets(shown(value, places)), place }]), " + ")],
  share: ({ terms: [[top], [bottom]] }, places) =>
    [[exact(top, places), word(" ÷ "), exact(bottom, places)]],
  copy: ({ terms: [[operand]] }, places) => [[plain(operand, places)]],
  mean: ({ terms }, places) => [[word("("),
    ...joined(terms.map(([operand]) => [factor(operand, places)]), " + "),
    word(`) ÷ ${terms.length}`)]],
  spread: ({ terms }, places) => {
    const [[mean], [eps]] = terms.slice(-2);
    const away = terms.slice(0, -2).map(([{ value }]) => inBrackets(short(value - mean.value, places)));
    const added = Number(eps.value.toFixed(places)) ? ` + ${short(eps.value, places)}` : "";
    return [[word(`√((${away.map((x) => `${x}×${x}`).join(" + ")}) ÷ ${away.length}${added})`)]];
  },
  normalised: ({ terms: [[number], [mean], [spread], ...learned] }, places) => [[
    word("("), plain(number, places), word(" − "), factor(mean, places), word(") ÷ "),
    factor(spread, places), ...learned.flatMap(([own]) =>
      [word(own.name === "gain" ? " × " : " + "), factor(own, places)]),
  ]],
  relu: ({ terms: [[hidden]] }, places) => [[word("max(0, "), plain(hidden, places), word(")")]],
};

/** Operations whose results keep all their decimals. */
const EXACT = ["exponential", "sum", "share"];

const textOf = (pieces: Piece[]): string => pieces.map(({ text, raised }) => (raised ? "^" : "") + text).join("");

/** All that a line depends on. */
const sourcesOf = ({ terms }: Origin, value: number, temperature: number): string =>
  `${terms.map((term) => term.map((operand) => operand.value))} ${value} ${temperature}`;

/**
 * The line that works out a number, with the signs that hold.
 *
 * @param places decimals
 *
 * @param last the arithmetic that the line was last written for; null is returned if it is the same
 */
export function lineOf(numbers: ExplorerNumbers, at: Place, places: number, temperature: number, last?: { from: string }): Piece[] | null {
  const from = origin(numbers.inputs, numbers, at);
  const value = valueAt(numbers, at);
  if (last) {
    const sources = sourcesOf(from, value, temperature);
    if (last.from === sources) return null;
    last.from = sources;
  }
  const write = EXACT.includes(from.operation) ? shown : short;
  const isMasked = !Number.isFinite(value)
    || (from.operation === "share" && from.terms[1][0].value === 0);
  const result = write(value, places);
  const stepsOf = (p: number) =>
    (isMasked ? [[word("masked")]] : LINES[from.operation]?.(from, p, temperature) ?? []);
  const steps = decimalsOf((p) => stepsOf(p).map(textOf), result, places)
    .map((p, i) => stepsOf(p)[i]);
  return [...steps, [{ text: result, place: at }]].flatMap((step, i, all) =>
    (i ? [word(` ${sign(textOf(all[i - 1]), textOf(step))} `), ...step] : step));
}
