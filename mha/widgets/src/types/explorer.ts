/** The types of the explorer: its data, its state, its strip and its tables. */

import type { History } from "../store/history.ts";
import type { BlockKind, Calculation, Inputs, MaskEntry, Matrix, Operand, Place, Run } from "./run.ts";

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
  address?: Record<string, string>;
  /** The figure above the strip; "strip" for none. */
  view: string;
  /** The meanings of the components of a value and of an embedding. */
  axes?: string[];
  /** The question of each hidden unit of a block. */
  asks?: string[];
  /** A head's d_v and d_k; the explorer sets them when it begins. */
  width: number;
  keyWidth: number;
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

/** The items of a line of arithmetic; of the state it depends on the temperature. */
export type Layout = (from: Calculation, state: { temperature: number }) => Part[][];

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

/** The strip, as the handlers of its edits see it. */
export interface HandledStrip {
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
 * How a change is made: whether to announce how far the results move; the name of the changed value,
 * whose quick changes are one step of the history; whether this step is stored.
 */
export interface ChangeOptions {
  compare?: boolean;
  what?: string;
  keep?: boolean;
}
