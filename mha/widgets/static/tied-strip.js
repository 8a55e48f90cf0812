/* The small strip: the same run while the strip itself is off the screen. It stands in the margin
   where that is empty, else in two lines at the foot of the screen. */
(function () {
  "use strict";

  const { short, shown } = window.mhaNumbers;
  const { address, of: placeOf, valueAt } = window.mhaPlaces;
  const { fill, make, makeButton, set, setBar, setText } = window.mhaExplorer;
  const texts = window.mhaStrings.tied;

  /** How far it keeps from what stands around it. */
  const GAP = 16;

  /** What may reach into the margin. */
  const WIDE = "section > *, figure, .cell, .margin, .pst-scrollable-table-container";

  /** Stages whose rows are queries. */
  const OF_QUERY = ["query", "turned_query", "scores", "scaled_scores", "exponentials", "row_sums",
    "weights", "head_outputs"];

  class SmallStrip {
    /** @param {any} explorer
        @param {() => void} reset */
    constructor(explorer, reset) {
      this.explorer = explorer;
      /** @type {Place | null} */
      this.at = null;
      this.isWanted = false;
      this.isAway = false;
      /** Where something stands in the margin, in the page: top and bottom.
          @type {[number, number][]} */
      this.taken = [];
      this.build(reset);
      document.body.append(this.node);
      addEventListener("scroll", () => this.stand(), { passive: true });
      const article = document.querySelector(".bd-article") ?? document.body;
      new ResizeObserver(() => requestAnimationFrame(() => this.measure(article))).observe(article);
      this.measure(article);
    }

    /** @param {() => void} reset */
    build(reset) {
      const { data, root } = this.explorer;
      this.title = make("span", { className: "small-title" });
      this.rows = data.tokens.map(() => {
        const [token, bar, weight] = [make("i"), make("span"), make("span", { className: "weight" })];
        const node = make("li", {}, token, make("span", { className: "bar" }, bar), weight);
        return { token, bar, weight, node };
      });
      this.result = make("span", { className: "small-result" });
      this.said = make("span", { className: "small-said" });
      this.reset = make("span", { className: "small-changed", hidden: true }, texts.changed, " ",
        makeButton(texts.reset, reset));
      this.node = make("aside", { className: "small-strip", "aria-label": texts.strip, hidden: true },
        make("div", { className: "small-top" }, this.title,
          makeButton("↑", () => root.scrollIntoView({ block: "center" }), { title: texts.up, "aria-label": texts.up }),
          makeButton("×", () => { this.isAway = true; this.show(); },
            { title: texts.away, "aria-label": texts.away })),
        make("ul", {}, ...this.rows.map(({ node }) => node)),
        make("div", { className: "small-end" }, this.result, this.said, this.reset));
    }

    // -- Where it stands --

    /** What of the article stands in its margin, and whether there is one.
        @param {Element} article */
    measure(article) {
      const style = getComputedStyle(article);
      const box = article.getBoundingClientRect();
      const edge = box.right - parseFloat(style.paddingRight);
      const width = 15 * parseFloat(getComputedStyle(document.documentElement).fontSize);
      this.inMargin = edge + GAP + width + GAP <= document.documentElement.clientWidth;
      set(this.node, "class", `small-strip ${this.inMargin ? "in-margin" : "at-foot"}`);
      set(this.node, ".left", this.inMargin
        ? `${Math.min(edge + 4.5 * width / 15, document.documentElement.clientWidth - GAP - width)}px` : "");
      this.taken = [];
      if (this.inMargin) {
        for (const one of article.querySelectorAll(WIDE)) {
          const { top, bottom, right, height } = one.getBoundingClientRect();
          if (height && right > edge + GAP) this.taken.push([top + scrollY, bottom + scrollY]);
        }
      }
      this.stand();
    }

    /** Take the first place in the margin, from below the page's contents on, that is free. */
    stand() {
      if (!this.isShown || !this.inMargin) return;
      const height = this.node.offsetHeight;
      const toc = document.querySelector(".bd-sidebar-secondary .page-toc, .bd-toc-nav");
      const { bottom = 0, height: tall = 0 } = toc?.getBoundingClientRect() ?? {};
      const least = Math.max(64, tall ? bottom : 0) + GAP;
      const most = innerHeight - height - GAP;
      /** @type {(top: number) => [number, number] | undefined} */
      const inTheWay = (top) => this.taken.find(([from, to]) =>
        from - scrollY < top + height + GAP && to - scrollY > top - GAP);
      let top = Math.max(least, Math.min(most, 0.55 * innerHeight));
      const first = inTheWay(top);
      if (first) {
        top = first[0] - scrollY - height - GAP - 1;
        if (top < least || inTheWay(top)) top = first[1] - scrollY + GAP + 1;
      }
      const isFree = top >= least && top <= most && !inTheWay(top);
      set(this.node, ".visibility", isFree ? "visible" : "hidden");
      set(this.node, ".top", `${Math.round(top)}px`);
    }

    /** @param {boolean} [isWanted] whether its passage is read while the strip is off the screen */
    show(isWanted = this.isWanted) {
      this.isWanted = isWanted;
      const isShown = isWanted && !this.isAway;
      if (isShown === this.isShown) return;
      this.isShown = isShown;
      this.node.hidden = !isShown;
      document.documentElement.classList.toggle("has-foot", isShown && !this.inMargin);
      if (!isShown) return;
      this.paint();
      this.stand();
    }

    // -- What it shows --

    /** The row and the head of what is pointed at, else those of the strip. */
    view() {
      const { state, strip } = this.explorer;
      const { row, head } = strip.view();
      const { at } = this;
      const asks = at && OF_QUERY.includes(at.stage);
      return { row: asks ? at.row : row, head: at?.head ?? head, order: state.order };
    }

    /** @param {Place | null} at what is pointed at */
    light(at) {
      this.at = at;
      if (this.isShown) this.paint();
    }

    paint() {
      if (!this.isShown) return;
      const { data, numbers } = this.explorer;
      const { row, head, order } = this.view();
      const token = data.tokens[order[row]];
      setText(this.title, fill(data.heads.length > 1 ? texts.ofHead : texts.asks,
        { token, head: data.heads[head] }));
      set(this.node, "data-head", head % 6);
      numbers.weights[head][row].forEach((/** @type {number} */ weight, /** @type {number} */ key) => {
        const one = this.rows[key];
        setText(one.token, data.tokens[order[key]]);
        setBar(one.bar, weight);
        setText(one.weight, `${shown(100 * weight, 0)} %`);
        const isLit = this.at && (this.at.column === key
          || (["key", "value"].includes(this.at.stage) && this.at.row === key));
        one.node.classList.toggle("lit", Boolean(isLit) && this.at?.stage !== "head_outputs");
      });
      const output = numbers.head_outputs[head][row];
      setText(this.result, output.length > 4 ? "" : `→ (${output.map((/** @type {number} */ x) =>
        short(x, 2)).join(", ")})`);
      setText(this.said, this.at ? `${this.explorer.nameOf(this.at)}: ${short(valueAt(numbers, this.at))}` : "");
    }

    /** @param {boolean} isChanged */
    mark(isChanged) {
      this.reset.hidden = !isChanged;
    }
  }

  Object.assign(window.mhaExplorer, { OF_QUERY, SmallStrip, address, placeOf });
})();
