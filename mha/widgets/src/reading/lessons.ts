/** Questions of a page, and reading it in steps. */

import "./quiz.ts";
import "./steps.ts";
