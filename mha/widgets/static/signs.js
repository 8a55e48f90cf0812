/* The sign between two printed steps of a calculation, as in mha/views/signs.py; the tests hold both
   to the same text. It stands apart from numbers.js for those pages that write no steps. */
(function () {
  "use strict";

  /** A fraction, its denominator above 0. @typedef {[bigint, bigint]} Fraction */

  /** @type {Record<string, (left: Fraction, right: Fraction) => Fraction | null>} */
  const COMBINED = {
    "+": ([a, b], [c, d]) => [a * d + c * b, b * d],
    "−": ([a, b], [c, d]) => [a * d - c * b, b * d],
    "×": ([a, b], [c, d]) => [a * c, b * d],
    "÷": ([a, b], [c, d]) => (c === 0n ? null : c < 0n ? [-a * d, -b * c] : [a * d, b * c]),
  };

  /** A square root that is a whole number, null where there is none.
      @type {(value: bigint) => bigint | null} */
  function wholeRoot(value) {
    if (value < 0n) return null;
    let root = value;
    for (let next = (value + 1n) / 2n; next < root; next = (root + value / root) / 2n) root = next;
    return root * root === value ? root : null;
  }

  /** @type {Record<string, (value: Fraction) => Fraction | null>} */
  const APPLIED = {
    "−": ([top, bottom]) => [-top, bottom],
    // The root of a/b is that of a times b, over b.
    "√": ([top, bottom]) => {
      const root = wholeRoot(top * bottom);
      return root === null ? null : [root, bottom];
    },
    e: ([top]) => (top === 0n ? [1n, 1n] : null),
  };

  /** @type {(token: string) => Fraction} */
  function fractionOf(token) {
    const [whole, decimals = ""] = token.split(".");
    return [BigInt(whole + decimals), 10n ** BigInt(decimals.length)];
  }

  /** Take a number, a bracket, or what a sign does to one off the front of some tokens.
      @type {(tokens: string[]) => Fraction | null} */
  function factorOf(tokens) {
    const token = tokens.shift() ?? "";
    if ("−√".includes(token[0]) || token[0] === "e") {
      const value = factorOf(tokens);
      return value && APPLIED[token[0]](value);
    }
    if (token === "(") {
      const value = combined(tokens, "+−");
      return tokens.shift() === ")" ? value : null;
    }
    if (!/^\d/.test(token)) return null;
    const value = fractionOf(token);
    if (tokens[0] !== "%") return value;
    tokens.shift();
    return [value[0], value[1] * 100n];
  }

  /** Take a sum, or a product, off the front of some tokens.
      @type {(tokens: string[], signs: "+−" | "×÷") => Fraction | null} */
  function combined(tokens, signs) {
    const part = () => (signs === "+−" ? combined(tokens, "×÷") : factorOf(tokens));
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

  /**
   * What a printed calculation comes to, its numbers read as exact decimals; null where that is no
   * fraction.
   * @param {string} text
   * @returns {Fraction | null}
   */
  function asPrinted(text) {
    const finite = text.replace("e^−∞", "0");
    if (/∞|[^\P{L}e]/u.test(finite)) return null;
    const tokens = finite.match(/\d+(?:\.\d+)?|e ?\^|\S/g) ?? [];
    const value = combined(tokens, "+−");
    return tokens.length ? null : value;
  }

  // The largest of rounded numbers is the largest, rounded.
  /**
   * The sign between two printed steps of a calculation: "=" where both come to the same as they
   * are printed, else "≈".
   * @param {string} left
   * @param {string} right
   * @returns {"=" | "≈"}
   */
  function sign(left, right) {
    if (left === right || /^(max|\D*$)/.test(left)) return "=";
    const [value, wanted] = [asPrinted(left), asPrinted(right)];
    return value && wanted && value[0] * wanted[1] === wanted[0] * value[1] ? "=" : "≈";
  }

  /**
   * Steps of a calculation on one line, each pair with the sign that holds.
   * @param {...string} steps
   * @returns {string}
   */
  const chain = (...steps) => steps.reduce((line, step, i) =>
    `${line} ${sign(steps[i - 1], step)} ${step}`);

  Object.assign(window.mhaNumbers, { chain, sign });
})();
