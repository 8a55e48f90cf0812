/** Texts of the figure of two layers on letters. */

export const letters = {
  title: "Change a letter, or remove the first layer. Does the last token still find the letter after an earlier copy of it?",
  letter: "Letter {n}",
  first: "First layer: which token is before this one?",
  second: "Second layer: which token is after an equal one?",
  isOn: "the first layer is on",
  after: "after {letter}",
  afterNone: "after none",
  guess: "What comes next?",
  noLetter: "no letter",
  reset: "Reset",
  copy: "Share",
  finds: "The last {last} attends to {found}, which comes after {article} {last}: the guess is {guess}, with {share}.",
  itself: "The last {last} itself comes after {article} {last}: it attends to itself, and the guess is {guess}, with {share}.",
  both: "Two tokens come after {article} {last}, and both get a large weight. The guess is {guess}, with {share}.",
  none: "No token that it may attend to comes after {article} {last}: the weights are nearly even, and the second layer finds nothing.",
  off: "Without the first layer no vector contains the token before it: the weights are even, the second layer finds nothing, " +
    "and a letter's bar is only its share of the text.",
  attends: "{layer}: {token} gives {key} {share}",
};
