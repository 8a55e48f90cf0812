/* What a reader chooses for an example: read from fields and addresses, and what is wrong with it. */
(function () {
  "use strict";

  const { beginning, fill } = window.mhaExplorer;
  const { parse, stays } = window.mhaPlaces;
  const { neededWidth, splitWords } = window.mhaOwn;
  const texts = window.mhaStrings.own;

  /** Seeds have 32 bits. */
  const SEEDS = 2 ** 32;

  /** Longer texts than any sentence are not looked at. */
  const LONGEST = 1000;

  const KINDS = ["meanings", "whole", "tenths"];

  /** What `mha.draw_example` calls a size. */
  const SIZES = { heads: "num_heads", width: "d_model", inner: "d_k" };

  /**
   * The words of a text, or the sentence that says what is wrong with it. Punctuation is left out, and so
   * are characters that nobody sees, but for those that join letters, or a family of signs.
   * @param {string} text
   * @param {{ words: number, letters: number }} most
   * @returns {{ words: string[], error: string }}
   */
  function wordsOf(text, most) {
    const seen = text.slice(0, LONGEST).replace(/(?![\u200c\u200d])\p{C}/gu, (sign) => (/\s/.test(sign) ? " " : ""));
    /** @type {string[]} */
    const words = splitWords(seen).filter((/** @type {string} */ word) => /\P{C}/u.test(word));
    const long = words.find((word) => [...word].length > most.letters);
    const error = !words.length ? texts.noWords
      : words.length > most.words ? fill(texts.tooMany, { count: words.length, most: most.words })
        : long ? fill(texts.tooLong,
          { word: beginning(long), count: [...long].length, most: most.letters }) : "";
    return { words, error };
  }

  /** A whole number in a text, NaN where there is none from the one bound to the other.
      @type {(text: string, low: number, high: number) => number} */
  function wholeOf(text, low, high) {
    const plain = text.trim();
    const value = /^\d{1,10}$/.test(plain) ? Number(plain) : NaN;
    return value >= low && value <= high ? value : NaN;
  }

  /** The part of an address that says what was chosen.
      @param {OwnSettings} settings
      @returns {Record<string, string>} */
  function addressOf(settings) {
    const { words, positions, output, ...others } = settings;
    return { own: "example", words: words.join(" "), positions: positions ? "1" : "0",
      output: output ? "1" : "0",
      ...Object.fromEntries(Object.entries(others).map(([key, value]) => [key, String(value)])) };
  }

  /**
   * What an address asks for, what cannot be read as at first; null where it asks for nothing.
   * @param {string} hash
   * @param {OwnSettings} first
   * @param {OwnKnowledge} knowledge
   * @returns {OwnSettings | null}
   */
  function settingsOf(hash, first, knowledge) {
    const { most, sizes } = knowledge;
    const parts = new URLSearchParams(hash.slice(1));
    if (parts.get("own") !== "example") return null;
    const { words, error } = wordsOf(parts.get("words") ?? "", most);
    /** @type {any} */
    const found = { ...first, words: error ? first.words : words };
    for (const [key, name] of Object.entries(SIZES)) {
      const [low, high] = sizes[name];
      const value = wholeOf(parts.get(key) ?? "", low, high);
      if (!Number.isNaN(value)) found[key] = value;
    }
    const seed = wholeOf(parts.get("seed") ?? "", 0, SEEDS - 1);
    if (!Number.isNaN(seed)) found.seed = seed;
    const numbers = parts.get("numbers") ?? "";
    if (KINDS.includes(numbers)) found.numbers = numbers;
    for (const key of ["positions", "output"]) {
      const text = parts.get(key) ?? "";
      if (["0", "1"].includes(text)) found[key] = text === "1";
    }
    return withWidth(found, knowledge);
  }

  /** Settings with as many numbers per word as the meanings of their words need, at least.
      @type {(settings: OwnSettings, knowledge: OwnKnowledge) => OwnSettings} */
  const withWidth = (settings, knowledge) => (settings.numbers === "meanings"
    ? { ...settings, width: Math.max(settings.width, neededWidth(settings.words, knowledge)) } : settings);

  /** For each word of a sentence its place in another one, or −1.
      @type {(from: string[], to: string[]) => number[]} */
  function followed(from, to) {
    const left = to.map((word, i) => ({ word, i }));
    return from.map((word) => {
      const at = left.findIndex((one) => one.word === word);
      return at < 0 ? -1 : left.splice(at, 1)[0].i;
    });
  }

  /**
   * What of a state still holds in an explorer for other settings: numbers that were changed, where
   * the numbers drawn for the others are as they were.
   * @param {ExplorerState} state
   * @param {OwnSettings} before
   * @param {OwnSettings} after
   * @returns {Partial<ExplorerState>}
   */
  function kept(state, before, after) {
    const { causal, scale, temperature } = state;
    const places = followed(before.words, after.words);
    const focus = state.focus < after.heads ? state.focus : 0;
    /** @type {Record<string, number>} */
    const edits = {};
    const isSame = before.seed === after.seed && before.numbers === after.numbers
      && before.width === after.width;
    for (const [where, value] of isSame ? Object.entries(state.edits) : []) {
      /** @type {any} */
      const at = parse(where);
      const isWord = at.stage === "embeddings";
      const row = isWord ? places[at.row] : at.row;
      const isThere = isWord ? row >= 0
        : stays(at.stage) ? after.positions && row < after.words.length
          : before.inner === after.inner && (at.stage === "w_o"
            ? after.output && row < after.heads * after.inner : at.head < after.heads);
      if (isThere) edits[window.mhaPlaces.address({ ...at, row })] = value;
    }
    return { causal, scale, temperature, focus, edits };
  }

  /** How much a word tells: its largest weight, in shares of an even split.
      @type {(weights: Matrix[], word: number) => number} */
  const told = (weights, word) => Math.max(...weights.map((head) =>
    Math.max(...head[word]) * head[word].filter((weight) => weight > 0).length));

  /** Whether any head chooses for a word. @type {(weights: Matrix[], word: number) => boolean} */
  const isTold = (weights, word) => told(weights, word) > 1 + 1e-9;

  /** The first word that tells most. @param {Matrix[]} weights */
  function mostTold(weights) {
    const found = weights[0].map((_, word) => told(weights, word));
    const most = Math.max(...found) - 1e-9;
    return found.findIndex((one) => one >= most);
  }

  Object.assign(window.mhaOwn, { KINDS, SEEDS, SIZES, addressOf, followed, isTold, kept, mostTold, settingsOf,
    withWidth, wordsOf });
})();
