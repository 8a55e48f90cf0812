/** The buttons by which a reader undoes and redoes. */

import { explorer as texts } from "../strings/explorer.ts";
import { makeButton, set, setOff } from "./explorer-parts.ts";

/**
 * The buttons, and `paint`, which switches off those that can do nothing.
 *
 * @param keepsFocus whether a button that can do nothing may still be pressed, and keeps the focus
 */
export function historyButtons(undo: () => void, redo: () => void, keepsFocus: boolean = false) {
  const attributes = keepsFocus ? {} : { className: "reading-button" };
  const buttons = { undo: makeButton(texts.undo, undo, attributes), redo: makeButton(texts.redo, redo, attributes) };
  const turnOff = keepsFocus
    ? (button: HTMLElement, isOff: boolean) => set(button, "aria-disabled", String(isOff)) : setOff;
  const paint = ({ canRedo, canUndo }: { canRedo: boolean, canUndo: boolean }) => {
    turnOff(buttons.undo, !canUndo);
    turnOff(buttons.redo, !canRedo);
  };
  return { ...buttons, paint };
}
