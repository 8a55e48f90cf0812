/** Every text of the two layers on letters. */

export const letters = {
  title: "Change a letter, or take the first layer away. Does the last token still find what came after one like it?",
  letter: "Letter {n}",
  first: "First layer: who stood before me?",
  second: "Second layer: who stood after one like me?",
  isOn: "the first layer is there",
  after: "after {letter}",
  afterNone: "after none",
  guess: "What comes next?",
  noLetter: "no letter",
  reset: "Reset",
  copy: "Share",
  finds: "The last {last} finds {found}, which stood after {article} {last}: the guess is {guess}, with {share}.",
  itself: "The last {last} stood after {article} {last} itself: it finds itself, and the guess is {guess}, with {share}.",
  both: "Two tokens stood after {article} {last}, and each gets its share. The guess is {guess}, with {share}.",
  none: "No token that it may see stood after {article} {last}: the weights are nearly even, and the second layer has found nothing.",
  off: "Without the first layer no token knows what stood before it: the weights are even, the second layer finds nothing, " +
    "and a letter's bar is only its share of the text.",
  attends: "{layer}: {token} gives {key} {share}",
};
