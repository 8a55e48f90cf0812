/** Texts of the figures of a cache and of attention by blocks, loaded with their scripts. */

export const stepsShared = {
  inAddress: "The link is in the address bar.",
};

export const cache = {
  write: "Write",
  append: "Write {token}",
  full: "There is room for {most} tokens; undo or reset to write other tokens.",
  again: "without a cache",
  slots: "The cache, token by token",
  newest: "new token",
  nothing: "nothing yet",
  columns: { token: "token", query: "query", key: "key", weight: "weight", value: "value",
    output: "output" },
  start: "Nothing is written yet: the cache is empty.",
  steps: [
    "{token} is written. Its query, its key and its value are computed: {d} · ({k} + {k} + {v}) " +
      "= {project} multiplications.",
    "Its key and its value are appended to the cache, which holds {n} · ({k} + {v}) = {kept} " +
      "numbers.",
    "The query of {token} is multiplied by all {n} keys: {n} · {k} = {meet} multiplications for the " +
      "scores, from which the softmax computes a row of weights.",
    "The weights mix all {n} values: {n} · {v} = {mix} multiplications. The query is no longer " +
      "needed and is not stored.",
  ],
  stepsAgain: [
    "{token} is written, and nothing was stored. The queries, keys and values of all tokens are " +
      "computed: {n} · {project} = {projectAgain} multiplications.",
    "All {n} keys and all {n} values are computed again. Only those of {token} are new.",
    "Every query is multiplied by every key: {n} · {n} · {k} = {meetAgain} multiplications. Only the row of " +
      "{token} is new.",
    "Every row of weights mixes the values: {n} · {n} · {v} = {mixAgain} multiplications. Only the " +
      "output of {token} is new.",
  ],
  counts: "Multiplications",
  this: "for this token",
  all: "for the text so far",
  withCache: "with the cache",
  without: "without",
  formula: "{project} + {each} · {n} = {total}",
  formulaAgain: "{n} · {with} = {total}",
  kept: "In the cache: {n} tokens · ({k} + {v}) = {kept} numbers, {bytes} bytes at two per number, for " +
    "each head of each layer.",
  keptAgain: "Nothing is stored. Each new token computes all rows again.",
};

export const tiles = {
  title: "Press Play: blocks of scores are read one by one; you can drag a score. At the end each output equals the one in small print, from one softmax over all scores.",
  size: "Queries and keys of a block",
  plain: "subtract nothing",
  scores: "scaled scores",
  kept: "stored for each query, and the output of one softmax over all scores",
  score: "Score of {query} with {key}",
  value: "value {n}",
  largest: "largest",
  subtracted: "subtracted",
  factor: "α",
  total: "ℓ",
  mixture: "o{n}",
  output: "÷ ℓ",
  atOnce: "at once",
  start: "Nothing is read yet: the largest score is −∞, and ℓ and o are 0, for each query.",
  look: "Queries “{queries}”, keys “{keys}”. The largest score of “{query}” was {old} and is {new}: " +
    "α = {line}.",
  first: "Queries “{queries}”, keys “{keys}”. The largest score of “{query}” is {new}. Nothing was stored " +
    "before.",
  plainLook: "Queries “{queries}”, keys “{keys}”. Nothing is subtracted, so α stays 1.",
  add: "For “{query}”: ℓ = {total}, and o₁ = {mixture}.",
  divide: "All keys are read. The output of “{query}” begins with o₁ ÷ ℓ = {line}.",
  tooSmall: "Every exponential of “{query}” is 0, too small for float64. The sum is 0, and the output " +
    "is lost.",
  other: "One softmax over all scores gives another output: a number differs by {most}.",
  same: "One softmax over all scores gives the same: no number differs by more than {most}.",
  lost: "e^{score} is larger than any float64 number. The sum is infinite, and the output " +
    "is lost. With the largest score subtracted no exponential is above 1.",
  held: "In memory: {tile} scores of {all}, and for each of {rows} queries 2 + {width} numbers.",
  heldNone: "In memory: none of {all} scores.",
};
