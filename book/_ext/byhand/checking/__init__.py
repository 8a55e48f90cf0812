"""Checks of the sources: what can be told with file and line before anything runs.

The build, the command `check.py` and the tests ask `check_sources`. Each module holds the checks of
one theme: functions that yield the lines of a page that are wrong, with the reason, and a `check`
for what more than one file tells. Nothing here executes a cell, and nothing needs Sphinx.
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
from byhand.checking.sources import Finding, Project

OF_A_PAGE = (
    *(cells.unreadable, cells.long_cells, cells.unsteady),
    *(claims.unnamed_sources, claims.without_kind),
    *(markup.misread, markup.foreign, solutions.unpaired),
    *(symbols.table, symbols.other_meanings),
    wording.unwanted,
)
OF_ALL = (characters, claims, data, decks, solutions)


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
    found = {finding for theme in OF_ALL for finding in theme.check(project)}
    for page in project.texts:
        found |= {Finding(page.file, *wrong) for look in OF_A_PAGE for wrong in look(page)}
    for page in project.pages:
        found |= {Finding(page.file, *wrong) for wrong in data.front_matter(page)}
    return sorted(finding for finding in found if not files or finding.file in files)


__all__ = ["Finding", "check_sources"]
