/**
 * All that a page's text says of one explorer's run: its numbers, found and tied as they come near the
 * screen, and painted again when the run changes.
 */

import { address, at as placeAt, isMatrix, stays, valueAt } from "../engine/places.ts";
import { stages } from "../engine/stages.ts";
import { fill } from "../engine/text.ts";
import { LATER_MS, make, stepped } from "../figures/explorer-parts.ts";
import { compute, isChanged, isInput, startOf } from "../store/explorer-state.ts";
import { explorer as explorerTexts } from "../strings/explorer.ts";
import { BLOCKS, bookSign, markAsBooks } from "./book-marks.ts";
import { inPlace, isScrubbing, touch } from "./scrub.ts";
import { Tie } from "./tie.ts";
import { WRITERS } from "./tied-lines.ts";
import { OF_QUERY, type SmallExplorer, SmallStrip } from "./tied-strip.ts";
import type { ExplorerData, ExplorerNumbers, ExplorerState } from "../types/explorer.ts";
import type { Matrix, Numbers, Place } from "../types/run.ts";

/** The elements with one mark for all numbers in them that do not follow. */
const LISTS = "ul, ol, dl, table";

/** From where on a score has no exponential: masked, or too far from zero. */
const TOO_LARGE = 700;

/** Where the mark of a cell's content is. */
const TITLES = ".caption-text, .your-turn-title, .quiz-title";

/** An explorer, or a layer of letters.ts, whose numbers the page's text follows. */
export interface FollowedExplorer extends SmallExplorer {
  data: ExplorerData;
  start: ExplorerState;
  state: ExplorerState;
  numbers: ExplorerNumbers;
  /** Whether no number of it can be changed by itself. */
  isFixed?: boolean;
  /** Functions that are called after each change. */
  told: (() => void)[];
  strip: SmallExplorer["strip"] & { node: HTMLElement, hands: { pointed: { at: Place } | null }, light(): void };
  edit(at: Place, value: number): string;
  reset(): void;
  show(patch: Partial<ExplorerState>, sentence: string): void;
}

/** A drawing of the text, which is drawn again for other numbers. */
interface FollowingFigure {
  isMoved: boolean;
  paint(numbers: Numbers, temperature: number, moved: (at: Place) => Place): void;
}

/** How a drawing of the text follows; tied-figure.ts has it, which only pages with such drawings load. */
let figureOf: (node: SVGElement) => FollowingFigure;

export function followDrawings(of: typeof figureOf) {
  figureOf = of;
}

/** All that the page says of one explorer's run. */
export class Prose {
  explorer: FollowedExplorer;
  arrange: () => void;
  first: { numbers: ExplorerNumbers; temperature: number; };
  ties: Map<Element, (Tie | FollowingFigure)[]>;
  near: Set<Element>;
  seen: Set<Element>;
  places: WeakMap<Element, { tie: Tie, at: Place }>;
  small: SmallStrip;
  late: number | undefined;

  /** The elements of the page that are tied to it. */
  nodes: Element[] = [];

  /** Whether the strip itself is on the screen; at first nobody knows. */
  isOnScreen: boolean | null = null;

  /** Whether a reader has come to the strip, who is shown a small one from then on. */
  isPast = false;

  isPrinting = false;

  /** Whether a reader has changed the run, so that texts that do not follow are marked. */
  isMarked = false;

  /** Whether the run has masked scores; `lost` has the texts without numbers for this reason, and their marks. */
  hasGaps = false;

  lost: Map<Element, Element> = new Map();

  /** The elements that get the mark. */
  own: Set<Element> = new Set();

  /** Boxes and figures that say so as a whole: no number in them follows. */
  cells: Element[] = [];

  watch = (_node: Element): void => {};

  /** @param arrange is called when another small strip may have to be shown */
  constructor(explorer: FollowedExplorer, arrange: () => void) {
    this.explorer = explorer;
    this.arrange = arrange;
    const { data } = explorer;
    const start = startOf(data);
    this.first = { numbers: compute(data, start), temperature: start.temperature };
    this.ties = new Map();
    /** The elements near the screen, and the visible ones. */
    this.near = new Set();
    this.seen = new Set();
    /** Where each number of the text belongs. */
    this.places = new WeakMap();
    this.small = new SmallStrip(explorer, this.first.numbers, () => explorer.reset());
    explorer.told.push(() => this.follow());
  }

  /** Begin with all that the page ties to this explorer. */
  begin() {
    const nearby = new IntersectionObserver((entries) => {
      for (const { target, isIntersecting } of entries) {
        if (isIntersecting) this.near.add(target);
        else this.near.delete(target);
        if (isIntersecting) this.paint(target);
      }
    }, { rootMargin: "5% 0%" });
    const inSight = new IntersectionObserver((entries) => {
      for (const { target, isIntersecting } of entries) {
        if (isIntersecting) this.seen.add(target);
        else this.seen.delete(target);
      }
      this.small.mark(this.isMarked, this.hasStars());
      this.arrange();
    }, { rootMargin: "-48px 0px 0px 0px" });
    this.watch = (node: Element) => {
      nearby.observe(node);
      inSight.observe(node);
    };
    const strip = new IntersectionObserver((entries) => {
      const { intersectionRect, boundingClientRect } = entries[entries.length - 1];
      const whole = Math.min(boundingClientRect.height, innerHeight);
      this.isOnScreen = intersectionRect.height > 0.35 * whole;
      // One that is folded away has been read, or will not be.
      this.isPast = boundingClientRect.top < 0 || !boundingClientRect.height;
      this.arrange();
    }, { threshold: [0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.7] });
    strip.observe(this.explorer.root.querySelector(".face") ?? this.explorer.root);
    this.collect();
  }

  /** Take the page's current numbers: a fold may add more when it is opened. */
  collect() {
    const { name } = this.explorer.data;
    this.nodes = [...document.querySelectorAll(
      `data[data-of="${name}"], :is(table, g)[data-at^="${name} "]`)];
    this.findOwn(name);
    this.nodes.forEach((node) => this.watch(node));
    this.follow();
  }

  /**
   * Find the elements that show the run and do not follow it: figures, tables and boxes, and of the
   * numbers the last one of each paragraph.
   * @param name of the explorer
   */
  findOwn(name: string) {
    this.cells = [...document.querySelectorAll(`.tag_of-${name}`)].filter((cell) => {
      const parts = [...cell.querySelectorAll("table, g[data-at]")];
      const follows = parts.some((part) => this.nodes.includes(part))
        && parts.every((part) => part.localName === "g" || this.nodes.includes(part));
      const shows = cell.querySelector("mha-explorer, mha-instrument");
      return !follows && (!shows || (shows.localName === "mha-instrument" && !name.startsWith(shows.id)));
    });
    this.cells.forEach((cell) => this.watch(cell));
    const titles = this.cells.map((cell) => cell.querySelector(TITLES) ?? cell);
    titles.push(...this.panels(name));
    const numbers = this.nodes.filter((node) => node.matches("[data-as=own]") && !this.isBooks(node));
    const last = new Map(numbers.map((one) => [one.closest(LISTS) ?? one.parentElement, one]));
    this.isMarked = false;
    this.own = new Set([...last.values(), ...titles]);
  }

  /** The titles of panels beside one that follows, of runs that no explorer shows. */
  panels(name: string) {
    return [...document.querySelectorAll(`figure:has(g[data-at^="${name} "]) g[data-at]`)].flatMap((panel) => {
      const [of] = (panel.getAttribute("data-at") ?? "").split(" ");
      const title = panel.querySelector("text");
      return title && of !== name && !document.querySelector(`[data-of="${of}"]`) ? [title] : [];
    });
  }

  /** Whether a number is in a figure, table or box that is marked as a whole. */
  isBooks(node: Node) {
    return this.cells.some((cell) => cell.contains(node));
  }

  markOwn(isMarked: boolean) {
    if (isMarked === this.isMarked) return;
    this.isMarked = isMarked;
    for (const node of this.own) markAsBooks(node, this, isMarked);
  }

  /** The ties of an element, made when it first comes near; a table has one in each cell. */
  tiesOf(node: Element): (Tie | FollowingFigure)[] {
    const known = this.ties.get(node);
    if (known) return known;
    const made: (Tie | FollowingFigure)[] = [];
    const add = (element: HTMLElement, formula: string, how: string): void => {
      try {
        made.push(new Tie(this, element, formula, how));
      } catch (error) {
        // What is printed otherwise than the explorer has it stays as it is.
        if (!(error instanceof RangeError)) throw error;
      }
    };
    if (node instanceof HTMLDataElement) {
      if (node.dataset.as !== "own") add(node, node.value, node.dataset.as ?? "");
    } else if (node instanceof SVGElement) made.push(figureOf(node));
    else if (node instanceof HTMLTableElement) this.cellsOf(node, add);
    this.ties.set(node, made);
    return made;
  }

  cellsOf(table: HTMLTableElement, add: (element: HTMLElement, formula: string, how: string) => void) {
    const [stage, head] = (table.dataset.at ?? "").split(" ")[1].split(".");
    const numbers: Numbers = this.first.numbers;
    const rows: Matrix | undefined = head === undefined ? numbers[stage] : numbers[stage]?.[Number(head)];
    if (!rows) return;
    [...table.tBodies[0].rows].forEach((line, row) => {
      [...line.querySelectorAll("td")].forEach((cell, column) => {
        const value = rows[row]?.[column];
        const holder = cell.querySelector("strong") ?? cell.querySelector(".heat") ?? cell;
        const text = holder.firstChild;
        if (value === undefined || !(text instanceof Text)) return;
        const places = text.data.split(".")[1]?.length ?? 0;
        if (WRITERS.table(value, places) !== text.data) return;
        const data = make("data", {}, text.data);
        text.replaceWith(data);
        const index = head === undefined ? [row, column] : [Number(head), row, column];
        add(data, address(placeAt(stage, ...index)), `table:${places}`);
      });
    });
  }

  /** Tie an element to a number's place; an input can be scrubbed. */
  place(tie: Tie, node: HTMLElement, at: Place) {
    this.places.set(node, { tie, at });
    node.classList.add("at");
    const { explorer } = this;
    if (explorer.isFixed || !isInput(explorer.data, at) || node.closest("table") || this.isBooks(tie.node)) return;
    node.setAttribute("role", "spinbutton");
    node.setAttribute("aria-label", explorer.nameOf(at));
    node.setAttribute("aria-valuenow", String(valueAt(this.first.numbers, at)));
    node.tabIndex = tie.inputs.length ? -1 : 0;
    // A finger that goes sideways scrubs; one that goes up or down moves the page.
    node.addEventListener("touchmove", (event) => {
      if (isScrubbing()) event.preventDefault();
    }, { passive: false });
    node.addEventListener("touchstart", touch, { passive: true });
    tie.inputs.push(node);
  }

  // -- Following --

  /** The current place of a number: tokens may have changed their order. */
  moved = (at: Place): Place => {
    const { order } = this.explorer.state;
    if (order.every((from: number, i: number) => from === i)) return at;
    const ofTokens = at.row !== null && !isMatrix(at.stage) && !stays(at.stage);
    const byKey = stages[at.stage].columns === "keys";
    return {
      ...at, row: ofTokens ? order.indexOf(at.row) : at.row,
      column: byKey ? order.indexOf(at.column) : at.column,
    };
  };

  /** Whether a text of the number's sentence has no number now; then the whole sentence gets the book's mark. */
  isLost(node: Element) {
    const block = node.closest(BLOCKS);
    if (!block || node.closest("table")) return false;
    const isLost = this.hasGaps && !this.isPrinting && this.nodes.some((one) => block.contains(one)
      && this.tiesOf(one).some((tie) => tie instanceof Tie && tie.isLost(this.explorer.numbers, this.moved)));
    const known = this.lost.get(block);
    if (isLost && !known) {
      const mark = bookSign();
      this.lost.set(block, mark);
      block.append(mark);
    } else if (known && !isLost) {
      known.remove();
      this.lost.delete(block);
    }
    return isLost;
  }

  paint(node: Element) {
    const { numbers, state } = this.explorer;
    const isOwn = this.isPrinting || this.isBooks(node) || this.isLost(node);
    for (const tie of this.tiesOf(node)) {
      if (isOwn) tie.paint(this.first.numbers, 1, (at: Place) => at);
      else tie.paint(numbers, state.temperature, this.moved);
    }
    if (node instanceof HTMLTableElement) {
      node.classList.toggle("follows", this.tiesOf(node).some(({ isMoved }) => isMoved));
    }
  }

  /** Elements near the screen follow at once, the rest of the page a little later. */
  follow() {
    const { state, start } = this.explorer;
    const isMoved = isChanged(state, start);
    const { scores, scaled_scores: scaled } = this.explorer.numbers;
    this.hasGaps = isMoved && [scores, scaled].flat(4).some((x) => !(Math.abs(x) < TOO_LARGE));
    this.markOwn(isMoved);
    this.near.forEach((node) => this.paint(node));
    this.small.mark(isMoved, this.hasStars());
    this.arrange();
    this.small.paint();
    clearTimeout(this.late);
    this.late = setTimeout(() => {
      this.nodes.forEach((node) => { if (!this.near.has(node)) this.paint(node); });
      this.small.mark(isMoved, this.hasStars());
    }, LATER_MS);
  }

  /** Whether any changed number on the screen is starred. */
  hasStars() {
    return [...this.seen].some((node) => this.ties.get(node)?.some(({ isMoved }) => isMoved));
  }

  /** Before the page is printed, and behind it. */
  print(isPrinting: boolean) {
    this.isPrinting = isPrinting;
    this.markOwn(!isPrinting && isChanged(this.explorer.state, this.explorer.start));
    this.nodes.forEach((node) => this.paint(node));
  }

  // -- Lighting --

  light(at: Place | null) {
    const { strip } = this.explorer;
    const here = at && this.moved(at);
    strip.hands.pointed = here && { at: here };
    strip.light();
    this.small.light(here);
  }

  /** Turn the strip to the query and the head of a number. */
  turn(at: Place) {
    const { explorer, explorer: { data, state } } = this;
    const patch = {
      ...OF_QUERY.includes(at.stage) && { query: at.row },
      ...at.head !== null && { focus: at.head },
    };
    if (Object.entries(patch).every(([key, value]) => state[key as keyof ExplorerState] === value)) return;
    explorer.show(patch, fill(explorerTexts.queryIs,
      { token: data.tokens[patch.query ?? state.query] }));
  }

  // -- Scrubbing --

  nudge(node: HTMLElement, by: number) {
    const at = this.places.get(node)?.at;
    if (!at) return;
    const here = this.moved(at);
    const value = valueAt(this.explorer.numbers, here);
    this.set(here, node, stepped(value, by));
  }

  /** Change an input, and keep the scrubbed number where it is on the screen. */
  set(at: Place, node: HTMLElement, value: number) {
    inPlace(node, () => this.explorer.edit(at, value));
  }
}
