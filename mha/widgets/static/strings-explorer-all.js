/* The texts of what "All numbers" opens. They come with their script. */
(function () {
  "use strict";

  Object.assign(window.mhaStrings.explorer, {
    back: "Back",
    changeTo: "Change to",
    empty: "Select a number to see where it comes from.",
    full: "in full {value}",
    help: "Arrow keys move in a table. Enter selects a number; Enter again goes to its sum. " +
      "Escape returns to the number before. Numbers with a dotted line below them can be changed.",
    isOff: "(switched off)",
    less: "Less by 0.1",
    lost: "Switched off: {head}. The output loses its share, up to {amount} in size.",
    lostColumns: "Switched off: {head}. Columns {first} to {last} are lost.",
    more: "More by 0.1",
    noKey: "{token} may attend to no key: its weights and its output are zero.",
    original: "It was {value} at first.",
    panel: "Where a number comes from",
    rules: {
      shifted: "e to the power of the scaled score less {shift}, the largest score of its row.",
      placed: "Embedding plus position.",
      turned_query: "Its pair, times cosine and sine.",
      turned_key: "Its pair, times cosine and sine.",
      query: "The embedding's row times a column of the query projection.",
      key: "The embedding's row times a column of the key projection.",
      value: "The embedding's row times a column of the value projection.",
      scores: "The query times the key, component by component.",
      scaled_scores: "The score times the scale.",
      withMask: "The score times the scale, plus what the mask adds.",
      exponentials: "e to the power of the scaled score.",
      row_sums: "The exponentials of the row, added.",
      weights: "The exponential divided by the sum of its row.",
      head_outputs: "Each value times its weight, added.",
      concat: "Copied from the output of its head.",
      output: "The concatenation's row times a column of the output projection.",
      head_contributions: "The head's output times its rows of the output projection.",
    },
    shares: "The heads' shares:",
    source: "the source prints {texts}",
    mapChoice: "Show in the maps",
    mapIs: "The maps show {map}.",
    prints: "Show what the source prints",
    printsPaused: "Show what the source prints (reset first)",
    printsOn: "What the source prints stands below its numbers.",
    printsOff: "What the source prints is hidden.",
  });
})();
