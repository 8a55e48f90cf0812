/* The strip: one query on one screen, from its numbers through keys, scores, exponentials, weights
   and values to the output. Each number is a field that can be scrubbed, where it is an input, or
   a button; what it comes from and what it moves lights up beside it. */
(function () {
  "use strict";

  const { parsed, short, sign } = window.mhaNumbers;
  const { address, of: placeOf, valueAt } = window.mhaPlaces;
  const { isGiven } = window.mhaOrigins;
  const { factor } = window.mhaAttention;
  const { Hands, Heads, Ribbons, chainOf, fill, fitting, inBrackets, make, set, setBar, setText,
    worked } = window.mhaExplorer;
  const texts = window.mhaStrings.explorer;

  /** For so many characters there is room in the columns of numbers, on one line at a desk; what a
      vector takes beyond its numbers, a number beyond its digits, and the least that it has. */
  const ROOM = { line: 95, vector: 2.8, number: 0.85, least: 2.5 };

  /** Vectors are folded in two where the line has no room for all, in this order. */
  const VECTORS = ["query", "value", "key"];

  /** From this size on a number would take the room of others, and so would a longer input; more
      digits than at first fold a vector in two. */
  const LONG = { size: 1e4, digits: 7, folded: 5 };

  /** Decimals of a vector's numbers that are computed; a line below has all that are asked for. */
  const PLACES = 2;

  /** Whether there is a mouse, or the like, to point with. */
  const HAS_POINTER = !matchMedia("(hover: none)").matches;

  class Strip {
    /** @param {ExplorerView} explorer */
    constructor(explorer) {
      this.explorer = explorer;
      /** @type {StripNumber[]} */
      this.numbers = [];
      /** @type {Map<EventTarget | null, StripNumber>} */
      this.ofNode = new Map();
      /** What only says which token, head or scale is meant, to be written again.
          @type {((view: StripView) => void)[]} */
      this.words = [];
      /** @type {HTMLElement[]} */
      this.bars = [];
      /** What is added up to a sum of the strip, by stage.
          @type {Record<string, StripNumber[]>} */
      this.terms = { exponentials: [], part: [] };
      /** The signs before sums.
          @type {{ node: HTMLElement, total: StripNumber, terms: (view: StripView) => StripNumber[] }[]} */
      this.signs = [];
      /** @type {((at: Place) => Set<string>) | null} */
      this.chains = null;
      /** What the words, and what is lit, were last written for. */
      this.looks = "";
      this.shines = "";
      this.moved = true;
      // What the example itself comes to is written out.
      const { query, key, value, scores, exponentials, row_sums } = explorer.numbers;
      this.long = Math.max(LONG.size, ...[query, key, value, scores, exponentials, row_sums]
        .flat(3).filter(Number.isFinite).map((x) => 1.01 * Math.abs(x)));
      this.hands = new Hands(this);
      this.vectors = this.layOut();
      this.how = make("p", { className: "how" });
      this.ribbons = new Ribbons(explorer);
      this.one = this.build();
      this.heads = new Heads(explorer, this);
      this.status = make("p", { className: "status", role: "status" });
      this.node = make("div", { className: "strip" }, this.title(), this.one,
        make("div", { className: "says" }, this.how, this.status), ...this.heads.nodes);
      this.hands.listen();
    }

    // -- Elements --

    title() {
      const { data, state } = this.explorer;
      const [query, sentence] = [make("i"), make("i")];
      this.words.push(({ token }) => {
        setText(query, token);
        setText(sentence, state.order.map((i) => data.tokens[i]).join(" "));
      });
      const [before, between, after] = texts.title.split(/\{\w+\}/);
      return make("p", { className: "strip-title" }, before, query, between, sentence, after);
    }

    build() {
      const { tokens } = this.explorer.data;
      const query = make("div", { className: "query" }, this.token(({ row }) => row),
        ...this.vector("query", ({ row }) => row));
      const rows = tokens.map((_, key) => this.row(key));
      const table = make("div", { className: "rows", role: "table", "aria-label": texts.strip },
        this.header(), ...rows, this.footer());
      const of = make("div", { className: "of head" });
      this.words.push(({ token }) => setText(of, fill(texts.columns.query, { token })));
      return make("div", { className: "one" }, of, query, this.ribbons.fan, table,
        this.ribbons.flow);
    }

    /** A token, whichever stands there.
        @param {(view: StripView) => number} position */
    token(position) {
      const node = make("i", { className: "token" });
      this.words.push((view) =>
        setText(node, this.explorer.data.tokens[this.explorer.state.order[position(view)]]));
      return node;
    }

    header() {
      const { columns } = texts;
      const scaled = make("span", { className: "head", role: "columnheader" });
      this.words.push(() => setText(scaled, this.scaleText()));
      const head = (/** @type {string} */ stage) =>
        make("span", { className: `head at-${stage}`, role: "columnheader" }, columns[stage]);
      return make("div", { className: "heading", role: "row" }, head("key"), head("scores"),
        scaled, head("exponentials"), head("weights"), head("value"), head("head_outputs"));
    }

    /** What scores are multiplied with, as the head of their column. */
    scaleText() {
      const { data: { keyWidth }, state: { scale, temperature } } = this.explorer;
      const by = scale === null ? fill(texts.byRoot, { width: keyWidth })
        : factor(keyWidth, scale) === 1 ? texts.byOne
          : fill(texts.byScale, { scale: short(factor(keyWidth, scale)) });
      return temperature === 1 ? by
        : fill(texts.byTemperature, { by, temperature: short(temperature) });
    }

    /** One key: from its numbers to its part in the output.
        @param {number} key */
    row(key) {
      const cell = (/** @type {string} */ stage, /** @type {any[]} */ ...inside) => {
        const label = texts.columns[stage] ?? "";
        const node = make("span", { className: `at at-${stage}`, role: "cell", "data-label": label },
          ...inside);
        if (stage === "scaled_scores") this.words.push(() => { node.dataset.label = this.scaleText(); });
        return node;
      };
      const one = (/** @type {string} */ stage) => {
        const node = this.number((v) => placeOf(stage, v.head, v.row, key));
        this.terms[stage]?.push(this.last);
        return cell(stage, node);
      };
      const bar = make("span", { className: "bar" }, make("span", {}));
      this.bars.push(bar.firstChild);
      const part = this.number((v) =>
        ({ ...placeOf("head_outputs", v.head, v.row, v.component), term: key }));
      this.terms.part.push(this.last);
      const token = () => this.token(() => key);
      return make("div", { className: "key", role: "row" },
        cell("key", token(), ...this.vector("key", () => key)),
        one("scores"), one("scaled_scores"), one("exponentials"),
        cell("weights", bar,
          make("span", {}, this.number((v) => placeOf("weights", v.head, v.row, key)))),
        cell("value", token(), ...this.vector("value", () => key)),
        cell("part", part));
    }

    /** The sums below the columns, and the output.  */
    footer() {
      const { width } = this.explorer.data;
      const sum = this.number((v) => placeOf("row_sums", v.head, v.row, 0));
      const sumSign = this.sign(() => this.terms.exponentials);
      const cell = (/** @type {string} */ name, /** @type {any[]} */ ...inside) =>
        make("span", { className: `at at-${name}`, role: "cell" }, ...inside);
      const outputs = Array.from({ length: width }, (_, i) => {
        const number = this.number((v) => placeOf("head_outputs", v.head, v.row, i));
        number.classList.add("result");
        this.words.push(({ component }) => number.classList.toggle("chosen", i === component));
        const sign = this.sign(({ component }) => (i === component ? this.terms.part : []));
        return make("span", { className: "total" }, sign, number);
      });
      return make("div", { className: "sums", role: "row" }, cell("key"), cell("scores"),
        cell("scaled_scores", make("span", { className: "soft" }, texts.sum), sumSign),
        cell("exponentials", sum), cell("weights"), cell("value"),
        cell("head_outputs", this.token(({ row }) => row), ...outputs));
    }

    /** The sign before the last number: whether some others give it as they are printed.
        @param {(view: StripView) => StripNumber[]} terms none where this sum is not looked at
        @returns {HTMLElement} */
    sign(terms) {
      const node = make("span", { className: "sign" });
      this.signs.push({ node, total: this.last, terms });
      return node;
    }

    /** The number that was made last. */
    get last() {
      return this.numbers[this.numbers.length - 1];
    }

    /** How each vector's numbers stand, by stage: those that it is computed from too, where they
        are given.
        @returns {Record<string, VectorLayout[]>} */
    layOut() {
      /** @type {any} */
      const { numbers } = this.explorer;
      const { inputs } = this.explorer.data;
      const digits = (/** @type {string} */ stage, /** @type {string} */ as) => Math.max(
        ...numbers[stage].flat(2).map((/** @type {number} */ x) => this.textOf(x, as).length));
      const room = ["scores", "scaled_scores", "exponentials", "value"].reduce((left, stage) =>
        left - digits(stage, "scores") - ROOM.number, ROOM.line);
      const vectors = VECTORS.map((stage) => {
        const meets = `turned_${stage}` in numbers ? `turned_${stage}` : stage;
        const start = isGiven(inputs, stage) ? stage : "embeddings";
        const those = meets === start || stage === "value" ? [meets] : [start, meets];
        return those.map((name) => {
          const { length: count } = numbers[name].flat(window.mhaStages[name].axes.length - 2)[0];
          return { stage: name, count, columns: count, digits: digits(name, name) };
        });
      });
      const size = (/** @type {VectorLayout} */ { columns, digits: most }) =>
        ROOM.vector + columns * (Math.max(most, ROOM.least) + ROOM.number);
      const isTight = () => vectors.reduce((sum, those) =>
        sum + Math.max(...those.map(size)), 0) > room;
      for (const those of vectors) {
        for (const one of [...those].sort((a, b) => size(b) - size(a))) {
          if (isTight()) one.columns = Math.ceil(one.count / 2);
        }
      }
      return Object.fromEntries(VECTORS.map((stage, i) => [stage, vectors[i]]));
    }

    /** A token's vector.
        @param {string} name of its stage
        @param {(view: StripView) => number} position
        @returns {HTMLElement[]} */
    vector(name, position) {
      return this.vectors[name].map(({ stage, count, columns, digits }) => {
        /** @type {StripNumber["room"]} */
        const room = { digits, least: digits, columns, node: null };
        const numbers = Array.from({ length: count }, (_, i) => {
          const node = this.number((v) => placeOf(stage, v.head, position(v), i));
          this.last.room = room;
          if (stage === "value") {
            this.words.push(({ component }) => node.classList.toggle("chosen", i === component));
          }
          return node;
        });
        const letter = make("span", { className: "soft letter", "aria-hidden": "true" },
          window.mhaStages[stage].symbol);
        room.node = make("span", { className: `vector of-${stage}`,
          style: `--columns: ${columns}; --count: ${count}; --digits: ${digits}` },
        letter, make("span", { className: "numbers" }, ...numbers));
        return /** @type {HTMLElement} */ (room.node);
      });
    }

    /** A number of the strip: a field where it is an input, else a button.
        @param {(view: StripView) => Place} place
        @returns {HTMLElement} */
    number(place) {
      const at = place(this.view());
      const given = at.term === null && isGiven(this.explorer.data.inputs, at.stage);
      const node = given
        ? make("input", {
          type: "text", inputMode: "decimal", autocomplete: "off", spellcheck: false,
          className: "number given",
        })
        : make("button", { type: "button", className: "number" }, "");
      node.tabIndex = -1;
      /** @type {StripNumber} */
      const number = { node, place, at, given, where: "", value: NaN, text: "", name: "",
        room: { digits: 0, least: 0, columns: 1, node: null } };
      this.numbers.push(number);
      this.ofNode.set(node, number);
      return node;
    }

    // -- What they show --

    /** Which row, head and component are looked at.
        @returns {StripView} */
    view() {
      const { data, state } = this.explorer;
      const row = state.order.indexOf(state.query);
      return {
        row, head: state.focus, component: state.component, outcome: state.outcome,
        token: data.tokens[state.query],
      };
    }

    /** The number at a place; that of a term is its product.
        @param {Place} at
        @returns {number} */
    valueOf(at) {
      const { numbers } = this.explorer;
      if (at.term === null) return valueAt(numbers, at);
      const { head, row, column, term } = at;
      return numbers.weights[head][row][term] * numbers.value[head][term][column];
    }

    paint() {
      const view = this.view();
      const { numbers, state } = this.explorer;
      // The words, and what a number is called, depend on what is looked at and on no number.
      const { order, scale, temperature, causal, padding } = state;
      const looks = JSON.stringify([view, order, scale, temperature, causal, padding]);
      this.moved = looks !== this.looks;
      if (this.moved) {
        this.looks = looks;
        this.chains = null;
        this.words.forEach((write) => write(view));
      }
      for (const number of this.numbers) this.paintNumber(number, view);
      for (const { node, total, terms } of this.signs) {
        const sum = terms(view).map(({ text }) => inBrackets(text)).join(" + ");
        const isShort = /e/.test(sum + total.text);
        setText(node, sum && (isShort ? "≈" : sign(sum, total.text)));
      }
      numbers.weights[view.head][view.row].forEach((weight, key) =>
        setBar(this.bars[key], weight));
      set(this.one, "class", `one head-${view.head % 6}${state.off[view.head] ? " off" : ""}`);
      this.ribbons.paint(view);
      this.heads.paint(view);
      this.light();
    }

    /** How a number of a stage is written.
        @param {number} value
        @param {string} stage */
    textOf(value, stage) {
      if (isGiven(this.explorer.data.inputs, stage)) {
        const text = fitting(value, true, { long: LONG.size });
        return text.length > LONG.digits ? fitting(value, true, { places: 1, long: LONG.size }) : text;
      }
      const isPart = /query|key|value/.test(stage);
      return fitting(value, isPart, { places: isPart ? PLACES : undefined, long: this.long });
    }

    /** @param {StripNumber} number
        @param {StripView} view */
    paintNumber(number, view) {
      if (this.moved) {
        number.at = number.place(view);
        number.where = address(number.at);
        number.name = this.explorer.nameOf(number.at);
      }
      const value = this.valueOf(number.at);
      const { node, name, given } = number;
      const isSame = value === number.value;
      if (isSame && !this.moved) return;
      number.value = value;
      const text = isSame ? number.text : this.textOf(value, number.at.stage);
      // Who speaks to the page says what is to be seen.
      set(node, "aria-label", given ? name : `${text}, ${name}`);
      if (isSame) return;
      number.text = text;
      this.giveRoom(number, text.length);
      if (!(node instanceof HTMLInputElement)) setText(node, text);
      else if (node !== this.hands.typing || parsed(node.value) !== value) {
        node.value = text;
        node.removeAttribute("aria-invalid");
      }
    }

    /** Numbers that stand in columns widen together.
        @param {StripNumber} number
        @param {number} digits */
    giveRoom({ room, node }, digits) {
      if (digits <= room.digits) return;
      room.digits = digits;
      const { style } = room.node ?? node;
      style.setProperty("--digits", String(digits));
      const isFolded = digits > Math.max(room.least, LONG.folded) && room.columns > 2;
      if (room.node) style.setProperty("--columns", String(Math.ceil(room.columns / (isFolded ? 2 : 1))));
    }

    /** Take back the room that numbers needed before they were as at first again. */
    takeRoom() {
      for (const { room } of this.numbers) room.digits = 0;
      for (const number of this.numbers) {
        this.giveRoom(number, Math.max(number.room.least, number.text.length));
      }
    }

    // -- Where a number comes from, and what it moves --

    /** Light the chain of the number that is pointed at, focused or selected, in that order. */
    light() {
      const { data, state, numbers } = this.explorer;
      const { selected } = state;
      const where = selected && address(selected);
      const at = this.hands.pointed?.at ?? this.hands.focused?.at ?? selected;
      const center = at && address(at);
      const shines = `${this.looks} ${center} ${where}`;
      if (shines !== this.shines) {
        this.shines = shines;
        this.chains ??= chainOf(numbers, this.numbers.map((number) => number.at));
        const lit = at ? this.chains(at) : new Set();
        for (const { node, where: own } of this.numbers) {
          node.classList.toggle("lit", lit.has(own));
          node.classList.toggle("center", own === center);
          node.classList.toggle("selected", own === where);
        }
        this.ribbons.light(at ? lit : null);
      }
      setText(this.how, at ? `${this.explorer.nameOf(at)}: ${this.says(at, data, state, numbers)}`
        : (HAS_POINTER ? texts.hint : texts.hintTouch) + (data.heads.length > 1 ? texts.hintHeads : ""));
    }

    /** @type {(at: Place, data: ExplorerData, state: ExplorerState, numbers: ExplorerNumbers) =>
          string} */
    says(at, data, state, numbers) {
      if (at.term === null && isGiven(data.inputs, at.stage)) {
        return `${short(this.valueOf(at))}. ${texts.isInput}`;
      }
      return worked(data, state, numbers, at);
    }
  }

  window.mhaExplorer.Strip = Strip;
})();
