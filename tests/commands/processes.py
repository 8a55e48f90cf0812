"""Processes that have their working directory in a folder, and waiting for a condition."""

import contextlib
import time
from pathlib import Path


def wait_until(is_so, seconds=180):
    """Wait until a condition is true, and fail after `seconds`."""
    end = time.monotonic() + seconds
    while not is_so():
        assert time.monotonic() < end
        time.sleep(0.1)


def processes_in(folder):
    """Return the command lines of the processes whose working directory is in a folder."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if (process / "cwd").resolve(strict=True).is_relative_to(folder):
                found.append((process / "cmdline").read_text(encoding="utf-8"))
    return found
