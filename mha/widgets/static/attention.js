/* Attention, a port of a few functions of the Python package: the same names, the same steps.
   Pure functions on matrices as arrays of rows. The tests hold both to the same numbers. */
(function () {
  "use strict";

  /** Beyond this size of a row's largest score, exponentials are shown after a shift. */
  const LARGEST_EXPONENT = 80;

  /** @type {(numbers: number[]) => number} */
  const sum = (numbers) => numbers.reduce((total, x) => total + x, 0);

  /** @type {(matrix: Matrix, change: (x: number, i: number, j: number) => number) => Matrix} */
  const map = (matrix, change) => matrix.map((row, i) => row.map((x, j) => change(x, i, j)));

  /** @type {(matrix: Matrix) => Matrix} */
  const transpose = (matrix) => matrix[0].map((_, j) => matrix.map((row) => row[j]));

  /** A result too large for a number is refused, as in the package.
      @type {(matrix: Matrix) => Matrix} */
  function finite(matrix) {
    if (!matrix.every((row) => row.every(Number.isFinite))) throw new RangeError("overflow");
    return matrix;
  }

  /** @type {(left: Matrix, right: Matrix) => Matrix} */
  function matmul(left, right) {
    const width = right[0].length;
    return left.map((row) => {
      const product = new Array(width).fill(0);
      row.forEach((x, k) => {
        const other = right[k];
        for (let j = 0; j < width; j += 1) product[j] += x * other[j];
      });
      return product;
    });
  }

  /** @type {(left: Matrix, right: Matrix) => Matrix} */
  const product = (left, right) => finite(matmul(left, right));

  /** @type {(query: Matrix, key: Matrix) => Matrix} */
  const attentionScores = (query, key) => product(query, transpose(key));

  /** What scores are multiplied with; without a scale, 1 / sqrt(d_k). A temperature divides it.
      @type {(dK: number, scale?: number | null, temperature?: number) => number} */
  const factor = (dK, scale, temperature) => (scale ?? 1 / Math.sqrt(dK)) / (temperature ?? 1);

  /** @type {(scores: Matrix, by: number) => Matrix} */
  const scaledScores = (scores, by) => finite(map(scores, (x) => x * by));

  /** Each pair of components turned by an angle of its own; without angles, as it is.
      @type {(matrix: Matrix, angles?: Matrix) => Matrix} */
  const turned = (matrix, angles) => (angles ? finite(map(matrix, (x, i, j) => {
    const angle = angles[i][j >> 1];
    return j % 2 ? matrix[i][j - 1] * Math.sin(angle) + x * Math.cos(angle)
      : x * Math.cos(angle) - matrix[i][j + 1] * Math.sin(angle);
  })) : matrix);

  /** What is added to scores: 0 where a query may attend, a term of the mask, or minus infinity.
      A mask entry is true or false, or a number to add, null being minus infinity.
      @type {Window["mhaAttention"]["additiveMask"]} */
  function additiveMask(scores, mask, isCausal, keyAllowed) {
    return map(scores, (_, i, j) => {
      const entry = mask ? mask[i][j] : true;
      if ((isCausal && j > i) || (keyAllowed && !keyAllowed[j])) return -Infinity;
      if (entry === false || entry === null) return -Infinity;
      return entry === true ? 0 : entry;
    });
  }

  /** Scores plus what `additiveMask` gives.
      @type {(scores: Matrix, additive: Matrix) => Matrix} */
  function maskedScores(scores, additive) {
    const masked = map(scores, (x, i, j) => x + additive[i][j]);
    finite(masked.map((row, i) => row.filter((_, j) => additive[i][j] !== -Infinity)));
    return masked;
  }

  /** The softmax of each row; a row of minus infinity alone gets zeros.
      @type {(scores: Matrix) => Matrix} */
  function softmax(scores) {
    return scores.map((row) => {
      const largest = Math.max(...row);
      const shift = largest === -Infinity ? 0 : largest;
      const exponentials = row.map((x) => Math.exp(x - shift));
      const total = sum(exponentials) || 1;
      return exponentials.map((x) => x / total);
    });
  }

  /** What each row subtracts before the exponential where that is shown: 0 for ordinary scores.
      @type {(scaled: Matrix) => number[]} */
  function shifts(scaled) {
    return scaled.map((row) => {
      const largest = Math.max(...row);
      return Number.isFinite(largest) && Math.abs(largest) > LARGEST_EXPONENT ? largest : 0;
    });
  }

  /**
   * One head, every intermediate kept.
   * @param {Matrix[]} matrices query, key and value
   * @param {MaskEntry[][] | null | undefined} mask
   * @param {Inputs} inputs
   */
  function attention([query, key, value], mask, inputs) {
    const { angles, isCausal, keyAllowed, scale, temperature } = inputs;
    const [asks, answers] = [query, key].map((vectors) => turned(vectors, angles));
    const scores = attentionScores(asks, answers);
    const by = factor(query[0].length, scale, temperature);
    const additive = additiveMask(scores, mask, isCausal, keyAllowed);
    const scaled = maskedScores(scaledScores(scores, by), additive);
    const shift = shifts(scaled);
    const exponentials = map(scaled, (x, i) => Math.exp(x - shift[i]));
    const weights = softmax(scaled);
    return {
      query, key, ...(angles && { turned_query: asks, turned_key: answers }),
      value, scores, mask: additive, scaled_scores: scaled, shifts: shift,
      exponentials, row_sums: exponentials.map(sum), weights,
      head_outputs: product(weights, value),
    };
  }

  /** @type {(matrix: Matrix) => Matrix} */
  const zeros = (matrix) => map(matrix, () => 0);

  /** The heads' outputs side by side; a head that is off leaves zeros.
      @type {(headOutputs: Matrix[], headOff?: boolean[]) => Matrix} */
  function mergeHeads(headOutputs, headOff) {
    const kept = headOutputs.map((matrix, h) => (headOff && headOff[h] ? zeros(matrix) : matrix));
    return kept[0].map((_, i) => kept.flatMap((matrix) => matrix[i]));
  }

  /** Each head's share of the output: its output times its rows of w_o.
      @type {(headOutputs: Matrix[], wO: Matrix) => Matrix[]} */
  function headContributions(headOutputs, wO) {
    const width = headOutputs[0][0].length;
    return headOutputs.map((matrix, h) =>
      product(matrix, wO.slice(h * width, (h + 1) * width)));
  }

  /** The embeddings with their positions, where there are both.
      @type {(inputs: Inputs) => Matrix | undefined} */
  const placed = ({ embeddings, positions }) =>
    (embeddings && positions && finite(map(embeddings, (x, i, j) => x + positions[i][j])));

  /** Each head's queries, keys and values: given, or projected from what stands at each place.
      @type {(inputs: Inputs, x: Matrix | undefined) => Matrix[][]} */
  function projections(inputs, x) {
    const { w_q = [], w_k = [], w_v = [], query = [], key = [], value = [] } = inputs;
    if (!x) return query.map((q, h) => [q, key[h], value[h]]);
    return w_q.map((w, h) => [w, w_k[h], w_v[h]].map((matrix) => product(x, matrix)));
  }

  /**
   * A forward run with every intermediate kept; names and axes as in the package's Trace.
   * @param {Inputs} inputs embeddings with w_q, w_k, w_v, or query, key, value; w_o, masks (one a
   *   head), isCausal, keyAllowed (one a key), scale, temperature, headOff (one a head), and a row
   *   a place of positions and of angles: optional.
   * @returns {Run}
   * @throws {RangeError} where a product is too large for a number.
   */
  function trace(inputs) {
    const x = placed(inputs);
    /** @type {Record<string, any>[]} */
    const heads = projections(inputs, x ?? inputs.embeddings).map((matrices, h) =>
      attention(matrices, inputs.masks?.[h], inputs));
    /** @type {any} */
    const run = x ? { placed: x } : {};
    Object.keys(heads[0]).forEach((stage) => { run[stage] = heads.map((head) => head[stage]); });
    run.concat = mergeHeads(run.head_outputs, inputs.headOff);
    if (inputs.w_o) {
      run.output = product(run.concat, inputs.w_o);
      run.head_contributions = headContributions(run.head_outputs, inputs.w_o);
    }
    return run;
  }

  window.mhaAttention = {
    additiveMask, attentionScores, factor, finite, maskedScores, matmul, scaledScores, softmax, trace,
  };
})();
