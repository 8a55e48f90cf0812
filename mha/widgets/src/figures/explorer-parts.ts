/**
 * The figures' building blocks: elements, fields for numbers, drawings that wait until they are near
 * the screen.
 */

import { fill } from "../engine/text.ts";
import { full, short, shown } from "../engine/numbers.ts";
import { MOST, entered } from "../engine/typed-numbers.ts";
import { explorer as texts } from "../strings/explorer.ts";
import type { Complaint, NumberField, Wanted } from "../types/fields.ts";


/** How much a step changes a number. */
export const STEP = 0.1;


/** So much of a word that is repeated to a reader is enough. */
const NAMED = 20;

/** A word, or the beginning of one that is long. */
export const beginning = (word: string): string => ([...word].length > NAMED ? `${[...word].slice(0, NAMED).join("")}…` : word);

/** From this size on a number is too long for its place; the panel has it in full. */
const LONG = 1e15;

/** A number with an exponent. */
export const scientific = (value: number, places: number): string =>
  value.toExponential(places).replaceAll("-", "−").replace(/\.?0*e\+?/, "e");

/**
 * A number as the book writes it, with an exponent where that would not fit.
 *
 * @param given an input, which has no trailing zeros
 */
export function fitting(value: number, given: boolean, { places = 4 }: { places?: number } = {}): string {
  const isLong = Math.abs(value) >= LONG && Number.isFinite(value);
  if (isLong) return scientific(value, 2);
  return given ? short(value, places) : shown(value, places);
}

/** The numbers that a source prints for a number, each with whether it agrees. */
export const printed = (found: [string, boolean][]): string =>
  found.map(([text, agrees]) => `${agrees ? "≈" : "≠"} ${text.replaceAll("-", "−")}`).join(", ");

const written: WeakMap<Element, string> = new WeakMap();

/** Write a text into an element where it is not there yet. */
export function setText(element: Element, text: string) {
  if (written.get(element) === text) return;
  written.set(element, text);
  const { firstChild } = element;
  // A text that stays costs far less layout than one that takes another's place.
  if (firstChild instanceof Text && !firstChild.nextSibling) firstChild.data = text;
  else element.textContent = text;
}

/** A sentence, in which words between stars are italic. */
export const inItalics = (text: string): (Node | string)[] => text.split("*").map((part, i) => (i % 2 ? make("i", {}, part) : part));

/** Smaller differences come from rounding and are not visible in four decimals. */
const TINY = 1e-12;
const LEAST = 0.00005;

/**
 * The largest changes of a query's weights and of its output, in one sentence.
 *
 * @param words in
 * which head each moves most, where there are several
 */
export function effectOf(weights: number, outcome: number, { head, endHead, what = "", ...words }: { token: string, end: string, head?: string, endHead?: string, what?: string }) {
  const said = (by: number, where: string | undefined) =>
    (by < LEAST ? texts.lessThan
      : fill(texts.upTo, { most: shown(by) }) + (where ? fill(texts.inHead, { head: where }) : ""));
  const kind = weights > TINY ? outcome > TINY ? "both" : "weights" : outcome > TINY ? "outcome" : "none";
  return fill(texts.effect[kind], { ...words, what, outcome: said(outcome, endHead),
    weights: said(weights, head) }).trim();
}

const marked: WeakMap<Element, Record<string, string>> = new WeakMap();

/**
 * Set an attribute, or with a dot before its name a property of the style, unless it has the value
 * already: setting it again costs time in every frame.
 */
export function set(element: HTMLElement | SVGElement, name: string, value: string | number) {
  const text = String(value);
  const known = marked.get(element) ?? {};
  if (known[name] === text) return;
  known[name] = text;
  marked.set(element, known);
  if (name.startsWith(".")) (element.style as unknown as Record<string, string>)[name.slice(1)] = text;
  else element.setAttribute(name, text);
}

/**
 * How strongly a weight is drawn. A property of its own that style sheets compute with would
 * have every style of the element worked out anew; opacity is taken over as it is.
 */
export const strength = (weight: number): number => Number((0.4 + 0.6 * weight).toFixed(3));

/**
 * A bar as long as its weight, of the weight that takes all its room: lying and as strong, or
 * upright and small.
 */
export function setBar(bar: HTMLElement, weight: number, { upright = false, of = 1 }: { upright?: boolean, of?: number } = {}): void {
  const length = `${Number((100 * weight / of).toFixed(2))}%`;
  set(bar, ".backgroundSize", upright ? `100% ${length}` : `${length} 100%`);
  if (!upright) set(bar, ".opacity", strength(weight));
}

/** An element with properties, attributes (names with a hyphen, and role) and children. */
export function make<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag, properties: Record<string, unknown> = {}, ...children: (Node | string)[]
): HTMLElementTagNameMap[Tag] {
  const element = document.createElement(tag);
  const of = element as unknown as Record<string, unknown>;
  for (const [name, value] of Object.entries(properties)) {
    if (name.includes("-") || name === "role") element.setAttribute(name, value as string);
    else of[name] = value;
  }
  element.append(...children);
  return element;
}

export const makeButton = (label: string, onclick: () => void, properties: Record<string, unknown> = {}): HTMLButtonElement =>
  make("button", { type: "button", onclick, ...properties }, label);

/**
 * Switch a button off or on. A button that is switched off while it has the focus gives the focus to
 * the next enabled button, so that the keyboard remains in its figure.
 */
export function setOff(button: HTMLButtonElement, isOff: boolean) {
  const hadFocus = isOff && document.activeElement === button;
  button.disabled = isOff;
  if (!hadFocus) return;
  queueMicrotask(() => { // by then all stand as they are to be
    const all = [...button.parentElement?.querySelectorAll<HTMLButtonElement | HTMLSelectElement>("button, select") ?? []];
    const at = all.indexOf(button);
    [...all.slice(at + 1), ...all.slice(0, at).reverse()].find((one) => !one.disabled && one.offsetParent)
      ?.focus({ preventScroll: true });
  });
}

/**
 * Mark the caption of a figure as that of its first state, once a reader has changed the figure. The
 * texts and tables of the page about an instrument, whose class has its name, are marked too.
 * @param node in the figure
 * @param isOther whether these texts and tables are about other numbers than the figure shows
 */
export function markCaption(node: Element, isChanged: boolean, isOther: boolean = isChanged) {
  const mark = (of: Element | null | undefined, isOn: boolean, text: string): void => {
    const found = of?.querySelector(":scope > .as-at-first");
    if (!isOn) found?.remove();
    else if (!found) of?.append(make("span", { className: "as-at-first" }, text));
  };
  const caption = node.closest("figure")?.querySelector(".caption-text");
  // A caption whose numbers follow the figure is true.
  mark(caption, isChanged && !caption?.querySelector("data[data-of]"), texts.asAtFirst);
  document.querySelectorAll(`.tag_of-${node.closest("mha-instrument")?.id}`).forEach((one) =>
    mark(one.querySelector(".caption-text") ?? one, isOther, texts.own));
}

/** Whether there is an address to share: a frame in a notebook has none. */
export const isPage = location.protocol !== "about:";

/** Where the style sheets are: beside the scripts. */
const folder = (document.currentScript?.getAttribute("src") ?? "").replace(/[^/]*$/, "");

const styles: Record<string, Promise<void>> = {};

/**
 * Load a style sheet once. A page in a notebook holds its sheets as text and loads none. A sheet that
 * cannot be had is no reason to show nothing, so the promise never fails.
 */
export function loadStyle(name: string): Promise<void> {
  styles[name] ??= new Promise((loaded) => {
    const onload = () => loaded();
    if (document.getElementById(name)) loaded();
    else document.head.append(make("link", { rel: "stylesheet", href: folder + name, onerror: onload, onload }));
  });
  return styles[name];
}

let made = 0;
export const freshId = () => `explorer-${(made += 1)}`;

export function makeGroup(title: string, ...children: (Node | string)[]): HTMLFieldSetElement {
  return make("fieldset", {}, make("legend", {}, title), ...children);
}

/** @param name of the group */
export function makeChoice(type: "radio" | "checkbox", name: string, label: string, onchange: (on: boolean) => void) {
  const input = make("input", { type, name, onchange: () => onchange(input.checked) });
  const word = make("span", {}, label);
  return { input, word, node: make("label", { className: "choice" }, input, word) };
}

/** An input for a number, and the error message next to it. */
export function makeEntry() {
  const error = make("span", { className: "error", role: "alert", id: freshId() });
  const input = make("input", {
    type: "text", inputMode: "decimal", autocomplete: "off", spellcheck: false,
    "aria-describedby": error.id,
  });
  const complain = (sentence: string) => {
    error.textContent = sentence;
    if (sentence) input.setAttribute("aria-invalid", "true");
    else input.removeAttribute("aria-invalid");
  };
  return { input, error, complain };
}

/**
 * A field for a number.
 *
 * @param apply takes a number, and returns an error message, or ""
 * @param wanted which numbers the field takes
 * @param takeBack undoes the changes that `apply` made while a text was typed that is refused
 */
export function makeField(label: string, apply: (value: number) => string, wanted?: Wanted, takeBack: () => void = () => {}): NumberField {
  const { input, error, complain } = makeEntry();
  let isRefused = false;
  const enter = () => {
    const { value, wrong } = entered(input.value, wanted);
    if (wrong) {
      isRefused = true;
      takeBack();
    }
    isRefused = false;
    complain(wrong || fill(apply(value), { text: input.value.trim() }));
  };
  input.addEventListener("input", enter);
  const step = (by: number) => {
    const { value, wrong } = entered(input.value, wanted);
    if (wrong) return;
    input.value = full(stepped(value, by, wanted?.most));
    enter();
  };
  input.addEventListener("keydown", (event: KeyboardEvent) => {
    const by = event.key === "ArrowUp" ? STEP : event.key === "ArrowDown" ? -STEP : 0;
    if (by) { event.preventDefault(); step(by); }
  });
  const name = make("label", {}, label, " ", input);
  return {
    input, step, node: make("span", { className: "field" }, name, error),
    set: (value: number) => {
      if (isRefused) return; // the text that is refused stays, so that it can be mended
      if (document.activeElement === input && entered(input.value, wanted).value === value) return;
      input.value = full(value);
      complain("");
    },
  };
}

/**
 * A number that is moved by a step: without the dust of binary fractions, and no further than a field
 * takes it.
 */
export const stepped = (value: number, by: number, most: number = MOST): number =>
  Math.max(-most, Math.min(most, Number((value + by).toFixed(10))));

/**
 * The sentence below a field whose text is refused, one for all fields of a figure.
 * @param figure that the fields are in
 */
export function makeComplaint(figure: HTMLElement): Complaint {
  const node = make("span", { className: "field-error", role: "alert", id: freshId() });
  let about: HTMLElement | null = null;
  figure.append(node);
  const clear = () => {
    setText(node, "");
    about?.removeAttribute("aria-describedby");
    about?.removeAttribute("aria-invalid");
    about = null;
  };
  // It stays until a reader does something else; going on by Tab alone takes nothing away.
  addEventListener("pointerdown", ({ target }) => {
    if (target !== about && (target as Element).closest("button, input, select, summary, label, a")) clear();
  }, true);
  addEventListener("keydown", ({ key, target }) => {
    if (target !== about && !["Tab", "Shift"].includes(key)) clear();
  }, true);
  const say = (field: HTMLElement, sentence: string) => {
    clear();
    if (!sentence) return;
    about = field;
    setText(node, sentence);
    field.setAttribute("aria-invalid", "true");
    field.setAttribute("aria-describedby", node.id);
    const [at, around] = [field, figure].map((one) => one.getBoundingClientRect());
    const room = Math.min(around.width, document.documentElement.clientWidth - around.left) - node.offsetWidth;
    set(node, ".left", `${Math.max(0, Math.min(at.left - around.left, room))}px`);
    set(node, ".top", `${at.bottom - around.top + 4}px`);
  };
  return { say, clear };
}

/**
 * How far a pointer has dragged a number: to the right, and with a mouse upwards too. A finger that
 * moves upwards scrolls the page.
 */
export const gone = (from: PointerEvent, to: PointerEvent): number => to.clientX - from.clientX
  + (from.pointerType === "mouse" ? from.clientY - to.clientY : 0);

/**
 * Where a slider stood before a finger came down on it: one that goes up or down moves the page, and
 * the slider goes back.
 */
let before = "";
addEventListener("pointerdown", ({ target }) => {
  if (target instanceof HTMLInputElement) before = target.value;
}, true);
addEventListener("pointercancel", ({ target }) => {
  if (!(target instanceof HTMLInputElement) || target.type !== "range") return;
  target.value = before;
  ["input", "change"].forEach((name) => target.dispatchEvent(new Event(name, { bubbles: true })));
}, true);

/** How far from the screen something follows a change at once, and how much later the rest does. */
const NEAR = "10% 0%";
export const LATER_MS = 250;

/**
 * What draws an element at once where it is near the screen; where it is not, when it comes near,
 * has the focus or is printed, or a little later.
 */
export function nearFirst(node: Element, draw: () => void): (isAsked?: boolean) => void {
  let isNear = true;
  let late: number | null = null;
  const now = () => {
    clearTimeout(late ?? undefined);
    late = null;
    draw();
  };
  const catchUp = () => { if (late) now(); };
  new IntersectionObserver((entries) => {
    isNear = entries[entries.length - 1].isIntersecting;
    if (isNear) catchUp();
  }, { rootMargin: NEAR }).observe(node);
  node.addEventListener("focusin", catchUp, true);
  addEventListener("beforeprint", catchUp);
  return (isAsked = isNear) => {
    if (isAsked) {
      now();
      return;
    }
    clearTimeout(late ?? undefined);
    late = setTimeout(now, LATER_MS);
  };
}

/** The longest time that a slice of deferred tasks blocks the page, in milliseconds. */
const SLICE_MS = 8;

/** The functions that finish all waiting drawings at once. */
const waiting: Set<() => void> = new Set();
addEventListener("beforeprint", () => waiting.forEach((finish) => finish()));

/** Whether nothing waits any more. */
export const isSettled = () => waiting.size === 0;

/**
 * Do deferred tasks after the first drawing, in this order, in short slices between frames.
 *
 * @returns a function that does the remaining tasks at once, as printing requires
 */
export function inSlices(tasks: (() => void)[]): () => void {
  const left = [...tasks];
  const run = (ms: number) => {
    const end = performance.now() + ms;
    do left.shift()?.(); while (left.length && performance.now() < end);
    if (left.length) return;
    waiting.delete(finish);
    if (isSettled()) dispatchEvent(new Event("settled"));
  };
  const finish = () => run(Infinity);
  const next = () => requestAnimationFrame(() => setTimeout(() => {
    if (left.length) run(SLICE_MS);
    if (left.length) next();
  }));
  waiting.add(finish);
  next();
  return finish;
}
