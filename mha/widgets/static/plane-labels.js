/* Where names stand in a plane: beside what they name, or on their line, where they cover least of
   arrows, lines, axes, numbers, tips and of each other. The same drawing has the same places. */
(function () {
  "use strict";

  /** How wide letters are, in pixels, and how high a line is. */
  const LETTER = { narrow: 4.2, wide: 11.5, usual: 7.4 };
  const LINE = 17;

  /** So far from what it names a name stands: near, or where there is no room, less near. */
  const GAPS = [11, 25];

  /** What is farther than its length and this from a name is out of its reach. */
  const FAR = 30;

  /** What it costs: a pixel out of sight; a square pixel on a number, a tip or another name; to stand
      less near; a pixel away from the best place on a line; to stand on the side that an arrow comes from; to leave one's place while a
      hand is on the plane. */
  const COST = { hidden: 60, box: 3, gap: 90, away: 0.15, side: 25, leave: 80 };

  /** A line that a name may stand on is looked at in so many places. */
  const STOPS = 20;

  /** @param {string} text */
  function widthOf(text) {
    const [narrow, wide] = [/[(),. ijlrft'|]/g, /[mw%]/g].map((some) => text.match(some)?.length ?? 0);
    return LETTER.narrow * narrow + LETTER.wide * wide + LETTER.usual * (text.length - narrow - wide);
  }

  /** Whether a line's surroundings and a box have anything in common.
      @type {(line: number[], box: number[]) => boolean} */
  const isNear = (line, box) =>
    Math.max(line[0], line[2]) >= box[0] && Math.min(line[0], line[2]) <= box[2]
      && Math.max(line[1], line[3]) >= box[1] && Math.min(line[1], line[3]) <= box[3];

  /** How much of a line lies in a box. @type {(line: number[], box: number[]) => number} */
  function lengthIn(line, box) {
    if (!isNear(line, box)) return 0;
    const [right, down] = [line[2] - line[0], line[3] - line[1]];
    let [from, to] = [0, 1];
    for (let axis = 0; axis < 2; axis += 1) {
      const way = axis ? down : right;
      if (!way) continue; // and so between both ends all along
      const [low, high] = [(box[axis] - line[axis]) / way, (box[axis + 2] - line[axis]) / way];
      from = Math.max(from, Math.min(low, high));
      to = Math.min(to, Math.max(low, high));
    }
    return Math.max(0, to - from) * Math.hypot(right, down);
  }

  /** How much two boxes have in common. @type {(one: number[], other: number[]) => number} */
  const shared = (one, other) =>
    Math.max(0, Math.min(one[2], other[2]) - Math.max(one[0], other[0]))
      * Math.max(0, Math.min(one[3], other[3]) - Math.max(one[1], other[1]));

  /** The middles at which a name may stand, each with what it costs in itself.
      @type {(name: PlaneName) => { middle: number[], cost: number }[]} */
  function candidates({ at: [x, y], from, along, size: [long, high] }) {
    const away = (/** @type {number[]} */ middle) => Math.hypot(middle[0] - x, middle[1] - y);
    if (along) {
      const every = Math.max(1, Math.ceil(along.length / STOPS));
      return along.filter((_, i) => i % every === 0)
        .map((middle) => ({ middle, cost: COST.away * away(middle) }));
    }
    const length = Math.hypot(x - from[0], y - from[1]) || 1;
    const out = [(x - from[0]) / length, (y - from[1]) / length];
    const half = [0, -0.5, 0.5, -0.75, 0.75, -1, 1];
    const places = [...half.map((part) => [1, part]), ...half.map((part) => [-1, part]),
      ...[0, 0.5, -0.5].flatMap((part) => [[part, -1], [part, 1]])];
    return GAPS.flatMap((gap, far) => places.map(([right, down]) => ({
      middle: [x + right * (long / 2 + gap), y + down * (high / 2 + gap)],
      cost: COST.gap * far - (COST.side * (right * out[0] + down * out[1])) / Math.hypot(right, down),
    })));
  }

  /**
   * Place names, the first ones first, and each once more when all others stand.
   * @param {PlaneName[]} names
   * @param {{ lines: PlaneLine[], boxes: number[][], size: number[] }} drawn what they may cover
   * @param {number[]} kept which candidate each had, where it should stay at its place
   * @returns {{ middles: number[][], chosen: number[] }}
   */
  function placed(names, { lines, boxes, size: [width, height] }, kept) {
    /** @type {(name: PlaneName, near: PlaneLine[], middle: number[], cost: number, isKept: boolean) =>
          { middle: number[], box: number[], cost: number }} */
    const costOf = ({ owner: own, size: [long, high] }, near, middle, cost, isKept) => {
      const [x, y] = middle;
      const box = [x - long / 2, y - high / 2, x + long / 2, y + high / 2];
      const around = [box[0] - 3, box[1] - 3, box[2] + 3, box[3] + 3];
      let sum = cost - (isKept ? COST.leave : 0)
        + COST.hidden * Math.max(0, 2 - box[0], box[2] + 2 - width, 2 - box[1], box[3] + 2 - height);
      for (const one of boxes) sum += COST.box * shared(box, one);
      for (const { line, weight, owner } of near) {
        if (owner !== own) sum += weight * lengthIn(line, around);
      }
      return { middle, box, cost: sum };
    };
    const all = names.map((name, i) => {
      const { at: [x, y], along, size: [long, high] } = name;
      const reach = [x - long - FAR, y - high - FAR, x + long + FAR, y + high + FAR];
      const near = along ? lines : lines.filter(({ line }) => isNear(line, reach));
      return candidates(name).map(({ middle, cost }, choice) =>
        costOf(name, near, middle, cost, kept[i] === choice));
    });
    /** @type {number[]} */
    const chosen = [];
    for (let round = 0; round < 2; round += 1) {
      all.forEach((places, i) => {
        const costs = places.map(({ box, cost }) => chosen.reduce((sum, choice, other) =>
          (other === i ? sum : sum + COST.box * shared(box, all[other][choice].box)), cost));
        chosen[i] = costs.indexOf(Math.min(...costs));
      });
    }
    return { chosen, middles: all.map((places, i) => places[chosen[i]].middle) };
  }

  Object.assign(window.mhaExplorer, { LINE, placed, widthOf });
})();
