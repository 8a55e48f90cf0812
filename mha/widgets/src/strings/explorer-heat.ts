/** Texts on temperature and masks, shared by the settings and some views. */

export const explorerHeat = {
  temperature: "Temperature",
  temperatureIs: "The temperature is now {value}.",
  padding: "{token} is padding",
  paddingOff: "{token} is no longer padding.",
  paddingOn: "{token} is padding: no query may attend to it.",
};
