/* The page stays still under a hand: text that follows what is dragged may take another line above
   it, and the page is scrolled by as much before that is seen. */
(function () {
  "use strict";

  /** What is held, and where it stands on the screen. @type {Element | null} */
  let held = null;

  let top = 0;

  const watcher = new ResizeObserver(() => {
    const moved = held ? held.getBoundingClientRect().top - top : 0;
    if (moved) scrollBy({ top: moved, behavior: "instant" });
  });

  addEventListener("pointerdown", ({ target }) => {
    held = target instanceof Element ? target.closest("mha-explorer, mha-instrument, p, li, td, figcaption") : null;
    if (!held) return;
    top = held.getBoundingClientRect().top;
    watcher.observe(held.closest("article") ?? document.body);
  }, true);

  // A finger that scrolls the page itself cancels its pointer.
  ["pointerup", "pointercancel"].forEach((end) => addEventListener(end, () => {
    held = null;
    watcher.disconnect();
  }, true));
})();
