/** The stages of a forward run by name: symbol, axes, and the meaning of its rows and columns.
    `stages.json` is written by Python from mha/runs/stages.py; a test compares the two. */

import type { Stage } from "../types/run.ts";
import data from "./stages.json" with { type: "json" };

export const stages = data as Record<string, Stage>;
