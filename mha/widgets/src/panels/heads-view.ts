/**
 * The recorded heads of a trained model: a word's arcs in two heads, all heads as maps, tests of their
 * names, and five heads whose numbers are computed again.
 */

import maps from "../data/heads-maps.ts";
import { trace } from "../engine/attention.ts";
import { matricesOf } from "../engine/bytes.ts";
import { recordedMaps, tellingPair } from "../engine/heads-names.ts";
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
  drawsOf, gridOf, ordered, paintGrid, paintSentences, paintTable, sentencesOf, tableOf, tested,
} from "./heads-grid.ts";
import { aboutOf, fillOrder, orderOf, paintOrder, paintStrip, stripOf } from "./heads-own.ts";
import { paintStory, storyOf } from "./heads-story.ts";
import type { Inputs, Instrument, Matrix, Run } from "../types.ts";

const { heads: perLayer, layers, sentences, tokens } = maps;

/** A head's width. */
const WIDTH = 32;

class HeadsView {
  count: number;
  sentences: { text: string, tokens: string[], first: number }[];
  most: number;
  mapOf: any;
  known: number[];
  brought: Record<number, any>;
  start: { sentence: any; place: any; key: any; side: number; name: string; all: boolean; heads: any; own: null; at: null; };
  state: any;
  history: History<any>;
  trail: any[];
  rule: string;
  parts: any;
  about: any;
  color: string;
  node: any;

  /** The tokens as they are shown: their numbers among all, and their words. */
  ids: number[] = [];
  words: string[] = [];
  /** The chosen word and its key. */
  pair: string[] = [];
  /** The results of the first head for these tokens, if its matrices are included. */
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
    /** With so many tokens a head may be asked: as many as the longest sentence has. */
    this.most = Math.max(...this.sentences.map((sentence) => sentence.tokens.length));
    this.mapOf = recordedMaps();
    this.known = data.known.map((at: number[]) => this.headAt(at));
    /** The loaded data of the known heads, and their results for tokens. */
    this.brought = {};
    this.start = { sentence: data.sentence, place: data.place, key: data.key, side: 0, name: "", all: false,
      heads: data.heads.map((at: number[]) => this.headAt(at)), own: null, at: null };
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
   * In its page it has the colours of the maps; all else is written before, which costs less. Maps
   * are drawn after what is seen first, a few at a time.
   */
  placed() {
    this.color = getComputedStyle(this.parts.slots[0].canvas).color;
    inSlices([() => this.bring(), () => fillOrder(this), ...drawsOf(this)]);
  }

  build() {
    const { parts } = this;
    parts.title = make("p", { className: "strip-title", role: "status" });
    const button = (label: string, act: () => void) =>
      makeButton(label, act, { className: "reading-button" });
    parts.history = historyButtons(() => this.restore(this.history.undo(this.state)),
      () => this.restore(this.history.redo(this.state)));
    parts.status = make("span", { className: "soft", role: "status" });
    // A reader chooses this first; below, the list has what the head makes of each.
    parts.sentence = make("select", { onchange: () => this.chooseSentence(parts.sentence.selectedIndex) },
      ...this.sentences.map(({ text }) => make("option", {}, text)));
    const all = gridOf(this);
    const live = make("div", { className: "model-live" },
      make("div", { className: "model-controls" },
        make("label", {}, `${texts.sentence} `, parts.sentence), parts.history.undo, parts.history.redo,
        button(texts.reset, () => this.change({ ...this.start })), button(texts.copy, () => this.share()), parts.status),
      parts.title, make("div", { className: "heads-two" }, storyOf(this), stripOf(this), orderOf(this), all, sentencesOf(this)),
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

  /** The position of a token, by its number among all of them. */
  tokenOf(id: number) {
    const sentence = this.sentences.findLastIndex(({ first }) => first <= id);
    const place = id - this.sentences[sentence].first;
    return { sentence, place, word: this.sentences[sentence].tokens[place] };
  }

  /** The results of the first head for the tokens, null if its matrices are not included. */
  runOf(head: number) {
    const found = this.brought[head];
    if (!found) return null;
    const asked = this.ids.join(" ");
    if (found.asked !== asked) {
      const [query, key, value] = found.matrices.map((matrix: Matrix) =>
        [this.ids.map((id) => matrix[id])]);
      const inputs = { query, key, value };
      Object.assign(found, { asked, inputs, run: trace(inputs) });
    }
    return found;
  }

  /** The weights of a head: as recorded, or computed for another order. */
  weightsIn(head: number): Matrix | null {
    if (!this.state.own) return this.mapOf(this.state.sentence, head);
    return this.runOf(head)?.run.weights[0] ?? null;
  }

  /** The mean weight that the other tokens give the key in the first head. */
  others() {
    const { heads: [head], key, place } = this.state;
    const rows = (this.weightsIn(head) ?? []).filter((_, i) => i !== place);
    return percent(rows.reduce((sum, row) => sum + row[key], 0) / rows.length);
  }

  /** Load the numbers of those of the two heads that have some. */
  bring() {
    for (const head of this.state.heads) {
      if (!this.known.includes(head) || head in this.brought) continue;
      this.brought[head] = null;
      const { layer, head: number } = this.placeOf(head);
      import(`../data/head-${layer}-${number}.js`).then(({ default: packed }) => {
        this.brought[head] = { matrices: matricesOf(packed, [3, this.count, WIDTH]) };
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

  /** A state whose word and key are in its sentence; without matrices no other order. */
  sound(state: any) {
    const own = this.known.includes(state.heads[0]) ? state.own : null;
    const last = (own ?? this.sentences[state.sentence].tokens).length - 1;
    return { ...state, own, place: Math.min(state.place, last), key: Math.min(state.key, last), at: null };
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

  /** The word and the key stay where a sentence has them; else the first head says who tells most. */
  chooseSentence(sentence: number) {
    const { tokens } = this.sentences[sentence];
    const [place, key] = this.pair.map((word) => tokens.indexOf(word));
    const weights = this.mapOf(sentence, this.state.heads[0]);
    const pair = key >= 0 && place >= 0 ? { place, key } : tellingPair(weights, place);
    this.change({ sentence, ...pair, own: null });
  }

  chooseHead(head: number, side: number = this.state.side) {
    this.change({ side, heads: this.state.heads.map((was: number, i: number) => (i === side ? head : was)) });
  }

  // ---- The address ----

  share() {
    const { all, heads, key, name, own, place, sentence } = this.state;
    const parts = new URLSearchParams({ heads: "real", sentence: String(sentence + 1), word: String(place + 1),
      key: String(key + 1), head: heads.map(this.brief).join("-"), ...name && { name }, ...all && { all: "1" },
      ...own && { own: own.join(".") } });
    shareAddress(`#${parts}`, this.parts.status);
  }

  /** The readable part of an address, with defaults for the rest. */
  readAddress() {
    const parts = partsOf("heads", "real");
    if (!parts) return;
    /** A number from 1 on, from 0 on. */
    const number = (text: string | null | undefined, end: number, otherwise: number): number => (/^[1-9]\d{0,2}$/.test(text ?? "") && Number(text) <= end ? Number(text) - 1 : otherwise);
    const { start } = this;
    const sentence = number(parts.get("sentence"), this.sentences.length, start.sentence);
    const heads = (parts.get("head") ?? "").split("-").slice(0, 2).map((text) => {
      const [layer, head] = text.split(".").map((part, i) => number(part, i ? perLayer : layers, -1));
      return layer >= 0 && head >= 0 ? layer * perLayer + head : -1;
    });
    const own = (parts.get("own") ?? "").split(".").map((text) => (/^\d{1,3}$/.test(text) ? Number(text) : this.count));
    const isOwn = own.length <= this.most && own.every((id) => id < this.count);
    const name = parts.get("name") ?? "";
    this.show(this.sound({ ...start, sentence, own: isOwn ? own : null, all: parts.get("all") === "1",
      place: number(parts.get("word"), this.most, start.place), key: number(parts.get("key"), this.most, start.key),
      name: Object.hasOwn(texts.names, name) ? name : "",
      heads: start.heads.map((head: number, i: number) => (heads[i] >= 0 ? heads[i] : head)) }));
  }

  // ---- Painting ----

  paint() {
    const { parts, state } = this;
    const { heads, key, name, own, place, sentence } = state;
    if (this.color) this.bring(); // on its page; what is seen first does not wait for them
    const { first, tokens } = this.sentences[sentence];
    this.ids = own ?? tokens.map((_, i) => first + i);
    this.words = this.ids.map((id) => this.tokenOf(id).word);
    this.pair = [this.words[place], this.words[key]];
    this.worked = this.runOf(heads[0]) ?? { run: null, inputs: {} };
    const of = [name, ...name === "pair" ? this.pair : []].join(" ");
    if (this.tested.of !== of) this.tested = { of, results: tested(this) };
    this.order = ordered(this);
    setText(parts.title, fill(own ? texts.titleOwn : texts.title, { word: `${this.pair[0]} (${place + 1})`,
      first: this.nameOf(heads[0]), second: this.nameOf(heads[1]) }));
    parts.sentence.selectedIndex = sentence;
    parts.history.paint(this.history);
    paintStory(this);
    paintGrid(this);
    paintSentences(this);
    paintStrip(this);
    paintOrder(this);
    paintTable(this);
    paintOrigin(this);
  }
}

/** Open the figure on a page. */
export const open: Instrument = (data) => new HeadsView(data);
