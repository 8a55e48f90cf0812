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
import { OriginLine } from "../figures/origin-line.ts";
import { partsOf } from "../store/address.ts";
import { History } from "../store/history.ts";
import { shareAddress } from "../store/share.ts";
import { heads as texts } from "../strings/heads.ts";
import { makeGrid, makeSentences, makeTable, ordered, tested } from "./heads-grid.ts";
import { makeNext } from "./heads-next.ts";
import { aboutOf, makeStrip } from "./heads-own.ts";
import { makeStory } from "./heads-story.ts";
import type { HeadsFigure, HeadsState, WorkedHead } from "../types/heads.ts";
import type { Instrument } from "../types/panels.ts";
import type { Matrix } from "../types/run.ts";

const { base, heads: perLayer, layers, sentences, tokens } = maps;

/** A head's width. */
const WIDTH = 64;

/** The figure's data, as mha/widgets/heads.py writes it; layers and heads count from 1. */
interface HeadsData {
  known: number[][];
  heads: number[][];
  sentence: number;
  place: number;
  key: number;
}

/** The recorded matrices of a head, and its results for a sentence once they are computed. */
interface BroughtHead extends Partial<WorkedHead> {
  matrices: Matrix[];
  sentence?: number;
}

class HeadsView implements HeadsFigure {
  /** How many tokens there are in all. */
  count = 0;
  sentences = sentences.map((text, i) => {
    const first = this.count;
    this.count += tokens[i].length;
    return { text, tokens: tokens[i], first };
  });
  most = Math.max(...this.sentences.map((sentence) => sentence.tokens.length));
  /** The rotation of each pair of components at each position. */
  angles = Array.from({ length: this.most }, (_row, i) =>
    Array.from({ length: WIDTH / 2 }, (_angle, j) => i * base ** ((-2 * j) / WIDTH)));
  mapOf = recordedMaps();
  known: number[];
  /** The loaded data of the known heads, null while they are on their way. */
  brought: Record<number, BroughtHead | null> = {};
  start: HeadsState;
  state: HeadsState;
  history = new History<HeadsState>();
  words: string[] = [];
  pair: string[] = [];
  worked: WorkedHead = { run: null, inputs: {} };
  tested: HeadsFigure["tested"] = { of: "none", results: [] };
  order: number[] = [];
  color = "";

  about = aboutOf(this);
  line = new OriginLine(this);
  title = make("p", { className: "strip-title", role: "status" });
  status = make("span", { className: "soft", role: "status" });
  // A reader chooses a sentence first; the list below has the head's result for each.
  choice = make("select", { onchange: () => this.chooseSentence(this.choice.selectedIndex) },
    ...this.sentences.map(({ text }) => make("option", {}, text.trim())));
  steps = historyButtons(() => this.restore(this.history.undo(this.state)),
    () => this.restore(this.history.redo(this.state)));
  story = makeStory(this);
  strip: ReturnType<typeof makeStrip>;
  next = makeNext(this);
  grid: ReturnType<typeof makeGrid>;
  list = makeSentences(this);
  table = makeTable(this);
  node: HTMLElement;

  constructor(data: HeadsData) {
    this.known = data.known.map((at) => this.headAt(at));
    this.start = { sentence: data.sentence, place: data.place, key: data.key, side: 0, name: "",
      heads: data.heads.map((at) => this.headAt(at)), at: null };
    this.state = { ...this.start };
    this.strip = makeStrip(this);
    this.grid = makeGrid(this);
    this.node = this.build();
    this.paint();
    new MutationObserver(() => this.placed()).observe(document.documentElement, { attributeFilter: ["data-theme"] });
  }

  /**
   * Draw the maps once the figure is in its page, since their colours are known only there. They are
   * drawn in deferred tasks, a few at a time.
   */
  placed() {
    this.color = this.grid.colorNow();
    inSlices([() => this.bring(), () => this.grid.scrollToHead(), ...this.grid.draws(), ...this.list.draws()]);
  }

  build() {
    const button = (label: string, act: () => void) =>
      makeButton(label, act, { className: "reading-button" });
    const live = make("div", { className: "model-live" },
      make("div", { className: "model-controls" },
        make("label", {}, `${texts.sentence} `, this.choice), this.steps.undo, this.steps.redo,
        button(texts.reset, () => this.change({ ...this.start })), button(texts.copy, () => this.share()), this.status),
      this.title, make("div", { className: "heads-two" }, this.story.node, this.strip.node, this.next.node,
        this.grid.node, this.list.node),
      this.table.node, this.line.node);
    this.line.closeByKey(live);
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

  /** The results of a head for the sentence, if it is recorded in full. */
  runOf(head: number): WorkedHead {
    const found = this.brought[head];
    if (!found) return { run: null, inputs: {} };
    const { sentence } = this.state;
    if (found.sentence !== sentence) {
      const { first, tokens } = this.sentences[sentence];
      const [query, key, value] = found.matrices.map((matrix) =>
        [matrix.slice(first, first + tokens.length)]);
      const inputs = { query, key, value, angles: this.angles.slice(0, tokens.length), isCausal: true };
      Object.assign(found, { sentence, inputs, run: trace(inputs) });
    }
    return { run: found.run ?? null, inputs: found.inputs ?? {} };
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
  show(changes: Partial<HeadsState>) {
    this.state = { ...this.state, ...changes };
    this.paint();
  }

  change(changes: Partial<HeadsState>) {
    const state = this.sound({ ...this.state, ...changes });
    this.history.record({ ...this.state, at: null }, state);
    this.line.trail = [];
    setText(this.status, "");
    this.show(state);
  }

  /** A state whose token and key are in its sentence. */
  sound(state: HeadsState): HeadsState {
    const last = this.sentences[state.sentence].tokens.length - 1;
    return { ...state, place: Math.min(state.place, last), key: Math.min(state.key, last), at: null };
  }

  /** Go back, or forward again. */
  restore(state: HeadsState | undefined) {
    if (!state) return;
    this.line.trail = [];
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
    this.change({ side, heads: this.state.heads.map((was, i) => (i === side ? head : was)) });
  }

  // ---- The address ----

  share() {
    const { heads, key, name, place, sentence } = this.state;
    const parts = new URLSearchParams({ heads: "decoder", sentence: String(sentence + 1), word: String(place + 1),
      key: String(key + 1), head: heads.map(this.brief).join("-"), ...name && { name } });
    shareAddress(`#${parts}`, this.status);
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
      heads: start.heads.map((head, i) => (heads[i] >= 0 ? heads[i] : head)) }));
  }

  // ---- Painting ----

  paint() {
    const { heads, key, name, place, sentence } = this.state;
    if (this.color) this.bring(); // on its page; what is seen first does not wait for them
    this.words = this.sentences[sentence].tokens;
    this.pair = [this.words[place], this.words[key]];
    this.worked = this.runOf(heads[0]);
    const of = [name, ...name === "pair" ? this.pair : []].join(" ");
    if (this.tested.of !== of) this.tested = { of, results: tested(this) };
    this.order = ordered(this);
    setText(this.title, fill(texts.title, { word: `${this.pair[0].trim()} (${place + 1})`,
      first: this.nameOf(heads[0]), second: this.nameOf(heads[1]) }));
    this.choice.selectedIndex = sentence;
    this.steps.paint(this.history);
    [this.story, this.grid, this.list, this.strip, this.next, this.table, this.line].forEach((part) => part.paint());
  }
}

/** Open the figure on a page. */
export const open: Instrument = (data) => new HeadsView(data);
