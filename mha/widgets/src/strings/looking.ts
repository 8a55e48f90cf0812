/** Texts shared by the figures of a model and of a layer. */

export const looking = {
  map: "Map of {head}: each row is a query, each column a key. Choose a row with the arrow keys.",
  square: "{row} → {column}: {weight}",
  origin: "Where it comes from",
  hint: "Choose any number to see where it comes from.",
  back: "Back",
  close: "Close",
  rest: "{n} more, together {sum}",
};
