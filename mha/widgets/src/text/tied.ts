/**
 * Numbers of the page's own text that are numbers of an explorer's run. They light their place in the
 * strip when they are pointed at; they follow when it is changed, and are marked; an input can be
 * scrubbed in the text. The printed text comes back with the explorer's own reset. The explorer's
 * state is the only state; this module stores only the text of the page.
 */

import { address, at as placeAt, isMatrix, stays, valueAt } from "../engine/places.ts";
import { stages } from "../engine/stages.ts";
import { fill } from "../engine/text.ts";
import { LATER_MS, STEP, gone, loadStyle, make, setText, stepped } from "../figures/explorer-parts.ts";
import { shape } from "../figures/strip-drawing.ts";
import { compute, isChanged, isInput, startOf } from "../store/explorer-state.ts";
import { explorer as explorerTexts } from "../strings/explorer.ts";
import { tied as texts } from "../strings/tied.ts";
import { WRITERS, formulaOf, holds, lineOf, worth } from "./tied-lines.ts";
import { OF_QUERY, SmallStrip } from "./tied-strip.ts";
import type { ExplorerNumbers, Numbers, Place } from "../types.ts";

type Piece = { text: string, place?: Place | null, raised?: boolean };
type Formula = (number | string | Place)[];

/** How a drawing of the text follows; tied-figure.ts has it, which only pages with such drawings load. */
let figureOf: (node: SVGElement) => any;

/** A mark of the book's numbers, which the small strip explains. */
const bookSign = () => make("span", { className: "now of-book", role: "img", "aria-label": texts.ofBook,
  title: texts.ofBook }, texts.book);

/** How far a number is dragged for one step, and before it is dragged at all; as on the strip. */
const DRAG = { step: 8, least: 4 };

/** Words of the text that refer to a part of the strip, by their class. */
const PARTS = ["query", "key", "value", "scores", "weights", "head_outputs"];

/** The elements with one mark for all numbers in them that do not follow. */
const LISTS = "ul, ol, dl, table";

/** Sentences whose numbers follow together: if a run lacks one of them, none follows. */
const BLOCKS = "p, li, dd, .caption-text";

/** From where on a score has no exponential: masked, or too far from zero. */
const TOO_LARGE = 700;

/** Where the mark of a cell's content is. */
const TITLES = ".caption-text, .your-turn-title, .quiz-title";

/**
 * Where a remark about a number stands. Of a number in a tuple, behind the tuple; within words in brackets
 * it has square ones.
 */
function behind(node: Element): { put: (mark: Node) => void, written: (text: string) => string } {
  const block = node.closest(`${BLOCKS}, td, th, legend, label`) ?? document.body;
  const walker = document.createTreeWalker(block, NodeFilter.SHOW_TEXT);
  let open = 0;
  let between = "";
  while (walker.nextNode()) {
    const text = (walker.currentNode as Text);
    const isBehind = node.compareDocumentPosition(text) & Node.DOCUMENT_POSITION_FOLLOWING;
    if (node.contains(text)) continue;
    if (isBehind && !open) break;
    for (const [i, sign] of [...text.data].entries()) {
      open = Math.max(0, open + Number(sign === "(") - Number(sign === ")"));
      if (isBehind && !open) {
        if (/\p{L}/u.test(between)) return { put: (mark) => node.after(mark), written: squared };
        const rest = text.splitText(i + 1);
        return { put: (mark) => rest.before(mark), written: String };
      }
      if (isBehind) between += sign;
    }
  }
  return { put: (mark) => node.after(mark), written: String };
}

const squared = (text: string) => text.replace("(", "[").replace(/\)$/, "]");

/** One number, or line, of the text. */
class Tie {
  prose: Prose;
  node: HTMLElement;
  isOwn: boolean;
  formula: Formula;
  said: { formula: Formula, how: string } | null;
  isClaim: boolean;
  isLine: boolean;
  at: Place;
  printed: string;
  isMoved: boolean;
  where: any;
  inputs: HTMLElement[];
  isApart: boolean | undefined;

  /** How it is written, and with how many decimals. */
  how = "";

  places = 0;

  /** The printed text of a line and its nodes, piece by piece. */
  texts: string[] = [];

  nodes: any[] = [];

  /** All that it was last written for. */
  last = { from: "" };

  /** The mark of a claim that no longer holds. */
  now: HTMLElement | null = null;

  constructor(prose: Prose, node: HTMLElement, formula: string, how: string) {
    this.prose = prose;
    this.node = node;
    // Words that a comparison bears out may say what the number is now.
    const [own, now] = formula.split(" | ");
    /** Whether it is said of the run as the book has it, and follows nothing. */
    this.isOwn = !own;
    this.formula = formulaOf(own);
    this.said = !now ? null : { formula: formulaOf(now), how: how.split(" ")[1] };
    [this.how, this.places] = [how.split(":")[0], Number(how.split(":")[1])];
    this.isClaim = how.startsWith("holds");
    this.isLine = this.how === "line";
    this.at = (this.formula.find((part) => typeof part === "object") as Place);
    this.printed = node.textContent ?? "";
    this.isMoved = false;
    /** Where what is said of it stands, once something is. */
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
  paint(numbers: any, temperature: number, moved: (at: Place) => Place) {
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
   * Whether a run gives what is said here no number: a score that is masked is minus infinity.
   * @param numbers of the explorer
   */
  isLost(numbers: any, moved: (at: Place) => Place) {
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

  paintLine(pieces: any[]) {
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
      } else if (node.firstChild.data !== text) {
        node.firstChild.data = text;
        node.classList.toggle("moved", isNew);
        if (node.getAttribute("role")) node.setAttribute("aria-valuenow", text.replace(/[()]/g, "").replace("−", "-"));
      }
    }
    this.mark(isMoved);
  }

  /**
   * A claim stays as it is printed; one that no longer holds is greyed, with what it is now, and
   * one that nobody can tell says whose numbers it is about.
   * @param now what it is, "" where nothing says it
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

/** Marks of what does not follow, and whose run has been changed: a figure may show two. */
const marks: Map<Element, { wanted: Set<Prose>, mark: Element, put: (mark: Node) => void }> = new Map();

/** That a number, a title, or a panel of a figure, has the book's numbers, and where that stands. */
function bookMark(node: Element) {
  const isDrawn = node instanceof SVGElement;
  const put = node.matches("data") ? behind(node).put : (mark: Node) => node.append(mark);
  const mark = isDrawn ? shape("tspan", "now of-book") : bookSign();
  mark.textContent = texts.book;
  return { mark, put };
}

/** All that the page says of one explorer's run. */
class Prose {
  explorer: any;
  first: { numbers: ExplorerNumbers; temperature: number; };
  ties: Map<Element, Tie[]>;
  near: Set<Element>;
  seen: Set<Element>;
  places: WeakMap<Element, { tie: Tie, at: Place }>;
  small: any;
  late: number | undefined;

  /** The elements of the page that are tied to it. */
  nodes: Element[] = [];

  /** Whether the strip itself is on the screen; at first nobody knows. */
  isOnScreen: boolean | null = null;

  /** Whether a reader has come to the strip, who is shown a small one from then on. */
  isPast = false;

  isPrinting = false;

  /** Whether a reader has changed the run, and what does not follow says so. */
  isMarked = false;

  /** Whether the run has scores that are no numbers, and what lost its numbers by that, with its mark. */
  hasGaps = false;

  lost: Map<Element, Element> = new Map();

  /** Behind or in what that is said. */
  own: Set<Element> = new Set();

  /** Boxes and figures that say so as a whole: no number in them follows. */
  cells: Element[] = [];

  watch = (_node: Element): void => {};

  constructor(explorer: any) {
    this.explorer = explorer;
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
      arrange();
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
      arrange();
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
   * Find what shows the run and does not follow it: numbers, the last of each paragraph, and
   * figures, tables and boxes.
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

  /** Whether a number stands in what says as a whole that it has the book's. */
  isBooks(node: Node) {
    return this.cells.some((cell) => cell.contains(node));
  }

  markOwn(isMarked: boolean) {
    if (isMarked === this.isMarked) return;
    this.isMarked = isMarked;
    for (const node of this.own) {
      const { wanted, mark, put } = marks.get(node)
        ?? { wanted: new Set(), ...bookMark(node) };
      marks.set(node, { wanted, mark, put });
      wanted[isMarked ? "add" : "delete"](this);
      if (!wanted.size) mark.remove();
      else if (!mark.isConnected) put(mark);
    }
  }

  /** The ties of an element, made when it first comes near; a table has one in each cell. */
  tiesOf(node: Element): (Tie | any)[] {
    const known = this.ties.get(node);
    if (known) return known;
    const made: Tie[] = [];
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
    const rows: any = head === undefined ? numbers[stage] : numbers[stage]?.[Number(head)];
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
      if (drag || isSideways) event.preventDefault();
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

  /** Whether what is said beside a number has none any more; then all of it is the book's, and says so. */
  isLost(node: Element) {
    const block = node.closest(BLOCKS);
    if (!block || node.closest("table")) return false;
    const isLost = this.hasGaps && !this.isPrinting && this.nodes.some((one) => block.contains(one)
      && this.tiesOf(one).some((tie) => tie.isLost?.(this.explorer.numbers, this.moved)));
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
    arrange();
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
    if (Object.entries(patch).every(([key, value]) => state[key] === value)) return;
    explorer.show(patch, fill(explorerTexts.queryIs,
      { token: data.tokens[patch.query ?? state.query] }));
  }

  // -- Scrubbing --

  nudge(node: HTMLElement, by: number) {
    const { at } = (this.places.get(node) as any);
    const here = this.moved(at);
    const value = valueAt(this.explorer.numbers, here);
    this.set(here, node, stepped(value, by));
  }

  /** Change an input, and keep the scrubbed number where it is on the screen. */
  set(at: Place, node: HTMLElement, value: number) {
    const { top, left } = node.getBoundingClientRect();
    this.explorer.edit(at, value);
    held.forEach((one) => { one.now = one.node.getBoundingClientRect().width; });
    node.classList.remove("at-line-end");
    held.forEach((one) => {
      if (one.node !== node) one.node.style.marginRight = `${one.width - one.now}px`;
    });
    // What is dragged makes room for itself, unless that takes it to another line.
    const width = held.find((one) => one.node === node)?.width;
    if (width && Math.abs(node.getBoundingClientRect().left - left) >= 0.5) {
      node.classList.add("at-line-end");
      node.style.width = `${width}px`; // which an inline element does not heed
    }
    const by = node.getBoundingClientRect().top - top;
    if (Math.abs(by) > 0.5) scrollBy({ top: by, behavior: "instant" });
  }
}

// ---- The hands ----

const proses: Prose[] = [];

/**
 * The small strip of the run that is most spoken of stands there, while its strip is off the
 * screen.
 */
function arrange() {
  const most = proses.reduce((best: Prose | null, prose) =>
    (prose.seen.size > (best?.seen.size ?? 0) ? prose : best), null);
  for (const prose of proses) {
    prose.small.show(prose === most && prose.isOnScreen === false && (prose.isPast || prose.isMarked));
  }
}

/** The number of the text that an event is about. */
function found(target: EventTarget | null) {
  const node = target instanceof Element ? target.closest("data .at, data.at, data[data-of]") : null;
  if (!(node instanceof HTMLElement)) return null;
  for (const prose of proses) {
    const known = prose.places.get(node);
    if (known) return { prose, node, ...known };
    const [tie] = prose.ties.get(node) ?? [];
    if (tie?.at) return { prose, node, tie, at: tie.at };
  }
  return null;
}

/** The lit and the dragged element. */
let lit: any = null;

let drag: any = null;

/** Numbers that take no more room than they had, for as long as one behind them is dragged. */
let held: { node: HTMLElement, width: number, now: number }[] = [];

/** Hold the numbers of a paragraph up to the one that is dragged where they are. */
function hold(node: HTMLElement) {
  const those = [...node.closest("p, li, td, figcaption")?.querySelectorAll("data, data .at") ?? []];
  held = those.filter((one) => one === node || (!one.contains(node)
    && one.compareDocumentPosition(node) === Node.DOCUMENT_POSITION_FOLLOWING
    && !those.some((other) => other !== one && other.contains(one) && !other.contains(node))))
    .map((one) => ({ node: (one as HTMLElement),
      width: one.getBoundingClientRect().width, now: 0 }));
  node.classList.add("dragged");
}

function release(node: HTMLElement) {
  held.forEach((one) => { one.node.style.marginRight = ""; });
  node.style.width = "";
  held = [];
  node.classList.remove("dragged", "at-line-end");
}

/** Whether a finger on a number has gone sideways first. */
let isSideways = false;

function touch({ currentTarget, touches: [{ clientX, clientY }] }: TouchEvent) {
  isSideways = false;
  const node = (currentTarget as HTMLElement);
  node.addEventListener("touchmove", ({ touches: [now] }) => {
    isSideways = Math.abs(now.clientX - clientX) >= Math.abs(now.clientY - clientY);
  }, { once: true, capture: true, passive: true });
}

function light(one: any) {
  if (one?.node === lit?.node || drag) return;
  if (!one && lit?.prose.small.isUsed()) return; // it would shrink under the pointer
  lit?.node.classList.remove("pointed");
  if (lit && lit.prose !== one?.prose) lit.prose.light(null);
  lit = one;
  one?.node.classList.add("pointed");
  one?.prose.light(one.at);
}

/** A word that refers to a part of the strip. */
function lightPart(target: EventTarget | null) {
  const node = target instanceof Element ? target.closest("[class^=says-]") : null;
  const part = PARTS.find((name) => node?.classList.contains(`says-${name}`)) ?? "";
  for (const { explorer, small } of proses) {
    explorer.strip.node.dataset.part = part;
    small.node.dataset.part = part;
  }
}

// What has the focus is lit while nothing is pointed at.
document.addEventListener("pointerover", ({ target }) => {
  light(found(target) ?? found(document.activeElement));
  lightPart(target);
});
document.addEventListener("focusin", ({ target }) => light(found(target)));
document.addEventListener("focusout", ({ target }) => { if (found(target)) light(null); });

document.addEventListener("click", ({ target }) => {
  const one = found(target);
  if (one && !one.node.getAttribute("role")) one.prose.turn(one.at);
});

document.addEventListener("keydown", (event) => {
  const one = found(event.target);
  if (!one?.node.getAttribute("role")) return;
  const up = { ArrowUp: 1, ArrowDown: -1, PageUp: 10, PageDown: -10 }[event.key] ?? 0;
  const across = { ArrowRight: 1, ArrowLeft: -1 }[event.key] ?? 0;
  const { inputs } = one.tie;
  if (up) one.prose.nudge(one.node, up * STEP * (event.shiftKey ? 10 : 1));
  else if (across) inputs[inputs.indexOf(one.node) + across]?.focus();
  else return;
  event.preventDefault();
});

document.addEventListener("pointerdown", (event) => {
  const one = found(event.target);
  if (!one?.node.getAttribute("role") || event.button) return;
  const at = one.prose.moved(one.at);
  const start = valueAt(one.prose.explorer.numbers, at);
  const { node } = one;
  let steps = 0;
  const move = (moved: PointerEvent) => {
    const way = gone(event, moved);
    if (!drag && Math.abs(way) < DRAG.least) return;
    if (!drag) hold(node);
    drag = one;
    const now = Math.round(way / DRAG.step);
    if (now === steps) return;
    steps = now;
    one.prose.set(at, node, stepped(start, steps * STEP));
  };
  const end = () => {
    drag = null;
    release(node);
    ["pointerup", "pointercancel"].forEach((name) => node.removeEventListener(name, end));
    node.removeEventListener("pointermove", move);
  };
  event.preventDefault();
  node.focus({ preventScroll: true });
  node.setPointerCapture(event.pointerId);
  node.addEventListener("pointermove", move);
  ["pointerup", "pointercancel"].forEach((name) => node.addEventListener(name, end));
});

addEventListener("beforeprint", () => proses.forEach((prose) => prose.print(true)));
addEventListener("afterprint", () => proses.forEach((prose) => prose.print(false)));

// ---- The beginning ----

loadStyle("tied.css");
// Claims take another line, which moves what stands below.
if (document.querySelector("[data-as^=holds]")) import("./tied-still.ts");
const begun: WeakSet<Element> = new WeakSet();

/** Tie the page's current numbers to their explorers. */
function begin() {
  proses.forEach((prose) => prose.collect());
  const hasFigure = document.querySelector("g[data-at]") !== null;
  document.querySelectorAll("mha-explorer, mha-instrument").forEach(async (element: any) => {
    const name = element.data?.name ?? element.id;
    if (begun.has(element) || element.data?.widths) return;
    if (!document.querySelector(`data[data-of^="${name}"], table[data-at^="${name} "]`)) return;
    begun.add(element);
    const [made, figures] = await Promise.all([element.begin(), hasFigure ? import("./tied-figure.ts") : null]);
    if (figures) figureOf = figures.figureOf;
    for (const explorer of made.runs ?? [made]) {
      const prose = new Prose(explorer);
      proses.push(prose);
      prose.begin();
    }
  });
}

// A fold brings its numbers when it is first opened.
document.addEventListener("byhand:built", begin);
begin();
