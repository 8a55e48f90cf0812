/* <mha-model> holds a drawing of a trained model at work, or of a layer too large for the explorer.
   Near the screen, or where the address asks for it, its numbers and the scripts that compute with
   them are loaded, and it comes to life. */
(function () {
  "use strict";

  const { later, make } = window.mhaExplorer;

  /** How far from the screen the model is loaded. */
  const NEAR = "200px";

  /** The scripts of the trained model, and those of a layer that somebody has. */
  const MODEL = ["explorer-block.js", "model-view.js", "model-numbers.js"];
  const LAYER = ["layer-view.js"];

  const folder = (document.currentScript?.getAttribute("src") ?? "").replace(/[^/]*$/, "");

  /** Its style sheet is of use to no other page. */
  const dressed = () => document.getElementById("model.css") ?? new Promise((done) => {
    document.head.append(make("link",
      { rel: "stylesheet", href: `${folder}model.css`, onload: done, onerror: done }));
  });

  class MhaModel extends HTMLElement {
    /** @type {Promise<void> | null} */
    coming = null;

    connectedCallback() {
      const watcher = new IntersectionObserver((entries) => {
        if (!entries.some(({ isIntersecting }) => isIntersecting)) return;
        watcher.disconnect();
        this.begin();
      }, { rootMargin: NEAR });
      watcher.observe(this);
      window.addEventListener("hashchange", () => this.openFromAddress());
      this.openFromAddress();
    }

    begin() {
      this.coming ??= this.load();
      return this.coming;
    }

    async load() {
      await dressed();
      const isLayer = this.classList.contains("of-layer");
      for (const name of isLayer ? LAYER : MODEL) await later(name);
      (isLayer ? window.mhaLayer : window.mhaModel).open(this);
    }

    async openFromAddress() {
      const asked = new URLSearchParams(location.hash.slice(1)).get("model");
      if (this.id !== `model-${asked}`) return;
      await this.begin();
      window.mhaModel.readAddress(this);
      this.scrollIntoView();
    }
  }

  customElements.define("mha-model", MhaModel);
})();
