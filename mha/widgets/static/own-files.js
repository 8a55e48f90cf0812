/* What a reader takes along of an example: the data file of the book, and a notebook. */
(function () {
  "use strict";

  const { fill, make } = window.mhaExplorer;
  const { factor } = window.mhaAttention;
  const { isMatrix, parse, stays } = window.mhaPlaces;
  const texts = window.mhaStrings.own;

  /**
   * An example as a reader has made it, its changes and settings among its data: what an explorer
   * could start from. Heads that are off are on again.
   * @param {any} explorer
   * @returns {ExplorerData}
   */
  function taken({ data, state }) {
    const { causal, order, padding, scale, temperature } = state;
    /** @type {any} */
    const inputs = structuredClone(data.inputs);
    for (const [where, value] of Object.entries(state.edits)) {
      /** @type {any} */
      const { stage, head, row, column } = parse(where);
      (head === null ? inputs[stage] : inputs[stage][head])[row][column] = value;
    }
    const ordered = (/** @type {any[]} */ rows) => order.map((/** @type {number} */ i) => rows[i]);
    for (const stage of Object.keys(inputs)) {
      if (!isMatrix(stage) && !stays(stage)) inputs[stage] = ordered(inputs[stage]);
    }
    const allowed = ordered(padding).map((/** @type {boolean} */ is) => !is);
    const isMasked = padding.includes(true);
    return {
      ...data, inputs, tokens: ordered(data.tokens), focus: order.indexOf(state.query),
      isCausal: causal,
      masks: isMasked ? data.heads.map(() => order.map(() => allowed)) : null,
      scale: scale === null && temperature === 1 ? null : factor(data.keyWidth, scale, temperature),
    };
  }

  /** A name that a data file of the book may have. @param {string[]} words */
  const nameOf = (words) => words.join(" ").normalize("NFKD").toLowerCase()
    .replace(/[^a-z0-9]+/g, "-").replace(/^-|-$/g, "").slice(0, 40).replace(/-$/, "") || "own";

  /** An array, a row a line. @param {unknown[]} rows */
  const lines = (rows) => ["[", ...rows.map((row) =>
    `  ${JSON.stringify(row).replace(/,(?=[^\]])/g, ", ")},`), "]"].join("\n");

  /** @param {ExplorerData} example @param {number} seed */
  function toml(example, seed) {
    const { tokens, heads, focus, inputs, isCausal, masks, scale } = example;
    const { embeddings = [], positions, w_q = [], w_k = [], w_v = [], w_o } = inputs;
    /** @type {[string, any][]} */
    const entries = [
      ["title", JSON.stringify(tokens.join(" "))],
      ["source", JSON.stringify(texts.source.replace("{seed}", String(seed)))],
      ["shows", JSON.stringify(texts.shows)],
      ["tokens", `[${tokens.map((token) => JSON.stringify(token)).join(", ")}]`],
      ["focus", focus],
      ["is_causal", isCausal || null],
      ["scale", scale],
      ["mask", masks && lines(masks[0])],
      ["embeddings", lines(embeddings)],
      ["positions", positions && lines(positions)],
      ["w_o", w_o && lines(w_o)],
    ];
    const top = entries.filter(([, value]) => value !== null && value !== undefined)
      .map(([name, value]) => `${name} = ${value}`);
    const each = heads.map((name, i) => ["", "[[heads]]", `name = ${JSON.stringify(name)}`,
      `w_q = ${lines(w_q[i])}`, `w_k = ${lines(w_k[i])}`, `w_v = ${lines(w_v[i])}`]);
    return `${[...top, ...each.flat()].join("\n")}\n`;
  }

  /** @param {ExplorerData} example @param {number} seed
      @param {string} wheel what installs the package: its address, or the file's name */
  function notebook(example, seed, wheel) {
    const { tokens, heads, focus, inputs, isCausal, masks, scale } = example;
    const { embeddings = [], positions, w_q = [], w_k = [], w_v = [], w_o } = inputs;
    const array = (/** @type {string} */ name, /** @type {any} */ value) =>
      (value ? [`${name} = np.array(${lines(value)})`] : []);
    const mask = !masks ? []
      : [`mask = np.array(${lines(masks[0].map((row) => row.map(Number)))}, dtype=bool)`];
    const parts = [
      `name="${nameOf(tokens)}", title=${JSON.stringify(tokens.join(" "))},`,
      `tokens=${JSON.stringify(tokens)}, focus=${focus},`,
      `head_names=${JSON.stringify(heads)},`,
      `source=${JSON.stringify(texts.source.replace("{seed}", String(seed)))},`,
      `embeddings=embeddings, layer=MultiHeadWeights(w_q, w_k, w_v${w_o ? ", w_o" : ""}),`,
      ...(positions ? ["positions=positions,"] : []),
      ...(masks ? ["mask=mask,"] : []),
      ...(isCausal ? ["is_causal=True,"] : []),
      ...(scale === null ? [] : [`scale=${scale},`]),
    ];
    const cells = [
      ["markdown", ["# " + tokens.join(" ").replace(/(?=[^\p{L}\p{N} ])/gu, "\\"), "",
        wheel.includes("/") ? texts.installs : fill(texts.installsBeside, { wheel })]],
      ["code", [`%pip install -q ${wheel}`]],
      ["code", ["import numpy as np", "from mha import MultiHeadWeights, WorkedExample, arithmetic, explorer, trace",
        "from mha.views.walkthrough import walkthrough"]],
      ["code", [...array("embeddings", embeddings), ...array("positions", positions), ...mask,
        ...array("w_q", w_q), ...array("w_k", w_k), ...array("w_v", w_v), ...array("w_o", w_o)]],
      ["code", ["example = WorkedExample(", ...parts.map((part) => `    ${part}`), ")",
        "run = trace(example)", "explorer(run)"]],
      ["code", ["for item in walkthrough(run):", "    display(item)"]],
      ["code", [`print(arithmetic(run, "scores", ${focus}, 0))`]],
    ].map(([kind, source], i) => ({
      cell_type: kind, id: `cell-${i}`, metadata: {}, source: /** @type {string[]} */ (source).join("\n"),
      ...(kind === "code" && { execution_count: null, outputs: [] }),
    }));
    const kernel = { display_name: "Python 3", language: "python", name: "python3" };
    return `${JSON.stringify({ cells, metadata: { kernelspec: kernel }, nbformat: 4, nbformat_minor: 5 }, null, 1)}\n`;
  }

  /** Hand a file to the browser to keep. @type {(name: string, type: string, text: string) => void} */
  function download(name, type, text) {
    const url = URL.createObjectURL(new Blob([text], { type }));
    make("a", { href: url, download: name }).click();
    setTimeout(() => URL.revokeObjectURL(url), 60_000);
  }

  Object.assign(window.mhaOwn, { download, nameOf, notebook, taken, toml });
})();
