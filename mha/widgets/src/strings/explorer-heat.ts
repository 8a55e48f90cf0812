/** The texts of temperature and masks, which settings and some views have; they come with either. */

export const explorerHeat = {
  temperature: "Temperature",
  temperatureIs: "The temperature is now {value}.",
  padding: "{token} is padding",
  paddingOff: "{token} is no longer padding.",
  paddingOn: "{token} is padding: no query may attend to it.",
};
