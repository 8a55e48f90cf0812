/* The explorer: <mha-explorer> holds an example's inputs as JSON and all its numbers as tables.
   On its first opening each number becomes a button, and controls and a panel join the tables;
   from then on the numbers are computed here. Texts are in strings-explorer.js. */
(function () {
  "use strict";

  const { trace, factor } = window.mhaAttention;
  const texts = window.mhaStrings.explorer;
  const MAPS = Object.keys(texts.maps);
  const WHOLE = ["embeddings", "w_o", "concat", "output"];
  const INPUTS = ["embeddings", "w_q", "w_k", "w_v", "w_o", "query", "key", "value"];
  const STEP = 0.1;

  // ---- Numbers as texts: the book's rounding rule ----

  /** Like toFixed, but an exact tie goes to the even digit, as in the package. */
  function fixed(size, places) {
    const halves = size * 2 ** (places + 1);
    const tie = Number.isInteger(halves) && halves % 2 === 1;
    const text = size.toFixed(places);
    if (!tie || Number(text.slice(-1)) % 2 === 0) return text;
    const below = Number(text) - 10 ** -places;
    return below.toFixed(places);
  }

  function shown(x, places = 4) {
    if (x === -Infinity) return "−∞";
    const size = Math.abs(x);
    if (size >= 1e6) return x.toExponential(2).replaceAll("-", "−");
    const text = fixed(size, places);
    return x < 0 && Number(text) !== 0 ? `−${text}` : text;
  }

  /** Without trailing zeros where the number is exact to the places shown. */
  function short(x, places = 4) {
    const text = shown(x, places);
    const exact = Math.abs(x - parsed(text)) <= 1e-14 * Math.max(1, Math.abs(x));
    return exact && text.includes(".") && !text.includes("e") ? text.replace(/\.?0+$/, "") : text;
  }

  const full = (x) => String(x).replaceAll("-", "−").replace("Infinity", "∞");

  /** A text as a number, NaN where it is none. */
  function parsed(text) {
    const plain = text.trim().replaceAll("−", "-");
    return /^[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?$/i.test(plain) ? Number(plain) : NaN;
  }

  const fill = (text, words) => text.replace(/\{(\w+)\}/g, (_, word) => words[word]);

  // ---- Places: where a number stands ----

  const place = (stage, head, row, column) => ({ stage, head, row, column });

  const inHead = (stage, head) => (WHOLE.includes(stage) ? null : head);

  /** A place as a text such as "weights.0.1.2". */
  function addressOf({ stage, head, row, column }) {
    return [stage, head, row, column].filter((part) => part !== null).join(".");
  }

  function placeAt(address) {
    const [stage, ...parts] = address.split(".");
    const numbers = parts.map(Number);
    if (stage === "row_sums") return place(stage, numbers[0], numbers[1], null);
    return WHOLE.includes(stage) ? place(stage, null, ...numbers) : place(stage, ...numbers);
  }

  function numberAt(numbers, { stage, head, row, column }) {
    const matrix = head === null ? numbers[stage] : numbers[stage][head];
    return column === null ? matrix[row] : matrix[row][column];
  }

  // ---- The state: all that can be changed. Tokens and edits are counted as at first. ----

  function startOf(data) {
    return {
      edits: {}, scale: data.scale, temperature: 1, causal: data.isCausal,
      padding: data.tokens.map(() => false), order: data.tokens.map((_, i) => i),
      off: data.heads.map(() => false),
      focus: null, map: "weights", prints: false, selected: null,
    };
  }

  const same = (left, right) => JSON.stringify(left) === JSON.stringify(right);

  const RESULTS = ["edits", "scale", "temperature", "causal", "padding", "order", "off"];

  /** Whether any number may differ from the first ones. */
  const isChanged = (state, start) => RESULTS.some((key) => !same(state[key], start[key]));

  const ofTokens = (data, stage) =>
    stage === "embeddings" || (["query", "key", "value"].includes(stage) && data.inputs[stage]);

  /** The address of an input whatever the order of the tokens. */
  function inputAddress(data, state, at) {
    const row = ofTokens(data, at.stage) ? state.order[at.row] : at.row;
    return addressOf({ ...at, row });
  }

  const isInput = (data, at) => INPUTS.includes(at.stage) && at.stage in data.inputs;

  function withEdits(inputs, edits) {
    const copy = structuredClone(inputs);
    for (const [address, value] of Object.entries(edits)) {
      const at = placeAt(address);
      (at.head === null ? copy[at.stage] : copy[at.stage][at.head])[at.row][at.column] = value;
    }
    return copy;
  }

  /** Inputs and results of a state, tokens in its order. */
  function compute(data, state) {
    const inputs = withEdits(data.inputs, state.edits);
    const ordered = (rows) => state.order.map((i) => rows[i]);
    for (const stage of Object.keys(inputs)) {
      if (stage === "embeddings") inputs[stage] = ordered(inputs[stage]);
      else if (ofTokens(data, stage)) inputs[stage] = inputs[stage].map(ordered);
    }
    const run = trace({
      ...inputs, masks: data.masks, isCausal: state.causal, scale: state.scale,
      temperature: state.temperature, headOff: state.off,
      keyAllowed: state.order.map((i) => !state.padding[i]),
    });
    return { ...inputs, ...run };
  }

  // ---- The state in the address: only what differs from the start ----

  const marked = (flags) => flags.flatMap((flag, i) => (flag ? [i] : [])).join(".");

  function toHash(data, state) {
    const start = startOf(data);
    const parts = new URLSearchParams({ explore: data.name });
    const put = (key, value) => { if (!same(state[key], start[key])) parts.set(key, value); };
    put("scale", state.scale === null ? "root" : state.scale);
    put("temperature", state.temperature);
    put("causal", Number(state.causal));
    put("padding", marked(state.padding));
    put("order", state.order.join("."));
    put("off", marked(state.off));
    put("focus", state.focus);
    put("map", state.map);
    put("prints", 1);
    if (state.selected) parts.set("at", addressOf(state.selected));
    Object.entries(state.edits).forEach(([address, value]) => parts.set(address, value));
    return `#${parts}`;
  }

  /** Readers of the address's parts: each returns a value, or undefined for what is none. */
  function readers(data, places) {
    const whole = (text, count) => (/^\d+$/.test(text) && Number(text) < count ? Number(text) : NaN);
    const several = (text, count) => {
      const found = text.split(".").map((part) => whole(part, count));
      return found.some(Number.isNaN) || new Set(found).size < found.length ? undefined : found;
    };
    const flags = (text, all) => {
      const found = several(text, all.length);
      return found && all.map((_, i) => found.includes(i));
    };
    const number = (text) => (Number.isFinite(parsed(text)) ? parsed(text) : undefined);
    return {
      scale: (text) => (text === "root" ? null : number(text)),
      temperature: (text) => (number(text) > 0 ? number(text) : undefined),
      causal: (text) => ({ 0: false, 1: true })[text],
      padding: (text) => flags(text, data.tokens),
      off: (text) => flags(text, data.heads),
      order: (text) => {
        const found = several(text, data.tokens.length);
        return found && found.length === data.tokens.length ? found : undefined;
      },
      focus: (text) => (Number.isNaN(whole(text, data.heads.length)) ? undefined : Number(text)),
      map: (text) => (MAPS.includes(text) ? text : undefined),
      prints: (text) => text === "1" || undefined,
      at: (text) => (places.has(text) ? placeAt(text) : undefined),
      edit: (address, text) =>
        (places.has(address) && isInput(data, placeAt(address)) ? number(text) : undefined),
    };
  }

  /** The state that an address holds, and whether all of it could be read; null where none. */
  function fromHash(data, hash, places) {
    const parts = new URLSearchParams(hash.slice(1));
    if (!hash.startsWith("#explore=") || parts.get("explore") !== data.name) return null;
    parts.delete("explore");
    const read = readers(data, places);
    const state = startOf(data);
    let complete = true;
    for (const [key, text] of parts) {
      const known = Object.hasOwn(read, key) && key !== "edit";
      const value = known ? read[key](text) : read.edit(key, text);
      if (value === undefined) complete = false;
      else if (!known) state.edits[key] = value;
      else state[key === "at" ? "selected" : key] = value;
    }
    return { state, complete };
  }

  // ---- Origins: how a number comes about, as terms of places and texts ----

  const range = (count) => Array.from({ length: count }, (_, i) => i);

  const products = (pairs) => pairs.map(([left, right]) => ({ parts: [left, "×", right] }));

  /** Sums of products: for each stage the pairs of places that are multiplied. */
  function pairsOf(numbers, { stage, head, row, column }) {
    const pairs = (count, left, right) => range(count).map((k) => [left(k), right(k)]);
    const width = numbers.value[0][0].length;
    switch (stage) {
      case "query": case "key": case "value": {
        const matrix = { query: "w_q", key: "w_k", value: "w_v" }[stage];
        return pairs(numbers.embeddings[0].length, (k) => place("embeddings", null, row, k),
          (k) => place(matrix, head, k, column));
      }
      case "scores":
        return pairs(numbers.query[0][0].length, (k) => place("query", head, row, k),
          (k) => place("key", head, column, k));
      case "head_outputs":
        return pairs(numbers.query[0].length, (k) => place("weights", head, row, k),
          (k) => place("value", head, k, column));
      case "output":
        return pairs(numbers.w_o.length, (k) => place("concat", null, row, k),
          (k) => place("w_o", null, k, column));
      case "head_contributions":
        return pairs(width, (k) => place("head_outputs", head, row, k),
          (k) => place("w_o", null, head * width + k, column));
      default: return null;
    }
  }

  function scaleText(data, state, numbers) {
    const width = numbers.query[0][0].length;
    const scale = short(factor(width, state.scale));
    return state.temperature === 1 ? scale
      : `(${fill(texts.dividedBy, { scale, temperature: short(state.temperature) })})`;
  }

  /** How a number comes about: a rule in words, and terms that are added. */
  function originOf(data, state, numbers, at) {
    const { stage, head, row, column } = at;
    const rule = texts.rules[stage];
    if (isInput(data, at)) return { rule: texts.rules.input, terms: [] };
    const pairs = pairsOf(numbers, at);
    if (pairs) return { rule, terms: products(pairs) };
    const beside = (other) => place(other, head, row, column);
    if (stage === "concat") {
      const width = numbers.value[0][0].length;
      const from = Math.floor(column / width);
      const terms = [{ parts: [place("head_outputs", from, row, column % width)] }];
      if (!state.off[from]) return { rule, terms };
      return { rule: fill(texts.headOff, { head: data.heads[from] }), terms: [] };
    }
    const isMasked = column !== null && numbers.scaled_scores[head][row][column] === -Infinity;
    if (numbers.row_sums[head][row] === 0) return { rule: texts.maskedRow, terms: [] };
    if (isMasked) return { rule: texts.masked, terms: [] };
    if (stage === "scaled_scores") {
      return { rule, terms: [{ parts: [beside("scores"), "×", scaleText(data, state, numbers)] }] };
    }
    if (stage === "exponentials") {
      const shift = numbers.shifts[head][row];
      if (shift === 0) return { rule, terms: [{ parts: ["e ^", beside("scaled_scores")] }] };
      return {
        rule: fill(texts.rules.shifted, { shift: shown(shift) }),
        terms: [{ parts: ["e ^ (", beside("scaled_scores"), `− ${shown(shift)})`] }],
      };
    }
    if (stage === "row_sums") {
      const terms = data.tokens.map((_, k) => ({ parts: [place("exponentials", head, row, k)] }));
      return { rule, terms };
    }
    return {
      rule,
      terms: [{ parts: [beside("exponentials"), "÷", place("row_sums", head, row, null)] }],
    };
  }

  /** Every place that a number is computed from. */
  const sourcesOf = (origin) =>
    origin.terms.flatMap(({ parts }) => parts.filter((part) => typeof part === "object"));

  // ---- Elements ----

  /** An element with properties, attributes (names with a hyphen, and role) and children. */
  function make(tag, properties = {}, ...children) {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(properties)) {
      if (name.includes("-") || name === "role") element.setAttribute(name, value);
      else element[name] = value;
    }
    element.append(...children);
    return element;
  }

  const makeButton = (label, onclick, properties = {}) =>
    make("button", { type: "button", onclick, ...properties }, label);

  let made = 0;
  const freshId = () => `explorer-${(made += 1)}`;

  function makeGroup(title, ...children) {
    return make("fieldset", {}, make("legend", {}, title), ...children);
  }

  function makeChoice(type, name, label, onchange) {
    const input = make("input", { type, name, onchange: () => onchange(input.checked) });
    const word = make("span", {}, label);
    return { input, word, node: make("label", { className: "choice" }, input, word) };
  }

  /** A field for a number. `apply` takes a number and returns what is wrong with it, or "". */
  function makeField(label, apply) {
    const errorId = freshId();
    const error = make("span", { className: "error", id: errorId });
    const input = make("input", {
      type: "text", inputMode: "decimal", autocomplete: "off", spellcheck: false,
      "aria-describedby": errorId,
    });
    const complain = (sentence) => {
      error.textContent = sentence;
      if (sentence) input.setAttribute("aria-invalid", "true");
      else input.removeAttribute("aria-invalid");
    };
    const enter = () => {
      const value = parsed(input.value);
      const text = input.value.trim() || "“”";
      complain(Number.isFinite(value) ? fill(apply(value), { text })
        : fill(texts.notANumber, { text }));
    };
    input.addEventListener("input", enter);
    const step = (by) => {
      const value = parsed(input.value);
      if (!Number.isFinite(value)) return;
      input.value = full(Number((value + by).toFixed(10)));
      enter();
    };
    input.addEventListener("keydown", (event) => {
      const by = { ArrowUp: STEP, ArrowDown: -STEP }[event.key];
      if (by) { event.preventDefault(); step(by); }
    });
    const name = make("label", {}, label, " ", input);
    return {
      input, step, node: make("span", { className: "field" }, name, error),
      set: (value) => {
        if (document.activeElement === input && parsed(input.value) === value) return;
        input.value = full(value);
        complain("");
      },
    };
  }

  // ---- The tables: cells as buttons, painted after every change ----

  class Tables {
    constructor(data, body) {
      this.data = data;
      this.body = body;
      this.cells = new Map();
      this.ofButton = new WeakMap();
      this.lit = [];
      this.given = [];
      this.last = null;
      this.digits = {};
      this.stages = [...body.querySelectorAll(".stage")].map((node) => {
        const tables = [...node.querySelectorAll("table[data-stage]")];
        return { node, cells: tables.flatMap((table) => this.adopt(table)), inSight: true };
      });
    }

    adopt(table) {
      const { stage, tokens } = table.dataset;
      const head = table.dataset.head === undefined ? null : Number(table.dataset.head);
      const rows = [...table.tBodies[0].rows].map((row) => [...row.cells]);
      const columns = [...table.tHead.rows].at(-1).cells;
      const heads = [...columns].slice(-(rows[0].length - 1));
      const grid = rows.map(([label, ...entries], row) => entries.map((entry, column) => {
        const isSum = stage === "exponentials" && column === this.data.tokens.length;
        const at = isSum ? place("row_sums", head, row, null)
          : place(stage, head, row, column);
        return this.makeCell(at, entry, { label, title: heads[column], look: table.className });
      }));
      grid.flat().forEach((cell) => { cell.grid = grid; });
      grid[0][0].button.tabIndex = 0;
      if (tokens.includes("rows")) this.tokenLabels(rows.map(([label]) => label));
      if (tokens.includes("columns")) this.tokenLabels(heads.slice(0, this.data.tokens.length));
      return grid.flat();
    }

    makeCell(at, entry, { label, title, look }) {
      const text = document.createTextNode(entry.textContent);
      const button = make("button", { type: "button", className: "cell", tabIndex: -1 }, text);
      const width = this.data.width;
      const head = at.head ?? { concat: Math.floor(at.column / width),
        w_o: Math.floor(at.row / width) }[at.stage] ?? null;
      const map = entry.closest(".map")?.dataset.map ?? "";
      const given = isInput(this.data, at);
      const cell = {
        at, entry, button, text, label, title, look, head, map, given, value: null, style: "",
      };
      if (given) {
        button.classList.add("given");
        this.given.push(cell);
      }
      if (at.head === null && head !== null) button.classList.add(`head-${head % 6}`);
      if (at.stage === "concat" && at.column % width === 0) entry.classList.add("first");
      entry.replaceChildren(button);
      this.cells.set(addressOf(at), cell);
      this.ofButton.set(button, cell);
      return cell;
    }

    tokenLabels(labels) {
      this.labels = [...(this.labels || []), labels];
    }

    cellAt(at) {
      return this.cells.get(addressOf(at));
    }

    /** Paint what is in sight at once; the rest follows, a stage a frame, or when it comes up. */
    paint(numbers, state) {
      this.now = { numbers, state, extents: {} };
      this.paintLabels(numbers, state);
      for (const stage of this.stages) {
        stage.stale = true;
        if (stage.inSight) this.paintStage(stage);
      }
      if (!this.following) this.follow();
    }

    /** Paint one more stage that is out of sight, and the next one in the next frame. */
    follow() {
      this.following = this.last !== null || this.stages.some(({ stale }) => stale);
      this.body.classList.toggle("following", this.following);
      if (!this.following) return;
      requestAnimationFrame(() => {
        const stage = this.stages.find(({ stale }) => stale);
        if (stage) this.paintStage(stage);
        else this.finish();
        this.follow();
      });
    }

    /** Do something when all stages have followed; only the latest of such wishes counts. */
    afterwards(action) {
      this.last = action;
      if (!this.following) this.follow();
    }

    finish() {
      const action = this.last;
      this.last = null;
      action?.();
    }

    /** Watch which stages are in sight; until this is known, all count as such. */
    watch() {
      const observer = new IntersectionObserver((entries) => {
        for (const { target, isIntersecting } of entries) {
          const stage = this.stages.find(({ node }) => node === target);
          stage.inSight = isIntersecting;
          if (isIntersecting && stage.stale) this.paintStage(stage);
        }
      }, { rootMargin: "100px" });
      this.stages.forEach(({ node }) => observer.observe(node));
    }

    paintStage(stage) {
      const { numbers, state, extents } = this.now;
      const digits = {};
      stage.stale = false;
      for (const cell of stage.cells) {
        // Maps that are hidden are painted when they are chosen.
        if (cell.map && cell.map !== state.map) continue;
        const name = cell.at.stage;
        const value = numberAt(numbers, cell.at);
        extents[name] ??= this.extent(name, numbers);
        this.paintCell(cell, value, this.style(cell, value, extents[name], numbers, state));
        digits[cell.map] = Math.max(digits[cell.map] ?? 0, cell.text.length);
      }
      this.widen(digits);
    }

    /** Widen columns to their longest number yet, the maps' apart from the others'. */
    widen(digits) {
      for (const [map, count] of Object.entries(digits)) {
        if (count <= this.digits[map]) continue;
        this.digits[map] = count;
        const part = map ? this.body.querySelector(`.map[data-map="${map}"]`) : this.body;
        part.style.setProperty("--digits", count);
      }
    }

    paintCell(cell, value, style) {
      if (value !== cell.value) {
        cell.value = value;
        const text = cell.given ? short(value) : shown(value, cell.look === "heat" ? 2 : 4);
        if (cell.text.data !== text) cell.text.data = text;
      }
      if (style !== cell.style) {
        cell.style = style;
        cell.button.style.cssText = style;
      }
    }

    /** The smallest and largest finite number of a stage, all heads together. */
    extent(stage, numbers) {
      if (stage === "weights") return [0, 1];
      const finite = numbers[stage].flat(2).filter(Number.isFinite);
      const low = Math.min(...finite, stage === "exponentials" ? 0 : Infinity);
      return [low, Math.max(...finite)];
    }

    style(cell, value, [low, high], numbers, state) {
      if (value === -Infinity) return "";
      if (cell.look === "heat") {
        const heat = Math.round((40 * (value - low)) / (high - low || 1));
        return `background:color-mix(in srgb,var(--head) ${heat}%,transparent)`;
      }
      if (cell.look === "shares") return this.shares(cell.at, numbers, state);
      const size = Math.max(Math.abs(low), Math.abs(high)) || 1;
      const [zero, span] = low < 0 ? [50, 50] : [0, 100];
      const end = zero + Math.round((span * value) / size);
      const [from, to] = [Math.min(zero, end), Math.max(zero, end)];
      // A background's position is counted in what its size leaves over.
      const position = to - from < 100 ? Math.round((100 * from) / (100 - to + from)) : 0;
      return `background-size:${to - from}% 5px;background-position:${position}% 100%`;
    }

    /** A strip of the heads' colours, as long as their shares are large. */
    shares({ row, column }, numbers, state) {
      const sizes = numbers.head_contributions.map((share, head) =>
        (state.off[head] ? 0 : Math.abs(share[row][column])));
      const total = sizes.reduce((all, size) => all + size, 0) || 1;
      let end = 0;
      const stops = sizes.map((size, head) => {
        const from = Math.round(end);
        end += (100 * size) / total;
        return `var(--head-${head % 6}) ${from}% ${Math.round(end)}%`;
      });
      return `background-image:linear-gradient(90deg,${stops})`;
    }

    paintLabels(numbers, { order }) {
      const { tokens, focus } = this.data;
      const masked = tokens.map((_, i) => numbers.row_sums.every((sums) => sums[i] === 0));
      const now = JSON.stringify([order, masked]);
      if (now === this.painted) return;
      this.painted = now;
      for (const labels of this.labels) {
        labels.forEach((label, i) => {
          label.textContent = tokens[order[i]];
          label.classList.toggle("followed", order[i] === focus);
        });
      }
    }

    /** Mute what does not belong to the head in focus, and what belongs to one that is off. */
    dim({ focus, off }) {
      for (const cell of this.cells.values()) {
        if (cell.head === null) continue;
        cell.button.classList.toggle("dim", focus !== null && cell.head !== focus);
        cell.button.classList.toggle("off", off[cell.head]);
      }
    }

    /** Outline the selected number and those that it comes from. */
    light(selected, sources, edits) {
      this.lit.forEach((cell) => {
        cell.button.classList.remove("selected", "source");
        cell.button.removeAttribute("aria-current");
      });
      this.lit = [selected, ...sources].filter(Boolean).map((at) => this.cellAt(at));
      this.lit.forEach((cell, i) => cell.button.classList.add(i ? "source" : "selected"));
      if (selected) this.lit[0].button.setAttribute("aria-current", "true");
      for (const cell of this.given) cell.button.classList.toggle("changed", edits(cell.at));
    }

    /** What the source prints, below its numbers. */
    paintPrints(visible) {
      for (const [address, found] of Object.entries(this.data.prints)) {
        const cell = this.cells.get(address);
        if (!cell) continue;
        cell.printed?.remove();
        if (!visible) continue;
        cell.printed = make("span", { className: "source-print" }, printed(found));
        cell.entry.append(cell.printed);
      }
    }

    /** Make a cell its table's tab stop, and say to a screen reader where it stands. */
    stop(cell, name) {
      cell.grid.flat().forEach((other) => { other.button.tabIndex = other === cell ? 0 : -1; });
      cell.button.setAttribute("aria-label", `${cell.text.data}, ${name}`);
    }

    neighbour(cell, key) {
      const row = cell.grid.findIndex((cells) => cells.includes(cell));
      const column = cell.grid[row].indexOf(cell);
      const [down, right] = {
        ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1],
        Home: [0, -column], End: [0, cell.grid[row].length - 1 - column],
      }[key] ?? [0, 0];
      return cell.grid[row + down]?.[column + right];
    }
  }

  const printed = (found) =>
    found.map(([text, agrees]) => `${agrees ? "≈" : "≠"} ${text.replaceAll("-", "−")}`).join(", ");

  // ---- The controls ----

  class Controls {
    constructor(explorer) {
      this.explorer = explorer;
      this.syncs = [];
      const { data } = explorer;
      this.name = `${data.name}-${freshId()}`;
      this.node = make("div", { className: "controls" },
        ...(data.heads.length > 1 ? [this.heads()] : []),
        this.scale(), this.masks(), this.order(), this.actions());
    }

    sync(state) {
      this.syncs.forEach((sync) => sync(state));
    }

    /** Radio buttons of one group; `chosen` tells from the state which is on. */
    radios(group, labels, onchoose, chosen) {
      const choices = labels.map((label, i) =>
        makeChoice("radio", `${this.name}-${group}`, label, () => onchoose(i)));
      this.syncs.push((state) => {
        choices.forEach(({ input }, i) => { input.checked = chosen(state) === i; });
      });
      return choices.map(({ node }) => node);
    }

    check(label, onchange, checked) {
      const choice = makeChoice("checkbox", "", label, onchange);
      this.syncs.push((state) => { choice.input.checked = checked(state); });
      return choice;
    }

    heads() {
      const { explorer } = this;
      const { heads } = explorer.data;
      const labels = [texts.showAll, ...heads.map((_, i) => fill(texts.focusHead, { head: i + 1 }))];
      const focus = (choice) => explorer.show(
        { focus: choice ? choice - 1 : null },
        choice ? fill(texts.focusIs, { head: heads[choice - 1] }) : texts.focusAll);
      const chosen = (state) => (state.focus === null ? 0 : state.focus + 1);
      const switches = heads.map((name, i) => this.check(
        fill(texts.switchedOn, { head: i + 1 }),
        (on) => explorer.change(
          { off: explorer.state.off.map((off, head) => (head === i ? !on : off)) },
          fill(on ? texts.headIsOn : texts.headIsOff, { head: name })),
        (state) => !state.off[i]).node);
      return makeGroup(texts.heads,
        make("div", { className: "line" }, ...this.radios("focus", labels, focus, chosen)),
        make("div", { className: "line" }, ...switches));
    }

    scale() {
      const { explorer } = this;
      const { width } = explorer.data;
      const setScale = (scale) => {
        const value = short(factor(explorer.data.keyWidth, scale));
        return explorer.change({ scale }, fill(texts.scaleIs, { value })) ? "" : texts.overflow;
      };
      const free = makeField(texts.scaleField, setScale);
      const root = fill(texts.scaleRoot, {
        width: explorer.data.keyWidth, value: short(factor(explorer.data.keyWidth, null)),
      });
      const kinds = [root, texts.scaleOne, texts.scaleFree];
      const choose = (kind) => {
        this.free = kind === 2;
        if (kind === 2) free.input.focus();
        else setScale([null, 1][kind]);
      };
      const chosen = ({ scale }) => (this.free ? 2 : { null: 0, 1: 1 }[scale] ?? 2);
      const radios = this.radios("scale", kinds, choose, chosen);
      free.input.addEventListener("focus", () => {
        this.free = true;
        radios[2].querySelector("input").checked = true;
      });
      this.syncs.push(({ scale }) => free.set(factor(explorer.data.keyWidth, scale)));
      const heat = makeField(texts.temperature, (temperature) => {
        if (temperature <= 0) return texts.notPositive;
        const sentence = fill(texts.temperatureIs, { value: short(temperature) });
        return explorer.change({ temperature }, sentence) ? "" : texts.overflow;
      });
      this.syncs.push(({ temperature }) => heat.set(temperature));
      return makeGroup(texts.scale,
        make("div", { className: "line" }, ...radios, free.node), heat.node);
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

    token(token, i) {
      const { explorer } = this;
      const padding = this.check(fill(texts.padding, { token }),
        (on) => explorer.change(
          { padding: explorer.state.padding.map((is, j) => (j === i ? on : is)) },
          fill(on ? texts.paddingOn : texts.paddingOff, { token })),
        (state) => state.padding[i]);
      const arrow = (sign, label, by) =>
        makeButton(sign, () => this.move(i, by), { "aria-label": fill(label, { token }) });
      return make("li", {}, arrow("←", texts.earlier, -1), arrow("→", texts.later, 1), padding.node);
    }

    move(token, by) {
      const { explorer } = this;
      const order = [...explorer.state.order];
      const from = order.indexOf(token);
      if (order[from + by] === undefined) return;
      [order[from], order[from + by]] = [order[from + by], order[from]];
      const tokens = order.map((i) => explorer.data.tokens[i]).join(", ");
      explorer.change({ order }, fill(texts.orderIs, { tokens }), { compare: false });
    }

    actions() {
      const { explorer } = this;
      const parts = [];
      if (Object.keys(explorer.data.prints).length) {
        const prints = this.check(texts.prints,
          (on) => explorer.show({ prints: on }, on ? texts.printsOn : texts.printsOff),
          (state) => state.prints && !isChanged(state, explorer.start));
        this.syncs.push((state) => {
          prints.input.disabled = isChanged(state, explorer.start);
          prints.word.textContent = prints.input.disabled ? texts.printsPaused : texts.prints;
        });
        parts.push(prints.node);
      }
      parts.push(makeButton(texts.reset, () => { this.free = false; explorer.reset(); }),
        makeButton(texts.copy, () => this.copy()));
      this.link = make("span", { className: "field" });
      return make("div", { className: "line actions" }, ...parts, this.link);
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
      const choose = (i) => explorer.show(
        { map: MAPS[i] }, fill(texts.mapIs, { map: texts.maps[MAPS[i]].toLowerCase() }));
      return makeGroup(texts.mapChoice, make("div", { className: "line" },
        ...this.radios("map", Object.values(texts.maps), choose, ({ map }) => MAPS.indexOf(map))));
    }
  }

  // ---- The panel: where the selected number comes from ----

  class Panel {
    constructor(explorer) {
      this.explorer = explorer;
      this.node = make("section", { className: "panel", "aria-label": texts.panel });
      this.shownInput = null;
    }

    paint() {
      const { data, state, numbers } = this.explorer;
      const at = state.selected;
      if (!at) {
        this.shownInput = null;
        this.node.replaceChildren(make("p", { className: "hint" }, texts.empty));
      } else if (isInput(data, at)) {
        this.paintInput(at);
      } else {
        this.shownInput = null;
        const origin = originOf(data, state, numbers, at);
        this.node.replaceChildren(this.title(at), make("p", {}, origin.rule),
          ...this.sum(at, origin), ...this.shares(at));
      }
    }

    title(at) {
      const back = makeButton(texts.back, () => this.explorer.back(), { className: "back" });
      return make("p", { className: "title" }, make("span", {},
        make("strong", {}, this.explorer.nameOf(at)), ": ",
        make("span", { className: "value" }, this.value(at))), back);
    }

    /** A number as the book writes it, in full where that says more, and as the source prints it. */
    value(at) {
      const value = numberAt(this.explorer.numbers, at);
      const rounded = shown(value);
      const isRounded = Math.abs(value - parsed(rounded)) > 1e-12;
      const exact = isRounded ? ` (${fill(texts.full, { value: full(value) })})` : "";
      const found = this.prints(addressOf(at));
      return rounded + exact + (found && `; ${found}`);
    }

    /** What the source prints for an address, in words, while it is asked for. */
    prints(address) {
      const { data, state, start } = this.explorer;
      const found = data.prints[address];
      if (!found || !state.prints || isChanged(state, start)) return "";
      return fill(texts.source, { texts: printed(found) });
    }

    sum(at, { terms }) {
      if (!terms.length) return [];
      const { numbers } = this.explorer;
      const items = terms.map(({ parts }, i) => {
        const places = parts.filter((part) => typeof part === "object");
        const isProduct = places.length === 2 && parts[1] === "×";
        const shownParts = parts.flatMap((part) =>
          [typeof part === "object" ? this.operand(part) : part, " "]);
        if (isProduct) {
          const value = places.reduce((all, one) => all * numberAt(numbers, one), 1);
          shownParts.push(`= ${short(value)}`);
        }
        const found = this.prints(`${addressOf(at)}:${i}`);
        if (found) shownParts.push(make("span", { className: "aside" }, ` ${found}`));
        return make("li", {}, ...shownParts);
      });
      const total = make("li", { className: "total" }, `= ${shown(numberAt(numbers, at))}`);
      return [make("ul", { className: "sum" }, ...items, total)];
    }

    operand(at) {
      const { explorer } = this;
      const text = short(numberAt(explorer.numbers, at));
      return makeButton(text.startsWith("−") ? `(${text})` : text, () => explorer.select(at, true), {
        className: "operand", "aria-label": `${text}, ${explorer.nameOf(at)}`,
        title: explorer.nameOf(at),
      });
    }

    /** For an output: the heads' shares that it is the sum of. */
    shares({ stage, row, column }) {
      const { data, state } = this.explorer;
      if (stage !== "output" || data.heads.length < 2) return [];
      const items = data.heads.map((name, head) => make("li", {}, `${name}: `,
        this.operand(place("head_contributions", head, row, column)),
        state.off[head] ? ` ${texts.isOff}` : ""));
      return [make("p", {}, texts.shares), make("ul", { className: "sum" }, ...items)];
    }

    /** An input has a field; it stays while its number changes, so that typing is not disturbed. */
    paintInput(at) {
      const { explorer } = this;
      const address = inputAddress(explorer.data, explorer.state, at);
      const value = numberAt(explorer.numbers, at);
      if (address !== this.shownInput) {
        this.shownInput = address;
        this.field = makeField(texts.changeTo, (to) => explorer.edit(explorer.state.selected, to));
        const title = this.title(at);
        this.exact = title.querySelector(".value");
        this.original = make("span", { className: "aside" });
        const step = (sign, label, by) =>
          makeButton(sign, () => this.field.step(by), { "aria-label": label, className: "step" });
        this.node.replaceChildren(title, make("p", {}, texts.rules.input), make("div", { className: "line" },
          this.field.node, step("−", texts.less, -STEP), step("+", texts.more, STEP),
          this.original));
      }
      this.exact.textContent = this.value(at);
      this.field.set(value);
      const first = numberAt(explorer.data.inputs, placeAt(address));
      this.original.textContent =
        first === value ? "" : fill(texts.original, { value: short(first) });
    }

    /** Go to the first operand, or to the field. */
    enter() {
      (this.node.querySelector(".operand") ?? this.node.querySelector("input") ??
        this.node.querySelector("button"))?.focus();
    }
  }

  // ---- One explorer: its state, and what happens when it changes ----

  class Explorer {
    constructor(data, details) {
      this.data = data;
      this.details = details;
      this.start = startOf(data);
      this.state = this.start;
      this.written = toHash(data, this.start);
      this.trail = [];
      this.numbers = compute(data, this.state);
      data.width = this.numbers.value[0][0].length;
      data.keyWidth = this.numbers.query[0][0].length;
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
      this.body.addEventListener("click", (event) => this.onClick(event));
      this.body.addEventListener("keydown", (event) => this.onKey(event));
      this.body.addEventListener("focusin", ({ target }) => this.onFocus(target));
    }

    // -- Events --

    onClick({ target }) {
      const cell = this.tables.ofButton.get(target);
      if (!cell) return;
      const again = this.state.selected && same(this.state.selected, cell.at);
      if (again) this.panel.enter();
      else this.select(cell.at);
    }

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

    onFocus(target) {
      const cell = this.tables.ofButton.get(target);
      if (cell) this.tables.stop(cell, this.nameOf(cell.at));
    }

    // -- Changes --

    /** Take over a state whose numbers differ; false where they cannot be computed. */
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

    /** Take over a state that only shows the same numbers in another way. */
    show(patch, sentence) {
      this.state = { ...this.state, ...patch };
      this.refresh();
      this.say(sentence);
    }

    /** Change an input; returns what is wrong with the number, or "". */
    edit(at, value) {
      const address = inputAddress(this.data, this.state, at);
      const edits = { ...this.state.edits, [address]: value };
      if (numberAt(this.data.inputs, placeAt(address)) === value) delete edits[address];
      const sentence = fill(texts.changed, { place: this.nameOf(at), value: short(value) });
      return this.change({ edits }, sentence) ? "" : texts.overflow;
    }

    reset() {
      this.trail = [];
      this.change(startOf(this.data), texts.wasReset, { compare: false });
    }

    /** Select a number; `follow` also goes to its cell. */
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
      const { button } = this.tables.cellAt(this.state.selected);
      this.show({ selected: null }, texts.cleared);
      button.focus();
    }

    goTo(at, follow) {
      const map = { row_sums: "exponentials" }[at.stage] ?? at.stage;
      const patch = MAPS.includes(map) ? { map } : {};
      const value = shown(numberAt(this.numbers, at));
      this.show({ ...patch, selected: at },
        fill(texts.selected, { place: this.nameOf(at), value }));
      if (!follow) return;
      const { button } = this.tables.cellAt(at);
      button.closest("details").open = true;
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
      this.body.querySelectorAll(".lane, .group").forEach((part) => {
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
      const sources = at ? sourcesOf(originOf(data, state, numbers, at)) : [];
      this.tables.light(at, sources,
        (input) => inputAddress(data, state, input) in state.edits);
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

    /** The exact share of the head in focus, for the token that the text follows. */
    share(head) {
      const { data, state, numbers } = this;
      const name = data.heads[head];
      if (!numbers.output) return fill(texts.columnsOf, { head: name, ...this.columns(head) });
      const row = state.selected?.stage === "output" ? state.selected.row
        : Math.max(0, state.order.indexOf(data.focus ?? 0));
      const list = (values) => values.map((x) => shown(x)).join(", ");
      return fill(texts.shareOf, {
        head: name, token: data.tokens[state.order[row]],
        share: list(numbers.head_contributions[head][row]), whole: list(numbers.output[row]),
      });
    }

    loss(head) {
      const { data, numbers } = this;
      const name = data.heads[head];
      if (!numbers.output) return fill(texts.lostColumns, { head: name, ...this.columns(head) });
      const sizes = numbers.head_contributions[head].flat().map(Math.abs);
      return fill(texts.lost, { head: name, amount: shown(Math.max(...sizes)) });
    }

    columns(head) {
      return { first: head * this.data.width + 1, last: (head + 1) * this.data.width };
    }

    nameOf(at) {
      const { label, title } = this.tables.cellAt(at);
      const words = { row: label.textContent, column: title.textContent };
      const name = fill(texts.places[at.stage], words);
      if (at.head === null || this.data.heads.length === 1) return name;
      return fill(texts.ofHead, { place: name, head: this.data.heads[at.head] });
    }

    effect(before, after, what) {
      const end = after.output ? "output" : "concat";
      const most = (stage) => {
        const now = after[stage].flat(2);
        return shown(Math.max(...before[stage].flat(2).map((x, i) => Math.abs(x - now[i]))));
      };
      return fill(texts.effect, {
        what, weights: most("weights"), end: texts.ends[end], outcome: most(end),
      });
    }

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

  const written = new WeakMap();

  function setText(element, text) {
    if (written.get(element) === text) return;
    written.set(element, text);
    element.textContent = text;
  }

  // ---- The element ----

  const names = (hash, name) => new URLSearchParams(hash.slice(1)).get("explore") === name;

  /** Make room out of sight, so that nobody sees the page jump: what opens moves all below it. */
  function unseen(open) {
    const { style } = document.body;
    style.visibility = "hidden";
    requestAnimationFrame(() => requestAnimationFrame(() => {
      open();
      requestAnimationFrame(() => { style.visibility = ""; });
    }));
  }

  class MhaExplorer extends HTMLElement {
    connectedCallback() {
      if (this.data) return;
      this.data = JSON.parse(this.querySelector("script").textContent);
      this.details = this.querySelector("details");
      this.details.addEventListener("toggle", () => this.begin());
      window.addEventListener("hashchange", () => {
        this.explorer?.leaveAddress();
        this.openFromAddress();
      });
      this.openFromAddress();
    }

    begin() {
      this.explorer ??= new Explorer(this.data, this.details);
      return this.explorer;
    }

    openFromAddress() {
      if (!names(location.hash, this.data.name)) return;
      if (this.details.open) this.showAddress();
      else unseen(() => this.showAddress());
    }

    showAddress() {
      this.details.open = true;
      this.begin().readAddress();
      this.scrollIntoView();
    }
  }

  customElements.define("mha-explorer", MhaExplorer);
  window.mhaExplorer = { fixed, parsed, short, shown };
})();
