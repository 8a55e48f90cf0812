/**
 * The room of the strip's numbers: how many digits each has, and how a number is written in them; and the
 * factor of the scores as a text.
 */

import { factor } from "../engine/attention.ts";
import { short, shown } from "../engine/numbers.ts";
import { isGiven } from "../engine/origins.ts";
import { stages } from "../engine/stages.ts";
import { fill } from "../engine/text.ts";
import { explorer as texts } from "../strings/explorer.ts";
import { scientific } from "./explorer-parts.ts";
import type { ExplorerState, ExplorerView, StripNumber, VectorLayout } from "../types/explorer.ts";
import type { Numbers } from "../types/run.ts";

/**
 * Widths in digits: `line` of all columns of numbers on one line of a wide screen; `vector` of a vector
 * without its numbers, and `placed` in addition if positions are added; `number` of a number without its
 * digits; `computed` and `component` are the smallest rooms of a computed number and of a vector's
 * component, which are larger if the line has more room.
 */
export const ROOM = { line: 95, vector: 2.8, placed: 4, number: 0.85, computed: 6.2, component: [4.5, 3.5, 3] };

/**
 * The digits by which a number may be wider than its room, `own` in normal and `small` in smaller type,
 * where it also uses the empty space at its left; `smaller` is the factor of digits in smaller type.
 */
export const SLACK = { own: 0.4, small: 0.3, smaller: 1.25 };

/** Vectors are folded in two where the line has no room for all, in this order. */
const VECTORS = ["query", "value", "key"];

/** Decimals of a vector's numbers that are computed; a line below has all that are asked for. */
const PLACES = 2;

/** How wide a text is, in digits: a point is half as wide. */
export const widthOf = (text: string): number => text.length - (text.includes(".") ? 0.5 : 0);

/** The factor of the scores, as the head of their column. */
export function scaleText(keyWidth: number, { scale, temperature }: ExplorerState): string {
  const by = scale === null ? fill(texts.byRoot, { width: keyWidth })
    : factor(keyWidth, scale) === 1 ? texts.byOne
      : fill(texts.byScale, { scale: short(factor(keyWidth, scale)) });
  return temperature === 1 ? by
    : fill(texts.byTemperature, { by, temperature: short(temperature) });
}

/** The room of the numbers of an explorer's strip. */
export function roomIn(explorer: ExplorerView) {
  /** The digits that the numbers of a stage have room for. */
  const digits: Record<string, number> = {};

  /**
   * The layout of each vector's numbers, by stage, with the numbers from which it is computed if these
   * are given.
   */
  function layOut(): Record<string, VectorLayout[]> {
    const numbers: Numbers = explorer.numbers;
    const { inputs } = explorer.data;
    const room = ["scores", "scaled_scores", "exponentials", "value"].reduce((left, stage) =>
      left - digitsOf(stage, ROOM.computed) - ROOM.number, ROOM.line);
    const laid = (least: number): VectorLayout[][] => VECTORS.map((stage) => {
      const meets = `turned_${stage}` in numbers ? `turned_${stage}` : stage;
      const start = isGiven(inputs, stage) ? stage : numbers.placed ? "placed" : "embeddings";
      const those = meets === start || stage === "value" ? [meets] : [start, meets];
      return those.map((name) => {
        const { length: count } = numbers[name].flat(stages[name].axes.length - 2)[0];
        return { stage: name, count, columns: count, digits: digitsOf(name, least) };
      });
    });
    const size = ({ stage, columns, digits: most }: VectorLayout) =>
      ROOM.vector + (stage === "placed" ? ROOM.placed : 0) + columns * (most + ROOM.number);
    const isTooWide = (those: VectorLayout[][]): boolean => those.reduce((sum, one) => sum + Math.max(...one.map(size)), 0) > room;
    const vectors = ROOM.component.map(laid).find((those, i, all) =>
      i === all.length - 1 || !isTooWide(those)) ?? [];
    for (const those of vectors) {
      for (const one of [...those].sort((a, b) => size(b) - size(a))) {
        if (isTooWide(vectors)) one.columns = Math.ceil(one.count / 2);
      }
    }
    return Object.fromEntries(VECTORS.map((stage, i) => [stage, vectors[i]]));
  }

  /**
   * The number of digits for which a stage's numbers have room. It is enough for the numbers of the
   * unchanged example, and remains the same.
   */
  function digitsOf(stage: string, least: number) {
    const numbers: Numbers = explorer.numbers;
    if (!(stage in digits)) {
      const write = writer(stage);
      digits[stage] = Math.max(...[numbers[stage]].flat(3)
        .map((x: number) => widthOf(write(x, 0))));
    }
    return Math.max(least, digits[stage]);
  }

  /**
   * A function that writes a number of a stage, with the usual decimals or with `less` fewer; it returns
   * "" if there are not as many.
   */
  function writer(stage: string): (value: number, less: number) => string {
    const isPart = /query|key|value/.test(stage);
    const write = isPart || stage === "placed" || isGiven(explorer.data.inputs, stage) ? short : shown;
    const places = isPart && !isGiven(explorer.data.inputs, stage) ? PLACES : 4;
    return (value, less) => (less > places ? "" : write(value, places - less));
  }

  /** How a number is written in its room: nothing moves for a longer one. */
  function textOf(value: number, { at: { stage }, digits }: StripNumber) {
    const room = (digits + SLACK.small) * SLACK.smaller;
    const write = writer(stage);
    let text = write(value, 0);
    for (let less = 1; text && widthOf(text) > room; less += 1) text = write(value, less);
    return text || ([2, 1].map((places) => scientific(value, places))
      .find((short) => widthOf(short) <= room) ?? scientific(value, 0));
  }

  return { digitsOf, layOut, textOf };
}
