"""Checks of the sources that need no execution: each finding has a file and a line.

The build, the command `check.py` and the tests call `check_sources`. Each module checks one
subject. Functions that take a page yield its faulty lines, each with a reason; `check` takes the
project and yields findings that depend on several files. Nothing here executes a cell or needs
Sphinx.
"""

import tomllib
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from byhand.checking import (
    bank,
    blocks,
    chapters,
    claims,
    data,
    decks,
    elements,
    files,
    marking,
    marks,
    markup,
    normal_form,
    objectives,
    patterns,
    references,
    symbols,
)
from byhand.checking.sources import Finding, Project

OF_A_PAGE = (
    *(blocks.syntax_errors, blocks.unknown_options, blocks.long_cells),
    *(blocks.unpaired_ends, blocks.folded_answers),
    *(claims.unnamed_sources, claims.without_kind),
    *(patterns.forbidden_content, patterns.avoided_phrases),
    *(symbols.repeated_symbols, symbols.conflicting_symbols),
    *(references.footnotes, references.unnamed_exercises, references.included_files),
    *(marks.unpaired_marks, marks.unpaired_displays, marks.empty_marks),
    *(elements.unclosed_elements, markup.markup_faults, chapters.figure_labels),
)
OF_ALL = (bank, blocks, chapters, claims, data, decks, files, marking, objectives, patterns)


def check_sources(root: Path, pages: Iterable[str] = (), *, draft: bool = False) -> list[Finding]:
    """Return all findings in the sources of a project, sorted by file and line.

    If `pages` names pages, such as "mechanism/softmax", only their findings are returned. All
    sources are read in any case, since a label may be defined on any page. ValueError is raised if
    there is no page of a given name. With `draft`, the needs of a finished chapter are no findings:
    exercises, questions, marking schemes, and the form in which Jupyter saves it. So a build shows
    a chapter that is being written.
    """
    project = Project(root)
    names = {page.name for page in project.texts}
    wanted = {f"book/{name}.md" for name in pages}
    for name in pages:
        if name not in names:
            raise ValueError(f"{name} is no page; one of {', '.join(sorted(names))} is wanted")
    found: set[Finding] = set()
    for theme in OF_ALL:
        if draft and theme in (bank, chapters, marking):
            continue
        with suppress(tomllib.TOMLDecodeError):  # `data` reports it, with its line
            found |= set(theme.check(project))
    for page in project.texts:
        found |= {Finding(page.file, *wrong) for look in OF_A_PAGE for wrong in look(page)}
    for page in project.pages:
        wrongs = [*data.front_matter(page)]
        if not draft and not wrongs:
            wrongs = [*normal_form.not_normal(page)]
        found |= {Finding(page.file, *wrong) for wrong in wrongs}
    return sorted(finding for finding in found if not wanted or finding.file in wanted)


def fix_sources(root: Path, pages: Iterable[str] = ()) -> list[str]:
    """Write pages in the form in which Jupyter saves them, and return the files that changed.

    If `pages` names pages, only these are written. A page with a fault in its front matter or in
    the header of a cell stays as it is.
    """
    changed = []
    names = [*pages]
    for page in Project(root).pages:
        if (names and page.name not in names) or any(data.front_matter(page)):
            continue
        if (text := normal_form.normal_form(page)) != page.text:
            (root / page.file).write_text(text, encoding="utf-8", newline="\n")
            changed.append(page.file)
    return changed


__all__ = ["Finding", "check_sources", "fix_sources"]
