/** A field whose number is moved as on the strip: dragged to the right for more, or by the arrow keys. A tap types. */

import { full } from "../engine/numbers.ts";
import { STEP, gone, stepped } from "./explorer-parts.ts";

/** How far a number is dragged for one step of it, and before it is dragged at all. */
const DRAG = { step: 8, least: 4 };

/**
 * Each movement is like one that is typed: the field tells it by an event `input`.
 *
 * @param value now
 * @param most the largest size that the field takes
 */
export function movable(field: HTMLInputElement, value: () => number, most?: number) {
  let isDragged = false;
  const move = (to: number) => {
    field.value = full(to);
    field.dispatchEvent(new Event("input"));
  };
  field.addEventListener("keydown", (event) => {
    const by = event.key === "ArrowUp" ? STEP : event.key === "ArrowDown" ? -STEP : 0;
    if (!by) return;
    event.preventDefault();
    move(stepped(value(), by, most));
  });
  field.addEventListener("mousedown", (event) => {
    if (field !== document.activeElement) event.preventDefault();
  });
  field.addEventListener("click", () => {
    if (isDragged || field === document.activeElement) return;
    field.focus();
    field.select();
  });
  field.addEventListener("pointerdown", (event) => {
    isDragged = false;
    if (event.button || field.readOnly || field === document.activeElement) return;
    const [from, end] = [value(), new AbortController()];
    let steps = 0;
    const { signal } = end;
    field.addEventListener("pointermove", (moved) => {
      const way = gone(event, moved);
      if (!isDragged && Math.abs(way) < DRAG.least) return;
      if (!isDragged) field.setPointerCapture(event.pointerId);
      isDragged = true;
      const now = Math.round(way / DRAG.step);
      if (now !== steps) move(stepped(from, now * STEP, most));
      steps = now;
    }, { signal });
    for (const name of ["pointerup", "pointercancel"]) {
      field.addEventListener(name, () => end.abort(), { signal });
    }
  });
}
