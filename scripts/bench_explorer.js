/* What bench_explorer.py has a page do: each instrument's movement, what is done before, and how
   both are timed. It runs before the page's own scripts. */
(function () {
  "use strict";
  const PAUSE = 1000; // milliseconds in which a page settles

  /* deno-lint-ignore no-explicit-any -- elements and views of instruments of every kind */
  /** @typedef {any} Any */
  /** @typedef {(element: Any, view: Any, turn: number) => void} Move */
  /** @typedef {(element: Any, view: Any) => unknown} Before */

  const scope = /** @type {Any} */ (window);

  /**
   * Give a field another value, as a hand does.
   * @param {Any} field
   * @param {number | string} value
   */
  function enter(field, value) {
    field.value = String(value);
    field.dispatchEvent(new Event("input", { bubbles: true }));
  }

  /**
   * @param {Any} element
   * @param {string} selector
   * @param {number} turn
   */
  function slide(element, selector, turn) {
    const slider = element.querySelector(selector);
    enter(slider, +slider.min + (slider.max - slider.min) * (turn % 16) / 16);
  }

  /**
   * Press one of several buttons, the same ones each time.
   * @param {NodeListOf<Any>} those
   * @param {number} turn
   */
  const press = (those, turn) => those[turn % those.length].click();

  /** @param {number} turn */
  const number = (turn) => 0.37 + (turn % 7) * 0.11;

  // ---- What is moved: `element` on the page, `view` what its `begin` gives, `turn` from 0 on ----

  /** @type {Record<string, Move>} */
  const moves = {
    field: (element, _, turn) => enter(element.querySelector(".strip input"), number(turn)),
    tip(element, _, turn) {
      const { tip } = element.querySelector(".tip.main, .tip");
      tip.move([0.5 + (turn % 7) / 10, (turn % 5) / 10], tip.take?.());
    },
    pull: (element, _, turn) => enter(element.querySelectorAll(".pulls input")[1], 60 + turn % 20),
    slider: (element, _, turn) => slide(element, "[type=range]", turn),
    ownSlider: (element, _, turn) => slide(element, ".own [type=range]", turn),
    scrub(_, view, turn) {
      if (scope.scrubbed) {
        const key = turn % 16 < 8 ? "ArrowUp" : "ArrowDown"; // a hand that goes on one way
        scope.scrubbed.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
      } else {
        const { at } = view.strip.numbers.find((/** @type {Any} */ one) => one.given);
        view.edit(at, number(turn));
      }
    },
    letter(element, _, turn) {
      const choice = element.querySelector("select");
      choice.selectedIndex = turn % choice.length;
      choice.dispatchEvent(new Event("change"));
    },
    query: (element, _, turn) => press(element.querySelectorAll(".layer-tokens button"), 7 * turn),
    pencil(element, _, turn) {
      if (turn % 2) press(element.querySelectorAll(".pencil-row .n"), 37 * turn);
      else enter(element.querySelector(".pencil input"), 4 * turn);
    },
    draw(element) {
      [...element.querySelectorAll("button")]
        .find((one) => one.textContent === "Draw others").click();
    },
    write: (_, view, turn) =>
      view.state.change({ text: [turn % 4, 1, 2, 3, 0, 1, 2, turn % 3], step: 30 }),
    edit: (_, view, turn) => view.state.change({ edits: [[7, turn / 10]], step: 9 }),
    given: (element, _, turn) => enter(element.querySelector("input.given"), turn % 9),
    step(_, view, turn) {
      view.isTraining = false;
      view.bar.go(turn * 2);
    },
    try: (_, view, turn) =>
      view.change({ example: 1, isCausal: turn % 2 === 1, times: turn % 3 ? 1 : 27 }),
    choose(_, view, turn) {
      if (turn % 2) view.chooseSentence((turn >> 1) % 6);
      else view.change({ name: ["before", "next", "same", "broad", "pair"][(turn >> 1) % 5] });
    },
    cost: (_, view, turn) => view.change({ tokens: 128 << (turn % 16) }),
  };

  // ---- What is done before ----

  /** @type {Record<string, Before>} */
  const before = {
    nothing() {},
    inSteps(_, view) {
      view.show({ step: 12 }, "");
      return view.controls.steps;
    },
    trained(_, view) {
      while (view.training.found.length <= 150) view.training.advance();
    },
    // An input that is said in the text, or, where only results are, some text that says them.
    async toProse(_, view) {
      const all = document.querySelectorAll(`:is(p, li) data[data-of="${view.data.name}"]`);
      const said = [...all].filter((node) => node.getClientRects().length);
      for (const node of said.slice(0, 40)) {
        node.scrollIntoView({ block: "center" });
        await passed(200);
        scope.scrubbed = node.matches("[role]") ? node : node.querySelector("[role]");
        if (scope.scrubbed) return;
      }
      said[said.length >> 1].scrollIntoView({ block: "center" });
    },
  };

  // ---- How it is timed ----

  /** @param {number} ms */
  const passed = (ms) => new Promise((done) => setTimeout(done, ms));
  const frame = () => new Promise((done) => requestAnimationFrame(done));

  /**
   * Return an instrument; a fold that holds it is opened.
   * @param {string} selector
   */
  function opened(selector) {
    const element = /** @type {Any} */ (document.querySelector(selector));
    element.closest("details:not([open])")?.setAttribute("open", "");
    return element;
  }

  const bench = {
    /**
     * Bring an instrument to where it is moved.
     * @param {string} selector
     * @param {string} seen  what of it is on the screen
     * @param {string} what  of what is done before
     */
    async prepare(selector, seen, what) {
      const element = opened(selector);
      const view = await element.begin();
      await scope.mhaExplorer.later("tied.js").catch(() => {});
      (element.querySelector(seen || "*") ?? element).scrollIntoView({ block: "center" });
      await passed(PAUSE);
      await before[what || "nothing"](element, view);
      await passed(PAUSE);
    },

    /**
     * Move it, a frame a movement, and return until when each was laid out.
     * @param {string} selector
     * @param {string} what
     * @param {number} repeat
     */
    async move(selector, what, repeat) {
      const element = /** @type {Any} */ (document.querySelector(selector));
      const view = await element.begin();
      const times = [];
      for (let turn = 0; turn < repeat; turn += 1) {
        await frame();
        const start = performance.now();
        moves[what](element, view, turn);
        document.body.getBoundingClientRect();
        times.push(performance.now() - start);
      }
      return times;
    },

    /** Let nothing begin by itself; what waits for the first frame waits until it is counted. */
    still() {
      const timer = scope.setTimeout;
      scope.held = [];
      scope.setTimeout = (/** @type {Any} */ act, /** @type {Any} */ ms, /** @type {Any[]} */ ...others) =>
        scope.holds && !ms ? scope.held.push(act) : timer(act, ms, ...others);
      scope.IntersectionObserver = class {
        observe() {}
        unobserve() {}
        disconnect() {}
      };
      for (const name of ["scroll", "pointerover"]) {
        addEventListener(name, (event) => event.stopImmediatePropagation(), true);
      }
    },

    /**
     * Load the scripts and styles of an instrument.
     * @param {string} selector
     */
    async load(selector) {
      const element = opened(selector);
      element.scrollIntoView();
      const { data, dataset: { late = "", dress = "" } } = element;
      const isViewed = data?.widths || (data?.view ?? "strip") !== "strip";
      const those = [...dress.split(" "), ...late.split(" "), data?.block && "explorer-block.js",
        ...isViewed ? ["plane.css", "explorer-views.js"] : []];
      for (const name of those.filter(Boolean)) await scope.mhaExplorer.later(name);
      await passed(PAUSE / 2);
    },

    /**
     * Build it as far as its first frame.
     * @param {string} selector
     */
    async build(selector) {
      scope.holds = true;
      await /** @type {Any} */ (document.querySelector(selector)).begin();
      for (let i = 0; i < 2; i += 1) await frame();
    },

    /** Build what waits for slices. */
    async settle() {
      scope.holds = false;
      scope.held.forEach((/** @type {Any} */ act) => act());
      do await frame();
      while (!scope.mhaExplorer.isSettled());
    },
  };

  scope.mhaBench = bench;
})();
