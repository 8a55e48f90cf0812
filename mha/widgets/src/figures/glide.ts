/** A change that is shown bit by bit, where a reader's system allows movement. */

import { isStill } from "./strip-drawing.ts";

/**
 * Animate a change from its start to its end, at once if the reader wants no motion.
 *
 * @returns a function that stops the animation
 */
export function glide(time: number, step: (part: number) => void): () => void {
  const begun = performance.now();
  let isOver = isStill();
  const next = () => {
    if (isOver) return;
    const part = Math.min(1, (performance.now() - begun) / time);
    isOver = part === 1;
    step(part * part * (3 - 2 * part));
    requestAnimationFrame(next);
  };
  if (isOver) step(1);
  else requestAnimationFrame(next);
  return () => { isOver = true; };
}
