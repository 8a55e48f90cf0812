/** The drawings above a strip, by the name that a chapter gives them. */

import { Dial } from "./plane-dial.ts";
import { PlaneView } from "./plane-views.ts";
import { Temperature } from "./strip-temperature.ts";

// deno-lint-ignore no-explicit-any -- each draws with its own data
export const views: Record<string, new (explorer: any) => any> = { dial: Dial, plane: PlaneView, temperature: Temperature };
export { Width } from "./strip-width.ts";
