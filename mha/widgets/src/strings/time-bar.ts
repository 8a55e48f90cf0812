/** The texts of the bar under what happens in steps. They come with its script. */

export const timeBar = {
  play: "Play", pause: "Pause", back: "One step back", on: "One step on", steps: "Steps",
  count: "{n} of {count}",
};
