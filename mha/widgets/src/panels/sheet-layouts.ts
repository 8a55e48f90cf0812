/** The lines of arithmetic of the operations of newer attention. */

import { short } from "../engine/numbers.ts";
import { LAYOUTS } from "../store/explorer-origins.ts";
import { sheet as texts } from "../strings/sheet.ts";
import type { Layout } from "../types/explorer.ts";

/** The decimals of an eps below a root, which is a small number. */
const EPS_PLACES = 6;

const layouts: Record<string, Layout> = {
  capped: ({ terms: [[score], [cap]] }) => {
    const by = short(cap.value);
    return [[`${by} × tanh(`, score, `÷ ${by})`]];
  },
  sigmoid: ({ terms: [[x]] }) => [["1 ÷ (1 + e ^ −", x, ")"]],
  "largest size": ({ terms }) =>
    [["max of sizes (", ...terms.flatMap(([x], i) =>
      (i ? [",", x] : [x])), ")"]],
  "root mean square": ({ terms }) => {
    const row = terms.slice(0, -1);
    const [eps] = terms[row.length];
    return [["√ ( (", ...row.flatMap(([x], i) =>
      (i ? ["+", x, "²"] : [x, "²"])), `) ÷ ${row.length} + ${short(eps.value, EPS_PLACES)} )`]];
  },
  rounded: ({ terms: [[x]] }) => [["rounded", x]],
  masked: () => [[texts.masked]],
};
Object.assign(LAYOUTS, layouts);
