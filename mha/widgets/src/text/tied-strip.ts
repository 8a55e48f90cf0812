/**
 * The small strip: the same run while the strip itself is off the screen. It is in the margin
 * if that is empty, else in two lines at the foot of the screen.
 */

import { percent, short } from "../engine/numbers.ts";
import { valueAt } from "../engine/places.ts";
import { stages } from "../engine/stages.ts";
import { fill } from "../engine/text.ts";
import { make, makeButton, set, setBar, setText } from "../figures/explorer-parts.ts";
import { same } from "../store/same.ts";
import { tied as texts } from "../strings/tied.ts";
import type { Numbers, Place, Run } from "../types/run.ts";

/** Its distance from the elements around it. */
const GAP = 16;

/** The bar above the page, and the strip's distance from the top if nothing is in the way. */
const BAR = 48;

const MIDDLE = 0.55;

/** How long after a change of the page the margin is looked at again. */
const SETTLED_MS = 300;

/** The page's contents, in the margin. */
const CONTENTS = ".bd-sidebar-secondary nav.page-toc";

/** So much of them stays at least where they give way, in rem. */
const FEW = 7;

/** The elements that the strip at the foot does not cover while they are in use. */
const FIGURES = "mha-explorer, mha-instrument, figure:not(:has(table))";

/** Where on the screen a figure has to begin to be looked at. */
const READ = 0.6;

/** The elements that may reach into the margin. */
const WIDE = "section > *, figure, .cell, .pst-scrollable-table-container";

/** Stages whose rows are queries. */
export const OF_QUERY = ["query", "turned_query", "scores", "scaled_scores", "exponentials", "row_sums",
  "weights", "head_outputs"];

const rem = () => parseFloat(getComputedStyle(document.documentElement).fontSize);

/** Limit the height of the page's table of contents, with the current entry in sight; null removes the limit. */
function giveWay(room: number | null) {
  const contents: HTMLElement | null = document.querySelector(CONTENTS);
  if (!contents) return;
  contents.classList.toggle("gives-way", room !== null);
  set(contents, ".maxHeight", room === null ? "" : `${room}px`);
  const active: HTMLElement | null = contents.querySelector("a.active");
  if (room !== null && active) {
    const { top } = active.getBoundingClientRect();
    contents.scrollTop += top - contents.getBoundingClientRect().top - room / 2;
  }
}

/** The bar of a page that is read in steps, if it is at the foot of the screen. */
const below = () => document.querySelector(".steps-bar:not([hidden])")?.getBoundingClientRect().height ?? 0;

/** An explorer, as far as its small strip shows it. */
export interface SmallExplorer {
  data: { tokens: string[], heads: string[] };
  root: HTMLElement;
  numbers: Numbers & Run;
  state: { order: number[], off: boolean[] };
  strip: { view(): { row: number, head: number } };
  nameOf(at: Place): string;
}

export class SmallStrip {
  explorer: SmallExplorer;
  first: Numbers;
  at: Place | null;
  isWanted: boolean;
  isShown: boolean;
  soon: number | null;
  isAway: boolean;
  hasMargin: boolean;
  edges: { margin: number; foot: number; };
  tall: number;
  taken: [number, number][];
  figures: [number, number][];
  later = 0;
  result = make("span", { className: "small-result" });
  said = make("span", { className: "small-said" });
  /** Whose numbers are shown, and the element with the button that restores the book's. */
  whose = make("span", { "data-short": texts.bookShort });
  reset = make("span", { className: "small-changed", hidden: true }, this.whose, " ");
  node: HTMLElement;

  /** A line for each key. */
  rows: Record<"token" | "bar" | "weight" | "node", HTMLElement>[];

  /** The title with the token: in the margin above the numbers, at the foot before them. */
  titles = [0, 1].map(() => {
    const [token, title] = [make("i"), make("span")];
    return { token, title, node: make("span", { className: "small-title" }, token, title) };
  });

  /** @param first its numbers before any change */
  constructor(explorer: SmallExplorer, first: Numbers, reset: () => void) {
    this.explorer = explorer;
    this.first = first;
    this.at = null;
    this.isWanted = false;
    this.isShown = false;
    /** The requests for the next frame. */
    this.soon = null;
    this.isAway = false;
    this.hasMargin = false;
    this.edges = { margin: 0, foot: 0 };
    /** Its height in the margin, 0 while nobody knows. */
    this.tall = 0;
    /** The elements in the margin, by their top and bottom in the page. */
    this.taken = [];
    /** The figures, likewise. */
    this.figures = [];
    this.reset.append(makeButton(texts.reset, reset));
    this.rows = explorer.data.tokens.map(() => {
      const [token, bar, weight] = [make("i"), make("span"), make("span", { className: "weight" })];
      return { token, bar, weight, node: make("li", {}, token, make("span", { className: "bar" }, bar), weight) };
    });
    this.node = this.build();
    document.body.append(this.node);
    addEventListener("scroll", () => this.stand(), { passive: true });
    const article = document.querySelector(".bd-article") ?? document.body;
    new ResizeObserver(() => {
      clearTimeout(this.later);
      this.later = setTimeout(() => this.measure(article), SETTLED_MS);
    }).observe(article);
    const contents = document.querySelector(CONTENTS);
    if (contents) new ResizeObserver(() => this.stand()).observe(contents);
  }

  build() {
    const { root } = this.explorer;
    const number = root.closest("figure")?.querySelector(".caption-number")?.textContent.trim();
    return make("aside", { className: "small-strip", "aria-label": texts.strip, hidden: true },
      make("div", { className: "small-top" }, this.titles[0].node,
        makeButton("↑", () => this.goUp(root), { title: texts.up, "aria-label": texts.up }),
        makeButton("×", () => { this.isAway = true; this.show(); },
          { title: texts.away, "aria-label": texts.away })),
      make("ul", {}, ...this.rows.map(({ node }) => node)),
      make("div", { className: "small-end" }, make("div", { className: "small-text" },
        make("span", { className: "small-figure" }, number ? fill(texts.figure, { number }) : ""),
        this.titles[1].node, " ", this.result), this.said, this.reset));
  }

  /** Go to the strip, which may be folded away. */
  goUp(root: Element) {
    root.closest("details:not([open])")?.setAttribute("open", "");
    root.scrollIntoView({ block: "center" });
  }

  // -- Its position --

  /** Measure the parts of the article in its margin, and whether there are any. */
  measure(article: Element) {
    const { left, right } = article.getBoundingClientRect();
    const edge = right - parseFloat(getComputedStyle(article).paddingRight);
    const room = document.documentElement.clientWidth - GAP - edge;
    this.hasMargin = room >= 15 * rem() + GAP;
    this.edges = { margin: edge + Math.min(4.5 * rem(), room - 15 * rem()), foot: Math.max(0, left) };
    this.taken = [];
    if (this.hasMargin) {
      for (const one of article.querySelectorAll(WIDE)) {
        const box = one.getBoundingClientRect();
        if (box.height && box.right > edge + GAP) {
          this.taken.push([box.top + scrollY, box.bottom + scrollY]);
        }
      }
    }
    this.figures = [...article.querySelectorAll(FIGURES)].map((one) => {
      const { top, bottom } = one.getBoundingClientRect();
      return [top + scrollY, bottom + scrollY];
    });
    this.tall = 0;
    this.stand();
  }

  /**
   * Take a place in the margin that is free, below the page's contents, which give way to it; at the
   * foot of the screen where there is no margin, or no room in it.
   */
  stand() {
    if (!this.isShown) return;
    const { classList } = this.node;
    if (!this.tall && this.hasMargin) {
      classList.remove("at-foot");
      classList.add("in-margin");
      this.tall = this.node.offsetHeight;
    }
    const height = this.tall;
    const contents: HTMLElement | null = document.querySelector(CONTENTS);
    const most = innerHeight - height - GAP;
    const room = contents ? most - GAP - contents.getBoundingClientRect().top : 0;
    const isTight = contents !== null && contents.scrollHeight > room;
    const end = contents ? contents.getBoundingClientRect().top + Math.min(room, contents.scrollHeight) : 0;
    const least = Math.max(BAR, end) + GAP;
    const fits = this.hasMargin && most >= least && (!isTight || room >= FEW * rem());
    const top = fits ? this.free(least, most, height) : null;
    const isInMargin = top !== null;
    classList.toggle("in-margin", isInMargin);
    classList.toggle("at-foot", !isInMargin);
    set(this.node, ".left", `${isInMargin ? this.edges.margin : this.edges.foot}px`);
    document.documentElement.classList.toggle("has-foot", !isInMargin);
    set(this.node, ".top", isInMargin ? `${top}px` : "");
    set(this.node, ".bottom", isInMargin ? "" : `${below()}px`);
    giveWay(isInMargin && isTight ? room : null);
    const isWanted = this.at !== null || this.isUsed();
    classList.toggle("in-the-way", !isInMargin && !isWanted && this.isOverFigure());
  }

  /** Whether the pointer or the focus is in it. */
  isUsed() {
    return this.node.matches(":hover, :focus-within");
  }

  /** Whether the foot of the screen has a figure whose upper part is on the screen already. */
  isOverFigure() {
    const foot = scrollY + innerHeight - this.node.offsetHeight - below();
    return this.figures.some(([top, bottom]) => top < scrollY + READ * innerHeight && bottom > foot);
  }

  /** Where the margin is free, null where it is not. */
  free(least: number, most: number, height: number): number | null {
    const inTheWay = (top: number): [number, number] | undefined => this.taken.find(([from, to]) =>
      from - scrollY < top + height + GAP && to - scrollY > top - GAP);
    const wanted = Math.round(Math.max(least, Math.min(most, MIDDLE * innerHeight)));
    const first = inTheWay(wanted);
    if (!first) return wanted;
    const [above, below] = [first[0] - scrollY - height - GAP, first[1] - scrollY + GAP];
    return [above, below].map(Math.round)
      .find((top) => top >= least && top <= most && !inTheWay(top)) ?? null;
  }

  /** @param isWanted whether its passage is read while the strip is off the screen */
  show(isWanted: boolean = this.isWanted) {
    this.isWanted = isWanted;
    const isShown = isWanted && !this.isAway;
    if (isShown === this.isShown) return;
    this.isShown = isShown;
    if (!isShown) this.node.hidden = true;
    this.paint();
    this.standSoon();
  }

  /**
   * Appear or move with the next frame, so that the page is laid out only once.
   */
  standSoon() {
    this.soon ??= requestAnimationFrame(() => {
      this.soon = null;
      this.node.hidden = !this.isShown;
      if (!document.querySelector(".small-strip:not([hidden])")) {
        document.documentElement.classList.remove("has-foot");
        giveWay(null);
      }
      this.stand();
    });
  }

  // -- What it shows --

  /**
   * The row and the head of the highlighted number; without one, the row of the strip, and its head
   * unless that is off or unchanged, else the first head that is on and changed.
   */
  view() {
    const { numbers, state, strip } = this.explorer;
    const { row: asked, head: shownHead } = strip.view();
    const { at } = this;
    const row = at && OF_QUERY.includes(at.stage) ? at.row : asked;
    const heads = [shownHead, ...state.off.keys()].filter((head) => !state.off[head]);
    const isMoved = (head: number) => ["weights", "head_outputs"].some((stage) =>
      !same(numbers[stage][head][row], this.first[stage][head][row]));
    const head = at?.head ?? heads.find(isMoved) ?? heads[0] ?? shownHead;
    return { row, head, order: state.order, isOff: state.off[head] };
  }

  /** The key that a place is of. */
  keyOf(at: Place | null) {
    if (!at) return null;
    if (stages[at.stage].columns === "keys") return at.column;
    return ["key", "value"].includes(at.stage) ? at.row : null;
  }

  /** @param at the place to highlight */
  light(at: Place | null) {
    this.at = at;
    if (!this.isShown) return;
    this.paint();
    this.standSoon();
  }

  paint() {
    if (!this.isShown) return;
    const { data, numbers } = this.explorer;
    const { row, head, order, isOff } = this.view();
    const token = data.tokens[order[row]];
    const title = fill(data.heads.length > 1 ? texts.ofHead : texts.asks, { head: data.heads[head] });
    for (const line of this.titles) {
      setText(line.token, token);
      setText(line.title, isOff ? fill(texts.isOff, { title }) : title);
    }
    set(this.node, "data-head", head % 6);
    this.node.classList.toggle("off", isOff);
    const lit = this.keyOf(this.at);
    numbers.weights[head][row].forEach((weight, key) => {
      const one = this.rows[key];
      setText(one.token, data.tokens[order[key]]);
      setBar(one.bar, weight);
      setText(one.weight, percent(weight, 0));
      one.node.classList.toggle("lit", lit === key);
    });
    const output = numbers.head_outputs[head][row];
    setText(this.result, output.length > 4 ? "" : `→ (${output.map((x) => short(x, 2)).join(", ")})`);
    setText(this.said, this.at ? `${this.explorer.nameOf(this.at)}: ${short(valueAt(numbers, this.at))}` : "");
  }

  /** @param hasStars whether the page has a star to be seen */
  mark(isChanged: boolean, hasStars: boolean) {
    const says = hasStars ? texts.changed : texts.yours;
    if (this.reset.hidden === !isChanged && this.whose.textContent === says) return;
    setText(this.whose, says);
    this.reset.hidden = !isChanged;
    this.tall = 0;
    this.standSoon();
  }
}
