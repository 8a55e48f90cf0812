/** The types of what several figures show of numbers: the line of their origins, and maps of weights. */

import type { Calculation, Matrix, Operand } from "./run.ts";

/** The numbers of a figure, each at a `Spot`, which is the figure's address of a number. */
export interface About<Spot, From extends Calculation = Calculation> {
  /** The text while no number is asked about. */
  hint?: string;
  /** From how many terms on a sum is shortened. */
  longest?: number;
  name(at: Spot): string;
  origin(at: Spot): From;
  /** The sentence on an input. */
  given(at: Spot): string;
  /** Where an operand of the number there is. */
  source(operand: Operand, at: Spot, from: From): Spot;
  /** Why a number is not computed, "" if it is. */
  why?(at: Spot): string;
}

/** A figure whose numbers have origins; `at` is the one that is asked about. */
export interface Asking<Spot, From extends Calculation = Calculation> {
  about: About<Spot, From>;
  state: { at: Spot | null };
}

/** A figure with a map of weights for each head. */
export interface Mapped {
  /** The names of all words, and the words by their numbers; the place is that of the one that looks. */
  words: string[];
  state: { words: number[], place: number };
  choose(place: number, head: number): void;
  weightsOf(head: number): Matrix;
  /** Whether a head is not computed yet. */
  isLate?(head: number): boolean;
  titleOf?(head: number): HTMLElement;
}
