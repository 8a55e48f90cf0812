/** The tables of the sheet of newer attention: inputs as fields, and numbers that lead to their origins. */

import { short } from "../engine/numbers.ts";
import { type Sheet, type SheetStep, type Spot, arrayOf, originOn } from "../engine/sheet.ts";
import { fill } from "../engine/text.ts";
import { entered } from "../engine/typed-numbers.ts";
import { movable } from "../figures/dragged-field.ts";
import { make, makeButton, scientific, set, setText } from "../figures/explorer-parts.ts";
import { editNow } from "../store/edits.ts";
import { MOST, OPEN, type SheetChoices } from "../store/sheet-address.ts";
import { sheet as texts } from "../strings/sheet.ts";
import type { Complaint } from "../types/fields.ts";

/** Which given table a switch makes use of. */
const USED_BY: Record<string, string> = { angles: "turn", gate: "gate", decay: "decay", other_key: "groups",
  other_value: "groups", down: "latent", up_key: "latent", up_value: "latent" };

/** Given tables whose rows are no tokens. */
const MATRICES = ["down", "up_key", "up_value"];

/** From here on a number has an exponent. */
const LARGE = 1e6;

/** The sheet, as its tables see it. */
interface SheetFigure {
  data: { tokens: string[] };
  state: SheetChoices;
  /** With the changes that are on, and plain. */
  sheet: Sheet;
  plain: Sheet;
  change(patch: Partial<SheetChoices>, what: string, sentence?: string): void;
  clearStatus(): void;
  paint(): void;
}

/**
 * @param show is called with the number whose origin is requested
 * @param complaint returns the handler of error messages on typed numbers
 */
export function tablesOf(view: SheetFigure, show: (at: Spot) => void, complaint: () => Complaint) {
  const node: HTMLElement = make("div", { className: "sheet-tables" });

  /** The names of the shown tables. */
  let shownNames = "";
  let made: HTMLElement[] = [];

  function titleOf(table: string) {
    const { title = "", operation } = view.sheet.steps.get(table) ?? {};
    return operation === "given" ? texts.given[title] : title;
  }

  function labelOf(row: number, table = "") {
    return (!MATRICES.includes(table) && view.data.tokens[row]) || String(row + 1);
  }

  /**
   * Whether a table has a column for each key: one of scores, or made of one by something else than
   * mixing.
   */
  function isOfKeys(table: string): boolean {
    const { of = [], operation = "" } = view.sheet.steps.get(table) ?? {};
    return ["decays", "dots"].includes(operation) || (operation !== "product" && of.length > 0 && isOfKeys(of[0]));
  }

  /** Whether a mask hides a key from the query, or larger scores do. */
  function isHidden(sheet: Sheet, key: number) {
    const { query } = view.state;
    return sheet.roles.scaled ? arrayOf(sheet, "scaled")[query][key] === -Infinity : key > query;
  }

  /** The numbers on which the query's output depends. Hidden keys contribute nothing. */
  function reached(): Set<string> {
    const { roles, steps } = view.sheet;
    const found: Set<string> = new Set();
    const visit = ({ table, row, column }: Spot) => {
      const where = [table, row, column].join();
      if (found.has(where)) return;
      found.add(where);
      const { operation, terms } = originOn(steps, table, row, column);
      if (operation === "masked") return;
      for (const operands of terms) {
        const places = operands.flatMap(({ place }) => (place as unknown as Spot | null) ?? []);
        const isLost = places.length > 1 && places.some((place) =>
          place.table === roles.weights && isHidden(view.sheet, place.column));
        if (!isLost) places.forEach(visit);
      }
    };
    arrayOf(view.sheet, "output")[0].forEach((_, column) =>
      visit({ table: roles.output, row: view.state.query, column }));
    return found;
  }

  /** @param kept the number that remains if the new one is refused */
  function enter(input: HTMLInputElement, role: string, row: number, column: number, kept: number) {
    const { value, wrong } = entered(input.value, { most: MOST });
    const isRight = !wrong;
    const given = structuredClone(view.state.given);
    given[role][row][column] = isRight ? value : kept;
    view.change({ given }, [role, row, column].join(), isRight ? undefined : "");
    if (!isRight) view.clearStatus();
    complaint().say(input, wrong);
  }

  /** One table of the sheet. */
  function table({ name, title, operation, array }: SheetStep) {
    const isOpen = operation === "given" && OPEN.includes(title);
    const rows = array.map((row, i) =>
      make("tr", {}, make("th", { scope: "row" }, make("i", {}, labelOf(i, title))),
        ...row.map((_, j) => make("td", {}, isOpen ? field(title, i, j)
          : makeButton("", () => show({ table: name, row: i, column: j }),
            { className: "number" })))));
    const names = array[0].length === 1 ? [] : array[0].map((_, j) => make("th", { scope: "col" },
      isOfKeys(name) ? make("i", {}, labelOf(j)) : String(j + 1)));
    const found = make("table", { className: "sheet-table" }, make("caption", {}, titleOf(name)),
      ...(names.length ? [make("thead", {}, make("tr", {}, make("td"), ...names))] : []),
      make("tbody", {}, ...rows));
    return make("div", { className: "sheet-scroll" }, found);
  }

  /** A number that can be changed. */
  function field(role: string, row: number, column: number) {
    const input = make("input", { type: "text", inputMode: "decimal", autocomplete: "off",
      className: "number given", "aria-label": fill(texts.of, { title: texts.given[role],
        row: labelOf(row, role), column: column + 1 }) });
    const now = () => view.state.given[role][row][column];
    /** The number before an edit, which stays where the text is refused. */
    let kept = now();
    let edit = -1;
    input.addEventListener("focus", () => complaint().clear());
    input.addEventListener("input", () => {
      if (edit !== editNow()) [edit, kept] = [editNow(), now()];
      enter(input, role, row, column, kept);
    });
    // Text that is refused does not stay beside numbers that are computed without it.
    input.addEventListener("change", () => { input.value = short(now()); });
    input.addEventListener("blur", () => view.paint());
    movable(input, now, MOST);
    return input;
  }

  /** Tables are made anew only where others are there than before. */
  function paint() {
    const { sheet, state } = view;
    const seen = [...sheet.steps.values()].filter(({ operation, title }) => operation !== "given"
      || (OPEN.includes(title) && (!USED_BY[title] || state.on.includes(USED_BY[title]))));
    const names = seen.map(({ name, title }) => name + title).join();
    if (names !== shownNames) {
      shownNames = names;
      made = seen.map((step) => table(step));
      node.replaceChildren(...made);
    }
    const usual = new Set([...view.plain.steps.values()].map(({ title }) => title));
    const those = reached();
    seen.forEach(({ name, title, array, operation }, i) => {
      const cells = [...made[i].querySelectorAll<HTMLElement>(".number")];
      const width = array[0].length;
      array.flat().forEach((x: number, at: number) => {
        const cell = cells[at];
        const text = Math.abs(x) < LARGE || x === -Infinity ? short(x) : scientific(x, 2);
        const isReached = those.has([name, Math.floor(at / width), at % width].join());
        set(cell, "class", `number${cell.tagName === "INPUT" ? " given" : ""}${isReached ? "" : " pale"}`);
        if (!(cell instanceof HTMLInputElement)) setText(cell, text);
        else if (cell !== document.activeElement) cell.value = text;
      });
      made[i].firstElementChild?.classList.toggle("added", operation !== "given" && !usual.has(title));
    });
  }

  return { node, isHidden, isOfKeys, labelOf, paint, titleOf };
}
