/** The axes of a plane: a grid, ticks with their numbers, and names. */

import { short } from "../engine/numbers.ts";
import { set, setText } from "./explorer-parts.ts";
import { LINE, widthOf } from "./plane-labels.ts";
import type { Drawn, PlaneDrawn } from "../types/plane.ts";

/** In pixels: the distance of numbers from an axis, and that of names from a number next to them. */
const OFF = { across: 21, up: 11 };
const APART = 4;

/** A plane, as its axes see it. */
interface PlaneWithAxes {
  area: Drawn;
  names: string[];
  drawn: PlaneDrawn;
  low: number[];
  high: number[];
  zero: number[];
  /** How far apart ticks are. */
  step: number;
  at(point: number[]): number[];
  /** The next element of a kind. */
  next(kind: string, tag: string, name?: string): SVGElement;
  keepOff(line: number[], name: string): void;
}

/** Write a number or a name of an axis. */
function tick(plane: PlaneWithAxes, words: string, [x, y]: number[], anchor: string, name: string = "tick"): void {
  // Numbers remain in sight if zero is at an edge.
  const [width, height] = plane.area.size;
  const long = widthOf(words);
  const half = anchor === "end" ? long / 2 : 0;
  const middle = Math.min(width - long / 2 - 3, Math.max(long / 2 + 2, x - half));
  const line = Math.min(height - 4, Math.max(13, y));
  plane.drawn.boxes.push([middle - long / 2 - APART, line - 12, middle + long / 2 + APART, line + 2]);
  const node = plane.next("text", "text", name);
  set(node, "x", middle + half);
  set(node, "y", line);
  set(node, "text-anchor", anchor);
  setText(node, words);
}

/** Draw the grid, the axes, their ticks and their names; names of marks keep off them. */
export function drawAxes(plane: PlaneWithAxes) {
  const { low, high, step } = plane;
  const [width, height] = plane.area.size;
  const [zeroX, zeroY] = plane.zero;
  const lines: string[] = [];
  [0, 1].forEach((axis) => {
    for (let i = Math.ceil(low[axis] / step); i * step <= high[axis]; i += 1) {
      const [x, y] = plane.at([i * step, i * step]);
      lines.push(axis ? `M0 ${y}H${width}` : `M${x} 0V${height}`);
      const isNearEnd = axis ? y < 2 * LINE : x > width - widthOf(plane.names[0]) - LINE;
      if (i && !isNearEnd) {
        plane.drawn.anchors.push(axis ? [zeroX, y] : [x, zeroY]);
        const place = axis ? [zeroX - OFF.up, y + 4] : [x, zeroY + OFF.across];
        tick(plane, short(i * step), place, axis ? "end" : "middle");
      }
    }
  });
  set(plane.next("grid", "path"), "d", lines.join(""));
  set(plane.next("axis", "path", "axis"), "d", `M0 ${zeroY}H${width}M${zeroX} 0V${height}`);
  [[0, zeroY, width, zeroY], [zeroX, 0, zeroX, height]].forEach((line) => plane.keepOff(line, "axis"));
  tick(plane, plane.names[0], [width - 3, zeroY + OFF.across], "end", "name");
  tick(plane, plane.names[1], [zeroX - OFF.up, 13], "end", "name");
}
