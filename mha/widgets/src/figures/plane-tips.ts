/** The tips of a plane, which a reader drags or moves by keys. */

import { STEP, make } from "./explorer-parts.ts";
import type { TipElement } from "../types/plane.ts";

/** A plane, as its tips see it. */
interface Tipped {
  /** The position in the drawing of a point of the plane; `pointAt` is the inverse. */
  at(point: number[]): number[];
  pointAt(place: number[]): number[];
  /** The nearest point to which a tip can be dragged. */
  near(point: number[]): number[];
  /** A tip is chosen, or let go. */
  changed(tip?: TipElement): void;
  light(token: number | null): void;
}

/** Move a tip by one step. */
export const moveTip = ({ tip }: TipElement, point: number[]): void => tip.move(point, tip.take?.());

export function makeTip(plane: Tipped, of: Pick<TipElement, "tip" | "at" | "token">): TipElement {
  const node = Object.assign(make("button", { type: "button", className: "tip" }), of);
  node.addEventListener("keydown", (event: KeyboardEvent) => onKey(event, node));
  node.addEventListener("pointerdown", (event: PointerEvent) => drag(plane, event, node));
  node.addEventListener("focus", () => plane.changed(node));
  const listen = (names: string[], act: () => void) =>
    names.forEach((name) => node.addEventListener(name, act));
  listen(["focus", "pointerenter"], () => plane.light(node.token ?? null));
  listen(["blur", "pointerleave"], () => plane.light(null));
  return node;
}

function onKey(event: KeyboardEvent, node: TipElement) {
  const by = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] }[event.key];
  if (!by) return;
  event.preventDefault();
  const times = event.shiftKey ? 10 : 1;
  const step = STEP * times;
  if (node.tip.step) node.tip.step(times * (by[0] + by[1]));
  else moveTip(node, node.at.map((x, axis) =>
    Number((x + step * by[axis]).toFixed(6))));
}

function drag(plane: Tipped, event: PointerEvent, node: TipElement) {
  if (event.button) return;
  event.preventDefault();
  node.focus({ preventScroll: true });
  node.setPointerCapture?.(event.pointerId);
  const start = plane.at(node.at);
  const taken = node.tip.take?.();
  const move = (moved: PointerEvent) => {
    const place = [start[0] + moved.clientX - event.clientX, start[1] + moved.clientY - event.clientY];
    node.tip.move(plane.near(plane.pointAt(place)), taken);
  };
  const end = () => {
    ends.forEach((name) => node.removeEventListener(name, end));
    node.removeEventListener("pointermove", move);
    plane.changed();
  };
  const ends = ["pointerup", "pointercancel", "lostpointercapture"];
  node.addEventListener("pointermove", move);
  ends.forEach((name) => node.addEventListener(name, end));
}
