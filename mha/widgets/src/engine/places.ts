/**
 * The address of one number of a run, as in mha/runs/places.py: a stage, and the indices that its
 * array has, counted from 0. stages.ts lists the stages.
 */

import { stages } from "./stages.ts";
import type { Axis, Numbers, Place } from "../types/run.ts";

/** Whether a stage is a projection matrix of the layer: its rows are components, not tokens. */
export const isMatrix = (stage: string): boolean => !["places", "", undefined].includes(stages[stage].rows);

/** Whether a row of a stage belongs to a position of the sequence, whatever its token. */
export const stays = (stage: string): boolean => stages[stage].rows === "places";

const AXES: Axis[] = ["head", "row", "column"];

/**
 * The place at an index of a stage's array.
 *
 * @param index one number for each axis of the array
 */
export function at(stage: string, ...index: number[]): Place {
  const place = { stage, head: null, row: null, column: null, term: null } as unknown as Place;
  stages[stage].axes.forEach((axis, i) => { place[axis] = index[i]; });
  return place;
}

/** The place with those of the indices that the stage has; the others are left out. */
export function of(stage: string, head: number, row: number, column: number): Place {
  const given = { head, row, column };
  return at(stage, ...stages[stage].axes.map((axis) => given[axis]));
}

/** The index into the stage's array. */
export const indexOf = (place: Place): number[] => AXES.map((axis) => place[axis]).filter((i) => i !== null);

/** A place as a text such as "weights.0.1.2", a term after a colon; `parse` reads it. */
export function address(place: Place): string {
  const term = place.term === null ? "" : `:${place.term}`;
  return [place.stage, ...indexOf(place)].join(".") + term;
}

/** The place that an address names, null where the text is none. */
export function parse(text: string): Place | null {
  const found = /^([a-z_]+)((?:\.(?:0|[1-9]\d*))*)(?::(0|[1-9]\d*))?$/.exec(text);
  if (!found || !Object.hasOwn(stages, found[1])) return null;
  const index = found[2].split(".").slice(1).map(Number);
  if (index.length !== stages[found[1]].axes.length) return null;
  const place = at(found[1], ...index);
  if (found[3] !== undefined) place.term = Number(found[3]);
  return place;
}

/**
 * The number of a run, or of its inputs, at a place.
 *
 * @throws where there is none.
 */
export function valueAt(numbers: Numbers, place: Place): number {
  let value = place.term === null ? numbers[place.stage] : undefined;
  // A loop over `indexOf` would make an array for every number of a page.
  if (place.head !== null) value = value?.[place.head];
  if (place.row !== null) value = value?.[place.row];
  if (place.column !== null) value = value?.[place.column];
  if (typeof value !== "number") throw new RangeError(`there is no number ${address(place)}`);
  return value;
}
