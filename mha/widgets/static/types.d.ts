/* The types that the scripts share, for the type checker alone: no page loads this file. */

type Axis = "head" | "row" | "column";

/** One entry of the registry, mha/runs/stages.py. */
interface Stage {
  name: string;
  title: string;
  symbol: string;
  axes: Axis[];
  sizes: string[];
  columns: "keys" | "dimensions" | "";
  rows: string;
  quotes: string;
  says: string;
}

/** The address of one number; null for an index that the stage does not have. */
interface Place {
  stage: string;
  head: number | null;
  row: number | null;
  column: number | null;
  term: number | null;
}

/** A number that another is computed from: one with a place, or a constant with a name. */
interface Operand {
  value: number;
  place: Place | null;
  name: string;
}

type Operation =
  | "given" | "products" | "product" | "mixed" | "root" | "scaled" | "exponential" | "sum"
  | "share" | "percent" | "copy";

/** How one number comes about: factors of each term, or one operand a term. */
interface Origin {
  place: Place;
  operation: Operation;
  terms: Operand[][];
}

type Matrix = number[][];

/** One entry of a mask: whether a query may attend, or what is added, null for minus infinity. */
type MaskEntry = boolean | number | null;

/** What a run starts from. */
interface Inputs {
  embeddings?: Matrix;
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
}

/** Numbers by the name of their stage: inputs, a run, or both. */
type Numbers = { [stage: string]: any };

/** What a rule of an origin looks at. */
interface Sources {
  inputs: Inputs;
  run: Run;
  from: (stage: string, ...index: (number | null)[]) => Operand;
}

type Rule = (sources: Sources, place: Place) => [Operation, Operand[][]];

interface Window {
  mhaStages: Record<string, Stage>;
  mhaNumbers: {
    fixed(value: number, places: number): string;
    full(value: number): string;
    parsed(text: string): number;
    short(value: number, places?: number): string;
    shown(value: number, places?: number): string;
  };
  mhaPlaces: {
    address(place: Place): string;
    at(stage: string, ...index: (number | null)[]): Place;
    indexOf(place: Place): number[];
    isMatrix(stage: string): boolean;
    of(stage: string, head: number | null, row: number | null, column: number | null): Place;
    parse(text: string): Place | null;
    valueAt(numbers: Numbers, place: Place): number;
  };
  mhaOrigins: {
    constant(origin: Origin, name: string): number | null;
    evaluate(origin: Origin, value?: (place: Place) => number): number;
    isGiven(inputs: Inputs, stage: string): boolean;
    origin(inputs: Inputs, run: Run, place: Place): Origin;
  };
}
