/**
 * Finds the sections that answer a question. Loaded, after the library and the index, when a reader
 * opens the search.
 *
 * A question is cut into its topics: each of its words, or several that mean one thing. The
 * library finds the sections of each, with words that mean the same; a section counts for the sum,
 * and for much less where it lacks part of the question.
 */

import MiniSearch from "minisearch";
import index from "../data/search-index.ts";
import type { FoundSection, Pieces, SearchHit, SearchQuery } from "../types/reading.ts";

type Part = { phrases: string[][], hits: SearchHit[], weight: number };


const MOST = 10;
const WEIGHTS = { heading: 4, names: 4, chapter: 2, text: 1 };
const SYNONYM = 0.5;
const PREFIX = 0.4;
const FUZZY = 0.3;
const EXCERPT = 170; // characters
const COVERED = 2; // the power of the share of a question that a section has
const NAMED = 4; // how much more a section counts that introduces all that the question asks about
const AGAIN = 0.4; // how much of this is left for a section after the first that has the name
// An index or an exponent belongs to its letter: d₍k₎ in the text, d_k in a question.
const WORD = /√|\p{N}+\.\p{N}+|[\p{L}\p{N}]+(?:[_^][\p{L}\p{N}]+|[₍⁽][\p{L}\p{N}]+[₎⁾])*/gu;
const ENDINGS = /(?:isation|ising|ised|ise|ional|ation|ated|ating|ate|ion|ing|ed|es|al|e|s)$/;

/* ---- Words ---- */

const known: Map<string, string> = new Map();

/** Return a word as the index has it: without its ending, so that "scaled" is found by "scaling". */
function stem(word: string) {
  const stemmed = known.get(word) ?? cutEnding(word);
  known.set(word, stemmed);
  return stemmed;
}

function cutEnding(word: string) {
  const plain = word.toLowerCase().replace("√", "sqrt").replace(/[₍⁽^]/g, "_")
    .replace(/[₎⁾]/g, "");
  if (/[\d_]/.test(plain) || plain.length < 4) {
    return plain;
  }
  const single = plain.replace(/(?<=..[^su])s$/, "").replace(/iz(?=e|ing|ation)/, "is")
    .replace(/our$/, "or").replace(/bilitie?s?$|bility$/, "bl").replace(/(?:al)?ly$/, "");
  const cut = single.replace(ENDINGS, "");
  return (cut.length < 4 ? single : cut).replace(/(.)\1$/, "$1");
}

function words(text: string) {
  return text.match(WORD) ?? [];
}

const stop = new Set(index.stop.filter((phrase) => !phrase.includes(" ")));
const frames = index.stop.filter((phrase) => phrase.includes(" "));
const FRAME = new RegExp(`\\b(?:${frames.join("|").replaceAll(" ", "\\s+")})\\b`, "gi");

/** Return the stems of the words that carry a text's topic. */
function stems(text: string) {
  const all = words(text.replace(FRAME, " "));
  const telling = all.filter((word) => !stop.has(word.toLowerCase()));
  return (telling.length > 0 ? telling : all.slice(-1)).map(stem);
}

/* ---- The index ---- */

const sections = index.sections.map(([place, anchor, heading, text, factor, names], id) => {
  const [address, title, number, pageFactor] = index.pages[place];
  return {
    id,
    address: anchor ? `${address}#${anchor}` : address,
    chapter: title,
    label: number ? `${number}. ${title}` : title,
    heading,
    text,
    names,
    factor: factor * pageFactor,
  };
});
const engine = new MiniSearch({
  fields: ["heading", "names", "chapter", "text"],
  tokenize: words,
  processTerm: stem,
  searchOptions: {
    boost: WEIGHTS,
    weights: { prefix: PREFIX, fuzzy: FUZZY },
    tokenize: (term: string) => [term],
    processTerm: (term: string) => term,
  },
});
engine.addAll(sections);

const synonyms = index.synonyms.map((group) => group.map(stems));

/**
 * The names of each section's subjects as stems, and how much each counts. The heading counts in
 * full. So does a name that is no heading in a chapter, in the first section that has it: there a
 * reader meets it first.
 */
const namesOf: { stems: string[], weight: number }[][] = [];
const headings = sections.filter(({ factor }) => factor >= 1).map(({ heading }) => heading);
const introduced = new Set(headings.map((heading) => stems(heading).join(" ")));
for (const { names, heading } of sections) {
  const own = names.split(", ").filter(Boolean).map(stems);
  const weighted = own.map((name) => ({
    stems: name,
    weight: introduced.has(name.join(" ")) ? AGAIN : 1,
  }));
  own.forEach((name) => introduced.add(name.join(" ")));
  namesOf.push([{ stems: stems(heading), weight: 1 }, ...weighted]);
}

/* ---- Questions ---- */

/** Return whether a phrase is in a list of words at a position. */
function standsAt(all: string[], start: number, phrase: string[]) {
  return phrase.every((word, i) => all[start + i] === word);
}

/**
 * Cut a question into its topics; each is a list of phrases that mean the same, of which
 * the first is the reader's own.
 */
function concepts(asked: string[]): string[][][] {
  const found = [];
  for (let start = 0; start < asked.length;) {
    const fitting = synonyms.flat().filter((phrase) => standsAt(asked, start, phrase));
    const length = Math.max(1, ...fitting.map((phrase) => phrase.length));
    const own = asked.slice(start, start + length);
    const same = synonyms
      .filter((group) => group.some((p) => p.length === length && standsAt(own, 0, p)))
      .flat()
      .filter((phrase) => phrase.join(" ") !== own.join(" "));
    found.push([own, ...same]);
    start += length;
  }
  return found;
}

/**
 * Return the sections that have one of several phrases that mean the same, each scored by the
 * phrase that it has most of.
 */
function hits(phrases: string[][]) {
  const [own, ...same] = phrases;
  const others = same.flatMap((phrase) => search(phrase, SYNONYM));
  const exact = [...search(own, 1, { prefix: (term) => term.length > 1 }), ...others];
  // Only a word that nothing begins with may be misspelt.
  const found = exact.length > 0
    ? exact
    : search(own, 1, { fuzzy: (term) => (term.length > 3 ? 0.25 : false) });
  const best: Map<number, SearchHit> = new Map();
  for (const hit of found) {
    if (hit.score > (best.get(hit.id)?.score ?? 0)) {
      best.set(hit.id, hit);
    }
  }
  return [...best.values()];
}

/** @param factor of the scores */
function search(phrase: string[], factor: number, options: Partial<SearchQuery> = {}): SearchHit[] {
  const found = engine.search({ combineWith: "AND", queries: phrase, ...options });
  return found.map((hit) => ({ ...hit, score: hit.score * factor }));
}

/**
 * A part of a question: its phrases, the sections that have one, and how telling it is: a word
 * that is in every section tells little.
 */

/** Return the parts of a question. */
function partsOf(question: string): Part[] {
  return concepts(stems(question)).map((phrases) => {
    const found = hits(phrases);
    return { phrases, hits: found, weight: Math.log(1 + sections.length / (1 + found.length)) };
  });
}

/**
 * Return how much of a question is met, from 0 to 1: a part by the reader's own words counts in
 * full, by words that mean the same for less.
 */
function share(parts: Part[], isMet: (phrase: string[]) => boolean) {
  const met = parts.map(({ phrases: [own, ...same], weight }) =>
    weight * (isMet(own) ? 1 : same.some(isMet) ? SYNONYM : 0)
  );
  return sum(met) / sum(parts.map(({ weight }) => weight));
}

function sum(numbers: number[]) {
  return numbers.reduce((total, number) => total + number, 0);
}

/**
 * Return how much of a question a section introduces, from 0 to 1: its names that the question
 * has, by the reader's own words or by words that mean the same.
 */
function named(names: { stems: string[], weight: number }[], parts: Part[]) {
  const known = new Set(parts.flatMap(({ phrases }) => phrases.flat()));
  const met = names.filter((name) => name.stems.every((word) => known.has(word)));
  const shares = parts.map(({ phrases: [own, ...same], weight }) => {
    const by = (phrase: string[]) => Math.max(0, ...met
      .filter((name) => phrase.some((word) => name.stems.includes(word)))
      .map((name) => name.weight));
    return weight * Math.max(by(own), SYNONYM * Math.max(0, ...same.map(by)));
  });
  return sum(shares) / sum(parts.map(({ weight }) => weight));
}

/** Return the sections that answer a question, the best first. */
export function find(question: string): FoundSection[] {
  const parts = partsOf(question.normalize("NFKC"));
  const found: Map<number, { score: number, terms: Set<string>, asked: Set<string> }> = new Map();
  for (const hit of parts.flatMap((part) => part.hits)) {
    const entry = found.get(hit.id) ?? { score: 0, terms: new Set(), asked: new Set() };
    entry.score += hit.score;
    Object.keys(hit.match).forEach((term) => entry.terms.add(term));
    hit.queryTerms.forEach((term) => entry.asked.add(term));
    found.set(hit.id, entry);
  }
  return [...found]
    .map(([id, { score, terms, asked }]) => {
      const section = sections[id];
      const covered = share(parts, (phrase) => phrase.every((word) => asked.has(word)));
      const introduces = 1 + NAMED * named(namesOf[id], parts) ** COVERED;
      return { section, terms, score: score * covered ** COVERED * introduces * section.factor };
    })
    .sort((a, b) => b.score - a.score || a.section.id - b.section.id)
    .slice(0, MOST)
    .map(({ section, terms }) => ({
      address: section.address,
      chapter: section.label,
      heading: marked(section.heading, terms),
      excerpt: excerpt(section.text, terms),
    }));
}

/* ---- Excerpts ---- */

/** Cut a text where found words begin and end. */
function marked(text: string, terms: Set<string>): Pieces {
  const pieces = [];
  let end = 0;
  for (const match of text.matchAll(WORD)) {
    if (terms.has(stem(match[0]))) {
      pieces.push({ text: text.slice(end, match.index), found: false });
      pieces.push({ text: match[0], found: true });
      end = match.index + match[0].length;
    }
  }
  pieces.push({ text: text.slice(end), found: false });
  return pieces.filter((piece) => piece.text !== "");
}

/** Return the stretch of a text that has the most different found words. */
function excerpt(text: string, terms: Set<string>) {
  const places = [...text.matchAll(WORD)]
    .map((match) => ({ start: match.index, term: stem(match[0]) }))
    .filter(({ term }) => terms.has(term));
  let best = { start: 0, count: 0 };
  places.forEach(({ start }, i) => {
    const near = places.slice(i).filter((place) => place.start < start + EXCERPT - 40);
    const count = new Set(near.map(({ term }) => term)).size;
    if (count > best.count) {
      best = { start, count };
    }
  });
  // From the sentence's beginning where that is near, else from a word a little before.
  const before = text.slice(Math.max(0, best.start - 60), best.start);
  const sentence = Math.max(...[". ", "? ", ": "].map((mark) => before.lastIndexOf(mark)));
  const lead = sentence >= 0 ? sentence + 2 : best.start < 60 ? 0 : before.indexOf(" ") + 1;
  const start = best.start - before.length + lead;
  const cut = text.slice(start, start + EXCERPT);
  const whole = start + EXCERPT >= text.length;
  const end = whole ? cut : `${cut.slice(0, cut.lastIndexOf(" "))} …`;
  return marked((start > 0 ? "… " : "") + end, terms);
}
