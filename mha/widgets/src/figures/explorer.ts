/**
 * <mha-explorer> holds an example's inputs as JSON, the numbers of one query as a table, and all
 * its numbers as text. Near the screen the strip takes the table's place; from then on the numbers
 * are computed here. Texts are in explorer.ts.
 */

import { partsOf } from "../store/address.ts";
import { isPage, isSettled, loadStyle } from "./explorer-parts.ts";
import { Explorer } from "./explorer-view.ts";
import type { ExplorerData, WidthData } from "../types/explorer.ts";

/** How far from the screen an explorer is built. */
const NEAR = "100px";

class MhaExplorer extends HTMLElement {
  /** Its JSON, which has widths if it is a slider over them, which makes no explorer. */
  data!: ExplorerData & Partial<WidthData>;

  explorer: Explorer | Promise<void> | undefined;

  /** Whether who made it says when it is to be seen. */
  isLate = false;

  connectedCallback() {
    if (this.data) return;
    this.data = JSON.parse(this.querySelector("script")?.textContent ?? "");
    const watcher = new IntersectionObserver((entries) => {
      if (!entries.some(({ isIntersecting }) => isIntersecting)) return;
      watcher.disconnect();
      this.begin();
    }, { rootMargin: NEAR });
    watcher.observe(this);
    this.querySelector("details.all")?.addEventListener("toggle", () => this.begin(), true);
    window.addEventListener("hashchange", () => {
      if (this.explorer instanceof Explorer) this.explorer.leaveAddress();
      this.openFromAddress();
    });
    this.openFromAddress();
  }

  /** Whether all of the page's figures are complete; the tests wait for it. */
  get isSettled() {
    return isSettled();
  }

  /** Load the modules that this explorer needs in addition to the strip, before anything is shown. */
  async bring() {
    const { block, view, widths } = this.data;
    if (block) await import("./explorer-block.ts");
    if (widths || view !== "strip") await Promise.all([import("./views.ts"), loadStyle("plane.css")]);
  }

  async begin() {
    const { block, widths } = this.data;
    // A page without a block does not wait.
    if (block) await import("./explorer-block.ts");
    this.explorer ??= widths ? this.addWidth() : new Explorer(this.data, this, this.isLate);
    return this.explorer;
  }

  /** The slider over widths has a script of its own, and no address. */
  async addWidth() {
    const [{ Width }] = await Promise.all([import("./views.ts"), loadStyle("plane.css")]);
    const { node } = new Width(this.data as WidthData & ExplorerData);
    this.querySelector(".before")?.replaceWith(node);
    this.classList.add("live");
  }

  async openFromAddress() {
    if (this.data.widths || !partsOf("explore", this.data.name)) return;
    const made = await this.begin();
    made?.readAddress();
    this.scrollIntoView();
  }
}

customElements.define("mha-explorer", MhaExplorer);

/** Numbers of the text are tied to the explorers when the reader first does anything. */
const acts = ["scroll", "pointerover", "keydown"];
const tie = () => {
  acts.forEach((act) => removeEventListener(act, tie));
  import("../text/tied.ts");
};
if (isPage) acts.forEach((act) => addEventListener(act, tie));
