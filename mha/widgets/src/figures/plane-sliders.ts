/** Sliders beside planes: one with its name, and two that move the tip that was chosen last. */

import { short } from "../engine/numbers.ts";
import { explorerViews as texts } from "../strings/explorer-views.ts";
import { freshId, make, set, setText } from "./explorer-parts.ts";
import { moveTip } from "./plane-tips.ts";
import type { PlaneDrawing, TipElement } from "../types/plane.ts";

/** A step of the plane has this many steps of a slider. */
const FINE = 20;

/** A slider with its label and the text of its value. */
export function makeSlider({ label, act, done = () => {}, properties = {} }: { label: string, act: (value: number) => void, done?: () => void, properties?: Record<string, unknown> }) {
  const input = make("input", { type: "range", id: freshId(), ...properties,
    oninput: () => act(Number(input.value)), onchange: done });
  const name = make("label", { htmlFor: input.id }, label);
  const output = make("span");
  const show = (value: number, text: string) => {
    if (document.activeElement !== input || Number(input.value) !== value) input.value = String(value);
    set(input, "aria-valuetext", text);
    setText(output, text);
  };
  return { input, name, show, node: make("span", { className: "slider" }, name, input, output) };
}

/** Two sliders for who does not drag: they move the tip that was chosen last. */
export class Sliders {
  planes: () => PlaneDrawing[];
  /** The tip that they move, and the one that was chosen. */
  tip: TipElement | null = null;
  chosen: TipElement | null = null;
  choice: HTMLSelectElement;
  axes: { input: HTMLInputElement; name: HTMLElement; show: (value: number, text: string) => void; node: HTMLElement; }[];
  node: HTMLElement;
  names: string | undefined;

  /** @param planes those that are in sight */
  constructor(planes: () => PlaneDrawing[]) {
    this.planes = planes;
    this.choice = make("select", { id: freshId(), onchange: () => {
      this.paint(this.tips()[this.choice.selectedIndex]);
    } });
    this.axes = [texts.planeAcross, texts.planeUp].map((label, axis) => makeSlider({
      label, done: () => this.paint(),
      act: (value) => { // its plane may be folded away
        const point = [...this.tip?.at ?? []];
        point[axis] = value;
        if (this.tip) moveTip(this.tip, point);
      },
    }));
    this.node = make("div", { className: "sliders" },
      make("span", {}, make("label", { htmlFor: this.choice.id }, texts.planeMove), " ", this.choice),
      ...this.axes.map(({ node }) => node));
  }

  tips() {
    return this.planes().flatMap((plane) => plane.movable);
  }

  /** @param chosen the tip that was chosen */
  paint(chosen: TipElement | null = this.chosen) {
    this.chosen = chosen;
    const tips = this.tips();
    this.show(tips, tips.find((tip) => tip === chosen)
      ?? tips.find(({ tip }) => tip.look === "main") ?? tips[0] ?? null);
  }

  show(tips: TipElement[], chosen: TipElement | null) {
    this.tip = chosen;
    set(this.node, ".visibility", chosen ? "" : "hidden");
    if (!chosen) return;
    const names = tips.map(({ tip }) => tip.name);
    if (names.join("\n") !== this.names) {
      this.names = names.join("\n");
      this.choice.replaceChildren(...names.map((name) => make("option", {}, name)));
    }
    const place = tips.indexOf(chosen);
    if (this.choice.selectedIndex !== place) this.choice.selectedIndex = place;
    const plane = this.planes().find((one) => one.movable.includes(chosen));
    if (!plane) return;
    this.axes.forEach(({ input, show }, axis) => {
      const fine = plane.step / FINE;
      const most = Math.max(-plane.low[axis], plane.high[axis], Math.abs(chosen.at[axis]));
      const end = Number((fine * Math.ceil(most / fine)).toFixed(6));
      [["min", -end], ["max", end], ["step", fine]].forEach(([key, value]) => set(input, String(key), value));
      show(chosen.at[axis], short(chosen.at[axis], 2));
      set(input, "aria-label", `${chosen.tip.name}: ${[texts.planeAcross, texts.planeUp][axis]}`);
    });
  }
}
