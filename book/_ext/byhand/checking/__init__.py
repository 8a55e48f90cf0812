"""Checks of the sources that need no execution: each finding has a file and a line.

The build, the command `check.py` and the tests call `check_sources`. Each module checks one
subject. Functions that take a page yield its faulty lines, each with a reason; `check` takes the
project and yields findings that depend on several files. Nothing here executes a cell or needs
Sphinx.
"""

from collections.abc import Iterable
from pathlib import Path

from byhand.checking import (
    blocks,
    claims,
    data,
    decks,
    marking,
    markup,
    objectives,
    patterns,
    symbols,
)
from byhand.checking.sources import Finding, Project

OF_A_PAGE = (
    *(blocks.syntax_errors, blocks.long_cells, blocks.unpaired_ends, blocks.folded_answers),
    *(claims.unnamed_sources, claims.without_kind),
    *(patterns.forbidden_content, patterns.avoided_phrases),
    *(symbols.repeated_symbols, symbols.conflicting_symbols),
    markup.markup_faults,
)
OF_ALL = (blocks, claims, data, decks, marking, objectives, patterns)


def check_sources(root: Path, pages: Iterable[str] = ()) -> list[Finding]:
    """Return all findings in the sources of a project, sorted by file and line.

    If `pages` names pages, such as "mechanism/softmax", only their findings are returned. All
    sources are read in any case, since a label may be defined on any page. ValueError is raised if
    there is no page of a given name.
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
