"""JavaScript libraries, run by Deno in a process of their own."""

from __future__ import annotations

import atexit
import functools
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Any, Self

SERVER = Path(__file__).parent / "scripts.js"


class ScriptError(Exception):
    """Raised if a script or one of its functions throws; the message is the error's own."""


class Scripts:
    """Scripts that have run, and whose functions can be called.

    Parameters
    ----------
    *texts
        The scripts, in order. They get no access to files, network or other processes.

    Raises
    ------
    ScriptError
        If a script throws.
    """

    def __init__(self, *texts: str) -> None:
        deno = Path(sys.executable).with_name("deno.exe" if os.name == "nt" else "deno")
        self._process = subprocess.Popen(
            [deno, "run", "--quiet", "--no-config", "--no-prompt", "--no-remote", SERVER],
            env=os.environ | {"NO_COLOR": "1", "DENO_NO_UPDATE_CHECK": "1"},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            encoding="utf-8",
        )
        for text in texts:
            self._ask({"script": text})

    def call(self, function: str, *arguments: Any) -> Any:
        """Return the result of a global function; arguments and result are JSON.

        Raises
        ------
        ScriptError
            If the function throws.
        """
        return self._ask({"function": function, "arguments": arguments})

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End the process of the scripts."""
        # A forked process has copies of the pipes, so closing them alone would not end Deno.
        self._process.kill()
        self._process.communicate()

    def _ask(self, request: dict[str, Any]) -> Any:
        stdin, stdout = self._process.stdin, self._process.stdout
        assert stdin is not None
        assert stdout is not None
        stdin.write(json.dumps(request) + "\n")
        stdin.flush()
        line = stdout.readline()
        if not line:
            raise ScriptError("Deno ended; see its message above")
        answer = json.loads(line)
        if "error" in answer:
            raise ScriptError(answer["error"])
        return answer.get("result")


def call(files: tuple[Path, ...], function: str, *arguments: Any) -> Any:
    """Return the result of a function of the scripts in some files.

    Each process starts Deno once per tuple of files.

    Raises
    ------
    ScriptError
        If the function throws.
    """
    return _started(files, os.getpid()).call(function, *arguments)


@functools.cache
def _started(files: tuple[Path, ...], process: int) -> Scripts:
    """Return the running scripts of this process; a forked process needs its own."""
    scripts = Scripts(*(file.read_text(encoding="utf-8") for file in files))
    atexit.register(scripts.close)
    return scripts
