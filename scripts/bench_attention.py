"""Measure blockwise attention against PyTorch's fused kernel and the textbook's four lines.

All of them work on the same random input turn by turn in one run, so that other load hits all. For
each length a line has times and their ratios, of the fastest calls and of the medians; a ratio
below 1 means that `mha.blockwise_attention` is faster. Memory is what a call holds at most
beyond its inputs and its output.

PyTorch is optional: requirements-frameworks.lock has it, in an environment of its own, which
`scripts/test.py --torch` makes.
"""

import argparse
import math
import time
import tracemalloc
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from mha import blockwise_attention
from mha.command_line import Parser
from mha.core.threads import can_limit, usable_cores

try:
    import torch
except ImportError:
    torch = None

Array = np.ndarray[Any, Any]
Functions = dict[str, Callable[[], Any]]

MIB = 2**20
TURN = 0.1
"""Seconds that each takes before the next one's turn."""

COLUMNS = {
    "tokens": 6,
    "mha ms": 9,
    "/torch": 7,
    "median": 7,
    "causal ms": 10,
    "/torch ": 7,
    "median ": 7,
    "full/causal": 11,
    "textbook/mha": 12,
    "MiB": 6,
}


def parsed(arguments: Sequence[str] | None) -> argparse.Namespace:
    """Return the command line's options."""
    parser = Parser(description=(__doc__ or "").partition("\n\n")[0])
    add = parser.add_argument
    lengths = [128, 256, 512, 1024, 2048, 4096, 8192]
    add("--lengths", type=int, nargs="+", default=lengths, metavar="N",
        help="numbers of tokens (default: 128 to 8192)")  # fmt: skip
    add("--heads", type=int, default=8, metavar="H", help="number of heads (default: 8)")
    add("--width", type=int, default=64, metavar="D", help="width of a head (default: 64)")
    add("--repeat", type=int, default=5, metavar="R", help="calls at least (default: 5)")
    add("--seconds", type=int, default=15, metavar="S",
        help="go on for so long at each length (default: 15)")  # fmt: skip
    add("--textbook-up-to", type=int, default=4096, metavar="N",
        help="it holds all scores three times (default: 4096)")  # fmt: skip
    add("--dtype", choices=["float32", "float64"], default="float32", help="default: float32")
    add("--seed", type=int, default=0, metavar="S", help="seed of the input (default: 0)")
    return parser.parse_args(arguments)


def textbook(query: Array, key: Array, value: Array) -> Array:
    """Return attention as it is written on a blackboard."""
    scores = query @ key.swapaxes(-1, -2) / math.sqrt(query.shape[-1])
    exponentials = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights = exponentials / exponentials.sum(axis=-1, keepdims=True)
    return weights @ value


def competitors(arrays: Sequence[Array], options: argparse.Namespace) -> Functions:
    """Return what is measured at one length."""
    found: Functions = {
        "mha": lambda: blockwise_attention(*arrays),
        "mha causal": lambda: blockwise_attention(*arrays, is_causal=True),
    }
    if torch is not None:
        tensors = [torch.from_numpy(x)[None] for x in arrays]
        fused = torch.nn.functional.scaled_dot_product_attention
        found["torch"] = lambda: fused(*tensors)
        found["torch causal"] = lambda: fused(*tensors, is_causal=True)
    if arrays[0].shape[-2] <= options.textbook_up_to:
        found["textbook"] = lambda: textbook(*arrays)
    return found


def turns(functions: Functions, repeat: int, seconds: float) -> dict[str, list[float]]:
    """Return the seconds of each function's calls; the functions take turns.

    A turn is as many calls as fit, but one at least. A pause as long comes before it: the threads
    of the library before look out for more work until they fall asleep, and take a core meanwhile.
    """
    times: dict[str, list[float]] = {name: [] for name in functions}
    end = time.perf_counter() + seconds
    while len(times["mha"]) < repeat or time.perf_counter() < end:
        for name, function in functions.items():
            time.sleep(TURN)
            end_of_turn = time.perf_counter() + TURN
            while True:
                start = time.perf_counter()
                function()
                times[name].append(time.perf_counter() - start)
                if time.perf_counter() >= end_of_turn:
                    break
    return times


def held(function: Callable[[], Array]) -> float:
    """Return how many MiB a call held at most beyond its output."""
    function()  # what is made once stays
    tracemalloc.start()
    try:
        output = function()
        return (tracemalloc.get_traced_memory()[1] - output.nbytes) / MIB
    finally:
        tracemalloc.stop()


def row(n: int, options: argparse.Namespace) -> str:
    """Return one line of the table."""
    rng = np.random.default_rng(options.seed)
    shape = (options.heads, n, options.width)
    arrays = [rng.normal(size=shape).astype(options.dtype) for _ in range(3)]
    functions = competitors(arrays, options)
    memory = held(functions["mha"])
    times = turns(functions, options.repeat, options.seconds)
    least = {name: min(values) for name, values in times.items()}
    median = {name: float(np.median(values)) for name, values in times.items()}

    def ratio(seconds: dict[str, float], name: str, other: str) -> float:
        return seconds[name] / seconds.get(other, math.nan)

    values = [
        f"{n}",
        f"{1000 * least['mha']:.2f}",
        f"{ratio(least, 'mha', 'torch'):.2f}",
        f"{ratio(median, 'mha', 'torch'):.2f}",
        f"{1000 * least['mha causal']:.2f}",
        f"{ratio(least, 'mha causal', 'torch causal'):.2f}",
        f"{ratio(median, 'mha causal', 'torch causal'):.2f}",
        f"{ratio(least, 'mha', 'mha causal'):.2f}",
        f"{1 / ratio(least, 'mha', 'textbook'):.2f}",
        f"{memory:.1f}",
    ]
    return line(values)


def line(values: Sequence[str]) -> str:
    """Return values below the table's headings; what was not measured is a dash."""
    cells = zip(values, COLUMNS.values(), strict=True)
    return "  ".join(("-" if x == "nan" else x).rjust(width) for x, width in cells)


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the table."""
    options = parsed(arguments)
    cores = usable_cores()
    if torch is None:
        print("PyTorch is not installed: its columns stay empty.")
    else:
        torch.set_num_threads(cores)
    if not can_limit():
        print("threadpoolctl is not installed: blockwise attention uses one worker.")
    print(f"{options.heads} heads of width {options.width}, {options.dtype}, cores: {cores}.")
    print(line(list(COLUMNS)))
    for n in options.lengths:
        print(row(n, options), flush=True)


if __name__ == "__main__":
    main()
