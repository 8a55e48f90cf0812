/** A calculator of the cost of a model: a published one, or sizes of the reader's own. */

import { valuesOf, written } from "../engine/cost-sizes.ts";
import { commas } from "../engine/numbers.ts";
import { entered } from "../engine/typed-numbers.ts";
import { fill } from "../engine/text.ts";
import { freshId, make, makeButton, set, setText } from "../figures/explorer-parts.ts";
import { partsOf } from "../store/address.ts";
import { shareAddress } from "../store/share.ts";
import { cost as texts } from "../strings/cost.ts";
import { inSymbols, makeCurve, paintCurve } from "./cost-curves.ts";
import type { CostData, CostFigure, CostLine, CostSizes } from "../types/cost.ts";
import type { Instrument } from "../types/panels.ts";

/** No size may be larger. */
const MOST = 10 ** 9;

/** The slider goes through powers of two in quarters. */
const QUARTERS = 4;

const wholeIn = (input: HTMLInputElement) => entered(input.value, { least: 1, most: MOST, whole: true });

class CostView implements CostFigure {
  /** The sizes at first. */
  start: CostSizes;
  sizes: CostSizes;
  /** The sizes before typing began, which a refused one leaves. */
  kept: CostSizes;

  error = make("p", { className: "soft cost-error", role: "status", id: freshId() });
  status = make("span", { className: "soft", role: "status" });
  fields = Object.entries(texts.sizes).map(([name, label]) => {
    const input = make("input", { type: "text", autocomplete: "off", inputMode: "numeric",
      "aria-describedby": this.error.id, oninput: () => this.enter(), onchange: () => { this.kept = this.sizes; } });
    return { name, input, node: make("label", {}, make("span", {}, ...inSymbols(label)), input) };
  });
  slider = make("input", { type: "range", min: 7, max: 24, step: 1 / QUARTERS,
    oninput: () => this.change({ tokens: Math.round(2 ** Number(this.slider.value)) }) });
  length = make("span");
  model: HTMLSelectElement;
  lines: { line: CostLine, numbers: HTMLElement, value: HTMLElement, node: HTMLElement }[];
  charts = [0, 1].map((chart) => makeCurve(this, chart));
  node: HTMLElement;

  constructor(public data: CostData) {
    const [first] = Object.values(data.models);
    this.start = { ...first, ...data.start };
    this.sizes = this.kept = this.start;
    this.model = make("select", { onchange: () => this.change(data.models[this.model.value] ?? {}) },
      ...Object.keys(data.models).map((name) => make("option", { value: name }, name)),
      make("option", { value: "" }, texts.own));
    this.lines = data.lines.map((line) => {
      const [numbers, value] = [make("td"), make("td")];
      return { line, numbers, value, node: make("tr", {}, make("th", { scope: "row" }, ...inSymbols(line.what)),
        make("td", {}, ...inSymbols(line.formula)), numbers, value) };
    });
    const button = (label: string, act: () => void) =>
      makeButton(label, act, { className: "reading-button" });
    this.node = make("div", { className: "model-live" }, make("p", { className: "strip-title" }, texts.title),
      make("div", { className: "model-controls" }, make("label", {}, `${texts.model} `, this.model),
        button(texts.reset, () => this.change(this.start)), button(texts.copy, () => this.share()), this.status),
      make("div", { className: "cost-sizes" }, ...this.fields.map(({ node }) => node),
        make("label", { className: "cost-length" }, this.length, this.slider)),
      this.error, make("div", { className: "cost-charts" }, ...this.charts.map(({ node }) => node)),
      make("div", { className: "cost-lines" }, make("table", { "aria-label": texts.table },
        make("tbody", {}, ...this.lines.map(({ node }) => node)))));
    this.change({});
  }

  // ---- Changes ----

  /** The error of the sizes together, "" if there is none. */
  wrongWith({ groups, heads }: CostSizes) {
    return heads % groups ? fill(texts.shared, { groups, heads }) : "";
  }

  /**
   * Take the values of the fields, or show an error message at each invalid one. Sizes that depend on
   * each other are checked by the values in the fields.
   */
  enter() {
    const { fields } = this;
    const read = Object.fromEntries(fields.map(({ name, input }) => [name, wholeIn(input)]));
    const sizes = Object.fromEntries(fields.map(({ name }) => [name, read[name].value]));
    const isSize = (name: string) => !read[name].wrong;
    const those = fields.filter(({ name }) => !isSize(name))
      .map(({ name }) => fill(texts.refused, { what: texts.sizes[name], wrong: read[name].wrong }));
    const apart = isSize("groups") && isSize("heads") ? this.wrongWith(sizes) : "";
    const wrong = [...those, ...apart ? [apart] : []];
    fields.forEach(({ name, input }) =>
      set(input, "aria-invalid", String(!isSize(name) || (name === "groups" && Boolean(apart)))));
    this.node.classList.toggle("stale", wrong.length > 0);
    this.sizes = wrong.length ? this.kept : sizes;
    this.error.replaceChildren(...inSymbols(wrong.length ? [...wrong, texts.stale].join(" ") : ""));
    setText(this.status, "");
    this.paint();
  }

  change(changes: CostSizes) {
    this.sizes = { ...this.sizes, ...changes };
    this.kept = this.sizes;
    for (const { name, input } of this.fields) {
      if (wholeIn(input).value !== this.sizes[name]) input.value = String(this.sizes[name]);
      set(input, "aria-invalid", "false");
    }
    this.node.classList.remove("stale");
    this.error.replaceChildren();
    setText(this.status, "");
    this.paint();
  }

  // ---- The address ----

  share() {
    const parts = new URLSearchParams({ cost: "model", ...Object.fromEntries(Object.entries(this.sizes)
      .map(([name, value]) => [name, String(value)])) });
    shareAddress(`#${parts}`, this.status);
  }

  /** The readable part of an address, with defaults for the rest. */
  readAddress() {
    const parts = partsOf("cost", "model");
    if (!parts) return;
    const read = Object.fromEntries(Object.keys(this.start).map((name) => {
      const text = parts.get(name) ?? "";
      return [name, /^[1-9]\d{0,8}$/.test(text) ? Number(text) : this.start[name]];
    }));
    this.change(this.wrongWith(read) ? this.start : read);
  }

  // ---- Painting ----

  paint() {
    const { data, length, lines, model, sizes, slider } = this;
    const values = valuesOf(sizes);
    model.value = Object.keys(data.models).find((name) =>
      Object.entries(data.models[name]).every(([size, value]) => sizes[size] === value)) ?? "";
    slider.value = String(Math.log2(sizes.tokens));
    const text = fill(texts.length, { tokens: commas(sizes.tokens) });
    length.replaceChildren(...inSymbols(text));
    set(slider, "aria-valuetext", text);
    lines.forEach(({ line, numbers, value }) => {
      const [left, right] = written(line, values);
      setText(numbers, left);
      setText(value, right);
    });
    this.charts.forEach((curve, chart) => paintCurve(curve, values, chart));
  }
}

/** Open the figure on a page. */
export const open: Instrument = (data) => new CostView(data);
