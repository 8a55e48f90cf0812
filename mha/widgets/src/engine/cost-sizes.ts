/** The cost of a model: a port of `cost_values` in mha/widgets/cost.py, in integers of any size. */

import { fill } from "./text.ts";
import { commas, shown } from "./numbers.ts";
import type { CostLine, CostSizes } from "../types/cost.ts";

const BYTES: [string, number][] = [["GiB", 2 ** 30], ["MiB", 2 ** 20], ["KiB", 2 ** 10]];

export function valuesOf(sizes: CostSizes): Record<string, bigint> {
  const given = Object.fromEntries(Object.entries(sizes).map(([name, value]) => [name, BigInt(value)]));
  const { bytes, groups, head, heads, inner, layers, matrices, texts, tokens, width } = given;
  const attention = 2n * layers * width * head * (heads + groups);
  const feed = layers * matrices * width * inner;
  const parameters = attention + feed;
  const each = 2n * layers * groups * head;
  const cache = tokens * each * bytes;
  const model = parameters * bytes;
  return {
    ...given, attention, feed, parameters, products: 2n * parameters,
    mixing: 4n * layers * tokens * heads * head,
    flops_each: 2n * layers * heads * head, equal_flops: parameters / (2n * layers * heads * head),
    cache, model, step: model + texts * cache,
    bytes_each: texts * each, equal_bytes: parameters / (texts * each),
    weights: heads * tokens * tokens * bytes,
  };
}

/** A line's numbers and its value, as they are shown. */
export function written(line: CostLine, values: Record<string, bigint>): [string, string] {
  const texts = Object.fromEntries(Object.entries(values).map(([name, value]) => [name, commas(value)]));
  const value = values[line.value];
  const fitting = line.unit === "bytes" && BYTES.find(([, size]) => value >= size);
  const beside = fitting ? `, ${shown(Number(value) / fitting[1], 1)} ${fitting[0]}` : "";
  const unit = line.unit === "tokens" ? " tokens" : "";
  const isExact = !line.by || values.parameters === value * values[line.by];
  return [fill(line.numbers, texts), `${isExact ? "=" : "≈"} ${commas(value)}${unit}${beside}`];
}
