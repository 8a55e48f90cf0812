/**
 * An example of the reader's own: a sentence, the meanings of its words as sliders, its sizes; below
 * them its explorer, exercises on its numbers, and files to save. Each change of the sentence or a size
 * makes another explorer; all are steps of one history.
 */

import { Draws } from "../engine/draws.ts";
import { drawExample } from "../engine/own-draw.ts";
import { fill } from "../engine/text.ts";
import { inSlices, isPage, make, makeButton, markCaption, setText } from "../figures/explorer-parts.ts";
import { elementOf } from "../figures/explorer-sections.ts";
import { compute, startOf } from "../store/explorer-state.ts";
import { History } from "../store/history.ts";
import { WIDTH, addressOf, followed, isTold, kept, mostTold, settingsOf, withWidth } from "../store/own-settings.ts";
import { explorer } from "../strings/explorer.ts";
import { own as texts } from "../strings/own.ts";
import { askable, boxOf } from "./own-asks.ts";
import { ownBar } from "./own-bar.ts";
import { choices } from "./own-choices.ts";
import { taken } from "./own-files.ts";
import { sentenceField } from "./own-sentence.ts";
import { OwnWords } from "./own-words.ts";
import type { Explorer } from "../figures/explorer-view.ts";
import type { ExplorerData, ExplorerState } from "../types/explorer.ts";
import type { Instrument, OwnFigure, OwnKnowledge, OwnSettings } from "../types/panels.ts";
import type { Matrix } from "../types/run.ts";

const { redone, undone } = explorer;

/** Changes of one kind are one step until a pause of this length. */
const GESTURE_MS = 1500;

/** The settings whose change gives each word a new question. */
const REDRAWN = ["words", "numbers", "seed", "width"];

/** The largest number of stored steps. */
const STEPS = 50;

/** The weights of a state; those that were drawn, where its numbers are too large to compute. */
function weightsOf(data: ExplorerData, state: Partial<ExplorerState>): Matrix[] {
  try {
    return compute(data, { ...startOf(data), ...state }).weights;
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    return compute(data, startOf(data)).weights;
  }
}

/** An <mha-explorer>; explorer.ts defines it. */
type ExplorerElement = HTMLElement & { data: ExplorerData, explorer: Explorer, isLate: boolean, begin(): void };

class Own implements OwnFigure {
  data: OwnKnowledge & { words: string[] };
  first: OwnSettings;
  settings: OwnSettings;
  /** The explorer that is shown; `placed` makes the first. */
  element!: ExplorerElement;
  history: History<{ settings: OwnSettings, element: ExplorerElement }>;
  changed: number;
  turned: string;
  syncs: (() => void)[];
  follows: (() => void)[];
  words: OwnWords;
  place: HTMLElement;
  node: HTMLElement;
  box: HTMLElement = make("div", {});

  /** @param data as mha/widgets/own.py writes it */
  constructor(data: OwnKnowledge & { words: string[] }) {
    this.data = data;
    this.first = withWidth({ words: data.words, numbers: "meanings", seed: 1, heads: 2, width: WIDTH, inner: 2,
      positions: false, output: true }, data);
    this.settings = this.first;
    // An explorer that was made anew is another state: it has a history of its own.
    this.history = new History((left, right) => left.element === right.element, STEPS);
    /** When the last change was. */
    this.changed = 0;
    /** A sentence on the meanings that the heads join, or "". */
    this.turned = "";
    this.syncs = [];
    /** The updates after a change of the explorer, and those after a change of the settings only. */
    this.follows = [];
    this.place = make("div", { className: "own-explorer" });
    const sentence = sentenceField(this);
    // To ask the field for its style lays the page out.
    this.words = new OwnWords(this, () => (sentence.field.matches(":dir(rtl)") ? "rtl" : "ltr"));
    this.node = make("div", { className: "own" }, make("p", { className: "own-lead" }, texts.lead), sentence.node,
      ownBar(this, this.history), choices(this), sentence.vocabulary, this.words.node, this.place,
      this.asks()); // no choice moves the choices
    this.node.addEventListener("keydown", (event: KeyboardEvent) => this.onKey(event));
  }

  get explorer() {
    return this.element.explorer;
  }

  // ---- The explorer and the history ----

  /** The page shows the first example as the element comes into it. */
  placed() {
    this.show(this.made(this.first));
    this.explorer.leaveAddress();
  }

  /** The figure for some settings. It begins with the word that shows most. */
  made(settings: OwnSettings) {
    const { heads, inputs } = drawExample(settings, this.data);
    const data: ExplorerData = { name: "own-example", address: addressOf(settings), tokens: settings.words, heads,
      focus: null, inputs, block: null, end: settings.output ? "output" : "concat", masks: null,
      isCausal: false, scale: null, prints: {}, tasks: [], view: "strip", width: 0, keyWidth: 0 };
    data.focus = mostTold(weightsOf(data, {}));
    return { settings, data, element: elementOf(data, this.data.titles) as ExplorerElement };
  }

  show({ settings, element, data = element.data }: { settings: OwnSettings, element: ExplorerElement, data?: ExplorerData }, state?: Partial<ExplorerState>) {
    this.turned = this.turning(settings, data.heads);
    this.settings = settings;
    this.element = element;
    this.place.append(element);
    element.isLate = true;
    element.begin();
    this.come();
    if (!this.explorer.maker) this.explorer.told.push(() => this.paint());
    this.explorer.maker = this;
    this.words.layOut();
    this.syncs.forEach((sync) => sync());
    if (state) this.explorer.change(state, "", { compare: false, keep: false });
    else this.explorer.refresh();
  }

  /**
   * Show the new explorer in place of the previous one. If it is not made yet, this is a deferred task, so
   * that the controls above respond at once.
   */
  come() {
    const { element, explorer, place } = this;
    const show = () => {
      if (element !== this.element) return;
      explorer.assemble();
      element.style.display = "";
      [...place.children].forEach((other) => { if (other !== element) other.remove(); });
    };
    if (explorer.made) {
      show();
      return;
    }
    if (place.firstChild !== element) element.style.display = "none";
    inSlices([show]);
  }

  /**
   * A sentence on the meanings that each head joins, once the words are not those of the page; else "".
   * @param heads the descriptions of the heads
   */
  turning({ numbers, words }: OwnSettings, heads: string[]) {
    const isFirst = words.join(" ") === this.first.words.join(" ");
    return isFirst || numbers !== "meanings" ? "" : fill(texts.turned, { heads: heads.join(", ") });
  }

  /**
   * Take over other settings, and those of the reader's numbers that still fit.
   *
   * @param what the name of the changed value; its quick changes are one step
   */
  change(patch: Partial<OwnSettings>, sentence: string, what: string = "") {
    const wanted = { ...this.settings, ...patch };
    const settings = withWidth(wanted, this.data);
    const raised = settings.width > wanted.width ? fill(texts.raised, { width: settings.width }) : "";
    if (JSON.stringify(settings) === JSON.stringify(this.settings)) return;
    const now = performance.now();
    if (now - this.changed >= GESTURE_MS) this.history.endStep();
    this.changed = now;
    const { explorer } = this;
    explorer.leaveAddress();
    explorer.history.clearRedo();
    const made = this.made(settings);
    this.history.record({ settings: this.settings, element: this.element }, made, what);
    const state = kept(explorer.state, this.settings, settings);
    // The word that is looked at stays where it is still there and tells something.
    const weights = weightsOf(made.data, state);
    const at = followed(this.settings.words, settings.words)[explorer.state.query];
    const isNew = REDRAWN.some((key) => key in patch) || raised !== "";
    const stays = at >= 0 && (!isNew || isTold(weights, at));
    const query = stays ? at : mostTold(weights);
    // Numbers that are new may tell most in another head.
    const peaks = weights.map((rows) => Math.max(...rows[query]));
    const focus = isNew ? peaks.indexOf(Math.max(...peaks)) : state.focus;
    this.show(made, { ...state, query, focus });
    this.write();
    this.explorer.say([sentence, raised, this.turned].filter(Boolean).join(" "));
  }

  /** Write the address of the current state. */
  write() {
    this.explorer.written = "";
    this.explorer.writeAddress();
  }

  step(forward: boolean) {
    const now = { settings: this.settings, element: this.element };
    const wanted = forward ? this.history.redo(now) : this.history.undo(now);
    if (!wanted) return false;
    this.explorer.leaveAddress();
    this.show(wanted);
    this.write();
    this.explorer.say(forward ? redone : undone);
    return true;
  }

  onKey(event: KeyboardEvent) {
    if (!(event.ctrlKey || event.metaKey) || event.key.toLowerCase() !== "z") return;
    if (event.defaultPrevented || (event.target as Element).matches("[type=text]")) return;
    event.preventDefault();
    this.explorer.step(event.shiftKey);
  }

  /** An address such as #own=example&words=… holds settings, and a state of their explorer. */
  readAddress() {
    const settings = settingsOf(location.hash, this.first, this.data);
    if (!settings) return;
    this.explorer.leaveAddress();
    this.history.clear();
    this.show(this.made(settings));
    // What the address holds beside them, the explorer reads by itself.
    this.explorer.readAddress();
  }

  /** Paint the elements around the explorer after a change of it. */
  paint() {
    markCaption(this.node, false, this.settings.numbers !== "meanings");
    this.words.paint();
    this.follows.forEach((follow) => follow());
  }

  // ---- Boxes that ask ----

  asks() {
    const select = make("select", { "aria-label": texts.ask });
    let offered = "";
    this.syncs.push(() => {
      const { output, positions } = this.settings;
      const stages = Object.keys(texts.steps).filter((stage) =>
        (stage !== "output" || output) && (stage !== "placed" || positions));
      const chosen = select.value || "scores";
      if (offered !== stages.join()) {
        offered = stages.join();
        select.replaceChildren(...stages.map((stage) => make("option", { value: stage }, texts.steps[stage])));
        select.value = stages.includes(chosen) ? chosen : "scores";
      }
      this.box.replaceChildren();
      setText(button, texts.askButton);
    });
    let asked = 0;
    const button = makeButton(texts.askButton, async () => {
      await import("./your-turn.ts");
      const data = taken(this.explorer);
      const numbers = compute(data, startOf(data));
      const places = askable(numbers, select.value, data.focus ?? 0);
      asked += 1;
      const draws = new Draws(asked * 7919);
      this.box.replaceChildren(places.length
        ? boxOf(data, numbers, places[draws.whole(0, places.length - 1)], this.data)
        : make("p", {}, texts.askNone));
      setText(button, texts.askOther);
      this.box.querySelector("input")?.focus();
    });
    // A notebook's frame has no boxes.
    return isPage ? make("div", { className: "own-part" },
      make("div", { className: "own-line" }, make("span", { className: "own-title" }, texts.ask), select, button),
      this.box) : "";
  }
}

/** Open the figure on a page. */
export const open: Instrument = (data) => {
  const own = new Own(data);
  return { node: own.node, placed: () => own.placed(), readAddress: () => own.readAddress() };
};
