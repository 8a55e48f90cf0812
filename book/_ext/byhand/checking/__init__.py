"""Checks of the sources: what can be told with file and line before anything runs.

The build, the command `check.py` and the tests ask `check_sources`. A check is a function that
yields findings; each module holds those of one theme, and its `check` runs them on a project.
Nothing here executes a cell, and nothing needs Sphinx.
"""

from collections.abc import Iterable
from pathlib import Path

from byhand.checking import (
    cells,
    characters,
    claims,
    data,
    decks,
    markup,
    solutions,
    symbols,
    wording,
)
from byhand.checking.finding import Finding
from byhand.checking.sources import Project

THEMES = (characters, claims, data, decks, markup, cells, solutions, symbols, wording)


def check_sources(root: Path, pages: Iterable[str] = ()) -> list[Finding]:
    """Return everything that is wrong with the sources of a project.

    Parameters
    ----------
    root : Path
        The project's folder.
    pages : iterable of str, optional
        Names of pages, such as "mechanism/softmax": findings of these alone. All sources are
        looked at in any case, for a label may stand on any page.

    Returns
    -------
    list of Finding
        By file and line.

    Raises
    ------
    ValueError
        If there is no such page.
    """
    project = Project(root)
    names = {page.name for page in project.texts}
    files = {f"book/{name}.md" for name in pages}
    for name in pages:
        if name not in names:
            raise ValueError(f"{name} is no page; one of {', '.join(sorted(names))} is wanted")
    found = {finding for theme in THEMES for finding in theme.check(project)}
    return sorted(finding for finding in found if not files or finding.file in files)


__all__ = ["Finding", "check_sources"]
