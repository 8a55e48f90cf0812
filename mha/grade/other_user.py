"""Another user of a container, as whom Python runs untrusted code where no sandbox can be made.

Autograding services run a teacher's program as root in a container that lives for one submission,
and allow no further container in it. There a notebook's process has a user of its own. It cannot
read the files that only root may read, start processes or open connections; memory, processor time
and the size of files are limited as in a sandbox. It does see the system's public files and the
names of other processes, and the number of its files is not limited.
"""

import os
import platform
import shutil
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from subprocess import DEVNULL, PIPE, Popen

from mha.grade import refused_calls
from mha.grade.sandbox import (
    ARCHITECTURES,
    PYTHON,
    VARIABLES,
    probe,
    runner_files,
    seccomp_program,
)

USERS = range(61_184, 65_184)
"""Numbers of users and groups that Debian leaves to short-lived services.

Each grader has another: a user can end all processes of the same number.
"""


class OtherUser:
    """Another user, as whom this Python can be started.

    Use it as a context manager, which makes the user's folder and deletes it.

    Raises
    ------
    ValueError
        If this process may not start another user's, or if that user can read this package.
    """

    def __init__(self) -> None:
        if sys.platform != "linux" or platform.machine() not in ARCHITECTURES:
            raise _refusal(f"the system calls of {platform.machine()} are not known")
        if os.geteuid() != 0:
            raise _refusal("only root can start a process of another user")

    def __enter__(self) -> "OtherUser":
        self.number = USERS[os.getpid() % len(USERS)]
        self.folder = Path(tempfile.mkdtemp(prefix="notebook-"))
        self.folder.chmod(0o755)
        modules = runner_files() | {"refused_calls.py": Path(refused_calls.__file__)}
        for name, path in modules.items():
            copy = self.folder / "runner" / name
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.write_bytes(path.read_bytes())
        for path in (self.folder / "runner").rglob("*"):
            path.chmod(0o755)
        (self.folder / "runner").chmod(0o755)
        try:
            reason = probe("the user's process", self.start)
        except PermissionError as error:
            reason = f"that user may not start {error.filename}"
        if reason:
            self.__exit__()
            raise _refusal(reason)
        return self

    def __exit__(self, *_: object) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)

    def start(self, arguments: Sequence[str], stderr: int = DEVNULL) -> Popen[bytes]:
        """Start Python with some arguments, in an empty folder of the user's."""
        own, runner = self.folder / "own", self.folder / "runner"
        shutil.rmtree(own, ignore_errors=True)
        own.mkdir(mode=0o700)
        os.chown(own, self.number, self.number)
        refusal = [str(runner / "refused_calls.py"), seccomp_program(platform.machine()).hex()]
        command = [*PYTHON, *refusal, *PYTHON[1:], *arguments]
        places = {"HOME": str(own), "TMPDIR": str(own), "PYTHONPATH": str(runner)}
        return Popen(
            command,
            stdin=PIPE,
            stdout=PIPE,
            stderr=stderr,
            cwd=own,
            env=VARIABLES | places,
            user=self.number,
            group=self.number,
            extra_groups=[],
            start_new_session=True,
        )


def _refusal(reason: str) -> ValueError:
    return ValueError(f"notebooks cannot run as another user: {reason}")
