/**
 * A model that predicts the next word: a port of mha/core/language.py and
 * mha/runs/logit_attribution.py. attention-block.ts computes the two blocks; this module has the
 * embedding and the logits, heads that are off, the cut path, and the origins of the numbers at the end.
 */

import { normed } from "./attention-block.ts";
import { matmul, softmax, trace } from "./attention.ts";
import { bytesOf, half } from "./bytes.ts";
import { each, named } from "./operations.ts";
import { RULES, origin } from "./origins.ts";
import { at, valueAt } from "./places.ts";
import { stages } from "./stages.ts";
import type { ModelData, ModelOrigin, ModelRun, ModelSpot, NamesModel } from "../types/panels.ts";
import type { BlockKind, Inputs, Matrix, Numbers, Operand, Place, Rule, Run, Sources, Stage } from "../types/run.ts";

const EPS = 1e-5;

/** The head whose note is cut, and that whose keys are then without it. */
const CUT = { from: 0, to: 1 };

const BLOCK: BlockKind = { norm: "before", activation: "relu", eps: { first: EPS, second: EPS } };

// Stages that no run of the package has: the normalised parts of the last stream, and the number that
// each adds to each logit; the input of a head's keys if a path is cut; logits divided by a temperature.
const OWN_STAGES: Record<string, Stage> = {
  parts: { symbol: "x", axes: ["head", "row", "column"] },
  shares: { symbol: "ℓ", axes: ["head", "row", "column"] },
  cut_normed: { symbol: "x", axes: ["row", "column"] },
  cooled_logits: { symbol: "ℓ", axes: ["row", "column"] },
};
Object.assign(stages, OWN_STAGES);

// ---- Numbers ----

function nested(numbers: number[], [length, ...inner]: number[]): unknown {
  if (!inner.length) return numbers;
  const size = numbers.length / length;
  return Array.from({ length }, (_, i) =>
    nested(numbers.slice(i * size, (i + 1) * size), inner));
}

/**
 * The model after one of the stored training steps, from a text of 16-bit numbers.
 *
 * @param step the index of the stored step, from 0
 */
export function checkpoint({ numbers, shapes, base, words }: ModelData, step: number): NamesModel {
  const sizes = shapes.map(([, shape]) => shape.reduce((size, n) => size * n, 1));
  const size = sizes.reduce((total, own) => total + own, 0);
  const bytes = bytesOf(numbers).subarray(2 * size * step);
  const all = Array.from({ length: size }, (_, i) => half(bytes[2 * i] + 256 * bytes[2 * i + 1]));
  const model = { words } as NamesModel;
  shapes.forEach(([name, shape], j) => {
    model[name] = nested(all.splice(0, sizes[j]), shape);
  });
  const width = model.w_q1[0][0].length;
  model.speeds = Array.from({ length: width / 2 }, (_, j) => base ** ((-2 * j) / width));
  return model;
}

// ---- Runs ----

/** The rows of a head that is off are 0. */
function without(wO: Matrix, off: boolean[]): Matrix {
  const width = wO.length / off.length;
  return wO.map((row, i) => (off[Math.floor(i / width)] ? row.map(() => 0) : row));
}

/** A part of the stream as the norm leaves it, the whole stream's spreads held. */
const held = (part: Matrix, spreads: number[]): Matrix => part.map((row, i) => {
  const mean = row.reduce((sum, x) => sum + x, 0) / row.length;
  return row.map((x) => (x - mean) / spreads[i]);
});

/** What a block of the model has of the inputs of any block. */
type ModelInputs = Inputs & Required<Pick<Inputs, "embeddings" | "w_q" | "w_k" | "w_v">> & { unembedding: Matrix };

/** The second block, in which the keys of one head do not read the contribution of one head of the first. */
function traceCut(inputs: ModelInputs, before: Numbers): Numbers & Run {
  const { angles, embeddings, w_q, w_k, w_v, w_o } = inputs;
  const start = normed("start", embeddings, inputs, "first");
  const lost = held(before.head_contributions[CUT.from], start.start_spreads);
  const cut = start.start_normed.map((row: number[], i: number) =>
    row.map((x, j) => x - lost[i][j]));
  const [query, value] = [w_q, w_v].map((matrices) =>
    matrices.map((matrix) => matmul(start.start_normed, matrix)));
  const key = w_k.map((matrix, head) =>
    matmul(head === CUT.to ? cut : start.start_normed, matrix));
  const run = trace({ query, key, value, w_o, angles, isCausal: true });
  const output = run.output ?? [];
  const stream = embeddings.map((row, i) =>
    row.map((x, j) => x + output[i][j]));
  return { ...run, ...start, stream, cut_normed: cut };
}

/**
 * A model's run on words: for each block its inputs and all its results.
 *
 * @param words places in the vocabulary, at least one
 * @param how `off`: whether each of the four heads is off, block by block; `cut`: whether the path
 *   from the first head of the first block to the second head of the second block is cut;
 *   `temperature`: the number by which the logits are divided
 */
export function run(model: NamesModel, words: number[], { off = [], cut = false, temperature = 1 }: { off?: boolean[], cut?: boolean, temperature?: number } = {}): ModelRun {
  const angles = words.map((_, i) => model.speeds.map((speed) => i * speed));
  let x = words.map((word) => model.embedding[word]);
  const blocks: ModelRun["blocks"] = [];
  [1, 2].forEach((number) => {
    const heads = [0, 1].map((head) => Boolean(off[2 * number - 2 + head]));
    const inputs: ModelInputs = {
      block: BLOCK, embeddings: x, angles, isCausal: true, w_q: model[`w_q${number}`],
      w_k: model[`w_k${number}`], w_v: model[`w_v${number}`],
      w_o: without(model[`w_o${number}`], heads), unembedding: model.unembedding,
    };
    const found: Numbers & Run = cut && number === 2 ? traceCut(inputs, blocks[0].numbers) : trace(inputs);
    blocks.push({ inputs, numbers: { ...inputs, ...found } });
    x = found.stream;
  });
  const { inputs, numbers } = blocks[1];
  Object.assign(numbers, normed("stream", x, inputs, "second"));
  numbers.logits = matmul(numbers.stream_normed ?? [], model.unembedding);
  const cooled = numbers.logits.map((row: number[]) => row.map((x) => x / temperature));
  if (temperature !== 1) Object.assign(numbers, { temperature, cooled_logits: cooled });
  numbers.word_exponentials = cooled.map((row: number[]) => row.map(Math.exp));
  numbers.word_sums = numbers.word_exponentials.map((row: number[]) =>
    row.reduce((sum, e) => sum + e, 0));
  numbers.probabilities = softmax(cooled);
  return { blocks, words, cut };
}

/**
 * The contributions of the embedding and of each head to the logits at one word; they get places.
 *
 * @returns by part, for each word of the vocabulary
 */
export function sharesAt({ blocks: [first, second] }: ModelRun, row: number): number[][] {
  const { numbers } = second;
  numbers.parts ??= [first.numbers.embeddings, ...first.numbers.head_contributions ?? [],
    ...numbers.head_contributions ?? []].map((part) => held(part, numbers.stream_spreads));
  numbers.shares ??= numbers.parts.map(() => []);
  return numbers.parts.map((part: Matrix, i: number) => {
    numbers.shares[i][row] ??= matmul([part[row]], numbers.unembedding)[0];
    return numbers.shares[i][row];
  });
}

// ---- Where numbers come from ----

/** The numbers of a row. */
const rowOf = ({ from, run: numbers }: Sources, stage: string, row: number): Operand[] =>
  (numbers as Numbers)[stage][row].map((_: number, i: number) => from(stage, row, i));

Object.assign(RULES, {
  logits: ((sources, { row, column }) => ["products", rowOf(sources, "stream_normed", row).map(
    (operand, i) => [operand, sources.from("unembedding", i, column)])]) as Rule,
  cooled_logits: (({ from, run: numbers }, { row, column }) => ["share",
    each(from("logits", row, column), named("temperature", (numbers as Numbers).temperature))]) as Rule,
  word_exponentials: (({ from, run: numbers }, { row, column }) => ["exponential",
    each(from("cooled_logits" in numbers ? "cooled_logits" : "logits", row, column))]) as Rule,
  word_sums: ((sources, { row }) => ["sum", each(...rowOf(sources, "word_exponentials", row))]) as Rule,
  probabilities: (({ from }, { row, column }) =>
    ["share", each(from("word_exponentials", row, column), from("word_sums", row))]) as Rule,
  shares: (({ from, run: numbers }, { head, row, column }) => {
    const { parts } = numbers as Numbers;
    return ["products", parts[head][row].map((_: number, i: number) =>
      [from("parts", head, row, i), from("unembedding", i, column)])];
  }) as Rule,
});

/** Where a number is computed: the input of the second block is the output of the first. */
export const homeOf = (block: number, place: Place): ModelSpot => (block === 1 && place.stage === "embeddings"
  ? { block: 0, place: at("stream", place.row, place.column) } : { block, place });

/** The block and the place of a part of the stream. */
function partOf({ head, row, column }: Place): [number, Place] {
  if (head === 0) return [0, at("embeddings", row, column)];
  return [head < 3 ? 0 : 1, at("head_contributions", (head - 1) % 2, row, column)];
}

/** A number of another stage, less its row's mean, over the spread of the whole stream. */
function normedPart({ blocks }: ModelRun, place: Place, spreads: string, [block, source]: [number, Place]): ModelOrigin {
  const { numbers } = blocks[block];
  const whole = source.head === null ? numbers[source.stage] : numbers[source.stage][source.head];
  const values = whole[place.row];
  const total = values.reduce((sum: number, x: number) => sum + x, 0);
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
 * Return the operation and the operands of a number of a model.
 *
 * @param block the block of the number, from 0
 *
 * @returns with the blocks of those operands that are in another one
 */
export function originIn(found: ModelRun, block: number, place: Place): ModelOrigin {
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
 *
 * @param chance from 0 to 1, or null for the likeliest
 */
export function nextWord(logits: number[], temperature: number, chance: number | null): number {
  if (chance === null) return logits.indexOf(Math.max(...logits));
  const [weights] = softmax([logits.map((logit) => logit / temperature)]);
  let left = chance;
  const found = weights.findIndex((weight) => (left -= weight) < 0);
  return found < 0 ? weights.indexOf(Math.max(...weights)) : found;
}
