"""Compute every page again when the code that its numbers come from has changed.

Sphinx reads a page again only when the page's own file changes. A number on it can also change
with the package, its data, the locked packages or these extensions, so their content counts too.
"""

import hashlib
from pathlib import Path

from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment

ROOT = Path(__file__).resolve().parent.parent.parent
SOURCES = ("mha/**/*.py", "mha/**/*.toml", "book/_ext/*.py", "book/_ext/temml/*")
SOURCES += ("requirements.lock", "_config.yml")


def setup(app: Sphinx) -> dict[str, bool]:
    """Connect to Sphinx."""
    app.connect("env-get-outdated", outdated_pages)
    app.connect("env-updated", remember)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def fingerprint(root: Path = ROOT) -> str:
    """Return a digest of everything, beside the page itself, that a number depends on."""
    digest = hashlib.sha256()
    for pattern in SOURCES:
        for path in sorted(root.glob(pattern)):
            if path.is_file() and path.suffix != ".pyc":
                digest.update(path.relative_to(root).as_posix().encode())
                digest.update(path.read_bytes())
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
