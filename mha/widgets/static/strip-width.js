/* Width: how far scores spread as queries and keys grow wider, and what the softmax makes of them,
   with and without the division by the root. The numbers were drawn once, in Python. */
(function () {
  "use strict";

  const { shown } = window.mhaNumbers;
  const { attentionScores, scaledScores, softmax } = window.mhaAttention;
  const { Tasks, fill, make, setBar, setText } = window.mhaExplorer;
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
      this.node = make("div", { className: "temperature head-0" },
        make("div", { className: "line" },
          make("label", { htmlFor: id }, texts.width), this.slider, this.value),
        make("div", { className: "width-bars" }, ...this.columns.map(({ node }) => node)));
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
      this.tasks.paint();
      setText(this.status, this.tasks.news());
    }
  }

  Object.assign(window.mhaExplorer, { Width, atWidth });
})();
