/**
 * The origins of a block's numbers: the rules of mha/runs/origins.py for the stages around the
 * attention, and the results of their operations.
 */

import { ACTIVATIONS } from "./attention-block.ts";
import { RESULTS, each, named, sum } from "./operations.ts";
import { RULES } from "./origins.ts";
import type { Numbers, Operand, Rule, Run, Sources } from "../types/run.ts";

type Reading = (run: Run) => string;

/** the stage that a rule reads */

const itself = (name: string): Reading => () => name;

const start: Reading = (run) => (run.placed ? "placed" : "embeddings");

const fedBy: Reading = (run) => (run.stream_normed ? "stream_normed" : "stream");

/** The input to which the feed-forward layer's output is added. */
const keptBy: Reading = (run) => (run.start_normed ? "stream" : fedBy(run));

/** A token's numbers in a stage. */
function rowOf({ from, inputs, run }: Sources, stage: string, row: number): Operand[] {
  const numbers: Numbers = { ...inputs, ...run };
  return numbers[stage][row].map((_: number, i: number) =>
    from(stage, row, i));
}

/** A gain or a bias by that name, where there is one and it changes anything. */
function learned({ from, inputs }: Sources, name: string, stage: string, column: number, leftOut: number): Operand[] {
  const { [stage]: row } = (inputs as Numbers);
  if (!row || row[column] === leftOut) return [];
  return [{ ...from(stage, column), name }];
}

/** The three stages of a normalisation. */
const norm = (name: string, read: Reading, which: (run: Run) => "first" | "second"): Record<string, Rule> => ({
  [`${name}_means`]: (sources, { row }) =>
    ["mean", each(...rowOf(sources, read(sources.run), row))],
  [`${name}_spreads`]: (sources, { row }) => {
    const { from, inputs, run } = sources;
    return ["spread", each(...rowOf(sources, read(run), row), from(`${name}_means`, row),
      named("eps", inputs.block?.eps[which(run)] ?? 0))];
  },
  [`${name}_normed`]: (sources, { row, column }) => {
    const { from, run } = sources;
    const own = which(run);
    return ["normalised", each(from(read(run), row, column), from(`${name}_means`, row),
      from(`${name}_spreads`, row), ...learned(sources, "gain", `${own}_gain`, column, 1),
      ...learned(sources, "bias", `${own}_bias`, column, 0))];
  },
});

/** A product with a matrix of the feed-forward layer, plus its bias. */
const affine = (read: Reading, matrix: string, bias: string): Rule => (sources, { row, column }) => {
  const products = rowOf(sources, read(sources.run), row).map((operand, i) =>
    [operand, sources.from(matrix, i, column)]);
  return ["products", [...products, ...each(...learned(sources, "bias", bias, column, 0))]];
};

/** The stream before a layer, and the layer's output. */
const added = (kept: Reading, found: Reading): Rule => ({ from, run }, { row, column }) =>
  ["sum", each(from(kept(run), row, column), from(found(run), row, column))];

Object.assign(RULES, {
  ...norm("start", start, () => "first"),
  ...norm("stream", itself("stream"), (run) => (run.start_normed ? "second" : "first")),
  ...norm("total", itself("total"), () => "second"),
  stream: added(start, (run) => (run.output ? "output" : "concat")),
  hidden: affine(fedBy, "w_in", "b_in"),
  active: ((({ from, inputs }, { row, column }) =>
    [inputs.block?.activation ?? "relu", each(from("hidden", row, column))]) as Rule),
  fed: affine(itself("active"), "w_out", "b_out"),
  total: added(keptBy, itself("fed")),
});

const results: Partial<typeof RESULTS> = {
  mean: (terms) => sum(terms.flat()) / terms.length,
  spread: (terms) => {
    const numbers = terms.flat();
    const [mean, eps] = numbers.splice(-2);
    const squares = numbers.reduce((all, x) => all + (x - mean) ** 2, 0);
    return Math.sqrt(squares / numbers.length + eps);
  },
  normalised: ([[number], [mean], [spread], ...rest], { terms }) => {
    const own: Record<string, number> = { gain: 1, bias: 0 };
    rest.forEach(([value], i) => { own[terms[3 + i][0].name] = value; });
    return ((number - mean) / spread) * own.gain + own.bias;
  },
  relu: ([[hidden]]) => ACTIVATIONS.relu(hidden),
  gelu: ([[hidden]]) => ACTIVATIONS.gelu(hidden),
};
Object.assign(RESULTS, results);
