/* A box that asks for one number of an example made on the page: the markup of mha/widgets/boxes.py,
   for the exercise that mha/practice/exercise.py would make. The tests hold both to the same. */
(function () {
  "use strict";

  const { fixed, short, shown } = window.mhaNumbers;
  const { at: placeAt, valueAt } = window.mhaPlaces;
  const { constant, origin } = window.mhaOrigins;
  const { dimension, fill, freshId, make } = window.mhaExplorer;

  /** The most decimals that numbers are given with. */
  const [LEAST, MOST] = [4, 16];

  /** @type {Partial<Record<Operation, Kind>>} */
  const KINDS = { products: "products", mixed: "products", sum: "sum", exponential: "power",
    share: "share" };

  /** The operands, in the groups in which a question gives them.
      @type {(numbers: ExplorerNumbers, from: Origin) => { kind: Kind, givens: number[][] }} */
  function calculation(numbers, from) {
    const { operation, terms, place } = from;
    const values = terms.map((term) => term.map(({ value }) => value));
    const kind = KINDS[operation] ?? (constant(from, "d_k") === null ? "times" : "root");
    if (kind === "products") return { kind, givens: [0, 1].map((i) => values.map((term) => term[i])) };
    if (kind === "sum") return { kind, givens: [values.flat()] };
    if (kind === "power") return { kind, givens: [[values[0][0]]] };
    if (kind === "share") return { kind, givens: [numbers.scaled_scores[place.head][place.row]] };
    return { kind, givens: values };
  }

  /** Whether a number can be worked by hand: no mask and no huge score leaves nothing to do.
      @type {(numbers: ExplorerNumbers, at: Place) => boolean} */
  function isWorkable(numbers, { stage, head, row, column }) {
    if (!["scaled_scores", "exponentials", "row_sums", "weights"].includes(stage)) return true;
    if (numbers.shifts[head][row]) return false;
    return column === null ? numbers.row_sums[head][row] > 0
      : Number.isFinite(numbers.scaled_scores[head][row][column]);
  }

  /** How many decimals are asked for. @param {number} answer */
  function decimalsOf(answer) {
    const text = short(answer);
    return text === shown(answer) ? 2 : Math.max(2, (text.split(".")[1] ?? "").length);
  }

  /** How near to a tie, in units of the last decimal, a number is one: a sum of products of printed
      numbers is either a tie or farther from it. */
  const TIE = 1e-9;

  /** Whether a number lies halfway between two numbers of so many decimals.
      @param {number} value @param {number} places */
  const isTie = (value, places) => Math.abs(Math.abs(value) * 10 ** places % 1 - 0.5) < TIE;

  /** How many decimals of the operands lead to the answer and to no tie.
      @param {Task} task @param {number} answer */
  function givenPlaces(task, answer) {
    const wanted = fixed(answer, task.places);
    for (let places = LEAST; places < MOST; places += 1) {
      const givens = task.givens.map((values) => values.map((x) =>
        (Number.isFinite(x) ? Number(fixed(x, places)) : x)));
      const found = window.mhaExercises.asked({ ...task, givens });
      if (fixed(found, task.places) === wanted && !isTie(found, task.places)) return places;
    }
    return MOST;
  }

  /**
   * The exercise to compute one number.
   * @param {ExplorerData} data
   * @param {ExplorerNumbers} numbers
   * @param {Place} at
   * @param {OwnKnowledge} knowledge
   * @returns {{ task: Task, question: string, labels: string[], rounding: string }}
   */
  function exerciseOf(data, numbers, at, knowledge) {
    const from = origin(numbers.inputs, numbers, at);
    const { kind, givens } = calculation(numbers, from);
    const more = givens.length > 2 ? knowledge.hintsWithMore[kind] : undefined;
    /** @type {Task} */
    const task = { kind, givens, shownPlaces: LEAST, column: kind === "share" ? at.column : 0,
      places: 2, percent: false, hints: more ?? knowledge.hints[kind], draw: null };
    const answer = window.mhaExercises.asked(task);
    task.places = decimalsOf(answer);
    task.shownPlaces = givenPlaces(task, answer);
    const { columns, symbol } = window.mhaStages[at.stage];
    const word = (/** @type {number} */ i) => `*${data.tokens[i]}*`;
    const names = {
      row: word(at.row), tokens: data.tokens.map((_, i) => word(i)).join(", "), turned: "",
      head: at.head !== null && data.heads.length > 1 ? ` in ${data.heads[at.head]}` : "",
      factor: data.scale === null ? "d_k" : "scale", n: String((at.column ?? 0) + 1),
      column: columns === "keys" ? word(at.column) : "",
      component: dimension(symbol, at.column ?? 0),
    };
    const [question, ...labels] = knowledge.asked[at.stage].map((text) => fill(text, names));
    const rounding = fill(knowledge.roundings[Math.min(task.places, 2)], { places: task.places });
    return { task, question, labels: labels.slice(0, givens.length), rounding };
  }

  /** Nodes of a text in which words between asterisks are tokens; the index of d_k is lowered.
      @param {string} text @returns {Node[]} */
  const rich = (text) => text.split(/(\*.+?\*|\bd_k\b)/).map((part) => (part === "d_k"
    ? make("span", {}, make("em", {}, "d"), make("sub", {}, "k"))
    : /^\*.+\*$/.test(part) ? make("em", {}, part.slice(1, -1)) : document.createTextNode(part)));

  /** @param {number[]} values @param {number} places */
  function listed(values, places) {
    const texts = values.map((value) => short(value, places));
    return texts.length === 1 ? texts[0] : `(${texts.join(", ")})`;
  }

  /**
   * The box that asks for a number and checks the answer.
   * @param {ExplorerData} data
   * @param {ExplorerNumbers} numbers
   * @param {Place} at
   * @param {OwnKnowledge} knowledge
   */
  function boxOf(data, numbers, at, knowledge) {
    const { task, question, labels, rounding } = exerciseOf(data, numbers, at, knowledge);
    const said = knowledge.labels;
    const id = `turn-own-${freshId()}`;
    const finite = task.givens.map((values) => values.map((x) => (Number.isFinite(x) ? x : null)));
    const json = JSON.stringify({ tasks: [{ ...task, givens: finite, elsewhere: [] }], together: false, isKept: false });
    const items = labels.map((label, i) => make("li", {}, ...rich(label), ": ",
      make("span", { className: "your-turn-given" }, listed(task.givens[i], task.shownPlaces))));
    const button = (/** @type {string} */ type, /** @type {string} */ name, /** @type {string} */ label) =>
      make("button", { type, className: `reading-button ${name}` }, label);
    // The element begins as it comes to life, and then needs all that is in it: until then it
    // belongs to no page.
    const box = document.createElement("template").content.ownerDocument.createElement("mha-your-turn");
    Object.assign(box, { id, className: "your-turn-one", role: "group" });
    box.setAttribute("aria-labelledby", `${id}-title`);
    box.append(make("p", { className: "your-turn-title", id: `${id}-title` }, `${said.title} `,
      make("span", { className: "reading-done" })),
    make("form", { className: "your-turn-form", noValidate: true },
      make("div", { className: "your-turn-part" },
        make("p", { className: "your-turn-question", id: `${id}-question` }, ...rich(question)),
        make("ul", { className: "your-turn-givens", id: `${id}-givens` }, ...items),
        make("p", { className: "your-turn-rounding", id: `${id}-rounding` }, rounding)),
      make("div", { className: "your-turn-field" },
        make("label", { htmlFor: `${id}-answer` }, said.answer), " ",
        make("input", { id: `${id}-answer`, type: "text", autocomplete: "off", size: 9,
          spellcheck: false, "aria-describedby": `${id}-question ${id}-givens ${id}-rounding` })),
      make("div", { className: "your-turn-controls" }, button("submit", "", said.check),
        button("button", "your-turn-hint", said.hint)),
      make("div", { className: "your-turn-feedback", role: "status" }),
      make("ol", { className: "your-turn-hints", "aria-live": "polite" })),
    make("details", { className: "your-turn-worked" }, make("summary", {}, said.worked),
      make("p", {}, window.mhaExercises.worked(task))),
    make("script", { type: "application/json" }, json));
    return box;
  }

  /** Whether there is something to work out: zeros, and what comes of equal scores, can be read off.
      @type {(numbers: ExplorerNumbers, at: Place) => boolean} */
  function isTelling(numbers, at) {
    const { stage, head, row } = at;
    if (!["exponentials", "row_sums", "weights"].includes(stage)) return valueAt(numbers, at) !== 0;
    const scores = numbers.scaled_scores[head][row];
    return stage === "exponentials" ? scores[/** @type {number} */ (at.column)] !== 0
      : scores.some((x) => x !== scores[0]);
  }

  /** The numbers of a stage that can be asked for: those of one word, of keys and values of all. Of
      other words where one's numbers tell nothing; none of its own only where no word has better.
      @type {(numbers: ExplorerNumbers, stage: string, word: number) => Place[]} */
  function askable(numbers, stage, word) {
    const { axes } = window.mhaStages[stage];
    /** @type {any} */
    const array = /** @type {any} */ (numbers)[stage];
    if (!array) return [];
    const heads = axes.includes("head") ? array.map((/** @type {any} */ _, /** @type {number} */ h) => [h]) : [[]];
    const every = heads.flatMap((/** @type {number[]} */ head) =>
      (head.length ? array[head[0]] : array).flatMap((/** @type {any} */ numbersOf, /** @type {number} */ row) =>
        (axes.includes("column")
          ? numbersOf.map((/** @type {any} */ _, /** @type {number} */ column) => placeAt(stage, ...head, row, column))
          : [placeAt(stage, ...head, row)])))
      .filter((/** @type {Place} */ at) => isWorkable(numbers, at) && Number.isFinite(valueAt(numbers, at)));
    const own = ["key", "value"].includes(stage) ? every
      : every.filter((/** @type {Place} */ { row }) => row === word);
    const telling = (/** @type {Place[]} */ places) => places.filter((at) => isTelling(numbers, at));
    return [telling(own), telling(every), own].find((places) => places.length) ?? [];
  }

  Object.assign(window.mhaOwn, { askable, boxOf, exerciseOf });
})();
