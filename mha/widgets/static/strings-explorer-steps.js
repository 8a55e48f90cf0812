/* The texts of the calculation of one query, step by step. They come with its script. */
(function () {
  "use strict";

  Object.assign(window.mhaStrings.explorer, {
    firstStep: "Before the first step: the query of {token}, and every key and value. What is not " +
      "computed yet is covered.",
    stepOf: "{name}: {line}",
  });
})();
