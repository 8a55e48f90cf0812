/**
 * A document of the red pencil, the names of its numbers, and the line of arithmetic that computes one.
 */

import { RIGHT, SLIP, evaluate, nameOf, read } from "../engine/corrections.ts";
import { short } from "../engine/numbers.ts";
import { parse } from "../engine/places.ts";
import { fill } from "../engine/text.ts";
import { make } from "../figures/explorer-parts.ts";
import { inBrackets } from "../store/explorer-origins.ts";
import { nameOf as placeName } from "../store/explorer-state.ts";
import { pencil as texts } from "../strings/pencil.ts";
import type { PencilCell, PencilDocument, PencilFormula, PencilNumber, PencilSheet, PencilState } from "../types/pencil.ts";

/** A printed number with a true minus sign. */
export const withMinus = (printed: string) => printed.replace("-", "−");

/** A text whose words between stars are set in italics. */
export const marked = (text: string) => text.split("*").map((part, i) => (i % 2 ? make("i", {}, part) : part));

// ---- A line of arithmetic ----

/** How a number follows, as a text. */
export function written(formula: PencilFormula, state: PencilState, numbers: PencilNumber[]): string {
  const leaf = (one: PencilFormula): string => {
    const isKept = typeof one === "number" && !state.changed[one];
    const text = isKept ? withMinus(numbers[one].printed) : short(evaluate(one, state.values));
    return inBrackets(text);
  };
  const part = (one: PencilFormula): string => {
    if (!Array.isArray(one)) return leaf(one);
    const [operation, ...terms] = one;
    const [first, second, mask] = terms;
    switch (operation) {
      case "products": case "mixed": case "sum": return terms.map(part).join(" + ");
      case "product": return terms.map(leaf).join(" × ");
      case "scaled": return `${leaf(first)} ${nameOf(second) === "d_k" ? "÷ √" : "× "}${leaf(second)}${
        mask === undefined ? "" : ` + ${leaf(mask)}`}`;
      case "exponential": return `e^${leaf(first)}`;
      case "share": return `${part(first)} ÷ ${Array.isArray(second) ? `(${part(second)})` : part(second)}`;
      case "percent": return `100 × ${leaf(first)}`;
      default: return operation === "root" ? `√${leaf(first)}` : leaf(first);
    }
  };
  return part(formula);
}

/** A text with its exponents, which follow ^, as superscripts. */
export const raised = (text: string) => text.split(/\^(\(?−?[\d.]+\)?)/).map((part, i) =>
  (i % 2 ? make("sup", {}, part.replace(/[()]/g, "")) : part));

// ---- A document as it is worked with ----

export function opened(sheet: PencilSheet): PencilDocument {
  const numbers = read(sheet);
  const cells: PencilCell[] = [];
  sheet.blocks.forEach((block, i) => block.rows.forEach((row, j) => row.at.forEach((spot, k) => {
    const place = parse(row.places[k]);
    const line = row.lines?.[k] ?? row.line;
    if (place) cells.push({ spot, place, address: `${line}:${row.places[k]}`, line, block: i, row: j });
  })));
  const slips = cells.map(({ spot }) => spot).filter((spot) => numbers[spot].state === SLIP);
  const right = cells.filter(({ spot }) => numbers[spot].state === RIGHT).length;
  return { sheet, numbers, cells, slips, right, corrected: new Set(), bySpot: new Map(cells.map((cell) => [cell.spot, cell])) };
}

/** The name of a number. */
export function named(sheet: PencilSheet, { place, block }: PencilCell): string {
  if (place.stage === "root") return texts.root;
  const example = sheet.examples[sheet.blocks[block].example];
  if (place.stage === "percentages") {
    return fill(texts.percentages, { row: example.tokens[place.row], column: example.tokens[place.column] });
  }
  const state = { order: example.tokens.map((_, i) => i) };
  const whole = placeName(example, state, { ...place, term: null as unknown as number });
  if (place.term === null) return whole;
  return fill(texts.product, { n: place.term + 1, name: whole[0].toLowerCase() + whole.slice(1) });
}
