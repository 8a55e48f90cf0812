/**
 * An example drawn for any sentence, a port of mha/runs/random_examples.py: the same numbers for a seed. The
 * vocabulary and the limits come with the page.
 */

import { Draws } from "./draws.ts";
import type { OwnKnowledge, OwnSettings } from "../types/panels.ts";
import type { Inputs, Matrix } from "../types/run.ts";

/** In small letters, without signs around it. */
export function bareWord(word: string) {
  const small = word.toLowerCase();
  return small.replace(/^[.,;:!?]+|[.,;:!?]+$/g, "") || small;
}

const isPunctuation = (sign: string) => /^\p{P}$/u.test(sign);

/**
 * Whether a character is no punctuation, or joins two parts of a word: an apostrophe or a hyphen inside a
 * word, a point or a comma inside a number.
 */
function isInWord(signs: string[], i: number): boolean {
  if (!isPunctuation(signs[i])) return true;
  const [before = "", after = ""] = [signs[i - 1], signs[i + 1]];
  if ([before, after].some((sign) => !sign.trim() || isPunctuation(sign))) return false;
  return "'’-‐‑".includes(signs[i]) || (".,".includes(signs[i]) && /^\d\d$/.test(before + after));
}

/** The words of a text without its punctuation. */
export function splitWords(text: string) {
  const signs = [...text];
  return signs.map((sign, i) => (isInWord(signs, i) ? sign : " ")).join("").split(/[\s\p{Z}]+/u)
    .filter(Boolean);
}

/** How many numbers per word the meanings of some words need. */
export const neededWidth = (words: string[], { meanings, vocabulary }: OwnKnowledge) => Math.max(0, ...words.map(bareWord)
  .filter((word) => Object.hasOwn(vocabulary, word))
  .flatMap((word) => vocabulary[word].split(" ").map((meaning) => meanings.indexOf(meaning) + 1)));

/** The draws that belong to one array, or one word, of a seed. */
function drawsOf(...label: (string | number)[]): Draws {
  let state = 2166136261;
  for (const letter of label.join(" ")) {
    state = Math.imul(state ^ (letter.codePointAt(0) ?? 0), 16777619);
  }
  return new Draws(state >>> 0);
}

const each = <Kind>(count: number, one: (i: number) => Kind): Kind[] => Array.from({ length: count }, (_, i) => one(i));

const zeros = (rows: number, columns: number): Matrix => each(rows, () => new Array(columns).fill(0));

/** The numbers of a word, the same at each position. */
function wordOf({ seed, numbers, width }: OwnSettings, { meanings, vocabulary }: OwnKnowledge, word: string) {
  const bare = bareWord(word);
  const draws = drawsOf(seed, "word", bare);
  if (numbers === "tenths") return each(width, () => draws.whole(-9, 9) / 10);
  if (numbers === "meanings") {
    const asked = Object.hasOwn(vocabulary, bare) ? vocabulary[bare]
      : meanings[draws.whole(0, width - 1)];
    return each(width, (i) => Number(asked.split(" ").includes(meanings[i])));
  }
  const vector = each(width, () => draws.whole(-1, 1));
  if (!vector.some(Boolean)) vector[draws.whole(0, width - 1)] = 1;
  return vector;
}

function placeOf({ seed, numbers, width }: OwnSettings, row: number) {
  const draws = drawsOf(seed, "place", row);
  return each(width, () => (numbers === "whole" ? draws.whole(-1, 1) : draws.whole(-3, 3) / 10));
}

/** The meanings that heads may join; those that came by chance only where there are no others. */
function thereOf({ width, words }: OwnSettings, { vocabulary }: OwnKnowledge, embeddings: Matrix) {
  const every = each(width, (i) => i);
  const known = embeddings.filter((_, i) => Object.hasOwn(vocabulary, bareWord(words[i])));
  return [known, embeddings].map((rows) => every.filter((i) => rows.some((row) => row[i])))
    .find((has) => has.length > 1) ?? every;
}

/** Heads that join meanings of the sentence. */
function joining({ seed, heads, inner, width }: OwnSettings, { meanings }: OwnKnowledge, there: number[]) {
  const [w_q, w_k, w_v] = each(3, () => each(heads, () => zeros(width, inner)));
  const w_o = zeros(heads * inner, width);
  const last = meanings.length - 1;
  const taken: Set<string> = new Set();
  const names = each(heads, (head) => {
    const draws = drawsOf(seed, "what sense asks", head);
    if (taken.size === there.length * (there.length - 1)) taken.clear();
    let [asks, answers] = [0, 0];
    while (asks === answers || taken.has(`${asks} ${answers}`) || !there.includes(asks)
      || !there.includes(answers)) {
      asks = draws.whole(0, last);
      answers = draws.whole(0, last);
    }
    taken.add(`${asks} ${answers}`);
    w_q[head][asks][0] = 2;
    w_k[head][answers][0] = inner > 1 ? 2 : 1;
    for (let i = 0; i < inner; i += 1) {
      const passed = (answers + i) % width;
      w_v[head][passed][i] = 1;
      w_o[head * inner + i][passed] = 1;
      if (!i) continue;
      let alike = -1;
      while (!there.includes(alike)) alike = draws.whole(0, last);
      w_q[head][alike][i] = 1;
      w_k[head][alike][i] = 1;
    }
    return `Head ${head + 1}: ${meanings[asks]} → ${meanings[answers]}`;
  });
  return { names, w_q, w_k, w_v, w_o };
}

function matrixOf({ seed, numbers }: OwnSettings, label: string, rows: number, columns: number): Matrix {
  const draws = drawsOf(seed, label);
  const matrix = zeros(rows, columns);
  const size = /^w_[qk]/.test(label) ? 15 : 9;
  for (let column = 0; column < columns; column += 1) {
    if (numbers === "tenths") {
      matrix.forEach((row) => { row[column] = draws.whole(-size, size) / 10; });
      continue;
    }
    const sign = 2 * draws.whole(0, 1) - 1;
    const row = draws.whole(0, rows - 1);
    const other = draws.whole(0, rows - 1);
    matrix[other][column] = draws.whole(-1, 1);
    matrix[row][column] = sign;
  }
  return matrix;
}

/** The input of an explorer: names of the heads, and the arrays. */
export function drawExample(settings: OwnSettings, knowledge: OwnKnowledge): { heads: string[], inputs: Inputs } {
  const { words, numbers, heads, inner, width } = settings;
  const embeddings = words.map((word) => wordOf(settings, knowledge, word));
  const of = (name: string) =>
    each(heads, (head) => matrixOf(settings, `${name} ${head}`, width, inner));
  const { names, w_o, ...matrices } = numbers === "meanings"
    ? joining(settings, knowledge, thereOf(settings, knowledge, embeddings))
    : { names: each(heads, (i) => `Head ${i + 1}`), w_q: of("w_q"), w_k: of("w_k"),
      w_v: of("w_v"), w_o: matrixOf(settings, "w_o", heads * inner, width) };
  return {
    heads: names,
    inputs: {
      embeddings, ...matrices, ...(settings.output && { w_o }),
      ...(settings.positions && { positions: words.map((_, row) => placeOf(settings, row)) }),
    },
  };
}
