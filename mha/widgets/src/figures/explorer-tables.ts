/** The explorer's tables: cells as buttons, painted after every change, visible ones first. */

import { address, at as placeAt, of as placeOf, valueAt } from "../engine/places.ts";
import { MAPS, headOf, isInput } from "../store/explorer-state.ts";
import { same } from "../store/same.ts";
import { fitting, make, printed } from "./explorer-parts.ts";
import type { Cell, ExplorerData, ExplorerNumbers, ExplorerState, Section } from "../types/explorer.ts";
import type { Numbers, Place } from "../types/run.ts";

/** Of a stage without heads. */
const NO_HEAD = null as unknown as number;

export class Tables {
  data: ExplorerData;
  body: HTMLElement;
  cells: Map<string, Cell>;
  ofButton: Map<EventTarget | null, Cell>;
  lit: Cell[];
  given: Cell[];
  labels: HTMLElement[][];
  digits: Record<string, number>;
  now: { numbers: ExplorerNumbers, state: ExplorerState, extents: Record<string, number[]> } | null;
  stages: Section[];
  following: boolean | undefined;
  painted: number[] | undefined;

  constructor(data: ExplorerData, body: HTMLElement) {
    this.data = data;
    this.body = body;
    this.cells = new Map();
    this.ofButton = new Map();
    this.lit = [];
    this.given = [];
    this.labels = [];
    this.digits = {};
    /** The painted state: numbers, state, and the extents of the stages. */
    this.now = null;
    this.stages = [...body.querySelectorAll(".stage")].map((node) => {
      const tables = [...node.querySelectorAll<HTMLTableElement>("table[data-stage]")];
      const cells = tables.flatMap((table) => this.adopt(table));
      return { node, cells, inSight: false, stale: true };
    });
  }

  adopt(table: HTMLTableElement): Cell[] {
    const { head: number, stage = "", tokens = "" } = table.dataset;
    const head = number === undefined ? NO_HEAD : Number(number);
    const rows = [...table.tBodies[0].rows].map((row) => [...row.cells]);
    const columns = [...table.tHead?.rows ?? []].at(-1)?.cells ?? [];
    const heads = [...columns].slice(-(rows[0].length - 1));
    const grid = rows.map(([label, ...entries], row) => entries.map((entry, column) => {
      const isSum = stage === "exponentials" && column === this.data.tokens.length;
      const at = isSum ? placeAt("row_sums", head, row) : placeOf(stage, head, row, column);
      return this.makeCell(at, entry, { label, title: heads[column], look: table.className });
    }));
    grid.flat().forEach((cell) => { cell.grid = grid; });
    grid[0][0].button.tabIndex = 0;
    if (tokens.includes("rows")) this.tokenLabels(rows.map(([label]) => label));
    if (tokens.includes("columns")) this.tokenLabels(heads.slice(0, this.data.tokens.length));
    return grid.flat();
  }

  makeCell(at: Place, entry: HTMLTableCellElement, { label, title, look }: { label: HTMLElement, title: HTMLElement, look: string }): Cell {
    const button = entry.firstChild as HTMLButtonElement;
    const { width } = this.data;
    const head = headOf(at, width);
    const lane = entry.closest<HTMLElement>(".map");
    const map = lane?.dataset.map ?? "";
    const given = isInput(this.data, at);
    const cell: Cell = {
      at, entry, button, text: button.firstChild as Text, label, title, look, head, map, given,
      value: NaN, style: "", grid: [],
    };
    if (given) {
      button.classList.add("given");
      this.given.push(cell);
    }
    if (at.head === null && head !== null) button.classList.add(`head-${head % 6}`);
    if (at.stage === "concat" && at.column % width === 0) entry.classList.add("first");
    this.cells.set(address(at), cell);
    this.ofButton.set(button, cell);
    return cell;
  }

  /** The names of the maps, in the order of the computation. */
  mapNames() {
    return MAPS.map((map) =>
      this.body.querySelector(`.map[data-map="${map}"] .map-name`)?.textContent ?? map);
  }

  tokenLabels(labels: HTMLElement[]) {
    this.labels.push(labels);
  }

  cellAt(at: Place): Cell | undefined {
    return this.cells.get(address(at));
  }

  /** Paint the visible tables at once, and the others one per frame or when they become visible. */
  paint(numbers: ExplorerNumbers, state: ExplorerState) {
    this.now = { numbers, state, extents: {} };
    this.paintLabels(state);
    for (const stage of this.stages) {
      stage.stale = true;
      if (stage.inSight) this.paintStage(stage);
    }
    if (!this.following) this.follow();
  }

  /** Paint one more stage that is out of sight, and the next one in the next frame. */
  follow() {
    const stale = this.stages.find((stage) => stage.stale);
    this.following = stale !== undefined;
    this.body.classList.toggle("following", this.following);
    if (!stale) return;
    requestAnimationFrame(() => {
      if (stale.stale) this.paintStage(stale);
      this.follow();
    });
  }

  /** Watch which stages are in sight; until this is known, none is painted before the others. */
  watch() {
    const observer = new IntersectionObserver((entries) => {
      for (const { target, isIntersecting } of entries) {
        const stage = this.stages.find(({ node }) => node === target);
        if (!stage) continue;
        stage.inSight = isIntersecting;
        if (isIntersecting && stage.stale) this.paintStage(stage);
      }
    }, { rootMargin: "100px" });
    this.stages.forEach(({ node }) => observer.observe(node));
  }

  paintStage(stage: Section) {
    if (!this.now) return;
    const { numbers, state, extents } = this.now;
    const digits: Record<string, number> = {};
    stage.stale = false;
    stage.node.classList.add("painted");
    for (const cell of stage.cells) {
      // Maps that are hidden are painted when they are chosen.
      if (cell.map && cell.map !== state.map) continue;
      const name = cell.at.stage;
      const value = valueAt(numbers, cell.at);
      extents[name] ??= this.extent(name, numbers);
      this.paintCell(cell, value, this.style(cell, value, extents[name], numbers, state));
      digits[cell.map] = Math.max(digits[cell.map] ?? 0, cell.text.length);
    }
    this.widen(digits);
  }

  /** Widen columns to their longest number yet, the maps' apart from the others'. */
  widen(digits: Record<string, number>) {
    for (const [map, count] of Object.entries(digits)) {
      if (count <= this.digits[map]) continue;
      this.digits[map] = count;
      const part = map ? this.body.querySelector<HTMLElement>(`.map[data-map="${map}"]`) : this.body;
      part?.style.setProperty("--digits", String(count));
    }
  }

  paintCell(cell: Cell, value: number, style: string) {
    if (value !== cell.value) {
      cell.value = value;
      const text = fitting(value, cell.given, { places: cell.look === "heat" ? 2 : 4 });
      if (cell.text.data !== text) {
        cell.text.data = text;
        this.call(cell);
      }
    }
    if (style !== cell.style) {
      cell.style = style;
      cell.button.style.cssText = style;
    }
  }

  /** The smallest and largest finite number of a stage, all heads together. */
  extent(stage: string, numbers: Numbers): number[] {
    if (stage === "weights") return [0, 1];
    const finite = numbers[stage].flat(2).filter(Number.isFinite);
    const low = Math.min(...finite, stage === "exponentials" ? 0 : Infinity);
    return [low, Math.max(...finite)];
  }

  style(cell: Cell, value: number, [low, high]: number[], numbers: ExplorerNumbers, state: ExplorerState): string {
    if (value === -Infinity) return "";
    if (cell.look === "heat") {
      const heat = Number(((value - low) / (high - low || 1)).toFixed(3));
      return "background:color-mix(in srgb,"
        + `var(--head) calc(${heat}*var(--heat-full,55%)),var(--paper))`;
    }
    if (cell.look === "shares") return this.shares(cell.at, numbers, state);
    const size = Math.max(Math.abs(low), Math.abs(high)) || 1;
    const [zero, span] = low < 0 ? [50, 50] : [0, 100];
    const end = zero + Math.round((span * value) / size);
    const [from, to] = [Math.min(zero, end), Math.max(zero, end)];
    // In CSS, a background's position in percent is of the space that its size leaves.
    const position = to - from < 100 ? Math.round((100 * from) / (100 - to + from)) : 0;
    return `background-size:${to - from}% 5px;background-position:${position}% 100%`;
  }

  /** A strip of the heads' colours, as long as their shares are large. */
  shares({ row, column }: Place, numbers: ExplorerNumbers, state: ExplorerState): string {
    const sizes = (numbers.head_contributions ?? []).map((share, head) =>
      (state.off[head] ? 0 : Math.abs(share[row][column])));
    const total = sizes.reduce((all, size) => all + size, 0) || 1;
    let end = 0;
    const stops = sizes.map((size, head) => {
      const from = Math.round(end);
      end += (100 * size) / total;
      return `var(--head-${head % 6 + 1}) ${from}% ${Math.round(end)}%`;
    });
    return `background-image:linear-gradient(90deg,${stops})`;
  }

  paintLabels({ order }: ExplorerState) {
    const { tokens, focus } = this.data;
    if (same(order, this.painted)) return;
    this.painted = order;
    for (const labels of this.labels) {
      labels.forEach((label, i) => {
        label.textContent = tokens[order[i]];
        label.classList.toggle("followed", order[i] === focus);
      });
    }
  }

  /** Strike out the numbers of a head that is off. */
  strike({ off }: ExplorerState) {
    for (const cell of this.cells.values()) {
      if (cell.head !== null) cell.button.classList.toggle("off", off[cell.head]);
    }
  }

  /** Outline the selected number and those that it comes from. */
  light(selected: Place | null, sources: Place[], edits: (at: Place) => boolean) {
    this.lit.forEach((cell) => {
      cell.button.classList.remove("selected", "source");
      cell.button.removeAttribute("aria-current");
    });
    this.lit = (selected ? [selected, ...sources] : []).flatMap((at) => this.cellAt(at) ?? []);
    this.lit.forEach((cell, i) => cell.button.classList.add(i ? "source" : "selected"));
    if (selected) this.lit[0].button.setAttribute("aria-current", "true");
    for (const cell of this.given) cell.button.classList.toggle("changed", edits(cell.at));
  }

  /** The numbers that the source prints, below the computed ones. */
  paintPrints(visible: boolean) {
    for (const [where, found] of Object.entries(this.data.prints)) {
      const cell = this.cells.get(where);
      if (!cell) continue;
      cell.printed?.remove();
      if (!visible) continue;
      const print = make("span", { className: "source-print" }, printed(found));
      cell.printed = print;
      cell.entry.append(print);
    }
  }

  /** Make a cell its table's tab stop, and give a screen reader its row and column. */
  stop(cell: Cell, name: string) {
    cell.grid.flat().forEach((other) => { other.button.tabIndex = other === cell ? 0 : -1; });
    cell.name = name;
    this.call(cell);
  }

  /** Set the accessible name of a number: its visible text, then its name. */
  call({ button, text, name }: Cell) {
    if (name) button.setAttribute("aria-label", `${text.data}, ${name}`);
  }

  neighbour(cell: Cell, key: string): Cell | undefined {
    const row = cell.grid.findIndex((cells) => cells.includes(cell));
    const column = cell.grid[row].indexOf(cell);
    const [down, right] = {
      ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1],
      Home: [0, -column], End: [0, cell.grid[row].length - 1 - column],
    }[key] ?? [0, 0];
    return cell.grid[row + down]?.[column + right];
  }
}
