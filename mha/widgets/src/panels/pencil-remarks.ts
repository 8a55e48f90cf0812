/** What the red pencil says of the number that is asked about: its arithmetic, its verdict, its consequences. */

import { RIGHT, ROUNDED, SLIP, evaluate, slipsBehind } from "../engine/corrections.ts";
import { short, shown } from "../engine/numbers.ts";
import { chain } from "../engine/signs.ts";
import { fill } from "../engine/text.ts";
import { make, makeButton } from "../figures/explorer-parts.ts";
import { pencil as texts } from "../strings/pencil.ts";
import type { paperOf } from "./pencil-paper.ts";
import { marked, named, raised, withMinus, written } from "./pencil-words.ts";
import type { PencilCell, PencilView } from "../types/pencil.ts";

/** So many slips, or claims, are named. */
const NAMED = 3;

/** @param paper the sheet with the numbers of the remarks */
export function remarksOf(pencil: PencilView, paper: ReturnType<typeof paperOf>) {
  const node: HTMLElement = make("div", { className: "pencil-said" });

  /** @param rest how many numbers are off by rounding errors */
  function paint(rest: number) {
    const { at, document } = pencil;
    if (at < 0) {
      node.className = "pencil-said";
      const hint = !document.slips.length ? texts.hintClean
        : document.corrected.size < document.slips.length ? texts.hint : fill(rest ? texts.hintRest : texts.hintDone, { n: rest });
      node.replaceChildren(make("p", { className: "soft" }, hint));
      return;
    }
    const { sheet, bySpot, slips } = document;
    const cell = (bySpot.get(at) as PencilCell);
    const next = slips.find((spot) => spot > at && pencil.state.states[spot] === SLIP);
    const isCorrected = document.corrected.has(at);
    const buttons = [
      ...(slips.includes(at) ? [makeButton(isCorrected ? texts.uncorrect : texts.correct,
        () => pencil.toggle(at), { className: "reading-button main" })] : []),
      ...(next === undefined ? [] : [makeButton(texts.nextSlip, () => pencil.ask(next), { className: "reading-button" })]),
      makeButton(texts.close, () => {
        pencil.close();
        paper.focus();
      },
        { className: "reading-button" }),
    ];
    node.className = "pencil-said open";
    node.replaceChildren(
      make("div", { className: "pencil-what" },
        makeButton(fill(texts.line, { name: named(sheet, cell), line: cell.line }), () => paper.bring(at),
          { className: "pencil-name", title: texts.bring }),
        make("div", { className: "pencil-buttons" }, ...buttons)),
      arithmetic(at),
      make("p", {}, ...verdict(at)),
      make("p", {}, ...consequences()));
  }

  /** The line of arithmetic: the printed number, struck out if it is wrong or changed, and the computed one. */
  function arithmetic(spot: number) {
    const { numbers } = pencil.document;
    const { printed, formula, state } = numbers[spot];
    const local = evaluate(formula, pencil.state.values);
    const left = written(formula, pencil.state, numbers);
    const result = short(local);
    const line = chain(left, result);
    const wrote = withMinus(printed);
    const isOther = state === SLIP || pencil.state.changed[spot];
    const marks = [...(isOther ? [make("s", { className: "n slip" }, wrote), " "] : [])];
    if (left === result) return make("p", { className: "pencil-line" }, ...marks, result);
    return make("p", { className: "pencil-line" }, ...raised(line.slice(0, line.length - result.length)),
      ...marks, ...raised(result));
  }

  function verdict(spot: number): (Node | string)[] {
    const { numbers, corrected } = pencil.document;
    const { values, states, changed } = pencil.state;
    const { printed, slip, places, true: wanted } = numbers[spot];
    const still = ` ${fill(texts.still, { value: shown(Number(wanted), places) })}`;
    const before = fill(corrected.has(spot) ? texts.mended : texts.redone, { printed: withMinus(printed) });
    if (states[spot] === RIGHT) {
      return [changed[spot] ? before : slip ? texts.rightAnyway : texts.right];
    }
    if (states[spot] === SLIP) {
      const isFar = Math.abs(evaluate(numbers[spot].formula, values) - Number(wanted)) > numbers[spot].half;
      return [texts.kinds[slip], isFar ? still : ""];
    }
    const behind = slipsBehind(numbers, states, spot).filter((at) => at !== spot);
    const said = changed[spot] ? before : texts.spoiled;
    if (states[spot] === ROUNDED) return [changed[spot] ? `${before} ` : "", texts.rounded, still];
    return [said, still, ` ${texts.from} `, ...links(behind), "."];
  }

  /** Numbers that lead to themselves. */
  function links(spots: number[]): (Node | string)[] {
    const links = spots.slice(0, NAMED).map((spot) => makeButton(withMinus(pencil.document.numbers[spot].printed),
      () => pencil.ask(spot), { className: "n slip", "aria-label": paper.label(spot) }));
    const more = spots.length - NAMED;
    return [...links.flatMap((link, i) => (i ? [", ", link] : [link])),
      more > 0 ? ` ${fill(texts.andMore, { n: more })}` : ""];
  }

  /** The numbers computed from the number, and the claims that are wrong with it. */
  function consequences(): (Node | string)[] {
    const { sheet, bySpot, numbers } = pencil.document;
    const { lit, ends } = (pencil.lit as { lit: Map<number, number>, ends: Set<number> });
    const cells = [...lit.keys()].filter((spot) => spot !== pencil.at && bySpot.has(spot));
    const n = cells.length;
    if (!n) return [ends.size ? texts.followsSlips : texts.followsNone];
    const stages = [...new Set(cells.sort((a, b) => a - b).map((spot) =>
      texts.stages[(bySpot.get(spot) as PencilCell).place.stage].toLowerCase()))];
    const said = [fill(n === 1 ? texts.followsOne : texts.follows, { n }), ` (${stages.join(" → ")})`,
      ends.size ? texts.slipsAnew : "", "."].join("");
    const claims = numbers[pencil.at].state === RIGHT ? [] : sheet.claims
      .filter(({ about }) => about.some((spot) => lit.has(spot) || ends.has(spot)))
      .sort((a, b) => a.about.length - b.about.length).slice(0, 2);
    return [said, ...(claims.length ? [make("br"), make("b", {}, texts.falls), " "] : []),
      ...claims.flatMap(({ says, line }, i) =>
        [i ? "; " : "", ...marked(says), ` (${fill(texts.inLine, { line })})`]),
      ...(claims.length ? [". ", make("span", { className: "soft" }, ...marked(fill(texts.because, { why: claims[0].why })))] : [])];
  }

  return { node, paint };
}
