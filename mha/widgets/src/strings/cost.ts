/** Texts of the calculator of costs, except its lines, which come from Python. */

export const cost = {
  title: "What does a model cost? Choose one, or change its numbers.",
  model: "Model",
  own: "sizes of your own",
  sizes: {
    layers: "N, layers", width: "d, width", heads: "h, heads", head: "d_k, a head's width",
    groups: "g, key-value heads", matrices: "m, feed-forward matrices", inner: "f, width inside",
    bytes: "b, bytes per number", tokens: "n, tokens per text", texts: "t, texts at once",
  } as Record<string, string>,
  length: "n, drag: a text of {tokens} tokens",
  refused: "{what}: {wrong}",
  shared: "{groups} key-value heads cannot be shared evenly by {heads} heads.",
  stale: "Grey below: the cost of the previous sizes.",
  table: "Costs",
  reset: "Reset",
  copy: "Share",
  charts: [
    { title: "Operations per token", flat: "matrices", rising: "scores and mixing" },
    { title: "Bytes read per step", flat: "matrices", rising: "caches of all texts" },
  ],
  powers: ["1", "10", "100", "1,000", "10⁴", "10⁵", "10⁶", "10⁷"],
  units: [["1", "1,000", "10⁶", "10⁹", "10¹²", "10¹⁵", "10¹⁸", "10²¹", "10²⁴"],
    ["1 B", "1 KiB", "1 MiB", "1 GiB", "1 TiB", "1 PiB", "1 EiB", "1 ZiB", "1 YiB"]],
  same: "equal",
  axis: "n, tokens",
  beyond: ["← n is below this axis", "n is beyond this axis →"],
  said: "{title}: {flat} {first}, {rising} {second} at {tokens} tokens; equal at {equal}.",
};
