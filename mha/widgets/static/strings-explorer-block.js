/* The texts of a block. They come with its script. */
(function () {
  "use strict";

  const { explorer } = window.mhaStrings;

  Object.assign(explorer, {
    block: {
      before: "First the block normalises what {token} brings",
      title: "Then the rest of the block, for {token} alone",
      embeddings: "goes in",
      placed: "goes in, with position",
      means: "of these",
      mean: "mean",
      spread: "spread",
      normed: "normalised",
      stream: "plus what went in",
      hidden: "hidden numbers",
      relu: "those above 0 (ReLU)",
      gelu: "active (GELU)",
      fed: "feed-forward gives",
      total: "plus the stream",
    },
    places: {
      ...explorer.places,
      first_gain: "Gain of the first normalisation, {column}",
      first_bias: "Bias of the first normalisation, {column}",
      second_gain: "Gain of the second normalisation, {column}",
      second_bias: "Bias of the second normalisation, {column}",
      start_means: "Mean of {row} before attention",
      start_spreads: "Spread of {row} before attention",
      start_normed: "Normalised {row} before attention, {column}",
      stream: "Stream of {row} after attention, {column}",
      stream_means: "Mean of {row} after attention",
      stream_spreads: "Spread of {row} after attention",
      stream_normed: "Normalised {row} after attention, {column}",
      w_in: "First matrix of the feed-forward layer, {row} to {column}",
      b_in: "First bias of the feed-forward layer, {column}",
      hidden: "Hidden number of {row}, {column}",
      active: "Active number of {row}, {column}",
      w_out: "Second matrix of the feed-forward layer, {row} to {column}",
      b_out: "Second bias of the feed-forward layer, {column}",
      fed: "What the feed-forward layer gives {row}, {column}",
      total: "Stream of {row} after the block, {column}",
      total_means: "Mean of {row} after the block",
      total_spreads: "Spread of {row} after the block",
      total_normed: "Normalised {row} after the block, {column}",
    },
  });
})();
