/* How the explorer tells where a number comes from: an origin in words and parts, with what only
   the explorer knows laid over it: a temperature, heads that are off, numbers that are masked. */
(function () {
  "use strict";

  const { chain, decimalsOf, short, shown } = window.mhaNumbers;
  const { address } = window.mhaPlaces;
  const { constant, evaluate, origin } = window.mhaOrigins;
  const { fill } = window.mhaExplorer;
  const texts = window.mhaStrings.explorer;

  const inBrackets = (/** @type {string} */ text) => (text.startsWith("−") ? `(${text})` : text);

  /** What a score is multiplied with, as a text.
      @type {(origin: Origin, state: ExplorerState, places: number) => string} */
  function scaleText({ terms }, { temperature }, places) {
    const [by] = terms[1];
    const scale = short(by.name === "d_k" ? 1 / Math.sqrt(by.value) : by.value, places);
    return temperature === 1 ? scale
      : `(${fill(texts.dividedBy, { scale, temperature: short(temperature, places) })})`;
  }

  /** The second factor may be a constant: a cosine or a sine. @type {Layout} */
  const factors = ({ terms }) => terms.map(([left, right]) =>
    [left, "×", right.place ? right : (p) => inBrackets(short(right.value, p))]);

  /** @type {Layout} */
  const oneByOne = ({ terms }) => terms;

  /** How the operands of an operation are laid out: the items of a list, each in parts.
      @type {Partial<Record<Operation, Layout>>} */
  const LAYOUTS = {
    products: factors,
    product: factors,
    mixed: factors,
    sum: oneByOne,
    copy: oneByOne,
    share: ({ terms: [[exponential], [total]] }) => [[exponential, "÷", total]],
    scaled: (from, state) => {
      const mask = constant(from, "mask");
      return [[from.terms[0][0], "×", (p) => scaleText(from, state, p),
        ...(mask === null ? [] : [(/** @type {number} */ p) => `+ ${inBrackets(short(mask, p))}`])]];
    },
    exponential: (from) => {
      const shift = constant(from, "shift");
      const [score] = from.terms[0];
      return shift === null ? [["e ^", score]] : [["e ^ (", score, (p) => `− ${shown(shift, p)})`]];
    },
  };

  /** Why a number is not computed from others, where the explorer or a mask leaves it out.
      @type {(data: ExplorerData, state: ExplorerState, numbers: Numbers, origin: Origin) => string}
   */
  function leftOut(data, state, numbers, { place: { head, row, column }, operation, terms }) {
    if (operation === "copy") {
      const from = terms[0][0].place?.head ?? 0;
      return state.off[from] ? fill(texts.headOff, { head: data.heads[from] }) : "";
    }
    if (head === null || !["scaled", "exponential", "sum", "share"].includes(operation)) return "";
    if (numbers.row_sums[head][row] === 0) return texts.maskedRow;
    return column !== null && numbers.mask[head][row][column] === -Infinity ? texts.masked : "";
  }

  /**
   * Where a number comes from.
   * @param {ExplorerData} data
   * @param {ExplorerState} state
   * @param {ExplorerNumbers} numbers
   * @param {Place} at
   * @returns {{ why: string, from: Origin, items: Part[][] }} why it is left out, "" where it is
   *   not; its origin; and what is added up or worked out: operands with a place, and texts.
   */
  function described(data, state, numbers, at) {
    const from = origin(numbers.inputs, numbers, at);
    const why = leftOut(data, state, numbers, from);
    return { why, from, items: (!why && LAYOUTS[from.operation]?.(from, state)) || [] };
  }

  /** A part of a line as it is printed, with so many decimals.
      @type {(part: Part, places?: number) => string} */
  function written(part, places = 4) {
    if (typeof part === "function") return part(places);
    return typeof part === "object" ? inBrackets(short(part.value, places)) : part;
  }

  /** The items of a line as a printed sum.
      @type {(items: Part[][], places?: number) => string} */
  const sumOf = (items, places) =>
    items.map((parts) => parts.map((part) => written(part, places)).join(" ")).join(" + ");

  /** A line as a calculation alone, without the words in it. @type {(line: string) => string} */
  const calculation = (line) =>
    line.replace(/\p{L}{2,}/gu, (word) => (word === "max" ? word : ""));

  /** The decimals with which the items of a line give its printed result.
      @type {(items: Part[][], result: string) => number} */
  const decimalsFor = (items, result) =>
    decimalsOf((p) => [calculation(sumOf(items, p))], result, 4)[0];

  /**
   * How a number comes about, on one line; "≈" stands where rounding enters.
   * @param {ExplorerData} data
   * @param {ExplorerState} state
   * @param {ExplorerNumbers} numbers
   * @param {Place} at
   * @returns {string}
   */
  function worked(data, state, numbers, at) {
    const { why, from, items } = described(data, state, numbers, at);
    if (!items.length) return why || texts.isInput;
    const result = short(evaluate(from));
    return chain(sumOf(items, decimalsFor(items, result)), result);
  }

  /** The key that a number is of, where a mask may hide it; a part of an output is of one, too.
      @type {(at: Place) => number | null} */
  function keyOf({ stage, column, term }) {
    if (stage === "head_outputs") return term;
    return ["scaled_scores", "exponentials", "weights"].includes(stage) ? column : null;
  }

  /**
   * What lights up with a number: all that it comes from, and those of some places that come from
   * it. The parts of a head's output count as what it comes from. What a mask hides moves nothing.
   * @param {ExplorerNumbers} numbers
   * @param {Place[]} places
   * @returns {(at: Place) => Set<string>}
   */
  function chainOf(numbers, places) {
    /** @type {Map<string, Set<string>>} */
    const known = new Map();
    /** @type {(at: Place, key: number | null) => boolean} */
    const isHidden = ({ head, row }, key) =>
      key !== null && numbers.mask[head ?? 0][row ?? 0][key] === -Infinity;
    /** @type {(at: Place) => Set<string>} */
    const sources = (at) => {
      const where = address(at);
      const found = known.get(where) ?? new Set([where]);
      if (known.has(where)) return found;
      known.set(where, found);
      if (isHidden(at, keyOf(at))) return found;
      const { operation, terms } = origin(numbers.inputs, numbers, at);
      const isMixed = operation === "mixed";
      terms.forEach((operands, term) => {
        if (isMixed && isHidden(at, term)) return;
        for (const { place } of operands) {
          if (place) sources(place).forEach((one) => found.add(one));
        }
        if (isMixed) found.add(address({ ...at, term }));
      });
      return found;
    };
    return (at) => {
      const where = address(at);
      const moved = places.filter((place) => sources(place).has(where));
      return new Set([...sources(at), ...moved.map(address)]);
    };
  }

  Object.assign(window.mhaExplorer, { LAYOUTS, calculation, chainOf, decimalsFor, described,
    inBrackets, sumOf, worked, written });
})();
