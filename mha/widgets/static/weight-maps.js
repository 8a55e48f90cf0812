/* Maps of heads: a square a weight, a row a token that asks, a column a token that is asked. */
(function () {
  "use strict";

  const { fill, make, set } = window.mhaExplorer;
  const { percent } = window.mhaNumbers;
  const texts = window.mhaStrings.looking;

  /** How many heads differ in colour. */
  const COLOURS = 6;

  /** So many words have room along a map, on a screen and on a phone. */
  const WORDS = { screen: 13, phone: 8 };

  /** The maps, to look at and to choose a row and a head of.
      @param {any} view @param {string[]} names of the heads
      @param {{ isLabelled?: boolean }} options whether words are beside the rows and below the columns */
  function mapsOf(view, names, { isLabelled = false } = {}) {
    const { parts } = view;
    parts.maps = names.map((/** @type {string} */ name, /** @type {number} */ i) => {
      const canvas = make("canvas");
      const line = make("span", { className: "model-row" });
      const box = make("div", { className: `model-map head-${i % COLOURS}`, tabIndex: 0, role: "slider",
        "aria-label": fill(texts.map, { head: name }), "aria-valuemin": 1 }, canvas, line);
      box.addEventListener("keydown", (/** @type {KeyboardEvent} */ event) => {
        const by = { ArrowUp: -1, ArrowLeft: -1, ArrowDown: 1, ArrowRight: 1 }[event.key];
        if (!by) return;
        event.preventDefault();
        view.choose(view.state.place + by, i);
      });
      canvas.addEventListener("click", (/** @type {MouseEvent} */ event) => {
        const { top, height } = canvas.getBoundingClientRect();
        view.choose(Math.floor(((event.clientY - top) / height) * view.state.words.length), i);
      });
      canvas.addEventListener("pointermove", (/** @type {PointerEvent} */ { offsetX, offsetY }) => {
        const { words } = view.state;
        const [row, column] = [offsetY / canvas.clientHeight, offsetX / canvas.clientWidth].map((share) =>
          Math.max(0, Math.min(words.length - 1, Math.floor(share * words.length))));
        const weight = view.weightsOf(i)?.[row]?.[column];
        set(canvas, "title", weight === undefined ? "" : fill(texts.square, { row: view.words[words[row]],
          column: view.words[words[column]], weight: percent(weight) }));
      });
      const title = view.titleOf?.(i) ?? make("p", { className: "soft" }, name);
      if (!isLabelled) return { canvas, line, box, labels: [], node: make("div", {}, title, box) };
      const labels = ["rows", "columns"].map((side) => make("div", { className: `along-${side}`, ariaHidden: "true" }));
      const labelled = make("div", { className: "words-around" }, labels[0], box, labels[1]);
      return { canvas, line, box, labels, node: make("div", {}, title, labelled) };
    });
    return make("div", { className: "model-maps" },
      ...parts.maps.map((/** @type {any} */ { node }) => node));
  }

  /** Write the words beside the rows and below the columns, as many as there is room for, and always the
      one that looks. @param {any} view @param {any[]} labels */
  function writeLabels(view, labels) {
    const { place, words } = view.state;
    const most = matchMedia("(max-width: 48rem)").matches ? WORDS.phone : WORDS.screen;
    const every = Math.ceil(words.length / most);
    labels.forEach((label, side) => {
      label.replaceChildren(...words.flatMap((/** @type {number} */ word, /** @type {number} */ i) => {
        if (i % every !== place % every) return [];
        const node = make("span", { className: i === place && !side ? "main" : "" }, view.words[word]);
        set(node, side ? ".left" : ".top", `${(100 * (i + 0.5)) / words.length}%`);
        return [node];
      }));
    });
  }

  /** A size that a canvas has already would have the page laid out.
      @param {any} canvas @param {number} width @param {number} height */
  function resize(canvas, width, height) {
    if (canvas.width !== width) canvas.width = width;
    if (canvas.height !== height) canvas.height = height;
  }

  /** @param {any} canvas @param {Matrix} weights @param {string} color as rgb(1, 2, 3) */
  function drawWeights(canvas, weights, color) {
    const [red, green, blue] = (color.match(/\d+/g) ?? []).map(Number);
    const n = weights.length;
    const image = new ImageData(n, n);
    weights.forEach((row, i) => row.forEach((weight, j) => {
      const at = 4 * (i * n + j);
      [image.data[at], image.data[at + 1], image.data[at + 2]] = [red, green, blue];
      image.data[at + 3] = Math.round(255 * weight);
    }));
    resize(canvas, n, n);
    canvas.getContext("2d").putImageData(image, 0, 0);
  }

  /** @param {any} view */
  function paintMaps(view) {
    const { place, words } = view.state;
    const n = words.length;
    const { maps } = view.parts;
    // To ask for a colour has the page laid out: all are asked for at once, and when the theme is new.
    const { theme } = document.documentElement.dataset;
    const themed = maps.filter((/** @type {any} */ map) => !map.color || map.theme !== theme);
    const colors = themed.map((/** @type {any} */ { canvas }) => getComputedStyle(canvas).color);
    themed.forEach((/** @type {any} */ map, /** @type {number} */ i) =>
      Object.assign(map, { theme, color: colors[i], weights: null }));
    maps.forEach((/** @type {any} */ map, /** @type {number} */ head) => {
      if (view.isLate?.(head)) return; // painted when it is worked out
      const { box, canvas, color, line } = map;
      const weights = view.weightsOf(head);
      if (map.weights !== weights) drawWeights(canvas, weights, color);
      map.weights = weights;
      if (map.labels.length) writeLabels(view, map.labels);
      set(line, ".top", `${(100 * place) / n}%`);
      set(line, ".height", `${100 / n}%`);
      const row = weights[place];
      const most = row.indexOf(Math.max(...row));
      set(box, "aria-valuemax", n);
      set(box, "aria-valuenow", place + 1);
      set(box, "aria-valuetext", `${view.words[words[place]]} (${place + 1}): ` +
        `${view.words[words[most]]} (${most + 1}) ${percent(row[most])}`);
    });
  }

  Object.assign(window.mhaExplorer, { drawWeights, mapsOf, paintMaps, resize });
})();
