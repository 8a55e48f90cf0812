/**
 * The input of the strip: pointing, clicking, dragging, typing and the keys. This module knows which
 * number is pointed at, has the focus or is being changed; the strip draws.
 */

import { short } from "../engine/numbers.ts";
import { address } from "../engine/places.ts";
import { entered } from "../engine/typed-numbers.ts";
import { fill } from "../engine/text.ts";
import { STEP, gone, makeComplaint, stepped } from "./explorer-parts.ts";
import { isStill } from "./strip-drawing.ts";
import { rangeOf } from "./strip-edits.ts";
import type { ExplorerState, HandledStrip, StripNumber } from "../types/explorer.ts";
import type { Complaint } from "../types/fields.ts";

/** How far a number is dragged for one step of it, and before it is dragged at all. */
const DRAG = { step: 8, least: 4 };

/** After a drag, the number remains highlighted until the pointer has moved by more than these pixels. */
const STAYS = 12;

/** A field in use covers its neighbours, up to this number of digits, instead of moving them. */
const MOST_DIGITS = 9;

/** A typed number keeps all decimals that do not come from rounding. */
const ALL_PLACES = 10;

/**
 * The first movement: how long a reader is waited for, the steps of the number, how long each is
 * seen, and where it is remembered that there was one.
 */
const FIRST = { wait: 1200, steps: [1, 2, 3, 4, 5, 4, 3, 2, 1], each: 110 };
const MOVED = "attention-by-hand.moved";

/** The events of a reader's actions. */
const DOINGS = ["pointerdown", "keydown", "focusin", "hashchange"];

/** Whether the first movement has not been shown on this device; false without local storage. */
function isFirst() {
  try {
    return localStorage.getItem(MOVED) === null;
  } catch {
    return false;
  }
}

export class Hands {
  strip: HandledStrip;
  pointed: StripNumber | null;
  focused: StripNumber | null;
  dragging: StripNumber | null;
  dragged: boolean;
  ended: PointerEvent | null;
  complaint: Complaint | null;
  typing: EventTarget | null;

  constructor(strip: HandledStrip) {
    this.strip = strip;
    this.pointed = null;
    this.focused = null;
    this.dragging = null;
    this.dragged = false;
    /** Where a drag has ended. */
    this.ended = null;
    this.complaint = null;
    /** The field that is being typed in. */
    this.typing = null;
  }

  listen() {
    const { node } = this.strip;
    this.complaint = makeComplaint(node);
    node.addEventListener("pointerover", (event: PointerEvent) => this.point(event));
    node.addEventListener("pointerleave", (event: PointerEvent) => this.point(event));
    node.addEventListener("focusin", (event: Event) => this.onFocus(event));
    node.addEventListener("focusout", () => this.onBlur());
    node.addEventListener("click", (event: Event) => this.onClick(event));
    node.addEventListener("keydown", (event: KeyboardEvent) => this.onKey(event));
    node.addEventListener("input", (event: Event) => this.onInput(event));
    node.addEventListener("pointerdown", (event: PointerEvent) => this.drag(event));
    node.addEventListener("mousedown", (event: Event) => {
      if (this.strip.ofNode.get(event.target)?.given && event.target !== this.typing) {
        event.preventDefault();
      }
    });
    this.strip.numbers[0].node.tabIndex = 0;
    const { view = "strip" } = this.strip.explorer.data; // what stands above would not follow
    if (view === "strip" && isFirst() && !isStill()) this.awaitSight();
  }

  /**
   * Show once on a device that an input can be moved, when one has been in sight for a while and
   * the reader has done nothing yet.
   */
  awaitSight() {
    const number = this.strip.numbers.find(({ given }) => given);
    if (!number) return;
    let next: number;
    let isMoving = false;
    const watch = new IntersectionObserver(([{ isIntersecting }]) => {
      if (isMoving && !isIntersecting) end(); // nothing stays where it was moved to
      if (isMoving) return;
      clearTimeout(next);
      if (isIntersecting) next = setTimeout(() => play(0), FIRST.wait);
    }, { threshold: 1 });
    const end = () => {
      watch.disconnect();
      clearTimeout(next);
      DOINGS.forEach((name) => removeEventListener(name, end, true));
      if (!isMoving) return;
      this.strip.moveBy(number, 0);
      if (this.pointed === number) this.pointed = null;
      this.strip.light();
    };
    const play = (step: number) => {
      if (step === 0 && !isFirst()) return end();
      localStorage.setItem(MOVED, "yes");
      if (step === FIRST.steps.length) return end();
      isMoving = true;
      this.pointed = number;
      this.strip.moveBy(number, FIRST.steps[step] * STEP);
      next = setTimeout(() => play(step + 1), FIRST.each);
    };
    DOINGS.forEach((name) => addEventListener(name, end, true));
    watch.observe(number.node);
  }

  point({ target, clientX, clientY }: PointerEvent) {
    const { ended } = this;
    if (ended && Math.hypot(clientX - ended.clientX, clientY - ended.clientY) < STAYS) return;
    this.ended = null;
    const number = this.dragging ?? this.strip.ofNode.get(target) ?? null;
    if (number === this.pointed) return;
    this.pointed = number;
    this.strip.light();
  }

  onFocus({ target }: Event) {
    const number = this.strip.ofNode.get(target);
    if (!number) return;
    if (number !== this.focused) this.complaint?.clear();
    this.focused = number;
    this.strip.numbers.forEach(({ node }) => { node.tabIndex = node === target ? 0 : -1; });
    if (number.given && !this.dragging) this.show(number);
    this.strip.light();
  }

  /** Show a field's number with all its digits, to be typed over. */
  show({ node, value, digits }: StripNumber) {
    if (!(node instanceof HTMLInputElement)) return;
    node.value = short(value, ALL_PLACES);
    this.reach(node, digits);
    node.select();
  }

  /** @param digits that it has room for */
  reach(field: HTMLInputElement, digits: number) {
    const over = Math.min(field.value.length, MOST_DIGITS) - digits;
    field.style.setProperty("--over", String(Math.max(0, over)));
  }

  onBlur() {
    const { focused } = this;
    this.focused = null;
    if (focused?.given) this.settle(focused);
    this.strip.light();
  }

  /**
   * The end of typing: text that is refused gives way to the number that stays; the sentence about it
   * stays until a reader goes on.
   */
  settle(number: StripNumber) {
    this.typing = null;
    number.value = NaN;
    number.node.style.removeProperty("--over");
    this.strip.paintNumber(number, this.strip.view());
  }

  onClick({ target }: Event) {
    const number = this.strip.ofNode.get(target);
    if (!number) return;
    if (number.given) {
      if (this.dragged) return;
      this.typing = number.node;
      number.node.focus();
      return;
    }
    const { state } = this.strip.explorer;
    const { stage, column, head } = number.at;
    if (stage === "head_outputs") this.choose({ component: column, focus: head });
    if (stage === "output") this.choose({ outcome: column });
    const at = { ...number.at, term: null as unknown as number };
    const again = state.selected && address(state.selected) === address(at);
    if (again) this.strip.explorer.back();
    else this.strip.explorer.select(at);
  }

  choose(patch: Partial<ExplorerState>) {
    Object.assign(this.strip.explorer.state, patch);
  }

  onInput({ target }: Event) {
    const number = this.strip.ofNode.get(target);
    if (!number) return;
    this.typing = target;
    const { value, wrong } = entered((target as HTMLInputElement).value, rangeOf(this.strip.explorer, number.at));
    if (wrong) this.strip.explorer.takeBack();
    this.enter(number, value, wrong);
  }

  /** @param wrong an error message on the text of the field */
  enter(number: StripNumber, value: number, wrong: string = "") {
    const { node } = number;
    if (!(node instanceof HTMLInputElement)) return;
    if (node === this.typing) this.reach(node, number.digits);
    const text = node === this.typing ? node.value.trim() : short(value, ALL_PLACES);
    this.complaint?.say(node, wrong || fill(this.strip.edit(number, value), { text }));
  }

  nudge(number: StripNumber, by: number) {
    this.typing = null;
    this.enter(number, stepped(number.value, by));
  }

  onKey(event: KeyboardEvent) {
    const number = this.strip.ofNode.get(event.target);
    if (!number) return;
    const { key } = event;
    const isTyping = number.node === this.typing;
    const up = { ArrowUp: 1, ArrowDown: -1 }[key] ?? 0;
    const across = { ArrowRight: 1, ArrowLeft: -1 }[key] ?? 0;
    if (number.given && up) this.nudge(number, up * STEP * (event.shiftKey ? 10 : 1));
    else if (across && !isTyping) this.go(number, across);
    else if (up) this.go(number, -up, number);
    else if (number.given && isTyping && (key === "Enter" || key === "Escape")) {
      this.settle(number);
      this.show(number);
    } else if (key === "Escape" && this.strip.explorer.state.selected) this.strip.explorer.back();
    else return;
    event.preventDefault();
  }

  /** Go to the next number, or to the next one in the same column. */
  go(from: StripNumber, by: number, like?: StripNumber) {
    const column = ({ at: { stage, term }, node }: StripNumber) =>
      [stage, term === null, node.parentElement?.className,
        [...node.parentElement?.children ?? []].indexOf(node)].join();
    const those = this.strip.numbers.filter((one) => one.node.checkVisibility()
      && (!like || column(one) === column(like)));
    those[those.indexOf(from) + by]?.node.focus();
  }

  /** Drag an input to the right, or up, for more and the other way for less. */
  drag(event: PointerEvent) {
    const number = this.strip.ofNode.get(event.target);
    this.dragged = false;
    if (!number?.given || number.node === this.typing || event.button) return;
    const { node, value } = number;
    let steps = 0;
    const move = (moved: PointerEvent) => {
      const way = gone(event, moved);
      if (!this.dragging && Math.abs(way) < DRAG.least) return;
      this.dragging = number;
      this.dragged = true;
      const now = Math.round(way / DRAG.step);
      if (now === steps) return;
      steps = now;
      this.nudge(number, stepped(value, steps * STEP) - number.value);
    };
    const end = (event: PointerEvent) => {
      this.ended = this.dragging && event;
      this.dragging = null;
      node.removeEventListener("pointermove", move);
      node.removeEventListener("pointerup", end);
      node.removeEventListener("pointercancel", end);
    };
    node.setPointerCapture(event.pointerId); // a quick hand leaves the number with its first step
    node.addEventListener("pointermove", move);
    node.addEventListener("pointerup", end);
    node.addEventListener("pointercancel", end);
  }
}
