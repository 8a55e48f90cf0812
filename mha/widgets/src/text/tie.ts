/** One number, line or claim of the page's text that follows the run of an explorer. */

import { valueAt } from "../engine/places.ts";
import { fill } from "../engine/text.ts";
import { make, setText } from "../figures/explorer-parts.ts";
import { tied as texts } from "../strings/tied.ts";
import { behind, bookSign } from "./book-marks.ts";
import { WRITERS, formulaOf, holds, lineOf, worth } from "./tied-lines.ts";
import type { ExplorerNumbers, ExplorerState } from "../types/explorer.ts";
import type { Numbers, Place } from "../types/run.ts";

type Piece = { text: string, place?: Place | null, raised?: boolean };
type Formula = (number | string | Place)[];

/** What a page says of the run, as its numbers see it. */
interface TiedText {
  explorer: { state: ExplorerState };
  /** The run as the book has it. */
  first: { numbers: ExplorerNumbers; temperature: number };
  isPrinting: boolean;
  /** Whether a reader has changed the run. */
  isMarked: boolean;
  /** Tie an element to a number's place. */
  place(tie: Tie, node: HTMLElement, at: Place): void;
}

/** One number, or line, of the text. */
export class Tie {
  prose: TiedText;
  node: HTMLElement;
  isOwn: boolean;
  formula: Formula;
  said: { formula: Formula, how: string } | null;
  isClaim: boolean;
  isLine: boolean;
  at: Place;
  printed: string;
  isMoved: boolean;
  where: ReturnType<typeof behind> | null;
  inputs: HTMLElement[];
  isApart: boolean | undefined;

  /** How it is written, and with how many decimals. */
  how = "";

  places = 0;

  /** The printed text of a line and its nodes, piece by piece. */
  texts: string[] = [];

  nodes: (Text | HTMLElement)[] = [];

  /** All that it was last written for. */
  last = { from: "" };

  /** The mark of a claim that no longer holds. */
  now: HTMLElement | null = null;

  constructor(prose: TiedText, node: HTMLElement, formula: string, how: string) {
    this.prose = prose;
    this.node = node;
    // Words that a comparison proves may have a second formula, of the number to show now.
    const [own, now] = formula.split(" | ");
    /** Whether it is about the run of the book, and follows no figure. */
    this.isOwn = !own;
    this.formula = formulaOf(own);
    this.said = !now ? null : { formula: formulaOf(now), how: how.split(" ")[1] };
    [this.how, this.places] = [how.split(":")[0], Number(how.split(":")[1])];
    this.isClaim = how.startsWith("holds");
    this.isLine = this.how === "line";
    this.at = (this.formula.find((part) => typeof part === "object") as Place);
    this.printed = node.textContent ?? "";
    this.isMoved = false;
    /** The position of the remark about it, once there is one. */
    this.where = null;
    this.inputs = [];
    if (this.isLine) this.takeApart();
    else if (!this.isClaim && this.formula.length === 1) this.prose.place(this, node, this.at);
  }

  /** A line in pieces, each number of it with its place. */
  takeApart() {
    const { numbers, temperature } = this.prose.first;
    const pieces: Piece[] = lineOf(numbers, this.at, this.places, temperature) ?? [];
    this.texts = pieces.map(({ text }) => text);
    if (this.texts.join("") !== this.printed) throw new RangeError(this.printed);
    this.nodes = pieces.map(({ text, place, raised }) => {
      if (!place && !raised) return new Text(text);
      const node = make(raised ? "sup" : "span", {}, text);
      if (place) this.prose.place(this, node, place);
      return node;
    });
    this.node.replaceChildren(...this.nodes);
    this.node.classList.add("line");
  }

  /**
   * @param numbers of the explorer
   * @param moved where a place is now
   */
  paint(numbers: Numbers & ExplorerNumbers, temperature: number, moved: (at: Place) => Place) {
    const { isPrinting, explorer } = this.prose;
    if (this.at?.stage === "head_contributions") this.sayOff(!isPrinting && explorer.state.off[this.at.head ?? 0]);
    if (this.isLine) {
      const pieces = lineOf(numbers, moved(this.at), this.places, temperature, this.last);
      if (pieces) this.paintLine(pieces);
      return;
    }
    if (this.isOwn) {
      this.claim(!this.prose.isMarked, "");
      return;
    }
    const worthOf = (formula: Formula) =>
      worth(formula, (at: Place) => valueAt(numbers, moved(at)));
    const value = worthOf(this.formula);
    if (this.isClaim) {
      const { said } = this;
      this.claim(Boolean(value), said ? this.written(said.how, worthOf(said.formula)) : "");
      return;
    }
    if (this.how.startsWith("at_")) {
      const now = WRITERS[this.how](value, this.places + 1);
      this.claim(holds(this.how, this.printed, value), now);
      return;
    }
    const text = this.written(`${this.how}:${this.places}`, value);
    setText(this.node, text);
    if (this.inputs.length) this.node.setAttribute("aria-valuenow", String(value));
    this.mark(text !== this.printed);
  }

  /**
   * Whether the number is not finite in a run: a masked score is minus infinity.
   * @param numbers of the explorer
   */
  isLost(numbers: Numbers, moved: (at: Place) => Place) {
    const valueOf = (at: Place) => valueAt(numbers, moved(at));
    return !this.isOwn && !this.isLine && !Number.isFinite(Number(worth(this.formula, valueOf)));
  }

  /** Show that the contribution of a head is zero while the head is off. */
  sayOff(isOff: boolean) {
    const said = this.now ?? make("span", { className: "now" });
    this.now = said;
    if (isOff === said.isConnected) return;
    if (isOff) this.say(said, texts.off);
    else said.remove();
    this.node.classList.toggle("off", isOff);
  }

  say(said: HTMLElement, text: string) {
    this.where ??= behind(this.node);
    setText(said, this.where.written(text));
    if (!said.isConnected) this.where.put(said);
  }

  written(how: string, value: number) {
    const [name, places] = how.split(":");
    return WRITERS[name](value, Number(places));
  }

  paintLine(pieces: Piece[]) {
    const same = pieces.length === this.nodes.length;
    if (!same) {  // a mask came, or went
      this.node.textContent = pieces.map(({ text }) => text).join("");
      this.isApart = true;
    } else if (this.isApart) {
      this.node.replaceChildren(...this.nodes);
      this.isApart = false;
    }
    let isMoved = !same;
    for (let i = 0; same && i < pieces.length; i += 1) {
      const { text } = pieces[i];
      const node = this.nodes[i];
      const isNew = text !== this.texts[i];
      isMoved ||= isNew;
      if (node instanceof Text) {
        if (node.data !== text) node.data = text;
      } else if (node.firstChild instanceof Text && node.firstChild.data !== text) {
        node.firstChild.data = text;
        node.classList.toggle("moved", isNew);
        if (node.getAttribute("role")) node.setAttribute("aria-valuenow", text.replace(/[()]/g, "").replace("−", "-"));
      }
    }
    this.mark(isMoved);
  }

  /**
   * A claim remains as it is printed. A false one is greyed, with its number now; a claim that cannot
   * be evaluated is marked as one about the book's numbers.
   * @param now the text of the number now, "" if there is none
   */
  claim(isTrue: boolean, now: string) {
    const said = this.now ?? (this.isOwn ? bookSign() : make("span", { className: "now" }));
    this.now = said;
    const without = this.isOwn ? texts.book : texts.notNow;
    if (isTrue) said.remove();
    else this.say(said, now ? fill(texts.now, { text: now }) : without);
    this.node.classList.toggle(this.isOwn ? "own" : "fails", !isTrue);
  }

  mark(isMoved: boolean) {
    if (isMoved === this.isMoved) return;
    this.isMoved = isMoved;
    this.node.classList.toggle("moved", isMoved);
    if (isMoved) this.node.title = fill(texts.printed, { text: this.printed });
    else this.node.removeAttribute("title");
  }
}
