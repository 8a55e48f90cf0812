/** A calculator of the cost of a model: a published one, or sizes of the reader's own. */

import { valuesOf, written } from "../engine/cost-sizes.ts";
import { commas } from "../engine/numbers.ts";
import { entered } from "../engine/typed-numbers.ts";
import { fill } from "../engine/text.ts";
import { freshId, make, makeButton, set, setText } from "../figures/explorer-parts.ts";
import { partsOf } from "../store/address.ts";
import { shareAddress } from "../store/share.ts";
import { cost as texts } from "../strings/cost.ts";
import { curveOf, inSymbols, paintCurve } from "./cost-curves.ts";
import type { Instrument } from "../types/panels.ts";

/** No size may be larger. */
const MOST = 10 ** 9;

/** The slider goes through powers of two in quarters. */
const QUARTERS = 4;

const wholeIn = (input: HTMLInputElement) => entered(input.value, { least: 1, most: MOST, whole: true });

/** A field of a size with its label. */
type Field = { input: HTMLInputElement, node: HTMLElement };

class CostView {
  data: any;
  start: any;
  sizes: Record<string, number>;
  // deno-lint-ignore no-explicit-any -- elements by their part; see build
  parts: any;
  kept: Record<string, number>;
  values: any;
  node: any;

  constructor(data: any) {
    this.data = data;
    const [first] = Object.keys(data.models);
    this.start = { ...data.models[first], ...data.start };
    this.sizes = { ...this.start };
    this.parts = { charts: [] };
    /** The sizes before typing began, which a refused one leaves. */
    this.kept = this.sizes;
    this.values = valuesOf(this.sizes);
    this.node = this.build();
    this.change({});
  }

  build() {
    const { parts } = this;
    parts.model = make("select", { onchange: () => this.change(this.data.models[parts.model.value] ?? {}) },
      ...Object.keys(this.data.models).map((name) => make("option", { value: name }, name)),
      make("option", { value: "" }, texts.own));
    parts.error = make("p", { className: "soft cost-error", role: "status", id: freshId() });
    parts.fields = Object.fromEntries(Object.keys(texts.sizes).map((name) => {
      const input = make("input", { type: "text", autocomplete: "off", inputMode: "numeric",
        "aria-describedby": parts.error.id, oninput: () => this.enter(), onchange: () => { this.kept = this.sizes; } });
      return [name, { input, node: make("label", {}, make("span", {}, ...inSymbols(texts.sizes[name])), input) }];
    }));
    parts.slider = make("input", { type: "range", min: 7, max: 24, step: 1 / QUARTERS,
      oninput: () => this.change({ tokens: Math.round(2 ** Number(parts.slider.value)) }) });
    parts.length = make("span");
    parts.status = make("span", { className: "soft", role: "status" });
    parts.lines = this.data.lines.map((line: any) => {
      const [numbers, value] = [make("td"), make("td")];
      return { line, numbers, value, node: make("tr", {}, make("th", { scope: "row" }, ...inSymbols(line.what)),
        make("td", {}, ...inSymbols(line.formula)), numbers, value) };
    });
    const button = (label: string, act: () => void) =>
      makeButton(label, act, { className: "reading-button" });
    return make("div", { className: "model-live" }, make("p", { className: "strip-title" }, texts.title),
      make("div", { className: "model-controls" }, make("label", {}, `${texts.model} `, parts.model),
        button(texts.reset, () => this.change(this.start)), button(texts.copy, () => this.share()), parts.status),
      make("div", { className: "cost-sizes" }, ...(Object.values(parts.fields) as Field[]).map(({ node }) => node),
        make("label", { className: "cost-length" }, parts.length, parts.slider)),
      parts.error, make("div", { className: "cost-charts" }, curveOf(this, 0), curveOf(this, 1)),
      make("div", { className: "cost-lines" }, make("table", { "aria-label": texts.table },
        make("tbody", {}, ...parts.lines.map(({ node }: any) => node)))));
  }

  // ---- Changes ----

  /** The error of the sizes together, "" if there is none. */
  wrongWith({ groups, heads }: Record<string, number>) {
    return heads % groups ? fill(texts.shared, { groups, heads }) : "";
  }

  /**
   * Take the values of the fields, or show an error message at each invalid one. Sizes that depend on
   * each other are checked by the values in the fields.
   */
  enter() {
    const fields: [string, Field][] = Object.entries(this.parts.fields);
    const read = Object.fromEntries(fields.map(([name, { input }]) => [name, wholeIn(input)]));
    const sizes = Object.fromEntries(fields.map(([name]) => [name, read[name].value]));
    const isSize = (name: string) => !read[name].wrong;
    const those = fields.filter(([name]) => !isSize(name))
      .map(([name]) => fill(texts.refused, { what: texts.sizes[name], wrong: read[name].wrong }));
    const apart = isSize("groups") && isSize("heads") ? this.wrongWith(sizes) : "";
    const wrong = [...those, ...apart ? [apart] : []];
    fields.forEach(([name, { input }]) =>
      set(input, "aria-invalid", String(!isSize(name) || (name === "groups" && Boolean(apart)))));
    this.node.classList.toggle("stale", wrong.length > 0);
    this.sizes = wrong.length ? this.kept : sizes;
    this.parts.error.replaceChildren(...inSymbols(wrong.length ? [...wrong, texts.stale].join(" ") : ""));
    setText(this.parts.status, "");
    this.paint();
  }

  change(changes: Record<string, number>) {
    this.sizes = { ...this.sizes, ...changes };
    this.kept = this.sizes;
    for (const [name, { input }] of Object.entries(this.parts.fields as Record<string, Field>)) {
      if (wholeIn(input).value !== this.sizes[name]) input.value = String(this.sizes[name]);
      set(input, "aria-invalid", "false");
    }
    this.node.classList.remove("stale");
    this.parts.error.replaceChildren();
    setText(this.parts.status, "");
    this.paint();
  }

  // ---- The address ----

  share() {
    const parts = new URLSearchParams({ cost: "model", ...Object.fromEntries(Object.entries(this.sizes)
      .map(([name, value]) => [name, String(value)])) });
    shareAddress(`#${parts}`, this.parts.status);
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
    const { data, parts, sizes } = this;
    this.values = valuesOf(sizes);
    parts.model.value = Object.keys(data.models).find((name) =>
      Object.entries(data.models[name]).every(([size, value]) => sizes[size] === value)) ?? "";
    parts.slider.value = String(Math.log2(sizes.tokens));
    const length = fill(texts.length, { tokens: commas(sizes.tokens) });
    parts.length.replaceChildren(...inSymbols(length));
    set(parts.slider, "aria-valuetext", length);
    parts.lines.forEach(({ line, numbers, value }: any) => {
      const [left, right] = written(line, this.values);
      setText(numbers, left);
      setText(value, right);
    });
    [0, 1].forEach((chart) => paintCurve(this, chart));
  }
}

/** Open the figure on a page. */
export const open: Instrument = (data) => new CostView(data);
