/** The texts of the calculation of one query, step by step. They come with its script. */

export const explorerSteps = {
  firstStep: "Before the first step: the query of {token}, and every key and value. What is not " +
    "computed yet is covered.",
  stepOf: "{name}: {line}",
};
