/** The next tokens after the sentence, with all heads and without the first of the chosen two. */

import maps from "../data/heads-maps.ts";
import { percent } from "../engine/numbers.ts";
import { fill } from "../engine/text.ts";
import { make, set, setText } from "../figures/explorer-parts.ts";
import { heads as texts } from "../strings/heads.ts";

/** The number of tokens that are shown. */
const COUNT = 6;

export function nextOf(view: any) {
  const { parts } = view;
  parts.nextTitle = make("p", { className: "model-title" });
  parts.nextNames = texts.nextColumns.map((text: string) => make("th", { scope: "col" }, text));
  parts.nextLines = Array.from({ length: COUNT + 1 }, () => {
    const token = make("th", { scope: "row" });
    const bars = [0, 1].map((side) => {
      const [bar, text] = [make("span", { className: `heads-bar side-${side}` }), make("span")];
      return { bar, text, node: make("td", {}, bar, text) };
    });
    return { token, bars, node: make("tr", {}, token, ...bars.map(({ node }) => node)) };
  });
  return make("div", { className: "heads-next", role: "group", "aria-label": texts.next }, parts.nextTitle,
    make("table", {}, make("thead", {}, make("tr", {}, ...parts.nextNames)),
      make("tbody", {}, ...parts.nextLines.map(({ node }: any) => node))));
}

/** The tokens with the largest of both probabilities, in the order of the whole model. */
export function shownTokens(rows: number[][]): number[] {
  const largest = rows[0].map((_, i) => Math.max(...rows.map((row) => row[i])));
  const first = largest.map((_, i) => i).sort((a, b) => largest[b] - largest[a] || a - b).slice(0, COUNT);
  return first.sort((a, b) => rows[0][b] - rows[0][a] || a - b);
}

export function paintNext(view: any) {
  const { known, parts, state: { heads: [head], sentence } } = view;
  const { probabilities, tokens } = maps.next[sentence];
  const at = known.indexOf(head);
  const rows = [probabilities[0], ...at < 0 ? [] : [probabilities[1 + at]]];
  const chosen = shownTokens(rows);
  setText(parts.nextTitle, fill(at < 0 ? texts.nextNone : texts.nextWith, { head: view.nameOf(head) }));
  parts.nextNames.forEach((node: any, i: number) =>
    setText(node, i === 2 && at < 0 ? "" : fill(texts.nextColumns[i], { head: view.brief(head) })));
  parts.nextLines.forEach(({ token, bars }: any, i: number) => {
    const isRest = i === COUNT;
    setText(token, isRest ? texts.nextRest : tokens[chosen[i]].replaceAll("\n", texts.nextLine).trim() || "␣");
    bars.forEach(({ bar, text }: any, side: number) => {
      const row = rows[side];
      const share = !row ? 0 : isRest ? 1 - chosen.reduce((sum, j) => sum + row[j], 0) : row[chosen[i]];
      set(bar, ".width", `${(100 * share).toFixed(1)}%`);
      setText(text, row ? percent(share) : "");
    });
  });
}
