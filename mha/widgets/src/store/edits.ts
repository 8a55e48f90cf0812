/**
 * Counts the edits of a reader. A typed edit lasts until the field is left, or its whole text is
 * replaced; a dragged edit lasts until the pointer is released; each press of a key is an edit.
 */

let edits = 0;

export const editNow = () => edits;

/** The keys that change a number, or end typing. */
const KEYS = ["ArrowUp", "ArrowDown", "PageUp", "PageDown", "Enter", "Escape", "Tab"];

const isText = (target: EventTarget | null) =>
  (target instanceof HTMLInputElement && target.type === "text") || target instanceof HTMLTextAreaElement;

const newEdit = () => { edits += 1; };

["pointerdown", "pointerup", "focusin", "change"].forEach((name) => addEventListener(name, newEdit, true));
addEventListener("keydown", ({ key, repeat, target }) => {
  if (!repeat && (KEYS.includes(key) || !isText(target))) newEdit();
}, true);
addEventListener("beforeinput", ({ target }) => {
  if (!isText(target)) return;
  const { selectionEnd, selectionStart, value } = (target as HTMLInputElement);
  if (value && selectionStart === 0 && selectionEnd === value.length) newEdit();
}, true);
