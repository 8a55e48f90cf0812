import type { SearchIndex } from "../types.ts";

/** Written by Python; see book/_ext/byhand/search. */
declare const index: SearchIndex;
export default index;
