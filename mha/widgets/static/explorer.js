/* <mha-explorer> holds an example's inputs as JSON, the numbers of one query as a table, and all
   its numbers as text. Near the screen the strip takes the table's place; from then on the numbers
   are computed here. Texts are in strings-explorer.js. */
(function () {
  "use strict";

  const { Explorer, isPage, later } = window.mhaExplorer;

  /** How far from the screen an explorer is built. */
  const NEAR = "100px";

  /** @type {(hash: string, name: string) => boolean} */
  const names = (hash, name) => new URLSearchParams(hash.slice(1)).get("explore") === name;

  class MhaExplorer extends HTMLElement {
    /** @type {any} */
    data;

    /** @type {any} */
    explorer;

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
        this.explorer?.leaveAddress?.();
        this.openFromAddress();
      });
      this.openFromAddress();
    }

    async begin() {
      const { block, widths } = this.data;
      // A page without a block does not wait.
      if (block) await later("explorer-block.js");
      this.explorer ??= widths ? this.addWidth() : new Explorer(this.data, this, this.isLate);
      return this.explorer;
    }

    /** The slider over widths has a script of its own, and no address. */
    async addWidth() {
      await Promise.all(["plane.css", "explorer-views.js"].map(later));
      const { node } = new window.mhaExplorer.Width(this.data);
      this.querySelector(".before")?.replaceWith(node);
      this.classList.add("live");
    }

    async openFromAddress() {
      if (this.data.widths || !names(location.hash, this.data.name)) return;
      (await this.begin()).readAddress();
      this.scrollIntoView();
    }
  }

  customElements.define("mha-explorer", MhaExplorer);

  /** Numbers of the text are tied to the explorers when the reader first does anything. */
  const acts = ["scroll", "pointerover", "keydown"];
  const tie = () => {
    acts.forEach((act) => removeEventListener(act, tie));
    later("tied.js");
  };
  if (isPage) acts.forEach((act) => addEventListener(act, tie));
  // A number below the title is on the first screen: it is seen at once that it can be moved.
  if (document.querySelector(".lead + p > data")) setTimeout(tie);
})();
