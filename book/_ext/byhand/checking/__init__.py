"""Checks of the sources: what can be told with file and line before anything runs.

The build, the command `check.py` and the tests ask `check_sources`. Each module holds the checks of
one theme: functions that yield the lines of a page that are wrong, with the reason, and a `check`
for what more than one file tells. Nothing here executes a cell, and nothing needs Sphinx.
"""

from collections.abc import Iterable
from pathlib import Path

from byhand.checking import blocks, claims, data, decks, markup, patterns, symbols
from byhand.checking.sources import Finding, Project

OF_A_PAGE = (
    *(blocks.unreadable, blocks.long_cells, blocks.unpaired, blocks.folded_answers),
    *(claims.unnamed_sources, claims.without_kind),
    *(patterns.unwanted, patterns.wording),
    *(symbols.table, symbols.other_meanings),
    markup.misread,
)
OF_ALL = (blocks, claims, data, decks, patterns)


def check_sources(root: Path, pages: Iterable[str] = ()) -> list[Finding]:
    """Return everything that is wrong with the sources of a project, by file and line.

    If pages are named, such as "mechanism/softmax", it is what is wrong with these alone; all
    sources are looked at in any case, for a label may stand on any page. ValueError is raised if
    there is no such page.
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
