/* The hands on the strip: pointing, clicking, dragging, typing and the keys. They know which number
   is pointed at, has the focus or is being changed; the strip draws. */
(function () {
  "use strict";

  const { parsed } = window.mhaNumbers;
  const { address } = window.mhaPlaces;
  const { STEP, fill, make } = window.mhaExplorer;
  const texts = window.mhaStrings.explorer;

  /** How far a number is dragged for one step of it, and before it is dragged at all. */
  const DRAG = { step: 8, least: 4 };

  /** A field widens with what is typed into it, up to so many digits. */
  const MOST_DIGITS = 9;

  class Hands {
    /** @param {HandledStrip} strip */
    constructor(strip) {
      this.strip = strip;
      /** @type {StripNumber | null} */
      this.pointed = null;
      /** @type {StripNumber | null} */
      this.focused = null;
      /** @type {StripNumber | null} */
      this.dragging = null;
      this.dragged = false;
      this.error = make("span", { className: "wrong", role: "alert" });
      /** The field that is being typed in.
          @type {EventTarget | null} */
      this.typing = null;
    }

    listen() {
      const { node } = this.strip;
      node.append(this.error);
      node.addEventListener("pointerover", (/** @type {Event} */ event) => this.point(event));
      node.addEventListener("pointerleave", (/** @type {Event} */ event) => this.point(event));
      node.addEventListener("focusin", (/** @type {Event} */ event) => this.onFocus(event));
      node.addEventListener("focusout", () => this.onBlur());
      node.addEventListener("click", (/** @type {Event} */ event) => this.onClick(event));
      node.addEventListener("keydown", (/** @type {KeyboardEvent} */ event) => this.onKey(event));
      node.addEventListener("input", (/** @type {Event} */ event) => this.onInput(event));
      node.addEventListener("pointerdown", (/** @type {PointerEvent} */ event) => this.drag(event));
      node.addEventListener("mousedown", (/** @type {Event} */ event) => {
        if (this.strip.ofNode.get(event.target)?.given && event.target !== this.typing) {
          event.preventDefault();
        }
      });
      this.strip.numbers[0].node.tabIndex = 0;
    }

    /** @param {Event} event */
    point({ target }) {
      const number = this.dragging ?? this.strip.ofNode.get(target) ?? null;
      if (number === this.pointed) return;
      this.pointed = number;
      this.strip.light();
    }

    /** @param {Event} event */
    onFocus({ target }) {
      const number = this.strip.ofNode.get(target);
      if (!number) return;
      this.focused = number;
      this.strip.numbers.forEach(({ node }) => { node.tabIndex = node === target ? 0 : -1; });
      if (number.given && !this.dragging) /** @type {any} */ (target).select();
      this.strip.light();
    }

    onBlur() {
      const { focused } = this;
      this.focused = null;
      if (focused?.given) this.settle(focused);
      this.strip.light();
    }

    /** The end of typing: what is no number gives way to the one that counts.
        @param {StripNumber} number */
    settle(number) {
      this.typing = null;
      number.value = NaN;
      this.complain(number, "");
      this.strip.paintNumber(number, this.strip.view());
      this.strip.takeRoom();
    }

    /** @param {Event} event */
    onClick({ target }) {
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
      const at = { ...number.at, term: /** @type {any} */ (null) };
      const again = state.selected && address(state.selected) === address(at);
      if (again) this.strip.explorer.back();
      else this.strip.explorer.select(at);
    }

    /** @param {Partial<ExplorerState>} patch */
    choose(patch) {
      Object.assign(this.strip.explorer.state, patch);
    }

    /** @param {Event} event */
    onInput({ target }) {
      const number = this.strip.ofNode.get(target);
      if (!number) return;
      this.typing = target;
      this.enter(number, parsed(/** @type {any} */ (target).value));
    }

    /** @param {StripNumber} number
        @param {number} value */
    enter(number, value) {
      const { node } = number;
      const { value: typed } = /** @type {any} */ (node);
      this.strip.giveRoom(number, Math.min(typed.length, MOST_DIGITS));
      const wrong = Number.isFinite(value) ? this.strip.explorer.edit(number.at, value)
        : texts.notANumber;
      if (wrong) node.setAttribute("aria-invalid", "true");
      else node.removeAttribute("aria-invalid");
      this.complain(number, wrong && fill(wrong, { text: typed.slice(0, 40) || "“”" }));
    }

    /** Say below a field what is wrong with what is typed; "" takes it away.
        @param {StripNumber} number
        @param {string} sentence */
    complain({ node }, sentence) {
      this.error.textContent = sentence;
      if (!sentence) return;
      const [field, strip] = [node, this.strip.node].map((one) => one.getBoundingClientRect());
      const room = strip.width - this.error.offsetWidth;
      this.error.style.left = `${Math.max(0, Math.min(field.left - strip.left, room))}px`;
      this.error.style.top = `${field.bottom - strip.top + 4}px`;
    }

    /** @param {StripNumber} number
        @param {number} by */
    nudge(number, by) {
      this.typing = null;
      this.enter(number, Number((number.value + by).toFixed(10)));
    }

    /** @param {KeyboardEvent} event */
    onKey(event) {
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
        if (number.node instanceof HTMLInputElement) number.node.select();
      } else if (key === "Escape" && this.strip.explorer.state.selected) this.strip.explorer.back();
      else return;
      event.preventDefault();
    }

    /** Go to the next number, or to the next one that stands in the same column.
        @param {StripNumber} from
        @param {number} by
        @param {StripNumber} [like] */
    go(from, by, like) {
      const column = (/** @type {StripNumber} */ { at: { stage, term }, node }) =>
        [stage, term === null, node.parentElement?.className,
          [...node.parentElement?.children ?? []].indexOf(node)].join();
      const those = like ? this.strip.numbers.filter((one) => column(one) === column(like))
        : this.strip.numbers;
      those[those.indexOf(from) + by]?.node.focus();
    }

    /** Drag an input to the right for more and to the left for less.
        @param {PointerEvent} event */
    drag(event) {
      const number = this.strip.ofNode.get(event.target);
      this.dragged = false;
      if (!number?.given || number.node === this.typing || event.button) return;
      const { node, value } = number;
      const from = event.clientX;
      let steps = 0;
      /** @param {PointerEvent} moved */
      const move = (moved) => {
        const way = moved.clientX - from;
        if (!this.dragging && Math.abs(way) < DRAG.least) return;
        if (!this.dragging) node.setPointerCapture(event.pointerId);
        this.dragging = number;
        this.dragged = true;
        const now = Math.round(way / DRAG.step);
        if (now === steps) return;
        steps = now;
        this.nudge(number, Number((value + steps * STEP).toFixed(10)) - number.value);
      };
      const end = () => {
        this.dragging = null;
        node.removeEventListener("pointermove", move);
        node.removeEventListener("pointerup", end);
        node.removeEventListener("pointercancel", end);
      };
      node.addEventListener("pointermove", move);
      node.addEventListener("pointerup", end);
      node.addEventListener("pointercancel", end);
    }
  }

  window.mhaExplorer.Hands = Hands;
})();
