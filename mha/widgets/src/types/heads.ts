/** The types of the recorded heads of a decoder. */

import type { OriginLine } from "../figures/origin-line.ts";
import type { About } from "./looking.ts";
import type { Inputs, Matrix, Place, Run } from "./run.ts";

/** How far a name holds in a sentence; null where its rule speaks of no row. */
export type Held = { share: number, obeyed: number, rows: number } | null;

/** What a reader has chosen: heads by their number among all, and the side that the next choice is for. */
export interface HeadsState {
  sentence: number;
  place: number;
  key: number;
  side: number;
  name: string;
  heads: number[];
  at: Place | null;
}

/** The inputs and the results of a head that is recorded in full; null where the head is not. */
export interface WorkedHead {
  run: Run | null;
  inputs: Inputs;
}

/** The figure, as its parts see it. */
export interface HeadsFigure {
  /** Each sentence with its tokens, and the number of its first token among all. */
  sentences: { text: string, tokens: string[], first: number }[];
  state: HeadsState;
  /** The heads that are recorded in full. */
  known: number[];
  /** The tokens as they are shown, and the chosen one with its key. */
  words: string[];
  pair: string[];
  worked: WorkedHead;
  /** By head, how far the name holds in each sentence, and on average. */
  tested: { of: string, results: { held: Held[], mean: number }[] };
  /** The heads in the order of the table. */
  order: number[];
  /** The colour of the maps, "" before the figure is in its page. */
  color: string;
  about: About<Place>;
  line: OriginLine<Place>;
  brief(head: number): string;
  nameOf(head: number): string;
  placeOf(head: number): { layer: number, head: number };
  mapOf(sentence: number, head: number): Matrix;
  weightsIn(head: number): Matrix;
  others(): string;
  show(changes: Partial<HeadsState>): void;
  change(changes: Partial<HeadsState>): void;
  choose(place: number): void;
  chooseKey(key: number): void;
  chooseHead(head: number, side?: number): void;
  chooseSentence(sentence: number): void;
}
