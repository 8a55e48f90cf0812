"""Submissions: the entries of a folder, the students they belong to, and the cells of a notebook.

The files are students' too. No link is followed, and a name that only resembles a student's is
reported to a person.
"""

import json
import os
import re
import stat
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from mha.practice.answers import Remark
from mha.practice.worksheets.students import Student

MEGABYTES = 50
"""The size of the largest notebook that is read: pictures are in it too."""

SHORT = 5
"""An id or name with fewer letters is often part of another word: it must be the whole name."""

SKIPPED = re.compile(r"^[.~]|^__MACOSX$|^desktop\.ini$|^Thumbs\.db$", re.IGNORECASE)
"""Entries that systems and editors put into a folder."""

MOODLE = re.compile(r"_\d+_assignsubmission_.*")
"""The end of the name that Moodle gives to each student's folder or file."""


@dataclass(frozen=True)
class Submission:
    """One student's submission.

    Parameters
    ----------
    student : str
        The name in the list of the class, or else that of the file or folder.
    id : str
        The id in the list of the class, empty without it.
    path : pathlib.Path or None
        A file, or a folder of one student; None if there is none.
    notes : tuple of Remark, default ()
        Doubts about the owner, for a person to decide.
    """

    student: str
    id: str
    path: Path | None
    notes: tuple[Remark, ...] = ()


def find_submissions(folder: Path, students: Sequence[Student] = ()) -> list[Submission]:
    """Return the submissions in a folder, in the order of names, and then the missing ones.

    A file is a submission, and so is a folder, as Moodle gives one to each student.

    Parameters
    ----------
    folder : pathlib.Path
    students : sequence of Student, default ()

    Returns
    -------
    list of Submission
    """
    paths = sorted(folder.iterdir(), key=lambda path: path.name.casefold())
    owners = {
        path: _owners(path.name if _is_folder(path) else path.stem, students)
        for path in paths
        if not SKIPPED.search(path.name)
    }
    found = []
    for path, (owner, similar) in owners.items():
        if owner is None:
            name = path.name if _is_folder(path) else path.stem
            found.append(Submission(name, "", path, _doubts(similar, bool(students))))
            continue
        same = [other.name for other, (its, _) in owners.items() if its == owner]
        more = Remark(f"{len(same)} submissions of one student; a person chooses:", "; ".join(same))
        found.append(Submission(owner.name, owner.id, path, (more,) if len(same) > 1 else ()))
    for student in students:
        if any(owner == student for owner, _ in owners.values()):
            continue
        maybe = [path.name for path, (_, similar) in owners.items() if student in similar]
        missing = Submission(student.name, student.id, None)
        if maybe:
            missing = replace(missing, notes=(Remark("Perhaps it is", "; ".join(maybe)),))
        found.append(missing)
    return found


def _doubts(similar: Sequence[Student], is_listed: bool) -> tuple[Remark, ...]:
    """Return a remark on a file that is nobody's for certain."""
    if similar:
        names = "; ".join(student.known_by for student in similar)
        return (Remark("The name of the file resembles that of a student; whose is it?", names),)
    return (Remark("The name of the file is of no student in the list."),) if is_listed else ()


def _owners(name: str, students: Sequence[Student]) -> tuple[Student | None, list[Student]]:
    """Return the one student to whom a name belongs, or None, and the students that it resembles.

    A name belongs to a student if it is an id or a student's name, or has one of some length among
    its words.
    """
    words = _words(MOODLE.sub("", name))
    whole = [each for each in students if words and words in (_words(each.id), _words(each.name))]
    inside: list[Student] = []
    similar: list[Student] = []
    for each in students:
        for own in filter(None, (_words(each.id), _words(each.name))):
            if set(own) <= set(words):
                (inside if len("".join(own)) >= SHORT else similar).append(each)
            elif "".join(words).startswith("".join(own)):
                similar.append(each)
    sure = list(dict.fromkeys(whole or inside))
    return (sure[0], []) if len(sure) == 1 else (None, sure or list(dict.fromkeys(similar)))


def _words(text: str) -> list[str]:
    return re.findall(r"[^\W_]+", unicodedata.normalize("NFKC", text).casefold())


def read_cells(path: Path | None) -> list[str]:
    """Return the code of a notebook, one text per cell.

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
        If there is no such notebook: the reason, and names of files apart from it.
    """
    if path is None:
        raise ValueError("Nothing was handed in.")
    try:
        text = _read(_notebook_in(path)).decode("utf-8-sig")
    except OSError as error:
        raise ValueError(f"The file cannot be read: {error.strerror}.") from None
    except UnicodeDecodeError:
        raise ValueError("The file is not a notebook: its bytes are no text.") from None
    if not text.strip():
        raise ValueError("The file is empty.")
    try:
        found = _code(json.loads(text))
    except (ValueError, RecursionError, KeyError, TypeError, AttributeError):
        raise ValueError("The file is not a notebook of Jupyter, version 4.") from None
    if not found:
        raise ValueError("The notebook has no cell with code.")
    return found


def _notebook_in(path: Path) -> Path:
    """Return the one notebook that a path is, or that lies below it."""
    if not _is_folder(path):
        return path
    found = sorted(_notebooks_below(path))
    if len(found) != 1:
        counted = f"{len(found)} notebooks" if found else "no notebook"
        names = ", ".join(each.name for each in found[:4])
        raise ValueError(f"The folder has {counted}; one is wanted.", names)
    return found[0]


def _notebooks_below(folder: Path) -> Iterator[Path]:
    for entry in folder.iterdir():
        if SKIPPED.search(entry.name):
            continue
        if _is_folder(entry):
            yield from _notebooks_below(entry)
        elif entry.suffix == ".ipynb":
            yield entry


def _is_folder(path: Path) -> bool:
    """Return whether a path is a folder itself, and no link to one."""
    return stat.S_ISDIR(path.lstat().st_mode)


def _read(path: Path) -> bytes:
    """Return the bytes of a file that is no link, no device and not too large."""
    if not stat.S_ISREG(path.lstat().st_mode):
        raise ValueError("The submission is a link or no file; the notebook itself is wanted.")
    with open(os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0)), "rb") as file:
        contents = file.read((MEGABYTES << 20) + 1)
    if len(contents) > MEGABYTES << 20:
        raise ValueError(f"The file is larger than {MEGABYTES} MB.")
    return contents


def _code(notebook: dict[str, Any]) -> list[str]:
    """Return the code cells of a notebook."""
    sources = [cell["source"] for cell in notebook["cells"] if cell["cell_type"] == "code"]
    return ["".join(source) for source in sources]
