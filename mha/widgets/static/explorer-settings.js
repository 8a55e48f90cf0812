/* The explorer's settings: scale, temperature, masks, the tokens' order, a sentence of one's own. */
(function () {
  "use strict";

  const { short } = window.mhaNumbers;
  const { address, isMatrix, of: placeOf } = window.mhaPlaces;
  const { factor } = window.mhaAttention;
  const { Choices, dataOf, fill, make, makeButton, makeField, makeGroup, ownFrom } =
    window.mhaExplorer;
  const texts = window.mhaStrings.explorer;

  /** The places of a token's numbers, in the order in which they are pasted.
      @type {(data: ExplorerData, row: number) => Place[]} */
  function placesOf(data, row) {
    /** @type {any} */
    const { inputs } = data;
    return Object.keys(inputs).filter((stage) => !isMatrix(stage)).flatMap((stage) => {
      const perHead = window.mhaStages[stage].axes.includes("head");
      const matrices = perHead ? inputs[stage] : [inputs[stage]];
      return matrices.flatMap((/** @type {Matrix} */ matrix, /** @type {number} */ head) =>
        matrix[row].map((_, column) => placeOf(stage, head, row, column)));
    });
  }

  /**
   * Pasted numbers, a line a token, as edits; null where they do not fit.
   * @param {ExplorerData} data
   * @param {string} text
   * @returns {Record<string, number> | null}
   */
  function pasted(data, text) {
    const lines = text.trim().split("\n").filter(Boolean);
    if (!text.trim()) return {};
    /** @type {Record<string, number>} */
    const edits = {};
    for (let row = 0; row < data.tokens.length; row += 1) {
      const numbers = (lines[row] ?? "").trim().split(/[\s,;]+/).map(window.mhaNumbers.parsed);
      const places = placesOf(data, row);
      if (numbers.length !== places.length || !numbers.every(Number.isFinite)) return null;
      places.forEach((place, i) => { edits[address(place)] = numbers[i]; });
    }
    return lines.length === data.tokens.length ? edits : null;
  }

  class Settings extends Choices {
    /** @param {ExplorerView} explorer */
    constructor(explorer) {
      super(explorer);
      this.free = false;
      this.node = make("div", { className: "controls" }, this.scale(), this.masks(), this.order(),
        this.own());
    }

    /** A reset takes back the wish for another scale. */
    forget() {
      this.free = false;
    }

    /** A sentence of the reader's own, its numbers drawn from a seed or pasted. */
    own() {
      const { explorer } = this;
      const { tokens } = explorer.data;
      const error = make("span", { className: "error", role: "alert" });
      const words = make("input", { type: "text", value: tokens.join(" "), autocomplete: "off" });
      const seed = make("input", { type: "text", inputMode: "numeric", value: "1" });
      const numbers = make("textarea", { rows: 3, spellcheck: false });
      const use = () => {
        const own = ownFrom(`${seed.value.trim()}:${words.value.trim()}`);
        if (!own) {
          error.textContent = texts.ownWrong;
          return;
        }
        const edits = pasted(dataOf(explorer.base, own), numbers.value);
        if (!edits) {
          const { length } = placesOf(dataOf(explorer.base, own), 0);
          error.textContent = fill(texts.ownNumbers, { rows: own.words.length, count: length });
          return;
        }
        explorer.assemble(own);
        explorer.change({ edits }, fill(texts.ownIs, { words: own.words.join(" ") }),
          { compare: false, keep: false });
      };
      const field = (/** @type {string} */ label, /** @type {HTMLElement} */ input) =>
        make("label", { className: "own-field" }, make("span", {}, label), input);
      return makeGroup(texts.own, make("div", { className: "line own" },
        field(texts.ownWords, words), field(texts.ownSeed, seed), field(texts.ownPaste, numbers),
        makeButton(texts.ownUse, use), error));
    }

    scale() {
      const { explorer } = this;
      const width = explorer.data.keyWidth;
      /** @type {(scale: number | null) => string} */
      const setScale = (scale) => {
        const value = short(factor(width, scale));
        return explorer.change({ scale }, fill(texts.scaleIs, { value }), { what: "scale" })
          ? "" : texts.overflow;
      };
      const free = makeField(texts.scaleField, setScale);
      const root = fill(texts.scaleRoot, { width, value: short(factor(width, null)) });
      const kinds = [root, texts.scaleOne, texts.scaleFree];
      /** @type {(kind: number) => void} */
      const choose = (kind) => {
        this.free = kind === 2;
        if (kind === 2) free.input.focus();
        else setScale([null, 1][kind]);
      };
      /** @type {(state: ExplorerState) => number} */
      const chosen = ({ scale }) => (this.free ? 2 : [null, 1, scale].indexOf(scale));
      /** @type {any[]} */
      const radios = this.radios("scale", kinds, choose, chosen);
      free.input.addEventListener("focus", () => {
        this.free = true;
        radios[2].querySelector("input").checked = true;
      });
      this.syncs.push(({ scale }) => free.set(factor(width, scale)));
      return makeGroup(texts.scale,
        make("div", { className: "line" }, ...radios, free.node), this.temperature());
    }

    temperature() {
      const { explorer } = this;
      const field = makeField(texts.temperature, (temperature) => {
        if (temperature <= 0) return texts.notPositive;
        const sentence = fill(texts.temperatureIs, { value: short(temperature) });
        return explorer.change({ temperature }, sentence, { what: "temperature" })
          ? "" : texts.overflow;
      });
      this.syncs.push(({ temperature }) => field.set(temperature));
      return field.node;
    }

    masks() {
      const { explorer } = this;
      const causal = this.check(texts.causal,
        (on) => explorer.change({ causal: on }, on ? texts.causalOn : texts.causalOff),
        (state) => state.causal);
      return makeGroup(texts.masks, causal.node);
    }

    order() {
      const list = make("ol", { className: "tokens" });
      const items = this.explorer.data.tokens.map((token, i) => this.token(token, i));
      this.syncs.push(({ order }) => {
        const wanted = order.map((i) => items[i]);
        if (wanted.some((item, i) => list.children[i] !== item)) {
          /** @type {any} */
          const focused = document.activeElement;
          list.replaceChildren(...wanted);
          if (list.contains(focused)) focused.focus();
        }
        const buttons = wanted.map((item) => item.querySelectorAll("button"));
        buttons.forEach(([earlier, later], i) => {
          earlier.setAttribute("aria-disabled", String(i === 0));
          later.setAttribute("aria-disabled", String(i === order.length - 1));
        });
      });
      return makeGroup(texts.order, list);
    }

    /**
     * @param {string} token
     * @param {number} i
     */
    token(token, i) {
      const { explorer } = this;
      const padding = this.check(fill(texts.padding, { token }),
        (on) => explorer.change(
          { padding: explorer.state.padding.map((is, j) => (j === i ? on : is)) },
          fill(on ? texts.paddingOn : texts.paddingOff, { token })),
        (state) => state.padding[i]);
      /** @type {(sign: string, label: string, by: number) => HTMLElement} */
      const arrow = (sign, label, by) =>
        makeButton(sign, () => this.move(i, by), { "aria-label": fill(label, { token }) });
      const arrows = [arrow("←", texts.earlier, -1), arrow("→", texts.later, 1)];
      const name = make("em", { "aria-hidden": "true" }, token); // each control says it too
      return make("li", {}, name, ...arrows, padding.node);
    }

    /**
     * @param {number} token
     * @param {number} by
     */
    move(token, by) {
      const { explorer } = this;
      const order = [...explorer.state.order];
      const from = order.indexOf(token);
      if (order[from + by] === undefined) return;
      [order[from], order[from + by]] = [order[from + by], order[from]];
      const tokens = order.map((i) => explorer.data.tokens[i]).join(", ");
      explorer.change({ order }, fill(texts.orderIs, { tokens }), { compare: false });
    }
  }

  window.mhaExplorer.Settings = Settings;
})();
