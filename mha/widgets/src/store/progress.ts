/**
 * The reader's answers and steps read. The record stays on the device, in local storage; where there is
 * none, it lasts until the page is left.
 *
 * The document gets the event "mha-progress" with each change, and "mha-progress-cleared" when the
 * record is deleted.
 */

import type { PageProgress } from "../types/reading.ts";

type Progress = {version: number, pages: Record<string, unknown>};

const KEY = "attention-by-hand.progress";
const VERSION = 1;
const QUESTIONS = "mha-your-turn[id], mha-build[id], mha-quiz[id]";
const QUESTION = /<mha-(?:your-turn|build|quiz)\b[^>]*? id="([^"]+)"/g; // the same, in text
const WAITING = "noscript.late";
const root = new URL(document.documentElement.dataset.content_root || "./", location.href);

/** The stored record; only its version has been checked. */

/** The record where there is no storage. */
let withoutStorage: Progress | null = null;

function empty(): Progress {
  return { version: VERSION, pages: {} };
}

/** Return the record, an empty one if the stored record cannot be used. */
function load(): Progress {
  if (withoutStorage) {
    return withoutStorage;
  }
  try {
    const record = JSON.parse(localStorage.getItem(KEY) ?? "null");
    const usable = isPlain(record) && record.version === VERSION && isPlain(record.pages);
    return usable ? { version: VERSION, pages: record.pages as Progress["pages"] } : empty();
  } catch {
    return empty();
  }
}

function isPlain(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function save(record: Progress) {
  try {
    localStorage.setItem(KEY, JSON.stringify(record));
  } catch {
    withoutStorage = record;
  }
}

/** Return an address's page as its path below the book's root. */
function pageOf(address: string): string {
  const path = new URL(address, location.href).pathname;
  const inside = path.startsWith(root.pathname) ? path.slice(root.pathname.length) : path;
  return inside === "" || inside.endsWith("/") ? inside + "index.html" : inside;
}

const countOf = (stored: unknown) => (typeof stored === "number" && stored > 0 ? stored : 0);

/** Return a page's entry with every part in place, whatever was stored. */
function entryOf(stored: unknown): PageProgress {
  const known = isPlain(stored) ? stored : {};
  return {
    total: countOf(known.total),
    right: Array.isArray(known.right) ? known.right : [],
    steps: countOf(known.steps),
    read: Array.isArray(known.read) ? known.read : [],
    last: countOf(known.last),
  };
}

function here(): PageProgress {
  return entryOf(load().pages[pageOf(location.href)]);
}

function tell(name: string) {
  document.dispatchEvent(new Event(name));
}

/** Change this page's entry and say so. */
function change(alter: (entry: PageProgress) => void) {
  const record = load();
  const page = pageOf(location.href);
  const entry = entryOf(record.pages[page]);
  alter(entry);
  record.pages[page] = entry;
  save(record);
  tell("mha-progress");
}

function add<Item>(list: Item[], item: Item) {
  if (!list.includes(item)) {
    list.push(item);
  }
}

/** Return the ids of the page's questions, those that wait as text to be built among them. */
function questions(): string[] {
  const built = Array.from(document.querySelectorAll(QUESTIONS), (box) => box.id);
  const waiting = Array.from(document.querySelectorAll(WAITING), ({ textContent }) =>
    Array.from((textContent ?? "").matchAll(QUESTION), (found) => found[1]));
  return [...built, ...waiting.flat()];
}

/** Forget answers to questions that this page no longer has. */
function registerQuestions() {
  const ids = questions();
  const entry = here();
  const right = entry.right.filter((id) => ids.includes(id));
  const isOld = right.length !== entry.right.length || ids.length !== entry.total;
  if (entry.right.length > 0 && isOld) {
    change((now) => {
      now.total = ids.length;
      now.right = right;
    });
  }
}

export function clear() {
  withoutStorage = withoutStorage && empty();
  try {
    localStorage.removeItem(KEY);
  } catch {
    withoutStorage = empty();
  }
  tell("mha-progress");
  tell("mha-progress-cleared");
}

/** Return the entry of the page at an address. */
export const entryAt = (address: string): PageProgress => entryOf(load().pages[pageOf(address)]);

/** Tell whether there is anything to forget. */
export const isAny = () => Object.values(load().pages).map(entryOf)
  .some((entry) => entry.right.length > 0 || entry.read.length > 0);

/** Tell whether a question of this page was answered. */
export const isRight = (id: string) => here().right.includes(id);

/** Remember that a step of this page was opened; the number counts from 1. */
export const setRead = (step: number, total: number) => change((entry) => {
  entry.read = entry.read.filter((other) => other <= total);
  entry.steps = total;
  entry.last = step;
  add(entry.read, step);
});

/** Remember that a question of this page was answered. */
export const setRight = (id: string) => change((entry) => {
  entry.total = questions().length;
  add(entry.right, id);
});

registerQuestions();
window.addEventListener("storage", (event) => {
  if (event.key === KEY || event.key === null) {
    tell("mha-progress");
  }
});
