/**
 * The red pencil: a document as a sheet of its numbers, right ones in ink, slips struck in red, spoiled
 * ones hatched. A pressed number shows the numbers computed from it; slips can be corrected one by one,
 * or first to last. The verdicts come with the numbers; corrections.ts corrects.
 */

import { RIGHT, ROUNDED, chainOf, correct } from "../engine/corrections.ts";
import { fill } from "../engine/text.ts";
import { isPage, make, makeButton, set, setOff, setText } from "../figures/explorer-parts.ts";
import { historyButtons } from "../figures/history-buttons.ts";
import { partsOf } from "../store/address.ts";
import { History } from "../store/history.ts";
import { fromRuns, toRuns } from "../store/pencil-address.ts";
import { pencil as texts } from "../strings/pencil.ts";
import { LOOKS, paperOf } from "./pencil-paper.ts";
import { remarksOf } from "./pencil-remarks.ts";
import { opened } from "./pencil-words.ts";
import sheets from "../data/pencil-sheets.ts";
import type { Instrument } from "../types/panels.ts";
import type { PencilCell, PencilDocument, PencilSheet, PencilState, PencilView } from "../types/pencil.ts";

/** How long a state remains unchanged before it is written into the address, in milliseconds. */
const REST = 250;

/** So much of the tab before the open one is seen, in pixels, where they do not all have room. */
const PEEK = 60;

/** The time in which the red of a corrected slip goes back by one step, in milliseconds. */
const STEP = 90;

/** The slips that are corrected in the document that is open. */
interface Corrected {
  open: number;
  corrected: Set<number>;
}

/** The elements of the pencil beside its paper and its remarks. */
interface PencilParts {
  /** For each document its tab, and how many numbers are judged and are right at first. */
  tabs: { tab: HTMLElement, count: HTMLElement, all: number, right: number }[];
  row: HTMLElement;
  /** For each state of a number the count and its share of the bar. */
  counts: { count: HTMLElement, node: HTMLElement }[];
  shares: HTMLElement[];
  slider: HTMLInputElement;
  scrubbed: HTMLElement;
  history: ReturnType<typeof historyButtons>;
  reset: HTMLButtonElement;
  news: HTMLElement;
  node: HTMLElement;
}

class Pencil implements PencilView {
  /** Its name in addresses. */
  id: string;
  sheets: PencilSheet[];
  documents: PencilDocument[];
  start: number;
  open: number;
  parts: PencilParts;
  node: HTMLElement;

  paper: ReturnType<typeof paperOf>;
  remarks: ReturnType<typeof remarksOf>;
  history = new History<Corrected>((left, right) => left.open === right.open
    && left.corrected.size === right.corrected.size && [...left.corrected].every((spot) => right.corrected.has(spot)));
  isPlaced = false;
  keeping = 0;
  /** The number that is asked about, -1 for none. */
  at = -1;
  state: PencilState = { values: [], states: [], changed: [] };
  /** The numbers that are computed from the selected one. */
  lit: { lit: Map<number, number>, ends: Set<number> } | null = null;

  /** @param first the document that is open at first */
  constructor(sheets: PencilSheet[], first: string, element: HTMLElement) {
    this.id = element.id.replace(/^pencil-/, "");
    this.sheets = sheets;
    /** The documents that were opened so far. */
    this.documents = [];
    this.start = sheets.findIndex(({ name }) => name === first);
    this.open = this.start;
    this.paper = paperOf(this, (spot) => this.press(spot));
    this.remarks = remarksOf(this, this.paper);
    this.parts = this.build();
    this.node = this.parts.node;
    this.show(this.start);
  }

  get document() {
    return this.documentAt(this.open);
  }

  documentAt(i: number) {
    this.documents[i] ??= opened(this.sheets[i]);
    return this.documents[i];
  }

  // ---- The page ----

  build(): PencilParts {
    const tabs = this.sheets.map(({ name, title, numbers }, i) => {
      const count = make("span", { className: "pencil-of" });
      const tab = makeButton(texts.shortTitles[name], () => this.show(i), { className: "pencil-tab", title });
      tab.append(count);
      const judged = numbers.filter(([, wanted]) => wanted !== null);
      return { tab, count, all: judged.length, right: judged.filter(([, , , state]) => state === RIGHT).length };
    });
    const row = make("div", { className: "pencil-tabs", role: "group", "aria-label": texts.documents },
      ...tabs.map(({ tab }) => tab));
    const counts = LOOKS.map((look, i) => {
      const count = make("b");
      const sample = make("span", { className: `n ${look}`, "aria-hidden": "true" }, "0.81");
      return { count, node: make("span", { className: "pencil-key" }, sample, count, ` ${texts.states[i]}`) };
    });
    const shares = LOOKS.map((look) => make("span", { className: look }));
    const slider = make("input", { type: "range", min: "0", step: "1", oninput: () => this.scrub() });
    const scrubbed = make("output");
    const history = historyButtons(() => this.restore(this.history.undo(this.now())),
      () => this.restore(this.history.redo(this.now())));
    const reset = makeButton(texts.reset, () => this.change(new Set()), { className: "reading-button" });
    const news = make("p", { className: "reading-unseen", role: "status" });
    const node = make("div", { className: "pencil" },
      row,
      make("div", { className: "pencil-head" },
        make("div", { className: "pencil-counts" }, ...counts.map((count) => count.node)),
        make("div", { className: "pencil-bar", "aria-hidden": "true" }, ...shares),
        make("div", { className: "pencil-scrub" },
          make("label", {}, make("span", {}, texts.scrub), slider), scrubbed, history.undo, history.redo, reset)),
      this.paper.node, this.remarks.node, news);
    return { counts, history, news, node, reset, row, scrubbed, shares, slider, tabs };
  }

  /** Open a document. */
  show(i: number) {
    this.open = i;
    this.at = -1;
    this.history.endStep();
    this.paper.write();
    const { slips } = this.document;
    const { row, slider, tabs } = this.parts;
    slider.max = String(slips.length);
    slider.disabled = !slips.length;
    this.paint();
    this.paper.name(() => { row.scrollLeft = tabs[i].tab.offsetLeft - row.offsetLeft - PEEK; });
  }

  // ---- What a reader does ----

  /** Ask about the number that is pressed, or no longer. */
  press(spot: number) {
    this.paper.enter(spot);
    this.at = this.at === spot ? -1 : spot;
    this.paint();
    if (this.at >= 0) this.paper.bring(spot); // what is said must not lie over it
  }

  /** Go to a number and ask about it. */
  ask(spot: number) {
    this.at = spot;
    this.paper.enter(spot);
    this.paint();
    this.paper.focus();
    this.paper.bring(spot);
  }

  close() {
    this.at = -1;
    this.paint();
  }

  /** @param isDrawn with the slider: all that one draws along is undone at once */
  change(corrected: Set<number>, isDrawn: boolean = false) {
    this.history.record(this.now(), { open: this.open, corrected }, isDrawn ? "slider" : "");
    this.become(corrected, !isDrawn && this.at >= 0);
  }

  become(corrected: Set<number>, isInSteps: boolean = false) {
    this.document.corrected = corrected;
    this.paint(isInSteps);
    setText(this.parts.news, this.summary());
  }

  scrub() {
    this.change(new Set(this.document.slips.slice(0, Number(this.parts.slider.value))), true);
  }

  now(): Corrected {
    return { open: this.open, corrected: this.document.corrected };
  }

  /** Go back, or forward again. */
  restore(state: Corrected | undefined) {
    if (!state) return;
    if (state.open !== this.open) this.show(state.open);
    this.become(state.corrected);
  }

  /** Correct a slip, or restore the printed number. */
  toggle(spot: number) {
    const corrected = new Set(this.document.corrected);
    if (!corrected.delete(spot)) corrected.add(spot);
    this.change(corrected);
    this.remarks.node.querySelector("button")?.focus({ preventScroll: true });
  }

  // ---- The state ----

  tally() {
    const { cells } = this.document;
    const tally = LOOKS.map(() => 0);
    cells.forEach(({ spot }) => { tally[this.state.states[spot]] += 1; });
    return tally;
  }

  summary() {
    const [right, slips, spoiled, rounded] = this.tally();
    return fill(texts.bar, { right, slips, spoiled, rounded });
  }

  /** @param isInSteps whether the changed numbers are painted step by step */
  paint(isInSteps: boolean = false) {
    const { document } = this;
    const { numbers, corrected, slips, cells } = document;
    this.state = correct(numbers, corrected);
    this.lit = this.at < 0 ? null : chainOf(numbers, this.at, corrected);
    const steps = ({ spot }: PencilCell) => this.lit?.lit.get(spot) ?? 0;
    const moves = isInSteps && !matchMedia("(prefers-reduced-motion: reduce)").matches;
    for (const cell of cells) {
      if (!moves || !steps(cell)) this.paper.paintCell(cell);
      else setTimeout(() => document === this.document && this.paper.paintCell(cell), STEP * steps(cell));
    }
    set(this.paper.node, "class", `pencil-paper${this.lit ? " asked" : ""}`);
    const tally = this.tally();
    this.document.right = tally[RIGHT];
    tally.forEach((count, i) => {
      setText(this.parts.counts[i].count, String(count));
      set(this.parts.shares[i], ".flexGrow", count);
    });
    this.parts.tabs.forEach(({ tab, count, all, right: atFirst }, i) => {
      const right = this.documents[i]?.right ?? atFirst;
      set(tab, "aria-pressed", String(i === this.open));
      setText(count, `${right}/${all}`);
    });
    this.parts.slider.value = String(corrected.size);
    const said = slips.length ? fill(texts.scrubbed, { n: corrected.size, all: slips.length }) : texts.noSlips;
    setText(this.parts.scrubbed, said);
    set(this.parts.slider, "aria-valuetext", said);
    this.parts.history.paint(this.history);
    setOff(this.parts.reset, !corrected.size);
    this.remarks.paint(tally[ROUNDED]);
    this.keep();
  }

  // ---- The address ----

  /** Write the state into the address when it has stood for a while. */
  keep() {
    clearTimeout(this.keeping);
    if (!isPage || !this.isPlaced) return;
    this.keeping = setTimeout(() => {
      const page = location.href.split("#")[0];
      const wanted = this.toHash();
      if (wanted === location.hash) return;
      const isOurs = new URLSearchParams(location.hash.slice(1)).has("pencil");
      if (wanted || isOurs) history.replaceState(history.state, "", page + wanted);
    }, REST);
  }

  toHash() {
    const { sheet, slips, corrected, bySpot } = this.document;
    if (this.open === this.start && this.at < 0 && !corrected.size) return "";
    const parts = [`#pencil=${this.id}`, `document=${sheet.name}`];
    if (this.at >= 0) parts.push(`at=${bySpot.get(this.at)?.address}`);
    const which = slips.flatMap((spot, i) => (corrected.has(spot) ? [i + 1] : []));
    if (which.length) parts.push(`corrected=${toRuns(which)}`);
    return parts.join("&");
  }

  /** Show the state of the address; an address of another form changes nothing. */
  readAddress() {
    this.isPlaced = true;
    const parts = partsOf("pencil", this.id);
    if (!parts) return;
    const open = this.sheets.findIndex(({ name }) => name === parts.get("document"));
    if (open < 0) return;
    const { slips, cells } = this.documentAt(open);
    const which = fromRuns(parts.get("corrected") ?? "", slips.length);
    if (which) this.documents[open].corrected = new Set(which.map((n) => slips[n - 1]));
    this.show(open);
    const cell = cells.find(({ address }) => address === parts.get("at"));
    if (!cell) return;
    this.at = cell.spot;
    this.paper.enter(cell.spot);
    this.paint();
    // The element itself is brought into sight first.
    requestAnimationFrame(() => requestAnimationFrame(() => this.paper.bring(cell.spot)));
  }
}

/** Open the figure on a page. */
export const open: Instrument = ({ first }, element) => {
  const pencil = new Pencil(sheets, first, element);
  return { node: pencil.node, readAddress: () => pencil.readAddress() };
};
