/**
 * The box in which a reader finds numbers that reach a goal: a query whose weights are in given
 * ranges. No answer is stored for comparison; attention.ts computes with the entered numbers.
 */

import { trace } from "../engine/attention.ts";
import { percent } from "../engine/numbers.ts";
import { entered } from "../engine/typed-numbers.ts";
import { fill } from "../engine/text.ts";
import { find } from "../reading/page.ts";
import { isRight, setRight } from "../store/progress.ts";
import { yourTurn as strings } from "../strings/your-turn.ts";
import type { BuildGoal } from "../types/reading.ts";

class Build extends HTMLElement {
  goal: BuildGoal = JSON.parse(find(this, "script", HTMLElement).textContent);

  connectedCallback() {
    find(this, "form", HTMLFormElement).addEventListener("submit", (event) => this.check(event));
    this.showDone();
  }

  /** The weights of a query. */
  weights(query: number[]) {
    const { key, scale } = this.goal;
    const value = key.map(() => [0]);
    return trace({ query: [[query]], key: [key], value: [value], scale }).weights[0][0];
  }

  check(event: Event) {
    event.preventDefault();
    const fields = Array.from(this.querySelectorAll("input"));
    const found = fields.map((field) => entered(field.value));
    fields.forEach((field, i) => field.setAttribute("aria-invalid", String(found[i].wrong !== "")));
    const wrong = found.find((one) => one.wrong)?.wrong ?? "";
    if (wrong) this.say(fields.every(({ value }) => value.trim() === "") ? strings.empty : wrong, "note");
    else this.judge(this.weights(found.map(({ value }) => value)));
  }

  judge(weights: number[]) {
    const isReached = weights.every((weight, key) => {
      const [low, high] = this.goal.wanted[key];
      return low - 1e-9 <= weight && weight <= high + 1e-9;
    });
    const given = this.goal.tokens.map((token, key) => `${token} ${percent(weights[key])}`);
    const values = { weights: given.join(", ") };
    this.say(fill(isReached ? strings.reached : strings.notReached, values),
      isReached ? "right" : "wrong");
    if (isReached) {
      setRight(this.id);
      this.showDone();
    }
  }

  say(text: string, verdictName: string) {
    const feedback = find(this, ".your-turn-feedback", HTMLElement);
    feedback.dataset.verdict = verdictName;
    feedback.textContent = text;
  }

  showDone() {
    const isDone = isRight(this.id);
    find(this, ".reading-done", HTMLElement).textContent = isDone ? strings.done : "";
  }
}

customElements.define("mha-build", Build);
document.addEventListener("mha-progress-cleared", () => {
  const boxes: NodeListOf<Build> = document.querySelectorAll("mha-build");
  boxes.forEach((box) => box.showDone());
});
