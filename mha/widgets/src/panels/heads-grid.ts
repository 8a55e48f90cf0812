/**
 * All heads as small maps, paler the less a name holds of them; the chosen head in each sentence; and
 * all of it as a table.
 */

import maps from "../data/heads-maps.ts";
import { SHAPES, cellsOf, holds, meanShare } from "../engine/heads-names.ts";
import { percent, shown } from "../engine/numbers.ts";
import { fill } from "../engine/text.ts";
import { inItalics, make, makeButton, set, setText } from "../figures/explorer-parts.ts";
import { drawWeights } from "../figures/weight-maps.ts";
import { heads as texts } from "../strings/heads.ts";
import type { Matrix } from "../types/run.ts";

const { heads, layers } = maps;

/** The keys that lead from one map to another, whose layers are columns. */
const STEPS: Record<string, number> = { ArrowLeft: -heads, ArrowRight: heads, ArrowUp: -1, ArrowDown: 1 };

/** The number of heads in the list of those that a name fits best. */
const BEST = 5;

/** The opacity of the map of a head of which a name holds not at all. */
const PALEST = 0.15;

/** How many heads there are. */
const COUNT = layers * heads;

// ---- How far the name holds ----

/** Of each head, how far the name holds in each sentence, and on average. */
export function tested({ mapOf, pair, sentences, state: { name } }: any): { held: any[], mean: number }[] {
  const cells = sentences.map(({ tokens }: any) => cellsOf(name, tokens, pair));
  return Array.from({ length: COUNT }, (_, head) => {
    // Without a name there is nothing to hold.
    const held = name ? cells.map((those: any, i: number) =>
      holds(name, those, mapOf(i, head))) : [];
    return { held, mean: meanShare(held) };
  });
}

/** The heads in the order of the table: the best fit of the name first. */
export function ordered({ tested: { results }, state: { name, sentence } }: any): number[] {
  const heads = results.map((_: any, head: number) => head);
  if (!name) return heads;
  const worth = results.map(({ held }: any) => held[sentence]?.share ?? -1);
  return heads.sort((a: number, b: number) => worth[b] - worth[a] || a - b);
}

const shareOf = (held: any) => (held ? percent(held.share) : texts.none);

const meanOf = (mean: number) => (Number.isNaN(mean) ? texts.none : percent(mean));

const rowsOf = (held: any) => (held ? fill(texts.obeyed, held) : texts.none);

// ---- All heads ----

export function gridOf(view: any) {
  const { parts } = view;
  parts.name = make("select", { onchange: () => view.change({ name: parts.name.value }) },
    ...Object.keys(texts.names).map((name) => make("option", { value: name })));
  parts.rule = make("p", { className: "soft heads-rule" });
  parts.verdict = make("p", { className: "heads-verdict", role: "status" });
  parts.best = Array.from({ length: BEST }, (_, i) =>
    makeButton("", () => view.chooseHead(view.order[i]), { className: "reading-button" }));
  parts.bestTitle = make("span", { className: "soft" }, texts.best);
  parts.bestLine = make("div", { className: "heads-best", role: "group", "aria-label": texts.best },
    parts.bestTitle, ...parts.best);
  parts.sides = texts.sideNames.map((name: string, side: number) =>
    makeButton(name, () => view.show({ side }), { className: `reading-button head-${side}` }));
  parts.slots = Array.from({ length: COUNT }, (_, head) => slotOf(view, head));
  const mark = (text: number | string) => make("span", { className: "soft", ariaHidden: "true" }, String(text));
  parts.grid = make("div", { className: "heads-grid head-0", role: "radiogroup",
    "aria-label": fill(texts.maps, { n: COUNT }) },
  mark(""), ...Array.from({ length: heads }, (_, head) => mark(head + 1)),
  ...parts.slots.flatMap(({ node }: any, i: number) => (i % heads ? [node] : [mark(i / heads + 1), node])));
  parts.grid.style.setProperty("--map-rows", String(heads));
  parts.grid.addEventListener("keydown", (event: KeyboardEvent) => stepFrom(view, event));
  return make("div", { className: "heads-all" },
    make("div", { className: "model-controls" }, make("label", {}, `${texts.name} `, parts.name),
      make("span", { className: "heads-sides", role: "group", "aria-label": texts.side },
        make("span", { className: "soft" }, texts.side), ...parts.sides)),
    parts.rule, parts.verdict, parts.bestLine, make("p", { className: "model-title" }, fill(texts.mapsTitle, { n: COUNT })),
    make("div", { className: "heads-frame" }, parts.grid));
}

function slotOf(view: any, head: number) {
  const canvas = make("canvas", { width: 1, height: 1 }); // its usual 300 would widen the columns
  const node = makeButton("", () => view.chooseHead(head), { role: "radio", className: "heads-map" });
  node.append(canvas);
  return { node, canvas };
}

/**
 * Draw a map, unless it has been drawn with these weights and this colour.
 * @param on the canvas, with the weights and the colour of its last drawing
 */
function draw({ color }: any, on: any, weights: Matrix) {
  if (on.weights !== weights || on.color !== color) drawWeights(on.canvas, weights, color);
  Object.assign(on, { weights, color });
}

/** The functions that draw each map for the first time, or in other colours. */
export function drawsOf(view: any): (() => void)[] {
  const { lines, slots } = view.parts;
  return [...slots.map((slot: any, i: number) =>
    () => draw(view, slot, view.mapOf(view.state.sentence, i))),
  ...lines.map((line: any, i: number) =>
    () => draw(view, line, view.mapOf(i, view.state.heads[0])))];
}

/** Scroll a narrow page's maps to the first head. */
export function scrollToHead({ parts: { grid, slots }, state: { heads: [head] } }: any) {
  const { node } = slots[head];
  grid.parentElement.scrollLeft = node.offsetLeft - grid.offsetLeft - grid.parentElement.clientWidth / 2;
}

/** Arrows lead to the next map and choose it, as among radio buttons. */
function stepFrom(view: any, event: KeyboardEvent) {
  const { slots } = view.parts;
  const from = slots.findIndex(({ node }: any) => node === document.activeElement);
  const to = slots[from + STEPS[event.key]];
  if (from < 0 || !to) return;
  event.preventDefault();
  to.node.focus();
  view.chooseHead(from + STEPS[event.key]);
}

export function paintGrid(view: any) {
  const { order, pair, parts, tested: { results }, state: { heads: chosen, key, name, place, sentence, side } } = view;
  parts.name.value = name;
  const words = { from: pair[0].trim(), to: pair[1].trim(), others: view.others(), head: view.brief(chosen[0]) };
  [...parts.name.options].forEach((option) => setText(option, fill(texts.names[option.value], words)));
  const rule = fill(texts.rules[name], words) + (name ? ` ${texts.faded}` : "");
  if (view.rule !== rule) parts.rule.replaceChildren(...inItalics(rule));
  view.rule = rule;
  parts.sides.forEach((node: any, i: number) => set(node, "aria-pressed", String(i === side)));
  const shareIn = (head: number) => results[head].held[sentence]?.share ?? NaN;
  // A row counts for every head or for none.
  const isCounted = name && !Number.isNaN(shareIn(0));
  set(parts.bestLine, "class", ["heads-best", name ? "" : "empty", isCounted ? "" : "silent"].join(" "));
  setText(parts.bestTitle, name && !isCounted ? texts.bestNone : texts.best);
  parts.best.forEach((button: any, i: number) => {
    setText(button, isCounted ? `${view.brief(order[i])} ${percentOf(shareIn(order[i]))}` : texts.none);
    button.disabled = !isCounted;
  });
  parts.slots.forEach((slot: any, head: number) => {
    const weights = view.mapOf(sentence, head);
    if (slot.color) draw(view, slot, weights);
    const share = shareIn(head);
    const worth = percentOf(name ? share : weights[place][key]);
    set(slot.node, "aria-label", `${view.nameOf(head)} ${worth}`);
    set(slot.node, "title", `${view.brief(head)} ${worth}`);
    set(slot.node, "aria-checked", String(head === chosen[side]));
    slot.node.tabIndex = head === chosen[side] ? 0 : -1;
    set(slot.canvas, ".opacity", name ? String(PALEST + (1 - PALEST) * (share || 0)) : "1");
    set(slot.node, "class", ["heads-map", view.known.includes(head) ? "whole" : "",
      ...chosen.flatMap((one: number, j: number) => (one === head ? [`is-${j}`] : []))].join(" "));
  });
  paintVerdict(view);
}

/** Without decimals: there is little room. */
const percentOf = (share: number) => (Number.isNaN(share) ? texts.none : percent(share, 0));

/** The fit of the name to the first head. */
function paintVerdict(view: any) {
  const { parts, state: { heads: [head], name, sentence }, tested: { results } } = view;
  const { held, mean } = results[head];
  const said = (found: any) => (found ? fill(SHAPES[name] ? texts.foundShape : texts.found,
    { ...found, share: shareOf(found), rows: fill(texts.rows[Number(found.rows > 1)], found) }) : texts.silent);
  setText(parts.verdict, !name ? texts.untested : fill(texts.verdict,
    { head: view.brief(head), found: said(held[sentence]), mean: meanOf(mean) }));
}

// ---- One head in all sentences ----

export function sentencesOf(view: any) {
  const { parts } = view;
  parts.listTitle = make("p", { className: "model-title" });
  parts.lines = view.sentences.map(({ text }: any, i: number) => {
    const canvas = make("canvas", { onclick: (event: MouseEvent) => atPoint(view, i, event) });
    const button = makeButton(text.trim(), () => view.chooseSentence(i), { className: "heads-sentence" });
    const [share, rows] = [make("td"), make("td")];
    const node = make("tr", {}, make("td", {}, canvas), make("th", { scope: "row" }, button), share, rows);
    return { node, canvas, button, share, rows };
  });
  parts.columns = texts.columns.map((text: string) => make("th", { scope: "col" }, text));
  return make("div", { className: "heads-list head-0" }, parts.listTitle, make("table", {},
    make("thead", {}, make("tr", {}, ...parts.columns)),
    make("tbody", {}, ...parts.lines.map(({ node }: any) => node))));
}

/** Who points at a cell chooses its sentence, its word and its key. */
function atPoint(view: any, sentence: number, event: MouseEvent) {
  const { height, left, top, width } = event.target instanceof Element
    ? event.target.getBoundingClientRect() : new DOMRect();
  const n = view.sentences[sentence].tokens.length;
  const at = (share: number) => Math.min(n - 1, Math.max(0, Math.floor(share * n)));
  view.change({ sentence, place: at((event.clientY - top) / height), key: at((event.clientX - left) / width) });
}

export function paintSentences(view: any) {
  const { mapOf, parts, state: { heads: [head], name, sentence }, tested: { results } } = view;
  setText(parts.listTitle, fill(texts.sentences, view.placeOf(head)));
  setText(parts.columns[2], name ? texts.columns[2] : fill(texts.mostOf, { word: view.pair[0].trim() }));
  parts.columns[3].hidden = !name;
  parts.lines.forEach((line: any, i: number) => {
    if (line.color) draw(view, line, mapOf(i, head));
    set(line.button, "aria-pressed", String(i === sentence));
    set(line.button, "aria-label", fill(texts.chooseSentence, { sentence: view.sentences[i].text.trim() }));
    const held = results[head].held[i];
    setText(line.share, name ? shareOf(held) : mostOf(view, i, head));
    setText(line.rows, name ? rowsOf(held) : "");
  });
}

/** The token to which the chosen word gives most in a head, for a sentence that has the word. */
function mostOf({ mapOf, pair, sentences }: any, sentence: number, head: number) {
  const { tokens } = sentences[sentence];
  const row = mapOf(sentence, head)[tokens.indexOf(pair[0])];
  if (!row) return texts.none;
  const most = Math.max(...row);
  return fill(texts.most, { to: tokens[row.indexOf(most)].trim(), weight: shown(most, 3) });
}

// ---- The table ----

export function tableOf(view: any) {
  const { parts } = view;
  parts.table = make("div", { className: "heads-table", tabIndex: 0, role: "group", "aria-label": fill(texts.table, { n: COUNT }) });
  parts.fold = make("details", { className: "fold", ontoggle: () => paintTable(view) },
    make("summary", {}, fill(texts.table, { n: COUNT })), parts.table);
  return parts.fold;
}

/** Written when it is open: nobody else reads it. */
export function paintTable(view: any) {
  const { order, parts, sentences, state: { name }, tested: { results } } = view;
  if (!parts.fold.open) return;
  const text = (head: number, i: number) => {
    if (!name) return mostOf(view, i, head);
    const held = results[head].held[i];
    return held ? `${percent(held.share)}, ${rowsOf(held)}` : texts.none;
  };
  const title = name ? fill(texts.names[name], { from: view.pair[0].trim(), to: view.pair[1].trim() })
    : fill(texts.mostOf, { word: view.pair[0].trim() });
  const column = (words: string) => make("th", { scope: "col" }, words);
  parts.table.replaceChildren(make("table", {},
    make("caption", {}, fill(texts.tableName, { name: title })),
    make("thead", {}, make("tr", {}, column(texts.tableHead), ...name ? [column(texts.mean)] : [],
      ...sentences.map((sentence: any) => column(sentence.text.trim())))),
    make("tbody", {}, ...order.map((head: number) => make("tr", {},
      make("th", { scope: "row" }, view.brief(head)),
      ...name ? [make("td", {}, meanOf(results[head].mean))] : [],
      ...sentences.map((_: any, i: number) => make("td", {}, text(head, i))))))));
}
