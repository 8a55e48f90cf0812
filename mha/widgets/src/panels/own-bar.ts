/** The bar of a reader's own example: undo, redo, and its exports: a link, files, a printed sheet. */

import { fill } from "../engine/text.ts";
import { freshId, isPage, make, makeButton, makeChoice, set, setText } from "../figures/explorer-parts.ts";
import { historyButtons } from "../figures/history-buttons.ts";
import type { History } from "../store/history.ts";
import { explorer } from "../strings/explorer.ts";
import { own as texts } from "../strings/own.ts";
import { download, nameOf, notebook, taken, toml } from "./own-files.ts";
import { Sheet, print } from "./own-sheet.ts";
import type { OwnFigure } from "../types/panels.ts";

const { copied } = explorer;

type Steps = Pick<History<unknown>, "canRedo" | "canUndo">;

/** Where the package is: the site has it; beside pages that are opened as files there is none. */
const wheelAt = (wheel: string) => (location.protocol.startsWith("http")
  ? new URL(`${document.documentElement.dataset.content_root ?? "./"}downloads/${wheel}`, location.href).href : wheel);

/** The buttons that undo, redo, and take the example along. */
export function ownBar(own: OwnFigure, history: Steps) {
  const { paint, redo, undo } = historyButtons(() => own.explorer.step(false), () => own.explorer.step(true), true);
  own.follows.push(() => {
    const all: Steps[] = [history, own.explorer.history];
    paint({ canUndo: all.some(({ canUndo }) => canUndo), canRedo: all.some(({ canRedo }) => canRedo) });
  });
  const all = takes(own);
  const open = (isOpen: boolean) => {
    all.hidden = !isOpen;
    set(take, "aria-expanded", String(isOpen));
  };
  const take = makeButton(texts.take, () => open(Boolean(all.hidden)), { "aria-controls": all.id });
  open(false);
  document.addEventListener("pointerdown", (event) => {
    if (!all.hidden && !top.contains((event.target as Node))) open(false);
  });
  all.addEventListener("keydown", (event: KeyboardEvent) => {
    if (event.key !== "Escape") return;
    open(false);
    take.focus();
  });
  const top = make("div", { className: "own-top" }, make("div", { className: "own-line" }, undo, redo, take), all);
  return top;
}

/** The files, the link and the sheet of the example as it is now. */
function takes(own: OwnFigure) {
  const now = () => ({ example: taken(own.explorer), seed: own.settings.seed });
  const file = () => nameOf(own.settings.words);
  const saveToml = makeButton(texts.toml, () => {
    const { example, seed } = now();
    download(`${file()}.toml`, "application/toml", toml(example, seed));
  });
  const saveNotebook = makeButton(texts.notebook, () => {
    const { example, seed } = now();
    download(`${file()}.ipynb`, "application/x-ipynb+json", notebook(example, seed, wheelAt(own.data.wheel)));
  });
  const name = freshId();
  const one = makeChoice("radio", name, "", () => {});
  const all = makeChoice("radio", name, texts.printAll, () => {});
  one.input.checked = true;
  own.follows.push(() => setText(one.word, fill(texts.printOne, { word: own.settings.words[own.explorer.state.query] })));
  const sheet = makeButton(texts.print, () =>
    print(new Sheet(taken(own.explorer), own.data.titles, all.input.checked,
      own.settings.numbers === "meanings" ? own.data.meanings : []).node()));
  // Where the browser does not copy, a field with the link comes below all buttons, and moves none.
  const said = make("div", { className: "own-said" }); // the explorer says it aloud
  const link = makeButton(texts.link, async () => {
    const { controls } = own.explorer;
    said.replaceChildren(controls.link);
    await controls.copy();
    if (!controls.link.firstChild) said.append(copied);
  });
  return make("div", { className: "own-take", id: freshId() },
    make("div", { className: "own-line" }, ...(isPage ? [link] : []), saveToml, saveNotebook),
    make("div", { className: "own-line", role: "radiogroup", "aria-label": texts.sheetOf }, sheet,
      one.node, all.node), said);
}
