/**
 * The chosen word in two heads: arcs of the first above the tokens, of the second below, and between
 * them each weight. A token chooses the word, a weight the key.
 */

import { shown } from "../engine/numbers.ts";
import { fill } from "../engine/text.ts";
import { make, makeButton, set, setText } from "../figures/explorer-parts.ts";
import { shape } from "../figures/strip-drawing.ts";
import { heads as texts } from "../strings/heads.ts";

/** How high the arcs are where there is room, and from which weight on there is one. */
const [HEIGHT, LEAST] = [60, 0.02];

const SIDES = [0, 1];

export function storyOf(view: any) {
  const { parts } = view;
  parts.story = make("div", { className: "heads-story" });
  parts.labels = SIDES.map((side) => make("span", { className: `model-head head-${side}` }));
  parts.scroll = make("div", { className: "model-scroll", tabIndex: 0, role: "group", "aria-label": texts.story,
    onscroll: () => parts.scroll.classList.toggle("scrolled", parts.scroll.scrollLeft > 0) }, parts.story);
  new ResizeObserver(() => { measure(view); paintArcs(view); }).observe(parts.story);
  return parts.scroll;
}

/** Tokens and cells, anew where their number has changed. */
function layOut(view: any) {
  const { parts, words } = view;
  if (parts.tokens?.length === words.length) return;
  parts.tokens = words.map((_: string, i: number) =>
    makeButton("", () => view.choose(i), { className: "model-word" }));
  parts.cells = SIDES.map((side) => words.map((_: string, key: number) =>
    makeButton("", () => view.chooseKey(key), { className: `number head-${side}` })));
  parts.arcs = SIDES.map((side) => {
    const paths = words.map(() => shape("path"));
    const node = shape("svg", `heads-arcs head-${side}`);
    node.setAttribute("aria-hidden", "true");
    node.append(...paths);
    return { node, paths };
  });
  parts.story.replaceChildren(make("span"), parts.arcs[0].node, parts.labels[0], ...parts.cells[0],
    make("span", { className: "model-corner" }), ...parts.tokens,
    parts.labels[1], ...parts.cells[1], make("span"), parts.arcs[1].node);
  parts.story.style.setProperty("--words", String(words.length));
}

export function paintStory(view: any) {
  layOut(view);
  const { parts, state: { heads, key, place }, words } = view;
  parts.tokens.forEach((token: any, i: number) => {
    setText(token, words[i].trim());
    set(token, "aria-label", fill(texts.word, { n: i + 1, word: words[i].trim() }));
    set(token, "aria-pressed", String(i === place));
  });
  SIDES.forEach((side) => {
    const head = view.state.heads[side];
    const row = view.weightsIn(head)[place];
    setText(parts.labels[side], view.brief(head));
    set(parts.labels[side], "title", view.nameOf(head));
    parts.cells[side].forEach((cell: any, i: number) => {
      setText(cell, shown(row[i], 3));
      set(cell, "aria-label", fill(texts.weight, { head: view.nameOf(head), from: words[place].trim(),
        n: place + 1, to: words[i].trim(), m: i + 1, weight: shown(row[i], 3) }));
      set(cell, "aria-pressed", String(i === key));
      set(cell, ".backgroundColor", `color-mix(in oklab, var(--head) ${Math.round(45 * row[i])}%, transparent)`);
    });
  });
  const asked = `${place} ${heads} ${words.join(" ")}`;
  // The tokens are measured as soon as they are on the page.
  if (parts.middles && parts.asked !== asked) measure(view);
  parts.asked = asked;
  if (parts.middles) paintArcs(view);
}

/**
 * Measure the positions of the tokens, and scroll to the chosen one, and as far as there is room to the
 * framed key, the keys with the largest weights, and the neighbours.
 */
function measure(view: any) {
  const { parts, state: { heads, key, place } } = view;
  const { arcs, labels, scroll, tokens } = parts;
  parts.height = arcs[0].node.clientHeight;
  const lefts = tokens.map((token: any) => token.offsetLeft);
  parts.middles = tokens.map((token: any, i: number) =>
    lefts[i] - lefts[0] + token.offsetWidth / 2);
  const ends = tokens.map((token: any, i: number) => lefts[i] + token.offsetWidth);
  const room = scroll.clientWidth - labels[0].offsetWidth; // beside what stays at the left
  const most = heads.map((head: number) => {
    const row = view.weightsIn(head)[place];
    return row.indexOf(Math.max(...row));
  });
  let [from, to] = [place, place];
  for (const wanted of [key, ...most, place - 1, place + 1]) {
    const [low, high] = [Math.min(from, wanted), Math.max(to, wanted)];
    if (ends[high] - lefts[low] <= room) [from, to] = [low, high];
  }
  const start = scroll.scrollLeft + lefts[0];
  if (lefts[from] >= start && ends[to] <= start + room) return;
  // Whole columns, and those before them, where the answer mostly is.
  const first = lefts.findIndex((left: number) => left >= ends[to] - room);
  scroll.scrollLeft = lefts[Math.min(first, from)] - lefts[0];
}

/** From the middle of the word to that of each key, as thick as the weight. */
function paintArcs(view: any) {
  const { parts, state: { heads, place } } = view;
  const { height, middles } = parts;
  SIDES.forEach((side) => {
    const row = view.weightsIn(heads[side])[place];
    parts.arcs[side].paths.forEach((path: any, i: number) => {
      const isDrawn = row[i] >= LEAST;
      set(path, "d", isDrawn ? arc(middles[place], middles[i], side, height) : "");
      set(path, "stroke-width", isDrawn ? (0.75 + 7 * row[i]).toFixed(2) : 0);
    });
  });
}

/** A token's arc to itself is a loop. */
function arc(from: number, to: number, side: number, height: number) {
  const [left, right] = from === to ? [from - 9, from + 9] : [from, to];
  const rise = (height / HEIGHT) * Math.min(2 * HEIGHT - 10, 30 + 0.4 * Math.abs(to - from));
  const [foot, top] = side ? [0, rise] : [height, height - rise];
  return `M${left.toFixed(1)} ${foot}Q${((left + right) / 2).toFixed(1)} ${top.toFixed(1)} ${right.toFixed(1)} ${foot}`;
}
