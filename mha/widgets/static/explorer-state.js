/* The explorer's state: all that a reader can change, and the numbers that follow from it.
   Tokens and edits are counted as at first, whatever order the tokens stand in. */
(function () {
  "use strict";

  const { address, indexOf, isMatrix, parse, stays, valueAt } = window.mhaPlaces;
  const { isGiven } = window.mhaOrigins;
  const { fill } = window.mhaExplorer;
  const stages = window.mhaStages;
  const texts = window.mhaStrings.explorer;

  /** The stages that maps show: a row a query, a column a key. */
  const MAPS = Object.keys(stages)
    .filter((name) => stages[name].columns === "keys" && !stages[name].quotes);

  /**
   * The state in which an explorer starts.
   * @param {ExplorerData} data
   * @returns {ExplorerState}
   */
  function startOf(data) {
    return {
      edits: {}, pins: {}, scale: data.scale, temperature: 1, causal: data.isCausal,
      padding: data.tokens.map(() => false), order: data.tokens.map((_, i) => i),
      off: data.heads.map(() => false),
      query: data.focus ?? 0, focus: 0, component: 0, outcome: 0,
      map: "weights", prints: false, selected: null, step: null,
    };
  }

  // ---- Names ----

  /** @type {(symbol: string, i: number) => string} */
  const dimension = (symbol, i) => symbol + [...String(i + 1)].map((d) => "₀₁₂₃₄₅₆₇₈₉"[+d]).join("");

  /**
   * What a number is called: its stage, row and column, and its head where there are several.
   * @param {ExplorerData} data
   * @param {ExplorerState} state
   * @param {Place} at
   * @returns {string}
   */
  function nameOf(data, state, at) {
    const { rows, columns, symbol } = stages[at.stage];
    const token = (/** @type {number} */ i) => data.tokens[state.order[i]];
    const words = {
      row: isMatrix(at.stage) ? dimension(rows ?? "", at.row) : token(at.row),
      column: columns === "keys" ? token(at.column) : dimension(symbol, at.column),
      part: at.term === null ? "" : token(at.term),
    };
    const name = fill(at.term === null ? texts.places[at.stage] : texts.places.part, words);
    if (at.head === null || data.heads.length === 1) return name;
    return fill(texts.ofHead, { place: name, head: data.heads[at.head] });
  }

  /**
   * The place that a text names, null where the run has no such number.
   * @param {Numbers} numbers
   * @param {string} text
   * @returns {Place | null}
   */
  function placeIn(numbers, text) {
    const at = parse(text);
    try {
      if (at) valueAt(numbers, at);
    } catch {
      return null;
    }
    return at;
  }

  /** @type {(left: unknown, right: unknown) => boolean} */
  const same = (left, right) => JSON.stringify(left) === JSON.stringify(right);

  /** @type {(keyof ExplorerState)[]} */
  const RESULTS = ["edits", "scale", "temperature", "causal", "padding", "order", "off"];

  /**
   * Whether any number may differ from the first ones.
   * @param {ExplorerState} state
   * @param {ExplorerState} start
   */
  const isChanged = (state, start) => RESULTS.some((key) => !same(state[key], start[key]));

  /**
   * Whether a number is one that the example starts from.
   * @param {ExplorerData} data
   * @param {Place} at
   */
  const isInput = (data, at) => isGiven(data.inputs, at.stage);

  /** Whether the rows of an input move with the tokens.
      @type {(stage: string) => boolean} */
  const ofTokens = (stage) => !isMatrix(stage) && !stays(stage);

  /**
   * The address of an input whatever the order of the tokens.
   * @param {ExplorerData} data
   * @param {ExplorerState} state
   * @param {Place} at
   * @returns {string}
   */
  function inputAddress(data, state, at) {
    const moves = isInput(data, at) && ofTokens(at.stage);
    return address(moves ? { ...at, row: state.order[at.row] } : at);
  }

  /** @type {(inputs: Inputs, edits: Record<string, number>) => Numbers} */
  function withEdits(inputs, edits) {
    /** @type {Numbers} */
    const copy = structuredClone(inputs);
    for (const [where, value] of Object.entries(edits)) {
      /** @type {any} */
      const at = parse(where);
      const [last, ...index] = indexOf(at).reverse();
      index.reduceRight((array, i) => array[i], copy[at.stage])[last] = value;
    }
    return copy;
  }

  /**
   * Inputs and results of a state, tokens in its order; `inputs` has what the run started from.
   * @param {ExplorerData} data
   * @param {ExplorerState} state
   * @returns {ExplorerNumbers}
   */
  function compute(data, state) {
    const arrays = withEdits(data.inputs, state.edits);
    const ordered = (/** @type {Matrix} */ rows) => state.order.map((i) => rows[i]);
    for (const stage of Object.keys(arrays).filter(ofTokens)) {
      const perHead = stages[stage].axes.includes("head");
      arrays[stage] = perHead ? arrays[stage].map(ordered) : ordered(arrays[stage]);
    }
    const inputs = {
      ...arrays, block: data.block, masks: data.masks, isCausal: state.causal, scale: state.scale,
      temperature: state.temperature, headOff: state.off,
      keyAllowed: state.order.map((i) => !state.padding[i]),
    };
    return { ...arrays, ...window.mhaAttention.trace(inputs), inputs };
  }

  /**
   * The head that a number belongs to; in what joins the heads, the one whose part it stands in.
   * @param {Place} at
   * @param {number} width of a head's output
   * @returns {number | null}
   */
  function headOf(at, width) {
    const { joined } = stages[at.stage];
    return joined ? Math.floor(at[joined] / width) : at.head;
  }

  Object.assign(window.mhaExplorer, {
    MAPS, RESULTS, compute, dimension, headOf, inputAddress, isChanged, isInput, nameOf, placeIn, same,
    startOf,
  });
})();
