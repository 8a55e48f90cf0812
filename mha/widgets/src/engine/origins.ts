/**
 * The origin of a number, a port of mha/runs/origins.py: the same operations, the same operands.
 * Modules that show the computation of a number render an origin and have no rules of their own.
 */

import { each, named } from "./operations.ts";
import { address, at, indexOf, isMatrix, stays, valueAt } from "./places.ts";
import { stages } from "./stages.ts";
import type { Calculation, Inputs, Operand, Origin, Place, Rule, Run } from "../types/run.ts";

const range = (count: number) => Array.from({ length: count }, (_, i) => i);

/** The value of a constant by its name, null where the calculation has none. */
export const constant = (origin: Calculation, name: string): number | null =>
  origin.terms.flat().find((operand) => operand.name === name)?.value ?? null;

// ---- One rule a stage ----

/** A constant where it changes anything. */
const unlessZero = (name: string, value: number): Operand[] => (value === 0 ? [] : [named(name, value)]);

/** The rule of queries, keys and values: an embedding times a matrix. */
const projected = (matrix: string): Rule => ({ from, inputs, run }, { head, row, column }) =>
  ["products", range(inputs.embeddings?.[row].length ?? 0).map((i) =>
    [from(run.start_normed ? "start_normed" : run.placed ? "placed" : "embeddings", row, i),
      from(matrix, head, i, column)])];

/** The rule of turned queries and keys: both of a pair, times cosine and sine. */
const turned = (stage: string): Rule => ({ from, inputs }, { head, row, column }) => {
  const second = column % 2;
  const angle = inputs.angles?.[row][column >> 1] ?? 0;
  const cos = named("cos", Math.cos(angle));
  const sin = named("sin", second ? Math.sin(angle) : -Math.sin(angle));
  return ["products", (second ? [sin, cos] : [cos, sin]).map((by, i) =>
    [from(stage, head, row, column - second + i), by])];
};

const keyWidth = (run: Run): number => run.query[0][0].length;

const valueWidth = (run: Run): number => run.value[0][0].length;

export const RULES: Record<string, Rule> = {
  placed: ({ from }, { row, column }) =>
    ["sum", each(from("embeddings", row, column), from("positions", row, column))],
  turned_query: turned("query"),
  turned_key: turned("key"),
  query: projected("w_q"),
  key: projected("w_k"),
  value: projected("w_v"),
  scores: ({ from, run }, { head, row, column }) =>
    ["products", range(keyWidth(run)).map((i) =>
      [from(run.turned_query ? "turned_query" : "query", head, row, i),
        from(run.turned_key ? "turned_key" : "key", head, column, i)])],
  root: ({ run }) => ["root", each(named("d_k", keyWidth(run)))],
  scaled_scores: ({ from, inputs, run }, { head, row, column }) => {
    const factor = typeof inputs.scale === "number" ? named("scale", inputs.scale)
      : named("d_k", keyWidth(run));
    const mask = unlessZero("mask", run.mask[head][row][column]);
    return ["scaled", each(from("scores", head, row, column), factor, ...mask)];
  },
  exponentials: ({ from, run }, { head, row, column }) =>
    ["exponential", each(from("scaled_scores", head, row, column),
      ...unlessZero("shift", run.shifts[head][row]))],
  row_sums: ({ from, run }, { head, row }) =>
    ["sum", each(...run.exponentials[head][row].map((_, key) =>
      from("exponentials", head, row, key)))],
  weights: ({ from }, { head, row, column }) =>
    ["share", each(from("exponentials", head, row, column), from("row_sums", head, row))],
  percentages: ({ from }, { head, row, column }) =>
    ["percent", each(from("weights", head, row, column))],
  head_outputs: ({ from, run }, { head, row, column }) =>
    ["mixed", run.weights[head][row].map((_, key) =>
      [from("weights", head, row, key), from("value", head, key, column)])],
  concat: ({ from, run }, { row, column }) => {
    const width = valueWidth(run);
    return ["copy", each(from("head_outputs", Math.floor(column / width), row, column % width))];
  },
  head_contributions: ({ from, run }, { head, row, column }) =>
    ["products", range(valueWidth(run)).map((i) =>
      [from("head_outputs", head, row, i), from("w_o", head * valueWidth(run) + i, column)])],
  output: ({ from, run }, { row, column }) =>
    ["products", run.concat[row].map((_, i) =>
      [from("concat", row, i), from("w_o", i, column)])],
};

/** Whether a run starts from a stage instead of computing it. */
export function isGiven(inputs: Inputs, stage: string): boolean {
  if (["query", "key", "value"].includes(stage)) return !inputs.embeddings;
  return stage === "embeddings" || isMatrix(stage) || stays(stage);
}

/** One term of a sum of products. */
function termOf(inputs: Inputs, run: Run, place: Place): Origin {
  const { operation, terms } = origin(inputs, run, at(place.stage, ...indexOf(place)));
  const isSum = operation === "products" || operation === "mixed";
  if (!isSum || place.term >= terms.length) {
    throw new RangeError(`there is no term ${address(place)}`);
  }
  return { place, operation: "product", terms: [terms[place.term]] };
}

/**
 * Return the operation and the operands of one number of a run.
 * @param inputs the input of the run
 *
 * @param place of any stage that the run has, or of one term of a sum of products
 *
 * @throws where the run has no such number.
 */
export function origin(inputs: Inputs, run: Run, place: Place): Origin {
  if (place.term !== null) return termOf(inputs, run, place);
  const numbers = { ...inputs, ...run };
  const { axes, converted_from: convertedFrom } = stages[place.stage];
  const isKept = axes.length > 0 && !convertedFrom;
  const value = isKept ? valueAt(numbers, place) : NaN;
  if (isGiven(inputs, place.stage)) {
    return { place, operation: "given", terms: each(named("", value)) };
  }
  const from = (stage: string, ...index: number[]) => {
    const source = at(stage, ...index);
    return { value: valueAt(numbers, source), place: source, name: "" };
  };
  const [operation, terms] = RULES[place.stage]({ inputs, run, from }, place);
  return { place, operation, terms };
}
