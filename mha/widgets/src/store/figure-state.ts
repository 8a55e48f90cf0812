/**
 * The state of a figure: a reader's changes can be undone, and are in the page's address as far as they
 * differ from the start. `actions` has the buttons for undo, redo, reset and sharing.
 */

import { isPage, make, makeButton, markCaption, setText } from "../figures/explorer-parts.ts";
import { historyButtons } from "../figures/history-buttons.ts";
import { explorer } from "../strings/explorer.ts";
import { stepsShared } from "../strings/steps.ts";
import { partsOf } from "./address.ts";
import { same } from "./same.ts";
import { History } from "./history.ts";

const texts = { ...explorer, ...stepsShared };

/** Browsers limit how often an address may change. */
const WRITE_MS = 250;

/** For each part of a state the function that reads it in an address; undefined for a text that is invalid. */
type Readers<State> = { [Part in keyof State]?: (text: string) => State[Part] | undefined };

export class FigureState<State extends object> {
  kind: string;
  name: string;
  start: State;
  readers: Readers<State>;
  paint: () => void;
  now: State;
  history: History<State>;
  buttons: ReturnType<typeof historyButtons>;
  told: HTMLElement;
  actions: HTMLElement;
  timer: number | undefined;

  /**
   * @param kind of the instrument
   *
   * @param start lists of numbers, numbers and switches, by their names
   */
  constructor(kind: string, name: string, start: State, readers: Readers<State>, paint: () => void) {
    this.kind = kind;
    this.name = name;
    this.start = start;
    this.readers = readers;
    this.paint = paint;
    this.now = start;
    this.history = new History();
    this.buttons = historyButtons(() => this.restore(this.history.undo(this.now)),
      () => this.restore(this.history.redo(this.now)), true);
    this.told = make("span", { className: "soft", role: "status" });
    this.actions = make("div", { className: "steps-actions" }, this.buttons.undo, this.buttons.redo,
      makeButton(texts.reset, () => this.change({ ...start })),
      ...(isPage ? [makeButton(texts.copy, () => this.share())] : []), this.told);
    this.mark();
  }

  /** @param what the name of the changed value; its changes by one edit are undone together */
  change(patch: Partial<State>, what: string = "") {
    this.history.record(this.now, { ...this.now, ...patch }, what);
    this.move(patch);
    this.paint();
  }

  /** Take over a state that is not a change, such as the next step. */
  move(patch: Partial<State>) {
    this.now = { ...this.now, ...patch };
    this.mark();
    this.write();
  }

  /** Take back the change of the present edit: the text that is typed goes on to one that is refused. */
  takeBack() {
    this.restore(this.history.takeBack());
  }

  /** Go back, or forward again. */
  restore(state: State | undefined) {
    if (!state) return;
    this.move(state);
    this.paint();
  }

  mark() {
    setText(this.told, "");
    this.buttons.paint(this.history);
    markCaption(this.actions, !same({ ...this.now, step: 0 }, { ...this.start, step: 0 }));
  }

  hash() {
    const parts = new URLSearchParams({ [this.kind]: this.name });
    for (const [key, value] of Object.entries(this.now)) {
      if (!same(value, this.start[key as keyof State])) parts.set(key, [value].flat(2).map(Number).join("_"));
    }
    return `#${parts}`;
  }

  write() {
    clearTimeout(this.timer);
    if (!isPage) return;
    this.timer = setTimeout(() => {
      const page = location.href.split("#")[0];
      const isStart = same(this.now, this.start);
      history.replaceState(history.state, "", isStart ? page : page + this.hash());
    }, WRITE_MS);
  }

  /** Take over the state of the address, with defaults for unreadable parts. */
  readAddress() {
    const parts = partsOf(this.kind, this.name);
    if (!parts) return;
    this.now = { ...this.start };
    for (const key of Object.keys(this.readers) as (keyof State & string)[]) {
      const found = parts.has(key) ? this.readers[key]?.(parts.get(key) ?? "") : undefined;
      if (found !== undefined) this.now[key] = found;
    }
    this.history.clear();
    this.mark();
    this.paint();
  }

  async share() {
    try {
      await navigator.clipboard.writeText(location.href.split("#")[0] + this.hash());
      setText(this.told, texts.copied);
    } catch {
      this.write();
      setText(this.told, texts.inAddress);
    }
  }
}

/** Whole numbers below a bound, as an address has them; undefined for invalid ones. */
export function wholes(text: string, below: number): number[] | undefined {
  const found = text.split("_").map((part) => (/^\d{1,4}$/.test(part) ? Number(part) : Infinity));
  return found.every((number) => number < below) ? found : undefined;
}
