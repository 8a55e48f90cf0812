/* The maps of the model's four heads: a square a weight, a row a word that looks. */
(function () {
  "use strict";

  const { fill, make, set } = window.mhaExplorer;
  const { shown } = window.mhaNumbers;
  const texts = window.mhaStrings.model;

  const SVG = "http://www.w3.org/2000/svg";

  const percent = (/** @type {number} */ x) => `${shown(100 * x, 1)} %`;

  /** @type {(tag: string, attributes: Record<string, string | number>) => SVGElement} */
  function drawn(tag, attributes) {
    const node = document.createElementNS(SVG, tag);
    Object.entries(attributes).forEach(([name, value]) => node.setAttribute(name, String(value)));
    return node;
  }

  /** The four maps, to look at and to choose a row of. @param {any} view */
  function mapsOf(view) {
    const { parts } = view;
    parts.maps = texts.headNames.map((/** @type {string} */ name, /** @type {number} */ i) => {
      const canvas = make("canvas");
      const line = make("span", { className: "model-row" });
      const box = make("div", { className: `model-map head-${i}`, tabIndex: 0, role: "slider",
        "aria-label": fill(texts.map, { head: name }), "aria-valuemin": 1 }, canvas, line);
      box.addEventListener("keydown", (/** @type {KeyboardEvent} */ event) => {
        const by = { ArrowUp: -1, ArrowLeft: -1, ArrowDown: 1, ArrowRight: 1 }[event.key];
        if (!by) return;
        event.preventDefault();
        view.choose(view.state.place + by);
      });
      canvas.addEventListener("click", (/** @type {MouseEvent} */ event) => {
        const { top, height } = canvas.getBoundingClientRect();
        view.choose(Math.floor(((event.clientY - top) / height) * view.state.words.length));
      });
      return { canvas, line, box, node: make("div", {}, make("p", { className: "soft" }, name), box) };
    });
    return make("div", { className: "model-maps" },
      ...parts.maps.map((/** @type {any} */ { node }) => node));
  }

  /** @param {any} view */
  function paintMaps(view) {
    const { place, words } = view.state;
    const n = words.length;
    view.parts.maps.forEach((/** @type {any} */ { box, canvas, line }, /** @type {number} */ head) => {
      const colour = getComputedStyle(box).getPropertyValue("--head").trim();
      const rgb = [1, 3, 5].map((i) => parseInt(colour.slice(i, i + 2), 16));
      const weights = view.weightsOf(head);
      const image = new ImageData(n, n);
      weights.forEach((/** @type {number[]} */ row, /** @type {number} */ i) =>
        row.forEach((weight, j) =>
        image.data.set([...rgb, Math.round(255 * weight)], 4 * (i * n + j))));
      canvas.width = n;
      canvas.height = n;
      canvas.getContext("2d").putImageData(image, 0, 0);
      set(line, ".top", `${(100 * place) / n}%`);
      set(line, ".height", `${100 / n}%`);
      const row = weights[place];
      const most = row.indexOf(Math.max(...row));
      set(box, "aria-valuemax", n);
      set(box, "aria-valuenow", place + 1);
      set(box, "aria-valuetext", `${place + 1}. ${view.words[words[place]]}: ` +
        `${most + 1}. ${view.words[words[most]]} ${percent(row[most])}`);
    });
  }

  Object.assign(window.mhaModel, { drawn, mapsOf, paintMaps, percent });
})();
