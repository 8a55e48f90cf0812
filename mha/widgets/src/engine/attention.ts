/**
 * Attention, a port of a few functions of the Python package: the same names, the same steps.
 * Pure functions on matrices as arrays of rows. The tests hold both to the same numbers.
 */

import type { Inputs, MaskEntry, Matrix, Numbers, Run } from "../types/run.ts";

/** Beyond this size of a row's largest score, exponentials are shown after a shift. */
const LARGEST_EXPONENT = 80;

const sum = (numbers: number[]): number => numbers.reduce((total, x) => total + x, 0);

const map = (matrix: Matrix, change: (x: number, i: number, j: number) => number): Matrix => matrix.map((row, i) => row.map((x, j) => change(x, i, j)));

const transpose = (matrix: Matrix): Matrix => matrix[0].map((_, j) => matrix.map((row) => row[j]));

/** A result too large for a number is refused, as in the package. */
export function finite(matrix: Matrix): Matrix {
  if (!matrix.every((row) => row.every(Number.isFinite))) throw new RangeError("overflow");
  return matrix;
}

export function matmul(left: Matrix, right: Matrix): Matrix {
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

const product = (left: Matrix, right: Matrix): Matrix => finite(matmul(left, right));

export const attentionScores = (query: Matrix, key: Matrix): Matrix => product(query, transpose(key));

/** The factor of the scores; without a scale, 1 / sqrt(d_k). A temperature divides it. */
export const factor = (dK: number, scale?: number | null, temperature?: number): number => (scale ?? 1 / Math.sqrt(dK)) / (temperature ?? 1);

export const scaledScores = (scores: Matrix, by: number): Matrix => finite(map(scores, (x) => x * by));

/** Each pair of components turned by an angle of its own; without angles, as it is. */
const turned = (matrix: Matrix, angles?: Matrix): Matrix => (angles ? finite(map(matrix, (x, i, j) => {
  const angle = angles[i][j >> 1];
  return j % 2 ? matrix[i][j - 1] * Math.sin(angle) + x * Math.cos(angle)
    : x * Math.cos(angle) - matrix[i][j + 1] * Math.sin(angle);
})) : matrix);

/**
 * The term added to scores: 0 where a query may attend, a term of the mask, or minus infinity.
 * A mask entry is true or false, or a number to add, null being minus infinity.
 */
export function additiveMask(
  scores: Matrix, mask?: MaskEntry[][] | null, isCausal?: boolean, keyAllowed?: boolean[],
): Matrix {
  return map(scores, (_, i, j) => {
    const entry = mask ? mask[i][j] : true;
    if ((isCausal && j > i) || (keyAllowed && !keyAllowed[j])) return -Infinity;
    if (entry === false || entry === null) return -Infinity;
    return entry === true ? 0 : entry;
  });
}

/** Scores plus the result of `additiveMask`. */
export function maskedScores(scores: Matrix, additive: Matrix): Matrix {
  const masked = map(scores, (x, i, j) => x + additive[i][j]);
  finite(masked.map((row, i) => row.filter((_, j) => additive[i][j] !== -Infinity)));
  return masked;
}

/** The softmax of each row; a row of minus infinity alone gets zeros. */
export function softmax(scores: Matrix): Matrix {
  return scores.map((row) => {
    const largest = Math.max(...row);
    const shift = largest === -Infinity ? 0 : largest;
    const exponentials = row.map((x) => Math.exp(x - shift));
    const total = sum(exponentials) || 1;
    return exponentials.map((x) => x / total);
  });
}

/** The number that each row subtracts before the exponential, if it is shown: 0 for ordinary scores. */
function shifts(scaled: Matrix): number[] {
  return scaled.map((row) => {
    const largest = Math.max(...row);
    return Number.isFinite(largest) && Math.abs(largest) > LARGEST_EXPONENT ? largest : 0;
  });
}

/**
 * The arrays of one head, with every intermediate result.
 * @param matrices query, key and value
 */
function attention([query, key, value]: Matrix[], mask: MaskEntry[][] | null | undefined, inputs: Inputs) {
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

const zeros = (matrix: Matrix): Matrix => map(matrix, () => 0);

/** The heads' outputs side by side; a head that is off leaves zeros. */
function mergeHeads(headOutputs: Matrix[], headOff?: boolean[]): Matrix {
  const kept = headOutputs.map((matrix, h) => (headOff && headOff[h] ? zeros(matrix) : matrix));
  return kept[0].map((_, i) => kept.flatMap((matrix) => matrix[i]));
}

/** Each head's share of the output: its output times its rows of w_o. */
function headContributions(headOutputs: Matrix[], wO: Matrix): Matrix[] {
  const width = headOutputs[0][0].length;
  return headOutputs.map((matrix, h) =>
    product(matrix, wO.slice(h * width, (h + 1) * width)));
}

/** The embeddings with their positions, where there are both. */
const placed = ({ embeddings, positions }: Inputs): Matrix | undefined =>
  (embeddings && positions && finite(map(embeddings, (x, i, j) => x + positions[i][j])));

/** Each head's queries, keys and values: given, or projected from the embeddings. */
function projections(inputs: Inputs, x: Matrix | undefined): Matrix[][] {
  const { w_q = [], w_k = [], w_v = [], query = [], key = [], value = [] } = inputs;
  if (!x) return query.map((q, h) => [q, key[h], value[h]]);
  return w_q.map((w, h) => [w, w_k[h], w_v[h]].map((matrix) => product(x, matrix)));
}

/**
 * A forward run with every intermediate result; names and axes as in the package's Trace.
 * @param inputs embeddings with w_q, w_k, w_v, or query, key, value; w_o, masks (one a
 *   head), isCausal, keyAllowed (one a key), scale, temperature, headOff (one a head), and a row
 *   a place of positions and of angles: optional.
 *
 * @throws where a product is too large for a number.
 */
export function traceAttention(inputs: Inputs): Run {
  const x = placed(inputs);
  const heads: Numbers[] = projections(inputs, x ?? inputs.embeddings).map((matrices, h) =>
    attention(matrices, inputs.masks?.[h], inputs));
  const run = (x ? { placed: x } : {}) as Numbers & Run;
  Object.keys(heads[0]).forEach((stage) => { run[stage] = heads.map((head) => head[stage]); });
  run.concat = mergeHeads(run.head_outputs, inputs.headOff);
  if (inputs.w_o) {
    run.output = product(run.concat, inputs.w_o);
    run.head_contributions = headContributions(run.head_outputs, inputs.w_o);
  }
  return run;
}

/** The forward pass: only attention until a block's module extends it. */
let forward = traceAttention;

/** A forward run with every intermediate result, and with a block if the inputs have one. */
export const trace = (inputs: Inputs): Run => forward(inputs);

/** Have `trace` run another function: a block's, which only pages with a block load. */
export const extendTrace = (run: (inputs: Inputs) => Run): void => { forward = run; };
