/** The words of a reader's own example, one of them looked at: its weights, and its numbers as sliders. */

import { percent } from "../engine/numbers.ts";
import { at as placeAt } from "../engine/places.ts";
import { fill } from "../engine/text.ts";
import { freshId, make, makeButton, makeField, makeGroup, set, setBar, setText } from "../figures/explorer-parts.ts";
import { isByChance } from "../store/own-settings.ts";
import { explorer as explorerTexts } from "../strings/explorer.ts";
import { own as texts } from "../strings/own.ts";
import type { NumberField } from "../types/fields.ts";
import type { OwnFigure } from "../types/panels.ts";
import type { Matrix, Numbers, Run } from "../types/run.ts";

const { queryIs } = explorerTexts;

/** The range of a slider; a typed number may be outside it. */
const SLIDERS = { meanings: [0, 2, 0.5], whole: [-3, 3, 1], tenths: [-1.5, 1.5, 0.1] };

type Bar = { bar: HTMLElement, name: HTMLElement, share: HTMLElement };
type Slider = { field: NumberField, name: string, range: HTMLInputElement, note: HTMLElement, node: HTMLElement };

/** Whether all matrices of a row, one per head, are zero, so that no head reads the number. */
const isIdle = (matrices: Matrix[], row: number): boolean => matrices.every((matrix) => matrix[row].every((x) => !x));

export class OwnWords {
  own: OwnFigure;
  node: HTMLElement = make("div", { className: "own-chosen" });
  sliding: HTMLElement = make("div", { className: "own-sliders" });
  direction: () => "ltr" | "rtl";

  /** The words and the kind of numbers for which the words and the sliders were last made. */
  shape = "";
  slid = "";

  words: { button: HTMLElement, bars: Bar[] }[] = [];
  asker: HTMLElement = make("i");

  /** The names of the heads. */
  legend: HTMLElement[] = [];

  sliders: Slider[] = [];

  /** The title of the sliders, with their word. */
  slidersOf: HTMLElement = make("legend");

  /** @param direction in which the sentence is read */
  constructor(own: OwnFigure, direction: () => "ltr" | "rtl") {
    this.own = own;
    this.direction = direction;
  }

  isByChance(word: string) {
    return isByChance(this.own.settings, this.own.data, word);
  }

  /** Lay the words out for the settings. */
  layOut() {
    const { heads, numbers, words } = this.own.settings;
    // Where only numbers differ, it is painted.
    const shape = JSON.stringify([words, heads, numbers]);
    if (shape === this.shape) return;
    this.shape = shape;
    const each = Array.from({ length: heads }, (_, head) => head);
    this.words = words.map((word, i) => {
      const bars = each.map((head) => {
        const bar = make("span");
        const name = make("span", { className: "own-unseen" });
        const share = make("span", { className: "own-share" });
        return { bar, name, share, node: make("span", { className: `own-bar head-${head % 6}` },
          make("span", { className: "own-track" }, name, bar), share) };
      });
      const button = makeButton("", () => this.own.explorer.show({ query: i },
        fill(queryIs, { token: word })), { className: "own-word" });
      button.append(make("i", { dir: "auto" }, word), ...bars.map(({ node }) => node),
        ...(this.isByChance(word) ? [make("span", { className: "soft" }, texts.byChance)] : []));
      return { button, bars };
    });
    this.asker = make("i");
    this.legend = each.map(() => make("span"));
    this.node.replaceChildren(
      make("p", { className: "own-title" }, this.asker, ` ${texts.asks}`, ...each.map((head) =>
        make("span", { className: `own-legend head-${head % 6}` }, make("span"), this.legend[head]))),
      make("div", { className: "own-word-row", role: "group", "aria-label": texts.choose,
        dir: this.direction() },
        ...this.words.map(({ button }) => button)),
      this.sliding);
  }

  /** Sliders for the numbers of a word, whichever is looked at. */
  slide() {
    const { numbers, width } = this.own.settings;
    const slid = JSON.stringify([numbers, width]);
    if (this.slid === slid) return;
    this.slid = slid;
    const [min, max, step] = SLIDERS[numbers];
    this.sliders = Array.from({ length: width }, (_, i) => {
      const name = numbers === "meanings" ? this.own.data.meanings[i] : `x${"₁₂₃₄₅₆"[i]}`;
      const take = (value: number) => {
        const { explorer } = this.own;
        const { order, query } = explorer.state;
        return explorer.edit(placeAt("embeddings", order.indexOf(query), i), value);
      };
      const field = makeField(name, take, undefined, () => this.own.explorer.takeBack());
      const note = make("span", { className: "soft", id: freshId() });
      const range = make("input", { type: "range", min, max, step,
        "aria-describedby": note.id, oninput: () => take(Number(range.value)) });
      return { field, name, range, note, node: make("div", { className: "own-slider" }, field.node, note, range) };
    });
    const group = makeGroup("", make("div", { className: "own-slider-row" }, ...this.sliders.map(({ node }) => node)));
    this.slidersOf = group.firstChild as HTMLElement;
    this.sliding.replaceChildren(group);
  }

  /** The explorer has changed: the words and the sliders follow. */
  paint() {
    const { explorer } = this.own;
    const { state } = explorer;
    const numbers: Numbers & Run = explorer.numbers;
    this.slide();
    const word = this.own.settings.words[state.query];
    setText(this.asker, word);
    setText(this.slidersOf, fill(this.isByChance(word) ? texts.numbersByChance : texts.numbersOf, { word }));
    const row = state.order.indexOf(state.query);
    this.legend.forEach((name, head) => setText(name, explorer.data.heads[head]));
    this.words.forEach(({ button, bars }, i) => {
      const column = state.order.indexOf(i);
      bars.forEach(({ bar, name, share }, head) => {
        setText(name, explorer.data.heads[head]);
        const weight = numbers.weights[head][row][column];
        setBar(bar, weight);
        setText(share, numbers.mask[head][row][column] === -Infinity ? texts.hidden : percent(weight, 0));
      });
      set(button, "aria-pressed", String(i === state.query));
    });
    const { w_q, w_k, w_v } = numbers;
    this.sliders.forEach(({ field, name, range, note }, i) => {
      const value = numbers.embeddings[row][i];
      set(range, "aria-label", `${word}: ${name}`);
      const isBeyond = value < Number(range.min) || value > Number(range.max);
      setText(note, !isIdle([...w_q, ...w_k], i) ? (isBeyond ? texts.beyondSlider : "")
        : isIdle(w_v, i) ? texts.idle : texts.passedOn);
      field.set(value);
      if (Number(range.value) !== value) range.value = String(value);
    });
  }
}
