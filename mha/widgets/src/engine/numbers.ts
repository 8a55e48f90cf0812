/**
 * How numbers are written and read: the book's one rounding rule, as in mha/runs/rounding.py.
 * Values stay as they are and are rounded only when shown. The tests hold both to the same text.
 */

/** Decimal places that the book shows unless a page says otherwise. */
const PLACES = 4;

/** The smallest size from which `toFixed` writes an exponent; every such number is an integer. */
const WITH_EXPONENT = 1e21;

/** Digits before and after the point that calculations leave right. */
const TRUSTED = 14;

/** As many decimals as `toFixed` gives. */
const ALL = 100;

/**
 * The decimals of a number of at least 0; a tie, as far as digits are trusted, goes to the even
 * digit.
 */
function decimals(size: number, places: number): string {
  if (size >= WITH_EXPONENT) return BigInt(size) + (places ? `.${"0".repeat(places)}` : "");
  const trusted = TRUSTED - String(Math.trunc(size)).length;
  const known = size.toFixed(trusted > places ? trusted : ALL);
  const end = known.indexOf(".") + 1 + places;
  const below = known.slice(0, end).replace(/\.$/, "");
  const rest = known.slice(end);
  if (!/^50*$/.test(rest)) return size.toFixed(places);
  return "02468".includes(below.slice(-1)) ? below : (size + 10 ** -places / 4).toFixed(places);
}

/** A number with a fixed count of decimals, as Python formats it; no negative zero. */
export function fixed(value: number, places: number): string {
  if (!Number.isFinite(value)) return String(value).toLowerCase().replace("infinity", "inf");
  const text = decimals(Math.abs(value), places);
  return value < 0 && Number(text) !== 0 ? `-${text}` : text;
}

/** A number as the book prints it: rounded to `places` decimals, with a true minus sign. */
export function shown(value: number, places: number = PLACES): string {
  return value === -Infinity ? "−∞" : fixed(value, places).replace("-", "−");
}

/** A number without trailing zeros where it is exact to `places` decimals. */
export function short(value: number, places: number = PLACES): string {
  const text = shown(value, places);
  const off = Math.abs(value - Number(fixed(value, places)));
  const isExact = off <= 1e-14 * Math.max(1, Math.abs(value));
  return isExact && text.includes(".") ? text.replace(/\.?0+$/, "") : text;
}

/** A share in per cent, on one line with the sign. */
export const percent = (share: number, places: number = 1): string => `${shown(100 * share, places)}\u00a0%`;

/** A number with all its digits, as a reader can enter it again. */
export const full = (value: number): string => String(value).replaceAll("-", "−").replace("Infinity", "∞");

/**
 * A whole number with a comma before every three digits; the browser's own way to write it takes
 * longer to begin than all else here.
 */
export const commas = (value: bigint | number): string => String(value).replace(/\B(?=(\d{3})+$)/g, ",");

/**
 * A number in an address or in data, NaN where the text is none; text that a reader types is read by
 * typed-numbers.ts.
 */
export function parsed(text: string): number {
  const plain = text.trim().replaceAll("−", "-");
  // Each digit can be read in one way only: a long text takes no longer than it is.
  return /^[-+]?(\d+(\.\d*)?|\.\d+)(e[-+]?\d+)?$/i.test(plain) ? Number(plain) : NaN;
}
