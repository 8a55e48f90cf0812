/**
 * A head whose matrices are here: one weight from its products on, and the head asked something
 * else, with its tokens in another order or others in their place.
 */

import { shown } from "../engine/numbers.ts";
import { origin } from "../engine/origins.ts";
import { at as placeAt } from "../engine/places.ts";
import { stages } from "../engine/stages.ts";
import { fill } from "../engine/text.ts";
import { make, makeButton, scientific, set, setOff, setText } from "../figures/explorer-parts.ts";
import { ask } from "../figures/origin-line.ts";
import { heads as texts } from "../strings/heads.ts";
import { explorer } from "../strings/explorer.ts";
import type { Operand, Place } from "../types.ts";

const { places } = explorer;

/** The columns of the strip, from the score on. */
const STAGES = ["scores", "scaled_scores", "exponentials", "weights"];

/** How wide a head is. */
const WIDTH = 32;

/** In a step there is room for so much; the line has the number in full. */
const written = (value: number) => (Math.abs(value) < 1e6 ? shown(value) : scientific(value, 2));

// ---- The strip ----

export function stripOf(view: any) {
  const { parts } = view;
  const asked = (stage: string) => ask(view, placeAt(stage, 0, view.state.place, view.state.key));
  parts.stripTitle = make("span", { className: "model-title" });
  parts.whole = view.known.map((head: number) =>
    makeButton(view.brief(head), () => view.chooseHead(head, 0),
      { className: "reading-button", "aria-label": `${view.brief(head)}: ${view.nameOf(head)}` }));
  parts.bars = Array.from({ length: WIDTH }, () => make("span"));
  parts.products = makeButton("", () => asked("scores"), { className: "heads-products" });
  parts.products.append(...parts.bars);
  parts.steps = STAGES.map((stage) => makeButton("", () => asked(stage), { className: "number" }));
  parts.stepNames = STAGES.map(() => make("span", { className: "soft" }));
  parts.strip = make("div", { className: "heads-strip head-0" },
    make("span", { className: "heads-step heads-terms" }, make("span", { className: "soft" }, texts.productsName), parts.products),
    ...STAGES.map((_, i) => make("span", { className: "heads-step" }, parts.stepNames[i], parts.steps[i])));
  return make("div", { className: "heads-asked" }, make("p", { className: "heads-whole" }, parts.stripTitle,
    make("span", { role: "group", "aria-label": texts.stripHeads }, ...parts.whole)), parts.strip);
}

export function paintStrip(view: any) {
  const { known, parts, state: { heads: [head], key, place }, words, worked: { run } } = view;
  const named = (i: number) => `${words[i]} (${i + 1})`;
  setText(parts.stripTitle, fill(known.includes(head) ? texts.strip : texts.stripNone,
    { from: named(place), to: named(key), head: view.nameOf(head) }));
  parts.whole.forEach((node: any, i: number) =>
    set(node, "aria-pressed", String(known[i] === head)));
  parts.strip.classList.toggle("empty", !run);
  [parts.products, ...parts.steps].forEach((button) => { button.disabled = !run; });
  if (!run) return;
  const products = run.query[0][place].map((x: number, i: number) => x * run.key[0][key][i]);
  const largest = Math.max(...products.map(Math.abs));
  parts.bars.forEach((bar: any, i: number) => {
    const size = (50 * Math.abs(products[i])) / largest;
    set(bar, ".height", `${size.toFixed(1)}%`);
    set(bar, ".top", `${(products[i] < 0 ? 50 : 50 - size).toFixed(1)}%`);
    set(bar, "class", products[i] < 0 ? "below" : "");
  });
  set(parts.products, "aria-label", fill(texts.products, { from: named(place), to: named(key),
    all: products.map((x: number) => shown(x, 2)).join(", ") }));
  STAGES.forEach((stage, i) => {
    setText(parts.stepNames[i], fill(texts.steps[i], { sum: written(run.row_sums[0][place]) }));
    setText(parts.steps[i], written(run[stage][0][place][key]));
  });
}

/** The known numbers of the head, for the line of arithmetic. */
export function aboutOf(view: any) {
  const word = (i: number) => `${view.words[i]} (${i + 1})`;
  return {
    hint: texts.hint,
    name: ({ stage, row, column }: Place) => fill(places[stage], { row: word(row),
      column: stages[stage].columns === "keys" ? word(column) : String((column ?? 0) + 1) }),
    origin: (at: Place) => origin(view.worked.inputs, view.worked.run, at),
    given: ({ stage, row, column }: Place) => {
      const { place, sentence } = view.tokenOf(view.ids[row]);
      const head = view.state.heads[0];
      return fill(texts.given, { ...view.placeOf(head), sentence: view.sentences[sentence].text, stage,
        row: place, column });
    },
    source: (_: any, { place }: Operand) => place,
  };
}

// ---- Another order, and other tokens ----

export function orderOf(view: any) {
  const { parts } = view;
  const button = (label: string, act: () => void) =>
    makeButton(label, act, { className: "reading-button" });
  parts.left = button(texts.left, () => move(view, -1));
  parts.right = button(texts.right, () => move(view, 1));
  parts.hereName = make("span");
  parts.here = make("select", { onchange: () => edit(view, (ids, place) => { ids[place] = Number(parts.here.value); }) });
  parts.add = button(texts.add, () => edit(view, (ids, place) => { ids.splice(place, 0, ids[place]); }));
  parts.remove = button(texts.remove, () => edit(view, (ids, place) => { ids.splice(place, 1); }));
  parts.recorded = button(texts.recorded, () => view.change({ own: null }));
  parts.note = make("p", { className: "soft heads-note", role: "status" });
  return make("div", { className: "heads-order", role: "group", "aria-label": texts.ask },
    make("div", { className: "model-controls" }, make("span", { className: "model-title" }, texts.ask),
      make("label", {}, parts.hereName, " ", parts.here), parts.remove, parts.add, parts.left, parts.right, parts.recorded),
    parts.note);
}

/** All tokens, to choose from: they come after what is seen first. */
export function fillOrder(view: any) {
  const { here } = view.parts;
  if (here.length) return;
  here.append(...view.sentences.map(({ first, text, tokens }: any) => make("optgroup", { label: text },
    ...tokens.map((word: string, i: number) =>
      make("option", { value: first + i }, fill(texts.option, { word, n: i + 1 }))))));
  here.value = String(view.ids[view.state.place]);
}

/** Change the tokens by their numbers. */
function edit(view: any, act: (ids: number[], place: number) => void) {
  const own = [...view.ids];
  act(own, view.state.place);
  view.change({ own });
}

/** The chosen token changes places with its neighbour. */
function move(view: any, by: number) {
  const { key, place } = view.state;
  const to = place + by;
  const own = [...view.ids];
  [own[place], own[to]] = [own[to], own[place]];
  view.change({ own, place: to, key: key === place ? to : key === to ? place : key });
}

export function paintOrder(view: any) {
  const { ids, known, parts, sentences, state: { heads, own, place, sentence } } = view;
  const [head] = heads;
  const isKnown = known.includes(head);
  setOff(parts.left, !isKnown || place === 0);
  setOff(parts.right, !isKnown || place === ids.length - 1);
  setOff(parts.add, !isKnown || ids.length >= view.most);
  setOff(parts.remove, !isKnown || ids.length < 2);
  parts.here.disabled = !isKnown;
  setOff(parts.recorded, !own);
  parts.here.value = String(ids[place]);
  setText(parts.hereName, fill(texts.here, { n: place + 1 }));
  const { first, tokens } = sentences[sentence];
  // The same tokens in another order.
  const isMoved = ids.length === tokens.length
    && tokens.every((_: string, i: number) => ids.includes(first + i));
  const kept = ids.filter((id: number, i: number) => view.tokenOf(id).place === i).length;
  /** The kind of note on a row. */
  const kindOf = (head: number): string => (view.placeOf(head).layer > 1 ? "later" : kept === ids.length ? "exact" : "first");
  /** The rows of which a note holds. */
  const rows: Record<string, string[]> = {};
  new Set<number>(heads).forEach((one) => { if (known.includes(one)) (rows[kindOf(one)] ??= []).push(view.brief(one)); });
  const { full, ...notes } = texts.notes;
  const note = !isKnown ? notes.none : isMoved ? (kept < ids.length ? notes.moved : notes.recorded)
    : Object.entries(rows).map(([kind, those]) =>
      fill(notes[kind], { kept, n: ids.length, rows: those.join(texts.and) })).join(" ");
  setText(parts.note, note + (isKnown && ids.length >= view.most ? ` ${fill(full, { n: view.most })}` : ""));
}
