/* All heads as small maps, in the model's order or as far as a name holds of them; the chosen head in
   each sentence; and all of it as a table. */
(function () {
  "use strict";

  const { drawWeights, fill, inItalics, make, makeButton, set, setText } = window.mhaExplorer;
  const { SHAPES, cellsOf, holds, meanShare } = window.mhaHeads;
  const { percent, shown } = window.mhaNumbers;
  const texts = window.mhaStrings.heads;

  /** The keys that lead from one map to another. */
  const STEPS = { ArrowLeft: -1, ArrowRight: 1 };

  /** How many heads there are. */
  const COUNT = window.mhaHeads.layers * window.mhaHeads.heads;

  // ---- How far the name holds ----

  /** Of each head, how far the name holds in each sentence, and on average.
      @param {any} view @returns {{ held: any[], mean: number }[]} */
  function tested({ mapOf, pair, sentences, state: { name } }) {
    const cells = sentences.map((/** @type {any} */ { tokens }) => cellsOf(name, tokens, pair));
    return Array.from({ length: COUNT }, (_, head) => {
      // Without a name there is nothing to hold.
      const held = name ? cells.map((/** @type {any} */ those, /** @type {number} */ i) =>
        holds(name, those, mapOf(i, head))) : [];
      return { held, mean: meanShare(held) };
    });
  }

  /** The heads in the order in which they are shown: those first of which the name holds most.
      @param {any} view @returns {number[]} */
  function ordered({ tested: { results }, state: { all, name, sentence } }) {
    const heads = results.map((/** @type {any} */ _, /** @type {number} */ head) => head);
    if (!name) return heads;
    const worth = results.map((/** @type {any} */ { held, mean }) => (all ? mean : held[sentence]?.share ?? -1));
    return heads.sort((/** @type {number} */ a, /** @type {number} */ b) => worth[b] - worth[a] || a - b);
  }

  const shareOf = (/** @type {any} */ held) => (held ? percent(held.share) : texts.none);

  const meanOf = (/** @type {number} */ mean) => (Number.isNaN(mean) ? texts.none : percent(mean));

  const rowsOf = (/** @type {any} */ held) => (held ? fill(texts.obeyed, held) : texts.none);

  // ---- All heads ----

  /** @param {any} view */
  function gridOf(view) {
    const { parts } = view;
    // Those come first of which the name holds most.
    parts.name = make("select", { onchange: () => view.change({ name: parts.name.value }) },
      ...Object.keys(texts.names).map((name) => make("option", { value: name })));
    parts.all = make("input", { type: "checkbox", onchange: () => view.change({ all: parts.all.checked }) });
    parts.rule = make("p", { className: "soft heads-rule" });
    parts.verdict = make("p", { className: "heads-verdict", role: "status" });
    parts.sides = texts.sideNames.map((/** @type {string} */ name, /** @type {number} */ side) =>
      makeButton(name, () => view.show({ side }), { className: `reading-button head-${side}` }));
    parts.slots = Array.from({ length: COUNT }, (_, slot) => slotOf(view, slot));
    parts.grid = make("div", { className: "heads-grid head-0", role: "radiogroup", "aria-label": texts.maps },
      ...parts.slots.map((/** @type {any} */ { node }) => node));
    parts.more = makeButton(fill(texts.more, { n: parts.slots.length }), () => openAll(view),
      { className: "reading-button heads-more" });
    parts.grid.addEventListener("keydown", (/** @type {KeyboardEvent} */ event) => stepFrom(view, event));
    return make("div", { className: "heads-all" },
      make("div", { className: "model-controls" }, make("label", {}, `${texts.name} `, parts.name)), parts.rule,
      parts.verdict,
      make("div", { className: "model-controls" }, make("label", {}, parts.all, ` ${texts.all}`),
        make("span", { className: "heads-sides", role: "group", "aria-label": texts.side },
          make("span", { className: "soft" }, texts.side), ...parts.sides)), parts.grid, parts.more);
  }

  /** A narrow page has the first of them, and the chosen ones, until all are asked for. @param {any} view */
  function openAll({ parts }) {
    parts.grid.classList.add("open");
    parts.more.hidden = true;
  }

  /** @param {any} view @param {number} slot */
  function slotOf(view, slot) {
    const canvas = make("canvas");
    const [name, worth] = [make("span"), make("span", { className: "soft" })];
    const node = makeButton("", () => view.chooseHead(view.order[slot]), { role: "radio", className: "heads-map" });
    node.append(canvas, name, worth);
    return { node, canvas, name, worth };
  }

  /** A map follows at once when it was drawn for the first time.
      @param {any} view @param {any} on what it is drawn @param {Matrix} weights */
  function draw({ color }, on, weights) {
    if (on.weights !== weights || on.color !== color) drawWeights(on.canvas, weights, color);
    Object.assign(on, { weights, color });
  }

  /** What draws each map for the first time, or in other colours. @param {any} view @returns {(() => void)[]} */
  function drawsOf(view) {
    const { lines, slots } = view.parts;
    return [...slots.map((/** @type {any} */ slot, /** @type {number} */ i) =>
      () => draw(view, slot, view.mapOf(view.state.sentence, view.order[i]))),
    ...lines.map((/** @type {any} */ line, /** @type {number} */ i) =>
      () => draw(view, line, view.mapOf(i, view.state.heads[0])))];
  }

  /** Arrows lead to the next map and choose it, as among radio buttons.
      @param {any} view @param {KeyboardEvent} event */
  function stepFrom(view, event) {
    const { slots } = view.parts;
    const from = slots.findIndex((/** @type {any} */ { node }) => node === document.activeElement);
    const columns = slots.filter((/** @type {any} */ { node }) => node.offsetTop === slots[0].node.offsetTop).length;
    const by = { ...STEPS, ArrowUp: -columns, ArrowDown: columns }[event.key];
    if (!by || !slots[from + by]) return;
    event.preventDefault();
    openAll(view);
    slots[from + by].node.focus();
    view.chooseHead(view.order[from + by]);
  }

  /** @param {any} view */
  function paintGrid(view) {
    const { order, parts, tested: { results }, state: { all, heads, key, name, own, place, sentence, side } } = view;
    parts.name.value = name;
    [...parts.name.options].forEach((option) => setText(option, fill(texts.names[option.value],
      { from: view.pair[0], to: view.pair[1] })));
    parts.all.checked = all;
    parts.all.disabled = !name; // without one there is nothing to take over all
    const rule = fill(own && !name ? texts.ownRule : texts.rules[name],
      { from: view.pair[0], to: view.pair[1], others: view.others() })
      + (name ? ` ${fill(texts.sorted, { where: texts.where[Number(all)] })}` : "");
    if (view.rule !== rule) parts.rule.replaceChildren(...inItalics(rule));
    view.rule = rule;
    parts.sides.forEach((/** @type {any} */ node, /** @type {number} */ i) => set(node, "aria-pressed", String(i === side)));
    parts.slots.forEach((/** @type {any} */ slot, /** @type {number} */ i) => {
      const head = order[i];
      const weights = view.mapOf(sentence, head);
      if (slot.color) draw(view, slot, weights);
      const { held, mean } = results[head];
      const worth = percentOf(!name ? (own ? NaN : weights[place][key]) : all ? mean : held[sentence]?.share ?? NaN);
      setText(slot.name, view.brief(head));
      setText(slot.worth, worth);
      set(slot.node, "aria-label", `${view.nameOf(head)} ${worth}`);
      set(slot.node, "aria-checked", String(head === heads[side]));
      slot.node.tabIndex = head === heads[side] ? 0 : -1;
      set(slot.node, "class", ["heads-map", view.known.includes(head) ? "whole" : "",
        ...heads.flatMap((/** @type {number} */ chosen, /** @type {number} */ j) => (chosen === head ? [`is-${j}`] : []))].join(" "));
    });
    paintVerdict(view);
  }

  /** Without decimals: there is little room. @param {number} share */
  const percentOf = (share) => (Number.isNaN(share) ? texts.none : percent(share, 0));

  /** What the name is worth for the first head, of the reader's own order too. @param {any} view */
  function paintVerdict(view) {
    const { pair, parts, state: { heads: [head], name, own, sentence }, tested: { results }, words } = view;
    const { held, mean } = results[head];
    const said = (/** @type {any} */ found) => (found ? fill(SHAPES[name] ? texts.foundShape : texts.found,
      { ...found, share: shareOf(found), rows: fill(texts.rows[Number(found.rows > 1)], found) }) : texts.silent);
    const weights = own && name && view.weightsIn(head);
    setText(parts.verdict, !name ? "" : fill(weights ? texts.ownVerdict : texts.verdict,
      { head: view.brief(head), found: said(held[sentence]), mean: meanOf(mean),
        asked: weights ? said(holds(name, cellsOf(name, words, pair), weights)) : "" }));
  }

  // ---- One head in all sentences ----

  /** @param {any} view */
  function sentencesOf(view) {
    const { parts } = view;
    parts.listTitle = make("p", { className: "model-title" });
    parts.lines = view.sentences.map((/** @type {any} */ { text }, /** @type {number} */ i) => {
      const canvas = make("canvas", { onclick: (/** @type {MouseEvent} */ event) => atPoint(view, i, event) });
      const button = makeButton(text, () => view.chooseSentence(i), { className: "heads-sentence" });
      const [share, rows] = [make("td"), make("td")];
      const node = make("tr", {}, make("td", {}, canvas), make("th", { scope: "row" }, button), share, rows);
      return { node, canvas, button, share, rows };
    });
    parts.columns = texts.columns.map((/** @type {string} */ text) => make("th", { scope: "col" }, text));
    return make("div", { className: "heads-list head-0" }, parts.listTitle, make("table", {},
      make("thead", {}, make("tr", {}, ...parts.columns)),
      make("tbody", {}, ...parts.lines.map((/** @type {any} */ { node }) => node))));
  }

  /** Who points at a cell chooses its sentence, its word and its key.
      @param {any} view @param {number} sentence @param {MouseEvent} event */
  function atPoint(view, sentence, event) {
    const { height, left, top, width } = event.target instanceof Element
      ? event.target.getBoundingClientRect() : new DOMRect();
    const n = view.sentences[sentence].tokens.length;
    const at = (/** @type {number} */ share) => Math.min(n - 1, Math.max(0, Math.floor(share * n)));
    view.change({ sentence, own: null, place: at((event.clientY - top) / height), key: at((event.clientX - left) / width) });
  }

  /** @param {any} view */
  function paintSentences(view) {
    const { mapOf, parts, state: { heads: [head], name, sentence }, tested: { results } } = view;
    setText(parts.listTitle, fill(texts.sentences, view.placeOf(head)));
    setText(parts.columns[2], name ? texts.columns[2] : fill(texts.mostOf, { word: view.pair[0] }));
    parts.columns[3].hidden = !name;
    parts.lines.forEach((/** @type {any} */ line, /** @type {number} */ i) => {
      if (line.color) draw(view, line, mapOf(i, head));
      set(line.button, "aria-pressed", String(i === sentence));
      set(line.button, "aria-label", fill(texts.chooseSentence, { sentence: view.sentences[i].text }));
      const held = results[head].held[i];
      setText(line.share, name ? shareOf(held) : mostOf(view, i, head));
      setText(line.rows, name ? rowsOf(held) : "");
    });
  }

  /** Whom the chosen word, where a sentence has it, gives most in a head.
      @param {any} view @param {number} sentence @param {number} head */
  function mostOf({ mapOf, pair, sentences }, sentence, head) {
    const { tokens } = sentences[sentence];
    const row = mapOf(sentence, head)[tokens.indexOf(pair[0])];
    if (!row) return texts.none;
    const most = Math.max(...row);
    return fill(texts.most, { to: tokens[row.indexOf(most)], weight: shown(most, 3) });
  }

  // ---- The table ----

  /** @param {any} view */
  function tableOf(view) {
    const { parts } = view;
    parts.table = make("div", { className: "heads-table", tabIndex: 0, role: "group", "aria-label": texts.table });
    parts.fold = make("details", { className: "fold", ontoggle: () => paintTable(view) },
      make("summary", {}, texts.table), parts.table);
    return parts.fold;
  }

  /** Written when it is open: nobody else reads it. @param {any} view */
  function paintTable(view) {
    const { order, parts, sentences, state: { name }, tested: { results } } = view;
    if (!parts.fold.open) return;
    const text = (/** @type {number} */ head, /** @type {number} */ i) => {
      if (!name) return mostOf(view, i, head);
      const held = results[head].held[i];
      return held ? `${percent(held.share)}, ${rowsOf(held)}` : texts.none;
    };
    const title = name ? fill(texts.names[name], { from: view.pair[0], to: view.pair[1] })
      : fill(texts.mostOf, { word: view.pair[0] });
    const column = (/** @type {string} */ words) => make("th", { scope: "col" }, words);
    parts.table.replaceChildren(make("table", {},
      make("caption", {}, fill(texts.tableName, { name: title })),
      make("thead", {}, make("tr", {}, column(texts.tableHead), ...name ? [column(texts.mean)] : [],
        ...sentences.map((/** @type {any} */ sentence) => column(sentence.text)))),
      make("tbody", {}, ...order.map((/** @type {number} */ head) => make("tr", {},
        make("th", { scope: "row" }, view.brief(head)),
        ...name ? [make("td", {}, meanOf(results[head].mean))] : [],
        ...sentences.map((/** @type {any} */ _, /** @type {number} */ i) => make("td", {}, text(head, i))))))));
  }

  Object.assign(window.mhaHeads, { drawsOf, gridOf, ordered, paintGrid, paintSentences, paintTable, sentencesOf, tableOf,
    tested });
})();
