/* How a number of the text is worked out and written anew: a formula of places, as ties.py in the
   book's package makes it, and a line of arithmetic as mha/views/arithmetic.py writes it, in pieces
   of which each number knows its place. The tests hold the lines to Python's. */
(function () {
  "use strict";

  const { decimalsOf, parsed, percent, short, shown, sign } = window.mhaNumbers;
  const { parse, valueAt } = window.mhaPlaces;
  const { origin } = window.mhaOrigins;
  const { inBrackets } = window.mhaExplorer;

  // ---- Formulas ----

  /** What a comparison says; of two scores that are masked it says nothing.
      @type {(left: number, right: number, isTrue: boolean) => number} */
  const told = (left, right, isTrue) => (Number.isNaN(left - right) ? NaN : Number(isTrue));

  /** @type {Record<string, (left: number, right: number) => number>} */
  const BINARY = {
    "+": (a, b) => a + b, "-": (a, b) => a - b, "*": (a, b) => a * b, "/": (a, b) => a / b,
    max: Math.max, ">=": (a, b) => told(a, b, a >= b), ">": (a, b) => told(a, b, a > b),
    "<=": (a, b) => told(a, b, a <= b), "<": (a, b) => told(a, b, a < b),
  };

  /** @type {Record<string, (value: number) => number>} */
  const UNARY = { exp: Math.exp, sqrt: Math.sqrt, abs: Math.abs };

  /** A formula in parts: numbers, places and signs.
      @type {(text: string) => (number | string | Place)[]} */
  const formulaOf = (text) => text.split(" ").map((part) =>
    (part in BINARY || part in UNARY ? part : parse(part) ?? Number(part)));

  /** What a formula gives.
      @type {(formula: (number | string | Place)[], valueOf: (at: Place) => number) => number} */
  function worth(formula, valueOf) {
    /** @type {number[]} */
    const stack = [];
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

  /** As tables have it: with their decimals, and with more where these do not show it.
      @type {(value: number, places: number) => string} */
  function atLeast(value, places) {
    const text = shown(value, places);
    return Math.abs(parsed(text) - value) < 5e-5 ? text : short(value);
  }

  /** How a number is written, by the name of Python's function.
      @type {Record<string, (value: number, places: number) => string>} */
  const WRITERS = {
    shown, short, percent, table: atLeast, at_least: shown, at_most: shown, at_least_percent: percent,
    at_most_percent: percent,
  };

  /** Whether a bound still holds, read from its text.
      @type {(how: string, text: string, value: number) => boolean} */
  function holds(how, text, value) {
    const bound = parseFloat(text.replace("−", "-")) / (how.endsWith("percent") ? 100 : 1);
    return how.startsWith("at_least") ? value >= bound - 1e-14 : value <= bound + 1e-14;
  }

  // ---- Lines of arithmetic ----

  /** @typedef {{ text: string, place?: Place | null, raised?: boolean }} Piece */

  /** @type {(text: string) => Piece} */
  const word = (text) => ({ text });

  /** @type {(pieces: Piece[][], between: string) => Piece[]} */
  const joined = (pieces, between) =>
    pieces.flatMap((piece, i) => (i ? [word(between), ...piece] : piece));

  /** A factor, in brackets where it is negative.
      @type {(operand: Operand, places: number) => Piece} */
  const factor = ({ value, place }, places) => ({ text: inBrackets(short(value, places)), place });

  /** @type {(operand: Operand, places: number) => Piece} */
  const plain = ({ value, place }, places) => ({ text: short(value, places), place });

  /** @type {(operand: Operand, places: number) => Piece} */
  const exact = ({ value, place }, places) => ({ text: shown(value, places), place });

  /** A stage's line: its steps but the result.
      @typedef {(from: Origin, places: number, temperature: number) => Piece[][]} Line */

  /** @type {Line} */
  const ofProducts = ({ terms }, places) => {
    const steps = [joined(terms.map((term) =>
      joined(term.map((operand) => [factor(operand, places)]), "×")), " + ")];
    if (terms.length > 1) {
      steps.push([word(terms.map((term) => inBrackets(short(
        term.reduce((product, { value }) => product * value, 1), places))).join(" + "))]);
    }
    return steps;
  };

  /** @type {Partial<Record<Operation, Line>>} */
  const LINES = {
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

  /** @type {(pieces: Piece[]) => string} */
  const textOf = (pieces) => pieces.map(({ text, raised }) => (raised ? "^" : "") + text).join("");

  /** All that a line depends on.
      @type {(from: Origin, value: number, temperature: number) => string} */
  const sourcesOf = ({ terms }, value, temperature) =>
    `${terms.map((term) => term.map((operand) => operand.value))} ${value} ${temperature}`;

  /**
   * The line that works out a number, with the signs that hold.
   * @param {ExplorerNumbers} numbers
   * @param {Place} at
   * @param {number} places decimals
   * @param {number} temperature
   * @param {{ from: string }} [last] what the line was last written for: nothing comes where it still holds
   * @returns {Piece[] | null}
   */
  function lineOf(numbers, at, places, temperature, last) {
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
    const stepsOf = (/** @type {number} */ p) =>
      (isMasked ? [[word("masked")]] : LINES[from.operation]?.(from, p, temperature) ?? []);
    const steps = decimalsOf((p) => stepsOf(p).map(textOf), result, places)
      .map((p, i) => stepsOf(p)[i]);
    return [...steps, [{ text: result, place: at }]].flatMap((step, i, all) =>
      (i ? [word(` ${sign(textOf(all[i - 1]), textOf(step))} `), ...step] : step));
  }

  Object.assign(window.mhaExplorer, { WRITERS, formulaOf, holds, lineOf, worth });
})();
