/* What an explorer shows in planes: a query among the keys, the values with the output among them,
   and what a matrix makes of the embeddings. Queries, keys, values, embeddings and a matrix's rows
   can be dragged, and a weight can be pulled to what it should be. */
(function () {
  "use strict";

  const { shown } = window.mhaNumbers;
  const { of: placeOf } = window.mhaPlaces;
  const { isGiven } = window.mhaOrigins;
  const { Choices, Plane, Sliders, coordinates, equalLines, fill, freshId, make, nearest, set, setText,
    weighing } = window.mhaExplorer;
  const texts = window.mhaStrings.explorer;

  /** The matrix that makes each kind of vector, and what its axes are called. */
  const MATRIX = /** @type {Record<string, string>} */ ({ query: "w_q", key: "w_k", value: "w_v" });

  /** How far the line of a query is drawn on both sides. */
  const FAR = 1e3;

  /** How long embeddings glide from one matrix to another, and how far a matrix's grid is drawn. */
  const GLIDE_MS = 500;
  const GRID = 12;

  /** Weights on whose lines queries stand, where lines are drawn. */
  const LEVELS = [0.5, 0.75, 0.9];

  /** An entry that a matrix gets by a hand on what it makes has so many decimals. */
  const DECIMALS = 8;

  const hasNoMotion = () => matchMedia("(prefers-reduced-motion: reduce)").matches;

  /** The corners of the polygon around points, in order.
      @type {(points: number[][]) => number[][]} */
  function hull(points) {
    const sorted = [...points].sort((a, b) => a[0] - b[0] || a[1] - b[1]);
    const turn = (/** @type {number[][]} */ [a, b, c]) =>
      (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]);
    const half = (/** @type {number[][]} */ those) => {
      /** @type {number[][]} */
      const corners = [];
      for (const point of those) {
        while (corners.length > 1 && turn([...corners.slice(-2), point]) <= 0) corners.pop();
        corners.push(point);
      }
      return corners.slice(0, -1);
    };
    return sorted.length < 3 ? sorted : [...half(sorted), ...half(sorted.reverse())];
  }

  /** @type {(explorer: ExplorerView, row: number) => string} */
  const tokenAt = ({ data, state }, row) => data.tokens[state.order[row]];

  /** What each token's vectors are made of, where they are made.
      @type {(explorer: ExplorerView) => Matrix | undefined} */
  const sources = ({ numbers }) => numbers.placed ?? numbers.embeddings;

  /** The changes of inputs that bring a token's vector to a point: of itself, or the least change of
      the matrix that makes it; null where its embedding is zero.
      @type {(explorer: ExplorerView, stage: string, head: number, row: number, point: number[]) =>
        [Place, number][] | null} */
  function changesTo(explorer, stage, head, row, point) {
    const { data } = explorer;
    const numbers = /** @type {Numbers} */ (explorer.numbers);
    if (isGiven(data.inputs, stage)) return point.map((x, i) => [placeOf(stage, head, row, i), x]);
    const x = /** @type {Matrix} */ (sources(explorer))[row];
    const square = x.reduce((sum, one) => sum + one * one, 0);
    if (!square) return null;
    const matrix = MATRIX[stage];
    return point.flatMap((wanted, column) => {
      const more = (wanted - numbers[stage][head][row][column]) / square;
      return x.flatMap((one, i) => (one ? [/** @type {[Place, number]} */ ([placeOf(matrix, head, i, column),
        Number((numbers[matrix][head][i][column] + more * one).toFixed(DECIMALS))])] : []));
    });
  }

  /** The tip of a token's vector, undefined where no hand can move it.
      @type {(explorer: ExplorerView, stage: string, head: number, row: number, look?: string) =>
        PlaneTip | undefined} */
  function tipOf(explorer, stage, head, row, look) {
    const { data } = explorer;
    if (!changesTo(explorer, stage, head, row, [0, 0])) return undefined;
    const name = fill(texts.planeVector[stage], { token: tokenAt(explorer, row) });
    return {
      name: data.heads.length > 1 ? fill(texts.ofHead, { place: name, head: data.heads[head] }) : name,
      look,
      move: (point) => explorer.editAll(changesTo(explorer, stage, head, row, point) ?? [],
        fill(texts.planeMoved, { name, at: coordinates(point) })),
    };
  }

  /** The query that is looked at.
      @type {(explorer: ExplorerView) => number} */
  const rowOf = ({ state }) => state.order.indexOf(state.query);

  /** A query among the keys, each key's foot on the query's line, and lines of equal weight.
      @type {(explorer: ExplorerView, plane: any, head: number, key: number | null) => void} */
  function paintMeeting(explorer, plane, head, key) {
    const { numbers } = explorer;
    const row = rowOf(explorer);
    const query = numbers.query[head][row];
    const square = query[0] ** 2 + query[1] ** 2;
    /** @type {PlaneMark[]} */
    const marks = [];
    if (square) {
      const far = FAR / Math.sqrt(square);
      marks.push({ kind: "line", name: "query-line",
        points: [[-far, far].map((by) => [by * query[0], by * query[1]])] });
    }
    numbers.key[head].forEach((/** @type {number[]} */ at, /** @type {number} */ i) => {
      const score = numbers.scores[head][row][i];
      if (square) {
        const foot = query.map((/** @type {number} */ x) => (x * score) / square);
        marks.push({ kind: "line", name: "foot-line", points: [[at, foot]] });
        marks.push({ kind: "point", name: "foot", at: foot, wide: 3.5 });
      }
      marks.push({ kind: "arrow", at, text: `${tokenAt(explorer, i)} ${coordinates(at)}`,
        tip: tipOf(explorer, "key", head, i) });
    });
    marks.push({ kind: "arrow", name: "main", at: query, text: `${texts.planeAsks} ${coordinates(query)}`,
      tip: tipOf(explorer, "query", head, row, "main") });
    plane.paint(marks, [], (/** @type {number[]} */ low, /** @type {number[]} */ high) =>
      (key === null ? [] : equalMarks(plane, weighing(explorer, head, row), key, query, low, high)));
  }

  /** Lines on which a query gives a key the same weight; a line's name is where it is nearest. No query
      moves them: they are looked for again when something else has changed.
      @type {(plane: any, weighed: Weighed, key: number, query: number[], low: number[], high: number[]) =>
        PlaneMark[]} */
  function equalMarks(plane, weighed, key, query, low, high) {
    const asked = JSON.stringify([weighed.keys, weighed.by, weighed.added, key, low, high]);
    if (asked !== plane.asked) {
      Object.assign(plane, { asked, lines: equalLines(weighed, key, LEVELS, low, high) });
    }
    const way = (/** @type {number[]} */ [x, y]) => Math.hypot(x - query[0], y - query[1]);
    return plane.lines.flatMap((/** @type {number[][][]} */ points, /** @type {number} */ level) => {
      if (!points.length) return [];
      const at = points.flat().reduce((best, point) => (way(point) < way(best) ? point : best));
      return [{ kind: "line", name: `equal level-${level}`, points },
        { kind: "text", at, from: query, name: "soft", text: `${100 * LEVELS[level]} %` }];
    });
  }

  /** The values, their polygon, and the output as what they pull it to.
      @type {(explorer: ExplorerView, plane: any, head: number) => void} */
  function paintMix(explorer, plane, head) {
    const { numbers } = explorer;
    const row = rowOf(explorer);
    const [values, weights] = [numbers.value[head], numbers.weights[head][row]];
    const output = numbers.head_outputs[head][row];
    const middle = [0, 1].map((axis) => values.reduce((sum, value) => sum + value[axis], 0) / values.length);
    plane.paint([
      { kind: "area", name: "hull", points: [hull(values)] },
      ...values.map((at, i) => ({ kind: "line", name: "pull", points: [[at, output]], wide: 1 + 14 * weights[i] })),
      ...values.map((at, i) => ({ kind: "point", at, from: middle, tip: tipOf(explorer, "value", head, i),
        text: `${tokenAt(explorer, i)} ${coordinates(at)}` })),
      { kind: "point", name: "main", at: output, from: middle, wide: 7,
        text: `${texts.outcome} ${coordinates(output)}` },
    ]);
  }

  /** What a matrix makes of the grid and of the embeddings.
      @type {(explorer: ExplorerView, plane: any, matrix: Matrix, stage: string, symbol: string,
        seen: number[][]) => void} */
  function paintMap(explorer, plane, matrix, stage, symbol, seen) {
    const by = (/** @type {number[]} */ [x, y]) =>
      [0, 1].map((column) => x * matrix[0][column] + y * matrix[1][column]);
    const steps = Array.from({ length: 2 * GRID + 1 }, (_, i) => i - GRID);
    const grid = steps.flatMap((i) => [[[i, -GRID], [i, GRID]], [[-GRID, i], [GRID, i]]]
      .map((line) => line.map(by)));
    const embeddings = /** @type {Matrix} */ (stage ? sources(explorer) : explorer.numbers.embeddings);
    /** @type {PlaneMark[]} */
    const rows = stage ? matrix.map((at, i) => ({ kind: "arrow", name: `row-${i}`, at,
      text: `${i ? "(0, 1)" : "(1, 0)"} → ${coordinates(at)}`,
      tip: { name: fill(texts.planeRow, { row: i + 1, matrix: symbol }), look: "row",
        move: (/** @type {number[]} */ point) => explorer.editAll(point.map((x, column) =>
          /** @type {[Place, number]} */ ([placeOf(stage, 0, i, column), x]))) } })) : [];
    plane.paint([
      { kind: "line", name: "sheared", points: grid },
      ...rows,
      ...embeddings.map((x, i) => ({ kind: "point", at: by(x), name: i === rowOf(explorer) ? "main" : "",
        text: `${tokenAt(explorer, i)} ${coordinates(by(x))}`,
        tip: stage ? undefined : {
          name: fill(texts.planeVector.embeddings, { token: tokenAt(explorer, i) }),
          move: (/** @type {number[]} */ point) => explorer.editAll(point.map((one, column) =>
            /** @type {[Place, number]} */ ([placeOf("embeddings", 0, i, column), one]))) } })),
    ], seen);
  }

  /** The weights of a query, each to be pulled: the query goes the shortest way to one that gives it. */
  class Pulls {
    /** @param {ExplorerView} explorer
        @param {number} head
        @param {(key: number) => void} look at the lines of a key
        @param {(text: string) => void} say what a pull has come to */
    constructor(explorer, head, look, say) {
      this.explorer = explorer;
      this.head = head;
      this.look = look;
      this.say = say;
      /** The key whose bar is in a hand. @type {number | null} */
      this.pulling = null;
      /** Where the query stood when a hand took the bar. @type {number[] | null} */
      this.start = null;
      this.rows = explorer.data.tokens.map((_, key) => {
        const input = make("input", { type: "range", id: freshId(), min: 0, max: 100, step: 1,
          oninput: () => this.pull(key, Number(input.value) / 100), onchange: () => this.release() });
        const [token, number] = [make("i"), make("span")];
        return { input, token, number,
          node: make("li", {}, make("label", { htmlFor: input.id }, token), input, number) };
      });
      this.node = make("div", { className: "pulls" }, make("p", { className: "soft" }, texts.planePull),
        make("ul", {}, ...this.rows.map(({ node }) => node)));
    }

    release() {
      this.start = null;
      this.pulling = null;
      this.paint();
    }

    /** @param {number} key
        @param {number} wanted */
    pull(key, wanted) {
      const { explorer, head } = this;
      const row = rowOf(explorer);
      this.pulling = key;
      this.start ??= explorer.numbers.query[head][row];
      const start = /** @type {number[]} */ (this.start);
      const weighed = weighing(explorer, head, row);
      const words = { token: tokenAt(explorer, row), key: tokenAt(explorer, key), share: `${Math.round(100 * wanted)} %` };
      const { query, most } = nearest(weighed, key, wanted, start);
      const point = query?.map((x) => Number(x.toFixed(4)));
      const changes = point && changesTo(explorer, "query", head, row, point);
      this.look(key);
      if (point && changes) explorer.editAll(changes);
      const way = point ? Math.hypot(point[0] - start[0], point[1] - start[1]) : 0;
      const text = !point
        ? fill(wanted === 0 || wanted === 1 ? texts.planeNever : texts.planeNone,
          { ...words, most: `${shown(Math.ceil(1000 * most - 1e-6) / 10, 1)} %` })
        : changes ? fill(texts.planeWay, { ...words, from: coordinates(start), to: coordinates(point), way: shown(way, 2) })
          : texts.planeFixed;
      this.say(text);
      if (!point || !changes) {
        explorer.say(text);
        this.paint();
      }
    }

    paint() {
      const { explorer, head } = this;
      const row = rowOf(explorer);
      explorer.numbers.weights[head][row].forEach((/** @type {number} */ weight, /** @type {number} */ key) => {
        const { input, token, number } = this.rows[key];
        setText(token, tokenAt(explorer, key));
        setText(number, `${shown(100 * weight, 1)} %`);
        set(input, "aria-valuetext", `${shown(100 * weight, 1)} %`);
        set(input, ".backgroundSize", `calc(0.375rem + ${weight.toFixed(4)} * (100% - 0.75rem)) 100%`);
        if (this.pulling !== key) input.value = String(100 * weight);
      });
    }
  }

  class PlaneView {
    /** @param {ExplorerView} explorer */
    constructor(explorer) {
      this.explorer = explorer;
      const { data, numbers } = explorer;
      const heads = data.heads.length;
      const isMapped = heads === 1 && numbers.embeddings?.[0].length === 2;
      /** What the map shows: the embeddings as they are, or through a matrix. */
      this.through = "";
      /** The key whose lines of equal weight are drawn. @type {number | null} */
      this.key = null;
      const plane = (/** @type {string} */ title, /** @type {string[]} */ names) =>
        new Plane({ title, names, changed: (tip) => this.sliders.paint(tip) });
      const axes = data.axes ?? texts.planeAxes.w_v;
      this.axes = data.axes ?? texts.planeAxes[""];
      this.map = isMapped ? plane("", this.axes) : null;
      this.meetings = (heads === 2 ? [0, 1] : [0]).map((head) =>
        plane(heads === 2 ? fill(texts.planeHead, { head: data.heads[head] }) : texts.planeKeys, texts.planeAxes.both));
      this.mix = heads === 2 ? null : plane(texts.planeValues, axes);
      this.says = make("p", { className: "says-plane" });
      /** The numbers for which it says so. @type {any} */
      this.told = null;
      this.pulls = this.meetings.map((_, i) => new Pulls(explorer, i, (key) => { this.key = key; },
        (text) => { this.told = null; setText(this.says, text); }));
      this.planes = [...(this.map ? [this.map] : []), ...this.meetings, ...(this.mix ? [this.mix] : [])];
      this.sliders = new Sliders(() => this.planes.filter(({ node }) => !node.hidden));
      this.map?.caption.replaceChildren(this.choose());
      this.node = make("div", { className: "planes" },
        make("div", { className: "two" }, ...this.planes.map(({ node }) => node)),
        make("div", { className: "hands" }, ...this.pulls.map(({ node }) => node),
          this.says),
        this.sliders.node);
    }

    /** The embeddings as they are, or what a matrix makes of them. */
    choose() {
      const choices = new Choices(this.explorer);
      const stages = ["", "w_q", "w_k", "w_v"];
      const nodes = choices.radios("through", texts.planeThrough, (i) => {
        this.glide(this.matrix(this.through), this.matrix(stages[i]));
        this.through = stages[i];
        this.paint();
      }, () => stages.indexOf(this.through));
      choices.sync(this.explorer.state);
      return make("div", { className: "through", role: "group", "aria-label": texts.planeChoose }, ...nodes);
    }

    /** @param {string} stage @returns {Matrix} */
    matrix(stage) {
      return stage ? /** @type {Numbers} */ (this.explorer.numbers)[stage][0] : [[1, 0], [0, 1]];
    }

    /** Let embeddings and grid move from one matrix to another.
        @param {Matrix} from @param {Matrix} to */
    glide(from, to) {
      if (hasNoMotion()) return;
      const begun = performance.now();
      const step = () => {
        const part = Math.min(1, (performance.now() - begun) / GLIDE_MS);
        const eased = part * part * (3 - 2 * part);
        this.between = part < 1
          ? from.map((line, i) => line.map((x, j) => x + eased * (to[i][j] - x))) : null;
        this.paint();
        if (part < 1) requestAnimationFrame(step);
      };
      this.between = from;
      requestAnimationFrame(step);
    }

    paint() {
      const { explorer, map, mix, meetings } = this;
      const { focus } = explorer.state;
      const heads = explorer.data.heads.length;
      const shownHeads = heads === 2 ? [0, 1] : [focus];
      set(this.node, "class", `planes head-${focus % 6}`);
      if (map && mix) {
        const all = ["", "w_q", "w_k", "w_v"].flatMap((stage) => this.throughAll(stage));
        map.names = this.through ? texts.planeAxes[this.through] : this.axes;
        paintMap(explorer, map, this.between ?? this.matrix(this.through), this.through,
          texts.planeSymbol[this.through], all);
        const isMixed = this.through === "w_v";
        if (mix.node.hidden === isMixed) [meetings[0].node.hidden, mix.node.hidden] = [isMixed, !isMixed];
      }
      meetings.forEach((plane, i) => {
        set(plane.node, "class", `plane head-${shownHeads[i] % 6}`);
        if (!plane.node.hidden) paintMeeting(explorer, plane, shownHeads[i], this.key);
      });
      if (mix && !mix.node.hidden) paintMix(explorer, mix, focus);
      this.pulls.forEach((pulls, i) => {
        pulls.head = shownHeads[i];
        set(pulls.node, "class", `pulls head-${shownHeads[i] % 6}`);
        pulls.paint();
      });
      this.sliders.paint();
      // What a pull has come to holds until the next change.
      if (this.told && this.told !== explorer.numbers) setText(this.says, "");
      this.told ??= explorer.numbers;
    }

    /** Where the embeddings and the rows of a matrix stand: the map has room for all of them.
        @param {string} stage */
    throughAll(stage) {
      const matrix = this.matrix(stage);
      const embeddings = /** @type {Matrix} */ (sources(this.explorer));
      return [...matrix, ...embeddings.map(([x, y]) =>
        [0, 1].map((column) => x * matrix[0][column] + y * matrix[1][column]))];
    }
  }

  Object.assign(window.mhaExplorer, { paintMeeting });
  window.mhaExplorer.views = { ...window.mhaExplorer.views, plane: PlaneView };
})();
