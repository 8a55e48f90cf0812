/** Every text of a large layer, apart from its code. */

export const layer = {
  title: "What does {token} attend to? {head}, one of {heads}.",
  tokens: "Choose the query",
  word: "Query {n}: {word}",
  head: "Head {n}",
  most: "{token} ({n}), {weight}",
  keys: "One query in one head, key by key",
  key: "key",
  share: "share of output",
  sum: "sum",
  help: "The share of the output is how far a token moves this head's output z along z itself: " +
    "its weight times v·z, over z·z. A weight is attention; a share can be negative. Shares add up to 1.",
  shareOf: "Share of {token} ({n}) in the output of this head",
  given: "The layer computes it before attention. In Python, {call} shows the computation.",
  masked: "Masked: the query may not attend to this key.",
};
