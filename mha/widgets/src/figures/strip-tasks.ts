/**
 * The tasks that an explorer checks while a reader changes its numbers, as in
 * mha/widgets/explorer_tasks.py: each a sentence with a goal.
 */

import { explorer as texts } from "../strings/explorer.ts";
import { fill } from "../engine/text.ts";
import { inItalics, make, set, setText } from "./explorer-parts.ts";
import type { ExplorerView, StripTask } from "../types/explorer.ts";

const largest = (numbers: number[]): number => Math.max(...numbers.map(Math.abs));

/** Whether a goal is reached, by its kind. Queries and keys are tokens as at first. */
const GOALS: Record<string, (task: StripTask, explorer: ExplorerView, at: (token: number) => number) => boolean> = {
  weight: ({ query, key, least }, { numbers }, at) =>
    numbers.weights.some((head) => head[at(query)][at(key)] >= least),
  alike: ({ query, within }, { numbers }, at) => numbers.weights.some((head) => {
    const row = head[at(query)];
    return Math.max(...row) > 0 && Math.max(...row) - Math.min(...row) <= within;
  }),
  output: ({ query, component, low, high }, { numbers }, at) => {
    const value = (numbers.output ?? numbers.concat)[at(query)][component];
    return low <= value && value <= high;
  },
  width: ({ column, low, high }, { widths, asks }) => {
    if (!asks) return false;
    const most = Math.max(...(widths?.[column].weights as number[]));
    return low <= most && most <= high;
  },
  unnoticed: ({ below }, { data, numbers, state }) => state.off.some((off, head) => {
    const { width } = data;
    const shares = numbers.head_contributions?.[head] ?? numbers.head_outputs[head];
    return off && width > 0 && largest(shares.flat()) < below;
  }),
};

export class Tasks {
  explorer: ExplorerView;
  tasks: { task: StripTask; mark: HTMLElement; now: boolean; done: boolean; isNews: boolean; node: HTMLElement; }[];
  node: HTMLElement;

  constructor(explorer: ExplorerView) {
    this.explorer = explorer;
    this.tasks = (explorer.data.tasks ?? []).map((task) => {
      const mark = make("span", { className: "sign" });
      return { task, mark, now: false, done: false, isNews: false, node: make("li", {}, mark, " ", ...inItalics(task.says)) };
    });
    this.node = make("div", { className: "tasks", hidden: !this.tasks.length },
      make("p", { className: "strip-title" }, texts.goals),
      make("ul", {}, ...this.tasks.map(({ node }) => node)));
  }

  paint() {
    const { order } = this.explorer.state;
    const at = (token: number) => order.indexOf(token);
    for (const one of this.tasks) {
      one.now = GOALS[one.task.goal](one.task, this.explorer, at);
      one.isNews ||= one.now && !one.done;
      one.done ||= one.now; // what was reached stays so, until a reset
      set(one.node, "class", one.done ? "reached" : "");
      setText(one.mark, one.done ? `✓ ${one.now ? texts.reached : texts.reachedBefore}` : "○");
    }
  }

  /** The goals reached since the last request and still reached, as a sentence. */
  news() {
    const fresh = this.tasks.filter(({ now, isNews }) => now && isNews);
    for (const one of this.tasks) one.isNews = false;
    return fresh.map(({ task: { says } }) => fill("{reached} {says}", { reached: texts.reached, says }))
      .join(" ");
  }

  forget() {
    this.tasks.forEach((one) => { one.done = false; });
  }
}
