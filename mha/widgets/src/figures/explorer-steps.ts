/**
 * The computation of the query that the strip shows, one line of arithmetic per step: scores, scaled
 * scores, exponentials, their sum, weights, each value's part, the output. The operands of a line fly
 * into it from the strip, and its result flies back; numbers not computed yet are covered. The
 * numbers are the explorer's own, and follow when one is changed.
 */

import { short } from "../engine/numbers.ts";
import { address, of as placeOf } from "../engine/places.ts";
import { chain } from "../engine/signs.ts";
import { decimalsFor, described, sumOf, worked, written } from "../store/explorer-origins.ts";
import { explorerSteps } from "../strings/explorer-steps.ts";
import { explorer } from "../strings/explorer.ts";
import { fill } from "../engine/text.ts";
import { inItalics, make, set } from "./explorer-parts.ts";
import { TimeBar, eased, fly } from "./time-bar.ts";
import type { ExplorerView, Part, StripNumber } from "../types/explorer.ts";
import type { Place } from "../types/run.ts";

const texts = { ...explorerSteps, ...explorer };

/**
 * Milliseconds of a step; until when in its movement numbers fly in, and from when the result
 * flies out.
 */
const PACE = 2400;
const FLOWN = { in: 0.45, out: 0.6 };

/** The stages that exist before the first step, because queries are compared with them. */
const THERE = ["embeddings", "positions", "placed", "start_means", "start_spreads", "start_normed",
  "query", "key", "value", "turned_query", "turned_key"];

export class Steps {
  explorer: ExplorerView;
  line: HTMLElement;
  flight: HTMLElement;
  bar: TimeBar;
  node: HTMLElement;
  results: (Place | null)[];
  taken: { node: HTMLElement, from: HTMLElement | undefined }[];
  given: { node: HTMLElement, from: HTMLElement | undefined } | null;
  ofPlace: Map<string, StripNumber> | undefined;
  written: string | undefined;

  constructor(explorer: ExplorerView) {
    this.explorer = explorer;
    this.line = make("p", { className: "steps-line", "aria-hidden": "true" });
    this.flight = make("div", { className: "steps-flight", "aria-hidden": "true" });
    this.bar = new TimeBar({ count: 1, pace: PACE, label: (i) => this.label(i),
      show: (i, fraction) => this.show(i, fraction) });
    this.node = make("div", { className: "steps head-0", hidden: true }, this.line, this.bar.node,
      this.flight);
    /** The results of each step; empty at first. */
    this.results = [null];
    /** The operands and the result of the line: their nodes there and in the strip. */
    this.taken = [];
    this.given = null;
  }

  // -- The steps --

  /** The results of each step, in their order. */
  order(): (Place | null)[] {
    const { numbers, strip } = this.explorer;
    const { row, head, component, outcome } = strip.view();
    const keys = numbers.key[head].map((_, key) => key);
    const ofEach = (stage: string) => keys.map((key) => placeOf(stage, head, row, key));
    const mixture = placeOf("head_outputs", head, row, component);
    const ends = numbers.output ? [placeOf("head_contributions", head, row, outcome),
      placeOf("output", 0, row, outcome)] : [];
    return [null, ...ofEach("scores"), ...ofEach("scaled_scores"), ...ofEach("exponentials"),
      placeOf("row_sums", head, row, 0), ...ofEach("weights"),
      ...keys.map((term) => ({ ...mixture, term })), mixture, ...ends];
  }

  /** The terms of a step's line; none where it has no line but a reason. */
  terms(at: Place): Part[][] {
    const { data, numbers, state, strip } = this.explorer;
    const { stage, head, row, column, term } = at;
    // The terms of these sums are numbers of the strip: the parts, and the contribution of each head.
    const added = stage === "head_outputs" && term === null
      ? numbers.key[head].map((_, key) => ({ ...at, term: key }))
      : stage === "output" ? data.heads.map((_, one) => placeOf("head_contributions", one, row, column))
        .filter((place) => !state.off[place.head]) : [];
    return added.length ? added.map((place) => [{ place, value: strip.valueOf(place), name: "" }])
      : described(data, state, numbers, at).items;
  }

  label(i: number) {
    const { data, numbers, state, strip, nameOf } = this.explorer;
    const at = this.results[i];
    if (!at) return fill(texts.firstStep, { token: strip.view().token });
    const terms = this.terms(at);
    const result = short(strip.valueOf(at));
    const line = terms.length ? chain(sumOf(terms, decimalsFor(terms, result)), result)
      : worked(data, state, numbers, at);
    return fill(texts.stepOf, { name: nameOf.call(this.explorer, at), line });
  }

  // -- What is seen --

  /** Paint again after a change of the numbers, of the view or of the step. */
  paint() {
    const { state, strip } = this.explorer;
    const isOpen = state.step !== null;
    strip.node.classList.toggle("stepped", isOpen);
    this.node.hidden = !isOpen;
    if (!isOpen) {
      this.bar.pause();
      this.uncover();
      return;
    }
    set(this.node, "class", `steps head-${state.focus % 6}`);
    this.results = this.order();
    this.ofPlace = new Map(strip.numbers.map((number) => [number.where, number]));
    this.bar.recount(this.results.length);
    if (state.step === this.bar.at) this.bar.refresh();
    else this.bar.go(Number(state.step));
  }

  show(i: number, fraction: number) {
    const { explorer } = this;
    if (explorer.state.step === null) return;
    if (explorer.state.step !== i) {
      explorer.state = { ...explorer.state, step: i };
      explorer.writeAddress();
      if (explorer.strip.status.textContent === texts.isInSteps) explorer.say("");
    }
    const text = this.label(i);
    if (text !== this.written) this.write(i, text);
    this.cover(i, fraction === 1);
    this.fly(fraction);
  }

  /**
   * Write a step's line, each number that it takes as an element.
   *
   * @param text of the whole line
   */
  write(i: number, text: string) {
    this.written = text;
    const at = this.results[i];
    const terms = at ? this.terms(at) : [];
    this.taken = [];
    this.given = null;
    if (!at || !terms.length) {
      this.line.replaceChildren(text);
      return;
    }
    const inLine = (place: Place | null, words: string) => {
      const node = make("span", { className: "steps-number" }, words);
      const from = place ? this.ofPlace?.get(address(place))?.node : undefined;
      return { node, from };
    };
    const result = short(this.explorer.strip.valueOf(at));
    const places = decimalsFor(terms, result);
    const words = terms.map((parts, n) => {
      const nodes = parts.map((part) => {
        if (typeof part !== "object") return written(part, places);
        const taken = inLine(part.place, written(part, places));
        this.taken.push(taken);
        return taken.node;
      });
      return make("span", { className: "steps-term" }, n ? "+ " : "",
        ...nodes.flatMap((node, k) => (k ? [" ", node] : [node])));
    });
    this.given = inLine(at, result);
    const name = make("span", { className: "soft" }, ...inItalics(`${this.explorer.called(at)}: `));
    this.line.replaceChildren(name, ...words.flatMap((word) => [word, " "]),
      make("span", { className: "steps-term" }, `${text.at(-result.length - 2)} `, this.given.node));
  }

  /**
   * Cover the numbers that are not computed yet, and mark the operands and the result of the step.
   *
   * @param isThere whether the step has given its number
   */
  cover(i: number, isThere: boolean) {
    const { strip } = this.explorer;
    const isWhole = isThere && i === this.results.length - 1;
    const known = new Set(this.results.slice(0, isThere ? i + 1 : i).map((at) => at && address(at)));
    const mixture = this.results.find((at) => at?.stage === "head_outputs" && at.term === null);
    const isMixed = mixture && known.has(address(mixture));
    const taken = new Set(this.taken.map(({ from }) => from));
    const isKnown = ({ at, where, node }: StripNumber) => isWhole || known.has(where)
      || THERE.includes(at.stage)
      || (taken.has(node) && at.stage === "head_contributions")
      || (isMixed && at.stage === "head_outputs" && at.head === mixture.head);
    for (const number of strip.numbers) {
      number.node.classList.toggle("covered", !isKnown(number));
      number.node.classList.toggle("taken", taken.has(number.node));
      number.node.classList.toggle("made", isThere && number.node === this.given?.from);
    }
    strip.node.classList.toggle("whole", isWhole);
    const { lines, ribbons, parts } = strip.ribbons;
    const { row, head, component } = strip.view();
    lines.forEach((line, key) => {
      const has = (at: Place) => isWhole || known.has(address(at));
      line.classList.toggle("covered", !has(placeOf("scores", head, row, key)));
      const isPart = has({ ...placeOf("head_outputs", head, row, component), term: key });
      ribbons[key].classList.toggle("covered", !isPart);
      parts[key].classList.toggle("covered", !isPart);
    });
  }

  uncover() {
    this.fly(1);
    for (const node of this.explorer.strip.node.querySelectorAll(".covered, .taken, .made")) {
      node.classList.remove("covered", "taken", "made");
    }
  }

  /** The operands of the line fly in, then its result flies out to the strip. */
  fly(fraction: number) {
    const isIn = fraction < FLOWN.in;
    const isOut = fraction > FLOWN.out && fraction < 1;
    const going = (isIn ? this.taken : isOut && this.given ? [this.given] : [])
      .filter(({ from }) => from?.getClientRects().length);
    const origin = going.length ? this.node.getBoundingClientRect() : null;
    const ways = going.map(({ node, from }) => {
      const ends = [(from as HTMLElement), node].map((one) => one.getBoundingClientRect());
      const [start, end] = isIn ? ends : ends.reverse();
      const x = eased(isIn ? fraction / FLOWN.in : (fraction - FLOWN.out) / (1 - FLOWN.out));
      const between = (a: number, b: number) => a + (b - a) * x;
      return { text: node.textContent ?? "",
        left: between(start.right, end.right) - (origin?.left ?? 0) - node.offsetWidth,
        top: between(start.top, end.top) - (origin?.top ?? 0) };
    });
    fly(this.flight, ways);
    const isFlying = new Set(isIn ? going.map(({ node }) => node) : []);
    this.taken.forEach(({ node }) => set(node, ".opacity", isFlying.has(node) ? 0 : 1));
    if (this.given) set(this.given.node, ".opacity", fraction < FLOWN.in ? 0 : 1);
  }
}
