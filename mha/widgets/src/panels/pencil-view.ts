/**
 * The red pencil: a document as a sheet of its numbers, right ones in ink, slips struck in red, spoiled
 * ones hatched. A pressed number shows the numbers computed from it; slips can be corrected one by one,
 * or first to last. The verdicts come with the numbers; corrections.ts corrects.
 */

import { RIGHT, ROUNDED, SLIP, chainOf, correct, evaluate, slipsBehind } from "../engine/corrections.ts";
import { short, shown } from "../engine/numbers.ts";
import { parse } from "../engine/places.ts";
import { chain } from "../engine/signs.ts";
import { stages } from "../engine/stages.ts";
import { fill } from "../engine/text.ts";
import {
  inSlices, isPage, make, makeButton, set, setOff, setText,
} from "../figures/explorer-parts.ts";
import { historyButtons } from "../figures/history-buttons.ts";
import { partsOf } from "../store/address.ts";
import { dimension } from "../store/explorer-state.ts";
import { History } from "../store/history.ts";
import { pencil as texts } from "../strings/pencil.ts";
import { marked, named, opened, raised, withMinus, written } from "./pencil-words.ts";
import sheets from "../data/pencil-sheets.ts";
import type { Instrument, PencilBlock, PencilCell, PencilDocument, PencilRow, PencilSheet, PencilState } from "../types.ts";

/** How long a state stands before it is written into the address, in milliseconds. */
const REST = 250;

/** So many slips, or claims, are named. */
const NAMED = 3;

/** The most rows of blocks, each of another stage, that are set one below the other. */
const STACKED = 2;

/** So many rows are seen on the first screen: the others follow. */
const SEEN = 40;

/** So much of the tab before the open one is seen, in pixels, where they do not all have room. */
const PEEK = 60;

/** From a corrected slip red goes back a step in so many milliseconds. */
const STEP = 90;

const LOOKS = ["right", "slip", "spoiled", "inexact"];

/** The relation of a number to the selected one: none, itself, computed from it, or the end of that. */
const LINKS = ["", " at", " lit", " end"];

/** The position of a block in its document. */
function linesOf({ rows }: PencilBlock): string {
  const lines = rows.flatMap(({ line, lines = [] }) => [line, ...lines]);
  const [from, to] = [Math.min(...lines), Math.max(...lines)];
  return from === to ? fill(texts.inLine, { line: from }) : fill(texts.inLines, { from, to });
}

/** The slips that are corrected in the document that is open. */
interface Corrected {
  open: number;
  corrected: Set<number>;
}

class Pencil {
  /** Its name in addresses. */
  id: string;
  sheets: PencilSheet[];
  documents: PencilDocument[];
  start: number;
  open: number;
  parts: any;
  node: any;

  /** The look and the state of each number, so that only changed numbers are painted again. */
  looks: number[] = [];
  values: number[] = [];
  /** Whether it has fewer decimals than others of its block. */
  isShort: boolean[] = [];
  /** The buttons of the open document, by their spots. */
  buttons: Map<number, any> = new Map();
  cellOf: Map<any, PencilCell> = new Map();
  history = new History<Corrected>((left, right) => left.open === right.open
    && left.corrected.size === right.corrected.size && [...left.corrected].every((spot) => right.corrected.has(spot)));
  isPlaced = false;
  keeping = 0;
  /** The number that is asked about, and the one that the tabulator leads to. */
  at = -1;
  current = -1;
  /** Writes what is not on the first screen, and names every number, at once. */
  finish = () => {};
  /** The blocks that are still to be written. */
  waiting: (() => void)[] = [];
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

  build() {
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
    const paper = make("div", {
      className: "pencil-paper", role: "group", "aria-label": texts.title,
      onkeydown: (event: KeyboardEvent) => this.move(event),
      onclick: (event: MouseEvent) => this.press(event.target),
    });
    const said = make("div", { className: "pencil-said" });
    const news = make("p", { className: "reading-unseen", role: "status" });
    const node = make("div", { className: "pencil" },
      row,
      make("div", { className: "pencil-head" },
        make("div", { className: "pencil-counts" }, ...counts.map((count) => count.node)),
        make("div", { className: "pencil-bar", "aria-hidden": "true" }, ...shares),
        make("div", { className: "pencil-scrub" },
          make("label", {}, make("span", {}, texts.scrub), slider), scrubbed, history.undo, history.redo, reset)),
      paper, said, news);
    return { counts, history, news, node, paper, reset, row, said, scrubbed, shares, slider, tabs };
  }

  /** Open a document. */
  show(i: number) {
    this.open = i;
    this.at = -1;
    this.history.endStep();
    this.write();
    this.paint();
    this.name();
  }

  /** Write the open document's sheet as it is printed, which is seen first. */
  write() {
    const { sheet, bySpot, cells, slips } = this.document;
    const { paper } = this.parts;
    this.buttons = new Map();
    this.cellOf = new Map();
    this.looks = [];
    this.values = [];
    this.isShort = [];
    let part = "";
    const stacked: Set<string> = new Set();
    const write = (block: PencilBlock) => {
      const title = this.partOf(block);
      if (title && title !== part) {
        part = title;
        stacked.clear();
        paper.append(make("p", { className: "pencil-part" }, ...marked(title)));
      }
      const isShort = block.rows.length <= STACKED;
      if (!isShort || stacked.has(block.stage)) stacked.clear();
      if (stacked.size) paper.lastElementChild?.append(this.block(block));
      else paper.append(make("div", { className: "pencil-stack" }, this.block(block)));
      if (isShort) stacked.add(block.stage);
    };
    paper.replaceChildren();
    let rows = 0;
    const isSeen = sheet.blocks.map((block) => (rows += block.rows.length) - block.rows.length < SEEN);
    sheet.blocks.filter((_, i) => isSeen[i]).forEach(write);
    this.waiting = sheet.blocks.filter((_, i) => !isSeen[i]).map((block) => () => {
      write(block);
      block.rows.forEach(({ at }) => at.forEach((spot) =>
        this.paintCell((bySpot.get(spot) as PencilCell))));
    });
    // What follows comes below the screen.
    set(paper, ".minHeight", this.waiting.length ? "100vh" : "");
    if (this.waiting.length) this.waiting.push(() => set(paper, ".minHeight", ""));
    this.buttons.get(cells[0].spot).tabIndex = 0;
    this.current = cells[0].spot;
    this.parts.slider.max = String(slips.length);
    this.parts.slider.disabled = !slips.length;
  }

  /** The title above blocks of one example and head; "" for blocks that belong to none. */
  partOf({ example, head, stage }: PencilBlock): string {
    const { title, heads } = this.document.sheet.examples[example];
    if (stage === "root") return "";
    if (heads.length === 1 || !this.isByHead(example)) return `*${title}*`;
    return `*${title}*, ${head < 0 ? texts.heads : heads[head]}`;
  }

  /** Whether a document is through with one head before it comes to the next. */
  isByHead(example: string) {
    const heads = this.document.sheet.blocks.filter((block) => block.example === example && block.stage !== "root")
      .map(({ head }) => head);
    const runs = heads.filter((head, i) => head !== heads[i - 1]);
    return runs.length === new Set(runs).size;
  }

  block(block: PencilBlock) {
    const { bySpot, numbers, sheet } = this.document;
    block.rows.forEach(({ at }) => at.forEach((spot) => {
      const button = make("button", { type: "button", tabIndex: -1 }, withMinus(numbers[spot].printed));
      this.buttons.set(spot, button);
      this.cellOf.set(button, (bySpot.get(spot) as PencilCell));
    }));
    const those = block.rows.flatMap(({ at }) => at.map((spot) => numbers[spot]));
    const longest = Math.max(...those.map(({ printed }) => printed.length));
    // Numbers of one column stand on their points.
    const finest = Math.max(...those.map(({ places }) => places));
    block.rows.forEach(({ at }) => at.forEach((spot) => {
      const missing = finest - numbers[spot].places;
      if (missing) this.buttons.get(spot).style.setProperty("--missing", String(missing));
      this.isShort[spot] = missing > 0;
      // A point is half as wide as a digit.
      const { printed, slip } = numbers[spot];
      if (slip) this.buttons.get(spot).style.setProperty("--long", String(printed.length - 0.5 * Number(printed.includes("."))));
    }));
    const { columns, symbol } = stages[block.stage];
    const { heads } = sheet.examples[block.example];
    const said = block.how === "worked" ? fill(texts.worked, { stage: texts.stages[block.stage] })
      : block.how === "terms" && block.stage === "head_outputs" ? texts.terms : texts.stages[block.stage];
    const isNamed = block.head >= 0 && !this.isByHead(block.example);
    const title = isNamed ? `${said}, ${heads[block.head]}` : said;
    const label = (row: PencilRow) => {
      const place = parse(row.places[0]);
      if (block.how !== "worked" || !place) return row.of;
      return columns === "keys" ? sheet.examples[block.example].tokens[place.column] : dimension(symbol, place.column);
    };
    const rows = block.rows.map((row) => make("div", { className: "pencil-row" },
      make("span", { className: "of" }, label(row)),
      ...row.at.flatMap((spot, i) => {
        if (!i || !block.rows.some(({ sum }) => sum)) return [this.buttons.get(spot)];
        const sign = !row.sum ? "" : row.sum === 2 && i === row.at.length - 1 ? "=" : "+";
        return [make("span", { className: "sign" }, sign), this.buttons.get(spot)];
      })));
    const widest = Math.max(...block.rows.map((row) => label(row).length));
    return make("div", { className: "pencil-block", style: `--digits: ${longest}; --label: ${widest}` },
      make("p", { className: "pencil-title" }, title, make("span", {}, ` ${linesOf(block)}`)),
      ...rows);
  }

  // ---- What a reader does ----

  /** Ask about a number. */
  press(button: any) {
    const cell = this.cellOf.get(button);
    if (!cell) return;
    this.enter(cell.spot);
    this.at = this.at === cell.spot ? -1 : cell.spot;
    this.paint();
    if (this.at >= 0) this.bring(this.at); // what is said must not lie over it
  }

  /** Go to a number and ask about it. */
  ask(spot: number) {
    this.at = spot;
    this.enter(spot);
    this.paint();
    this.buttons.get(spot).focus({ preventScroll: true });
    this.bring(spot);
  }

  /** Bring a number into sight. */
  bring(spot: number) {
    this.buttons.get(spot).scrollIntoView({ block: "nearest" });
  }

  /** Make a number the one that the tabulator leads to. */
  enter(spot: number) {
    if (!this.buttons.has(spot)) this.finish();
    this.buttons.get(this.current).tabIndex = -1;
    this.buttons.get(spot).tabIndex = 0;
    this.current = spot;
  }

  move(event: KeyboardEvent) {
    const { cells } = this.document;
    const i = cells.findIndex(({ spot }) => spot === this.current);
    const { block, row } = cells[i];
    const inRow = cells.filter((cell) => cell.block === block && cell.row === row);
    const column = inRow.indexOf(cells[i]);
    /** The number in the same column of the row that a number stands in. */
    const beside = (from: number): number => {
      const there = cells[from];
      const row = there ? cells.filter((cell) => cell.block === there.block && cell.row === there.row) : inRow;
      return cells.indexOf(row[Math.min(column, row.length - 1)]);
    };
    const ways: Record<string, () => number> = {
      ArrowRight: () => i + 1, ArrowLeft: () => i - 1,
      ArrowDown: () => beside(i - column + inRow.length), ArrowUp: () => beside(i - column - 1),
      Home: () => i - column, End: () => i - column + inRow.length - 1,
    };
    if (event.key === "Escape") this.close();
    if (!Object.hasOwn(ways, event.key)) return;
    event.preventDefault();
    const to = cells[ways[event.key]()];
    if (!to) return;
    this.enter(to.spot);
    this.buttons.get(to.spot).focus();
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
    this.parts.said.querySelector("button")?.focus({ preventScroll: true });
  }

  // ---- How it stands ----

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

  /** @param isInSteps whether what follows is painted step by step, as far as it moves */
  paint(isInSteps: boolean = false) {
    const { document } = this;
    const { numbers, corrected, slips, cells } = document;
    this.state = correct(numbers, corrected);
    this.lit = this.at < 0 ? null : chainOf(numbers, this.at, corrected);
    const steps = ({ spot }: PencilCell) => this.lit?.lit.get(spot) ?? 0;
    const moves = isInSteps && !matchMedia("(prefers-reduced-motion: reduce)").matches;
    for (const cell of cells) {
      if (!moves || !steps(cell)) this.paintCell(cell);
      else setTimeout(() => document === this.document && this.paintCell(cell), STEP * steps(cell));
    }
    set(this.parts.paper, "class", `pencil-paper${this.lit ? " asked" : ""}`);
    const tally = this.tally();
    this.document.right = tally[RIGHT];
    tally.forEach((count, i) => {
      setText(this.parts.counts[i].count, String(count));
      set(this.parts.shares[i], ".flexGrow", count);
    });
    this.parts.tabs.forEach(({ tab, count, all, right: atFirst }: any, i: number) => {
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
    this.say();
    this.keep();
  }

  paintCell({ spot }: PencilCell) {
    const value = this.state.values[spot];
    const isAnew = this.state.changed[spot];
    const look = this.state.states[spot];
    const link = !this.lit ? 0 : spot === this.at ? 1 : this.lit.lit.has(spot) ? 2 : this.lit.ends.has(spot) ? 3 : 0;
    const looks = 16 * look + 4 * Number(isAnew) + link;
    const button = this.buttons.get(spot);
    if (!button) return; // it is painted as it is written
    if (this.looks[spot] !== looks) {
      button.className = `n ${LOOKS[look]}${isAnew ? " anew" : ""}${this.isShort[spot] ? " short" : ""}${LINKS[link]}`;
    }
    const isSame = this.values[spot] === value && this.looks[spot] >> 2 === looks >> 2;
    const isAsPrinted = this.looks[spot] === undefined && !isAnew;
    this.looks[spot] = looks;
    this.values[spot] = value;
    if (isSame || isAsPrinted) return; // as printed, it stands there, and is named once all is drawn
    const { printed, places } = this.document.numbers[spot];
    setText(button, isAnew ? shown(value, places) : withMinus(printed));
    set(button, "aria-label", this.label(spot));
  }

  /**
   * Bring the open tab into sight, write the rest of its sheet, and name every number for who does not see
   * it, once what is seen is drawn.
   */
  name() {
    const { buttons, document: { cells } } = this;
    const { row, tabs } = this.parts;
    this.finish = inSlices([
      () => { row.scrollLeft = tabs[this.open].tab.offsetLeft - row.offsetLeft - PEEK; },
      ...this.waiting,
      ...cells.map(({ spot }) => () => set(buttons.get(spot), "aria-label", this.label(spot))),
    ].map((act) => () => { if (this.buttons === buttons) act(); }));
  }

  /** The description of a number for screen readers. */
  label(spot: number): string {
    const { sheet, numbers, bySpot } = this.document;
    const { values, states, changed } = this.state;
    const number = numbers[spot];
    const cell = (bySpot.get(spot) as PencilCell);
    const words = {
      name: fill(texts.line, { name: named(sheet, cell), line: cell.line }),
      value: changed[spot] ? shown(values[spot], number.places) : withMinus(number.printed),
      printed: withMinus(number.printed),
      wanted: shown(states[spot] === SLIP ? evaluate(number.formula, values) : Number(number.true), number.places),
    };
    if (changed[spot]) return fill(states[spot] === RIGHT ? texts.labelMended : texts.labelStill, words);
    return fill([texts.labelRight, texts.labelSlip, texts.labelSpoiled, texts.labelRounded][states[spot]], words);
  }

  // ---- What is said about a number ----

  say() {
    const { at, document } = this;
    if (at < 0) {
      this.parts.said.className = "pencil-said";
      const rest = this.tally()[ROUNDED];
      const hint = !document.slips.length ? texts.hintClean
        : document.corrected.size < document.slips.length ? texts.hint : fill(rest ? texts.hintRest : texts.hintDone, { n: rest });
      this.parts.said.replaceChildren(make("p", { className: "soft" }, hint));
      return;
    }
    const { sheet, bySpot, slips } = document;
    const cell = (bySpot.get(at) as PencilCell);
    const next = slips.find((spot) => spot > at && this.state.states[spot] === SLIP);
    const isCorrected = document.corrected.has(at);
    const buttons = [
      ...(slips.includes(at) ? [makeButton(isCorrected ? texts.uncorrect : texts.correct,
        () => this.toggle(at), { className: "reading-button main" })] : []),
      ...(next === undefined ? [] : [makeButton(texts.nextSlip, () => this.ask(next), { className: "reading-button" })]),
      makeButton(texts.close, () => { this.close(); this.buttons.get(this.current).focus({ preventScroll: true }); },
        { className: "reading-button" }),
    ];
    this.parts.said.className = "pencil-said open";
    this.parts.said.replaceChildren(
      make("div", { className: "pencil-what" },
        makeButton(fill(texts.line, { name: named(sheet, cell), line: cell.line }), () => this.bring(at),
          { className: "pencil-name", title: texts.bring }),
        make("div", { className: "pencil-buttons" }, ...buttons)),
      this.arithmetic(at),
      make("p", {}, ...this.verdict(at)),
      make("p", {}, ...this.consequences()));
  }

  /** The line of arithmetic: what was printed, struck where it is no longer or not right, and what follows. */
  arithmetic(spot: number) {
    const { numbers } = this.document;
    const { printed, formula, state } = numbers[spot];
    const local = evaluate(formula, this.state.values);
    const left = written(formula, this.state, numbers);
    const result = short(local);
    const line = chain(left, result);
    const wrote = withMinus(printed);
    const isOther = state === SLIP || this.state.changed[spot];
    const marks = [...(isOther ? [make("s", { className: "n slip" }, wrote), " "] : [])];
    if (left === result) return make("p", { className: "pencil-line" }, ...marks, result);
    return make("p", { className: "pencil-line" }, ...raised(line.slice(0, line.length - result.length)),
      ...marks, ...raised(result));
  }

  verdict(spot: number): (Node | string)[] {
    const { numbers, corrected } = this.document;
    const { values, states, changed } = this.state;
    const { printed, slip, places, true: wanted } = numbers[spot];
    const still = ` ${fill(texts.still, { value: shown(Number(wanted), places) })}`;
    const before = fill(corrected.has(spot) ? texts.mended : texts.redone, { printed: withMinus(printed) });
    if (states[spot] === RIGHT) {
      return [changed[spot] ? before : slip ? texts.rightAnyway : texts.right];
    }
    if (states[spot] === SLIP) {
      const isFar = Math.abs(evaluate(numbers[spot].formula, values) - Number(wanted)) > numbers[spot].half;
      return [texts.kinds[slip], isFar ? still : ""];
    }
    const behind = slipsBehind(numbers, states, spot).filter((at) => at !== spot);
    const said = changed[spot] ? before : texts.spoiled;
    if (states[spot] === ROUNDED) return [changed[spot] ? `${before} ` : "", texts.rounded, still];
    return [said, still, ` ${texts.from} `, ...this.links(behind), "."];
  }

  /** Numbers that lead to themselves. */
  links(spots: number[]): (Node | string)[] {
    const links = spots.slice(0, NAMED).map((spot) => makeButton(withMinus(this.document.numbers[spot].printed),
      () => this.ask(spot), { className: "n slip", "aria-label": this.label(spot) }));
    const more = spots.length - NAMED;
    return [...links.flatMap((link, i) => (i ? [", ", link] : [link])),
      more > 0 ? ` ${fill(texts.andMore, { n: more })}` : ""];
  }

  /** The numbers computed from the number, and the claims that are wrong with it. */
  consequences(): (Node | string)[] {
    const { sheet, bySpot, numbers } = this.document;
    const { lit, ends } = (this.lit as { lit: Map<number, number>, ends: Set<number> });
    const cells = [...lit.keys()].filter((spot) => spot !== this.at && bySpot.has(spot));
    const n = cells.length;
    if (!n) return [ends.size ? texts.followsSlips : texts.followsNone];
    const stages = [...new Set(cells.sort((a, b) => a - b).map((spot) =>
      texts.stages[(bySpot.get(spot) as PencilCell).place.stage].toLowerCase()))];
    const said = [fill(n === 1 ? texts.followsOne : texts.follows, { n }), ` (${stages.join(" → ")})`,
      ends.size ? texts.slipsAnew : "", "."].join("");
    const claims = numbers[this.at].state === RIGHT ? [] : sheet.claims
      .filter(({ about }) => about.some((spot) => lit.has(spot) || ends.has(spot)))
      .sort((a, b) => a.about.length - b.about.length).slice(0, 2);
    return [said, ...(claims.length ? [make("br"), make("b", {}, texts.falls), " "] : []),
      ...claims.flatMap(({ says, line }, i) =>
        [i ? "; " : "", ...marked(says), ` (${fill(texts.inLine, { line })})`]),
      ...(claims.length ? [". ", make("span", { className: "soft" }, ...marked(fill(texts.because, { why: claims[0].why })))] : [])];
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
    const runs: number[][] = [];
    for (const n of which) {
      const last = runs.at(-1);
      if (last && last[1] === n - 1) last[1] = n;
      else runs.push([n, n]);
    }
    if (runs.length) parts.push(`corrected=${runs.map(([a, b]) => (a === b ? a : `${a}-${b}`)).join(".")}`);
    return parts.join("&");
  }

  /** Show the state that an address holds; what is none of ours changes nothing. */
  readAddress() {
    this.isPlaced = true;
    const parts = partsOf("pencil", this.id);
    if (!parts) return;
    const open = this.sheets.findIndex(({ name }) => name === parts.get("document"));
    if (open < 0) return;
    const { slips, cells } = this.documentAt(open);
    const text = parts.get("corrected") ?? "";
    if (/^[\d.-]{1,4000}$/.test(text)) {
      const runs = text.split(".").map((run) => run.split("-").map(Number));
      this.documents[open].corrected = new Set(slips.filter((_, i) =>
        runs.some(([a, b = a]) => a <= i + 1 && i + 1 <= b)));
    }
    this.show(open);
    const cell = cells.find(({ address }) => address === parts.get("at"));
    if (!cell) return;
    this.at = cell.spot;
    this.enter(cell.spot);
    this.paint();
    // The element itself is brought into sight first.
    requestAnimationFrame(() => requestAnimationFrame(() => this.bring(cell.spot)));
  }
}

/** Open the figure on a page. */
export const open: Instrument = ({ first }, element) => {
  const pencil = new Pencil(sheets, first, element);
  return { node: pencil.node, readAddress: () => pencil.readAddress() };
};
