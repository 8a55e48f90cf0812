/* A calculator of what a model costs: a published one, or sizes of the reader's own. */
(function () {
  "use strict";

  const { fill, make, makeButton, freshId, set, setText } = window.mhaExplorer;
  const { commas, curveOf, inSymbols, paintCurve, valuesOf, written } = window.mhaCost;
  const { entered } = window.mhaTyped;
  const texts = window.mhaStrings.cost;

  /** No size may be larger. */
  const MOST = 10 ** 9;

  /** The slider goes through powers of two in quarters. */
  const QUARTERS = 4;

  /** @param {HTMLInputElement} input */
  const wholeIn = (input) => entered(input.value, { least: 1, most: MOST, whole: true });

  class CostView {
    /** @param {any} data */
    constructor(data) {
      this.data = data;
      const [first] = Object.keys(data.models);
      this.start = { ...data.models[first], ...data.start };
      /** @type {Record<string, number>} */
      this.sizes = { ...this.start };
      /** @type {any} */
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
      parts.lines = this.data.lines.map((/** @type {any} */ line) => {
        const [numbers, value] = [make("td"), make("td")];
        return { line, numbers, value, node: make("tr", {}, make("th", { scope: "row" }, ...inSymbols(line.what)),
          make("td", {}, ...inSymbols(line.formula)), numbers, value) };
      });
      const button = (/** @type {string} */ label, /** @type {() => void} */ act) =>
        makeButton(label, act, { className: "reading-button" });
      return make("div", { className: "model-live" }, make("p", { className: "strip-title" }, texts.title),
        make("div", { className: "model-controls" }, make("label", {}, `${texts.model} `, parts.model),
          button(texts.reset, () => this.change(this.start)), button(texts.copy, () => this.share()), parts.status),
        make("div", { className: "cost-sizes" }, ...Object.values(parts.fields).map(({ node }) => node),
          make("label", { className: "cost-length" }, parts.length, parts.slider)),
        parts.error, make("div", { className: "cost-charts" }, curveOf(this, 0), curveOf(this, 1)),
        make("div", { className: "cost-lines" }, make("table", { "aria-label": texts.table },
          make("tbody", {}, ...parts.lines.map((/** @type {any} */ { node }) => node)))));
    }

    // ---- Changes ----

    /** What is wrong with sizes together, "" where nothing is. @param {Record<string, number>} sizes */
    wrongWith({ groups, heads }) {
      return heads % groups ? fill(texts.shared, { groups, heads }) : "";
    }

    /** Take what stands in the fields, or say what is wrong with each that is refused: sizes that have to fit
        together are judged as they stand there. */
    enter() {
      const fields = Object.entries(this.parts.fields);
      const read = Object.fromEntries(fields.map(([name, { input }]) => [name, wholeIn(input)]));
      const sizes = Object.fromEntries(fields.map(([name]) => [name, read[name].value]));
      const isSize = (/** @type {string} */ name) => !read[name].wrong;
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

    /** @param {Record<string, number>} changes */
    change(changes) {
      this.sizes = { ...this.sizes, ...changes };
      this.kept = this.sizes;
      for (const [name, { input }] of Object.entries(this.parts.fields)) {
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
      history.replaceState(null, "", `#${parts}`);
      const copied = navigator.clipboard?.writeText(location.href) ?? Promise.reject(new Error());
      copied.then(() => setText(this.parts.status, texts.copied), () => setText(this.parts.status, texts.notCopied));
    }

    /** What can be read of an address; the rest is as at the start. */
    readAddress() {
      const parts = new URLSearchParams(location.hash.slice(1));
      if (parts.get("cost") !== "model") return;
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
      parts.lines.forEach((/** @type {any} */ { line, numbers, value }) => {
        const [left, right] = written(line, this.values);
        setText(numbers, left);
        setText(value, right);
      });
      [0, 1].forEach((chart) => paintCurve(this, chart));
    }
  }

  window.mhaInstruments.cost = (data) => new CostView(data);
})();
