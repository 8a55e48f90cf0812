/** The next tokens after the sentence, with all heads and without the first of the chosen two. */

import maps from "../data/heads-maps.ts";
import { percent } from "../engine/numbers.ts";
import { fill } from "../engine/text.ts";
import { make, set, setText } from "../figures/explorer-parts.ts";
import { heads as texts } from "../strings/heads.ts";
import type { HeadsFigure } from "../types/heads.ts";

/** The number of tokens that are shown. */
const COUNT = 6;

/** The table of next tokens. */
export function makeNext(view: HeadsFigure) {
  const title = make("p", { className: "model-title" });
  const names = texts.nextColumns.map((text) => make("th", { scope: "col" }, text));
  const lines = Array.from({ length: COUNT + 1 }, () => {
    const token = make("th", { scope: "row" });
    const bars = [0, 1].map((side) => {
      const [bar, text] = [make("span", { className: `heads-bar side-${side}` }), make("span")];
      return { bar, text, node: make("td", {}, bar, text) };
    });
    return { token, bars, node: make("tr", {}, token, ...bars.map(({ node }) => node)) };
  });
  const node = make("div", { className: "heads-next", role: "group", "aria-label": texts.next }, title,
    make("table", {}, make("thead", {}, make("tr", {}, ...names)),
      make("tbody", {}, ...lines.map((line) => line.node))));

  function paint() {
    const { known, state: { heads: [head], sentence } } = view;
    const { probabilities, tokens } = maps.next[sentence];
    const at = known.indexOf(head);
    const rows = [probabilities[0], ...at < 0 ? [] : [probabilities[1 + at]]];
    const chosen = shownTokens(rows);
    setText(title, fill(at < 0 ? texts.nextNone : texts.nextWith, { head: view.nameOf(head) }));
    names.forEach((name, i) =>
      setText(name, i === 2 && at < 0 ? "" : fill(texts.nextColumns[i], { head: view.brief(head) })));
    lines.forEach(({ token, bars }, i) => {
      const isRest = i === COUNT;
      setText(token, isRest ? texts.nextRest : tokens[chosen[i]].replaceAll("\n", texts.nextLine).trim() || "␣");
      bars.forEach(({ bar, text }, side) => {
        const row = rows[side];
        const share = !row ? 0 : isRest ? 1 - chosen.reduce((sum, j) => sum + row[j], 0) : row[chosen[i]];
        set(bar, ".width", `${(100 * share).toFixed(1)}%`);
        setText(text, row ? percent(share) : "");
      });
    });
  }

  return { node, paint };
}

/** The tokens with the largest of both probabilities, in the order of the whole model. */
export function shownTokens(rows: number[][]): number[] {
  const largest = rows[0].map((_, i) => Math.max(...rows.map((row) => row[i])));
  const first = largest.map((_, i) => i).sort((a, b) => largest[b] - largest[a] || a - b).slice(0, COUNT);
  return first.sort((a, b) => rows[0][b] - rows[0][a] || a - b);
}
