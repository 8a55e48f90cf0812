/** The sentences that a number field says about text that it does not take. */

export const numbers = {
  empty: "Type a number, such as 0.5, −2 or 1/3.",
  emptyWhole: "Type a whole number from {least} to {most}.",
  notANumber: "“{text}” is not a number. Type one such as 0.5, −2 or 1/3.",
  twoMeanings: "“{text}” can mean two numbers. Type {first} or {second}.",
  outOfRange: "“{text}” is out of range. Type a number from {least} to {most}.",
  notPositive: "“{text}” is not positive. Type a number above 0, up to {most}.",
  notWhole: "“{text}” is not a whole number. Type one from {least} to {most}.",
};
