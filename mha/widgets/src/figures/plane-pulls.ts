/** The weights of a query as bars, each of which can be pulled to a wanted weight. */

import { percent, shown } from "../engine/numbers.ts";
import { fill } from "../engine/text.ts";
import { explorerViews as texts } from "../strings/explorer-views.ts";
import { freshId, inItalics, make, set, setText } from "./explorer-parts.ts";
import { coordinates } from "./plane-geometry.ts";
import { byMatrix, changesTo, rowOf, saysMoved, tokenAt } from "./plane-moves.ts";
import { nearest, weighing } from "./plane-weights.ts";
import type { ExplorerView } from "../types/explorer.ts";

/** A pull stops at this weight and at 1 minus this weight: no query gives a weight of 0 or 1. */
const MOST = 0.99;

/**
 * Write a sentence with words in italics. Where its parts are as many as before, their texts alone
 * change, and no style is looked for anew.
 */
export function sayIn(node: HTMLElement, text: string): void {
  const parts = text.split("*");
  if (node.childNodes.length !== parts.length) node.replaceChildren(...inItalics(text));
  else parts.forEach((part, i) => setText(node.childNodes[i] as Element, part)); // texts have a content too
}

/** The weights of a query, each to be pulled: the query goes the shortest way to one that gives it. */
export class Pulls {
  explorer: ExplorerView;
  head: number;
  look: (key: number) => void;
  say: (text: string) => void;
  pulling: number | null;
  start: number[] | null;
  rows: { input: HTMLInputElement; token: HTMLElement; number: HTMLElement; node: HTMLElement; }[];
  node: HTMLElement;

  /**
   * @param look shows the lines of a key
   * @param say announces the result of a pull
   */
  constructor(explorer: ExplorerView, head: number, look: (key: number) => void, say: (text: string) => void) {
    this.explorer = explorer;
    this.head = head;
    this.look = look;
    this.say = say;
    /** The key whose bar is being dragged. */
    this.pulling = null;
    /** The query at the start of the drag. */
    this.start = null;
    this.rows = explorer.data.tokens.map((_, key) => {
      const input = make("input", { type: "range", id: freshId(), min: 0, max: 100, step: 1,
        oninput: () => this.pull(key, Number(input.value) / 100), onchange: () => this.release() });
      const [token, number] = [make("i"), make("span")];
      return { input, token, number,
        node: make("li", {}, make("label", { htmlFor: input.id }, token), input, number) };
    });
    this.node = make("div", { className: "pulls" }, make("p", { className: "soft" }, texts.planePull),
      make("ul", {}, ...this.rows.map(({ node }) => node)));
  }

  release() {
    this.start = null;
    this.pulling = null;
    this.paint();
  }

  pull(key: number, wanted: number) {
    const { explorer, head } = this;
    const row = rowOf(explorer);
    this.pulling = key;
    this.start ??= explorer.numbers.query[head][row];
    const start = (this.start as number[]);
    const weighed = weighing(explorer, head, row);
    const words = { token: tokenAt(explorer, row), key: tokenAt(explorer, key), share: percent(wanted, 0) };
    const { most, ...found } = nearest(weighed, key, Math.min(MOST, Math.max(1 - MOST, wanted)), start);
    const query = found.query ?? nearest(weighed, key, Math.floor(100 * most) / 100, start).query;
    const point = query?.map((x) => Number(x.toFixed(4)));
    const changes = point && changesTo(explorer, "query", head, row, point);
    this.look(key);
    const way = point ? Math.hypot(point[0] - start[0], point[1] - start[1]) : 0;
    const text = !found.query || wanted === 0 || wanted === 1
      ? fill(found.query ? texts.planeNever : texts.planeNone,
        { ...words, most: percent(Math.ceil(1000 * most - 1e-6) / 1000) })
      : changes ? fill(texts.planeWay, { ...words, from: coordinates(start), to: coordinates(point), way: shown(way, 2) }) + byMatrix(explorer, "query")
        : texts.planeFixed;
    this.say(text);
    if (point && changes) {
      const name = fill(texts.planeVector.query, { token: tokenAt(explorer, row) });
      explorer.editAll(changes, saysMoved(explorer, name, "query", point));
    }
    // The handle is at the weight, even if the pointer has moved further.
    this.rows[key].input.value = String(100 * explorer.numbers.weights[head][row][key]);
    if (!point || !changes) {
      explorer.say(text.replaceAll("*", ""));
      this.paint();
    }
  }

  paint() {
    const { explorer, head } = this;
    const row = rowOf(explorer);
    explorer.numbers.weights[head][row].forEach((weight: number, key: number) => {
      const { input, token, number } = this.rows[key];
      setText(token, tokenAt(explorer, key));
      setText(number, percent(weight));
      set(input, "aria-valuetext", percent(weight));
      set(input, ".backgroundSize", `calc(0.375rem + ${weight.toFixed(4)} * (100% - 0.75rem)) 100%`);
      if (this.pulling !== key) input.value = String(100 * weight);
    });
  }
}
