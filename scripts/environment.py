"""The virtual environments of the commands, and the packages of the system.

Only the standard library is imported, because this module runs before anything is installed. All
other modules of this folder run inside the environment. Packages of the system are installed here,
since an environment may need one.
"""

import sys

if sys.version_info < (3, 11):  # noqa: UP036 (this is where an older Python is told so)
    version = ".".join(map(str, sys.version_info[:2]))
    sys.exit("error: Python 3.11 or newer is wanted, but this is " + version)

import argparse
import hashlib
import importlib
import importlib.util
import os
import shutil
import subprocess
import time
import venv
from collections.abc import Iterator
from contextlib import contextmanager
from ctypes.util import find_library
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, NoReturn, TypeAlias

ROOT = Path(__file__).resolve().parent.parent
ENTERED = "BOOK_ENVIRONMENT_ENTERED"  # tells a command that it was started again, inside
DAMAGED = ".venv is damaged ({}); delete this folder and start the command again"
EXTENSIONS = ROOT / "book" / "_ext"  # where the book's own package is
BUILD = ROOT / "_build"
Commands: TypeAlias = "argparse._SubParsersAction[argparse.ArgumentParser]"
WITHOUT_WINDOWS = "chromium-headless-shell"  # opens a page for half the work


@contextmanager
def step(title: str) -> Iterator[None]:
    """Print the title of a step, and its time at the end."""
    print(f"{title} ...", flush=True)
    start = time.monotonic()
    yield
    print(f"  {time.monotonic() - start:.1f} s", flush=True)


def fail(sentence: str) -> NoReturn:
    """End with one sentence on standard error and exit code 1."""
    sys.exit(f"error: {sentence}")


def run(command: list[str], sentence: str, **options: Any) -> None:
    """Run a command; if it fails, end with `sentence`."""
    if subprocess.run(command, check=False, **options).returncode != 0:
        fail(sentence)


@dataclass(frozen=True)
class Environment:
    """A virtual environment and its lock."""

    folder: Path
    lock: Path
    gigabytes: int  # of disk that it takes
    has_mha: bool = True  # installed for editing; if not, it is found where a command starts

    @property
    def python(self) -> Path:
        """The environment's Python."""
        return self.folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")

    def update(self) -> bool:
        """Create the environment if an input has changed; return whether it was created."""
        wanted, stamp = self.fingerprint(), self.folder / "built-from"
        made_from = stamp.read_text(encoding="utf-8") if stamp.is_file() else ""
        if self.python.is_file() and made_from == wanted:
            return False
        self.create()
        stamp.write_text(wanted, encoding="utf-8")
        return True

    def fingerprint(self) -> str:
        """Return a digest of the inputs of the environment."""
        digest = hashlib.sha256(self.lock.read_bytes())
        if self.has_mha:
            digest.update((ROOT / "pyproject.toml").read_bytes())
        digest.update(f"{sys.version_info[:3]} {os.path.realpath(sys.base_prefix)} {ROOT}".encode())
        return digest.hexdigest()

    def create(self) -> None:
        """Create the environment and install the packages of the lock."""
        if importlib.util.find_spec("ensurepip") is None:
            system_package("Python's venv module", "python3-venv")
        with step(f"Creating {self.folder.name}"):
            try:
                venv.create(self.folder, clear=True, symlinks=os.name != "nt", with_pip=True)
            except (OSError, subprocess.CalledProcessError) as error:
                fail(f"{self.folder} could not be created: {error}")
        pip = [str(self.python), "-m", "pip", "install", "-qq", "--disable-pip-version-check"]
        with step(f"Installing the packages of {self.lock.name} ({self.gigabytes} GB)"):
            run(
                # A lock is complete, and leaves out dependencies that are not wanted.
                [*pip, "--no-deps", "--require-hashes", "-r", str(self.lock)],
                f"the packages of {self.lock.name} could not be installed; see the message above",
            )
        if self.has_mha:
            with step("Installing mha for editing"):
                run(
                    [*pip, "--no-deps", "--no-build-isolation", "--editable", str(ROOT)],
                    "mha could not be installed; see the message above",
                )


BOOK = Environment(ROOT / ".venv", ROOT / "requirements.lock", gigabytes=1)
FRAMEWORKS = Environment(
    ROOT / ".frameworks", ROOT / "requirements-frameworks.lock", gigabytes=7, has_mha=False
)


def enter() -> None:
    """Restart this command inside the environment, or return if it runs there already.

    The environment is made or updated first. Inside it all packages of the lock, and the book's
    own, can be imported.
    """
    sys.excepthook = _exit_in_one_sentence
    entered = os.environ.pop(ENTERED, None) is not None
    os.environ.pop("PYTHONOPTIMIZE", None)  # claims of the book are assertions: they hold or stop
    if not entered:
        python = str(BOOK.python)
        try:
            is_made_anew = BOOK.update()
            is_elsewhere = Path(sys.prefix).resolve() != BOOK.folder.resolve()
            if is_made_anew or is_elsewhere or sys.flags.optimize:
                os.execve(python, [python, *sys.argv], {**os.environ, ENTERED: "yes"})
        except OSError as error:
            fail(DAMAGED.format(f"{error.filename or python}: {error.strerror}"))
    sys.path.insert(0, str(EXTENSIONS))
    bundling = importlib.import_module("bundling")
    try:
        bundling.update()
    except bundling.BundlingError as error:
        fail(str(error))
    except FileNotFoundError as error:  # Deno comes with the environment
        fail(DAMAGED.format(f"{error.filename}: {error.strerror}"))


def start(module: str) -> None:
    """Run the function `main` of a module inside the environment.

    Help and errors of options are printed before the environment is made.
    """
    importlib.import_module("command_lines").check_arguments(module)
    enter()
    importlib.import_module(module).main()


def _exit_in_one_sentence(
    kind: type[BaseException], error: BaseException, trace: TracebackType | None
) -> None:
    """Print one sentence instead of a traceback for Ctrl-C and a damaged environment."""
    if issubclass(kind, KeyboardInterrupt):
        print("error: interrupted; what was built before is as it was", file=sys.stderr)
    elif issubclass(kind, ImportError) and _is_lost(error):
        print(f"error: {DAMAGED.format(error)}", file=sys.stderr)
    else:
        sys.__excepthook__(kind, error, trace)


def _is_lost(error: BaseException) -> bool:
    """Return whether a failed import is that of an installed package, not of a project module."""
    name = str(getattr(error, "name", "") or "").partition(".")[0]
    ours = (ROOT, EXTENSIONS, Path(__file__).parent)
    return not any((folder / name).is_dir() or (folder / f"{name}.py").exists() for folder in ours)


def system_package(what: str, *packages: str) -> None:
    """Install Debian packages as root on Debian, else end with the command that does it."""
    names = " ".join(packages)
    if shutil.which("apt-get") is None:
        fail(f"{what} is missing; install it with your system's package manager")
    if os.geteuid() != 0:
        fail(f"{what} is missing; run: sudo apt-get install {names}")
    apt = ["apt-get", "-qq", "-o", "Dpkg::Use-Pty=0"]
    quietly = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    with step(f"Installing {what} ({names})"):
        for command in ["update"], ["install", "-y", "--no-install-recommends", *packages]:
            sentence = f"apt-get could not install {names}; see the message above"
            run([*apt, *command], sentence, env=quietly, stdout=subprocess.DEVNULL)


def chromium() -> str:
    """Return the path of a Chromium for automated tests; install it if it is missing."""
    found = _find_chromium()
    if found is None and sys.platform == "darwin":
        fail("Chromium is missing; run: brew install --cask chromium")
    if found is None:
        system_package("Chromium", WITHOUT_WINDOWS, "fonts-dejavu-core")
        found = _find_chromium()
    if sys.platform == "linux" and find_library("atomic") is None:
        system_package("libatomic, which the browser tests' driver needs,", "libatomic1")
    return str(found)


def engines() -> None:
    """Install Firefox and WebKit, and Xvfb for WebKit, for the tests."""
    packages = {
        "firefox-esr": "firefox-esr",
        "WebKitWebDriver": "webkit2gtk-driver",
        "Xvfb": "xvfb",
    }
    missing = [package for program, package in packages.items() if shutil.which(program) is None]
    if missing:
        system_package("a browser that the tests need", *missing)


def _find_chromium() -> str | None:
    others = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
    names = (WITHOUT_WINDOWS, *others)
    mac = [
        f"/Applications/{name}.app/Contents/MacOS/{name}" for name in ("Chromium", "Google Chrome")
    ]
    candidates = [os.environ.get("CHROMIUM"), *map(shutil.which, names), *mac]
    return next((c for c in candidates if c and Path(c).is_file()), None)
