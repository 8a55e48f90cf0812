/**
 * An example of the reader's own: a sentence, the meanings of its words as sliders, its sizes; below
 * them its explorer, exercises on its numbers, and files to save. Each change of the sentence or a size
 * makes another explorer; all are steps of one history.
 */

import { Draws } from "../engine/draws.ts";
import { percent } from "../engine/numbers.ts";
import { bareWord, drawExample, neededWidth } from "../engine/own-draw.ts";
import { at as placeAt } from "../engine/places.ts";
import { entered } from "../engine/typed-numbers.ts";
import { fill } from "../engine/text.ts";
import {
  freshId, inSlices, isPage, make, makeButton, makeChoice, makeField, makeGroup, markCaption, set, setBar, setText,
} from "../figures/explorer-parts.ts";
import { historyButtons } from "../figures/history-buttons.ts";
import { elementOf } from "../figures/explorer-sections.ts";
import {
  compute, startOf,
} from "../store/explorer-state.ts";
import { editNow } from "../store/edits.ts";
import { History } from "../store/history.ts";
import {
  KINDS, SEEDS, SIZES, addressOf, followed, isTold, kept, mostTold, settingsOf, withWidth, wordsOf,
} from "../store/own-settings.ts";
import { explorer } from "../strings/explorer.ts";
import { own as texts } from "../strings/own.ts";
import { askable, boxOf } from "./own-asks.ts";
import { download, nameOf, notebook, taken, toml } from "./own-files.ts";
import { Sheet, print } from "./own-sheet.ts";
import type { Choice, ExplorerData, ExplorerState, Instrument, Matrix, OwnKnowledge, OwnSettings } from "../types.ts";

const { copied, queryIs, redone, undone } = explorer;

/** The range of a slider; a typed number may be outside it. */
const SLIDERS = { meanings: [0, 2, 0.5], whole: [-3, 3, 1], tenths: [-1.5, 1.5, 0.1] };

/** A sentence is taken when the typing pauses; changes of one kind are one step meanwhile. */
const PAUSE_MS = 400;
const GESTURE_MS = 1500;

/** Numbers per word, unless the words need more. */
const WIDTH = 4;

/** From this width on there is room for all that can be chosen. */
const DESK = "(min-width: 48rem)";

/** The settings whose change gives each word a new question. */
const REDRAWN = ["words", "numbers", "seed", "width"];

/** Words of which something is to be said are named in so many signs, else counted. */
const NAMED = 24;

/** How many steps back are kept. */
const STEPS = 50;

/** The weights of a state; those that were drawn, where its numbers are too large to compute. */
function weightsOf(data: ExplorerData, state: Partial<ExplorerState>): Matrix[] {
  try {
    return compute(data, { ...startOf(data), ...state }).weights;
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    return compute(data, startOf(data)).weights;
  }
}

/** Whether all matrices of a row, one per head, are zero, so that no head reads the number. */
const isIdle = (matrices: Matrix[], row: number): boolean => matrices.every((matrix) => matrix[row].every((x) => !x));

/** Where the package is: the site has it; beside pages that are opened as files there is none. */
const wheelAt = (wheel: string) => (location.protocol.startsWith("http")
  ? new URL(`${document.documentElement.dataset.content_root ?? "./"}downloads/${wheel}`, location.href).href : wheel);

class Own {
  data: OwnKnowledge & { words: string[] };
  first: OwnSettings;
  settings: OwnSettings;
  element: any;
  history: History<{ settings: OwnSettings, element: any }>;
  changed: number;
  turned: string;
  field: any;
  shape: string;
  slid: string;
  syncs: (() => void)[];
  follows: (() => void)[];
  sliders: any[];
  slidersOf: any;
  words: any[];
  legend: any[];
  place: any;
  chosen: any;
  sliding: any;
  node: any;
  top: any;
  one: Choice | undefined;
  asker: any;
  box: any;

  /** @param data as mha/widgets/own.py writes it */
  constructor(data: any) {
    this.data = data;
    this.first = withWidth({ words: data.words, numbers: "meanings", seed: 1, heads: 2, width: WIDTH, inner: 2,
      positions: false, output: true }, data);
    this.settings = this.first;
    this.element = null;
    // An explorer that was made anew is another state: it has a history of its own.
    this.history = new History((left, right) => left.element === right.element, STEPS);
    /** When the last change was. */
    this.changed = 0;
    /** Which meanings the heads join, where that is to be said. */
    this.turned = "";
    /** Where the sentence is typed. */
    this.field = null;
    /** The state for which the words and the sliders were last made. */
    this.shape = "";
    this.slid = "";
    this.syncs = [];
    /** The updates after a change of the explorer, and those after a change of the settings only. */
    this.follows = [];
    this.sliders = [];
    /** The title of the sliders, with their word. */
    this.slidersOf = null;
    this.words = [];
    /** The names of the heads. */
    this.legend = [];
    this.place = make("div", { className: "own-explorer" });
    this.chosen = make("div", { className: "own-chosen" });
    this.sliding = make("div", { className: "own-sliders" });
    const [sentence, vocabulary] = this.sentence();
    this.node = make("div", { className: "own" }, make("p", { className: "own-lead" }, texts.lead), sentence,
      this.bar(), this.choices(), vocabulary, this.chosen, this.place, this.asks()); // no choice moves the choices
    this.node.addEventListener("keydown", (event: KeyboardEvent) => this.onKey(event));
  }

  get explorer() {
    return this.element.explorer;
  }

  // ---- The explorer and the history ----

  /** The page shows the first example as the element comes into it. */
  placed() {
    this.show(this.made(this.first));
    this.explorer.leaveAddress();
  }

  /** The figure for some settings. It begins with the word that shows most. */
  made(settings: OwnSettings) {
    const { heads, inputs } = drawExample(settings, this.data);
    const data: any = { name: "own-example", address: addressOf(settings), tokens: settings.words, heads,
      focus: null, inputs, block: null, end: settings.output ? "output" : "concat", masks: null,
      isCausal: false, scale: null, prints: {}, tasks: [], view: "strip" };
    data.focus = mostTold(weightsOf(data, {}));
    return { settings, data, element: elementOf(data, this.data.titles) };
  }

  show({ settings, element, data = element.data }: { settings: OwnSettings, element: any, data?: any }, state?: Partial<ExplorerState>) {
    this.turned = this.turning(settings, data.heads);
    this.settings = settings;
    this.element = element;
    this.place.append(element);
    element.isLate = true;
    element.begin();
    this.come();
    if (!this.explorer.maker) this.explorer.told.push(() => this.paint());
    this.explorer.maker = this;
    this.chooser();
    this.syncs.forEach((sync) => sync());
    if (state) this.explorer.change(state, "", { compare: false, keep: false });
    else this.explorer.refresh();
  }

  /**
   * What stands above answers at once; the explorer takes the place of the one before in a slice of
   * its own, where it was not made yet.
   */
  come() {
    const { element, explorer, place } = this;
    const show = () => {
      if (element !== this.element) return;
      explorer.assemble();
      element.style.display = "";
      [...place.children].forEach((other) => { if (other !== element) other.remove(); });
    };
    if (explorer.made) {
      show();
      return;
    }
    if (place.firstChild !== element) element.style.display = "none";
    inSlices([show]);
  }

  /**
   * What is to be said of heads, once the words are not those that the page begins with: what each joins
   * now, whatever sentence stood there before.
   * @param heads of these
   */
  turning({ numbers, words }: OwnSettings, heads: string[]) {
    const isFirst = words.join(" ") === this.first.words.join(" ");
    return isFirst || numbers !== "meanings" ? "" : fill(texts.turned, { heads: heads.join(", ") });
  }

  /**
   * Take over other settings, and what of the reader's numbers still holds.
   *
   * @param what is changed: quick changes of it are one step
   */
  change(patch: Partial<OwnSettings>, sentence: string, what: string = "") {
    const wanted = { ...this.settings, ...patch };
    const settings = withWidth(wanted, this.data);
    const raised = settings.width > wanted.width ? fill(texts.raised, { width: settings.width }) : "";
    if (JSON.stringify(settings) === JSON.stringify(this.settings)) return;
    const now = performance.now();
    if (now - this.changed >= GESTURE_MS) this.history.endStep();
    this.changed = now;
    const { explorer } = this;
    explorer.leaveAddress();
    explorer.history.clearRedo();
    const made = this.made(settings);
    this.history.record({ settings: this.settings, element: this.element }, made, what);
    const state = kept(explorer.state, this.settings, settings);
    // The word that is looked at stays where it is still there and tells something.
    const weights = weightsOf(made.data, state);
    const at = followed(this.settings.words, settings.words)[explorer.state.query];
    const isNew = REDRAWN.some((key) => key in patch) || raised !== "";
    const stays = at >= 0 && (!isNew || isTold(weights, at));
    const query = stays ? at : mostTold(weights);
    // Numbers that are new may tell most in another head.
    const peaks = weights.map((rows) => Math.max(...rows[query]));
    const focus = isNew ? peaks.indexOf(Math.max(...peaks)) : state.focus;
    this.show(made, { ...state, query, focus });
    this.write();
    this.explorer.say([sentence, raised, this.turned].filter(Boolean).join(" "));
  }

  /** The address of what is shown now, whatever stood there. */
  write() {
    this.explorer.written = "";
    this.explorer.writeAddress();
  }

  step(forward: boolean) {
    const now = { settings: this.settings, element: this.element };
    const wanted = forward ? this.history.redo(now) : this.history.undo(now);
    if (!wanted) return false;
    this.explorer.leaveAddress();
    this.show(wanted);
    this.write();
    this.explorer.say(forward ? redone : undone);
    return true;
  }

  onKey(event: KeyboardEvent) {
    if (!(event.ctrlKey || event.metaKey) || event.key.toLowerCase() !== "z") return;
    if (event.defaultPrevented || (event.target as any).matches("[type=text]")) return;
    event.preventDefault();
    this.explorer.step(event.shiftKey);
  }

  /** An address such as #own=example&words=… holds settings, and a state of their explorer. */
  readAddress() {
    const settings = settingsOf(location.hash, this.first, this.data);
    if (!settings) return;
    this.explorer.leaveAddress();
    this.history.clear();
    this.show(this.made(settings));
    // What the address holds beside them, the explorer reads by itself.
    this.explorer.readAddress();
  }

  // ---- What is at hand all the time: what undoes, and what is taken along ----

  bar() {
    const { paint, redo, undo } = historyButtons(() => this.explorer.step(false), () => this.explorer.step(true), true);
    this.follows.push(() => {
      const all: Pick<History<unknown>, "canRedo" | "canUndo">[] = [this.history, this.explorer.history];
      paint({ canUndo: all.some(({ canUndo }) => canUndo), canRedo: all.some(({ canRedo }) => canRedo) });
    });
    const all = this.takes();
    const open = (isOpen: boolean) => {
      all.hidden = !isOpen;
      set(take, "aria-expanded", String(isOpen));
    };
    const take = makeButton(texts.take, () => open(all.hidden), { "aria-controls": all.id });
    open(false);
    document.addEventListener("pointerdown", (event) => {
      if (!all.hidden && !this.top.contains((event.target as Node))) open(false);
    });
    all.addEventListener("keydown", (event: KeyboardEvent) => {
      if (event.key !== "Escape") return;
      open(false);
      take.focus();
    });
    this.top = make("div", { className: "own-top" }, make("div", { className: "own-line" }, undo, redo, take), all);
    return this.top;
  }

  takes() {
    const now = () => ({ example: taken(this.explorer), seed: this.settings.seed });
    const file = () => nameOf(this.settings.words);
    const saveToml = makeButton(texts.toml, () => {
      const { example, seed } = now();
      download(`${file()}.toml`, "application/toml", toml(example, seed));
    });
    const saveNotebook = makeButton(texts.notebook, () => {
      const { example, seed } = now();
      download(`${file()}.ipynb`, "application/x-ipynb+json", notebook(example, seed, wheelAt(this.data.wheel)));
    });
    const name = freshId();
    this.one = makeChoice("radio", name, "", () => {});
    const all = makeChoice("radio", name, texts.printAll, () => {});
    this.one.input.checked = true;
    const sheet = makeButton(texts.print, () =>
      print(new Sheet(taken(this.explorer), this.data.titles, all.input.checked,
        this.settings.numbers === "meanings" ? this.data.meanings : []).node()));
    // Where the browser does not copy, a field with the link comes below all buttons, and moves none.
    const said = make("div", { className: "own-said" }); // the explorer says it aloud
    const link = makeButton(texts.link, async () => {
      const { controls } = this.explorer;
      said.replaceChildren(controls.link);
      await controls.copy();
      if (!controls.link.firstChild) said.append(copied);
    });
    return make("div", { className: "own-take", id: freshId() },
      make("div", { className: "own-line" }, ...(isPage ? [link] : []), saveToml, saveNotebook),
      make("div", { className: "own-line", role: "radiogroup", "aria-label": texts.sheetOf }, sheet,
        this.one.node, all.node), said);
  }

  // ---- The sentence ----

  sentence() {
    const { most, vocabulary } = this.data;
    const error = make("span", { className: "error", role: "alert", id: freshId() });
    const help = make("span", { className: "soft", id: freshId() });
    const plain = fill(texts.wordsHelp, { words: most.words });
    this.syncs.push(() => setText(help, [this.turned && texts.joined, ...this.doubtful()].filter(Boolean).join(" ") || plain));
    const field = this.field = make("input", { type: "text", className: "own-words", autocomplete: "off",
      spellcheck: false, dir: "auto", "aria-describedby": `${help.id} ${error.id}` });
    let waiting: any;
    const take = () => {
      clearTimeout(waiting);
      const found = wordsOf(field.value, most);
      setText(error, found.error);
      set(field, "aria-invalid", String(Boolean(found.error)));
      if (found.error) return;
      const { words } = found;
      this.change({ words }, fill(texts.made, { words: words.join(" ") }), "words");
    };
    field.addEventListener("input", () => {
      clearTimeout(waiting);
      waiting = setTimeout(take, PAUSE_MS);
    });
    field.addEventListener("change", take);
    this.syncs.push(() => {
      const sentence = this.settings.words.join(" ");
      if (wordsOf(field.value, most).words.join(" ") === sentence) return;
      field.value = sentence;
      setText(error, "");
      set(field, "aria-invalid", "false");
    });
    const add = (word: string) => {
      field.value = `${field.value.trim()} ${word}`.trim();
      take();
    };
    const groups: Record<string, string[]> = {};
    Object.entries(vocabulary).forEach(([word, of]) => { (groups[of] ??= []).push(word); });
    const fold = make("details", { className: "own-vocabulary" }, make("summary", {}, texts.vocabulary));
    const finish = inSlices(Object.entries(groups).map(([of, words]) => () =>
      fold.append(make("div", { className: "own-group" },
        make("span", { className: "soft" }, of.split(" ").join(", ") || texts.ofNone),
        ...words.map((word) => makeButton(word, () => add(word), { className: "own-add" }))))));
    fold.addEventListener("toggle", finish);
    this.syncs.push(() => { fold.hidden = this.settings.numbers !== "meanings"; });
    return [make("div", { className: "own-sentence-field" },
      make("label", {}, make("span", { className: "own-title" }, texts.words), field),
      make("span", { className: "own-says" }, error, help)), fold];
  }

  /** Whether a word that should have meanings got its numbers by chance. */
  isByChance(word: string) {
    return this.settings.numbers === "meanings" && !Object.hasOwn(this.data.vocabulary, bareWord(word));
  }

  /** The words whose meanings need more numbers than some. */
  wordsBeyond(width: number) {
    const { data, settings: { numbers, words } } = this;
    return numbers === "meanings" ? words.filter((word) => neededWidth([word], data) > width) : [];
  }

  /**
   * What is to be said of words that the vocabulary does not have, and of those with meanings that need
   * more numbers than usual.
   */
  doubtful() {
    const said = (sentence: string, words: string[]) => {
      const each = [...new Set(words.map((word) => `\u2068${bareWord(word)}\u2069`))];
      const named = each.join(", ");
      return each.length ? fill(sentence, { width: neededWidth(words, this.data),
        words: named.length > NAMED ? fill(texts.many, { count: each.length }) : named }) : "";
    };
    return [said(texts.unknown, this.settings.words.filter((word) => this.isByChance(word))),
      said(texts.needed, this.wordsBeyond(WIDTH))];
  }

  // ---- What is chosen: the kind of numbers, the seed, the sizes ----

  choices() {
    const name = freshId();
    const kinds = (KINDS as OwnSettings["numbers"][]).map((kind) => {
      const choice = makeChoice("radio", name, texts.kinds[kind], () =>
        this.change({ numbers: kind }, fill(texts.drawn, { seed: this.settings.seed })));
      this.syncs.push(() => { choice.input.checked = this.settings.numbers === kind; });
      return choice.node;
    });
    const seed = this.whole(texts.seed, (text) => entered(text, { least: 0, most: SEEDS - 1, whole: true }),
      () => this.settings.seed,
      (value) => this.change({ seed: value }, fill(texts.drawn, { seed: value }), "seed"));
    const draw = makeButton(texts.draw, () => {
      const next = (this.settings.seed + 1) % 2 ** 32;
      this.change({ seed: next }, fill(texts.drawn, { seed: next }));
    });
    const sizes = Object.entries(SIZES).map(([key, size]) => this.size(key, this.data.sizes[size]));
    const switches = ["positions", "output"].map((key) => {
      const choice = makeChoice("checkbox", "", "", (on) =>
        this.change({ [key]: on }, (texts.switched as Record<string, string[]>)[key][Number(on)]));
      choice.word.innerHTML = (texts as any)[key];
      this.syncs.push(() => { choice.input.checked = Boolean((this.settings as any)[key]); });
      return choice.node;
    });
    const causal = makeChoice("checkbox", "", texts.causal, (on) =>
      this.explorer.change({ causal: on }, on ? texts.causalOn : texts.causalOff));
    this.follows.push(() => { causal.input.checked = this.explorer.state.causal; });
    return make("details", { className: "own-choices", open: matchMedia(DESK).matches },
      make("summary", {}, texts.choices),
      make("div", { className: "own-line", role: "group", "aria-label": texts.numbers },
        make("span", {}, texts.numbers), ...kinds, seed, draw),
      make("div", { className: "own-line" }, ...sizes),
      make("div", { className: "own-line" }, causal.node, ...switches));
  }

  /** A field for a whole number, with the sentence that says what is wrong right below. */
  whole(label: string, read: (text: string) => { value: number, wrong: string }, value: () => number, take: (value: number) => void): any {
    const error = make("span", { className: "error", role: "alert", id: freshId() });
    const input = make("input", { type: "text", inputMode: "numeric", autocomplete: "off", size: 5,
      "aria-describedby": error.id });
    const complain = (sentence: string) => {
      setText(error, sentence);
      set(input, "aria-invalid", String(Boolean(sentence)));
    };
    /** The number before an edit, which stays where the text is refused. */
    let before = NaN;
    let edit = -1;
    input.addEventListener("input", () => {
      if (edit !== editNow()) [edit, before] = [editNow(), value()];
      const { value: text } = input;
      const { value: found, wrong } = read(text);
      take(wrong ? before : found);
      if (input.value !== text) input.value = text;
      complain(wrong);
    });
    this.syncs.push(() => {
      if (read(input.value).value === value()) return;
      input.value = String(value());
      complain("");
    });
    return make("span", { className: "own-field" }, make("label", {}, `${label} `, input), error);
  }

  /** A size, with buttons for one less and one more. */
  size(key: string, [low, high]: [number, number]) {
    const label = texts.sizes[key];
    const now = () => (this.settings as any)[key];
    const take = (value: number) =>
      this.change({ [key]: value }, fill(texts.sized, { label, value }), key);
    const least = () => (key === "width" && this.settings.numbers === "meanings"
      ? Math.max(low, neededWidth(this.settings.words, this.data)) : low);
    const field = this.whole(label, (text) => {
      const found = entered(text, { least: low, most: high, whole: true });
      return found.value < least() ? { value: NaN, wrong: fill(texts.tooFew,
        { text: text.trim(), words: this.wordsBeyond(found.value).join(", "), least: least() }) } : found;
    }, now, take);
    const step = (by: number, sign: string, says: string) => {
      const button = makeButton(sign, () => {
        if (now() + by >= least() && now() + by <= high) take(now() + by);
      }, { className: "own-step", "aria-label": fill(says, { label }) });
      this.syncs.push(() =>
        set(button, "aria-disabled", String(now() + by < least() || now() + by > high)));
      return button;
    };
    field.querySelector("label").append(" ");
    field.querySelector("label").after(step(-1, "−", texts.less), step(1, "+", texts.more));
    return field;
  }

  // ---- The word that is looked at: what it attends to, and its numbers as sliders ----

  chooser() {
    const { settings: { heads, numbers, words } } = this;
    // Where only numbers differ, it is painted.
    const shape = JSON.stringify([words, heads, numbers]);
    if (shape === this.shape) return;
    this.shape = shape;
    const each = Array.from({ length: heads }, (_, head) => head);
    this.words = words.map((word, i) => {
      const bars = each.map((head) => {
        const bar = make("span");
        const name = make("span", { className: "own-unseen" });
        const share = make("span", { className: "own-share" });
        return { bar, name, share, node: make("span", { className: `own-bar head-${head % 6}` },
          make("span", { className: "own-track" }, name, bar), share) };
      });
      const button = makeButton("", () => this.explorer.show({ query: i },
        fill(queryIs, { token: word })), { className: "own-word" });
      button.append(make("i", { dir: "auto" }, word), ...bars.map(({ node }) => node),
        ...(this.isByChance(word) ? [make("span", { className: "soft" }, texts.byChance)] : []));
      return { button, bars };
    });
    this.asker = make("i");
    this.legend = each.map(() => make("span"));
    this.chosen.replaceChildren(
      make("p", { className: "own-title" }, this.asker, ` ${texts.asks}`, ...each.map((head) =>
        make("span", { className: `own-legend head-${head % 6}` }, make("span"), this.legend[head]))),
      make("div", { className: "own-word-row", role: "group", "aria-label": texts.choose,
        dir: this.field.matches(":dir(rtl)") ? "rtl" : "ltr" }, // to ask for its style lays the page out
        ...this.words.map(({ button }) => button)),
      this.sliding);
  }

  /** Sliders for the numbers of a word, whichever is looked at. */
  slide() {
    const { numbers, width } = this.settings;
    const slid = JSON.stringify([numbers, width]);
    if (this.slid === slid) return;
    this.slid = slid;
    const [min, max, step] = SLIDERS[numbers];
    this.sliders = Array.from({ length: width }, (_, i) => {
      const name = numbers === "meanings" ? this.data.meanings[i] : `x${"₁₂₃₄₅₆"[i]}`;
      const take = (value: number) => {
        const { explorer } = this;
        const { order, query } = explorer.state;
        return explorer.edit(placeAt("embeddings", order.indexOf(query), i), value);
      };
      const field = makeField(name, take, undefined, () => this.explorer.takeBack());
      const note = make("span", { className: "soft", id: freshId() });
      const range = make("input", { type: "range", min, max, step,
        "aria-describedby": note.id, oninput: () => take(Number(range.value)) });
      return { field, name, range, note, node: make("div", { className: "own-slider" }, field.node, note, range) };
    });
    const group = makeGroup("", make("div", { className: "own-slider-row" }, ...this.sliders.map(({ node }) => node)));
    this.slidersOf = group.firstChild;
    this.sliding.replaceChildren(group);
  }

  /** The explorer has changed: what stands around it follows. */
  paint() {
    const { explorer } = this;
    const { state, numbers } = explorer;
    markCaption(this.node, false, this.settings.numbers !== "meanings");
    this.slide();
    const word = this.settings.words[state.query];
    setText(this.asker, word);
    setText(this.slidersOf, fill(this.isByChance(word) ? texts.numbersByChance : texts.numbersOf, { word }));
    const row = state.order.indexOf(state.query);
    this.legend.forEach((name, head) => setText(name, explorer.data.heads[head]));
    this.words.forEach(({ button, bars }, i) => {
      const column = state.order.indexOf(i);
      bars.forEach(({ bar, name, share }: any, head: number) => {
        setText(name, explorer.data.heads[head]);
        const weight = numbers.weights[head][row][column];
        setBar(bar, weight);
        setText(share, numbers.mask[head][row][column] === -Infinity ? texts.hidden : percent(weight, 0));
      });
      set(button, "aria-pressed", String(i === state.query));
    });
    const { w_q, w_k, w_v } = numbers;
    this.sliders.forEach(({ field, name, range, note }, i) => {
      const value = numbers.embeddings[row][i];
      set(range, "aria-label", `${word}: ${name}`);
      const isBeyond = value < Number(range.min) || value > Number(range.max);
      setText(note, !isIdle([...w_q, ...w_k], i) ? (isBeyond ? texts.beyondSlider : "")
        : isIdle(w_v, i) ? texts.idle : texts.passedOn);
      field.set(value);
      if (Number(range.value) !== value) range.value = String(value);
    });
    this.follows.forEach((follow) => follow());
    if (this.one) setText(this.one.word, fill(texts.printOne, { word }));
  }

  // ---- Boxes that ask ----

  asks() {
    const select = make("select", { "aria-label": texts.ask });
    let offered = "";
    this.syncs.push(() => {
      const { output, positions } = this.settings;
      const stages = Object.keys(texts.steps).filter((stage) =>
        (stage !== "output" || output) && (stage !== "placed" || positions));
      const chosen = select.value || "scores";
      if (offered !== stages.join()) {
        offered = stages.join();
        select.replaceChildren(...stages.map((stage) => make("option", { value: stage }, texts.steps[stage])));
        select.value = stages.includes(chosen) ? chosen : "scores";
      }
      this.box.replaceChildren();
      button.firstChild.data = texts.askButton;
    });
    this.box = make("div", {});
    let asked = 0;
    const button = makeButton(texts.askButton, async () => {
      await import("./your-turn.ts");
      const data = taken(this.explorer);
      const numbers = compute(data, startOf(data));
      const places = askable(numbers, select.value, data.focus ?? 0);
      asked += 1;
      const draws = new Draws(asked * 7919);
      this.box.replaceChildren(places.length
        ? boxOf(data, numbers, places[draws.whole(0, places.length - 1)], this.data)
        : make("p", {}, texts.askNone));
      button.firstChild.data = texts.askOther;
      this.box.querySelector("input")?.focus();
    });
    // A notebook's frame has no boxes.
    return isPage ? make("div", { className: "own-part" },
      make("div", { className: "own-line" }, make("span", { className: "own-title" }, texts.ask), select, button),
      this.box) : "";
  }
}

/** Open the figure on a page. */
export const open: Instrument = (data) => {
  const own = new Own(data);
  return { node: own.node, placed: () => own.placed(), readAddress: () => own.readAddress() };
};
