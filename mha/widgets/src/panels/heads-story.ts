/**
 * The chosen word in two heads: arcs of the first above the tokens, of the second below, and between
 * them each weight. A token chooses the word, a weight the key.
 */

import { shown } from "../engine/numbers.ts";
import { fill } from "../engine/text.ts";
import { make, makeButton, set, setText } from "../figures/explorer-parts.ts";
import { shape } from "../figures/strip-drawing.ts";
import { heads as texts } from "../strings/heads.ts";
import type { HeadsFigure } from "../types/heads.ts";

/** How high the arcs are where there is room, and from which weight on there is one. */
const [HEIGHT, LEAST] = [60, 0.02];

const SIDES = [0, 1];

/** The chosen token in two heads. */
export function makeStory(view: HeadsFigure) {
  const story = make("div", { className: "heads-story" });
  const labels = SIDES.map((side) => make("span", { className: `model-head head-${side}` }));
  const node = make("div", { className: "model-scroll", tabIndex: 0, role: "group", "aria-label": texts.story,
    onscroll: () => node.classList.toggle("scrolled", node.scrollLeft > 0) }, story);
  let tokens: HTMLElement[] = [];
  let cells: HTMLElement[][] = [];
  let arcs: { node: SVGElement, paths: SVGElement[] }[] = [];

  /** For what the arcs were last measured; and the middles of the tokens, empty before they are on the page. */
  let measured = "";
  let middles: number[] = [];
  let height = 0;

  new ResizeObserver(() => { measure(); paintArcs(); }).observe(story);

  /** Tokens and cells, anew where their number has changed. */
  function layOut() {
    const { words } = view;
    if (tokens.length === words.length) return;
    tokens = words.map((_, i) => makeButton("", () => view.choose(i), { className: "model-word" }));
    cells = SIDES.map((side) => words.map((_, key) =>
      makeButton("", () => view.chooseKey(key), { className: `number head-${side}` })));
    arcs = SIDES.map((side) => {
      const paths = words.map(() => shape("path"));
      const svg = shape("svg", `heads-arcs head-${side}`);
      svg.setAttribute("aria-hidden", "true");
      svg.append(...paths);
      return { node: svg, paths };
    });
    story.replaceChildren(make("span"), arcs[0].node, labels[0], ...cells[0],
      make("span", { className: "model-corner" }), ...tokens,
      labels[1], ...cells[1], make("span"), arcs[1].node);
    story.style.setProperty("--words", String(words.length));
  }

  function paint() {
    layOut();
    const { state: { heads, key, place }, words } = view;
    tokens.forEach((token, i) => {
      setText(token, words[i].trim());
      set(token, "aria-label", fill(texts.word, { n: i + 1, word: words[i].trim() }));
      set(token, "aria-pressed", String(i === place));
    });
    SIDES.forEach((side) => {
      const head = heads[side];
      const row = view.weightsIn(head)[place];
      setText(labels[side], view.brief(head));
      set(labels[side], "title", view.nameOf(head));
      cells[side].forEach((cell, i) => {
        setText(cell, shown(row[i], 3));
        set(cell, "aria-label", fill(texts.weight, { head: view.nameOf(head), from: words[place].trim(),
          n: place + 1, to: words[i].trim(), m: i + 1, weight: shown(row[i], 3) }));
        set(cell, "aria-pressed", String(i === key));
        set(cell, ".backgroundColor", `color-mix(in oklab, var(--head) ${Math.round(45 * row[i])}%, transparent)`);
      });
    });
    const asked = `${place} ${heads} ${words.join(" ")}`;
    // The tokens are measured as soon as they are on the page.
    if (middles.length && measured !== asked) measure();
    measured = asked;
    if (middles.length) paintArcs();
  }

  /**
   * Measure the positions of the tokens, and scroll to the chosen one, and as far as there is room to the
   * framed key, the keys with the largest weights, and the neighbours.
   */
  function measure() {
    const { heads, key, place } = view.state;
    height = arcs[0].node.clientHeight;
    const lefts = tokens.map((token) => token.offsetLeft);
    middles = tokens.map((token, i) => lefts[i] - lefts[0] + token.offsetWidth / 2);
    const ends = tokens.map((token, i) => lefts[i] + token.offsetWidth);
    const room = node.clientWidth - labels[0].offsetWidth; // beside what stays at the left
    const most = heads.map((head) => {
      const row = view.weightsIn(head)[place];
      return row.indexOf(Math.max(...row));
    });
    let [from, to] = [place, place];
    for (const wanted of [key, ...most, place - 1, place + 1]) {
      const [low, high] = [Math.min(from, wanted), Math.max(to, wanted)];
      if (ends[high] - lefts[low] <= room) [from, to] = [low, high];
    }
    const start = node.scrollLeft + lefts[0];
    if (lefts[from] >= start && ends[to] <= start + room) return;
    // Whole columns, and those before them, where the answer mostly is.
    const first = lefts.findIndex((left) => left >= ends[to] - room);
    node.scrollLeft = lefts[Math.min(first, from)] - lefts[0];
  }

  /** From the middle of the word to that of each key, as thick as the weight. */
  function paintArcs() {
    const { heads, place } = view.state;
    SIDES.forEach((side) => {
      const row = view.weightsIn(heads[side])[place];
      arcs[side].paths.forEach((path, i) => {
        const isDrawn = row[i] >= LEAST;
        set(path, "d", isDrawn ? arc(middles[place], middles[i], side, height) : "");
        set(path, "stroke-width", isDrawn ? (0.75 + 7 * row[i]).toFixed(2) : 0);
      });
    });
  }

  return { node, paint };
}

/** A token's arc to itself is a loop. */
function arc(from: number, to: number, side: number, height: number) {
  const [left, right] = from === to ? [from - 9, from + 9] : [from, to];
  const rise = (height / HEIGHT) * Math.min(2 * HEIGHT - 10, 30 + 0.4 * Math.abs(to - from));
  const [foot, top] = side ? [0, rise] : [height, height - rise];
  return `M${left.toFixed(1)} ${foot}Q${((left + right) / 2).toFixed(1)} ${top.toFixed(1)} ${right.toFixed(1)} ${foot}`;
}
