/**
 * The dial: each pair of components of a query and of the keys as arrows, rotated by their positions.
 * A reader changes the angle per position of each pair, and the position of the first word.
 */

import { short } from "../engine/numbers.ts";
import { of as placeOf } from "../engine/places.ts";
import { explorerViews } from "../strings/explorer-views.ts";
import { explorer } from "../strings/explorer.ts";
import { fill } from "../engine/text.ts";
import { make, makeButton, makeChoice, setBar, setText } from "./explorer-parts.ts";
import { Plane } from "./plane.ts";
import { coordinates } from "./plane-geometry.ts";
import { makeSlider } from "./plane-sliders.ts";
import type { ExplorerView } from "../types/explorer.ts";
import type { Choice, SliderWithName } from "../types/fields.ts";
import type { PlaneDrawing, PlaneMark, PlaneTip } from "../types/plane.ts";
import type { Matrix, Place } from "../types/run.ts";

const texts = { ...explorerViews, ...explorer };

/** The sliders: degrees on both sides, and how late a text may begin. */
const TURN = 180;
const LATEST = 20;

/** How much slower each further pair turns where they are not alike. */
const SLOWER = 10;

/** A dragged tip is rotated in steps of a degree divided by this. */
const TENTHS = 10;

const degrees = (angle: number) => (angle * TURN) / Math.PI;
const radians = (angle: number) => (angle * Math.PI) / TURN;

export class Dial {
  explorer: ExplorerView;
  first: number;
  planes: PlaneDrawing[];
  sliders: SliderWithName[];
  alike: Choice;
  query: HTMLElement;
  title: HTMLElement;
  says: HTMLElement;
  start: SliderWithName;
  bars: { token: HTMLElement; bar: HTMLElement; number: HTMLElement; node: HTMLElement; }[];
  node: HTMLElement;

  constructor(explorer: ExplorerView) {
    this.explorer = explorer;
    const pairs = (explorer.numbers.angles as Matrix)[0].map((_, pair) => pair);
    /** The position of the first word, which no angle tells while nothing is turned. */
    this.first = 0;
    this.planes = pairs.map((pair) => new Plane({
      title: fill(texts.dialPair, { first: 2 * pair + 1, second: 2 * pair + 2 }),
      names: [`${2 * pair + 1}`, `${2 * pair + 2}`].map((i) => fill(texts.dialAxis, { i })),
      changed: () => this.paint(),
    }));
    this.sliders = pairs.map((pair) => makeSlider({ label: texts.dialAngle, act: (value) => this.turnTo(pair, value),
      properties: { min: -TURN, max: TURN, step: 1,
        "aria-label": fill(texts.dialAngleOf, { first: 2 * pair + 1, second: 2 * pair + 2 }) } }));
    this.alike = makeChoice("checkbox", "", texts.dialAlike, (isAlike) => this.write(pairs.map((pair) =>
      this.angles()[0] / (isAlike ? 1 : SLOWER ** pair)), "alike"));
    this.alike.input.checked = true;
    this.query = make("i");
    const [before, after] = texts.dialTitle.split("{query}");
    this.title = make("p", { className: "strip-title" }, before, this.query, after);
    this.says = make("p", { className: "dial-says" });
    this.start = makeSlider({ label: texts.dialFirst, properties: { min: 0, max: LATEST, step: 1 },
      act: (value) => { this.first = value; this.write(this.angles(), "first"); } });
    this.bars = explorer.data.tokens.map(() => {
      const [token, bar, number] = [make("i"), make("span"), make("span")];
      return { token, bar, number, node: make("li", {}, token, make("span", { className: "bar" }, bar), number) };
    });
    this.node = make("div", { className: "planes dial head-0" },
      this.title,
      make("div", { className: "two" }, ...this.planes.map(({ node }, pair) =>
        make("div", {}, node, this.sliders[pair].node))),
      make("div", { className: "hands" },
        make("div", { className: "temperature-bars" }, make("ul", {}, ...this.bars.map(({ node }) => node))),
        make("div", { className: "sliders" }, this.start.node, this.alike.node,
          makeButton(texts.lastFirst, () => this.lastFirst()))),
      this.says);
  }

  /** How far each pair turns for one position, in degrees. */
  angles(): number[] {
    const { angles: [first, second = first] } = (this.explorer.numbers as { angles: Matrix });
    return first.map((angle, pair) => Number(degrees(second[pair] - angle).toFixed(6)));
  }

  /** Set the angle per position of a pair, or of all pairs if they are alike, in degrees. */
  turnTo(pair: number, angle: number) {
    const isAlike = this.alike.input.checked;
    this.write(this.angles().map((old, i) => (isAlike || i === pair ? angle : old)), "angle");
  }

  /** Angles as text. */
  said(angles: number[]) {
    return [...new Set(angles)].map((angle) => `${short(angle, 1)}°`).join(texts.dialAnd);
  }

  /** The effect of the positions on the arrows, in words. */
  say(angles: number[]) {
    const { first } = this;
    if (!first) return `${fill(texts.dialAtZero, { angle: this.said(angles) })}${new Set(angles).size > 1 ? ` ${texts.dialApart}` : ""}`;
    const turned = angles.map((angle) => first * angle);
    const turns = turned.every((all) => all && all % (2 * TURN) === 0);
    const sums = angles.map((angle, pair) =>
      fill(texts.dialTimes, { first, angle: this.said([angle]), all: this.said([turned[pair]]) }));
    const words = { first, turned: [...new Set(sums)].join(texts.dialAnd) };
    return `${fill(texts.dialLater, words)}${turns ? texts.dialFull : ""}. ${texts.dialDistance}`;
  }

  /** The last word is put before the others. */
  lastFirst() {
    const { data, state } = this.explorer;
    const order = [...state.order.slice(-1), ...state.order.slice(0, -1)];
    this.explorer.change({ order }, fill(texts.orderIs, { tokens: order.map((i) => data.tokens[i]).join(", ") }),
      { compare: false });
  }

  /** @param angles in degrees, one per pair @param hand the control that was used */
  write(angles: number[], hand: string) {
    const { data } = this.explorer;
    this.explorer.editAll(data.tokens.flatMap((_, row) => angles.map((angle, pair) =>
      ([placeOf("angles", 0, row, pair), radians(angle) * (this.first + row)] as [Place, number]))),
    fill(texts.dialTurned, { angle: this.said(angles), first: this.first }), hand);
  }

  /** The tip of a key that has been turned: on a circle around zero, so far as its position turns it. */
  tip(pair: number, row: number, turned: number[]): PlaneTip | undefined {
    const { data, state } = this.explorer;
    const position = this.first + row;
    if (!position || !Math.hypot(...turned)) return undefined;
    return { name: fill(texts.dialTip, { token: data.tokens[state.order[row]] }), look: "turns",
      move: (point) => {
        const way = degrees(Math.atan2(point[1], point[0]) - Math.atan2(turned[1], turned[0]));
        const short_ = ((way + 3 * TURN) % (2 * TURN)) - TURN;
        // The tip turns in tenths of a degree, which is less than a pixel.
        const turn = Math.round(TENTHS * (position * this.angles()[pair] + short_)) / TENTHS;
        const angle = turn / position;
        // A full turn more for each position is no other turn, and none that the slider shows.
        const full = Math.abs(angle) > TURN ? 2 * TURN * Math.sign(angle) : 0;
        this.turnTo(pair, Number((angle - full).toFixed(6)));
      } };
  }

  paint() {
    const { explorer, planes } = this;
    const { data, numbers, state } = explorer;
    const row = state.order.indexOf(state.query);
    const head = state.focus;
    const angles = this.angles();
    const start = angles.findIndex((angle) => angle);
    if (start >= 0) {
      this.first = Math.round(degrees((numbers.angles as Matrix)[0][start]) / angles[start]);
    }
    planes.forEach((plane, pair) => {
      const of = (rows: Matrix, i: number) => rows[i].slice(2 * pair, 2 * pair + 2);
      const { key, turned_key = [], turned_query = [] } = numbers;
      const marks: PlaneMark[] = data.tokens.flatMap((_, i) => {
        const [before, at] = [of(key[head], i), of(turned_key[head], i)];
        const token = data.tokens[state.order[i]];
        return [{ kind: "arrow", name: "ghost", at: before },
          { kind: "arrow", name: "key-arrow", at, text: `${token} ${coordinates(at)}`, tip: this.tip(pair, i, at) }];
      });
      const at = of(turned_query[head], row);
      marks.push({ kind: "arrow", name: "main query-arrow", at, text: `${texts.planeAsks} ${coordinates(at)}` });
      const long = Math.max(...key[head].map((one: number[]) => Math.hypot(...one.slice(2 * pair, 2 * pair + 2))));
      plane.paint(marks, [[-long, -long], [long, long]]);
    });
    // Angles that differ, from an address or a single pair, switch `alike` off; only the reader switches it on.
    if (new Set(angles).size > 1) this.alike.input.checked = false;
    this.sliders.forEach((slider, pair) => slider.show(angles[pair], this.said([angles[pair]])));
    setText(this.query, data.tokens[state.query]);
    setText(this.says, this.say(angles));
    this.start.show(this.first, String(this.first));
    numbers.weights[head][row].forEach((weight: number, i: number) => {
      setText(this.bars[i].token, data.tokens[state.order[i]]);
      setText(this.bars[i].number, short(weight, 4));
      setBar(this.bars[i].bar, weight);
    });
  }
}
