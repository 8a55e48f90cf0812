/**
 * The story of the trained model: its words with a row of weights for each head, and arcs to the words that
 * the chosen one looks at. A longer story is drawn whole above its line, which is scrolled there.
 */

import { shown } from "../engine/numbers.ts";
import { at as placeAt } from "../engine/places.ts";
import { fill } from "../engine/text.ts";
import { make, makeButton, set, setText } from "../figures/explorer-parts.ts";
import { model as texts } from "../strings/model.ts";
import { drawn } from "./model-maps.ts";
import type { ModelView } from "../types/panels.ts";

/** Letters of a word for which a narrow column is wide enough. */
const SHORT = 4;

/** The arc from the chosen word to another, in words and heights of the drawing. */
function arc(key: number, place: number): string {
  const rise = Math.min(0.3 + 0.12 * (place - key), 1.9);
  return `M${key + 0.5} 1Q${(key + place + 1) / 2} ${1 - rise} ${place + 0.5} 1`;
}

/** The story; `layOut` makes its words, and `showPlace` brings the chosen one into sight. */
export function storyOf(model: ModelView) {
  /** How many columns the story was laid out for. */
  let laid = 0;

  let arcs: SVGElement | undefined;

  /** The arc from each head to each word; the words above the line; those on it, and their weights by head. */
  let paths: SVGElement[][];
  let small: HTMLElement[];
  let tokens: HTMLElement[];
  let cells: HTMLButtonElement[][];
  let toggles: { input: HTMLInputElement, node: HTMLElement }[] | undefined;

  const line: HTMLElement = make("div", { className: "model-story" });
  const scroll: HTMLElement = make("div", { className: "model-scroll", tabIndex: 0, role: "group",
    "aria-label": texts.story, onscroll: () => fit() }, line);
  const watcher = new ResizeObserver(() => fit());
  [scroll, line].forEach((node) => watcher.observe(node));
  const overview = make("ol", { className: "model-overview" });
  const frame = make("span", { className: "model-frame" });
  const go = (event: PointerEvent) => {
    const { left, width } = drawing.getBoundingClientRect();
    const { offsetLeft } = tokens[0];
    const { clientWidth, scrollWidth } = scroll;
    scroll.scrollLeft = ((event.clientX - left) / width) * (scrollWidth - offsetLeft) - (clientWidth - offsetLeft) / 2;
  };
  const drawing: HTMLElement = make("div", { "className": "model-drawing", "aria-hidden": "true",
    "onpointerdown": (event: PointerEvent) => { drawing.setPointerCapture(event.pointerId); go(event); },
    "onpointermove": (event: PointerEvent) => { if (drawing.hasPointerCapture(event.pointerId)) go(event); },
  }, overview, frame);
  const sight: HTMLElement = make("div", { className: "model-sight" }, drawing, scroll);

  /** Frame the words that the line shows, if the story is longer than the line. */
  function fit() {
    const { clientWidth, scrollLeft, scrollWidth } = scroll;
    const { offsetLeft } = tokens[0];
    const share = (length: number) => `${((100 * length) / (scrollWidth - offsetLeft)).toFixed(2)}%`;
    sight.classList.toggle("over-long", scrollWidth > clientWidth);
    scroll.classList.toggle("scrolled", scrollLeft > 0);
    set(frame, ".left", share(scrollLeft));
    set(frame, ".width", share(clientWidth - offsetLeft));
  }

  /** The story and a row a head, anew where the number of words has changed. */
  function layOut() {
    const { words } = model.state;
    if (laid === words.length) return;
    laid = words.length;
    arcs?.remove();
    arcs = drawn("svg", { viewBox: `0 0 ${words.length} 1`, preserveAspectRatio: "none", class: "model-arcs" });
    paths = texts.heads.map((_, head) =>
      words.map(() => drawn("path", { class: `head-${head}` })));
    arcs.append(...paths.flat());
    drawing.prepend(arcs);
    small = words.map(() => make("li"));
    overview.replaceChildren(...small);
    tokens = words.map((_, i) => makeButton("", () => model.choose(i), { className: "model-word" }));
    const choices = toggles ??= texts.heads.map((name, head) => {
      const input = make("input", { type: "checkbox", checked: true,
        "aria-label": fill(texts.on, { head: texts.headNames[head] }),
        onchange: () => model.change({ word: model.chosen, off: model.state.off.map((was, h) =>
          (h === head ? !input.checked : was)) }) });
      return { input, node: make("label", { className: `model-head head-${head}` }, input, ` ${name}`) };
    });
    cells = texts.heads.map((_, head) =>
      words.map((_word, key) => makeButton("", () => model.ask(head >> 1,
        placeAt("weights", head % 2, model.state.place, key)), { className: `number head-${head}` })));
    line.replaceChildren(make("span", { className: "model-corner soft" }, texts.head), ...tokens,
      ...cells.flatMap((row, head) =>
        [choices[head].node, ...row]));
    sight.style.setProperty("--words", String(words.length));
  }

  /** Paint the words, the weights and the arcs, and which heads are on. */
  function paint() {
    const { off, place, words } = model.state;
    const longest = Math.max(...words.map((i) => model.words[i].length));
    // Not "wide", which is the page's word for a block that takes the margin.
    sight.classList.toggle("long-words", longest > SHORT);
    tokens.forEach((token, i) => {
      setText(token, model.words[words[i]]);
      set(token, "aria-label", fill(texts.word, { n: i + 1, word: model.words[words[i]] }));
      set(token, "aria-pressed", String(i === place));
      setText(small[i], model.words[words[i]]);
      set(small[i], "class", i === place ? "chosen" : "");
    });
    cells.forEach((row, head) => {
      const weights = model.weightsOf(head)[place];
      row.forEach((cell, key) => {
        const isSeen = key <= place;
        setText(cell, isSeen ? shown(weights[key], 2) : "");
        cell.disabled = !isSeen;
        cell.classList.toggle("soft", off[head]);
        set(cell, ".backgroundColor", isSeen && !off[head]
          ? `color-mix(in oklab, var(--head) ${Math.round(45 * weights[key])}%, transparent)` : "");
        const path = paths[head][key];
        const isDrawn = isSeen && key !== place && weights[key] > 0.05 && !off[head];
        set(path, "d", isDrawn ? arc(key, place) : "");
        set(path, "stroke-width", isDrawn ? (1 + 6 * weights[key]).toFixed(1) : 0);
      });
    });
    toggles?.forEach(({ input }, i) => { input.checked = !off[i]; });
  }

  /**
   * Bring the chosen word into sight, where the story is longer than its line, with as many as it has room
   * for of the words before it, which it can look at.
   */
  function showPlace() {
    const { offsetLeft, offsetWidth } = tokens[model.state.place];
    scroll.scrollLeft = offsetLeft + 2 * offsetWidth - scroll.clientWidth;
  }

  return { node: sight, layOut, paint, showPlace };
}
