/**
 * The state of what goes in steps: what a reader changes in it can be undone, and is in the page's
 * address, as far as it differs from the start.
 */

import { editNow, isPage, make, makeButton, markCaption, set, setText } from "../figures/explorer-parts.ts";
import { explorer } from "../strings/explorer.ts";
import { stepsShared } from "../strings/steps.ts";
import { same } from "./explorer-state.ts";

const texts = { ...explorer, ...stepsShared };

/** How many changes can be undone. */
const UNDOS = 50;

/** Browsers limit how often an address may change. */
const WRITE_MS = 250;

export class StepsState {
  kind: string;
  name: string;
  start: Record<string, any>;
  readers: Record<string, (text: string) => any>;
  paint: () => void;
  now: Record<string, any>;
  past: Record<string, any>[];
  future: Record<string, any>[];
  what: string;
  edit: number;
  undo: any;
  redo: any;
  told: any;
  actions: any;
  timer: number | undefined;

  /**
   * @param kind of the instrument
   *
   * @param start lists of numbers, numbers and switches, by their names
   * @param readers of a part of the address, by the same
   *   names; undefined for what is none
   */
  constructor(kind: string, name: string, start: Record<string, any>, readers: Record<string, (text: string) => any>, paint: () => void) {
    this.kind = kind;
    this.name = name;
    this.start = start;
    this.readers = readers;
    this.paint = paint;
    this.now = start;
    this.past = [];
    /** Changes that were undone. */
    this.future = [];
    /** What the last change was of, and the edit of a reader that it belongs to. */
    this.what = "";
    this.edit = 0;
    this.undo = makeButton(texts.undo, () => this.step(this.past, this.future));
    this.redo = makeButton(texts.redo, () => this.step(this.future, this.past));
    this.told = make("span", { className: "soft", role: "status" });
    this.actions = make("div", { className: "steps-actions" }, this.undo, this.redo,
      makeButton(texts.reset, () => this.change({ ...start })),
      ...(isPage ? [makeButton(texts.copy, () => this.share())] : []), this.told);
    this.mark();
  }

  /** @param what is changed: the changes of it by one edit are undone together */
  change(patch: Record<string, any>, what: string = "") {
    const edit = editNow();
    if (!what || what !== this.what || edit !== this.edit) this.past = [...this.past, this.now].slice(-UNDOS);
    [this.what, this.edit, this.future] = [what, edit, []];
    this.move(patch);
    this.paint();
  }

  /** Take over what is no change, such as the next step. */
  move(patch: Record<string, any>) {
    this.now = { ...this.now, ...patch };
    this.mark();
    this.write();
  }

  /** Take back the change of the present edit: the text that is typed goes on to one that is refused. */
  takeBack() {
    const before = this.what && this.edit === editNow() ? this.past.pop() : undefined;
    if (!before) return;
    this.what = "";
    this.move(before);
    this.paint();
  }

  /** Undo, or redo. */
  step(from: Record<string, any>[], to: Record<string, any>[]) {
    const found = from.pop();
    if (!found) return;
    to.push(this.now);
    this.what = "";
    this.move(found);
    this.paint();
  }

  mark() {
    setText(this.told, "");
    set(this.undo, "aria-disabled", String(!this.past.length));
    set(this.redo, "aria-disabled", String(!this.future.length));
    markCaption(this.actions, !same({ ...this.now, step: 0 }, { ...this.start, step: 0 }));
  }

  hash() {
    const parts = new URLSearchParams({ [this.kind]: this.name });
    for (const [key, value] of Object.entries(this.now)) {
      if (!same(value, this.start[key])) parts.set(key, [value].flat(2).map(Number).join("_"));
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

  /** Take over what the address holds; what cannot be read is as at the start. */
  readAddress() {
    const parts = new URLSearchParams(location.hash.slice(1));
    if (parts.get(this.kind) !== this.name) return;
    this.now = { ...this.start };
    for (const [key, read] of Object.entries(this.readers)) {
      const found = parts.has(key) ? read(parts.get(key) ?? "") : undefined;
      if (found !== undefined) this.now[key] = found;
    }
    [this.past, this.future] = [[], []];
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

/** Whole numbers below a bound, as an address has them; undefined for what is none. */
export function wholes(text: string, below: number): number[] | undefined {
  const found = text.split("_").map((part) => (/^\d{1,4}$/.test(part) ? Number(part) : Infinity));
  return found.every((number) => number < below) ? found : undefined;
}
