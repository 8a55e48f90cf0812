/** The explorer's controls: the query, heads and history; settings come later. */

import { explorer as texts } from "../strings/explorer.ts";
import { fill } from "../engine/text.ts";
import { freshId, isPage, loadStyle, make, makeButton, makeChoice, set } from "./explorer-parts.ts";
import { historyButtons } from "./history-buttons.ts";
import type { ExplorerState, ExplorerView } from "../types/explorer.ts";

/** Controls that follow the state. */
export class Choices {
  explorer: ExplorerView;
  syncs: ((state: ExplorerState) => void)[];
  name: string;

  constructor(explorer: ExplorerView) {
    this.explorer = explorer;
    this.syncs = [];
    this.name = `${explorer.data.name}-${freshId()}`;
  }

  sync(state: ExplorerState) {
    this.syncs.forEach((sync) => sync(state));
  }

  /** Radio buttons of one group; `chosen` tells from the state which is on. */
  radios(group: string, labels: string[], onchoose: (choice: number) => void, chosen: (state: ExplorerState) => number) {
    const choices = labels.map((label, i) =>
      makeChoice("radio", `${this.name}-${group}`, label, () => onchoose(i)));
    this.syncs.push((state) => {
      choices.forEach(({ input }, i) => { input.checked = chosen(state) === i; });
    });
    return choices.map(({ node }) => node);
  }

  check(label: string, onchange: (on: boolean) => void, checked: (state: ExplorerState) => boolean) {
    const choice = makeChoice("checkbox", "", label, onchange);
    this.syncs.push((state) => { choice.input.checked = checked(state); });
    return choice;
  }
}

export class Controls extends Choices {
  settings: (Choices & { node: HTMLElement, forget(): void }) | null;
  fold: HTMLDetailsElement;
  node: HTMLElement;
  steps: Promise<{ node: HTMLElement; paint(): void; }> | undefined;
  isOpen: boolean | undefined;
  inSteps!: HTMLElement;
  link!: HTMLElement;

  constructor(explorer: ExplorerView) {
    super(explorer);
    this.settings = null;
    this.fold = make("details", { className: "fold settings", ontoggle: () => this.open() },
      make("summary", {}, texts.settings));
    this.node = make("div", { className: "tools" });
  }

  /** The controls below the strip, which come after it. */
  build() {
    this.node.append(this.queries(), this.actions(), this.fold);
    this.syncs.push((state) => this.settings?.sync(state), (state) => this.takeSteps(state));
  }

  /** Load the calculation in steps, at the foot of the figure, when it is first requested. */
  async takeSteps({ step }: ExplorerState) {
    set(this.inSteps, "aria-expanded", String(step !== null));
    if (step !== null && !this.steps) {
      const styles = ["time-bar.css", "steps.css"].map(loadStyle);
      this.steps = Promise.all([import("./explorer-steps.ts"), ...styles])
        .then(([{ Steps }]) => new Steps(this.explorer));
      this.node.after((await this.steps).node);
    }
    (await this.steps)?.paint();
  }

  /** The settings' script and elements are there when they are first asked for. */
  async open() {
    if (this.isOpen || !this.fold.open) return;
    this.isOpen = true;
    const { Settings } = await import("./explorer-settings.ts");
    this.settings = new Settings(this.explorer);
    this.fold.append(this.settings.node);
    this.settings.sync(this.explorer.state);
  }

  /** The chips that choose the query. */
  queries() {
    const { explorer } = this;
    const { tokens } = explorer.data;
    const chips = this.radios("query", tokens,
      (query) => explorer.show({ query }, fill(texts.queryIs, { token: tokens[query] })),
      (state) => state.query);
    chips.forEach((chip) => chip.classList.add("chip"));
    return make("div", { className: "chips", role: "group", "aria-label": texts.query },
      make("span", { className: "soft" }, texts.query), ...chips);
  }

  /** The tab of a head, and its switch. */
  head(head: number) {
    const { explorer } = this;
    const name = explorer.data.heads[head];
    const tab = makeChoice("radio", `${this.name}-head`, name,
      () => explorer.show({ focus: head }, fill(texts.focusIs, { head: name })));
    const on = this.check(fill(texts.switchedOn, { head: head + 1 }),
      (now) => explorer.change(
        { off: explorer.state.off.map((off, i) => (i === head ? !now : off)) },
        fill(now ? texts.headIsOn : texts.headIsOff, { head: name })),
      (state) => !state.off[head]);
    on.word.replaceChildren(make("span", { className: "unseen" },
      fill(texts.switchedOn, { head: head + 1 })), ` ${texts.on}`);
    this.syncs.push((state) => { tab.input.checked = state.focus === head; });
    return [tab.node, on.node];
  }

  actions() {
    const { explorer } = this;
    const { paint, redo, undo } = historyButtons(() => explorer.step(false), () => explorer.step(true), true);
    this.syncs.push(() => paint(explorer.history));
    this.inSteps = makeButton(texts.stepByStep, () => {
      const isOpen = explorer.state.step !== null;
      explorer.show({ step: isOpen ? null : 0 }, isOpen ? texts.allAtOnce : texts.isInSteps);
    });
    this.link = make("span", { className: "field" });
    // Within an instrument, which has an address of its own, that has these.
    const isWithin = Boolean(explorer.data.address);
    return make("div", { className: "line actions" }, ...this.nearAtHand(), ...(isWithin ? [] : [undo, redo]),
      makeButton(texts.reset, () => { this.settings?.forget(); explorer.reset(); }), this.inSteps,
      ...(isPage && !isWithin ? [makeButton(texts.copy, () => this.copy())] : []), this.link);
  }

  /** Of the settings, the one that a chapter speaks of: its mask. */
  nearAtHand() {
    const { explorer } = this;
    return explorer.data.isCausal ? [this.check(texts.causal,
      (on) => explorer.change({ causal: on }, on ? texts.causalOn : texts.causalOff), (state) => state.causal).node] : [];
  }

  /** Copy the link; where the browser does not allow it, offer it in a field. */
  async copy() {
    const link = this.explorer.link();
    try {
      await navigator.clipboard.writeText(link);
      this.link.replaceChildren();
      this.explorer.say(texts.copied);
    } catch {
      const field = make("input", { type: "text", readOnly: true, value: link });
      this.link.replaceChildren(make("label", {}, texts.link, " ", field));
      field.focus();
      field.select();
      this.explorer.say(texts.copyByHand);
    }
  }
}
