/* A block of a Transformer around its attention, a port of mha/core/transformer.py and of the two
   layers it needs: where the inputs have a block, a run has the steps around the attention too. */
(function () {
  "use strict";

  const { finite, matmul, trace } = window.mhaAttention;

  /** From here on what is left of the normal distribution is a continued fraction, of this depth;
      before it a series, whose terms are all positive. */
  const [FAR, DEPTH] = [2, 120];

  /** The complement of the error function from 0 on.
      @type {(x: number) => number} */
  function erfc(x) {
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

  /** How much of the standard normal distribution lies below a number.
      @type {(x: number) => number} */
  const normalShare = (x) =>
    (x > 0 ? 1 - erfc(x / Math.SQRT2) / 2 : erfc(-x / Math.SQRT2) / 2);

  /** @type {Record<string, (hidden: number) => number>} */
  const ACTIVATIONS = {
    relu: (hidden) => Math.max(hidden, 0),
    gelu: (hidden) => hidden * normalShare(hidden),
  };

  /** @type {(left: Matrix, right: Matrix) => Matrix} */
  const added = (left, right) => finite(left.map((row, i) => row.map((x, j) => x + right[i][j])));

  /** A product with a matrix, plus a row where there is one.
      @type {(x: Matrix, matrix: Matrix, bias?: number[]) => Matrix} */
  function affine(x, matrix, bias) {
    const found = finite(matmul(x, matrix));
    return bias ? added(found, found.map(() => bias)) : found;
  }

  /**
   * The three steps of one normalisation, by the names that a run has.
   * @param {string} start of the names
   * @param {Matrix} x
   * @param {Inputs} inputs
   * @param {"first" | "second"} which
   * @returns {Record<string, any>}
   */
  function normed(start, x, inputs, which) {
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
   * What follows the attention of a block, in order.
   * @param {Inputs} inputs
   * @param {Matrix} x what went into the block
   * @param {Matrix} found what its attention gives
   * @returns {Record<string, any>}
   */
  function behind(inputs, x, found) {
    const { b_in, b_out, block, w_in, w_out } = inputs;
    const isAfter = block?.norm === "after";
    let stream = added(x, found);
    /** @type {Record<string, any>} */
    const steps = { stream };
    if (isAfter) {
      Object.assign(steps, normed("stream", stream, inputs, "first"));
      stream = steps.stream_normed;
    }
    if (!block || !w_in || !w_out) return steps;
    if (block.norm === "before") Object.assign(steps, normed("stream", stream, inputs, "second"));
    steps.hidden = affine(steps.stream_normed ?? stream, w_in, b_in);
    steps.active = steps.hidden.map((/** @type {number[]} */ row) =>
      row.map(ACTIVATIONS[block.activation]));
    steps.fed = affine(steps.active, w_out, b_out);
    steps.total = added(stream, steps.fed);
    return isAfter ? { ...steps, ...normed("total", steps.total, inputs, "second") } : steps;
  }

  /** As `trace`, with what a block adds.
      @type {(inputs: Inputs) => Run} */
  function traceBlock(inputs) {
    const { block, embeddings, positions } = inputs;
    if (!block || !embeddings) return trace(inputs);
    const x = positions ? added(embeddings, positions) : embeddings;
    const before = block.norm === "before" ? normed("start", x, inputs, "first") : {};
    const run = trace({ ...inputs, embeddings: before.start_normed ?? x, positions: undefined });
    const start = positions ? { placed: x } : {};
    return { ...run, ...start, ...before, ...behind(inputs, x, run.output ?? run.concat) };
  }

  window.mhaBlock = { ACTIVATIONS, normalShare, normed };
  window.mhaAttention.trace = traceBlock;
})();
