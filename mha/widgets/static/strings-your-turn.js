/* Everything that the boxes for computing numbers say while they are used. A translation changes
   this file. */
(function () {
  "use strict";
  /** @type {Pick<Strings, "exercises">} */
  const strings = {
    exercises: {
      right: "Right",
      notYet: "Not yet",
      answer: "The answer is {answer}.",
      allRight: "Right: all of them.",
      some: "{right} of {total} right.",
      near: "Close: this is a slip of rounding. Keep all digits until the last step. {rounding}",
      wrong: "Check your sum, or take a hint.",
      unreadable: "“{text}” cannot be read as a number. Write it like 0.25, −1.5, 3/7 or e^1/3.7.",
      empty: "Enter a number first.",
      fresh: "These are other numbers than those of this page.",
      noMoreHints: "There are no more hints. The worked answer is below.",
      reached: "Right, that does it: {weights}.",
      notReached: "Not yet. With these numbers: {weights}.",
      done: "answered",
      mistakes: {
        percent: "That is the number in percent; a share lies between 0 and 1.",
        share: "That is the share; percent is a hundred times as much.",
        sign: "The size is right, but look at the sign again.",
        signs: "A product of one negative number is negative: look at the signs.",
        "one-term": "That is one product alone: work out the others too, and add all of them.",
        "no-root": "The scores are not scaled here: divide by the root of the key's width first.",
        "no-scale": "That is the score itself: it still has to be scaled.",
        "by-width": "That divides by the key's width; divide by its square root.",
        "no-mask": "That leaves out the mask's term, which is added last.",
        "no-exponential": "That uses the score itself: take its exponential first.",
        "not-divided": "That is the exponential: divide it by the sum of the row's exponentials.",
        "no-quotient": "That is the mixture: divide it by the sum.",
        "no-square-root": "That is the mean square: take its root.",
        "not-averaged": "Divide by how many numbers there are.",
        "no-spread": "Divide by the spread.",
        "not-cut": "ReLU makes a negative number zero.",
        "left-out": "One exponential of the row is missing from this sum.",
        "other-key": "That is the number for another key: look again at whom the question names.",
        exchanged: "Rows and columns are exchanged: a query is a row, a key a column.",
        "other-row": "That is the number of another token: look again at whose row is asked for.",
        "other-component": "That is another component: look again at the column asked for.",
        "other-head": "That is the number of another head: each head has matrices of its own.",
        "last-digit": "Only the last digit is off: add up once more.",
      },
    },
  };
  window.mhaStrings = Object.assign(window.mhaStrings || {}, strings);
})();
