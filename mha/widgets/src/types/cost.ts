/** The types of the calculator of costs. */

/** A line of the calculator, as `Line` in mha/widgets/cost.py describes it. */
export interface CostLine {
  what: string;
  formula: string;
  numbers: string;
  value: string;
  unit: string;
  by: string;
}

export type CostSizes = Record<string, number>;

/** The data of the calculator, as mha/widgets/cost.py writes it. */
export interface CostData {
  models: Record<string, CostSizes>;
  /** The sizes that belong to no model. */
  start: CostSizes;
  lines: CostLine[];
}

/** The calculator, as its charts see it. */
export interface CostFigure {
  sizes: CostSizes;
  slider: HTMLInputElement;
  change(changes: CostSizes): void;
}
