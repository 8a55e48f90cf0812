/**
 * One explorer: its state, its history, its address, and the reaction to a change of the state. The
 * strip, the controls and, once they are opened, the tables of all numbers draw it.
 */

import { short, shown } from "../engine/numbers.ts";
import { parse, valueAt } from "../engine/places.ts";
import { find } from "../reading/page.ts";
import { fromHash, toHash } from "../store/explorer-address.ts";
import { History } from "../store/history.ts";
import { RESULTS, compute, inputAddress, isChanged, nameOf, startOf } from "../store/explorer-state.ts";
import { same } from "../store/same.ts";
import { explorer as texts } from "../strings/explorer.ts";
import { Controls } from "./explorer-controls.ts";
import { fill } from "../engine/text.ts";
import { effectOf, inItalics, inSlices, isPage, loadStyle, make, markCaption, nearFirst } from "./explorer-parts.ts";
import { Tasks } from "./strip-tasks.ts";
import { Strip } from "./strip.ts";
import type { ChangeOptions, ExplorerAll, ExplorerData, ExplorerMaker, ExplorerNumbers, ExplorerState, ExplorerTables } from "../types/explorer.ts";
import type { Matrix, Numbers, Place } from "../types/run.ts";

/** Adds the stages of a block to a strip; explorer-block.ts sets it, which only pages with a block load. */
let addBlock: (strip: Strip) => void = () => {};

/** Have explorers with a block draw it by a function. */
export const extendStrip = (add: (strip: Strip) => void) => { addBlock = add; };

/** The elements of the figure; `finish` makes those below the strip at once. */
type Made = { strip: Strip, controls: Controls, tasks: Tasks, finish: () => void };

export class Explorer {
  data: ExplorerData;
  start: ExplorerState;
  state: ExplorerState;
  numbers: ExplorerNumbers;
  root: HTMLElement;
  /** Where all numbers are folded away. */
  fold: HTMLDetailsElement;
  written: string;
  extraPlace: HTMLElement;
  isOpen: boolean | undefined;
  late: number | undefined;
  timer: number | undefined;

  /** The strip, the tasks and the controls, as `assemble` makes them. */
  made: Made | null = null;

  /** The messages from before they were made. */
  saying = "";

  /** The figure above the strip. */
  extra: { node: HTMLElement, paint(): void } | undefined;

  /** The owner that made this explorer and can make another: its changes are in the history too. */
  maker: ExplorerMaker | null = null;

  /** The functions that draw both, at once if they are near the screen. */
  drawStrip: ((isAsked?: boolean) => void) | undefined;
  drawExtra: ((isAsked?: boolean) => void) | undefined;

  /** All numbers, once they are opened, and their tables. */
  all: ExplorerAll | undefined;
  tables: ExplorerTables | null = null;

  /** States between which the numbers differ. */
  history = new History<ExplorerState>((left, right) => RESULTS.every((key) => same(left[key], right[key])));

  /** The numbers before the edit that the last change belongs to. */
  from: ExplorerNumbers;

  trail: Place[] = [];

  /** Functions that are called after each change. */
  told: (() => void)[] = [];

  /** @param isLate whether the elements are made only when `assemble` is called */
  constructor(data: ExplorerData, root: HTMLElement, isLate: boolean = false) {
    this.data = data;
    this.start = startOf(data);
    this.state = this.start;
    this.numbers = compute(data, this.state);
    this.from = this.numbers;
    this.root = root;
    this.fold = find(root, "details.all", HTMLDetailsElement);
    this.fold.addEventListener("toggle", () => this.openAll(this.fold.open));
    root.addEventListener("keydown", (event) => this.onKey(event));
    data.width = this.numbers.value[0][0].length;
    data.keyWidth = this.numbers.query[0][0].length;
    this.written = toHash(this.data, this.start);
    // A plane a head has no room above the strip: a fold has them.
    const isFolded = data.view === "plane" && data.heads.length === 2;
    this.extraPlace = isFolded
      ? make("details", { className: "fold settings", ontoggle: () => this.addView() },
        make("summary", {}, texts.asArrows))
      : make("div", { className: "extra", hidden: data.view === "strip" });
    if (data.view !== "strip" && !isFolded) {
      // The elements above the strip are drawn first.
      this.addView().finally(() => inSlices([() => this.assemble()]));
    } else if (!isLate) this.assemble();
  }

  get strip() {
    return this.assemble().strip;
  }

  get tasks() {
    const made = this.assemble();
    made.finish();
    return made.tasks;
  }

  get controls() {
    const made = this.assemble();
    made.finish();
    return made.controls;
  }

  /**
   * Make the elements of the figure once, in a deferred task or when they are first requested. The
   * strip is made first; the space of the elements below it is reserved, and they follow.
   */
  assemble() {
    if (this.made) return this.made;
    const { data } = this;
    // What a reader has opened before this script came stays open.
    const { open } = this.fold;
    this.fold.open = false;
    const made = this.made = {} as Made;
    const strip = made.strip = new Strip(this);
    this.drawStrip = nearFirst(strip.node, () => strip.paint());
    if (data.block) addBlock(strip);
    const controls = made.controls = new Controls(this);
    strip.heads.tabs.forEach((tab, head) =>
      tab.append(...controls.head(head)));
    const face = this.root.querySelector(".face");
    const isAbove = !this.extraPlace.matches("details");
    if (!isAbove) face?.replaceChildren();
    else if (this.extraPlace.parentNode !== face) face?.replaceChildren(this.extraPlace);
    face?.append(strip.node);
    made.finish = inSlices([() => {
      made.tasks = new Tasks(this);
      controls.build();
      if (!isAbove) controls.node.append(this.extraPlace);
      face?.append(made.tasks.node, controls.node);
      controls.sync(this.state);
      made.tasks.paint();
    }]);
    this.refresh();
    this.fold.open = open;
    this.root.classList.add("live");
    if (this.saying) this.say(this.saying);
    return made;
  }

  /** The drawing that some chapters have above the strip. */
  async addView() {
    const [{ views }] = await Promise.all([import("./views.ts"), loadStyle("plane.css")]);
    if (this.extra) return;
    if (!this.made) this.root.querySelector(".face")?.replaceChildren(this.extraPlace);
    const extra = this.extra = new views[this.data.view](this);
    this.extraPlace.append(extra.node);
    this.drawExtra = nearFirst(extra.node, () => extra.paint());
    this.drawExtra(true);
  }

  /** The tables as text, as they come in the page. */
  get text() {
    return this.fold.querySelector("noscript")?.textContent ?? "";
  }

  /** The tables' script and elements are there when they are first asked for. */
  async openAll(open: boolean) {
    if (open) this.all?.paint();
    if (!open || this.isOpen) return;
    this.isOpen = true;
    const { AllNumbers } = await import("./explorer-all.ts");
    this.all = new AllNumbers(this, find(this.fold, ".body", HTMLElement));
    this.all.paint();
  }

  onKey(event: KeyboardEvent) {
    if (!(event.ctrlKey || event.metaKey) || event.key.toLowerCase() !== "z") return;
    if ((event.target as Element).matches("textarea")) return;
    event.preventDefault();
    this.step(event.shiftKey);
  }

  // -- Changes --

  /** Take over a state whose numbers differ; false where they cannot be computed. */
  change(patch: Partial<ExplorerState>, sentence: string | (() => string), { compare = true, what = "", keep = true }: ChangeOptions = {}): boolean {
    const state = { ...this.state, ...patch };
    const before = this.numbers;
    try {
      this.numbers = compute(this.data, state);
    } catch (error) {
      if (error instanceof RangeError) return false;
      throw error;
    }
    if (keep) {
      if (!this.history.joins(what)) this.from = before;
      if (this.history.record(this.state, state, what)) this.maker?.history.clearRedo();
    }
    const from = keep ? this.from : before;
    this.state = state;
    this.refresh();
    this.announce(() => {
      const text = typeof sentence === "string" ? sentence : sentence();
      return compare ? this.effect(from, this.numbers, text) : text;
    });
    return true;
  }

  /**
   * Take back the change of the present edit: the text that is typed goes on to one that is refused, and
   * the number before it stays.
   */
  takeBack() {
    const before = this.history.takeBack();
    if (before) this.putBack(before, "");
  }

  /** @param state of the history */
  putBack(state: ExplorerState, sentence: string) {
    const patch = Object.fromEntries([...RESULTS, "pins" as const].map((key) => [key, state[key]]));
    this.change(patch, sentence, { keep: false, compare: sentence !== "" });
  }

  /** Undo, or redo. */
  step(forward: boolean) {
    const wanted = forward ? this.history.redo(this.state) : this.history.undo(this.state);
    if (wanted) this.putBack(wanted, forward ? texts.redone : texts.undone);
    else if (!this.maker?.step(forward)) this.say(forward ? texts.noRedo : texts.noUndo);
  }

  /** Take over a state that only shows the same numbers in another way. */
  show(patch: Partial<ExplorerState>, sentence: string) {
    this.state = { ...this.state, ...patch };
    this.refresh();
    this.say(sentence);
  }

  /** Change an input; returns an error message, or "". */
  edit(at: Place, value: number): string {
    return this.editAll([[at, value]]);
  }

  /**
   * Change inputs in one step; returns the error of a number, or "".
   *
   * @param told the announcement, by default each number's new value
   * @param hand the control that was used, if several change the same numbers
   * @param more of the state that changes with them
   */
  editAll(changes: [Place, number][], told?: string | (() => string), hand: string = "", more: Partial<ExplorerState> = {}): string {
    const edits = { ...this.state.edits };
    for (const [at, value] of changes) {
      const address = inputAddress(this.data, this.state, at);
      edits[address] = value;
      if (valueAt(this.data.inputs, parse(address) ?? at) === value) delete edits[address];
    }
    // A point that was dragged along an axis has one changed number.
    const said = told ?? (() => changes
      .filter(([at, value], _, { length }) => length === 1 || valueAt(this.from, at) !== value)
      .map(([at, value]) => fill(texts.changed, { place: this.called(at), value: short(value) })).join(" "));
    const what = [hand, ...changes.map(([at]) => inputAddress(this.data, this.state, at))].join();
    return this.change({ ...more, edits }, said, { what }) ? "" : texts.overflow;
  }

  reset() {
    this.trail = [];
    this.tasks.forget();
    this.change(startOf(this.data), texts.wasReset, { compare: false });
  }

  /** Select a number; `follow` also goes to its cell. */
  select(at: Place, follow: boolean = false) {
    if (this.state.selected) this.trail.push(this.state.selected);
    this.goTo(at, follow);
  }

  back() {
    const before = this.trail.pop();
    if (before) {
      this.goTo(before, true);
      return;
    }
    const { selected } = this.state;
    if (!selected) return;
    this.show({ selected: null }, texts.cleared);
    this.all?.focus(selected);
  }

  goTo(at: Place, follow: boolean) {
    const value = shown(this.strip.valueOf(at));
    this.show({ ...this.all?.mapOf(at), selected: at },
      fill(texts.selected, { place: this.called(at), value }));
    if (follow) this.all?.focus(at);
  }

  // -- What is seen --

  refresh() {
    // The steps explain numbers that the strip has drawn.
    this.drawStrip?.(this.state.step !== null || undefined);
    this.drawExtra?.();
    this.made?.controls.sync(this.state);
    this.made?.tasks?.paint();
    if (this.fold.open) this.all?.paint();
    markCaption(this.root, isChanged(this.state, this.start));
    this.told.forEach((tell) => tell());
    this.writeAddress();
  }

  nameOf(at: Place): string {
    return nameOf(this.data, this.state, at);
  }

  /** The same in a sentence, where words are italic. */
  called(at: Place) {
    const { data } = this;
    return nameOf({ ...data, tokens: data.tokens.map((token) => `*${token}*`) }, this.state, at);
  }

  /** One sentence on how far the last change moved the shown query, for an announcement after a pause. */
  effect(before: Numbers, after: Numbers, what: string): string {
    const { end, heads } = this.data;
    const { row, token } = this.strip.view();
    // A stage that each head has, or all have together, whose rows are tokens.
    const ofRow = (numbers: Matrix | Matrix[]) => (Array.isArray(numbers[0][0])
      ? (numbers as Matrix[]).flatMap((head) => head[row]) : (numbers as Matrix)[row]);
    /** How far a stage moves at most, and in which head. */
    const most = (stage: string): [number, string] => {
      const [was, now]: number[][] = [ofRow(before[stage]), ofRow(after[stage])];
      const ways = was.map((x, i) => Math.abs(x - now[i]));
      const way = Math.max(...ways);
      return [way, heads[1] && heads[Math.floor(ways.indexOf(way) * heads.length / ways.length)]];
    };
    const [weights, head] = most("weights");
    const [outcome, endHead] = most(end);
    return effectOf(weights, outcome, { what, token, head, end: texts.outcome,
      endHead: end === "concat" ? endHead : undefined });
  }

  /** Say something when the reader has paused; only the latest of such wishes counts. */
  announce(sentence: () => string) {
    clearTimeout(this.late);
    this.root.dataset.busy = "";
    this.late = setTimeout(() => this.say(sentence()), 200);
  }

  say(sentence: string) {
    clearTimeout(this.late);
    delete this.root.dataset.busy;
    this.saying = this.made ? "" : sentence;
    if (!this.made) return;
    const reached = this.tasks.news();
    this.strip.status.replaceChildren(...inItalics(reached ? `${reached} ${sentence}` : sentence));
  }

  // -- The address --

  link() {
    return location.href.split("#")[0] + toHash(this.data, this.state);
  }

  /** Keep the state in the address, a little later: browsers limit how often it may change. */
  writeAddress() {
    clearTimeout(this.timer);
    if (!isPage) return;
    this.timer = setTimeout(() => {
      const wanted = toHash(this.data, this.state);
      if (wanted === this.written) return;
      this.written = wanted;
      const page = location.href.split("#")[0];
      const atStart = wanted === toHash(this.data, this.start);
      history.replaceState(history.state, "", atStart && !this.maker ? page : page + wanted);
    }, 200);
  }

  /** Cancel the pending change of the address, since the reader has gone to another one. */
  leaveAddress() {
    clearTimeout(this.timer);
    this.written = toHash(this.data, this.state);
  }

  /** Take over the state of the address, which is one of this explorer. */
  readAddress() {
    const found = fromHash(this.data, location.hash, this.numbers);
    if (!found) return;
    this.trail = [];
    const taken = this.change(found.state, texts.opened, { compare: false, keep: false });
    this.say(taken && found.complete ? texts.opened : texts.unread);
    this.leaveAddress();
  }
}
