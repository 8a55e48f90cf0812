/**
 * Where a number comes from: its name, and a line of arithmetic whose numbers lead on. A view has
 * `parts`, `trail`, a `state` whose `at` is the requested number, and `about`, which has the numbers.
 */

import { short } from "../engine/numbers.ts";
import { evaluate } from "../engine/operations.ts";
import { chain, decimalsOf } from "../engine/signs.ts";
import { LAYOUTS, sumOf, written } from "../store/explorer-origins.ts";
import { looking as texts } from "../strings/looking.ts";
import { fill } from "../engine/text.ts";
import { make, makeButton, setText } from "./explorer-parts.ts";
import type { Operand } from "../types/run.ts";

/** The layouts of an explorer know no temperature here. */
const PLAIN: any = { temperature: 1 };

/** The number of terms that remain of a line that is too long for its view. */
const KEPT = 8;

/** Below all else, and in sight at the foot of the screen while it is asked. */
export function originOf(view: any) {
  const { parts } = view;
  parts.back = makeButton(texts.back, () => goBack(view), { className: "reading-button" });
  parts.close = makeButton(texts.close, () => goBack(view, true), { className: "reading-button" });
  parts.what = make("p", { className: "model-what", role: "status" });
  parts.line = make("p", { className: "model-line" });
  parts.origin = make("div", { className: "model-origin", role: "group", "aria-label": texts.origin },
    make("div", { className: "model-asked" }, parts.what, parts.back, parts.close), parts.line);
  return parts.origin;
}

/** Ask where a number comes from. */
export function ask(view: any, at: any) {
  if (view.state.at) view.trail.push(view.state.at);
  view.state = { ...view.state, at };
  paintOrigin(view);
}

/** Go back to the number before; with none, or on request, put the arithmetic away. */
export function goBack(view: any, isAll: boolean = false) {
  if (isAll) view.trail = [];
  view.state = { ...view.state, at: view.trail.pop() ?? null };
  paintOrigin(view);
}

/** Paint the arithmetic of the requested number; the keyboard's focus remains in the line. */
export function paintOrigin(view: any) {
  const { line, back } = view.parts;
  const isInside = line.contains(document.activeElement);
  paintAsked(view);
  if (isInside) (line.querySelector("button") ?? back).focus({ preventScroll: true });
  if (view.state.at) line.scrollTop = 0; // which has the page laid out
}

function paintAsked(view: any) {
  const { parts, about } = view;
  const { at } = view.state;
  parts.origin.classList.toggle("open", Boolean(at));
  parts.back.hidden = !view.trail.length;
  parts.close.hidden = !at;
  if (!at) {
    setText(parts.what, about.hint ?? texts.hint);
    parts.line.replaceChildren();
    return;
  }
  const from = about.origin(at);
  setText(parts.what, about.name(at));
  const why = about.why?.(at);
  if (why) parts.line.replaceChildren(why);
  else if (from.operation === "given") {
    parts.line.replaceChildren(`${short(from.terms[0][0].value)} `, about.given(at));
  } else writeLine(view, from, at);
}

/**
 * The largest terms of a sum, as many as a line has room for and in their order, and a text with the
 * number and the sum of the other terms.
 */
function shortened(from: any, longest: number): { terms: Operand[][], rest: string } {
  const all: Operand[][] = from.terms.filter((term: Operand[]) =>
    term.every(({ value }) => Number.isFinite(value)));
  const isSum = ["products", "mixed", "sum"].includes(from.operation);
  if (!isSum || all.length <= longest) return { terms: all, rest: "" };
  const values = all.map((term) => term.reduce((product, { value }) => product * value, 1));
  const least = values.map(Math.abs).sort((a, b) => b - a)[KEPT - 1];
  const terms = all.filter((_, i) => Math.abs(values[i]) >= least).slice(0, KEPT);
  const rest = all.filter((term) => !terms.includes(term));
  const sum = short(evaluate({ ...from, terms: rest }));
  return { terms, rest: fill(texts.rest, { n: rest.length, sum }) };
}

/** A line of arithmetic whose numbers lead on. */
function writeLine(view: any, from: any, at: any) {
  const { terms, rest } = shortened(from, view.about.longest ?? Infinity);
  const items: any[][] = from.operation === "sum" ? terms
    : (LAYOUTS as any)[from.operation]({ ...from, terms }, PLAIN);
  if (rest) items.push([`(${rest})`]);
  const nodes: any[] = [];
  const result = short(evaluate(from));
  const [places] = decimalsOf((p) => [sumOf(items, p)], result, 4);
  items.forEach((parts, i) => {
    const term = parts.flatMap((part) => [typeof part === "object" && part.place
      ? operandOf(view, part, view.about.source(from, part, at), places)
      : written(part, places), " "]);
    nodes.push(make("span", { className: "model-term" }, ...term, i < items.length - 1 ? "+" : ""), " ");
  });
  const line = chain(sumOf(items, places), result);
  view.parts.line.replaceChildren(...nodes, line.slice(line.length - result.length - 2));
}

/** @param at where it is computed */
function operandOf(view: any, operand: Operand, at: any, places: number) {
  return makeButton(written(operand, places), () => ask(view, at),
    { className: "number", title: view.about.name(at) });
}
