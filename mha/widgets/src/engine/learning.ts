/**
 * A layer that learns the toy language: a port of mha/core/learning.py and mha/examples/learning_runs.py.
 * A token is a one for its form and a one for its place, so a projection adds two rows of a matrix.
 *
 * A layer is one array of numbers: the matrices of queries, keys and values, head by head, and then
 * the output projection, whose columns are the forms of each question.
 */

import { NumpyDraws } from "./numpy-draws.ts";
import task from "../data/learning-task.ts";
import type { LearningState, ToySentence } from "../types/panels.ts";

const { asked, learned, length, questions, width, words } = task;
export const FORMS = words.length;
export const ROWS = FORMS + length;
const [MATRIX, CHOICES] = [ROWS * width, questions.length * FORMS];

/** Constants of Adam: the decay of the means of gradients and of squares, and the number added to a root. */
const [MEAN, SQUARE, TINY] = [0.9, 0.99, 1e-8];

const NONE = -1;

// ---- The language ----

const [stems, marks] = [0, 1].map((part) =>
  words.map((word: string) => word.split("-")[part]));
const KINDS: Record<string, string> = Object.fromEntries(Object.entries(task.kinds).flatMap(([kind, all]) =>
  all.map((stem) => [stem, kind])));
const kindOf = (form: number) => KINDS[stems[form]];

/** A sentence from its letters, with the places of the answers: three a word, −1 for none. */
function sentence(text: string): ToySentence {
  const forms = [...text].map((letter) => letter.charCodeAt(0) - 97);
  const verb = forms.findIndex((form) => kindOf(form) === "verb");
  const answers = forms.flatMap((form, i) => {
    const kind = kindOf(form);
    const noun = forms.findIndex((other) => kindOf(other) === "noun" && marks[other] === marks[form]);
    const governor = kind === "verb" ? NONE : kind === "adjective" ? noun : verb;
    return [i + 1 < length ? i + 1 : NONE, governor, kind === "pronoun" ? noun : NONE];
  });
  return { forms, answers };
}

const sentences = (text: string) =>
  Array.from({ length: text.length / length }, (_, i) => sentence(text.slice(i * length, (i + 1) * length)));

/** The words that a head may find, each with its question and the kind of word to which it is the answer. */
const RELATIONS = [[0, ""], [1, "adjective"], [1, "noun"], [2, "pronoun"]];

const [toLearn, fresh] = [sentences(learned), sentences(asked)];

// ---- Forwards and back ----

/** The layer to begin with, as `draw_layer(default_rng(seed), …)`. */
function drawn(seed: number, heads: number) {
  const draws = new NumpyDraws(seed);
  const [narrow, wide] = [Math.sqrt(width / heads), Math.sqrt(width)];
  return Float64Array.from({ length: 3 * MATRIX + width * CHOICES }, (_, i) =>
    draws.normal() / (i < 3 * MATRIX ? narrow : wide));
}

/** Where a column of all heads side by side begins in a matrix, and how far its rows are apart. */
function columnsOf(heads: number) {
  const own = width / heads;
  return Array.from({ length: width }, (_, c) => Math.floor(c / own) * ROWS * own + (c % own));
}

/** One sentence through a layer: weights by head, query and key, and the heads' outputs. */
export function attend(layer: Float64Array, heads: number, forms: number[]) {
  const own = width / heads;
  const columns = columnsOf(heads);
  const inner = new Float64Array(3 * length * width);
  for (let m = 0; m < 3; m += 1) {
    for (let i = 0; i < length; i += 1) {
      for (let c = 0; c < width; c += 1) {
        const at = m * MATRIX + columns[c];
        inner[(m * length + i) * width + c] = layer[at + forms[i] * own] + layer[at + (FORMS + i) * own];
      }
    }
  }
  const [keys, values] = [length * width, 2 * length * width];
  const weights = new Float64Array(heads * length * length);
  const outputs = new Float64Array(length * width);
  for (let h = 0; h < heads; h += 1) {
    for (let i = 0; i < length; i += 1) {
      const row = (h * length + i) * length;
      let largest = -Infinity;
      for (let j = 0; j < length; j += 1) {
        let score = 0;
        for (let c = h * own; c < (h + 1) * own; c += 1) score += inner[i * width + c] * inner[keys + j * width + c];
        weights[row + j] = score / Math.sqrt(own);
        largest = Math.max(largest, weights[row + j]);
      }
      let total = 0;
      for (let j = 0; j < length; j += 1) total += (weights[row + j] = Math.exp(weights[row + j] - largest));
      for (let j = 0; j < length; j += 1) {
        const weight = (weights[row + j] /= total);
        for (let c = h * own; c < (h + 1) * own; c += 1) outputs[i * width + c] += weight * inner[values + j * width + c];
      }
    }
  }
  return { inner, outputs, weights };
}

/** A token's answer to a question: the logarithm of the weight of each form. */
export function answered(layer: Float64Array, outputs: Float64Array, token: number, question: number) {
  const logs = new Float64Array(FORMS);
  for (let c = 0; c < width; c += 1) {
    const output = outputs[token * width + c];
    const at = 3 * MATRIX + c * CHOICES + question * FORMS;
    for (let w = 0; w < FORMS; w += 1) logs[w] += output * layer[at + w];
  }
  let [largest, total] = [-Infinity, 0];
  for (let w = 0; w < FORMS; w += 1) if (logs[w] > largest) largest = logs[w];
  for (let w = 0; w < FORMS; w += 1) total += Math.exp(logs[w] - largest);
  const all = largest + Math.log(total);
  for (let w = 0; w < FORMS; w += 1) logs[w] -= all;
  return logs;
}

/** The loss of a layer on sentences, and its gradient. */
function gradients(layer: Float64Array, heads: number, batch: ToySentence[]) {
  const own = width / heads;
  const columns = columnsOf(heads);
  const back = new Float64Array(layer.length);
  const count = batch.reduce((sum, { answers }) => sum + answers.filter((place) => place >= 0).length, 0);
  let loss = 0;
  for (const { forms, answers } of batch) {
    const { inner, outputs, weights } = attend(layer, heads, forms);
    const slope = new Float64Array(length * width);
    answers.forEach((place, n) => {
      if (place < 0) return;
      const [token, question] = [Math.floor(n / questions.length), n % questions.length];
      const logs = answered(layer, outputs, token, question);
      loss -= logs[forms[place]];
      const surprise = logs.map((log, w) => (Math.exp(log) - Number(w === forms[place])) / count);
      for (let c = 0; c < width; c += 1) {
        const at = 3 * MATRIX + c * CHOICES + question * FORMS;
        const output = outputs[token * width + c];
        let sum = 0;
        for (let w = 0; w < FORMS; w += 1) {
          sum += surprise[w] * layer[at + w];
          back[at + w] += output * surprise[w];
        }
        slope[token * width + c] += sum;
      }
    });
    goBack(inner, weights, slope);
    for (let m = 0; m < 3; m += 1) {
      for (let i = 0; i < length; i += 1) {
        for (let c = 0; c < width; c += 1) {
          const at = m * MATRIX + columns[c];
          const change = inner[(m * length + i) * width + c];
          back[at + forms[i] * own] += change;
          back[at + (FORMS + i) * own] += change;
        }
      }
    }
  }
  return { loss: loss / count, back };

  /** Put the gradients of queries, keys and values in their places. */
  function goBack(inner: Float64Array, weights: Float64Array, slope: Float64Array) {
    const [keys, values] = [length * width, 2 * length * width];
    const found = new Float64Array(inner.length);
    for (let h = 0; h < heads; h += 1) {
      for (let i = 0; i < length; i += 1) {
        const row = (h * length + i) * length;
        const by = Array.from({ length }, (_, j) => {
          let sum = 0;
          for (let c = h * own; c < (h + 1) * own; c += 1) {
            sum += slope[i * width + c] * inner[values + j * width + c];
            found[values + j * width + c] += weights[row + j] * slope[i * width + c];
          }
          return sum;
        });
        const mean = by.reduce((sum, change, j) => sum + change * weights[row + j], 0);
        for (let j = 0; j < length; j += 1) {
          const change = (weights[row + j] * (by[j] - mean)) / Math.sqrt(own);
          for (let c = h * own; c < (h + 1) * own; c += 1) {
            found[i * width + c] += change * inner[keys + j * width + c];
            found[keys + j * width + c] += change * inner[i * width + c];
          }
        }
      }
    }
    inner.set(found);
  }
}

/**
 * How a layer does on the new sentences: its loss, the share of right answers, and the average
 * weight that each head gives to the right word of each relation.
 */
function examined(layer: Float64Array, heads: number) {
  const [given, times] = [new Float64Array(heads * RELATIONS.length), new Float64Array(RELATIONS.length)];
  let [loss, right, count] = [0, 0, 0];
  for (const { forms, answers } of fresh) {
    const { outputs, weights } = attend(layer, heads, forms);
    answers.forEach((place, n) => {
      if (place < 0) return;
      const [token, question] = [Math.floor(n / questions.length), n % questions.length];
      const logs = answered(layer, outputs, token, question);
      loss -= logs[forms[place]];
      right += Number(logs.every((log) => log <= logs[forms[place]]));
      count += 1;
      RELATIONS.forEach(([asks, kind], r) => {
        if (asks !== question || (kind && kind !== kindOf(forms[token]))) return;
        times[r] += 1;
        for (let h = 0; h < heads; h += 1) given[h * RELATIONS.length + r] += weights[(h * length + token) * length + place];
      });
    });
  }
  return { loss: loss / count, right: right / count, roles: given.map((sum, i) => sum / times[i % RELATIONS.length]) };
}

/**
 * A training, step by step. `layers` has the parameters before the first step and after each step;
 * `found` has the examination of each of these layers that has been examined.
 */
export class Training {
  heads: number;
  rate: number;
  layers: Float64Array<ArrayBuffer>[];
  found: ReturnType<typeof examined>[];
  losses: number[];
  means: Float64Array<ArrayBuffer>;
  squares: Float64Array<ArrayBuffer>;

  constructor({ seed, heads, rate }: Pick<LearningState, "seed" | "heads" | "rate">) {
    this.heads = heads;
    this.rate = rate;
    this.layers = [drawn(seed, heads)];
    this.found = [];
    /** The loss of each step on its batch. */
    this.losses = [];
    this.means = new Float64Array(this.layers[0].length);
    this.squares = new Float64Array(this.layers[0].length);
  }

  /** How many steps are done. */
  get done() {
    return this.losses.length;
  }

  /** Examine the newest layer, or make the next one of it: about half a step's time each. */
  advance() {
    if (this.found.length === this.layers.length) this.step();
    else this.found.push(examined(this.layers[this.done], this.heads));
  }

  step() {
    const { batch } = task;
    const before = this.layers[this.done];
    const first = (this.done * batch) % toLearn.length;
    const { loss, back } = gradients(before, this.heads, toLearn.slice(first, first + batch));
    this.losses.push(loss);
    const [byMean, bySquare] = [1 - MEAN ** this.done, 1 - SQUARE ** this.done];
    this.layers.push(before.map((number, i) => {
      this.means[i] = MEAN * this.means[i] + (1 - MEAN) * back[i];
      this.squares[i] = SQUARE * this.squares[i] + (1 - SQUARE) * back[i] ** 2;
      return number - (this.rate * (this.means[i] / byMean)) / (Math.sqrt(this.squares[i] / bySquare) + TINY);
    }));
  }
}

export { MATRIX, fresh };
