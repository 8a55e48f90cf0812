"""A notebook in a process of its own: its cells are run and its functions called, within limits."""

import json
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from threading import Event, Timer
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

    def __init__(self, start: Start, limits: Limits, seconds: float) -> None:
        self.process = start(["-m", notebook_runner.__name__])
        self.ask(limits.as_json(), seconds)

    def ask(self, question: Mapping[str, Any], seconds: float) -> dict[str, Any]:
        """Return the answer to a question, or end the process and raise an `EndedError`."""
        questions, answers = self.process.stdin, self.process.stdout
        assert questions is not None
        assert answers is not None
        is_late = Event()
        # Killed in time, the process holds up neither who writes a question nor who reads.
        timer = Timer(seconds, lambda: (is_late.set(), self.process.kill()))
        timer.daemon = True
        timer.start()
        fault = "sends an answer that cannot be read"
        try:
            questions.write(json.dumps(question).encode() + b"\n")
            questions.flush()
            if not (line := answers.readline(MOST_BYTES)):
                raise BrokenPipeError
            found = json.loads(line)
            if isinstance(found, dict):
                return found
        except BrokenPipeError:
            late = f"does not end within {seconds:.3g} seconds"
            fault = late if is_late.is_set() else "ends the process that it runs in"
        except (ValueError, RecursionError):
            pass
        finally:
            timer.cancel()
        self.stop()
        raise EndedError(fault)

    def stop(self) -> None:
        """End the process, and with it its sandbox."""
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
            seconds = min(self.limits.seconds, self.until - time.monotonic())
            return Answer.from_json(process.ask(question, seconds))
        except EndedError as error:
            self.process = None
            is_late = time.monotonic() >= self.until
            return Answer(None, (), self._late if is_late else str(error))

    def _started(self) -> Process:
        """Return a process in which the cells have run, except those that end it."""
        while (left := self.until - time.monotonic()) > 0:
            try:
                self.process = Process(self.start, self.limits, left)
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
