/* The dial: each pair of a query and of the keys as arrows, turned by their positions. The angle of a
   position and the position of the first word are under the hand. */
(function () {
  "use strict";

  const { short } = window.mhaNumbers;
  const { of: placeOf } = window.mhaPlaces;
  const { Plane, coordinates, fill, make, makeChoice, makeSlider, setBar, setText } = window.mhaExplorer;
  const texts = window.mhaStrings.explorer;

  /** The sliders: degrees on both sides, and how late a text may begin. */
  const TURN = 180;
  const LATEST = 20;

  const degrees = (/** @type {number} */ angle) => (angle * TURN) / Math.PI;
  const radians = (/** @type {number} */ angle) => (angle * Math.PI) / TURN;

  class Dial {
    /** @param {ExplorerView} explorer */
    constructor(explorer) {
      this.explorer = explorer;
      const pairs = /** @type {Matrix} */ (explorer.numbers.angles)[0].map((_, pair) => pair);
      /** The position of the first word, which no angle tells while nothing is turned. */
      this.first = 0;
      /** The pair whose angle the slider has, and whether all others go with it. */
      this.pair = 0;
      this.planes = pairs.map((pair) => new Plane({
        title: fill(texts.dialPair, { first: 2 * pair + 1, second: 2 * pair + 2 }),
        names: [`${2 * pair + 1}`, `${2 * pair + 2}`].map((i) => fill(texts.dialAxis, { i })),
        changed: () => { this.pair = pair; this.paint(); },
      }));
      this.alike = makeChoice("checkbox", "", texts.dialAlike, () => this.turnTo(this.angles()[this.pair]));
      this.alike.input.checked = new Set(this.angles()).size === 1;
      this.angle = makeSlider({ label: texts.dialAngle, act: (value) => this.turnTo(value),
        properties: { min: -TURN, max: TURN, step: 1 } });
      this.start = makeSlider({ label: texts.dialFirst, properties: { min: 0, max: LATEST, step: 1 },
        act: (value) => { this.first = value; this.write(this.angles()); } });
      this.bars = explorer.data.tokens.map(() => {
        const [token, bar, number] = [make("i"), make("span"), make("span")];
        return { token, bar, number, node: make("li", {}, token, make("span", { className: "bar" }, bar), number) };
      });
      this.node = make("div", { className: "planes dial head-0" },
        make("div", { className: "two" }, ...this.planes.map(({ node }) => node)),
        make("div", { className: "hands" },
          make("div", { className: "sliders" }, this.angle.node, this.start.node, this.alike.node),
          make("div", { className: "temperature-bars" }, make("ul", {}, ...this.bars.map(({ node }) => node)))));
    }

    /** How far each pair turns for one position, in degrees. @returns {number[]} */
    angles() {
      const { angles: [first, second = first] } = /** @type {{ angles: Matrix }} */ (this.explorer.numbers);
      return first.map((angle, pair) => Number(degrees(second[pair] - angle).toFixed(6)));
    }

    /** Turn the pair that is looked at, or all, by so many degrees for a position.
        @param {number} angle */
    turnTo(angle) {
      const isAlike = this.alike.input.checked;
      this.write(this.angles().map((old, pair) => (isAlike || pair === this.pair ? angle : old)));
    }

    /** @param {number[]} angles in degrees, a pair each */
    write(angles) {
      const { data } = this.explorer;
      this.explorer.editAll(data.tokens.flatMap((_, row) => angles.map((angle, pair) =>
        /** @type {[Place, number]} */ ([placeOf("angles", 0, row, pair), radians(angle) * (this.first + row)]))),
      fill(texts.dialTurned, { angle: short(angles[this.pair], 1), first: this.first }));
    }

    /** The tip of a key that has been turned: on a circle around zero, so far as its position turns it.
        @type {(pair: number, row: number, turned: number[]) => PlaneTip | undefined} */
    tip(pair, row, turned) {
      const { data, state } = this.explorer;
      if (!(this.first + row) || !Math.hypot(...turned)) return undefined;
      return { name: fill(texts.dialTip, { token: data.tokens[state.order[row]] }), look: "turns",
        move: (point) => {
          this.pair = pair;
          const way = degrees(Math.atan2(point[1], point[0]) - Math.atan2(turned[1], turned[0]));
          const short_ = ((way + 3 * TURN) % (2 * TURN)) - TURN;
          this.turnTo(Math.round(this.angles()[pair] + short_ / (this.first + row)));
        } };
    }

    paint() {
      const { explorer, planes } = this;
      const { data, numbers, state } = explorer;
      const row = state.order.indexOf(state.query);
      const head = state.focus;
      const angles = this.angles();
      const start = angles.findIndex((angle) => angle);
      if (start >= 0) {
        this.first = Math.round(degrees(/** @type {Matrix} */ (numbers.angles)[0][start]) / angles[start]);
      }
      planes.forEach((plane, pair) => {
        const of = (/** @type {Matrix} */ rows, /** @type {number} */ i) => rows[i].slice(2 * pair, 2 * pair + 2);
        const { key, turned_key, turned_query } = /** @type {any} */ (numbers);
        /** @type {PlaneMark[]} */
        const marks = data.tokens.flatMap((_, i) => {
          const [before, at] = [of(key[head], i), of(turned_key[head], i)];
          const token = data.tokens[state.order[i]];
          return [{ kind: "arrow", name: "ghost", at: before },
            { kind: "arrow", at, text: `${token} ${coordinates(at)}`, tip: this.tip(pair, i, at) }];
        });
        const at = of(turned_query[head], row);
        marks.push({ kind: "arrow", name: "main", at, text: `${texts.planeAsks} ${coordinates(at)}` });
        const long = Math.max(...key[head].map((/** @type {number[]} */ one) => Math.hypot(...one.slice(2 * pair, 2 * pair + 2))));
        plane.paint(marks, [[-long, -long], [long, long]]);
      });
      this.angle.show(angles[this.pair], `${short(angles[this.pair], 1)}°`);
      this.start.show(this.first, String(this.first));
      numbers.weights[head][row].forEach((/** @type {number} */ weight, /** @type {number} */ i) => {
        setText(this.bars[i].token, data.tokens[state.order[i]]);
        setText(this.bars[i].number, short(weight, 4));
        setBar(this.bars[i].bar, weight);
      });
    }
  }

  window.mhaExplorer.views = { ...window.mhaExplorer.views, dial: Dial };
})();
