/* The explorer's controls: heads, scale, masks, the tokens' order, and what the maps show. */
(function () {
  "use strict";

  const { short } = window.mhaNumbers;
  const { factor } = window.mhaAttention;
  const { MAPS, fill, freshId, isChanged, make, makeButton, makeChoice, makeField, makeGroup } =
    window.mhaExplorer;
  const texts = window.mhaStrings.explorer;

  class Controls {
    /** @param {ExplorerView} explorer */
    constructor(explorer) {
      this.explorer = explorer;
      /** @type {((state: ExplorerState) => void)[]} */
      this.syncs = [];
      const { data } = explorer;
      this.name = `${data.name}-${freshId()}`;
      const settings = make("details", { className: "fold settings" },
        make("summary", {}, texts.settings),
        make("div", { className: "controls" }, this.scale(), this.masks(), this.order()));
      this.node = make("div", { className: "tools" }, this.queries(), this.actions(), settings);
    }

    /** @param {ExplorerState} state */
    sync(state) {
      this.syncs.forEach((sync) => sync(state));
    }

    /** Radio buttons of one group; `chosen` tells from the state which is on.
        @param {string} group
        @param {string[]} labels
        @param {(choice: number) => void} onchoose
        @param {(state: ExplorerState) => number} chosen */
    radios(group, labels, onchoose, chosen) {
      const choices = labels.map((label, i) =>
        makeChoice("radio", `${this.name}-${group}`, label, () => onchoose(i)));
      this.syncs.push((state) => {
        choices.forEach(({ input }, i) => { input.checked = chosen(state) === i; });
      });
      return choices.map(({ node }) => node);
    }

    /**
     * @param {string} label
     * @param {(on: boolean) => void} onchange
     * @param {(state: ExplorerState) => boolean} checked
     */
    check(label, onchange, checked) {
      const choice = makeChoice("checkbox", "", label, onchange);
      this.syncs.push((state) => { choice.input.checked = checked(state); });
      return choice;
    }

    /** The chips that choose the query. */
    queries() {
      const { explorer } = this;
      const { tokens } = explorer.data;
      const chips = this.radios("query", tokens,
        (query) => explorer.show({ query }, fill(texts.queryIs, { token: tokens[query] })),
        (state) => state.query);
      chips.forEach((chip) => chip.classList.add("chip"));
      return make("div", { className: "chips", role: "group", "aria-label": texts.query },
        make("span", { className: "soft" }, texts.query), ...chips);
    }

    /** The tab of a head, and its switch.
        @param {number} head */
    head(head) {
      const { explorer } = this;
      const name = explorer.data.heads[head];
      const tab = makeChoice("radio", `${this.name}-head`, name,
        () => explorer.show({ focus: head }, fill(texts.focusIs, { head: name })));
      const on = this.check(fill(texts.switchedOn, { head: head + 1 }),
        (now) => explorer.change(
          { off: explorer.state.off.map((off, i) => (i === head ? !now : off)) },
          fill(now ? texts.headIsOn : texts.headIsOff, { head: name })),
        (state) => !state.off[head]);
      on.word.replaceChildren(make("span", { className: "unseen" },
        fill(texts.switchedOn, { head: head + 1 })), ` ${texts.on}`);
      this.syncs.push((state) => { tab.input.checked = state.focus === head; });
      return [tab.node, on.node];
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
      return make("li", {}, ...arrows, padding.node);
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

    /** The switch of what the source prints, where it prints anything. */
    prints() {
      const { explorer } = this;
      if (!Object.keys(explorer.data.prints).length) return [];
      const prints = this.check(texts.prints,
        (on) => explorer.show({ prints: on }, on ? texts.printsOn : texts.printsOff),
        (state) => state.prints && !isChanged(state, explorer.start));
      this.syncs.push((state) => {
        prints.input.disabled = isChanged(state, explorer.start);
        prints.word.textContent = prints.input.disabled ? texts.printsPaused : texts.prints;
      });
      return [prints.node];
    }

    actions() {
      const { explorer } = this;
      const undo = makeButton(texts.undo, () => explorer.step(false));
      const redo = makeButton(texts.redo, () => explorer.step(true));
      this.syncs.push(() => {
        undo.setAttribute("aria-disabled", String(!explorer.past.length));
        redo.setAttribute("aria-disabled", String(!explorer.future.length));
      });
      this.link = make("span", { className: "field" });
      return make("div", { className: "line actions" }, undo, redo,
        makeButton(texts.reset, () => { this.free = false; explorer.reset(); }),
        makeButton(texts.copy, () => this.copy()), this.link);
    }

    /** Copy the link; where the browser does not allow it, offer it in a field. */
    async copy() {
      const link = this.explorer.link();
      try {
        await navigator.clipboard.writeText(link);
        this.link.replaceChildren();
        this.explorer.say(texts.copied);
      } catch {
        const field = make("input", { type: "text", readOnly: true, value: link });
        this.link.replaceChildren(make("label", {}, texts.link, " ", field));
        field.focus();
        field.select();
        this.explorer.say(texts.copyByHand);
      }
    }

    /** The choice of what the maps show, beside the maps. */
    maps() {
      const { explorer } = this;
      const names = explorer.tables?.mapNames() ?? [];
      /** @type {(i: number) => void} */
      const choose = (i) => explorer.show(
        { map: MAPS[i] }, fill(texts.mapIs, { map: names[i].toLowerCase() }));
      return makeGroup(texts.mapChoice, make("div", { className: "line" },
        ...this.radios("map", names, choose, ({ map }) => MAPS.indexOf(map))));
    }
  }

  window.mhaExplorer.Controls = Controls;
})();
