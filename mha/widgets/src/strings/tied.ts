/** Texts for numbers of the page's sentences that follow the strip. */

export const tied = {
  printed: "In the book: {text}",
  now: " (now {text})",
  notNow: " (no longer)",
  off: " (off)",
  strip: "The strip, small",
  figure: "{number}: ",
  asks: " as query",
  ofHead: " as query, {head}",
  isOff: "{title} (off)",
  up: "To the strip",
  away: "Hide the small strip",
  changed: "Marked ∗: it follows your change. Marked °: the book’s numbers.",
  yours: "These are your numbers. Marked °: the book’s.",
  bookShort: "°: the book’s",
  book: "°",
  ofBook: "The book’s numbers",
  reset: "Reset",
};
