/* Names for heads and their tests, a port of mha/examples/head_names.py; and the recorded maps. */
(function () {
  "use strict";

  const { bytesOf } = window.mhaExplorer;

  /** @typedef {[row: number, keys: number[]][]} Cells */
  /** @typedef {{ share: number, obeyed: number, rows: number } | null} Held */

  const mean = (/** @type {number[]} */ numbers) => numbers.reduce((sum, x) => sum + x, 0) / numbers.length;

  const rowsOf = (/** @type {any[]} */ tokens) => tokens.map((_, i) => i);

  /** The rows of the words, without the tokens that the model adds at both ends. */
  const words = (/** @type {any[]} */ tokens) => rowsOf(tokens).slice(1, -1);

  /** By the name, the rows of which a rule speaks, each with the keys where its weight would lie.
      @type {Record<string, (tokens: string[]) => Cells>} */
  const RULES = {
    before: (tokens) => rowsOf(tokens).slice(1).map((i) => [i, [i - 1]]),
    next: (tokens) => words(tokens).slice(0, -1).map((i) => [i, [i + 1]]),
    itself: (tokens) => rowsOf(tokens).map((i) => [i, [i]]),
    same: (tokens) => rowsOf(tokens).map((i) =>
      /** @type {[number, number[]]} */ ([i, rowsOf(tokens).filter((j) => j !== i && tokens[j] === tokens[i])]))
      .filter(([, keys]) => keys.length),
    first: (tokens) => words(tokens).map((i) => [i, [0]]),
    separator: (tokens) => words(tokens).map((i) => [i, [tokens.length - 1]]),
  };

  /** By the name, how a row is spread, whichever keys it falls on.
      @type {Record<string, (row: number[]) => number>} */
  const SHAPES = {
    sharp: (row) => Math.max(...row),
    broad: (row) => {
      const total = row.reduce((sum, x) => sum + x, 0);
      const shares = row.map((x) => x / total);
      const entropy = -shares.reduce((sum, x) => sum + (x ? x * Math.log(x) : 0), 0);
      return Math.exp(entropy) / row.length;
    },
  };

  /** The rows that a name speaks of; of a shape all of them, with no keys.
      @type {(name: string, tokens: string[], pair: string[]) => Cells} */
  function cellsOf(name, tokens, pair) {
    if (name !== "pair") return RULES[name]?.(tokens) ?? [];
    const [row, key] = pair.map((token) => tokens.indexOf(token));
    return row < 0 || key < 0 ? [] : [[row, [key]]];
  }

  /** How far a name holds of a map, null where its rule speaks of no row.
      @type {(name: string, cells: Cells, weights: Matrix) => Held} */
  function holds(name, cells, weights) {
    if (SHAPES[name]) {
      const measured = weights.map(SHAPES[name]);
      return { share: mean(measured), obeyed: measured.filter((x) => x > 0.5).length, rows: measured.length };
    }
    if (!cells.length) return null;
    const shares = cells.map(([row, keys]) => keys.reduce((sum, key) => sum + weights[row][key], 0));
    const obeyed = cells.filter(([row, keys]) =>
      keys.includes(weights[row].indexOf(Math.max(...weights[row])))).length;
    return { share: mean(shares), obeyed, rows: cells.length };
  }

  /** The mean of the shares of several sentences, without those of which a rule is silent.
      @param {Held[]} found */
  const meanShare = (found) => mean(found.flatMap((held) => (held ? [held.share] : [])));

  /** Which word gives another most, and which that is; of the row of one place, if that is a place.
      @param {Matrix} weights @param {number} [row] */
  function tellingPair(weights, row = -1) {
    const among = words(weights);
    const pairs = (row < 0 ? among : [row]).flatMap((place) =>
      among.filter((key) => key !== place).map((key) => ({ place, key })));
    return pairs.reduce((best, one) =>
      (weights[one.place][one.key] > weights[best.place][best.key] ? one : best));
  }

  /** What gives the map of a sentence in a head: it is read when it is first asked for.
      @returns {(sentence: number, head: number) => Matrix} */
  function recordedMaps() {
    const { heads, high, layers, low, tokens } = window.mhaHeads;
    const [small, large] = [low, high].map(bytesOf);
    const starts = [0];
    tokens.forEach((/** @type {string[]} */ { length }, /** @type {number} */ i) => starts.push(starts[i] + layers * heads * length ** 2));
    /** @type {Matrix[][]} */
    const found = tokens.map(() => []);
    /** @type {(from: number, n: number) => Matrix} */
    const read = (from, n) => Array.from({ length: n }, (_row, i) => Array.from({ length: n }, (_entry, j) => {
      const at = from + i * n + j;
      return (small[at] + 256 * large[at]) / 1000;
    }));
    return (sentence, head) => {
      const n = tokens[sentence].length;
      return (found[sentence][head] ??= read(starts[sentence] + head * n * n, n));
    };
  }

  Object.assign(window.mhaHeads, { RULES, SHAPES, cellsOf, holds, meanShare, recordedMaps, tellingPair });
})();
