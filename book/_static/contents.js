/* The table of contents shows what a reader has answered and read, and a button clears it. */
(function () {
  "use strict";
  const strings = window.mhaStrings.progress;
  const progress = window.mhaProgress;
  const { button, fill } = window.mhaPage;

  /* ---- Beside the links ---- */

  function showAll() {
    /** @type {NodeListOf<HTMLAnchorElement>} */
    const links = document.querySelectorAll("nav.bd-links a.reference.internal");
    links.forEach((link) => show(link, progress.entryAt(link.href)));
    showClear(progress.isAny());
  }

  /**
   * Show a page's progress beside its link.
   * @param {HTMLAnchorElement} link
   * @param {PageProgress} entry
   */
  function show(link, entry) {
    link.parentElement?.querySelector(":scope > .progress-badge")?.remove();
    const { questions, questionsInWords, steps, stepsInWords } = strings;
    const parts = [
      { done: entry.right.length, total: entry.total, seen: questions, said: questionsInWords },
      { done: entry.read.length, total: entry.steps, seen: steps, said: stepsInWords },
    ].filter((part) => part.done > 0);
    if (parts.length > 0) {
      const seen = parts.map((part) => fill(part.seen, part));
      const said = parts.map((part) => fill(part.said, part));
      link.after(badge(seen, said.join(", ")));
    }
  }

  /**
   * @param {string[]} seen
   * @param {string} said
   */
  function badge(seen, said) {
    const box = document.createElement("span");
    box.className = "progress-badge";
    seen.forEach((text) => box.append(piece("progress-line", text, true)));
    box.append(piece("reading-unseen", said, false));
    return box;
  }

  /**
   * @param {string} name
   * @param {string} text
   * @param {boolean} forEyesOnly
   */
  function piece(name, text, forEyesOnly) {
    const span = document.createElement("span");
    span.className = name;
    span.textContent = text;
    if (forEyesOnly) {
      span.setAttribute("aria-hidden", "true");
    }
    return span;
  }

  /* ---- Clearing ---- */

  const foot = document.createElement("section");
  const clear = button(strings.clear, () => ask(true));
  const question = document.createElement("div");
  const status = document.createElement("p");
  const keep = button(strings.no, () => ask(false));

  /** @param {boolean} asked */
  function ask(asked) {
    status.textContent = "";
    clear.hidden = asked;
    question.hidden = !asked;
    (asked ? keep : clear).focus();
  }

  function clearAll() {
    question.hidden = true;
    status.textContent = strings.cleared;
    status.focus();
    progress.clear();
  }

  /** @param {boolean} hasProgress */
  function showClear(hasProgress) {
    clear.hidden = !hasProgress || !question.hidden;
    foot.hidden = !hasProgress && status.textContent === "";
  }

  function buildQuestion() {
    question.hidden = true;
    question.className = "progress-question";
    question.setAttribute("role", "group");
    question.setAttribute("aria-label", strings.confirm);
    const asked = document.createElement("p");
    asked.textContent = strings.confirm;
    question.append(asked, button(strings.yes, clearAll), keep);
    question.addEventListener("keydown", (event) => {
      if (event.key === "Escape") {
        ask(false);
      }
    });
  }

  function buildFoot() {
    foot.className = "sidebar-primary-item progress-foot";
    foot.setAttribute("aria-label", strings.region);
    foot.hidden = true;
    status.setAttribute("role", "status");
    status.tabIndex = -1;
    foot.append(clear, question, status);
    document.querySelector(".bd-sidebar-primary .sidebar-primary-items__end")?.prepend(foot);
  }

  buildQuestion();
  buildFoot();
  showAll();
  document.addEventListener("mha-progress", showAll);
})();
