import type { HeadsMaps } from "../types/panels.ts";

/** Written by Python; see mha/widgets/assets.py. */
declare const maps: HeadsMaps;
export default maps;
