/* The explorer's settings: scale, temperature, masks, the tokens' order. */
(function () {
  "use strict";

  const { short } = window.mhaNumbers;
  const { factor } = window.mhaAttention;
  const { Choices, fill, make, makeButton, makeField, makeGroup } = window.mhaExplorer;
  const texts = window.mhaStrings.explorer;

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

    /** The way to the page on which sentences are made. */
    own() {
      const root = document.documentElement.dataset.content_root;
      if (root === undefined || this.explorer.maker) return "";
      return make("p", {}, make("a", { href: `${root}examples/work-your-own.html` }, texts.own));
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
      const free = makeField(texts.scaleField, setScale, undefined, () => explorer.takeBack());
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
        const sentence = fill(texts.temperatureIs, { value: short(temperature) });
        return explorer.change({ temperature }, sentence, { what: "temperature" })
          ? "" : texts.overflow;
      }, { positive: true }, () => explorer.takeBack());
      this.syncs.push(({ temperature }) => field.set(temperature));
      return field.node;
    }

    masks() {
      const { explorer } = this;
      if (explorer.data.isCausal) return ""; // the bar has it
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
