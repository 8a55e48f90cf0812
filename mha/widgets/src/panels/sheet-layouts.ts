/** The lines of arithmetic of the operations of newer attention. */

import { short } from "../engine/numbers.ts";
import { LAYOUTS } from "../store/explorer-origins.ts";
import { sheet as texts } from "../strings/sheet.ts";

/** The decimals of an eps below a root, which is a small number. */
const EPS_PLACES = 6;

Object.assign(LAYOUTS, {
  capped: ({ terms: [[score], [cap]] }: any) => {
    const by = short(cap.value);
    return [[`${by} × tanh(`, score, `÷ ${by})`]];
  },
  sigmoid: ({ terms: [[x]] }: any) => [["1 ÷ (1 + e ^ −", x, ")"]],
  "largest size": ({ terms }: any) =>
    [["max of sizes (", ...terms.flatMap(([x]: any[], i: number) =>
      (i ? [",", x] : [x])), ")"]],
  "root mean square": ({ terms }: any) => {
    const [[eps], ...row] = [terms.at(-1), ...terms.slice(0, -1)];
    return [["√ ( (", ...row.flatMap(([x]: any[], i: number) =>
      (i ? ["+", x, "²"] : [x, "²"])), `) ÷ ${row.length} + ${short(eps.value, EPS_PLACES)} )`]];
  },
  rounded: ({ terms: [[x]] }: any) => [["rounded", x]],
  masked: () => [[texts.masked]],
});
