/** The table of contents shows a reader's progress, and a button clears it. */

import { progress as strings } from "../strings/reading.ts";
import * as progress from "../store/progress.ts";
import { fill } from "../engine/text.ts";
import { button } from "./page.ts";
import type { PageProgress } from "../types/reading.ts";

/* ---- Beside the links ---- */

function showAll() {
  const links: NodeListOf<HTMLAnchorElement> = document.querySelectorAll("nav.bd-links a.reference.internal");
  links.forEach((link) => show(link, progress.entryAt(link.href)));
  showClear(progress.isAny());
}

/** Show a page's progress beside its link. */
function show(link: HTMLAnchorElement, entry: PageProgress) {
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

function badge(seen: string[], said: string) {
  const box = document.createElement("span");
  box.className = "progress-badge";
  seen.forEach((text) => box.append(piece("progress-line", text, true)));
  box.append(piece("reading-unseen", said, false));
  return box;
}

function piece(name: string, text: string, forEyesOnly: boolean) {
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

function ask(asked: boolean) {
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

function showClear(hasProgress: boolean) {
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
