/* Everything that the scripts for reading and exercises say. A translation changes this file. */
(function () {
  "use strict";
  window.mhaStrings = Object.assign(window.mhaStrings || {}, {
    steps: {
      begin: "Read in steps",
      resume: "Continue at step {step} of {total}",
      bar: "Steps",
      previous: "Previous step",
      next: "Next step",
      whole: "Whole page",
      place: "Step {step} of {total}",
      progress: "Steps read",
      keys: "The left and right arrow keys turn the steps.",
      wholeShown: "The whole page is shown.",
    },
    exercises: {
      right: "Right. The answer is {answer}.",
      near: "Close: this is a slip of rounding. Keep all digits until the last step. {rounding}",
      wrong: "Not yet. Check your sum, or take a hint.",
      unreadable: "This cannot be read as a number. Write it like 0.25, −1.5 or 3/7.",
      empty: "Enter a number first.",
      fresh: "New numbers, set {count}. They are not those of this page.",
      noMoreHints: "There are no more hints. The worked answer is below.",
      done: "answered",
    },
    quiz: {
      right: "Right.",
      wrong: "Not yet. Read the note on your choice and try again.",
      incomplete: "Not yet: what you chose is right, but it is not all.",
      mixed: "Not yet: not everything that you chose is right.",
      empty: "Choose an option first.",
      done: "answered",
    },
    progress: {
      questions: "{done} of {total}",
      questionsInWords: "{done} of {total} questions answered",
      steps: "{done}/{total} steps",
      stepsInWords: "{done} of {total} steps read",
      region: "Your progress",
      clear: "Clear my progress",
      confirm: "Clear your progress on all pages?",
      yes: "Clear it",
      no: "Keep it",
      cleared: "Your progress is cleared.",
    },
  });
})();
