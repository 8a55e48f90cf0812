/* Everything that the boxes for computing a number say while they are used. A translation changes
   this file. */
(function () {
  "use strict";
  /** @type {Pick<Strings, "exercises">} */
  const strings = {
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
  };
  window.mhaStrings = Object.assign(window.mhaStrings || {}, strings);
})();
