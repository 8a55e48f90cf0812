/** The marks in planes: a query among its keys, values with their mixture, embeddings through a matrix. */

import { embeddingAt, gridOf, hull, through, wayTo } from "../engine/cloud.ts";
import { percent, short } from "../engine/numbers.ts";
import { of as placeOf } from "../engine/places.ts";
import { fill } from "../engine/text.ts";
import { explorerViews } from "../strings/explorer-views.ts";
import { explorer as explorerTexts } from "../strings/explorer.ts";
import { coordinates } from "./plane-geometry.ts";
import { rowOf, sources, tipOf, tokenAt } from "./plane-moves.ts";
import { equalLines, weighing } from "./plane-weights.ts";
import type { ExplorerView } from "../types/explorer.ts";
import type { PlaneDrawing, PlaneMark, Weighed } from "../types/plane.ts";
import type { Matrix, Place } from "../types/run.ts";

const texts = { ...explorerViews, ...explorerTexts };

/** How far the line of a query is drawn on both sides. */
const FAR = 1e3;

/** An axis of a cloud has its name so far out. */
export const FAR_OUT = 2.6;

/** The weights for which a line of queries with this weight is drawn. */
const LEVELS = [0.5, 0.75, 0.9];

/** A query among the keys, each key's foot on the query's line, and lines of equal weight. */
export function paintMeeting(explorer: ExplorerView, plane: PlaneDrawing, head: number, key: number | null): void {
  const { numbers } = explorer;
  const row = rowOf(explorer);
  const query = numbers.query[head][row];
  const square = query[0] ** 2 + query[1] ** 2;
  const marks: PlaneMark[] = [];
  if (square) {
    const far = FAR / Math.sqrt(square);
    marks.push({ kind: "line", name: "query-line",
      points: [[-far, far].map((by) => [by * query[0], by * query[1]])] });
  }
  numbers.key[head].forEach((at: number[], i: number) => {
    const score = numbers.scores[head][row][i];
    if (square) {
      const foot = query.map((x: number) => (x * score) / square);
      marks.push({ kind: "line", name: "foot-line", points: [[at, foot]] });
      marks.push({ kind: "point", name: "foot", at: foot, wide: 3.5 });
    }
    marks.push({ kind: "arrow", name: "key-arrow", at, token: i, text: `${tokenAt(explorer, i)} ${coordinates(at)}`,
      tip: tipOf(explorer, plane, "key", head, i) });
  });
  marks.push({ kind: "arrow", name: "main query-arrow", at: query, token: row, text: `${texts.planeAsks} ${coordinates(query)}`,
    tip: tipOf(explorer, plane, "query", head, row, "main") });
  plane.paint(marks, [], (low: number[], high: number[]) =>
    (key === null ? [] : equalMarks(plane, weighing(explorer, head, row), key, query, low, high)));
}

/**
 * Lines on which a query gives a key the same weight; a line's name is where it is nearest. No query
 * moves them: they are looked for again when something else has changed.
 */
function equalMarks(plane: PlaneDrawing, weighed: Weighed, key: number, query: number[], low: number[], high: number[]): PlaneMark[] {
  const asked = JSON.stringify([weighed.keys, weighed.by, weighed.added, key, low, high]);
  if (asked !== plane.equal?.asked) plane.equal = { asked, lines: equalLines(weighed, key, LEVELS, low, high) };
  const way = ([x, y]: number[]) => Math.hypot(x - query[0], y - query[1]);
  return plane.equal.lines.flatMap((points, level) => {
    if (!points.length) return [];
    const at = points.flat().reduce((best, point) => (way(point) < way(best) ? point : best));
    return [{ kind: "line", name: `equal level-${level}`, points, at, along: points.map(([one]) => one),
      text: percent(LEVELS[level], 0) }];
  });
}

/** Paint the values, their polygon, and the output as their weighted mean. */
export function paintMix(explorer: ExplorerView, plane: PlaneDrawing, head: number): void {
  const { numbers } = explorer;
  const row = rowOf(explorer);
  const [values, weights] = [numbers.value[head], numbers.weights[head][row]];
  const output = numbers.head_outputs[head][row];
  const middle = [0, 1].map((axis) => values.reduce((sum, value) => sum + value[axis], 0) / values.length);
  plane.paint([
    { kind: "area", name: "hull", points: [hull(values)] },
    ...values.map((at, i) => ({ kind: "line", name: "pull", points: [[at, output]], wide: 1 + 14 * weights[i] })),
    ...values.map((at, i) => ({ kind: "point", name: "value-point", at, from: middle, token: i, tip: tipOf(explorer, plane, "value", head, i),
      text: `${tokenAt(explorer, i)} ${coordinates(at)}` })),
    { kind: "point", name: "main", at: output, from: middle, wide: 7,
      text: `${texts.outcome} ${coordinates(output)}` },
  ]);
}

/**
 * Paint the embeddings multiplied by a matrix, and the images of their axes, with the grid for two
 * components. A reader drags the rows of a head's matrix, or without a matrix the embeddings.
 */
export function paintMap(explorer: ExplorerView, plane: PlaneDrawing, { matrix, stage, head, seen, axes }: { matrix: Matrix, stage: string, head: number, seen: number[][], axes: string[] }): void {
  const isWide = matrix.length > 2;
  const embeddings = ((stage ? sources(explorer) : explorer.numbers.embeddings) as Matrix);
  const { heads } = explorer.data;
  const symbol = heads.length > 1 ? fill(texts.ofHead, { place: texts.planeSymbol[stage], head: heads[head] })
    : texts.planeSymbol[stage];
  const rows: PlaneMark[] = stage ? matrix.map((at, i) => ({ kind: "arrow", name: `row-${i}`, at,
    text: isWide && !Math.hypot(...at) ? "" : `${isWide ? axes[i] : i ? "(0, 1)" : "(1, 0)"} → ${coordinates(at)}`,
    tip: { name: fill(texts.planeRow, { row: i + 1, matrix: symbol }), look: "row",
      move: (point: number[]) => explorer.editAll(point.map((x, column) =>
        ([placeOf(stage, head, i, column), x] as [Place, number]))) } })) : [];
  const edit = (i: number, x: number[], taken: number[]) => {
    // Only the numbers that differ from those at the start of the drag.
    const moved = x.flatMap((one, j) => (one === taken[j] ? [] : [`${axes[j]} ${short(one, 2)}`]));
    const text = moved.length ? fill(texts.planeOnly, { token: tokenAt(explorer, i), moved: moved.join(", ") }) : "";
    plane.also = { text };
    explorer.editAll(x.map((one, column) =>
      ([placeOf("embeddings", 0, i, column), one] as [Place, number])), text || undefined);
  };
  const axesOf: PlaneMark[] = stage || !isWide ? [] : matrix.flatMap((way, i) => [
    ...[1, 2].map((by) => ({ kind: "point", name: "foot", at: way.map((x) => by * x), wide: 2.5 })),
    { kind: "text", name: "soft name", at: way.map((x) => FAR_OUT * x), text: axes[i],
      along: [1, 0.9, 1.1, 1.2, 0.8].map((part) => FAR_OUT * part).map((by) => way.map((x) => by * x)) }]);
  plane.paint([
    { kind: "sheet", name: isWide ? "sheared wide" : "sheared", points: gridOf(matrix) },
    ...axesOf,
    ...(isWide ? embeddings : []).map((x, i) =>
      ({ kind: "line", name: "steps-to", points: [wayTo(x, matrix)], token: i })),
    ...rows,
    ...embeddings.map((x, i) => {
      const at = through(x, matrix);
      return { kind: "point", at, token: i, name: i === rowOf(explorer) ? "main" : "",
        text: `${tokenAt(explorer, i)} ${coordinates(stage ? at : x)}`,
        tip: stage ? undefined : {
          name: fill(texts.planeVector.embeddings, { token: tokenAt(explorer, i) }),
          take: () => (explorer.numbers.embeddings as Matrix)[i],
          move: (point: number[], taken: number[]) =>
            edit(i, isWide ? embeddingAt(taken, matrix, point) : point, taken),
        } };
    }),
  ], seen);
}
