/* A document of the red pencil, what its numbers are called, and how one follows as a line of
   arithmetic. */
(function () {
  "use strict";

  const { fill, inBrackets, make, nameOf } = window.mhaExplorer;
  const { short } = window.mhaNumbers;
  const { parse } = window.mhaPlaces;
  const { RIGHT, SLIP, evaluate, read } = window.mhaPencil;
  const texts = window.mhaStrings.pencil;

  /** A printed number with a true minus sign. @param {string} printed */
  const withMinus = (printed) => printed.replace("-", "−");

  /** A text whose words between stars are set in italics. @param {string} text */
  const marked = (text) => text.split("*").map((part, i) => (i % 2 ? make("i", {}, part) : part));

  // ---- A line of arithmetic ----

  /** How a number follows, as a text. @param {PencilFormula} formula @param {PencilState} state
      @param {PencilNumber[]} numbers @returns {string} */
  function written(formula, state, numbers) {
    /** @type {(one: PencilFormula) => string} */
    const leaf = (one) => {
      const isKept = typeof one === "number" && !state.changed[one];
      const text = isKept ? withMinus(numbers[one].printed) : short(evaluate(one, state.values));
      return inBrackets(text);
    };
    /** @type {(one: PencilFormula) => string} */
    const part = (one) => {
      if (!Array.isArray(one)) return leaf(one);
      const [sign, ...terms] = one;
      const [first, second, mask] = terms;
      if (sign === "+") return terms.map(part).join(" + ");
      if (sign === "*") return terms.map(leaf).join(" × ");
      if (sign === "s" || sign === "m") {
        const by = sign === "s" ? `÷ √${leaf(second)}` : `× ${leaf(second)}`;
        return `${leaf(first)} ${by}${mask === undefined ? "" : ` + ${leaf(mask)}`}`;
      }
      if (sign === "e") return `e^${leaf(first)}`;
      if (sign === "/") return `${part(first)} ÷ ${Array.isArray(second) ? `(${part(/** @type {any} */ (second))})` : part(second)}`;
      if (sign === "%") return `100 × ${leaf(first)}`;
      return sign === "r" ? `√${leaf(first)}` : leaf(first);
    };
    return part(formula);
  }

  /** A text with what stands behind ^ raised. @param {string} text */
  const raised = (text) => text.split(/\^(\(?−?[\d.]+\)?)/).map((part, i) =>
    (i % 2 ? make("sup", {}, part.replace(/[()]/g, "")) : part));

  // ---- A document as it is worked with ----

  /** @param {PencilSheet} sheet @returns {PencilDocument} */
  function opened(sheet) {
    const numbers = read(sheet);
    /** @type {PencilCell[]} */
    const cells = [];
    sheet.blocks.forEach((block, i) => block.rows.forEach((row, j) => row.at.forEach((spot, k) => {
      const place = parse(row.places[k]);
      const line = row.lines?.[k] ?? row.line;
      if (place) cells.push({ spot, place, address: `${line}:${row.places[k]}`, line, block: i, row: j });
    })));
    const slips = cells.map(({ spot }) => spot).filter((spot) => numbers[spot].state === SLIP);
    const right = cells.filter(({ spot }) => numbers[spot].state === RIGHT).length;
    return { sheet, numbers, cells, slips, right, corrected: new Set(), bySpot: new Map(cells.map((cell) => [cell.spot, cell])) };
  }

  /** What a number is called. @param {PencilSheet} sheet @param {PencilCell} cell @returns {string} */
  function named(sheet, { place, block }) {
    if (place.stage === "root") return texts.root;
    const example = sheet.examples[sheet.blocks[block].example];
    if (place.stage === "percentages") {
      return fill(texts.percentages, { row: example.tokens[place.row], column: example.tokens[place.column] });
    }
    const state = { order: example.tokens.map((_, i) => i) };
    const whole = nameOf(/** @type {any} */ (example), /** @type {any} */ (state), { ...place, term: /** @type {any} */ (null) });
    if (place.term === null) return whole;
    return fill(texts.product, { n: place.term + 1, name: whole[0].toLowerCase() + whole.slice(1) });
  }

  Object.assign(window.mhaPencil, { marked, named, opened, raised, withMinus, written });
})();
