/* What weights say about a plane of queries: where they are equal, and which query nearest to one
   gives a key the weight that is asked for. */
(function () {
  "use strict";

  const { factor, softmax } = window.mhaAttention;

  /** A plane is looked through in so many squares a side, and in so many directions. */
  const SQUARES = 32;
  const DIRECTIONS = 72;

  /** So far is looked for a query, with so many tries at most for where a number is zero, or
      roughly is, and so near to it; steps of Newton at most. */
  const FAR = 1e4;
  const TRIES = 90;
  const ROUGH = 8;
  const NOTHING = 1e-13;
  const STEPS = 40;

  /** The largest pull: a weight that it does not reach has no query. */
  const STRONGEST = 1e9;

  /** The pull of a weight, and of how a key's weight answers to a query.
      @type {(explorer: ExplorerView, head: number, row: number) => Weighed} */
  function weighing({ numbers, state }, head, row) {
    const keys = numbers.key[head];
    const by = factor(keys[0].length, state.scale, state.temperature);
    const added = numbers.mask[head][row];
    const weights = (/** @type {number[]} */ [x, y]) =>
      softmax([keys.map((key, i) => (x * key[0] + y * key[1]) * by + added[i])])[0];
    return { keys, by, added, weights };
  }

  /** The least of a function between two numbers, where it has one valley.
      @type {(f: (x: number) => number, low: number, high: number) => number} */
  function valley(f, low, high) {
    const golden = (Math.sqrt(5) - 1) / 2;
    let [a, b] = [low, high];
    let [left, right] = [b - golden * (b - a), a + golden * (b - a)];
    let [ofLeft, ofRight] = [f(left), f(right)];
    for (let i = 0; i < STEPS; i += 1) {
      if (ofLeft < ofRight) {
        [b, right, ofRight] = [right, left, ofLeft];
        left = b - golden * (b - a);
        ofLeft = f(left);
      } else {
        [a, left, ofLeft] = [left, right, ofRight];
        right = a + golden * (b - a);
        ofRight = f(right);
      }
    }
    return (a + b) / 2;
  }

  /** Where a rising function comes to zero: between two ends as a line through both has it, and from
      time to time in their middle.
      @type {(f: (x: number) => number, low: number, high: number, tries?: number) => number} */
  function first(f, low, high, tries = TRIES) {
    let [a, b, below, above] = [low, high, f(low), f(high)];
    let left = above;
    for (let i = 0; i < tries && left > NOTHING; i += 1) {
      const x = i % 3 === 2 ? (a + b) / 2 : (a * above - b * below) / (above - below);
      const now = f(x);
      // An end that stays counts half, so that the line comes nearer to it.
      if (now < 0) [a, below, above] = [x, now, above / 2];
      else [b, left, above, below] = [x, now, now, below / 2];
    }
    return b;
  }

  /** Less weight: out of the convex region of queries that give more, on the shortest way. Each
      direction leaves it once, or never.
      @type {(weighed: Weighed, key: number, wanted: number, start: number[]) => number[] | null} */
  function outOf({ weights }, key, wanted, start) {
    const at = (/** @type {number} */ turn, /** @type {number} */ way) =>
      [start[0] + way * Math.cos(turn), start[1] + way * Math.sin(turn)];
    let far = 0.1;
    const wayOut = (/** @type {number} */ turn, tries = TRIES) => {
      const lacking = (/** @type {number} */ way) => wanted - weights(at(turn, way))[key];
      // From a direction to the next it is about as far.
      if (far === FAR) far = 0.1;
      while (far < FAR && lacking(far) < 0) far *= 2;
      far = far < FAR ? first(lacking, 0, far, tries) : FAR;
      return far;
    };
    const turns = Array.from({ length: DIRECTIONS }, (_, i) => (2 * Math.PI * i) / DIRECTIONS);
    const ways = turns.map((turn) => wayOut(turn, ROUGH));
    const best = turns[ways.indexOf(Math.min(...ways))];
    const turn = valley(wayOut, best - turns[1], best + turns[1]);
    const way = wayOut(turn);
    return way < FAR ? at(turn, way) : null;
  }

  /** The query that a pull of some strength on a key's weight leads to: it balances the logarithm of
      the weight, which is concave, against the square of the way, by Newton's method.
      @type {(weighed: Weighed, key: number, start: number[], from: number[], pull: number) => number[]} */
  function pulled({ keys, by, weights }, key, start, from, pull) {
    const cost = (/** @type {number[]} */ [x, y]) =>
      ((x - start[0]) ** 2 + (y - start[1]) ** 2) / 2 - pull * Math.log(weights([x, y])[key]);
    let query = from;
    for (let i = 0; i < STEPS; i += 1) {
      const shares = weights(query);
      const sum = (/** @type {(key: number[]) => number} */ of) =>
        shares.reduce((/** @type {number} */ total, /** @type {number} */ share, /** @type {number} */ j) =>
          total + share * of(keys[j]), 0);
      const middle = [sum(([x]) => x), sum(([, y]) => y)];
      const [gx, gy] = [0, 1].map((axis) =>
        query[axis] - start[axis] - pull * by * (keys[key][axis] - middle[axis]));
      const spread = (/** @type {number} */ a, /** @type {number} */ b) => pull * by * by
        * sum((one) => (one[a] - middle[a]) * (one[b] - middle[b]));
      const [xx, xy, yy] = [1 + spread(0, 0), spread(0, 1), 1 + spread(1, 1)];
      const size = xx * yy - xy * xy;
      const step = [(yy * gx - xy * gy) / size, (xx * gy - xy * gx) / size];
      let part = 1;
      const now = cost(query);
      const next = () => [query[0] - part * step[0], query[1] - part * step[1]];
      while (part > 1e-6 && !(cost(next()) <= now)) part /= 2;
      query = next();
      if (Math.hypot(...step) * part < 1e-13 * (1 + Math.hypot(...query))) break;
    }
    return query;
  }

  /**
   * The query nearest to one that gives a key a weight, and the largest weight that any query comes
   * near to where none does.
   * @param {Weighed} weighed what `weighing` gives
   * @param {number} key
   * @param {number} wanted between 0 and 1
   * @param {number[]} start
   * @returns {{ query: number[] | null, most: number }}
   */
  function nearest(weighed, key, wanted, start) {
    const now = weighed.weights(start)[key];
    if (now === 0) return { query: null, most: 0 };
    if (now >= wanted) return { query: outOf(weighed, key, wanted, start), most: 1 };
    let [weak, strong, query] = [0, 1e-3, start];
    const reach = (/** @type {number} */ pull) => {
      query = pulled(weighed, key, start, query, pull);
      return weighed.weights(query)[key];
    };
    while (strong < STRONGEST && reach(strong) < wanted) [weak, strong] = [strong, 4 * strong];
    const most = weighed.weights(query)[key];
    if (most < wanted) return { query: null, most };
    const pull = first((middle) => reach(middle) - wanted, weak, strong);
    return { query: pulled(weighed, key, start, query, pull), most };
  }

  /**
   * Lines on which a key's weight is the same, for each level: in each small square of the plane such
   * a line crosses two of its sides, or four.
   * @param {Weighed} weighed
   * @param {number} key
   * @param {number[]} levels
   * @param {number[]} low corner of what is looked at
   * @param {number[]} high
   * @returns {number[][][][]}
   */
  function equalLines({ weights }, key, levels, low, high) {
    const along = (/** @type {number} */ axis, /** @type {number} */ i) =>
      low[axis] + ((high[axis] - low[axis]) * i) / SQUARES;
    const all = Array.from({ length: SQUARES + 1 }, (_, i) =>
      Array.from({ length: SQUARES + 1 }, (__, j) => weights([along(0, i), along(1, j)])[key]));
    const corners = [[0, 0], [1, 0], [1, 1], [0, 1]];
    return levels.map((level) => {
      /** @type {number[][][]} */
      const lines = [];
      const isOver = all.map((line) => line.map((weight) => weight >= level));
      for (let i = 0; i < SQUARES; i += 1) {
        for (let j = 0; j < SQUARES; j += 1) {
          const [one, next] = [isOver[i], isOver[i + 1]];
          if (one[j] === one[j + 1] && one[j] === next[j] && one[j] === next[j + 1]) continue;
          const here = corners.map(([a, b]) => all[i + a][j + b] - level);
          const crossed = corners.flatMap(([a, b], side) => {
            const [c, d] = corners[(side + 1) % 4];
            const [from, to] = [here[side], here[(side + 1) % 4]];
            if (from < 0 === to < 0) return [];
            const part = from / (from - to);
            return [[along(0, i + a + part * (c - a)), along(1, j + b + part * (d - b))]];
          });
          for (let side = 0; side + 1 < crossed.length; side += 2) lines.push(crossed.slice(side, side + 2));
        }
      }
      return lines;
    });
  }

  Object.assign(window.mhaExplorer, { equalLines, nearest, weighing });
})();
