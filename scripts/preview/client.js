/* What the preview adds to each page: it reloads the page when a new one is there, at the same
   place and with the same folds open, and shows what is wrong above the last good page. */
(function () {
  "use strict";
  const KEY = "preview.place";
  const BAR = 60; // pixels below the window's top, where reading begins
  const LATE = 10000; // milliseconds in which widgets may still make folds of their own
  const PERIOD = 250; // milliseconds after which the page asks again

  // ---- The place ----

  /**
   * Return the page's folds by names that an edit elsewhere on the page leaves alone.
   * @returns {Map<string, HTMLDetailsElement>}
   */
  function folds() {
    const found = new Map();
    document.querySelectorAll(".bd-article details").forEach((fold) => {
      const around = fold.closest("[id]")?.id ?? "";
      const title = fold.querySelector("summary")?.textContent?.trim() ?? "";
      let name = `${around}|${title}`;
      while (found.has(name)) {
        name += "+";
      }
      found.set(name, fold);
    });
    return found;
  }

  /** @returns {NodeListOf<HTMLElement>} the buttons that fold what a box holds */
  function toggles() {
    return document.querySelectorAll(".bd-article button.toggle-button");
  }

  /** @returns {Array<Element>} */
  function landmarks() {
    const parts = document.querySelectorAll(".bd-article [id]");
    return Array.from(parts).filter((part) => part.getClientRects().length > 0);
  }

  /** Note what is open, and which part of the page stands at the top of the window. */
  function leave() {
    const open = Array.from(folds()).filter(([, fold]) => fold.open).map(([name]) => name);
    const shown = Array.from(toggles()).filter((button) =>
      !document.getElementById(button.dataset.target ?? "")?.classList.contains("toggle-hidden"));
    const begun = landmarks().filter((part) => part.getBoundingClientRect().top <= BAR).at(-1);
    const place = {
      page: location.pathname,
      open,
      shown: shown.map((button) => button.id),
      id: scrollY > 0 ? begun?.id : undefined,
      offset: begun?.getBoundingClientRect().top ?? 0,
      y: scrollY,
    };
    try {
      sessionStorage.setItem(KEY, JSON.stringify(place));
    } catch {
      // Without storage the page is loaded again at the browser's own place.
    }
    location.reload();
  }

  /** @returns {{open: string[], shown: string[], id?: string, offset: number, y: number} | null} */
  function noted() {
    try {
      const place = JSON.parse(sessionStorage.getItem(KEY) ?? "null");
      sessionStorage.removeItem(KEY);
      return place?.page === location.pathname ? place : null;
    } catch {
      return null;
    }
  }

  /**
   * Open what was open, each fold once: some are made late, and a reader may close them again.
   * @param {Set<string>} open
   * @param {Set<string>} done names of the folds that were dealt with
   */
  function unfold(open, done) {
    folds().forEach((fold, name) => {
      if (!done.has(name)) {
        fold.open = open.has(name);
        done.add(name);
      }
    });
  }

  function come() {
    const place = noted();
    if (!place) {
      return;
    }
    history.scrollRestoration = "manual";
    const open = new Set(place.open);
    const done = new Set();
    const back = () => {
      const part = place.id ? document.getElementById(place.id) : null;
      const top = part ? part.getBoundingClientRect().top - place.offset : place.y - scrollY;
      scrollBy({ top, behavior: "instant" });
    };
    const restore = () => {
      unfold(open, done);
      back();
    };
    document.addEventListener("byhand:built", restore);
    const observer = new MutationObserver(() => unfold(open, done));
    observer.observe(document.body, { childList: true, subtree: true });
    setTimeout(() => observer.disconnect(), LATE);
    unfold(open, done);
    toggles().forEach((button) => {
      const isHidden = document.getElementById(button.dataset.target ?? "")
        ?.classList.contains("toggle-hidden");
      if (place.shown.includes(button.id) === isHidden) {
        button.click();
      }
    });
    back();
    document.fonts.ready.then(() => {
      back();
      history.scrollRestoration = "auto";
    });
  }

  // ---- What is wrong ----

  const STYLE = "position:fixed;inset:0 0 auto;z-index:99999;max-height:60vh;overflow:auto;"
    + "margin:0;padding:1rem 3rem 1rem 1.25rem;background:#7a1020;color:#fff;"
    + "border-bottom:3px solid #fff;font:15px/1.5 ui-monospace,monospace";
  /** @type {HTMLElement | null} */
  let board = null;

  /** @param {string[]} problems */
  function tell(problems) {
    board?.remove();
    board = null;
    if (problems.length === 0) {
      return;
    }
    board = document.createElement("section");
    board.id = "preview-problems";
    board.setAttribute("role", "alert");
    board.style.cssText = STYLE;
    const heading = document.createElement("strong");
    heading.textContent = "The last good page stands below. What is wrong:";
    const list = document.createElement("ul");
    list.style.cssText = "margin:.5rem 0 0;padding-left:1.25rem;white-space:pre-wrap";
    list.append(...problems.map((problem) => {
      const item = document.createElement("li");
      item.textContent = problem;
      return item;
    }));
    const close = document.createElement("button");
    close.type = "button";
    close.textContent = "×";
    close.setAttribute("aria-label", "Hide what is wrong");
    close.style.cssText = "position:absolute;top:.5rem;right:.75rem;padding:0 .6rem;"
      + "background:none;color:inherit;border:1px solid;border-radius:4px;font:inherit";
    close.addEventListener("click", () => tell([]));
    board.append(heading, list, close);
    document.body.append(board);
  }

  // ---- The preview ----

  /** By this the server tells the page from a newer one. */
  const sign = document.currentScript?.dataset.sign;
  let told = "";

  async function ask() {
    try {
      const answer = await fetch(`/preview/state${location.pathname}`);
      const state = await answer.json();
      if (state.sign !== sign) {
        leave();
        return;
      }
      if (state.problems.join() !== told) {
        told = state.problems.join();
        tell(state.problems);
      }
    } catch {
      // The preview has ended; another one may begin.
    }
    setTimeout(ask, PERIOD);
  }

  addEventListener("load", () => {
    come();
    ask();
  });
})();
