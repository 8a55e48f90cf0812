"""Time and memory of blockwise attention, of PyTorch's fused kernel and of plain NumPy.

All functions take turns on the same random input, so that other load affects all of them. Each line
has the times of the fastest calls for one length, and their ratios. A ratio below 1 means that
`blockwise_attention` is faster. Memory is the peak of a call beyond its inputs and its output.

PyTorch is in the environment of requirements-frameworks.lock, which `scripts/test.py --torch`
makes.
"""

import math
import time
import tracemalloc
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch

from mha.command_line import Parser
from mha.core.blockwise import blockwise_attention
from mha.core.threads import usable_cores

Array = np.ndarray[Any, Any]
Functions = dict[str, Callable[[], Any]]

MIB = 2**20
HEADS, WIDTH = 8, 64
TEXTBOOK_UP_TO = 4096  # tokens: it holds all scores three times
TURN = 0.1
"""Seconds that each takes before the next one's turn."""

ROW = "{:>6}  {:>9}  {:>7}  {:>10}  {:>7}  {:>12}  {:>6}"
COLUMNS = ("tokens", "mha ms", "/torch", "causal ms", "/torch", "textbook/mha", "MiB")


def textbook(query: Array, key: Array, value: Array) -> Array:
    """Return attention computed by the formula, with the whole matrix of weights."""
    scores = query @ key.swapaxes(-1, -2) / math.sqrt(query.shape[-1])
    exponentials = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights = exponentials / exponentials.sum(axis=-1, keepdims=True)
    return weights @ value


def competitors(arrays: Sequence[Array]) -> Functions:
    """Return the functions to measure for one length, by name."""
    tensors = [torch.from_numpy(x)[None] for x in arrays]
    fused = torch.nn.functional.scaled_dot_product_attention
    found: Functions = {
        "mha": lambda: blockwise_attention(*arrays),
        "mha causal": lambda: blockwise_attention(*arrays, is_causal=True),
        "torch": lambda: fused(*tensors),
        "torch causal": lambda: fused(*tensors, is_causal=True),
    }
    if arrays[0].shape[-2] <= TEXTBOOK_UP_TO:
        found["textbook"] = lambda: textbook(*arrays)
    return found


def fastest(functions: Functions, seconds: float) -> dict[str, float]:
    """Return the time in seconds of each function's fastest call; the functions take turns.

    A turn has as many calls as fit into `seconds`, at least one. A pause of the same length comes
    before it, since the threads of the previous function's library occupy a core until they fall
    asleep.
    """
    least = dict.fromkeys(functions, math.inf)
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        for name, function in functions.items():
            time.sleep(TURN)
            end_of_turn = time.perf_counter() + TURN
            while True:
                start = time.perf_counter()
                function()
                least[name] = min(least[name], time.perf_counter() - start)
                if time.perf_counter() >= end_of_turn:
                    break
    return least


def peak_memory(function: Callable[[], Array]) -> float:
    """Return the peak memory of a call beyond its output, in MiB."""
    function()  # a first call, for caches
    tracemalloc.start()
    try:
        output = function()
        return (tracemalloc.get_traced_memory()[1] - output.nbytes) / MIB
    finally:
        tracemalloc.stop()


def table_row(n: int, seconds: int) -> str:
    """Return one line of the table; values that were not measured are nan."""
    rng = np.random.default_rng(0)
    arrays = [rng.normal(size=(HEADS, n, WIDTH)).astype("float32") for _ in range(3)]
    functions = competitors(arrays)
    memory = peak_memory(functions["mha"])
    least = fastest(functions, seconds)

    return ROW.format(
        n,
        f"{1000 * least['mha']:.2f}",
        f"{least['mha'] / least['torch']:.2f}",
        f"{1000 * least['mha causal']:.2f}",
        f"{least['mha causal'] / least['torch causal']:.2f}",
        f"{least.get('textbook', math.nan) / least['mha']:.2f}",
        f"{memory:.1f}",
    )


def main() -> None:
    """Print the table."""
    parser = Parser(description=(__doc__ or "").partition("\n\n")[0])
    lengths = [128, 256, 512, 1024, 2048, 4096, 8192]
    parser.add_argument("--lengths", type=int, nargs="+", default=lengths, metavar="N",
        help="numbers of tokens (default: 128 to 8192)")  # fmt: skip
    parser.add_argument("--seconds", type=int, default=15, metavar="S",
        help="how long each length takes (default: 15)")  # fmt: skip
    options = parser.parse_args()
    cores = usable_cores()
    torch.set_num_threads(cores)
    print(f"{HEADS} heads of width {WIDTH}, float32, cores: {cores}.")
    print(ROW.format(*COLUMNS))
    for n in options.lengths:
        print(table_row(n, options.seconds), flush=True)


if __name__ == "__main__":
    main()
