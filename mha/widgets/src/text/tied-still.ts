/**
 * The page does not move during a change: text that follows a dragged, typed or ticked input may take
 * another line above it, and the page is scrolled by the same amount before that is visible.
 */

/** The delay before the effect of a key or a box is visible. */
const STILL_MS = 300;

/** Elements that a reader types into or ticks. */
const FIELDS = ":is(mha-explorer, mha-instrument) :is(label, input)";

/** The held element, and its position on the screen. */
let held: Element | null = null;

let top = 0;

let waits: ReturnType<typeof setTimeout> | undefined;

const watcher = new ResizeObserver(() => {
  const moved = held?.checkVisibility() ? held.getBoundingClientRect().top - top : 0;
  if (moved) scrollBy({ top: moved, behavior: "instant" });
});

/** Keep an element at its height on the screen. @param what the selector of the element */
function hold(target: EventTarget | null, what: string) {
  clearTimeout(waits);
  held = target instanceof Element ? target.closest(what) : null;
  if (!held) return;
  top = held.getBoundingClientRect().top;
  watcher.observe(held.closest("article") ?? document.body);
}

function release() {
  held = null;
  watcher.disconnect();
}

addEventListener("pointerdown", ({ target }) =>
  hold(target, `${FIELDS}, mha-explorer, mha-instrument, p, li, td, figcaption`), true);

// A finger that scrolls the page itself cancels its pointer.
addEventListener("pointercancel", release, true);
addEventListener("pointerup", () => {
  if (held?.matches(FIELDS)) waits = setTimeout(release, STILL_MS);
  else release();
}, true);

addEventListener("keydown", ({ target, key }) => {
  if (key === "Tab" || !(target instanceof Element) || !target.matches(FIELDS)) return;
  hold(target, FIELDS);
  waits = setTimeout(release, STILL_MS);
}, true);
