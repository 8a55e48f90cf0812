/* The texts of temperature and masks, which settings and some views have; they come with either. */
(function () {
  "use strict";

  Object.assign(window.mhaStrings.explorer, {
    temperature: "Temperature",
    temperatureIs: "The temperature is now {value}.",
    causal: "Causal: no later keys",
    causalOn: "The causal mask is on.",
    causalOff: "The causal mask is off.",
  });
})();
