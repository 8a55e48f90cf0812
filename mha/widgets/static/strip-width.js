/* Width: how far scores spread as queries and keys grow wider, and what the softmax makes of them,
   with and without the division by the root. The numbers were drawn once, in Python. */
(function () {
  "use strict";

  const { shown } = window.mhaNumbers;
  const { attentionScores, scaledScores, softmax } = window.mhaAttention;
  const { Plane, Tasks, fill, make, setBar, setText } = window.mhaExplorer;
  const texts = window.mhaStrings.explorer;

  /** The standard deviation of numbers. @param {number[]} numbers */
  function spreadOf(numbers) {
    const mean = numbers.reduce((sum, x) => sum + x, 0) / numbers.length;
    return Math.sqrt(numbers.reduce((sum, x) => sum + (x - mean) ** 2, 0) / numbers.length);
  }

  /**
   * Scores and weights of the first components of a query and keys.
   * @param {number[][]} tenths the query's row, then the keys', in tenths
   * @param {number} width
   */
  function atWidth(tenths, width) {
    const [query, ...keys] = tenths.map((row) => row.slice(0, width).map((x) => x / 10));
    const raw = attentionScores([query], keys);
    const scaled = scaledScores(raw, 1 / Math.sqrt(width));
    return [raw, scaled].map((scores) => ({ spread: spreadOf(scores[0]), weights: softmax(scores)[0] }));
  }

  /**
   * A query along an axis and keys beside it, each at its own length and its own angle to the query.
   * @param {number[][]} tenths
   * @param {number} width
   */
  function arrowsAt(tenths, width) {
    const [query, ...keys] = tenths.map((row) => row.slice(0, width).map((x) => x / 10));
    const square = (/** @type {number[]} */ row) => row.reduce((sum, x) => sum + x * x, 0);
    const long = Math.sqrt(square(query));
    const places = attentionScores([query], keys)[0].map((score, i) => {
      const along = score / long;
      const across = Math.sqrt(Math.max(0, square(keys[i]) - along * along));
      return [along, i % 2 ? -across : across];
    });
    return { query: [long, 0], keys: places };
  }

  class Width {
    /** @param {WidthData} data */
    constructor(data) {
      this.data = data;
      const keys = data.tenths.slice(1);
      this.columns = [texts.widthRaw, texts.widthScaled].map((title) => {
        const [head, most] = [make("p", { className: "soft" }), make("p", { className: "soft" })];
        const rows = keys.map((_, i) => {
          const [bar, number] = [make("span"), make("span")];
          return { bar, number, node: make("li", {}, make("i", {}, `k${i + 1}`),
            make("span", { className: "bar" }, bar), number) };
        });
        return { title, head, most, rows,
          node: make("div", {}, head, make("ul", {}, ...rows.map(({ node }) => node)), most) };
      });
      const id = `${data.name}-slider`;
      this.slider = make("input", { type: "range", id, min: 0, max: data.widths.length - 1, step: 1,
        value: data.widths.indexOf(data.start), oninput: () => this.paint() });
      this.value = make("output", { htmlFor: id });
      this.plane = new Plane({ title: texts.widthPlane, names: texts.widthAxes });
      const widest = arrowsAt(data.tenths, Math.max(...data.widths));
      this.room = [widest.query, ...widest.keys.map(([x, y]) => [x, 1.05 * y])];
      this.node = make("div", { className: "temperature head-0" },
        make("div", { className: "line" },
          make("label", { htmlFor: id }, texts.width), this.slider, this.value),
        make("div", { className: "two" }, this.plane.node,
          make("div", { className: "width-bars" }, ...this.columns.map(({ node }) => node))));
      /** What the tasks look at, as at an explorer. @type {any} */
      this.seen = { data, state: { order: [] } };
      this.tasks = new Tasks(this.seen);
      this.status = make("p", { className: "status", role: "status" });
      this.node.append(this.tasks.node, this.status);
      this.paint();
    }

    paint() {
      const width = this.data.widths[Number(this.slider.value)];
      setText(this.value, String(width));
      this.slider.setAttribute("aria-valuetext", String(width));
      this.seen.widths = atWidth(this.data.tenths, width);
      this.seen.widths.forEach((/** @type {any} */ { spread, weights }, /** @type {number} */ i) => {
        const { title, head, most, rows } = this.columns[i];
        setText(head, fill(title, { width, spread: shown(spread, 2) }));
        setText(most, fill(texts.widthMost, { most: shown(Math.max(...weights)) }));
        rows.forEach(({ bar, number }, key) => {
          setBar(bar, weights[key]);
          setText(number, shown(weights[key]));
        });
      });
      this.paintArrows(width);
      this.tasks.paint();
      setText(this.status, this.tasks.news());
    }

    /** @param {number} width */
    paintArrows(width) {
      const { query, keys } = arrowsAt(this.data.tenths, width);
      const [{ weights }] = this.seen.widths;
      const most = weights.indexOf(Math.max(...weights));
      this.plane.paint([
        ...keys.map((at) => ({ kind: "line", name: "foot-line", points: [[at, [at[0], 0]]] })),
        ...keys.map((at) => ({ kind: "point", name: "foot", at: [at[0], 0], wide: 3 })),
        ...keys.map((at, i) => ({ kind: "arrow", at, text: i === most ? `k${i + 1}` : "" })),
        { kind: "arrow", name: "main", at: query,
          text: `${texts.planeAsks}, ${fill(texts.widthLong, { long: shown(query[0], 1) })}` },
      ], this.room);
    }
  }

  Object.assign(window.mhaExplorer, { Width, arrowsAt, atWidth });
})();
