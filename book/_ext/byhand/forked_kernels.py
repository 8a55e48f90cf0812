"""Start kernels as forks of one Python, which has imported what chapters import.

To start a Python, and to import Jupyter's kernel and `mha`, takes a processor most of a second:
more than the cells of most pages. Where many pages run, one Python does that once, and each page's
kernel is a fork of it, with a folder, an environment and names of its own.
"""

import gc
import importlib
import json
import os
import signal
import subprocess
import sys
from contextlib import suppress
from importlib.metadata import EntryPoint
from importlib.util import find_spec
from typing import Any

from jupyter_client.provisioning.factory import KernelProvisionerFactory
from jupyter_client.provisioning.local_provisioner import LocalProvisioner

NAME = "forks"
LAUNCHER = "ipykernel_launcher"  # the module that a kernel's command runs
IMPORTED = ("ipykernel.kernelapp", "mha.chapters")

_origin: subprocess.Popen[str] | None = None


def begin() -> None:
    """Let the kernels that this process starts from now on be forks.

    Only on Linux: elsewhere what is imported may have threads, which a fork would lose.
    """
    if sys.platform == "linux":
        factory = KernelProvisionerFactory.instance()
        place = f"{Forks.__module__}:{Forks.__name__}"
        factory.provisioners[NAME] = EntryPoint(NAME, place, factory.GROUP_NAME)
        factory.default_provisioner_name = NAME


class Forks(LocalProvisioner):
    """What Jupyter asks for a kernel; here it is a fork."""

    async def launch_kernel(self, cmd: list[str], **options: Any) -> Any:
        """Start the kernel, and return how it is reached."""
        task = {
            "arguments": cmd[cmd.index(LAUNCHER) + 1 :],
            "folder": os.fspath(options["cwd"]),
            "environment": options["env"],
        }
        self.pid = self.pgid = _ask(task)
        self.process: Any = Fork(self.pid)
        self.cwd = task["folder"]
        return self.connection_info


class Fork:
    """A kernel's process, with what Jupyter asks of a `subprocess.Popen`.

    Parameters
    ----------
    pid : int
    """

    stdin = stdout = stderr = None

    def __init__(self, pid: int) -> None:
        self.pid = pid

    def poll(self) -> int | None:
        """Return None while it runs; how it ended is not known."""
        try:
            os.kill(self.pid, 0)
        except ProcessLookupError:
            return 0
        return None

    wait = poll


def _ask(task: dict[str, Any]) -> int:
    """Have a kernel started, and return its process."""
    global _origin
    if _origin is None:
        command = [sys.executable, __file__]
        pipe = subprocess.PIPE
        _origin = subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True)
    assert _origin.stdin is not None
    assert _origin.stdout is not None
    print(json.dumps(task), file=_origin.stdin, flush=True)
    return int(_origin.stdout.readline())  # nothing, where it has ended: a ValueError


# ---- In the Python that is forked ----


def _serve() -> None:
    """Start a kernel for each line of the input; it ends with it, and the kernels then too."""
    del sys.path[0]  # this file's folder
    for name in IMPORTED:
        with suppress(Exception):  # the cell that imports it says what is wrong
            importlib.import_module(name)
    gc.freeze()  # looking through all that was imported would copy it into every fork
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # what has ended is gone at once
    for line in sys.stdin:
        if os.fork() == 0:
            _become_a_kernel(**json.loads(line))
            return


def _become_a_kernel(arguments: list[str], folder: str, environment: dict[str, str]) -> None:
    """Tell the process's number, and do what the module in a kernel's command does."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    os.setsid()  # so that it is ended with all that it starts
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    print(os.getpid(), flush=True)
    os.dup2(os.open(os.devnull, os.O_RDONLY), sys.stdin.fileno())
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    sys.argv[:] = [str(find_spec(LAUNCHER).origin), *arguments]  # type: ignore[union-attr]
    sys.argv.append(f"--IPKernelApp.parent_handle={os.getppid()}")  # it ends with its parent
    importlib.import_module("ipykernel.kernelapp").launch_new_instance()


if __name__ == "__main__":
    _serve()
