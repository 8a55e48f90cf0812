"""Measure what blockwise attention saves in memory and costs in time.

Runs `mha.blockwise_attention` and `mha.scaled_dot_product_attention` on the same random input,
turn by turn in one run, and prints both and their ratio for each length. Needs the project's
environment; see README.md.
"""

import argparse
import time
import tracemalloc
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from bench_options import Parser, count

from mha import blockwise_attention, scaled_dot_product_attention

Array = np.ndarray[Any, Any]

MIB = 2**20
ROW = "{:>7}  {:>10}  {:>10}  {:>7}  {:>9}  {:>9}  {:>7}  {:>10}"


def parsed(arguments: Sequence[str] | None) -> argparse.Namespace:
    """Return the command line's options."""
    description = (__doc__ or "").partition("\n\n")[0]
    parser = Parser(description=description)
    add = parser.add_argument
    add("--lengths", type=count, nargs="+", default=[256, 512, 1024, 2048, 4096], metavar="N",
        help="numbers of tokens (default: 256 512 1024 2048 4096)")  # fmt: skip
    add("--heads", type=count, default=1, metavar="H", help="number of heads (default: 1)")
    add("--width", type=count, default=64, metavar="D", help="width of a head (default: 64)")
    add("--block-size", type=count, default=128, metavar="B",
        help="queries and keys worked on at a time (default: 128)")  # fmt: skip
    add("--repeat", type=count, default=3, metavar="R",
        help="runs of each; the fastest counts (default: 3)")  # fmt: skip
    add("--causal", action="store_true", help="forbid later keys")
    add("--mask", action="store_true", help="give both a boolean mask of n x n that allows all")
    add("--dtype", choices=["float32", "float64"], default="float32", help="default: float32")
    add("--seed", type=int, default=0, metavar="S", help="seed of the input (default: 0)")
    return parser.parse_args(arguments)


def peak(function: Callable[[], object]) -> int:
    """Return the most bytes that a call held at once."""
    tracemalloc.start()
    try:
        function()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def seconds(functions: Sequence[Callable[[], object]], repeat: int) -> list[float]:
    """Return each function's fastest time; the functions take turns, so that load hits both."""
    best = [float("inf")] * len(functions)
    for _ in range(repeat):
        for i, function in enumerate(functions):
            start = time.perf_counter()
            function()
            best[i] = min(best[i], time.perf_counter() - start)
    return best


def measured(n: int, options: argparse.Namespace) -> str:
    """Return one row of the table: both functions' peak and time, ratios, largest difference."""
    rng = np.random.default_rng(options.seed)
    shape = (options.heads, n, options.width)
    arrays = [rng.normal(size=shape).astype(options.dtype) for _ in range(3)]
    masks = {
        "mask": np.ones((n, n), dtype=bool) if options.mask else None,
        "is_causal": options.causal,
    }

    def plain() -> Array:
        return scaled_dot_product_attention(*arrays, **masks)

    def blockwise() -> Array:
        return blockwise_attention(*arrays, block_size=options.block_size, **masks)

    difference = np.abs(plain() - blockwise()).max()
    memory = peak(plain), peak(blockwise)
    times = seconds((plain, blockwise), options.repeat)
    return ROW.format(
        n,
        f"{memory[0] / MIB:.2f} MiB",
        f"{memory[1] / MIB:.2f} MiB",
        f"{memory[1] / memory[0]:.3f}",
        f"{1000 * times[0]:.1f} ms",
        f"{1000 * times[1]:.1f} ms",
        f"{times[1] / times[0]:.2f}",
        f"{difference:.1e}",
    )


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the table."""
    options = parsed(arguments)
    print("Peak memory beyond the inputs, and time: plain, blockwise, blockwise / plain.")
    print(ROW.format("tokens", "plain", "blockwise", "ratio", "plain", "blockwise", "ratio",
                     "difference"))  # fmt: skip
    for n in options.lengths:
        print(measured(n, options), flush=True)


if __name__ == "__main__":
    main()
