/** The boxes in which a reader computes: numbers to enter, and weights to reach. */

import "./build.ts";
import "./your-turn.ts";
