/**
 * Temperature and mask: the weights of one query as bars, as they would be without both, under the
 * temperature alone, and under the temperature and the masks.
 */

import { additiveMask, factor, maskedScores, scaledScores, softmax } from "../engine/attention.ts";
import { short, shown } from "../engine/numbers.ts";
import { explorerHeat } from "../strings/explorer-heat.ts";
import { explorerViews } from "../strings/explorer-views.ts";
import { fill } from "../engine/text.ts";
import { make, setBar, setText } from "./explorer-parts.ts";
import { paintMeeting } from "./plane-marks.ts";
import { Plane } from "./plane.ts";
import { Sliders } from "./plane-sliders.ts";
import type { ExplorerView } from "../types/explorer.ts";
import type { PlaneDrawing } from "../types/plane.ts";

const texts = { ...explorerViews, ...explorerHeat };

/** The slider goes over powers of ten, in hundredths of one. */
const SLIDER = { min: -100, max: 100, unit: 100 };

export class Temperature {
  explorer: ExplorerView;
  columns: { title: string; without: string; head: HTMLElement; list: HTMLElement; rows: { token: HTMLElement; bar: HTMLElement; number: HTMLElement; node: HTMLElement; }[]; node: HTMLElement; }[];
  slider: HTMLInputElement;
  hidden: HTMLInputElement[];
  value: HTMLElement;
  node: HTMLElement;

  /** The query among the keys, where these are two wide, and its sliders. */
  seen: { plane: PlaneDrawing, sliders: Sliders } | null = null;

  constructor(explorer: ExplorerView) {
    this.explorer = explorer;
    const { tokens } = explorer.data;
    const titles = [[texts.plain, ""], [texts.heated, texts.unheated],
      [texts.heatedMasked, texts.unmasked]];
    this.columns = titles.map(([title, without]) => {
      const head = make("p", { className: "soft" });
      const rows = tokens.map(() => {
        const [token, bar, number] = [make("i"), make("span"), make("span")];
        const node = make("li", {}, token, make("span", { className: "bar" }, bar), number);
        return { token, bar, number, node };
      });
      const list = make("ul", {}, ...rows.map(({ node }) => node));
      return { title, without, head, list, rows, node: make("div", {}, head, list) };
    });
    const id = `${explorer.data.name}-temperature`;
    this.slider = make("input", { type: "range", id, min: SLIDER.min, max: SLIDER.max, step: 2,
      oninput: () => this.warm(10 ** (Number(this.slider.value) / SLIDER.unit)) });
    this.hidden = tokens.map((_, i) =>
      make("input", { type: "checkbox", onchange: () => this.hide(i) }));
    const choices = this.hidden.map((box, i) =>
      make("label", { className: "choice" }, box, fill(texts.padding, { token: tokens[i] })));
    this.value = make("output", { htmlFor: id });
    const { query, turned_query } = explorer.numbers;
    // Lines of equal weight have a plane of queries to lie in.
    if (query[0][0].length === 2 && !turned_query) {
      const plane = new Plane({ names: texts.planeAxes.both, changed: (tip) => sliders.paint(tip) });
      const sliders = new Sliders(() => [plane]);
      this.seen = { plane, sliders };
    }
    const bars = make("div", {}, make("div", { className: "line" },
      make("label", { htmlFor: id }, texts.temperature), this.slider, this.value),
    make("div", { className: "line" }, ...choices),
    make("div", { className: "temperature-bars" }, ...this.columns.map(({ node }) => node)));
    if (this.seen) bars.append(this.seen.sliders.node);
    this.node = make("div", { className: `temperature head-0${this.seen ? " two" : ""}` },
      ...(this.seen ? [this.seen.plane.node] : []), bars);
  }

  /**
   * Lines of equal weight, of the key that has most of those that the query may attend to; a key that is
   * alone among them has no lines.
   * @param weights without a temperature @param masks of the query
   */
  paintLines({ plane, sliders }: NonNullable<Temperature["seen"]>, weights: number[], masks: number[]) {
    const { data, state } = this.explorer;
    const seen = weights.map((weight, key) => (masks[key] === -Infinity ? -1 : weight));
    const most = seen.indexOf(Math.max(...seen));
    const count = seen.filter((weight) => weight >= 0).length;
    const says = count > 1 ? texts.planeLines : count ? texts.planeAlone : texts.planeAllMasked;
    setText(plane.caption, fill(says, { key: data.tokens[state.order[most]] }));
    paintMeeting(this.explorer, plane, state.focus, most);
    sliders.paint();
  }

  warm(temperature: number) {
    const value = Number(temperature.toFixed(2));
    this.explorer.change({ temperature: value },
      fill(texts.temperatureIs, { value: short(value) }), { what: "temperature" });
  }

  hide(token: number) {
    const padding = this.hidden.map((box) => box.checked);
    const said = padding[token] ? texts.paddingOn : texts.paddingOff;
    this.explorer.change({ padding }, fill(said, { token: this.explorer.data.tokens[token] }));
  }

  paint() {
    const { data, numbers, state } = this.explorer;
    const row = state.order.indexOf(state.query);
    const scores = [numbers.scores[state.focus][row]];
    const own = data.masks?.[state.focus];
    const mask = additiveMask(scores, own && [own[row]]);
    const unmasked = (temperature: number) => softmax(maskedScores(
      scaledScores(scores, factor(data.keyWidth, state.scale, temperature)), mask))[0];
    const bars = [unmasked(1), unmasked(state.temperature), numbers.weights[state.focus][row]];
    const warmth = short(state.temperature, 2);
    const isMasked = state.causal || state.padding.includes(true);
    // Bars that are equal to their neighbours are replaced by a hint on the setting that changes them.
    const differs = [true, state.temperature !== 1, isMasked];
    this.columns.forEach(({ title, without, head, list, rows }, i) => {
      if (list.hidden === differs[i]) list.hidden = !differs[i];
      setText(head, differs[i] ? fill(title, { value: warmth }) : without);
      const weights = bars[i];
      rows.forEach(({ token, bar, number }, key) => {
        setText(token, data.tokens[state.order[key]]);
        setText(number, shown(weights[key]));
        setBar(bar, weights[key]);
      });
    });
    setText(this.value, warmth);
    this.hidden.forEach((box, i) => {
      box.checked = state.padding[i];
    });
    const place = Math.round(SLIDER.unit * Math.log10(state.temperature));
    if (document.activeElement !== this.slider) this.slider.value = String(place);
    if (this.seen) this.paintLines(this.seen, bars[0], numbers.mask[state.focus][row]);
  }
}
