"""Sphinx kept in memory: reads and writes one page at a time, the one that is looked at first.

Runs in a process of its own, which `preview` starts and ends. A published book is never made here:
the pages go to a folder of the preview, and what only a whole book needs is left out.
"""

import logging
import os
import pickle
import re
import shutil
import sys
import traceback
from collections.abc import Iterable
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from environment import BUILD, EXTENSIONS, ROOT
from sphinx_runs import prepare

PREVIEW = BUILD / "preview"
HTML = PREVIEW / "html"
DOCTREES = PREVIEW / "doctrees"
STATIC = ROOT / "book" / "_static"
MEMORY = "environment.pickle"  # what Sphinx knows of all pages, as it names it itself

# Imported once, before the first process is forked: all that takes time and does not change.
HEAVY = [
    "jupyter_book.sphinx",
    "myst_nb.sphinx_",
    "sphinx.builders.html",
    "sphinx_book_theme",
    "sphinx_exercise",
    "sphinxcontrib.bibtex",
    "sphinx_design",
    "jupyter_client",
    "bs4",
    "numpy",
    "py_mini_racer",
    "pygments.lexers.python",
]


@dataclass
class Task:
    """What the preview asks of the pages' process.

    Parameters
    ----------
    pages : set of str
        Pages whose source was saved or deleted.
    files : set of str
        Other files of the book that have changed, relative to the project.
    view : frozenset of str, optional
        The pages that are looked at now.
    """

    pages: set[str] = field(default_factory=set)
    files: set[str] = field(default_factory=set)
    view: frozenset[str] | None = None


@dataclass
class Told:
    """What the pages' process tells: a page that is written, or all that is wrong now."""

    written: str = ""  # a page; "*" for what every page loads
    seconds: float = 0.0
    problems: dict[str, list[str]] | None = None


def run(connection: Connection, view: frozenset[str]) -> None:
    """Keep Sphinx in memory and do what comes through the connection, until it closes."""
    os.setpgrp()  # so that whoever ends this process reaches what it has started
    sys.path[:0] = [str(ROOT), str(EXTENSIONS)]
    prepare(os.environ)
    os.chdir(ROOT)
    with (PREVIEW / "sphinx.log").open("w", encoding="utf-8", buffering=1) as log:
        sys.stdout = sys.stderr = log
        for stream in (1, 2):  # what a page's kernel says goes there, too
            os.dup2(log.fileno(), stream)
        try:
            _begin(connection, view)
        except (EOFError, BrokenPipeError, KeyboardInterrupt):
            return
        except BaseException as error:
            traceback.print_exc()
            connection.send(Told(problems={"": [where_it_failed(error)]}))


def _begin(connection: Connection, view: frozenset[str]) -> None:
    """Let Jupyter Book configure Sphinx, and take over where it would build."""
    import jupyter_book.sphinx as jupyter_book
    from sphinx.application import Sphinx

    class Resident(Sphinx):
        def build(self, force_all: bool = False, filenames: Any = ()) -> None:
            from preview_work import Work

            Work(self, connection, view).go_on()

    jupyter_book.Sphinx = Resident
    failed = jupyter_book.build_sphinx(
        str(ROOT / "book"),
        str(HTML),
        noconfig=True,
        path_config=str(ROOT / "_config.yml"),
        confoverrides={
            "external_toc_path": (ROOT / "_toc.yml").as_posix(),
            "latex_individualpages": False,
            "nitpicky": True,
        },
        doctreedir=str(DOCTREES),
        keep_going=True,
    )
    if isinstance(failed, BaseException):
        raise failed


def where_it_failed(error: BaseException) -> str:
    """Return file, line and cause of an error, the file being the last of the project's."""
    cause = f"{type(error).__name__}: {error}"
    if isinstance(error, SyntaxError) and error.filename:
        return f"{_short(error.filename)}:{error.lineno}: {type(error).__name__}: {error.msg}"
    frames = traceback.extract_tb(error.__traceback__)
    ours = [frame for frame in frames if _is_source(frame.filename)]
    return f"{_short(ours[-1].filename)}:{ours[-1].lineno}: {cause}" if ours else cause


def _is_source(file: str) -> bool:
    return any(file.startswith(f"{ROOT / folder}{os.sep}") for folder in ("mha", "book"))


def _short(file: str) -> str:
    return file.removeprefix(f"{ROOT}{os.sep}")


class Problems(logging.Handler):
    """What Sphinx warns of, as lines of file, line and cause."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.found: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        """Note a warning; what comes twice counts once."""
        place = _short(str(getattr(record, "location", "") or "")).removesuffix(":")
        message = logging.LogRecord.getMessage(record)  # Sphinx's own adds the place and a colour
        text = re.sub(r"\x1b\[[0-9;]*m", "", message)
        line = f"{place}: {text}" if place else text
        if line not in self.found:
            self.found.append(line)

    def take(self) -> list[str]:
        """Return what was noted since the last time; where cells failed, these alone."""
        found, self.found = self.found, []
        return [line for line in found if "this cell failed" in line] or found


def begin_from(state: Path) -> None:
    """Begin with the pages of the last good build, and with what Sphinx knew of them.

    What belongs to all pages may have changed since then: Sphinx's knowledge is then left out.
    """
    for target in (HTML, DOCTREES):
        shutil.rmtree(target, ignore_errors=True)
    built = state / "_build"
    shutil.copytree(built / "html", HTML)
    memory = built / ".doctrees" / MEMORY
    if memory.is_file() and not _newer(memory.stat().st_mtime):
        shutil.copytree(built / ".doctrees", DOCTREES)


def forget() -> None:
    """Let the next process read every page anew."""
    (DOCTREES / MEMORY).unlink(missing_ok=True)


def _newer(moment: float) -> bool:
    """Tell whether something that all pages depend on was changed after a moment."""
    from byhand.digests import files_in

    names = ("book/_ext", "book/references.bib", "_config.yml", "_toc.yml", "requirements.lock")
    return any(path.stat().st_mtime > moment for path in files_in(names, ROOT))


def save_memory(env: Any) -> None:
    """Keep what Sphinx knows of the pages for the next process."""
    waiting = DOCTREES / f"{MEMORY}.new"
    with waiting.open("wb") as file:
        pickle.dump(env, file, pickle.HIGHEST_PROTOCOL)
    waiting.replace(DOCTREES / MEMORY)


def flattened(lists: Iterable[Iterable[str] | None]) -> set[str]:
    """Return what several lists hold, some of which may be missing.

    Examples
    --------
    >>> sorted(flattened([["a"], None, ["b", "a"]]))
    ['a', 'b']
    """
    return {name for names in lists for name in names or ()}
