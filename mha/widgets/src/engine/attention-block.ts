/**
 * A block of a Transformer around its attention, a port of mha/core/transformer.py and of the two
 * layers it needs: where the inputs have a block, a run has the steps around the attention too.
 */

import { extendTrace, finite, matmul, traceAttention } from "./attention.ts";
import type { Inputs, Matrix, Numbers, Run } from "../types/run.ts";

/**
 * From this number on, the tail of the normal distribution is computed by a continued fraction of
 * this depth; for smaller numbers by a series, whose terms are all positive.
 */
const [FAR, DEPTH] = [2, 120];

/** The complement of the error function from 0 on. */
function erfc(x: number): number {
  const bell = Math.exp(-x * x) / Math.sqrt(Math.PI);
  if (x >= FAR) {
    let rest = x;
    for (let k = DEPTH; k > 0; k -= 1) rest = x + k / 2 / rest;
    return bell / rest;
  }
  let [term, total] = [2 * x, 0];
  for (let k = 1; total + term !== total; k += 1) {
    total += term;
    term *= (2 * x * x) / (2 * k + 1);
  }
  return 1 - bell * total;
}

/** How much of the standard normal distribution lies below a number. */
export const normalShare = (x: number): number =>
  (x > 0 ? 1 - erfc(x / Math.SQRT2) / 2 : erfc(-x / Math.SQRT2) / 2);

export const ACTIVATIONS: Record<string, (hidden: number) => number> = {
  relu: (hidden) => Math.max(hidden, 0),
  gelu: (hidden) => hidden * normalShare(hidden),
};

const added = (left: Matrix, right: Matrix): Matrix => finite(left.map((row, i) => row.map((x, j) => x + right[i][j])));

/** A product with a matrix, plus a row where there is one. */
function affine(x: Matrix, matrix: Matrix, bias?: number[]): Matrix {
  const found = finite(matmul(x, matrix));
  return bias ? added(found, found.map(() => bias)) : found;
}

/**
 * The three steps of one normalisation, by the names that a run has.
 * @param start of the names
 */
export function normed(start: string, x: Matrix, inputs: Inputs, which: "first" | "second"): Numbers {
  const [gain, bias] = [inputs[`${which}_gain`], inputs[`${which}_bias`]];
  const eps = inputs.block?.eps[which] ?? 0;
  const means = x.map((row) => row.reduce((sum, number) => sum + number, 0) / row.length);
  const spreads = x.map((row, i) => Math.hypot(
    Math.hypot(...row.map((number) => number - means[i])) / Math.sqrt(row.length),
    Math.sqrt(eps)));
  const found = x.map((row, i) => row.map((number, j) =>
    ((number - means[i]) / spreads[i]) * (gain?.[j] ?? 1) + (bias?.[j] ?? 0)));
  return {
    [`${start}_means`]: means, [`${start}_spreads`]: spreads, [`${start}_normed`]: finite(found),
  };
}

/**
 * Compute the stages after the attention of a block, in order.
 *
 * @param x the input of the block
 * @param found the output of its attention
 */
function behind(inputs: Inputs, x: Matrix, found: Matrix): Numbers {
  const { b_in, b_out, block, w_in, w_out } = inputs;
  const isAfter = block?.norm === "after";
  let stream = added(x, found);
  const steps: Numbers = { stream };
  if (isAfter) {
    Object.assign(steps, normed("stream", stream, inputs, "first"));
    stream = steps.stream_normed;
  }
  if (!block || !w_in || !w_out) return steps;
  if (block.norm === "before") Object.assign(steps, normed("stream", stream, inputs, "second"));
  steps.hidden = affine(steps.stream_normed ?? stream, w_in, b_in);
  steps.active = steps.hidden.map((row: number[]) =>
    row.map(ACTIVATIONS[block.activation]));
  steps.fed = affine(steps.active, w_out, b_out);
  steps.total = added(stream, steps.fed);
  return isAfter ? { ...steps, ...normed("total", steps.total, inputs, "second") } : steps;
}

/** As `trace`, with the stages that a block adds. */
function traceBlock(inputs: Inputs): Run {
  const { block, embeddings, positions } = inputs;
  if (!block || !embeddings) return traceAttention(inputs);
  const x = positions ? added(embeddings, positions) : embeddings;
  const before = block.norm === "before" ? normed("start", x, inputs, "first") : {};
  const run = traceAttention({ ...inputs, embeddings: before.start_normed ?? x, positions: undefined });
  const start = positions ? { placed: x } : {};
  return { ...run, ...start, ...before, ...behind(inputs, x, run.output ?? run.concat) };
}
extendTrace(traceBlock);
