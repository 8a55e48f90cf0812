"""A notebook in a process of its own: its cells are run and its functions called, within limits."""

import json
import os
import select
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from threading import Timer
from typing import Any

from mha.grade import notebook_runner
from mha.practice.answers import Answer, Remark, as_json

MOST_BYTES = 1 << 20
"""The length of the longest answer."""

Start = Callable[[Sequence[str]], "subprocess.Popen[bytes]"]
"""A function that starts Python with some arguments, in a sandbox or without one."""


@dataclass(frozen=True)
class Limits:
    """The time and memory of a notebook: seconds per cell or call, and in all; megabytes."""

    seconds: float = 10
    in_all: float = 60
    megabytes: int = 2048

    def as_json(self) -> dict[str, int]:
        """Return the limits that the process sets for itself, by their names in `resource`."""
        sizes = {"RLIMIT_AS": self.megabytes << 20, "RLIMIT_FSIZE": 64 << 20, "RLIMIT_CORE": 0}
        return sizes | {"RLIMIT_CPU": int(self.in_all) + 1, "RLIMIT_NOFILE": 64}


class EndedError(Exception):
    """A process does not answer, and has ended."""


class Process:
    """A process that answers questions, one at a time."""

    def __init__(self, start: Start, limits: Limits, until: float) -> None:
        self.process = start(["-m", notebook_runner.__name__])
        self.read = b""
        # A process that does not read its questions would hold up the one that writes them.
        self.watchdog = Timer(max(0.0, until - time.monotonic()), self.process.kill)
        self.watchdog.daemon = True
        self.watchdog.start()
        self.ask(limits.as_json(), limits.in_all)

    def ask(self, question: Mapping[str, Any], seconds: float) -> dict[str, Any]:
        """Return the answer to a question, or end the process and raise an `EndedError`."""
        assert self.process.stdin is not None
        fault = "sends an answer that cannot be read"
        try:
            self.process.stdin.write(json.dumps(question).encode() + b"\n")
            self.process.stdin.flush()
            found = json.loads(self._line(time.monotonic() + seconds))
            if isinstance(found, dict):
                return found
        except TimeoutError:
            fault = f"does not end within {seconds:g} seconds"
        except (EOFError, BrokenPipeError):
            fault = "ends the process that it runs in"
        except (ValueError, RecursionError):
            pass
        self.stop()
        raise EndedError(fault)

    def _line(self, until: float) -> bytes:
        """Return the next line that the process writes."""
        assert self.process.stdout is not None
        channel, waiting = self.process.stdout.fileno(), select.poll()
        waiting.register(channel, select.POLLIN)
        while b"\n" not in self.read:
            if len(self.read) > MOST_BYTES:
                raise ValueError("a longer line than any answer")
            if not waiting.poll(max(0.0, 1000 * (until - time.monotonic()))):
                raise TimeoutError
            came = os.read(channel, 1 << 16)
            if not came:
                raise EOFError
            self.read += came
        line, _, self.read = self.read.partition(b"\n")
        return line

    def stop(self) -> None:
        """End the process, and with it its sandbox."""
        self.watchdog.cancel()
        self.process.kill()
        self.process.wait()
        for pipe in (self.process.stdin, self.process.stdout):
            with suppress(OSError, AttributeError):
                pipe.close()  # type: ignore[union-attr]


class Notebook:
    """A notebook whose cells have run.

    A process that ends, or does not answer in time, is started again without the cell at fault.
    """

    def __init__(self, cells: Sequence[str], limits: Limits, start: Start) -> None:
        self.cells, self.limits, self.start = cells, limits, start
        self.until = time.monotonic() + limits.in_all
        self.faults: dict[int, Remark] = {}
        self.skipped: set[int] = set()
        self.process: Process | None = None

    def __enter__(self) -> "Notebook":
        with suppress(EndedError):
            self._started()
        return self

    def __exit__(self, *_: object) -> None:
        if self.process is not None:
            self.process.stop()

    def call(self, name: str, given: Sequence[Any]) -> Answer:
        """Return the answer of a function of the notebook to some arrays and numbers."""
        return self._answer({"call": name, "given": as_json(given)})

    def _answer(self, question: Mapping[str, Any]) -> Answer:
        try:
            process = self.process or self._started()
            return Answer.from_json(process.ask(question, self.limits.seconds))
        except EndedError as error:
            self.process = None
            is_late = time.monotonic() >= self.until
            return Answer(None, (), self._late if is_late else str(error))

    def _started(self) -> Process:
        """Return a process in which the cells have run, except those that end it."""
        while time.monotonic() < self.until:
            try:
                self.process = Process(self.start, self.limits, self.until)
            except EndedError:
                raise EndedError("is not called: Python needs more memory") from None
            if self._run_cells():
                return self.process
        raise EndedError(self._late)

    def _run_cells(self) -> bool:
        """Run the cells in order, and return whether the process still answers."""
        for number, source in enumerate(self.cells, 1):
            if number in self.skipped:
                continue
            answer = self._answer({"cell": source})
            if answer.fault:
                self.faults[number] = Remark(f"Code cell {number} {answer.said}.", answer.quoted)
            if self.process is None:
                self.skipped.add(number)
                return False
        return True

    @property
    def _late(self) -> str:
        return f"is not reached: the notebook takes over {self.limits.in_all:g} seconds"
