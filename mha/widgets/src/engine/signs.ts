/**
 * The sign between two printed steps of a calculation, as in mha/views/signs.py; the tests hold both
 * to the same text. It is separate from numbers.ts because some pages write no steps.
 */

type Fraction = [bigint, bigint];
type Functions = Record<string, (value: Fraction) => Fraction | null>;

/** A fraction, its denominator above 0. */

const COMBINED: Record<string, (left: Fraction, right: Fraction) => Fraction | null> = {
  "+": ([a, b], [c, d]) => [a * d + c * b, b * d],
  "−": ([a, b], [c, d]) => [a * d - c * b, b * d],
  "×": ([a, b], [c, d]) => [a * c, b * d],
  "÷": ([a, b], [c, d]) => (c === 0n ? null : c < 0n ? [-a * d, -b * c] : [a * d, b * c]),
};

/** A square root that is a whole number, null where there is none. */
function wholeRoot(value: bigint): bigint | null {
  if (value < 0n) return null;
  let root = value;
  for (let next = (value + 1n) / 2n; next < root; next = (root + value / root) / 2n) root = next;
  return root * root === value ? root : null;
}

/** Functions of one number, by the first letter of their sign. */

const EXACTLY: Functions = {
  "−": ([top, bottom]) => [-top, bottom],
  // The root of a/b is that of a times b, over b.
  "√": ([top, bottom]) => {
    const root = wholeRoot(top * bottom);
    return root === null ? null : [root, bottom];
  },
  e: ([top]) => (top === 0n ? [1n, 1n] : null),
  c: ([top]) => (top === 0n ? [1n, 1n] : null),
  s: ([top]) => (top === 0n ? [0n, 1n] : null),
  t: ([top]) => (top === 0n ? [0n, 1n] : null),
};

function fractionOf(token: string): Fraction {
  const [whole, decimals = ""] = token.split(".");
  return [BigInt(whole + decimals), 10n ** BigInt(decimals.length)];
}

/** Decimals of a number on its way between a fraction and a float. */
const KEPT = 30;

/** A function of floats as one of fractions, null where its value is no finite number. */
const inFloats = (functionOf: (value: number) => number): (value: Fraction) => Fraction | null => ([top, bottom]) => {
  const scaled = top * 10n ** BigInt(KEPT) / bottom;
  const value = functionOf(Number(scaled) / 10 ** KEPT);
  if (!Number.isFinite(value)) return null;
  return value < 1e21 ? fractionOf(value.toFixed(KEPT)) : [BigInt(value), 1n];
};

const IN_FLOATS: Functions = {
  "−": EXACTLY["−"],
  "√": inFloats(Math.sqrt),
  e: inFloats(Math.exp),
  c: inFloats(Math.cos),
  s: inFloats(Math.sin),
  t: inFloats(Math.tanh),
};

/** Remove a factor from the front of the tokens, and return it: a number or bracket, with its signs. */
function factorOf(tokens: string[], functions: Functions): Fraction | null {
  const token = tokens.shift() ?? "";
  if (token[0] in functions) {
    const value = factorOf(tokens, functions);
    return value && functions[token[0]](value);
  }
  if (token === "(") {
    const value = combined(tokens, "+−", functions);
    return tokens.shift() === ")" ? value : null;
  }
  if (!/^\d/.test(token)) return null;
  const value = fractionOf(token);
  if (tokens[0] !== "%") return value;
  tokens.shift();
  return [value[0], value[1] * 100n];
}

/** Take a sum, or a product, off the front of some tokens. */
function combined(tokens: string[], signs: "+−" | "×÷", functions: Functions): Fraction | null {
  const part = () =>
    (signs === "+−" ? combined(tokens, "×÷", functions) : factorOf(tokens, functions));
  let total = part();
  while (tokens.length && signs.includes(tokens[0])) {
    const by = tokens.shift() ?? "";
    const next = part();
    // Nothing times an irrational number is still nothing.
    const isZero = total?.[0] === 0n ? by === "×" || (by === "÷" && next?.[0] !== 0n)
      : by === "×" && next?.[0] === 0n;
    total = isZero ? [0n, 1n] : total && next && COMBINED[by](total, next);
  }
  return total;
}

/** The value of a printed calculation; null where there is none. */
function valueOf(text: string, functions: Functions): Fraction | null {
  const finite = text.replace("e^−∞", "0");
  if (/∞|[^\P{L}e]/u.test(finite.replace(/cos|sin|tanh/g, ""))) return null;
  const tokens = finite.match(/\d+(?:\.\d+)?|e ?\^|cos|sin|tanh|\S/g) ?? [];
  const value = combined(tokens, "+−", functions);
  return tokens.length ? null : value;
}

/**
 * The value of a printed calculation, its numbers read as exact decimals; null where that is no
 * fraction.
 */
const asPrinted = (text: string): Fraction | null => valueOf(text, EXACTLY);

// The largest of rounded numbers is the largest, rounded.
/**
 * The sign between two printed steps of a calculation: "=" where both come to the same as they
 * are printed, else "≈".
 */
export function sign(left: string, right: string): "=" | "≈" {
  if (left === right || /^(max|\D*$)/.test(left)) return "=";
  const [value, wanted] = [asPrinted(left), asPrinted(right)];
  return value && wanted && value[0] * wanted[1] === wanted[0] * value[1] ? "=" : "≈";
}

/** Steps of a calculation on one line, each pair with the sign that holds. */
export const chain = (...steps: string[]): string => steps.reduce((line, step, i) =>
  `${line} ${sign(steps[i - 1], step)} ${step}`);

/** The most decimals of an operand: a float between 1 and 10 has no more. */
const MOST_PLACES = 15;

/** Whether a printed step is more than half a unit away from its printed result. */
function differ(step: string, rounded: string, places: number): boolean {
  const [value, result] = [valueOf(step, IN_FLOATS), asPrinted(rounded)];
  if (!value || !result) return false;
  const off = value[0] * result[1] - result[0] * value[1];
  return 2n * (off < 0n ? -off : off) * 10n ** BigInt(places) > value[1] * result[1];
}

/**
 * The decimals of each step of a line with which it follows from the printed step before it, as
 * write_arithmetic in mha/views/arithmetic.py chooses them.
 * @param stepsOf the steps before the result
 *
 * @param places decimals of the result, and the fewest of a step
 */
export function decimalsOf(stepsOf: (places: number) => string[], result: string, places: number): number[] {
  const found: number[] = [];
  let next: string[] = [];
  for (let i = stepsOf(places).length - 1; i >= 0; i -= 1) {
    const areEnough = (p: number) => {
      const step = stepsOf(p)[i];
      return !differ(step, result, places) && !step.split(" + ").some((term, j) =>
        j < next.length && differ(term, next[j], found[0]));
    };
    let p = places;
    while (p < MOST_PLACES && !areEnough(p)) p += 1;
    found.unshift(p);
    next = stepsOf(p)[i].split(" + ");
  }
  return found;
}

/**
 * A line of arithmetic in which each step follows from the printed one before it.
 * @param stepsOf the steps before the result
 *
 * @param places decimals of the result
 */
export const reached = (stepsOf: (places: number) => string[], result: string, places: number = 4): string =>
  chain(...decimalsOf(stepsOf, result, places).map((p, i) => stepsOf(p)[i]), result);
