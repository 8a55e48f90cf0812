import type { LearningTask } from "../types/panels.ts";

/** Written by Python; see mha/widgets/assets.py. */
declare const task: LearningTask;
export default task;
