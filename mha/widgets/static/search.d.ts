/* The types that the scripts of the search share, for the type checker alone: no page loads this
   file. */

/** What `book/_ext/byhand/search` writes: see `make_index` there. */
interface SearchIndex {
  /** Address, title, number or nothing, and factor. */
  pages: [string, string, string, number][];
  /** Place of the page, anchor, heading, text, factor, and the names of its subjects. */
  sections: [number, string, string, string, number, string][];
  synonyms: string[][];
  stop: string[];
}

/** Text, cut where found words begin and end. Formulas in it have indices as ₍k₎ and exponents as
    ⁽O⁾; both may begin in one piece and end in another. */
type Pieces = { text: string; found: boolean }[];

interface FoundSection {
  /** The address, from the book's first page. */
  address: string;
  /** The chapter's title, with its number where it has one. */
  chapter: string;
  heading: Pieces;
  excerpt: Pieces;
}

/** Several words or queries that are looked for at once, as MiniSearch takes them. */
interface SearchQuery {
  combineWith: "AND" | "OR";
  queries: (string | SearchQuery)[];
  boost?: Record<string, number>;
  prefix?: boolean | ((term: string) => boolean);
  fuzzy?: number | ((term: string) => number | false);
}

interface SearchHit {
  id: number;
  score: number;
  /** The words of the query that were found. */
  queryTerms: string[];
  /** The fields in which each word of the index was found. */
  match: Record<string, string[]>;
}

declare class MiniSearch {
  constructor(options: object);
  addAll(documents: object[]): void;
  search(query: SearchQuery, options?: object): SearchHit[];
}

interface Window {
  mhaSearchIndex: SearchIndex;
  mhaSearch: { find(question: string): FoundSection[] };
}
