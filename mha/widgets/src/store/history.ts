/** The states of a figure that undo and redo restore: one step per edit of the reader. */

import { editNow } from "./edits.ts";
import { same } from "./same.ts";

/** The largest number of stored steps. */
const MOST = 200;

export class History<State> {
  past: State[] = [];

  /** The states that were undone. */
  future: State[] = [];

  /** The part of the state that the last change was of, "" if no other change joins it. */
  part = "";

  /** The edit of the reader that it belongs to. */
  edit = 0;

  isSame: (left: State, right: State) => boolean;

  most: number;

  /**
   * @param isSame whether two states are equal: a change between them is no step
   * @param most the largest number of stored steps
   */
  constructor(isSame: (left: State, right: State) => boolean = same, most: number = MOST) {
    this.isSame = isSame;
    this.most = most;
  }

  get canUndo() {
    return this.past.length > 0;
  }

  get canRedo() {
    return this.future.length > 0;
  }

  /** Whether a change of a part would belong to the last step: both are of one part, by one edit. */
  joins(part: string): boolean {
    return part !== "" && part === this.part && editNow() === this.edit;
  }

  /**
   * Record a change. An edit that comes back to the state in which it began is no step.
   *
   * @param part of the state that is changed: its changes by one edit are one step; "" for a step of its own
   *
   * @returns whether the state differs from the one before the edit
   */
  record(before: State, after: State, part: string = ""): boolean {
    if (!this.joins(part)) this.past.push(before);
    this.part = part;
    this.edit = editNow();
    if (this.isSame(this.past[this.past.length - 1], after)) {
      this.past.pop();
      this.endStep();
      return false;
    }
    this.past = this.past.slice(-this.most);
    this.clearRedo();
    return true;
  }

  /** Have the next change begin another step. */
  endStep() {
    this.part = "";
  }

  /** The state before the present edit, whose step is removed; undefined if the edit has changed nothing. */
  takeBack(): State | undefined {
    const before = this.joins(this.part) ? this.past.pop() : undefined;
    this.endStep();
    return before;
  }

  /** The state before the last step, undefined if there is none. */
  undo(now: State): State | undefined {
    return this.move(this.past, this.future, now);
  }

  /** The state after the step that was undone last, undefined if there is none. */
  redo(now: State): State | undefined {
    return this.move(this.future, this.past, now);
  }

  /** Forget the steps that were undone. */
  clearRedo() {
    this.future = [];
  }

  clear() {
    this.past = [];
    this.clearRedo();
    this.endStep();
  }

  private move(from: State[], to: State[], now: State): State | undefined {
    const found = from.pop();
    if (found === undefined) return undefined;
    to.push(now);
    this.endStep();
    return found;
  }
}
