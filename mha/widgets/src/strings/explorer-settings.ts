/** The texts of the settings. They come with their script. */

export const explorerSettings = {
  earlier: "Move {token} earlier",
  later: "Move {token} later",
  masks: "Masks",
  order: "Tokens: order and padding",
  own: "A sentence of your own, with numbers of its own: Work your own",
  scale: "Scale",
  scaleField: "Other scale",
  scaleFree: "Other",
  scaleIs: "The scale is now {value}.",
  scaleOne: "1",
  scaleRoot: "1/√{width} = {value}",
};
