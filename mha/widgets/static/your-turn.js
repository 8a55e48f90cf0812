/* The box in which a reader computes one number: checking, hints, and new numbers. The page holds
   the operands, never the answer. */
(function () {
  "use strict";
  const strings = window.mhaStrings.exercises;
  const { asked, fresh, hints, seedOf, verdict, worked } = window.mhaExercises;
  const { fill, find } = window.mhaPage;
  const { short } = window.mhaNumbers;

  /**
   * Put text into an element, with ^ as a raised exponent.
   * @param {HTMLElement} element
   * @param {string} text
   */
  function setRich(element, text) {
    const parts = text.split(/\^([^\s,]+)/).map((part, i) => {
      const node = i % 2 === 1 ? document.createElement("sup") : document.createTextNode("");
      node.textContent = part;
      return node;
    });
    element.replaceChildren(...parts);
  }

  /**
   * Numbers as a question gives them, in brackets where there are several.
   * @param {number[]} values
   * @param {number} places
   */
  function listed(values, places) {
    const texts = values.map((value) => short(value, places));
    return texts.length === 1 ? texts[0] : `(${texts.join(", ")})`;
  }

  /**
   * @param {HTMLElement} box
   * @returns {Task}
   */
  function readTask(box) {
    const task = JSON.parse(find(box, "script", HTMLElement).textContent);
    const given = (/** @type {number | null} */ number) => number ?? -Infinity; // JSON has none
    return { ...task, givens: task.givens.map((/** @type {[]} */ values) => values.map(given)) };
  }

  class YourTurn extends HTMLElement {
    original = readTask(this);
    task = this.original;
    count = 0; // sets of new numbers so far

    connectedCallback() {
      this.find("form").addEventListener("submit", (event) => this.check(event));
      this.find(".your-turn-hint").addEventListener("click", () => this.hint());
      if (this.task.draw) {
        this.find(".your-turn-fresh").addEventListener("click", () => this.renew());
      }
      this.showDone();
    }

    /** @param {string} selector */
    find(selector) {
      return find(this, selector, HTMLElement);
    }

    field() {
      return find(this, "input", HTMLInputElement);
    }

    /**
     * @param {string} text
     * @param {string} verdictName
     */
    say(text, verdictName) {
      const feedback = this.find(".your-turn-feedback");
      feedback.dataset.verdict = verdictName;
      feedback.textContent = text;
    }

    /** @param {Event} event */
    check(event) {
      event.preventDefault();
      const field = this.field();
      const found = field.value.trim() === "" ? "empty" : verdict(this.task, field.value);
      const isNumber = found !== "empty" && found !== "unreadable";
      field.setAttribute("aria-invalid", String(!isNumber));
      const rounding = this.find(".your-turn-rounding").textContent;
      this.say(fill(strings[found], { answer: this.answer(), rounding }), found);
      if (found === "right") {
        window.mhaProgress.setRight(this.id);
        this.showDone();
      }
    }

    answer() {
      const text = short(asked(this.task), Math.max(4, this.task.places));
      return this.task.percent ? `${text}\u00a0%` : text;
    }

    hint() {
      const list = this.find(".your-turn-hints");
      const all = hints(this.task);
      if (list.children.length === all.length) {
        this.say(strings.noMoreHints, "note");
        return;
      }
      const item = document.createElement("li");
      setRich(item, all[list.children.length]);
      list.append(item);
    }

    renew() {
      this.count += 1;
      const task = this.task = fresh(this.original, seedOf(this.id, this.count));
      this.querySelectorAll(".your-turn-given").forEach((span, i) => {
        span.textContent = listed(task.givens[i], task.shownPlaces);
      });
      this.find(".your-turn-hints").replaceChildren();
      find(this, "details", HTMLDetailsElement).open = false;
      setRich(this.find(".your-turn-worked p"), worked(task));
      this.field().value = "";
      this.field().removeAttribute("aria-invalid");
      this.say(fill(strings.fresh, { count: this.count }), "note");
    }

    showDone() {
      const isDone = window.mhaProgress.isRight(this.id);
      this.find(".reading-done").textContent = isDone ? strings.done : "";
    }
  }

  customElements.define("mha-your-turn", YourTurn);
  document.addEventListener("mha-progress-cleared", () => {
    /** @type {NodeListOf<YourTurn>} */
    const boxes = document.querySelectorAll("mha-your-turn");
    boxes.forEach((box) => box.showDone());
  });
})();
