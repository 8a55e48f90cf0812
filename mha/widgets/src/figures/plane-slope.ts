/**
 * The slope of a linear bias: the subtraction from each scaled score by distance, as arrows down, and
 * the resulting weights.
 */

import { additiveMask, maskedScores, softmax } from "../engine/attention.ts";
import { short, shown } from "../engine/numbers.ts";
import { explorerViews as texts } from "../strings/explorer-views.ts";
import { fill } from "../engine/text.ts";
import { make, setBar, setText } from "./explorer-parts.ts";
import { Plane } from "./plane.ts";
import { makeSlider } from "./plane-sliders.ts";
import type { SliderWithName } from "../types/fields.ts";
import type { Instrument } from "../types/panels.ts";
import type { PlaneDrawing, PlaneMark } from "../types/plane.ts";

/** The largest slope, and the steps from it to none. */
const MOST = 1;
const STEPS = 256;

/** The scaled scores of the last token, and its weights, under a slope. */
export function atSlope(scores: number[], slope: number) {
  const last = scores.length - 1;
  const bias = additiveMask([scores], [scores.map((_, i) => -slope * (last - i))]);
  const biased = maskedScores([scores], bias);
  return { scores: biased[0], weights: softmax(biased)[0] };
}

class Slope {
  data: { tokens: string[]; scores: number[]; slope: number; };
  slope: number;
  plane: PlaneDrawing;
  slider: SliderWithName;
  columns: { rows: { bar: HTMLElement; number: HTMLElement; node: HTMLElement; }[]; node: HTMLElement; }[];
  node: HTMLElement;

  constructor(data: { tokens: string[], scores: number[], slope: number }) {
    this.data = data;
    this.slope = data.slope;
    this.plane = new Plane({ title: texts.slopePlane, names: texts.slopeAxes });
    this.slider = makeSlider({ label: texts.slope, act: (slope) => this.set(slope),
      properties: { min: 0, max: MOST, step: MOST / STEPS } });
    this.columns = [texts.slopeWithout, texts.slopeWith].map((title) => {
      const rows = data.tokens.map((token) => {
        const [bar, number] = [make("span"), make("span")];
        return { bar, number, node: make("li", {}, make("i", {}, token),
          make("span", { className: "bar" }, bar), number) };
      });
      return { rows, node: make("div", {}, make("p", { className: "soft" }, title),
        make("ul", {}, ...rows.map(({ node }) => node))) };
    });
    this.node = make("div", { className: "temperature head-0" },
      make("p", { className: "strip-title" }, fill(texts.slopeTitle, { first: data.tokens[0], last: data.tokens[data.tokens.length - 1] })),
      make("div", { className: "two" }, this.plane.node, make("div", {},
        make("div", { className: "sliders" }, this.slider.node),
        make("div", { className: "temperature-bars" }, ...this.columns.map(({ node }) => node)))));
    this.paint();
  }

  set(slope: number) {
    this.slope = Math.min(MOST, Math.max(0, Math.round(slope * STEPS) / STEPS));
    this.paint();
  }

  paint() {
    const { tokens, scores } = this.data;
    const last = scores.length - 1;
    const now = atSlope(scores, this.slope);
    const marks: PlaneMark[] = scores.map((score, i) => ({ kind: "point", name: "foot", at: [last - i, score], wide: 4 }));
    now.scores.forEach((score, i) => marks.push({
      kind: "arrow", name: "main", at: [last - i, score], from: [last - i, scores[i]],
      text: `${tokens[i]} ${shown(score, 2)}`,
      tip: i ? undefined : { name: texts.slope, look: "main",
        move: ([, y]: number[]) => this.set((scores[0] - y) / last) },
    }));
    this.plane.paint(marks, [[last, scores[0] - MOST * last], [last, Math.max(...scores)]]);
    this.slider.show(this.slope, short(this.slope, 4));
    [atSlope(scores, 0), now].forEach(({ weights }, column) => weights.forEach((weight, i) => {
      const { bar, number } = this.columns[column].rows[i];
      setBar(bar, weight);
      setText(number, shown(weight));
    }));
  }
}
/** Open the figure on a page. */
export const open: Instrument = (data) => new Slope(data);
