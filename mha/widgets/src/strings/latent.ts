/** Texts of the figure of latent vectors, loaded with its script. */

export const latent = {
  help: "Move the width. Only latent vectors are stored; both forms compute the scores from them.",
  width: "Width of the latent vector",
  ofWidth: "{width} of {most}",
  head: "Head",
  query: "Query",
  stored: "Stored per token: {numbers} numbers, {bytes} bytes, instead of a key and a value per head, {all} numbers, {allBytes} bytes.",
  published: "{model} stores {bytes} bytes per token and layer instead of {plain}, with its rotated key, which is omitted here.",
  ranks: "Rank",
  of: { keys: "keys of all heads", values: "values of all heads", both: "keys and values" },
  now: "from latent vectors",
  whole: "from embeddings",
  queries: "Query of *{token}*: {query}. Absorbed, that is, times the transpose of the matrix to the keys: {absorbed}.",
  columns: { token: "Token", latent: "latent vector", key: "key", plain: "query · key",
    absorbed: "absorbed query · latent vector", whole: "without compression" },
  multiplications: "multiplications",
  output: "Output of *{token}*: {plain}; in the absorbed form {absorbed}; without compression {whole}. The two forms differ by at most {difference}, over all heads and queries.",
  said: "Width {width}: {bytes} bytes per token. The scores of *{token}* change by up to {scores}, its output by up to {output}.",
  same: "Width {width}: {bytes} bytes per token. No score of *{token}* changes, nor does its output.",
};
