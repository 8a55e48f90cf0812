/** The marks of numbers, titles and panels that are the book's while the run of an explorer is changed. */

import { make } from "../figures/explorer-parts.ts";
import { shape } from "../figures/strip-drawing.ts";
import { tied as texts } from "../strings/tied.ts";

/** A mark of the book's numbers, which the small strip explains. */
export const bookSign = () => make("span", { className: "now of-book", role: "img", "aria-label": texts.ofBook,
  title: texts.ofBook }, texts.book);

/** Sentences whose numbers follow together: if a run lacks one of them, none follows. */
export const BLOCKS = "p, li, dd, .caption-text";

/**
 * The position of a remark about a number. After the whole tuple, for a number in a tuple. Within
 * words in parentheses the remark has square brackets.
 */
export function behind(node: Element): { put: (mark: Node) => void, written: (text: string) => string } {
  const block = node.closest(`${BLOCKS}, td, th, legend, label`) ?? document.body;
  const walker = document.createTreeWalker(block, NodeFilter.SHOW_TEXT);
  let open = 0;
  let between = "";
  while (walker.nextNode()) {
    const text = (walker.currentNode as Text);
    const isBehind = node.compareDocumentPosition(text) & Node.DOCUMENT_POSITION_FOLLOWING;
    if (node.contains(text)) continue;
    if (isBehind && !open) break;
    for (const [i, sign] of [...text.data].entries()) {
      open = Math.max(0, open + Number(sign === "(") - Number(sign === ")"));
      if (isBehind && !open) {
        if (/\p{L}/u.test(between)) return { put: (mark) => node.after(mark), written: squared };
        const rest = text.splitText(i + 1);
        return { put: (mark) => rest.before(mark), written: String };
      }
      if (isBehind) between += sign;
    }
  }
  return { put: (mark) => node.after(mark), written: String };
}

const squared = (text: string) => text.replace("(", "[").replace(/\)$/, "]");

/** Marks of elements that do not follow a changed run, with the runs: a figure may show two. */
const marks: Map<Element, { wanted: Set<unknown>, mark: Element, put: (mark: Node) => void }> = new Map();

/** A mark that a number, a title, or a panel of a figure has the book's numbers, and how to insert it. */
function bookMark(node: Element) {
  const isDrawn = node instanceof SVGElement;
  const put = node.matches("data") ? behind(node).put : (mark: Node) => node.append(mark);
  const mark = isDrawn ? shape("tspan", "now of-book") : bookSign();
  mark.textContent = texts.book;
  return { mark, put };
}

/**
 * Mark an element as one with the book's numbers, or remove the mark.
 * @param by the run that requires the mark; it remains while any run does
 */
export function markAsBooks(node: Element, by: unknown, isMarked: boolean) {
  const { wanted, mark, put } = marks.get(node) ?? { wanted: new Set(), ...bookMark(node) };
  marks.set(node, { wanted, mark, put });
  wanted[isMarked ? "add" : "delete"](by);
  if (!wanted.size) mark.remove();
  else if (!mark.isConnected) put(mark);
}
