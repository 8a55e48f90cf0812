/**
 * A layer that learns in the page: the loss by step, which can be dragged back, and after each step the
 * mean weights of every head, its maps and answers for a sentence, and its matrices. It trains in slices
 * that do not block the page, because a page opened as a file may not start a worker.
 */

import task from "../data/learning-task.ts";
import { FORMS, MATRIX, ROWS, Training, answered, attend, fresh } from "../engine/learning.ts";
import { percent, short, shown } from "../engine/numbers.ts";
import { entered } from "../engine/typed-numbers.ts";
import { fill } from "../engine/text.ts";
import {
  inSlices, isPage, make, makeButton, makeEntry, markCaption, set, setBar, setText,
} from "../figures/explorer-parts.ts";
import { historyButtons } from "../figures/history-buttons.ts";
import { shape } from "../figures/strip-drawing.ts";
import { TimeBar } from "../figures/time-bar.ts";
import { mapsOf, paintMaps, resize } from "../figures/weight-maps.ts";
import { partsOf } from "../store/address.ts";
import { History } from "../store/history.ts";
import { shareAddress } from "../store/share.ts";
import { learning as texts } from "../strings/learning.ts";
import type { Instrument, LearningState, Matrix } from "../types.ts";

const { length, questions, width, words } = task;

/** The possible choices. */
const HEADS = [1, 2, 3, 4, 6, 12];
const RATES = [0.001, 0.003, 0.01, 0.03, 0.1, 0.3];
const STEPS = [150, 400, 1000];
const SEEDS = 2 ** 32;

/** Up to so many heads have the words beside their maps. */
const FEW = 4;

/**
 * Milliseconds that training takes before the page has its turn, those between two steps that are
 * shown meanwhile, and those of a step that is played.
 */
const [SLICE, SEEN, PACE] = [10, 120, 60];

/** Trainings that are kept. */
const KEPT = 6;

/** The losses at the edges of the curve, and those that have a line. */
const [HIGHEST, LOWEST] = [10, 0.0003];
const LEVELS = [3, 1, 0.3, 0.1, 0.03, 0.01, 0.003, 0.001];

/** The parts of the state that are in the address if they differ from the start. */
const NAMES = ["seed", "heads", "rate", "steps", "step", "sentence", "word", "head"];

/** The settings whose change makes another training. */
const NEW: ("seed" | "heads" | "rate" | "steps")[] = ["seed", "heads", "rate", "steps"];

const isStill = () => matchMedia("(prefers-reduced-motion: reduce)").matches;

const channel = new MessageChannel();

/** Let the page have its turn; a timer would wait longer. */
const turn = () => new Promise((done) => {
  channel.port1.onmessage = done;
  channel.port2.postMessage(0);
});

/** How high a loss stands, in hundredths from the top. */
const heightOf = (loss: number) => 100 * Math.min(1, Math.max(0,
  Math.log(HIGHEST / loss) / Math.log(HIGHEST / LOWEST)));

class View {
  start: any;
  settings: LearningState;
  words: any;
  kept: Map<string, any>;
  history: History<LearningState>;
  row: number;
  parts: any;
  bar: any;
  training: any;
  before: any;
  isFollowing: boolean;
  goal: any;
  isTraining: boolean;
  turn: number;
  passed: any;
  weights: Matrix[];
  isDrawn: boolean;
  drawn: Promise<any> | null;
  node: any;
  state: { words: any; place: number; } | undefined;

  constructor(data: any) {
    this.start = { ...data, sentence: 0, word: 0, head: data.heads - 1, step: data.steps };
    this.settings = { ...this.start };
    this.words = words;
    this.kept = new Map();
    this.history = new History();
    /** The row of the matrices that is read, −1 for that of the chosen word. */
    this.row = -1;
    this.parts = {};
    /** The bar of the steps. */
    this.bar = null;
    /** The training that is shown, and that before it. */
    this.training = null;
    this.before = null;
    /** Whether the newest step is shown, and up to which one. */
    this.isFollowing = true;
    this.goal = data.steps;
    /** Whether a step is shown because the training has come to it. */
    this.isTraining = false;
    /** Which call of `train` is the newest. */
    this.turn = 0;
    /** The shown sentence in the layer. */
    this.passed = null;
    this.weights = [];
    /** Whether the matrices are drawn, and when they are: what is seen first, the maps too, comes before. */
    this.isDrawn = false;
    this.drawn = null;
    this.node = this.build();
    new MutationObserver(() => this.paintStep())
      .observe(document.documentElement, { attributeFilter: ["data-theme"] });
  }

  placed() {
    this.drawn = new Promise((done) => {
      inSlices([() => this.examine(), () => {
        this.isDrawn = true;
        this.layOutMatrices();
        this.paintStep();
        done(null);
      }]);
    });
    this.begin();
  }

  // ---- Elements ----

  build() {
    const { parts } = this;
    parts.maps = [];
    parts.looks = make("div", { className: "learning-maps" });
    parts.roles = make("div", { className: "learning-roles" });
    parts.matrices = make("div", { className: "learning-matrices" });
    return make("div", { className: "model-live" },
      make("p", { className: "strip-title" }, texts.title), this.controls(),
      make("div", { className: "learning-halves" },
        make("div", {}, this.curve(), this.time()), make("div", {}, parts.roles, parts.looks),
        this.answers()),
      make("details", { className: "panel-more" }, make("summary", {}, texts.unfold), parts.matrices));
  }

  controls() {
    const { parts } = this;
    const button = (label: string, act: () => void) =>
      makeButton(label, act, { className: "reading-button" });
    const choice = (name: "heads" | "rate" | "steps", all: number[]) => {
      parts[name] = make("select", { onchange: () => this.change({ [name]: Number(parts[name].value) }) },
        ...all.map((value) => make("option", { value }, short(value))));
      return make("label", {}, texts[name], " ", parts[name]);
    };
    const { input, error, complain } = makeEntry();
    Object.assign(parts, { seed: input, complain });
    set(input, "inputmode", "numeric");
    input.addEventListener("change", () => {
      const { value: seed, wrong } = entered(input.value, { least: 0, most: SEEDS - 1, whole: true });
      complain(wrong);
      if (!wrong) this.change({ seed });
    });
    parts.history = historyButtons(() => this.restore(this.history.undo(this.now())),
      () => this.restore(this.history.redo(this.now())));
    parts.status = make("p", { className: "model-status soft", role: "status" });
    return make("div", { className: "model-controls" },
      make("span", { className: "field" }, make("label", {}, texts.seed, " ", input)),
      button(texts.another, () => this.change({ seed: (this.settings.seed + 1) % SEEDS })),
      choice("heads", HEADS), choice("rate", RATES), choice("steps", STEPS), parts.history.undo, parts.history.redo,
      button(texts.reset, () => this.change(this.start)),
      ...(isPage ? [button(texts.copy, () => this.share())] : []), error, parts.status);
  }

  /** The loss by step: whoever draws along it goes through the training. */
  curve() {
    const { parts } = this;
    const line = (name: string) => shape("polyline", name);
    Object.assign(parts, { before: line("before-line"), line: line("line"),
      marker: make("span", { className: "learning-marker" }),
      dot: make("span", { className: "learning-dot" }),
      ticks: [0, 1, 2].map((i) => make("span", { className: "at-foot", style: `left: ${50 * i}%; translate: ${-50 * i}%` })) });
    const svg = shape("svg", "learning-lines");
    set(svg, "viewBox", "0 0 100 100");
    set(svg, "preserveAspectRatio", "none");
    svg.append(parts.before, parts.line);
    parts.picture = make("div", { className: "learning-curve", role: "img" }, svg,
      ...LEVELS.map((loss) => make("span", { className: "level", style: `top: ${heightOf(loss)}%` },
        make("small", {}, short(loss)))), ...parts.ticks, parts.marker, parts.dot);
    const go = (event: PointerEvent) => {
      const { left, width: room } = parts.picture.getBoundingClientRect();
      this.bar.go(Math.round(((event.clientX - left) / room) * this.settings.steps));
    };
    parts.picture.addEventListener("pointerdown", (event: PointerEvent) => {
      if (event.button) return;
      parts.picture.setPointerCapture(event.pointerId);
      go(event);
    });
    parts.picture.addEventListener("pointermove", (event: PointerEvent) => {
      if (parts.picture.hasPointerCapture(event.pointerId)) go(event);
    });
    parts.dashed = make("small", { className: "soft" }, texts.before);
    return make("div", {}, make("p", { className: "model-title" }, texts.loss, " ", parts.dashed), parts.picture);
  }

  time() {
    this.bar = new TimeBar({
      count: this.settings.steps + 1, pace: PACE,
      label: (step: number) => this.said(step), show: (step: number) => {
        if (!this.isTraining) this.isFollowing = false;
        this.settings.step = step;
        this.paintStep();
      },
    });
    return this.bar.node;
  }

  /** The answers of each word of a sentence, at the step that is shown. */
  answers() {
    const { parts } = this;
    parts.sentence = make("p", { className: "model-title" });
    parts.answers = Array.from({ length }, (_, i) => {
      const word = makeButton("", () => this.choose(i), { className: "model-word" });
      const cells = questions.map(() => {
        const [mark, text, chance] = [make("span", { className: "verdict" }), make("i"), make("small", { className: "soft" })];
        return { node: make("td", {}, mark, text, " ", chance), mark, text, chance };
      });
      return { word, cells, node: make("tr", {}, make("th", { scope: "row" }, word),
        ...cells.map((cell: any) => cell.node)) };
    });
    return make("div", {}, parts.sentence,
      make("table", { className: "learning-table" }, make("thead", {}, make("tr", {},
        ...[texts.word, ...questions].map((name) => make("th", { scope: "col" }, name)))),
      make("tbody", {}, ...parts.answers.map((row: any) => row.node))),
      makeButton(texts.other, () => {
        this.settings.sentence = (this.settings.sentence + 1) % fresh.length;
        this.paintStep();
      }, { className: "reading-button" }));
  }

  /** Build the parts that depend on the number of heads. */
  layOut() {
    const { parts } = this;
    const { heads } = this.settings;
    if (parts.laid === heads) return;
    parts.laid = heads;
    const names = Array.from({ length: heads }, (_, i) => fill(texts.head, { n: i + 1 }));
    parts.titles = names.map((name, i) => ({
      button: makeButton(name, () => this.choose(this.settings.word, i), { className: "model-word" }),
      most: make("small", { className: "soft" }),
    }));
    set(parts.looks, "class", `learning-maps${heads > 4 ? " many" : ""}`);
    parts.looks.replaceChildren(make("p", { className: "model-title" }, texts.maps), mapsOf(this, names));
    this.nameMaps(heads <= FEW);
    parts.given = names.map(() => texts.relations.map(() => {
      const [bar, number] = [make("span", { className: "learning-bar" }), make("span")];
      return { bar, number, node: make("td", {}, bar, number) };
    }));
    parts.roles.replaceChildren(make("p", { className: "model-title" }, texts.roles),
      make("table", { className: "learning-table" }, make("thead", {}, make("tr", {},
        ...[texts.giver, ...texts.relations].map((name) => make("th", { scope: "col" }, name)))),
      make("tbody", {}, ...names.map((name, i) => make("tr", { className: `head-${i % 6}` },
        make("th", { scope: "row" }, name),
        ...parts.given[i].map(({ node }: any) => node))))),
      make("p", { className: "soft" }, texts.even));
    if (this.isDrawn) this.layOutMatrices();
  }

  /** The sentence beside the first map and below each; where they are many a square names its words alone. */
  nameMaps(isNamed: boolean) {
    const { parts } = this;
    parts.mapWords = [];
    if (!isNamed) return;
    const list = (className: string) => {
      const those = Array.from({ length }, () => make("li"));
      parts.mapWords.push(those);
      return make("ol", { className, "aria-hidden": "true" }, ...those);
    };
    parts.maps[0].box.append(list("map-rows"));
    parts.maps.forEach(({ box }: any) => box.after(list("map-columns")));
  }

  /** The title above the map of a head. */
  titleOf(i: number) {
    return make("p", {}, this.parts.titles[i].button, this.parts.titles[i].most);
  }

  layOutMatrices() {
    const { parts } = this;
    const own = width / this.settings.heads;
    parts.blocks = texts.blocks.map((name: string) => {
      const canvas = make("canvas");
      canvas.addEventListener("click", (event: MouseEvent) => {
        const { top, height } = canvas.getBoundingClientRect();
        this.read(Math.floor(((event.clientY - top) / height) * ROWS));
      });
      return { canvas, node: make("div", {}, make("small", {}, name), canvas), numbers: make("li") };
    });
    parts.labels = make("ol", {}, ...Array.from({ length: ROWS }, (_, i) =>
      make("li", {}, this.nameOf(i))));
    parts.chosen = make("span", { className: "learning-row" });
    const grid = make("div", { className: "learning-blocks", tabIndex: 0, role: "slider",
      "aria-label": texts.rows, "aria-valuemin": 1, "aria-valuemax": ROWS,
      style: `--columns: ${own}` }, make("div", {}, make("small", {}, "\u00a0"), parts.labels),
    ...parts.blocks.map(({ node }: any) => node), parts.chosen);
    grid.addEventListener("keydown", (event: KeyboardEvent) => {
      const by = { ArrowUp: -1, ArrowLeft: -1, ArrowDown: 1, ArrowRight: 1 }[event.key];
      if (!by) return;
      event.preventDefault();
      this.read(this.rowRead + by);
    });
    Object.assign(parts, { grid, rowName: make("p", { className: "model-title" }),
      matrixTitle: make("p", { className: "model-title" }), plane: this.plane() });
    parts.matrices.replaceChildren(parts.matrixTitle,
      make("p", { className: "soft" }, texts.key),
      make("div", { className: "learning-sides" }, grid, make("div", { className: "learning-numbers" },
        parts.rowName, make("ol", {}, ...parts.blocks.map(({ numbers }: any) => numbers)),
        ...(own === 2 ? [parts.plane.node] : []))));
  }

  /** Queries and keys of the sentence in a head of two numbers. */
  plane() {
    const svg = shape("svg", "learning-plane");
    set(svg, "viewBox", "-110 -110 220 220");
    const axes = shape("path", "level");
    set(axes, "d", "M-110 0H110M0 -110V110");
    svg.append(axes);
    const points = ["query", "key"].map((name) => Array.from({ length }, () => {
      const [arm, point, label] = ["path", "circle", "text"].map((tag) => shape(tag, name));
      set(point, "r", 4);
      svg.append(arm, point, label);
      return { arm, point, label };
    }));
    const title = make("figcaption", { className: "soft" });
    return { node: make("figure", {}, title, svg), points, title };
  }

  // ---- Changes ----

  change(changes: Partial<LearningState>): void {
    const now = this.now();
    this.settings = { ...now, ...changes };
    if (now.step === now.steps && !("step" in changes)) this.settings.step = this.settings.steps;
    this.history.record(now, this.settings);
    this.begin();
  }

  /** The settings, with the step that is to be shown when the training has come so far. */
  now() {
    const { isFollowing, goal, settings } = this;
    return { ...settings, step: isFollowing ? goal : settings.step };
  }

  /** Go back, or forward again. */
  restore(settings: LearningState | undefined) {
    if (!settings) return;
    this.settings = settings;
    this.begin();
  }

  /** Choose a word of the sentence, and a head. */
  choose(word: number, head: number = this.settings.head) {
    if (word < 0 || word >= length) return;
    Object.assign(this.settings, { word, head });
    this.row = -1;
    this.paintStep();
  }

  /** Read a row of the matrices. */
  read(row: number) {
    if (row < 0 || row >= ROWS) return;
    this.row = row;
    this.paintStep();
  }

  share() {
    const parts = new URLSearchParams({ learning: "layer" });
    const { settings, start }: any = this;
    for (const name of NAMES) if (settings[name] !== start[name]) parts.set(name, settings[name]);
    shareAddress(`#${parts}`, this.parts.status);
  }

  /** The readable part of an address, with defaults for the rest. */
  readAddress() {
    const parts = partsOf("learning", "layer");
    if (!parts) return;
    const among = (name: string, fits: (value: number) => boolean) => {
      const text = parts.get(name) ?? "";
      return /^\d{1,10}(\.\d{1,3})?$/.test(text) && fits(Number(text)) ? { [name]: Number(text) } : {};
    };
    const below = (most: number) => (value: number) =>
      Number.isInteger(value) && value < most;
    const found = { ...this.start, ...among("heads", (n) => HEADS.includes(n)),
      ...among("seed", below(SEEDS)), ...among("rate", (n) => RATES.includes(n)),
      ...among("steps", (n) => STEPS.includes(n)), ...among("sentence", below(fresh.length)),
      ...among("word", below(length)) };
    Object.assign(found, { step: found.steps, ...among("step", below(found.steps + 1)),
      head: found.heads - 1, ...among("head", below(found.heads)) });
    this.settings = found;
    this.begin();
  }

  // ---- Training ----

  /** Show the training of these settings, and make it as far as it is not made yet. */
  begin() {
    const { settings } = this;
    const { heads, rate, seed, steps } = settings;
    settings.head = Math.min(settings.head, heads - 1);
    const before = this.training;
    const key = `${seed} ${heads} ${rate}`;
    this.training = this.kept.get(key) ?? new Training({ seed, heads, rate });
    this.kept.set(key, this.training);
    if (this.kept.size > KEPT) this.kept.delete(this.kept.keys().next().value ?? "");
    // One that was broken off is no training to compare with.
    if (before && before !== this.training && before.found.length > Math.max(1, this.goal)) this.before = before;
    this.row = -1;
    this.isFollowing = true;
    this.goal = Math.min(settings.step, steps);
    this.layOut();
    this.paintSettings();
    this.bar.recount(steps + 1);
    // How it does comes a frame after what is seen first; after a change, with it.
    if (before) this.examine();
    else this.follow();
    this.train();
  }

  /** Show how far the training has come, and at least how the layer does that it begins with. */
  examine() {
    if (!this.training.found.length) this.training.advance();
    this.follow();
  }

  /** Go on until the steps are done, or another training is wanted. */
  async train() {
    const { training } = this;
    const { steps } = this.settings;
    this.turn += 1;
    const own = this.turn;
    const telling = () => setText(this.parts.status,
      fill(texts.trains, { step: this.foundLast, steps }));
    // Whoever listens is told the end alone.
    set(this.parts.status, "aria-busy", "true");
    telling();
    set(this.bar.node, "aria-busy", "true");
    let seen = performance.now();
    await this.drawn;
    while (training.found.length <= steps) {
      await turn();
      if (this.turn !== own) return;
      const now = performance.now();
      do training.advance(); while (training.found.length <= steps && performance.now() < now + SLICE);
      if (now > seen + SEEN && !isStill()) {
        seen = now;
        telling();
        this.follow();
        await new Promise((done) => { requestAnimationFrame(done); });
        if (this.turn !== own) return;
      }
    }
    this.follow();
    set(this.bar.node, "aria-busy", "false");
    set(this.parts.status, "aria-busy", "false");
    const { found } = training;
    const { heads, rate, seed } = this.settings;
    setText(this.parts.status, fill(texts.trained, { seed, rate: short(rate), steps,
      heads: heads === 1 ? texts.oneHead : fill(texts.manyHeads, { n: heads }),
      first: shown(found[0].loss), last: shown(found[steps].loss) }));
  }

  /** Show how far the training has come, and its newest step while no one looks at another. */
  follow() {
    const done = Math.min(this.foundLast, this.settings.steps);
    this.paintCurve();
    this.isTraining = true;
    if (this.isFollowing) this.bar.at = Math.min(done, this.goal);
    this.bar.refresh();
    this.isTraining = false;
  }

  // ---- Painting ----

  /** The newest step that is examined, the start before any is. */
  get foundLast() {
    return Math.max(0, this.training.found.length - 1);
  }

  /** The step that is shown: the newest one where a later one is not done yet. */
  get shownStep() {
    return Math.min(this.settings.step, this.foundLast);
  }

  get rowRead() {
    return this.row < 0 ? fresh[this.settings.sentence].forms[this.settings.word] : this.row;
  }

  /** The meaning of a row of the matrices. */
  nameOf(row: number) {
    return row < FORMS ? words[row] : fill(texts.placeRow, { n: row - FORMS + 1 });
  }

  /** The label of a step on the bar. */
  said(step: number) {
    const at = Math.min(step, this.foundLast);
    const found = this.training.found[at];
    return found ? fill(texts.after, { step: at, loss: shown(found.loss), right: percent(found.right) }) : "";
  }

  paintSettings() {
    const { parts, settings } = this;
    parts.seed.value = settings.seed;
    markCaption(this.node, false, NEW.some((name) => settings[name] !== this.start[name]));
    parts.complain("");
    for (const name of ["heads", "rate", "steps"]) parts[name].value = settings[(name as "heads")];
    parts.history.paint(this.history);
  }

  paintCurve() {
    const { before, parts, training } = this;
    const { steps } = this.settings;
    const points = (of: any) => of.found.slice(0, steps + 1).map(({ loss }: any,
      i: number) => `${(100 * i) / steps},${heightOf(loss).toFixed(2)}`).join(" ");
    set(parts.line, "points", points(training));
    set(parts.before, "points", before ? points(before) : "");
    parts.dashed.hidden = !before;
    parts.ticks.forEach((node: any, i: number) =>
      setText(node, `${(steps * i) / 2}${i === 2 ? ` ${texts.axis}` : ""}`));
  }

  paintStep() {
    const { parts, settings, training } = this;
    if (!training) return;
    const step = this.shownStep;
    const { loss, roles } = training.found[step] ?? {};
    const layer = training.layers[step];
    const { forms, answers } = fresh[settings.sentence];
    this.passed = attend(layer, settings.heads, forms);
    this.state = { words: forms, place: settings.word };
    set(parts.marker, ".left", `${(100 * step) / settings.steps}%`);
    set(parts.dot, ".left", `${(100 * step) / settings.steps}%`);
    parts.dot.hidden = !roles;
    if (roles) set(parts.dot, ".top", `${heightOf(loss).toFixed(2)}%`);
    set(parts.picture, "aria-label", fill(texts.curve, { what: this.said(step) }));
    parts.given.forEach((cells: any[], h: number) => cells.forEach(({ bar, number }, r) => {
      const weight = roles?.[h * cells.length + r] ?? 0;
      setBar(bar, weight);
      setText(number, roles ? shown(weight, 2) : "\u00a0");
    }));
    this.weights = Array.from({ length: settings.heads }, (_, h) => Array.from({ length }, (_row, i) =>
      [...this.passed.weights.subarray((h * length + i) * length, (h * length + i + 1) * length)]));
    paintMaps(this);
    parts.mapWords.forEach((those: any[]) =>
      those.forEach((node, i) => setText(node, words[forms[i]])));
    parts.titles.forEach(({ button, most }: any, h: number) => {
      const row = this.weights[h][settings.word];
      const other = row.indexOf(Math.max(...row));
      set(button, "aria-pressed", String(h === settings.head));
      setText(most, fill(texts.gives, { other: words[forms[other]], weight: shown(row[other], 2) }));
    });
    setText(parts.sentence, fill(texts.sentence, { n: settings.sentence + 1, count: fresh.length }));
    parts.answers.forEach((row: any, i: number) => {
      setText(row.word, words[forms[i]]);
      set(row.word, "aria-pressed", String(i === settings.word));
      row.cells.forEach((cell: any, q: number) => {
        const place = answers[i * questions.length + q];
        this.paintAnswer(cell, answered(layer, this.passed.outputs, i, q), place < 0 ? -1 : forms[place]);
      });
    });
    if (this.isDrawn) this.paintMatrices(layer);
  }

  /** The weights of a head, for its map. */
  weightsOf(head: number) {
    return this.weights[head];
  }

  /** The answers, and whether they are right. */
  paintAnswer({ chance, mark, node, text }: any, logs: Float64Array, right: number) {
    const most = logs.indexOf(Math.max(...logs));
    const isRight = most === right;
    set(node, "class", right < 0 ? "none" : isRight ? "right" : "wrong");
    setText(mark, right < 0 ? "" : isRight ? "✓ " : "✗ ");
    setText(text, right < 0 ? "" : words[most]);
    setText(chance, right < 0 ? "" : isRight ? percent(Math.exp(logs[most]), 0)
      : fill(texts.wrong, { word: words[right] }));
  }

  paintMatrices(layer: Float64Array) {
    const { parts, settings, training } = this;
    const { head, heads } = settings;
    const own = width / heads;
    const number = (block: number, row: number, c: number) => (block < 3
      ? layer[block * MATRIX + (head * ROWS + row) * own + c]
      : layer[3 * MATRIX + (head * own + c) * questions.length * FORMS + (block - 3) * FORMS + row]);
    const last = training.layers[this.foundLast];
    const most = last.reduce((size: number, x: number) => Math.max(size, Math.abs(x)), 0);
    setText(parts.matrixTitle, fill(texts.matrices, { n: head + 1 }));
    set(parts.grid, "class", `learning-blocks head-${head % 6}${own < 4 ? " narrow" : ""}`);
    const { color } = parts.maps[head];
    parts.blocks.forEach(({ canvas }: any, block: number) =>
      paintSquares(canvas, color, own, (row, c) => (block < 3 || row < FORMS ? number(block, row, c) / most : 0)));
    const row = this.rowRead;
    set(parts.chosen, ".top", `calc(var(--title) + ${row} * var(--row))`);
    setText(parts.rowName, this.nameOf(row));
    parts.blocks.forEach(({ numbers }: any, block: number) =>
      setText(numbers, block < 3 || row < FORMS ? fill(texts.numbers, { name: texts.blocks[block],
        numbers: Array.from({ length: own }, (_, c) => shown(number(block, row, c), 2)).join("  ") }) : ""));
    set(parts.grid, "aria-valuenow", row + 1);
    set(parts.grid, "aria-valuetext", this.nameOf(row));
    if (own === 2) this.paintPlane(last);
  }

  /** Queries and keys; the plane is as large as the newest layer needs. */
  paintPlane(last: Float64Array) {
    const { parts: { plane }, settings: { head, heads, sentence, word } } = this;
    const { forms } = fresh[sentence];
    const inner = [attend(last, heads, forms).inner, this.passed.inner];
    const at = (of: Float64Array, m: number, i: number) =>
      [0, 1].map((c) => of[(m * length + i) * width + 2 * head + c]);
    const all = inner.flatMap((of) => [0, 1].flatMap((m) => forms.flatMap((_: number, i: number) => at(of, m, i))));
    const unit = 90 / Math.max(1, ...all.map(Math.abs));
    setText(plane.title, fill(texts.plane, { n: head + 1 }));
    plane.points.forEach((those: any[], m: number) => those.forEach(({ arm, label, point }, i) => {
      const [x, y] = at(inner[1], m, i).map((z) => z * unit);
      set(arm, "d", `M0 0L${x.toFixed(1)} ${(-y).toFixed(1)}`);
      set(arm, "class", m === 0 && i === word ? "arm" : "none");
      set(point, "cx", x.toFixed(1));
      set(point, "cy", (-y).toFixed(1));
      set(label, "x", (x + (x > 40 ? -6 : 6)).toFixed(1));
      set(label, "y", (4 - y).toFixed(1));
      set(label, "text-anchor", x > 40 ? "end" : "start");
      setText(label, m === 1 || i === word ? words[forms[i]] : "");
    }));
  }
}

/** A square a number, as large as it is: full above zero, hollow below. */
function paintSquares(canvas: any, color: string, columns: number, share: (row: number, column: number) => number) {
  const cell = 14;
  const fine = 2;
  resize(canvas, columns * cell * fine, ROWS * cell * fine);
  const pen = canvas.getContext("2d");
  Object.assign(pen, { fillStyle: color, strokeStyle: color, lineWidth: 1.2 });
  pen.setTransform(fine, 0, 0, fine, 0, 0);
  pen.clearRect(0, 0, columns * cell, ROWS * cell);
  for (let row = 0; row < ROWS; row += 1) {
    for (let c = 0; c < columns; c += 1) {
      const number = share(row, c);
      const side = Math.sqrt(Math.min(1, Math.abs(number))) * (cell - 1);
      const [x, y] = [(c + 0.5) * cell - side / 2, (row + 0.5) * cell - side / 2];
      if (number > 0) pen.fillRect(x, y, side, side);
      else if (side > 1.2) pen.strokeRect(x + 0.6, y + 0.6, side - 1.2, side - 1.2);
    }
  }
}

/** Open the figure on a page. */
export const open: Instrument = (data) => new View(data);
