/* Every text of a sheet of attention with what newer models change, apart from its code. */
(function () {
  "use strict";

  window.mhaStrings.sheet = {
    help: "Switch something on: its steps appear among the tables below, with a bar at their left. Drag an underlined number, or tap it to type. Pale numbers do not reach the query.",
    switches: "What newer models change",
    names: {
      norm: "queries and keys normalised",
      turn: "rotary positions",
      stretch: "… interpolated by four",
      cap: "scores capped at 2",
      window: "window of two tokens",
      top: "two largest scores alone",
      sink: "a sink of 0",
      gate: "a gate on the output",
      eight: "keys and values in eight bits",
    },
    query: "Query",
    weights: "Weights of *{token}*; marks: as with nothing switched on",
    plainly: "plainly {weight}",
    sink: "sink",
    output: "Output of *{token}*: {output}; plainly {plain}.",
    kept: "Kept for the tokens to come: {bytes} bytes a token{window}. (bfloat16 takes 2 bytes a number.)",
    keptInEight: "Kept for the tokens to come: {bytes} bytes a token{window}: one a number, and two for the step of each row, which with rows of two saves nothing. (With rows of 128 it is 260 instead of 512.)",
    ofWindow: ", of the last {tokens} tokens alone",
    together: "That is all that is switched on, against plain attention.",
    plain: "Nothing is switched on: this is plain attention.",
    reset: "As at first",
    given: {
      query: "Queries", key: "Keys", value: "Values", angles: "Angles", causal: "Causal mask",
      window: "Window", gate: "Gate, before the sigmoid",
    },
    isGiven: "is given.",
    of: "{title}: row {row}, column {column}",
    masked: "Masked: the query may not attend to this key.",
  };
})();
