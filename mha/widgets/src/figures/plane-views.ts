/**
 * The planes of an explorer: a query among the keys, the values with the output among them, and the
 * cloud of the embeddings with their images under a matrix of a head. Queries, keys, values, embeddings
 * and a matrix's rows can be dragged, and a weight can be dragged to a wanted value.
 */

import { directions, through } from "../engine/cloud.ts";
import { fill } from "../engine/text.ts";
import { explorerViews } from "../strings/explorer-views.ts";
import { explorer } from "../strings/explorer.ts";
import { Choices } from "./explorer-controls.ts";
import { make, set, setText } from "./explorer-parts.ts";
import { glide } from "./glide.ts";
import { FAR_OUT, paintMap, paintMeeting, paintMix } from "./plane-marks.ts";
import { sources } from "./plane-moves.ts";
import { Pulls, sayIn } from "./plane-pulls.ts";
import { Sliders } from "./plane-sliders.ts";
import { Plane } from "./plane.ts";
import type { ExplorerNumbers, ExplorerView } from "../types/explorer.ts";
import type { PlaneDrawing, TipElement } from "../types/plane.ts";
import type { Matrix, Numbers } from "../types/run.ts";

const texts = { ...explorerViews, ...explorer };

/** How long embeddings glide from one matrix to another. */
const GLIDE_MS = 500;

export class PlaneView {
  explorer: ExplorerView;
  through: string;
  head: number;
  focus: number;
  key: number | null;
  axes: string[];
  isWide: boolean;
  map: PlaneDrawing | null;
  meetings: PlaneDrawing[];
  mix: PlaneDrawing | null;
  says: HTMLElement;
  /** The numbers for which it says so. */
  told: ExplorerNumbers | null;
  pulls: Pulls[];
  planes: PlaneDrawing[];
  sliders: { node: HTMLElement; paint(tip?: TipElement | null): void; };
  node: HTMLElement;
  choices: Choices | undefined;
  halt: (() => void) | undefined;
  between: number[][] | null | undefined;

  constructor(explorer: ExplorerView) {
    this.explorer = explorer;
    const { data, numbers } = explorer;
    const heads = data.heads.length;
    const wide = numbers.embeddings?.[0].length ?? 0;
    const isMapped = (heads <= 2 && wide === 2)
      || (heads === 2 && wide > 2 && wide <= texts.planeAxes[""].length);
    /** The content of the map: the embeddings, or their images under a matrix of one head. */
    this.through = "";
    this.head = 0;
    /** The head that the strip shows: the map goes with it. */
    this.focus = explorer.state.focus;
    /** The key whose lines of equal weight are drawn. */
    this.key = null;
    const plane = (title: string, names: string[]) =>
      new Plane({ title, names, changed: (tip) => this.sliders.paint(tip),
        light: (token) => this.light(token) });
    const axes = data.axes ?? texts.planeAxes.w_v;
    this.axes = data.axes ?? texts.planeAxes[""];
    this.isWide = wide > 2;
    this.map = isMapped ? plane("", this.axes) : null;
    this.meetings = (heads === 2 ? [0, 1] : [0]).map((head) =>
      plane(heads === 2 ? fill(texts.planeHead, { head: data.heads[head] }) : texts.planeKeys, texts.planeAxes.both));
    this.mix = heads === 2 ? null : plane(texts.planeValues, axes);
    this.says = make("p", { className: "plane-says" });
    this.told = null;
    this.pulls = this.meetings.map((_, i) => new Pulls(explorer, i, (key) => { this.key = key; },
      (text) => { this.told = null; sayIn(this.says, text); }));
    this.planes = [...(this.map ? [this.map] : []), ...this.meetings, ...(this.mix ? [this.mix] : [])];
    this.sliders = new Sliders(() => this.planes.filter(({ node }) => !node.hidden));
    const isCloud = this.map && this.isWide;
    this.node = make("div", { className: "planes" },
      ...(isCloud ? this.cloud() : this.sideBySide()), this.sliders.node);
  }

  /** The planes in two columns, and the pulls of queries below. */
  sideBySide() {
    this.map?.caption.replaceChildren(this.choose());
    return [make("div", { className: "two" }, ...this.planes.map(({ node }) => node)),
      make("div", { className: "hands" }, ...this.pulls.map(({ node }) => node), this.says)];
  }

  /** One cloud, and next to it the planes of both heads, each above its pulls. */
  cloud() {
    const how = make("p", { className: "soft how" }, texts.planeCloudHow);
    const hands = [make("div", {}, this.choose(), how), ...this.pulls.map(({ node }) => node)];
    const columns = this.planes.map(({ node }, i) => make("div", {}, node, hands[i]));
    const which = this.choices?.radios("plane", this.explorer.data.heads,
      (focus) => this.explorer.show({ focus }, ""), ({ focus }) => focus) ?? [];
    columns[0].append(make("div", { className: "through which-head", role: "group",
      "aria-label": texts.planeWhich }, ...which));
    this.choices?.sync(this.explorer.state);
    return [make("div", { className: "cloud" }, ...columns), this.says];
  }

  /** The choice between the embeddings and their products with a matrix of a head. */
  choose() {
    const { heads } = this.explorer.data;
    const choices = new Choices(this.explorer);
    const [names, stages] = heads.length === 2 ? [texts.planeOfHead, ["w_q", "w_k"]]
      : [texts.planeThrough, ["w_q", "w_k", "w_v"]];
    const ways = [["", 0], ...heads.flatMap((_, head) => stages.map((stage) => [stage, head]))];
    const labels = ways.map(([stage, head]) => fill((names as Record<string, string>)[stage], { head: heads[Number(head)] }));
    const nodes = choices.radios("through", labels, (i) => {
      const from = this.between ?? this.matrix();
      [this.through, this.head] = (ways[i] as [string, number]);
      this.glide(from);
    }, () => ways.findIndex(([stage, head]) => stage === this.through && head === this.head));
    this.choices = choices;
    choices.sync(this.explorer.state);
    return make("div", { className: "through", role: "group", "aria-label": texts.planeChoose }, ...nodes);
  }

  /** The matrix through which the map shows embeddings. */
  matrix(stage = this.through, head = this.head): Matrix {
    const numbers = (this.explorer.numbers as Numbers);
    return stage ? numbers[stage][head] : directions(numbers.embeddings[0].length);
  }

  /** Animate embeddings and grid to the chosen state; pointers use their final positions. */
  glide(from: Matrix) {
    const to = this.matrix();
    this.halt?.();
    this.halt = glide(GLIDE_MS, (part) => {
      this.between = part < 1
        ? from.map((line, i) => line.map((x, j) => x + part * (to[i][j] - x))) : null;
      this.paint();
    });
  }

  /** Light a token in all planes. */
  light(token: number | null) {
    this.planes.forEach((plane) => {
      plane.lit = token;
      plane.draw();
    });
  }

  paint() {
    const { explorer, map, mix, meetings } = this;
    const { focus } = explorer.state;
    const heads = explorer.data.heads.length;
    const shownHeads = heads === 2 ? [0, 1] : [focus];
    set(this.node, "class", `planes head-${focus % 6}`);
    if (focus !== this.focus) {
      const from = this.between ?? this.matrix();
      this.head = this.focus = focus;
      this.choices?.sync(explorer.state);
      if (this.through) this.glide(from);
    }
    if (map) this.paintMap(map);
    if (map && mix) {
      const isMixed = this.through === "w_v";
      if (mix.node.hidden === isMixed) [meetings[0].node.hidden, mix.node.hidden] = [isMixed, !isMixed];
    }
    meetings.forEach((plane, i) => {
      set(plane.node, "class", `plane head-${shownHeads[i] % 6}`);
      if (!plane.node.hidden) paintMeeting(explorer, plane, shownHeads[i], this.key);
      // The sentence on the vectors that moved too remains until the next change.
      if (plane.also) plane.also.of ??= explorer.numbers;
      setText(plane.caption, (plane.also?.of === explorer.numbers && plane.also.text) || plane.title);
    });
    if (mix && !mix.node.hidden) paintMix(explorer, mix, focus);
    this.pulls.forEach((pulls, i) => {
      pulls.head = shownHeads[i];
      set(pulls.node, "class", `pulls head-${shownHeads[i] % 6}`);
      pulls.paint();
    });
    this.sliders.paint();
    // What a pull has come to holds until the next change.
    if (this.told && this.told !== explorer.numbers) sayIn(this.says, "");
    this.told ??= explorer.numbers;
  }

  paintMap(map: PlaneDrawing) {
    const { explorer, isWide, head } = this;
    const names = this.through ? texts.planeAxes[this.through] : this.axes;
    const stages = isWide ? [this.through] : ["", "w_q", "w_k", "w_v"];
    const seen = stages.flatMap((stage) => this.throughAll(stage));
    map.names = names.slice(0, 2);
    map.isBare = isWide && !this.through;
    const title = this.through ? texts.planeThis[this.through] : texts.planeCloud;
    if (isWide) {
      if (map.also) map.also.of ??= explorer.numbers;
      setText(map.caption, (map.also?.of === explorer.numbers && map.also.text)
        || fill(title, { head: explorer.data.heads[head] }));
    }
    set(map.node, "class", `plane head-${(this.through ? head : explorer.state.focus) % 6}`);
    const matrix = this.between ?? this.matrix();
    paintMap(explorer, map, { matrix, stage: this.through, head, seen, axes: this.axes });
  }

  /**
   * The points that a plane must have room for: in a map of two components the embeddings with every
   * matrix, in a cloud those that it shows.
   */
  throughAll(stage: string) {
    const matrix = this.matrix(stage);
    const ends = this.isWide && !stage ? matrix.map((way) => way.map((x) => FAR_OUT * x)) : matrix;
    return [...ends, ...(sources(this.explorer) as Matrix).map((x) => through(x, matrix))];
  }
}
