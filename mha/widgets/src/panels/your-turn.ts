/**
 * The box in which a reader computes numbers: checking, hints, and new numbers. The page holds the
 * operands, never the answers. A box has one field, or several that are checked each by itself.
 */

import { recognised, verdict } from "../engine/answers.ts";
import { asked, fresh, hints, seedOf, worked } from "../engine/exercises.ts";
import { short } from "../engine/numbers.ts";
import { fill } from "../engine/text.ts";
import { find } from "../reading/page.ts";
import { isRight, setRight } from "../store/progress.ts";
import { yourTurn as strings } from "../strings/your-turn.ts";
import type { Task, Verdict } from "../types/reading.ts";

/** Put text into an element, with ^ as a raised exponent. */
function setRich(element: HTMLElement, text: string) {
  const parts = text.split(/\^([^\s,]+)/).map((part, i) => {
    const node = i % 2 === 1 ? document.createElement("sup") : document.createTextNode("");
    node.textContent = part;
    return node;
  });
  element.replaceChildren(...parts);
}

/** Numbers as a question gives them, in brackets where there are several. */
function listed(values: number[], places: number) {
  const texts = values.map((value) => short(value, places));
  return texts.length === 1 ? texts[0] : `(${texts.join(", ")})`;
}

function readData(box: HTMLElement): {tasks: Task[], together: boolean, isKept?: boolean} {
  const data = JSON.parse(find(box, "script", HTMLElement).textContent);
  const given = (number: number | null) => number ?? -Infinity; // JSON has none
  const tasks = data.tasks.map((task: Task) =>
    ({ ...task, givens: task.givens.map((values) => values.map(given)) }));
  return { ...data, tasks };
}

class YourTurn extends HTMLElement {
  data = readData(this);
  tasks = this.data.tasks;
  hinted = this.tasks.map(() => 0); // hints given so far, by task
  count = 0; // sets of new numbers so far
// Whether the set that is shown is answered; a box that the page makes anew has no earlier answer.
isRight = this.data.isKept !== false && isRight(this.id);

  connectedCallback() {
    this.find("form").addEventListener("submit", (event) => this.check(event));
    this.find(".your-turn-hint").addEventListener("click", () => this.hint());
    this.querySelector(".your-turn-fresh")?.addEventListener("click", () => this.renew());
    this.fields().forEach((field, i) =>
      field.addEventListener("input", () => this.mark(i, "empty")));
    this.showDone();
  }

  find(selector: string) {
    return find(this, selector, HTMLElement);
  }

  fields(): HTMLInputElement[] {
    return Array.from(this.querySelectorAll("input"));
  }

  label(i: number) {
    const text = this.fields()[i].labels?.[0].textContent ?? "";
    return this.tasks.length > 1 ? `${text}: ` : "";
  }

  say(text: string, verdictName: string) {
    const feedback = this.find(".your-turn-feedback");
    feedback.dataset.verdict = verdictName;
    feedback.textContent = text;
  }

  /** Mark one field as right or not yet, beside it where there are several. */
  mark(i: number, found: Verdict | "empty") {
    const field = this.fields()[i];
    const mark = document.getElementById(field.id.replace("-answer", "-mark"));
    if (mark) {
      mark.dataset.verdict = found;
      mark.textContent = found === "empty" ? "" : strings[found === "right" ? "right" : "notYet"];
    }
    field.dataset.verdict = found;
  }

  check(event: Event) {
    event.preventDefault();
    const found = this.fields().map((field, i) =>
      (field.value.trim() === "" ? "empty" : verdict(this.tasks[i], field.value)));
    const isAlone = found.length === 1;
    found.forEach((name, i) => {
      const isNumber = name !== "unreadable" && (name !== "empty" || !isAlone);
      this.fields()[i].setAttribute("aria-invalid", String(!isNumber));
      this.mark(i, name);
    });
    const right = found.filter((name) => name === "right").length;
    const wrong = found.findIndex((name) => name !== "right" && name !== "empty");
    if (right === found.length) {
      this.say(isAlone ? `${strings.right}. ${this.answer()}` : strings.allRight, "right");
      this.isRight = true;
      if (this.data.isKept !== false) setRight(this.id);
      this.showDone();
    } else if (wrong >= 0) {
      const so = isAlone ? "" : `${fill(strings.some, { right, total: found.length })} `;
      this.say(so + this.label(wrong) + this.why(wrong, found[wrong]), found[wrong]);
    } else {
      this.say(right ? fill(strings.some, { right, total: found.length }) : strings.empty, "note");
    }
  }

  answer() {
    const [task] = this.tasks;
    const text = short(asked(task), Math.max(4, task.places));
    return fill(strings.answer, { answer: task.percent ? `${text}\u00a0%` : text });
  }

  /** The message on an answer that is not right. */
  why(i: number, found: string) {
    if (found === "unreadable") return fill(strings.unreadable, { text: this.fields()[i].value.trim() });
    const roundings = this.querySelectorAll(".your-turn-rounding");
    const rounding = (roundings[i] ?? roundings[0]).textContent ?? "";
    if (found === "near") return fill(strings.near, { rounding });
    const name = recognised(this.tasks[i], this.fields()[i].value);
    return `${strings.notYet}. ${name ? strings.mistakes[name] : strings.wrong}`;
  }

  hint() {
    const open = this.fields().findIndex((field) => field.dataset.verdict !== "right");
    const i = Math.max(open, 0);
    const all = hints(this.tasks[i]);
    if (this.hinted[i] === all.length) {
      this.say(strings.noMoreHints, "note");
      return;
    }
    const item = document.createElement("li");
    setRich(item, this.label(i) + all[this.hinted[i]]);
    this.hinted[i] += 1;
    this.find(".your-turn-hints").append(item);
  }

  renew() {
    this.count += 1;
    const { tasks, together } = this.data;
    this.tasks = tasks.map((task, i) =>
      fresh(task, seedOf(together || i === 0 ? this.id : `${this.id} ${i}`, this.count)));
    const spans: NodeListOf<HTMLElement> = this.querySelectorAll(".your-turn-given");
    spans.forEach((span) => {
      const [i, j] = (span.dataset.at ?? "").split(".").map(Number);
      span.textContent = listed(this.tasks[i].givens[j], this.tasks[i].shownPlaces);
    });
    this.hinted = this.tasks.map(() => 0);
    this.find(".your-turn-hints").replaceChildren();
    this.querySelector("details")?.removeAttribute("open");
    const lines: NodeListOf<HTMLElement> = this.querySelectorAll(".your-turn-worked p");
    lines.forEach((line, i) => setRich(line, worked(this.tasks[i])));
    this.fields().forEach((field, i) => {
      field.value = "";
      field.removeAttribute("aria-invalid");
      this.mark(i, "empty");
    });
    this.isRight = false;
    this.showDone();
    this.say(strings.fresh, "note");
  }

  showDone() {
    this.find(".reading-done").textContent = this.isRight ? strings.done : "";
  }

  forget() {
    this.isRight = false;
    this.showDone();
  }
}

customElements.define("mha-your-turn", YourTurn);
document.addEventListener("mha-progress-cleared", () => {
  const boxes: NodeListOf<YourTurn> = document.querySelectorAll("mha-your-turn");
  boxes.forEach((box) => box.forget());
});
