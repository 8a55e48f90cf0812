/* One explorer: its state, and what happens when it changes. */
(function () {
  "use strict";

  const { short, shown } = window.mhaNumbers;
  const { parse, valueAt } = window.mhaPlaces;
  const { Controls, MAPS, Panel, Tables, compute, described, fill, fromHash, inputAddress,
    isChanged, make, same, setText, startOf, toHash } = window.mhaExplorer;
  const texts = window.mhaStrings.explorer;

  class Explorer {
    /**
     * @param {ExplorerData} data
     * @param {HTMLDetailsElement} details
     */
    constructor(data, details) {
      this.data = data;
      this.details = details;
      this.start = startOf(data);
      this.state = this.start;
      this.written = toHash(data, this.start);
      /** @type {Place[]} */
      this.trail = [];
      // What was painted last: nothing yet.
      this.heads = "";
      this.origin = "";
      this.prints = false;
      this.numbers = compute(data, this.state);
      data.width = this.numbers.value[0][0].length;
      data.keyWidth = this.numbers.query[0][0].length;
      /** @type {any} */
      this.body = details.querySelector(".body");
      this.tables = new Tables(data, this.body);
      this.controls = new Controls(this);
      this.panel = new Panel(this);
      this.build();
      this.refresh();
      this.tables.watch();
    }

    build() {
      const maps = this.body.querySelector(".maps");
      maps.querySelector("h3").after(this.controls.maps());
      this.noKey = make("p", { className: "note" });
      maps.append(this.noKey);
      this.note = make("p", { className: "note" });
      [...this.body.querySelectorAll(".end")].at(-1).querySelector("h3").after(this.note);
      this.status = make("p", { className: "status", role: "status" });
      const { tokens, focus } = this.data;
      const help = focus === null ? texts.help
        : `${texts.help} ${fill(texts.followed, { token: tokens[focus] })}`;
      this.body.prepend(make("p", { className: "help" }, help), this.controls.node, this.status);
      this.body.append(this.panel.node);
      this.body.classList.add("live");
      this.listen(this.body);
    }

    // -- Events --

    /** @param {HTMLElement} body */
    listen(body) {
      body.addEventListener("click", (event) => this.onClick(event));
      body.addEventListener("keydown", (event) => this.onKey(event));
      body.addEventListener("focusin", ({ target }) => this.onFocus(target));
    }

    /** @param {Event} event */
    onClick({ target }) {
      const cell = this.tables.ofButton.get(target);
      if (!cell) return;
      const again = this.state.selected && same(this.state.selected, cell.at);
      if (again) this.panel.enter();
      else this.select(cell.at);
    }

    /** @param {KeyboardEvent} event */
    onKey(event) {
      const cell = this.tables.ofButton.get(event.target);
      if (event.key === "Escape" && this.state.selected) {
        event.preventDefault();
        if (cell) this.back();
        else this.tables.cellAt(this.state.selected).button.focus();
      }
      const next = cell && this.tables.neighbour(cell, event.key);
      if (!next || next === cell) return;
      event.preventDefault();
      next.button.focus();
    }

    /** @param {EventTarget | null} target */
    onFocus(target) {
      const cell = this.tables.ofButton.get(target);
      if (cell) this.tables.stop(cell, this.nameOf(cell.at));
    }

    // -- Changes --

    /** Take over a state whose numbers differ; false where they cannot be computed.
        @param {Partial<ExplorerState>} patch
        @param {string} sentence
        @param {{ compare?: boolean }} [options]
        @returns {boolean} */
    change(patch, sentence, { compare = true } = {}) {
      const state = { ...this.state, ...patch };
      const before = this.numbers;
      try {
        this.numbers = compute(this.data, state);
      } catch (error) {
        if (error instanceof RangeError) return false;
        throw error;
      }
      this.state = state;
      this.refresh();
      const { numbers } = this;
      this.tables.afterwards(() =>
        this.say(compare ? this.effect(before, numbers, sentence) : sentence));
      return true;
    }

    /** Take over a state that only shows the same numbers in another way.
        @param {Partial<ExplorerState>} patch
        @param {string} sentence */
    show(patch, sentence) {
      this.state = { ...this.state, ...patch };
      this.refresh();
      this.say(sentence);
    }

    /** Change an input; returns what is wrong with the number, or "".
        @param {Place} at
        @param {number} value
        @returns {string} */
    edit(at, value) {
      const address = inputAddress(this.data, this.state, at);
      const edits = { ...this.state.edits, [address]: value };
      /** @type {any} */
      const first = parse(address);
      if (valueAt(this.data.inputs, first) === value) delete edits[address];
      const sentence = fill(texts.changed, { place: this.nameOf(at), value: short(value) });
      return this.change({ edits }, sentence) ? "" : texts.overflow;
    }

    reset() {
      this.trail = [];
      this.change(startOf(this.data), texts.wasReset, { compare: false });
    }

    /** Select a number; `follow` also goes to its cell.
        @param {Place} at
        @param {boolean} [follow] */
    select(at, follow = false) {
      if (this.state.selected) this.trail.push(this.state.selected);
      this.goTo(at, follow);
    }

    back() {
      const before = this.trail.pop();
      if (before) {
        this.goTo(before, true);
        return;
      }
      if (!this.state.selected) return;
      const { button } = this.tables.cellAt(this.state.selected);
      this.show({ selected: null }, texts.cleared);
      button.focus();
    }

    /**
     * @param {Place} at
     * @param {boolean} follow
     */
    goTo(at, follow) {
      const map = { row_sums: "exponentials" }[at.stage] ?? at.stage;
      const patch = MAPS.includes(map) ? { map } : {};
      const value = shown(valueAt(this.numbers, at));
      this.show({ ...patch, selected: at },
        fill(texts.selected, { place: this.nameOf(at), value }));
      if (!follow) return;
      const { button } = this.tables.cellAt(at);
      button.closest("details")?.setAttribute("open", "");
      button.focus({ preventScroll: true });
      button.scrollIntoView({ block: "center", inline: "nearest" });
    }

    // -- What is seen --

    refresh() {
      const { state, tables } = this;
      const changed = isChanged(state, this.start);
      tables.paint(this.numbers, state);
      const heads = JSON.stringify([state.focus, state.off]);
      if (heads !== this.heads) {
        this.heads = heads;
        this.paintHeads();
      }
      const prints = state.prints && !changed;
      if (prints !== this.prints) {
        this.prints = prints;
        tables.paintPrints(prints);
      }
      this.body.dataset.map = state.map;
      this.paintOrigin();
      this.paintNotes();
      this.panel.paint();
      this.controls.sync(state);
      this.writeAddress();
    }

    paintHeads() {
      const { focus, off } = this.state;
      this.tables.dim(this.state);
      this.body.querySelectorAll(".lane, .group").forEach((/** @type {HTMLElement} */ part) => {
        const head = Number(part.dataset.head);
        part.classList.toggle("dim", focus !== null && head !== focus);
        part.classList.toggle("off", off[head]);
      });
    }

    paintOrigin() {
      const { data, state, numbers } = this;
      const at = state.selected;
      const edited = Object.keys(state.edits);
      const now = JSON.stringify([at, edited, state.off, state.order, state.causal, state.padding]);
      if (now === this.origin) return;
      this.origin = now;
      const parts = at ? described(data, state, numbers, at).items.flat() : [];
      const sources = parts.flatMap((part) => (typeof part === "object" && part.place) || []);
      this.tables.light(at, sources,
        (/** @type {Place} */ input) => inputAddress(data, state, input) in state.edits);
    }

    paintNotes() {
      const { data, state, numbers } = this;
      const masked = data.tokens.flatMap((_, i) =>
        (numbers.row_sums.every((sums) => sums[i] === 0) ? [data.tokens[state.order[i]]] : []));
      setText(this.noKey, masked.map((token) => fill(texts.noKey, { token })).join(" "));
      const focus = state.focus === null ? [] : [this.share(state.focus)];
      const lost = data.heads.flatMap((_, head) => (state.off[head] ? [this.loss(head)] : []));
      setText(this.note, [...focus, ...lost].join(" "));
    }

    /** The exact share of the head in focus, for the token that the text follows.
        @param {number} head
        @returns {string} */
    share(head) {
      const { data, state, numbers } = this;
      const name = data.heads[head];
      if (!numbers.output) return fill(texts.columnsOf, { head: name, ...this.columns(head) });
      const row = state.selected?.stage === "output" ? state.selected.row
        : Math.max(0, state.order.indexOf(data.focus ?? 0));
      /** @type {(values: number[]) => string} */
      const list = (values) => values.map((x) => shown(x)).join(", ");
      return fill(texts.shareOf, {
        head: name, token: data.tokens[state.order[row]],
        share: list(numbers.head_contributions?.[head][row] ?? []),
        whole: list(numbers.output[row]),
      });
    }

    /**
     * @param {number} head
     * @returns {string}
     */
    loss(head) {
      const { data, numbers } = this;
      const name = data.heads[head];
      if (!numbers.output) return fill(texts.lostColumns, { head: name, ...this.columns(head) });
      const sizes = (numbers.head_contributions ?? [])[head].flat().map(Math.abs);
      return fill(texts.lost, { head: name, amount: shown(Math.max(...sizes)) });
    }

    /** @param {number} head */
    columns(head) {
      return { first: head * this.data.width + 1, last: (head + 1) * this.data.width };
    }

    /**
     * @param {Place} at
     * @returns {string}
     */
    nameOf(at) {
      const { label, title } = this.tables.cellAt(at);
      const words = { row: label.textContent, column: title.textContent };
      const name = fill(texts.places[at.stage], words);
      if (at.head === null || this.data.heads.length === 1) return name;
      return fill(texts.ofHead, { place: name, head: this.data.heads[at.head] });
    }

    /**
     * @param {Numbers} before
     * @param {Numbers} after
     * @param {string} what
     * @returns {string}
     */
    effect(before, after, what) {
      const end = after.output ? "output" : "concat";
      /** @type {(stage: string) => string} */
      const most = (stage) => {
        /** @type {number[][]} */
        const [was, now] = [before[stage].flat(2), after[stage].flat(2)];
        return shown(Math.max(...was.map((x, i) => Math.abs(x - now[i]))));
      };
      return fill(texts.effect, {
        what, weights: most("weights"), end: texts.ends[end], outcome: most(end),
      });
    }

    /** @param {string} sentence */
    say(sentence) {
      this.tables.last = null;
      setText(this.status, sentence);
    }

    // -- The address --

    link() {
      return location.href.split("#")[0] + toHash(this.data, this.state);
    }

    /** Keep the state in the address, a little later: browsers limit how often it may change. */
    writeAddress() {
      clearTimeout(this.timer);
      this.timer = setTimeout(() => {
        const wanted = toHash(this.data, this.state);
        if (wanted === this.written) return;
        this.written = wanted;
        const page = location.href.split("#")[0];
        const atStart = wanted === toHash(this.data, this.start);
        history.replaceState(history.state, "", atStart ? page : page + wanted);
      }, 200);
    }

    /** The reader has gone to another address: what was to be written there no longer is. */
    leaveAddress() {
      clearTimeout(this.timer);
      this.written = toHash(this.data, this.state);
    }

    /** Take over the state of the address, where it holds one of this explorer. */
    readAddress() {
      const found = fromHash(this.data, location.hash, this.tables.cells);
      if (!found) return;
      this.trail = [];
      const taken = this.change(found.state, texts.opened, { compare: false });
      if (this.state.selected) this.goTo(this.state.selected, false);
      if (!taken || !found.complete) this.say(texts.unread);
      this.leaveAddress();
    }
  }

  window.mhaExplorer.Explorer = Explorer;
})();
