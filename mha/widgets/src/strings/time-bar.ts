/** Texts of the bar that plays a figure's steps, loaded with its script. */

export const timeBar = {
  play: "Play", pause: "Pause", back: "One step back", on: "One step on", steps: "Steps",
  count: "{n} of {count}",
};
