/** The geometry of planes: steps between ticks, paths, arrows, and points as texts. */

import { short } from "../engine/numbers.ts";

/** How long the head of an arrow is, in pixels. */
const HEAD = 11;

export const path = (points: number[][]): string => `M${points.map((point) =>
  point.map((x) => Math.round(10 * x) / 10).join(" ")).join("L")}`;

/** A point as it is written beside its tip. */
export const coordinates = (point: number[]): string => `(${point.map((x) => short(x, 2)).join(", ")})`;

/** The steps between ticks: 1, 2 or 5 times a power of ten. */
export function stepOf(least: number): number {
  const ten = 10 ** Math.floor(Math.log10(least));
  return [1, 2, 5, 10].map((times) => times * ten).find((step) => step >= least) ?? 10 * ten;
}

/** An arrow from a place to another one, with a head that is filled. */
export function pointer([x0, y0]: number[], [x1, y1]: number[]): string {
  const length = Math.hypot(x1 - x0, y1 - y0);
  if (length < 0.5) return "";
  const [right, down] = [(x1 - x0) / length, (y1 - y0) / length];
  const head = Math.min(HEAD, length);
  const [x, y] = [x1 - head * right, y1 - head * down];
  const side = (by: number) => [x - by * head * down, y + by * head * right];
  return `${path([[x0, y0], [x, y]])}${path([[x1, y1], side(0.42), side(-0.42)])}Z`;
}
