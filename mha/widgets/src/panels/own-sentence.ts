/** The sentence of a reader's own example: its field, the notes on its words, and the vocabulary. */

import { bareWord, neededWidth } from "../engine/own-draw.ts";
import { fill } from "../engine/text.ts";
import { freshId, inSlices, make, makeButton, set, setText } from "../figures/explorer-parts.ts";
import { WIDTH, isByChance, wordsBeyond, wordsOf } from "../store/own-settings.ts";
import { own as texts } from "../strings/own.ts";
import type { OwnFigure, OwnKnowledge, OwnSettings } from "../types/panels.ts";

/** A sentence is taken when the typing pauses. */
const PAUSE_MS = 400;

/** The most characters in which the words of a note are named; longer lists are counted. */
const NAMED = 24;

/**
 * Notes on words that the vocabulary does not have, and on words whose meanings need more numbers than
 * usual.
 */
export function doubtful(settings: OwnSettings, knowledge: OwnKnowledge): string[] {
  const said = (sentence: string, words: string[]) => {
    const each = [...new Set(words.map((word) => `\u2068${bareWord(word)}\u2069`))];
    const named = each.join(", ");
    return each.length ? fill(sentence, { width: neededWidth(words, knowledge),
      words: named.length > NAMED ? fill(texts.many, { count: each.length }) : named }) : "";
  };
  return [said(texts.unknown, settings.words.filter((word) => isByChance(settings, knowledge, word))),
    said(texts.needed, wordsBeyond(settings, knowledge, WIDTH))];
}

/** The field of the sentence, with the notes on its words, and the vocabulary in a fold. */
export function sentenceField(own: OwnFigure): { node: HTMLElement, field: HTMLInputElement, vocabulary: HTMLElement } {
  const { most, vocabulary } = own.data;
  const error = make("span", { className: "error", role: "alert", id: freshId() });
  const help = make("span", { className: "soft", id: freshId() });
  const plain = fill(texts.wordsHelp, { words: most.words });
  own.syncs.push(() => setText(help, [own.turned && texts.joined, ...doubtful(own.settings, own.data)].filter(Boolean).join(" ") || plain));
  const field = make("input", { type: "text", className: "own-words", autocomplete: "off",
    spellcheck: false, dir: "auto", "aria-describedby": `${help.id} ${error.id}` });
  let waiting: number | undefined;
  const take = () => {
    clearTimeout(waiting);
    const found = wordsOf(field.value, most);
    setText(error, found.error);
    set(field, "aria-invalid", String(Boolean(found.error)));
    if (found.error) return;
    const { words } = found;
    own.change({ words }, fill(texts.made, { words: words.join(" ") }), "words");
  };
  field.addEventListener("input", () => {
    clearTimeout(waiting);
    waiting = setTimeout(take, PAUSE_MS);
  });
  field.addEventListener("change", take);
  own.syncs.push(() => {
    const sentence = own.settings.words.join(" ");
    if (wordsOf(field.value, most).words.join(" ") === sentence) return;
    field.value = sentence;
    setText(error, "");
    set(field, "aria-invalid", "false");
  });
  const add = (word: string) => {
    field.value = `${field.value.trim()} ${word}`.trim();
    take();
  };
  const groups: Record<string, string[]> = {};
  Object.entries(vocabulary).forEach(([word, of]) => { (groups[of] ??= []).push(word); });
  const fold = make("details", { className: "own-vocabulary" }, make("summary", {}, texts.vocabulary));
  const finish = inSlices(Object.entries(groups).map(([of, words]) => () =>
    fold.append(make("div", { className: "own-group" },
      make("span", { className: "soft" }, of.split(" ").join(", ") || texts.ofNone),
      ...words.map((word) => makeButton(word, () => add(word), { className: "own-add" }))))));
  fold.addEventListener("toggle", finish);
  own.syncs.push(() => { fold.hidden = own.settings.numbers !== "meanings"; });
  const node = make("div", { className: "own-sentence-field" },
    make("label", {}, make("span", { className: "own-title" }, texts.words), field),
    make("span", { className: "own-says" }, error, help));
  return { node, field, vocabulary: fold };
}
