/** The files that a reader can save of an example: the book's data file and a notebook. */

import { factor } from "../engine/attention.ts";
import { isMatrix, parse, stays } from "../engine/places.ts";
import { fill } from "../engine/text.ts";
import { make } from "../figures/explorer-parts.ts";
import { own as texts } from "../strings/own.ts";
import type { ExplorerData, ExplorerState } from "../types/explorer.ts";
import type { Numbers, Place } from "../types/run.ts";

/**
 * The data of a reader's example, with its changes and settings, for a new explorer. Heads that are off
 * are on again.
 */
export function taken({ data, state }: { data: ExplorerData, state: ExplorerState }): ExplorerData {
  const { causal, order, padding, scale, temperature } = state;
  const inputs: Numbers = structuredClone(data.inputs);
  for (const [where, value] of Object.entries(state.edits)) {
    const { stage, head, row, column } = parse(where) as Place;
    (head === null ? inputs[stage] : inputs[stage][head])[row][column] = value;
  }
  const ordered = <Row>(rows: Row[]) => order.map((i) => rows[i]);
  for (const stage of Object.keys(inputs)) {
    if (!isMatrix(stage) && !stays(stage)) inputs[stage] = ordered(inputs[stage]);
  }
  const allowed = ordered(padding).map((is) => !is);
  const isMasked = padding.includes(true);
  return {
    ...data, inputs, tokens: ordered(data.tokens), focus: order.indexOf(state.query),
    isCausal: causal,
    masks: isMasked ? data.heads.map(() => order.map(() => allowed)) : null,
    scale: scale === null && temperature === 1 ? null : factor(data.keyWidth, scale, temperature),
  };
}

/** A name that a data file of the book may have. */
export const nameOf = (words: string[]) => words.join(" ").normalize("NFKD").toLowerCase()
  .replace(/[^a-z0-9]+/g, "-").replace(/^-|-$/g, "").slice(0, 40).replace(/-$/, "") || "own";

/** An array, a row a line. */
const lines = (rows: unknown[]) => ["[", ...rows.map((row) =>
  `  ${JSON.stringify(row).replace(/,(?=[^\]])/g, ", ")},`), "]"].join("\n");

export function toml(example: ExplorerData, seed: number) {
  const { tokens, heads, focus, inputs, isCausal, masks, scale } = example;
  const { embeddings = [], positions, w_q = [], w_k = [], w_v = [], w_o } = inputs;
  const entries: [string, unknown][] = [
    ["title", JSON.stringify(tokens.join(" "))],
    ["source", JSON.stringify(texts.source.replace("{seed}", String(seed)))],
    ["shows", JSON.stringify(texts.shows)],
    ["tokens", `[${tokens.map((token) => JSON.stringify(token)).join(", ")}]`],
    ["focus", focus],
    ["is_causal", isCausal || null],
    ["scale", scale],
    ["mask", masks && lines(masks[0])],
    ["embeddings", lines(embeddings)],
    ["positions", positions && lines(positions)],
    ["w_o", w_o && lines(w_o)],
  ];
  const top = entries.filter(([, value]) => value !== null && value !== undefined)
    .map(([name, value]) => `${name} = ${value}`);
  const each = heads.map((name, i) => ["", "[[heads]]", `name = ${JSON.stringify(name)}`,
    `w_q = ${lines(w_q[i])}`, `w_k = ${lines(w_k[i])}`, `w_v = ${lines(w_v[i])}`]);
  return `${[...top, ...each.flat()].join("\n")}\n`;
}

/** @param wheel the package to install: its address, or the file's name */
export function notebook(example: ExplorerData, seed: number, wheel: string) {
  const { tokens, heads, focus, inputs, isCausal, masks, scale } = example;
  const { embeddings = [], positions, w_q = [], w_k = [], w_v = [], w_o } = inputs;
  const array = (name: string, value: unknown[] | undefined) =>
    (value ? [`${name} = np.array(${lines(value)})`] : []);
  const mask = !masks ? []
    : [`mask = np.array(${lines(masks[0].map((row) => row.map(Number)))}, dtype=bool)`];
  const parts = [
    `name="${nameOf(tokens)}", title=${JSON.stringify(tokens.join(" "))},`,
    `tokens=${JSON.stringify(tokens)}, focus=${focus},`,
    `head_names=${JSON.stringify(heads)},`,
    `source=${JSON.stringify(texts.source.replace("{seed}", String(seed)))},`,
    `embeddings=embeddings, layer=MultiHeadWeights(w_q, w_k, w_v${w_o ? ", w_o" : ""}),`,
    ...(positions ? ["positions=positions,"] : []),
    ...(masks ? ["mask=mask,"] : []),
    ...(isCausal ? ["is_causal=True,"] : []),
    ...(scale === null ? [] : [`scale=${scale},`]),
  ];
  const cells = [
    ["markdown", ["# " + tokens.join(" ").replace(/(?=[^\p{L}\p{N} ])/gu, "\\"), "",
      wheel.includes("/") ? texts.installs : fill(texts.installsBeside, { wheel })]],
    ["code", [`%pip install -q ${wheel}`]],
    ["code", ["import numpy as np", "from mha import MultiHeadWeights, WorkedExample, arithmetic, explorer, trace",
      "from mha.views.walkthrough import walkthrough"]],
    ["code", [...array("embeddings", embeddings), ...array("positions", positions), ...mask,
      ...array("w_q", w_q), ...array("w_k", w_k), ...array("w_v", w_v), ...array("w_o", w_o)]],
    ["code", ["example = WorkedExample(", ...parts.map((part) => `    ${part}`), ")",
      "run = trace(example)", "explorer(run)"]],
    ["code", ["for item in walkthrough(run):", "    display(item)"]],
    ["code", [`print(arithmetic(run, "scores", ${focus}, 0))`]],
  ].map(([kind, source], i) => ({
    cell_type: kind, id: `cell-${i}`, metadata: {}, source: (source as string[]).join("\n"),
    ...(kind === "code" && { execution_count: null, outputs: [] }),
  }));
  const kernel = { display_name: "Python 3", language: "python", name: "python3" };
  return `${JSON.stringify({ cells, metadata: { kernelspec: kernel }, nbformat: 4, nbformat_minor: 5 }, null, 1)}\n`;
}

/** Hand a file to the browser to keep. */
export function download(name: string, type: string, text: string): void {
  const url = URL.createObjectURL(new Blob([text], { type }));
  make("a", { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}
