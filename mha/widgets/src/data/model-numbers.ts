import type { ModelData } from "../types.ts";

/** Written by Python; see mha/widgets/assets.py. */
declare const trained: ModelData;
export default trained;
