/**
 * A question with options to choose from. The page holds the feedback on every option below the
 * question; the note on the chosen option is copied from there to the option. A prediction opens the
 * text after it, whichever option was chosen. Pages without solutions have no feedback: there a
 * prediction opens the text after it, and no other question can be answered.
 */

import { isRight, setRight } from "../store/progress.ts";
import { quiz as strings } from "../strings/reading.ts";
import { find } from "./page.ts";

class Quiz extends HTMLElement {
  connectedCallback() {
    const form = find(this, "form", HTMLFormElement);
    form.addEventListener("submit", (event) => this.check(event));
    form.addEventListener("change", () => this.forget());
    find(this, "button", HTMLElement).hidden = !this.hasKey() && !("predict" in this.dataset);
    this.showDone();
  }

  hasKey() {
    return this.querySelector(".quiz-answer") !== null;
  }

  options(): HTMLInputElement[] {
    return Array.from(this.querySelectorAll(".quiz-option input"));
  }

  chosen() {
    return this.options().filter((option) => option.checked);
  }

  feedbackOn(option: HTMLInputElement) {
    return find(this, `.quiz-answer [data-option="${option.value}"]`, HTMLElement);
  }

  isRight(option: HTMLInputElement) {
    return this.feedbackOn(option).dataset.right === "yes";
  }

  note(option: HTMLInputElement) {
    return find(this, `[id="${option.id}-note"]`, HTMLElement);
  }

  check(event: SubmitEvent) {
    event.preventDefault();
    this.forget();
    if (!this.hasKey()) {
      this.goOn();
      return;
    }
    const verdict = this.verdict();
    this.chosen().forEach((option) => this.annotate(option));
    this.say(verdict);
    const isPrediction = "predict" in this.dataset && verdict !== "empty";
    if (isPrediction) {
      this.reveal(verdict);
    }
    if (verdict === "right" || isPrediction) {
      setRight(this.id);
      this.showDone();
    }
  }

  /** Open the text after the question once an option is chosen, whether right or wrong. */
  goOn() {
    if (this.chosen().length === 0) {
      this.say("empty");
    } else {
      this.open();
    }
  }

  /** Open the text that was folded until there is a prediction. */
  open() {
    const fold = document.getElementById(`${this.id}-revealed`);
    if (fold instanceof HTMLDetailsElement) {
      fold.open = true;
    }
  }

  reveal(verdict: string) {
    this.open();
    find(this, ".quiz-status", HTMLElement).textContent =
      verdict === "right" ? strings.predicted : strings.mispredicted;
  }

  /** Return the name of the string for the choice, compared with the key. */
  verdict(): keyof typeof strings {
    const chosen = this.chosen();
    const right = this.options().filter((option) => this.isRight(option));
    if (chosen.length === 0) {
      return "empty";
    }
    if (!chosen.every((option) => this.isRight(option))) {
      return "multiple" in this.dataset ? "mixed" : "wrong";
    }
    return chosen.length === right.length ? "right" : "incomplete";
  }

  /** Put the note on a chosen option below it. */
  annotate(option: HTMLInputElement) {
    const feedback = this.feedbackOn(option);
    const note = this.note(option);
    note.dataset.right = feedback.dataset.right;
    note.replaceChildren(...Array.from(feedback.children, (child) => child.cloneNode(true)));
    note.querySelectorAll("[id]").forEach((element) => element.removeAttribute("id"));
    option.setAttribute("aria-describedby", note.id);
  }

  /** Take back all notes: the choice has changed. */
  forget() {
    this.options().forEach((option) => {
      const note = this.note(option);
      note.replaceChildren();
      delete note.dataset.right;
      option.removeAttribute("aria-describedby");
    });
    this.say(null);
  }

  say(verdict: keyof typeof strings | null) {
    const status = find(this, ".quiz-status", HTMLElement);
    status.textContent = verdict && strings[verdict];
    status.dataset.verdict = verdict ?? "";
  }

  showDone() {
    const isDone = isRight(this.id);
    find(this, ".reading-done", HTMLElement).textContent = isDone ? strings.done : "";
  }
}

customElements.define("mha-quiz", Quiz);
document.addEventListener("mha-progress-cleared", () => {
  const quizzes: NodeListOf<Quiz> = document.querySelectorAll("mha-quiz");
  quizzes.forEach((quiz) => quiz.showDone());
});
