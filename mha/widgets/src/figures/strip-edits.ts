/**
 * The numbers of the strip that a reader moves: inputs, an embedding with its position, and values, whose
 * matrix changes as little as gives the typed ones.
 */

import { TINY, columnWith, dot } from "../engine/least-change.ts";
import { short } from "../engine/numbers.ts";
import { isGiven } from "../engine/origins.ts";
import { of as placeOf, valueAt } from "../engine/places.ts";
import { fill } from "../engine/text.ts";
import { MOST } from "../engine/typed-numbers.ts";
import { compute, inputAddress } from "../store/explorer-state.ts";
import { same } from "../store/same.ts";
import { explorer as texts } from "../strings/explorer.ts";
import type { ExplorerNumbers, ExplorerView } from "../types/explorer.ts";
import type { Wanted } from "../types/fields.ts";
import type { Matrix, Place } from "../types/run.ts";

/** A number that is typed has to come out of its matrix as exactly as this. */
const EXACT = 1e-8;

/** The input that a number is moved by: where a position is added, the embedding. */
const moverOf = (at: Place): Place => (at.stage === "placed" ? { ...at, stage: "embeddings" } : at);

/**
 * Whether a reader can move a stage's numbers: inputs, with their positions too, and values that
 * a matrix makes.
 */
export function canMove({ data: { inputs } }: ExplorerView, stage: string) {
  return isGiven(inputs, stage) || ["placed", "value"].includes(stage);
}

/** The inputs of the matrices, one row per token. */
function madeOf(explorer: ExplorerView): Matrix {
  const { start_normed: normed, placed, embeddings } = explorer.numbers;
  return normed ?? placed ?? embeddings ?? [];
}

/** Whether a number of a stage that can be moved is not of a value that stays zero, whatever its matrix. */
export const isFree = (explorer: ExplorerView, { stage, row }: Place): boolean =>
  stage !== "value" || isGiven(explorer.data.inputs, stage) || madeOf(explorer)[row ?? 0].some(Boolean);

/** Which numbers can be typed. */
export function rangeOf(explorer: ExplorerView, at: Place): Wanted {
  if (at.stage !== "placed" || isGiven(explorer.data.inputs, at.stage)) return {};
  const added = valueAt(explorer.numbers, { ...at, stage: "positions" });
  return { least: added - MOST, most: added + MOST };
}

/**
 * The typed numbers of the values in a column of a head, and the column of the matrix before them;
 * undefined where none was typed, or where the matrix or the tokens have changed since.
 * @param at of a value
 */
function pinOf(explorer: ExplorerView, { head, column }: Place) {
  const { numbers, state } = explorer;
  const pin = state.pins[`${head}.${column}`];
  if (!pin) return undefined;
  const now = (numbers.w_v ?? [])[head].map((row) => row[column ?? 0]);
  return same(pin.column, now) && same(pin.rows, byToken(explorer)) ? pin : undefined;
}

/** The rows that the matrices are multiplied by, in the first order of the tokens. */
function byToken(explorer: ExplorerView): Matrix {
  const { order } = explorer.state;
  const rows = madeOf(explorer);
  return rows.map((_, token) => rows[order.indexOf(token)]);
}

/** The number that a reader typed for a value, which its matrix gives but for rounding. */
export function typedAt(explorer: ExplorerView, at: Place): number | undefined {
  if (at.stage !== "value" || at.term !== null) return undefined;
  const token = explorer.state.order[at.row ?? 0];
  const [, value] = pinOf(explorer, at)?.typed.find(([one]) => one === token) ?? [];
  return value !== undefined && Math.abs(value - valueAt(explorer.numbers, at)) < EXACT ? value : undefined;
}

/** Change a number; returns an error message, or "". */
export function edit(explorer: ExplorerView, at: Place, value: number): string {
  const { data, numbers, state } = explorer;
  if (isGiven(data.inputs, at.stage)) return explorer.edit(at, value);
  if (at.stage === "placed") {
    const mover = moverOf(at);
    const first = valueAt(data.inputs, { ...mover, row: state.order[at.row ?? 0] });
    const embedding = value - valueAt(numbers, { ...at, stage: "positions" });
    return explorer.edit(mover, Math.abs(embedding - first) < TINY ? first : embedding);
  }
  const { head, row, column } = at;
  const rows = byToken(explorer);
  const token = state.order[row ?? 0];
  const pin = pinOf(explorer, at);
  const from = pin?.from ?? (numbers.w_v ?? [])[head].map((entries) => entries[column ?? 0]);
  const typed: [number, number][] = [...(pin?.typed ?? []).filter(([one]) => one !== token), [token, value]];
  const isExact = (column: number[]) => typed.every(([one, wanted]) =>
    Math.abs(dot(column, rows[one]) - wanted) < EXACT);
  // In the order of the tokens, so that no path to the same numbers matters where none excludes another.
  const inOrder = columnWith(rows, from, [...typed].sort(([one], [other]) => one - other));
  const entries = isExact(inOrder) ? inOrder : columnWith(rows, from, typed);
  if (!(Math.abs(dot(entries, rows[token]) - value) < EXACT)) return texts.overflow;
  const changes = entries.map((x, i) => ([placeOf("w_v", head, i, column), x] as [Place, number]));
  return explorer.editAll(changes, () =>
    fill(texts.pulled, { place: explorer.called(at), value: short(value) }),
  `value of ${token}`, { pins: { ...state.pins, [`${head}.${column}`]: { rows, from, typed, column: entries } } });
}

/** The numbers of a run whose input is moved; the state stays as it is. */
export function movedBy(explorer: ExplorerView, at: Place, by: number): ExplorerNumbers {
  const { data, state } = explorer;
  const mover = moverOf(at);
  const edited = { [inputAddress(data, state, mover)]: valueAt(compute(data, state), mover) + by };
  return compute(data, by ? { ...state, edits: { ...state.edits, ...edited } } : state);
}
