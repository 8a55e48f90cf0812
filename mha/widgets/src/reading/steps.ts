/**
 * Read a page in steps. A step is a section, or a part of one: at most one and a half screens, cut
 * behind boxes and blocks of numbers where there are some. The steps are measured when a reader asks
 * for them, and again when the window's width changes; the reader stays where they were. Nothing is
 * hidden until then, and printing or searching the page shows all of it.
 */

import { steps as strings } from "../strings/reading.ts";
import * as progress from "../store/progress.ts";
import { fill } from "../engine/text.ts";
import { button, find, idOf } from "./page.ts";

type Block = {element: Element, heading: HTMLElement, sections: Element[]};
type Step = {heading: HTMLElement, blocks: Block[]};

const ARTICLE = ":has(> .steps-start):has(> h1)";
const HEADING = ":scope > :is(h1, h2, h3, h4), :scope > details > summary > :is(h2, h3, h4)";
const FIELDS = "input, textarea, select, [contenteditable], summary, mha-explorer, [role=grid]";
const STOPS = "mha-your-turn, mha-build, mha-quiz, mha-explorer, table, figure, .stage-block";
const FOLD = ".code-fold"; // no step of its own
const SCREENS = 1.5; // what a step may be high
const TAKEN = 245; // pixels of it that the title's line and the bar take
const HEADING_MARGIN = 40; // around a heading

/* ---- The steps of the page ---- */

/** A block that is shown or hidden as one, and its sections, the innermost first. */

const isSection = (node: Element) => node.tagName === "SECTION";

const isHeading = (node: Element) => /^H[1-6]$/.test(node.tagName);

const isFrame = (node: Element) => node === place || node === bar || node.tagName === "H1";

function blocksOf(parent: Element, sections: Element[] = []): Block[] {
  const heading = find(parent, HEADING, HTMLElement);
  return Array.from(parent.children).flatMap((element) => {
    if (isSection(element)) return blocksOf(element, [element, ...sections]);
    return isHeading(element) || isFrame(element) ? [] : [{ element, heading, sections }];
  });
}

/**
 * The index at which a step that is too high is divided: after the last box or block of numbers,
 * unless that is in the first third; otherwise before the last block; never after words that introduce
 * the next block. 0 if the step consists of such words and the block that they introduce.
 */
function cutOf(blocks: Block[]): number {
  const stop = blocks.findLastIndex(({ element }, i) => i < blocks.length - 1
    && (element.matches(STOPS) || element.querySelector(STOPS) !== null));
  if (stop >= (blocks.length - 1) / 3) return stop + 1;
  let cut = blocks.length - 1;
  while (cut > 0 && /:\s*$/.test(blocks[cut - 1].element.textContent)) cut -= 1;
  return cut;
}

/** Measure the whole page and part it into steps. */
function measured(): Step[] {
  const most = SCREENS * window.innerHeight - TAKEN;
  /** With the headings of all sections around it. */
  const height = (blocks: Block[]) => blocks[0].sections.reduce(
    (sum, section) => sum + find(section, HEADING, HTMLElement).offsetHeight + HEADING_MARGIN,
    blocks[blocks.length - 1].element.getBoundingClientRect().bottom
      - blocks[0].element.getBoundingClientRect().top,
  );
  const parts: Block[][] = [];
  let empty: Block[] = []; // the place that a link leads to stands before what it means
  for (const block of blocksOf(article)) {
    if (block.element.textContent.trim() === "") {
      empty.push(block);
      continue;
    }
    const last = parts[parts.length - 1];
    const { heading, sections } = block;
    const blocks = [...empty.map(({ element }) => ({ element, heading, sections })), block];
    empty = [];
    if (!last || last[0].sections[0] !== sections[0]) {
      parts.push(blocks);
      continue;
    }
    last.push(...blocks);
    const cut = height(last) > most ? cutOf(last) : 0;
    if (cut) parts.push(last.splice(cut));
  }
  parts[parts.length - 1]?.push(...empty);
  const isFold = ({ element }: Block) => element.matches(FOLD) || !element.textContent.trim();
  const whole = parts.filter((blocks, i) => {
    const isJoined = i > 0 && blocks.every(isFold);
    if (isJoined) parts[i - 1].push(...parts[i]);
    return !isJoined;
  });
  return whole.map((blocks) => ({ heading: blocks[0].heading, blocks }));
}

const article = document.querySelector<HTMLElement>(ARTICLE)!; // none: nothing below is begun
const place = article?.querySelector<HTMLElement>(":scope > .steps-start")!;
const bar = document.createElement("nav");
let steps: Step[] = []; // of the whole page; measured when they are first wanted
let width = 0; // of the window when they were
let current = 0; // counted from 1; 0 is the whole page

/** The steps, measured if need be; nothing of the page may be hidden then. */
function ready() {
  if (steps.length === 0 || (current === 0 && width !== window.innerWidth)) {
    steps = measured();
    width = window.innerWidth;
  }
  return steps;
}

/** The step that was opened last, on a page that may have had other steps then. */
function lastStep() {
  const { last, steps: before } = progress.entryAt(location.href);
  const total = ready().length;
  return before > 1 && before !== total ? 1 + Math.round((last - 1) * (total - 1) / (before - 1))
    : Math.min(last, total);
}

/** Return a heading's words without its number and its link. */
function words(heading: HTMLElement): string {
  const copy = document.createElement("div");
  copy.append(heading.cloneNode(true));
  copy.querySelectorAll(".headerlink, .section-number").forEach((part) => part.remove());
  return copy.textContent.trim();
}

/* ---- The bar and the button ---- */

const begin = button("", () => (lastStep() ? go(lastStep()) : goHere()));
const previous = button(strings.previous, () => go(current - 1));
const next = button(strings.next, () => go(current + 1));
const whole = button(strings.whole, showWhole);
const label = document.createElement("span");
const meter = document.createElement("progress");
const status = document.createElement("p");

function build() {
  bar.className = "steps-bar";
  bar.setAttribute("aria-label", strings.bar);
  bar.hidden = true;
  label.className = "steps-label";
  meter.setAttribute("aria-label", strings.progress);
  previous.title = next.title = strings.keys;
  status.className = "reading-unseen";
  status.setAttribute("role", "status");
  bar.append(meter, previous, label, next, whole);
  place.append(begin, status);
  article.append(bar);
}

/** Show where the reader is, on the button or in the bar. */
function update() {
  const { last, steps: total } = progress.entryAt(location.href);
  begin.textContent = last > 1 ? fill(strings.resume, { step: last, total }) : strings.begin;
  begin.hidden = current > 0;
  bar.hidden = current === 0;
  if (current > 0) {
    const values = { step: current, total: steps.length };
    label.textContent = fill(strings.place, values) + ": " + words(steps[current - 1].heading);
    meter.max = steps.length;
    meter.value = current;
    off(previous, current === 1);
    off(next, current === steps.length);
  }
}

/** Switch a button off without taking the focus from it. */
function off(control: HTMLButtonElement, isOff: boolean) {
  control.setAttribute("aria-disabled", String(isOff));
}

/* ---- Showing and hiding ---- */

/** Hide an element, where the browser can, so that a search of the page still finds it. */
function conceal(element: Element) {
  element.classList.add("step-hidden");
  element.setAttribute("hidden", "until-found");
}

function reveal(element: Element) {
  element.classList.remove("step-hidden");
  element.removeAttribute("hidden");
}

/** Show the blocks and sections of a set and their headings, and hide the rest. */
function sift(parent: Element, shown: Set<Element>) {
  for (const child of Array.from(parent.children)) {
    if (isFrame(child)) continue;
    (isHeading(child) || shown.has(child) ? reveal : conceal)(child);
    if (isSection(child) && shown.has(child)) sift(child, shown);
  }
}

/**
 * Show a step.
 * @param step counted from 1
 */
function show(step: number) {
  const { blocks } = ready()[step - 1];
  current = step;
  sift(article, new Set(blocks.flatMap(({ element, sections }) => [element, ...sections])));
  article.classList.add("in-steps");
  article.classList.toggle("past-first-step", step > 1);
  progress.setRead(step, steps.length);
  update();
}

function showWhole() {
  if (current === 0) {
    return;
  }
  const step = steps[current - 1];
  const hadFocus = bar.contains(document.activeElement);
  leave();
  status.textContent = strings.wholeShown;
  if (/^#step-\d+$/.test(location.hash)) {
    setAddress(location.pathname + location.search, false);
  }
  if (hadFocus) {
    focus(step.heading);
  }
  const isContinued = steps.find(({ heading }) => heading === step.heading) !== step;
  if (isContinued) {
    step.blocks[0].element.scrollIntoView({ block: "start" });
  }
}

function leave() {
  current = 0;
  article.querySelectorAll(".step-hidden").forEach(reveal);
  article.classList.remove("in-steps", "past-first-step");
  update();
}

/** Measure again after a change of the window's width, and stay at the current step. */
function resize() {
  if (current === 0 || width === window.innerWidth) {
    return;
  }
  const { element } = steps[current - 1].blocks[0];
  leave();
  ready();
  show(stepOf(element));
}

function focus(heading: HTMLElement) {
  heading.tabIndex = -1;
  heading.focus({ preventScroll: true });
  const top = current > 0 ? find(article, ":scope > h1", HTMLElement) : heading;
  top.scrollIntoView({ block: "start" });
}

/** Open a step on the reader's demand; where there is none, stay. */
function go(step: number) {
  if (step < 1 || step > ready().length) {
    return;
  }
  status.textContent = "";
  show(step);
  setAddress("#step-" + step, true);
  focus(steps[step - 1].heading);
}

/** Open the step before the button, and keep its text where it is on the screen. */
function goHere() {
  const here = place.previousElementSibling;
  const top = () => here?.getBoundingClientRect().bottom ?? 0;
  const before = top();
  const step = (ready(), stepOf(here)) || 1;
  status.textContent = "";
  show(step);
  setAddress("#step-" + step, true);
  const { heading } = steps[step - 1];
  heading.tabIndex = -1;
  heading.focus({ preventScroll: true });
  window.scrollBy(0, top() - before);
}

/** Change the address; a page opened as a file, or in a frame, may not be allowed to. */
function setAddress(address: string, isNew: boolean) {
  try {
    history[isNew ? "pushState" : "replaceState"](history.state, "", address);
  } catch {
    // The step is shown all the same; only its address is not.
  }
}

/* ---- Addresses ---- */

/** Return the element that a fragment names, or null. */
function named(fragment: string): HTMLElement | null {
  return document.getElementById(idOf(fragment));
}

/** Return the first step that holds an element or a part of it, counted from 1, or 0. */
function stepOf(element: Element | null): number {
  const asked = element && isHeading(element) ? element.parentElement : element;
  return 1 + steps.findIndex(({ blocks }) => blocks.some((block) =>
    block.element.contains(asked) || (asked !== article && asked?.contains(block.element))));
}

function follow() {
  const asked = /^#step-(\d+)$/.exec(location.hash);
  if (asked) {
    const step = Math.min(Math.max(Number(asked[1]), 1), ready().length);
    show(step);
    focus(steps[step - 1].heading);
    return;
  }
  const element = current > 0 && location.hash.length > 1 ? named(location.hash) : null;
  const step = stepOf(element);
  if (step > 0) {
    show(step);
    (element?.checkVisibility() ? element : steps[step - 1].heading).scrollIntoView();
  }
}

function onClick(event: MouseEvent) {
  const link = elementOf(event)?.closest('a[href*="#"]');
  if (!(link instanceof HTMLAnchorElement) || link.pathname !== location.pathname) {
    return;
  }
  const isPlain = !event.ctrlKey && !event.metaKey && !event.shiftKey;
  const step = current > 0 && isPlain && link.hash.length > 1 ? stepOf(named(link.hash)) : 0;
  if (step > 0) {
    show(step); // before the browser looks for the element
  }
}

/* ---- Keys, finding and printing ---- */

/** Return the element that an event is about, if it is one. */
function elementOf(event: Event): Element | null {
  return event.target instanceof Element ? event.target : null;
}

function onKey(event: KeyboardEvent) {
  if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "f") {
    showWhole();
    return;
  }
  const turn = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
  const isPlain = !event.ctrlKey && !event.metaKey && !event.altKey && !event.shiftKey;
  const isFree = current > 0 && turn !== undefined && isPlain && !event.defaultPrevented;
  // Whether a box scrolls is known only after layout, so this is tested for the arrow keys alone.
  if (isFree && !usesArrows(elementOf(event))) {
    event.preventDefault();
    go(current + turn);
  }
}

/** Return whether an element itself uses the arrow keys: a field, or a box that scrolls. */
function usesArrows(element: Element | null) {
  const box = element?.closest("[tabindex='0']");
  const scrolls = box && box.scrollWidth > box.clientWidth;
  return Boolean(element?.closest(FIELDS) || scrolls);
}

/** A search has found hidden text: show the whole page, or the step that a link leads to. */
function onFound(event: Event) {
  const element = named(location.hash);
  if (element && elementOf(event)?.contains(element)) {
    follow();
  } else {
    showWhole();
  }
}

let printed = 0;

function start() {
  build();
  update();
  follow();
  window.addEventListener("hashchange", follow);
  window.addEventListener("popstate", () => {
    if (location.hash === "" && current > 0) {
      showWhole();
    }
  });
  document.addEventListener("click", onClick, true);
  document.addEventListener("keydown", onKey);
  article.addEventListener("beforematch", onFound);
  document.addEventListener("mha-progress-cleared", update);
  window.addEventListener("resize", resize);

  window.addEventListener("beforeprint", () => {
    printed = current;
    leave();
  });
  window.addEventListener("afterprint", () => {
    if (printed > 0) {
      show(printed);
    }
  });
}

if (article) start();
