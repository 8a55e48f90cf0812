/**
 * The explorer's state: all that a reader can change, and the numbers that follow from it.
 * Indices of tokens and of edits are those of the original order, even if tokens are reordered.
 */

import { trace } from "../engine/attention.ts";
import { isGiven } from "../engine/origins.ts";
import { address, indexOf, isMatrix, parse, stays, valueAt } from "../engine/places.ts";
import { stages } from "../engine/stages.ts";
import { fill } from "../engine/text.ts";
import { explorer as texts } from "../strings/explorer.ts";
import { same } from "./same.ts";
import type { ExplorerData, ExplorerNumbers, ExplorerState } from "../types/explorer.ts";
import type { Inputs, Matrix, Numbers, Place } from "../types/run.ts";

/** The stages that maps show: one row per query, one column per key. */
export const MAPS = Object.keys(stages)
  .filter((name) => stages[name].columns === "keys" && !stages[name].converted_from);

/** The state in which an explorer starts. */
export function startOf(data: ExplorerData): ExplorerState {
  return {
    edits: {}, pins: {}, scale: data.scale, temperature: 1, causal: data.isCausal,
    padding: data.tokens.map(() => false), order: data.tokens.map((_, i) => i),
    off: data.heads.map(() => false),
    query: data.focus ?? 0, focus: 0, component: 0, outcome: 0,
    map: "weights", prints: false, selected: null, step: null,
  };
}

// ---- Names ----

export const dimension = (symbol: string, i: number): string => symbol + [...String(i + 1)].map((d) => "₀₁₂₃₄₅₆₇₈₉"[+d]).join("");

/** The name of a number: its stage, row and column, and its head if there are several. */
export function nameOf(data: Pick<ExplorerData, "tokens" | "heads">, state: Pick<ExplorerState, "order">, at: Place): string {
  const { rows, columns, symbol } = stages[at.stage];
  const token = (i: number) => data.tokens[state.order[i]];
  const words = {
    row: isMatrix(at.stage) ? dimension(rows ?? "", at.row) : token(at.row),
    column: columns === "keys" ? token(at.column) : dimension(symbol, at.column),
    part: at.term === null ? "" : token(at.term),
  };
  const name = fill(at.term === null ? texts.places[at.stage] : texts.places.part, words);
  if (at.head === null || data.heads.length === 1) return name;
  return fill(texts.ofHead, { place: name, head: data.heads[at.head] });
}

/** The place that a text names, null where the run has no such number. */
export function placeIn(numbers: Numbers, text: string): Place | null {
  const at = parse(text);
  try {
    if (at) valueAt(numbers, at);
  } catch {
    return null;
  }
  return at;
}

export const RESULTS: (keyof ExplorerState)[] = ["edits", "scale", "temperature", "causal", "padding", "order", "off"];

/** Whether any number may differ from the first ones. */
export const isChanged = (state: ExplorerState, start: ExplorerState) => RESULTS.some((key) => !same(state[key], start[key]));

/** Whether a number is one that the example starts from. */
export const isInput = (data: ExplorerData, at: Place) => isGiven(data.inputs, at.stage);

/** Whether the rows of an input move with the tokens. */
const ofTokens = (stage: string): boolean => !isMatrix(stage) && !stays(stage);

/** The address of an input whatever the order of the tokens. */
export function inputAddress(data: ExplorerData, state: ExplorerState, at: Place): string {
  const moves = isInput(data, at) && ofTokens(at.stage);
  return address(moves ? { ...at, row: state.order[at.row] } : at);
}

function withEdits(inputs: Inputs, edits: Record<string, number>): Numbers {
  const copy: Numbers = structuredClone(inputs);
  for (const [where, value] of Object.entries(edits)) {
    const at = parse(where) as Place;
    const [last, ...index] = indexOf(at).reverse();
    index.reduceRight((array, i) => array[i], copy[at.stage])[last] = value;
  }
  return copy;
}

/** Inputs and results of a state, with tokens in its order; `inputs` are those of the forward run. */
export function compute(data: ExplorerData, state: ExplorerState): ExplorerNumbers {
  const arrays = withEdits(data.inputs, state.edits);
  const ordered = (rows: Matrix) => state.order.map((i) => rows[i]);
  for (const stage of Object.keys(arrays).filter(ofTokens)) {
    const perHead = stages[stage].axes.includes("head");
    arrays[stage] = perHead ? arrays[stage].map(ordered) : ordered(arrays[stage]);
  }
  const inputs = {
    ...arrays, block: data.block, masks: data.masks, isCausal: state.causal, scale: state.scale,
    temperature: state.temperature, headOff: state.off,
    keyAllowed: state.order.map((i) => !state.padding[i]),
  };
  return { ...arrays, ...trace(inputs), inputs };
}

/**
 * The head of a number; in stages with concatenated heads, the head whose part contains it.
 *
 * @param width of a head's output
 */
export function headOf(at: Place, width: number): number | null {
  const { joined } = stages[at.stage];
  return joined ? Math.floor(at[joined] / width) : at.head;
}
