"""Runs of Sphinx with a log, and reports of their errors with file and line.

Each Sphinx runs in a separate process, because it leaves global state behind.
"""

import ctypes
import gc
import os
import pickle
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, MutableMapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from environment import BUILD, EXTENSIONS, ROOT, fail

if TYPE_CHECKING:
    from docutils import nodes
    from sphinx.application import Sphinx

STATE = BUILD / "state"  # Sphinx's state after the last good build
NEXT = BUILD / "next"  # the build under way
PAGES = NEXT / "_build" / "html"  # the written pages
DOCTREES = "_build/.doctrees"  # the folder of Sphinx's state in each

CONFIG = ROOT / "_config.yml"
SETTINGS = {
    "external_toc_path": str(ROOT / "_toc.yml"),
    "latex_individualpages": False,
    "nitpicky": True,
}

FULL = "No space left on device"
LEAST_FREE = 2**20  # bytes; with less, the log may not say why Sphinx ended
CRASH = re.compile(r"^[A-Z][\w ]*? error.*:\n.+(?:\nReason: .*)?", re.MULTILINE)
ABOUT_SPHINX = re.compile(r"Handler <.*? at 0x\w+> for event '[^']*' threw an exception ")
PR_SET_PDEATHSIG = 1  # of Linux's prctl: the signal that a process gets when its parent ends


def application(builder: str, pages: Path, memory: Path, **options: Any) -> "Sphinx":
    """Return a Sphinx as Jupyter Book configures it, with folders for output and state."""
    from jupyter_book.config import get_final_config
    from sphinx.application import Sphinx

    given = dict(SETTINGS)  # Jupyter Book removes the settings that it reads
    settings, _ = get_final_config(user_yaml=CONFIG, cli_config=given, sourcedir=ROOT / "book")
    return Sphinx(ROOT / "book", None, pages, memory, builder, confoverrides=settings, **options)


def _build() -> int:
    """Build the pages into NEXT; return Sphinx's exit code."""
    from jupyter_book.sphinx import build_sphinx

    gc.disable()  # the process ends with the build and needs its objects until then
    done = build_sphinx(
        ROOT / "book",
        PAGES,
        noconfig=True,
        path_config=CONFIG,
        confoverrides=SETTINGS,
        doctreedir=NEXT / DOCTREES,
        force_all=not PAGES.is_dir(),  # else `byhand.site.affected` finds the pages to write
        warningiserror=True,
        keep_going=True,
    )
    gc.freeze()  # or all of it would be gone through once more when Python ends
    return done if isinstance(done, int) else 1  # otherwise an exception, already reported


def doctree_of(page: str) -> "nodes.document":
    """Return the doctree of a page from the last good build."""
    read: nodes.document = pickle.loads((STATE / DOCTREES / f"{page}.doctree").read_bytes())
    return read


def prepare(variables: MutableMapping[str, str]) -> None:
    """Set the environment variables for the cells of pages, in place."""
    variables.pop("PYTHONOPTIMIZE", None)  # it would switch off every assertion of the book
    variables.pop("PYTHONWARNINGS", None)  # Sphinx would end at a warning of any package
    folders = [str(ROOT), str(EXTENSIONS)]  # also for the process that runs the cells of a page
    variables["PYTHONPATH"] = os.pathsep.join([*folders, variables.get("PYTHONPATH", "")])
    variables["PYTHONHASHSEED"] = "0"  # a cell that prints a set of words prints the same each time
    # Sums do not depend on the number of processors; and pages that run side by side are faster.
    variables["OPENBLAS_NUM_THREADS"] = "1"


def build_pages(check: Callable[[], None]) -> None:
    """Build the pages into NEXT, while `check` runs and may end the build.

    `check` has its time while Sphinx starts. If the build fails, print its problems and end by
    naming the log.
    """
    log = BUILD / "build.log"
    variables = dict(os.environ)
    prepare(variables)
    with (
        log.open("w", encoding="utf-8") as file,
        subprocess.Popen(
            [sys.executable, __file__],
            cwd=ROOT,
            env=variables,
            stdout=file,
            stderr=subprocess.STDOUT,
            preexec_fn=_ends_with_its_parent(),
        ) as sphinx,
    ):
        try:
            check()
            sphinx.wait()
        except BaseException:
            sphinx.kill()
            raise
    if sphinx.returncode != 0:
        _report(log)
        fail(f"the book was not built; the whole log is in {log.relative_to(ROOT)}")


def _ends_with_its_parent() -> Callable[[], None] | None:
    """Return a function that lets a child process end when its parent is killed.

    The kernels of the pages look for their parent by themselves. Only Linux has a way to ask.
    """
    if sys.platform != "linux":
        return None
    control = ctypes.CDLL(None).prctl
    return lambda: control(PR_SET_PDEATHSIG, signal.SIGKILL)


def plain(output: str) -> str:
    """Return Sphinx's output without colours, with paths relative to the project."""
    return re.sub(r"\x1b\[[0-9;]*m", "", output).replace(f"{ROOT}{os.sep}", "")


def _report(log: Path) -> None:
    """Print each warning and error with its file and line; errors of cells alone, if any.

    Where cells failed, these come alone: what else is wrong on their pages follows from them.
    """
    text = plain(log.read_text(encoding="utf-8"))
    lines = text.splitlines()
    problems = [line for line in lines if re.search(r"\b(WARNING|ERROR|CRITICAL):", line)]
    cells = [line for line in problems if "this cell failed" in line]
    if FULL in text or shutil.disk_usage(BUILD).free < LEAST_FREE:
        where = BUILD.relative_to(ROOT)
        fail(f"the book was not built: no space is left on the disk of {where}")
    print("\n".join(cells or problems or crashes(text) or lines[-25:]), file=sys.stderr)


def crashes(log: str) -> list[str]:
    r"""Return the causes of the errors that ended Sphinx, each in one line.

    Examples
    --------
    >>> crashes("Theme error:\nThe page a failed.\nReason: ValueError('x is 0')\n")
    ["Theme error: The page a failed. Reason: ValueError('x is 0')"]
    """
    found = [" ".join(one.split()) for one in re.findall(CRASH, log)]
    told = [ABOUT_SPHINX.sub("", one) for one in found]
    inner = [re.search(r"Reason: ExtensionError\((['\"])(.*)\1\)$", one) for one in told]
    return [match[2] if match else one for match, one in zip(inner, told, strict=True)]


if __name__ == "__main__":
    sys.exit(_build())
