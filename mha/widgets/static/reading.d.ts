/* The types that the scripts for reading and exercises share, for the type checker alone: no page
   loads this file. */

/** What a reader has done on one page. */
interface PageProgress {
  /** How many questions the page has, and the ids of those answered. */
  total: number;
  right: string[];
  /** How many steps the page has, and those read, counted from 1. */
  steps: number;
  read: number[];
  /** The step opened last, or 0. */
  last: number;
}

type Kind =
  | "products" | "root" | "times" | "power" | "sum" | "share" | "mean" | "spread" | "normalised"
  | "relu" | "largest" | "quotient";

/** Where an operand's new numbers are drawn from. */
type Draw =
  | "same" | "whole" | "tenths" | "not negative" | "sines" | "scores" | "positive" | "from 1"
  | "powers to 1" | "exponents" | "exponents to 0" | "shares";

type Verdict = "right" | "near" | "wrong" | "unreadable";

/** One number to compute, as mha/widgets/boxes.py writes it into the page. */
interface Task {
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
  /** Mistakes that the operands do not tell: what a neighbour of the number would be. */
  elsewhere?: [MistakeName, number][];
}

/** A name of mha/practice/mistakes.py. */
type MistakeName =
  | "percent" | "share" | "sign" | "signs" | "one-term" | "no-root" | "no-scale" | "by-width"
  | "no-mask" | "no-exponential" | "not-divided" | "no-quotient" | "no-square-root" | "left-out"
  | "not-averaged" | "no-spread" | "not-cut"
  | "other-key" | "exchanged"
  | "other-row" | "other-component" | "other-head" | "last-digit";

/** A wrong answer, what leads to it, and by how much more its rounding may be off. */
interface Mistake {
  name: MistakeName;
  value: number;
  unit: number;
}

/** Weights to reach, as mha/widgets/build.py writes them into the page. */
interface BuildGoal {
  key: number[][];
  scale: number | null;
  tokens: string[];
  /** For each key the least and the most weight. */
  wanted: [number, number][];
}

type Texts<Name extends string> = Record<Name, string>;

/** What the scripts say, by script. */
interface Strings {
  exercises:
    & Texts<
      | Verdict | "notYet" | "answer" | "allRight" | "some" | "empty" | "fresh" | "noMoreHints"
      | "reached" | "notReached" | "done"
    >
    & { mistakes: Texts<MistakeName> };
  quiz: Texts<
    | "right" | "wrong" | "incomplete" | "mixed" | "empty" | "predicted" | "mispredicted" | "done"
  >;
  steps: Texts<
    | "begin" | "resume" | "bar" | "previous" | "next" | "whole" | "place" | "progress" | "keys"
    | "wholeShown"
  >;
  progress: Texts<
    | "questions" | "questionsInWords" | "steps" | "stepsInWords" | "region" | "clear" | "confirm"
    | "yes" | "no" | "cleared"
  >;
  code: Texts<"label" | "show" | "fold">;
}

interface Window {
  mhaStrings: Strings;
  mhaPage: {
    button(text: string, act: () => void): HTMLButtonElement;
    fill(template: string, values: Record<string, string | number>): string;
    find<Kind extends HTMLElement>(
      parent: ParentNode,
      selector: string,
      kind: new () => Kind,
    ): Kind;
    idOf(fragment: string): string;
  };
  mhaProgress: {
    /** Forget all pages. */
    clear(): void;
    /** The entry of the page at an address. */
    entryAt(address: string): PageProgress;
    /** Whether there is anything to forget. */
    isAny(): boolean;
    /** Whether a question of this page was answered. */
    isRight(id: string): boolean;
    /** Remember that a step of this page was opened; it counts from 1. */
    setRead(step: number, total: number): void;
    /** Remember that a question of this page was answered. */
    setRight(id: string): void;
  };
  mhaExercises: {
    /** The number to enter. */
    asked(task: Task): number;
    /** A task of the same kind with numbers that a seed decides; one without draws stays. */
    fresh(task: Task, seed: number): Task;
    hints(task: Task): string[];
    /** What an operation gives for plain numbers. */
    result(operation: Operation, terms: number[][], by?: string): number;
    /** What a calculation of a kind comes to. */
    valueOf(kind: Kind, givens: number[][]): number;
    /** A seed for the count-th set of a box's numbers. */
    seedOf(name: string, count: number): number;
    /** The whole calculation on one line. */
    worked(task: Task): string;
  };
  mhaAnswers: {
    /** The mistakes by which a wrong answer is recognised, the likeliest first. */
    mistakes(task: Task): Mistake[];
    /** The mistake that a wrong answer is due to, or null. */
    recognised(task: Task, text: string): MistakeName | null;
    /** How an entered answer stands to a task's. */
    verdict(task: Task, text: string): Verdict;
  };
}
