"""Compute every page again when the code or the data that its numbers come from has changed.

Sphinx reads a page again only when the page's own file changes. A number on it can also change
with the package and its data, the locked packages or these extensions, so their content counts too.
Left alone is `print_book`, which changes no page: it works on pages that are read already.
"""

import hashlib
from collections.abc import Iterator
from pathlib import Path

from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment

ROOT = Path(__file__).resolve().parents[3]
WATCHED = ("mha", "book/_ext", "requirements.lock", "_config.yml")
LEFT_OUT = ("__pycache__", "print_book")


def setup(app: Sphinx) -> dict[str, bool]:
    """Connect to Sphinx."""
    app.connect("env-get-outdated", outdated_pages)
    app.connect("env-updated", remember)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def sources(root: Path = ROOT) -> Iterator[Path]:
    """Yield every file, beside the page itself, that a number may depend on.

    All kinds of files count, wherever they are in a watched folder: a list of endings would forget
    the next one. Hidden files, which editors and systems leave behind, do not.
    """
    for name in WATCHED:
        top = root / name
        for path in sorted(top.rglob("*")) if top.is_dir() else [top]:
            parts = path.relative_to(root).parts
            ignored = any(part in LEFT_OUT or part.startswith(".") for part in parts)
            if path.is_file() and not ignored:
                yield path


def fingerprint(root: Path = ROOT) -> str:
    """Return a digest of the names and the contents of all sources."""
    digest = hashlib.sha256()
    for path in sources(root):
        for part in (path.relative_to(root).as_posix().encode(), path.read_bytes()):
            digest.update(len(part).to_bytes(8, "big") + part)
    return digest.hexdigest()


def outdated_pages(
    app: Sphinx, env: BuildEnvironment, added: set[str], changed: set[str], removed: set[str]
) -> list[str]:
    """Return every page if the numbers' sources are not what they were at the last build."""
    if getattr(env, "numbers_from", None) == fingerprint():
        return []
    return sorted(env.found_docs)


def remember(app: Sphinx, env: BuildEnvironment) -> list[str]:
    """Keep what the numbers of this build come from; no page needs writing again for it."""
    env.numbers_from = fingerprint()  # type: ignore[attr-defined]
    return []
