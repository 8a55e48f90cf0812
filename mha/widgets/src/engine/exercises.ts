/**
 * One number to compute by hand: the answer, its hints, its solution, and new numbers. The formulas and
 * hints are a port of mha/practice/calculations.py, because new numbers are drawn here; the tests compare
 * the two. origins.ts has the formula of each operation.
 */

import { fill } from "./text.ts";
import { percent, short, shown } from "./numbers.ts";
import { evaluate } from "./operations.ts";
import { chain, decimalsOf, reached, sign } from "./signs.ts";
import type { Draw, Kind, Task } from "../types/reading.ts";
import type { Operation } from "../types/run.ts";

type Calculated = {value: number, fields: Record<string, string>, result: string, steps: (places: number) => string[]};
type Pick = (low: number, high: number) => number;

/* ---- The calculations ---- */

/**
 * Return the result of an operation on plain numbers.
 *
 * @param by the name of the second term, if it is a constant: "d_k" or "scale"
 */
export function result(operation: Operation, terms: number[][], by: string = ""): number {
  const operands = terms.map((term, i) =>
    term.map((value) => ({ value, place: null, name: i === 1 ? by : "" })));
  return evaluate({ operation, terms: operands });
}

const sum = (values: number[]) => result("sum", values.map((value) => [value]));

const mean = (values: number[]) => sum(values) / values.length;

const pairs = ([left, right]: number[][]) => left.map((value, i) => [value, right[i]]);

const products = (givens: number[][]) => pairs(givens).map((pair) => result("product", [pair]));

const powers = ([exponents]: number[][]) => exponents.map((x) => result("exponential", [[x]]));

const inBrackets = (text: string) => text.startsWith("−") ? `(${text})` : text;

/** A number inside a calculation: in brackets if it is negative. */
const factor = (value: number, places: number = 4) => inBrackets(short(value, places));

/**
 * A calculation of each kind: the result, the numbers of the hints, and the worked line, with a
 * given number of decimals in its steps.
 */
const CALCULATIONS: Record<Kind, (givens: number[][], column: number) => Calculated> = {
  products: (givens) => {
    const value = result("products", pairs(givens));
    const expression = (places: number) =>
      pairs(givens).map((pair) => pair.map((x) => factor(x, places)).join("×")).join(" + ");
    const worked = (places: number) =>
      products(givens).map((x) => factor(x, places)).join(" + ");
    // One product is the result itself.
    const steps = (places: number) =>
      [expression, ...pairs(givens).length > 1 ? [worked] : []].map((step) => step(places));
    const decimals = decimalsOf(steps, short(value), 4);
    const fields = { expression: expression(decimals[0]), products: worked(decimals[1] ?? 4) };
    return { value, fields, result: short(value), steps };
  },
  root: (givens) => {
    const [[score], [width]] = givens;
    const root = short(result("root", [[width]]));
    const fields = {
      score: short(score),
      root,
      root_line: chain(`√${short(width)}`, root),
      mask: maskOf(givens),
    };
    return scaled(givens, "d_k", fields, (p) => `${short(score, p)} ÷ √${short(width, p)}`);
  },
  times: (givens) => {
    const [[score], [scale]] = givens;
    const fields = { score: factor(score), scale: factor(scale), mask: maskOf(givens) };
    return scaled(givens, "scale", fields, (p) => `${short(score, p)} × ${factor(scale, p)}`);
  },
  power: (givens) => {
    const [[exponent]] = givens;
    const low = Math.floor(exponent);
    const [value, lowPower, highPower] = powers([[exponent, low, low + 1]]);
    const fields = {
      e: shown(Math.E),
      low: chain(`e^${short(low)}`, short(lowPower)),
      high: chain(`e^${short(low + 1)}`, short(highPower)),
    };
    return { value, fields, result: shown(value), steps: (p) => [`e^${short(exponent, p)}`] };
  },
  sum: ([terms]) => {
    const value = sum(terms);
    const texts = terms.map((term) => inBrackets(shown(term)));
    const steps = (p: number) =>
      [terms.map((term) => inBrackets(shown(term, p))).join(" + ")];
    const partial = shown(sum(terms.slice(0, -1)));
    const fields = {
      partial: terms.length > 2 ? chain(texts.slice(0, -1).join(" + "), partial) : partial,
      last: shown(terms[terms.length - 1]),
    };
    return { value, fields, result: shown(value), steps };
  },
  share: (givens, column) => {
    const exponentials = powers(givens);
    const total = sum(exponentials);
    const value = result("share", [[exponentials[column]], [total]]);
    const texts = exponentials.map((power) => shown(power));
    const fields = {
      exponentials: texts.join(", "),
      sum: chain(texts.join(" + "), shown(total)),
      top: texts[column],
    };
    const steps = (p: number) =>
      [`${shown(exponentials[column], p)} ÷ ${shown(total, p)}`];
    return { value, fields, result: shown(value), steps };
  },
  mean: ([numbers]) => {
    const fields = { sum: numbers.map((x) => factor(x)).join(" + "), count: String(numbers.length) };
    const value = mean(numbers);
    const steps = (p: number) =>
      [`(${numbers.map((x) => factor(x, p)).join(" + ")}) ÷ ${numbers.length}`];
    return { value, fields, result: short(value), steps };
  },
  spread: ([numbers, [eps] = [0]]) => {
    const middle = mean(numbers);
    const squares = (p: number) =>
      numbers.map((x) => factor(x - middle, p)).map((left) => `${left}×${left}`);
    const value = Math.sqrt(mean(numbers.map((x) => (x - middle) ** 2)) + eps);
    const fields = {
      mean: short(middle), squares: squares(4).join(", "), and_eps: eps ? ", and eps," : "",
      square: short(value ** 2),
    };
    const steps = (p: number) => {
      const added = Number(eps.toFixed(p)) ? ` + ${short(eps, p)}` : "";
      return [`√((${squares(p).join(" + ")}) ÷ ${numbers.length}${added})`];
    };
    return { value, fields, result: short(value), steps };
  },
  normalised: ([[x], [middle], [by], [gain] = [1], [bias] = [0]]) => {
    const fields = {
      away: `${short(x)} − ${factor(middle)}`, left: short(x - middle), spread: factor(by),
      gain: factor(gain), bias: factor(bias),
    };
    const value = (x - middle) / by * gain + bias;
    const steps = (p: number) => {
      const learned = (gain === 1 ? "" : ` × ${factor(gain, p)}`) + (bias ? ` + ${factor(bias, p)}` : "");
      return [`(${short(x, p)} − ${factor(middle, p)}) ÷ ${factor(by, p)}${learned}`];
    };
    return { value, fields, result: short(value), steps };
  },
  relu: ([[x]]) => {
    const value = Math.max(0, x);
    return { value, fields: {}, result: short(value), steps: (p) => [`max(0, ${short(x, p)})`] };
  },
  largest: ([numbers]) => {
    const value = Math.max(...numbers);
    const steps = (p: number) => {
      const texts = numbers.map((x) => short(x, p));
      return [texts.length > 1 ? `max(${texts.join(", ")})` : texts[0]];
    };
    return { value, fields: {}, result: short(value), steps };
  },
  quotient: ([[top], [bottom]]) => {
    const value = top / bottom;
    const fields = { top: factor(top), bottom: factor(bottom) };
    const steps = (p: number) => [`${short(top, p)} ÷ ${short(bottom, p)}`];
    return { value, fields, result: short(value), steps };
  },
};

/** The mask's term of a scaled score, which is given third where there is one. */
const maskOf = (givens: number[][]) => givens.slice(2).map(([term]) => factor(term)).join("");

/**
 * A scaled score: the mask's term is added last.
 *
 * @param expression without the mask's term
 */
function scaled(givens: number[][], by: string, fields: Record<string, string>, expression: (places: number) => string): Calculated {
  const value = result("scaled", givens, by);
  const mask = givens.slice(2).flat();
  const steps = (p: number) =>
    [expression(p) + mask.map((term) => ` + ${factor(term, p)}`).join("")];
  return { value, fields, result: short(value), steps };
}

const calculated = (task: Task) => CALCULATIONS[task.kind](task.givens, task.column);

/** The result of a calculation. */
export const valueOf = (kind: Kind, givens: number[][]): number => CALCULATIONS[kind](givens, 0).value;

export function asked(task: Task) {
  const { value } = calculated(task);
  return task.percent ? 100 * value : value;
}

export function hints(task: Task) {
  const { fields } = calculated(task);
  return task.hints.map((hint) => fill(hint, fields));
}

export function worked(task: Task) {
  const { result: last, steps, value } = calculated(task);
  const line = reached(steps, last);
  if (!task.percent) return line;
  const share = percent(value, task.places);
  return `${line} ${sign(last, share)} ${share}`;
}

/* ---- New numbers ---- */

/** A generator of numbers from 0 to 1 that a seed decides (mulberry32). */
function generator(seed: number) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}

export function seedOf(name: string, count: number) {
  let seed = 2166136261;
  for (const character of `${name} ${count}`) {
    seed = Math.imul(seed ^ (character.codePointAt(0) ?? 0), 16777619);
  }
  return seed >>> 0;
}

/** Draws a whole number from low to high. */

/**
 * The functions that draw new operands of each range, as many as there were and short enough for paper.
 * A masked number, 0 or minus infinity, stays. mha/practice/operand_ranges.py has the range of each
 * quantity.
 */
const DRAWS: Record<Draw, (old: number[], pick: Pick) => number[]> = {
  same: (old) => old,
  whole: (old, pick) => old.map(() => pick(-3, 3)),
  tenths: (old, pick) => old.map(() => pick(-9, 9) / 10),
  "not negative": (old, pick) => old.map(() => pick(0, 9) / 10),
  sines: (old, pick) => old.map(() => pick(-100, 100) / 100),
  scores: (old, pick) => old.map(() => (pick(0, 1) ? 1 : -1) * pick(1, 80) / 10),
  positive: (old, pick) => old.map((x) => (x === 0 ? 0 : pick(10, 800) / 100)),
  "from 1": (old, pick) => old.map(() => pick(100, 400) / 100),
  // The largest score's exponential is 1, and so is the factor where it stays the largest.
  "powers to 1": (old, pick) => old.map((x) => (x === 0 || x === 1 ? x : pick(1, 99) / 100)),
  exponents: (old, pick) => different(old, pick, -20, 20),
  "exponents to 0": (old, pick) => different(old, pick, -30, 0),
  shares: (old, pick) => {
    const parts = old.map((x) => (x === 0 ? 0 : pick(1, 20)));
    const whole = sum(parts);
    const shares = parts.map((part) => Math.ceil(100 * part / whole));
    shares[shares.indexOf(Math.max(...shares))] += 100 - sum(shares);
    return shares.map((share) => share / 100);
  },
};

/** Tenths of which no two are the same. */
function different(old: number[], pick: Pick, low: number, high: number): number[] {
  const left = Array.from({ length: high - low + 1 }, (_, i) => (low + i) / 10);
  return old.map((exponent) =>
    (exponent === -Infinity ? exponent : left.splice(pick(0, left.length - 1), 1)[0]));
}

/** Draw a group of operands anew, each from its own range if they differ. */
function drawn(old: number[], ranges: Draw | Draw[], pick: Pick): number[] {
  if (typeof ranges === "string") return DRAWS[ranges](old, pick);
  return old.map((x, i) => DRAWS[ranges[i]]([x], pick)[0]);
}

export function fresh(task: Task, seed: number): Task {
  const random = generator(seed);
  const pick: Pick = (low, high) => low + Math.floor(random() * (high - low + 1));
  const draw = () => task.givens.map((old, i) => drawn(old, task.draw?.[i] ?? "same", pick));
  let givens = draw();
  // Where a mask leaves one term, no draw has more.
  for (let i = 0; i < 20 && task.kind === "products" && saysNothing(givens); i += 1) givens = draw();
  return { ...task, givens, elsewhere: [] }; // new numbers have no neighbours
}

/** Tell whether a sum has fewer than two terms that count, or only one term and that is 0. */
function saysNothing(givens: number[][]) {
  const terms = products(givens);
  return terms.filter((term) => term !== 0).length < Math.min(2, terms.length);
}
