/* The operations that few pages need: what a normalisation, a feed-forward layer and a running
   softmax do to numbers. They join those of origins.js; the tests hold all to mha/runs. */
(function () {
  "use strict";
  const { RESULTS } = window.mhaOrigins;

  const sum = (/** @type {number[]} */ numbers) => numbers.reduce((all, x) => all + x, 0);

  /** The share of the standard normal distribution below a number: a series of Marsaglia's.
      @type {(x: number) => number} */
  function normalShare(x) {
    if (Math.abs(x) > 9) return x > 0 ? 1 : 0;
    let [all, before, term] = [x, NaN, x];
    for (let i = 3; all !== before; i += 2) {
      before = all;
      term *= x * x / i;
      all += term;
    }
    return 0.5 + all * Math.exp(-x * x / 2) / Math.sqrt(2 * Math.PI);
  }

  /** @type {(terms: number[][]) => number} */
  function spread(terms) {
    const numbers = terms.flat();
    const [mean, eps] = numbers.splice(-2);
    return Math.sqrt(sum(numbers.map((x) => (x - mean) ** 2)) / numbers.length + eps);
  }

  Object.assign(RESULTS, /** @type {Results} */ ({
    quotient: RESULTS.share,
    largest: (terms) => Math.max(...terms.flat()),
    mean: (terms) => sum(terms.flat()) / terms.length,
    spread,
    normalised: ([[x], [mean], [by]], { terms }) => {
      const learned = (/** @type {string} */ name, /** @type {number} */ left) =>
        terms.flat().find((operand) => operand.name === name)?.value ?? left;
      return (x - mean) / by * learned("gain", 1) + learned("bias", 0);
    },
    relu: ([[x]]) => Math.max(x, 0),
    gelu: ([[x]]) => x * normalShare(x),
  }));

  const LARGEST = /max\(((?:−?[\d.]+|−∞)(?:, (?:−?[\d.]+|−∞))+)\)/gu;

  /** The largest of some printed numbers, in brackets, as it is printed.
      @type {(text: string) => string} */
  function largest(text) {
    const value = (/** @type {string} */ one) =>
      Number(one.replace("−", "-").replace("∞", "Infinity"));
    return `(${text.split(", ").reduce((most, one) => (value(one) > value(most) ? one : most))})`;
  }

  window.mhaNumbers.plain = (text) => text.replace(LARGEST, (_, numbers) => largest(numbers));
  window.mhaOrigins.normalShare = normalShare;
})();
