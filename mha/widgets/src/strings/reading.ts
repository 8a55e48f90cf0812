/**
 * Texts of reading in steps, quizzes, progress and folded code. A translation changes this file.
 */

export const steps = {
  begin: "Read in steps",
  resume: "Continue at step {step} of {total}",
  bar: "Steps",
  previous: "Previous step",
  next: "Next step",
  whole: "Whole page",
  place: "Step {step} of {total}",
  progress: "Steps read",
  keys: "The left and right arrow keys change the step.",
  wholeShown: "The whole page is shown.",
};

export const quiz = {
  right: "Right.",
  wrong: "Not yet. Read the note on your choice and try again.",
  incomplete: "Not yet: your choice is right, but not complete.",
  mixed: "Not yet: a part of your choice is not right.",
  empty: "Choose an option first.",
  predicted: "Right. The result is below.",
  mispredicted: "Not so. The result is below.",
  done: "answered",
};

export const progress = {
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
};

export const code = {
  label: "Code",
  show: "Show all code on every page",
  fold: "Hide all code",
};
