/** The engine's and the addresses' promises, without a browser: `deno test`. */

/// <reference lib="deno.ns" />

import { attentionScores, factor, scaledScores, softmax, trace } from "../../mha/widgets/src/engine/attention.ts";
import { columnWith, dot } from "../../mha/widgets/src/engine/least-change.ts";
import { commas, full, parsed, short, shown } from "../../mha/widgets/src/engine/numbers.ts";
import { evaluate } from "../../mha/widgets/src/engine/operations.ts";
import { origin } from "../../mha/widgets/src/engine/origins.ts";
import { address, at, parse, valueAt } from "../../mha/widgets/src/engine/places.ts";
import { chain, sign } from "../../mha/widgets/src/engine/signs.ts";
import { stages } from "../../mha/widgets/src/engine/stages.ts";
import { fill } from "../../mha/widgets/src/engine/text.ts";
import { entered, read } from "../../mha/widgets/src/engine/typed-numbers.ts";
import { fromHash, toHash } from "../../mha/widgets/src/store/explorer-address.ts";
import { compute, startOf } from "../../mha/widgets/src/store/explorer-state.ts";
import type { ExplorerData } from "../../mha/widgets/src/types/explorer.ts";
import type { Matrix } from "../../mha/widgets/src/types/run.ts";

function assertEqual(found: unknown, wanted: unknown) {
  const [left, right] = [found, wanted].map((value) => JSON.stringify(value));
  if (left !== right) throw new Error(`${left} was found, ${right} is wanted`);
}

function assertClose(found: number[], wanted: number[]) {
  const isClose = found.length === wanted.length && found.every((x, i) => x === wanted[i] || Math.abs(x - wanted[i]) < 1e-12);
  if (!isClose) throw new Error(`${found} was found, ${wanted} is wanted`);
}

/** Three tokens, two heads, an output projection; no two numbers are alike by chance. */
const DATA = {
  name: "three", tokens: ["a", "b", "c"], heads: ["one", "two"], focus: 1, block: null, end: "output", masks: null,
  isCausal: true, scale: null, prints: {}, tasks: [], view: "strip", width: 1, keyWidth: 1,
  inputs: {
    embeddings: [[1, 2], [-1, 0.5], [3, -2]],
    w_q: [[[2], [1]], [[-1], [3]]], w_k: [[[1], [-2]], [[0.5], [1]]], w_v: [[[1], [1]], [[2], [-1]]],
    w_o: [[1, 5], [-3, 2]],
  },
} as unknown as ExplorerData;

Deno.test("weights are the softmax of scaled and masked scores", () => {
  const run = trace({ ...DATA.inputs, isCausal: true });
  const x = DATA.inputs.embeddings as Matrix;
  const [query, key] = [DATA.inputs.w_q, DATA.inputs.w_k].map((w) => x.map((row) => [dot(row, (w as Matrix[])[0].flat())]));
  const scores = scaledScores(attentionScores(query, key), factor(1));
  const masked = scores.map((row, i) => row.map((score, j) => (j > i ? -Infinity : score)));
  softmax(masked).forEach((row, i) => assertClose(run.weights[0][i], row));
  assertEqual(run.weights[0][0], [1, 0, 0]);
});

Deno.test("a fully masked row has weights and an output of zero", () => {
  const run = trace({ ...DATA.inputs, keyAllowed: [false, false, false] });
  assertEqual(run.weights[1], [[0, 0, 0], [0, 0, 0], [0, 0, 0]]);
  assertEqual(run.output, [[0, 0], [0, 0], [0, 0]]);
});

Deno.test("every number of a run is the value of its origin", () => {
  const run = trace({ ...DATA.inputs, isCausal: true });
  let count = 0;
  for (const stage of Object.keys(run)) {
    if (stages[stage] === undefined || stage === "mask" || stage === "shifts") continue;
    const indices = (array: unknown): number[][] => (Array.isArray(array)
      ? array.flatMap((part, i) => indices(part).map((rest) => [i, ...rest])) : [[]]);
    for (const index of indices((run as unknown as Record<string, unknown>)[stage])) {
      const place = at(stage, ...index);
      assertEqual(parse(address(place)), place);
      assertClose([evaluate(origin(DATA.inputs, run, place))], [valueAt({ ...run }, place)]);
      count += 1;
    }
  }
  if (count < 60) throw new Error(`only ${count} numbers were asked`);
});

Deno.test("numbers are rounded half to even and written with a true minus sign", () => {
  assertEqual([0.125, 0.375, -0.125, -1e-9, 2.5].map((x) => shown(x, 2)), ["0.12", "0.38", "−0.12", "0.00", "2.50"]);
  assertEqual([short(0.5), short(2), short(1 / 3)], ["0.5", "2", "0.3333"]);
  assertEqual([commas(1234567), commas(999), full(-0.1)], ["1,234,567", "999", "−0.1"]);
  assertEqual([parsed("−1.5e2"), parsed("1,5"), parsed("")], [-150, null, null]); // NaN is null in JSON
});

Deno.test("a line has = where it holds as printed, and ≈ where it was rounded", () => {
  assertEqual([sign("0.6×1.2", "0.72"), sign("0.6×1.2", "0.7"), sign("√16", "4")], ["=", "≈", "="]);
  assertEqual(chain("1 ÷ 3", "0.333"), "1 ÷ 3 ≈ 0.333");
});

Deno.test("a typed number is read or refused in one sentence", () => {
  assertEqual([read("1/3")?.number, read("−2")?.number, read("abc")], [1 / 3, -2, null]);
  assertEqual(entered("1/4"), { value: 0.25, wrong: "" });
  assertEqual(entered("abc").wrong, "“abc” is not a number. Type one such as 0.5, −2 or 1/3.");
  assertEqual(entered("1e9").wrong, "“1e9” is out of range. Type a number from −1000 to 1000.");
});

Deno.test("a typed value comes out of its matrix, and the other rows' values stay", () => {
  const rows = [[1, 0, 2], [0, 1, 1]];
  const column = columnWith(rows, [3, -1, 0.5], [[0, 7]]);
  assertClose(rows.map((row) => dot(row, column)), [7, dot(rows[1], [3, -1, 0.5])]);
});

Deno.test("an address holds a whole state, and one that cannot be read is said to be incomplete", () => {
  const start = startOf(DATA);
  const numbers = compute(DATA, start);
  const state = { ...start, edits: { "embeddings.0.1": -0.25 }, causal: false, query: 2, focus: 1, order: [2, 0, 1] };
  assertEqual(fromHash(DATA, toHash(DATA, state), numbers), { state, complete: true });
  assertEqual(toHash(DATA, start), "#explore=three");
  assertEqual(fromHash(DATA, "#explore=three&query=9", numbers)?.complete, false);
});

Deno.test("a name in braces without a value stays", () => {
  assertEqual(fill("{a} and {b}", { a: 1 }), "1 and {b}");
});
