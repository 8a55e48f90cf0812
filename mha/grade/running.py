"""A notebook in a process of its own, asked from outside, within limits of time and memory."""

import json
import os
import queue
import signal
import site
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mha.practice import submission
from mha.practice.submission import Answer, as_data

PACKAGE = Path(submission.__file__).parents[1]
"""The files of `mha`, which no notebook may open."""

LONGEST = 1 << 20
"""Bytes of an answer."""

KEPT = ("PATH", "PYTHONPATH", "SYSTEMROOT", "LANG", "LC_ALL")
"""What a notebook sees of the environment; passwords and tokens stand there too."""


@dataclass(frozen=True)
class Limits:
    """What a notebook may take.

    Parameters
    ----------
    seconds : float, default 10
        For each cell, and for each call of a function.
    in_all : float, default 60
        Seconds for the whole notebook.
    megabytes : int, default 2048
        Of memory.
    hidden : tuple of pathlib.Path, default ()
        Files and folders that it may not open, beside those of this package.
    """

    seconds: float = 10
    in_all: float = 60
    megabytes: int = 2048
    hidden: tuple[Path, ...] = ()


class EndedError(Exception):
    """A process does not answer, and is no more."""


class Process:
    """A process that answers questions, one at a time."""

    def __init__(self, limits: Limits, until: float) -> None:
        self.folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        hidden = (PACKAGE, Path("/proc"), *limits.hidden)
        self.process = subprocess.Popen(
            [
                *(sys.executable, "-P", "-B", "-X", "utf8", submission.__file__),
                *(str(limits.megabytes), *(str(path.resolve()) for path in hidden)),
            ],
            cwd=self.folder.name,
            env=_environment(self.folder.name),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        self.lines: queue.Queue[bytes] = queue.Queue(4)  # who writes without end waits
        threading.Thread(target=self._read, daemon=True).start()
        self.watchdog = threading.Timer(max(0.0, until - time.monotonic()), self._kill)
        self.watchdog.daemon = True
        self.watchdog.start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        with suppress(ValueError, OSError):
            while line := self.process.stdout.readline(LONGEST):
                self.lines.put(line)
        self.lines.put(b"")

    def ask(self, question: dict[str, Any], seconds: float) -> dict[str, Any]:
        """Return the answer to a question, or end the process and raise an `EndedError`."""
        assert self.process.stdin is not None
        try:
            self.process.stdin.write(json.dumps(question).encode() + b"\n")
            self.process.stdin.flush()
            return self.answer(seconds)
        except OSError:
            self.stop()
            raise EndedError("ends the process that it runs in") from None

    def answer(self, seconds: float) -> dict[str, Any]:
        """Return the next answer."""
        try:
            line = self.lines.get(timeout=seconds)
            found = json.loads(line) if line else None
        except queue.Empty:
            said = f"does not end within {seconds:g} seconds"
        except (ValueError, RecursionError):
            said = "answers what cannot be read"
        else:
            if isinstance(found, dict):
                return found
            said = "ends the process that it runs in"
        self.stop()
        raise EndedError(said)

    def stop(self) -> None:
        """End the process and all that it started."""
        self.watchdog.cancel()
        self._kill()
        self.process.wait()
        for pipe in (self.process.stdin, self.process.stdout):
            with suppress(OSError, AttributeError):
                pipe.close()  # type: ignore[union-attr]
        self.folder.cleanup()

    def _kill(self) -> None:
        with suppress(ProcessLookupError, PermissionError):
            if self.process.returncode is None and hasattr(os, "killpg"):
                os.killpg(self.process.pid, signal.SIGKILL)
            else:
                self.process.kill()


def _environment(folder: str) -> dict[str, str]:
    kept = {name: os.environ[name] for name in KEPT if name in os.environ}
    places = dict.fromkeys(("HOME", "TMPDIR", "TEMP", "TMP", "IPYTHONDIR"), folder)
    own = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "MPLBACKEND": "agg"}
    return kept | places | own | {"PYTHONUSERBASE": site.getuserbase()}


class Notebook:
    """A notebook whose cells have run.

    A process that ends, or does not answer in time, is begun again without the cell at fault.

    Parameters
    ----------
    cells : sequence of str
    limits : Limits
    """

    def __init__(self, cells: Sequence[str], limits: Limits) -> None:
        self.cells, self.limits = cells, limits
        self.until = time.monotonic() + limits.in_all
        self.faults: dict[int, str] = {}
        self.left_out: set[int] = set()
        self.process: Process | None = None

    def __enter__(self) -> "Notebook":
        with suppress(EndedError):
            self._started()
        return self

    def __exit__(self, *_: object) -> None:
        if self.process is not None:
            self.process.stop()

    def call(self, name: str, given: Sequence[Any]) -> Answer:
        """Call a function of the notebook.

        Parameters
        ----------
        name : str
        given : sequence of ndarray and int

        Returns
        -------
        Answer
        """
        try:
            return Answer.of_data(self._asked({"call": name, "given": as_data(given)}))
        except EndedError as error:
            return Answer(None, (), str(error))

    def _asked(self, question: dict[str, Any]) -> dict[str, Any]:
        process = self.process or self._started()
        try:
            return process.ask(question, self.limits.seconds)
        except EndedError as error:
            self.process = None
            raise self._late() if time.monotonic() >= self.until else error from None

    def _started(self) -> Process:
        """Return a process in which the cells have run, but for those that end it."""
        while time.monotonic() < self.until:
            process = Process(self.limits, self.until)
            try:
                process.answer(self.limits.in_all)
            except EndedError:
                raise EndedError("cannot be asked: more memory is wanted, or NumPy") from None
            self.process = process
            if self._run_cells():
                return process
        raise self._late()

    def _run_cells(self) -> bool:
        """Run the cells in order, and return whether the process still answers."""
        for number, source in enumerate(self.cells, 1):
            if number in self.left_out:
                continue
            try:
                fault = self._asked({"cell": source}).get("fault")
            except EndedError as error:
                fault = str(error)
                self.left_out.add(number)
            if fault:
                self.faults[number] = f"code cell {number} {fault}"
            if self.process is None:
                return False
        return True

    def _late(self) -> EndedError:
        return EndedError(f"is not reached: the notebook takes over {self.limits.in_all:g} seconds")
