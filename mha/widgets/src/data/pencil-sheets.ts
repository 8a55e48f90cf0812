import type { PencilSheet } from "../types/pencil.ts";

/** Written by Python; see mha/widgets/assets.py. */
declare const sheets: PencilSheet[];
export default sheets;
