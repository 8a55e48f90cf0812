/* The box in which a reader finds numbers that reach a goal: a query whose weights lie where they
   are wanted. Nothing is compared with a stored answer; attention.js computes what is entered. */
(function () {
  "use strict";
  const strings = window.mhaStrings.exercises;
  const { fill, find } = window.mhaPage;
  const { entered } = window.mhaTyped;
  const { trace } = window.mhaAttention;
  const { percent } = window.mhaNumbers;

  class Build extends HTMLElement {
    /** @type {BuildGoal} */
    goal = JSON.parse(find(this, "script", HTMLElement).textContent);

    connectedCallback() {
      find(this, "form", HTMLFormElement).addEventListener("submit", (event) => this.check(event));
      this.showDone();
    }

    /** The weights of a query. @param {number[]} query */
    weights(query) {
      const { key, scale } = this.goal;
      const value = key.map(() => [0]);
      return trace({ query: [[query]], key: [key], value: [value], scale }).weights[0][0];
    }

    /** @param {Event} event */
    check(event) {
      event.preventDefault();
      const fields = Array.from(this.querySelectorAll("input"));
      const found = fields.map((field) => entered(field.value));
      fields.forEach((field, i) => field.setAttribute("aria-invalid", String(found[i].wrong !== "")));
      const wrong = found.find((one) => one.wrong)?.wrong ?? "";
      if (wrong) this.say(fields.every(({ value }) => value.trim() === "") ? strings.empty : wrong, "note");
      else this.judge(this.weights(found.map(({ value }) => value)));
    }

    /** @param {number[]} weights */
    judge(weights) {
      const isReached = weights.every((weight, key) => {
        const [low, high] = this.goal.wanted[key];
        return low - 1e-9 <= weight && weight <= high + 1e-9;
      });
      const given = this.goal.tokens.map((token, key) => `${token} ${percent(weights[key])}`);
      const values = { weights: given.join(", ") };
      this.say(fill(isReached ? strings.reached : strings.notReached, values),
        isReached ? "right" : "wrong");
      if (isReached) {
        window.mhaProgress.setRight(this.id);
        this.showDone();
      }
    }

    /**
     * @param {string} text
     * @param {string} verdictName
     */
    say(text, verdictName) {
      const feedback = find(this, ".your-turn-feedback", HTMLElement);
      feedback.dataset.verdict = verdictName;
      feedback.textContent = text;
    }

    showDone() {
      const isDone = window.mhaProgress.isRight(this.id);
      find(this, ".reading-done", HTMLElement).textContent = isDone ? strings.done : "";
    }
  }

  customElements.define("mha-build", Build);
  document.addEventListener("mha-progress-cleared", () => {
    /** @type {NodeListOf<Build>} */
    const boxes = document.querySelectorAll("mha-build");
    boxes.forEach((box) => box.showDone());
  });
})();
