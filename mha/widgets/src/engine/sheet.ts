/**
 * A sheet: named tables, each given or made of others by one operation of a plan that Python exports. The
 * rules say which numbers a number is made of, as mha/runs/computations.py does; the number itself comes from
 * the operation, as in a run.
 */

import { RESULTS, each, evaluate, named, sum } from "./operations.ts";
import type { Calculation, Matrix, Operand, Operation, Place } from "../types/run.ts";

/** A step of a plan, as `plan_as_data` in mha/runs/attention_variants.py writes it. */
export interface PlanStep {
  role: string;
  title: string;
  operation: string;
  of: string[];
  number?: number;
  /** The switches that have to be on, or off where they begin with a minus sign. */
  switch?: string;
}

/** The address of a number of a sheet. */
export interface Spot {
  table: string;
  row: number;
  column: number;
}

export interface SheetStep {
  name: string;
  title: string;
  operation: string;
  of: string[];
  number: number;
  array: Matrix;
}

export interface Sheet {
  steps: Map<string, SheetStep>;
  /** The latest table of each role. */
  roles: Record<string, string>;
}

/** The tables of a step, as its rule reads them for one number. */
interface Where {
  row: number;
  column: number;
  number: number;
  /** A number of a table; a table of one column has it for every column. */
  at(table: number, row: number, column: number): Operand;
  /** The row's numbers of the first table. */
  all: Operand[];
}

/** To the next whole number, halves to the even one. */
const rounded = (x: number): number => {
  const below = Math.floor(x);
  return x - below === 0.5 ? below + Math.abs(below % 2) : Math.round(x);
};

/** The columns of a row's largest scores, of equal ones the earlier. */
const largest = (row: number[], count: number): number[] => row.map((_, i) => i)
  .filter((i) => row[i] !== -Infinity).sort((i, j) => row[j] - row[i] || i - j).slice(0, count);

Object.assign(RESULTS, {
  "masked": () => -Infinity,
  "capped": ([[x], [cap]]) => cap * Math.tanh(x / cap),
  "sigmoid": ([[x]]) => (x < 0 ? Math.exp(x) / (1 + Math.exp(x)) : 1 / (1 + Math.exp(-x))),
  "largest size": (terms) => Math.max(...terms.flat().map(Math.abs)),
  "root mean square": (terms) => {
    const row = terms.flat();
    const eps = row.pop() ?? 0;
    return Math.sqrt(sum(row.map((x) => x * x)) / row.length + eps);
  },
  "rounded": ([[x]]) => rounded(x),
} satisfies typeof RESULTS);

type Rule = (where: Where) => [Operation, Operand[][]];

/** The number itself, of the first table. */
const same = ({ row, column, at }: Where): Operand => at(0, row, column);

/** The share of a number in that of the second table's row. */
const share: Rule = (where) => ["share", each(same(where), where.at(1, where.row, 0))];

/** The rule of each operation of a plan. */
const RULES: Record<string, Rule> = {
  "product": ({ all, column, at }) => ["products", all.map((operand, i) => [operand, at(1, i, column)])],
  "dots": ({ all, column, at }) => ["products", all.map((operand, i) => [operand, at(1, column, i)])],
  "sum": (where) => ["products", each(same(where), where.at(1, where.row, where.column))],
  "over root": (where) => ["scaled", each(same(where), named("d_k", where.number))],
  "times number": (where) => ["products", [[same(where), named("factor", where.number)]]],
  "times": (where) => ["products", [[same(where), where.at(1, where.row, where.column)]]],
  "masked": (where) => [where.at(1, where.row, where.column).value ? "copy" : "masked", each(same(where))],
  "top": (where) => {
    const kept = largest(where.all.map(({ value }) => value), where.number);
    return [kept.includes(where.column) ? "copy" : "masked", each(same(where))];
  },
  "capped": (where) => ["capped", each(same(where), named("cap", where.number))],
  "exponential": (where) => ["exponential", each(same(where))],
  "row sums": ({ all }) => ["sum", each(...all)],
  "row sums with sink": ({ all, number }) => ["sum", each(...all, named("sink", Math.exp(number)))],
  share,
  "spread": ({ all, number }) => ["root mean square", each(...all, named("eps", number))],
  "quotient": share,
  "sigmoid": (where) => ["sigmoid", each(same(where))],
  "turned": ({ row, column, at }) => {
    const pair = column >> 1;
    const angle = at(1, row, pair).value;
    const [cos, sin] = [Math.cos(angle), Math.sin(angle)];
    return ["products", (column % 2 ? [sin, cos] : [cos, -sin]).map((x, i) => [at(0, row, 2 * pair + i), named("turn", x)])];
  },
  "beside": ({ all, row, column, at }) =>
    ["copy", each(column < all.length ? at(0, row, column) : at(1, row, column - all.length))],
  "decays": ({ row, column, at }) => ["products", [row > column
    ? Array.from({ length: row - column }, (_, i) => at(0, column + 1 + i, 0))
    : [named("factor", Number(row === column))]]],
  "largest size": ({ all }) => ["largest size", each(...all)],
  "rounded": (where) => ["rounded", each(same(where))],
};

/** The operations that a plan may have. */
export const OPERATIONS = Object.keys(RULES);

/** How many columns a table has that an operation makes of others. */
function columnsOf(operation: string, [a, b]: Matrix[]): number {
  if (["row sums", "row sums with sink", "spread", "largest size"].includes(operation)) return 1;
  if (operation === "product") return b[0].length;
  if (operation === "beside") return a[0].length + b[0].length;
  return operation === "dots" ? b.length : operation === "decays" ? a.length : a[0].length;
}

/** The operation and the operands of one number. @param names of the tables; without them operands have no place */
function calculation(step: { operation: string, number: number }, arrays: Matrix[], row: number, column: number, names?: string[]): Calculation {
  const at = (table: number, i: number, j: number): Operand => {
    const numbers = arrays[table][i];
    const k = numbers.length === 1 ? 0 : j;
    const spot: Spot | undefined = names && { table: names[table], row: i, column: k };
    // Operands of a sheet have its spots where those of a run have places.
    return { value: numbers[k], place: (spot as unknown as Place) ?? null, name: "" };
  };
  const all = (arrays[0][row] ?? []).map((_, i) => at(0, row, i));
  const [operation, terms] = RULES[step.operation]({ row, column, number: step.number, at, all });
  return { operation, terms };
}

/** Carry a plan out: steps whose switches are on, each on the latest tables of its roles. */
export function carriedOut(plan: PlanStep[], given: Record<string, Matrix>, on: Set<string>): Sheet {
  const steps: Map<string, SheetStep> = new Map();
  const roles: Record<string, string> = {};
  const counts: Record<string, number> = {};
  const add = (role: string, step: Omit<SheetStep, "name">): void => {
    counts[role] = (counts[role] ?? 0) + 1;
    const name = counts[role] > 1 ? `${role} ${counts[role]}` : role;
    steps.set(name, { ...step, name });
    roles[role] = name;
  };
  for (const [role, array] of Object.entries(given)) {
    add(role, { title: role, operation: "given", of: [], number: 0, array });
  }
  for (const { role, title, operation, of: wantedRoles, number = 0, switch: wanted = "" } of plan) {
    if (!wanted.split(" ").filter(Boolean).every((one) => on.has(one.replace("-", "")) !== one.startsWith("-"))) continue;
    const of = wantedRoles.map((one) => roles[one]);
    const arrays = of.map((name) => steps.get(name)?.array ?? []);
    const columns = Array.from({ length: columnsOf(operation, arrays) }, (_, j) => j);
    const array = arrays[0].map((_, row) =>
      columns.map((column) => evaluate(calculation({ operation, number }, arrays, row, column))));
    add(role, { title, operation, of, number, array });
  }
  return { steps, roles };
}

/** A table of a sheet by its role. */
export const arrayOf = ({ steps, roles }: Sheet, role: string): Matrix => steps.get(roles[role])?.array ?? [];

/** Where a number of a sheet comes from. */
export function originOn(steps: Map<string, SheetStep>, table: string, row: number, column: number): Calculation {
  const step = steps.get(table);
  if (!step) throw new RangeError(`there is no table ${table}`);
  if (step.operation === "given") return { operation: "given", terms: [[named("", step.array[row][column])]] };
  const arrays = step.of.map((name) => steps.get(name)?.array ?? []);
  return calculation(step, arrays, row, column, step.of);
}
