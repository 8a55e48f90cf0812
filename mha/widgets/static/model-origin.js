/* Where a number of the model comes from: its name, and a line of arithmetic whose numbers lead on. */
(function () {
  "use strict";

  const { LAYOUTS, fill, inBrackets, make, makeButton, setText } = window.mhaExplorer;
  const { evaluate } = window.mhaOrigins;
  const { chain, short } = window.mhaNumbers;
  const { homeOf, originIn, sharesAt } = window.mhaModel;
  const texts = window.mhaStrings.model;
  const { places: placeTexts } = window.mhaStrings.explorer;

  /** The layouts of an explorer know no temperature here. @type {any} */
  const PLAIN = { temperature: 1 };

  /** What has a column for each word of the vocabulary. */
  const OF_WORDS = ["unembedding", "logits", "cooled_logits", "word_exponentials", "probabilities", "shares"];

  /** What stands behind both blocks. */
  const AT_THE_END = [...OF_WORDS, "word_sums", "stream_means", "stream_spreads", "stream_normed", "parts"];

  /** What a number is called. @param {any} view @param {number} block @param {Place} place */
  function nameOf(view, block, place) {
    const { columns, rows } = window.mhaStages[place.stage];
    const word = (/** @type {number} */ i) => `${view.words[view.state.words[i]]} (${i + 1})`;
    const part = (/** @type {number} */ i) => String(i + 1);
    const column = OF_WORDS.includes(place.stage) ? view.words[place.column]
      : columns === "keys" ? word(place.column) : part(place.column ?? 0);
    const isMatrix = rows && rows !== "places";
    const head = ["parts", "shares"].includes(place.stage) ? texts.partNames[place.head]
      : String((place.head ?? 0) + 1);
    const what = fill(texts.places[place.stage] ?? placeTexts[place.stage],
      { row: isMatrix ? part(place.row) : word(place.row), column, head });
    if (AT_THE_END.includes(place.stage)) return what;
    const where = place.head === null || ["parts", "shares"].includes(place.stage)
      ? String(block + 1) : `${block + 1}, head ${place.head + 1}`;
    return fill(place.stage === "stream" ? texts.after : texts.inBlock, { what, block: where });
  }

  /** Where numbers come from: below all else, and in sight at the foot of the screen while it is asked.
      @param {any} view */
  function originOf(view) {
    const { parts } = view;
    parts.back = makeButton(texts.back, () => view.goBack(), { className: "reading-button" });
    parts.close = makeButton(texts.close, () => view.goBack(true), { className: "reading-button" });
    parts.what = make("p", { className: "model-what", role: "status" });
    parts.line = make("p", { className: "model-line" });
    parts.origin = make("div", { className: "model-origin", role: "group", "aria-label": texts.origin },
      make("div", { className: "model-asked" }, parts.what, parts.back, parts.close), parts.line);
    return parts.origin;
  }

  /** The arithmetic of what is asked; who has chosen a number in it by keyboard stays there.
      @param {any} view */
  function paintOrigin(view) {
    const { line, back } = view.parts;
    const isInside = line.contains(document.activeElement);
    paintAsked(view);
    if (isInside) (line.querySelector("button") ?? back).focus({ preventScroll: true });
    line.scrollTop = 0;
  }

  /** @param {any} view */
  function paintAsked(view) {
    const { parts } = view;
    const { at } = view.state;
    parts.origin.classList.toggle("open", Boolean(at));
    parts.back.hidden = !view.trail.length;
    parts.close.hidden = !at;
    if (!at) {
      setText(parts.what, texts.hint);
      parts.line.replaceChildren();
      return;
    }
    if (["parts", "shares"].includes(at.place.stage)) sharesAt(view.found, at.place.row ?? 0);
    const from = originIn(view.found, at.block, at.place);
    setText(parts.what, nameOf(view, at.block, at.place));
    if (from.operation === "given") {
      const isWord = at.place.stage === "embeddings";
      parts.line.replaceChildren(`${short(from.terms[0][0].value)} `, isWord ? fill(texts.wordOf,
        { word: view.words[view.state.words[at.place.row]] }) : texts.given);
      return;
    }
    writeLine(view, from, at.block);
  }

  /** A line of arithmetic whose numbers lead on.
      @param {any} view @param {any} from @param {number} block */
  function writeLine(view, from, block) {
    /** @type {Operand[][]} */
    const terms = from.terms.filter((/** @type {Operand[]} */ term) =>
      term.every(({ value }) => Number.isFinite(value)));
    /** @type {any[][]} */
    const items = from.operation === "sum" ? terms
      : /** @type {any} */ (LAYOUTS)[from.operation]({ ...from, terms }, PLAIN);
    /** @type {any[]} */
    const nodes = [];
    /** @type {string[]} */
    const texts_ = [];
    items.forEach((parts, i) => {
      texts_.push(parts.map((part) =>
        (typeof part === "object" ? inBrackets(short(part.value)) : part)).join(" "));
      const term = parts.flatMap((part) => [typeof part === "object" && part.place
        ? operandOf(view, part, from.blocks.get(part) ?? block)
        : typeof part === "object" ? inBrackets(short(part.value)) : part, " "]);
      nodes.push(make("span", { className: "model-term" }, ...term, i < items.length - 1 ? "+" : ""), " ");
    });
    const result = short(evaluate(from));
    const line = chain(texts_.join(" + "), result);
    view.parts.line.replaceChildren(...nodes, line.slice(line.length - result.length - 2));
  }

  /** @param {any} view @param {Operand} operand @param {number} inBlock */
  function operandOf(view, { place, value }, inBlock) {
    const { block, place: where } = homeOf(inBlock, /** @type {Place} */ (place));
    return makeButton(inBrackets(short(value)), () => view.ask(block, where),
      { className: "number", title: nameOf(view, block, where) });
  }

  Object.assign(window.mhaModel, { originOf, paintOrigin });
})();
