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
import type { HeadsFigure, Held } from "../types/heads.ts";
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
export function tested({ mapOf, pair, sentences, state: { name } }: HeadsFigure): { held: Held[], mean: number }[] {
  const cells = sentences.map(({ tokens }) => cellsOf(name, tokens, pair));
  return Array.from({ length: COUNT }, (_, head) => {
    // Without a name there is nothing to hold.
    const held = name ? cells.map((those, i) => holds(name, those, mapOf(i, head))) : [];
    return { held, mean: meanShare(held) };
  });
}

/** The heads in the order of the table: the best fit of the name first. */
export function ordered({ tested: { results }, state: { name, sentence } }: HeadsFigure): number[] {
  const all = results.map((_, head) => head);
  if (!name) return all;
  const worth = results.map(({ held }) => held[sentence]?.share ?? -1);
  return all.sort((a, b) => worth[b] - worth[a] || a - b);
}

const shareOf = (held: Held) => (held ? percent(held.share) : texts.none);

const meanOf = (mean: number) => (Number.isNaN(mean) ? texts.none : percent(mean));

const rowsOf = (held: Held) => (held ? fill(texts.obeyed, held) : texts.none);

/** Without decimals: there is little room. */
const percentOf = (share: number) => (Number.isNaN(share) ? texts.none : percent(share, 0));

/** A canvas with the weights and the colour of its last drawing, "" before the first. */
interface DrawnMap {
  canvas: HTMLCanvasElement;
  weights: Matrix | null;
  color: string;
}

/** Draw a map, unless it has been drawn with these weights and this colour. */
function draw({ color }: HeadsFigure, on: DrawnMap, weights: Matrix) {
  if (on.weights !== weights || on.color !== color) drawWeights(on.canvas, weights, color);
  Object.assign(on, { weights, color });
}

// ---- All heads ----

/** All heads as maps, with the choice of a name for them. */
export function makeGrid(view: HeadsFigure) {
  const choice = make("select", { onchange: () => view.change({ name: choice.value }) },
    ...Object.keys(texts.names).map((name) => make("option", { value: name })));
  const rule = make("p", { className: "soft heads-rule" });
  const verdict = make("p", { className: "heads-verdict", role: "status" });
  const best = Array.from({ length: BEST }, (_, i) =>
    makeButton("", () => view.chooseHead(view.order[i]), { className: "reading-button" }));
  const bestTitle = make("span", { className: "soft" }, texts.best);
  const bestLine = make("div", { className: "heads-best", role: "group", "aria-label": texts.best },
    bestTitle, ...best);
  const sides = texts.sideNames.map((name, side) =>
    makeButton(name, () => view.show({ side }), { className: `reading-button head-${side}` }));
  const slots = Array.from({ length: COUNT }, (_, head) => {
    const canvas = make("canvas", { width: 1, height: 1 }); // its usual 300 would widen the columns
    const node = makeButton("", () => view.chooseHead(head), { role: "radio", className: "heads-map" });
    node.append(canvas);
    const map: DrawnMap = { canvas, weights: null, color: "" };
    return { ...map, node };
  });
  const mark = (text: number | string) => make("span", { className: "soft", ariaHidden: "true" }, String(text));
  const grid = make("div", { className: "heads-grid head-0", role: "radiogroup",
    "aria-label": fill(texts.maps, { n: COUNT }) },
  mark(""), ...Array.from({ length: heads }, (_, head) => mark(head + 1)),
  ...slots.flatMap(({ node }, i) => (i % heads ? [node] : [mark(i / heads + 1), node])));
  grid.style.setProperty("--map-rows", String(heads));
  grid.addEventListener("keydown", stepFrom);
  const frame = make("div", { className: "heads-frame" }, grid);
  const node = make("div", { className: "heads-all" },
    make("div", { className: "model-controls" }, make("label", {}, `${texts.name} `, choice),
      make("span", { className: "heads-sides", role: "group", "aria-label": texts.side },
        make("span", { className: "soft" }, texts.side), ...sides)),
    rule, verdict, bestLine, make("p", { className: "model-title" }, fill(texts.mapsTitle, { n: COUNT })), frame);

  /** The rule that is written. */
  let written = "";

  /** Arrows lead to the next map and choose it, as among radio buttons. */
  function stepFrom(event: KeyboardEvent) {
    const from = slots.findIndex((slot) => slot.node === document.activeElement);
    const to = slots[from + STEPS[event.key]];
    if (from < 0 || !to) return;
    event.preventDefault();
    to.node.focus();
    view.chooseHead(from + STEPS[event.key]);
  }

  /** Scroll a narrow page's maps to the first head. */
  function scrollToHead() {
    const { node: slot } = slots[view.state.heads[0]];
    frame.scrollLeft = slot.offsetLeft - grid.offsetLeft - frame.clientWidth / 2;
  }

  function paint() {
    const { order, pair, tested: { results }, state: { heads: chosen, key, name, place, sentence, side } } = view;
    choice.value = name;
    const words = { from: pair[0].trim(), to: pair[1].trim(), others: view.others(), head: view.brief(chosen[0]) };
    [...choice.options].forEach((option) => setText(option, fill(texts.names[option.value], words)));
    const said = fill(texts.rules[name], words) + (name ? ` ${texts.faded}` : "");
    if (written !== said) rule.replaceChildren(...inItalics(said));
    written = said;
    sides.forEach((button, i) => set(button, "aria-pressed", String(i === side)));
    const shareIn = (head: number) => results[head].held[sentence]?.share ?? NaN;
    // A row counts for every head or for none.
    const isCounted = name !== "" && !Number.isNaN(shareIn(0));
    set(bestLine, "class", ["heads-best", name ? "" : "empty", isCounted ? "" : "silent"].join(" "));
    setText(bestTitle, name && !isCounted ? texts.bestNone : texts.best);
    best.forEach((button, i) => {
      setText(button, isCounted ? `${view.brief(order[i])} ${percentOf(shareIn(order[i]))}` : texts.none);
      button.disabled = !isCounted;
    });
    slots.forEach((slot, head) => {
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
        ...chosen.flatMap((one, j) => (one === head ? [`is-${j}`] : []))].join(" "));
    });
    paintVerdict();
  }

  /** The fit of the name to the first head. */
  function paintVerdict() {
    const { state: { heads: [head], name, sentence }, tested: { results } } = view;
    const { held, mean } = results[head];
    const said = (found: Held) => (found ? fill(SHAPES[name] ? texts.foundShape : texts.found,
      { ...found, share: shareOf(found), rows: fill(texts.rows[Number(found.rows > 1)], found) }) : texts.silent);
    setText(verdict, !name ? texts.untested : fill(texts.verdict,
      { head: view.brief(head), found: said(held[sentence]), mean: meanOf(mean) }));
  }

  /** The functions that draw each map for the first time, or in other colours. */
  const draws = () => slots.map((slot, i) => () => draw(view, slot, view.mapOf(view.state.sentence, i)));

  /** The colour of the maps, which is known once they are in the page. */
  const colorNow = () => getComputedStyle(slots[0].canvas).color;

  return { node, colorNow, draws, paint, scrollToHead };
}

// ---- One head in all sentences ----

/** The first head in all sentences. */
export function makeSentences(view: HeadsFigure) {
  const title = make("p", { className: "model-title" });
  const lines = view.sentences.map(({ text }, i) => {
    const canvas = make("canvas", { onclick: (event: MouseEvent) => chooseAt(i, event) });
    const button = makeButton(text.trim(), () => view.chooseSentence(i), { className: "heads-sentence" });
    const [share, rows] = [make("td"), make("td")];
    const map: DrawnMap = { canvas, weights: null, color: "" };
    return { ...map, button, share, rows,
      node: make("tr", {}, make("td", {}, canvas), make("th", { scope: "row" }, button), share, rows) };
  });
  const columns = texts.columns.map((text) => make("th", { scope: "col" }, text));
  const node = make("div", { className: "heads-list head-0" }, title, make("table", {},
    make("thead", {}, make("tr", {}, ...columns)),
    make("tbody", {}, ...lines.map((line) => line.node))));

  /** Choose the sentence, the token and the key of the square that is pointed at. */
  function chooseAt(sentence: number, { clientX, clientY }: MouseEvent) {
    const { height, left, top, width } = lines[sentence].canvas.getBoundingClientRect();
    const n = view.sentences[sentence].tokens.length;
    const at = (share: number) => Math.min(n - 1, Math.max(0, Math.floor(share * n)));
    view.change({ sentence, place: at((clientY - top) / height), key: at((clientX - left) / width) });
  }

  function paint() {
    const { mapOf, state: { heads: [head], name, sentence }, tested: { results } } = view;
    setText(title, fill(texts.sentences, view.placeOf(head)));
    setText(columns[2], name ? texts.columns[2] : fill(texts.mostOf, { word: view.pair[0].trim() }));
    columns[3].hidden = !name;
    lines.forEach((line, i) => {
      if (line.color) draw(view, line, mapOf(i, head));
      set(line.button, "aria-pressed", String(i === sentence));
      set(line.button, "aria-label", fill(texts.chooseSentence, { sentence: view.sentences[i].text.trim() }));
      const held = results[head].held[i];
      setText(line.share, name ? shareOf(held) : mostOf(view, i, head));
      setText(line.rows, name ? rowsOf(held) : "");
    });
  }

  /** The functions that draw each map for the first time, or in other colours. */
  const draws = () => lines.map((line, i) => () => draw(view, line, view.mapOf(i, view.state.heads[0])));

  return { node, draws, paint };
}

/** The token to which the chosen word gives most in a head, for a sentence that has the word. */
function mostOf({ mapOf, pair, sentences }: HeadsFigure, sentence: number, head: number) {
  const { tokens } = sentences[sentence];
  const row = mapOf(sentence, head)[tokens.indexOf(pair[0])];
  if (!row) return texts.none;
  const most = Math.max(...row);
  return fill(texts.most, { to: tokens[row.indexOf(most)].trim(), weight: shown(most, 3) });
}

// ---- The table ----

/** All heads and all sentences as a table, written while it is open: nobody else reads it. */
export function makeTable(view: HeadsFigure) {
  const table = make("div", { className: "heads-table", tabIndex: 0, role: "group", "aria-label": fill(texts.table, { n: COUNT }) });
  const node = make("details", { className: "fold", ontoggle: () => paint() },
    make("summary", {}, fill(texts.table, { n: COUNT })), table);

  function paint() {
    const { order, pair, sentences, state: { name }, tested: { results } } = view;
    if (!node.open) return;
    const text = (head: number, i: number) => {
      if (!name) return mostOf(view, i, head);
      const held = results[head].held[i];
      return held ? `${percent(held.share)}, ${rowsOf(held)}` : texts.none;
    };
    const title = name ? fill(texts.names[name], { from: pair[0].trim(), to: pair[1].trim() })
      : fill(texts.mostOf, { word: pair[0].trim() });
    const column = (words: string) => make("th", { scope: "col" }, words);
    table.replaceChildren(make("table", {},
      make("caption", {}, fill(texts.tableName, { name: title })),
      make("thead", {}, make("tr", {}, column(texts.tableHead), ...name ? [column(texts.mean)] : [],
        ...sentences.map((sentence) => column(sentence.text.trim())))),
      make("tbody", {}, ...order.map((head) => make("tr", {},
        make("th", { scope: "row" }, view.brief(head)),
        ...name ? [make("td", {}, meanOf(results[head].mean))] : [],
        ...sentences.map((_, i) => make("td", {}, text(head, i))))))));
  }

  return { node, paint };
}
