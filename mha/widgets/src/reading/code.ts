/**
 * The switch in the top bar that opens every fold of code, and remembers it on this device. Without
 * it, and without scripts, each fold opens by itself.
 */

import { code as strings } from "../strings/reading.ts";
import { button } from "./page.ts";

const KEY = "attention-by-hand.code";
const BAR = 60;
const root = document.documentElement;
const hasCode = document.querySelector("details.code-fold") !== null;
const control = button(strings.label, () => keepPlace(toggle));

function isRemembered(): boolean {
  try {
    return localStorage.getItem(KEY) === "shown";
  } catch {
    return false;
  }
}

function remember(isShown: boolean) {
  try {
    localStorage.setItem(KEY, isShown ? "shown" : "folded");
  } catch {
    // Without storage the switch serves this page alone.
  }
}

/** @param part of the page */
function show(isShown: boolean, part: ParentNode = document) {
  control.setAttribute("aria-pressed", String(isShown));
  control.title = isShown ? strings.fold : strings.show;
  const folds: NodeListOf<HTMLDetailsElement> = part.querySelectorAll("details.code-fold");
  folds.forEach((fold) => {
    fold.open = isShown;
  });
}

function toggle() {
  const isShown = control.getAttribute("aria-pressed") !== "true";
  show(isShown);
  remember(isShown);
}

/** Change the page's length while the reader's position stays where it is on the screen. */
function keepPlace(change: () => void) {
  const parts = document.querySelectorAll(".bd-article :is(section, .fold-body) > *");
  const place = Array.from(parts).find((part) => part.getBoundingClientRect().top >= BAR);
  const before = place?.getBoundingClientRect().top ?? 0;
  root.style.overflowAnchor = "none";
  change();
  scrollBy({ top: (place?.getBoundingClientRect().top ?? 0) - before, behavior: "instant" });
  root.style.overflowAnchor = "";
}

/**
 * Give code that was built late its button for copying; the script that reacts to such buttons
 * listens to the whole page.
 */
function addCopyButtons(built: Element) {
  const model = document.querySelector(".copybtn");
  built.querySelectorAll("div.highlight pre").forEach((code) => {
    code.id = `codecell${document.querySelectorAll("pre[id^=codecell]").length}`;
    const copy = model?.cloneNode(true);
    if (copy instanceof HTMLElement) {
      copy.dataset.clipboardTarget = `#${code.id}`;
      code.after(copy);
    }
  });
}

function onBuilt(event: Event) {
  const { detail: built } = (event as CustomEvent<Element>);
  show(control.getAttribute("aria-pressed") === "true", built);
  addCopyButtons(built);
}

if (hasCode) {
  control.className = "bar-button code-switch";
  const item = document.createElement("div");
  item.className = "header-article-item";
  item.append(control);
  document.querySelector(".header-article-items__end")?.prepend(item);
  show(isRemembered());
}
document.addEventListener("byhand:built", onBuilt);
