/**
 * A box that asks for one number of an example made on the page: the markup of mha/widgets/boxes.py,
 * for the exercise that mha/practice/exercise.py would make. The tests hold both to the same.
 */

import { asked, worked } from "../engine/exercises.ts";
import { fixed, short, shown } from "../engine/numbers.ts";
import { constant, origin } from "../engine/origins.ts";
import { at as placeAt, valueAt } from "../engine/places.ts";
import { stages } from "../engine/stages.ts";
import { fill } from "../engine/text.ts";
import { freshId, make } from "../figures/explorer-parts.ts";
import { dimension } from "../store/explorer-state.ts";
import type { ExplorerData, ExplorerNumbers } from "../types/explorer.ts";
import type { OwnKnowledge } from "../types/panels.ts";
import type { Kind, Task } from "../types/reading.ts";
import type { Matrix, Numbers, Operation, Origin, Place } from "../types/run.ts";

/** The most decimals that numbers are given with. */
const [LEAST, MOST] = [4, 16];

const KINDS: Partial<Record<Operation, Kind>> = { products: "products", mixed: "products", sum: "sum", exponential: "power",
  share: "share" };

/** The operands, in the groups in which a question gives them. */
function calculation(numbers: ExplorerNumbers, from: Origin): { kind: Kind, givens: number[][] } {
  const { operation, terms, place } = from;
  const values = terms.map((term) => term.map(({ value }) => value));
  const kind = KINDS[operation] ?? (constant(from, "d_k") === null ? "times" : "root");
  if (kind === "products") return { kind, givens: [0, 1].map((i) => values.map((term) => term[i])) };
  if (kind === "sum") return { kind, givens: [values.flat()] };
  if (kind === "power") return { kind, givens: [[values[0][0]]] };
  if (kind === "share") return { kind, givens: [numbers.scaled_scores[place.head][place.row]] };
  return { kind, givens: values };
}

/** Whether a number can be computed by hand: no mask or huge score makes its arithmetic trivial. */
function isWorkable(numbers: ExplorerNumbers, { stage, head, row, column }: Place): boolean {
  if (!["scaled_scores", "exponentials", "row_sums", "weights"].includes(stage)) return true;
  if (numbers.shifts[head][row]) return false;
  return column === null ? numbers.row_sums[head][row] > 0
    : Number.isFinite(numbers.scaled_scores[head][row][column]);
}

/** How many decimals are asked for. */
function decimalsOf(answer: number) {
  const text = short(answer);
  return text === shown(answer) ? 2 : Math.max(2, (text.split(".")[1] ?? "").length);
}

/**
 * How near to a tie, in units of the last decimal, a number is one: a sum of products of printed
 * numbers is either a tie or farther from it.
 */
const TIE = 1e-9;

/** Whether a number is halfway between two numbers with a given number of decimals. */
const isTie = (value: number, places: number) => Math.abs(Math.abs(value) * 10 ** places % 1 - 0.5) < TIE;

/** How many decimals of the operands lead to the answer and to no tie. */
function givenPlaces(task: Task, answer: number) {
  const wanted = fixed(answer, task.places);
  for (let places = LEAST; places < MOST; places += 1) {
    const givens = task.givens.map((values) => values.map((x) =>
      (Number.isFinite(x) ? Number(fixed(x, places)) : x)));
    const found = asked({ ...task, givens });
    if (fixed(found, task.places) === wanted && !isTie(found, task.places)) return places;
  }
  return MOST;
}

/** The exercise to compute one number. */
export function exerciseOf(data: ExplorerData, numbers: ExplorerNumbers, at: Place, knowledge: OwnKnowledge): { task: Task, question: string, labels: string[], rounding: string } {
  const from = origin(numbers.inputs, numbers, at);
  const { kind, givens } = calculation(numbers, from);
  const more = givens.length > 2 ? knowledge.hintsWithMore[kind] : undefined;
  const task: Task = { kind, givens, shownPlaces: LEAST, column: kind === "share" ? at.column : 0,
    places: 2, percent: false, hints: more ?? knowledge.hints[kind], draw: null };
  const answer = asked(task);
  task.places = decimalsOf(answer);
  task.shownPlaces = givenPlaces(task, answer);
  const { columns, symbol } = stages[at.stage];
  const word = (i: number) => `*${data.tokens[i]}*`;
  const names = {
    row: word(at.row), tokens: data.tokens.map((_, i) => word(i)).join(", "), turned: "",
    head: at.head !== null && data.heads.length > 1 ? ` in ${data.heads[at.head]}` : "",
    factor: data.scale === null ? "d_k" : "scale", n: String((at.column ?? 0) + 1),
    column: columns === "keys" ? word(at.column) : "",
    component: dimension(symbol, at.column ?? 0),
  };
  const [question, ...labels] = knowledge.asked[at.stage].map((text) => fill(text, names));
  const rounding = fill(knowledge.roundings[Math.min(task.places, 2)], { places: task.places });
  return { task, question, labels: labels.slice(0, givens.length), rounding };
}

/** Nodes of a text in which words between asterisks are tokens; the index of d_k is lowered. */
const rich = (text: string): Node[] => text.split(/(\*.+?\*|\bd_k\b)/).map((part) => (part === "d_k"
  ? make("span", {}, make("em", {}, "d"), make("sub", {}, "k"))
  : /^\*.+\*$/.test(part) ? make("em", {}, part.slice(1, -1)) : document.createTextNode(part)));

function listed(values: number[], places: number) {
  const texts = values.map((value) => short(value, places));
  return texts.length === 1 ? texts[0] : `(${texts.join(", ")})`;
}

/** The box that asks for a number and checks the answer. */
export function boxOf(data: ExplorerData, numbers: ExplorerNumbers, at: Place, knowledge: OwnKnowledge) {
  const { task, question, labels, rounding } = exerciseOf(data, numbers, at, knowledge);
  const said = knowledge.labels;
  const id = `turn-own-${freshId()}`;
  const finite = task.givens.map((values) => values.map((x) => (Number.isFinite(x) ? x : null)));
  const json = JSON.stringify({ tasks: [{ ...task, givens: finite, elsewhere: [] }], together: false, isKept: false });
  const items = labels.map((label, i) => make("li", {}, ...rich(label), ": ",
    make("span", { className: "your-turn-given" }, listed(task.givens[i], task.shownPlaces))));
  const button = (type: string, name: string, label: string) =>
    make("button", { type, className: `reading-button ${name}` }, label);
  // The element begins as it comes to life, and then needs all that is in it: until then it
  // belongs to no page.
  const box = document.createElement("template").content.ownerDocument.createElement("mha-your-turn");
  Object.assign(box, { id, className: "your-turn-one", role: "group" });
  box.setAttribute("aria-labelledby", `${id}-title`);
  box.append(make("p", { className: "your-turn-title", id: `${id}-title` }, `${said.title} `,
    make("span", { className: "reading-done" })),
  make("form", { className: "your-turn-form", noValidate: true },
    make("div", { className: "your-turn-part" },
      make("p", { className: "your-turn-question", id: `${id}-question` }, ...rich(question)),
      make("ul", { className: "your-turn-givens", id: `${id}-givens` }, ...items),
      make("p", { className: "your-turn-rounding", id: `${id}-rounding` }, rounding)),
    make("div", { className: "your-turn-field" },
      make("label", { htmlFor: `${id}-answer` }, said.answer), " ",
      make("input", { id: `${id}-answer`, type: "text", autocomplete: "off", size: 9,
        spellcheck: false, "aria-describedby": `${id}-question ${id}-givens ${id}-rounding` })),
    make("div", { className: "your-turn-controls" }, button("submit", "", said.check),
      button("button", "your-turn-hint", said.hint)),
    make("div", { className: "your-turn-feedback", role: "status" }),
    make("ol", { className: "your-turn-hints", "aria-live": "polite" })),
  make("details", { className: "your-turn-worked" }, make("summary", {}, said.worked),
    make("p", {}, worked(task))),
  make("script", { type: "application/json" }, json));
  return box;
}

/** Whether a number has to be computed: zeros and the results of equal scores are obvious. */
function isTelling(numbers: ExplorerNumbers, at: Place): boolean {
  const { stage, head, row } = at;
  if (!["exponentials", "row_sums", "weights"].includes(stage)) return valueAt(numbers, at) !== 0;
  const scores = numbers.scaled_scores[head][row];
  return stage === "exponentials" ? scores[(at.column as number)] !== 0
    : scores.some((x) => x !== scores[0]);
}

/**
 * The numbers of a stage that can be asked for: those of one word, of keys and values of all. Of
 * other words where one's numbers tell nothing; none of its own only where no word has better.
 */
export function askable(numbers: ExplorerNumbers, stage: string, word: number): Place[] {
  const { axes } = stages[stage];
  const array = (numbers as Numbers)[stage];
  if (!array) return [];
  const heads: (Matrix | number[])[] = axes.includes("head") ? array : [array];
  const every = heads.flatMap((rows, h) => {
    const head = axes.includes("head") ? [h] : [];
    return rows.flatMap((entries, row) => (Array.isArray(entries)
      ? entries.map((_, column) => placeAt(stage, ...head, row, column)) : [placeAt(stage, ...head, row)]));
  }).filter((at) => isWorkable(numbers, at) && Number.isFinite(valueAt(numbers, at)));
  const own = ["key", "value"].includes(stage) ? every
    : every.filter(({ row }) => row === word);
  const telling = (places: Place[]) => places.filter((at) => isTelling(numbers, at));
  return [telling(own), telling(every), own].find((places) => places.length) ?? [];
}
