/** What every page has: drawers, folds, scrolling, progress in the contents, and code that folds. */

import "./drawers.ts";
import "./folds.ts";
import "./scroll.ts";
import "./contents.ts";
import "./code.ts";
