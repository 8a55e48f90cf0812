/* Width: how far scores spread as queries and keys grow wider, and what the softmax makes of them,
   with and without the division by the root. The query and one key are arrows that lengthen with the
   width, and that are pulled longer. The numbers were drawn once, in Python. */
(function () {
  "use strict";

  const { shown } = window.mhaNumbers;
  const { attentionScores, scaledScores, softmax } = window.mhaAttention;
  const { Plane, Tasks, fill, make, makeButton, set, setBar, setText } = window.mhaExplorer;
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
    return [raw, scaled].map((scores) => ({ spread: spreadOf(scores[0]), scores: scores[0], weights: softmax(scores)[0] }));
  }

  /** A key is drawn up to so many widths. */
  const STOPS = 64;

  /**
   * A query along an axis and keys beside it, each at its own length and its own angle to the query,
   * at every width from 1 on.
   * @param {number[][]} tenths
   * @returns {{ query: number[], keys: number[][] }[]}
   */
  function arrowsOf(tenths) {
    const [query, ...keys] = tenths.map((row) => row.map((x) => x / 10));
    let square = 0;
    const sums = keys.map(() => ({ score: 0, square: 0 }));
    return query.map((x, i) => {
      square += x * x;
      const long = Math.sqrt(square);
      return { query: [long, 0], keys: sums.map((sum, key) => {
        sum.score += x * keys[key][i];
        sum.square += keys[key][i] ** 2;
        const along = long && sum.score / long;
        const across = Math.sqrt(Math.max(0, sum.square - along * along));
        return [along, key % 2 ? -across : across];
      }) };
    });
  }

  class Width {
    /** @param {WidthData} data */
    constructor(data) {
      this.data = data;
      const keys = data.tenths.slice(1);
      this.columns = [texts.widthRaw, texts.widthScaled].map((title) => {
        const [head, most] = [make("p", { className: "soft" }), make("p", { className: "soft" })];
        const rows = keys.map((_, i) => {
          const [score, bar, number] = [make("span"), make("span"), make("span")];
          const name = makeButton(`k${i + 1}`, () => this.choose(i), { "aria-pressed": "false" });
          return { name, score, bar, number,
            node: make("li", {}, name, score, make("span", { className: "bar" }, bar), number) };
        });
        return { title, head, most, rows,
          node: make("div", {}, head, make("ul", {}, ...rows.map(({ node }) => node)), most) };
      });
      const id = `${data.name}-slider`;
      this.width = data.start;
      this.slider = make("input", { type: "range", id, min: data.widths[0], max: data.widths[data.widths.length - 1],
        step: data.widths[1] - data.widths[0], value: data.start,
        oninput: () => this.setWidth(Number(this.slider.value)) });
      this.value = make("output", { htmlFor: id });
      this.plane = new Plane({ title: texts.widthPlane, names: texts.widthAxes });
      this.arrows = arrowsOf(data.tenths);
      const widest = this.arrows[this.arrows.length - 1];
      this.room = [widest.query, ...widest.keys.map(([x, y]) => [x, 1.05 * y])];
      this.says = make("p", { className: "soft width-says" });
      /** The key that is looked at: at first the one that gets most. */
      const [{ weights }] = atWidth(data.tenths, data.start);
      this.key = weights.indexOf(Math.max(...weights));
      this.node = make("div", { className: "temperature head-0" },
        make("div", { className: "line" },
          make("label", { htmlFor: id }, texts.width), this.slider, this.value),
        make("div", { className: "two" }, make("div", {}, this.plane.node, this.says),
          make("div", { className: "width-bars" }, ...this.columns.map(({ node }) => node))));
      /** What the tasks look at, as at an explorer. @type {any} */
      this.seen = { data, state: { order: [] } };
      this.tasks = new Tasks(this.seen);
      this.status = make("p", { className: "status", role: "status" });
      this.node.append(this.tasks.node, this.status);
      this.paint();
    }

    /** @param {number} width */
    setWidth(width) {
      const { widths } = this.data;
      this.width = Math.min(widths[widths.length - 1], Math.max(widths[0], width));
      this.paint();
    }

    /** @param {number} key */
    choose(key) {
      this.key = key;
      this.paint();
    }

    /** A tip whose arrow is pulled longer: the width is the one at which it ends nearest to a hand.
        @type {(name: string, look: string, of: (arrows: any) => number[]) => PlaneTip} */
    tip(name, look, of) {
      const [least, next] = this.data.widths;
      return { name, look,
        step: (by) => this.setWidth(this.width + by * (next - least)),
        move: ([x, y]) => {
          const ways = this.arrows.map((arrows) => Math.hypot(of(arrows)[0] - x, of(arrows)[1] - y));
          this.setWidth(1 + ways.indexOf(Math.min(...ways.slice(least - 1))));
        } };
    }

    paint() {
      const { width, key } = this;
      setText(this.value, String(width));
      if (Number(this.slider.value) !== width) this.slider.value = String(width);
      set(this.slider, "aria-valuetext", width);
      this.seen.widths = atWidth(this.data.tenths, width);
      this.seen.widths.forEach((/** @type {any} */ { spread, scores, weights }, /** @type {number} */ i) => {
        const { title, head, most, rows } = this.columns[i];
        setText(head, fill(title, { width, spread: shown(spread, 2) }));
        setText(most, fill(texts.widthMost, { most: shown(Math.max(...weights)) }));
        rows.forEach(({ name, score, bar, number }, j) => {
          set(name, "aria-pressed", String(j === key));
          setText(score, shown(scores[j], 2));
          setBar(bar, weights[j]);
          setText(number, shown(weights[j]));
        });
      });
      this.paintArrows();
      this.tasks.paint();
      setText(this.status, this.tasks.news());
    }

    paintArrows() {
      const { key, width, arrows } = this;
      const { query, keys } = arrows[width - 1];
      const [raw, scaled] = this.seen.widths;
      const share = (/** @type {any} */ { weights }) => `${shown(100 * weights[key], 1)} %`;
      setText(this.says, fill(texts.widthSays, { key: key + 1, width, foot: shown(keys[key][0], 2),
        long: shown(query[0], 2), score: shown(raw.scores[key], 2), scaled: shown(scaled.scores[key], 2),
        share: share(raw), shared: share(scaled) }));
      const every = Math.ceil(arrows.length / STOPS);
      this.plane.paint([
        { kind: "sheet", name: "trail",
          points: [arrows.filter((_, i) => i % every === 0).map((one) => one.keys[key])] },
        { kind: "line", name: "foot-line", points: [[keys[key], [keys[key][0], 0]]] },
        ...keys.map((at) => ({ kind: "arrow", name: "ghost", at })),
        { kind: "arrow", at: keys[key],
          text: `k${key + 1}, ${fill(texts.widthLong, { long: shown(Math.hypot(...keys[key]), 1) })}`,
          tip: this.tip(`k${key + 1}`, "", (one) => one.keys[key]) },
        { kind: "point", name: "foot", at: [keys[key][0], 0], wide: 3.5 },
        { kind: "arrow", name: "main", at: query,
          text: `${texts.planeAsks}, ${fill(texts.widthLong, { long: shown(query[0], 1) })}`,
          tip: this.tip(texts.planeAsks, "main", (one) => one.query) },
      ], this.room);
    }
  }

  Object.assign(window.mhaExplorer, { Width, arrowsOf, atWidth });
})();
