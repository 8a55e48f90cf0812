/* A sentence of one's own: other tokens, with numbers drawn from a seed or pasted, in the place of
   the example's. Tokens are put on the page as text alone. */
(function () {
  "use strict";

  const { isMatrix, stays } = window.mhaPlaces;

  /** How many words a sentence may have, and how many characters a word. */
  const WORDS = { least: 2, most: 8, length: 16 };

  /** A generator of numbers from 0 to 1 (mulberry32), the same in every browser.
      @param {number} seed
      @returns {() => number} */
  function generator(seed) {
    let state = seed >>> 0;
    return () => {
      state = (state + 0x6d2b79f5) >>> 0;
      let mixed = Math.imul(state ^ (state >>> 15), state | 1);
      mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
      return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
    };
  }

  /** A row for each place: those that there are, then more in equal steps.
      @type {(rows: Matrix, count: number) => Matrix} */
  function continued(rows, count) {
    const [last, before = last] = rows.slice(-2).reverse();
    return Array.from({ length: count }, (_, i) => rows[i]
      ?? last.map((x, j) => x + (i + 1 - rows.length) * (x - before[j])));
  }

  /** Tenths from −1 to 1. @type {(draw: () => number, rows: number, columns: number) => Matrix} */
  const tenths = (draw, rows, columns) => Array.from({ length: rows }, () =>
    Array.from({ length: columns }, () => Math.round(20 * draw() - 10) / 10));

  /**
   * The words of a sentence, null where they are too many, too few or too long.
   * @param {string} text
   * @returns {string[] | null}
   */
  function wordsOf(text) {
    const words = text.slice(0, 400).trim().split(/\s+/);
    const fits = words.length >= WORDS.least && words.length <= WORDS.most
      && text.length <= 400 && words.every((word) => word.length <= WORDS.length);
    return fits ? words : null;
  }

  /**
   * What an explorer starts from with another sentence; the layer stays the example's.
   * @param {ExplorerData} base
   * @param {OwnSentence} own
   * @returns {ExplorerData}
   */
  function dataOf(base, { words, seed }) {
    const draw = generator(seed);
    /** @type {any} */
    const inputs = { ...base.inputs };
    for (const stage of Object.keys(inputs).filter((name) => !isMatrix(name))) {
      if (stays(stage)) {
        inputs[stage] = continued(inputs[stage], words.length);
        continue;
      }
      const perHead = window.mhaStages[stage].axes.includes("head");
      const columns = (perHead ? inputs[stage][0] : inputs[stage])[0].length;
      const drawn = () => tenths(draw, words.length, columns);
      inputs[stage] = perHead ? base.heads.map(drawn) : drawn();
    }
    return { ...base, tokens: words, inputs, masks: null, prints: {}, tasks: [], focus: null };
  }

  /**
   * A sentence from an address, such as "7:the dog ran"; null where it is none.
   * @param {string | null} text
   * @returns {OwnSentence | null}
   */
  function ownFrom(text) {
    const found = /^(\d{1,9}):(.+)$/.exec((text ?? "").slice(0, 500));
    const words = found && wordsOf(found[2]);
    return words ? { seed: Number(found[1]), words } : null;
  }

  Object.assign(window.mhaExplorer, { dataOf, ownFrom });
})();
