/* The explorer: <mha-explorer> holds an example's inputs as JSON and all its numbers as tables.
   On its first opening each number becomes a button, and controls and a panel join the tables;
   from then on the numbers are computed here. Texts are in strings-explorer.js. */
(function () {
  "use strict";

  const { Explorer } = window.mhaExplorer;

  /** @type {(hash: string, name: string) => boolean} */
  const names = (hash, name) => new URLSearchParams(hash.slice(1)).get("explore") === name;

  /** Make room out of sight, so that nobody sees the page jump: what opens moves all below it.
      @param {() => void} open */
  function unseen(open) {
    const { style } = document.body;
    style.visibility = "hidden";
    requestAnimationFrame(() => requestAnimationFrame(() => {
      open();
      requestAnimationFrame(() => { style.visibility = ""; });
    }));
  }

  class MhaExplorer extends HTMLElement {
    /** @type {any} */
    data;

    /** @type {any} */
    explorer;

    connectedCallback() {
      if (this.data) return;
      this.data = JSON.parse(this.querySelector("script")?.textContent ?? "");
      this.details().addEventListener("toggle", () => this.begin());
      window.addEventListener("hashchange", () => {
        this.explorer?.leaveAddress();
        this.openFromAddress();
      });
      this.openFromAddress();
    }

    /** @returns {any} */
    details() {
      return this.querySelector("details");
    }

    begin() {
      this.explorer ??= new Explorer(this.data, this.details());
      return this.explorer;
    }

    openFromAddress() {
      if (!names(location.hash, this.data.name)) return;
      if (this.details().open) this.showAddress();
      else unseen(() => this.showAddress());
    }

    showAddress() {
      this.details().open = true;
      this.begin().readAddress();
      this.scrollIntoView();
    }
  }

  customElements.define("mha-explorer", MhaExplorer);
})();
