/** Parts of figures that need no page, without a browser: `deno test`. */

/// <reference lib="deno.ns" />

import { embeddingAt, gridOf, hull, through, wayTo } from "../../mha/widgets/src/engine/cloud.ts";
import { OPERATIONS, carriedOut, originOn } from "../../mha/widgets/src/engine/sheet.ts";
import { evaluate } from "../../mha/widgets/src/engine/operations.ts";
import { framesOf } from "../../mha/widgets/src/engine/tiles.ts";
import { matmul, softmax } from "../../mha/widgets/src/engine/attention.ts";
import { pointer, stepOf } from "../../mha/widgets/src/figures/plane-geometry.ts";
import * as learning from "../../mha/widgets/src/store/learning-settings.ts";
import * as museum from "../../mha/widgets/src/store/museum-state.ts";
import { fromRuns, toRuns } from "../../mha/widgets/src/store/pencil-address.ts";
import * as sheet from "../../mha/widgets/src/store/sheet-address.ts";

function assertEqual(found: unknown, wanted: unknown) {
  const [left, right] = [found, wanted].map((value) => JSON.stringify(value));
  if (left !== right) throw new Error(`${left} was found, ${right} is wanted`);
}

function assertClose(found: number[], wanted: number[]) {
  const isClose = found.length === wanted.length && found.every((x, i) => Math.abs(x - wanted[i]) < 1e-12);
  if (!isClose) throw new Error(`${found} was found, ${wanted} is wanted`);
}

const partsOf = (hash: string) => new URLSearchParams(hash.slice(1));

Deno.test("the polygon around points has their corners alone", () => {
  const corners = hull([[0, 0], [2, 0], [1, 1], [2, 2], [0, 2], [1, 0]]);
  assertEqual(corners.map(String).sort(), ["0,0", "0,2", "2,0", "2,2"]);
});

Deno.test("an embedding moves to where its picture is wanted, by two components at most", () => {
  const matrix = [[1, 0], [0.5, 1], [-1, 0.25]];
  const x = [1, 2, 3];
  const moved = embeddingAt(x, matrix, [4, -1]);
  through(moved, matrix).forEach((at, axis) => {
    if (Math.abs(at - [4, -1][axis]) > 1e-3) throw new Error(`${moved} is at ${at}`);
  });
  assertEqual(moved.filter((one, i) => one !== x[i]).length, 2);
  assertEqual(wayTo(x, matrix).at(-1), through(x, matrix));
  assertEqual(gridOf(matrix).length, 3);
});

Deno.test("ticks are 1, 2 or 5 times a power of ten apart, and an arrow without length is none", () => {
  assertEqual([0.011, 0.2, 3, 49, 51].map(stepOf).map((step) => Number(step.toPrecision(3))), [0.02, 0.2, 5, 50, 100]);
  assertEqual(pointer([3, 4], [3, 4]), "");
});

Deno.test("tiles of any size end with the output of one softmax", () => {
  const scores = [[1, -2, 0.5], [3, 700, -Infinity], [-Infinity, -Infinity, -Infinity]];
  const value = [[1, 2], [-3, 0.5], [4, 5]];
  const wanted = matmul(softmax(scores), value);
  for (const size of [1, 2, 3]) {
    const { outputs } = framesOf(scores, value, size, false).at(-1) ?? { outputs: [] };
    outputs.forEach((row, i) => assertClose(row ?? [], wanted[i]));
  }
});

Deno.test("corrected slips are written as runs, and read from them", () => {
  const which = [1, 2, 3, 5, 8, 9];
  assertEqual(toRuns(which), "1-3.5.8-9");
  assertEqual(fromRuns("1-3.5.8-9", 9), which);
  assertEqual(fromRuns("2-40", 3), [2, 3]);
  assertEqual([fromRuns("", 3), fromRuns("1,2", 3)], [null, null]);
});

Deno.test("the sheet's address keeps every change, and says what it cannot take", () => {
  const roles = Object.fromEntries(sheet.OPEN.map((role) => [role, [[1, 2], [3, 4]]]));
  const start = { on: [], query: 1, given: roles };
  const state = { on: ["cap", "turn"], query: 0, given: { ...roles, key: [[1, 2], [3, -0.125]] } };
  const switches = ["turn", "cap", "sink"];
  const { isWhole, ...read } = sheet.fromParts(partsOf(sheet.toHash("s", state, start)), start, switches, 3);
  assertEqual([read.on, read.query, read.given, isWhole], [state.on, state.query, state.given, true]);
  for (const hash of ["#query=3", "#query=1.5", "#on=none", "#key.0.0=21", "#key.7.0=1", "#other=1"]) {
    const found = sheet.fromParts(partsOf(hash), start, switches, 3);
    assertEqual([found.isWhole, found.given, found.query], [false, start.given, 1]);
  }
});

Deno.test("the museum's address keeps its state, and an order offers the right line among four", () => {
  const examples = [1, 2].map((n) => ({ name: `e${n}`, title: "", tokens: ["a"], heads: 1, dModel: null,
    wide: [[[1, 2]], [[3, 4]], [[5, 6]]] }));
  const state = { ...museum.startOf(27), at: 2, example: 1, times: museum.LARGER, isCausal: true, own: { "key.0.1": -2 } };
  assertEqual(museum.fromParts(partsOf(museum.toHash(state, examples)), examples, 5), state);
  assertEqual(museum.fromParts(partsOf("#seed=12345"), examples, 5), null);
  assertEqual(museum.fromParts(partsOf("#seed=1&case=9&key.0.7=1&key.0.0=x"), examples, 5), museum.startOf(1));
  const bugs = Array.from({ length: 9 }, (_, i) => i);
  for (let seed = 0; seed < 50; seed += 1) {
    const choices = museum.choicesOf(bugs, 7, seed);
    assertEqual([choices.length, new Set(choices).size, choices.includes(7)], [4, 4, true]);
    assertEqual([...museum.orderOf(bugs, seed)].sort(), bugs);
  }
});

Deno.test("the address of a training takes possible choices alone", () => {
  const start = { seed: 1, heads: 2, rate: 0.03, steps: 400, step: 400, sentence: 0, word: 0, head: 1 };
  const state = { ...start, heads: 6, steps: 150, step: 70, sentence: 3, word: 2, head: 5 };
  const read = (hash: string) => learning.fromParts(partsOf(hash), start, 5, 7);
  assertEqual(read(learning.toHash(state, start)), state);
  assertEqual(read("#heads=5&rate=2&steps=401&sentence=5&word=7&head=9&seed=4294967296"), start);
  assertEqual(read("#heads=1").head, 0);
});

Deno.test("a number of a sheet is that of its origin, whose operands are in the step's tables", () => {
  const given = { x: [[1, -2], [0.5, 3]], allowed: [[1, 0], [1, 1]] };
  const plan = [
    { role: "scores", title: "", operation: "dots", of: ["x", "x"] },
    { role: "scores", title: "", operation: "masked", of: ["scores", "allowed"], switch: "mask" },
    { role: "powers", title: "", operation: "exponential", of: ["scores"], switch: "-plain" },
    { role: "sums", title: "", operation: "row sums", of: ["powers"] },
    { role: "weights", title: "", operation: "share", of: ["powers", "sums"] },
  ];
  const { steps, roles } = carriedOut(plan, given, new Set(["mask"]));
  assertEqual(roles.scores, "scores 2");
  assertEqual(steps.get("weights")?.array[0], [1, 0]);
  for (const [name, { array, of }] of steps) {
    array.forEach((row, i) => row.forEach((x, j) => {
      const origin = originOn(steps, name, i, j);
      assertEqual(evaluate(origin), x);
      origin.terms.flat().forEach(({ place, value }) => {
        // deno-lint-ignore no-explicit-any -- a place of a sheet
        const { table, row: k, column } = place as any ?? {};
        if (table) assertEqual([of.includes(table), steps.get(table)?.array[k][column]], [true, value]);
      });
    }));
  }
  assertEqual(new Set(OPERATIONS).size, OPERATIONS.length);
});
