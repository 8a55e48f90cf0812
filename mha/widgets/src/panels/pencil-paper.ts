/**
 * The paper of the red pencil: the numbers of a document in blocks and rows, each a button whose look shows
 * its verdict, and which the arrow keys move among.
 */

import { RIGHT, SLIP, evaluate } from "../engine/corrections.ts";
import { shown } from "../engine/numbers.ts";
import { parse } from "../engine/places.ts";
import { stages } from "../engine/stages.ts";
import { fill } from "../engine/text.ts";
import { inSlices, make, set, setText } from "../figures/explorer-parts.ts";
import { dimension } from "../store/explorer-state.ts";
import { pencil as texts } from "../strings/pencil.ts";
import { marked, named, withMinus } from "./pencil-words.ts";
import type { PencilBlock, PencilCell, PencilRow, PencilView } from "../types/pencil.ts";

/** The most rows of blocks, each of another stage, that are set one below the other. */
const STACKED = 2;

/** So many rows are seen on the first screen: the others follow. */
const SEEN = 40;

/** The looks of a number, by its verdict. */
export const LOOKS = ["right", "slip", "spoiled", "inexact"];

/** The relation of a number to the selected one: none, itself, computed from it, or the end of that. */
const LINKS = ["", " at", " lit", " end"];

/** The position of a block in its document. */
function linesOf({ rows }: PencilBlock): string {
  const lines = rows.flatMap(({ line, lines = [] }) => [line, ...lines]);
  const [from, to] = [Math.min(...lines), Math.max(...lines)];
  return from === to ? fill(texts.inLine, { line: from }) : fill(texts.inLines, { from, to });
}

/** @param press is called with the number that a reader presses */
export function paperOf(pencil: PencilView, press: (spot: number) => void) {
  const node: HTMLElement = make("div", {
    className: "pencil-paper", role: "group", "aria-label": texts.title,
    onkeydown: (event: KeyboardEvent) => move(event),
    onclick: (event: MouseEvent) => {
      const cell = cellOf.get(event.target as EventTarget);
      if (cell) press(cell.spot);
    },
  });

  /** The look and the state of each number, so that only changed numbers are painted again. */
  let looks: number[] = [];
  let values: number[] = [];

  /** Whether it has fewer decimals than others of its block. */
  let isShort: boolean[] = [];

  /** The buttons of the open document, by their spots. */
  let buttons: Map<number, HTMLElement> = new Map();
  let cellOf: Map<EventTarget, PencilCell> = new Map();

  /** The number that the tabulator leads to. */
  let current = -1;

  /** The blocks that are still to be written. */
  let waiting: (() => void)[] = [];

  /** Writes the rest of the sheet, and names every number, at once. */
  let finish = () => {};

  /** The button of a number that is written. */
  function buttonAt(spot: number): HTMLElement {
    return buttons.get(spot) as HTMLElement;
  }

  /** Write the open document's sheet as it is printed, which is seen first. */
  function write() {
    const { sheet, bySpot, cells } = pencil.document;
    buttons = new Map();
    cellOf = new Map();
    looks = [];
    values = [];
    isShort = [];
    let part = "";
    const stacked: Set<string> = new Set();
    const add = (block: PencilBlock) => {
      const title = partOf(block);
      if (title && title !== part) {
        part = title;
        stacked.clear();
        node.append(make("p", { className: "pencil-part" }, ...marked(title)));
      }
      const isStacked = block.rows.length <= STACKED;
      if (!isStacked || stacked.has(block.stage)) stacked.clear();
      if (stacked.size) node.lastElementChild?.append(blockOf(block));
      else node.append(make("div", { className: "pencil-stack" }, blockOf(block)));
      if (isStacked) stacked.add(block.stage);
    };
    node.replaceChildren();
    let rows = 0;
    const isSeen = sheet.blocks.map((block) => (rows += block.rows.length) - block.rows.length < SEEN);
    sheet.blocks.filter((_, i) => isSeen[i]).forEach(add);
    waiting = sheet.blocks.filter((_, i) => !isSeen[i]).map((block) => () => {
      add(block);
      block.rows.forEach(({ at }) => at.forEach((spot) =>
        paintCell((bySpot.get(spot) as PencilCell))));
    });
    // What follows comes below the screen.
    set(node, ".minHeight", waiting.length ? "100vh" : "");
    if (waiting.length) waiting.push(() => set(node, ".minHeight", ""));
    buttonAt(cells[0].spot).tabIndex = 0;
    current = cells[0].spot;
  }

  /** The title above blocks of one example and head; "" for blocks that belong to none. */
  function partOf({ example, head, stage }: PencilBlock): string {
    const { title, heads } = pencil.document.sheet.examples[example];
    if (stage === "root") return "";
    if (heads.length === 1 || !isByHead(example)) return `*${title}*`;
    return `*${title}*, ${head < 0 ? texts.heads : heads[head]}`;
  }

  /** Whether a document is through with one head before it comes to the next. */
  function isByHead(example: string) {
    const heads = pencil.document.sheet.blocks.filter((block) => block.example === example && block.stage !== "root")
      .map(({ head }) => head);
    const runs = heads.filter((head, i) => head !== heads[i - 1]);
    return runs.length === new Set(runs).size;
  }

  function blockOf(block: PencilBlock) {
    const { bySpot, numbers, sheet } = pencil.document;
    block.rows.forEach(({ at }) => at.forEach((spot) => {
      const button = make("button", { type: "button", tabIndex: -1 }, withMinus(numbers[spot].printed));
      buttons.set(spot, button);
      cellOf.set(button, (bySpot.get(spot) as PencilCell));
    }));
    const those = block.rows.flatMap(({ at }) => at.map((spot) => numbers[spot]));
    const longest = Math.max(...those.map(({ printed }) => printed.length));
    // Numbers of one column are aligned at their decimal points.
    const finest = Math.max(...those.map(({ places }) => places));
    block.rows.forEach(({ at }) => at.forEach((spot) => {
      const missing = finest - numbers[spot].places;
      if (missing) buttonAt(spot).style.setProperty("--missing", String(missing));
      isShort[spot] = missing > 0;
      // A point is half as wide as a digit.
      const { printed, slip } = numbers[spot];
      if (slip) buttonAt(spot).style.setProperty("--long", String(printed.length - 0.5 * Number(printed.includes("."))));
    }));
    const { columns, symbol } = stages[block.stage];
    const { heads } = sheet.examples[block.example];
    const said = block.how === "worked" ? fill(texts.worked, { stage: texts.stages[block.stage] })
      : block.how === "terms" && block.stage === "head_outputs" ? texts.terms : texts.stages[block.stage];
    const isNamed = block.head >= 0 && !isByHead(block.example);
    const title = isNamed ? `${said}, ${heads[block.head]}` : said;
    const nameOf = (row: PencilRow) => {
      const place = parse(row.places[0]);
      if (block.how !== "worked" || !place) return row.of;
      return columns === "keys" ? sheet.examples[block.example].tokens[place.column] : dimension(symbol, place.column);
    };
    const rows = block.rows.map((row) => make("div", { className: "pencil-row" },
      make("span", { className: "of" }, nameOf(row)),
      ...row.at.flatMap((spot, i) => {
        if (!i || !block.rows.some(({ sum }) => sum)) return [buttonAt(spot)];
        const sign = !row.sum ? "" : row.sum === 2 && i === row.at.length - 1 ? "=" : "+";
        return [make("span", { className: "sign" }, sign), buttonAt(spot)];
      })));
    const widest = Math.max(...block.rows.map((row) => nameOf(row).length));
    return make("div", { className: "pencil-block", style: `--digits: ${longest}; --label: ${widest}` },
      make("p", { className: "pencil-title" }, title, make("span", {}, ` ${linesOf(block)}`)),
      ...rows);
  }

  /** Put the focus on the number that the tabulator leads to. */
  function focus() {
    buttonAt(current).focus({ preventScroll: true });
  }

  /** Bring a number into sight. */
  function bring(spot: number) {
    buttonAt(spot).scrollIntoView({ block: "nearest" });
  }

  /** Make a number the one that the tabulator leads to. */
  function enter(spot: number) {
    if (!buttons.has(spot)) finish();
    buttonAt(current).tabIndex = -1;
    buttonAt(spot).tabIndex = 0;
    current = spot;
  }

  function move(event: KeyboardEvent) {
    const { cells } = pencil.document;
    const i = cells.findIndex(({ spot }) => spot === current);
    const { block, row } = cells[i];
    const inRow = cells.filter((cell) => cell.block === block && cell.row === row);
    const column = inRow.indexOf(cells[i]);
    /** The index of the cell in the same column as the current one, in the row of another cell. */
    const beside = (from: number): number => {
      const there = cells[from];
      const row = there ? cells.filter((cell) => cell.block === there.block && cell.row === there.row) : inRow;
      return cells.indexOf(row[Math.min(column, row.length - 1)]);
    };
    const ways: Record<string, () => number> = {
      ArrowRight: () => i + 1, ArrowLeft: () => i - 1,
      ArrowDown: () => beside(i - column + inRow.length), ArrowUp: () => beside(i - column - 1),
      Home: () => i - column, End: () => i - column + inRow.length - 1,
    };
    if (event.key === "Escape") pencil.close();
    if (!Object.hasOwn(ways, event.key)) return;
    event.preventDefault();
    const to = cells[ways[event.key]()];
    if (!to) return;
    enter(to.spot);
    buttonAt(to.spot).focus();
  }

  function paintCell({ spot }: PencilCell) {
    const value = pencil.state.values[spot];
    const isAnew = pencil.state.changed[spot];
    const look = pencil.state.states[spot];
    const { at, lit } = pencil;
    const link = !lit ? 0 : spot === at ? 1 : lit.lit.has(spot) ? 2 : lit.ends.has(spot) ? 3 : 0;
    const now = 16 * look + 4 * Number(isAnew) + link;
    const button = buttons.get(spot);
    if (!button) return; // it is painted as it is written
    if (looks[spot] !== now) {
      button.className = `n ${LOOKS[look]}${isAnew ? " anew" : ""}${isShort[spot] ? " short" : ""}${LINKS[link]}`;
    }
    const isSame = values[spot] === value && looks[spot] >> 2 === now >> 2;
    const isAsPrinted = looks[spot] === undefined && !isAnew;
    looks[spot] = now;
    values[spot] = value;
    if (isSame || isAsPrinted) return; // as printed, it stands there, and is named once all is drawn
    const { printed, places } = pencil.document.numbers[spot];
    setText(button, isAnew ? shown(value, places) : withMinus(printed));
    set(button, "aria-label", label(spot));
  }

  /**
   * Write the rest of the sheet, and name every number for screen readers, after the first drawing.
   * @param first is done before that
   */
  function name(first: () => void) {
    const own = buttons;
    finish = inSlices([first, ...waiting,
      ...pencil.document.cells.map(({ spot }) => () => set(buttonAt(spot), "aria-label", label(spot))),
    ].map((act) => () => { if (buttons === own) act(); }));
  }

  /** The description of a number for screen readers. */
  function label(spot: number): string {
    const { sheet, numbers, bySpot } = pencil.document;
    const { values: now, states, changed } = pencil.state;
    const number = numbers[spot];
    const cell = (bySpot.get(spot) as PencilCell);
    const words = {
      name: fill(texts.line, { name: named(sheet, cell), line: cell.line }),
      value: changed[spot] ? shown(now[spot], number.places) : withMinus(number.printed),
      printed: withMinus(number.printed),
      wanted: shown(states[spot] === SLIP ? evaluate(number.formula, now) : Number(number.true), number.places),
    };
    if (changed[spot]) return fill(states[spot] === RIGHT ? texts.labelMended : texts.labelStill, words);
    return fill([texts.labelRight, texts.labelSlip, texts.labelSpoiled, texts.labelRounded][states[spot]], words);
  }

  return { node, bring, enter, focus, label, name, paintCell, write };
}
