/** The table of the answers of each word of a sentence, with a mark for right and wrong. */

import task from "../data/learning-task.ts";
import { percent } from "../engine/numbers.ts";
import { fill } from "../engine/text.ts";
import { make, makeButton, set, setText } from "../figures/explorer-parts.ts";
import { learning as texts } from "../strings/learning.ts";
import type { ToySentence } from "../types/panels.ts";

const { length, questions, words } = task;

type Cell = { node: HTMLElement, mark: HTMLElement, text: HTMLElement, chance: HTMLElement };

/** Paint an answer, and whether it is right: the form of the right one, −1 where there is none. */
function paintAnswer({ chance, mark, node, text }: Cell, logs: Float64Array, right: number) {
  const most = logs.indexOf(Math.max(...logs));
  const isRight = most === right;
  set(node, "class", right < 0 ? "none" : isRight ? "right" : "wrong");
  setText(mark, right < 0 ? "" : isRight ? "✓ " : "✗ ");
  setText(text, right < 0 ? "" : words[most]);
  setText(chance, right < 0 ? "" : isRight ? percent(Math.exp(logs[most]), 0)
    : fill(texts.wrong, { word: words[right] }));
}

/**
 * @param choose is called with a word of the sentence
 * @param next is called to show another sentence
 */
export function answerTable(choose: (word: number) => void, next: () => void) {
  const heading: HTMLElement = make("p", { className: "model-title" });
  const rows: { word: HTMLElement, cells: Cell[], node: HTMLElement }[] = Array.from({ length }, (_, i) => {
    const word = makeButton("", () => choose(i), { className: "model-word" });
    const cells = questions.map(() => {
      const [mark, text, chance] = [make("span", { className: "verdict" }), make("i"), make("small", { className: "soft" })];
      return { node: make("td", {}, mark, text, " ", chance), mark, text, chance };
    });
    return { word, cells, node: make("tr", {}, make("th", { scope: "row" }, word),
      ...cells.map((cell) => cell.node)) };
  });
  const node: HTMLElement = make("div", {}, heading,
    make("table", { className: "learning-table" }, make("thead", {}, make("tr", {},
      ...[texts.word, ...questions].map((name) => make("th", { scope: "col" }, name)))),
    make("tbody", {}, ...rows.map((row) => row.node))),
    makeButton(texts.other, next, { className: "reading-button" }));

  /**
   * @param logs of a word's answer to a question
   */
  function paint(title: string, { forms, answers }: ToySentence, chosen: number, logs: (word: number, question: number) => Float64Array) {
    setText(heading, title);
    rows.forEach((row, i) => {
      setText(row.word, words[forms[i]]);
      set(row.word, "aria-pressed", String(i === chosen));
      row.cells.forEach((cell, q) => {
        const place = answers[i * questions.length + q];
        paintAnswer(cell, logs(i, q), place < 0 ? -1 : forms[place]);
      });
    });
  }

  return { node, paint };
}
