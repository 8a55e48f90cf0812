/* How numbers are written and read: the book's one rounding rule, as in mha/runs/rounding.py.
   Values stay as they are and are rounded only when shown. And the sign between two printed steps of
   a calculation, as in mha/views/signs.py. The tests hold both to the same text. */
(function () {
  "use strict";

  /** Decimal places that the book shows unless a page says otherwise. */
  const PLACES = 4;

  /** What `toFixed` writes with an exponent; every number of this size is a whole one. */
  const WITH_EXPONENT = 1e21;

  /**
   * The decimals of a number of at least 0; an exact tie goes to the even digit.
   * @param {number} size
   * @param {number} places
   * @returns {string}
   */
  function decimals(size, places) {
    if (size >= WITH_EXPONENT) return BigInt(size) + (places ? `.${"0".repeat(places)}` : "");
    const text = size.toFixed(places);
    const halves = size * 2 ** (places + 1);
    const isTie = Number.isInteger(halves) && halves % 2 === 1;
    if (!isTie || "02468".includes(text.slice(-1))) return text;
    // A tie has one more decimal, a 5; toFixed rounded it up.
    return size.toFixed(places + 1).slice(0, -1).replace(/\.$/, "");
  }

  /**
   * A number with a fixed count of decimals, as Python formats it; no negative zero.
   * @param {number} value
   * @param {number} places
   * @returns {string}
   */
  function fixed(value, places) {
    if (!Number.isFinite(value)) return String(value).toLowerCase().replace("infinity", "inf");
    const text = decimals(Math.abs(value), places);
    return value < 0 && Number(text) !== 0 ? `-${text}` : text;
  }

  /**
   * A number as the book prints it: rounded to `places` decimals, with a true minus sign.
   * @param {number} value
   * @param {number} [places]
   * @returns {string}
   */
  function shown(value, places = PLACES) {
    return value === -Infinity ? "−∞" : fixed(value, places).replace("-", "−");
  }

  /**
   * A number without trailing zeros where it is exact to `places` decimals.
   * @param {number} value
   * @param {number} [places]
   * @returns {string}
   */
  function short(value, places = PLACES) {
    const text = shown(value, places);
    const off = Math.abs(value - Number(fixed(value, places)));
    const isExact = off <= 1e-14 * Math.max(1, Math.abs(value));
    return isExact && text.includes(".") ? text.replace(/\.?0+$/, "") : text;
  }

  /**
   * A number with all its digits, as a reader can enter it again.
   * @param {number} value
   * @returns {string}
   */
  const full = (value) => String(value).replaceAll("-", "−").replace("Infinity", "∞");

  /**
   * A text as a number, NaN where it is none.
   * @param {string} text
   * @returns {number}
   */
  function parsed(text) {
    const plain = text.trim().replaceAll("−", "-");
    // Each digit can be read in one way only: a long text takes no longer than it is.
    return /^[-+]?(\d+(\.\d*)?|\.\d+)(e[-+]?\d+)?$/i.test(plain) ? Number(plain) : NaN;
  }

  // ---- Signs between the steps of a calculation ----

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
    let root = BigInt(Math.floor(Math.sqrt(Number(value))));
    while (root * root > value) root -= 1n;
    while ((root + 1n) * (root + 1n) <= value) root += 1n;
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

  /**
   * The sign between two printed steps of a calculation: "=" where both come to the same as they
   * are printed, else "≈".
   * @param {string} left
   * @param {string} right
   * @returns {"=" | "≈"}
   */
  function sign(left, right) {
    if (left === right || !/\d/.test(left)) return "=";
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

  window.mhaNumbers = { chain, fixed, full, parsed, short, shown, sign };
})();
