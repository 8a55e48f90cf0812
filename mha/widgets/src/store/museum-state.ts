/** The state of the museum of bugs: the order of its programs, the inputs of one, and its address. */

import { RATE, tried } from "../engine/bugs.ts";
import { Draws } from "../engine/draws.ts";
import { parsed } from "../engine/numbers.ts";
import { MOST } from "../engine/typed-numbers.ts";
import type { Matrix } from "../types/run.ts";

/** Lines that a reader chooses among. */
const CHOICES = 4;

/** How much larger scores can be made. */
export const LARGER = 27;

/** The number of orders, small enough that a teacher can name one in class. */
export const ORDERS = 10000;

export const FLAGS = ["isCausal", "isBiased", "isTurned", "inSteps"] as const;
export const INPUTS = ["query", "key", "value"];

/** What a reader has chosen: an order, a program in it, an example, and its inputs. */
export interface MuseumState {
  seed: number;
  /** Which program of the order. */
  at: number;
  example: number;
  /** The factor of queries and keys. */
  times: number;
  isCausal: boolean;
  isBiased: boolean;
  isTurned: boolean;
  inSteps: boolean;
  /** How often the program has been run again. */
  runs: number;
  /** The numbers that a reader has changed, such as query.0.1. */
  own: Record<string, number>;
}

/** An example of the museum: its queries, keys and values with concatenated heads. */
export interface MuseumExample {
  name: string;
  title: string;
  tokens: string[];
  heads: number;
  dModel: number | null;
  wide: Matrix[];
}

/** A bug of the museum, as mha/widgets/bugs.py writes it. */
export interface MuseumBug {
  name: string;
  /** The wrong line, the right one, and the effect of the bug. */
  line: string;
  meant: string;
  said: string;
  /** The letters of the properties that fail. */
  fails: string;
  /** The anchor of its exhibit. */
  at: string;
}

/** The first program of an order. */
export const startOf = (seed: number): MuseumState => ({ seed, at: 0, example: 0, times: 1, isCausal: false, isBiased: false,
  isTurned: false, inSteps: false, runs: 0, own: {} });

function shuffled<T>(items: T[], draws: Draws): T[] {
  const found = [...items];
  for (let i = found.length - 1; i > 0; i -= 1) {
    const j = draws.whole(0, i);
    [found[i], found[j]] = [found[j], found[i]];
  }
  return found;
}

/** The programs in the order of a seed. */
export const orderOf = <T>(bugs: T[], seed: number): T[] => shuffled(bugs, new Draws(seed));

/** The bugs whose lines a reader chooses among: that of the program and some others. */
export function choicesOf<T>(bugs: T[], bug: T, seed: number): T[] {
  const draws = new Draws(seed);
  const others = shuffled(bugs.filter((one) => one !== bug), draws);
  return shuffled([bug, ...others.slice(0, CHOICES - 1)], draws);
}

/** The result of a program with a bug, null if it stops. */
export function resultOf(name: string, state: MuseumState, { dModel, heads, wide }: MuseumExample) {
  const { own, runs, seed, times, ...told } = state;
  const given = wide.map((rows, m) => rows.map((row, i) =>
    row.map((x, j) => (own[`${INPUTS[m]}.${i}.${j}`] ?? x) * (m < 2 ? times : 1))));
  const draws = new Draws(seed + ORDERS * (100 + runs));
  try {
    return tried(name, { ...told, dModel, heads, wide: given }, () => draws.share() >= RATE);
  } catch (error) {
    if (error instanceof RangeError) return null;
    throw error;
  }
}

/** The address of a state. */
export function toHash(state: MuseumState, examples: MuseumExample[]): string {
  const parts = new URLSearchParams({ bugs: "museum", seed: String(state.seed), case: String(state.at + 1) });
  if (state.example) parts.set("example", examples[state.example].name);
  if (state.times !== 1) parts.set("times", String(state.times));
  for (const flag of FLAGS) if (state[flag]) parts.set(flag, "1");
  Object.entries(state.own).forEach(([where, value]) => parts.set(where, String(value)));
  return `#${parts}`;
}

/** The state of an address, with defaults for unreadable parts; null if it has no order. @param bugs how many there are */
export function fromParts(parts: URLSearchParams, examples: MuseumExample[], bugs: number): MuseumState | null {
  const seed = parts.get("seed") ?? "";
  if (!/^\d{1,4}$/.test(seed)) return null;
  const state = startOf(Number(seed));
  const place = Number(parts.get("case"));
  if (Number.isInteger(place) && place >= 1 && place <= bugs) state.at = place - 1;
  state.example = Math.max(0, examples.findIndex(({ name }) => name === parts.get("example")));
  if (parts.get("times") === String(LARGER)) state.times = LARGER;
  for (const flag of FLAGS) state[flag] = parts.get(flag) === "1";
  const { wide } = examples[state.example];
  parts.forEach((text, where) => {
    const [what, i, j, ...rest] = where.split(".");
    const value = parsed(text);
    const isThere = wide[INPUTS.indexOf(what)]?.[Number(i)]?.[Number(j)] !== undefined;
    if (!rest.length && isThere && Math.abs(value) <= MOST) state.own[where] = value;
  });
  return state;
}
