/** The drawings above a strip, by the name that a chapter gives them. */

import { Dial } from "./plane-dial.ts";
import { PlaneView } from "./plane-views.ts";
import { Temperature } from "./strip-temperature.ts";
import type { ExplorerView } from "../types/explorer.ts";

export const views: Record<string, new (explorer: ExplorerView) => { node: HTMLElement, paint(): void }> = { dial: Dial, plane: PlaneView, temperature: Temperature };
export { Width } from "./strip-width.ts";
