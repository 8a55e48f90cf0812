/**
 * The weights in a plane of queries: where they are equal, and which query nearest to a given one
 * gives a key a wanted weight.
 */

import { factor } from "../engine/attention.ts";
import type { ExplorerView } from "../types/explorer.ts";
import type { Answer, Weighed } from "../types/plane.ts";

/** The squares per side of the grid in which lines are searched for, and the directions of the search for a query. */
const SQUARES = 32;
const DIRECTIONS = 72;

/**
 * The search for a query: its largest distance; the largest number of bisections, and that of a rough
 * search; the tolerance of a zero; and the largest number of Newton steps.
 */
const FAR = 1e4;
const TRIES = 90;
const ROUGH = 8;
const NOTHING = 1e-13;
const STEPS = 40;

/** The largest pull: a weight that it does not reach has no query. */
const STRONGEST = 1e9;

/** The parameters of a row's weights: its keys, the factor of the scores, and the added terms. */
export const weighing = ({ numbers, state }: ExplorerView, head: number, row: number): Weighed => ({
  keys: numbers.key[head], by: factor(numbers.key[head][0].length, state.scale, state.temperature),
  added: numbers.mask[head][row],
});

/**
 * A key's weight at a query: 1 over all exponentials in units of its own, each by how its logarithm
 * changes along both axes. It is asked for thousands of times in a frame, and makes no lists.
 */
function answerOf({ keys, by, added }: Weighed, key: number): Answer {
  const own = added[key] === -Infinity ? Infinity : 1;
  const others = keys.flatMap(([x, y], i) => (i === key || added[i] === -Infinity ? [] : [{
    right: by * (x - keys[key][0]), up: by * (y - keys[key][1]), more: added[i] - added[key] }]));
  const weight = (x: number, y: number) => {
    let sum = own;
    for (const { right, up, more } of others) sum += Math.exp(x * right + y * up + more);
    return 1 / sum;
  };
  return { others, weight };
}

/** The least of a function between two numbers, where it has one valley. */
function valley(f: (x: number) => number, low: number, high: number): number {
  const golden = (Math.sqrt(5) - 1) / 2;
  let [a, b] = [low, high];
  let [left, right] = [b - golden * (b - a), a + golden * (b - a)];
  let [ofLeft, ofRight] = [f(left), f(right)];
  for (let i = 0; i < STEPS; i += 1) {
    if (ofLeft < ofRight) {
      [b, right, ofRight] = [right, left, ofLeft];
      left = b - golden * (b - a);
      ofLeft = f(left);
    } else {
      [a, left, ofLeft] = [left, right, ofRight];
      right = a + golden * (b - a);
      ofRight = f(right);
    }
  }
  return (a + b) / 2;
}

/**
 * Where a rising function comes to zero: between two ends as a line through both has it, and from
 * time to time in their middle.
 */
function first(f: (x: number) => number, low: number, high: number, tries: number = TRIES): number {
  let [a, b, below, above] = [low, high, f(low), f(high)];
  let left = above;
  for (let i = 0; i < tries && left > NOTHING; i += 1) {
    const x = i % 3 === 2 ? (a + b) / 2 : (a * above - b * below) / (above - below);
    const now = f(x);
    // An end that stays counts half, so that the line comes nearer to it.
    if (now < 0) [a, below, above] = [x, now, above / 2];
    else [b, left, above, below] = [x, now, now, below / 2];
  }
  return b;
}

/**
 * Less weight: out of the convex region of queries that give more, on the shortest way. Each
 * direction leaves it once, or never.
 */
function outOf({ weight }: Answer, wanted: number, [x, y]: number[]): number[] | null {
  let far = 0.1;
  const wayOut = (turn: number, tries = TRIES) => {
    const [right, up] = [Math.cos(turn), Math.sin(turn)];
    const lacking = (way: number) => wanted - weight(x + way * right, y + way * up);
    // From a direction to the next it is about as far.
    if (far === FAR) far = 0.1;
    while (far < FAR && lacking(far) < 0) far *= 2;
    far = far < FAR ? first(lacking, 0, far, tries) : FAR;
    return far;
  };
  const turns = Array.from({ length: DIRECTIONS }, (_, i) => (2 * Math.PI * i) / DIRECTIONS);
  const ways = turns.map((turn) => wayOut(turn, ROUGH));
  const best = turns[ways.indexOf(Math.min(...ways))];
  const turn = valley(wayOut, best - turns[1], best + turns[1]);
  const way = wayOut(turn);
  return way < FAR ? [x + way * Math.cos(turn), y + way * Math.sin(turn)] : null;
}

/**
 * The query that a pull of some strength on a key's weight leads to: it balances the logarithm of
 * the weight, which is concave, against the square of the way, by Newton's method.
 */
function pulled({ others, weight }: Answer, start: number[], from: number[], pull: number): number[] {
  const cost = (a: number, b: number) =>
    ((a - start[0]) ** 2 + (b - start[1]) ** 2) / 2 - pull * Math.log(weight(a, b));
  let [x, y] = from;
  for (let i = 0; i < STEPS; i += 1) {
    const now = weight(x, y);
    const sums = { x: 0, y: 0, xx: 0, xy: 0, yy: 0 };
    for (const { right, up, more } of others) {
      const share = now * Math.exp(x * right + y * up + more);
      sums.x += share * right;
      sums.y += share * up;
      sums.xx += share * right * right;
      sums.xy += share * right * up;
      sums.yy += share * up * up;
    }
    const [gx, gy] = [x - start[0] + pull * sums.x, y - start[1] + pull * sums.y];
    const [xx, yy] = [1 + pull * (sums.xx - sums.x ** 2), 1 + pull * (sums.yy - sums.y ** 2)];
    const xy = pull * (sums.xy - sums.x * sums.y);
    const size = xx * yy - xy * xy;
    const [right, up] = [(xy * gy - yy * gx) / size, (xy * gx - xx * gy) / size];
    const most = cost(x, y);
    let part = 1;
    while (part > 1e-6 && !(cost(x + part * right, y + part * up) <= most)) part /= 2;
    x += part * right;
    y += part * up;
    if (Math.hypot(right, up) * part < 1e-13 * (1 + Math.hypot(x, y))) break;
  }
  return [x, y];
}

/**
 * The query nearest to a given one for which a key has a wanted weight. If there is none, the query is
 * null, and `most` is the largest weight that queries approach.
 * @param weighed the result of `weighing`
 *
 * @param wanted between 0 and 1
 */
export function nearest(weighed: Weighed, key: number, wanted: number, start: number[]): { query: number[] | null, most: number } {
  const answer = answerOf(weighed, key);
  const weightAt = ([x, y]: number[]) => answer.weight(x, y);
  const now = weightAt(start);
  if (now === 0) return { query: null, most: 0 };
  if (now >= wanted) return { query: outOf(answer, wanted, start), most: 1 };
  let [weak, strong, query] = [0, 1e-3, start];
  const reach = (pull: number) => {
    query = pulled(answer, start, query, pull);
    return weightAt(query);
  };
  while (strong < STRONGEST && reach(strong) < wanted) [weak, strong] = [strong, 4 * strong];
  const most = weightAt(query);
  if (most < wanted) return { query: null, most };
  const pull = first((middle) => reach(middle) - wanted, weak, strong);
  return { query: pulled(answer, start, query, pull), most };
}

/**
 * Lines on which a key's weight is the same, for each level: in each small square of the plane such
 * a line crosses two of its sides, or four.
 *
 * @param low corner of the searched rectangle
 */
export function equalLines(weighed: Weighed, key: number, levels: number[], low: number[], high: number[]): number[][][][] {
  const { weight } = answerOf(weighed, key);
  const along = (axis: number, i: number) =>
    low[axis] + ((high[axis] - low[axis]) * i) / SQUARES;
  const all = Array.from({ length: SQUARES + 1 }, (_, i) =>
    Array.from({ length: SQUARES + 1 }, (__, j) => weight(along(0, i), along(1, j))));
  const corners = [[0, 0], [1, 0], [1, 1], [0, 1]];
  return levels.map((level) => {
    const lines: number[][][] = [];
    for (let i = 0; i < SQUARES; i += 1) {
      for (let j = 0; j < SQUARES; j += 1) {
        const isOver = all[i][j] >= level;
        if (isOver === all[i][j + 1] >= level && isOver === all[i + 1][j] >= level
          && isOver === all[i + 1][j + 1] >= level) continue;
        const here = corners.map(([a, b]) => all[i + a][j + b] - level);
        const crossed = corners.flatMap(([a, b], side) => {
          const [c, d] = corners[(side + 1) % 4];
          const [from, to] = [here[side], here[(side + 1) % 4]];
          if (from < 0 === to < 0) return [];
          const part = from / (from - to);
          return [[along(0, i + a + part * (c - a)), along(1, j + b + part * (d - b))]];
        });
        for (let side = 0; side + 1 < crossed.length; side += 2) lines.push(crossed.slice(side, side + 2));
      }
    }
    return lines;
  });
}
