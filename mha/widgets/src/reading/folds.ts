/**
 * Folded sections (byhand.chapter.section_folds). A link into one opens it. "All numbers" and "In
 * PyTorch" are stored as text: each is built when it is first opened, and the event "byhand:built" of
 * the document, with the new elements as `detail`, notifies other scripts. This script runs before
 * them, so that the element that the address names exists when they read the page.
 */

import { idOf } from "./page.ts";

/** Make the elements of a fold that waits as text. */
function build(fold: Element | null) {
  const text = fold?.querySelector(":scope > noscript.late");
  if (!text) {
    return;
  }
  const body = document.createElement("div");
  body.className = "fold-body";
  body.innerHTML = text.textContent ?? "";
  text.replaceWith(body);
  document.dispatchEvent(new CustomEvent("byhand:built", { detail: body }));
}

/**
 * Return the element that an address leads to, built if need be.
 * @param fragment with its #
 */
function named(fragment: string): Element | null {
  const id = idOf(fragment);
  if (id && !document.getElementById(id)) {
    const text = Array.from(document.querySelectorAll("noscript.late"))
      .find(({ textContent }) => textContent?.includes(` id="${id}"`));
    build(text?.parentElement ?? null);
  }
  return document.getElementById(id);
}

/**
 * Open all folds around the target of an address, and the target's own if it is a folded section.
 *
 * @returns where it leads, if anything had to be opened
 */
function open(fragment: string): Element | null {
  const target = named(fragment);
  // A section's second label is an empty element beside its fold.
  const section = target?.tagName === "SPAN" ? target.parentElement : target;
  let place: Element | null | undefined = section?.querySelector(":scope > details.fold:not(.all)") ?? target;
  const folds = [];
  while ((place = place?.closest("details:not([open])"))) {
    folds.push(place);
    place = place.parentElement;
  }
  folds.forEach((fold) => {
    build(fold);
    fold.setAttribute("open", "");
  });
  return folds.length > 0 ? target : null;
}

function onClick(event: MouseEvent) {
  const link = event.target instanceof Element ? event.target.closest('a[href*="#"]') : null;
  if (link instanceof HTMLAnchorElement && link.pathname === location.pathname) {
    open(link.hash); // before the browser looks for the element
  }
}

document.querySelectorAll("details.fold > noscript.late").forEach(({ parentElement: fold }) => {
  fold?.addEventListener("toggle", () => build(fold));
});
const target = open(location.hash);
if (target) {
  // The scripts to come may change the page's length.
  document.addEventListener("DOMContentLoaded", () => target.scrollIntoView());
}
addEventListener("hashchange", () => open(location.hash)?.scrollIntoView(), true);
addEventListener("click", onClick, true);

let printed: Element[] = [];
addEventListener("beforeprint", () => {
  printed = Array.from(document.querySelectorAll("details:is(.aims, .deeper):not([open])"));
  printed.forEach((fold) => fold.setAttribute("open", ""));
});
addEventListener("afterprint", () => {
  printed.forEach((fold) => fold.removeAttribute("open"));
  printed = [];
});
