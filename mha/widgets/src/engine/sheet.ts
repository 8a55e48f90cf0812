/**
 * A sheet in the browser, a port of mha/runs/computations.py and of how mha/runs/attention_variants.py carries a plan
 * out: named tables, each given or made of others by one operation, and where each number comes from.
 */

import type { Matrix, Operand } from "../types/run.ts";

type SheetStep = { name: string, title: string, operation: string, of: string[], number: number, array: Matrix };
type Where = { row: number, column: number, step: SheetStep, at: (table: string, row: number, column: number) => Operand, of: (table: string) => Operand[] };

const each = (a: Matrix, f: (x: number, row: number, column: number) => number): Matrix => a.map((row, i) => row.map((x, j) => f(x, i, j)));

const sum = (row: number[]): number => row.reduce((all, x) => all + x, 0);

const by = (b: Matrix, row: number, column: number): number => b[row][b[row].length === 1 ? 0 : column];

/** To the next whole number, halves to the even one. */
const rounded = (x: number): number => {
  const below = Math.floor(x);
  return x - below === 0.5 ? below + Math.abs(below % 2) : Math.round(x);
};

/** The columns of a row's largest scores, of equal ones the earlier. */
const largest = (row: number[], count: number): Set<number> => new Set(row.map((_, i) => i)
  .filter((i) => row[i] !== -Infinity).sort((i, j) => row[j] - row[i] || i - j).slice(0, count));

const one = (terms: Operand[]): Operand[][] => terms.map((operand) => [operand]);

const constant = (name: string, value: number): Operand => ({ value, place: null, name });

/** The operations by their names: the result, and the origin of each of its numbers. */
const OPERATIONS: Record<string, { gives: (arrays: Matrix[], number: number) => Matrix, from: (where: Where) => [string, Operand[][]] }> = {
  "product": {
    gives: ([a, b]) => a.map((row) => b[0].map((_, j) => sum(row.map((x, i) => x * b[i][j])))),
    from: ({ step, column, of, at }) => ["products", of(step.of[0]).map((operand, i) =>
      [operand, at(step.of[1], i, column)])],
  },
  "dots": {
    gives: ([a, b]) => a.map((row) => b.map((other) => sum(row.map((x, i) => x * other[i])))),
    from: ({ step, column, of, at }) => ["products", of(step.of[0]).map((operand, i) =>
      [operand, at(step.of[1], column, i)])],
  },
  "sum": {
    gives: ([a, b]) => each(a, (x, i, j) => x + b[i][j]),
    from: ({ step, row, column, at }) => ["products", one(step.of.map((name) => at(name, row, column)))],
  },
  "over root": {
    gives: ([a], d) => each(a, (x) => x / Math.sqrt(d)),
    from: ({ step, row, column, at }) => ["scaled", [[at(step.of[0], row, column)],
      [constant("d_k", step.number)]]],
  },
  "times number": {
    gives: ([a], factor) => each(a, (x) => x * factor),
    from: ({ step, row, column, at }) => ["products", [[at(step.of[0], row, column),
      constant("factor", step.number)]]],
  },
  "times": {
    gives: ([a, b]) => each(a, (x, i, j) => x * by(b, i, j)),
    from: ({ step, row, column, at }) => ["products", [[at(step.of[0], row, column),
      at(step.of[1], row, column)]]],
  },
  "masked": {
    gives: ([a, allowed]) => each(a, (x, i, j) => (allowed[i][j] ? x : -Infinity)),
    from: ({ step, row, column, at }) => [at(step.of[1], row, column).value ? "copy" : "masked",
      [[at(step.of[0], row, column)]]],
  },
  "top": {
    gives: ([a], count) => a.map((row) => {
      const kept = largest(row, count);
      return row.map((x, j) => (kept.has(j) ? x : -Infinity));
    }),
    from: ({ step, row, column, at }) => [step.array[row][column] === -Infinity ? "masked" : "copy",
      [[at(step.of[0], row, column)]]],
  },
  "capped": {
    gives: ([a], cap) => each(a, (x) => cap * Math.tanh(x / cap)),
    from: ({ step, row, column, at }) => ["capped", [[at(step.of[0], row, column)],
      [constant("cap", step.number)]]],
  },
  "exponential": {
    gives: ([a]) => each(a, Math.exp),
    from: ({ step, row, column, at }) => ["exponential", [[at(step.of[0], row, column)]]],
  },
  "row sums": {
    gives: ([a]) => a.map((row) => [sum(row)]),
    from: ({ step, of }) => ["sum", one(of(step.of[0]))],
  },
  "row sums with sink": {
    gives: ([a], sink) => a.map((row) => [sum(row) + Math.exp(sink)]),
    from: ({ step, of }) => ["sum", one([...of(step.of[0]), constant("sink", Math.exp(step.number))])],
  },
  "share": {
    gives: ([a, b]) => each(a, (x, i, j) => (by(b, i, j) ? x / by(b, i, j) : 0)),
    from: ({ step, row, column, at }) => ["share", [[at(step.of[0], row, column)],
      [at(step.of[1], row, 0)]]],
  },
  "spread": {
    gives: ([a], eps) => a.map((row) =>
      [Math.sqrt(sum(row.map((x) => x * x)) / row.length + eps)]),
    from: ({ step, of }) => ["root mean square", one([...of(step.of[0]), constant("eps", step.number)])],
  },
  "quotient": {
    gives: ([a, b]) => each(a, (x, i, j) => (by(b, i, j) ? x / by(b, i, j) : 0)),
    from: ({ step, row, column, at }) => ["share", [[at(step.of[0], row, column)],
      [at(step.of[1], row, 0)]]],
  },
  "sigmoid": {
    gives: ([a]) => each(a, (x) => (x < 0 ? Math.exp(x) / (1 + Math.exp(x)) : 1 / (1 + Math.exp(-x)))),
    from: ({ step, row, column, at }) => ["sigmoid", [[at(step.of[0], row, column)]]],
  },
  "turned": {
    gives: ([a, angles]) => a.map((row, i) => row.map((_, j) => {
      const angle = angles[i][Math.floor(j / 2)];
      const [first, second] = [row[j - (j % 2)], row[j - (j % 2) + 1]];
      return j % 2 ? first * Math.sin(angle) + second * Math.cos(angle)
        : first * Math.cos(angle) - second * Math.sin(angle);
    })),
    from: ({ step, row, column, at }) => {
      const pair = Math.floor(column / 2);
      const angle = at(step.of[1], row, pair).value;
      const [cos, sin] = [Math.cos(angle), Math.sin(angle)];
      const turns = column % 2 ? [sin, cos] : [cos, -sin];
      return ["products", turns.map((x, i) => [at(step.of[0], row, 2 * pair + i),
        constant("turn", x)])];
    },
  },
  "beside": {
    gives: ([a, b]) => a.map((row, i) => [...row, ...b[i]]),
    from: ({ step: { of: [left, right] }, row, column, of, at }) => {
      const width = of(left).length;
      return ["copy", [[column < width ? at(left, row, column) : at(right, row, column - width)]]];
    },
  },
  "decays": {
    gives: ([decay]) => decay.map((_, i) => decay.map((_, j) =>
      (j > i ? 0 : decay.slice(j + 1, i + 1).reduce((all, [x]) => all * x, 1)))),
    from: ({ step, row, column, at }) => ["products", [row > column
      ? Array.from({ length: row - column }, (_, i) => at(step.of[0], column + 1 + i, 0))
      : [constant("factor", row === column ? 1 : 0)]]],
  },
  "largest size": {
    gives: ([a]) => a.map((row) => [Math.max(...row.map(Math.abs))]),
    from: ({ step, of }) => ["largest size", one(of(step.of[0]))],
  },
  "rounded": {
    gives: ([a]) => each(a, rounded),
    from: ({ step, row, column, at }) => ["rounded", [[at(step.of[0], row, column)]]],
  },
};

/**
 * Carry a plan out: steps whose switches are on, each on the latest tables of its roles.
 * @param plan as `plan_as_data` in mha/runs/attention_variants.py writes it
 */
export function carriedOut(plan: any[], given: Record<string, Matrix>, on: Set<string>): { steps: Map<string, SheetStep>, roles: Record<string, string> } {
  const steps: Map<string, SheetStep> = new Map();
  const roles: Record<string, string> = {};
  const counts: Record<string, number> = {};
  const add = (role: string, step: any): void => {
    counts[role] = (counts[role] ?? 0) + 1;
    const name = counts[role] > 1 ? `${role} ${counts[role]}` : role;
    steps.set(name, { ...step, name });
    roles[role] = name;
  };
  for (const [role, array] of Object.entries(given)) {
    add(role, { title: role, operation: "given", of: [], number: 0, array });
  }
  for (const { role, title, operation, of, number = 0, switch: wanted = "" } of plan) {
    if (!wanted.split(" ").filter(Boolean).every((one: string) => on.has(one.replace("-", "")) !== one.startsWith("-"))) continue;
    const names = of.map((one: string) => roles[one]);
    const arrays = names.map((name: string) => steps.get(name)?.array ?? []);
    add(role, { title, operation, of: names, number,
      array: OPERATIONS[operation].gives(arrays, number) });
  }
  return { steps, roles };
}

/** A table of a sheet by its role. */
export const arrayOf = ({ steps, roles }: ReturnType<typeof carriedOut>, role: string): Matrix =>
  steps.get(roles[role])?.array ?? [];

/** Where a number of a sheet comes from. */
export function originOn(steps: Map<string, SheetStep>, table: string, row: number, column: number): { operation: string, terms: Operand[][], result: number } {
  const step = steps.get(table);
  if (!step) throw new RangeError(`there is no table ${table}`);
  const at = (name: string, i: number, j: number): any => {
    const array = steps.get(name)?.array ?? [];
    const k = array[i].length === 1 ? 0 : j;
    return { value: array[i][k], place: { table: name, row: i, column: k }, name: "" };
  };
  const of = (name: string): any[] => (steps.get(name)?.array[row] ?? []).map((_, i) => at(name, row, i));
  const result = step.array[row][column];
  if (step.operation === "given") {
    return { operation: "given", terms: [[constant("", result)]], result };
  }
  const [operation, terms] = OPERATIONS[step.operation].from({ row, column, step, at, of });
  return { operation, terms, result };
}
