/**
 * The positions of labels in a plane. A label of a point is beside the point, where it covers least of
 * arrows, lines, axes, numbers, tips and of other labels, and no other point or tick is nearer to it
 * than its own point. A label farther away has a line that leads to its point. A label of a line is on
 * the line. The same drawing has the same positions.
 */

import type { PlaneDrawn, PlaneLine, PlaneName } from "../types/plane.ts";

type Position = { middle: number[], box: number[], leader: number[] | null, cost: number };

/** The height of a line and the size of its letters, in pixels, as plane.css has them. */
export const LINE = 17;
const SIZE = 14;
const BOLD = 700;

/**
 * The distances between a point and its label: near, or where there is no room, farther away with a
 * line that leads to the point.
 */
const GAPS = [11, 26, 48];

/** A line that is farther than its length and this from a label is out of its reach. */
const FAR = 55;

/** A leading line ends this far from its point. */
const SHORT = 6;

/** A label keeps this far from the edge of its plane. */
const EDGE = 2;

/**
 * The cost of: a square pixel on a number, a tip or another label, and any of
 * them at all; a position nearer to another point or tick than to the label's own point, and the
 * same with a leading line; each larger distance; a pixel away from the best position on a line; the
 * side that an arrow comes from; a leading line, by the pixel, across a label or number; another
 * position while a reader drags a point of the plane.
 */
const COST = { box: 3, meets: 250, astray: 400, led: 60, gap: 90, away: 0.15, side: 25,
  crossed: 12, leave: 80 };

/** This much is free beside a label, or the next one reads as its end. */
const BESIDE = 5;

/** Distances that differ by less are equal to a reader. */
const SAME = 0.5;

/** The largest number of positions that are tried for a name along a line. */
const STOPS = 20;

const pen = (document.createElement("canvas").getContext("2d") as CanvasRenderingContext2D);
let family = "";

/** The width of a text in the font of a plane, which lays nothing out. */
export function widthOf(text: string, isBold: boolean = false): number {
  family ||= getComputedStyle(document.documentElement).getPropertyValue("--font-interface") || "sans-serif";
  pen.font = `${isBold ? BOLD : 400} ${SIZE}px ${family}`;
  return pen.measureText(text).width;
}

/** Whether a line's surroundings and a box have anything in common. */
const isNear = (line: number[], box: number[]): boolean =>
  Math.max(line[0], line[2]) >= box[0] && Math.min(line[0], line[2]) <= box[2]
    && Math.max(line[1], line[3]) >= box[1] && Math.min(line[1], line[3]) <= box[3];

/** How much of a line lies in a box. */
function lengthIn(line: number[], box: number[]): number {
  if (!isNear(line, box)) return 0;
  const [right, down] = [line[2] - line[0], line[3] - line[1]];
  let [from, to] = [0, 1];
  for (let axis = 0; axis < 2; axis += 1) {
    const way = axis ? down : right;
    if (!way) continue; // and so between both ends all along
    const [low, high] = [(box[axis] - line[axis]) / way, (box[axis + 2] - line[axis]) / way];
    from = Math.max(from, Math.min(low, high));
    to = Math.min(to, Math.max(low, high));
  }
  return Math.max(0, to - from) * Math.hypot(right, down);
}

/** How much two boxes have in common. */
const shared = (one: number[], other: number[]): number =>
  Math.max(0, Math.min(one[2], other[2]) - Math.max(one[0], other[0]))
    * Math.max(0, Math.min(one[3], other[3]) - Math.max(one[1], other[1]));

/** The vector from a point to the nearest point of a box. */
const toBox = ([x, y]: number[], box: number[]): number[] =>
  [Math.max(box[0] - x, 0) || Math.min(box[2] - x, 0), Math.max(box[1] - y, 0) || Math.min(box[3] - y, 0)];

/** The distance between a point and a box. */
const distance = (point: number[], box: number[]): number => Math.hypot(...toBox(point, box));

/** The line from a label's box towards its point. */
function leaderOf(point: number[], box: number[]): number[] {
  const [right, down] = toBox(point, box);
  const part = Math.min(1, SHORT / (Math.hypot(right, down) || 1));
  return [point[0] + right, point[1] + down, point[0] + part * right, point[1] + part * down];
}

/** A middle moved so far that the label is in sight. */
const inside = (middle: number[], size: number[], plane: number[]): number[] => middle.map((x, axis) => {
  const half = size[axis] / 2 + EDGE;
  return Math.min(Math.max(x, half), plane[axis] - half);
});

/** The middles at which a label may be, each with its own cost, and whether a line leads to its point. */
function candidates({ at: [x, y], from, along, size }: PlaneName, plane: number[]): { middle: number[], cost: number, isLed: boolean }[] {
  const [long, high] = size;
  const away = (middle: number[]) => Math.hypot(middle[0] - x, middle[1] - y);
  if (along) {
    const every = Math.max(1, Math.ceil(along.length / STOPS));
    return along.filter((_, i) => i % every === 0)
      .map((middle) => ({ middle: inside(middle, size, plane), cost: COST.away * away(middle), isLed: false }));
  }
  const length = Math.hypot(x - from[0], y - from[1]) || 1;
  const out = [(x - from[0]) / length, (y - from[1]) / length];
  const half = [0, -0.5, 0.5, -0.75, 0.75, -1, 1];
  const places = [...half.map((part) => [1, part]), ...half.map((part) => [-1, part]),
    ...[0, 0.5, -0.5].flatMap((part) => [[part, -1], [part, 1]])];
  return GAPS.flatMap((gap, far) => places.map(([right, down]) => ({
    middle: inside([x + right * (long / 2 + gap), y + down * (high / 2 + gap)], size, plane),
    isLed: far > 0,
    cost: COST.gap * far - (COST.side * (right * out[0] + down * out[1])) / Math.hypot(right, down),
  })));
}

/**
 * Place labels, the first ones first, and each again when all others have a position.
 *
 * @param drawn the shapes that labels may cover, and the points and ticks that should not be nearer
 * @param kept the previous candidate of each label that should remain where it is
 * @returns `leaders` has null
 *     for a label without a leading line
 */
export function placed(names: PlaneName[], { lines, boxes, anchors, size: plane }: PlaneDrawn, kept: number[]): { middles: number[][], leaders: (number[] | null)[], chosen: number[] } {
  const positionOf = ({ owner: own, at, along, size: [long, high] }: PlaneName, near: PlaneLine[], { middle, cost, isLed }: { middle: number[], cost: number, isLed: boolean }): Position => {
    const [x, y] = middle;
    const box = [x - long / 2, y - high / 2, x + long / 2, y + high / 2];
    const around = [box[0] - 3, box[1] - 3, box[2] + 3, box[3] + 3];
    const leader = isLed ? leaderOf(at, box) : null;
    let sum = cost;
    for (const one of boxes) {
      const area = shared(box, one);
      if (area) sum += COST.meets + COST.box * area;
      if (leader) sum += COST.crossed * lengthIn(leader, one);
    }
    if (!along) {
      const least = distance(at, box) - SAME;
      const isAstray = anchors.some((anchor) => distance(anchor, box) < least);
      if (isAstray) sum += isLed ? COST.led : COST.astray;
    }
    for (const { line, weight, owner } of near) {
      if (owner !== own) sum += weight * lengthIn(line, around);
    }
    return { middle, box, leader, cost: sum };
  };
  const all = names.map((name, i) => {
    const { at: [x, y], along, size: [long, high] } = name;
    const reach = [x - long - FAR, y - high - FAR, x + long + FAR, y + high + FAR];
    const near = along ? lines : lines.filter(({ line }) => isNear(line, reach));
    const positions = candidates(name, plane).map((candidate) => positionOf(name, near, candidate));
    if (kept[i] < positions.length) positions[kept[i]].cost -= COST.leave;
    return positions;
  });
  /** The cost of two labels beside each other. */
  const together = (one: Position, other: Position): number => {
    const [left, top, right, bottom] = one.box;
    const area = shared([left - BESIDE, top, right + BESIDE, bottom], other.box);
    return (area ? COST.meets + COST.box * area : 0)
      + (one.leader ? COST.crossed * lengthIn(one.leader, other.box) : 0)
      + (other.leader ? COST.crossed * lengthIn(other.leader, one.box) : 0);
  };
  const chosen: number[] = [];
  for (let round = 0; round < 3; round += 1) {
    all.forEach((positions, i) => {
      const costs = positions.map((one) => chosen.reduce((sum, choice, other) =>
        (other === i ? sum : sum + together(one, all[other][choice])), one.cost));
      chosen[i] = costs.indexOf(Math.min(...costs));
    });
  }
  const found = all.map((positions, i) => positions[chosen[i]]);
  return { chosen, middles: found.map(({ middle }) => middle), leaders: found.map(({ leader }) => leader) };
}
