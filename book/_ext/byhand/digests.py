"""Digests of files and folders, by which the build finds changed inputs."""

import hashlib
from collections.abc import Iterable, Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
KEPT = ROOT / "_build" / "results"  # the kept results of pages, by `reading.results`


def files_in(names: Iterable[str], root: Path = ROOT) -> Iterator[Path]:
    """Yield every file of the given files and folders below `root`; skip missing ones.

    All kinds of files count: a list of endings would forget the next one. Hidden files, which
    editors and systems leave behind, and compiled ones do not.
    """
    for name in names:
        top = root / name
        for path in sorted(top.rglob("*")) if top.is_dir() else [top]:
            parts = path.relative_to(root).parts
            ignored = any(part == "__pycache__" or part.startswith(".") for part in parts)
            if path.is_file() and not ignored:
                yield path


def digest_of(names: Iterable[str], *, root: Path = ROOT, salt: str = "") -> str:
    """Return a digest of names and contents of files and folders, and of `salt`."""
    digest = hashlib.sha256(salt.encode())
    for path in files_in(names, root):
        for part in (path.relative_to(root).as_posix().encode(), path.read_bytes()):
            digest.update(len(part).to_bytes(8, "big") + part)
    return digest.hexdigest()
