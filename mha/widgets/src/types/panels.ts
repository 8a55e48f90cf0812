/** The types of the figures beside the explorer, and of their data. */

import type { ExplorerView } from "./explorer.ts";
import type { Inputs, Matrix, Numbers, Operand, Origin, Place, Run } from "./run.ts";

/** A reader's choices for an example of their own. */
export interface OwnSettings {
  words: string[];
  numbers: "meanings" | "whole" | "tenths";
  seed: number;
  heads: number;
  /** Numbers a word, and numbers a query, a key and a value. */
  width: number;
  inner: number;
  positions: boolean;
  output: boolean;
}

/** The package's vocabulary and limits, as mha/widgets/own.py writes them. */
export interface OwnKnowledge {
  meanings: string[];
  vocabulary: Record<string, string>;
  most: { words: number; letters: number };
  sizes: Record<string, [number, number]>;
  titles: Record<string, string>;
  /** The question of a stage, and the labels of its operands. */
  asked: Record<string, string[]>;
  roundings: string[];
  hints: Record<string, string[]>;
  hintsWithMore: Record<string, string[]>;
  labels: Record<string, string>;
  /** The name of the file that installs the package. */
  wheel: string;
}

/** The figure of a reader's own example, as its parts see it. */
export interface OwnFigure {
  data: OwnKnowledge;
  settings: OwnSettings;
  /** A sentence on the meanings that the heads join, or "". */
  turned: string;
  explorer: ExplorerView & { controls: { link: HTMLElement; copy(): Promise<void> } };
  /** The updates after a change of the settings, and those after any change of the explorer. */
  syncs: (() => void)[];
  follows: (() => void)[];
  /** @param what the name of the changed value; its quick changes are one step */
  change(patch: Partial<OwnSettings>, sentence: string, what?: string): void;
}

/** The parts that the explorer's opener adds beside it: see mha/widgets/instrument.py. */
// deno-lint-ignore no-explicit-any -- the JSON of a page; each instrument declares its own
export type Instrument = (data: any, element: HTMLElement) => {
  node: HTMLElement;
  placed?(): void;
  readAddress?(): void;
};

/** The callbacks of a bar of time; time-bar.ts describes each. */
export interface TimeSteps {
  count: number;
  label(step: number): string;
  show(step: number, fraction: number): void;
  pace?: number;
}

/** A trained model as `model_script` in mha/widgets/assets.py writes it. */
export interface ModelData {
  words: string[];
  /** The arrays of one model by name, in the order of their numbers. */
  shapes: [string, number[]][];
  base: number;
  /** The training steps after which the model was stored. */
  steps: number[];
  /** What second syllables cost after each step: heads 1.1, 1.2, 2.1, 2.2 on or off, the way whole or
      cut, new and repeated names; the last of these runs fastest. */
  costs: number[];
  /** Those of all steps, 16 bits each, in base 64. */
  numbers: string;
}

/** One checkpoint: its arrays by name, such as w_q1. */
export interface NamesModel {
  words: string[];
  speeds: number[];
  embedding: Matrix;
  unembedding: Matrix;
  // deno-lint-ignore no-explicit-any -- matrices, one a head or one for all
  [array: string]: any;
}

/** The run of a model on words: the inputs of each block, and all its results. */
export interface ModelRun {
  blocks: { inputs: Inputs; numbers: Numbers & Run }[];
  words: number[];
  cut: boolean;
}

/** The address of a number of the model: the block that computes it. */
export interface ModelSpot {
  block: number;
  place: Place;
}

/** An origin, with the blocks of those operands that another block computes. */
export interface ModelOrigin extends Origin {
  blocks: Map<Operand, number>;
}

export interface ModelState {
  words: number[];
  place: number;
  /** Which checkpoint. */
  step: number;
  off: boolean[];
  cut: boolean;
  temperature: number;
  greedy: boolean;
  /** The word whose logit is taken apart, -1 for the one that comes. */
  word: number;
  at: ModelSpot | null;
}

/** The trained model on a page, as its parts see it. */
export interface ModelView {
  words: string[];
  state: ModelState;
  found: ModelRun;
  /** The word whose logit is taken apart. */
  chosen: number;
  /** @param head of four */
  weightsOf(head: number): Matrix;
  choose(place: number): void;
  change(changes: Partial<ModelState>, what?: string): void;
  ask(block: number, place: Place): void;
}

/** A sentence of the toy language: the form of each word, and the positions of its three answers. */
export interface ToySentence {
  forms: number[];
  answers: number[];
}

/** The inputs of an attention of the museum: query, key and value with concatenated heads. */
export interface TriedInputs {
  wide: Matrix[];
  heads: number;
  dModel: number | null;
  isCausal: boolean;
  isBiased: boolean;
  isTurned: boolean;
  inSteps: boolean;
}

export interface LearningState {
  seed: number;
  heads: number;
  rate: number;
  steps: number;
  /** The step that is shown, and the layer's numbers after it. */
  step: number;
  sentence: number;
  word: number;
  head: number;
}

/** The weights of all recorded heads for all sentences, as `maps_script` in heads_data.py writes them. */
export interface HeadsMaps {
  sentences: string[];
  tokens: string[][];
  layers: number;
  heads: number;
  /** The base of the rotary positions. */
  base: number;
  /** The weights at and before each token in thousandths, in base 64; see `heads-names.ts`. */
  packed: string;
  /** For each sentence some next tokens, with a row for the whole model and one without each head. */
  next: { tokens: string[], probabilities: number[][] }[];
}

/** The toy language and the sentences that a layer learns from, as `task_script` in assets.py writes it. */
export interface LearningTask {
  words: string[];
  kinds: Record<string, string[]>;
  questions: string[];
  length: number;
  width: number;
  batch: number;
  learned: string;
  asked: string;
}
