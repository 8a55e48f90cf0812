"""A sandbox for the program of somebody else, made with bubblewrap.

A process in it sees a file system of its own: the shared libraries, Python and the packages beside
it, read-only, and an empty folder of limited size, which ends with it. There is no network, no
other process, no `/proc`, no home, and nothing of `mha` but the runner. Memory, processor time and
the size of files are limited by the runner before it runs the first cell. The kernel refuses it
new processes and threads, and memory that these limits do not count. If the grader ends, however
it ends, the kernel ends the sandbox.
"""

import os
import platform
import shutil
import struct
import subprocess
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import numpy as np

from mha.grade import notebook_runner
from mha.practice import answers

PACKAGE = Path(answers.__file__).parents[1]
RUNNER, FOLDER = "/runner", "/notebook"
FOLDER_BYTES = 64 << 20

LIBRARIES = ("/usr/lib", "/usr/lib64", "/usr/lib32", "/lib", "/lib64", "/lib32")
"""The folders of the system's shared libraries, some of them links to others."""

VARIABLES = {
    **dict.fromkeys(("HOME", "TMPDIR"), FOLDER),
    **dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1"),
    **{"LANG": "C.UTF-8", "PATH": "", "MPLBACKEND": "agg"},
}

NAMESPACES = ("user", "pid", "net", "ipc", "uts", "cgroup-try")

SYSCALLS = {
    "x86_64": (
        0xC000003E,
        {"clone": 56, "fork": 57, "vfork": 58, "clone3": 435, "ptrace": 101, "socket": 41}
        | {"shmget": 29, "semget": 64, "msgget": 68, "mq_open": 240, "memfd_create": 319}
        | {"memfd_secret": 447, "add_key": 248, "request_key": 249, "keyctl": 250}
        | {"process_vm_readv": 310, "process_vm_writev": 311, "pidfd_getfd": 438}
        | {"unshare": 272, "setns": 308, "perf_event_open": 298, "bpf": 321}
        | {"userfaultfd": 323, "io_uring_setup": 425},
    ),
    "aarch64": (
        0xC00000B7,
        {"clone": 220, "clone3": 435, "ptrace": 117, "socket": 198, "shmget": 194, "semget": 190}
        | {"msgget": 186, "mq_open": 180, "memfd_create": 279, "memfd_secret": 447}
        | {"add_key": 217, "request_key": 218, "keyctl": 219, "process_vm_readv": 270}
        | {"process_vm_writev": 271, "pidfd_getfd": 438, "unshare": 97, "setns": 268}
        | {"perf_event_open": 241, "bpf": 280, "userfaultfd": 282, "io_uring_setup": 425},
    ),
}
"""By processor: how the kernel calls it, and the system calls that are refused.

They start processes and threads, reach into other processes, connect (a socket of a virtual machine
is in no network namespace), or hold memory that no limit of a process counts.
"""

CONTAINER = (
    "printf 'FROM python:3.13-slim\\nRUN apt-get update && apt-get install -y bubblewrap"
    " && pip install numpy ipython\\n' | docker build -t mha-grade - &&"
    " docker run --rm --network none"
    " --security-opt seccomp=unconfined --security-opt apparmor=unconfined"
    ' -v "{package}:/mha/mha:ro" -e PYTHONPATH=/mha -v "$PWD:/class" -w /class'
    " mha-grade python -m mha.grade FOLDER"
)
"""A command that grades where there is no sandbox: it makes one within a container."""


class Sandbox:
    """A sandbox in which this Python can be started.

    Parameters
    ----------
    hidden : iterable of pathlib.Path, default ()
        Files and folders that no process in it may see, wherever they are.

    Raises
    ------
    ValueError
        If no sandbox can be made here, with the reason and a command for a container.
    """

    def __init__(self, hidden: Iterable[Path] = ()) -> None:
        bwrap = shutil.which("bwrap")
        if sys.platform != "linux":
            raise _no_sandbox("it is made by bubblewrap, which needs Linux")
        if bwrap is None:
            raise _no_sandbox("bubblewrap is missing (sudo apt-get install bubblewrap)")
        if platform.machine() not in SYSCALLS:
            raise _no_sandbox(f"system calls of {platform.machine()} are not known")
        self.command = [bwrap, *_options([PACKAGE, *hidden])]
        probe = self.start(["-c", "import numpy"], stderr=subprocess.PIPE)
        said = probe.communicate()[1].decode(errors="replace").strip().splitlines()
        if probe.returncode != 0:
            raise _no_sandbox(said[-1] if said else f"bwrap ends with {probe.returncode}")

    def start(
        self, arguments: Sequence[str], stderr: int = subprocess.DEVNULL
    ) -> subprocess.Popen[bytes]:
        """Start Python with some arguments; its end, or that of the caller, ends all in it."""
        filtering, program = os.pipe()
        os.write(program, seccomp_program())
        os.close(program)
        command = [*self.command, "--seccomp", str(filtering), "--", *python(arguments)]
        try:
            return subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=stderr,
                pass_fds=[filtering],
            )
        finally:
            os.close(filtering)


def python(arguments: Sequence[str]) -> list[str]:
    """Return a command that starts this Python, with nothing of the current folder."""
    return [sys.executable, "-P", "-B", "-X", "utf8", *arguments]


def _no_sandbox(reason: str) -> ValueError:
    command = CONTAINER.format(package=PACKAGE)
    return ValueError(
        f"no sandbox can be made for the notebooks: {reason}; grade them in a container with"
        f" `{command}`, or with --trust-submissions if you wrote them yourself"
    )


def _options(hidden: Sequence[Path]) -> list[str]:
    """Return the options of bwrap."""
    shown = list(dict.fromkeys(folder for folder in _folders() if folder.is_dir()))
    files = {name: Path(name) for name in ("/etc/ld.so.cache", sys.executable)}
    files[f"{sys.prefix}/pyvenv.cfg"] = Path(sys.prefix, "pyvenv.cfg")
    for module in (answers, notebook_runner):
        source = Path(str(module.__file__))
        files[f"{RUNNER}/mha/{source.relative_to(PACKAGE).as_posix()}"] = source
    numpy = Path(np.__file__).resolve().parent
    if not _paths_in(numpy, shown):
        files |= {f"{RUNNER}/{name}": numpy.with_name(name) for name in ("numpy", "numpy.libs")}
    own = [Path(sys.base_prefix), Path(sys.prefix)]
    searched = [RUNNER, *(str(each) for each in _package_folders() if not _paths_in(each, own))]
    options = [f"--unshare-{name}" for name in NAMESPACES]
    options += ["--disable-userns", "--die-with-parent", "--new-session", "--cap-drop", "ALL"]
    options += ["--uid", "1000", "--gid", "1000", "--hostname", "notebook", "--clearenv"]
    for name, value in (VARIABLES | {"PYTHONPATH": ":".join(searched)}).items():
        options += ["--setenv", name, value]
    for folder in map(Path, LIBRARIES):
        if folder.is_symlink():
            options += ["--symlink", os.readlink(folder), str(folder)]
    for folder in shown:
        options += ["--ro-bind", str(folder), str(folder)]
    for covered in dict.fromkeys(_covered(shown, hidden)):
        if covered.is_dir():
            options += ["--size", "4096", "--tmpfs", str(covered), "--remount-ro", str(covered)]
        else:
            options += ["--ro-bind", os.devnull, str(covered)]
    for target, file in files.items():
        if file.exists():
            options += ["--ro-bind", str(file.resolve()), target]
    for device in (os.devnull, "/dev/urandom"):
        options += ["--dev-bind", device, device]
    options += ["--size", str(FOLDER_BYTES), "--tmpfs", FOLDER, "--chdir", FOLDER]
    return [*options, "--remount-ro", "/"]


def _folders() -> Iterator[Path]:
    """Yield the folders that Python needs, and no parent of them."""
    yield from (Path(each) for each in LIBRARIES if not os.path.islink(each))
    for prefix in (sys.base_prefix, sys.prefix):
        yield from (Path(prefix, name) for name in ("lib", "lib64"))
    yield from _package_folders()


def _package_folders() -> list[Path]:
    """Return the folders of installed packages that this Python searches."""
    return [Path(each) for each in sys.path if each.endswith(("site-packages", "dist-packages"))]


def _covered(shown: Sequence[Path], hidden: Sequence[Path]) -> Iterator[Path]:
    """Yield the paths below the shown folders that no notebook may see."""
    for path in hidden:
        if path.exists():
            yield from _paths_in(path, shown)
    searched = {folder.resolve() for folder in _package_folders()}
    for folder in shown:
        yield from folder.glob("mha")
        for packages in folder.glob("python*/*-packages"):
            if packages.resolve() in searched:
                yield from packages.glob("mha")
            else:  # of the Python that a virtual environment was made from
                yield packages


def _paths_in(path: Path, folders: Iterable[Path]) -> list[Path]:
    """Return the paths at which a file is seen below some folders."""
    real, roots = path.resolve(), [(folder, folder.resolve()) for folder in folders]
    return [f / real.relative_to(root) for f, root in roots if real.is_relative_to(root)]


def seccomp_program() -> bytes:
    """Return the filter that refuses the system calls of `SYSCALLS`, as the kernel reads it."""
    architecture, refused = SYSCALLS[platform.machine()]
    load, equal, at_least, give = 0x20, 0x15, 0x35, 0x06  # operations of the packet filter
    kill, refuse, allow = 0x80000000, 0x00050001, 0x7FFF0000  # 1 is EPERM
    numbers = sorted(refused.values())
    lines = [(load, 0, 0, 4), (equal, 1, 0, architecture), (give, 0, 0, kill), (load, 0, 0, 0)]
    lines += [(at_least, 0, 1, 0x40000000), (give, 0, 0, kill)]  # numbers of another interface
    lines += [(equal, len(numbers) - i, 0, number) for i, number in enumerate(numbers)]
    lines += [(give, 0, 0, allow), (give, 0, 0, refuse)]
    return b"".join(struct.pack("HBBI", *line) for line in lines)
