/**
 * The recorded heads of a decoder: a token's arcs in two heads, all heads as maps, tests of their
 * names, heads whose numbers are computed again, and the next tokens without each of these.
 */

import maps from "../data/heads-maps.ts";
import { trace } from "../engine/attention.ts";
import { halvesOf } from "../engine/bytes.ts";
import { recordedMaps, tellingKey } from "../engine/heads-names.ts";
import { percent } from "../engine/numbers.ts";
import { fill } from "../engine/text.ts";
import { inSlices, make, makeButton, setText } from "../figures/explorer-parts.ts";
import { historyButtons } from "../figures/history-buttons.ts";
import { goBack, originOf, paintOrigin } from "../figures/origin-line.ts";
import { partsOf } from "../store/address.ts";
import { History } from "../store/history.ts";
import { shareAddress } from "../store/share.ts";
import { heads as texts } from "../strings/heads.ts";
import {
  drawsOf, gridOf, ordered, paintGrid, paintSentences, paintTable, scrollToHead, sentencesOf, tableOf, tested,
} from "./heads-grid.ts";
import { nextOf, paintNext } from "./heads-next.ts";
import { aboutOf, paintStrip, stripOf } from "./heads-own.ts";
import { paintStory, storyOf } from "./heads-story.ts";
import type { Instrument } from "../types/panels.ts";
import type { Inputs, Matrix, Run } from "../types/run.ts";

const { base, heads: perLayer, layers, sentences, tokens } = maps;

/** A head's width. */
const WIDTH = 64;

class HeadsView {
  count: number;
  sentences: { text: string, tokens: string[], first: number }[];
  most: number;
  angles: Matrix;
  mapOf: any;
  known: number[];
  brought: Record<number, any>;
  start: { sentence: any; place: any; key: any; side: number; name: string; heads: any; at: null; };
  state: any;
  history: History<any>;
  trail: any[];
  rule: string;
  parts: any;
  about: any;
  color: string;
  node: any;

  /** The tokens as they are shown. */
  words: string[] = [];
  /** The chosen word and its key. */
  pair: string[] = [];
  /** The results of the first head for these tokens, if it is recorded in full. */
  worked: { run: Run | null, inputs: Inputs } = { run: null, inputs: {} };
  /** Of each head, how far the name of this test holds. */
  tested = { of: "none", results: ([] as any[]) };
  order: number[] = [];

  constructor(data: any) {
    /** How many tokens there are in all. */
    this.count = 0;
    /** Each with its text, its tokens, and the number of its first among all of them. */
    this.sentences = sentences.map((text: string, i: number) => {
      const first = this.count;
      this.count += tokens[i].length;
      return { text, tokens: tokens[i], first };
    });
    this.most = Math.max(...this.sentences.map((sentence) => sentence.tokens.length));
    /** The rotation of each pair of components at each position. */
    this.angles = Array.from({ length: this.most }, (_row, i) =>
      Array.from({ length: WIDTH / 2 }, (_angle, j) => i * base ** ((-2 * j) / WIDTH)));
    this.mapOf = recordedMaps();
    this.known = data.known.map((at: number[]) => this.headAt(at));
    /** The loaded data of the known heads, and their results for tokens. */
    this.brought = {};
    this.start = { sentence: data.sentence, place: data.place, key: data.key, side: 0, name: "",
      heads: data.heads.map((at: number[]) => this.headAt(at)), at: null };
    this.state = { ...this.start };
    this.history = new History();
    this.trail = [];
    /** The message on the maps. */
    this.rule = "";
    this.parts = {};
    this.about = aboutOf(this);
    this.color = "";
    this.node = this.build();
    this.paint();
    new MutationObserver(() => this.placed()).observe(document.documentElement, { attributeFilter: ["data-theme"] });
  }

  /**
   * Draw the maps once the figure is in its page, since their colours are known only there. They are
   * drawn in deferred tasks, a few at a time.
   */
  placed() {
    this.color = getComputedStyle(this.parts.slots[0].canvas).color;
    inSlices([() => this.bring(), () => scrollToHead(this), ...drawsOf(this)]);
  }

  build() {
    const { parts } = this;
    parts.title = make("p", { className: "strip-title", role: "status" });
    const button = (label: string, act: () => void) =>
      makeButton(label, act, { className: "reading-button" });
    parts.history = historyButtons(() => this.restore(this.history.undo(this.state)),
      () => this.restore(this.history.redo(this.state)));
    parts.status = make("span", { className: "soft", role: "status" });
    // A reader chooses a sentence first; the list below has the head's result for each.
    parts.sentence = make("select", { onchange: () => this.chooseSentence(parts.sentence.selectedIndex) },
      ...this.sentences.map(({ text }) => make("option", {}, text.trim())));
    const all = gridOf(this);
    const live = make("div", { className: "model-live" },
      make("div", { className: "model-controls" },
        make("label", {}, `${texts.sentence} `, parts.sentence), parts.history.undo, parts.history.redo,
        button(texts.reset, () => this.change({ ...this.start })), button(texts.copy, () => this.share()), parts.status),
      parts.title, make("div", { className: "heads-two" }, storyOf(this), stripOf(this), nextOf(this), all, sentencesOf(this)),
      tableOf(this), originOf(this));
    live.addEventListener("keydown", (event: KeyboardEvent) => {
      if (event.key === "Escape" && this.state.at) goBack(this, true);
    });
    return live;
  }

  // ---- Heads, tokens and numbers ----

  /** @param at layer and head, counted from 1 */
  headAt([layer, head]: number[]) {
    return (layer - 1) * perLayer + head - 1;
  }

  placeOf(head: number) {
    return { layer: Math.floor(head / perLayer) + 1, head: (head % perLayer) + 1 };
  }

  brief = (head: number) => fill(texts.brief, this.placeOf(head));

  nameOf = (head: number) => fill(texts.head, this.placeOf(head));

  /** The results of the first head for the sentence, null if it is not recorded in full. */
  runOf(head: number) {
    const found = this.brought[head];
    if (!found) return null;
    const { sentence } = this.state;
    if (found.sentence !== sentence) {
      const { first, tokens } = this.sentences[sentence];
      const [query, key, value] = found.matrices.map((matrix: Matrix) =>
        [matrix.slice(first, first + tokens.length)]);
      const inputs = { query, key, value, angles: this.angles.slice(0, tokens.length), isCausal: true };
      Object.assign(found, { sentence, inputs, run: trace(inputs) });
    }
    return found;
  }

  /** The recorded weights of a head. */
  weightsIn(head: number): Matrix {
    return this.mapOf(this.state.sentence, head);
  }

  /** The mean weight that the other tokens from the key on give it in the first head. */
  others() {
    const { heads: [head], key, place } = this.state;
    const rows = this.weightsIn(head).filter((_, i) => i !== place && i >= key);
    return !rows.length ? texts.none : percent(rows.reduce((sum, row) => sum + row[key], 0) / rows.length);
  }

  /** Load the numbers of those of the two heads that have some. */
  bring() {
    for (const head of this.state.heads) {
      if (!this.known.includes(head) || head in this.brought) continue;
      this.brought[head] = null;
      const { layer, head: number } = this.placeOf(head);
      import(`../data/head-${layer}-${number}.js`).then(({ default: packed }) => {
        this.brought[head] = { matrices: halvesOf(packed, [3, this.count, WIDTH]) };
        this.paint();
      }, () => { delete this.brought[head]; });
    }
  }

  // ---- Changes ----

  /** Apply a change of the state. */
  show(changes: any) {
    this.state = { ...this.state, ...changes };
    this.paint();
  }

  change(changes: any) {
    const state = this.sound({ ...this.state, ...changes });
    this.history.record({ ...this.state, at: null }, state);
    this.trail = [];
    setText(this.parts.status, "");
    this.show(state);
  }

  /** A state whose token and key are in its sentence. */
  sound(state: any) {
    const last = this.sentences[state.sentence].tokens.length - 1;
    return { ...state, place: Math.min(state.place, last), key: Math.min(state.key, last), at: null };
  }

  /** Go back, or forward again. */
  restore(state: any) {
    if (!state) return;
    this.trail = [];
    this.show({ ...state, at: null });
  }

  choose(place: number) {
    this.change({ place });
  }

  chooseKey(key: number) {
    this.change({ key });
  }

  /** The token and the key stay if a sentence has them; else the last token, and its largest weight. */
  chooseSentence(sentence: number) {
    const { tokens } = this.sentences[sentence];
    const [place, key] = this.pair.map((word) => tokens.indexOf(word));
    const row = place >= 0 ? place : tokens.length - 1;
    const weights = this.mapOf(sentence, this.state.heads[0]);
    const pair = key >= 0 && place >= 0 ? { place, key } : { place: row, key: tellingKey(weights[row], row) };
    this.change({ sentence, ...pair });
  }

  chooseHead(head: number, side: number = this.state.side) {
    this.change({ side, heads: this.state.heads.map((was: number, i: number) => (i === side ? head : was)) });
  }

  // ---- The address ----

  share() {
    const { heads, key, name, place, sentence } = this.state;
    const parts = new URLSearchParams({ heads: "decoder", sentence: String(sentence + 1), word: String(place + 1),
      key: String(key + 1), head: heads.map(this.brief).join("-"), ...name && { name } });
    shareAddress(`#${parts}`, this.parts.status);
  }

  /** The readable part of an address, with defaults for the rest. */
  readAddress() {
    const parts = partsOf("heads", "decoder");
    if (!parts) return;
    /** A number from 1 on, from 0 on. */
    const number = (text: string | null | undefined, end: number, otherwise: number): number => (/^[1-9]\d{0,2}$/.test(text ?? "") && Number(text) <= end ? Number(text) - 1 : otherwise);
    const { start } = this;
    const sentence = number(parts.get("sentence"), this.sentences.length, start.sentence);
    const heads = (parts.get("head") ?? "").split("-").slice(0, 2).map((text) => {
      const [layer, head] = text.split(".").map((part, i) => number(part, i ? perLayer : layers, -1));
      return layer >= 0 && head >= 0 ? layer * perLayer + head : -1;
    });
    const name = parts.get("name") ?? "";
    this.show(this.sound({ ...start, sentence, place: number(parts.get("word"), this.most, start.place), key: number(parts.get("key"), this.most, start.key),
      name: Object.hasOwn(texts.names, name) ? name : "",
      heads: start.heads.map((head: number, i: number) => (heads[i] >= 0 ? heads[i] : head)) }));
  }

  // ---- Painting ----

  paint() {
    const { parts, state } = this;
    const { heads, key, name, place, sentence } = state;
    if (this.color) this.bring(); // on its page; what is seen first does not wait for them
    this.words = this.sentences[sentence].tokens;
    this.pair = [this.words[place], this.words[key]];
    this.worked = this.runOf(heads[0]) ?? { run: null, inputs: {} };
    const of = [name, ...name === "pair" ? this.pair : []].join(" ");
    if (this.tested.of !== of) this.tested = { of, results: tested(this) };
    this.order = ordered(this);
    setText(parts.title, fill(texts.title, { word: `${this.pair[0].trim()} (${place + 1})`,
      first: this.nameOf(heads[0]), second: this.nameOf(heads[1]) }));
    parts.sentence.selectedIndex = sentence;
    parts.history.paint(this.history);
    paintStory(this);
    paintGrid(this);
    paintSentences(this);
    paintStrip(this);
    paintNext(this);
    paintTable(this);
    paintOrigin(this);
  }
}

/** Open the figure on a page. */
export const open: Instrument = (data) => new HeadsView(data);
