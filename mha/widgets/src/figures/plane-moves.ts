/** The moves of vectors in planes: the inputs that a tip changes, the vectors that move too, and the sentence on them. */

import { isGiven } from "../engine/origins.ts";
import { of as placeOf } from "../engine/places.ts";
import { fill } from "../engine/text.ts";
import { explorerViews } from "../strings/explorer-views.ts";
import { explorer as explorerTexts } from "../strings/explorer.ts";
import { coordinates } from "./plane-geometry.ts";
import type { ExplorerView } from "../types/explorer.ts";
import type { PlaneDrawing, PlaneTip } from "../types/plane.ts";
import type { Matrix, Numbers, Place } from "../types/run.ts";

const texts = { ...explorerViews, ...explorerTexts };

/** The matrix from which each kind of vector is computed, and the names of its axes. */
const MATRIX = ({ query: "w_q", key: "w_k", value: "w_v" } as Record<string, string>);

/** The number of decimals of a matrix entry that is computed from a dragged vector. */
const DECIMALS = 8;

export const tokenAt = ({ data, state }: ExplorerView, row: number): string => data.tokens[state.order[row]];

/** The operands of each token's vectors, if they are computed. */
export const sources = ({ numbers }: ExplorerView): Matrix | undefined => numbers.placed ?? numbers.embeddings;

/** The query that is looked at. */
export const rowOf = ({ state }: ExplorerView): number => state.order.indexOf(state.query);

/**
 * The changes of inputs that bring a token's vector to a point: of itself, or the least change of
 * the matrix that makes it; null where its embedding is zero.
 */
export function changesTo(explorer: ExplorerView, stage: string, head: number, row: number, point: number[]): [Place, number][] | null {
  const { data } = explorer;
  const numbers = (explorer.numbers as Numbers);
  if (isGiven(data.inputs, stage)) return point.map((x, i) => [placeOf(stage, head, row, i), x]);
  const x = (sources(explorer) as Matrix)[row];
  const square = x.reduce((sum, one) => sum + one * one, 0);
  if (!square) return null;
  const matrix = MATRIX[stage];
  return point.flatMap((wanted, column) => {
    const more = (wanted - numbers[stage][head][row][column]) / square;
    return x.flatMap((one, i) => (one ? [([placeOf(matrix, head, i, column),
      Number((numbers[matrix][head][i][column] + more * one).toFixed(DECIMALS))] as [Place, number])] : []));
  });
}

/** The added message if a matrix has to change for the vector of one word. */
export const byMatrix = ({ data }: ExplorerView, stage: string): string => (isGiven(data.inputs, stage) ? ""
  : ` ${fill(texts.planeByMatrix, { matrix: texts.planeSymbol[MATRIX[stage]] })}`);

/** A sentence on the tokens whose vectors move too, since one matrix computes all of them. */
function alsoMoved(explorer: ExplorerView, stage: string, row: number): string {
  if (isGiven(explorer.data.inputs, stage)) return "";
  const all = (sources(explorer) as Matrix);
  const others = all.flatMap((x, i) =>
    (i !== row && x.some((one, j) => one * all[row][j]) ? [tokenAt(explorer, i)] : []));
  return others.length ? fill(texts.planeAlso[stage], { others: others.join(", ") }) : "";
}

/** The message after a vector has been moved. */
export const saysMoved = (explorer: ExplorerView, name: string, stage: string, point: number[]): string =>
  fill(texts.planeMoved, { name, at: coordinates(point) }) + byMatrix(explorer, stage);

/** The tip of a token's vector, undefined if it cannot be dragged. */
export function tipOf(explorer: ExplorerView, plane: PlaneDrawing, stage: string, head: number, row: number, look?: string): PlaneTip | undefined {
  const { data } = explorer;
  if (!changesTo(explorer, stage, head, row, [0, 0])) return undefined;
  const name = fill(texts.planeVector[stage], { token: tokenAt(explorer, row) });
  return {
    name: data.heads.length > 1 ? fill(texts.ofHead, { place: name, head: data.heads[head] }) : name,
    look,
    move: (point) => {
      plane.also = { text: alsoMoved(explorer, stage, row) };
      explorer.editAll(changesTo(explorer, stage, head, row, point) ?? [],
        saysMoved(explorer, name, stage, point));
    },
  };
}
