/* The types that the scripts share, for the type checker alone: no page loads this file. */

type Axis = "head" | "row" | "column";

/** One entry of the registry, mha/runs/stages.py. */
interface Stage {
  symbol: string;
  axes: Axis[];
  /** The axis along which the heads stand side by side, where they do. */
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
interface Place {
  stage: string;
  head: number;
  row: number;
  column: number;
  term: number;
}

/** A number that another is computed from: one with a place, or a constant with a name. */
interface Operand {
  value: number;
  place: Place | null;
  name: string;
}

type Operation =
  | "given" | "products" | "product" | "mixed" | "root" | "scaled" | "exponential" | "sum"
  | "share" | "percent" | "copy" | "mean" | "spread" | "normalised" | "relu" | "gelu";

/** An operation with its operands: factors of each term, or one operand a term. */
interface Calculation {
  operation: Operation;
  terms: Operand[][];
}

/** How one number comes about. */
interface Origin extends Calculation {
  place: Place;
}

type Matrix = number[][];

/** One entry of a mask: whether a query may attend, or what is added, null for minus infinity. */
type MaskEntry = boolean | number | null;

/** What stands around an attention layer, beside the arrays. */
interface BlockKind {
  norm: "before" | "after" | "nowhere";
  activation: "relu" | "gelu";
  /** What each normalisation adds to its variance. */
  eps: { first: number; second: number };
}

/** What a run starts from. */
interface Inputs {
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
interface Run {
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
  /** What a block adds; attention-block.js has the rest. */
  start_normed?: Matrix;
  stream_normed?: Matrix;
}

/** Numbers by the name of their stage: inputs, a run, or both. */
// deno-lint-ignore no-explicit-any
type Numbers = { [stage: string]: any };

/** What a rule of an origin looks at. */
interface Sources {
  inputs: Inputs;
  run: Run;
  from: (stage: string, ...index: number[]) => Operand;
}

type Rule = (sources: Sources, place: Place) => [Operation, Operand[][]];

// ---- The explorer ----

/** What an explorer starts from, as mha/widgets/explorer.py writes it into the page. */
interface ExplorerData {
  name: string;
  tokens: string[];
  heads: string[];
  focus: number | null;
  inputs: Inputs;
  /** What stands around the attention, null where nothing does. */
  block: BlockKind | null;
  /** The stage that the run ends with. */
  end: string;
  masks: MaskEntry[][][] | null;
  isCausal: boolean;
  scale: number | null;
  /** What the source prints, by address: each print, with whether it agrees. */
  prints: Record<string, [string, boolean][]>;
  tasks: StripTask[];
  /** What its address begins with, where it is not its name. */
  address?: string;
  /** What stands above the strip: "strip" for nothing. */
  view: string;
  /** What the components of a value mean, and those of an embedding. */
  axes?: string[];
  /** What each hidden number of a block asks. */
  asks?: string[];
  /** A head's d_v and d_k; the explorer sets them when it begins. */
  width: number;
  keyWidth: number;
}

/** Which numbers a field takes. */
interface Wanted {
  least?: number;
  most?: number;
  whole?: boolean;
  positive?: boolean;
}

/** All that a reader can change. */
interface ExplorerState {
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

/** Whoever made an explorer and can make another in its place: see own.js. */
interface ExplorerMaker {
  /** What could be done again is given up: something else was done. */
  forget(): void;
  canStep(forward: boolean): boolean;
  step(forward: boolean): void;
}

/** Inputs and results by the name of their stage. */
type ExplorerNumbers = Inputs & Run & { inputs: Inputs };

/** An operand with a place, or a text between operands. */
type Part = Operand | string | ((places: number) => string);

type Layout = (origin: Origin, state: ExplorerState) => Part[][];

/** A field for a number. */
interface NumberField {
  node: HTMLElement;
  input: HTMLInputElement;
  step(by: number): void;
  set(value: number): void;
}

/** A number in a table. */
interface Cell {
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
  /** The map that it stands in, or "". */
  map: string;
  /** Whether it is an input. */
  given: boolean;
  value: number;
  /** What it is called behind its number, once it was a tab stop. */
  name?: string;
  style: string;
  grid: Cell[][];
  printed?: HTMLElement;
}

/** A task as mha/widgets/explorer_tasks.py or width.py writes it; which numbers it has depends on its goal. */
interface StripTask {
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

/** What the slider over widths starts from, as mha/widgets/width.py writes it. */
interface WidthData {
  name: string;
  tasks: StripTask[];
  /** The query's row and the keys', in tenths. */
  tenths: number[][];
  widths: number[];
  start: number;
}

/** What the strip shows: a position among the tokens, a head, a component of each output. */
interface StripView {
  row: number;
  head: number;
  component: number;
  outcome: number;
  token: string;
}

/** How the numbers of one of a token's vectors stand: their digits, and how many on a line. */
interface VectorLayout {
  stage: string;
  count: number;
  columns: number;
  digits: number;
}

/** What a plane shows of one thing: an arrow or a point with its text and its tip, or lines. */
interface PlaneMark {
  /** "arrow", "point", "line", "area", or "text" alone. */
  kind: string;
  at?: number[];
  /** Where an arrow begins; a text stands on the side that looks away from there. */
  from?: number[];
  points?: number[][][];
  name?: string;
  text?: string;
  /** Where a line's text may stand, instead of beside `at`. */
  along?: number[][];
  /** Whose it is: it is lit with all else of this token. */
  token?: number;
  /** How wide a line is, how large a point. */
  wide?: number;
  tip?: PlaneTip;
}

/** What a hand can move in a plane. */
interface PlaneTip {
  name: string;
  look?: string;
  /** What a hand begins from: each of its moves gets it. */
  take?(): number[];
  move(point: number[], taken?: number[]): void;
  /** What an arrow key does, where it moves no coordinate. */
  step?(by: number): void;
}

/** What a name in a plane should not cover: a line, what a pixel of it costs, and whose it is. */
interface PlaneLine {
  line: number[];
  weight: number;
  owner?: PlaneMark;
}

/** What is drawn in a plane, in pixels: lines and boxes that a label should not cover, and the points and
    ticks that should not be nearer to it than its own point. */
interface PlaneDrawn {
  lines: PlaneLine[];
  boxes: number[][];
  anchors: number[][];
  size: number[];
}

/** A name to be placed, in pixels: what it names, and how large it is. */
interface PlaneName {
  owner: PlaneMark;
  at: number[];
  from: number[];
  along?: number[][];
  size: number[];
}

/** A plane, as the views that draw in it see it. */
interface PlaneDrawing {
  node: HTMLElement;
  caption: HTMLElement;
  names: string[];
  low: number[];
  high: number[];
  step: number;
  isBare: boolean;
  lit: number | null;
  title: string;
  /** What else a hand has moved, and the numbers that are there since. */
  also: { text: string; of?: Numbers | null } | null;
  // deno-lint-ignore no-explicit-any
  movable: any[];
  draw(): void;
  paint(
    marks: PlaneMark[], seen?: number[][], behind?: (low: number[], high: number[]) => PlaneMark[],
  ): void;
}

/** A slider with its name and what it says. */
interface SliderWithName {
  node: HTMLElement;
  input: HTMLInputElement;
  name: HTMLElement;
  show(value: number, text: string): void;
}

/** How the weights of a query answer to it. */
interface Weighed {
  keys: Matrix;
  by: number;
  added: number[];
}

/** How a key's weight answers to a query. */
interface Answer {
  others: { right: number; up: number; more: number }[];
  weight(x: number, y: number): number;
}

/** A number of the strip. */
interface StripNumber {
  node: HTMLElement;
  place: (view: StripView) => Place;
  at: Place;
  /** Its address, and what it is called. */
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
interface Drawn extends HTMLElement {
  size: number[];
}

/** The strip, as the explorer and its other parts see it. */
interface ExplorerStrip {
  node: HTMLElement;
  status: HTMLElement;
  words: ((view: StripView) => void)[];
  last: StripNumber;
  number(place: (view: StripView) => Place): HTMLElement;
  sign(terms: (view: StripView) => StripNumber[]): HTMLElement;
  paint(): void;
  valueOf(at: Place): number;
}

/** What is drawn of each key: its line from the query, its ribbon and its part of the output. */
interface ExplorerRibbons {
  lines: SVGElement[];
  ribbons: SVGElement[];
  parts: SVGElement[];
}

/** The sentence below a field whose text is refused. */
interface Complaint {
  say(field: HTMLElement, sentence: string): void;
  clear(): void;
}

/** The strip, as the hands on it see it. */
interface HandledStrip {
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
interface ExplorerAll {
  focus(at: Place): void;
  mapOf(at: Place): Partial<ExplorerState>;
  paint(): void;
}

/** A section of the page with its numbers. */
interface Section {
  node: Element;
  cells: Cell[];
  inSight: boolean;
  stale: boolean;
}

/** A radio button or a checkbox with its label. */
interface Choice {
  node: HTMLElement;
  input: HTMLInputElement;
  word: HTMLElement;
}

/** The tables of an explorer. */
interface ExplorerTables {
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

/** What the explorer's parts see of it. */
interface ExplorerView {
  maker: ExplorerMaker | null;
  data: ExplorerData;
  start: ExplorerState;
  state: ExplorerState;
  past: ExplorerState[];
  future: ExplorerState[];
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
  canStep(forward: boolean): boolean;
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
interface ChangeOptions {
  compare?: boolean;
  what?: string;
  keep?: boolean;
}

interface Strings {
  numbers: Record<string, string>;
  // deno-lint-ignore no-explicit-any
  explorer: { [name: string]: any };
  // deno-lint-ignore no-explicit-any
  model: { [name: string]: any };
  // deno-lint-ignore no-explicit-any
  layer: { [name: string]: any };
  // deno-lint-ignore no-explicit-any
  bugs: { [name: string]: any };
  // deno-lint-ignore no-explicit-any
  learning: { [name: string]: any };
  looking: { [name: string]: string };
  letters: { [name: string]: string };
  tied: { [name: string]: string };
  time: { [name: string]: string };
  // deno-lint-ignore no-explicit-any
  cache: { [name: string]: any };
  tiles: { [name: string]: string };
  // deno-lint-ignore no-explicit-any
  heads: { [name: string]: any };
  // deno-lint-ignore no-explicit-any
  cost: { [name: string]: any };
  // deno-lint-ignore no-explicit-any
  pencil: { [name: string]: any };
  // deno-lint-ignore no-explicit-any
  sheet: { [name: string]: any };
  // deno-lint-ignore no-explicit-any
  own: { [name: string]: any };
}

/** What a reader chooses for an example of their own. */
interface OwnSettings {
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

/** What the package knows, as mha/widgets/own.py writes it. */
interface OwnKnowledge {
  meanings: string[];
  vocabulary: Record<string, string>;
  most: { words: number; letters: number };
  sizes: Record<string, [number, number]>;
  titles: Record<string, string>;
  /** Of a stage the question, and what its operands are called. */
  asked: Record<string, string[]>;
  roundings: string[];
  hints: Record<string, string[]>;
  hintsWithMore: Record<string, string[]>;
  labels: Record<string, string>;
  /** What the file is called that installs the package. */
  wheel: string;
}

/** What is worked with beside the explorer, as its opener gives it: see mha/widgets/instrument.py. */
// deno-lint-ignore no-explicit-any
type Instrument = (data: any, element: HTMLElement) => {
  node: HTMLElement;
  placed?(): void;
  readAddress?(): void;
};

/** What a bar of time goes over; time-bar.js says what each of these is. */
interface TimeSteps {
  count: number;
  label(step: number): string;
  show(step: number, fraction: number): void;
  pace?: number;
}

/** A trained model as `model_script` in mha/widgets/assets.py writes it. */
interface ModelData {
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
interface NamesModel {
  words: string[];
  speeds: number[];
  embedding: Matrix;
  unembedding: Matrix;
  // deno-lint-ignore no-explicit-any
  [array: string]: any;
}

/** What a model makes of words: a block's inputs, and these with all that it computes. */
interface ModelRun {
  blocks: { inputs: Inputs; numbers: Numbers & Run }[];
  words: number[];
  cut: boolean;
}

interface ModelState {
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

/** A sentence of the toy language: which form each word has, and where its three answers stand. */
interface ToySentence {
  forms: number[];
  answers: number[];
}

/** What an attention of the museum is given: query, key and value with the heads side by side. */
interface TriedInputs {
  wide: Matrix[];
  heads: number;
  dModel: number | null;
  isCausal: boolean;
  isBiased: boolean;
  isTurned: boolean;
  inSteps: boolean;
}

interface LearningState {
  seed: number;
  heads: number;
  rate: number;
  steps: number;
  /** The step that is shown, and what of the layer after it. */
  step: number;
  sentence: number;
  word: number;
  head: number;
}

interface Window {
  mhaStrings: Strings;
  mhaAttention: {
    additiveMask(
      scores: Matrix, mask?: MaskEntry[][] | null, isCausal?: boolean, keyAllowed?: boolean[],
    ): Matrix;
    attentionScores(query: Matrix, key: Matrix): Matrix;
    factor(dK: number, scale?: number | null, temperature?: number): number;
    finite(matrix: Matrix): Matrix;
    maskedScores(scores: Matrix, additive: Matrix): Matrix;
    matmul(left: Matrix, right: Matrix): Matrix;
    scaledScores(scores: Matrix, by: number): Matrix;
    softmax(scores: Matrix): Matrix;
    trace(inputs: Inputs): Run;
  };
  /** What a block's own script brings. */
  mhaBlock: {
    ACTIVATIONS: Record<string, (hidden: number) => number>;
    normalShare(x: number): number;
    normed(
      start: string,
      x: Matrix,
      inputs: Inputs,
      which: "first" | "second",
      // deno-lint-ignore no-explicit-any
    ): Record<string, any>;
  };
  mhaExplorer: {
    LAYOUTS: Partial<Record<Operation, Layout>>;
    LATER_MS: number;
    MAPS: string[];
    // deno-lint-ignore no-explicit-any
    addBlock(strip: any): void;
    RESULTS: (keyof ExplorerState)[];
    STEP: number;
    calculation(line: string): string;
    chainOf(numbers: ExplorerNumbers, places: Place[]): (at: Place) => Set<string>;
    decimalsFor(items: Part[][], result: string): number;
    sumOf(items: Part[][], places?: number): string;
    written(part: Part, places?: number): string;
    compute(data: ExplorerData, state: ExplorerState): ExplorerNumbers;
    dimension(symbol: string, i: number): string;
    described(
      data: ExplorerData, state: ExplorerState, numbers: ExplorerNumbers, at: Place,
    ): { why: string; from: Origin; items: Part[][] };
    // deno-lint-ignore no-explicit-any
    elementOf(data: ExplorerData, titles: Record<string, string>): any;
    sectionsOf(data: ExplorerData, titles: Record<string, string>): string;
    drawing(
      name: string, shapes: SVGElement[], draw: (width: number, height: number) => void,
    ): Drawn;
    beginning(word: string): string;
    fill(text: string, words: Record<string, string | number>): string;
    fitting(
      value: number, given: boolean, room?: { places?: number },
    ): string;
    freshId(): string;
    gone(from: PointerEvent, to: PointerEvent): number;
    fromHash(
      data: ExplorerData, hash: string, numbers: ExplorerNumbers,
    ): { state: ExplorerState; complete: boolean } | null;
    headOf(at: Place, width: number): number | null;
    inBrackets(text: string): string;
    later(name: string): Promise<void>;
    isStill(): boolean;
    isPage: boolean;
    bytesOf(text: string): Uint8Array<ArrayBuffer>;
    drawWeights(canvas: HTMLCanvasElement, weights: Matrix, color: string): void;
    resize(canvas: HTMLCanvasElement, width: number, height: number): void;
    matricesOf(text: string, shape: number[]): Matrix[];
    matrixOf(text: string, shape: number[], head: number): Matrix;
    // deno-lint-ignore no-explicit-any
    ask(view: any, at: any): void;
    // deno-lint-ignore no-explicit-any
    goBack(view: any, isAll?: boolean): void;
    // deno-lint-ignore no-explicit-any
    mapsOf(view: any, names: string[], options?: { isLabelled?: boolean }): HTMLElement;
    // deno-lint-ignore no-explicit-any
    originOf(view: any): HTMLElement;
    // deno-lint-ignore no-explicit-any
    paintMaps(view: any): void;
    // deno-lint-ignore no-explicit-any
    paintOrigin(view: any): void;
    percent(x: number): string;
    inputAddress(data: ExplorerData, state: ExplorerState, at: Place): string;
    isChanged(state: ExplorerState, start: ExplorerState): boolean;
    isInput(data: ExplorerData, at: Place): boolean;
    // deno-lint-ignore no-explicit-any
    make(tag: string, properties?: Record<string, any>, ...children: (Node | string)[]): any;
    // deno-lint-ignore no-explicit-any
    makeButton(label: string, act: () => void, properties?: Record<string, any>): any;
    makeChoice(
      type: "radio" | "checkbox", name: string, label: string, onchange: (on: boolean) => void,
    ): Choice;
    makeEntry(): {
      input: HTMLInputElement;
      error: HTMLElement;
      complain(sentence: string): void;
    };
    makeField(
      label: string, apply: (value: number) => string, wanted?: Wanted, takeBack?: () => void,
    ): NumberField;
    makeComplaint(figure: HTMLElement): Complaint;
    stepped(value: number, by: number, most?: number): number;
    editNow(): number;
    TINY: number;
    dot(left: number[], right: number[]): number;
    columnWith(rows: Matrix, from: number[], typed: [number, number][]): number[];
    makeGroup(title: string, ...children: (Node | string)[]): HTMLElement;
    effectOf(weights: number, outcome: number,
      words: { token: string, end: string, head?: string, endHead?: string, what?: string }): string;
    inItalics(text: string): (Node | string)[];
    markCaption(node: Element, isChanged: boolean, isOther?: boolean): void;
    nameOf(data: ExplorerData, state: ExplorerState, at: Place): string;
    inSlices(tasks: (() => void)[]): () => void;
    isSettled(): boolean;
    nearFirst(node: Element, draw: () => void): (isAsked?: boolean) => void;
    placeIn(numbers: Numbers, text: string): Place | null;
    printed(found: [string, boolean][]): string;
    same(left: unknown, right: unknown): boolean;
    set(element: Element, name: string, value: string | number): void;
    scientific(value: number, places: number): string;
    setBar(bar: Element, weight: number, how?: { upright?: boolean; of?: number }): void;
    setOff(button: HTMLButtonElement, isOff: boolean): void;
    setText(element: Element, text: string): void;
    strength(weight: number): number;
    // deno-lint-ignore no-explicit-any
    shape(tag: string, name?: string): any;
    startOf(data: ExplorerData): ExplorerState;
    toHash(data: ExplorerData, state: ExplorerState): string;
    worked(
      data: ExplorerData, state: ExplorerState, numbers: ExplorerNumbers, at: Place,
    ): string;
    AllNumbers: new (explorer: ExplorerView, body: HTMLElement) => ExplorerAll;
    Choices: new (explorer: ExplorerView) => {
      explorer: ExplorerView;
      syncs: ((state: ExplorerState) => void)[];
      check(
        label: string, onchange: (on: boolean) => void, checked: (state: ExplorerState) => boolean,
      ): Choice;
      radios(
        group: string, labels: string[], onchoose: (choice: number) => void,
        chosen: (state: ExplorerState) => number,
      ): HTMLElement[];
      sync(state: ExplorerState): void;
    };
    Settings: new (explorer: ExplorerView) => {
      node: HTMLElement;
      forget(): void;
      sync(state: ExplorerState): void;
    };
    Controls: new (explorer: ExplorerView) => {
      node: HTMLElement;
      sync(state: ExplorerState): void;
    };
    Explorer: new (data: ExplorerData, root: HTMLElement, isLate?: boolean) => {
      leaveAddress(): void;
      openAll(open: boolean): Promise<void>;
      readAddress(): void;
    };
    Plane: new (options: {
      title?: string;
      names: string[];
      // deno-lint-ignore no-explicit-any
      changed?: (tip?: any) => void;
      light?: (token: number | null) => void;
    }) => PlaneDrawing;
    LINE: number;
    glide(time: number, step: (part: number) => void): () => void;
    placed(
      names: PlaneName[], drawn: PlaneDrawn, kept: number[],
    ): { middles: number[][]; leaders: (number[] | null)[]; chosen: number[] };
    widthOf(text: string, isBold?: boolean): number;
    Sliders: new (planes: () => PlaneDrawing[]) => {
      node: HTMLElement;
      // deno-lint-ignore no-explicit-any
      paint(tip?: any): void;
    };
    coordinates(point: number[]): string;
    equalLines(
      weighed: Weighed, key: number, levels: number[], low: number[], high: number[],
    ): number[][][][];
    makeSlider(options: {
      label: string;
      act: (value: number) => void;
      done?: () => void;
      // deno-lint-ignore no-explicit-any
      properties?: Record<string, any>;
    }): SliderWithName;
    nearest(
      weighed: Weighed, key: number, wanted: number, start: number[],
    ): { query: number[] | null; most: number };
    paintMeeting(explorer: ExplorerView, plane: PlaneDrawing, head: number, key: number | null): void;
    weighing(explorer: ExplorerView, head: number, row: number): Weighed;
    /** What stands above the strip, by name; its script comes later. */
    views: Record<string, new (explorer: ExplorerView) => { node: HTMLElement; paint(): void }>;
    atWidth(tenths: number[][], width: number): { spread: number; weights: number[] }[];
    Width: new (data: WidthData) => { node: HTMLElement };
    Hands: new (strip: HandledStrip) => {
      pointed: StripNumber | null;
      focused: StripNumber | null; complaint: Complaint | null;
      typing: EventTarget | null;
      listen(): void;
    };
    Heads: new (explorer: ExplorerView, strip: ExplorerStrip) => {
      nodes: Element[];
      tabs: HTMLElement[];
      paint(view: StripView): void;
    };
    Panel: new (explorer: ExplorerView) => { node: HTMLElement; enter(): void; paint(): void };
    Ribbons: new (explorer: ExplorerView) => {
      fan: Drawn;
      flow: Drawn;
      light(lit: Set<string> | null): void;
      paint(view: StripView): void;
    };
    StepsState: new (
      // deno-lint-ignore no-explicit-any
      kind: string, name: string, start: Record<string, any>,
      // deno-lint-ignore no-explicit-any
      readers: Record<string, (text: string) => any>, paint: () => void,
    ) => {
      // deno-lint-ignore no-explicit-any
      now: Record<string, any>;
      actions: HTMLElement;
      // deno-lint-ignore no-explicit-any
      change(patch: Record<string, any>, what?: string): void;
      // deno-lint-ignore no-explicit-any
      move(patch: Record<string, any>): void;
      takeBack(): void;
      readAddress(): void;
    };
    eased(x: number): number;
    fly(
      layer: HTMLElement,
      ways: { text: string; left: number; top: number; opacity?: number }[],
    ): void;
    // deno-lint-ignore no-explicit-any
    readBlock(scores: number[], value: Matrix, kept: any, isPlain?: boolean): any;
    movable(field: HTMLInputElement, value: () => number, most?: number): void;
    wholes(text: string, below: number): number[] | undefined;
    Steps: new (explorer: ExplorerView) => { node: HTMLElement; paint(): void };
    Strip: new (explorer: ExplorerView) => ExplorerStrip & { heads: { tabs: HTMLElement[] } };
    TimeBar: new (steps: TimeSteps) => {
      node: HTMLElement;
      at: number;
      isPlaying: boolean;
      go(step: number): void;
      pause(): void;
      play(): void;
      recount(count: number): void;
      refresh(): void;
    };
    Tables: new (data: ExplorerData, body: HTMLElement) => ExplorerTables;
    Tasks: new (explorer: ExplorerView) => {
      node: HTMLElement;
      forget(): void;
      news(): string;
      paint(): void;
    };
    // What numbers of a page's text bring, late.
    // deno-lint-ignore no-explicit-any
    figureOf: any;
    OF_QUERY: string[];
    // deno-lint-ignore no-explicit-any
    SmallStrip: any;
    WRITERS: Record<string, (value: number, places: number) => string>;
    formulaOf(text: string): (number | string | Place)[];
    holds(how: string, text: string, value: number): boolean;
    lineOf(
      numbers: ExplorerNumbers, at: Place, places: number, temperature: number, last?: { from: string },
    ): { text: string; place?: Place | null; raised?: boolean }[] | null;
    worth(formula: (number | string | Place)[], valueOf: (at: Place) => number): number;
  };
  // deno-lint-ignore no-explicit-any
  mhaModel: any;
  // deno-lint-ignore no-explicit-any
  mhaLearning: any;
  mhaBugs: {
    RATE: number;
    tried(
      bug: string, given: TriedInputs, kept: () => boolean,
    ): { weights: Matrix[] | null; output: Matrix[] };
  };
  mhaNumpyDraws: new (seed: number) => { normal(): number };
  /** What a page has of the recorded heads, and what is computed with it. */
  // deno-lint-ignore no-explicit-any
  mhaHeads: any;
  // deno-lint-ignore no-explicit-any
  mhaCost: any;
  mhaInstruments: Record<string, Instrument>;
  mhaDraws: new (seed: number) => {
    bits(): number;
    share(): number;
    whole(low: number, high: number): number;
    normal(): number;
  };
  mhaPencilSheets: PencilSheet[];
  mhaPencil: {
    RIGHT: 0;
    SLIP: 1;
    SPOILED: 2;
    ROUNDED: 3;
    chainOf(numbers: PencilNumber[], spot: number, corrected: Set<number>): {
      lit: Map<number, number>;
      ends: Set<number>;
    };
    correct(numbers: PencilNumber[], corrected: Set<number>): PencilState;
    evaluate(formula: PencilFormula, values: number[]): number;
    read(sheet: PencilSheet): PencilNumber[];
    slipsBehind(numbers: PencilNumber[], states: number[], spot: number): number[];
    marked(text: string): (Node | string)[];
    named(sheet: PencilSheet, cell: PencilCell): string;
    opened(sheet: PencilSheet): PencilDocument;
    raised(text: string): (Node | string)[];
    withMinus(printed: string): string;
    written(formula: PencilFormula, state: PencilState, numbers: PencilNumber[]): string;
  };
  // deno-lint-ignore no-explicit-any
  mhaSheet: any;
  // deno-lint-ignore no-explicit-any
  mhaOwn: any;
  mhaStages: Record<string, Stage>;
  mhaNumbers: {
    fixed(value: number, places: number): string;
    commas(value: bigint | number): string;
    full(value: number): string;
    parsed(text: string): number;
    percent(share: number, places?: number): string;
    short(value: number, places?: number): string;
    shown(value: number, places?: number): string;
    chain(...steps: string[]): string;
    decimalsOf(stepsOf: (places: number) => string[], result: string, places: number): number[];
    reached(stepsOf: (places: number) => string[], result: string, places?: number): string;
    sign(left: string, right: string): "=" | "≈";
  };
  mhaTyped: {
    MOST: number;
    /** The number that a field takes of a text, or NaN and the sentence to say at the field. */
    entered(text: string, wanted?: Wanted): { value: number; wrong: string };
    /** The number that a text gives, and its decimals, null for a calculation; null where there is none. */
    read(text: string, percent?: boolean): { number: number; decimals: number | null } | null;
  };
  mhaPlaces: {
    address(place: Place): string;
    at(stage: string, ...index: number[]): Place;
    indexOf(place: Place): number[];
    isMatrix(stage: string): boolean;
    stays(stage: string): boolean;
    of(stage: string, head: number, row: number, column: number): Place;
    parse(text: string): Place | null;
    valueAt(numbers: Numbers, place: Place): number;
  };
  mhaOrigins: {
    RESULTS: Record<string, (terms: number[][], origin: Calculation) => number>;
    RULES: Record<string, Rule>;
    each(...operands: Operand[]): Operand[][];
    named(name: string, value: number): Operand;
    constant(origin: Origin, name: string): number | null;
    evaluate(origin: Calculation, value?: (place: Place) => number): number;
    isGiven(inputs: Inputs, stage: string): boolean;
    origin(inputs: Inputs, run: Run, place: Place): Origin;
  };
}

// ---- The red pencil ----

/** A spot among a sheet's numbers, a constant, or a sign with its operands. */
// deno-lint-ignore no-explicit-any
type PencilFormula = number | string | [string, ...any[]];

/** A row of a sheet: whose it is, and the spots of its numbers with what each claims to be. */
interface PencilRow {
  line: number;
  /** Where each of its numbers has a line of its own. */
  lines?: number[];
  of: string;
  at: number[];
  places: string[];
  /** Its terms add up: 1 without and 2 with their sum. */
  sum?: 1 | 2;
}

interface PencilBlock {
  example: string;
  /** -1 where there is one head, or none. */
  head: number;
  stage: string;
  how: "" | "worked" | "terms";
  rows: PencilRow[];
}

/** A document as mha/audit/sheet.py writes it. */
interface PencilSheet {
  name: string;
  title: string;
  /** What is printed, what is true, how it follows, what it is, its kind of slip, what was meant. */
  numbers: [string, number | null, PencilFormula, number?, string?, string?][];
  blocks: PencilBlock[];
  examples: Record<string, { title: string; tokens: string[]; heads: string[] }>;
  claims: { line: number; says: string; why: string; about: number[] }[];
}

interface PencilNumber {
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

interface PencilState {
  values: number[];
  states: number[];
  changed: boolean[];
}

/** A number on the sheet. */
interface PencilCell {
  spot: number;
  place: Place;
  address: string;
  line: number;
  block: number;
  row: number;
}

interface PencilDocument {
  sheet: PencilSheet;
  numbers: PencilNumber[];
  cells: PencilCell[];
  /** The spots of its slips, in the order of reading. */
  slips: number[];
  /** How many are right as it stands. */
  right: number;
  corrected: Set<number>;
  bySpot: Map<number, PencilCell>;
}
