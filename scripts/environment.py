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
import fcntl
import hashlib
import importlib
import importlib.metadata
import importlib.util
import os
import re
import shutil
import subprocess
import time
import tomllib
import traceback
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
CHANGING = (  # variables that change what Python does
    *("PYTHONPATH", "PYTHONHOME", "PYTHONWARNINGS"),
    *("PYTHONOPTIMIZE", "PYTHONDONTWRITEBYTECODE"),
)
DAMAGED = ".venv is damaged ({}); delete this folder and start the command again"
EXTENSIONS = ROOT / "book" / "_ext"  # where the book's own package is
BUILD = ROOT / "_build"
Commands: TypeAlias = "argparse._SubParsersAction[argparse.ArgumentParser]"
SECONDS_WITHOUT_A_WORD = 5  # while packages are fetched
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
    size: str  # of the packages on disk
    test_lock: Path | None = None  # of packages that only the tests need
    has_mha: bool = True  # installed for editing; if not, it is found where a command starts

    @property
    def python(self) -> Path:
        """The environment's Python."""
        return self.folder / "bin/python"

    @property
    def before(self) -> Path:
        """The last environment, while another is made."""
        return self.folder.with_name(f"{self.folder.name}-before")

    def update(self, *, for_tests: bool = False) -> bool:
        """Create or complete the environment if an input has changed; return whether one had.

        Parameters
        ----------
        for_tests
            Install the packages of `test_lock` too.
        """
        if not self._outdated(for_tests) and not self.before.exists():
            return False
        with self.lock.open("rb") as file:
            fcntl.flock(file, fcntl.LOCK_EX)  # another command may be at it
            self._restore()
            outdated = self._outdated(for_tests)
            if "packages" in outdated:
                self._create()
                outdated = self._outdated(for_tests)
            if "mha" in outdated:
                with step("Installing mha for editing"):
                    self._pip("mha", "--no-build-isolation", "--editable", str(ROOT))
                self._record("mha")
            if "tests" in outdated and self.test_lock:
                self._install(self.test_lock)
                self._record("tests")
        return True

    def fingerprint(self, part: str) -> str:
        """Return a digest of the inputs of a part: "packages", "mha" or "tests"."""
        inputs = {
            "packages": [self.lock],
            "mha": [self.lock, ROOT / "pyproject.toml"],
            "tests": [self.lock, self.test_lock or self.lock],
        }
        digest = hashlib.sha256(b"".join(path.read_bytes() for path in inputs[part]))
        digest.update(f"{sys.version_info[:3]} {os.path.realpath(sys.base_prefix)} {ROOT}".encode())
        return digest.hexdigest()

    def _outdated(self, for_tests: bool) -> list[str]:
        """Return the parts that are missing, or were made from other inputs."""
        parts = ["packages"]
        if self.has_mha:
            parts.append("mha")
        if for_tests:
            parts.append("tests")
        return [part for part in parts if not self._is_current(part)]

    def _is_current(self, part: str) -> bool:
        stamp = self.folder / f"{part}-made-from"
        found = stamp.read_text(encoding="utf-8") if stamp.is_file() else ""
        return self.python.is_file() and found == self.fingerprint(part)

    def _record(self, part: str) -> None:
        """Note the inputs from which a part was made."""
        stamp = self.folder / f"{part}-made-from"
        stamp.write_text(self.fingerprint(part), encoding="utf-8")

    def _create(self) -> None:
        """Create the environment with the packages of its lock; if that fails, keep the last."""
        if importlib.util.find_spec("ensurepip") is None:
            system_package("Python's venv module", "python3-venv")
        # An environment has its own path in its programs, so the new one is made in its place.
        if self.folder.exists():
            self.folder.rename(self.before)
        try:
            with step(f"Creating {self.folder.name}"):
                try:
                    venv.create(self.folder, symlinks=True, with_pip=True)
                except (OSError, subprocess.CalledProcessError) as error:
                    fail(f"{self.folder} could not be created: {error}")
            self._install(self.lock)
            self._record("packages")
        finally:
            self._restore()

    def _restore(self) -> None:
        """Put the last environment back, unless the new one is complete."""
        if not self.before.exists():
            return
        if self._is_current("packages"):
            shutil.rmtree(self.before)
        else:
            shutil.rmtree(self.folder, ignore_errors=True)
            self.before.rename(self.folder)

    def _install(self, lock: Path) -> None:
        """Install the packages of a lock."""
        # The lock is complete, and leaves out dependencies that are not wanted. Python compiles a
        # module when it is first imported; most of these never are.
        size = f" ({self.size})" if lock == self.lock else ""
        with step(f"Installing the packages of {lock.name}{size}"):
            self._pip(
                f"the packages of {lock.name}", "--no-compile", "--require-hashes", "-r", lock
            )

    def _pip(self, what: str, *options: str | Path) -> None:
        """Run pip; print now and then how many packages it has, and its output if it fails."""
        pip = [str(self.python), "-m", "pip", "install", "--no-deps", "--progress-bar", "off"]
        command = [*pip, *map(str, options)]
        packages, lines, printed = 0, [], time.monotonic()
        with subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        ) as process:
            for line in process.stdout or ():
                lines.append(line)
                is_package = line.startswith(("Collecting ", "Processing "))
                packages += is_package
                if is_package and time.monotonic() - printed > SECONDS_WITHOUT_A_WORD:
                    print(f"  {packages} packages fetched", flush=True)
                    printed = time.monotonic()
        if process.returncode:
            print("".join(lines[-20:]), end="", file=sys.stderr)
            fail(f"{what} could not be installed; see the message above")


BOOK = Environment(
    ROOT / ".venv",
    ROOT / "requirements.lock",
    size="490 MB",
    test_lock=ROOT / "requirements-test.lock",
)
FRAMEWORKS = Environment(
    ROOT / ".frameworks",
    ROOT / "requirements-frameworks.lock",
    size="6.5 GB",
    has_mha=False,
)
AUTOGRADERS = Environment(
    ROOT / ".autograders",
    ROOT / "requirements-autograders.lock",
    size="460 MB",
    has_mha=False,
)


def enter(*, for_tests: bool = False) -> None:
    """Restart this command inside the environment, or return if it runs there already.

    The environment is made or updated first. Inside it all packages of the lock, and the book's
    own, can be imported; with `for_tests`, those of the tests' lock too.
    """
    sys.excepthook = exit_in_one_sentence
    entered = os.environ.pop(ENTERED, None) is not None
    # Another `mha` would be imported, warnings of packages would be errors, the claims of the book,
    # which are assertions, would not be checked, and each process would compile all modules anew.
    changed = [os.environ.pop(name) for name in CHANGING if os.environ.get(name)]
    if not entered:
        python = str(BOOK.python)
        try:
            is_made_anew = BOOK.update(for_tests=for_tests)
            is_elsewhere = Path(sys.prefix).resolve() != BOOK.folder.resolve()
            if is_made_anew or is_elsewhere or changed or sys.flags.optimize:
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
    enter(for_tests=module == "testing")
    importlib.import_module(module).main()


def exit_in_one_sentence(
    kind: type[BaseException], error: BaseException, trace: TracebackType | None
) -> None:
    """Print one sentence instead of a traceback for Ctrl-C and a damaged environment."""
    if issubclass(kind, KeyboardInterrupt):
        print("error: interrupted; what was built before is as it was", file=sys.stderr)
    elif fault := fault_of_a_source(error):
        print(f"error: {fault}", file=sys.stderr)
    elif issubclass(kind, ImportError):
        print(f"error: {DAMAGED.format(error)}", file=sys.stderr)
    else:
        sys.__excepthook__(kind, error, trace)


def fault_of_a_source(error: BaseException) -> str:
    """Return the file, line and cause of a syntax error or a wrong import in our sources, or ""."""
    if isinstance(error, SyntaxError) and error.filename and _is_ours(error.filename):
        return f"{_place(error.filename, error.lineno or 1)}: this is not Python: {error.msg}"
    if isinstance(error, tomllib.TOMLDecodeError):
        return next(_faulty_toml_files(), "")
    if not isinstance(error, ImportError) or _is_missing_package(error):
        return ""
    every = traceback.extract_tb(error.__traceback__)
    frames = [frame for frame in every if not frame.filename.startswith("<frozen")]
    if not frames or not _is_ours(frames[-1].filename):
        return ""
    reason = re.sub(r" \([^()]*\)$", "", str(error))  # the path of the module
    place = _place(frames[-1].filename, frames[-1].lineno or 1)
    return f"{place}: this import fails: {reason[:1].lower()}{reason[1:]}"


def _is_missing_package(error: ImportError) -> bool:
    """Return whether an import failed because a package of the lock cannot be found."""
    if not isinstance(error, ModuleNotFoundError):
        return False
    name = (error.name or "").partition(".")[0]
    locked = re.findall(r"^([\w.-]+)==", BOOK.lock.read_text(encoding="utf-8"), re.MULTILINE)
    return name in importlib.metadata.packages_distributions() or name in {
        package.replace("-", "_") for package in locked
    }


def _faulty_toml_files() -> Iterator[str]:
    """Yield file, line and cause of each TOML file of the sources that cannot be read."""
    for path in sorted(file for name in ("book", "mha") for file in (ROOT / name).rglob("*.toml")):
        try:
            tomllib.loads(path.read_text(encoding="utf-8"))
        except ValueError as error:
            reason, _, place = str(error).partition(" (at ")
            line = re.search(r"line (\d+)", place)
            yield f"{_place(path, int(line[1]) if line else 1)}: this is not TOML: {reason}"


def _is_ours(file: str) -> bool:
    """Return whether a file is one of the project, not of a package that it uses."""
    path = Path(file).resolve()
    if not path.is_relative_to(ROOT) or not path.is_file():
        return False
    return not any(part.startswith(".") for part in path.relative_to(ROOT).parts)  # as `.venv`


def _place(file: str | Path, line: int) -> str:
    return f"{Path(file).resolve().relative_to(ROOT)}:{line}"


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
    found = find_chromium()
    if found is None and sys.platform == "darwin":
        fail("Chromium is missing; run: brew install --cask chromium")
    if found is None:
        system_package("Chromium", WITHOUT_WINDOWS, "fonts-dejavu-core")
        found = find_chromium()
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


def find_chromium() -> str | None:
    """Return the path of a Chromium, preferably one without windows, or None."""
    others = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
    names = (WITHOUT_WINDOWS, *others)
    mac = [
        f"/Applications/{name}.app/Contents/MacOS/{name}" for name in ("Chromium", "Google Chrome")
    ]
    candidates = [os.environ.get("CHROMIUM"), *map(shutil.which, names), *mac]
    return next((c for c in candidates if c and Path(c).is_file()), None)
