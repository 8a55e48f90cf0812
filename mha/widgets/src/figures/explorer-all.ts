/**
 * All numbers of an explorer: the tables, written into the page as text that becomes elements on
 * the first opening, and the panel that tells where the selected number comes from.
 */

import { short, shown } from "../engine/numbers.ts";
import { described } from "../store/explorer-origins.ts";
import { MAPS, inputAddress, isChanged } from "../store/explorer-state.ts";
import { same } from "../store/same.ts";
import { explorerAll as texts } from "../strings/explorer-all.ts";
import { Choices } from "./explorer-controls.ts";
import { Panel } from "./explorer-panel.ts";
import { fill } from "../engine/text.ts";
import { make, makeGroup, setText } from "./explorer-parts.ts";
import { Tables } from "./explorer-tables.ts";
import type { ExplorerData, ExplorerNumbers, ExplorerState, ExplorerTables, ExplorerView } from "../types/explorer.ts";
import type { Place } from "../types/run.ts";

/** Give tables as many rows and columns for tokens as there are tokens. */
function fitTokens(body: HTMLElement, count: number) {
  const fit = (cells: Element[], wanted: number): void => {
    cells.slice(wanted).forEach((cell) => cell.remove());
    for (let i = cells.length; i < wanted; i += 1) cells[0].after(cells[0].cloneNode(true));
  };
  for (const table of body.querySelectorAll("table[data-tokens]")) {
    const { tokens = "" } = (table as HTMLElement).dataset;
    if (tokens.includes("columns")) {
      for (const row of table.querySelectorAll("tr")) {
        const cells = [...row.children].slice(1);
        const last = (table as HTMLElement).dataset.stage === "exponentials" ? 1 : 0;
        fit(cells.slice(0, cells.length - last), count);
      }
    }
    if (tokens.includes("rows")) fit([...table.querySelectorAll("tbody tr")], count);
  }
}

/** The choice of the maps, and the switch of the source's numbers. */
class Shown extends Choices {
  /** The switch that shows the source's printed numbers, if the source prints any. */
  prints() {
    const { explorer } = this;
    if (!Object.keys(explorer.data.prints).length) return [];
    const prints = this.check(texts.prints,
      (on) => explorer.show({ prints: on }, on ? texts.printsOn : texts.printsOff),
      (state) => state.prints && !isChanged(state, explorer.start));
    this.syncs.push((state) => {
      prints.input.disabled = isChanged(state, explorer.start);
      prints.word.textContent = prints.input.disabled ? texts.printsPaused : texts.prints;
    });
    return [prints.node];
  }

  /** The choice of the stage that the maps show, next to the maps. */
  maps() {
    const { explorer } = this;
    const names = explorer.tables?.mapNames() ?? [];
    const choose = (i: number): void => explorer.show(
      { map: MAPS[i] }, fill(texts.mapIs, { map: names[i].toLowerCase() }));
    return makeGroup(texts.mapChoice, make("div", { className: "line" },
      ...this.radios("map", names, choose, ({ map }) => MAPS.indexOf(map))));
  }
}

export class AllNumbers {
  explorer: ExplorerView;
  body: HTMLElement;
  tables: ExplorerTables;
  panel: { node: HTMLElement; enter(): void; paint(): void; };
  shown: Shown;
  heads: string;
  origin: string;
  prints: boolean;
  noKey: HTMLElement;
  note: HTMLElement;

  constructor(explorer: ExplorerView, body: HTMLElement) {
    this.explorer = explorer;
    this.body = body;
    // One reading of the text makes the cells' buttons too: far faster than one after another.
    body.innerHTML = explorer.text.replace(/<td>([^<]*)<\/td>/g,
      '<td><button type="button" class="cell" tabindex="-1">$1</button></td>');
    // The headings of the tables are one level below the last heading before them.
    const above = [...document.querySelectorAll("h1, h2, h3")].filter((heading) =>
      heading.compareDocumentPosition(body) === Node.DOCUMENT_POSITION_FOLLOWING);
    const level = Number(above.at(-1)?.tagName[1] ?? 1) + 1;
    body.querySelectorAll("h3").forEach((heading) =>
      heading.setAttribute("aria-level", String(level)));
    fitTokens(body, explorer.data.tokens.length);
    this.tables = new Tables(explorer.data, body);
    explorer.tables = this.tables;
    this.panel = new Panel(explorer);
    this.shown = new Shown(explorer);
    // What was painted last: nothing yet.
    this.heads = "";
    this.origin = "";
    this.prints = false;
    const maps = body.querySelector(".maps");
    maps?.querySelector("h3")?.after(this.shown.maps());
    this.noKey = make("p", { className: "note" });
    maps?.append(this.noKey);
    this.note = make("p", { className: "note" });
    [...body.querySelectorAll(".end")].at(-1)?.querySelector("h3")?.after(this.note);
    body.prepend(make("p", { className: "help" }, texts.help),
      ...this.shown.prints());
    body.append(this.panel.node);
    body.classList.add("live");
    body.addEventListener("click", (event) => this.onClick(event));
    body.addEventListener("keydown", (event) => this.onKey(event));
    body.addEventListener("focusin", (event) => this.onFocus(event));
    this.tables.watch();
  }

  onClick({ target }: Event) {
    const cell = this.tables.ofButton.get(target);
    if (!cell) return;
    const { selected } = this.explorer.state;
    if (selected && same(selected, cell.at)) this.panel.enter();
    else this.explorer.select(cell.at);
  }

  onKey(event: KeyboardEvent) {
    const cell = this.tables.ofButton.get(event.target);
    const { selected } = this.explorer.state;
    if (event.key === "Escape" && selected) {
      event.preventDefault();
      if (cell) this.explorer.back();
      else this.tables.cellAt(selected)?.button.focus();
    }
    const next = cell && this.tables.neighbour(cell, event.key);
    if (!next || next === cell) return;
    event.preventDefault();
    next.button.focus();
  }

  onFocus({ target }: Event) {
    const cell = this.tables.ofButton.get(target);
    if (cell) this.tables.stop(cell, this.explorer.nameOf(cell.at));
  }

  /** The state that shows the map of a number, if a map has it. */
  mapOf(at: Place): Partial<ExplorerState> {
    const map = at.stage === "row_sums" ? "exponentials" : at.stage;
    return MAPS.includes(map) ? { map } : {};
  }

  /** Go to a number's cell. */
  focus(at: Place) {
    const cell = this.tables.cellAt(at);
    if (!cell) return;
    cell.button.closest("details")?.setAttribute("open", "");
    cell.button.focus({ preventScroll: true });
    cell.button.scrollIntoView({ block: "center", inline: "nearest" });
  }

  paint() {
    const { data, numbers, state, start } = this.explorer;
    this.tables.paint(numbers, state);
    this.shown.sync(state);
    const heads = JSON.stringify(state.off);
    if (heads !== this.heads) {
      this.heads = heads;
      this.tables.strike(state);
      this.body.querySelectorAll<HTMLElement>(".lane, .group").forEach((part) =>
        part.classList.toggle("off", state.off[Number(part.dataset.head)]));
    }
    const prints = state.prints && !isChanged(state, start);
    if (prints !== this.prints) {
      this.prints = prints;
      this.tables.paintPrints(prints);
    }
    this.body.dataset.map = state.map;
    this.paintOrigin(data, state, numbers);
    this.paintNotes(data, state, numbers);
    this.panel.paint();
  }

  paintOrigin(data: ExplorerData, state: ExplorerState, numbers: ExplorerNumbers): void {
    const at = state.selected;
    const edited = Object.keys(state.edits);
    const now = JSON.stringify([at, edited, state.off, state.order, state.causal, state.padding]);
    if (now === this.origin) return;
    this.origin = now;
    const parts = at ? described(data, state, numbers, at).items.flat() : [];
    const sources = parts.flatMap((part) => (typeof part === "object" && part.place) || []);
    this.tables.light(at, sources,
      (input: Place) => inputAddress(data, state, input) in state.edits);
  }

  paintNotes(data: ExplorerData, state: ExplorerState, numbers: ExplorerNumbers): void {
    const masked = data.tokens.flatMap((_, i) =>
      (numbers.row_sums.every((sums) => sums[i] === 0) ? [data.tokens[state.order[i]]] : []));
    setText(this.noKey, masked.map((token) => fill(texts.noKey, { token })).join(" "));
    const lost = data.heads.flatMap((_, head) => (state.off[head] ? [this.loss(head)] : []));
    setText(this.note, lost.join(" "));
  }

  loss(head: number): string {
    const { data, numbers } = this.explorer;
    const name = data.heads[head];
    const { width } = data;
    const columns = { first: short(head * width + 1), last: short((head + 1) * width) };
    if (!numbers.output) return fill(texts.lostColumns, { head: name, ...columns });
    const sizes = (numbers.head_contributions ?? [])[head].flat().map(Math.abs);
    return fill(texts.lost, { head: name, amount: shown(Math.max(...sizes)) });
  }
}
