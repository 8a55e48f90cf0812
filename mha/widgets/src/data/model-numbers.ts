import type { ModelData } from "../types/panels.ts";

/** Written by Python; see mha/widgets/assets.py. */
declare const trained: ModelData;
export default trained;
