/* A question with options to choose from. The page holds the feedback on every option, below the
   question; the note on what was chosen is copied from there to the option. */
(function () {
  "use strict";
  const strings = window.mhaStrings.quiz;

  class Quiz extends HTMLElement {
    connectedCallback() {
      const form = this.querySelector("form");
      form.addEventListener("submit", this.check.bind(this));
      form.addEventListener("change", this.forget.bind(this));
      this.showDone();
    }

    options() {
      return Array.from(this.querySelectorAll(".quiz-option input"));
    }

    feedbackOn(option) {
      return this.querySelector('.quiz-answer [data-option="' + option.value + '"]');
    }

    isRight(option) {
      return this.feedbackOn(option).dataset.right === "yes";
    }

    note(option) {
      return option.parentElement.querySelector(".quiz-note");
    }

    check(event) {
      event.preventDefault();
      this.forget();
      const verdict = this.verdict();
      this.options().filter(function (option) { return option.checked; }).forEach(this.annotate, this);
      this.say(verdict);
      if (verdict === "right") {
        window.mhaProgress.setRight(this.id);
        this.showDone();
      }
    }

    /** Return the name of the string that says how the choice stands to the key. */
    verdict() {
      const chosen = this.options().filter(function (option) { return option.checked; });
      const right = this.options().filter(this.isRight, this);
      if (chosen.length === 0) {
        return "empty";
      }
      if (!chosen.every(this.isRight, this)) {
        return "multiple" in this.dataset ? "mixed" : "wrong";
      }
      return chosen.length === right.length ? "right" : "incomplete";
    }

    /** Put the note on a chosen option below it. */
    annotate(option) {
      const feedback = this.feedbackOn(option);
      const note = this.note(option);
      const copies = Array.from(feedback.children, function (child) { return child.cloneNode(true); });
      copies.forEach(function (copy) {
        copy.querySelectorAll("[id]").forEach(function (element) { element.removeAttribute("id"); });
      });
      note.dataset.right = feedback.dataset.right;
      note.replaceChildren.apply(note, copies);
      option.setAttribute("aria-describedby", note.id);
    }

    /** Take back all notes: the choice has changed. */
    forget() {
      this.options().forEach(function (option) {
        this.note(option).replaceChildren();
        delete this.note(option).dataset.right;
        option.removeAttribute("aria-describedby");
      }, this);
      this.say(null);
    }

    say(verdict) {
      const status = this.querySelector(".quiz-status");
      status.textContent = verdict ? strings[verdict] : "";
      status.dataset.verdict = verdict || "";
    }

    showDone() {
      const isDone = window.mhaProgress.isRight(this.id);
      this.querySelector(".reading-done").textContent = isDone ? strings.done : "";
    }
  }

  customElements.define("mha-quiz", Quiz);
  document.addEventListener("mha-progress-cleared", function () {
    document.querySelectorAll("mha-quiz").forEach(function (box) { box.showDone(); });
  });
})();
