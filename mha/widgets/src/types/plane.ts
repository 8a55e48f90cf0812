/** The types of planes: their marks, tips, labels and drawings. */

import type { Matrix, Numbers } from "./run.ts";

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

/** The button of a tip, with the tip, its point and its token. */
export interface TipElement extends HTMLButtonElement {
  tip: PlaneTip;
  at: number[];
  token?: number;
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
  movable: TipElement[];
  /** The lines of equal weight that were found last, and for what. */
  equal?: { asked: string, lines: number[][][][] };
  draw(): void;
  paint(
    marks: PlaneMark[], seen?: number[][], behind?: (low: number[], high: number[]) => PlaneMark[],
  ): void;
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

/** A drawing with the size that it was last drawn in. */
export interface Drawn extends HTMLElement {
  size: number[];
}
