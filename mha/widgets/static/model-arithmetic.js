/* A model that predicts the next word: a port of mha/core/language.py and mha/runs/stories.py. The
   two blocks are those of attention-block.js; here stand the tables at both ends, heads that are
   off, the way that is cut, and where the numbers at the end come from. */
(function () {
  "use strict";

  const { bytesOf } = window.mhaExplorer;
  const { matmul, softmax, trace } = window.mhaAttention;
  const { normed } = window.mhaBlock;
  const { RULES, each, named, origin } = window.mhaOrigins;
  const { at, valueAt } = window.mhaPlaces;

  const EPS = 1e-5;

  /** The head whose note is cut, and that whose keys are then without it. */
  const CUT = { from: 0, to: 1 };

  /** @type {any} */
  const BLOCK = { norm: "before", activation: "relu", eps: { first: EPS, second: EPS } };

  // What no run of the package has: the parts of the last stream, normalised, and what each adds to
  // each logit; what the keys of a head read where a way is cut; logits over another temperature than 1.
  /** @type {any} */
  const OWN_STAGES = {
    parts: { symbol: "x", axes: ["head", "row", "column"] },
    shares: { symbol: "ℓ", axes: ["head", "row", "column"] },
    cut_normed: { symbol: "x", axes: ["row", "column"] },
    cooled_logits: { symbol: "ℓ", axes: ["row", "column"] },
  };
  Object.assign(window.mhaStages, OWN_STAGES);

  // ---- Numbers ----

  /** A number of 16 bits; no infinity is among them. @type {(bits: number) => number} */
  function half(bits) {
    const [exponent, fraction] = [(bits >> 10) & 31, bits & 1023];
    const size = exponent ? 2 ** (exponent - 25) * (1024 + fraction) : 2 ** -24 * fraction;
    return bits & 0x8000 ? -size : size;
  }

  /** @type {(numbers: number[], shape: number[]) => any} */
  function nested(numbers, [length, ...inner]) {
    if (!inner.length) return numbers;
    const size = numbers.length / length;
    return Array.from({ length }, (_, i) =>
      nested(numbers.slice(i * size, (i + 1) * size), inner));
  }

  /**
   * The model after one of the steps that are kept, from a text of 16-bit numbers.
   * @param {ModelData} data
   * @param {number} step which of them, from 0
   * @returns {NamesModel}
   */
  function checkpoint({ numbers, shapes, base, words }, step) {
    const sizes = shapes.map(([, shape]) => shape.reduce((size, n) => size * n, 1));
    const size = sizes.reduce((total, own) => total + own, 0);
    const bytes = bytesOf(numbers).subarray(2 * size * step);
    const all = Array.from({ length: size }, (_, i) => half(bytes[2 * i] + 256 * bytes[2 * i + 1]));
    /** @type {any} */
    const model = { words };
    shapes.forEach(([name, shape], j) => {
      model[name] = nested(all.splice(0, sizes[j]), shape);
    });
    const width = model.w_q1[0][0].length;
    model.speeds = Array.from({ length: width / 2 }, (_, j) => base ** ((-2 * j) / width));
    return model;
  }

  // ---- Runs ----

  /** The rows of a head that is off are 0. @type {(wO: Matrix, off: boolean[]) => Matrix} */
  function without(wO, off) {
    const width = wO.length / off.length;
    return wO.map((row, i) => (off[Math.floor(i / width)] ? row.map(() => 0) : row));
  }

  /** A part of the stream as the norm leaves it, the whole stream's spreads held.
      @type {(part: Matrix, spreads: number[]) => Matrix} */
  const held = (part, spreads) => part.map((row, i) => {
    const mean = row.reduce((sum, x) => sum + x, 0) / row.length;
    return row.map((x) => (x - mean) / spreads[i]);
  });

  /** The second block, the keys of one head read without what one head of the first has added.
      @type {(inputs: any, before: any) => any} */
  function traceCut(inputs, before) {
    const { angles, embeddings, w_q, w_k, w_v, w_o } = inputs;
    const start = normed("start", embeddings, inputs, "first");
    const lost = held(before.head_contributions[CUT.from], start.start_spreads);
    const cut = start.start_normed.map((/** @type {number[]} */ row, /** @type {number} */ i) =>
      row.map((x, j) => x - lost[i][j]));
    const [query, value] = [w_q, w_v].map((matrices) =>
      matrices.map((/** @type {Matrix} */ matrix) => matmul(start.start_normed, matrix)));
    const key = w_k.map((/** @type {Matrix} */ matrix, /** @type {number} */ head) =>
      matmul(head === CUT.to ? cut : start.start_normed, matrix));
    const run = trace({ query, key, value, w_o, angles, isCausal: true });
    const output = run.output ?? [];
    const stream = embeddings.map((/** @type {number[]} */ row, /** @type {number} */ i) =>
      row.map((x, j) => x + output[i][j]));
    return { ...run, ...start, stream, cut_normed: cut };
  }

  /**
   * A model's run on words: for each block what it starts from, with all that it computes.
   * @param {NamesModel} model
   * @param {number[]} words places in the vocabulary, at least one
   * @param {{ off?: boolean[], cut?: boolean, temperature?: number }} [how] which of the four heads
   *   are off, block by block; whether the way from the first block's first head to the second's
   *   second is cut; by what the logits are divided
   * @returns {ModelRun}
   */
  function run(model, words, { off = [], cut = false, temperature = 1 } = {}) {
    const angles = words.map((_, i) => model.speeds.map((speed) => i * speed));
    let x = words.map((word) => model.embedding[word]);
    /** @type {any[]} */
    const blocks = [];
    [1, 2].forEach((number) => {
      const heads = [0, 1].map((head) => Boolean(off[2 * number - 2 + head]));
      /** @type {any} */
      const inputs = {
        block: BLOCK, embeddings: x, angles, isCausal: true, w_q: model[`w_q${number}`],
        w_k: model[`w_k${number}`], w_v: model[`w_v${number}`],
        w_o: without(model[`w_o${number}`], heads), unembedding: model.unembedding,
      };
      const found = cut && number === 2 ? traceCut(inputs, blocks[0].numbers) : trace(inputs);
      blocks.push({ inputs, numbers: { ...inputs, ...found } });
      x = found.stream;
    });
    const { inputs, numbers } = blocks[1];
    Object.assign(numbers, normed("stream", x, inputs, "second"));
    numbers.logits = matmul(numbers.stream_normed, model.unembedding);
    const cooled = numbers.logits.map((/** @type {number[]} */ row) => row.map((x) => x / temperature));
    if (temperature !== 1) Object.assign(numbers, { temperature, cooled_logits: cooled });
    numbers.word_exponentials = cooled.map((/** @type {number[]} */ row) => row.map(Math.exp));
    numbers.word_sums = numbers.word_exponentials.map((/** @type {number[]} */ row) =>
      row.reduce((sum, e) => sum + e, 0));
    numbers.probabilities = softmax(cooled);
    return { blocks, words, cut };
  }

  /**
   * What the embedding and each head add to the logits at one word; the numbers get places.
   * @param {ModelRun} found
   * @param {number} row
   * @returns {number[][]} by part, for each word of the vocabulary
   */
  function sharesAt({ blocks: [first, second] }, row) {
    const { numbers } = second;
    numbers.parts ??= [first.numbers.embeddings, ...first.numbers.head_contributions ?? [],
      ...numbers.head_contributions ?? []].map((part) => held(part, numbers.stream_spreads));
    numbers.shares ??= numbers.parts.map(() => []);
    return numbers.parts.map((/** @type {Matrix} */ part, /** @type {number} */ i) => {
      numbers.shares[i][row] ??= matmul([part[row]], numbers.unembedding)[0];
      return numbers.shares[i][row];
    });
  }

  // ---- Where numbers come from ----

  /** The numbers of a row. @type {(sources: any, stage: string, row: number) => Operand[]} */
  const rowOf = ({ from, run: numbers }, stage, row) =>
    numbers[stage][row].map((/** @type {number} */ _, /** @type {number} */ i) => from(stage, row, i));

  Object.assign(RULES, {
    /** @type {Rule} */
    logits: (sources, { row, column }) => ["products", rowOf(sources, "stream_normed", row).map(
      (operand, i) => [operand, sources.from("unembedding", i, column)])],
    /** @type {Rule} */
    cooled_logits: ({ from, run: numbers }, { row, column }) => ["share",
      each(from("logits", row, column), named("temperature", /** @type {any} */ (numbers).temperature))],
    /** @type {Rule} */
    word_exponentials: ({ from, run: numbers }, { row, column }) => ["exponential",
      each(from("cooled_logits" in numbers ? "cooled_logits" : "logits", row, column))],
    /** @type {Rule} */
    word_sums: (sources, { row }) => ["sum", each(...rowOf(sources, "word_exponentials", row))],
    /** @type {Rule} */
    probabilities: ({ from }, { row, column }) =>
      ["share", each(from("word_exponentials", row, column), from("word_sums", row))],
    /** @type {Rule} */
    shares: ({ from, run: numbers }, { head, row, column }) => {
      const { parts } = /** @type {any} */ (numbers);
      return ["products", parts[head][row].map((/** @type {number} */ _, /** @type {number} */ i) =>
        [from("parts", head, row, i), from("unembedding", i, column)])];
    },
  });

  /** Where a number is computed: what the second block starts from is what the first one leaves.
      @type {(block: number, place: Place) => { block: number, place: Place }} */
  const homeOf = (block, place) => (block === 1 && place.stage === "embeddings"
    ? { block: 0, place: at("stream", place.row, place.column) } : { block, place });

  /** @typedef {Origin & { blocks: Map<Operand, number> }} ModelOrigin */

  /** Where a part of the stream stands: its block, and its place.
      @type {(at: Place) => [number, Place]} */
  function partOf({ head, row, column }) {
    if (head === 0) return [0, at("embeddings", row, column)];
    return [head < 3 ? 0 : 1, at("head_contributions", (head - 1) % 2, row, column)];
  }

  /** A number of another stage, less its row's mean, over the spread of the whole stream.
      @type {(found: ModelRun, place: Place, spreads: string, source: [number, Place]) =>
        ModelOrigin} */
  function normedPart({ blocks }, place, spreads, [block, source]) {
    const { numbers } = blocks[block];
    const whole = source.head === null ? numbers[source.stage] : numbers[source.stage][source.head];
    const values = whole[place.row];
    const total = values.reduce((/** @type {number} */ sum, /** @type {number} */ x) => sum + x, 0);
    const mean = total / values.length;
    const number = { value: valueAt(numbers, source), place: source, name: "" };
    const spread = at(spreads, place.row);
    const by = { value: valueAt(blocks[1].numbers, spread), place: spread, name: "" };
    return {
      place, operation: "normalised", terms: each(number, named("mean", mean), by),
      blocks: new Map([[number, block]]),
    };
  }

  /**
   * How a number of a model comes about.
   * @param {ModelRun} found
   * @param {number} block from 0, in which the number stands
   * @param {Place} place
   * @returns {ModelOrigin} with the blocks of those operands that stand in another one
   */
  function originIn(found, block, place) {
    const { inputs, numbers } = found.blocks[block];
    if (place.stage === "parts") return normedPart(found, place, "stream_spreads", partOf(place));
    if (place.stage === "cut_normed") {
      const { row, column } = place;
      const whole = at("start_normed", row, column);
      const lost = valueAt(numbers, place) - valueAt(numbers, whole);
      const kept = { value: valueAt(numbers, whole), place: whole, name: "" };
      return { place, operation: "sum", terms: each(kept, named("cut", lost)), blocks: new Map() };
    }
    const from = origin(inputs, numbers, place);
    if (found.cut && block === 1 && place.stage === "key" && place.head === CUT.to) {
      from.terms.forEach(([left], i) => {
        left.place = at("cut_normed", place.row, i);
        left.value = valueAt(numbers, left.place);
      });
    }
    return { ...from, blocks: new Map() };
  }

  /**
   * The word that comes next: the likeliest, or one drawn by the probabilities.
   * @param {number[]} logits
   * @param {number} temperature
   * @param {number | null} chance from 0 to 1, or null for the likeliest
   * @returns {number}
   */
  function nextWord(logits, temperature, chance) {
    if (chance === null) return logits.indexOf(Math.max(...logits));
    const [weights] = softmax([logits.map((logit) => logit / temperature)]);
    let left = chance;
    const found = weights.findIndex((weight) => (left -= weight) < 0);
    return found < 0 ? weights.indexOf(Math.max(...weights)) : found;
  }

  /** The scripts that follow add to it. @type {any} */
  const shared = { checkpoint, homeOf, nextWord, originIn, run, sharesAt };
  window.mhaModel = shared;
})();
