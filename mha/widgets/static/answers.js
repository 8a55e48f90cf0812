/* What a reader enters as an answer, how it stands to the right one, and the mistake that it is due
   to. A port of mha/practice/entered.py, verdict.py and mistakes.py; the tests compare them. */
(function () {
  "use strict";
  const { fixed } = window.mhaNumbers;
  const { result } = window.mhaExercises;

  /* ---- Reading ---- */

  const LONGEST = 200; // characters that are read; what is longer is no answer
  const PLAIN = /^[+-]?(?:\d+(?:[.,](\d*))?|[.,](\d+))$/;
  const TOKEN = /\d+(?:[.,]\d*)?|[.,]\d+|sqrt|exp|e|[-+*/^()√]/y;

  /** @param {number} value */
  function finite(value) {
    if (!Number.isFinite(value)) throw new RangeError("no finite number");
    return value;
  }

  /** @param {string} text */
  function tokensOf(text) {
    const found = [];
    TOKEN.lastIndex = 0;
    while (TOKEN.lastIndex < text.length) {
      const match = TOKEN.exec(text);
      if (!match) throw new RangeError("no calculation");
      found.push(match[0]);
    }
    return found.reverse();
  }

  /** @type {Record<string, (value: number) => number>} */
  const FUNCTIONS = { "√": Math.sqrt, sqrt: Math.sqrt, exp: Math.exp };

  /**
   * What a calculation comes to; each token is read once.
   * @param {string} text
   * @returns {number}
   */
  function calculated(text) {
    const left = tokensOf(text);

    const take = (/** @type {string} */ wanted) =>
      (left.length && wanted.includes(left[left.length - 1]) ? left.pop() : "");

    /** @returns {number} */
    function number() {
      const token = left.pop() ?? "";
      if (token === "(") {
        const value = total();
        if (!take(")")) throw new RangeError("no bracket");
        return value;
      }
      if (Object.hasOwn(FUNCTIONS, token)) return finite(FUNCTIONS[token](number()));
      if (token === "e") return Math.E;
      return finite(/\d/.test(token) ? Number(token.replace(",", ".")) : NaN);
    }

    /** @returns {number} */
    function signed() {
      const sign = take("+-") === "-" ? -1 : 1;
      const base = number();
      return sign * (take("^") ? finite(base ** signed()) : base);
    }

    function product() {
      let value = signed();
      for (let sign = take("*/"); sign; sign = take("*/")) {
        const other = signed();
        value = finite(sign === "*" ? value * other : value / other);
      }
      return value;
    }

    /** @returns {number} */
    function total() {
      let value = product();
      for (let sign = take("+-"); sign; sign = take("+-")) {
        const other = product();
        value = finite(sign === "+" ? value + other : value - other);
      }
      return value;
    }

    const value = total();
    if (left.length) throw new RangeError("no calculation");
    return value;
  }

  /**
   * The number entered and its decimals, or null if there is none.
   * @param {string} text
   * @param {boolean} [percent]
   * @returns {{number: number, decimals: number} | null}
   */
  function read(text, percent = false) {
    if (text.length > LONGEST) return null;
    const plain = text.replace(/\s/g, "").replace(/[−–]/g, "-").replace(/[×·]/g, "*")
      .replaceAll("÷", "/").toLowerCase().replaceAll("**", "^");
    const body = plain.replace(/%$/, "");
    let number;
    try {
      number = calculated(body);
    } catch {
      return null;
    }
    // A sign says percent; where percent is asked for, a bare number is one.
    number /= body !== plain && !percent ? 100 : 1;
    const alone = PLAIN.exec(body);
    return { number, decimals: alone ? (alone[1] || alone[2] || "").length : 0 };
  }

  /* ---- The verdict ---- */

  /** @param {number} places */
  const halfUnit = (places) => 0.5 * 10 ** -places * (1 + 1e-9);

  /**
   * @param {Task} task
   * @param {string} text
   * @returns {Verdict}
   */
  function verdict(task, text) {
    const entered = read(text, task.percent);
    if (!entered) return "unreadable";
    const wanted = window.mhaExercises.asked(task);
    const unit = 10 ** -task.places;
    const distance = Math.abs(entered.number - wanted);
    const dust = Math.abs(wanted) * 1e-13; // digits that `shown` does not trust
    if (distance <= halfUnit(task.places) + dust) return "right";
    const needsRounding = Math.abs(wanted - Number(fixed(wanted, task.places))) > 1e-9 * unit;
    const fewer = entered.decimals > 0 && entered.decimals < task.places;
    const roundedTooMuch = fewer && distance <= halfUnit(entered.decimals);
    return needsRounding && (distance <= 2 * unit || roundedTooMuch) ? "near" : "wrong";
  }

  /* ---- Mistakes ---- */

  /** @type {(values: number[]) => number} */
  const sum = (values) => values.reduce((all, x) => all + x, 0);

  /** @type {(step: MistakeName) => (givens: number[][]) => Slip[]} */
  const ofScaling = (step) => (givens) => {
    const [[score], [by], ...mask] = givens;
    const added = sum(mask.flat());
    /** @type {Slip[]} */
    const found = [[step, score + added]];
    if (step === "no-root") found.push(["by-width", score / by + added]);
    if (mask.length) {
      const name = step === "no-root" ? "d_k" : "scale";
      found.push(["no-mask", result("scaled", givens.slice(0, 2), name)]);
    }
    return found;
  };

  /** What a calculation comes to. @type {(kind: Kind, givens: number[][]) => number} */
  const valueOf = (kind, givens) => window.mhaExercises.valueOf(kind, givens);

  /**
   * What the operands of each kind of calculation lead to when a step is wrong.
   * @typedef {[MistakeName, number]} Slip
   * @type {Record<Kind, (givens: number[][], column: number) => Slip[]>}
   */
  const SLIPS = {
    products: ([left, right]) => {
      const products = left.map((value, i) => value * right[i]);
      const terms = products.length > 1 ? products.filter((product) => product !== 0) : [];
      return [["signs", sum(products.map(Math.abs))],
        ...terms.map((product) => /** @type {Slip} */ (["one-term", product]))];
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
      const others = keys.map((key) => /** @type {Slip} */ (
        ["other-key", result("share", [[powers[key]], [sum(powers)]])]));
      /** @type {Slip[]} */
      const byScores = Math.abs(whole) > 1e-9 ? [["no-exponential", exponents[column] / whole]] : [];
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
   * @param {Task} task
   * @returns {Mistake[]}
   */
  function mistakes(task) {
    const wanted = window.mhaExercises.asked(task);
    const factor = task.percent ? 100 : 1;
    /** @type {Mistake[]} */
    const found = [];
    if (task.percent) found.push({ name: "share", value: wanted / 100, unit: 0.01 });
    else if (task.kind === "share") found.push({ name: "percent", value: 100 * wanted, unit: 100 });
    found.push({ name: "sign", value: -wanted, unit: 1 });
    const slips = SLIPS[task.kind](task.givens, task.column).filter(([, x]) => Number.isFinite(x));
    for (const [name, value] of slips) found.push({ name, value: factor * value, unit: 1 });
    for (const [name, value] of task.elsewhere ?? []) found.push({ name, value, unit: 1 });
    /** @type {Mistake[]} */
    const kept = [];
    for (const mistake of found) {
      const taken = [wanted, ...kept.map(({ value }) => value)];
      const isNew = taken.every((x) => Math.abs(mistake.value - x) > halfUnit(task.places));
      if (isNew) kept.push(mistake);
    }
    return kept;
  }

  /**
   * The mistake that a wrong answer is due to, or null where it may be any.
   * @param {Task} task
   * @param {string} text
   * @returns {MistakeName | null}
   */
  function recognised(task, text) {
    const number = read(text, task.percent)?.number ?? NaN;
    const slack = halfUnit(task.places);
    const known = mistakes(task).find(({ value, unit }) => Math.abs(number - value) <= slack * unit);
    if (known) return known.name;
    const [entered, wanted] = [number, window.mhaExercises.asked(task)].map((x) =>
      fixed(x, task.places).slice(0, -1));
    return entered === wanted && task.places > 0 ? "last-digit" : null;
  }

  window.mhaAnswers = { mistakes, read, recognised, verdict };
})();
