/** The types of the scripts for reading: progress, exercises and the search. */

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
