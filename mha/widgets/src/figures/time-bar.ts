/**
 * One bar under a figure with steps: play and pause, a step back and on, and a slider over all steps.
 * It never plays by itself; with reduced motion each step is shown at once. Also the movement within a
 * step: copies of numbers that fly.
 */

import { timeBar as texts } from "../strings/time-bar.ts";
import { fill } from "../engine/text.ts";
import { make, makeButton, set, setText } from "./explorer-parts.ts";
import type { TimeSteps } from "../types/panels.ts";

/** Milliseconds of a step, and the part of them in which it moves; then it rests. */
const PACE = 1600;
const MOVES = 0.6;

const isStill = () => matchMedia("(prefers-reduced-motion: reduce)").matches;

export class TimeBar {
  label: (step: number) => string;
  show: (step: number, fraction: number) => void;
  pace: number;
  count: number;
  at: number;
  isPlaying: boolean;
  until: number;
  since: number;
  seen: string;
  main: HTMLButtonElement;
  back: HTMLButtonElement;
  on: HTMLButtonElement;
  slider: HTMLInputElement;
  place: HTMLElement;
  says: HTMLElement;
  node: HTMLElement;

  /**
   * @param steps `count`: their number; `label`: the name of each, by its index from 0; `show` is
   *   called with the index of the shown step and the fraction of it that has happened; `pace` in
   *   milliseconds. `go` shows the first one.
   */
  constructor({ count, label, show, pace = PACE }: TimeSteps) {
    this.label = label;
    this.show = show;
    this.pace = pace;
    this.count = count;
    this.at = 0;
    this.isPlaying = false;
    /** The step to stop at, and when the one that is shown began. */
    this.until = 0;
    this.since = 0;
    /** The step that was shown last. */
    this.seen = "";
    this.main = makeButton(texts.play, () => (this.isPlaying ? this.pause() : this.play()),
      { className: "time-play" });
    this.back = makeButton("‹", () => this.go(this.at - 1), { "aria-label": texts.back });
    this.on = makeButton("›", () => this.run(this.at + 1), { "aria-label": texts.on });
    this.slider = make("input", { type: "range", min: 0, step: 1, "aria-label": texts.steps,
      oninput: () => this.go(Number(this.slider.value)) });
    this.place = make("span", { className: "time-place soft" });
    this.says = make("p", { className: "time-says" });
    this.node = make("div", { className: "time-bar", role: "group", "aria-label": texts.steps,
      onkeydown: (event: KeyboardEvent) => this.onKey(event) },
    this.main, this.back, this.slider, this.on, this.place, this.says);
    this.recount(count);
  }

  /** Change the number of steps. */
  recount(count: number) {
    this.count = count;
    this.slider.max = String(count - 1);
    this.at = Math.min(this.at, count - 1);
  }

  /** Stand still at a step. */
  go(step: number) {
    this.at = Math.max(0, Math.min(step, this.count - 1));
    this.pause();
  }

  /** Go on to the last step, from the first one if it is the last already. */
  play() {
    if (this.at === this.count - 1) this.go(0);
    this.run(this.count - 1);
  }

  pause() {
    this.isPlaying = false;
    this.paint(1);
  }

  /** Show the step again, after a change of its contents. */
  refresh() {
    this.seen = "";
    if (!this.isPlaying) this.paint(1);
  }

  /** Play until a step, and stop there. */
  run(until: number) {
    if (this.at >= this.count - 1) return;
    this.until = Math.min(until, this.count - 1);
    this.at += 1;
    this.since = performance.now();
    if (this.isPlaying) return;
    this.isPlaying = true;
    const frame = (now: number) => {
      if (!this.isPlaying) return;
      let passed = (now - this.since) / this.pace;
      if (passed >= 1 || (this.at === this.until && passed >= MOVES)) {
        if (this.at >= this.until) {
          this.pause();
          return;
        }
        this.at += 1;
        this.since = now;
        passed = 0;
      }
      this.paint(isStill() ? 1 : Math.max(0, Math.min(1, passed / MOVES)));
      requestAnimationFrame(frame);
    };
    requestAnimationFrame(frame);
  }

  /** @param fraction of the step that has happened */
  paint(fraction: number) {
    const { at, count } = this;
    set(this.says, "aria-live", this.isPlaying ? "off" : "polite");
    setText(this.main, this.isPlaying ? texts.pause : texts.play);
    const seen = `${at} ${count} ${fraction}`;
    if (seen === this.seen) return;
    this.seen = seen;
    set(this.back, "aria-disabled", String(at === 0));
    set(this.on, "aria-disabled", String(at === count - 1));
    this.slider.value = String(at);
    const text = this.label(at);
    set(this.slider, "aria-valuetext", text);
    setText(this.place, fill(texts.count, { n: at + 1, count }));
    setText(this.says, text);
    this.show(at, fraction);
  }

  /** Space plays and pauses on the slider; arrows and ends move from any button of the bar. */
  onKey(event: KeyboardEvent) {
    const { key, target } = event;
    const isSlider = target === this.slider;
    const acts: Record<string, () => void> = isSlider ? { " ": () => (this.isPlaying ? this.pause() : this.play()) } : {
      ArrowLeft: () => this.go(this.at - 1), ArrowDown: () => this.go(this.at - 1),
      ArrowRight: () => this.go(this.at + 1), ArrowUp: () => this.go(this.at + 1),
      Home: () => this.go(0), End: () => this.go(this.count - 1),
    };
    if (event.ctrlKey || event.metaKey || event.altKey || !Object.hasOwn(acts, key)) return;
    event.preventDefault();
    acts[key]();
  }
}

/** Copies of numbers that fly between two elements, in one layer of an element. */
export function fly(layer: HTMLElement, ways: { text: string, left: number, top: number, opacity?: number }[]): void {
  while (layer.children.length < ways.length) layer.append(make("span", {}));
  layer.querySelectorAll("span").forEach((flyer, k) => {
    set(flyer, ".visibility", k < ways.length ? "visible" : "hidden");
    if (k >= ways.length) return;
    setText(flyer, ways[k].text);
    set(flyer, ".opacity", ways[k].opacity ?? 1);
    set(flyer, ".transform", `translate(${ways[k].left}px, ${ways[k].top}px)`);
  });
}

/** Slow at both ends. */
export const eased = (x: number): number => (x < 0.5 ? 2 * x * x : 1 - 2 * (1 - x) ** 2);
