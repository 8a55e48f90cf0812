/** Addresses of figures, without a browser: `deno test`. */

/// <reference lib="deno.ns" />

import { partsOf } from "../../mha/widgets/src/store/address.ts";

Deno.test("an address is read by the figure of its kind and name alone", () => {
  const hash = "#sheet=plain&query=2";
  const found = [partsOf("sheet", "plain", hash)?.get("query"), partsOf("sheet", "other", hash),
    partsOf("cost", "plain", hash), partsOf("sheet", "plain", "#plain"), partsOf("sheet", "plain", "")];
  const wanted = ["2", null, null, null, null];
  if (found.some((part, i) => part !== wanted[i])) throw new Error(`${found} was found, ${wanted} is wanted`);
});
