/* Where a number of the model comes from: what it is called, and in which block it is computed. */
(function () {
  "use strict";

  const { fill } = window.mhaExplorer;
  const { homeOf, originIn, sharesAt } = window.mhaModel;
  const texts = window.mhaStrings.model;
  const { places: placeTexts } = window.mhaStrings.explorer;

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

  /** What the line of arithmetic knows of the model. @param {any} view */
  const aboutOf = (view) => ({
    name: (/** @type {any} */ { block, place }) => nameOf(view, block, place),
    origin: (/** @type {any} */ { block, place }) => {
      if (["parts", "shares"].includes(place.stage)) sharesAt(view.found, place.row ?? 0);
      return originIn(view.found, block, place);
    },
    given: (/** @type {any} */ { place }) => (place.stage === "embeddings"
      ? fill(texts.wordOf, { word: view.words[view.state.words[place.row]] }) : texts.given),
    source: (/** @type {any} */ from, /** @type {Operand} */ operand, /** @type {any} */ { block }) =>
      homeOf(from.blocks.get(operand) ?? block, /** @type {Place} */ (operand.place)),
  });

  Object.assign(window.mhaModel, { aboutOf });
})();
