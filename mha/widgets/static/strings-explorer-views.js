/* The texts of what stands above a strip, and the widths. They come with their script. */
(function () {
  "use strict";

  Object.assign(window.mhaStrings.explorer, {
    heated: "temperature {value}, no mask",
    heatedMasked: "temperature {value}, masked",
    plain: "temperature 1, no mask",
    unheated: "Move the temperature: the bars under it stand here.",
    unmasked: "Tick a word: the bars without it stand here.",
    planeKeys: "The query and the keys: a score is the key’s foot on the query’s line, times the " +
      "query’s length",
    planeQuery: "Query of {token}, {x}, {y}: drag it, or use the arrow keys",
    planeValues: "The values: the output stays inside their polygon",
    width: "Width of queries and keys",
    widthMost: "largest weight {most}",
    widthRaw: "without the root: scores spread by {spread}",
    widthScaled: "divided by √{width}: spread by {spread}",
  });
})();
