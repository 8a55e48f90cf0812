/* <mha-instrument> holds a figure or a table, and as JSON what is worked with in its place. Near the
   screen, or where the address asks for it, its style sheet and its scripts are loaded, and what
   they have registered in `mhaInstruments` by its kind opens it. */
(function () {
  "use strict";

  const { isSettled, later } = window.mhaExplorer;

  /** How far from the screen an instrument is loaded. */
  const NEAR = "200px";

  /** By the kind, what opens an element: with its data, and what stands there until then.
      @type {Record<string, Instrument>} */
  window.mhaInstruments = {};

  class MhaInstrument extends HTMLElement {
    /** @type {Promise<any> | null} */
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
      const { kind = "", late = "", dress = "" } = this.dataset;
      await Promise.all(dress.split(" ").filter(Boolean).map(later));
      for (const name of late.split(" ")) await later(name);
      const data = JSON.parse(this.querySelector(":scope > script")?.textContent ?? "{}");
      const made = window.mhaInstruments[kind](data, this);
      this.querySelector(".before")?.replaceWith(made.node);
      this.classList.add("live");
      made.placed?.();
      made.readAddress?.();
      const whole = () => this.classList.add("whole");
      if (isSettled()) whole();
      else addEventListener("settled", whole, { once: true });
      return made;
    }

    /** An address such as #cost=layer&tokens=2048 asks for the instrument cost-layer. */
    async openFromAddress() {
      const { kind = "" } = this.dataset;
      const asked = new URLSearchParams(location.hash.slice(1)).get(kind);
      if (this.id !== `${kind}-${asked}`) return;
      const isLive = this.classList.contains("live");
      const made = await this.begin();
      if (isLive) made.readAddress?.();
      this.scrollIntoView();
    }
  }

  customElements.define("mha-instrument", MhaInstrument);
})();
