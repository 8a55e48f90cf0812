/** Texts of the settings, loaded with their script. */

export const explorerSettings = {
  earlier: "Move {token} earlier",
  later: "Move {token} later",
  masks: "Masks",
  order: "Tokens: order and padding",
  own: "Your own sentence, with its own numbers: Work your own",
  scale: "Scale",
  scaleField: "Other scale",
  scaleFree: "Other",
  scaleIs: "The scale is now {value}.",
  scaleOne: "1",
  scaleRoot: "1/√{width} = {value}",
};
