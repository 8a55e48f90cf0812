/** The bytes that attention with some changes stores for later tokens, as sentences. */

import { fill } from "../engine/text.ts";
import type { SheetChoices } from "../store/sheet-address.ts";
import { sheet as texts } from "../strings/sheet.ts";

/** A number of bfloat16, and that of eight bits, in bytes; a row of eight bits has a factor. */
const BYTES = { usual: 2, eight: 1 };

/** For which tokens something is stored. */
function ofWindow(on: string[], given: SheetChoices["given"]): string {
  const tokens = Math.max(...given.window.map((row) => row.reduce((all, x) => all + x, 0)));
  return on.includes("window") ? fill(texts.ofWindow, { tokens }) : "";
}

/** The bytes that are stored per token for later tokens. */
export function keptText({ on, given }: SheetChoices): string {
  const [keys, values] = [given.key[0].length, given.value[0].length];
  if (on.includes("decay")) {
    return fill(texts.state, { rows: keys, columns: values, bytes: keys * values * BYTES.usual });
  }
  if (on.includes("latent")) {
    const [{ length }] = given.down;
    return fill(texts.latent, { numbers: length, bytes: length * BYTES.usual, plain: (keys + values) * BYTES.usual,
      window: ofWindow(on, given) });
  }
  const isEight = on.includes("eight");
  const bytes = isEight ? (keys + values) * BYTES.eight + 2 * BYTES.usual : (keys + values) * BYTES.usual;
  return fill(isEight ? texts.keptInEight : texts.kept, { bytes, window: ofWindow(on, given),
    heads: on.includes("groups") ? texts.ofGroup : "" });
}

/** The bytes that published models store with the changes that are on. */
export function publishedText(published: Record<string, Record<string, string | number>>, switches: string[]): string {
  const on = Object.keys(published).filter((name) => switches.includes(name));
  return (on.length ? on : ["plain"]).map((name) => fill(texts.published[name], published[name])).join(" ");
}
