/** A change that is shown bit by bit, where a reader's system allows movement. */

import { isStill } from "./strip-drawing.ts";

/**
 * Go from nothing to all of a change in some time, at once where nothing is to move; what it
 * returns stops it.
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
