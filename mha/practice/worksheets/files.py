"""Writing of several files: all or none, and none over a file with other contents."""

from collections.abc import Mapping
from pathlib import Path


def write_all(
    folder: Path,
    files: Mapping[str, bytes],
    *,
    force: bool = False,
    choices: str = "another folder is wanted, another --lesson or --seed",
) -> None:
    """Write files into an existing folder.

    Parameters
    ----------
    folder : pathlib.Path
    files : mapping of str to bytes
        Contents by name.
    force : bool, default False
        Whether a file with other contents is replaced.
    choices : str, optional
        How a user keeps the files that exist, for the message.

    Raises
    ------
    ValueError
        If a file exists with other contents; its message names the file, and nothing is written.
    OSError
        If a file cannot be written; existing files stay unchanged.
    """
    waiting = {name: folder / f".{name}.new" for name in files}
    others = [
        name
        for name, contents in files.items()
        if (folder / name).is_dir() or (not force and _differs(folder / name, contents))
    ]
    if others:
        others_text = f", and so are {len(others) - 1} more files" if len(others) > 1 else ""
        raise ValueError(
            f"{folder / others[0]} has other contents{others_text}; {choices}, or --force, which"
            " replaces these files"
        )
    try:
        for name, path in waiting.items():
            path.write_bytes(files[name])
        for name, path in waiting.items():
            path.replace(folder / name)
    finally:
        for path in waiting.values():
            path.unlink(missing_ok=True)


def _differs(path: Path, contents: bytes) -> bool:
    return path.exists() and path.read_bytes() != contents
