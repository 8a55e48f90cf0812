/* The explorer: <mha-explorer> holds an example's inputs as JSON and all its numbers as tables.
   On its first opening each number becomes a button, and controls and a panel join the tables;
   from then on the numbers are computed here. Texts are in strings-explorer.js. */
(function () {
  "use strict";

  const { Explorer } = window.mhaExplorer;

  const names = (hash, name) => new URLSearchParams(hash.slice(1)).get("explore") === name;

  /** Make room out of sight, so that nobody sees the page jump: what opens moves all below it. */
  function unseen(open) {
    const { style } = document.body;
    style.visibility = "hidden";
    requestAnimationFrame(() => requestAnimationFrame(() => {
      open();
      requestAnimationFrame(() => { style.visibility = ""; });
    }));
  }

  class MhaExplorer extends HTMLElement {
    connectedCallback() {
      if (this.data) return;
      this.data = JSON.parse(this.querySelector("script").textContent);
      this.details = this.querySelector("details");
      this.details.addEventListener("toggle", () => this.begin());
      window.addEventListener("hashchange", () => {
        this.explorer?.leaveAddress();
        this.openFromAddress();
      });
      this.openFromAddress();
    }

    begin() {
      this.explorer ??= new Explorer(this.data, this.details);
      return this.explorer;
    }

    openFromAddress() {
      if (!names(location.hash, this.data.name)) return;
      if (this.details.open) this.showAddress();
      else unseen(() => this.showAddress());
    }

    showAddress() {
      this.details.open = true;
      this.begin().readAddress();
      this.scrollIntoView();
    }
  }

  customElements.define("mha-explorer", MhaExplorer);
})();
