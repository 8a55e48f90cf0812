/** The explorer's state in the page's address: only differences from the start. */

import { parsed } from "../engine/numbers.ts";
import { address } from "../engine/places.ts";
import { partsOf } from "./address.ts";
import { MAPS, isInput, placeIn, startOf } from "./explorer-state.ts";
import { same } from "./same.ts";
import type { ExplorerData, ExplorerState } from "../types/explorer.ts";
import type { Numbers } from "../types/run.ts";

const marked = (flags: boolean[]) =>
  flags.flatMap((flag, i) => (flag ? [i] : [])).join(".");

/** The part of an address, after and with its "#", that holds a state. */
export function toHash(data: ExplorerData, state: ExplorerState): string {
  const start = startOf(data);
  const parts = new URLSearchParams(data.address ?? { explore: data.name });
  const put = (key: keyof ExplorerState, value: string | number | null): void => { if (!same(state[key], start[key])) parts.set(key, String(value)); };
  put("scale", state.scale === null ? "root" : state.scale);
  put("temperature", state.temperature);
  put("causal", Number(state.causal));
  put("padding", marked(state.padding));
  put("order", state.order.join("."));
  put("off", marked(state.off));
  put("query", state.query);
  put("focus", state.focus);
  put("component", state.component);
  put("outcome", state.outcome);
  put("map", state.map);
  put("prints", 1);
  put("step", state.step);
  if (state.selected) parts.set("at", address(state.selected));
  Object.entries(state.edits).forEach(([where, value]) => parts.set(where, String(value)));
  return `#${parts}`;
}

// ---- Reading: each returns a value, or undefined for an invalid one ----

const whole = (text: string, count: number): number | undefined =>
  (/^\d{1,6}$/.test(text) && Number(text) < count ? Number(text) : undefined);

function several(text: string, count: number): number[] | undefined {
  const parts = text.split(".");
  const found = new Set(parts.flatMap((part) => whole(part, count) ?? []));
  return found.size < parts.length ? undefined : [...found];
}

function flags(text: string, count: number): boolean[] | undefined {
  const found = several(text, count);
  return found && Array.from({ length: count }, (_, i) => found.includes(i));
}

function everyOne(text: string, count: number): number[] | undefined {
  const found = several(text, count);
  return found && found.length === count ? found : undefined;
}

const number = (text: string): number | undefined => (Number.isFinite(parsed(text)) ? parsed(text) : undefined);

/**
 * Readers of the address's parts by their names.
 *
 * @param numbers that there are
 */
function readers(data: ExplorerData, numbers: Numbers): Record<string, (text: string) => unknown> {
  return {
    scale: (text) => (text === "root" ? null : number(text)),
    temperature: (text) => (parsed(text) > 0 ? number(text) : undefined),
    causal: (text) => (["0", "1"].includes(text) ? text === "1" : undefined),
    padding: (text) => flags(text, data.tokens.length),
    off: (text) => flags(text, data.heads.length),
    order: (text) => everyOne(text, data.tokens.length),
    query: (text) => whole(text, data.tokens.length),
    focus: (text) => whole(text, data.heads.length),
    component: (text) => whole(text, data.width),
    outcome: (text) => whole(text, numbers.output?.[0].length ?? 0),
    map: (text) => (MAPS.includes(text) ? text : undefined),
    prints: (text) => text === "1" || undefined,
    step: (text) => whole(text, 1000),
    at: (text) => placeIn(numbers, text) ?? undefined,
  };
}

/**
 * The state that an address holds, and whether all of it could be read; null where none.
 *
 * @param numbers that there are
 */
export function fromHash(data: ExplorerData, hash: string, numbers: Numbers): { state: ExplorerState, complete: boolean } | null {
  const own = new URLSearchParams(data.address ?? { explore: data.name });
  const [[kind, name]] = own;
  const parts = partsOf(kind, name, hash);
  if (!parts || !hash.startsWith(`#${kind}=`)) return null;
  own.forEach((_, key) => parts.delete(key));
  const read = readers(data, numbers);
  const state = startOf(data);
  let complete = true;
  for (const [key, text] of parts) {
    const known = Object.hasOwn(read, key);
    const at = known ? null : placeIn(numbers, key);
    const isEdit = at !== null && isInput(data, at);
    const value = known ? read[key](text) : isEdit ? number(text) : undefined;
    if (value === undefined) complete = false;
    else if (isEdit) state.edits[key] = value as number;
    else Object.assign(state, { [key === "at" ? "selected" : key]: value });
  }
  return { state, complete };
}
