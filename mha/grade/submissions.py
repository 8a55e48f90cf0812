"""Submissions: the entries of a folder, the students they belong to, and the cells of a notebook.

Students can make any file and give it any name. No link is followed, and a file whose name only
resembles a student's is reported, not assigned.
"""

import json
import os
import re
import stat
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from mha.practice.answers import Remark
from mha.practice.worksheets.students import Student

MEGABYTES = 20
"""The largest notebook that is read, with its pictures, in megabytes.

Its parsed JSON may take forty times as much memory in the grader's process.
"""

SHORT = 5
"""An id or name with fewer letters must be a file's whole name: it may be part of other words."""

SKIPPED = re.compile(r"^[.~]|^__MACOSX$|^desktop\.ini$|^Thumbs\.db$", re.IGNORECASE)
"""Entries that systems and editors put into a folder."""

MOODLE = re.compile(r"_\d+_assignsubmission_.*")
"""The part that Moodle adds to a student's name in the name of a folder or file."""


@dataclass(frozen=True)
class Submission:
    """A student and a file or folder of theirs; `path` is None if nothing was handed in.

    Without a list of the class, or if the owner is uncertain, `student` is the name of the file and
    `id` is empty. `notes` describe matters that a person decides.
    """

    student: str
    id: str
    path: Path | None
    notes: tuple[Remark, ...] = ()


def find_submissions(folder: Path, students: Sequence[Student] = ()) -> list[Submission]:
    """Return the submissions in a folder by name, then an empty one for each other student.

    Each file and each folder is a submission: Moodle makes a folder for each student.
    """
    paths = [path for path in folder.iterdir() if not SKIPPED.search(path.name)]
    paths.sort(key=lambda path: path.name.casefold())
    names = [path.name if _is_folder(path) else path.stem for path in paths]
    owners = [_owner(name, students) for name in names]
    found = []
    for path, name, owner in zip(paths, names, owners, strict=True):
        similar = [each.identifier for each in students if _resembles(name, each)]
        same = [other.name for other, its in zip(paths, owners, strict=True) if its == owner]
        notes = []
        if owner is None and similar:
            question = "The name of the file resembles that of a student; whose is it?"
            notes = [Remark(question, "; ".join(similar))]
        elif owner is None and students:
            notes = [Remark("The name of the file matches no student in the list.")]
        elif owner is not None and len(same) > 1:
            request = f"This student has {len(same)} submissions; choose one:"
            notes = [Remark(request, "; ".join(same))]
        student, id_ = (owner.name, owner.id) if owner else (name, "")
        found.append(Submission(student, id_, path, tuple(notes)))
    missing = [student for student in students if student not in owners]
    return found + [Submission(student.name, student.id, None) for student in missing]


def _owner(name: str, students: Sequence[Student]) -> Student | None:
    """Return the student whose file this is by its name, or None if that is uncertain.

    The name must be the student's id or name, or contain all words of one that is not `SHORT`.
    """
    words = _words(MOODLE.sub("", name))
    whole = [each for each in students if words in _known_by(each)]
    long = {each: [o for o in _known_by(each) if len("".join(o)) >= SHORT] for each in students}
    inside = [each for each, its in long.items() if any(set(o) <= set(words) for o in its)]
    sure = whole or inside
    return sure[0] if len(sure) == 1 else None


def _resembles(name: str, student: Student) -> bool:
    """Return whether a file's name begins like a student's id or name, or has its words."""
    words = _words(name)
    return any(
        set(own) <= set(words) or "".join(words).startswith("".join(own))
        for own in _known_by(student)
    )


def _known_by(student: Student) -> list[list[str]]:
    return list(filter(None, (_words(student.id), _words(student.name))))


def _words(text: str) -> list[str]:
    return re.findall(r"[^\W_]+", unicodedata.normalize("NFKC", text).casefold())


def read_cells(path: Path | None) -> list[str]:
    """Return the source of each code cell of a notebook, or of the only notebook in a folder.

    Raises
    ------
    ValueError
        If there is none. Its arguments are those of a `Remark`: the reason, and file names.
    """
    if path is None:
        raise ValueError("Nothing was handed in.")
    try:
        text = _read(_notebook_in(path)).decode("utf-8-sig")
    except OSError as error:
        raise ValueError(f"The file cannot be read: {error.strerror}.") from None
    except UnicodeDecodeError:
        raise ValueError("The file is not a notebook: it is not text in UTF-8.") from None
    except RecursionError:
        raise ValueError("The folder has too many levels of folders.") from None
    if not text.strip():
        raise ValueError("The file is empty.")
    try:
        cells = [each for each in json.loads(text)["cells"] if each["cell_type"] == "code"]
        found = ["".join(cell["source"]) for cell in cells]
    except (ValueError, RecursionError, KeyError, TypeError, AttributeError):
        raise ValueError("The file is not a Jupyter notebook of version 4.") from None
    if not found:
        raise ValueError("The notebook has no code cell.")
    return found


def _notebook_in(path: Path) -> Path:
    """Return the path itself if it is no folder, else the only notebook below it."""
    if not _is_folder(path):
        return path
    found = []
    for folder, folders, files in os.walk(path):
        folders[:] = [name for name in folders if not SKIPPED.search(name)]
        files = [name for name in files if name.casefold().endswith(".ipynb")]
        found += [Path(folder, name) for name in files if not SKIPPED.search(name)]
    if len(found) != 1:
        counted = f"{len(found)} notebooks" if found else "no notebook"
        names = ", ".join(each.name for each in sorted(found)[:4])
        raise ValueError(f"The folder has {counted}; one is wanted.", names)
    return found[0]


def _is_folder(path: Path) -> bool:
    return stat.S_ISDIR(path.lstat().st_mode)


def _read(path: Path) -> bytes:
    """Return the bytes of a file; refuse links, devices and large files."""
    if not stat.S_ISREG(path.lstat().st_mode):
        raise ValueError("The submission is a link or a device; the notebook itself is wanted.")
    with open(os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0)), "rb") as file:
        contents = file.read((MEGABYTES << 20) + 1)
    if len(contents) > MEGABYTES << 20:
        raise ValueError(f"The file is larger than {MEGABYTES} MB.")
    return contents
