/**
 * Where a number comes from: its name, and a line of arithmetic whose numbers lead on.
 */

import { short } from "../engine/numbers.ts";
import { evaluate } from "../engine/operations.ts";
import { chain, decimalsOf } from "../engine/signs.ts";
import { LAYOUTS, sumOf, written } from "../store/explorer-origins.ts";
import { looking as texts } from "../strings/looking.ts";
import { fill } from "../engine/text.ts";
import { make, makeButton, setText } from "./explorer-parts.ts";
import type { Part } from "../types/explorer.ts";
import type { About, Asking } from "../types/looking.ts";
import type { Calculation, Operand } from "../types/run.ts";

/** The layouts of an explorer know no temperature here. */
const PLAIN = { temperature: 1 };

/** The number of terms that remain of a line that is too long for its view. */
const KEPT = 8;

/**
 * The largest terms of a sum, as many as a line has room for and in their order, and a text with the
 * number and the sum of the other terms.
 */
function shortened(from: Calculation, longest: number): { terms: Operand[][], rest: string } {
  const all = from.terms.filter((term) => term.every(({ value }) => Number.isFinite(value)));
  const isSum = ["products", "mixed", "sum"].includes(from.operation);
  if (!isSum || all.length <= longest) return { terms: all, rest: "" };
  const values = all.map((term) => term.reduce((product, { value }) => product * value, 1));
  const least = values.map(Math.abs).sort((a, b) => b - a)[KEPT - 1];
  const terms = all.filter((_, i) => Math.abs(values[i]) >= least).slice(0, KEPT);
  const rest = all.filter((term) => !terms.includes(term));
  const sum = short(evaluate({ ...from, terms: rest }));
  return { terms, rest: fill(texts.rest, { n: rest.length, sum }) };
}

/** Below all else, and in sight at the foot of the screen while a number is asked about. */
export class OriginLine<Spot, From extends Calculation = Calculation> {
  /** The numbers that were asked about before, the last one last. */
  trail: Spot[] = [];

  back = makeButton(texts.back, () => this.goBack(), { className: "reading-button" });
  close = makeButton(texts.close, () => this.goBack(true), { className: "reading-button" });
  what = make("p", { className: "model-what", role: "status" });
  line = make("p", { className: "model-line" });
  node = make("div", { className: "model-origin", role: "group", "aria-label": texts.origin },
    make("div", { className: "model-asked" }, this.what, this.back, this.close), this.line);

  constructor(public view: Asking<Spot, From>) {}

  /** Ask where a number comes from. */
  ask(at: Spot) {
    const { view } = this;
    if (view.state.at) this.trail.push(view.state.at);
    view.state = { ...view.state, at };
    this.paint();
  }

  /** Go back to the number before; with none, or on request, put the arithmetic away. */
  goBack(isAll: boolean = false) {
    if (isAll) this.trail = [];
    this.view.state = { ...this.view.state, at: this.trail.pop() ?? null };
    this.paint();
  }

  /** Escape puts the arithmetic away, wherever in the figure the focus is. */
  closeByKey(figure: HTMLElement) {
    figure.addEventListener("keydown", ({ key }) => {
      if (key === "Escape" && this.view.state.at) this.goBack(true);
    });
  }

  /** Paint the arithmetic of the requested number; the keyboard's focus remains in the line. */
  paint() {
    const { back, line, view } = this;
    const isInside = line.contains(document.activeElement);
    this.write(view.about, view.state.at);
    if (isInside) (line.querySelector("button") ?? back).focus({ preventScroll: true });
    if (view.state.at) line.scrollTop = 0; // which has the page laid out
  }

  write(about: About<Spot, From>, at: Spot | null) {
    const { back, close, line, node, what } = this;
    node.classList.toggle("open", Boolean(at));
    back.hidden = !this.trail.length;
    close.hidden = !at;
    if (!at) {
      setText(what, about.hint ?? texts.hint);
      line.replaceChildren();
      return;
    }
    const from = about.origin(at);
    setText(what, about.name(at));
    const why = about.why?.(at);
    if (why) line.replaceChildren(why);
    else if (from.operation === "given") line.replaceChildren(`${short(from.terms[0][0].value)} `, about.given(at));
    else this.writeArithmetic(from, at);
  }

  /** A line of arithmetic whose numbers lead on. */
  writeArithmetic(from: From, at: Spot) {
    const { about } = this.view;
    const { terms, rest } = shortened(from, about.longest ?? Infinity);
    const items: Part[][] = from.operation === "sum" ? [...terms]
      : LAYOUTS[from.operation]?.({ ...from, terms }, PLAIN) ?? [];
    if (rest) items.push([`(${rest})`]);
    const result = short(evaluate(from));
    const [places] = decimalsOf((p) => [sumOf(items, p)], result, 4);
    const nodes = items.flatMap((parts, i) => {
      const term = parts.flatMap((part) => [typeof part === "object" && part.place
        ? this.operand(part, about.source(part, at, from), places) : written(part, places), " "]);
      return [make("span", { className: "model-term" }, ...term, i < items.length - 1 ? "+" : ""), " "];
    });
    const line = chain(sumOf(items, places), result);
    this.line.replaceChildren(...nodes, line.slice(line.length - result.length - 2));
  }

  operand(operand: Operand, at: Spot, places: number): HTMLElement {
    return makeButton(written(operand, places), () => this.ask(at), { className: "number", title: this.view.about.name(at) });
  }
}
