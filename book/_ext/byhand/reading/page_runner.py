"""Execution of a page's cells and expressions, one after another, in a separate process.

The process is forked from a Python that has imported the modules that chapters import. The shell is
IPython's, and it keeps the outputs that a notebook would keep. There is no kernel, because nothing
else needs sockets or the Jupyter protocol.
"""

import base64
import io
import math
import multiprocessing
import os
import resource
import sys
import warnings
from collections.abc import Sequence
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from difflib import get_close_matches
from multiprocessing.connection import Connection, wait
from threading import Thread
from types import TracebackType
from typing import Any

from IPython.core.displayhook import DisplayHook
from IPython.core.displaypub import DisplayPublisher
from IPython.core.interactiveshell import InteractiveShell
from traitlets import Type
from traitlets.config import Config

from byhand.reading.live_numbers import LiveNumbers
from mha.views.figures import Figure
from mha.widgets.instrument import Explorer

MAX_PRINTED = 1_000_000  # characters that a cell may print

Output = dict[str, Any]  # as a notebook has it


@dataclass(frozen=True)
class Limits:
    """The time limits of a cell or an expression, in seconds.

    `processor` limits processor time, which does not depend on other programs on the machine.
    `clock` ends a step that waits without computing; a slow machine should not reach it.
    """

    processor: int = 300
    clock: int = 3600


class OutputHook(DisplayHook):
    """The display hook, which makes the value of a cell's last expression an output."""

    shell: Any
    exec_result: Any

    def quiet(self) -> bool:
        """Return whether the source ends in a semicolon, which suppresses the output."""
        source = self.exec_result.info.raw_cell
        return bool(self.semicolon_at_end_of_expression(source))  # type: ignore[no-untyped-call]

    def write_output_prompt(self) -> None:
        """Write no prompt."""

    def write_format_data(self, format_dict: Output, md_dict: Output | None = None) -> None:
        """Append the formats of a value to the outputs."""
        count = self.shell.execution_count
        output = {"output_type": "execute_result", "execution_count": count}
        self.shell.outputs.append(output | _formats(format_dict, md_dict))


class OutputPublisher(DisplayPublisher):
    """The display publisher, which makes displayed objects outputs."""

    shell: Any

    def publish(self, data: Any, metadata: Any = None, *options: Any, **more: Any) -> None:
        """Append the formats of a displayed object to the outputs."""
        self.shell.outputs.append({"output_type": "display_data"} | _formats(data, metadata))


class Shell(InteractiveShell):
    """An IPython shell that keeps the outputs of the code that it runs."""

    displayhook_class = Type(OutputHook)
    display_pub_class = Type(OutputPublisher)
    outputs: list[Output]
    live_numbers: LiveNumbers

    def enable_gui(self, gui: str | None = None) -> None:
        """Do nothing, so that no graphical event loop starts."""

    def _showtraceback(self, etype: type, evalue: BaseException, stb: object) -> None:
        """Print nothing; the builder reports the error with the page's line."""


def _formats(data: Output, metadata: Output | None) -> Output:
    forms = {
        kind: base64.b64encode(value).decode() if isinstance(value, bytes) else value
        for kind, value in data.items()
    }
    return {"data": forms, "metadata": metadata or {}}


class OutputStream(io.TextIOBase):
    """Standard output or error, which makes printed text an output of limited length."""

    def __init__(self, outputs: list[Output], name: str) -> None:
        self.outputs, self.name, self.printed = outputs, name, 0

    def write(self, text: str) -> int:
        """Append text to the last output of this stream, or begin one."""
        self.printed += len(text)
        if self.printed > MAX_PRINTED:
            self.printed = 0
            raise RuntimeError(f"the cell prints more than {MAX_PRINTED:,} characters")
        last = self.outputs[-1] if self.outputs else {}
        if last.get("name") == self.name:
            last["text"] += text
        elif text:
            self.outputs.append({"output_type": "stream", "name": self.name, "text": text})
        return len(text)


def run(
    steps: Sequence[tuple[str, str]],
    folder: str,
    root: str,
    connection: Connection,
    processor_seconds: int,
) -> None:
    """Run cells and expressions, and send the outputs and the error of each.

    A step is ``cell`` or ``expression``, and its source. No step runs after a cell that fails. If a
    step takes more processor time than allowed, the system ends this process with SIGXCPU. The
    connection receives ``"ready"``, then a pair for each step: its outputs, and None or the line of
    the failed source and the error. Last it receives the opened files below `root`, and the live
    numbers of texts.
    """
    Thread(target=_exit_with_parent, daemon=True).start()
    import matplotlib  # slow, and other users of this module do not need it

    os.chdir(folder)
    matplotlib.use("module://matplotlib_inline.backend_inline")
    opened = _record_opened_files(os.path.join(root, ""))
    settings = Config({"HistoryManager": {"enabled": False}})
    shell = Shell.instance(ipython_dir=os.path.join(root, "_build", "ipython"), config=settings)
    shell.live_numbers = LiveNumbers()
    _set_formatters(shell)
    warnings.filterwarnings("error", module=r"(__main__|mha|mha\..*)$")
    connection.send("ready")
    for number, (kind, source) in enumerate(steps):
        _allow_processor_time(processor_seconds)
        done = _run_step(shell, source, number, is_cell=kind == "cell")
        connection.send(done)
        if kind == "cell" and done[1] is not None:
            return
    connection.send((sorted(opened), shell.live_numbers.resolve()))


def _allow_processor_time(seconds: int) -> None:
    """Limit the further processor time of this process, the sum over its threads."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    wanted = math.ceil(used.ru_utime + used.ru_stime) + seconds
    _, highest = resource.getrlimit(resource.RLIMIT_CPU)
    if highest != resource.RLIM_INFINITY:
        wanted = min(wanted, highest)
    resource.setrlimit(resource.RLIMIT_CPU, (wanted, highest))


def _set_formatters(shell: Shell) -> None:
    """Omit the styles and scripts that notebooks embed, since a page has its own."""
    formatter = shell.display_formatter
    assert formatter is not None
    formatter.formatters["text/html"].for_type(Figure, lambda figure: None)
    formatter.mimebundle_formatter.for_type(Explorer, shell.live_numbers.record_explorer)


def _exit_with_parent() -> None:
    """Exit when the parent process has ended, even during a cell."""
    builder = multiprocessing.parent_process()
    assert builder is not None
    wait([builder.sentinel])
    os._exit(1)


def _record_opened_files(root: str) -> set[str]:
    """Return a set to which each file below a folder is added when it is opened."""
    opened: set[str] = set()

    def remember(event: str, arguments: tuple[Any, ...]) -> None:
        if event == "open" and isinstance(arguments[0], str | bytes):
            path = os.path.realpath(os.fsdecode(arguments[0]))
            if path.startswith(root) and os.path.isfile(path):
                opened.add(path)

    sys.addaudithook(remember)
    return opened


def _run_step(
    shell: Shell, source: str, number: int, *, is_cell: bool
) -> tuple[list[Output], tuple[int, str] | None]:
    """Run one step."""
    outputs: list[Output] = []
    shell.outputs = outputs
    with (
        redirect_stdout(OutputStream(outputs, "stdout")),
        redirect_stderr(OutputStream(outputs, "stderr")),
    ):
        result = shell.run_cell(source, store_history=is_cell)  # type: ignore[no-untyped-call]
    error = result.error_before_exec or result.error_in_exec
    if error is None and not is_cell:
        shell.live_numbers.record_expression(number, source, shell.user_ns, str(result.result))
    elif error is None and outputs:
        shell.live_numbers.record_cell(number, source, shell.user_ns)
    return outputs, None if error is None else (
        _line_of(error, shell),
        _error_message(error, shell),
    )


def _line_of(error: BaseException, shell: Shell) -> int:
    """Return the line of a cell, counted from 1, that raised the error."""
    if isinstance(error, SyntaxError):
        return error.lineno or 1
    place: TracebackType | None = error.__traceback__
    while place is not None:
        if place.tb_frame.f_globals is shell.user_ns:
            return place.tb_lineno
        place = place.tb_next
    return 1


def _error_message(error: BaseException, shell: Shell) -> str:
    """Return an error's message in one line, with similar names for an undefined name."""
    message = f"{type(error).__name__}: {' '.join(str(error).split())}".removesuffix(": ")
    if isinstance(error, NameError) and error.name:
        near = get_close_matches(error.name, [name for name in shell.user_ns if name[0] != "_"])
        message += f"; similar defined names: {', '.join(near)}" * bool(near)
    return message
