"""Time and number of modules of importing the package, compared with NumPy.

Each line is a statement in fresh processes: the time of the fastest beyond that of an empty Python,
its ratio to that of `import numpy`, and the numbers of loaded modules, of all and of the package.
The statements take turns, so that other load affects all. Needs the project's environment.
"""

import math
import subprocess
import sys
import time

from mha.command_line import Parser

NOTHING, NUMPY = "pass", "import numpy"
STATEMENTS = (
    NUMPY,
    "import mha",
    "from mha import attention_weights",
    "from mha import load_example, trace",
    "from mha import examine",
    "from mha.public_names import *",
)
COUNT = "; import sys; print(len(sys.modules), sum(m.split('.')[0] == 'mha' for m in sys.modules))"

ROW = "{:38}  {:>6}  {:>7}  {:>7}  {:>6}"
COLUMNS = ("statement", "ms", "/numpy", "modules", "of mha")


def seconds(statement: str) -> float:
    """Return the time of a fresh process that runs a statement."""
    start = time.perf_counter()
    subprocess.run([sys.executable, "-c", statement], check=True)
    return time.perf_counter() - start


def modules(statement: str) -> list[str]:
    """Return the numbers of modules that a statement loads: all, and those of the package."""
    command = [sys.executable, "-c", statement + COUNT]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()


def fastest(turns: int) -> dict[str, float]:
    """Return the time of each statement's fastest process; the statements take turns."""
    least = dict.fromkeys((NOTHING, *STATEMENTS), math.inf)
    for _ in range(turns):
        for statement in least:
            least[statement] = min(least[statement], seconds(statement))
    return least


def main() -> None:
    """Print the table."""
    parser = Parser(description=(__doc__ or "").partition("\n\n")[0])
    parser.add_argument("--turns", type=int, default=15, metavar="N",
        help="processes of each statement (default: 15)")  # fmt: skip
    least = fastest(parser.parse_args().turns)
    of_numpy = least[NUMPY] - least[NOTHING]
    print(ROW.format(*COLUMNS))
    for statement in STATEMENTS:
        own = least[statement] - least[NOTHING]
        counts = modules(statement)
        print(ROW.format(statement, f"{1000 * own:.0f}", f"{own / of_numpy:.2f}", *counts))


if __name__ == "__main__":
    main()
