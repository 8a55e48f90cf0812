/** The state of the sheet of newer attention in the page's address: switches, the query, and changed inputs. */

import { parsed } from "../engine/numbers.ts";
import type { Matrix } from "../types/run.ts";

/** The inputs that a reader can change; masks follow from the switches. */
export const OPEN = ["query", "key", "value", "other_key", "other_value", "down", "up_key", "up_value", "angles", "decay",
  "gate"];

/** No given number may be larger: all exponentials can be computed. */
export const MOST = 20;

/** What a reader can change. */
export interface SheetChoices {
  on: string[];
  query: number;
  given: Record<string, Matrix>;
}

/** The address of a state. @param name of the sheet */
export function toHash(name: string, { on, query, given }: SheetChoices, start: SheetChoices): string {
  const parts = new URLSearchParams({ sheet: name, on: on.join("."), query: String(query) });
  for (const role of OPEN) {
    given[role].forEach((row, i) => row.forEach((x, j) => {
      if (x !== start.given[role][i][j]) parts.set(`${role}.${i}.${j}`, String(x));
    }));
  }
  return `#${parts}`;
}

/**
 * The state of an address, with defaults for unreadable parts, and whether all parts were readable.
 * @param switches the names of all
 * @param tokens how many there are
 */
export function fromParts(parts: URLSearchParams, start: SheetChoices, switches: string[], tokens: number): SheetChoices & { isWhole: boolean } {
  const asked = (parts.get("on") ?? "").split(".").filter(Boolean);
  const on = asked.filter((name) => switches.includes(name));
  const query = Number(parts.get("query") ?? start.query);
  const isQuery = Number.isInteger(query) && query >= 0 && query < tokens;
  const given = structuredClone(start.given);
  let isWhole = isQuery && on.length === asked.length;
  for (const [where, text] of parts) {
    if (["sheet", "on", "query"].includes(where)) continue;
    const [role, i, j] = where.split(".");
    const value = parsed(text);
    if (OPEN.includes(role) && given[role]?.[Number(i)]?.[Number(j)] !== undefined
      && Math.abs(value) <= MOST) given[role][Number(i)][Number(j)] = value;
    else isWhole = false;
  }
  return { on, given, query: isQuery ? query : start.query, isWhole };
}
