"""The program inside the sandbox: it runs a notebook's cells and calls the notebook's functions.

It reads one question per line, as JSON, and writes one answer per line. A question has limits for
the process itself, the source of a cell, or the name of a function with its arguments. Printed
output is discarded, and magics are skipped.
"""

import builtins
import json
import os
import re
import sys
from collections.abc import Mapping
from contextlib import suppress
from types import ModuleType
from typing import Any

import numpy as np

from mha.practice.answers import Answer, call_function, describe_error

TIMED = {"time", "capture", "prun"}
"""Cell magics whose body runs as the notebook's own code."""

NOTEBOOK_MODULES = ("mha.practice.notebook_steps", "mha.practice.steps")
"""Modules from which a student notebook imports `check`: the present name, and a former one."""

MAGICS = (
    (r"^([ \t]*)%time[ \t]+(?=\S)", r"\1"),
    (r"^([ \t]*[\w.]+[ \t]*=[ \t]*)[%!].*", r"\1[]"),
    (r"^([ \t]*)(?:[%!?](?:.*\\\n)*.*|[\w.]+\?+[ \t]*$)", r"\1pass"),
)
"""Lines that Jupyter understands and Python does not, and the Python in their place."""


def without_magics(source: str) -> str:
    r"""Return a cell without the magics of Jupyter.

    Examples
    --------
    >>> without_magics("%%time\nx = 1"), without_magics("if x:\n    %matplotlib inline")
    ('x = 1', 'if x:\n    pass')
    """
    first, _, rest = source.lstrip().partition("\n")
    if first.startswith("%%"):
        return rest if first[2:].partition(" ")[0] in TIMED else ""
    try:
        compile(source, "cell", "exec", dont_inherit=True)
    except SyntaxError:
        for magic, python in MAGICS:
            source = re.sub(magic, python, source, flags=re.MULTILINE)
    return source


class Shell:
    """The object that `get_ipython()` returns; each of its methods does nothing."""

    def __getattr__(self, name: str) -> Any:
        return lambda *_, **__: None


def answer_question(question: Mapping[str, Any], names: dict[str, Any]) -> Answer:
    """Return the answer to a question, which is an empty array except for a call.

    Parameters
    ----------
    question : mapping
        `limits` has limits of this process by name; or `cell` has the source of a cell; or `call`
        has the name of a function and `given` its arguments.
    names : dict
        The variables of the notebook, which cells change.
    """
    if "limits" in question:
        set_limits(question["limits"])
    elif "cell" in question:
        try:
            source = without_magics(question["cell"])
            exec(compile(source, "cell", "exec", dont_inherit=True), names)
        except BaseException as error:
            return Answer(None, (), "stopped", describe_error(error))
    elif callable(function := names.get(question["call"])):
        given = [np.array(x) if isinstance(x, list) else x for x in question["given"]]
        return call_function(function, given)
    else:
        return Answer(None, (), "missing")
    return Answer(np.empty(0))


def set_limits(limits: Mapping[str, int]) -> None:
    """Set limits of this process by their names in `resource`, where the system has them."""
    with suppress(ImportError):
        import resource

        for name, most in limits.items():
            with suppress(AttributeError, ValueError, OSError):
                resource.setrlimit(getattr(resource, name), (most, most))


def main() -> None:
    """Answer questions until there are no more."""
    questions = os.fdopen(os.dup(0), encoding="utf-8")
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    null = os.open(os.devnull, os.O_RDWR)
    for channel in (0, 1, 2):
        os.dup2(null, channel)
    vars(builtins).update(get_ipython=Shell, display=lambda *_, **__: None)
    for name in ("mha", "mha.practice", *NOTEBOOK_MODULES):
        sys.modules[name] = module = ModuleType(name)  # steps are written without `mha`
        vars(module)["check"] = lambda *_, **__: "graded elsewhere"
        package, _, own = name.rpartition(".")
        vars(sys.modules.get(package, module))[own] = module
    sys.modules["__main__"] = ModuleType("__main__")
    names = vars(sys.modules["__main__"])
    for line in questions:
        answer = answer_question(json.loads(line), names)
        print(json.dumps(answer.as_json()), file=answers, flush=True)


if __name__ == "__main__":
    main()
