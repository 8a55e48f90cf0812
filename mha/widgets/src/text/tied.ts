/**
 * Numbers of the page's own text that are numbers of an explorer's run. They light their place in the
 * strip when they are pointed at; they follow when it is changed, and are marked; an input can be
 * scrubbed in the text. The printed text comes back with the explorer's own reset. The explorer's
 * state is the only state; this module stores only the text of the page.
 */

import { valueAt } from "../engine/places.ts";
import { STEP, gone, loadStyle, stepped } from "../figures/explorer-parts.ts";
import { type FollowedExplorer, Prose, followDrawings } from "./prose.ts";
import { hold, release } from "./scrub.ts";
import { Tie } from "./tie.ts";

/** How far a number is dragged for one step, and before it is dragged at all; as on the strip. */
const DRAG = { step: 8, least: 4 };

/** Words of the text that refer to a part of the strip, by their class. */
const PARTS = ["query", "key", "value", "scores", "weights", "head_outputs"];

// ---- Pointer and keyboard ----

const proses: Prose[] = [];

/**
 * Show the small strip of the run with the most numbers on the screen, while its own strip is off
 * the screen.
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
    if (tie instanceof Tie && tie.at) return { prose, node, tie, at: tie.at };
  }
  return null;
}

type Found = NonNullable<ReturnType<typeof found>>;

/** The lit and the dragged element. */
let lit: Found | null = null;

let drag: Found | null = null;

function light(one: Found | null) {
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
// A claim may need another line, which moves the text below.
if (document.querySelector("[data-as^=holds]")) import("./tied-still.ts");
const begun: WeakSet<Element> = new WeakSet();

/** An explorer, or an instrument with the runs of some; explorer.ts and instrument.ts define them. */
interface FigureElement extends HTMLElement {
  data?: { name: string, widths?: unknown };
  begin(): Promise<FollowedExplorer & { runs?: FollowedExplorer[] }>;
}

/** Tie the page's current numbers to their explorers. */
function begin() {
  proses.forEach((prose) => prose.collect());
  const hasFigure = document.querySelector("g[data-at]") !== null;
  document.querySelectorAll<FigureElement>("mha-explorer, mha-instrument").forEach(async (element) => {
    const name = element.data?.name ?? element.id;
    if (begun.has(element) || element.data?.widths) return;
    if (!document.querySelector(`data[data-of^="${name}"], table[data-at^="${name} "]`)) return;
    begun.add(element);
    const [made, figures] = await Promise.all([element.begin(), hasFigure ? import("./tied-figure.ts") : null]);
    if (figures) followDrawings(figures.figureOf);
    for (const explorer of made.runs ?? [made]) {
      const prose = new Prose(explorer, arrange);
      proses.push(prose);
      prose.begin();
    }
  });
}

// A fold brings its numbers when it is first opened.
document.addEventListener("byhand:built", begin);
begin();
