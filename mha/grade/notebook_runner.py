"""The program inside the sandbox: it runs a notebook's cells and calls the notebook's functions.

It reads one question per line, as JSON, and writes one answer per line. The first line has the
limits that it sets for itself; each further line has the source of a cell, or the name of a
function with its arguments. Printed output is discarded. A notebook that imports `mha` gets
modules in which `check` says nothing, so that it runs where `mha` is not.

IPython reads magics. Where it is missing, lines and cells that begin with ``%``, ``!`` or ``?``
are skipped, and ``x = !ls`` is an error of its cell.
"""

import builtins
import json
import os
import re
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from types import ModuleType
from typing import Any

import numpy as np

from mha.practice.answers import Answer, call_function, describe_error

BODIES = {"time", "capture", "prun"}
"""Cell magics whose body runs as the notebook's own code."""


def as_python(source: str) -> str:
    r"""Return a cell as Python: its magics are calls of `get_ipython()`.

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
    """The shell that `get_ipython()` returns: magics that time Python run it, others do nothing."""

    def __init__(self, run: Callable[[str], None]) -> None:
        self.run = run

    def run_line_magic(self, name: str, line: str, *_: Any, **__: Any) -> None:
        """Run the statement after ``%time``."""
        if name == "time":
            self.run(line)

    def run_cell_magic(self, name: str, line: str, body: str) -> None:
        """Run the body of ``%%time`` and its like."""
        if name in BODIES:
            self.run(body)

    def getoutput(self, *_: Any, **__: Any) -> list[str]:
        """Return the lines that a program printed: no program is started."""
        return []

    def __getattr__(self, name: str) -> Callable[..., None]:
        return lambda *_, **__: None


class Notebook:
    """The names that the cells of a notebook have defined so far."""

    def __init__(self) -> None:
        module = ModuleType("__main__")
        sys.modules["__main__"] = module
        self.names: dict[str, Any] = module.__dict__
        shell = Shell(self._run)
        builtins.get_ipython = lambda: shell  # type: ignore[attr-defined]
        builtins.display = lambda *_, **__: None  # type: ignore[attr-defined]

    def run_cell(self, source: str) -> Answer:
        """Run a cell; the answer is empty, or the error that stopped the cell."""
        try:
            self._run(source)
        except BaseException as error:
            return Answer(None, (), "stopped", describe_error(error))
        return Answer(np.empty(0))

    def _run(self, source: str) -> None:
        exec(compile(as_python(source), "cell", "exec", dont_inherit=True), self.names)

    def answer(self, asked: Mapping[str, Any]) -> Answer:
        """Run a cell or call a function."""
        if "cell" in asked:
            return self.run_cell(asked["cell"])
        function = self.names.get(asked["call"])
        if not callable(function):
            return Answer(None, (), "missing")
        given = [np.array(each) if isinstance(each, list) else each for each in asked["given"]]
        return call_function(function, given)


class EmptyModule(ModuleType):
    """A module of `mha` with nothing but a `check` that says nothing."""

    __path__: list[str] = []  # noqa: RUF012 -- the search path of its modules

    def __getattr__(self, name: str) -> Any:
        if name == "check":
            return lambda *_, **__: "graded elsewhere"
        if name.startswith("__"):
            raise AttributeError(name)
        raise ImportError(f"{self.__name__}.{name} is not here: steps are written with NumPy alone")


def replace_mha() -> None:
    """Put empty modules in the place of `mha`."""
    names = ("mha", "mha.practice", "mha.practice.steps")
    made = {name: EmptyModule(name) for name in names}
    sys.modules.update(made)
    vars(made["mha"])["practice"] = made["mha.practice"]
    vars(made["mha.practice"])["steps"] = made["mha.practice.steps"]


def set_limits(limits: Mapping[str, int]) -> None:
    """Set limits of this process by their names in `resource`, where the system has them."""
    with suppress(ImportError):
        import resource

        for name, most in limits.items():
            with suppress(ValueError, OSError):
                resource.setrlimit(getattr(resource, name), (most, most))


def main() -> None:
    """Answer questions until there are no more."""
    questions = os.fdopen(os.dup(0), encoding="utf-8")
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    nowhere = os.open(os.devnull, os.O_RDWR)
    for channel in (0, 1, 2):
        os.dup2(nowhere, channel)
    notebook = Notebook()
    as_python("")  # imports IPython before memory is limited
    replace_mha()
    set_limits(json.loads(questions.readline()))
    print("{}", file=answers, flush=True)
    for line in questions:
        data = notebook.answer(json.loads(line)).as_json()
        print(json.dumps(data), file=answers, flush=True)


if __name__ == "__main__":
    main()
