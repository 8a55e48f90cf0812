/** The texts of the cache that fills and of the tiles over scores. They come with their scripts. */

export const stepsShared = {
  inAddress: "The link stands in the address bar.",
};

export const cache = {
  write: "Write",
  append: "Write {token}",
  full: "There is room for {most} tokens; undo or reset to write another text.",
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
    "Its key and its value are put behind the others. The cache keeps {n} · ({k} + {v}) = {kept} " +
      "numbers.",
    "The query of {token} meets every key, {n} in all: {n} · {k} = {meet} multiplications for the " +
      "scores, and the softmax makes a row of weights of them.",
    "The weights mix the values, {n} in all: {n} · {v} = {mix} multiplications. The query has done " +
      "its work and is not kept.",
  ],
  stepsAgain: [
    "{token} is written, and nothing was kept. The queries, keys and values of all tokens are " +
      "computed: {n} · {project} = {projectAgain} multiplications.",
    "Keys and values are there again, {n} of each. Only those of {token} are new.",
    "Every query meets every key: {n} · {n} · {k} = {meetAgain} multiplications. Only the row of " +
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
  kept: "In the cache: {n} tokens · ({k} + {v}) = {kept} numbers, {bytes} bytes at two a number, for " +
    "each head of each layer.",
  keptAgain: "Kept: nothing. Each token begins anew with all that were written.",
};

export const tiles = {
  title: "Press Play: a tile reads the scores, which you can drag. At the end each output is the one in small print, of the softmax at once.",
  size: "Queries and keys of a block",
  plain: "subtract nothing",
  scores: "scaled scores",
  kept: "kept for each query, and the output of the softmax at once",
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
  first: "Queries “{queries}”, keys “{keys}”. The largest score of “{query}” is {new}. Nothing was kept " +
    "before.",
  plainLook: "Queries “{queries}”, keys “{keys}”. Nothing is subtracted, so α stays 1.",
  add: "For “{query}”: ℓ = {total}, and o₁ = {mixture}.",
  divide: "All keys are read. The output of “{query}” begins with o₁ ÷ ℓ = {line}.",
  tooSmall: "Every exponential of “{query}” is 0, too small for the machine. The sum is 0, and the output " +
    "is lost.",
  other: "The softmax at once gives another output: a number differs by {most}.",
  same: "The softmax at once gives the same: no number differs by more than {most}.",
  lost: "e^{score} is larger than any number that the machine has. The sum is infinite, and the output " +
    "is lost. With the largest score subtracted no exponential is above 1.",
  held: "In memory: {tile} scores of {all}, and for each of {rows} queries 2 + {width} numbers.",
  heldNone: "In memory: none of {all} scores.",
};
