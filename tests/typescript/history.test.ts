/** Undo and redo, without a browser: `deno test`. The events below begin edits, as those of a page do. */

/// <reference lib="deno.ns" />

import { History } from "../../mha/widgets/src/store/history.ts";

interface State { size: number; query: number }

/** A figure with a history. */
class Figure {
  state: State = { size: 1, query: 0 };

  history: History<State>;

  constructor(history: History<State> = new History()) {
    this.history = history;
  }

  change(patch: Partial<State>, part?: string): boolean {
    const before = this.state;
    this.state = { ...before, ...patch };
    return this.history.record(before, this.state, part);
  }

  /** Change the size by one edit, through all of some sizes. */
  drag(...sizes: number[]) {
    dispatchEvent(new Event("pointerdown"));
    sizes.forEach((size) => this.change({ size }, "size"));
    dispatchEvent(new Event("pointerup"));
  }

  /** The sizes after as many undos as there are. */
  undone(): number[] {
    const sizes = [];
    for (let found; (found = this.history.undo(this.state)); sizes.push(found.size)) this.state = found;
    return sizes;
  }

  redone(): number[] {
    const sizes = [];
    for (let found; (found = this.history.redo(this.state)); sizes.push(found.size)) this.state = found;
    return sizes;
  }
}

function assertEqual(found: unknown, wanted: unknown) {
  const [left, right] = [found, wanted].map((value) => JSON.stringify(value));
  if (left !== right) throw new Error(`${left} was found, ${right} is wanted`);
}

Deno.test("each edit is one step, however many changes it makes", () => {
  const figure = new Figure();
  figure.drag(2, 3, 5);
  figure.drag(7, 11);
  assertEqual(figure.undone(), [5, 1]);
  assertEqual(figure.history.canUndo, false);
  assertEqual(figure.redone(), [5, 11]);
  assertEqual(figure.history.canRedo, false);
});

Deno.test("changes of two parts, or of none, are steps of their own in one edit", () => {
  const figure = new Figure();
  figure.change({ size: 2 }, "size");
  figure.change({ query: 1 }, "query");
  figure.change({ size: 3 });
  figure.change({ size: 5 });
  assertEqual(figure.undone(), [3, 2, 2, 1]);
});

Deno.test("an edit that comes back to its beginning is no step, and what was undone stays", () => {
  const figure = new Figure();
  figure.drag(2);
  figure.drag(3, 2);
  assertEqual(figure.change({ size: 2 }), false);
  assertEqual(figure.undone(), [1]);
  assertEqual(figure.change({ size: 1 }, "size"), false);
  assertEqual(figure.redone(), [2]);
});

Deno.test("an edit that came back and goes on is one step", () => {
  const figure = new Figure();
  figure.drag(2, 1, 3, 5);
  assertEqual(figure.undone(), [1]);
});

Deno.test("a change after an undo is a step of its own and ends what could be redone", () => {
  const figure = new Figure();
  figure.drag(2);
  figure.change({ size: 3 }, "size");
  figure.state = figure.history.undo(figure.state) as State;
  assertEqual(figure.change({ size: 5 }, "size"), true);
  assertEqual(figure.history.canRedo, false);
  assertEqual(figure.undone(), [2, 1]);
});

Deno.test("a text that is refused takes the change of its own edit back, and no other", () => {
  const figure = new Figure();
  figure.drag(2);
  assertEqual(figure.history.takeBack(), undefined);
  figure.change({ size: 3 }, "size");
  figure.change({ size: 5 }, "size");
  figure.state = figure.history.takeBack() as State;
  assertEqual([figure.state.size, figure.history.takeBack() ?? null, figure.history.canRedo], [2, null, false]);
  assertEqual(figure.undone(), [1]);
});

Deno.test("a figure may end a step, and forget all", () => {
  const figure = new Figure();
  figure.change({ size: 2 }, "size");
  assertEqual([figure.history.joins("size"), figure.history.joins("query"), figure.history.joins("")], [true, false, false]);
  figure.history.endStep();
  figure.change({ size: 3 }, "size");
  assertEqual(figure.undone(), [2, 1]);
  figure.history.clear();
  assertEqual([figure.history.canUndo, figure.history.canRedo], [false, false]);
});

Deno.test("the oldest steps are forgotten, and a figure says which states are equal", () => {
  const figure = new Figure(new History<State>((left, right) => left.size === right.size, 2));
  [2, 3, 5].forEach((size) => figure.change({ size }));
  assertEqual(figure.change({ query: 1 }), false);
  assertEqual(figure.undone(), [3, 2]);
});
