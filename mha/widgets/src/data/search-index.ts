import type { SearchIndex } from "../types/reading.ts";

/** Written by Python; see book/_ext/byhand/search. */
declare const index: SearchIndex;
export default index;
