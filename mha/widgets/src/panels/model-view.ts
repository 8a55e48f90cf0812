/**
 * The trained model on a page: a story that a reader writes, the prediction after any of its words and
 * its reasons, the four heads, the training, and the origin of each number.
 */

import "../figures/explorer-block.ts";
import { checkpoint, homeOf, nextWord, run } from "../engine/model-arithmetic.ts";
import { percent, short, shown } from "../engine/numbers.ts";
import { at as placeAt } from "../engine/places.ts";
import { fill } from "../engine/text.ts";
import {
  beginning, freshId, make, makeButton, markCaption, set, setOff, setText,
} from "../figures/explorer-parts.ts";
import { historyButtons } from "../figures/history-buttons.ts";
import { OriginLine } from "../figures/origin-line.ts";
import { TimeBar } from "../figures/time-bar.ts";
import { makeMaps } from "../figures/weight-maps.ts";
import { History } from "../store/history.ts";
import { shareAddress } from "../store/share.ts";
import { same } from "../store/same.ts";
import { fromHash, hasNumber, toHash } from "../store/model-address.ts";
import { model as texts } from "../strings/model.ts";
import { makeCurves } from "./model-maps.ts";
import { aboutOf } from "./model-origin.ts";
import { sharesOf } from "./model-shares.ts";
import { storyOf } from "./model-story.ts";
import trained from "../data/model-numbers.ts";
import type { Instrument, ModelData, ModelRun, ModelState, ModelView, NamesModel } from "../types/panels.ts";
import type { Matrix, Place } from "../types/run.ts";

const [MOST, LIKELIEST] = [32, 5];

const button = (label: string, act: () => void) => makeButton(label, act, { className: "reading-button" });

class View implements ModelView {
  data: ModelData;
  words: string[];
  models: NamesModel[];
  start: ModelState;
  state: ModelState;
  history: History<ModelState>;
  /** Computed by `paint`. */
  found!: ModelRun;
  about = aboutOf(this);
  line = new OriginLine(this);
  /** The story that the field has, or a reader's own text was typed over. */
  told: number[] = [];

  error = make("p", { className: "error", role: "alert", id: freshId() });
  input = make("input", { type: "text", autocomplete: "off", autocapitalize: "off",
    spellcheck: false, "aria-describedby": this.error.id, oninput: () => this.refuse("") });
  next = make("ol", { className: "model-next" });
  /** The likeliest next words. */
  lines: { word: number, append: HTMLElement, bar: HTMLElement, why: HTMLElement }[];
  nextTitle = make("p", { className: "model-title" });
  came = make("p", { className: "model-came soft" });
  kept = make("p", { className: "soft" });
  brief = make("span", { className: "soft", role: "status" });
  writing = button(texts.write, () => this.write());
  remove = button(texts.remove, () => this.keep(this.state.words.length - 1));
  status = make("p", { className: "model-status soft", role: "status" });
  temperature = make("input", { type: "range", min: 0.2, max: 3, step: 0.1,
    oninput: () => this.change({ temperature: Number(this.temperature.value) }, "temperature") });
  temperatureText = make("span");
  greedy = make("input", { type: "checkbox", onchange: () => this.change({ greedy: this.greedy.checked }) });
  cut = make("input", { type: "checkbox",
    onchange: () => this.change({ cut: this.cut.checked, word: this.chosen, at: null }) });
  steps = historyButtons(() => this.restore(this.history.undo(this.state)),
    () => this.restore(this.history.redo(this.state)));
  /** The bar of the training; whatever leads to another step moves it too. */
  bar: TimeBar;
  story: ReturnType<typeof storyOf>;
  shares: ReturnType<typeof sharesOf>;
  curves: ReturnType<typeof makeCurves>;
  maps = makeMaps(this, texts.headNames, { isLabelled: true });
  node: HTMLElement;

  constructor(data: ModelData, story: string) {
    this.data = data;
    this.words = data.words;
    /** By the step, as soon as it is asked for. */
    this.models = [];
    this.start = this.stateOf(story);
    this.state = { ...this.start };
    this.history = new History();
    this.bar = new TimeBar({ count: data.steps.length,
      label: (step) => fill(texts.step, { step: data.steps[step] }),
      show: (step) => { if (step !== this.state.step) this.change({ step, word: this.chosen }, "step"); } });
    this.bar.node.prepend(make("span", { className: "soft" }, texts.training));
    this.lines = Array.from({ length: LIKELIEST }, () => this.lineOf());
    this.story = storyOf(this);
    this.shares = sharesOf(this);
    this.curves = makeCurves(data, (step) => this.bar.go(step));
    this.node = this.build();
    new MutationObserver(() => this.maps.paint())
      .observe(document.documentElement, { attributeFilter: ["data-theme"] });
  }

  placed() {
    this.paint();
    this.readAddress();
    this.story.showPlace();
  }

  stateOf(story: string): ModelState {
    const words = story.split(" ").map((word) => this.words.indexOf(word));
    return {
      words, place: words.length - 1, step: this.data.steps.length - 1,
      off: [false, false, false, false], cut: false, temperature: 1, greedy: false, word: -1,
      at: null,
    };
  }

  // ---- Elements ----

  build() {
    const live = make("div", { className: "model-live" },
      make("div", { className: "model-says" }, this.error, make("p", { className: "strip-title" }, texts.title)),
      this.entry(), this.story.node,
      make("div", { className: "model-controls" }, make("label", {}, this.cut, " ", texts.cut), this.brief),
      this.controls(),
      make("div", {}, this.nextTitle, this.next, this.came, this.kept), this.actions(),
      make("details", { className: "panel-more" }, make("summary", {}, texts.unfold),
        make("div", { className: "model-columns" }, this.shares.node, this.curves.node), this.bar.node,
        this.maps.node),
      this.line.node);
    this.line.closeByKey(live);
    return live;
  }

  entry() {
    const { input } = this;
    const form = make("form", { className: "model-entry" },
      make("label", {}, texts.type, " ", input),
      make("button", { type: "submit", className: "reading-button" }, texts.read),
      make("details", {}, make("summary", {}, fill(texts.all, { n: this.words.length })),
        ...this.words.map((word, i) => makeButton(word, () => { if (this.isRead()) this.append(i); },
          { type: "button", className: "model-word", "aria-label": fill(texts.append, { word }) }))));
    form.addEventListener("submit", (event: Event) => {
      event.preventDefault();
      this.read(input.value);
    });
    return form;
  }

  /** Show an error message on the typed story, or none. */
  refuse(wrong: string) {
    setText(this.error, wrong);
    set(this.input, "aria-invalid", String(Boolean(wrong)));
  }

  /** Take a typed story, or show an error message. @returns whether it was taken */
  read(text: string): boolean {
    const typed = text.toLowerCase().replaceAll(".", " . ").split(/\s+/).filter(Boolean);
    const unknown = typed.find((word) => !this.words.includes(word));
    const wrong = !typed.length ? texts.empty
      : typed.length > MOST ? fill(texts.tooLong, { most: MOST })
        : unknown ? fill(texts.unknown, { word: beginning(unknown), n: this.words.length }) : "";
    this.refuse(wrong);
    if (wrong) return false;
    this.change({ words: typed.map((word) => this.words.indexOf(word)), place: typed.length - 1,
      word: -1, at: null });
    this.story.showPlace();
    return true;
  }

  /**
   * Read the story of the field before it is continued, if it is not read yet. With a refused story in
   * the field, the shown story is continued. @returns whether it can be continued
   */
  isRead(): boolean {
    const { error, input: { value } } = this;
    return Boolean(error.textContent) || value === this.told.map((i) => this.words[i]).join(" ") || this.read(value);
  }

  /** The controls for writing, between the heads and the next words. */
  controls() {
    return make("div", { className: "model-controls" }, this.writing, this.remove,
      make("label", { className: "model-temperature" }, this.temperatureText, " ", this.temperature),
      make("label", {}, this.greedy, " ", texts.greedy), this.status);
  }

  actions() {
    return make("div", { className: "model-controls" }, this.steps.undo, this.steps.redo,
      button(texts.reset, () => {
        this.told = []; // a text that was typed goes too
        this.change({ ...this.start });
      }),
      button(texts.copy, () => this.share()));
  }

  // ---- Changes ----

  /** @param what the name of the changed value; its changes by one edit are undone together */
  change(changes: Partial<ModelState>, what: string = "") {
    const before = this.state;
    this.state = { ...before, ...changes };
    this.history.record(before, this.state, what);
    if (!this.state.at) this.line.trail = [];
    setText(this.status, "");
    this.paint();
  }

  /** Go back, or forward again. */
  restore(state: ModelState | undefined) {
    if (!state) return;
    this.state = state;
    this.line.trail = [];
    this.paint();
  }

  choose(place: number) {
    if (place < 0 || place >= this.state.words.length) return;
    this.change({ place, word: -1, at: null });
    this.story.showPlace();
  }

  /** Shorten the story to its first words. */
  keep(count: number) {
    if (count < 1) return;
    this.change({ words: this.state.words.slice(0, count), place: count - 1, word: -1, at: null });
  }

  append(word: number) {
    const words = [...this.state.words.slice(0, this.state.place + 1), word];
    const isCut = words.length <= this.state.words.length;
    if (words.length > MOST) {
      setText(this.status, fill(texts.full, { most: MOST }));
      return;
    }
    this.change({ words, place: words.length - 1, word: -1, at: null });
    setText(this.status, fill(words.length === MOST ? texts.full : isCut ? texts.wroteOver : texts.wrote,
      { word: this.words[word], most: MOST }));
    this.story.showPlace();
  }

  /** The next word, behind the last one. */
  write() {
    if (!this.isRead()) return;
    const { greedy, temperature, words } = this.state;
    const last = words.length - 1;
    const { logits } = this.found.blocks[1].numbers;
    this.state = { ...this.state, place: last };
    this.append(nextWord(logits[last], temperature, greedy ? null : Math.random()));
  }

  /** Ask where a number comes from. */
  ask(block: number, place: Place) {
    this.line.ask(homeOf(block, place));
  }

  // ---- The address ----

  share() {
    shareAddress(toHash(this), this.status);
  }

  /** The readable part of an address, with defaults for the rest. */
  readAddress() {
    const read = fromHash(this, location.hash);
    if (!read) return;
    this.state = { ...read, at: null };
    this.line.trail = [];
    this.paint();
    if (read.at && hasNumber(this, read.at)) this.ask(read.at.block, read.at.place);
  }

  // ---- Painting ----

  paint() {
    const { cut, off, step, temperature, words } = this.state;
    this.models[step] ??= checkpoint(this.data, step);
    this.found = run(this.models[step], words, { off, cut, temperature });
    this.story.layOut();
    this.paintControls();
    this.story.paint();
    this.paintNext();
    this.shares.paint();
    setText(this.brief, this.curves.paint(this.state));
    this.maps.paint();
    this.line.paint();
  }

  paintControls() {
    const { cut, greedy, off, step, temperature, words } = this.state;
    const { start } = this;
    markCaption(this.node, false, cut || temperature !== 1 || step !== start.step
      || !same([off, words], [start.off, start.words]));
    this.steps.paint(this.history);
    setOff(this.remove, words.length < 2);
    set(this.writing, "aria-disabled", String(words.length >= MOST));
    this.temperature.value = String(temperature);
    setText(this.temperatureText, fill(texts.temperature, { t: short(temperature) }));
    this.greedy.checked = greedy;
    this.cut.checked = cut;
    if (this.bar.at !== step) this.bar.go(step);
    if (this.told !== words) { // else a text that was typed and not read yet stays
      this.told = words;
      this.input.value = words.map((i) => this.words[i]).join(" ");
      this.refuse("");
    }
  }

  /** @param head of four */
  weightsOf(head: number): Matrix {
    return this.found.blocks[head >> 1].numbers.weights[head % 2];
  }

  /** The word in question: the chosen one, else the next word of the story, else the likeliest. */
  get chosen() {
    const { place, word, words } = this.state;
    if (word >= 0) return word;
    return words[place + 1] ?? nextWord(this.found.blocks[1].numbers.logits[place], 1, null);
  }

  /** The line of one of the likeliest words. */
  lineOf() {
    const line = { word: -1, append: makeButton("", () => this.append(line.word)), bar: make("span"),
      why: makeButton("", () => this.ask(1, placeAt("probabilities", this.state.place, line.word)), { className: "number" }) };
    this.next.append(make("li", {}, line.append, make("span", { className: "model-bar" }, line.bar), line.why));
    return line;
  }

  paintNext() {
    const { place, words } = this.state;
    const { probabilities } = this.found.blocks[1].numbers;
    const chances = probabilities[place];
    const order = chances.map((_: number, i: number) => i)
      .sort((a: number, b: number) => chances[b] - chances[a])
      .slice(0, LIKELIEST);
    this.lines.forEach((line, i) => {
      line.word = order[i];
      const word = this.words[order[i]];
      const p = percent(chances[order[i]]);
      setText(line.append, word);
      set(line.append, "aria-label", fill(texts.append, { word }));
      setText(line.why, p);
      set(line.why, "aria-label", fill(texts.why, { p, word }));
      set(line.bar, ".width", `${(100 * chances[order[i]]).toFixed(1)}%`);
    });
    setText(this.nextTitle, fill(texts.next, { n: place + 1, word: this.words[words[place]] }));
    const came = words[place + 1];
    setText(this.came, came === undefined ? "" : fill(texts.came,
      { word: this.words[came], cost: shown(-Math.log(probabilities[place][came]), 2) }));
    const each = 4 * this.models[this.state.step].embedding[0].length;
    setText(this.kept, fill(words.length === 1 ? texts.keptOne : texts.kept, { n: words.length,
      all: each * words.length }) + (words.length < MOST ? fill(texts.more, { more: each }) : ""));
  }
}

/** Open the figure on a page. */
export const open: Instrument = ({ story }) => new View(trained, story);
