/**
 * The trained model on a page: a story that a reader writes, the prediction after any of its words and
 * its reasons, the four heads, the training, and the origin of each number.
 */

import "../figures/explorer-block.ts";
import { checkpoint, homeOf, nextWord, run, sharesAt } from "../engine/model-arithmetic.ts";
import { percent, short, shown } from "../engine/numbers.ts";
import { at as placeAt } from "../engine/places.ts";
import { fill } from "../engine/text.ts";
import {
  beginning, freshId, make, makeButton, markCaption, set, setOff, setText,
} from "../figures/explorer-parts.ts";
import { historyButtons } from "../figures/history-buttons.ts";
import { ask, goBack, originOf, paintOrigin } from "../figures/origin-line.ts";
import { TimeBar } from "../figures/time-bar.ts";
import { mapsOf, paintMaps } from "../figures/weight-maps.ts";
import { History } from "../store/history.ts";
import { shareAddress } from "../store/share.ts";
import { same } from "../store/explorer-state.ts";
import { fromHash, hasNumber, toHash } from "../store/model-address.ts";
import { model as texts } from "../strings/model.ts";
import { curvesOf, drawn, paintCurves } from "./model-maps.ts";
import { aboutOf } from "./model-origin.ts";
import trained from "../data/model-numbers.ts";
import type { Instrument, ModelData, ModelState, NamesModel } from "../types/panels.ts";
import type { Matrix, Place } from "../types/run.ts";

const [MOST, LIKELIEST] = [32, 5];

/** The largest part for which a bar has room; a larger part makes all bars shorter. */
const LARGEST = 10;

/** Letters of a word for which a narrow column is wide enough. */
const SHORT = 4;

const button = (label: string, act: () => void): HTMLElement => makeButton(label, act, { className: "reading-button" });

class View {
  data: ModelData;
  words: string[];
  models: NamesModel[];
  start: ModelState;
  state: any;
  history: History<ModelState>;
  trail: { block: number, place: Place }[];
  laid: number;
  told: number[];
  parts: any;
  bar: any;
  about: any;
  node: any;
  found: any;

  constructor(data: ModelData, story: string) {
    this.data = data;
    this.words = data.words;
    /** By the step, as soon as it is asked for. */
    this.models = [];
    this.start = this.stateOf(story);
    this.state = { ...this.start };
    this.history = new History();
    this.trail = [];
    /** How many columns the story was laid out for. */
    this.laid = 0;
    /** The story that the field has, or a reader's own text was typed over. */
    this.told = [];
    this.parts = {};
    /** The bar of the training. */
    this.bar = null;
    this.about = aboutOf(this);
    this.node = this.build();
    new MutationObserver(() => paintMaps(this))
      .observe(document.documentElement, { attributeFilter: ["data-theme"] });
  }

  placed() {
    this.paint();
    this.readAddress();
    this.showPlace();
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
    const { parts } = this;
    parts.story = make("div", { className: "model-story" });
    parts.scroll = make("div", { className: "model-scroll", tabIndex: 0, role: "group",
      "aria-label": texts.story, onscroll: () => this.fit() }, parts.story);
    const watcher = new ResizeObserver(() => this.fit());
    [parts.scroll, parts.story].forEach((node) => watcher.observe(node));
    parts.sight = make("div", { className: "model-sight" }, this.drawing(), parts.scroll);
    parts.error = make("p", { className: "error", role: "alert", id: freshId() });
    parts.next = make("ol", { className: "model-next" });
    parts.nextTitle = make("p", { className: "model-title" });
    parts.came = make("p", { className: "model-came soft" });
    parts.kept = make("p", { className: "soft" });
    parts.brief = make("span", { className: "soft", role: "status" });
    const live = make("div", { className: "model-live" },
      make("div", { className: "model-says" }, parts.error, make("p", { className: "strip-title" }, texts.title)),
      this.entry(), parts.sight,
      make("div", { className: "model-controls" }, this.cutChoice(), parts.brief),
      this.controls(),
      make("div", {}, parts.nextTitle, parts.next, parts.came, parts.kept), this.actions(),
      make("details", { className: "panel-more" }, make("summary", {}, texts.unfold),
        make("div", { className: "model-columns" }, this.sharesSection(), curvesOf(this)), this.time(),
        mapsOf(this, texts.headNames, { isLabelled: true })),
      originOf(this));
    live.addEventListener("keydown", (event: KeyboardEvent) => {
      if (event.key === "Escape" && this.state.at) goBack(this, true);
    });
    return live;
  }

  /**
   * The arcs, over the columns of a story that its line has room for. A longer one is drawn whole above them,
   * with its words, and framed there is what the line shows: a hand that moves along it scrolls the line.
   */
  drawing() {
    const { parts } = this;
    parts.overview = make("ol", { className: "model-overview" });
    parts.frame = make("span", { className: "model-frame" });
    const go = (event: PointerEvent) => {
      const { left, width } = parts.drawing.getBoundingClientRect();
      const { offsetLeft } = parts.tokens[0];
      const { clientWidth, scrollWidth } = parts.scroll;
      parts.scroll.scrollLeft = ((event.clientX - left) / width) * (scrollWidth - offsetLeft) - (clientWidth - offsetLeft) / 2;
    };
    parts.drawing = make("div", { "className": "model-drawing", "aria-hidden": "true",
      "onpointerdown": (event: PointerEvent) => { parts.drawing.setPointerCapture(event.pointerId); go(event); },
      "onpointermove": (event: PointerEvent) => { if (parts.drawing.hasPointerCapture(event.pointerId)) go(event); },
    }, parts.overview, parts.frame);
    return parts.drawing;
  }

  /** Frame what the line shows of a story that it has no room for. */
  fit() {
    const { frame, scroll, sight, tokens } = this.parts;
    const { clientWidth, scrollLeft, scrollWidth } = scroll;
    const { offsetLeft } = tokens[0];
    const share = (length: number) => `${((100 * length) / (scrollWidth - offsetLeft)).toFixed(2)}%`;
    sight.classList.toggle("over-long", scrollWidth > clientWidth);
    scroll.classList.toggle("scrolled", scrollLeft > 0);
    set(frame, ".left", share(scrollLeft));
    set(frame, ".width", share(clientWidth - offsetLeft));
  }

  entry() {
    const input = make("input", { type: "text", autocomplete: "off", autocapitalize: "off",
      spellcheck: false, "aria-describedby": this.parts.error.id, oninput: () => this.refuse("") });
    this.parts.input = input;
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

  /** Say what is wrong with what was typed, if anything is. */
  refuse(wrong: string) {
    setText(this.parts.error, wrong);
    set(this.parts.input, "aria-invalid", String(Boolean(wrong)));
  }

  /** A story that was typed, or what is wrong with it. @returns whether it does */
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
    this.showPlace();
    return true;
  }

  /**
   * A story goes on from what stands in its field, read or not yet; what was refused already gives way to the
   * story that is shown. @returns whether it does
   */
  isRead(): boolean {
    const { error, input: { value } } = this.parts;
    return Boolean(error.textContent) || value === this.told.map((i) => this.words[i]).join(" ") || this.read(value);
  }

  /** The controls for writing, between the heads and the next words. */
  controls() {
    const { parts } = this;
    parts.write = button(texts.write, () => this.write());
    parts.remove = button(texts.remove, () => this.keep(this.state.words.length - 1));
    parts.status = make("p", { className: "model-status soft", role: "status" });
    parts.temperature = make("input", { type: "range", min: 0.2, max: 3, step: 0.1,
      oninput: () => this.change({ temperature: Number(parts.temperature.value) }, "temperature") });
    parts.temperatureText = make("span");
    parts.greedy = make("input", { type: "checkbox",
      onchange: () => this.change({ greedy: parts.greedy.checked }) });
    return make("div", { className: "model-controls" }, parts.write, parts.remove,
      make("label", { className: "model-temperature" }, parts.temperatureText, " ", parts.temperature),
      make("label", {}, parts.greedy, " ", texts.greedy), parts.status);
  }

  actions() {
    const { parts } = this;
    parts.history = historyButtons(() => this.restore(this.history.undo(this.state)),
      () => this.restore(this.history.redo(this.state)));
    return make("div", { className: "model-controls" }, parts.history.undo, parts.history.redo,
      button(texts.reset, () => {
        this.told = []; // a text that was typed goes too
        this.change({ ...this.start });
      }),
      button(texts.copy, () => this.share()));
  }

  sharesSection() {
    const { parts } = this;
    parts.choice = make("select", { "aria-label": texts.partsOf,
      onchange: () => this.change({ word: Number(parts.choice.value) }) },
    ...this.words.map((word, i) => make("option", { value: i }, word)));
    parts.shares = texts.partNames.map((name: string, i: number) => {
      const bar = make("span", { className: "model-signed" }, make("span", {}));
      const number = makeButton("", () => this.ask(1, placeAt("shares", i, this.state.place,
        this.chosen)), { className: "number" });
      return { bar: bar.firstChild, number, row: make("li", {}, make("span", {}, name), bar, number) };
    });
    parts.logit = makeButton("", () => this.ask(1, placeAt("logits", this.state.place, this.chosen)),
      { className: "number" });
    parts.logitName = make("span");
    parts.chance = makeButton("", () => this.ask(1, placeAt("probabilities", this.state.place,
      this.chosen)), { className: "number" });
    return make("div", {}, make("p", { className: "model-title" }, texts.partsOf, " ", parts.choice),
      make("ol", { className: "model-shares" },
        ...parts.shares.map(({ row }: any) => row),
        make("li", { className: "total" }, parts.logitName, make("span"), parts.logit),
        make("li", {}, texts.chance, make("span"), parts.chance)));
  }

  /** The bar of the training; whatever leads to another step moves it too. */
  time() {
    this.bar = new TimeBar({ count: this.data.steps.length,
      label: (step: number) => fill(texts.step, { step: this.data.steps[step] }),
      show: (step: number) => { if (step !== this.state.step) this.change({ step, word: this.chosen }, "step"); } });
    this.bar.node.prepend(make("span", { className: "soft" }, texts.training));
    return this.bar.node;
  }

  cutChoice() {
    const { parts } = this;
    parts.cut = make("input", { type: "checkbox",
      onchange: () => this.change({ cut: parts.cut.checked, word: this.chosen, at: null }) });
    return make("label", {}, parts.cut, " ", texts.cut);
  }

  /** The story and a row a head, anew where the number of words has changed. */
  layOut() {
    const { words } = this.state;
    const { parts } = this;
    if (this.laid === words.length) return;
    this.laid = words.length;
    parts.arcs?.remove();
    parts.arcs = drawn("svg", { viewBox: `0 0 ${words.length} 1`, preserveAspectRatio: "none", class: "model-arcs" });
    parts.paths = texts.heads.map((_: string, head: number) =>
      words.map(() => drawn("path", { class: `head-${head}` })));
    parts.arcs.append(...parts.paths.flat());
    parts.drawing.prepend(parts.arcs);
    parts.small = words.map(() => make("li"));
    parts.overview.replaceChildren(...parts.small);
    parts.tokens = words.map((_: string, i: number) => makeButton("", () => this.choose(i), { className: "model-word" }));
    parts.toggles ??= texts.heads.map((name: string, head: number) => {
      const input = make("input", { type: "checkbox", checked: true,
        "aria-label": fill(texts.on, { head: texts.headNames[head] }),
        onchange: () => this.change({ word: this.chosen, off: this.state.off.map((was: boolean, h: number) =>
          (h === head ? !input.checked : was)) }) });
      return { input, node: make("label", { className: `model-head head-${head}` }, input, ` ${name}`) };
    });
    parts.cells = texts.heads.map((_: string, head: number) =>
      words.map((_word: string, key: number) => makeButton("", () => this.ask(head >> 1,
        placeAt("weights", head % 2, this.state.place, key)), { className: `number head-${head}` })));
    parts.story.replaceChildren(make("span", { className: "model-corner soft" }, texts.head), ...parts.tokens,
      ...parts.cells.flatMap((row: any[], head: number) =>
        [parts.toggles[head].node, ...row]));
    parts.sight.style.setProperty("--words", String(words.length));
  }

  // ---- Changes ----

  /** @param what is changed: the changes of it by one edit are undone together */
  change(changes: Partial<ModelState>, what: string = "") {
    const before = this.state;
    this.state = { ...before, ...changes };
    this.history.record(before, this.state, what);
    if (!this.state.at) this.trail = [];
    setText(this.parts.status, "");
    this.paint();
  }

  /** Go back, or forward again. */
  restore(state: ModelState | undefined) {
    if (!state) return;
    this.state = state;
    this.trail = [];
    this.paint();
  }

  choose(place: number) {
    if (place < 0 || place >= this.state.words.length) return;
    this.change({ place, word: -1, at: null });
    this.showPlace();
  }

  /**
   * Bring the chosen word into sight, where the story is longer than its line, with as many as it has room
   * for of the words before it, which it can look at.
   */
  showPlace() {
    const { scroll, tokens } = this.parts;
    const { offsetLeft, offsetWidth } = tokens[this.state.place];
    scroll.scrollLeft = offsetLeft + 2 * offsetWidth - scroll.clientWidth;
  }

  /** Keep so many words. */
  keep(count: number) {
    if (count < 1) return;
    this.change({ words: this.state.words.slice(0, count), place: count - 1, word: -1, at: null });
  }

  append(word: number) {
    const words = [...this.state.words.slice(0, this.state.place + 1), word];
    const isCut = words.length <= this.state.words.length;
    if (words.length > MOST) {
      setText(this.parts.status, fill(texts.full, { most: MOST }));
      return;
    }
    this.change({ words, place: words.length - 1, word: -1, at: null });
    setText(this.parts.status, fill(words.length === MOST ? texts.full : isCut ? texts.wroteOver : texts.wrote,
      { word: this.words[word], most: MOST }));
    this.showPlace();
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
    ask(this, homeOf(block, place));
  }

  // ---- The address ----

  share() {
    shareAddress(toHash(this), this.parts.status);
  }

  /** The readable part of an address, with defaults for the rest. */
  readAddress() {
    const read = fromHash(this, location.hash);
    if (!read) return;
    this.state = { ...read, at: null };
    this.trail = [];
    this.paint();
    if (read.at && hasNumber(this, read.at)) this.ask(read.at.block, read.at.place);
  }

  // ---- Painting ----

  paint() {
    const { cut, off, step, temperature, words } = this.state;
    this.models[step] ??= checkpoint(this.data, step);
    this.found = run(this.models[step], words, { off, cut, temperature });
    this.layOut();
    this.paintControls();
    this.paintStory();
    this.paintNext();
    this.paintShares();
    paintCurves(this);
    paintMaps(this);
    paintOrigin(this);
  }

  paintControls() {
    const { cut, greedy, off, step, temperature, words } = this.state;
    const { parts, start } = this;
    markCaption(this.node, false, cut || temperature !== 1 || step !== start.step
      || !same([off, words], [start.off, start.words]));
    parts.history.paint(this.history);
    setOff(parts.remove, words.length < 2);
    set(parts.write, "aria-disabled", String(words.length >= MOST));
    parts.temperature.value = String(temperature);
    setText(parts.temperatureText, fill(texts.temperature, { t: short(temperature) }));
    parts.greedy.checked = greedy;
    parts.cut.checked = cut;
    parts.toggles.forEach(({ input }: any, i: number) => {
      input.checked = !off[i];
    });
    if (this.bar.at !== step) this.bar.go(step);
    if (this.told !== words) { // else a text that was typed and not read yet stays
      this.told = words;
      parts.input.value = words.map((i: number) => this.words[i]).join(" ");
      this.refuse("");
    }
  }

  /** @param head of four */
  weightsOf(head: number): Matrix {
    return this.found.blocks[head >> 1].numbers.weights[head % 2];
  }

  paintStory() {
    const { off, place, words } = this.state;
    const { parts } = this;
    const longest = Math.max(...words.map((i: number) => this.words[i].length));
    // Not "wide", which is the page's word for a block that takes the margin.
    parts.sight.classList.toggle("long-words", longest > SHORT);
    parts.tokens.forEach((token: any, i: number) => {
      setText(token, this.words[words[i]]);
      set(token, "aria-label", fill(texts.word, { n: i + 1, word: this.words[words[i]] }));
      set(token, "aria-pressed", String(i === place));
      setText(parts.small[i], this.words[words[i]]);
      set(parts.small[i], "class", i === place ? "chosen" : "");
    });
    parts.cells.forEach((row: any[], head: number) => {
      const weights = this.weightsOf(head)[place];
      row.forEach((cell, key) => {
        const isSeen = key <= place;
        setText(cell, isSeen ? shown(weights[key], 2) : "");
        cell.disabled = !isSeen;
        cell.classList.toggle("soft", off[head]);
        set(cell, ".backgroundColor", isSeen && !off[head]
          ? `color-mix(in oklab, var(--head) ${Math.round(45 * weights[key])}%, transparent)` : "");
        const path = parts.paths[head][key];
        const isDrawn = isSeen && key !== place && weights[key] > 0.05 && !off[head];
        set(path, "d", isDrawn ? this.arc(key, place) : "");
        set(path, "stroke-width", isDrawn ? (1 + 6 * weights[key]).toFixed(1) : 0);
      });
    });
  }

  arc(key: number, place: number) {
    const rise = Math.min(0.3 + 0.12 * (place - key), 1.9);
    return `M${key + 0.5} 1Q${(key + place + 1) / 2} ${1 - rise} ${place + 0.5} 1`;
  }

  /** The word in question: the chosen one, else the next word of the story, else the likeliest. */
  get chosen() {
    const { place, word, words } = this.state;
    if (word >= 0) return word;
    return words[place + 1] ?? nextWord(this.found.blocks[1].numbers.logits[place], 1, null);
  }

  paintNext() {
    const { place, words } = this.state;
    const { parts } = this;
    const { probabilities } = this.found.blocks[1].numbers;
    const chances = probabilities[place];
    const order = chances.map((_: number, i: number) => i)
      .sort((a: number, b: number) => chances[b] - chances[a])
      .slice(0, LIKELIEST);
    parts.lines ??= order.map(() => {
      const line = { word: -1, append: makeButton("", () => this.append(line.word)),
        bar: make("span", {}), why: makeButton("", () => this.ask(1,
          placeAt("probabilities", this.state.place, line.word)), { className: "number" }) };
      parts.next.append(make("li", {}, line.append, make("span", { className: "model-bar" }, line.bar),
        line.why));
      return line;
    });
    parts.lines.forEach((line: any, i: number) => {
      line.word = order[i];
      const word = this.words[order[i]];
      const p = percent(chances[order[i]]);
      setText(line.append, word);
      set(line.append, "aria-label", fill(texts.append, { word }));
      setText(line.why, p);
      set(line.why, "aria-label", fill(texts.why, { p, word }));
      set(line.bar, ".width", `${(100 * chances[order[i]]).toFixed(1)}%`);
    });
    setText(parts.nextTitle, fill(texts.next, { n: place + 1, word: this.words[words[place]] }));
    const came = words[place + 1];
    setText(parts.came, came === undefined ? "" : fill(texts.came,
      { word: this.words[came], cost: shown(-Math.log(probabilities[place][came]), 2) }));
    const each = 4 * this.found.blocks[0].inputs.embeddings[0].length;
    setText(parts.kept, fill(words.length === 1 ? texts.keptOne : texts.kept, { n: words.length,
      all: each * words.length }) + (words.length < MOST ? fill(texts.more, { more: each }) : ""));
  }

  paintShares() {
    const { parts } = this;
    const { place } = this.state;
    const shares = sharesAt(this.found, place).map((part: number[]) => part[this.chosen]);
    const largest = Math.max(LARGEST, ...shares.map(Math.abs));
    parts.choice.value = String(this.chosen);
    parts.shares.forEach(({ bar, number }: any, i: number) => {
      const size = (50 * Math.abs(shares[i])) / largest;
      set(bar, ".left", `${shares[i] < 0 ? 50 - size : 50}%`);
      set(bar, ".width", `${size.toFixed(1)}%`);
      set(bar, "class", shares[i] < 0 ? "below" : "");
      setText(number, shown(shares[i], 2));
    });
    setText(parts.logitName, fill(texts.wordsLogit, { word: this.words[this.chosen] }));
    const { logits, probabilities } = this.found.blocks[1].numbers;
    setText(parts.logit, shown(logits[place][this.chosen], 2));
    setText(parts.chance, percent(probabilities[place][this.chosen]));
  }
}

/** Open the figure on a page. */
export const open: Instrument = ({ story }) => new View(trained, story);
