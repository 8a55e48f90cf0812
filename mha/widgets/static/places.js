/* The address of one number of a run, as in mha/runs/places.py: a stage, and the indices that its
   array has, counted from 0. What stages there are comes from the registry, in stages.js. */
(function () {
  "use strict";

  /** @returns {Record<string, Stage>} */
  const stages = () => window.mhaStages;

  /**
   * Whether a stage is a projection matrix of the layer: its rows stand for components.
   * @param {string} stage
   * @returns {boolean}
   */
  const isMatrix = (stage) => !["places", "", undefined].includes(stages()[stage].rows);

  /**
   * Whether a row of a stage belongs to its place, whichever token stands there.
   * @param {string} stage
   * @returns {boolean}
   */
  const stays = (stage) => stages()[stage].rows === "places";

  /** @type {Axis[]} */
  const AXES = ["head", "row", "column"];

  /**
   * The place at an index of a stage's array.
   * @param {string} stage
   * @param {number[]} index one number for each axis of the array
   * @returns {Place}
   */
  function at(stage, ...index) {
    /** @type {any} */
    const place = { stage, head: null, row: null, column: null, term: null };
    stages()[stage].axes.forEach((axis, i) => { place[axis] = index[i]; });
    return place;
  }

  /**
   * The place with those of the indices that the stage has; the others are left out.
   * @param {string} stage
   * @param {number} head
   * @param {number} row
   * @param {number} column
   * @returns {Place}
   */
  function of(stage, head, row, column) {
    const given = { head, row, column };
    return at(stage, ...stages()[stage].axes.map((axis) => given[axis]));
  }

  /**
   * The index into the stage's array.
   * @param {Place} place
   * @returns {number[]}
   */
  const indexOf = (place) => AXES.map((axis) => place[axis]).filter((i) => i !== null);

  /**
   * A place as a text such as "weights.0.1.2", a term after a colon; `parse` reads it.
   * @param {Place} place
   * @returns {string}
   */
  function address(place) {
    const term = place.term === null ? "" : `:${place.term}`;
    return [place.stage, ...indexOf(place)].join(".") + term;
  }

  /**
   * The place that an address names, null where the text is none.
   * @param {string} text
   * @returns {Place | null}
   */
  function parse(text) {
    const found = /^([a-z_]+)((?:\.(?:0|[1-9]\d*))*)(?::(0|[1-9]\d*))?$/.exec(text);
    if (!found || !Object.hasOwn(stages(), found[1])) return null;
    const index = found[2].split(".").slice(1).map(Number);
    if (index.length !== stages()[found[1]].axes.length) return null;
    const place = at(found[1], ...index);
    if (found[3] !== undefined) place.term = Number(found[3]);
    return place;
  }

  /**
   * The number of a run, or of its inputs, that stands at a place.
   * @param {Numbers} numbers
   * @param {Place} place
   * @returns {number}
   * @throws {RangeError} where there is none.
   */
  function valueAt(numbers, place) {
    /** @type {any} */
    let value = place.term === null ? numbers[place.stage] : undefined;
    // A loop over `indexOf` would make an array for every number of a page.
    if (place.head !== null) value = value?.[place.head];
    if (place.row !== null) value = value?.[place.row];
    if (place.column !== null) value = value?.[place.column];
    if (typeof value !== "number") throw new RangeError(`there is no number ${address(place)}`);
    return value;
  }

  window.mhaPlaces = { address, at, indexOf, isMatrix, of, parse, stays, valueAt };
})();
