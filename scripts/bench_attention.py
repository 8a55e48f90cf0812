"""Measure blockwise attention against PyTorch's fused kernel and the textbook's four lines.

All of them work on the same random input turn by turn in one run, so that other load hits all. For
each length a line has times and their ratios, of the fastest calls and of the medians; a ratio
below 1 means that `mha.blockwise_attention` is faster. Memory is what a call holds at most
beyond its inputs and its output. Errors are those against float64, divided by PyTorch's. Last comes
which share of the machine's matrix products is used, and where the rest of the time goes.

PyTorch is optional: requirements-bench.lock has it, in an environment of its own, which
`scripts/test.py --torch` makes; see CONTRIBUTING.md.

On two cores of an AMD EPYC with AVX-512 that had nothing else to do (2026-11-24, NumPy 2.4.6,
PyTorch 2.15.0), three runs gave these ratios of the fastest calls, from least to most; the last
column is mha / PyTorch in three runs with ``--busy``, two of them of eight seconds a length:

======  ============  ================  =============  ==============  ==========  ============
tokens  mha / Torch   causal / Torch    full / causal  textbook / mha  MiB         busy
======  ============  ================  =============  ==============  ==========  ============
128     1.31 to 1.39  1.55 to 1.56      0.84 to 0.88   1.28 to 1.35    0.8         1.22 to 1.49
256     1.17 to 1.19  1.10 to 1.11      1.05 to 1.06   3.12 to 3.37    0.7 to 1.3  1.19 to 1.23
512     1.03 to 1.06  0.73 to 0.74      1.40 to 1.46   2.51 to 2.82    1.2         0.88 to 1.04
1024    1.02 to 1.08  0.83 to 0.88      1.57 to 1.64   3.08 to 3.38    2.2         0.64 to 0.77
2048    0.96 to 1.06  0.92 to 0.95      1.65 to 1.80   3.29 to 4.04    2.3         0.75 to 0.88
4096    0.94 to 1.04  0.98 to 1.01      1.73 to 1.88   4.80 to 5.45    2.3         0.88 to 1.17
8192    0.96 to 1.00  0.90 to 0.99      1.86 to 1.94   not measured    2.3         0.96 to 1.04
======  ============  ================  =============  ==============  ==========  ============

By medians mha / PyTorch was 1.70 to 1.88 at 128 tokens and 1.38 to 1.42 at 256: a call takes little
more time there than waking a thread. From 512 on it was 0.88 to 1.21. The matrix products of the
machine were used at 73 to 75 per cent of their pace: of 3.2 to 3.4 ns that a score took, the two
products took 2.6, exponentials and sums 0.3 to 0.4, all else 0.3 to 0.5. Up to 2,048 tokens
causal attention works on half as many queries of two or four heads: fewer keys are multiplied with
queries that come before them, and Python has no more to do. It holds 4.6 MiB there, 2.5 beyond.
"""

import argparse
import math
import os
import subprocess
import sys
import time
import tracemalloc
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
from bench_options import count

from mha import blockwise_attention
from mha.command_line import Parser
from mha.core.threads import can_limit, one_thread_of_linear_algebra, usable_cores
from mha.core.tiles import has_fast_exp2

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
    "error": 6,
}


def parsed(arguments: Sequence[str] | None) -> argparse.Namespace:
    """Return the command line's options."""
    parser = Parser(description=(__doc__ or "").partition("\n\n")[0])
    add = parser.add_argument
    lengths = [128, 256, 512, 1024, 2048, 4096, 8192]
    add("--lengths", type=count, nargs="+", default=lengths, metavar="N",
        help="numbers of tokens (default: 128 to 8192)")  # fmt: skip
    add("--heads", type=count, default=8, metavar="H", help="number of heads (default: 8)")
    add("--width", type=count, default=64, metavar="D", help="width of a head (default: 64)")
    add("--repeat", type=count, default=5, metavar="R", help="calls at least (default: 5)")
    add("--seconds", type=count, default=15, metavar="S",
        help="go on for so long at each length (default: 15)")  # fmt: skip
    add("--textbook-up-to", type=count, default=4096, metavar="N",
        help="it holds all scores three times (default: 4096)")  # fmt: skip
    add("--dtype", choices=["float32", "float64"], default="float32", help="default: float32")
    add(
        "--one-core",
        action="store_true",
        help="one thread each, by processor time, which other load disturbs less",
    )
    add("--busy", action="store_true", help="keep one core busy with another process")
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


def turns(
    functions: Functions,
    repeat: int,
    seconds: float,
    clock: Callable[[], float] = time.perf_counter,
) -> dict[str, list[float]]:
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
                start = clock()
                function()
                times[name].append(clock() - start)
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


def error_ratio(functions: Functions, arrays: Sequence[Array]) -> float:
    """Return our largest error divided by PyTorch's, in the first head."""
    if torch is None:
        return math.nan
    exact = textbook(*(x[0].astype(np.float64) for x in arrays))
    ours, theirs = functions["mha"]()[0], functions["torch"]().numpy()[0, 0]
    return float(np.abs(ours - exact).max() / np.abs(theirs - exact).max())


def row(n: int, options: argparse.Namespace) -> str:
    """Return one line of the table."""
    rng = np.random.default_rng(options.seed)
    shape = (options.heads, n, options.width)
    arrays = [rng.normal(size=shape).astype(options.dtype) for _ in range(3)]
    functions = competitors(arrays, options)
    memory, error = held(functions["mha"]), error_ratio(functions, arrays)
    clock = time.process_time if options.one_core else time.perf_counter
    times = turns(functions, options.repeat, options.seconds, clock)
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
        f"{error:.2f}",
    ]
    return line(values)


def line(values: Sequence[str]) -> str:
    """Return values below the table's headings; what was not measured is a dash."""
    cells = zip(values, COLUMNS.values(), strict=True)
    return "  ".join(("-" if x == "nan" else x).rjust(width) for x, width in cells)


def fastest(function: Callable[[], object], repeat: int = 50) -> float:
    """Return the least processor time that a call took, in seconds; all its threads' together."""
    return min(turns({"mha": function}, repeat, 0, time.process_time)["mha"])


def limit(options: argparse.Namespace) -> Iterator[str]:
    """Yield lines that say what one core's time for a score is made of, in nanoseconds."""
    rows, columns, width = 256, 1024, options.width
    rng = np.random.default_rng(options.seed)
    query, key, value = (
        rng.normal(size=(n, width)).astype(options.dtype) / 4 for n in (rows, columns, columns)
    )
    square = rng.normal(size=(512, 512)).astype(options.dtype)
    scores = np.empty((columns, rows), options.dtype)
    other, ones = np.zeros_like(scores), np.ones(columns, options.dtype)
    power = np.exp2 if has_fast_exp2() else np.exp
    parts: Functions = {
        "queries by keys": lambda: np.matmul(key, query.T, out=scores),
        "exponentials": lambda: power(scores, out=other),
        "sums": lambda: other.T @ ones,
        "weights by values": lambda: other.T @ value,
    }
    arrays = [np.stack([np.resize(x, (columns, width))] * 8) for x in (query, key, value)]
    with one_thread_of_linear_algebra():
        peak = 2 * 512**3 / fastest(lambda: square @ square)
        ns = {name: 1e9 * fastest(part) / scores.size for name, part in parts.items()}
    whole = 1e9 * fastest(lambda: blockwise_attention(*arrays)) / (8 * columns**2)
    products = 4e9 * width / peak
    yield f"One core multiplies matrices at {peak / 1e9:.0f} GFLOP/s at best ({options.dtype})."
    yield f"At that pace both products of a score would take {products:.2f} ns. Measured:"
    for name, part in ns.items():
        yield f"  {name:<20} {part:5.2f} ns"
    yield f"  {'all else':<20} {whole - sum(ns.values()):5.2f} ns (checks, Python, memory)"
    yield f"  {'together':<20} {whole:5.2f} ns: {products / whole:.0%} of the peak is used"


@contextmanager
def busy_core(wanted: bool) -> Iterator[None]:
    """Keep one core busy with another process meanwhile."""
    if not wanted:
        yield
        return
    with subprocess.Popen([sys.executable, "-c", "while True: pass"]) as process:
        try:
            yield
        finally:
            process.kill()


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the table."""
    options = parsed(arguments)
    if options.one_core and hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    cores = usable_cores()
    if torch is None:
        print("PyTorch is not installed: its columns stay empty. See CONTRIBUTING.md.")
    else:
        torch.set_num_threads(cores)
    if not can_limit():
        print("threadpoolctl is not installed: blockwise attention uses one worker.")
    load = ", one of them kept busy by another process" if options.busy else ""
    print(f"{options.heads} heads of width {options.width}, {options.dtype}, cores: {cores}{load}.")
    print(line(list(COLUMNS)))
    with busy_core(options.busy):
        for n in options.lengths:
            print(row(n, options), flush=True)
        print(*limit(options), sep="\n")


if __name__ == "__main__":
    main()
