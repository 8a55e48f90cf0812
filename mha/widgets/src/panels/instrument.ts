/**
 * <mha-instrument> holds a figure or a table, and as JSON the data of the interactive figure that
 * replaces it. Near the screen, or if the address names it, its style sheet and its module are loaded,
 * and the module's `open` makes the interactive figure.
 */

import { isSettled, loadStyle } from "../figures/explorer-parts.ts";
import type { Instrument } from "../types/panels.ts";

/** How far from the screen an instrument is loaded. */
const NEAR = "200px";

/** The module of each kind of figure; adding a figure means adding a line here. */
const KINDS: Record<string, () => Promise<{ open: Instrument }>> = {
  bugs: () => import("./bugs-view.ts"),
  cache: () => import("./cache.ts"),
  cost: () => import("./cost-view.ts"),
  heads: () => import("./heads-view.ts"),
  latent: () => import("./latent.ts"),
  layer: () => import("./layer-view.ts"),
  learning: () => import("./learning-view.ts"),
  letters: () => import("./letters.ts"),
  model: () => import("./model-view.ts"),
  own: () => import("./own.ts"),
  pencil: () => import("./pencil-view.ts"),
  sheet: () => import("./sheet-view.ts"),
  slope: () => import("../figures/plane-slope.ts"),
  tiles: () => import("./tiles.ts"),
};

class MhaInstrument extends HTMLElement {
  coming: Promise<ReturnType<Instrument>> | null = null;

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

  /** Whether all of the page's figures are complete; the tests wait for it. */
  get isSettled() {
    return isSettled();
  }

  begin() {
    this.coming ??= this.load();
    return this.coming;
  }

  /** Load the module and the style sheets; nothing is shown yet. */
  async bring() {
    const { kind = "", dress = "" } = this.dataset;
    const [module] = await Promise.all([KINDS[kind](), ...dress.split(" ").filter(Boolean).map(loadStyle)]);
    return module;
  }

  async load() {
    const { open } = await this.bring();
    const data = JSON.parse(this.querySelector(":scope > script")?.textContent ?? "{}");
    const made = open(data, this);
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
