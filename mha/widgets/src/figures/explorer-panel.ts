/** The explorer's panel: where the selected number comes from, and a field to change an input. */

import { full, parsed, short, shown } from "../engine/numbers.ts";
import { constant } from "../engine/origins.ts";
import { address, of as placeOf, parse, valueAt } from "../engine/places.ts";
import { decimalsOf, sign } from "../engine/signs.ts";
import { calculation, described, inBrackets, sumOf, written } from "../store/explorer-origins.ts";
import { inputAddress, isChanged, isInput } from "../store/explorer-state.ts";
import { explorerAll } from "../strings/explorer-all.ts";
import { explorer } from "../strings/explorer.ts";
import { fill } from "../engine/text.ts";
import { STEP, make, makeButton, makeField, printed } from "./explorer-parts.ts";
import type { ExplorerView, Part } from "../types/explorer.ts";
import type { Operand, Origin, Place } from "../types/run.ts";
import type { NumberField } from "../types/fields.ts";

const texts = { ...explorer, ...explorerAll };

/** A product worked out, nothing where an item is none. */
const worked = ([left, times, right]: Part[], places?: number): string =>
  (times === "×" && typeof left === "object" && typeof right === "object"
    ? short(left.value * right.value, places) : "");

/** The rule of an operation, in words. */
function ruleOf(from: Origin): string {
  if (from.operation === "given") return texts.isInput;
  const shift = constant(from, "shift");
  if (shift !== null) return fill(texts.rules.shifted, { shift: shown(shift) });
  if (constant(from, "mask") !== null) return texts.rules.withMask;
  // The three normalisations of a block have one rule, and each activation its own.
  const stage = from.place.stage.replace(/^(stream|total)(?=_)/, "start");
  return texts.rules[stage] ?? texts.rules[from.operation];
}

export class Panel {
  explorer: ExplorerView;
  node: HTMLElement;
  shownInput: string | null;
  /** The field of the input, and the elements next to it; `buildInput` makes them. */
  field!: NumberField;
  exact = make("span", { className: "value" });
  original = make("span", { className: "aside" });

  constructor(explorer: ExplorerView) {
    this.explorer = explorer;
    this.node = make("div", { className: "panel", role: "group", "aria-label": texts.panel });
    /** The address of the input that has a field. */
    this.shownInput = null;
  }

  paint() {
    const { data, state, numbers } = this.explorer;
    const at = state.selected;
    if (!at) {
      this.shownInput = null;
      this.node.replaceChildren(make("p", { className: "hint" }, texts.empty));
    } else if (isInput(data, at)) {
      this.paintInput(at);
    } else {
      this.shownInput = null;
      const { why, from, items } = described(data, state, numbers, at);
      this.node.replaceChildren(this.title(at), make("p", {}, why || ruleOf(from)),
        ...this.sum(at, items), ...this.shares(at));
    }
  }

  title(at: Place, value: HTMLElement = make("span", { className: "value" }, this.value(at))): HTMLElement {
    const back = makeButton(texts.back, () => this.explorer.back(), { className: "back" });
    return make("p", { className: "title" }, make("span", {},
      make("strong", {}, this.explorer.nameOf(at)), ": ", value), back);
  }

  /** A number as the book writes it, in full where that says more, and as the source prints it. */
  value(at: Place): string {
    const value = valueAt(this.explorer.numbers, at);
    const rounded = shown(value);
    const isRounded = Math.abs(value - parsed(rounded)) > 1e-12;
    const exact = isRounded ? ` (${fill(texts.full, { value: full(value) })})` : "";
    const found = this.prints(address(at));
    return rounded + exact + (found && `; ${found}`);
  }

  /** The numbers that the source prints for an address, in words, while they are asked for. */
  prints(where: string): string {
    const { data, state, start } = this.explorer;
    const found = data.prints[where];
    if (!found || !state.prints || isChanged(state, start)) return "";
    return fill(texts.source, { texts: printed(found) });
  }

  sum(at: Place, items: Part[][]): HTMLElement[] {
    if (!items.length) return [];
    const value = shown(valueAt(this.explorer.numbers, at));
    const expression = (p: number) => calculation(sumOf(items, p));
    const products = (p: number) =>
      items.map((parts) => worked(parts, p) || calculation(sumOf([parts], p))).join(" + ");
    const decimals = decimalsOf((p) => [expression(p), products(p)], value, 4);
    const lines = items.map((parts, term) => this.line(parts, { ...at, term }, decimals));
    const sum = products(decimals[1]);
    const total = make("li", { className: "total" }, `${sign(sum, value)} ${value}`);
    return [make("ul", { className: "sum" }, ...lines, total)];
  }

  /**
   * One item of a number's origin: its parts, and a computed product.
   *
   * @param decimals of the factors, and of the terms of a sum
   */
  line(parts: Part[], at: Place, [ofFactors, ofTerms]: number[]): HTMLElement {
    const product = worked(parts, ofTerms);
    const places = product ? ofFactors : ofTerms;
    const line = make("li", {}, ...parts.flatMap((part) =>
      [typeof part === "object" ? this.operand(part, places) : written(part, places), " "]));
    if (product) line.append(`${sign(calculation(sumOf([parts], places)), product)} ${product}`);
    const found = this.prints(address(at));
    if (found) line.append(make("span", { className: "aside" }, ` ${found}`));
    return line;
  }

  operand({ place, value }: Pick<Operand, "place" | "value">, places?: number): HTMLElement {
    const { explorer } = this;
    const text = short(value, places);
    if (!place) return make("span", {}, inBrackets(text));
    const name = explorer.nameOf(place);
    return makeButton(inBrackets(text), () => explorer.select(place, true),
      { className: "operand", "aria-label": `${text}, ${name}`, title: name });
  }

  /** For an output: the heads' shares that it is the sum of. */
  shares({ stage, row, column }: Place): HTMLElement[] {
    const { data, state, numbers } = this.explorer;
    if (stage !== "output" || data.heads.length < 2) return [];
    const items = data.heads.map((name, head) => {
      const place = placeOf("head_contributions", head, row, column);
      return make("li", {}, `${name}: `, this.operand({ place, value: valueAt(numbers, place) }),
        state.off[head] ? ` ${texts.isOff}` : "");
    });
    return [make("p", {}, texts.shares), make("ul", { className: "sum" }, ...items)];
  }

  /** An input has a field; it stays while its number changes, so that typing is not disturbed. */
  paintInput(at: Place) {
    const { explorer } = this;
    const where = inputAddress(explorer.data, explorer.state, at);
    const value = valueAt(explorer.numbers, at);
    if (where !== this.shownInput) {
      this.shownInput = where;
      this.buildInput(at);
    }
    this.exact.textContent = this.value(at);
    this.field.set(value);
    const first = valueAt(explorer.data.inputs, parse(where) ?? at);
    this.original.textContent =
      first === value ? "" : fill(texts.original, { value: short(first) });
  }

  buildInput(at: Place) {
    const { explorer } = this;
    this.field = makeField(texts.changeTo, (to) =>
      explorer.edit(explorer.state.selected ?? at, to), undefined, () => explorer.takeBack());
    const title = this.title(at, this.exact);
    const step = (sign: string, label: string, by: number): HTMLElement =>
      makeButton(sign, () => this.field.step(by), { "aria-label": label, className: "step" });
    this.node.replaceChildren(title, make("p", {}, texts.isInput),
      make("div", { className: "line" }, this.field.node, step("−", texts.less, -STEP),
        step("+", texts.more, STEP), this.original));
  }

  /** Go to the first operand, or to the field. */
  enter() {
    const wanted = [".operand", "input", "button"].map((one) => this.node.querySelector<HTMLElement>(one));
    wanted.find(Boolean)?.focus();
  }
}
