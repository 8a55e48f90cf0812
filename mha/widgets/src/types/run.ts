/** The types of a run: stages, places, operands, inputs and results. */

export type Axis = "head" | "row" | "column";

/** One entry of the registry, mha/runs/stages.py. */
export interface Stage {
  symbol: string;
  axes: Axis[];
  /** The axis along which the heads are concatenated, if any. */
  joined?: Axis;
  /** The defaults of omitted fields are "dimensions", "tokens" and none. */
  columns?: "keys" | "";
  rows?: string;
  converted_from?: string;
}

/**
 * The address of one number. An index that the stage does not have is null, and so is `term` unless
 * the number is a term of a sum. The registry has the axes of each stage, which the type does not.
 */
export interface Place {
  stage: string;
  head: number;
  row: number;
  column: number;
  term: number;
}

/** A number that another is computed from: one with a place, or a constant with a name. */
export interface Operand {
  value: number;
  place: Place | null;
  name: string;
}

export type Operation =
  | "given" | "products" | "product" | "mixed" | "root" | "scaled" | "exponential" | "sum"
  | "share" | "percent" | "copy" | "mean" | "spread" | "normalised" | "relu" | "gelu"
  | "masked" | "capped" | "sigmoid" | "largest size" | "rounded" | "root mean square";

/** An operation with its operands: factors of each term, or one operand a term. */
export interface Calculation {
  operation: Operation;
  terms: Operand[][];
}

/** The operation and the operands of one number. */
export interface Origin extends Calculation {
  place: Place;
}

export type Matrix = number[][];

/** One entry of a mask: whether a query may attend, or the added term, null for minus infinity. */
export type MaskEntry = boolean | number | null;

/** The layers around an attention layer, without their arrays. */
export interface BlockKind {
  norm: "before" | "after" | "nowhere";
  activation: "relu" | "gelu";
  /** The eps that each normalisation adds to its variance. */
  eps: { first: number; second: number };
}

/** The input of a run. */
export interface Inputs {
  block?: BlockKind | null;
  first_gain?: number[];
  first_bias?: number[];
  second_gain?: number[];
  second_bias?: number[];
  w_in?: Matrix;
  b_in?: number[];
  w_out?: Matrix;
  b_out?: number[];
  embeddings?: Matrix;
  positions?: Matrix;
  angles?: Matrix;
  w_q?: Matrix[];
  w_k?: Matrix[];
  w_v?: Matrix[];
  w_o?: Matrix;
  query?: Matrix[];
  key?: Matrix[];
  value?: Matrix[];
  masks?: MaskEntry[][][] | null;
  isCausal?: boolean;
  keyAllowed?: boolean[];
  scale?: number | null;
  temperature?: number;
  headOff?: boolean[];
}

/** A forward run with every intermediate result, as the package's Trace. */
export interface Run {
  placed?: Matrix;
  turned_query?: Matrix[];
  turned_key?: Matrix[];
  query: Matrix[];
  key: Matrix[];
  value: Matrix[];
  scores: Matrix[];
  mask: Matrix[];
  scaled_scores: Matrix[];
  shifts: Matrix;
  exponentials: Matrix[];
  row_sums: Matrix;
  weights: Matrix[];
  head_outputs: Matrix[];
  concat: Matrix;
  output?: Matrix;
  head_contributions?: Matrix[];
  /** The arrays that a block adds; attention-block.ts computes them. */
  start_normed?: Matrix;
  stream_normed?: Matrix;
}

/** Numbers by the name of their stage: inputs, a run, or both. */
// deno-lint-ignore no-explicit-any -- a stage has one, two or three axes, which its name tells
export type Numbers = { [stage: string]: any };

/** The arguments of a rule of an origin. */
export interface Sources {
  inputs: Inputs;
  run: Run;
  from: (stage: string, ...index: number[]) => Operand;
}

export type Rule = (sources: Sources, place: Place) => [Operation, Operand[][]];
