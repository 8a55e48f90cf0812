/** The texts of what a model and a layer are both looked at with, apart from their code. */

export const looking = {
  map: "Map of {head}: each row is a word that looks, each column a word before it. Choose a row with the arrow keys.",
  square: "{row} → {column}: {weight}",
  origin: "Where it comes from",
  hint: "Choose any number to see where it comes from.",
  back: "Back",
  close: "Close",
  rest: "{n} more, together {sum}",
};
