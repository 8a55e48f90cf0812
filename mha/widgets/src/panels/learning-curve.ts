/** The curve of the loss by step; whoever draws along it goes through the training. */

import { short } from "../engine/numbers.ts";
import { make, set, setText } from "../figures/explorer-parts.ts";
import { shape } from "../figures/strip-drawing.ts";
import { learning as texts } from "../strings/learning.ts";

/** The losses at the edges of the curve, and those that have a line. */
const [HIGHEST, LOWEST] = [10, 0.0003];
const LEVELS = [3, 1, 0.3, 0.1, 0.03, 0.01, 0.003, 0.001];

/** The position of a loss, in percent from the top. */
const heightOf = (loss: number) => 100 * Math.min(1, Math.max(0,
  Math.log(HIGHEST / loss) / Math.log(HIGHEST / LOWEST)));

/** @param go to a part of the training, from 0 to 1 */
export function lossCurve(go: (part: number) => void) {
  const line = shape("polyline", "line");
  const dashes = shape("polyline", "before-line");
  const marker: HTMLElement = make("span", { className: "learning-marker" });
  const dot: HTMLElement = make("span", { className: "learning-dot" });
  const ticks: HTMLElement[] = [0, 1, 2].map((i) =>
    make("span", { className: "at-foot", style: `left: ${50 * i}%; translate: ${-50 * i}%` }));
  const dashed: HTMLElement = make("small", { className: "soft" }, texts.before);
  const svg = shape("svg", "learning-lines");
  set(svg, "viewBox", "0 0 100 100");
  set(svg, "preserveAspectRatio", "none");
  svg.append(dashes, line);
  const picture = make("div", { className: "learning-curve", role: "img" }, svg,
    ...LEVELS.map((loss) => make("span", { className: "level", style: `top: ${heightOf(loss)}%` },
      make("small", {}, short(loss)))), ...ticks, marker, dot);
  const follow = (event: PointerEvent) => {
    const { left, width: room } = picture.getBoundingClientRect();
    go((event.clientX - left) / room);
  };
  picture.addEventListener("pointerdown", (event: PointerEvent) => {
    if (event.button) return;
    picture.setPointerCapture(event.pointerId);
    follow(event);
  });
  picture.addEventListener("pointermove", (event: PointerEvent) => {
    if (picture.hasPointerCapture(event.pointerId)) follow(event);
  });
  const node: HTMLElement = make("div", {}, make("p", { className: "model-title" }, texts.loss, " ", dashed), picture);

  /**
   * @param losses after each step so far
   * @param before those of the training before, if there is one
   */
  function paint(losses: number[], before: number[] | null, steps: number) {
    const points = (of: number[]) => of.slice(0, steps + 1)
      .map((loss, i) => `${(100 * i) / steps},${heightOf(loss).toFixed(2)}`).join(" ");
    set(line, "points", points(losses));
    set(dashes, "points", before ? points(before) : "");
    dashed.hidden = !before;
    ticks.forEach((node, i) => setText(node, `${(steps * i) / 2}${i === 2 ? ` ${texts.axis}` : ""}`));
  }

  /**
   * Mark a step of the curve.
   * @param loss after it, undefined where it is not known
   */
  function mark(part: number, loss: number | undefined, label: string) {
    set(marker, ".left", `${100 * part}%`);
    set(dot, ".left", `${100 * part}%`);
    dot.hidden = loss === undefined;
    if (loss !== undefined) set(dot, ".top", `${heightOf(loss).toFixed(2)}%`);
    set(picture, "aria-label", label);
  }

  return { node, mark, paint };
}
