"""What was handed in: the entries of a folder, whose they are, and the cells of a notebook."""

import json
import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mha.practice.worksheets.students import Student

MEGABYTES = 50
"""How large a notebook may be: pictures are in it too."""

SKIPPED = re.compile(r"^[.~]|^__MACOSX$|^desktop\.ini$|^Thumbs\.db$", re.IGNORECASE)
"""Entries that systems and editors put into a folder."""


@dataclass(frozen=True)
class Submission:
    """What one student handed in.

    Parameters
    ----------
    student : str
        By the list of the class, or else by the name of the file or folder.
    id : str
        By the list of the class, empty without it.
    path : pathlib.Path or None
        A file, or a folder of one student; None where nothing came.
    """

    student: str
    id: str
    path: Path | None


def submissions(folder: Path, students: Sequence[Student] = ()) -> list[Submission]:
    """Return what a folder holds, in the order of names, and then who is missing.

    A file is a submission, and so is a folder, as Moodle gives one to each student. It belongs to
    the student of the list whose id, or whose whole name, its own name has.

    Parameters
    ----------
    folder : pathlib.Path
    students : sequence of Student, default ()

    Returns
    -------
    list of Submission
    """
    found, left = [], list(students)
    for path in sorted(folder.iterdir(), key=lambda path: path.name.casefold()):
        if SKIPPED.search(path.name):
            continue
        owner = _owner(path.name, students)
        if owner in left:
            left.remove(owner)
        name = (path.name if path.is_dir() else path.stem) if owner is None else owner.name
        found.append(Submission(name, "" if owner is None else owner.id, path))
    return found + [Submission(student.name, student.id, None) for student in left]


def _owner(name: str, students: Sequence[Student]) -> Student | None:
    """Return the one student whose id or name a file's name has; None unless it is one."""
    words = _words(name)
    for kind in ("id", "name"):
        fits = [each for each in students if (own := _words(getattr(each, kind))) and own <= words]
        if len(fits) == 1:
            return fits[0]
    return None


def _words(text: str) -> set[str]:
    return set(re.split(r"[\W_]+", unicodedata.normalize("NFKC", text).casefold())) - {""}


def cells(path: Path | None) -> list[str]:
    """Return the code of a notebook, a text a cell.

    Parameters
    ----------
    path : pathlib.Path or None
        A file, or a folder with one notebook somewhere in it.

    Returns
    -------
    list of str

    Raises
    ------
    ValueError
        If there is no such notebook, saying why.
    """
    if path is None:
        raise ValueError("nothing was handed in")
    try:
        text = _text(_file(path))
    except OSError as error:
        raise ValueError(f"{path.name} cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise ValueError(f"{path.name} is not a notebook: its bytes are no text") from None
    if not text.strip():
        raise ValueError(f"{path.name} is empty")
    try:
        found = _code(json.loads(text))
    except (ValueError, RecursionError, KeyError, TypeError, AttributeError):
        raise ValueError(f"{path.name} is not a notebook of Jupyter, version 4") from None
    if not found:
        raise ValueError(f"{path.name} has no cell with code")
    return found


def _file(path: Path) -> Path:
    """Return the one notebook that a path is, or that lies below it."""
    if path.is_dir():
        found = [
            each for each in sorted(path.rglob("*.ipynb"))
            if not any(SKIPPED.search(part) for part in each.relative_to(path).parts)
        ]  # fmt: skip
        if len(found) != 1:
            names = ", ".join(each.name for each in found[:4])
            counted = f"{len(found)} notebooks ({names})" if found else "no notebook"
            raise ValueError(f"{path.name} has {counted}; one is wanted")
        path = found[0]
    if not path.is_file():
        raise ValueError(f"{path.name} is no file")
    if path.stat().st_size > MEGABYTES << 20:
        raise ValueError(f"{path.name} is larger than {MEGABYTES} MB")
    return path


def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8-sig")


def _code(notebook: dict[str, Any]) -> list[str]:
    """Return the code cells of a notebook that was read."""
    sources = [cell["source"] for cell in notebook["cells"] if cell["cell_type"] == "code"]
    return ["".join(source) for source in sources]
