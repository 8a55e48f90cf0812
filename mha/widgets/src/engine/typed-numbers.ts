/**
 * Numbers that a reader types: a number, or a short calculation. The tests compare `read` with
 * tests/answer_oracle.py. Every field of every page reads its text here, and its bound is here too.
 */

import { numbers as texts } from "../strings/numbers.ts";
import { commas, full, parsed } from "./numbers.ts";
import type { Wanted } from "../types/fields.ts";

/** No field takes a number of a larger size; a figure may need a smaller bound. */
export const MOST = 1000;

const LONGEST = 200; // characters that are read
const NAMED = 40; // characters of a text that a sentence repeats
const SPACE = "[ \\t\\n\\r\\f\\v\\u00a0\\u2000-\\u200a\\u202f\\u205f\\u3000]";
const SPACES = new RegExp(SPACE, "g");
const AROUND = new RegExp(`^${SPACE}+|${SPACE}+$`, "g");
const PLAIN = /^[+-]?(?:\d+(?:[.,](\d*))?|[.,](\d+))$/;
// A space between digits parts thousands, or two numbers, which are no calculation.
const TOKEN = new RegExp(`${SPACE}*((?:\\d{1,3}(?:${SPACE}\\d{3})+(?!\\d)|\\d+)(?:[.,]\\d*)?(?:e[-+]?\\d+)?`
  + "|[.,]\\d+(?:e[-+]?\\d+)?|sqrt|exp|e|[-+*/^()√])", "y");
const GROUPED = /^[+-]?\d{1,3}(,\d{3})+$/;
const TWO_MEANINGS = /^([+-]?)([1-9]\d{0,2}),(\d{3})$/;

function finite(value: number) {
  if (!Number.isFinite(value)) throw new RangeError("no finite number");
  return value;
}

/** A text with plain signs for the forms that a keyboard, or a copied text, has. */
const plainSigns = (text: string) => text
  .replace(/[\uff01-\uff5e]/g, (sign) => String.fromCharCode(sign.charCodeAt(0) - 0xfee0))
  .replace(/[\u2010-\u2013\u2212\ufe63]/g, "-").replace(/[×·]/g, "*").replaceAll("÷", "/")
  .toLowerCase().replaceAll("**", "^").replace(AROUND, "");

function tokensOf(text: string) {
  const found = [];
  TOKEN.lastIndex = 0;
  while (TOKEN.lastIndex < text.length) {
    const match = TOKEN.exec(text);
    if (!match) throw new RangeError("no calculation");
    found.push(match[1].replace(SPACES, ""));
  }
  return found.reverse();
}

const FUNCTIONS: Record<string, (value: number) => number> = { "√": Math.sqrt, sqrt: Math.sqrt, exp: Math.exp };

/** The value of a calculation; each token is read once. */
function calculated(text: string): number {
  const left = tokensOf(text);

  const take = (wanted: string) =>
    (left.length && wanted.includes(left[left.length - 1]) ? left.pop() : "");

  function number(): number {
    const token = left.pop() ?? "";
    if (token === "(") {
      const value = total();
      if (!take(")")) throw new RangeError("no bracket");
      return value;
    }
    if (Object.hasOwn(FUNCTIONS, token)) return finite(FUNCTIONS[token](number()));
    if (token === "e") return Math.E;
    return finite(/\d/.test(token) ? Number(token.replace(",", ".")) : NaN);
  }

  function signed(): number {
    const sign = take("+-") === "-" ? -1 : 1;
    const base = number();
    return sign * (take("^") ? finite(base ** signed()) : base);
  }

  function product() {
    let value = signed();
    for (let sign = take("*/"); sign; sign = take("*/")) {
      const other = signed();
      value = finite(sign === "*" ? value * other : value / other);
    }
    return value;
  }

  function total(): number {
    let value = product();
    for (let sign = take("+-"); sign; sign = take("+-")) {
      const other = product();
      value = finite(sign === "+" ? value + other : value - other);
    }
    return value;
  }

  const value = total();
  if (left.length) throw new RangeError("no calculation");
  return value;
}

/**
 * The number that a text gives and its decimals, null for those of a calculation; null if there is none.
 *
 * @param percent whether a bare number is a percentage
 */
export function read(text: string, percent: boolean = false): {number: number, decimals: number | null} | null {
  if (text.length > LONGEST) return null;
  const plain = plainSigns(text);
  const body = plain.replace(/%$/, "").replace(AROUND, "");
  let number;
  try {
    number = calculated(body);
  } catch {
    return null;
  }
  // A sign says percent; where percent is asked for, a bare number is one.
  const isShare = plain.endsWith("%") && !percent;
  const alone = PLAIN.exec(body.replace(SPACES, ""));
  return { number: isShare ? number / 100 : number,
    decimals: alone ? (alone[1] || alone[2] || "").length + (isShare ? 2 : 0) : null };
}

/**
 * The number that a field takes of a text, or NaN and the sentence to say at the field.
 *
 * @param wanted the range; whether only whole numbers, or only those above 0
 */
export function entered(text: string, { most = MOST, least = -most, whole = false, positive = false }: Wanted = {}): { value: number, wrong: string } {
  const plain = plainSigns(text);
  const shown = text.trim();
  const bound = whole ? commas : full; // a comma groups digits only where no decimals are wanted
  const refused = (sentence: string, more: Record<string, string> = {}) => {
    const words: Record<string, string> = { text: [...shown].length > NAMED ? `${[...shown].slice(0, NAMED).join("")}…` : shown,
      least: bound(least), most: bound(most), ...more };
    return { value: NaN, wrong: sentence.replace(/\{(\w+)\}/g, (_, word) => words[word]) };
  };
  if (!plain) return refused(whole ? texts.emptyWhole : texts.empty);
  const two = whole ? null : TWO_MEANINGS.exec(plain);
  if (two) {
    const [, sign, thousands, rest] = two;
    const minus = sign.replace("-", "−");
    return refused(texts.twoMeanings, { first: `${minus}${thousands}.${rest}`, second: minus + thousands + rest });
  }
  const ungrouped = whole && GROUPED.test(plain) ? plain.replaceAll(",", "") : plain;
  // "1e400" is a number, though not one that a computer has.
  const value = read(ungrouped)?.number ?? (text.length > LONGEST ? NaN : parsed(ungrouped));
  if (Number.isNaN(value)) return refused(whole ? texts.notWhole : texts.notANumber);
  if (whole && Number.isFinite(value) && !Number.isInteger(value)) return refused(texts.notWhole);
  if (positive && value <= 0) return refused(texts.notPositive);
  return value < least || value > most ? refused(texts.outOfRange) : { value: value || 0, wrong: "" };
}
