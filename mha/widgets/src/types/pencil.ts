/** The types of the red pencil: a document, its numbers, and their verdicts. */

import type { Operation, Place } from "./run.ts";

/** A spot among a sheet's numbers, a constant with its name, or an operation with its operands. */
export type PencilFormula = number | string | [Operation, ...PencilFormula[]];

/** A formula as a document has it: with a sign for each operation. */
export type SignedFormula = number | string | [string, ...SignedFormula[]];

/** A row of a sheet: its token, and the spots of its numbers with the place that each claims. */
export interface PencilRow {
  line: number;
  /** Where each of its numbers has a line of its own. */
  lines?: number[];
  of: string;
  at: number[];
  places: string[];
  /** Its terms add up: 1 without and 2 with their sum. */
  sum?: 1 | 2;
}

export interface PencilBlock {
  example: string;
  /** -1 where there is one head, or none. */
  head: number;
  stage: string;
  how: "" | "worked" | "terms";
  rows: PencilRow[];
}

/** A document as mha/audit/document_data.py writes it. */
export interface PencilSheet {
  name: string;
  title: string;
  /** The operation of each sign. */
  operations: Record<string, Operation>;
  /** The print, the right value, the derivation, the state, the kind of slip, and the meant number. */
  numbers: [string, number | null, SignedFormula, number?, string?, string?][];
  blocks: PencilBlock[];
  examples: Record<string, { title: string; tokens: string[]; heads: string[] }>;
  claims: { line: number; says: string; why: string; about: number[] }[];
}

export interface PencilNumber {
  printed: string;
  true: number | null;
  value: number;
  formula: PencilFormula;
  state: number;
  slip: string;
  places: number;
  /** Half a unit of its last place. */
  half: number;
  /** The spots that it follows from, and those that follow from it. */
  from: number[];
  into: number[];
}

export interface PencilState {
  values: number[];
  states: number[];
  changed: boolean[];
}

/** A number on the sheet. */
export interface PencilCell {
  spot: number;
  place: Place;
  address: string;
  line: number;
  block: number;
  row: number;
}

export interface PencilDocument {
  sheet: PencilSheet;
  numbers: PencilNumber[];
  cells: PencilCell[];
  /** The spots of its slips, in the order of reading. */
  slips: number[];
  /** How many are right as printed. */
  right: number;
  corrected: Set<number>;
  bySpot: Map<number, PencilCell>;
}

/** The red pencil, as its paper and its remarks see it. */
export interface PencilView {
  document: PencilDocument;
  state: PencilState;
  /** The number that is asked about, -1 for none. */
  at: number;
  /** The numbers that are computed from it, and the slips at which this ends. */
  lit: { lit: Map<number, number>; ends: Set<number> } | null;
  ask(spot: number): void;
  close(): void;
  /** Correct a slip, or restore the printed number. */
  toggle(spot: number): void;
}
