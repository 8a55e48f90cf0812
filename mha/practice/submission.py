"""A student's notebook in a process of its own: its cells run, and its functions are called.

``python submission.py MEGABYTES HIDDEN...`` reads a question a line, as JSON, and writes an
answer a line: a cell's source is run, a function's name and arrays are called. What prints goes
nowhere. Nothing of `mha` is imported here, so that no right answer lies in this process. A
student's `check` says nothing here, other names of `mha` cannot be imported, and what Python does
is watched: files below the paths `HIDDEN` are not opened, no file outside the working folder is
changed, no program is started and no connection opened.

Magics are read by IPython. Where it is missing, lines and cells that begin with ``%``, ``!`` or
``?`` are left out, and what stands behind ``x = !`` or ``x = %`` is a fault of its cell. Where
there is no module `resource`, as on Windows, or the system does not keep the limit, as macOS,
memory has none.
"""

import builtins
import json
import os
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

MOST = 10_000
"""Numbers that an array has at most."""

LONGEST = 300
"""Letters of an error's message that are told."""

BODIES = {"time", "capture", "prun"}
"""Magics of a cell whose body runs as the notebook's own."""

STARTING = {
    *("subprocess.Popen", "os.system", "os.fork", "os.forkpty", "os.exec", "os.posix_spawn"),
    *("os.spawn", "os.startfile", "os.kill", "os.killpg", "socket.connect", "socket.bind"),
    *("socket.sendto", "socket.getaddrinfo"),
}
"""What Python announces before it starts a program, sends a signal or opens a connection."""

CHANGING = {
    *("os.remove", "os.rename", "os.rmdir", "os.mkdir", "os.link", "os.symlink", "os.truncate"),
    *("os.chmod", "os.chown", "os.utime", "os.chflags"),
}
"""What Python announces before it changes files by their names."""

Names = dict[str, Any]


@dataclass(frozen=True, eq=False)
class Answer:
    """What came of a call: an array, or a fault; and what is left of what was handed in."""

    value: NDArray[np.float64] | None
    given: tuple[Any, ...] = ()
    fault: str = ""

    def as_data(self) -> dict[str, Any]:
        """Return it as JSON has it."""
        value = self.value
        return {
            "shape": None if value is None else value.shape,
            "numbers": None if value is None else value.ravel().tolist(),
            "given": as_data(self.given),
            "fault": self.fault,
        }

    @classmethod
    def of_data(cls, data: Mapping[str, Any]) -> "Answer":
        """Return the answer that came as data, whoever wrote it."""
        try:
            given, fault = of_data(data.get("given", ())), str(data["fault"])
            if fault:
                return cls(None, given, fault)
            numbers = np.array(data["numbers"], dtype=float)
            return cls(numbers.reshape(tuple(data["shape"])), given)
        except (KeyError, TypeError, ValueError, OverflowError):
            return cls(None, (), "gives no array")


def as_data(given: Sequence[Any]) -> list[Any]:
    """Return arrays and numbers as JSON has them."""
    return [x.tolist() if isinstance(x, np.ndarray) else x for x in given]


def of_data(given: Sequence[Any]) -> tuple[Any, ...]:
    """Return arrays and numbers that came as data."""
    return tuple(np.array(x) if isinstance(x, list) else x for x in given)


def called(function: Callable[..., Any], given: Sequence[Any]) -> Answer:
    """Return what a function gives of arrays, which it may change.

    Parameters
    ----------
    function : callable
    given : sequence of ndarray and int

    Returns
    -------
    Answer
    """
    handed = tuple(np.copy(x) if isinstance(x, np.ndarray) else x for x in given)
    try:
        with np.errstate(all="ignore"):
            found = function(*handed)
        if found is None:
            return Answer(None, handed, "returns nothing")
        value = np.array(found, dtype=float)
    except BaseException as error:
        if isinstance(error, KeyboardInterrupt):
            raise
        return Answer(None, handed, f"stops with {told(error)}")
    if value.size > MOST:
        return Answer(None, handed, f"gives an array of shape {value.shape}")
    return Answer(value, handed)


def told(error: BaseException) -> str:
    """Return an error's kind and message."""
    try:
        message = str(error)
    except Exception:
        message = ""
    return f"{type(error).__name__}: {message}"[:LONGEST].removesuffix(": ")


# ---- Cells, as Jupyter runs them ----


def as_python(source: str) -> str:
    r"""Return a cell without what only a notebook understands.

    Examples
    --------
    >>> as_python("x = 1\n!pip install mha").splitlines()
    ['x = 1', "get_ipython().system('pip install mha')"]
    """
    try:
        from IPython.core.inputtransformer2 import TransformerManager
    except ImportError:
        return without_magics(source)
    manager = TransformerManager()  # type: ignore[no-untyped-call]
    return str(manager.transform_cell(source))


def without_magics(source: str) -> str:
    r"""Return a cell with `pass` for magics.

    Examples
    --------
    >>> without_magics("%%time\nx = 1"), without_magics("if x:\n    %matplotlib inline")
    ('x = 1', 'if x:\n    pass')
    """
    first, _, rest = source.lstrip().partition("\n")
    if first.startswith("%%"):
        return rest if first[2:].partition(" ")[0] in BODIES else ""
    try:
        compile(source, "cell", "exec", dont_inherit=True)
    except SyntaxError:
        return re.sub(r"(?m)^([ \t]*)(?:[%!?].*|[\w.]+\?+[ \t]*$)", r"\1pass", source)
    return source


class Shell:
    """What `get_ipython()` gives a cell: magics that run Python run it, all others do nothing."""

    def __init__(self, run: Callable[[str], None]) -> None:
        self.run = run

    def run_line_magic(self, name: str, line: str, *_: Any, **__: Any) -> None:
        """Run what stands behind ``%time``."""
        if name == "time":
            self.run(line)

    def run_cell_magic(self, name: str, line: str, body: str) -> None:
        """Run the body of ``%%time`` and its like."""
        if name in BODIES:
            self.run(body)

    def getoutput(self, *_: Any, **__: Any) -> list[str]:
        """Return the lines that a program printed: none was started."""
        return []

    def __getattr__(self, name: str) -> Callable[..., None]:
        return lambda *_, **__: None


class Notebook:
    """The cells that have run, and the names that they left."""

    def __init__(self) -> None:
        module = ModuleType("__main__")
        sys.modules["__main__"] = module
        self.names: Names = module.__dict__
        shell = Shell(self._run)
        builtins.get_ipython = lambda: shell  # type: ignore[attr-defined]
        builtins.display = lambda *_, **__: None  # type: ignore[attr-defined]

    def run(self, source: str) -> str:
        """Run a cell, and return what stopped it."""
        try:
            self._run(source)
        except BaseException as error:
            return f"stops with {told(error)}"
        return ""

    def _run(self, source: str) -> None:
        exec(compile(as_python(source), "cell", "exec", dont_inherit=True), self.names)

    def call(self, name: str, given: Sequence[Any]) -> Answer:
        """Call a function of the notebook."""
        function = self.names.get(name)
        if not callable(function):
            return Answer(None, tuple(given), "is not written")
        return called(function, given)


# ---- What a notebook may not do ----


class Without(ModuleType):
    """A module of `mha` that has nothing but a `check` that says nothing."""

    __path__: list[str] = []  # noqa: RUF012 -- the search path of its modules

    def __getattr__(self, name: str) -> Any:
        if name == "check":
            return lambda *_, **__: "graded elsewhere"
        if name.startswith("__"):
            raise AttributeError(name)
        raise ImportError(f"{self.__name__}.{name} is not here: steps are written with NumPy alone")


def take_away_mha() -> None:
    """Put modules without contents in the place of `mha`."""
    names = ("mha", "mha.practice", "mha.practice.steps")
    made = {name: Without(name) for name in names}
    sys.modules.update(made)
    vars(made["mha"])["practice"] = made["mha.practice"]
    vars(made["mha.practice"])["steps"] = made["mha.practice.steps"]


def limit_memory(megabytes: int) -> None:
    """Limit memory, and the files that are written, where the system can."""
    with suppress(ImportError, ValueError, OSError):
        import resource

        for what, most in ((resource.RLIMIT_AS, megabytes), (resource.RLIMIT_FSIZE, 64)):
            resource.setrlimit(what, (most << 20, most << 20))


def watch(hidden: Sequence[str]) -> None:
    """Refuse from now on, for good, what a notebook may not do."""
    real, decode = os.path.realpath, os.fsdecode
    own, closed = real(os.getcwd()), [real(path) for path in hidden]
    writing = os.O_WRONLY | os.O_RDWR | os.O_CREAT

    def below(path: str, folder: str) -> bool:
        return path == folder or path.startswith(folder + os.sep)

    def hook(event: str, arguments: tuple[Any, ...]) -> None:
        if event in STARTING:
            raise PermissionError("a notebook starts no programs and opens no connections here")
        if event != "open" and event not in CHANGING:
            return
        changes = event != "open" or bool((arguments[2] or 0) & writing)
        for path in arguments[: 1 if event == "open" else 2]:
            if not isinstance(path, str | bytes | os.PathLike):
                continue
            where = real(decode(path))
            if any(below(where, folder) for folder in closed):
                raise PermissionError("this file is closed to a notebook that is graded")
            if changes and not below(where, own) and where != os.devnull:
                raise PermissionError("a notebook changes files in its own folder alone")

    sys.addaudithook(hook)


def main() -> None:
    """Answer questions until there are no more."""
    questions = os.fdopen(os.dup(0), encoding="utf-8")
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    nowhere = os.open(os.devnull, os.O_RDWR)
    for channel in (0, 1, 2):
        os.dup2(nowhere, channel)
    megabytes, *hidden = sys.argv[1:]
    notebook = Notebook()
    as_python("")  # imports IPython while memory is not yet limited, nor files watched
    take_away_mha()
    limit_memory(int(megabytes))
    watch(hidden)
    print("{}", file=answers, flush=True)
    for line in questions:
        asked = json.loads(line)
        if "cell" in asked:
            data = {"fault": notebook.run(asked["cell"])}
        else:
            data = notebook.call(asked["call"], of_data(asked["given"])).as_data()
        print(json.dumps(data), file=answers, flush=True)


if __name__ == "__main__":
    main()
