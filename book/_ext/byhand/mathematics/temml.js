// An error is returned, not thrown, so that the caller can tell Temml's own messages from others. They
// are told by their name: Deno has no __proto__, by which Temml makes them instances of its class.
function renderTeX(tex, options) {
  try {
    return { mathml: temml.renderToString(tex, options) };
  } catch (error) {
    if (error.name === "ParseError") return { error: error.message };
    return { error: "Temml stops without a reason; is an argument missing? " + error.message };
  }
}
