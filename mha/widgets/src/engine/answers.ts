/**
 * How an answer compares with the right one, and the mistake that leads to it. The tests compare
 * both with tests/answer_oracle.py, and the mistakes with mha/practice/mistakes.py.
 */

import { asked, result, valueOf as valueOfOfExercises } from "./exercises.ts";
import { fixed } from "./numbers.ts";
import { read } from "./typed-numbers.ts";
import type { Kind, Mistake, MistakeName, Task, Verdict } from "../types/reading.ts";

type Slip = [MistakeName, number];

/* ---- The verdict ---- */

/** So many units of the last decimal asked for an answer may be off by rounding on the way. */
const NEAR_UNITS = 2;

/** The largest error, in units of the last digit, of an answer with only its last digit wrong. */
const LAST_DIGIT_UNITS = 5;

const halfUnit = (places: number) => 0.5 * 10 ** -places * (1 + 1e-9);

export function verdict(task: Task, text: string): Verdict {
  const entered = read(text, task.percent);
  if (!entered) return "unreadable";
  const wanted = asked(task);
  const unit = 10 ** -task.places;
  const distance = Math.abs(entered.number - wanted);
  const dust = Math.abs(wanted) * 1e-13; // digits that `shown` does not trust
  if (distance <= halfUnit(task.places) + dust) return "right";
  const needsRounding = Math.abs(wanted - Number(fixed(wanted, task.places))) > 1e-9 * unit;
  if (!needsRounding || entered.number * wanted < 0) return "wrong";
  const { decimals } = entered;
  if (decimals === null || decimals >= task.places) return distance <= NEAR_UNITS * unit ? "near" : "wrong";
  return decimals > 0 && distance <= halfUnit(decimals) ? "near" : "wrong";
}

/* ---- Mistakes ---- */

const sum = (values: number[]): number => values.reduce((all, x) => all + x, 0);

const ofScaling = (step: MistakeName): (givens: number[][]) => Slip[] => (givens) => {
  const [[score], [by], ...mask] = givens;
  const added = sum(mask.flat());
  const found: Slip[] = [[step, score + added]];
  if (step === "no-root") found.push(["by-width", score / by + added]);
  if (mask.length) {
    const name = step === "no-root" ? "d_k" : "scale";
    found.push(["no-mask", result("scaled", givens.slice(0, 2), name)]);
  }
  return found;
};

/** The result of a calculation. */
const valueOf = (kind: Kind, givens: number[][]): number => valueOfOfExercises(kind, givens);

/** The wrong results of each kind of calculation, by the step that is wrong. */
const SLIPS: Record<Kind, (givens: number[][], column: number) => Slip[]> = {
  products: ([left, right]) => {
    const products = left.map((value, i) => value * right[i]);
    const terms = products.length > 1 ? products.filter((product) => product !== 0) : [];
    return [["signs", sum(products.map(Math.abs))],
      ...terms.map((product) => (["one-term", product] as Slip))];
  },
  root: ofScaling("no-root"),
  times: ofScaling("no-scale"),
  power: ([[exponent]]) => [["no-exponential", exponent]],
  sum: ([terms]) => {
    const counting = terms.length > 1 ? terms.filter((term) => term !== 0) : [];
    return counting.map((term) => ["left-out", sum(terms) - term]);
  },
  share: ([exponents], column) => {
    const whole = sum(exponents.filter(Number.isFinite));
    const powers = exponents.map((x) => result("exponential", [[x]]));
    const keys = powers.map((_, key) => key).filter((key) => key !== column);
    const others = keys.map((key) => (
      ["other-key", result("share", [[powers[key]], [sum(powers)]])] as Slip));
    const byScores: Slip[] = Math.abs(whole) > 1e-9 ? [["no-exponential", exponents[column] / whole]] : [];
    return [...byScores, ["no-exponential", exponents[column]],
      ["not-divided", powers[column]], ...others];
  },
  mean: ([numbers]) => [["not-averaged", sum(numbers)]],
  spread: (givens) => [["no-square-root", valueOf("spread", givens) ** 2]],
  normalised: ([x, mean, , ...learned]) =>
    [["no-spread", valueOf("normalised", [x, mean, [1], ...learned])]],
  relu: ([[x]]) => [["not-cut", x]],
  largest: () => [],
  quotient: ([[top]]) => [["no-quotient", top]],
};

/**
 * The mistakes by which a wrong answer is recognised, the likeliest first: none that is as good
 * as right, and of two that come to the same the first.
 */
export function mistakes(task: Task): Mistake[] {
  const wanted = asked(task);
  const factor = task.percent ? 100 : 1;
  const found: Mistake[] = [];
  if (task.percent) found.push({ name: "share", value: wanted / 100, unit: 0.01 });
  else if (task.kind === "share") found.push({ name: "percent", value: 100 * wanted, unit: 100 });
  found.push({ name: "sign", value: -wanted, unit: 1 });
  const slips = SLIPS[task.kind](task.givens, task.column).filter(([, x]) => Number.isFinite(x));
  for (const [name, value] of slips) found.push({ name, value: factor * value, unit: 1 });
  for (const [name, value] of task.elsewhere ?? []) found.push({ name, value, unit: 1 });
  const kept: Mistake[] = [];
  for (const mistake of found) {
    const taken = [wanted, ...kept.map(({ value }) => value)];
    const slack = halfUnit(task.places);
    const isNew = taken.every((x) => Math.abs(mistake.value - x) > slack);
    // A percentage may be off by a hundred times as much: one that is smaller tells nothing.
    const isTelling = mistake.unit <= 1 || Math.abs(mistake.value) > slack * mistake.unit;
    if (isNew && isTelling) kept.push(mistake);
  }
  return kept;
}

/** The mistake that a wrong answer is due to, or null where it may be any. */
export function recognised(task: Task, text: string): MistakeName | null {
  const entered = read(text, task.percent);
  if (!entered) return null;
  const { number, decimals } = entered;
  const slack = halfUnit(task.places);
  const known = mistakes(task).find(({ value, unit }) => Math.abs(number - value) <= slack * unit);
  if (known) return known.name;
  const wanted = asked(task);
  const isClose = Math.abs(number - wanted) <= LAST_DIGIT_UNITS * 10 ** -task.places;
  if (task.places === 0 || decimals !== task.places || !isClose) return null;
  const [first, second] = [number, wanted].map((x) => fixed(x, task.places).slice(0, -1));
  return first === second ? "last-digit" : null;
}
