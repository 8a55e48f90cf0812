/** The table of the mean weight that each head of a layer gives to tokens of each relation. */

import { shown } from "../engine/numbers.ts";
import { make, setBar, setText } from "../figures/explorer-parts.ts";
import { learning as texts } from "../strings/learning.ts";

type Cell = { bar: HTMLElement, number: HTMLElement, node: HTMLElement };

/** The table; `layOut` makes its rows. */
export function roleTable() {
  const node: HTMLElement = make("div", { className: "learning-roles" });

  /** A row for each head, a cell for each relation. */
  let rows: Cell[][] = [];

  function layOut(heads: string[]) {
    rows = heads.map(() => texts.relations.map(() => {
      const [bar, number] = [make("span", { className: "learning-bar" }), make("span")];
      return { bar, number, node: make("td", {}, bar, number) };
    }));
    node.replaceChildren(make("p", { className: "model-title" }, texts.roles),
      make("table", { className: "learning-table" }, make("thead", {}, make("tr", {},
        ...[texts.giver, ...texts.relations].map((name) => make("th", { scope: "col" }, name)))),
      make("tbody", {}, ...heads.map((name, i) => make("tr", { className: `head-${i % 6}` },
        make("th", { scope: "row" }, name), ...rows[i].map(({ node }) => node))))),
      make("p", { className: "soft" }, texts.even));
  }

  /** @param weights of all cells, undefined where they are not known yet */
  function paint(weights: Float64Array | undefined) {
    rows.forEach((cells, h) => cells.forEach(({ bar, number }, r) => {
      const weight = weights?.[h * cells.length + r] ?? 0;
      setBar(bar, weight);
      setText(number, weights ? shown(weight, 2) : "\u00a0");
    }));
  }

  return { node, layOut, paint };
}
