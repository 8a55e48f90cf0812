/* The switch in the top bar that opens every fold of code, and remembers it on this device. Without
   it, and without scripts, each fold opens by itself. */
(function () {
  "use strict";
  const KEY = "attention-by-hand.code";
  const BAR = 60; // pixels below the top bar's edge, where reading begins
  const strings = window.mhaStrings.code;
  const root = document.documentElement;
  /** @type {NodeListOf<HTMLDetailsElement>} */
  const folds = document.querySelectorAll("details.code-fold");
  const control = window.mhaPage.button(strings.label, () => keepPlace(toggle));

  /** @returns {boolean} */
  function isRemembered() {
    try {
      return localStorage.getItem(KEY) === "shown";
    } catch {
      return false;
    }
  }

  /** @param {boolean} isShown */
  function remember(isShown) {
    try {
      localStorage.setItem(KEY, isShown ? "shown" : "folded");
    } catch {
      // Without storage the switch serves this page alone.
    }
  }

  /** @param {boolean} isShown */
  function show(isShown) {
    control.setAttribute("aria-pressed", String(isShown));
    control.title = isShown ? strings.fold : strings.show;
    folds.forEach((fold) => {
      fold.open = isShown;
    });
  }

  function toggle() {
    const isShown = control.getAttribute("aria-pressed") !== "true";
    show(isShown);
    remember(isShown);
  }

  /**
   * Change the page's length while what the reader is at stays where it is on the screen.
   * @param {() => void} change
   */
  function keepPlace(change) {
    const parts = document.querySelectorAll(".bd-article section > *");
    const place = Array.from(parts).find((part) => part.getBoundingClientRect().top >= BAR);
    const before = place?.getBoundingClientRect().top ?? 0;
    root.style.overflowAnchor = "none";
    change();
    scrollBy({ top: (place?.getBoundingClientRect().top ?? 0) - before, behavior: "instant" });
    root.style.overflowAnchor = "";
  }

  /** Open the folds around what the address leads to. */
  function openTarget() {
    const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    let fold = target?.closest("details");
    if (!target || !fold) {
      return;
    }
    for (; fold; fold = fold.parentElement?.closest("details")) {
      fold.open = true;
    }
    target.scrollIntoView();
  }

  if (folds.length > 0) {
    control.className = "bar-button code-switch";
    const item = document.createElement("div");
    item.className = "header-article-item";
    item.append(control);
    document.querySelector(".header-article-items__end")?.prepend(item);
    show(isRemembered());
  }
  openTarget();
  addEventListener("hashchange", openTarget);
})();
