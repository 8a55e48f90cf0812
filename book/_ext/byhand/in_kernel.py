"""What runs in a page's kernel before its first cell.

The source of `begin` is sent there: the kernel cannot import this package.
"""

import inspect

LIMIT = 1_000_000  # characters that a cell may print


def begin(limit: int) -> None:
    """Make warnings of cells and of `mha` errors, and end a cell that prints without end.

    Parameters
    ----------
    limit : int
        How many characters a cell may print.
    """
    import builtins
    import sys
    import warnings
    from collections.abc import Callable
    from functools import partial

    if not __debug__:
        raise RuntimeError("assertions are switched off")
    warnings.filterwarnings("error", module=r"(__main__|mha|mha\..*)$")
    printed = 0

    def counted(write: Callable[[str], int], text: str) -> int:
        nonlocal printed
        printed += len(text)
        if printed > limit:
            printed = 0
            raise RuntimeError(f"the cell prints more than {limit:,} characters")
        return write(text)

    def start_again(*_: object) -> None:
        # IPython puts a writer of its own before the stream's for each cell, and takes it away.
        nonlocal printed
        printed = 0
        for stream in (sys.stdout, sys.stderr):
            vars(stream)["write"] = partial(counted, stream.write)

    vars(builtins)["get_ipython"]().events.register("pre_run_cell", start_again)


def source() -> str:
    """Return what is to be run in the kernel; it gives True at its end."""
    return f"{inspect.getsource(begin)}\nbegin({LIMIT})\ndel begin\n__debug__"
