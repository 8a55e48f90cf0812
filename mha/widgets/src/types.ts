/* The types that the scripts share, for the type checker alone. */

import type { History } from "./store/history.ts";

export type Axis = "head" | "row" | "column";

/** One entry of the registry, mha/runs/stages.py. */
export interface Stage {
  symbol: string;
  axes: Axis[];
  /** The axis along which the heads are concatenated, if any. */
  joined?: Axis;
  /** Where it is left out: "dimensions", "tokens" and nothing. */
  columns?: "keys" | "";
  rows?: string;
  quotes?: string;
}

/**
 * The address of one number. An index that the stage does not have is null, and so is the term of
 * a number that is none; which indices a stage has, the registry says and not the type.
 */
export interface Place {
  stage: string;
  head: number;
  row: number;
  column: number;
  term: number;
}

/** A number that another is computed from: one with a place, or a constant with a name. */
export interface Operand {
  value: number;
  place: Place | null;
  name: string;
}

export type Operation =
  | "given" | "products" | "product" | "mixed" | "root" | "scaled" | "exponential" | "sum"
  | "share" | "percent" | "copy" | "mean" | "spread" | "normalised" | "relu" | "gelu";

/** An operation with its operands: factors of each term, or one operand a term. */
export interface Calculation {
  operation: Operation;
  terms: Operand[][];
}

/** The operation and the operands of one number. */
export interface Origin extends Calculation {
  place: Place;
}

export type Matrix = number[][];

/** One entry of a mask: whether a query may attend, or the added term, null for minus infinity. */
export type MaskEntry = boolean | number | null;

/** The layers around an attention layer, without their arrays. */
export interface BlockKind {
  norm: "before" | "after" | "nowhere";
  activation: "relu" | "gelu";
  /** The eps that each normalisation adds to its variance. */
  eps: { first: number; second: number };
}

/** The input of a run. */
export interface Inputs {
  block?: BlockKind | null;
  first_gain?: number[];
  first_bias?: number[];
  second_gain?: number[];
  second_bias?: number[];
  w_in?: Matrix;
  b_in?: number[];
  w_out?: Matrix;
  b_out?: number[];
  embeddings?: Matrix;
  positions?: Matrix;
  angles?: Matrix;
  w_q?: Matrix[];
  w_k?: Matrix[];
  w_v?: Matrix[];
  w_o?: Matrix;
  query?: Matrix[];
  key?: Matrix[];
  value?: Matrix[];
  masks?: MaskEntry[][][] | null;
  isCausal?: boolean;
  keyAllowed?: boolean[];
  scale?: number | null;
  temperature?: number;
  headOff?: boolean[];
}

/** A forward run with every intermediate kept, as the package's Trace. */
export interface Run {
  placed?: Matrix;
  turned_query?: Matrix[];
  turned_key?: Matrix[];
  query: Matrix[];
  key: Matrix[];
  value: Matrix[];
  scores: Matrix[];
  mask: Matrix[];
  scaled_scores: Matrix[];
  shifts: Matrix;
  exponentials: Matrix[];
  row_sums: Matrix;
  weights: Matrix[];
  head_outputs: Matrix[];
  concat: Matrix;
  output?: Matrix;
  head_contributions?: Matrix[];
  /** The arrays that a block adds; attention-block.ts computes them. */
  start_normed?: Matrix;
  stream_normed?: Matrix;
}

/** Numbers by the name of their stage: inputs, a run, or both. */
// deno-lint-ignore no-explicit-any
export type Numbers = { [stage: string]: any };

/** The arguments of a rule of an origin. */
export interface Sources {
  inputs: Inputs;
  run: Run;
  from: (stage: string, ...index: number[]) => Operand;
}

export type Rule = (sources: Sources, place: Place) => [Operation, Operand[][]];

// ---- The explorer ----

/** The data of an explorer, as mha/widgets/explorer.py writes it into the page. */
export interface ExplorerData {
  name: string;
  tokens: string[];
  heads: string[];
  focus: number | null;
  inputs: Inputs;
  /** The layers around the attention, or null. */
  block: BlockKind | null;
  /** The stage that the run ends with. */
  end: string;
  masks: MaskEntry[][][] | null;
  isCausal: boolean;
  scale: number | null;
  /** The numbers that the source prints, by address, each with whether it agrees. */
  prints: Record<string, [string, boolean][]>;
  tasks: StripTask[];
  /** The start of its address, if that is not its name. */
  address?: string;
  /** The figure above the strip; "strip" for none. */
  view: string;
  /** The meanings of the components of a value and of an embedding. */
  axes?: string[];
  /** The question of each hidden number of a block. */
  asks?: string[];
  /** A head's d_v and d_k; the explorer sets them when it begins. */
  width: number;
  keyWidth: number;
}

/** Which numbers a field takes. */
export interface Wanted {
  least?: number;
  most?: number;
  whole?: boolean;
  positive?: boolean;
}

/** All that a reader can change. */
export interface ExplorerState {
  /** Numbers by the addresses of the inputs that they replace. */
  edits: Record<string, number>;
  /** By head and column, values that were typed: the rows that their matrix is multiplied by, its column
      before them, each token's value in the order of typing, and the column that gives them. */
  pins: Record<string, { rows: Matrix; from: number[]; typed: [number, number][]; column: number[] }>;
  scale: number | null;
  temperature: number;
  causal: boolean;
  padding: boolean[];
  order: number[];
  off: boolean[];
  /** The token whose query the strip shows, counted as at first, and the head. */
  query: number;
  focus: number;
  /** Which component of a head's output and of the output is looked at. */
  component: number;
  outcome: number;
  map: string;
  prints: boolean;
  selected: Place | null;
  /** Up to which step the calculation of the query is shown; null where all of it is. */
  step: number | null;
}

/** The owner of an explorer, which can make another in its place: see panels/own.ts. */
export interface ExplorerMaker {
  history: { clearRedo(): void };
  /** Undo, or redo; returns whether there was a step. */
  step(forward: boolean): boolean;
}

/** Inputs and results by the name of their stage. */
export type ExplorerNumbers = Inputs & Run & { inputs: Inputs };

/** An operand with a place, or a text between operands. */
export type Part = Operand | string | ((places: number) => string);

export type Layout = (origin: Origin, state: ExplorerState) => Part[][];

/** A field for a number. */
export interface NumberField {
  node: HTMLElement;
  input: HTMLInputElement;
  step(by: number): void;
  set(value: number): void;
}

/** A number in a table. */
export interface Cell {
  at: Place;
  entry: HTMLTableCellElement;
  button: HTMLButtonElement;
  text: Text;
  /** The cells that name its row and its column. */
  label: HTMLElement;
  title: HTMLElement;
  look: string;
  /** The head that it belongs to. */
  head: number | null;
  /** The map that contains it, or "". */
  map: string;
  /** Whether it is an input. */
  given: boolean;
  value: number;
  /** Its accessible name after its number, set when it first becomes a tab stop. */
  name?: string;
  style: string;
  grid: Cell[][];
  printed?: HTMLElement;
}

/** A task as mha/widgets/explorer_tasks.py or width.py writes it; which numbers it has depends on its goal. */
export interface StripTask {
  says: string;
  goal: string;
  query: number;
  key: number;
  least: number;
  within: number;
  component: number;
  column: number;
  low: number;
  high: number;
  below: number;
}

/** The data of the slider over widths, as mha/widgets/width.py writes it. */
export interface WidthData {
  name: string;
  tasks: StripTask[];
  /** The query's row and the keys', in tenths. */
  tenths: number[][];
  widths: number[];
  start: number;
}

/** The view of the strip: a position among the tokens, a head, a component of each output. */
export interface StripView {
  row: number;
  head: number;
  component: number;
  outcome: number;
  token: string;
}

/** The layout of the numbers of a token's vector: their digits, and how many are on a line. */
export interface VectorLayout {
  stage: string;
  count: number;
  columns: number;
  digits: number;
}

/** The parts of a plane for one vector: an arrow or a point with its text and its tip, or lines. */
export interface PlaneMark {
  /** "arrow", "point", "line", "area", or "text" alone. */
  kind: string;
  at?: number[];
  /** Where an arrow begins; a text is on the opposite side. */
  from?: number[];
  points?: number[][][];
  name?: string;
  text?: string;
  /** Possible positions of a line's text, instead of beside `at`. */
  along?: number[][];
  /** The token whose parts are lit together with it. */
  token?: number;
  /** How wide a line is, how large a point. */
  wide?: number;
  tip?: PlaneTip;
}

/** A tip in a plane that a reader can drag. */
export interface PlaneTip {
  name: string;
  look?: string;
  /** The state at the start of a drag, passed to each of its moves. */
  take?(): number[];
  move(point: number[], taken?: number[]): void;
  /** The effect of an arrow key, if it does not move a coordinate. */
  step?(by: number): void;
}

/** An obstacle for names in a plane: a line, the cost of each covered pixel, and its owner. */
export interface PlaneLine {
  line: number[];
  weight: number;
  owner?: PlaneMark;
}

/** What is drawn in a plane, in pixels: lines and boxes that a label should not cover, and the points and
    ticks that should not be nearer to it than its own point. */
export interface PlaneDrawn {
  lines: PlaneLine[];
  boxes: number[][];
  anchors: number[][];
  size: number[];
}

/** A name to be placed, in pixels: its mark, and its size. */
export interface PlaneName {
  owner: PlaneMark;
  at: number[];
  from: number[];
  along?: number[][];
  size: number[];
}

/** A plane, as the views that draw in it see it. */
export interface PlaneDrawing {
  node: HTMLElement;
  caption: HTMLElement;
  names: string[];
  low: number[];
  high: number[];
  step: number;
  isBare: boolean;
  lit: number | null;
  title: string;
  /** The other vectors that a drag has moved, and their numbers since then. */
  also: { text: string; of?: Numbers | null } | null;
  // deno-lint-ignore no-explicit-any
  movable: any[];
  draw(): void;
  paint(
    marks: PlaneMark[], seen?: number[][], behind?: (low: number[], high: number[]) => PlaneMark[],
  ): void;
}

/** A slider with its name and its text. */
export interface SliderWithName {
  node: HTMLElement;
  input: HTMLInputElement;
  name: HTMLElement;
  show(value: number, text: string): void;
}

/** How the weights of a query answer to it. */
export interface Weighed {
  keys: Matrix;
  by: number;
  added: number[];
}

/** How a key's weight answers to a query. */
export interface Answer {
  others: { right: number; up: number; more: number }[];
  weight(x: number, y: number): number;
}

/** A number of the strip. */
export interface StripNumber {
  node: HTMLElement;
  place: (view: StripView) => Place;
  at: Place;
  /** Its address, and its name. */
  where: string;
  name: string;
  given: boolean;
  value: number;
  /** How it is written. */
  text: string;
  /** For how many digits it has room. */
  digits: number;
}

/** A drawing with the size that it was last drawn in. */
export interface Drawn extends HTMLElement {
  size: number[];
}

/** The strip, as the explorer and its other parts see it. */
export interface ExplorerStrip {
  node: HTMLElement;
  status: HTMLElement;
  words: ((view: StripView) => void)[];
  last: StripNumber;
  number(place: (view: StripView) => Place): HTMLElement;
  sign(terms: (view: StripView) => StripNumber[]): HTMLElement;
  paint(): void;
  valueOf(at: Place): number;
}

/** The drawing of each key: its line from the query, its ribbon and its part of the output. */
export interface ExplorerRibbons {
  lines: SVGElement[];
  ribbons: SVGElement[];
  parts: SVGElement[];
}

/** The sentence below a field whose text is refused. */
export interface Complaint {
  say(field: HTMLElement, sentence: string): void;
  clear(): void;
}

/** The strip, as the hands on it see it. */
export interface HandledStrip {
  rangeOf(number: StripNumber): Wanted;
  node: HTMLElement;
  explorer: ExplorerView;
  numbers: StripNumber[];
  ofNode: Map<EventTarget | null, StripNumber>;
  edit(number: StripNumber, value: number): string;
  moveBy(number: StripNumber, by: number): void;
  light(): void;
  paintNumber(number: StripNumber, view: StripView): void;
  view(): StripView;
}

/** The tables with their panel, once they are opened. */
export interface ExplorerAll {
  focus(at: Place): void;
  mapOf(at: Place): Partial<ExplorerState>;
  paint(): void;
}

/** A section of the page with its numbers. */
export interface Section {
  node: Element;
  cells: Cell[];
  inSight: boolean;
  stale: boolean;
}

/** A radio button or a checkbox with its label. */
export interface Choice {
  node: HTMLElement;
  input: HTMLInputElement;
  word: HTMLElement;
}

/** The tables of an explorer. */
export interface ExplorerTables {
  cells: Map<string, Cell>;
  ofButton: Map<EventTarget | null, Cell>;
  cellAt(at: Place): Cell | undefined;
  light(selected: Place | null, sources: Place[], edits: (at: Place) => boolean): void;
  mapNames(): string[];
  neighbour(cell: Cell, key: string): Cell | undefined;
  paint(numbers: ExplorerNumbers, state: ExplorerState): void;
  paintPrints(visible: boolean): void;
  strike(state: ExplorerState): void;
  stop(cell: Cell, name: string): void;
  watch(): void;
}

/** The interface of the explorer for its parts. */
export interface ExplorerView {
  maker: ExplorerMaker | null;
  data: ExplorerData;
  start: ExplorerState;
  state: ExplorerState;
  history: History<ExplorerState>;
  numbers: ExplorerNumbers;
  /** The slider over widths has these instead. */
  widths?: { spread: number; weights: number[] }[];
  /** Whether the query there has a length. */
  asks?: boolean;
  tables: ExplorerTables | null;
  controls: { sync(state: ExplorerState): void };
  back(): void;
  change(patch: Partial<ExplorerState>, sentence: string | (() => string), options?: ChangeOptions): boolean;
  edit(at: Place, value: number): string;
  editAll(changes: [Place, number][], told?: string | (() => string), hand?: string, more?: Partial<ExplorerState>): string;
  takeBack(): void;
  text: string;
  link(): string;
  nameOf(at: Place): string;
  called(at: Place): string;
  reset(): void;
  say(sentence: string): void;
  select(at: Place, follow?: boolean): void;
  show(patch: Partial<ExplorerState>, sentence: string): void;
  step(forward: boolean): void;
  strip: ExplorerStrip & HandledStrip & { bars: HTMLElement[]; ribbons: ExplorerRibbons };
  writeAddress(): void;
}

/**
 * How a change is taken: whether to tell how far the results move; what is changed, to join quick
 * changes of it into one step of the history; whether that step is kept.
 */
export interface ChangeOptions {
  compare?: boolean;
  what?: string;
  keep?: boolean;
}

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

/** The parts that the explorer's opener adds beside it: see mha/widgets/instrument.py. */
// deno-lint-ignore no-explicit-any
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
  /** The steps of training after which it was kept. */
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
  // deno-lint-ignore no-explicit-any
  [array: string]: any;
}

/** The run of a model on words: the inputs of each block, and all its results. */
export interface ModelRun {
  blocks: { inputs: Inputs; numbers: Numbers & Run }[];
  words: number[];
  cut: boolean;
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
  at: { block: number; place: Place } | null;
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

// ---- The red pencil ----

/** A spot among a sheet's numbers, a constant, or a sign with its operands. */
// deno-lint-ignore no-explicit-any
export type PencilFormula = number | string | [string, ...any[]];

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
  /** The print, the right value, the derivation, the state, the kind of slip, and the meant number. */
  numbers: [string, number | null, PencilFormula, number?, string?, string?][];
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

/* The types that the scripts for reading and exercises share, for the type checker alone: no page
   loads this file. */

/** A reader's progress on one page. */
export interface PageProgress {
  /** How many questions the page has, and the ids of those answered. */
  total: number;
  right: string[];
  /** How many steps the page has, and those read, counted from 1. */
  steps: number;
  read: number[];
  /** The step opened last, or 0. */
  last: number;
}

export type Kind =
  | "products" | "root" | "times" | "power" | "sum" | "share" | "mean" | "spread" | "normalised"
  | "relu" | "largest" | "quotient";

/** Where an operand's new numbers are drawn from. */
export type Draw =
  | "same" | "whole" | "tenths" | "not negative" | "sines" | "scores" | "positive" | "from 1"
  | "powers to 1" | "exponents" | "exponents to 0" | "shares";

export type Verdict = "right" | "near" | "wrong" | "unreadable";

/** One number to compute, as mha/widgets/boxes.py writes it into the page. */
export interface Task {
  kind: Kind;
  /** The operands, each one number or several; a masked score is minus infinity. */
  givens: number[][];
  shownPlaces: number;
  /** Which of the exponentials a share is of. */
  column: number;
  places: number;
  percent: boolean;
  hints: string[];
  /** A draw for each group of operands, or one for each of its numbers, or null where no new numbers
      are offered. */
  draw: (Draw | Draw[])[] | null;
  /** Mistakes that do not follow from the operands: the neighbouring numbers. */
  elsewhere?: [MistakeName, number][];
}

/** A name of mha/practice/mistakes.py. */
export type MistakeName =
  | "percent" | "share" | "sign" | "signs" | "one-term" | "no-root" | "no-scale" | "by-width"
  | "no-mask" | "no-exponential" | "not-divided" | "no-quotient" | "no-square-root" | "left-out"
  | "not-averaged" | "no-spread" | "not-cut"
  | "other-key" | "exchanged"
  | "other-row" | "other-component" | "other-head" | "last-digit";

/** A wrong answer, its mistake, and the factor by which its rounding error may be larger. */
export interface Mistake {
  name: MistakeName;
  value: number;
  unit: number;
}

/** Weights to reach, as mha/widgets/build.py writes them into the page. */
export interface BuildGoal {
  key: number[][];
  scale: number | null;
  tokens: string[];
  /** For each key the least and the most weight. */
  wanted: [number, number][];
}

export type Texts<Name extends string> = Record<Name, string>;

/* The types that the scripts of the search share, for the type checker alone: no page loads this
   file. */

/** The output of `make_index` in `book/_ext/byhand/search`. */
export interface SearchIndex {
  /** Address, title, number or nothing, and factor. */
  pages: [string, string, string, number][];
  /** Place of the page, anchor, heading, text, factor, and the names of its subjects. */
  sections: [number, string, string, string, number, string][];
  synonyms: string[][];
  stop: string[];
}

/** Text, cut where found words begin and end. Formulas in it have indices as ₍k₎ and exponents as
    ⁽O⁾; both may begin in one piece and end in another. */
export type Pieces = { text: string; found: boolean }[];

export interface FoundSection {
  /** The address, from the book's first page. */
  address: string;
  /** The chapter's title, with its number where it has one. */
  chapter: string;
  heading: Pieces;
  excerpt: Pieces;
}

/** Several words or queries that are looked for at once, as MiniSearch takes them. */
export interface SearchQuery {
  combineWith: "AND" | "OR";
  queries: (string | SearchQuery)[];
  boost?: Record<string, number>;
  prefix?: boolean | ((term: string) => boolean);
  fuzzy?: number | ((term: string) => number | false);
}

export interface SearchHit {
  id: number;
  score: number;
  /** The words of the query that were found. */
  queryTerms: string[];
  /** The fields in which each word of the index was found. */
  match: Record<string, string[]>;
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
