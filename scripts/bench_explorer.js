/* What bench_explorer.py has a page do: its rows, each instrument's movement, what is done before,
   and how both are timed. It runs before the page's own scripts. */
(function () {
  "use strict";
  const PAUSE = 1000; // milliseconds in which a page settles
  const REPEAT = 60; // movements

  /* deno-lint-ignore no-explicit-any -- elements and views of instruments of every kind */
  /** @typedef {any} Any */
  /** @typedef {(element: Any, view: Any, turn: number) => void} Move */
  /** @typedef {(element: Any, view: Any) => unknown} Before */

  /**
   * An instrument of the book, and how it is moved.
   * @typedef {object} Row
   * @property {string} page
   * @property {string} selector  of the instrument on its page
   * @property {string} what  is moved
   * @property {string} change  one of `moves`
   * @property {string} [before]  one of `before`
   * @property {string} [seen]  a selector of what of it is on the screen
   */

  const scope = /** @type {Any} */ (window);

  // ---- The rows ----

  /** @type {(page: string, selector: string, what: string, change: string, before?: string) => Row} */
  const row = (page, selector, what, change, before) => ({ page, selector, what, change, before });

  /** @type {(page: string, selector: string, what?: string) => Row} a number in a strip */
  const strip = (page, selector, what = "a number") =>
    ({ ...row(page, selector, what, "field"), seen: ".strip" });

  /** @type {(page: string, selector: string) => Row} a number in a sentence */
  const prose = (page, selector) => row(page, selector, "in prose", "scrub", "toProse");

  /** @type {typeof row} the one instrument of its kind on a page */
  const instrument = (page, kind, ...others) => row(page, `mha-instrument.of-${kind}`, ...others);

  const SELF = "mechanism/self-attention";
  const HEADS = "mechanism/multi-head-attention";
  const rows = [
    strip(SELF, "#explore-river-bank-scaled"),
    row(SELF, "#explore-river-bank-scaled", "a tip", "tip"),
    row(SELF, "#explore-river-bank-scaled", "a pull", "pull"),
    strip(SELF, "#explore-cat-sat", "cat sat"),
    row("mechanism/what-attention-does", "#explore-river-bank", "a tip", "tip"),
    prose("mechanism/what-attention-does", "#explore-river-bank"),
    strip(HEADS, "#explore-it-tired"),
    prose(HEADS, "#explore-it-tired"),
    row("mechanism/scaling", "#explore-width", "a width", "slider"),
    row("mechanism/softmax", "#explore-river-bank", "temperature", "slider"),
    strip("examples/cat-sat", "#explore-cat-sat"),
    strip("examples/cat-sat-on-it", "#explore-cat-sat-on-it"),
    row("examples/cat-sat-on-it", "#explore-cat-sat-on-it", "in steps", "field", "inSteps"),
    instrument("examples/work-your-own", "own", "a slider", "ownSlider"),
    instrument("examples/work-your-own", "own", "a seed", "draw"),
    instrument("transformer/depth", "letters", "a letter", "letter"),
    strip("transformer/depth", "#explore-it-tired-block"),
    prose("transformer/depth", "#explore-it-tired-block"),
    row("transformer/order", "#explore-cat-sat-turned", "the dial", "tip"),
    instrument("transformer/order", "slope", "the slope", "slider"),
    instrument("transformer/decoding", "cache", "a step", "write"),
    instrument("transformer/cost", "cost", "tokens", "cost"),
    instrument("transformer/cost", "tiles", "a number", "edit"),
    instrument("transformer/since-2023", "sheet", "a number", "given"),
    instrument("transformer/real-heads", "heads", "another head", "choose"),
    instrument("transformer/learning", "learning", "a step", "step", "trained"),
    instrument("transformer/bugs", "bugs", "a program", "try"),
    instrument("transformer/your-own-attention", "layer", "a query", "query"),
    instrument("sources/what-the-sources-print", "pencil", "a row", "pencil"),
  ];

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
      if (turn % 2) view.chooseSentence((turn >> 1) % 8);
      else view.change({ name: ["before", "induction", "same", "broad", "pair"][(turn >> 1) % 5] });
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
    rows,

    /**
     * Bring an instrument to where it is moved.
     * @param {Row} row
     */
    async prepare(row) {
      const element = opened(row.selector);
      const view = await element.begin();
      dispatchEvent(new KeyboardEvent("keydown", { key: "Shift" })); // the text's numbers come then
      (element.querySelector(row.seen ?? "*") ?? element).scrollIntoView({ block: "center" });
      await passed(PAUSE);
      await before[row.before ?? "nothing"](element, view);
      await passed(PAUSE);
    },

    /**
     * Move it, a frame a movement, and return until when each was laid out.
     * @param {Row} row
     */
    async move(row) {
      const element = /** @type {Any} */ (document.querySelector(row.selector));
      const view = await element.begin();
      const times = [];
      for (let turn = 0; turn < REPEAT; turn += 1) {
        await frame();
        const start = performance.now();
        moves[row.change](element, view, turn);
        document.body.getBoundingClientRect();
        times.push(performance.now() - start);
      }
      return times;
    },

    /** Let nothing begin by itself, and nothing that waits for the first frame. */
    still() {
      const timer = scope.setTimeout;
      scope.setTimeout = (/** @type {Any} */ act, /** @type {Any} */ ms, /** @type {Any[]} */ ...others) =>
        scope.holds && !ms ? 0 : timer(act, ms, ...others);
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
     * @param {Row} row
     */
    async load(row) {
      const element = opened(row.selector);
      element.scrollIntoView();
      await element.bring();
      await passed(PAUSE / 2);
    },

    /**
     * Build it as far as its first frame.
     * @param {Row} row
     */
    async build(row) {
      scope.holds = true;
      await /** @type {Any} */ (document.querySelector(row.selector)).begin();
      for (let i = 0; i < 2; i += 1) await frame();
    },
  };

  scope.bench = bench;
})();
