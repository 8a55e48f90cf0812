/**
 * Attention assembled from parts, and the wrong parts of the museum: a port of some parts of
 * mha/practice/attention_parts.py, bugs.py and bug_runs.py. As there, an overflow gives infinity, and a
 * fully masked row gives NaN.
 */

import { matmul } from "./attention.ts";
import type { TriedInputs } from "../types/panels.ts";
import type { Matrix } from "../types/run.ts";

const [SLOPE, RATE, QUARTER] = [0.5, 0.1, Math.PI / 2];

const map = (matrix: Matrix, change: (x: number, i: number, j: number) => number): Matrix => matrix.map((row, i) => row.map((x, j) => change(x, i, j)));

const transpose = (matrix: Matrix): Matrix => (matrix[0] ?? []).map((_, j) => matrix.map((row) => row[j]));

const plus = (left: Matrix, right: Matrix): Matrix => map(left, (x, i, j) => x + right[i][j]);

/**
 * Pairs of numbers, rotated by their row's angle: each number with its neighbour, or with the
 * number `apart` columns later.
 */
const turned = (matrix: Matrix, angles: number[], apart: number = 1): Matrix => map(matrix, (x, i, j) => {
  const [cos, sin] = [Math.cos(angles[i]), Math.sin(angles[i])];
  const isSecond = Math.floor(j / apart) % 2 === 1;
  return isSecond ? matrix[i][j - apart] * sin + x * cos : x * cos - matrix[i][j + apart] * sin;
});

const inHalves = (matrix: Matrix, angles: number[]): Matrix => turned(matrix, angles, matrix[0].length / 2);

/** The right parts. */
const RIGHT = {
  split: ((wide, heads) => Array.from({ length: heads }, (_, h) => wide.map((row) =>
    row.slice((h * row.length) / heads, ((h + 1) * row.length) / heads)))) as (wide: Matrix, heads: number) => Matrix[],
  turn: ((query, key, value, angles) => [turned(query, angles), turned(key, angles), value]) as (query: Matrix, key: Matrix, value: Matrix, angles: number[]) => Matrix[],
  score: ((query, key) => map(matmul(query, transpose(key)), (x) => x / Math.sqrt(query[0].length))) as (query: Matrix, key: Matrix, dModel: number) => Matrix,
  forbid: ((scores, allowed) => map(scores, (x, i, j) => (allowed[i][j] ? x : -Infinity))) as (scores: Matrix, allowed: boolean[][]) => Matrix,
  weigh: ((scores, bias, allowed, forbid, softmax) => softmax(forbid(plus(scores, bias), allowed))) as (scores: Matrix, bias: Matrix, allowed: boolean[][], forbid: (scores: Matrix, allowed: boolean[][]) => Matrix, softmax: (scores: Matrix) => Matrix) => Matrix,
  along: ((scores, softmax) => softmax(scores)) as (scores: Matrix, softmax: (scores: Matrix) => Matrix) => Matrix,
  powers: ((row) => row.map((x) => Math.exp(x - Math.max(...row)))) as (row: number[]) => number[],
  drop: ((weights) => weights) as (weights: Matrix, kept: () => boolean) => Matrix,
  mix: ((weights, value) => matmul(weights, value)) as (weights: Matrix, value: Matrix) => Matrix,
  newest: ((keys) => keys.length - 1) as (keys: Matrix) => number,
};

/** The wrong ones, by the bugs' names. */
const WRONG: Record<string, Partial<typeof RIGHT>> = {
  "wrong axis": { along: (scores, softmax) => transpose(softmax(transpose(scores))) },
  "no shift": { powers: (row) => row.map(Math.exp) },
  "wrong root": { score: (query, key, dModel) =>
    map(matmul(query, transpose(key)), (x) => x / Math.sqrt(dModel)) },
  "late bias": { weigh: (scores, bias, allowed, forbid, softmax) =>
    plus(softmax(forbid(scores, allowed)), bias) },
  "late mask": { weigh: (scores, bias, allowed, _forbid, softmax) =>
    map(softmax(plus(scores, bias)), (x, i, j) => x * Number(allowed[i][j])) },
  "True reversed": { forbid: (scores, allowed) =>
    map(scores, (x, i, j) => (allowed[i][j] ? -Infinity : x)) },
  reshape: { split: (wide, heads) => {
    const [all, width] = [wide.flat(), wide[0].length / heads];
    return Array.from({ length: heads }, (_, h) => wide.map((_row, i) =>
      all.slice((h * wide.length + i) * width, (h * wide.length + i + 1) * width)));
  } },
  "columns mixed": { mix: (weights, value) => {
    if (weights.length !== value.length) throw new RangeError("shapes");
    return matmul(transpose(weights), value);
  } },
  "off by one": { newest: (keys) => keys.length },
  "values turned": { turn: (...[query, key, value, angles]) =>
    [query, key, value].map((x) => turned(x, angles)) },
  "halves for pairs": { turn: (query, key, value, angles) =>
    [inHalves(query, angles), inHalves(key, angles), value] },
  "dropout left on": { drop: (weights, kept) => map(weights, (x) => (x * Number(kept())) / (1 - RATE)) },
};

const softmax = (scores: Matrix, parts: typeof RIGHT): Matrix => scores.map((row) => {
  const powers = parts.powers(row);
  const total = powers.reduce((sum, x) => sum + x, 0);
  return powers.map((x) => x / total);
});

/** How a head attends; without `allowed` all keys are, without `angles` nothing is rotated. */
interface Manner {
  kept: () => boolean;
  dModel?: number | null;
  angles?: number[] | null;
  allowed?: boolean[][] | null;
  bias?: Matrix | null;
}

/**
 * One head.
 * @param inputs query, key and value
 */
function attend([query, key, value]: Matrix[], parts: typeof RIGHT, { allowed, angles, bias, dModel, kept }: Manner) {
  const [asks, answers, values] = angles ? parts.turn(query, key, value, angles) : [query, key, value];
  const scores = parts.score(asks, answers, dModel ?? asks[0].length);
  const weights = parts.drop(parts.weigh(
    scores, bias ?? map(scores, () => 0), allowed ?? scores.map((row) => row.map(() => true)),
    allowed ? parts.forbid : (those) => those,
    (those) => parts.along(those, (rows) => softmax(rows, parts))), kept);
  return { weights, output: parts.mix(weights, values) };
}

/** One head whose tokens come one after the other. */
function write([query, key, value]: Matrix[], parts: typeof RIGHT, { kept, turns }: { kept: () => boolean, turns: number[] }): Matrix {
  let keys: Matrix = [];
  let values: Matrix = [];
  return query.map((_, i) => {
    const token = [[query[i]], [key[i]], [value[i]]];
    const [, newKey, newValue] = parts.turn(token[0], token[1], token[2], [turns[i]]);
    keys = [...keys, ...newKey];
    values = [...values, ...newValue];
    const [asking] = parts.turn(token[0], token[1], token[2], [turns[parts.newest(keys)]]);
    return attend([asking, keys, values], parts, { kept }).output[0];
  });
}

/**
 * The result of an attention with a bug, "" for the right one; as `run_attention` of the package.
 *
 * @param kept decides, with dropout, whether a weight remains
 *
 * @throws where shapes do not fit, as NumPy refuses them
 */
export function tried(bug: string, { dModel, heads, inSteps, isBiased, isCausal, isTurned, wide }: TriedInputs, kept: () => boolean): { weights: Matrix[] | null, output: Matrix[] } {
  const parts = { ...RIGHT, ...WRONG[bug] };
  const split = wide.map((matrix) => parts.split(matrix, heads));
  const each = <Found>(act: (inputs: Matrix[]) => Found) =>
    split[0].map((_, h) => act(split.map((those) => those[h])));
  const rows = wide[0];
  const turns = [...rows, []].map((_, i) => (isTurned ? QUARTER * i : 0));
  if (inSteps) return { weights: null, output: each((inputs) => write(inputs, parts, { kept, turns })) };
  const square = <Entry>(of: (i: number, j: number) => Entry) => rows.map((_, i) => rows.map((_row, j) => of(i, j)));
  const told = { dModel, kept, angles: isTurned ? turns : null,
    allowed: isCausal ? square((i, j) => j <= i) : null,
    bias: isBiased ? square((i, j) => -SLOPE * Math.abs(i - j)) : null };
  const found = each((inputs) => attend(inputs, parts, told));
  return { weights: found.map(({ weights }) => weights), output: found.map(({ output }) => output) };
}

export { RATE };
