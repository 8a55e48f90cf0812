/** Texts of the computation of one query step by step, loaded with their script. */

export const explorerSteps = {
  firstStep: "Before the first step: the query of {token}, and every key and value. Numbers that " +
    "are not computed yet are covered.",
  stepOf: "{name}: {line}",
};
