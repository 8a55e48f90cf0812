/** Every text that numbers of the page's own sentences need once they follow the strip. */

export const tied = {
  printed: "In the book: {text}",
  now: " (now {text})",
  notNow: " (no longer)",
  off: " (off)",
  strip: "The strip, small",
  figure: "{number}: ",
  asks: " asks",
  ofHead: " asks, {head}",
  isOff: "{title} (off)",
  up: "To the strip",
  away: "Put the small strip away",
  changed: "Marked ∗: it follows your change.",
  yours: "These are your numbers.",
  reset: "Reset",
};
