"""A sandbox in which Python runs untrusted code, made with bubblewrap.

A process in the sandbox has its own file system: the shared libraries, Python and its packages,
all read-only, and an empty folder of limited size that is deleted at the end. The process has no
network, no `/proc` and no home folder. It sees no other process, and of `mha` only the runner. The
runner limits memory, processor time and the size of files before it runs the first cell. If the
grader ends, however it ends, the kernel ends the sandbox.

bubblewrap is a program of the system. If it is missing, it is installed when a root user of Debian
or a derivative grades, as in a container; for everybody else the error names the command.
"""

import os
import platform
import shutil
import struct
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from subprocess import DEVNULL, PIPE, Popen, run

import numpy as np

from mha.grade import notebook_runner
from mha.practice import answers

PACKAGE = Path(answers.__file__).parents[1]
RUNNER, FOLDER = "/runner", "/notebook"
"""Paths in the sandbox: the folder of the runner's modules, and the notebook's own folder."""

FOLDER_BYTES = 64 << 20

PYTHON = (sys.executable, "-P", "-B", "-X", "utf8")
"""The interpreter, which takes no module from the current folder and writes no bytecode."""

LIBRARIES = ("/usr/lib", "/usr/lib64", "/usr/lib32", "/lib", "/lib64", "/lib32")
"""The folders of the system's shared libraries; some may be links to others."""

PROBE = """import numpy, os, sys
print("started")
sys.exit(os.path.exists(sys.argv[1]) and "files are visible in it that should be hidden")"""
"""A program that ends with an error if it sees a file."""

VARIABLES = {
    **{"HOME": FOLDER, "TMPDIR": FOLDER, "LANG": "C.UTF-8", "PATH": "", "MPLBACKEND": "agg"},
    **dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1"),
}
"""The environment variables of a process in the sandbox, apart from `PYTHONPATH`."""

ISOLATION = (
    *("--unshare-user", "--unshare-pid", "--unshare-net", "--unshare-ipc", "--unshare-uts"),
    *("--unshare-cgroup-try", "--die-with-parent", "--new-session"),
    *("--cap-drop", "ALL", "--uid", "1000", "--gid", "1000", "--hostname", "notebook"),
)
"""The options of bwrap that separate a process from all others."""

ARCHITECTURES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
"""The kernel's numbers (AUDIT_ARCH_*) of the machines whose system calls are known."""

REFUSED = {
    "clone": (56, 220), "fork": (57,), "vfork": (58,), "clone3": (435, 435),
    "ptrace": (101, 117), "process_vm_readv": (310, 270), "process_vm_writev": (311, 271),
    "pidfd_getfd": (438, 438), "unshare": (272, 97), "setns": (308, 268), "socket": (41, 198),
    "shmget": (29, 194), "semget": (64, 190), "msgget": (68, 186), "mq_open": (240, 180),
    "memfd_create": (319, 279), "memfd_secret": (447, 447), "add_key": (248, 217),
    "request_key": (249, 218), "keyctl": (250, 219), "bpf": (321, 280),
    "perf_event_open": (298, 241), "userfaultfd": (323, 282), "io_uring_setup": (425, 425),
    "setxattr": (188, 5), "lsetxattr": (189, 6), "fsetxattr": (190, 7), "setxattrat": (463, 463),
    "socketpair": (53, 199), "io_setup": (206, 0), "fanotify_init": (300, 262),
    "inotify_init1": (294, 26), "inotify_init": (253,),
}  # fmt: skip
"""System calls that are refused, with their numbers on each of `ARCHITECTURES`.

These calls start processes and threads, make namespaces, read other processes, open connections
(a virtual machine's sockets belong to no network namespace), use up what all processes of the
machine or of a user share, or keep memory that no limit counts: a file's extended attributes count
neither as memory of a process nor as bytes of the folder.
"""

FCNTL, SET_LEASE = (72, 25), 1024
"""The numbers of the system call `fcntl`, and its command that is refused.

A lease on a file of Python would stop every other process that opens the file for 45 seconds.
"""

CONTAINER = (
    "printf 'FROM python:3.13-slim\\nRUN apt-get update && apt-get install -y bubblewrap"
    " && pip install numpy\\n' | docker build -t mha-grade - && docker run --rm --network none"
    " --security-opt seccomp=unconfined --security-opt apparmor=unconfined"
    ' -v "{package}:/mha/mha:ro" -e PYTHONPATH=/mha -v "$PWD:/class" -w /class'
    " mha-grade python -P -m mha.grade FOLDER"
)
"""A command for systems on which no sandbox can be made: in this container, one can."""


class Sandbox:
    """A sandbox in which this Python can be started.

    Parameters
    ----------
    hidden : iterable of Path
        Files and folders that a process in the sandbox cannot see, even inside a visible folder.

    Raises
    ------
    ValueError
        If no sandbox can be made, with the reason and a command to use instead.
    """

    def __init__(self, hidden: Iterable[Path]) -> None:
        if sys.platform != "linux":
            raise _no_sandbox("bubblewrap, which makes it, needs Linux")
        bwrap = shutil.which("bwrap") or _install_bwrap()
        if bwrap is None:
            raise _no_sandbox("bubblewrap is missing (sudo apt-get install bubblewrap)")
        if platform.machine() not in ARCHITECTURES:
            raise _no_sandbox(f"the system calls of {platform.machine()} are not known")
        self.command = [bwrap, *ISOLATION, *_files([PACKAGE, *hidden])]
        if reason := probe("bwrap", self.start):
            raise _no_sandbox(reason)

    def start(self, arguments: Sequence[str], stderr: int = DEVNULL) -> Popen[bytes]:
        """Start Python with some arguments.

        The sandbox ends when this process ends, or the caller's.
        """
        filtering, program = os.pipe()
        os.write(program, seccomp_program(platform.machine()))
        os.close(program)
        command = [*self.command, "--seccomp", str(filtering), "--", *PYTHON, *arguments]
        try:
            return Popen(command, stdin=PIPE, stdout=PIPE, stderr=stderr, pass_fds=[filtering])
        finally:
            os.close(filtering)


def probe(program: str, start: Callable[..., Popen[bytes]]) -> str:
    """Return why Python with NumPy does not start, or sees this file; an empty text if all is well.

    Parameters
    ----------
    program : str
        The name of the program that starts Python, for the reason.
    start : callable
        Starts Python with some arguments.
    """
    probed = start(["-c", PROBE, __file__], stderr=PIPE)
    printed, errors = probed.communicate()
    if probed.returncode == 0 and printed:
        return ""
    ended = f"{program} ends with {probed.returncode}, and starts no Python"
    return [ended, *errors.decode(errors="replace").strip().splitlines()][-1]


def start_without_sandbox(arguments: Sequence[str]) -> Popen[bytes]:
    """Start Python with some arguments, with all rights of the caller."""
    folder = tempfile.gettempdir()
    return Popen([*PYTHON, *arguments], stdin=PIPE, stdout=PIPE, stderr=DEVNULL, cwd=folder)


def _install_bwrap() -> str | None:
    """Install bubblewrap as root where apt-get exists, and return the path of bwrap, if any."""
    apt = shutil.which("apt-get")
    if apt is None or os.geteuid() != 0:
        return None
    print("Installing bubblewrap, in which the notebooks run ...", file=sys.stderr)
    quietly = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    for arguments in (["update"], ["install", "-y", "--no-install-recommends", "bubblewrap"]):
        run([apt, "-qq", *arguments], env=quietly, stdout=DEVNULL, check=False)
    return shutil.which("bwrap")


def _no_sandbox(reason: str) -> ValueError:
    command = CONTAINER.format(package=PACKAGE)
    instead = f"use a container: `{command}`, or --trust-submissions if you wrote them yourself"
    return ValueError(f"no sandbox can be made for the notebooks: {reason}; {instead}")


def _files(hidden: Sequence[Path]) -> Iterator[str]:
    """Yield the options of bwrap for the file system and the environment."""
    shown, own = list(_folders()), [Path(sys.base_prefix), Path(sys.prefix)]
    files = {f"{RUNNER}/{name}": path for name, path in runner_files().items()}
    real = os.path.realpath(sys.executable)
    # Debian's NumPy finds its BLAS by a link through /etc/alternatives.
    single = ("/etc/ld.so.cache", "/etc/alternatives", real, f"{sys.prefix}/pyvenv.cfg")
    files |= {name: Path(name) for name in single}
    numpy = Path(np.__file__).resolve().parent
    if not _paths_in(numpy, shown):
        files |= {f"{RUNNER}/{name}": numpy.with_name(name) for name in ("numpy", "numpy.libs")}
    searched = [RUNNER, *(str(each) for each in _package_folders() if not _paths_in(each, own))]
    yield "--clearenv"
    for name, value in (VARIABLES | {"PYTHONPATH": ":".join(searched)}).items():
        yield from ("--setenv", name, value)
    for library in filter(os.path.islink, LIBRARIES):
        yield from ("--symlink", os.readlink(library), library)
    if real != sys.executable:
        yield from ("--symlink", real, sys.executable)
    for folder in shown:
        yield from ("--ro-bind", str(folder), str(folder))
    for covered in dict.fromkeys(map(str, _covered(shown, hidden))):
        if os.path.isdir(covered):
            yield from ("--size", "4096", "--tmpfs", covered, "--remount-ro", covered)
        else:
            yield from ("--ro-bind", os.devnull, covered)
    for target, file in files.items():
        yield from ("--ro-bind-try", str(file.resolve()), target)
    yield from ("--dev-bind", os.devnull, os.devnull)
    yield from ("--size", str(FOLDER_BYTES), "--tmpfs", FOLDER, "--chdir", FOLDER)
    yield from ("--remount-ro", "/")


def runner_files() -> dict[str, Path]:
    """Return the two modules of the runner by their names below a folder of modules.

    Neither can compute a right answer.
    """
    paths = [Path(str(module.__file__)) for module in (answers, notebook_runner)]
    return {f"mha/{path.relative_to(PACKAGE).as_posix()}": path for path in paths}


def _folders() -> Iterator[Path]:
    """Yield the folders that Python needs, without their parents."""
    libraries = [Path(each) for each in LIBRARIES if not os.path.islink(each)]
    base, own = Path(sys.base_prefix), Path(sys.prefix)
    of_python = [base / "lib", base / "lib64", own / "lib", own / "lib64", *_package_folders()]
    yield from filter(Path.is_dir, dict.fromkeys([*libraries, *of_python]))


def _package_folders() -> list[Path]:
    """Return the folders of installed packages that this Python searches."""
    return [Path(each) for each in sys.path if each.endswith(("site-packages", "dist-packages"))]


def _covered(shown: Sequence[Path], hidden: Sequence[Path]) -> Iterator[Path]:
    """Yield the paths below the shown folders that no notebook may see."""
    for path in filter(Path.exists, hidden):
        yield from _paths_in(path, shown)
    for folder in shown:
        yield from folder.glob("mha")
        yield from folder.glob("python*/*-packages/mha")


def _paths_in(path: Path, folders: Iterable[Path]) -> list[Path]:
    """Return the paths below some folders by which a file can be reached."""
    real, roots = path.resolve(), [(folder, folder.resolve()) for folder in folders]
    return [f / real.relative_to(root) for f, root in roots if real.is_relative_to(root)]


def seccomp_program(machine: str) -> bytes:
    """Return the filter that refuses system calls: an array of the kernel's `sock_filter`."""
    column = list(ARCHITECTURES).index(machine)
    numbers = [each[column] for each in REFUSED.values() if column < len(each)]
    load, equal, at_least, end = 0x20, 0x15, 0x35, 0x06  # operations of the packet filter
    kill, refuse, allow = 0x80000000, 0x00050001, 0x7FFF0000  # the 1 of `refuse` is EPERM
    lines = [(load, 0, 0, 4), (equal, 1, 0, ARCHITECTURES[machine]), (end, 0, 0, kill)]
    lines += [(load, 0, 0, 0), (at_least, 0, 1, 0x40000000), (end, 0, 0, kill)]  # x32's numbers
    lines += [(equal, len(numbers) - i + 3, 0, number) for i, number in enumerate(numbers)]
    # Of `fcntl` the second argument counts, which is its command.
    lines += [(equal, 0, 2, FCNTL[column]), (load, 0, 0, 24), (equal, 1, 0, SET_LEASE)]
    lines += [(end, 0, 0, allow), (end, 0, 0, refuse)]
    return b"".join(struct.pack("HBBI", *line) for line in lines)
