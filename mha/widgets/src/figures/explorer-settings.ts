/** The explorer's settings: scale, temperature, masks, the tokens' order. */

import { factor } from "../engine/attention.ts";
import { short } from "../engine/numbers.ts";
import { explorerHeat } from "../strings/explorer-heat.ts";
import { explorerSettings } from "../strings/explorer-settings.ts";
import { explorer } from "../strings/explorer.ts";
import { Choices } from "./explorer-controls.ts";
import { fill } from "../engine/text.ts";
import { make, makeButton, makeField, makeGroup } from "./explorer-parts.ts";
import type { ExplorerState, ExplorerView } from "../types/explorer.ts";

const texts = { ...explorerSettings, ...explorer, ...explorerHeat };

export class Settings extends Choices {
  free: boolean;
  node: HTMLElement;

  constructor(explorer: ExplorerView) {
    super(explorer);
    this.free = false;
    this.node = make("div", { className: "controls" }, this.scale(), this.masks(), this.order(),
      this.own());
  }

  /** A reset takes back the wish for another scale. */
  forget() {
    this.free = false;
  }

  /** The way to the page on which sentences are made. */
  own() {
    const root = document.documentElement.dataset.content_root;
    if (root === undefined || this.explorer.maker) return "";
    return make("p", {}, make("a", { href: `${root}examples/work-your-own.html` }, texts.own));
  }

  scale() {
    const { explorer } = this;
    const width = explorer.data.keyWidth;
    const setScale = (scale: number | null): string => {
      const value = short(factor(width, scale));
      return explorer.change({ scale }, fill(texts.scaleIs, { value }), { what: "scale" })
        ? "" : texts.overflow;
    };
    const free = makeField(texts.scaleField, setScale, undefined, () => explorer.takeBack());
    const root = fill(texts.scaleRoot, { width, value: short(factor(width, null)) });
    const kinds = [root, texts.scaleOne, texts.scaleFree];
    const choose = (kind: number): void => {
      this.free = kind === 2;
      if (kind === 2) free.input.focus();
      else setScale([null, 1][kind]);
    };
    const chosen = ({ scale }: ExplorerState): number => (this.free ? 2 : [null, 1, scale].indexOf(scale));
    const radios = this.radios("scale", kinds, choose, chosen);
    free.input.addEventListener("focus", () => {
      this.free = true;
      const input = radios[2].querySelector("input");
      if (input) input.checked = true;
    });
    this.syncs.push(({ scale }) => free.set(factor(width, scale)));
    return makeGroup(texts.scale,
      make("div", { className: "line" }, ...radios, free.node), this.temperature());
  }

  temperature() {
    const { explorer } = this;
    const field = makeField(texts.temperature, (temperature) => {
      const sentence = fill(texts.temperatureIs, { value: short(temperature) });
      return explorer.change({ temperature }, sentence, { what: "temperature" })
        ? "" : texts.overflow;
    }, { positive: true }, () => explorer.takeBack());
    this.syncs.push(({ temperature }) => field.set(temperature));
    return field.node;
  }

  masks() {
    const { explorer } = this;
    if (explorer.data.isCausal) return ""; // the bar has it
    const causal = this.check(texts.causal,
      (on) => explorer.change({ causal: on }, on ? texts.causalOn : texts.causalOff),
      (state) => state.causal);
    return makeGroup(texts.masks, causal.node);
  }

  order() {
    const list = make("ol", { className: "tokens" });
    const items = this.explorer.data.tokens.map((token, i) => this.token(token, i));
    this.syncs.push(({ order }) => {
      const wanted = order.map((i) => items[i]);
      if (wanted.some((item, i) => list.children[i] !== item)) {
        const focused = document.activeElement;
        list.replaceChildren(...wanted);
        if (focused instanceof HTMLElement && list.contains(focused)) focused.focus();
      }
      const buttons = wanted.map((item) => item.querySelectorAll("button"));
      buttons.forEach(([earlier, later], i) => {
        earlier.setAttribute("aria-disabled", String(i === 0));
        later.setAttribute("aria-disabled", String(i === order.length - 1));
      });
    });
    return makeGroup(texts.order, list);
  }

  token(token: string, i: number) {
    const { explorer } = this;
    const padding = this.check(fill(texts.padding, { token }),
      (on) => explorer.change(
        { padding: explorer.state.padding.map((is, j) => (j === i ? on : is)) },
        fill(on ? texts.paddingOn : texts.paddingOff, { token })),
      (state) => state.padding[i]);
    const arrow = (sign: string, label: string, by: number): HTMLElement =>
      makeButton(sign, () => this.move(i, by), { "aria-label": fill(label, { token }) });
    const arrows = [arrow("←", texts.earlier, -1), arrow("→", texts.later, 1)];
    const name = make("em", { "aria-hidden": "true" }, token); // each control says it too
    return make("li", {}, name, ...arrows, padding.node);
  }

  move(token: number, by: number) {
    const { explorer } = this;
    const order = [...explorer.state.order];
    const from = order.indexOf(token);
    if (order[from + by] === undefined) return;
    [order[from], order[from + by]] = [order[from + by], order[from]];
    const tokens = order.map((i) => explorer.data.tokens[i]).join(", ");
    explorer.change({ order }, fill(texts.orderIs, { tokens }), { compare: false });
  }
}
