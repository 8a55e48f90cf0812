/** The scripts of every page: drawers, folds, scrolling, progress in the contents, folded code. */

import "./drawers.ts";
import "./folds.ts";
import "./scroll.ts";
import "./contents.ts";
import "./code.ts";
