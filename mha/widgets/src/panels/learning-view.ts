/**
 * A layer that learns in the page: the loss by step, which can be dragged back, and after each step the
 * mean weights of every head, its maps and answers for a sentence, and its matrices. It trains in slices
 * that do not block the page, because a page opened as a file may not start a worker.
 */

import task from "../data/learning-task.ts";
import { ROWS, Training, answered, attend, fresh } from "../engine/learning.ts";
import { percent, short, shown } from "../engine/numbers.ts";
import { fill } from "../engine/text.ts";
import { inSlices, make, makeButton, markCaption, set, setText } from "../figures/explorer-parts.ts";
import { isStill } from "../figures/strip-drawing.ts";
import { TimeBar } from "../figures/time-bar.ts";
import { makeMaps } from "../figures/weight-maps.ts";
import { partsOf } from "../store/address.ts";
import { History } from "../store/history.ts";
import { fromParts, toHash } from "../store/learning-settings.ts";
import { shareAddress } from "../store/share.ts";
import { learning as texts } from "../strings/learning.ts";
import { answerTable } from "./learning-answers.ts";
import { controlsOf } from "./learning-controls.ts";
import { lossCurve } from "./learning-curve.ts";
import { matricesOf } from "./learning-matrices.ts";
import { roleTable } from "./learning-roles.ts";
import type { Instrument, LearningState } from "../types/panels.ts";
import type { Matrix } from "../types/run.ts";

const { length, words } = task;

/** The largest number of heads whose maps have the words next to them. */
const FEW = 4;

/**
 * Milliseconds that training takes before the page has its turn, those between two steps that are
 * shown meanwhile, and those of a step that is played.
 */
const [SLICE, SEEN, PACE] = [10, 120, 60];

/** The largest number of stored trainings. */
const KEPT = 6;

/** The settings whose change makes another training. */
const NEW: ("seed" | "heads" | "rate" | "steps")[] = ["seed", "heads", "rate", "steps"];

const channel = new MessageChannel();

/** Let the page have its turn; a timer would wait longer. */
const turn = () => new Promise((done) => {
  channel.port1.onmessage = done;
  channel.port2.postMessage(0);
});

class View {
  start: LearningState;
  settings: LearningState;
  /** The sentence as the maps show it. */
  state: { words: number[], place: number } = { words: [], place: 0 };
  words = words;
  kept: Map<string, Training> = new Map();
  history = new History<LearningState>();
  /** The row of the matrices that is read, −1 for that of the chosen word. */
  row = -1;
  controls: ReturnType<typeof controlsOf>;
  curve = lossCurve((part) => this.bar.go(Math.round(part * this.settings.steps)));
  answers = answerTable((word) => this.choose(word), () => {
    this.settings.sentence = (this.settings.sentence + 1) % fresh.length;
    this.paintStep();
  });
  roles = roleTable();
  matrices = matricesOf((row) => this.read(row));
  /** The bar of the steps. */
  bar: TimeBar;
  /** The training that is shown, and that before it. */
  training: Training | null = null;
  before: Training | null = null;
  /** Whether the newest step is shown, and up to which one. */
  isFollowing = true;
  goal: number;
  /** Whether a step is shown because the training has come to it. */
  isTraining = false;
  /** Which call of `train` is the newest. */
  turn = 0;
  weights: Matrix[] = [];
  /** Whether the matrices are drawn. They are drawn after the maps and everything else. */
  isDrawn = false;
  drawn: Promise<void> | null = null;
  looks = make("div", { className: "learning-maps" });
  /** The maps of the heads, the words of the sentence around them, and the titles above them. */
  maps: ReturnType<typeof makeMaps> | undefined;
  mapWords: HTMLElement[][] = [];
  titles: { button: HTMLElement, most: HTMLElement }[] = [];
  node: HTMLElement;

  constructor(data: Pick<LearningState, "seed" | "heads" | "rate" | "steps">) {
    this.start = { ...data, sentence: 0, word: 0, head: data.heads - 1, step: data.steps };
    this.settings = { ...this.start };
    this.goal = data.steps;
    this.controls = controlsOf(this);
    this.bar = new TimeBar({
      count: this.settings.steps + 1, pace: PACE,
      label: (step) => this.said(step), show: (step) => {
        if (!this.isTraining) this.isFollowing = false;
        this.settings.step = step;
        this.paintStep();
      },
    });
    this.node = this.build();
    new MutationObserver(() => this.paintStep())
      .observe(document.documentElement, { attributeFilter: ["data-theme"] });
  }

  placed() {
    this.drawn = new Promise<void>((done) => {
      inSlices([() => this.examine(), () => {
        this.isDrawn = true;
        this.matrices.layOut(this.settings.heads);
        this.paintStep();
        done();
      }]);
    });
    this.begin();
  }

  // ---- Elements ----

  build() {
    return make("div", { className: "model-live" },
      make("p", { className: "strip-title" }, texts.title), this.controls.node,
      make("div", { className: "learning-halves" },
        make("div", {}, this.curve.node, this.bar.node), make("div", {}, this.roles.node, this.looks),
        this.answers.node),
      make("details", { className: "panel-more" }, make("summary", {}, texts.unfold), this.matrices.node));
  }

  /** Build the parts that depend on the number of heads. */
  layOut() {
    const { heads } = this.settings;
    if (this.titles.length === heads) return;
    const names = Array.from({ length: heads }, (_, i) => fill(texts.head, { n: i + 1 }));
    this.titles = names.map((name, i) => ({
      button: makeButton(name, () => this.choose(this.settings.word, i), { className: "model-word" }),
      most: make("small", { className: "soft" }),
    }));
    set(this.looks, "class", `learning-maps${heads > 4 ? " many" : ""}`);
    this.maps = makeMaps(this, names);
    this.looks.replaceChildren(make("p", { className: "model-title" }, texts.maps), this.maps.node);
    this.mapWords = heads <= FEW ? this.namesAround(this.maps.maps.map(({ box }) => box)) : [];
    this.roles.layOut(names);
    if (this.isDrawn) this.matrices.layOut(this.settings.heads);
  }

  /** The sentence beside the first map and below each; where they are many a square names its words alone. */
  namesAround(boxes: HTMLElement[]) {
    const found: HTMLElement[][] = [];
    const list = (className: string) => {
      const those = Array.from({ length }, () => make("li"));
      found.push(those);
      return make("ol", { className, "aria-hidden": "true" }, ...those);
    };
    boxes[0].append(list("map-rows"));
    boxes.forEach((box) => box.after(list("map-columns")));
    return found;
  }

  /** The title above the map of a head. */
  titleOf(i: number) {
    return make("p", {}, this.titles[i].button, this.titles[i].most);
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
    shareAddress(toHash(this.settings, this.start), this.controls.status);
  }

  /** The readable part of an address, with defaults for the rest. */
  readAddress() {
    const parts = partsOf("learning", "layer");
    if (!parts) return;
    this.settings = fromParts(parts, this.start, fresh.length, length);
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
    const training = this.kept.get(key) ?? new Training({ seed, heads, rate });
    this.training = training;
    this.kept.set(key, training);
    if (this.kept.size > KEPT) this.kept.delete(this.kept.keys().next().value ?? "");
    // One that was broken off is no training to compare with.
    if (before && before !== training && before.found.length > Math.max(1, this.goal)) this.before = before;
    this.row = -1;
    this.isFollowing = true;
    this.goal = Math.min(settings.step, steps);
    this.layOut();
    this.paintSettings();
    this.bar.recount(steps + 1);
    // The first results follow one frame after the first drawing; after a change they are computed at once.
    if (before) this.examine();
    else this.follow(training);
    this.train(training);
  }

  /** Show how far the training has come, and at least how the layer does that it begins with. */
  examine() {
    const { training } = this;
    if (!training) return;
    if (!training.found.length) training.advance();
    this.follow(training);
  }

  /** Go on until the steps are done, or another training is wanted. */
  async train(training: Training) {
    const { steps } = this.settings;
    this.turn += 1;
    const own = this.turn;
    const telling = () => setText(this.controls.status,
      fill(texts.trains, { step: this.foundLast, steps }));
    // A screen reader announces only the end.
    set(this.controls.status, "aria-busy", "true");
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
        this.follow(training);
        await new Promise((done) => { requestAnimationFrame(done); });
        if (this.turn !== own) return;
      }
    }
    this.follow(training);
    set(this.bar.node, "aria-busy", "false");
    set(this.controls.status, "aria-busy", "false");
    const { found } = training;
    const { heads, rate, seed } = this.settings;
    setText(this.controls.status, fill(texts.trained, { seed, rate: short(rate), steps,
      heads: heads === 1 ? texts.oneHead : fill(texts.manyHeads, { n: heads }),
      first: shown(found[0].loss), last: shown(found[steps].loss) }));
  }

  /** Show how far the training has come, and its newest step while no one looks at another. */
  follow(training: Training) {
    const done = Math.min(this.foundLast, this.settings.steps);
    const lossesOf = ({ found }: Training) => found.map(({ loss }) => loss);
    this.curve.paint(lossesOf(training), this.before && lossesOf(this.before), this.settings.steps);
    this.isTraining = true;
    if (this.isFollowing) this.bar.at = Math.min(done, this.goal);
    this.bar.refresh();
    this.isTraining = false;
  }

  // ---- Painting ----

  /** The newest step that is examined, the start before any is. */
  get foundLast() {
    return Math.max(0, (this.training?.found.length ?? 0) - 1);
  }

  /** The step that is shown: the newest one where a later one is not done yet. */
  get shownStep() {
    return Math.min(this.settings.step, this.foundLast);
  }

  get rowRead() {
    return this.row < 0 ? fresh[this.settings.sentence].forms[this.settings.word] : this.row;
  }

  /** The label of a step on the bar. */
  said(step: number) {
    const at = Math.min(step, this.foundLast);
    const found = this.training?.found[at];
    return found ? fill(texts.after, { step: at, loss: shown(found.loss), right: percent(found.right) }) : "";
  }

  paintSettings() {
    const { settings } = this;
    markCaption(this.node, false, NEW.some((name) => settings[name] !== this.start[name]));
    this.controls.paint();
  }

  paintStep() {
    const { maps, settings, training } = this;
    if (!training || !maps) return;
    const step = this.shownStep;
    const { loss, roles } = training.found[step] ?? {};
    const layer = training.layers[step];
    const { forms } = fresh[settings.sentence];
    const passed = attend(layer, settings.heads, forms);
    this.state = { words: forms, place: settings.word };
    this.curve.mark(step / settings.steps, loss, fill(texts.curve, { what: this.said(step) }));
    this.roles.paint(roles);
    this.weights = Array.from({ length: settings.heads }, (_, h) => Array.from({ length }, (_row, i) =>
      [...passed.weights.subarray((h * length + i) * length, (h * length + i + 1) * length)]));
    maps.paint();
    this.mapWords.forEach((those) =>
      those.forEach((node, i) => setText(node, words[forms[i]])));
    this.titles.forEach(({ button, most }, h) => {
      const row = this.weights[h][settings.word];
      const other = row.indexOf(Math.max(...row));
      set(button, "aria-pressed", String(h === settings.head));
      setText(most, fill(texts.gives, { other: words[forms[other]], weight: shown(row[other], 2) }));
    });
    this.answers.paint(fill(texts.sentence, { n: settings.sentence + 1, count: fresh.length }), fresh[settings.sentence],
      settings.word, (word, question) => answered(layer, passed.outputs, word, question));
    if (this.isDrawn) {
      this.matrices.paint(settings, layer, training.layers[this.foundLast], passed.inner, this.rowRead,
        maps.maps[settings.head].color);
    }
  }

  /** The weights of a head, for its map. */
  weightsOf(head: number) {
    return this.weights[head];
  }
}

/** Open the figure on a page. */
export const open: Instrument = (data) => new View(data);
