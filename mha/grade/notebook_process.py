"""A notebook in a process of its own: its cells are run and its functions called, within limits."""

import json
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from threading import Timer
from typing import Any

from mha.grade import notebook_runner
from mha.practice.answers import Answer, Remark, as_json

MAX_LINE_BYTES = 1 << 20
"""The longest line that is read as an answer, in bytes."""

Start = Callable[[Sequence[str]], "subprocess.Popen[bytes]"]
"""A function that starts Python with some arguments, in a sandbox or without one."""


@dataclass(frozen=True)
class Limits:
    """The limits of one notebook.

    `seconds` limits each cell and each call of a function, `in_all` the whole notebook, and
    `megabytes` the address space of its process.
    """

    seconds: float = 10
    in_all: float = 60
    megabytes: int = 2048

    def as_json(self) -> dict[str, int]:
        """Return the limits by their names in `resource`: bytes, seconds of CPU time, a count."""
        sizes = {"RLIMIT_AS": self.megabytes << 20, "RLIMIT_FSIZE": 64 << 20, "RLIMIT_CORE": 0}
        counts = {"RLIMIT_NOFILE": 64, "RLIMIT_SIGPENDING": 64}
        return sizes | counts | {"RLIMIT_CPU": int(self.in_all) + 1}


class Notebook:
    """A notebook whose cells have run in a process, which answers one question at a time.

    The cells run at the first call. If a cell ends the process, or takes too long, the cells run
    again in a new process without it. If a function does so, only its own answer is lost: the next
    call starts a new process.
    """

    def __init__(self, cells: Sequence[str], limits: Limits, start: Start) -> None:
        self.cells, self.limits, self.start = cells, limits, start
        self.until = time.monotonic() + limits.in_all
        self.faults: dict[int, Remark] = {}
        self.skipped: set[int] = set()
        self.process: subprocess.Popen[bytes] | None = None

    def call(self, name: str, given: Sequence[Any]) -> Answer:
        """Return the answer of the function of that name to arrays and numbers."""
        if self.process is None:
            self._run_cells()
        return self._ask({"call": name, "given": as_json(given)}, self.limits.seconds)

    def _run_cells(self) -> None:
        """Start a process and run the cells in it, without those that ended an earlier one."""
        while self.process is None and time.monotonic() < self.until:
            self.process = self.start(["-m", notebook_runner.__name__])
            self._ask({"limits": self.limits.as_json()}, self.limits.in_all)
            if self.process is None:
                return
            for number, source in enumerate(self.cells, 1):
                if number in self.skipped:
                    continue
                answer = self._ask({"cell": source}, self.limits.seconds)
                if answer.fault:
                    sentence = f"Code cell {number} {answer.fault_text}."
                    self.faults[number] = Remark(sentence, answer.quoted)
                if self.process is None:
                    self.skipped.add(number)
                    break

    def _ask(self, question: Mapping[str, Any], seconds: float) -> Answer:
        """Return the answer to a question, or a fault after which the process has ended."""
        process, until = self.process, min(time.monotonic() + seconds, self.until)
        fault = "is not called: Python and NumPy need more memory"
        if process is not None:
            # A process that does not read or write would block this one until it is killed.
            timer = Timer(max(0.0, until - time.monotonic()), process.kill)
            timer.daemon = True
            timer.start()
            fault = "ends the process that it runs in"
            try:
                return Answer.from_json(self._line(process, question))
            except (ValueError, RecursionError):
                fault = "sends an answer that cannot be read"
            except (BrokenPipeError, EOFError):
                if time.monotonic() >= until:
                    fault = f"does not end within {seconds:g} seconds"
            finally:
                timer.cancel()
            self.close()
        if time.monotonic() >= self.until:
            fault = f"does not run: the notebook takes more than {self.limits.in_all:g} seconds"
        return Answer(None, (), fault)

    @staticmethod
    def _line(process: "subprocess.Popen[bytes]", question: Mapping[str, Any]) -> Any:
        """Write a question, and return the data of the line that the process writes next."""
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(json.dumps(question).encode() + b"\n")
        process.stdin.flush()
        if line := process.stdout.readline(MAX_LINE_BYTES):
            return json.loads(line)
        raise EOFError

    def close(self) -> None:
        """End the process, and with it its sandbox."""
        if self.process is not None:
            self.process.kill()
            with suppress(BrokenPipeError), self.process:  # closes its pipes, and waits
                self.process = None
