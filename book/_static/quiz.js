/* A question with options to choose from. The page holds the feedback on every option, below the
   question; the note on what was chosen is copied from there to the option. A prediction opens what
   follows it, whichever option was chosen. Pages without solutions have no feedback: there a
   prediction opens what follows, and nothing else can be pressed. */
(function () {
  "use strict";
  const strings = window.mhaStrings.quiz;
  const { find } = window.mhaPage;

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

    /** @returns {HTMLInputElement[]} */
    options() {
      return Array.from(this.querySelectorAll(".quiz-option input"));
    }

    chosen() {
      return this.options().filter((option) => option.checked);
    }

    /** @param {HTMLInputElement} option */
    feedbackOn(option) {
      return find(this, `.quiz-answer [data-option="${option.value}"]`, HTMLElement);
    }

    /** @param {HTMLInputElement} option */
    isRight(option) {
      return this.feedbackOn(option).dataset.right === "yes";
    }

    /** @param {HTMLInputElement} option */
    note(option) {
      return find(this, `[id="${option.id}-note"]`, HTMLElement);
    }

    /** @param {SubmitEvent} event */
    check(event) {
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
        window.mhaProgress.setRight(this.id);
        this.showDone();
      }
    }

    /** Open what follows once something is chosen, whether right or wrong. */
    goOn() {
      if (this.chosen().length === 0) {
        this.say("empty");
      } else {
        this.open();
      }
    }

    /** Open what was folded away until there is a prediction. */
    open() {
      const fold = document.getElementById(`${this.id}-revealed`);
      if (fold instanceof HTMLDetailsElement) {
        fold.open = true;
      }
    }

    /** @param {string} verdict */
    reveal(verdict) {
      this.open();
      find(this, ".quiz-status", HTMLElement).textContent =
        verdict === "right" ? strings.predicted : strings.mispredicted;
    }

    /**
     * Return the name of the string that says how the choice stands to the key.
     * @returns {keyof Strings["quiz"]}
     */
    verdict() {
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

    /**
     * Put the note on a chosen option below it.
     * @param {HTMLInputElement} option
     */
    annotate(option) {
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

    /** @param {keyof Strings["quiz"] | null} verdict */
    say(verdict) {
      const status = find(this, ".quiz-status", HTMLElement);
      status.textContent = verdict && strings[verdict];
      status.dataset.verdict = verdict ?? "";
    }

    showDone() {
      const isDone = window.mhaProgress.isRight(this.id);
      find(this, ".reading-done", HTMLElement).textContent = isDone ? strings.done : "";
    }
  }

  customElements.define("mha-quiz", Quiz);
  document.addEventListener("mha-progress-cleared", () => {
    /** @type {NodeListOf<Quiz>} */
    const quizzes = document.querySelectorAll("mha-quiz");
    quizzes.forEach((quiz) => quiz.showDone());
  });
})();
