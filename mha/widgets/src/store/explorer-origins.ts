/**
 * The origin of an explorer's number in words and parts, including the explorer's own settings: a
 * temperature, heads that are off, masked numbers.
 */

import { short, shown } from "../engine/numbers.ts";
import { evaluate } from "../engine/operations.ts";
import { constant, origin } from "../engine/origins.ts";
import { address } from "../engine/places.ts";
import { chain, decimalsOf } from "../engine/signs.ts";
import { fill } from "../engine/text.ts";
import { explorer as texts } from "../strings/explorer.ts";
import type { ExplorerData, ExplorerNumbers, ExplorerState, Layout, Part } from "../types/explorer.ts";
import type { Calculation, Numbers, Operation, Origin, Place } from "../types/run.ts";

export const inBrackets = (text: string) => (text.startsWith("−") ? `(${text})` : text);

/** The factor of a score, as text. */
function scaleText({ terms }: Calculation, { temperature }: { temperature: number }, places: number): string {
  const [by] = terms[1];
  const scale = short(by.name === "d_k" ? 1 / Math.sqrt(by.value) : by.value, places);
  return temperature === 1 ? scale
    : `(${fill(texts.dividedBy, { scale, temperature: short(temperature, places) })})`;
}

/** A factor after the first may be a constant: a cosine or a sine. */
const factors: Layout = ({ terms }) => terms.map(([first, ...others]) => [first, ...others.flatMap((factor): Part[] =>
  ["×", factor.place ? factor : (p) => inBrackets(short(factor.value, p))])]);

const oneByOne: Layout = ({ terms }) => terms;

/** How the operands of an operation are laid out: the items of a list, each in parts. */
export const LAYOUTS: Partial<Record<Operation, Layout>> = {
  products: factors,
  product: factors,
  mixed: factors,
  sum: oneByOne,
  copy: oneByOne,
  share: ({ terms: [[exponential], [total]] }) => [[exponential, "÷", total]],
  scaled: (from, state) => {
    const mask = constant(from, "mask");
    return [[from.terms[0][0], "×", (p) => scaleText(from, state, p),
      ...(mask === null ? [] : [(p: number) => `+ ${inBrackets(short(mask, p))}`])]];
  },
  exponential: (from) => {
    const shift = constant(from, "shift");
    const [score] = from.terms[0];
    return shift === null ? [["e ^", score]] : [["e ^ (", score, (p) => `− ${shown(shift, p)})`]];
  },
};

/** Why a number is not computed from others, where the explorer or a mask leaves it out. */
function leftOut(data: ExplorerData, state: ExplorerState, numbers: Numbers, { place: { head, row, column }, operation, terms }: Origin): string {
  if (operation === "copy") {
    const from = terms[0][0].place?.head ?? 0;
    return state.off[from] ? fill(texts.headOff, { head: data.heads[from] }) : "";
  }
  if (head === null || !["scaled", "exponential", "sum", "share"].includes(operation)) return "";
  if (numbers.row_sums[head][row] === 0) return texts.maskedRow;
  return column !== null && numbers.mask[head][row][column] === -Infinity ? texts.masked : "";
}

/**
 * Where a number comes from.
 *
 * @returns `why`: the reason if the number is not computed, else ""; `from`: its origin; `items`: the
 *   parts of its arithmetic, which are operands with a place, and texts.
 */
export function described(data: ExplorerData, state: ExplorerState, numbers: ExplorerNumbers, at: Place): { why: string, from: Origin, items: Part[][] } {
  const from = origin(numbers.inputs, numbers, at);
  const why = leftOut(data, state, numbers, from);
  return { why, from, items: (!why && LAYOUTS[from.operation]?.(from, state)) || [] };
}

/** A part of a line as text, with a given number of decimals. */
export function written(part: Part, places: number = 4): string {
  if (typeof part === "function") return part(places);
  return typeof part === "object" ? inBrackets(short(part.value, places)) : part;
}

/** The items of a line as a printed sum. */
export const sumOf = (items: Part[][], places?: number): string =>
  items.map((parts) => parts.map((part) => written(part, places)).join(" ")).join(" + ");

/** A line as a calculation alone, without the words in it. */
export const calculation = (line: string): string =>
  line.replace(/\p{L}{2,}/gu, (word) => (word === "max" ? word : ""));

/** The decimals with which the items of a line give its printed result. */
export const decimalsFor = (items: Part[][], result: string): number =>
  decimalsOf((p) => [calculation(sumOf(items, p))], result, 4)[0];

/** The computation of a number on one line; "≈" marks rounding. */
export function worked(data: ExplorerData, state: ExplorerState, numbers: ExplorerNumbers, at: Place): string {
  const { why, from, items } = described(data, state, numbers, at);
  if (!items.length) return why || texts.isInput;
  const result = short(evaluate(from));
  return chain(sumOf(items, decimalsFor(items, result)), result);
}

/** The key that a number is of, where a mask may hide it; a part of an output is of one, too. */
function keyOf({ stage, column, term }: Place): number | null {
  if (stage === "head_outputs") return term;
  return ["scaled_scores", "exponentials", "weights"].includes(stage) ? column : null;
}

/**
 * The numbers that are highlighted with a number: all from which it is computed, and those of some
 * places that are computed from it. A head's output is computed from its parts. A masked score has no
 * influence.
 */
export function chainOf(numbers: ExplorerNumbers, places: Place[]): (at: Place) => Set<string> {
  const known: Map<string, Set<string>> = new Map();
  const isHidden = ({ head, row }: Place, key: number | null): boolean =>
    key !== null && numbers.mask[head ?? 0][row ?? 0][key] === -Infinity;
  const sources = (at: Place): Set<string> => {
    const where = address(at);
    const found = known.get(where) ?? new Set([where]);
    if (known.has(where)) return found;
    known.set(where, found);
    if (isHidden(at, keyOf(at))) return found;
    const { operation, terms } = origin(numbers.inputs, numbers, at);
    const isMixed = operation === "mixed";
    terms.forEach((operands, term) => {
      if (isMixed && isHidden(at, term)) return;
      for (const { place } of operands) {
        if (place) sources(place).forEach((one) => found.add(one));
      }
      if (isMixed) found.add(address({ ...at, term }));
    });
    return found;
  };
  return (at) => {
    const where = address(at);
    const moved = places.filter((place) => sources(place).has(where));
    return new Set([...sources(at), ...moved.map(address)]);
  };
}
